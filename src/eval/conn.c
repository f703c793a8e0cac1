/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packet's connection, as rules see it.
 *
 * Before tracking (raw tables) there is none: the state reads INVALID, or UNTRACKED once a rule said NOTRACK. After it
 * the state is, by the first that knows: the packet line, the kind of packet (neighbour discovery is never tracked),
 * --ct, the tracker; else one of all, and every test narrows it.
 *
 * What else a connection has (its mark, addresses, status) comes from the tracker. Without one, state NEW says a lot: the
 * packet is the first of its connection, so the mark is 0, the direction original, the addresses its own. Of an
 * ESTABLISHED one it is known that a reply was seen; the rest is unknown.
 */
#include "eval/walk.h"

static const char *const state_names[] = { "invalid", "new", "established", "related", "untracked" };

enum { STATES_WITH_CONNECTION = 1 << CT_NEW | 1 << CT_ESTABLISHED | 1 << CT_RELATED };

enum { NEXT_NONE = 59 };

static void forget_all(struct walk *w)
{
	for (int f = FIELD_CT_STATE; f <= FIELD_CT_REPL_DPORT; f++)
		guess_absent(w, (enum field)f);
}

void conn_before(struct walk *w)
{
	forget_all(w);
	guess_put(w, FIELD_CT_STATE, 1 << CT_INVALID);
	w->ct_done = false;
}

/* Types of ICMPv6 that the kernel leaves untracked: listener and neighbour discovery. */
static bool is_discovery(const struct walk *w)
{
	unsigned type;

	if (w->f.family != FAMILY_IP6 || w->f.has[FIELD_ICMP6] != EVAL_YES || !w->f.known[FIELD_ICMP6])
		return false;
	type = (unsigned)(w->f.v[FIELD_ICMP6] >> 8);
	return (type >= 130 && type <= 136) || type == 143;
}

static int decide_state(struct walk *w)
{
	if (w->is_untracked)
		return CT_UNTRACKED;
	if (w->p->ct >= 0)
		return w->p->ct;
	if (is_discovery(w))
		return CT_UNTRACKED;
	if (w->f.family == FAMILY_IP6 && w->f.known[FIELD_PROTO] && w->f.v[FIELD_PROTO] == NEXT_NONE)
		return CT_INVALID; /* nothing follows the headers: there is nothing to track */
	if (w->e->opt.ct >= 0)
		return w->e->opt.ct;
	return w->e->opt.track ? track_enter(w) : -1;
}

static void keep_tuple(struct walk *w)
{
	static const enum field from[] = { FIELD_SRC, FIELD_DST, FIELD_SPORT, FIELD_DPORT };

	for (int i = 0; i < 4; i++) {
		w->tuple[i] = w->f.v[from[i]];
		w->tuple_known[i] = w->f.has[from[i]] == EVAL_YES && w->f.known[from[i]];
	}
}

void conn_enter(struct walk *w)
{
	int state = decide_state(w);

	forget_all(w);
	keep_tuple(w);
	w->ct_done = true;
	w->ct_mark_set = false;
	if (state >= 0) {
		guess_put(w, FIELD_CT_STATE, (u128)1 << state);
		walk_note(w, "connection tracking: %s", state_names[state]);
	} else {
		struct valset_span span[CT_STATE_COUNT];
		struct valset vals;

		for (int i = 0; i < CT_STATE_COUNT; i++)
			span[i].lo = span[i].hi = (u128)1 << i;
		vals = valset_make(w->a, span, CT_STATE_COUNT);
		guess_values(w, FIELD_CT_STATE, &vals, false);
	}
}

/* Is the state one of `states`? Chooses, and narrows. */
enum eval_truth conn_state_in(struct walk *w, unsigned states, const char *question)
{
	struct test_mask masks[CT_STATE_COUNT];
	struct test t = { .kind = TEST_MASK, .field = { FIELD_CT_STATE }, .n_fields = 1, .masks = masks };
	struct guess yes, no;

	for (unsigned i = 0; i < CT_STATE_COUNT; i++)
		if (states >> i & 1)
			masks[t.n_masks++] = (struct test_mask){ (u128)1 << i, (u128)1 << i, 0 };
	if (w->f.known[FIELD_CT_STATE])
		return test_value(&t, 0, w->f.v[FIELD_CT_STATE]) ? EVAL_YES : EVAL_NO;
	guess_split(w, &t, 0, &yes, &no);
	if (guess_is_empty(&yes) || guess_is_empty(&no))
		return guess_is_empty(&yes) ? EVAL_NO : EVAL_YES;
	if (w->is_peeking)
		return EVAL_UNKNOWN;
	if (fork_choose(w, "%s is not known; ct= or --ct says it", question)) {
		guess_narrow(w, FIELD_CT_STATE, &yes);
		return EVAL_YES;
	}
	guess_narrow(w, FIELD_CT_STATE, &no);
	return EVAL_NO;
}

enum eval_truth conn_exists(struct walk *w)
{
	if (!w->ct_done)
		return EVAL_NO;
	return conn_state_in(w, STATES_WITH_CONNECTION, "whether the packet belongs to a connection");
}

/* ---------- the fields of a connection that exists ---------- */

static bool state_is(const struct walk *w, enum ct_state s)
{
	return w->f.known[FIELD_CT_STATE] && w->f.v[FIELD_CT_STATE] == (u128)1 << s;
}

static void ready_status(struct walk *w)
{
	u128 v = w->nat_status, mask = ~(u128)w->nat_doubt;

	if (track_status_bits(w, &v, &mask) || state_is(w, CT_NEW)) {
		if (!w->guess[FIELD_CT_STATUS])
			guess_set_bits(w, FIELD_CT_STATUS, v, mask);
	} else if (state_is(w, CT_ESTABLISHED) && !w->guess[FIELD_CT_STATUS]) {
		guess_set_bits(w, FIELD_CT_STATUS, CT_STATUS_SEEN_REPLY | CT_STATUS_CONFIRMED,
			       CT_STATUS_SEEN_REPLY | CT_STATUS_CONFIRMED);
	} else if (!w->guess[FIELD_CT_STATUS]) {
		guess_forget(w, FIELD_CT_STATUS);
	}
}

static void ready_mark(struct walk *w)
{
	u128 v, mask;

	w->ct_mark_set = true;
	if (w->p->has_ct_mark)
		guess_put(w, FIELD_CT_MARK, w->p->ct_mark);
	else if (track_mark_bits(w, &v, &mask))
		guess_set_bits(w, FIELD_CT_MARK, v, mask);
	else if (state_is(w, CT_NEW))
		guess_put(w, FIELD_CT_MARK, 0);
	else
		guess_forget(w, FIELD_CT_MARK);
}

/* An address or port of a connection whose first packet this is: i is the index in w->tuple. */
static void ready_tuple(struct walk *w, enum field f, bool is_reply, int i)
{
	static const enum field now[] = { FIELD_SRC, FIELD_DST, FIELD_SPORT, FIELD_DPORT };
	bool is_port = i >= 2, is_src = i % 2 == 0, is_translated;
	enum field from = now[i];

	if (is_port && w->f.has[from] == EVAL_NO) { /* 0, except of ICMP, which has its id, type and code there */
		if (w->f.has[FIELD_ICMP] == EVAL_NO && w->f.has[FIELD_ICMP6] == EVAL_NO)
			guess_put(w, f, 0);
		else if (!w->guess[f])
			guess_forget(w, f);
		return;
	}
	is_translated = is_reply && (is_src ? w->is_src_nat : w->is_dst_nat);
	if (is_translated && w->f.has[from] == EVAL_YES && w->f.known[from])
		guess_put(w, f, w->f.v[from]);
	else if (!is_translated && w->tuple_known[i])
		guess_put(w, f, w->tuple[i]);
	else if (!w->guess[f])
		guess_forget(w, f);
}

static void ready_other(struct walk *w, enum field f)
{
	bool is_new = state_is(w, CT_NEW) && (!w->tracked || track_starts(w));

	if (f == FIELD_CT_DIR && is_new)
		guess_put(w, f, 0);
	else if (f == FIELD_CT_PROTO && (is_new || state_is(w, CT_ESTABLISHED)) && w->f.known[FIELD_PROTO])
		guess_put(w, f, w->f.v[FIELD_PROTO]);
	else if (is_new && f >= FIELD_CT_ORIG_SRC && f <= FIELD_CT_REPL_DPORT)
		switch (f) {
		case FIELD_CT_ORIG_SRC:
			return ready_tuple(w, f, false, 0);
		case FIELD_CT_ORIG_DST:
			return ready_tuple(w, f, false, 1);
		case FIELD_CT_ORIG_SPORT:
			return ready_tuple(w, f, false, 2);
		case FIELD_CT_ORIG_DPORT:
			return ready_tuple(w, f, false, 3);
		case FIELD_CT_REPL_DST:
			return ready_tuple(w, f, true, 0);
		case FIELD_CT_REPL_SRC:
			return ready_tuple(w, f, true, 1);
		case FIELD_CT_REPL_DPORT:
			return ready_tuple(w, f, true, 2);
		default:
			return ready_tuple(w, f, true, 3);
		}
	else if (!w->guess[f])
		guess_forget(w, f);
}

bool conn_ready(struct walk *w, enum field f)
{
	enum eval_truth exists = conn_exists(w);
	u128 v;

	if (exists == EVAL_NO) {
		guess_absent(w, f);
	} else if (exists == EVAL_UNKNOWN) {
		return false;
	} else if (f == FIELD_CT_MARK && w->ct_mark_set) {
		return true;
	} else if (track_field(w, f, &v)) {
		guess_put(w, f, v);
		w->ct_mark_set |= f == FIELD_CT_MARK;
	} else if (f == FIELD_CT_STATUS) {
		ready_status(w);
	} else if (f == FIELD_CT_MARK) {
		ready_mark(w);
	} else {
		ready_other(w, f);
	}
	return true;
}
