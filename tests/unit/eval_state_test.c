/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests that remember. The sequences of nth, quota, recent, limit, hashlimit were sent to a Linux 6.18 kernel with
 * iptables-legacy rules, and its counters read; here the same packets must give the same counts.
 */
#include "unit/eval_kit.h"

static struct chain *input(struct kit *k)
{
	return kit_chain(k, FAMILY_IP4, "filter", "INPUT", HOOK_INPUT, 0);
}

/* Sends a packet at t seconds; says whether r matched. */
static bool matches_at(struct kit *k, const struct rule *r, const char *t, const char *rest)
{
	kit_run(k, arena_printf(k->a, "%s%s in=eth0 ct=new ip %s", *t ? "t=" : "", t, rest).p);
	assert_false(k->r.is_unknown);
	return kit_hits(k, r) != 0;
}

#define UDP "192.0.2.1 > 192.0.2.2 udp 77 > 9"

static void a_limit_has_its_burst_then_its_rate(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_LIMIT);

	s->rate.units = 5;
	s->rate.per_ms = 60000;
	s->rate.burst = 3;
	assert_true(matches_at(k, r, "0", UDP));
	assert_true(matches_at(k, r, "0", UDP));
	assert_true(matches_at(k, r, "0.1", UDP));
	assert_false(matches_at(k, r, "1", UDP));
	assert_false(matches_at(k, r, "11.99", UDP));
	assert_true(matches_at(k, r, "12", UDP)); /* 12 s a packet; refused ones cost nothing */
	assert_false(matches_at(k, r, "23.99", UDP));
	assert_true(matches_at(k, r, "24", UDP));
	for (int i = 0; i < 3; i++) /* never more than the burst */
		assert_true(matches_at(k, r, "4000", UDP));
	assert_false(matches_at(k, r, "4000", UDP));
}

static void without_times_all_packets_come_at_once(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_LIMIT);

	s->rate.units = 100;
	s->rate.per_ms = 1000;
	s->rate.burst = 2;
	assert_true(matches_at(k, r, "", UDP));
	assert_true(matches_at(k, r, "", UDP));
	assert_false(matches_at(k, r, "", UDP));
}

/* 3/second is 3333 ticks of 0.1 ms: iptables rounds the cost down, so the packet is due 0.1 ms early. */
static void the_rate_is_rounded_as_iptables_does(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_LIMIT);

	s->rate.units = 3;
	s->rate.per_ms = 1000;
	s->rate.burst = 1;
	assert_true(matches_at(k, r, "0", UDP));
	assert_false(matches_at(k, r, "0.3332", UDP));
	assert_true(matches_at(k, r, "0.3333", UDP));
}

/* Packets closer together than a credit still add up to time. */
static void small_steps_fill_the_bucket(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_LIMIT);
	unsigned n = 0;

	s->rate.units = 100;
	s->rate.per_ms = 1000;
	s->rate.burst = 1;
	for (unsigned us = 0; us < 30000; us += 10)
		n += matches_at(k, r, arena_printf(k->a, "0.%06u", us).p, UDP);
	assert_int_equal(n, 3);
}

/* The kernel's 32 bits hold 134217 seconds: 1/hour with a burst of 40 is 144000, of which 9782 are left. */
static void a_bucket_that_is_too_large_wraps_around(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_LIMIT);
	unsigned n = 0;

	s->rate.units = 1;
	s->rate.per_ms = 3600000;
	s->rate.burst = 40;
	for (unsigned i = 0; i < 40; i++)
		n += matches_at(k, r, "0", UDP);
	assert_int_equal(n, 2);
}

static void a_limit_is_spent_only_where_it_is_reached(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s;

	kit_in(k, r, FIELD_DPORT, 9, 9);
	s = kit_state(k, r, STATE_LIMIT);
	s->rate.units = 1;
	s->rate.per_ms = 60000;
	s->rate.burst = 1;
	assert_false(matches_at(k, r, "0", "192.0.2.1 > 192.0.2.2 udp 77 > 8"));
	assert_true(matches_at(k, r, "0", UDP));
	assert_false(matches_at(k, r, "0", UDP));
}

/* A question before a limit: on one way it is spent, on the other not. Later it is unknown, until it must be full. */
static void a_forked_limit_is_uncertain_until_it_is_full(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *r = kit_rule(k, in), *drop = kit_rule(k, in);
	struct state_spec *s;

	kit_unknown(r, "socket");
	s = kit_state(k, r, STATE_LIMIT);
	s->rate.units = 1;
	s->rate.per_ms = 10000;
	s->rate.burst = 1;
	s->shared_name = STR("both");
	kit_verdict(r, VERDICT_ACCEPT);
	kit_in(k, drop, FIELD_DPORT, 9, 9);
	kit_step(drop, STEP_TEST)->test = (struct test){ .kind = TEST_STATE, .state = s };
	kit_verdict(drop, VERDICT_DROP);
	/* Port 8 meets the question only; port 9 always comes to the limit. */
	kit_expect(k, "t=0 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 77 > 8", "accept", NULL);
	r->step[0].test.kind = TEST_IN; /* from now on the first rule is out of the way */
	r->step[0].test.in = (struct valset){ 0 };
	r->step[0].test.field[0] = FIELD_PROTO;
	r->step[0].test.n_fields = 1;
	kit_expect(k, "t=5 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 77 > 9", "unknown", NULL);
	kit_expect(k, "t=14 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 77 > 9", "unknown", NULL);
	kit_expect(k, "t=24 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 77 > 9", "drop", drop);
	kit_expect(k, "t=25 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 77 > 9", "accept", NULL);
}

static void nth_counts_what_reaches_it(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *r[3];

	for (uint32_t p = 0; p < 3; p++) {
		struct state_spec *s;

		r[p] = kit_rule(k, in);
		s = kit_state(k, r[p], STATE_NTH);
		s->nth.every = 3;
		s->nth.packet = p;
	}
	for (unsigned i = 0; i < 9; i++) {
		kit_run(k, "in=eth0 ct=new ip " UDP);
		for (unsigned p = 0; p < 3; p++)
			assert_int_equal(kit_hits(k, r[p]), i % 3 == p);
	}
}

static void a_quota_gives_nothing_after_the_first_that_does_not_fit(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));

	kit_state(k, r, STATE_QUOTA)->quota.bytes = 100;
	assert_true(matches_at(k, r, "", UDP " payload=10B"));
	assert_false(matches_at(k, r, "", UDP " payload=40B"));
	assert_false(matches_at(k, r, "", UDP " payload=10B"));
	assert_false(matches_at(k, r, "", UDP " payload=1B"));
}

static void random_is_unknown_but_at_its_ends(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_RANDOM);

	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "in=eth0 ct=new ip " UDP, "accept", NULL);
	s->random.threshold = 0x40000000;
	kit_expect(k, "in=eth0 ct=new ip " UDP, "unknown", NULL);
	s->random.threshold = 0x80000000;
	kit_expect(k, "in=eth0 ct=new ip " UDP, "drop", r);
}

/* ---------- recent ---------- */

static struct rule *recent(struct kit *k, struct chain *in, u128 port, enum recent_op op, uint32_t seconds, uint32_t hits)
{
	struct rule *r = kit_rule(k, in);
	struct state_spec *s;

	kit_in(k, r, FIELD_DPORT, port, port);
	s = kit_state(k, r, STATE_RECENT);
	s->shared_name = STR("q");
	s->recent.op = op;
	s->recent.seconds = seconds;
	s->recent.hitcount = hits;
	s->recent.mask = 0xffffffff;
	return r;
}

static void recent_lists_are_shared_by_name(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *r[7];
	static const struct {
		int port, ttl;
		unsigned hits[7];
	} seq[] = {
		{ 2, 64, { 0, 0, 0, 0, 0, 0, 0 } }, { 1, 64, { 1, 0, 0, 0, 0, 0, 0 } }, { 2, 64, { 1, 1, 0, 0, 0, 0, 0 } },
		{ 1, 64, { 2, 1, 0, 0, 0, 0, 0 } }, { 2, 64, { 2, 2, 0, 0, 0, 0, 0 } }, { 3, 64, { 2, 2, 0, 0, 1, 0, 0 } },
		{ 3, 64, { 2, 2, 0, 1, 2, 0, 0 } }, { 2, 64, { 2, 3, 1, 1, 2, 0, 0 } }, { 3, 64, { 2, 3, 1, 2, 3, 0, 0 } },
		{ 5, 64, { 2, 3, 1, 2, 3, 0, 1 } }, { 5, 63, { 2, 3, 1, 2, 3, 0, 1 } }, { 4, 64, { 2, 3, 1, 2, 3, 1, 1 } },
		{ 2, 64, { 2, 3, 1, 2, 3, 1, 1 } },
	};
	unsigned sum[7] = { 0 };

	r[0] = recent(k, in, 1, RECENT_SET, 0, 0);
	r[1] = recent(k, in, 2, RECENT_CHECK, 0, 0);
	r[2] = recent(k, in, 2, RECENT_CHECK, 60, 3);
	r[3] = recent(k, in, 3, RECENT_UPDATE, 60, 3);
	r[4] = recent(k, in, 3, RECENT_UPDATE, 60, 9);
	r[4]->step[1].test.negated = true;
	r[5] = recent(k, in, 4, RECENT_REMOVE, 0, 0);
	r[6] = recent(k, in, 5, RECENT_CHECK, 0, 0);
	((struct state_spec *)r[6]->step[1].test.state)->recent.rttl = true;
	for (size_t i = 0; i < sizeof seq / sizeof *seq; i++) {
		kit_run(k, arena_printf(k->a, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 ttl=%d udp 77 > %d", seq[i].ttl,
					seq[i].port).p);
		for (unsigned n = 0; n < 7; n++) {
			sum[n] += kit_hits(k, r[n]);
			if (sum[n] != seq[i].hits[n])
				fail_msg("packet %zu, rule %u: %u, not %u", i, n, sum[n], seq[i].hits[n]);
		}
	}
}

static void recent_forgets_by_seconds(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *set = recent(k, in, 1, RECENT_SET, 0, 0), *check = recent(k, in, 2, RECENT_CHECK, 10, 2);

	assert_true(matches_at(k, set, "0", "192.0.2.1 > 192.0.2.2 udp 77 > 1"));
	assert_true(matches_at(k, set, "8", "192.0.2.1 > 192.0.2.2 udp 77 > 1"));
	assert_true(matches_at(k, check, "10", "192.0.2.1 > 192.0.2.2 udp 77 > 2"));
	assert_false(matches_at(k, check, "10.1", "192.0.2.1 > 192.0.2.2 udp 77 > 2"));
	assert_false(matches_at(k, check, "10.1", "192.0.2.3 > 192.0.2.2 udp 77 > 2"));
}

/* The first rule that names a list makes it; what later ones say of a mask is not heard. */
static void the_mask_is_the_lists(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *set = recent(k, in, 1, RECENT_SET, 0, 0), *check = recent(k, in, 2, RECENT_CHECK, 0, 0);

	((struct state_spec *)check->step[1].test.state)->recent.mask = 0xffffff00;
	assert_true(matches_at(k, set, "", "192.0.2.9 > 192.0.2.2 udp 77 > 1"));
	assert_true(matches_at(k, check, "", "192.0.2.9 > 192.0.2.2 udp 77 > 2"));
	assert_false(matches_at(k, check, "", "192.0.2.7 > 192.0.2.2 udp 77 > 2"));
	((struct state_spec *)set->step[1].test.state)->recent.mask = 0xffffff00;
	k->e = NULL;
	assert_true(matches_at(k, set, "", "192.0.2.9 > 192.0.2.2 udp 77 > 1"));
	assert_true(matches_at(k, check, "", "192.0.2.7 > 192.0.2.2 udp 77 > 2"));
}

static void recent_lists_hold_a_hundred(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *set = recent(k, in, 1, RECENT_SET, 0, 0), *check = recent(k, in, 2, RECENT_CHECK, 0, 0);

	for (int i = 1; i <= 101; i++)
		assert_true(matches_at(k, set, "", arena_printf(k->a, "192.0.2.%d > 192.0.2.2 udp 77 > 1", i).p));
	assert_false(matches_at(k, check, "", "192.0.2.1 > 192.0.2.2 udp 77 > 2"));
	assert_true(matches_at(k, check, "", "192.0.2.2 > 192.0.2.2 udp 77 > 2"));
	assert_true(matches_at(k, check, "", "192.0.2.101 > 192.0.2.2 udp 77 > 2"));
}

/* ---------- hashlimit ---------- */

static void hashlimit_has_a_bucket_a_group(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_HASHLIMIT);

	s->shared_name = STR("x");
	s->rate.units = 1;
	s->rate.per_ms = 60000;
	s->rate.burst = 2;
	s->rate.mode = HASHLIMIT_SRCIP;
	s->rate.src_plen = 24;
	assert_true(matches_at(k, r, "0", "192.0.2.1 > 192.0.2.2 udp 77 > 9"));
	assert_true(matches_at(k, r, "0", "192.0.2.200 > 192.0.2.2 udp 77 > 9"));
	assert_false(matches_at(k, r, "0", "192.0.2.3 > 192.0.2.2 udp 77 > 9"));
	assert_true(matches_at(k, r, "0", "198.51.100.1 > 192.0.2.2 udp 77 > 9"));
	assert_true(matches_at(k, r, "60", "192.0.2.3 > 192.0.2.2 udp 77 > 9"));
	assert_false(matches_at(k, r, "60", "192.0.2.3 > 192.0.2.2 udp 77 > 9"));
}

static void hashlimit_above_is_the_rest(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_HASHLIMIT);

	s->shared_name = STR("x");
	s->rate.units = 1;
	s->rate.per_ms = 1000;
	s->rate.burst = 2;
	s->rate.above = true;
	assert_false(matches_at(k, r, "0", UDP));
	assert_false(matches_at(k, r, "0", UDP));
	assert_true(matches_at(k, r, "0", UDP));
	assert_false(matches_at(k, r, "1", UDP));
}

/* Between its expiry and the sweep a second later a group may be there, empty, or be made anew, full. */
static void an_idle_group_may_be_forgotten(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_HASHLIMIT);

	s->shared_name = STR("x");
	s->rate.units = 1;
	s->rate.per_ms = 60000;
	s->rate.burst = 1;
	s->rate.expire_ms = 5000;
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "t=0 in=eth0 ct=new ip " UDP, "drop", r);
	kit_expect(k, "t=4.9 in=eth0 ct=new ip " UDP, "accept", NULL); /* and it is kept for 5 s more */
	kit_expect(k, "t=10.5 in=eth0 ct=new ip " UDP, "unknown", NULL);
	kit_expect(k, "t=80 in=eth0 ct=new ip " UDP, "drop", r);
	kit_expect(k, "t=86 in=eth0 ct=new ip " UDP, "drop", r);
}

/* 1000 bytes a second are 63 chunks of 16; a packet of 500 bytes is 32. */
static void hashlimit_counts_bytes_in_chunks(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_HASHLIMIT);

	s->shared_name = STR("z");
	s->rate.by_bytes = true;
	s->rate.units = 1000;
	s->rate.per_ms = 1000;
	assert_true(matches_at(k, r, "0", UDP " payload=472B"));
	assert_false(matches_at(k, r, "0", UDP " payload=472B"));
	assert_false(matches_at(k, r, "0.015", UDP " payload=472B"));
	assert_true(matches_at(k, r, "0.016", UDP " payload=472B"));
}

static void a_byte_burst_fills_the_bucket_again(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_HASHLIMIT);
	int n = 0;

	s->shared_name = STR("zz");
	s->rate.by_bytes = true;
	s->rate.units = 1000;
	s->rate.per_ms = 1000;
	s->rate.burst = 3000; /* 992 bytes a second as the kernel counts: four refills */
	while (matches_at(k, r, "0", UDP " payload=472B"))
		n++;
	assert_int_equal(n, 5);
}

/* ---------- time, connlimit ---------- */

static void time_needs_a_calendar(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_TIME);

	s->time.start_s = INT64_MIN;
	s->time.stop_s = INT64_MAX;
	s->time.day_stop_s = 86399;
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "in=eth0 ct=new ip " UDP, "unknown", NULL);
	kit_expect(k, "t=5 in=eth0 ct=new ip " UDP, "unknown", NULL);
}

static bool is_time(struct kit *k, int64_t s)
{
	struct packet p;
	struct eval_result r;

	packet_init(&p);
	assert_true(notation_parse(k->a, &k->d, STR("in=eth0 ct=new ip " UDP), (struct loc){ 0 }, &p));
	p.has_time = p.time_is_epoch = true;
	p.time_ns = s * 1000000000;
	policy_number(k->rs);
	eval_packet(eval_create(k->a, k->rs, &k->opt), k->a, &p, &r);
	assert_false(r.is_unknown);
	return r.verdict == VERDICT_DROP;
}

static void time_is_days_and_hours(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_TIME);
	const int64_t monday = 1582502400; /* 2020-02-24 00:00:00 */
	const int64_t leap = monday + 5 * 86400; /* Saturday 2020-02-29 */

	kit_verdict(r, VERDICT_DROP);
	s->time.start_s = INT64_MIN;
	s->time.stop_s = INT64_MAX;
	s->time.day_start_s = 8 * 3600;
	s->time.day_stop_s = 17 * 3600;
	s->time.weekdays = 1 << 1;
	assert_false(is_time(k, monday + 8 * 3600 - 1));
	assert_true(is_time(k, monday + 8 * 3600));
	assert_true(is_time(k, monday + 17 * 3600));
	assert_false(is_time(k, monday + 17 * 3600 + 1));
	assert_false(is_time(k, monday + 86400 + 9 * 3600));
	s->time.weekdays = 0;
	s->time.monthdays = 1u << 29;
	assert_true(is_time(k, leap + 9 * 3600));
	assert_false(is_time(k, leap + 86400 + 9 * 3600));
	s->time.monthdays = 0;
	s->time.day_start_s = 23 * 3600;
	s->time.day_stop_s = 1 * 3600;
	s->time.weekdays = 1 << 1;
	assert_true(is_time(k, monday + 30)); /* the first hour is Monday's own */
	assert_false(is_time(k, monday + 86400 + 30));
	s->time.contiguous = true; /* now it is the end of Sunday's night */
	assert_false(is_time(k, monday + 30));
	assert_true(is_time(k, monday + 86400 + 30));
	assert_true(is_time(k, monday + 23 * 3600));
}

static void connlimit_counts_open_connections(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct state_spec *s = kit_state(k, r, STATE_CONNLIMIT);

	s->connlimit.limit = 2;
	s->connlimit.above = true;
	s->connlimit.plen = 32;
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "t=0 in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 9", "unknown", NULL);
	k->opt.track = true;
	k->e = NULL;
	kit_expect(k, "t=0 in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 9", "accept", NULL);
	kit_expect(k, "t=0 in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 2 > 9", "accept", NULL);
	kit_expect(k, "t=1 in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 3 > 9", "drop", r);
	/* The kernel counts the one that was just refused until a packet of a later connection cleans its list. */
	kit_expect(k, "t=1 in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 9", "drop", r);
	kit_expect(k, "t=1 in=eth0 ip 192.0.2.3 > 192.0.2.2 udp 1 > 9", "accept", NULL);
	kit_expect(k, "t=30.5 in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 3 > 9", "accept", NULL); /* the second has timed out */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIT_TEST(a_limit_has_its_burst_then_its_rate),
		KIT_TEST(without_times_all_packets_come_at_once),
		KIT_TEST(the_rate_is_rounded_as_iptables_does),
		KIT_TEST(small_steps_fill_the_bucket),
		KIT_TEST(a_bucket_that_is_too_large_wraps_around),
		KIT_TEST(a_limit_is_spent_only_where_it_is_reached),
		KIT_TEST(a_forked_limit_is_uncertain_until_it_is_full),
		KIT_TEST(nth_counts_what_reaches_it),
		KIT_TEST(a_quota_gives_nothing_after_the_first_that_does_not_fit),
		KIT_TEST(random_is_unknown_but_at_its_ends),
		KIT_TEST(recent_lists_are_shared_by_name),
		KIT_TEST(recent_forgets_by_seconds),
		KIT_TEST(the_mask_is_the_lists),
		KIT_TEST(recent_lists_hold_a_hundred),
		KIT_TEST(hashlimit_has_a_bucket_a_group),
		KIT_TEST(hashlimit_above_is_the_rest),
		KIT_TEST(an_idle_group_may_be_forgotten),
		KIT_TEST(hashlimit_counts_bytes_in_chunks),
		KIT_TEST(a_byte_burst_fills_the_bucket_again),
		KIT_TEST(time_needs_a_calendar),
		KIT_TEST(time_is_days_and_hours),
		KIT_TEST(connlimit_counts_open_connections),
	};

	return KIT_RUN(tests);
}
