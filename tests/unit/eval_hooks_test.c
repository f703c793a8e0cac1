/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several base chains at one hook, at any priority: who decides, and what each of them sees of the others. */
#include "unit/eval_kit.h"

#define SSH "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 40000 > 22 flags=S"

struct place {
	enum hook hook;
	int priority;
	enum verdict policy;
};

static struct chain *at(struct kit *k, const char *table, struct place p)
{
	struct chain *c = kit_chain(k, FAMILY_IP4, table, policy_hook_name(p.hook), p.hook, p.priority);

	c->policy = p.policy;
	return c;
}

static void an_accept_ends_its_own_chain_only(void **state)
{
	struct kit *k = *state;
	struct chain *a = at(k, "inet a", (struct place){ HOOK_INPUT, -25, VERDICT_ACCEPT });
	struct chain *b = at(k, "ip b", (struct place){ HOOK_INPUT, 0, VERDICT_DROP });
	struct rule *yes = kit_always(k, a, VERDICT_ACCEPT);

	kit_expect(k, SSH " ct=new", "drop", NULL);
	assert_ptr_equal(k->r.chain, b);
	assert_int_equal(kit_hits(k, yes), 1);
	assert_int_equal(k->r.policy_hits.n, 1);
}

static void a_drop_is_final(void **state)
{
	struct kit *k = *state;
	struct chain *b = at(k, "inet b", (struct place){ HOOK_INPUT, 0, VERDICT_ACCEPT });
	struct chain *a = at(k, "inet a", (struct place){ HOOK_INPUT, -10, VERDICT_ACCEPT });
	struct rule *no = kit_always(k, a, VERDICT_DROP), *late = kit_always(k, b, VERDICT_ACCEPT);

	kit_expect(k, SSH " ct=new", "drop", no);
	assert_int_equal(kit_hits(k, late), 0);
}

static void of_equal_priorities_the_later_one_is_first(void **state)
{
	struct kit *k = *state;
	struct chain *a = at(k, "a", (struct place){ HOOK_INPUT, 5, VERDICT_ACCEPT });
	struct chain *b = at(k, "b", (struct place){ HOOK_INPUT, 5, VERDICT_ACCEPT });
	struct rule *first = kit_always(k, b, VERDICT_DROP);

	kit_always(k, a, VERDICT_REJECT);
	kit_expect(k, SSH " ct=new", "drop", first);
}

static void a_mark_is_seen_by_later_chains(void **state)
{
	struct kit *k = *state;
	struct chain *a = at(k, "a", (struct place){ HOOK_PREROUTING, -150, VERDICT_ACCEPT });
	struct chain *b = at(k, "b", (struct place){ HOOK_PREROUTING, -10, VERDICT_ACCEPT });
	struct rule *set = kit_rule(k, a), *early = kit_rule(k, a), *seen = kit_rule(k, b);
	struct effect *ef = kit_effect(set, EFFECT_MARK);

	ef->mask = UINT32_MAX;
	ef->value = 9;
	kit_verdict(set, VERDICT_ACCEPT);
	kit_in(k, early, FIELD_MARK, 9, 9);
	kit_verdict(early, VERDICT_REJECT);
	kit_in(k, seen, FIELD_MARK, 9, 9);
	kit_verdict(seen, VERDICT_DROP);
	kit_expect(k, SSH " ct=new", "drop", seen);
}

static void connections_are_known_from_their_priority_on(void **state)
{
	struct kit *k = *state;
	struct chain *raw = at(k, "a", (struct place){ HOOK_PREROUTING, -201, VERDICT_ACCEPT });
	struct chain *later = at(k, "b", (struct place){ HOOK_PREROUTING, -199, VERDICT_ACCEPT });
	struct rule *early = kit_rule(k, raw), *seen = kit_rule(k, later);

	kit_mask(k, early, FIELD_CT_STATE, 1 << CT_NEW, 1 << CT_NEW);
	kit_verdict(early, VERDICT_REJECT);
	kit_mask(k, seen, FIELD_CT_STATE, 1 << CT_NEW, 1 << CT_NEW);
	kit_verdict(seen, VERDICT_DROP);
	kit_expect(k, SSH " ct=new", "drop", seen);
	raw->priority = -200;
	k->e = NULL;
	kit_expect(k, SSH " ct=new", "reject(icmp-net-unreach)", early);
}

/* Whatever priority a nat chain names, it translates where the kernel does: before -50, behind -150. */
static void a_chain_at_another_priority_sees_what_is_translated(void **state)
{
	struct kit *k = *state;
	struct nat_spec to = { .has_port = true, .port_lo = 2222, .port_hi = 2222 };
	struct chain *nat = at(k, "n", (struct place){ HOOK_PREROUTING, 0, VERDICT_ACCEPT });
	struct chain *before = at(k, "a", (struct place){ HOOK_PREROUTING, -150, VERDICT_ACCEPT });
	struct chain *behind = at(k, "b", (struct place){ HOOK_PREROUTING, -50, VERDICT_ACCEPT });
	struct rule *dnat = kit_rule(k, nat), *never = kit_rule(k, before), *seen = kit_rule(k, behind);

	nat->is_nat = true;
	kit_effect(dnat, EFFECT_DNAT)->nat = &to;
	kit_in(k, never, FIELD_DPORT, 2222, 2222);
	kit_verdict(never, VERDICT_REJECT);
	kit_in(k, seen, FIELD_DPORT, 2222, 2222);
	kit_verdict(seen, VERDICT_DROP);
	kit_expect(k, SSH " ct=new", "drop", seen);
	assert_int_equal(kit_hits(k, dnat), 1);
}

static void a_drop_of_a_policy_and_a_map_of_translations(void **state)
{
	struct kit *k = *state;
	struct nat_spec to[2] = { { .has_addr = true, .addr_lo = 0x0a000001, .addr_hi = 0x0a000001 },
				  { .has_addr = true, .addr_lo = 0x0a000002, .addr_hi = 0x0a000002 } };
	struct chain *nat = at(k, "n", (struct place){ HOOK_PREROUTING, -100, VERDICT_ACCEPT });
	struct chain *fwd = at(k, "f", (struct place){ HOOK_FORWARD, 0, VERDICT_DROP });
	struct rule *r = kit_rule(k, nat), *ok = kit_rule(k, fwd);
	struct map *m = policy_map_add(k->rs, STR(""), (struct loc){ 0 });
	struct map_key key = { .field = FIELD_DPORT, .mask = 0xffff };
	struct map_span span[2] = { { 22, 22 }, { 80, 80 } };
	struct map_use use = { .map = m, .key = &key };

	nat->is_nat = true;
	m->n_dims = 1;
	m->n_outcomes = 2;
	m->outcome = arena_new(k->a, struct step, 2);
	for (uint32_t i = 0; i < 2; i++) {
		m->outcome[i].kind = STEP_EFFECT;
		m->outcome[i].effect = (struct effect){ .kind = EFFECT_DNAT, .nat = &to[i] };
		*vec_add(k->a, &m->entries) = (struct map_entry){ .key = &span[i], .outcome = i };
	}
	kit_step(r, STEP_MAP)->map = &use;
	kit_in(k, ok, FIELD_DST, 0x0a000002, 0x0a000002);
	kit_verdict(ok, VERDICT_ACCEPT);
	kit_expect(k, "in=eth0 out=eth1 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 80 ct=new", "accept", ok);
	kit_expect(k, "in=eth0 out=eth1 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 22 ct=new", "drop", NULL);
	kit_expect(k, "in=eth0 out=eth1 ip 198.51.100.7 > 10.0.0.2 tcp 4 > 443 ct=new", "accept", ok);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIT_TEST(an_accept_ends_its_own_chain_only),
		KIT_TEST(a_drop_is_final),
		KIT_TEST(of_equal_priorities_the_later_one_is_first),
		KIT_TEST(a_mark_is_seen_by_later_chains),
		KIT_TEST(connections_are_known_from_their_priority_on),
		KIT_TEST(a_chain_at_another_priority_sees_what_is_translated),
		KIT_TEST(a_drop_of_a_policy_and_a_map_of_translations),
	};

	return KIT_RUN(tests);
}
