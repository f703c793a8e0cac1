/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Named sets as ipset answers them. What is odd here (more directions than dimensions, the interface that hides shorter
 * prefixes, the prefix of an added net) was tried on a Linux 6.18 kernel.
 */
#include "unit/eval_kit.h"

static struct chain *input(struct kit *k)
{
	return kit_chain(k, FAMILY_IP4, "filter", "INPUT", HOOK_INPUT, 0);
}

static struct set *set(struct kit *k, const char *name, const char *type, enum set_dim d0, int d1)
{
	struct set *s = policy_set_add(k->rs, str_from(name), (struct loc){ 0 });

	s->type = str_from(type);
	s->family = FAMILY_IP4;
	s->has_addrs = d0 == SET_DIM_ADDR || d0 == SET_DIM_NET;
	s->dim[s->n_dims++] = d0;
	if (d1 >= 0)
		s->dim[s->n_dims++] = (enum set_dim)d1;
	s->netmask = 32;
	s->mark_mask = UINT32_MAX;
	s->max_elems = 65536;
	return s;
}

static struct set_elem *add(struct kit *k, struct set *s, u128 v0, unsigned plen, u128 v1)
{
	struct set_elem *el = vec_add(k->a, &s->elems);

	el->v[0] = v0;
	el->plen[0] = (uint8_t)plen;
	el->v[1] = v1;
	el->plen[1] = 128;
	return el;
}

static struct set_use *use(struct kit *k, const char *name, const char *dirs)
{
	struct set_use *u = arena_new(k->a, struct set_use, 1);

	u->name = str_from(name);
	for (; *dirs; dirs++)
		u->dir[u->n_dirs++] = *dirs == 's' ? SET_DIR_SRC : SET_DIR_DST;
	return u;
}

/* A rule that counts packets in the set. */
static struct rule *match(struct kit *k, struct chain *c, const char *name, const char *dirs, bool negated)
{
	struct rule *r = kit_rule(k, c);
	struct test *t = &kit_step(r, STEP_TEST)->test;

	t->kind = TEST_SET;
	t->set = use(k, name, dirs);
	t->negated = t->on_absent = negated;
	return r;
}

static bool hits(struct kit *k, const struct rule *r, const char *packet)
{
	kit_run(k, packet);
	assert_false(k->r.is_unknown);
	return kit_hits(k, r) != 0;
}

#define IP(a, b, c, d) ((u128)(a) << 24 | (b) << 16 | (c) << 8 | (d))
#define UDP(proto, port) ((u128)(proto) << 16 | (port))

static void the_longest_prefix_decides(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *s = set(k, "n", "hash:net", SET_DIM_NET, -1);
	struct rule *r = match(k, in, "n", "s", false), *back = match(k, in, "n", "s", false), *no = match(k, in, "n", "s", true);

	back->step[0].test.set->return_nomatch = true;
	add(k, s, IP(10, 0, 0, 0), 8, 0);
	add(k, s, IP(10, 1, 0, 0), 16, 0)->nomatch = true;
	add(k, s, IP(10, 1, 2, 0), 24, 0);
	assert_true(hits(k, r, "in=eth0 ct=new ip 10.2.3.4 > 192.0.2.2 udp 1 > 2"));
	assert_int_equal(kit_hits(k, no), 0);
	assert_int_equal(kit_hits(k, back), 0);
	assert_false(hits(k, r, "in=eth0 ct=new ip 10.1.3.4 > 192.0.2.2 udp 1 > 2"));
	assert_int_equal(kit_hits(k, no), 1);
	assert_int_equal(kit_hits(k, back), 1);
	assert_true(hits(k, r, "in=eth0 ct=new ip 10.1.2.4 > 192.0.2.2 udp 1 > 2"));
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 10.2.2.2 udp 1 > 2"));
	assert_int_equal(kit_hits(k, back), 0);
}

static void dimensions_need_directions(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *h = set(k, "h", "hash:ip", SET_DIM_ADDR, -1), *hp = set(k, "hp", "hash:ip,port", SET_DIM_ADDR, SET_DIM_PORT);
	struct rule *extra = match(k, in, "h", "ss", false), *few = match(k, in, "hp", "s", false);
	struct rule *exact = match(k, in, "hp", "ss", false), *negated = match(k, in, "hp", "ss", true);
	struct rule *few_negated = match(k, in, "hp", "s", true);

	add(k, h, IP(192, 0, 2, 1), 32, 0);
	add(k, hp, IP(192, 0, 2, 1), 32, UDP(17, 1));
	kit_run(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2");
	assert_int_equal(kit_hits(k, extra), 1);
	assert_int_equal(kit_hits(k, few), 0);
	assert_int_equal(kit_hits(k, few_negated), 1);
	assert_int_equal(kit_hits(k, exact), 1);
	assert_int_equal(kit_hits(k, negated), 0);
	kit_run(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 icmp type=8");
	assert_int_equal(kit_hits(k, exact), 0);
	assert_int_equal(kit_hits(k, negated), 1);
	kit_run(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 proto=17 frag=3 payload=16B");
	assert_int_equal(kit_hits(k, exact), 0);
	assert_int_equal(kit_hits(k, negated), 1);
}

static void ports_are_type_and_code_of_icmp(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *hp = set(k, "hp", "hash:ip,port", SET_DIM_ADDR, SET_DIM_PORT);
	struct rule *r = match(k, in, "hp", "ss", false);

	add(k, hp, IP(192, 0, 2, 1), 32, UDP(1, 8 << 8));
	add(k, hp, IP(192, 0, 2, 1), 32, UDP(47, 0));
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 icmp type=8"));
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 icmp type=0"));
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 proto=47 payload=8B"));
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 proto=47 frag=3 payload=8B"));
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 proto=1 frag=3 payload=8B"));
}

static void bitmap_ports_have_no_protocol(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *s = set(k, "b", "bitmap:port", SET_DIM_PORT, -1);
	struct rule *r = match(k, in, "b", "d", false);

	add(k, s, 53, 128, 0);
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 53"));
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 tcp 1 > 53 flags=S"));
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udplite 1 > 53"));
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 53 > 1"));
}

/* The search ends at the longest prefix that is there, with whatever interface. */
static void another_interface_hides_shorter_prefixes(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k), *out = kit_chain(k, FAMILY_IP4, "filter", "OUTPUT", HOOK_OUTPUT, 0);
	struct set *s = set(k, "ni", "hash:net,iface", SET_DIM_NET, SET_DIM_IFACE);
	struct rule *r = match(k, in, "ni", "ss", false), *o = match(k, out, "ni", "sd", false), *no = match(k, out, "ni", "ss", true);

	add(k, s, IP(192, 0, 2, 0), 24, field_name_value(STR("xx0")));
	add(k, s, IP(192, 0, 0, 0), 16, field_name_value(STR("eth0")));
	add(k, s, IP(10, 0, 0, 0), 8, field_name_value(STR("ppp")))->wildcard = true;
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2"));
	assert_true(hits(k, r, "in=xx0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2"));
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.9.1 > 192.0.2.2 udp 1 > 2"));
	assert_true(hits(k, r, "in=ppp7 ct=new ip 10.0.9.1 > 192.0.2.2 udp 1 > 2"));
	assert_false(hits(k, r, "in=pp ct=new ip 10.0.9.1 > 192.0.2.2 udp 1 > 2"));
	assert_true(hits(k, o, "out=eth0 ct=new ip 192.0.9.1 > 192.0.2.2 udp 1 > 2"));
	assert_int_equal(kit_hits(k, no), 1); /* no input interface: not in the set */
}

static void the_family_must_agree(void **state)
{
	struct kit *k = *state;
	struct chain *in6 = kit_chain(k, FAMILY_IP6, "filter", "INPUT", HOOK_INPUT, 0);
	struct set *s = set(k, "h", "hash:ip", SET_DIM_ADDR, -1), *m = set(k, "m", "hash:mac", SET_DIM_MAC, -1);
	struct rule *r = match(k, in6, "h", "s", true), *mac = match(k, in6, "m", "s", false);

	add(k, s, 1, 32, 0);
	add(k, m, 0x020000000001, 128, 0);
	assert_true(hits(k, r, "in=eth0 mac=02:00:00:00:00:01 ct=new ip6 ::1 > 2001:db8::2 udp 1 > 2"));
	assert_int_equal(kit_hits(k, mac), 1);
}

static void a_list_asks_its_members(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *a = set(k, "a", "hash:ip", SET_DIM_ADDR, -1), *b = set(k, "b", "hash:ip,port", SET_DIM_ADDR, SET_DIM_PORT);
	struct set *l = set(k, "l", "list:set", SET_DIM_LIST, -1);
	struct rule *one = match(k, in, "l", "s", false), *two = match(k, in, "l", "ss", false);

	add(k, a, IP(192, 0, 2, 1), 32, 0);
	add(k, b, IP(192, 0, 2, 9), 32, UDP(17, 1));
	vec_add(k->a, &l->elems)->list = STR("a");
	vec_add(k->a, &l->elems)->list = STR("b");
	kit_run(k, "in=eth0 ct=new ip 192.0.2.9 > 192.0.2.2 udp 1 > 2");
	assert_int_equal(kit_hits(k, one), 0);
	assert_int_equal(kit_hits(k, two), 1);
	kit_run(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2");
	assert_int_equal(kit_hits(k, one), 1);
	assert_int_equal(kit_hits(k, two), 1);
	*vec_add(k->a, &l->elems) = (struct set_elem){ .list = STR("nobody") };
	k->e = NULL;
	kit_verdict(one, VERDICT_DROP);
	kit_verdict(two, VERDICT_DROP);
	kit_expect(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2", "drop", one);
	kit_expect(k, "in=eth0 ct=new ip 192.0.2.7 > 192.0.2.2 udp 1 > 2", "unknown", NULL);
}

static void an_undefined_set_is_unknown(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *r = match(k, in, "nowhere", "s", false);

	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2", "unknown", NULL);
	assert_true(kit_why_has(k, "nowhere"));
}

static void elements_expire(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *s = set(k, "h", "hash:ip", SET_DIM_ADDR, -1);
	struct rule *r = match(k, in, "h", "s", false);
	struct set_elem *el;

	s->has_default_timeout = true;
	s->default_timeout_s = 60;
	el = add(k, s, IP(192, 0, 2, 1), 32, 0);
	el->has_timeout = true;
	el->timeout_s = 10;
	el = add(k, s, IP(192, 0, 2, 3), 32, 0);
	el->has_timeout = true; /* 0: for ever */
	assert_true(hits(k, r, "t=10 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2"));
	assert_false(hits(k, r, "t=10.1 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2"));
	assert_true(hits(k, r, "t=9000 in=eth0 ct=new ip 192.0.2.3 > 192.0.2.2 udp 1 > 2"));
}

static void rules_add_and_delete(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *s = set(k, "h", "hash:ip", SET_DIM_ADDR, -1);
	struct rule *r = match(k, in, "h", "s", false), *adds = kit_rule(k, in), *dels = kit_rule(k, in);
	struct effect *ef;

	s->has_default_timeout = true;
	s->default_timeout_s = 60;
	kit_in(k, adds, FIELD_DPORT, 1, 1);
	ef = kit_effect(adds, EFFECT_SET_ADD);
	ef->set = use(k, "h", "s");
	ef->set->has_timeout = true;
	ef->set->timeout_s = 5;
	kit_in(k, dels, FIELD_DPORT, 2, 2);
	kit_effect(dels, EFFECT_SET_DEL)->set = use(k, "h", "s");
	add(k, s, IP(192, 0, 2, 7), 32, 0);
	assert_false(hits(k, r, "t=0 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 1"));
	assert_true(hits(k, r, "t=4 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 1")); /* there: not refreshed */
	assert_true(hits(k, r, "t=5 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 3"));
	assert_false(hits(k, r, "t=6 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 3"));
	ef->set->exist = true;
	assert_false(hits(k, r, "t=10 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 1"));
	assert_true(hits(k, r, "t=14 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 1"));
	assert_true(hits(k, r, "t=18 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 2"));
	assert_false(hits(k, r, "t=18 in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 3"));
	assert_true(hits(k, r, "t=18 in=eth0 ct=new ip 192.0.2.7 > 192.0.2.2 udp 9 > 2")); /* declared: can be deleted */
	assert_false(hits(k, r, "t=18 in=eth0 ct=new ip 192.0.2.7 > 192.0.2.2 udp 9 > 3"));
}

/* A net that a rule adds has the longest prefix that the set has; that of a host if it is empty. */
static void added_nets_take_the_longest_prefix(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *s = set(k, "n", "hash:net", SET_DIM_NET, -1);
	struct rule *r = match(k, in, "n", "s", false), *e, *adds = kit_rule(k, in);

	set(k, "empty", "hash:net", SET_DIM_NET, -1);
	e = match(k, in, "empty", "s", false);
	add(k, s, IP(10, 0, 0, 0), 24, 0);
	add(k, s, IP(11, 0, 0, 0), 8, 0);
	kit_in(k, adds, FIELD_DPORT, 1, 1);
	kit_effect(adds, EFFECT_SET_ADD)->set = use(k, "n", "s");
	kit_effect(adds, EFFECT_SET_ADD)->set = use(k, "empty", "s");
	kit_run(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 1");
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.99 > 192.0.2.2 udp 9 > 3"));
	assert_int_equal(kit_hits(k, e), 0);
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.3.99 > 192.0.2.2 udp 9 > 3"));
	kit_run(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 3");
	assert_int_equal(kit_hits(k, e), 1);
}

static void a_full_set_takes_no_more(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *s = set(k, "h", "hash:ip", SET_DIM_ADDR, -1);
	struct rule *r = match(k, in, "h", "s", false), *adds = kit_rule(k, in);

	s->max_elems = 2;
	add(k, s, IP(192, 0, 2, 7), 32, 0);
	kit_effect(adds, EFFECT_SET_ADD)->set = use(k, "h", "s");
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 1"));
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.2 > 192.0.2.2 udp 9 > 1"));
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 1"));
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.2 > 192.0.2.2 udp 9 > 1"));
}

/* Whether the element was added hangs on a question: then it is unknown for that element, and for no other. */
static void a_forked_element_is_uncertain(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *adds = kit_rule(k, in), *r;

	set(k, "h", "hash:ip", SET_DIM_ADDR, -1);
	kit_in(k, adds, FIELD_DPORT, 1, 1);
	kit_unknown(adds, "socket");
	kit_effect(adds, EFFECT_SET_ADD)->set = use(k, "h", "s");
	r = match(k, in, "h", "s", false);
	kit_in(k, r, FIELD_DPORT, 2, 2);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 1", "accept", NULL);
	kit_expect(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 2", "unknown", NULL);
	kit_expect(k, "in=eth0 ct=new ip 192.0.2.3 > 192.0.2.2 udp 9 > 2", "accept", NULL);
}

static void masks_are_applied(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct set *s = set(k, "h", "hash:ip", SET_DIM_ADDR, -1), *m = set(k, "m", "hash:ip,mark", SET_DIM_ADDR, SET_DIM_MARK);
	struct rule *r = match(k, in, "h", "s", false), *rm = match(k, in, "m", "ss", false);

	s->netmask = 24;
	m->mark_mask = 0xff;
	add(k, s, IP(192, 0, 2, 7), 32, 0);
	add(k, m, IP(192, 0, 2, 7), 32, 0x5);
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 9 > 1"));
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.3.1 > 192.0.2.2 udp 9 > 1"));
	assert_true(hits(k, rm, "in=eth0 ct=new ip 192.0.2.7 > 192.0.2.2 udp 9 > 1 mark=0x1205"));
	assert_false(hits(k, rm, "in=eth0 ct=new ip 192.0.2.7 > 192.0.2.2 udp 9 > 1 mark=0x1206"));
}

static void any_mac_becomes_the_first(void **state)
{
	struct kit *k = *state;
	struct set *s = set(k, "b", "bitmap:ip,mac", SET_DIM_ADDR, SET_DIM_MAC);
	struct rule *r = match(k, input(k), "b", "ss", false);

	s->has_range = true;
	s->range_lo = IP(192, 0, 2, 0);
	s->range_hi = IP(192, 0, 2, 255);
	add(k, s, IP(192, 0, 2, 7), 32, 0)->mac_any = true;
	add(k, s, IP(192, 0, 2, 8), 32, 0x020000000008);
	assert_true(hits(k, r, "in=eth0 mac=02:00:00:00:00:01 ct=new ip 192.0.2.7 > 192.0.2.2 udp 9 > 1"));
	assert_false(hits(k, r, "in=eth0 mac=02:00:00:00:00:02 ct=new ip 192.0.2.7 > 192.0.2.2 udp 9 > 1"));
	assert_true(hits(k, r, "in=eth0 mac=02:00:00:00:00:01 ct=new ip 192.0.2.7 > 192.0.2.2 udp 9 > 1"));
	assert_true(hits(k, r, "in=eth0 mac=02:00:00:00:00:08 ct=new ip 192.0.2.8 > 192.0.2.2 udp 9 > 1"));
	assert_false(hits(k, r, "in=eth0 mac=02:00:00:00:00:09 ct=new ip 192.0.2.8 > 192.0.2.2 udp 9 > 1"));
	assert_false(hits(k, r, "in=eth0 mac=02:00:00:00:00:08 ct=new ip 192.0.3.8 > 192.0.2.2 udp 9 > 1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIT_TEST(the_longest_prefix_decides),
		KIT_TEST(dimensions_need_directions),
		KIT_TEST(ports_are_type_and_code_of_icmp),
		KIT_TEST(bitmap_ports_have_no_protocol),
		KIT_TEST(another_interface_hides_shorter_prefixes),
		KIT_TEST(the_family_must_agree),
		KIT_TEST(a_list_asks_its_members),
		KIT_TEST(an_undefined_set_is_unknown),
		KIT_TEST(elements_expire),
		KIT_TEST(rules_add_and_delete),
		KIT_TEST(added_nets_take_the_longest_prefix),
		KIT_TEST(a_full_set_takes_no_more),
		KIT_TEST(a_forked_element_is_uncertain),
		KIT_TEST(masks_are_applied),
		KIT_TEST(any_mac_becomes_the_first),
	};

	return KIT_RUN(tests);
}
