/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the whole ruleset is warned of: base chains that override each other, families left out, calls too deep, twins. */
#include <stdio.h>

#include "policy_kit.h"

struct place {
	enum family family;
	enum hook hook;
	int priority;
	enum verdict policy;
};

static struct chain *base(struct fixture *f, const char *table, struct place p)
{
	struct chain *c = policy_chain_add(f->rs, p.family, str_from(table), STR("c"), line(f, 1));

	c->hook = p.hook;
	c->priority = p.priority;
	c->policy = p.policy;
	return c;
}

static struct chain *user(struct fixture *f, enum family fam, struct str name)
{
	return policy_chain_add(f->rs, fam, STR("t"), name, line(f, 1));
}

static struct rule *rule(struct fixture *f, struct chain *c, enum verdict v, struct chain *to)
{
	struct rule *r = policy_rule_add(f->rs, c, UINT32_MAX);

	r->step = arena_new(f->a, struct step, 1);
	r->n_steps = 1;
	r->step->kind = STEP_VERDICT;
	r->step->v.verdict = v;
	r->step->v.chain = to;
	r->step->v.at = line(f, 5);
	return r;
}

static void check(struct fixture *f)
{
	f->d.all.n = f->d.n_errors = f->d.n_warnings = 0;
	policy_number(f->rs);
	policy_check(f->rs, &f->d);
}

static unsigned count(const struct fixture *f, const char *id)
{
	unsigned n = 0;

	for (size_t i = 0; i < f->d.all.n; i++)
		n += f->d.all.v[i].id && !strcmp(f->d.all.v[i].id, id);
	return n;
}

static const struct diag *first(const struct fixture *f)
{
	assert_true(f->d.all.n > 0);
	return &f->d.all.v[0];
}

static void an_accept_is_overridden_by_a_later_policy(void **state)
{
	struct fixture *f = *state;
	struct chain *a = base(f, "inet a", (struct place){ FAMILY_IP4, HOOK_FORWARD, -25, VERDICT_ACCEPT });
	struct chain *b = base(f, "b", (struct place){ FAMILY_IP4, HOOK_FORWARD, 0, VERDICT_DROP });
	struct chain *sub = user(f, FAMILY_IP4, STR("sub"));

	check(f);
	assert_int_equal(f->d.all.n, 0);
	rule(f, a, VERDICT_JUMP, sub);
	check(f);
	assert_int_equal(f->d.all.n, 0);
	rule(f, sub, VERDICT_ACCEPT, NULL);
	check(f);
	assert_int_equal(f->d.all.n, 1);
	assert_true(str_is(first(f)->text, "accept in inet a/c is overridden by drop policy in b/c (priority 0)"));
	assert_int_equal(first(f)->at.off, line(f, 5).off);
	b->priority = -30; /* it comes before */
	check(f);
	assert_int_equal(f->d.all.n, 0);
	b->priority = 0;
	a->priority = -150; /* it prepares */
	check(f);
	assert_int_equal(f->d.all.n, 0);
	a->priority = -25;
	b->policy = VERDICT_ACCEPT;
	check(f);
	assert_int_equal(f->d.all.n, 0);
}

static void twins_are_spoken_of_once(void **state)
{
	struct fixture *f = *state;
	struct chain *a4 = base(f, "inet a", (struct place){ FAMILY_IP4, HOOK_INPUT, -1, VERDICT_ACCEPT });
	struct chain *a6 = base(f, "inet a", (struct place){ FAMILY_IP6, HOOK_INPUT, -1, VERDICT_ACCEPT });
	struct chain *b4 = base(f, "inet b", (struct place){ FAMILY_IP4, HOOK_INPUT, 0, VERDICT_DROP });
	struct chain *b6 = base(f, "inet b", (struct place){ FAMILY_IP6, HOOK_INPUT, 0, VERDICT_DROP });
	struct chain *l4 = user(f, FAMILY_IP4, STR("l")), *l6 = user(f, FAMILY_IP6, STR("l"));

	a4->root = a6->root = a4;
	b4->root = b6->root = b4;
	l4->root = l6->root = l4;
	rule(f, a4, VERDICT_ACCEPT, NULL);
	rule(f, a6, VERDICT_ACCEPT, NULL);
	check(f);
	assert_int_equal(f->d.all.n, 1);
	assert_int_equal(count(f, "accept-not-final"), 1);
	rule(f, b4, VERDICT_JUMP, l4);
	rule(f, b6, VERDICT_JUMP, l6);
	rule(f, l4, VERDICT_JUMP, l4);
	rule(f, l6, VERDICT_JUMP, l6);
	check(f);
	assert_int_equal(f->d.n_errors, 1);
}

static void equal_priorities_are_told(void **state)
{
	struct fixture *f = *state;
	struct chain *a = base(f, "a", (struct place){ FAMILY_IP4, HOOK_INPUT, 0, VERDICT_ACCEPT });
	struct chain *b = base(f, "b", (struct place){ FAMILY_IP4, HOOK_INPUT, 0, VERDICT_DROP });

	check(f);
	assert_int_equal(f->d.all.n, 0); /* nothing is in a */
	rule(f, a, VERDICT_DROP, NULL);
	check(f);
	assert_int_equal(count(f, "equal-priority"), 1);
	assert_true(str_is(first(f)->text, "b/c has the priority of a/c at input, 0: the one registered later runs first"));
	b->priority = 1;
	check(f);
	assert_int_equal(f->d.all.n, 0);
}

static void devices_keep_chains_apart(void **state)
{
	struct fixture *f = *state;
	struct chain *a = base(f, "a", (struct place){ FAMILY_FRAME, HOOK_INGRESS, 0, VERDICT_DROP });
	struct chain *b = base(f, "b", (struct place){ FAMILY_FRAME, HOOK_INGRESS, 0, VERDICT_DROP });

	*vec_add(f->a, &a->devices) = STR("eth0");
	*vec_add(f->a, &b->devices) = STR("eth1");
	check(f);
	assert_int_equal(f->d.all.n, 0);
	*vec_add(f->a, &b->devices) = STR("eth0");
	check(f);
	assert_int_equal(count(f, "equal-priority"), 1);
}

static void a_family_without_chains_is_not_filtered(void **state)
{
	struct fixture *f = *state;
	struct chain *six;

	base(f, "f", (struct place){ FAMILY_IP4, HOOK_INPUT, 0, VERDICT_DROP });
	check(f);
	assert_int_equal(f->d.all.n, 0); /* another file may have IPv6 */
	f->rs->has_all_families = true;
	check(f);
	assert_int_equal(count(f, "family-not-filtered"), 1);
	assert_true(str_is(first(f)->text, "IPv6 is not filtered at input: f/c sees only IPv4"));
	six = base(f, "f", (struct place){ FAMILY_IP6, HOOK_FORWARD, 0, VERDICT_DROP });
	check(f);
	assert_int_equal(count(f, "family-not-filtered"), 1);
	six->hook = HOOK_INPUT;
	check(f);
	assert_int_equal(f->d.all.n, 0);
}

static void calls_that_go_too_deep_are_told(void **state)
{
	struct fixture *f = *state;
	struct chain *last = base(f, "f", (struct place){ FAMILY_IP4, HOOK_INPUT, 0, VERDICT_ACCEPT });

	for (unsigned i = 1; i <= 15; i++) {
		struct chain *next = user(f, FAMILY_IP4, arena_printf(f->a, "c%u", i));

		rule(f, last, i % 2 ? VERDICT_JUMP : VERDICT_GOTO, next);
		last = next;
	}
	check(f);
	assert_int_equal(f->d.all.n, 0);
	rule(f, last, VERDICT_JUMP, user(f, FAMILY_IP4, STR("c16")));
	check(f);
	assert_int_equal(count(f, "call-depth"), 1);
	assert_true(str_is(first(f)->text, "this call of c16 is the 16th in a row: the kernel's nft takes no more than 15"));
}

static void loops_go_through_maps(void **state)
{
	struct fixture *f = *state;
	struct chain *in = base(f, "f", (struct place){ FAMILY_IP4, HOOK_INPUT, 0, VERDICT_ACCEPT });
	struct chain *a = user(f, FAMILY_IP4, STR("a"));
	struct rule *r = rule(f, a, VERDICT_NONE, NULL);
	struct map *m = policy_map_add(f->rs, STR(""), line(f, 2));
	struct map_use use = { .map = m };

	rule(f, in, VERDICT_JUMP, a);
	m->outcome = arena_new(f->a, struct step, 2);
	m->n_outcomes = 2;
	m->outcome[0].kind = m->outcome[1].kind = STEP_VERDICT;
	m->outcome[1].v.verdict = VERDICT_JUMP;
	r->step->kind = STEP_MAP;
	r->step->map = &use;
	check(f);
	assert_int_equal(f->d.n_errors, 0);
	m->outcome[1].v.chain = a;
	m->outcome[1].v.at = line(f, 3);
	check(f);
	assert_int_equal(f->d.n_errors, 1);
	assert_true(str_is(first(f)->text, "loop a -> a reached from c (line 5)"));
}

static void chains_that_translate_stand_where_the_kernel_does(void **state)
{
	struct fixture *f = *state;
	struct chain *filter = base(f, "f", (struct place){ FAMILY_IP4, HOOK_PREROUTING, -50, VERDICT_ACCEPT });
	struct chain *late = base(f, "n", (struct place){ FAMILY_IP4, HOOK_PREROUTING, 10, VERDICT_ACCEPT });
	struct chain *early = base(f, "m", (struct place){ FAMILY_IP4, HOOK_PREROUTING, 0, VERDICT_ACCEPT });
	struct chain **v;
	size_t n;

	late->is_nat = early->is_nat = true;
	v = policy_base_chains(f->a, f->rs, FAMILY_IP4, HOOK_PREROUTING, &n);
	assert_int_equal(n, 3);
	assert_ptr_equal(v[0], early);
	assert_ptr_equal(v[1], late);
	assert_ptr_equal(v[2], filter);
	assert_int_equal(policy_priority(early), -100);
	assert_int_equal(policy_priority(filter), -50);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_accept_is_overridden_by_a_later_policy),
		TEST(twins_are_spoken_of_once),
		TEST(equal_priorities_are_told),
		TEST(devices_keep_chains_apart),
		TEST(a_family_without_chains_is_not_filtered),
		TEST(calls_that_go_too_deep_are_told),
		TEST(loops_go_through_maps),
		TEST(chains_that_translate_stand_where_the_kernel_does),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
