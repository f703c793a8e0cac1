/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets and limits whose rules name the fields they look at; what adding to such a set does; limits as nft counts them. */
#include "unit/eval_kit.h"

#define IP4(a, b, c, d) ((u128)((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d)))
#define FROM(n) "in=eth0 ip 198.51.100." #n " > 192.0.2.1 tcp 40000 > 22 flags=S ct=new"
#define LATER "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp frag=8 ct=new"

static const struct map_key src = { .field = FIELD_SRC, .mask = ~(u128)0 };
static const struct map_key src_dport[] = { { .field = FIELD_SRC, .mask = ~(u128)0 }, { .field = FIELD_DPORT, .mask = 0xffff } };

static struct chain *input(struct kit *k)
{
	return kit_chain(k, FAMILY_IP4, "ip f", "i", HOOK_INPUT, 0);
}

static struct set *make_set(struct kit *k, uint8_t n_dims)
{
	struct set *s = policy_set_add(k->rs, STR("ip/f/s"), (struct loc){ 0 });

	s->has_addrs = true;
	s->n_dims = n_dims;
	s->dim[0] = SET_DIM_NET;
	if (n_dims > 1) {
		s->dim[1] = SET_DIM_VALUE;
		s->value_bits[1] = 16;
	}
	return s;
}

static struct set_elem *elem(struct kit *k, struct set *s, u128 addr, uint8_t plen)
{
	struct set_elem *el = vec_add(k->a, &s->elems);

	*el = (struct set_elem){ .v = { addr }, .plen = { plen, 16 } };
	return el;
}

static struct set_use *use_of(struct kit *k, const struct map_key *key)
{
	struct set_use *use = arena_new(k->a, struct set_use, 1);

	use->name = STR("ip/f/s");
	use->by_field = true;
	use->key = key;
	return use;
}

static struct test *in_set(struct kit *k, struct rule *r, const struct map_key *key)
{
	struct test *t = &kit_step(r, STEP_TEST)->test;

	t->kind = TEST_SET;
	t->set = use_of(k, key);
	return t;
}

static void values_are_prefixes_of_their_bits(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *s = make_set(k, 2);
	struct rule *r = kit_rule(k, in);
	struct test *t = in_set(k, r, src_dport);
	struct set_elem *el = elem(k, s, IP4(198, 51, 100, 0), 28);

	kit_verdict(r, VERDICT_DROP);
	el->v[1] = 16; /* ports 16 to 31 */
	el->plen[1] = 12;
	kit_expect(k, FROM(7), "drop", r);
	kit_expect(k, FROM(16), "accept", NULL);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 udp 4 > 32 ct=new", "accept", NULL);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 udp 4 > 31 ct=new", "drop", r);
	kit_expect(k, LATER, "accept", NULL);
	t->negated = true;
	kit_expect(k, FROM(16), "drop", r);
	kit_expect(k, FROM(7), "accept", NULL);
	kit_expect(k, LATER, "accept", NULL); /* absent, whatever is asked */
	t->on_absent = true;
	kit_expect(k, LATER, "drop", r);
}

static void what_a_rule_adds_is_one_value_for_a_time(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *s = make_set(k, 1);
	struct rule *known = kit_rule(k, in), *add = kit_rule(k, in), *del = kit_rule(k, in);
	struct effect *ef;

	elem(k, s, IP4(203, 0, 113, 0), 24);
	in_set(k, known, &src);
	kit_in(k, known, FIELD_DPORT, 22, 22);
	kit_verdict(known, VERDICT_DROP);
	kit_in(k, add, FIELD_DPORT, 22, 22);
	ef = kit_effect(add, EFFECT_SET_ADD);
	ef->set = use_of(k, &src);
	ef->set->has_timeout = true;
	ef->set->timeout_s = 60;
	kit_verdict(add, VERDICT_ACCEPT);
	kit_in(k, del, FIELD_DPORT, 99, 99);
	kit_effect(del, EFFECT_SET_DEL)->set = use_of(k, &src);
	kit_expect(k, "t=0 " FROM(7), "accept", add);
	kit_expect(k, "t=50 " FROM(7), "drop", known);
	kit_expect(k, "t=50 " FROM(8), "accept", add); /* not the whole prefix that was declared */
	kit_expect(k, "t=61 " FROM(7), "accept", add);
	kit_expect(k, "t=62 in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 99 ct=new", "accept", NULL);
	kit_expect(k, "t=63 " FROM(7), "accept", add);
	kit_expect(k, "t=64 " FROM(7), "drop", known);
}

static void declared_elements_expire(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *s = make_set(k, 1);
	struct rule *r = kit_rule(k, in);
	struct set_elem *el = elem(k, s, IP4(198, 51, 100, 7), 32);

	el->has_timeout = true;
	el->timeout_s = 10;
	in_set(k, r, &src);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "t=5 " FROM(7), "drop", r);
	kit_expect(k, "t=11 " FROM(7), "accept", NULL);
}

static void a_rule_that_cannot_add_goes_no_further(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *s = make_set(k, 2);
	struct rule *r = kit_rule(k, in);

	s->max_elems = 1;
	kit_effect(r, EFFECT_SET_ADD)->set = use_of(k, src_dport);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, FROM(7), "drop", r);
	kit_expect(k, FROM(7), "drop", r); /* it is there already */
	kit_expect(k, FROM(8), "accept", NULL);
	kit_expect(k, LATER, "accept", NULL);
	assert_int_equal(kit_hits(k, r), 1); /* up to there it applied */
}

/* ---------- limits ---------- */

static struct state_spec *limit(struct kit *k, struct rule *r, enum state_kind kind, uint64_t units, uint64_t per_ms,
				uint64_t burst)
{
	struct state_spec *s = kit_state(k, r, kind);

	s->rate.units = units;
	s->rate.per_ms = per_ms;
	s->rate.burst = burst;
	return s;
}

static void a_bucket_for_each_value(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *r = kit_rule(k, in);
	struct state_spec *s = limit(k, r, STATE_HASHLIMIT, 3, 60000, 2);

	s->shared_name = STR("ip/f/s");
	s->rate.above = true;
	s->rate.key = src_dport;
	s->rate.n_keys = 2;
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "t=0 " FROM(7), "accept", NULL);
	kit_expect(k, "t=0 " FROM(7), "accept", NULL);
	kit_expect(k, "t=0 " FROM(7), "drop", r);
	kit_expect(k, "t=0 " FROM(8), "accept", NULL);
	kit_expect(k, "t=0 in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 23 ct=new", "accept", NULL);
	kit_expect(k, "t=19 " FROM(7), "drop", r);
	kit_expect(k, "t=20 " FROM(7), "accept", NULL);
	kit_expect(k, "t=20 " LATER, "accept", NULL); /* no port: nothing to count by */
	r->step[0].test.on_absent = true;
	kit_expect(k, "t=20 " LATER, "drop", r);
}

/* One packet a day, five at once: iptables' sums would overflow. Bytes: a second's worth and the burst. */
static void nft_counts_in_nanoseconds(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *day = kit_rule(k, in), *bytes = kit_rule(k, in);
	struct state_spec *s = limit(k, day, STATE_LIMIT, 1, 86400000, 5);

	s->rate.in_ns = true;
	kit_in(k, day, FIELD_DPORT, 22, 22);
	kit_verdict(day, VERDICT_DROP);
	limit(k, bytes, STATE_LIMIT, 1000, 1000, 500)->rate.by_bytes = true;
	kit_verdict(bytes, VERDICT_REJECT);
	for (int i = 0; i < 5; i++)
		kit_expect(k, "t=0 " FROM(7), "drop", day);
	kit_expect(k, "t=86399 " FROM(7) " iplen=1501", "accept", NULL); /* neither: 1500 bytes is all there can be */
	kit_expect(k, "t=86400 " FROM(7), "drop", day);
	kit_expect(k, "t=86401 in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 23 iplen=1400 ct=new", "reject(icmp-net-unreach)", bytes);
	kit_expect(k, "t=86401 in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 23 iplen=200 ct=new", "accept", NULL);
	kit_expect(k, "t=86401.1 in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 23 iplen=200 ct=new", "reject(icmp-net-unreach)", bytes);
}

static void twins_share_a_state(void **state)
{
	struct kit *k = *state;
	struct chain *in4 = kit_chain(k, FAMILY_IP4, "inet f", "i", HOOK_INPUT, 0);
	struct chain *in6 = kit_chain(k, FAMILY_IP6, "inet f", "i", HOOK_INPUT, 0);
	struct rule *r4 = kit_rule(k, in4), *r6 = kit_rule(k, in6);

	in4->root = in6->root = in4;
	r4->root = r6->root = r4;
	limit(k, r4, STATE_LIMIT, 1, 60000, 2);
	kit_step(r6, STEP_TEST)->test = r4->step[0].test;
	kit_verdict(r4, VERDICT_DROP);
	kit_verdict(r6, VERDICT_DROP);
	kit_expect(k, "t=0 " FROM(7), "drop", r4);
	kit_expect(k, "t=0 in=eth0 ip6 2001:db8::1 > 2001:db8::2 tcp 4 > 22 ct=new", "drop", r4);
	kit_expect(k, "t=0 " FROM(7), "accept", NULL);
	kit_expect(k, "t=0 in=eth0 ip6 2001:db8::1 > 2001:db8::2 tcp 4 > 22 ct=new", "accept", NULL);
}

static void a_quota_may_be_partly_used(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *over = kit_rule(k, in);
	struct state_spec *s = kit_state(k, over, STATE_QUOTA);

	s->quota.bytes = 1000;
	s->quota.used = 700;
	s->quota.above = true;
	kit_verdict(over, VERDICT_DROP);
	kit_expect(k, FROM(7) " iplen=200", "accept", NULL);
	kit_expect(k, FROM(7) " iplen=100", "accept", NULL);
	kit_expect(k, FROM(7), "drop", over);
	kit_expect(k, FROM(7), "drop", over);
}

static void connections_are_counted_by_value_or_for_the_rule(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *all = kit_rule(k, in), *each = kit_rule(k, in);
	struct state_spec *s = kit_state(k, all, STATE_CONNLIMIT);

	k->opt.track = true;
	s->connlimit.of_rule = s->connlimit.above = true;
	s->connlimit.limit = 3;
	kit_verdict(all, VERDICT_DROP);
	s = kit_state(k, each, STATE_CONNLIMIT);
	s->connlimit.above = true;
	s->connlimit.limit = 1;
	s->connlimit.key = &src;
	s->connlimit.n_keys = 1;
	kit_verdict(each, VERDICT_REJECT);
	kit_expect(k, "t=0 in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 1 > 22 flags=S", "accept", NULL);
	kit_expect(k, "t=0 in=eth0 ip 198.51.100.8 > 192.0.2.1 tcp 1 > 22 flags=S", "accept", NULL);
	kit_expect(k, "t=0 in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 2 > 22 flags=S", "reject(icmp-net-unreach)", each);
	kit_expect(k, "t=0 in=eth0 ip 198.51.100.9 > 192.0.2.1 tcp 1 > 22 flags=S", "accept", NULL);
	kit_expect(k, "t=0 in=eth0 ip 198.51.100.10 > 192.0.2.1 tcp 1 > 22 flags=S", "drop", all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIT_TEST(values_are_prefixes_of_their_bits),
		KIT_TEST(what_a_rule_adds_is_one_value_for_a_time),
		KIT_TEST(declared_elements_expire),
		KIT_TEST(a_rule_that_cannot_add_goes_no_further),
		KIT_TEST(a_bucket_for_each_value),
		KIT_TEST(nft_counts_in_nanoseconds),
		KIT_TEST(twins_share_a_state),
		KIT_TEST(a_quota_may_be_partly_used),
		KIT_TEST(connections_are_counted_by_value_or_for_the_rule),
	};

	return KIT_RUN(tests);
}
