/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a program at a netfilter hook cannot do: it may read everything about a packet, but only accept and drop. Each
 * refusal names the rule's place, the reason and the way out.
 */
#include "flat/flat.h"

#include <linux/rtnetlink.h>

/* ---------- the way out ---------- */

/* "write --tables raw,filter": the tables of the ruleset without that of c. */
static void hint_tables(const struct ruleset *rs, const struct chain *c, struct diags *d, struct diag *g)
{
	struct buf b = { .a = d->a };

	for (size_t i = 0; i < rs->chains.n; i++) {
		const struct chain *x = rs->chains.v[i];
		bool is_listed = str_eq(x->table, c->table) || x->is_nat || str_is(x->table, "nat");

		for (size_t k = 0; k < i && !is_listed; k++)
			is_listed = str_eq(rs->chains.v[k]->table, x->table);
		if (!is_listed)
			buf_printf(&b, "%s%.*s", b.n ? "," : "", STR_ARG(x->table));
	}
	if (b.n)
		diag_hint(d, g, "leave table %.*s to the kernel's own tools and load the rest: --tables %.*s", STR_ARG(c->table),
			  (int)b.n, b.v);
	else
		diag_hint(d, g, "leave table %.*s to the kernel's own tools", STR_ARG(c->table));
}

/* ---------- effects and verdicts ---------- */

static const char *const effect_reason[] = {
	[EFFECT_CT_MARK] = "a netfilter program cannot write the mark of a connection",
	[EFFECT_SAVE_MARK] = "a netfilter program cannot write the mark of a connection",
	[EFFECT_SET_ADD] = "a netfilter program cannot change a set of the kernel",
	[EFFECT_SET_DEL] = "a netfilter program cannot change a set of the kernel",
	[EFFECT_NOTRACK] = "a netfilter program cannot keep conntrack away from a packet",
	[EFFECT_TOS] = "a netfilter program cannot write to the packet",
	[EFFECT_TTL] = "a netfilter program cannot write to the packet",
	[EFFECT_SNAT] = "a netfilter program cannot translate addresses",
	[EFFECT_DNAT] = "a netfilter program cannot translate addresses",
	[EFFECT_MASQUERADE] = "a netfilter program cannot translate addresses",
	[EFFECT_REDIRECT] = "a netfilter program cannot translate addresses",
	[EFFECT_NETMAP] = "a netfilter program cannot translate addresses",
	[EFFECT_TPROXY] = "a netfilter program cannot hand a packet to a local socket",
	[EFFECT_OTHER] = "a netfilter program cannot do this",
};

static const char *reason_of_effect(const struct effect *e, const struct flat_options *opt)
{
	switch (e->kind) {
	case EFFECT_LOG:
	case EFFECT_NONE:
		return NULL;
	case EFFECT_COUNT:
		return e->counter ? "counters with a name are not kept here" : NULL;
	case EFFECT_MARK:
		return opt->test_run ? NULL : "a netfilter program cannot write the mark of a packet";
	case EFFECT_RESTORE_MARK:
		if (opt->test_run && e->shift == 0)
			return NULL;
		return "a netfilter program cannot write the mark of a packet";
	default:
		return effect_reason[e->kind];
	}
}

static void refuse_effect(const struct ruleset *rs, const struct rule *r, const struct effect *e, const struct flat_options *opt,
			  struct diags *d)
{
	const char *why = reason_of_effect(e, opt);

	if (why)
		hint_tables(rs, r->chain, d, diag_error(d, e->at, "%s: %s", e->name ? e->name : "this target", why));
}

static void refuse_verdict(const struct ruleset *rs, const struct rule *r, const struct step *s, const struct flat_options *opt,
			   struct diags *d)
{
	struct diag *g;

	switch (s->v.verdict) {
	case VERDICT_REJECT:
		if (opt->reject_as_drop)
			return;
		g = diag_error(d, s->v.at, "REJECT: a netfilter program cannot answer the sender");
		diag_hint(d, g, "--reject-as-drop drops such packets without an answer");
		return;
	case VERDICT_QUEUE:
		g = diag_error(d, s->v.at, "NFQUEUE: a netfilter program cannot hand a packet to user space");
		break;
	case VERDICT_STOLEN:
		for (uint32_t i = 0; i < r->n_steps; i++)
			if (r->step[i].kind == STEP_EFFECT)
				return; /* said there */
		g = diag_error(d, s->v.at, "a netfilter program cannot take a packet another way");
		break;
	default:
		return;
	}
	hint_tables(rs, r->chain, d, g);
}

/* ---------- tests ---------- */

static const char *reason_of_field(enum field f)
{
	switch (f) {
	case FIELD_SRC_TYPE:
		return "which kind of address this is only the routing table knows, and a program cannot ask it";
	case FIELD_PHYSIN:
	case FIELD_PHYSOUT:
		return "the ports of a bridge are not visible to a program";
	case FIELD_SCTP_CHUNKS:
		return "the chunks of an SCTP packet are not looked into";
	case FIELD_CT_EXPIRE:
		return "the time that a connection has left is not visible to a program";
	case FIELD_CT_ORIG_SRC:
	case FIELD_CT_ORIG_DST:
	case FIELD_CT_REPL_SRC:
	case FIELD_CT_REPL_DST:
	case FIELD_CT_ORIG_SPORT:
	case FIELD_CT_ORIG_DPORT:
	case FIELD_CT_REPL_SPORT:
	case FIELD_CT_REPL_DPORT:
		return "the addresses of a connection are not looked into";
	case FIELD_TCP_OPTS:
	case FIELD_TCP_MSS:
		return "options of TCP have several values at once, and are no key here";
	case FIELD_VLAN:
		return "VLAN tags are gone at netfilter hooks";
	default:
		return NULL;
	}
}

/* Of limits that count in nanoseconds: what the bucket holds must fit with some to spare, as must the cost of a packet. */
static bool limit_is_large(const struct state_spec *s)
{
	enum { DAY_MS = 24 * 60 * 60 * 1000, MOST_LOG2 = 62 };
	u128 ns = (u128)s->rate.per_ms * 1000000, units = s->rate.units ? s->rate.units : 1;

	if (s->rate.by_bytes)
		return s->rate.per_ms > DAY_MS || ns * (units + s->rate.burst) / units >> MOST_LOG2;
	return s->rate.in_ns && ns / units * s->rate.burst >> MOST_LOG2;
}

static bool is_whole_key(const struct map_key *k, unsigned bits)
{
	u128 all = bits >= 128 ? ~(u128)0 : ((u128)1 << bits) - 1;

	return (k->mask & all) == all;
}

static const char *reason_of_state(const struct state_spec *s)
{
	switch (s->kind) {
	case STATE_LIMIT:
		return limit_is_large(s) ? "a limit in bytes over more than a day, or with a burst of years, is not kept here" : NULL;
	case STATE_NTH:
	case STATE_RANDOM:
	case STATE_QUOTA:
		return NULL;
	case STATE_HASHLIMIT:
		return "a limit for each address is not kept here";
	case STATE_RECENT:
		return "lists of recent addresses are not kept here";
	case STATE_CONNLIMIT:
		return "connections are not counted here";
	case STATE_TIME:
		return "the time of day is not known here";
	}
	return "this cannot be decided here";
}

/*
 * Values of a set that is asked by fields. Addresses, names and Ethernet addresses are asked where they lie, other values are
 * first put into one of two words.
 */
static const char *reason_of_dim(const struct set *s, const struct map_key *k, unsigned d, unsigned *words)
{
	bool is_wide = k->payload ? k->payload->n_bits > 64 : field_table[k->field].bits > 64;
	enum field f = k->field;

	if (!k->payload && reason_of_field(f))
		return reason_of_field(f);
	switch (s->dim[d]) {
	case SET_DIM_ADDR:
	case SET_DIM_NET:
		return k->payload || (f != FIELD_SRC && f != FIELD_DST) || !is_whole_key(k, s->family == FAMILY_IP4 ? 32 : 128) ?
			       "a set of addresses is asked with the packet's source or destination only" :
			       NULL;
	case SET_DIM_IFACE:
		return k->payload || (f != FIELD_IIF && f != FIELD_OIF) ? "a set of interfaces is asked with an interface only" : NULL;
	case SET_DIM_MAC:
		return k->payload || (f != FIELD_MAC_SRC && f != FIELD_MAC_DST) ? "a set of Ethernet addresses is asked with one only" :
										 NULL;
	case SET_DIM_VALUE:
		if (k->payload && !is_whole_key(k, k->payload->n_bits))
			return "bits of a header under a mask are not looked up in a set here";
		*words += is_wide ? 2 : 1;
		return *words > 2 ? "so many values besides addresses and interfaces are not looked up together here" : NULL;
	default:
		return "sets of this kind are not asked by fields here";
	}
}

/* An element has at most FLAT_SET_WORDS words of 64 bits. */
static bool is_too_wide(const struct set *s)
{
	unsigned n = 0;

	for (unsigned d = 0; d < s->n_dims; d++) {
		bool is_addr = s->dim[d] == SET_DIM_ADDR || s->dim[d] == SET_DIM_NET;

		n += s->dim[d] == SET_DIM_IFACE || (is_addr && s->family == FAMILY_IP6) ||
				     (s->dim[d] == SET_DIM_VALUE && s->value_bits[d] > 64) ? 2 : 1;
	}
	return n > FLAT_SET_WORDS;
}

static const char *reason_of_set(const struct set_use *use)
{
	const char *why = NULL;
	unsigned words = 0;

	if (use->by_field && use->set && is_too_wide(use->set))
		return "its values together are wider than 320 bits, which no set holds here";

	if (use->has_counters)
		return "the counters of set elements are not kept here";
	for (unsigned d = 0; use->by_field && use->set && d < use->set->n_dims && !why; d++)
		why = reason_of_dim(use->set, &use->key[d], d, &words);
	return why;
}

static const char *reason_of_bytes(const struct bytes_spec *b)
{
	switch (b->kind) {
	case BYTES_U32:
		for (uint32_t i = 0, n = 0; i < b->n_u32; i++) {
			n += b->u32[i].loc.n_ops + b->u32[i].n_values + 2u;
			if (n > FLAT_MAX_U32)
				return "it has too many steps";
		}
		return NULL;
	case BYTES_STRING:
		return b->pattern.n == 0 || b->pattern.n > 255 ? "the pattern must have 1 to 255 bytes here" : NULL;
	case BYTES_PAYLOAD:
		return NULL;
	case BYTES_CBPF:
		return "classic BPF is not run here";
	case BYTES_TC_U32:
		return "the hash tables of tc u32 are not walked here";
	case BYTES_IP6_OPTS:
	case BYTES_RT_ADDRS:
		return "the insides of extension headers are not looked into";
	}
	return "bytes of the packet are not looked into";
}

static bool is_option(enum field f)
{
	return f == FIELD_TCP_OPTS || f == FIELD_TCP_MSS;
}

/* Bits of headers are read into two words: two values, or one of more than 64 bits. */
static const char *reason_of_key(const struct map_use *u)
{
	unsigned words = 0;

	if (u->why)
		return u->why;
	for (unsigned i = 0; i < u->map->n_dims; i++) {
		const char *why = u->key[i].payload ? NULL : reason_of_field(u->key[i].field);

		if (why)
			return why;
		words += !u->key[i].payload ? 0 : u->key[i].payload->n_bits > 64 ? 2 : 1;
	}
	return words > 2 ? "more than 128 bits of headers, or three such values, are no key here" : NULL;
}

static const char *reason_of_test(const struct test *t)
{
	const char *why = NULL;

	switch (t->kind) {
	case TEST_IN:
	case TEST_MASK:
		for (unsigned i = 0; i < t->n_fields && !why && !flat_asks_multicast(t); i++)
			why = is_option(t->field[i]) ? NULL : reason_of_field(t->field[i]);
		return why;
	case TEST_SET:
		return reason_of_set(t->set);
	case TEST_STATE:
		return reason_of_state(t->state);
	case TEST_BYTES:
		return reason_of_bytes(t->bytes);
	case TEST_TUPLE:
		return reason_of_key(t->tuple);
	case TEST_UNKNOWN:
		return t->why ? t->why : "this cannot be decided here";
	}
	return NULL;
}

static void refuse_test(const struct ruleset *rs, const struct rule *r, const struct test *t, struct diags *d)
{
	const char *why = reason_of_test(t);

	if (why) {
		hint_tables(rs, r->chain, d, diag_error(d, t->at, "%s: %s", t->what ? t->what : "this match", why));
	} else if (t->kind == TEST_SET && !t->set->set) {
		struct diag *g = diag_error(d, t->set->at, "there is no set '%.*s'", STR_ARG(t->set->name));

		diag_hint(d, g, "give the output of `ipset save` as one more file");
	}
}

static void refuse_map(const struct ruleset *rs, const struct rule *r, const struct map_use *u, const struct flat_options *opt,
		       struct diags *d)
{
	const char *why = reason_of_key(u);

	if (why)
		hint_tables(rs, r->chain, d, diag_error(d, u->at, "%s: %s", u->what ? u->what : "this map", why));
	for (uint32_t i = 0; i < u->map->n_outcomes; i++) {
		const struct step *s = &u->map->outcome[i];

		if (s->kind == STEP_VERDICT)
			refuse_verdict(rs, r, s, opt, d);
		else if (s->kind == STEP_EFFECT && s->effect.kind != EFFECT_MARK && s->effect.kind != EFFECT_NONE)
			hint_tables(rs, r->chain, d,
				    diag_error(d, s->effect.at, "%s: this is not done by an entry of a map here",
					       s->effect.name ? s->effect.name : "this effect"));
		else
			refuse_effect(rs, r, &s->effect, opt, d);
	}
}

void flat_refuse_rule(const struct ruleset *rs, const struct rule *r, const struct flat_options *opt, struct diags *d)
{
	for (uint32_t i = 0; i < r->n_steps; i++) {
		const struct step *s = &r->step[i];

		if (s->kind == STEP_EFFECT)
			refuse_effect(rs, r, &s->effect, opt, d);
		else if (s->kind == STEP_VERDICT)
			refuse_verdict(rs, r, s, opt, d);
		else if (s->kind == STEP_MAP)
			refuse_map(rs, r, s->map, opt, d);
		else
			refuse_test(rs, r, &s->test, d);
	}
}

bool flat_asks_multicast(const struct test *t)
{
	u128 multicast = (u128)1 << RTN_MULTICAST;

	return t->kind == TEST_IN && t->n_fields == 1 && (t->field[0] == FIELD_SRC_TYPE || t->field[0] == FIELD_DST_TYPE) &&
	       t->in.n == 1 && t->in.span[0].lo == multicast && t->in.span[0].hi == multicast;
}

static bool key_asks_route(const struct map_use *u)
{
	for (unsigned i = 0; i < u->map->n_dims; i++)
		if (!u->key[i].payload && u->key[i].field == FIELD_DST_TYPE)
			return true;
	return false;
}

static bool asks_route(const struct step *s)
{
	if (s->kind == STEP_MAP || (s->kind == STEP_TEST && s->test.kind == TEST_TUPLE))
		return key_asks_route(s->kind == STEP_MAP ? s->map : s->test.tuple);
	return s->kind == STEP_TEST && s->test.n_fields && s->test.field[0] == FIELD_DST_TYPE && !flat_asks_multicast(&s->test);
}

bool flat_asks_route(const struct rule *r)
{
	for (uint32_t i = 0; i < r->n_steps; i++)
		if (asks_route(&r->step[i]))
			return true;
	return false;
}

void flat_refuse_early(const struct ruleset *rs, const struct rule *r, struct diags *d)
{
	for (uint32_t i = 0; i < r->n_steps; i++) {
		const struct step *s = &r->step[i];
		const char *what = s->kind == STEP_MAP ? s->map->what : s->test.what;

		if (!asks_route(s))
			continue;
		hint_tables(rs, r->chain, d,
				 diag_error(d, s->kind == STEP_MAP ? s->map->at : s->test.at, "%s: in PREROUTING no route is known yet, and only the route tells which kind "
						      "of address this is",
					    what ? what : "this match"));
	}
}

void flat_refuse_nat(const struct ruleset *rs, const struct chain *c, struct diags *d)
{
	struct diag *g;

	if (c->rules.n == 0)
		return;
	g = diag_error(d, c->rules.v[0]->at, "chain %.*s of table %.*s: a netfilter program cannot translate addresses",
		       STR_ARG(c->name), STR_ARG(c->table));
	hint_tables(rs, c, d, g);
}

void flat_refuse_devices(const struct ruleset *rs, struct diags *d)
{
	for (size_t i = 0; i < rs->chains.n; i++) {
		const struct chain *c = rs->chains.v[i];

		if ((c->hook == HOOK_INGRESS || c->hook == HOOK_EGRESS) && policy_chain_root(c) == c)
			diag_error(d, c->at, "chain %.*s of table %.*s: chains at devices are not run yet", STR_ARG(c->name),
				   STR_ARG(c->table));
	}
	for (size_t i = 0; i < rs->beyond.n; i++)
		diag_error(d, rs->beyond.v[i].at, "%.*s: %.*s", STR_ARG(rs->beyond.v[i].what), STR_ARG(rs->beyond.v[i].why));
}
