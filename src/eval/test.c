/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests: yes, no, or a question.
 *
 * A test on one field splits what the field may be by the answer: present and passing, present and failing, absent.
 * If only one answer is possible, that is it; else the way forks and goes on with its half (guess.c). A test on several
 * fields passes when one of them does; it asks them in order.
 */
#include "eval/walk.h"

#include <linux/rtnetlink.h>

bool test_value(const struct test *t, unsigned of, u128 v)
{
	if (t->kind == TEST_IN)
		return valset_has(&t->in, v);
	for (uint32_t i = 0; i < t->n_masks; i++)
		if (t->masks[i].of == of && (v & t->masks[i].mask) == t->masks[i].value)
			return true;
	return false;
}

/* ---------- fields that are computed when somebody asks ---------- */

static bool env_has_addrs(const struct env *env)
{
	for (size_t i = 0; env && i < env->ifaces.n; i++)
		if (env->ifaces.v[i].addrs.n)
			return true;
	return false;
}

int test_addr_type(const struct walk *w, u128 addr)
{
	return env_addr_type(env_has_addrs(w->e->opt.env) ? w->e->opt.env : NULL, w->f.family, addr);
}

/* The types that an address may have of which no more is known; those that hold everywhere are told by the address. */
static struct valset unknown_types(struct walk *w, enum field f)
{
	static const int all[] = { RTN_UNICAST, RTN_LOCAL, RTN_BROADCAST, RTN_ANYCAST };
	struct valset_span span[6];
	size_t n = 0;
	bool addr_known = w->f.known[f == FIELD_SRC_TYPE ? FIELD_SRC : FIELD_DST];

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (all[i] == RTN_BROADCAST && w->f.family == FAMILY_IP6)
			continue;
		if (all[i] == RTN_ANYCAST && w->f.family == FAMILY_IP4)
			continue;
		/* These hooks are behind the routing decision. */
		if (f == FIELD_DST_TYPE && w->hook == HOOK_INPUT && all[i] == RTN_UNICAST)
			continue;
		if (f == FIELD_DST_TYPE && w->hook == HOOK_FORWARD && all[i] != RTN_UNICAST && all[i] != RTN_ANYCAST)
			continue;
		span[n].lo = span[n].hi = (u128)1 << all[i];
		n++;
	}
	if (!addr_known) {
		span[n].lo = span[n].hi = (u128)1 << RTN_MULTICAST;
		n++;
	}
	return valset_make(w->a, span, n);
}

static void ready_type(struct walk *w, enum field f)
{
	enum field addr = f == FIELD_SRC_TYPE ? FIELD_SRC : FIELD_DST;
	int type = -1;

	if (f == FIELD_DST_TYPE && w->is_redirected)
		type = RTN_LOCAL;
	else if (w->f.known[addr])
		type = test_addr_type(w, w->f.v[addr]);
	if (type >= 0) {
		guess_put(w, f, (u128)1 << type);
	} else if (!w->guess[f]) {
		struct valset vals = unknown_types(w, f);

		guess_values(w, f, &vals, false);
	}
}

bool test_ready(struct walk *w, enum field f)
{
	if (f == FIELD_SRC_TYPE || f == FIELD_DST_TYPE)
		ready_type(w, f);
	else if (field_table[f].layer == FIELD_LAYER_CT && f != FIELD_CT_STATE)
		return conn_ready(w, f);
	return true;
}

/* ---------- tests on fields ---------- */

static enum eval_truth truth_of(bool x)
{
	return x ? EVAL_YES : EVAL_NO;
}

static bool many_passes(const struct walk *w, const struct test *t, enum field f)
{
	const uint16_t *v = f == FIELD_TCP_OPTS ? w->f.tcp_opts.v : w->f.sctp_chunks.v;
	unsigned n = f == FIELD_TCP_OPTS ? w->f.tcp_opts.n : w->f.sctp_chunks.n;

	for (unsigned i = 0; i < n; i++)
		if (test_value(t, 0, v[i]))
			return true;
	return false;
}

static const char *what(const struct test *t, unsigned i)
{
	return t->what ? t->what : field_table[t->field[i]].name;
}

static const char *how_to_say(const struct walk *w, enum field f)
{
	switch (f) {
	case FIELD_CT_STATE:
		return "; ct= or --ct says it";
	case FIELD_IIF:
	case FIELD_OIF:
		return f == FIELD_IIF ? "; in= says it" : w->dst_changed ? "" : "; out= says it";
	case FIELD_UID:
	case FIELD_GID:
	case FIELD_HAS_SOCKET:
		return "; uid= and gid= say it";
	case FIELD_MAC_SRC:
	case FIELD_MAC_DST:
		return "; mac= says it";
	case FIELD_PKTTYPE:
		return "; pkttype= says it";
	case FIELD_SRC_TYPE:
	case FIELD_DST_TYPE:
	case FIELD_IIF_GROUP:
	case FIELD_OIF_GROUP:
		return "; --env says it";
	case FIELD_DST:
	case FIELD_DPORT:
		return w->is_bound && w->dst_changed && !w->is_dst_nat ? ": the connection may be translated; --env and --hook say more"
								       : "";
	case FIELD_CT_MARK:
		return "; ctmark= says it";
	default:
		return "";
	}
}

static enum eval_truth ask(struct walk *w, const struct test *t, unsigned i)
{
	return truth_of(fork_choose(w, "%s is not known%s", what(t, i), how_to_say(w, t->field[i])));
}

static enum eval_truth truth_many(struct walk *w, const struct test *t)
{
	enum field f = t->field[0];

	if (w->f.has[f] == EVAL_NO)
		return truth_of(t->on_absent);
	if (w->f.has[f] == EVAL_YES && w->f.known[f])
		return truth_of(many_passes(w, t, f) != t->negated);
	return w->is_peeking ? EVAL_UNKNOWN : ask(w, t, 0);
}

static enum eval_truth truth_one(struct walk *w, const struct test *t)
{
	enum field f = t->field[0];
	struct guess pass, fail, *yes = t->negated ? &fail : &pass, *no = t->negated ? &pass : &fail;
	enum eval_truth answer;
	bool may_be_absent;

	if (w->f.has[f] == EVAL_NO)
		return truth_of(t->on_absent);
	if (w->f.has[f] == EVAL_YES && w->f.known[f])
		return truth_of(test_value(t, 0, w->f.v[f]) != t->negated);
	may_be_absent = guess_of(w, f)->may_be_absent;
	guess_split(w, t, 0, &pass, &fail);
	yes->may_be_absent = may_be_absent && t->on_absent;
	no->may_be_absent = may_be_absent && !t->on_absent;
	if (guess_is_empty(yes) || guess_is_empty(no))
		return truth_of(!guess_is_empty(yes));
	if (w->is_peeking)
		return EVAL_UNKNOWN;
	answer = ask(w, t, 0);
	guess_narrow(w, f, answer == EVAL_YES ? yes : no);
	return answer;
}

/* Does field i pass? *is_there: it is present, or may be. Chooses. */
static enum eval_truth passes(struct walk *w, const struct test *t, unsigned i, enum eval_truth *is_there)
{
	enum field f = t->field[i];
	struct guess pass, fail;
	enum eval_truth answer;

	if (!test_ready(w, f))
		return EVAL_UNKNOWN;
	*is_there = w->f.has[f];
	if (*is_there == EVAL_NO)
		return EVAL_NO;
	if (*is_there == EVAL_YES && w->f.known[f])
		return truth_of(test_value(t, i, w->f.v[f]));
	guess_split(w, t, i, &pass, &fail);
	if (guess_is_empty(&pass) || guess_is_empty(&fail))
		return truth_of(!guess_is_empty(&pass));
	if (w->is_peeking)
		return EVAL_UNKNOWN;
	answer = ask(w, t, i);
	guess_narrow(w, f, answer == EVAL_YES ? &pass : &fail);
	*is_there = w->f.has[f];
	return answer;
}

static enum eval_truth truth_several(struct walk *w, const struct test *t)
{
	enum eval_truth any_there = EVAL_NO;

	for (unsigned i = 0; i < t->n_fields; i++) {
		enum eval_truth is_there, x = passes(w, t, i, &is_there);

		if (x == EVAL_UNKNOWN)
			return EVAL_UNKNOWN;
		if (x == EVAL_YES)
			return truth_of(!t->negated);
		if (is_there == EVAL_YES || (is_there == EVAL_UNKNOWN && any_there == EVAL_NO))
			any_there = is_there;
	}
	if (any_there == EVAL_YES || t->on_absent == t->negated)
		return truth_of(t->negated);
	if (any_there == EVAL_NO)
		return truth_of(t->on_absent);
	return w->is_peeking ? EVAL_UNKNOWN : ask(w, t, 0);
}

static enum eval_truth truth_fields(struct walk *w, const struct test *t)
{
	enum eval_truth x;

	if (t->n_fields == 0)
		return truth_of(t->on_absent);
	if (t->n_fields > 1)
		x = truth_several(w, t);
	else if (!test_ready(w, t->field[0]))
		x = EVAL_UNKNOWN;
	else if (field_table[t->field[0]].kind == FIELD_KIND_MANY)
		x = truth_many(w, t);
	else
		x = truth_one(w, t);
	if (x != EVAL_YES && w->has_trace)
		w->why = reason_field(w, t);
	return x;
}

/* ---------- all kinds ---------- */

static enum eval_truth truth_undecidable(struct walk *w, const struct test *t)
{
	const char *name = t->what ? t->what : "a match";

	w->why = arena_printf(w->a, "%s cannot be decided here: %s", name, t->why ? t->why : "no reason given");
	if (w->is_peeking)
		return EVAL_UNKNOWN;
	return truth_of(fork_choose(w, "%.*s", STR_ARG(w->why)));
}

enum eval_truth test_truth(struct walk *w, const struct test *t)
{
	w->test = t;
	w->why = STR("");
	switch (t->kind) {
	case TEST_IN:
	case TEST_MASK:
		return truth_fields(w, t);
	case TEST_SET:
		return sets_truth(w, t);
	case TEST_STATE:
		return state_truth(w, t);
	case TEST_BYTES:
		return bytes_truth(w, t);
	case TEST_TUPLE:
		return maps_tuple(w, t);
	case TEST_UNKNOWN:
		break;
	}
	return truth_undecidable(w, t);
}
