/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps, tuples, counters at their place, and twins, as the evaluator sees them. */
#include "unit/eval_kit.h"

#define IP4(a, b, c, d) ((u128)((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d)))
#define HTTP "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 40000 > 80 flags=S ct=new"
#define SSH "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 40000 > 22 flags=S ct=new"
#define LATER "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp frag=8 ct=new"

static struct chain *input(struct kit *k)
{
	return kit_chain(k, FAMILY_IP4, "filter", "INPUT", HOOK_INPUT, 0);
}

/* A map whose dimensions take these fields whole. */
static struct map_use *make_map(struct kit *k, const enum field *f, uint8_t n)
{
	struct map *m = policy_map_add(k->rs, STR(""), (struct loc){ 0 });
	struct map_use *use = arena_new(k->a, struct map_use, 1);
	struct map_key *key = arena_new(k->a, struct map_key, n);

	m->n_dims = n;
	m->outcome = arena_new(k->a, struct step, 8);
	for (uint8_t i = 0; i < n; i++)
		key[i] = (struct map_key){ .field = f[i], .mask = field_max(f[i]) };
	*use = (struct map_use){ .map = m, .key = key, .what = n == 1 ? "tcp dport" : "tcp dport . ip daddr" };
	return use;
}

static struct map *map_of(const struct map_use *use)
{
	return (struct map *)use->map;
}

static void add(struct kit *k, const struct map_use *use, uint32_t outcome, const struct map_span *span)
{
	struct map *m = map_of(use);
	struct map_span *key = arena_new(k->a, struct map_span, m->n_dims);

	memcpy(key, span, m->n_dims * sizeof *key);
	*vec_add(k->a, &m->entries) = (struct map_entry){ .key = key, .outcome = outcome };
}

static void add_port(struct kit *k, const struct map_use *use, uint32_t outcome, u128 lo, u128 hi)
{
	add(k, use, outcome, &(struct map_span){ lo, hi });
}

static struct step *outcome(const struct map_use *use, enum step_kind kind)
{
	struct map *m = map_of(use);
	struct step *s = &m->outcome[m->n_outcomes++];

	s->kind = kind;
	return s;
}

static void verdicts(const struct map_use *use, enum verdict x, enum verdict y)
{
	outcome(use, STEP_VERDICT)->v.verdict = x;
	if (y != VERDICT_NONE)
		outcome(use, STEP_VERDICT)->v.verdict = y;
}

static struct rule *map_rule(struct kit *k, struct chain *c, const struct map_use *use)
{
	struct rule *r = kit_rule(k, c);

	kit_step(r, STEP_MAP)->map = use;
	return r;
}

static struct test *kit_tuple(struct rule *r, const struct map_use *use)
{
	struct test *t = &kit_step(r, STEP_TEST)->test;

	t->kind = TEST_TUPLE;
	t->tuple = use;
	return t;
}

static const enum field ports[] = { FIELD_DPORT }, port_and_addr[] = { FIELD_DPORT, FIELD_DST }, states[] = { FIELD_CT_STATE };

static bool trace_has(const struct kit *k, const char *text)
{
	for (size_t i = 0; i < k->r.trace.n; i++) {
		struct str s = k->r.trace.v[i].text;

		if (s.n >= strlen(text) && memmem(s.p, s.n, text, strlen(text)))
			return true;
	}
	return false;
}

static void an_entry_decides_and_a_miss_asks_the_next_rule(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct map_use *use = make_map(k, port_and_addr, 2);
	struct rule *r = map_rule(k, in, use), *last = kit_always(k, in, VERDICT_ACCEPT);

	verdicts(use, VERDICT_DROP, VERDICT_REJECT);
	add(k, use, 0, (struct map_span[]){ { 22, 22 }, { IP4(192, 0, 2, 0), IP4(192, 0, 2, 127) } });
	add(k, use, 1, (struct map_span[]){ { 22, 22 }, { IP4(192, 0, 2, 128), IP4(192, 0, 2, 255) } });
	k->opt.want_trace = true;
	kit_expect(k, SSH, "drop", r);
	assert_int_equal(kit_hits(k, r), 1);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.200 tcp 4 > 22 ct=new", "reject(icmp-net-unreach)", r);
	kit_expect(k, HTTP, "accept", last);
	assert_int_equal(kit_hits(k, r), 0);
	assert_true(trace_has(k, "tcp dport . ip daddr map: no entry for 80 . 192.0.2.1"));
	kit_expect(k, LATER, "accept", last);
	assert_true(trace_has(k, "there is no dport"));
}

static void other_keys_have_their_outcome(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct map_use *use = make_map(k, ports, 1);
	struct rule *r = map_rule(k, in, use), *last = kit_always(k, in, VERDICT_ACCEPT);

	verdicts(use, VERDICT_NONE, VERDICT_DROP);
	add_port(k, use, 0, 80, 80);
	map_of(use)->has_other = true;
	map_of(use)->other = 1;
	kit_expect(k, SSH, "drop", r);
	kit_expect(k, HTTP, "accept", last); /* an outcome without a verdict ends the rule, which counts */
	assert_int_equal(kit_hits(k, r), 1);
	kit_expect(k, LATER, "accept", last);
	assert_int_equal(kit_hits(k, r), 0);
}

static void outcomes_call_chains(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k), *web = kit_chain(k, FAMILY_IP4, "filter", "web", HOOK_NONE, 0);
	struct map_use *use = make_map(k, ports, 1);
	struct rule *r = map_rule(k, in, use), *behind = kit_always(k, in, VERDICT_DROP), *w = kit_rule(k, web);
	struct step *s = outcome(use, STEP_VERDICT);

	s->v.verdict = VERDICT_JUMP;
	s->v.chain = web;
	outcome(use, STEP_VERDICT)->v.verdict = VERDICT_RETURN;
	add_port(k, use, 0, 80, 80);
	add_port(k, use, 1, 22, 22);
	kit_in(k, w, FIELD_SPORT, 4, 4);
	kit_verdict(w, VERDICT_ACCEPT);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 80 ct=new", "accept", w);
	kit_expect(k, HTTP, "drop", behind);
	assert_int_equal(kit_hits(k, r), 1);
	kit_expect(k, SSH, "accept", NULL); /* back to the base chain's policy */
	assert_ptr_equal(k->r.via, r);
}

static void an_outcome_changes_the_packet_and_the_rule_goes_on(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct map_use *use = make_map(k, ports, 1);
	struct rule *r = map_rule(k, in, use);
	struct step *s = outcome(use, STEP_EFFECT);

	s->effect = (struct effect){ .kind = EFFECT_MARK, .mask = UINT32_MAX, .value = 7 };
	add_port(k, use, 0, 1, 79);
	kit_in(k, r, FIELD_MARK, 7, 7);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, SSH, "drop", r);
	assert_int_equal(k->r.mark, 7);
	kit_expect(k, HTTP, "accept", NULL);
	assert_int_equal(k->r.mark, 0);
}

/* What is not known is asked, outcome by outcome, and later tests keep to the answer. */
static void an_unknown_value_forks_by_outcome(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct map_use *use = make_map(k, states, 1);
	struct rule *r = map_rule(k, in, use), *again = kit_rule(k, in);

	verdicts(use, VERDICT_ACCEPT, VERDICT_DROP);
	add_port(k, use, 0, 1 << CT_ESTABLISHED, 1 << CT_ESTABLISHED);
	add_port(k, use, 0, 1 << CT_RELATED, 1 << CT_RELATED);
	add_port(k, use, 1, 1 << CT_INVALID, 1 << CT_INVALID);
	kit_mask(k, again, FIELD_CT_STATE, 1 << CT_ESTABLISHED, 1 << CT_ESTABLISHED);
	kit_verdict(again, VERDICT_DROP); /* never: the map has accepted it */
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 80", "unknown", NULL);
	assert_true(kit_why_has(k, "ct.state"));
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 80 ct=related", "accept", r);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 80 ct=invalid", "drop", r);
	map_of(use)->outcome[1].v.verdict = VERDICT_ACCEPT;
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 80", "accept", NULL);
}

static void two_unknown_values_fork_entry_by_entry(void **state)
{
	static const enum field two[] = { FIELD_CT_STATE, FIELD_PKTTYPE };
	struct kit *k = *state;
	struct chain *in = input(k);
	struct map_use *use = make_map(k, two, 2);

	map_rule(k, in, use);
	verdicts(use, VERDICT_ACCEPT, VERDICT_DROP);
	add(k, use, 0, (struct map_span[]){ { 1 << CT_NEW, 1 << CT_NEW }, { 0, 3 } });
	add(k, use, 1, (struct map_span[]){ { 1 << CT_ESTABLISHED, 1 << CT_ESTABLISHED }, { 1, 1 } });
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 80 ct=established pkttype=host", "accept", NULL);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 80 pkttype=host", "accept", NULL);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 80", "unknown", NULL);
}

static void a_key_that_nobody_can_tell_may_be_any(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct map_use *use = make_map(k, ports, 1);
	struct rule *r = map_rule(k, in, use), *last = kit_always(k, in, VERDICT_DROP);

	use->why = "it is random";
	verdicts(use, VERDICT_ACCEPT, VERDICT_DROP);
	add_port(k, use, 0, 0, 0);
	kit_expect(k, SSH, "unknown", NULL);
	assert_true(kit_why_has(k, "it is random"));
	map_of(use)->outcome[0].v.verdict = VERDICT_DROP; /* the entry and a miss end alike */
	kit_expect(k, SSH, "drop", last);
	map_of(use)->outcome[0].v.verdict = VERDICT_ACCEPT;
	map_of(use)->has_other = true; /* no miss */
	kit_expect(k, SSH, "accept", r);
}

static void a_mask_is_laid_over_the_value(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct map_use *use = make_map(k, (enum field[]){ FIELD_MARK }, 1);
	struct rule *r = map_rule(k, in, use);

	((struct map_key *)use->key)->mask = 0xf0;
	verdicts(use, VERDICT_DROP, VERDICT_NONE);
	add_port(k, use, 0, 0x10, 0x10);
	kit_expect(k, SSH " mark=0x21f", "drop", r);
	kit_expect(k, SSH " mark=0x2f", "accept", NULL);
}

static void a_tuple_is_negated_and_absent(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct map_use *use = make_map(k, port_and_addr, 2);
	struct rule *r = kit_rule(k, in);
	struct test *t = kit_tuple(r, use);

	kit_verdict(r, VERDICT_DROP);
	add(k, use, 0, (struct map_span[]){ { 22, 22 }, { IP4(192, 0, 2, 1), IP4(192, 0, 2, 1) } });
	kit_expect(k, SSH, "drop", r);
	kit_expect(k, HTTP, "accept", NULL);
	kit_expect(k, LATER, "accept", NULL);
	t->negated = true;
	kit_expect(k, SSH, "accept", NULL);
	kit_expect(k, HTTP, "drop", r);
	kit_expect(k, LATER, "accept", NULL);
	t->on_absent = true;
	kit_expect(k, LATER, "drop", r);
}

/* Every 10 ports one interval, each with an address of its own: all are found, and nothing between them. */
static void fifty_thousand_entries_are_found(void **state)
{
	enum { N = 50000 };
	struct kit *k = *state;
	struct chain *in = input(k);
	struct map_use *use = make_map(k, port_and_addr, 2), *points = make_map(k, (enum field[]){ FIELD_DST }, 1);
	struct rule *r = map_rule(k, in, use), *p = map_rule(k, in, points);

	verdicts(use, VERDICT_DROP, VERDICT_NONE);
	verdicts(points, VERDICT_REJECT, VERDICT_NONE);
	for (uint32_t i = 0; i < N; i++) {
		u128 addr = IP4(10, 0, 0, 0) + i / 5000 * 2;

		add(k, use, 0, (struct map_span[]){ { i % 5000 * 10, i % 5000 * 10 + 4 }, { addr, addr } });
		add_port(k, points, 0, IP4(172, 16, 0, 0) + 3 * i, IP4(172, 16, 0, 0) + 3 * i);
	}
	for (uint32_t i = 0; i < 2000; i++) {
		uint32_t port = i * 7919 % 50000, host = i % 20, far = i * 104729 % (3 * N);
		char line[128];
		bool is_in = port % 10 < 5 && host % 2 == 0 && host < 20;

		snprintf(line, sizeof line, "in=eth0 ip 198.51.100.7 > 10.0.0.%u tcp 4 > %u ct=new", host, port);
		kit_expect(k, line, is_in ? "drop" : "accept", is_in ? r : NULL);
		snprintf(line, sizeof line, "in=eth0 ip 198.51.100.7 > 172.%u.%u.%u udp 4 > 65000 ct=new", 16 + (far >> 16),
			 far >> 8 & 255, far & 255);
		kit_expect(k, line, far % 3 ? "accept" : "reject(icmp-net-unreach)", far % 3 ? NULL : p);
	}
}

/* Intervals in two dimensions: the first ones overlap, the entries do not. */
static void overlapping_first_intervals_are_searched(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct map_use *use = make_map(k, (enum field[]){ FIELD_SPORT, FIELD_DPORT }, 2);

	map_rule(k, in, use);
	verdicts(use, VERDICT_DROP, VERDICT_NONE);
	add(k, use, 0, (struct map_span[]){ { 1, 1000 }, { 10, 19 } });
	for (uint32_t i = 0; i < 30; i++)
		add(k, use, 0, (struct map_span[]){ { 10 * i + 1, 10 * i + 5 }, { 20, 29 } });
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 290 > 15 ct=new", "drop", k->rs->rules.v[0]);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 284 > 25 ct=new", "drop", k->rs->rules.v[0]);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 288 > 25 ct=new", "accept", NULL);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 1001 > 15 ct=new", "accept", NULL);
}

/* ---------- counters ---------- */

static void a_rule_counts_where_it_says(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *early = kit_rule(k, in), *late = kit_rule(k, in);

	kit_effect(early, EFFECT_COUNT);
	kit_in(k, early, FIELD_DPORT, 22, 22);
	kit_verdict(early, VERDICT_DROP);
	kit_effect(late, EFFECT_LOG);
	kit_in(k, late, FIELD_DPORT, 80, 80);
	kit_effect(late, EFFECT_COUNT);
	kit_verdict(late, VERDICT_ACCEPT);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 443 ct=new", "accept", NULL);
	assert_int_equal(kit_hits(k, early), 1);
	assert_int_equal(kit_hits(k, late), 0);
	kit_expect(k, HTTP, "accept", late);
	assert_int_equal(kit_hits(k, late), 1);
	kit_expect(k, SSH, "drop", early);
	assert_int_equal(kit_hits(k, early), 1);
}

static void a_rule_that_counts_twice_counts_twice(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));

	kit_effect(r, EFFECT_COUNT);
	kit_in(k, r, FIELD_DPORT, 22, 22);
	kit_effect(r, EFFECT_COUNT);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, SSH, "drop", r);
	assert_int_equal(kit_hits(k, r), 2);
	kit_expect(k, HTTP, "accept", NULL);
	assert_int_equal(kit_hits(k, r), 1);
}

static void named_counters_are_reported(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct counter *web = policy_counter_add(k->rs, STR("ip/filter/web"), (struct loc){ 0 });
	struct rule *r1 = kit_rule(k, in), *r2 = kit_rule(k, in), *maybe = kit_rule(k, in);

	kit_effect(r1, EFFECT_COUNT)->counter = web;
	kit_in(k, r2, FIELD_DPORT, 80, 80);
	kit_effect(r2, EFFECT_COUNT)->counter = web;
	kit_unknown(maybe, "mood");
	kit_effect(maybe, EFFECT_COUNT)->counter = web;
	kit_effect(maybe, EFFECT_MARK)->mask = 0;
	kit_expect(k, HTTP, "accept", NULL);
	assert_int_equal(k->r.counter_hits.n, 2); /* the third one happens on one way only */
	assert_ptr_equal(k->r.counter_hits.v[0], web);
	assert_int_equal(kit_hits(k, r1), 1);
	assert_int_equal(kit_hits(k, r2), 1);
	kit_expect(k, SSH, "accept", NULL);
	assert_int_equal(k->r.counter_hits.n, 1);
}

/* ---------- twins ---------- */

static void twins_count_as_their_root(void **state)
{
	struct kit *k = *state;
	struct chain *in4 = kit_chain(k, FAMILY_IP4, "inet filter", "input", HOOK_INPUT, 0);
	struct chain *in6 = kit_chain(k, FAMILY_IP6, "inet filter", "input", HOOK_INPUT, 0);
	struct rule *only4 = kit_always(k, in4, VERDICT_NONE), *r4 = kit_rule(k, in4), *r6 = kit_rule(k, in6);

	in4->root = in6->root = in4;
	only4->root = only4;
	r4->root = r6->root = r4;
	kit_in(k, r4, FIELD_DPORT, 22, 22);
	kit_verdict(r4, VERDICT_DROP);
	kit_in(k, r6, FIELD_DPORT, 22, 22);
	kit_verdict(r6, VERDICT_DROP);
	kit_expect(k, "in=eth0 ip6 2001:db8::7 > 2001:db8::1 tcp 4 > 22 ct=new", "drop", r4);
	assert_ptr_equal(k->r.chain, in4);
	assert_int_equal(kit_hits(k, r4), 1);
	assert_int_equal(kit_hits(k, r6), 0);
	kit_expect(k, "in=eth0 ip6 2001:db8::7 > 2001:db8::1 tcp 4 > 80 ct=new", "accept", NULL);
	assert_int_equal(k->r.policy_hits.n, 1);
	assert_ptr_equal(k->r.policy_hits.v[0], in4);
	assert_ptr_equal(k->r.chain, in4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIT_TEST(an_entry_decides_and_a_miss_asks_the_next_rule),
		KIT_TEST(other_keys_have_their_outcome),
		KIT_TEST(outcomes_call_chains),
		KIT_TEST(an_outcome_changes_the_packet_and_the_rule_goes_on),
		KIT_TEST(an_unknown_value_forks_by_outcome),
		KIT_TEST(two_unknown_values_fork_entry_by_entry),
		KIT_TEST(a_key_that_nobody_can_tell_may_be_any),
		KIT_TEST(a_mask_is_laid_over_the_value),
		KIT_TEST(a_tuple_is_negated_and_absent),
		KIT_TEST(fifty_thousand_entries_are_found),
		KIT_TEST(overlapping_first_intervals_are_searched),
		KIT_TEST(a_rule_counts_where_it_says),
		KIT_TEST(a_rule_that_counts_twice_counts_twice),
		KIT_TEST(named_counters_are_reported),
		KIT_TEST(twins_count_as_their_root),
	};

	return KIT_RUN(tests);
}
