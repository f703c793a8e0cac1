/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Building the model: order, numbers, names, loops, uses of sets, and its text form. */
#include "policy_kit.h"

static struct chain *chain(struct fixture *f, const char *table, const char *name, enum hook hook, int priority)
{
	struct chain *c = policy_chain_add(f->rs, FAMILY_IP4, str_from(table), str_from(name), line(f, 1));

	c->hook = hook;
	c->priority = priority;
	c->policy = VERDICT_ACCEPT;
	return c;
}

static struct rule *rule(struct fixture *f, struct chain *c, uint32_t pos, const char *text, uint32_t at)
{
	struct rule *r = policy_rule_add(f->rs, c, pos);

	r->text = str_from(text);
	r->at = line(f, at);
	return r;
}

static void jump(struct fixture *f, struct chain *from, struct chain *to, uint32_t at)
{
	struct rule *r = rule(f, from, UINT32_MAX, "jump", at);

	r->step = arena_new(f->a, struct step, 1);
	r->n_steps = 1;
	r->step[0].kind = STEP_VERDICT;
	r->step[0].v.verdict = VERDICT_JUMP;
	r->step[0].v.chain = to;
	r->step[0].v.at = r->at;
}

static void rules_go_where_they_are_inserted(void **state)
{
	struct fixture *f = *state;
	struct chain *c = chain(f, "filter", "INPUT", HOOK_INPUT, 0);

	rule(f, c, UINT32_MAX, "b", 1);
	rule(f, c, 0, "a", 2);
	rule(f, c, UINT32_MAX, "d", 3);
	rule(f, c, 2, "c", 4);
	policy_number(f->rs);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(c->rules.v[i]->text.p[0], 'a' + (int)i);
		assert_int_equal(c->rules.v[i]->index, i);
		assert_int_equal(c->rules.v[i]->id, i);
		assert_ptr_equal(f->rs->rules.v[i], c->rules.v[i]);
	}
}

static void equal_rules_of_one_chain_are_numbered(void **state)
{
	struct fixture *f = *state;
	struct chain *c = chain(f, "filter", "INPUT", HOOK_INPUT, 0), *o = chain(f, "filter", "X", HOOK_NONE, 0);

	rule(f, c, UINT32_MAX, "-j DROP", 1);
	rule(f, c, UINT32_MAX, "-j ACCEPT", 2);
	rule(f, c, UINT32_MAX, "-j DROP", 3);
	rule(f, o, UINT32_MAX, "-j DROP", 4);
	policy_number(f->rs);
	assert_int_equal(c->rules.v[0]->duplicate, 0);
	assert_int_equal(c->rules.v[1]->duplicate, 0);
	assert_int_equal(c->rules.v[2]->duplicate, 1);
	assert_int_equal(o->rules.v[0]->duplicate, 0);
}

static void chains_are_found_within_family_and_table(void **state)
{
	struct fixture *f = *state;
	struct chain *c = chain(f, "filter", "INPUT", HOOK_INPUT, 0), *m = chain(f, "mangle", "INPUT", HOOK_INPUT, -150);

	assert_ptr_equal(policy_chain_find(f->rs, FAMILY_IP4, STR("filter"), STR("INPUT")), c);
	assert_ptr_equal(policy_chain_find(f->rs, FAMILY_IP4, STR("mangle"), STR("INPUT")), m);
	assert_null(policy_chain_find(f->rs, FAMILY_IP6, STR("filter"), STR("INPUT")));
	assert_null(policy_chain_find(f->rs, FAMILY_IP4, STR("filter"), STR("OUTPUT")));
}

static void base_chains_come_in_order_of_priority(void **state)
{
	struct fixture *f = *state;
	struct chain *late = chain(f, "filter", "INPUT", HOOK_INPUT, 0), *early = chain(f, "mangle", "INPUT", HOOK_INPUT, -150);
	struct chain *twin = chain(f, "other", "INPUT", HOOK_INPUT, 0), **v;
	size_t n;

	chain(f, "filter", "OUTPUT", HOOK_OUTPUT, -300);
	v = policy_base_chains(f->a, f->rs, FAMILY_IP4, HOOK_INPUT, &n);
	assert_int_equal(n, 3);
	assert_ptr_equal(v[0], early);
	assert_ptr_equal(v[1], twin);
	assert_ptr_equal(v[2], late);
	policy_base_chains(f->a, f->rs, FAMILY_IP6, HOOK_INPUT, &n);
	assert_int_equal(n, 0);
	policy_base_chains(f->a, f->rs, FAMILY_IP4, HOOK_NONE, &n);
	assert_int_equal(n, 0);
}

static void assert_diag(const struct fixture *f, size_t i, enum diag_severity sev, uint32_t at, const char *text)
{
	uint32_t l = 0, col = 0;

	assert_true(i < f->d.all.n);
	assert_int_equal(f->d.all.v[i].severity, sev);
	assert_true(source_place(&f->s, f->d.all.v[i].at, &l, &col));
	assert_int_equal(l, at);
	assert_string_equal(f->d.all.v[i].text.p, text);
}

static void a_reached_loop_is_an_error_with_its_cycle(void **state)
{
	struct fixture *f = *state;
	struct chain *in = chain(f, "filter", "INPUT", HOOK_INPUT, 0), *a = chain(f, "filter", "A", HOOK_NONE, 0);
	struct chain *b = chain(f, "filter", "B", HOOK_NONE, 0);

	jump(f, a, b, 4);
	jump(f, b, a, 5);
	jump(f, in, a, 6);
	policy_number(f->rs);
	policy_check(f->rs, &f->d);
	assert_int_equal(f->d.n_errors, 2);
	assert_diag(f, 0, DIAG_ERROR, 4, "loop A -> B -> A reached from INPUT (line 6)");
	assert_diag(f, 1, DIAG_ERROR, 5, "this jump closes the loop A -> B -> A");
}

static void longer_and_shorter_loops_are_found(void **state)
{
	struct fixture *f = *state;
	struct chain *in = chain(f, "filter", "INPUT", HOOK_INPUT, 0), *a = chain(f, "filter", "A", HOOK_NONE, 0);
	struct chain *b = chain(f, "filter", "B", HOOK_NONE, 0), *c = chain(f, "filter", "C", HOOK_NONE, 0);

	jump(f, in, a, 1);
	jump(f, a, b, 2);
	jump(f, b, c, 3);
	jump(f, c, a, 4);
	jump(f, c, c, 5);
	policy_number(f->rs);
	policy_check(f->rs, &f->d);
	assert_int_equal(f->d.n_errors, 3);
	assert_diag(f, 0, DIAG_ERROR, 2, "loop A -> B -> C -> A reached from INPUT (line 1)");
	assert_diag(f, 1, DIAG_NOTE, 3, "the loop goes on with this jump");
	assert_diag(f, 2, DIAG_ERROR, 4, "this jump closes the loop A -> B -> C -> A");
	assert_diag(f, 3, DIAG_ERROR, 5, "loop C -> C reached from INPUT (line 1)");
}

static void a_loop_that_nobody_reaches_is_a_warning(void **state)
{
	struct fixture *f = *state;
	struct chain *in = chain(f, "filter", "INPUT", HOOK_INPUT, 0), *a = chain(f, "filter", "A", HOOK_NONE, 0);
	struct chain *b = chain(f, "filter", "B", HOOK_NONE, 0);

	jump(f, a, a, 2);
	jump(f, in, b, 3);
	policy_number(f->rs);
	policy_check(f->rs, &f->d);
	assert_int_equal(f->d.n_errors, 0);
	assert_int_equal(f->d.n_warnings, 1);
	assert_diag(f, 0, DIAG_WARNING, 2, "loop A -> A, which no built-in chain reaches");
}

static struct test *set_test(struct fixture *f, struct chain *c, const char *name, uint8_t n_dirs, uint32_t at)
{
	struct rule *r = rule(f, c, UINT32_MAX, "set", at);
	struct set_use *use = arena_new(f->a, struct set_use, 1);

	use->name = str_from(name);
	use->at = line(f, at);
	use->n_dirs = n_dirs;
	r->step = arena_new(f->a, struct step, 1);
	r->n_steps = 1;
	r->step[0].test.kind = TEST_SET;
	r->step[0].test.set = use;
	return &r->step[0].test;
}

static void what_is_lacking_may_put_things_right(void **state)
{
	struct fixture *f = *state;
	struct chain *in = chain(f, "filter", "INPUT", HOOK_INPUT, 0), *a = chain(f, "filter", "A", HOOK_NONE, 0);
	struct chain *b = chain(f, "filter", "B", HOOK_NONE, 0);
	struct set *s = policy_set_add(f->rs, STR("s"), line(f, 1));

	s->n_dims = 2;
	s->is_doubtful = true;
	jump(f, a, a, 2);
	jump(f, in, b, 3);
	jump(f, b, b, 4);
	set_test(f, in, "s", 1, 5);
	set_test(f, in, "t", 1, 6);
	policy_number(f->rs);
	f->rs->lacks_rules = f->rs->lacks_sets = true;
	policy_check(f->rs, &f->d);
	assert_int_equal(f->d.all.n, 1);
	assert_diag(f, 0, DIAG_ERROR, 4, "loop B -> B reached from INPUT (line 3)");
	s->is_doubtful = f->rs->lacks_rules = f->rs->lacks_sets = false;
	policy_check(f->rs, &f->d);
	assert_int_equal(f->d.all.n, 1 + 4);
}

static void one_chain_called_twice_is_no_loop(void **state)
{
	struct fixture *f = *state;
	struct chain *in = chain(f, "filter", "INPUT", HOOK_INPUT, 0), *a = chain(f, "filter", "A", HOOK_NONE, 0);
	struct chain *b = chain(f, "filter", "B", HOOK_NONE, 0);

	jump(f, in, a, 1);
	jump(f, in, b, 2);
	jump(f, in, a, 3);
	jump(f, a, b, 4);
	policy_number(f->rs);
	policy_check(f->rs, &f->d);
	assert_int_equal(f->d.all.n, 0);
}

static void uses_of_sets_are_checked(void **state)
{
	struct fixture *f = *state;
	struct chain *in = chain(f, "filter", "INPUT", HOOK_INPUT, 0);
	struct set *s = policy_set_add(f->rs, STR("s"), line(f, 1)), *v6 = policy_set_add(f->rs, STR("v6"), line(f, 2));
	const struct test *linked;

	s->n_dims = 2;
	s->has_addrs = true;
	s->dim[1] = SET_DIM_PORT;
	v6->n_dims = 1;
	v6->has_addrs = true;
	v6->family = FAMILY_IP6;
	set_test(f, in, "s", 1, 3);
	set_test(f, in, "s", 1, 4)->negated = true;
	linked = set_test(f, in, "s", 2, 5);
	set_test(f, in, "s", 3, 6);
	set_test(f, in, "v6", 1, 7);
	set_test(f, in, "t", 1, 8);
	policy_number(f->rs);
	assert_ptr_equal(linked->set->set, s);
	policy_check(f->rs, &f->d);
	assert_int_equal(f->d.n_errors, 0);
	assert_diag(f, 0, DIAG_WARNING, 3, "set s has 2 dimensions, 1 given: never matches");
	assert_diag(f, 1, DIAG_WARNING, 4, "set s has 2 dimensions, 1 given: always matches");
	assert_diag(f, 2, DIAG_WARNING, 6, "set s has 2 dimensions, 3 given: the rest is not looked at");
	assert_diag(f, 3, DIAG_WARNING, 7, "set v6 holds IPv6 addresses, the rule sees IPv4 packets: never matches");
	assert_diag(f, 4, DIAG_WARNING, 8, "set t is used, but no file defines it");
	assert_string_equal(f->d.all.v[4].id, "unknown-set");
	assert_int_equal(f->d.all.n, 5);
}

static void the_text_form_shows_what_decides(void **state)
{
	struct fixture *f = *state;
	struct chain *in = chain(f, "filter", "INPUT", HOOK_INPUT, 0);
	struct rule *r = rule(f, in, UINT32_MAX, "anything", 3);

	r->step = arena_new(f->a, struct step, 2);
	r->n_steps = 2;
	r->step[0].test.kind = TEST_IN;
	r->step[0].test.field[0] = FIELD_DPORT;
	r->step[0].test.n_fields = 1;
	r->step[0].test.negated = true;
	r->step[0].test.on_absent = true;
	r->step[0].test.in = valset_one(f->a, 22, 23);
	r->step[1].kind = STEP_VERDICT;
	r->step[1].v.verdict = VERDICT_REJECT;
	r->step[1].v.reject = REJECT_TCP_RST;
	assert_string_equal(policy_dump(f->a, f->rs).p, "chain ip filter INPUT hook input priority 0 policy accept\n"
							 "  [! dport in {0x16-0x17} absent:yes] [reject tcp-rst]\n");
}

#define unit(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
static void the_order_of_a_maps_entries_says_nothing(void **state)
{
	static const struct map_span keys[] = { { 22, 22 }, { 80, 89 }, { 443, 443 } };
	struct fixture *f = *state;
	struct map *m = policy_map_add(f->rs, STR("ip/f/ports"), line(f, 1));
	struct step out[2] = { { .kind = STEP_VERDICT }, { .kind = STEP_VERDICT } };
	static const char want[] = "map ip/f/ports {0x16 : [accept], 0x50-0x59 : [drop], 0x1bb : [accept]}\n";

	out[0].v.verdict = VERDICT_ACCEPT;
	out[1].v.verdict = VERDICT_DROP;
	m->n_dims = 1;
	m->outcome = out;
	m->n_outcomes = 2;
	for (uint32_t first = 0; first < 3; first++) {
		m->entries.n = 0;
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t k = (first + i) % 3;

			*vec_add(f->a, &m->entries) = (struct map_entry){ .key = &keys[k], .outcome = k == 1 };
		}
		assert_string_equal(policy_dump(f->a, f->rs).p, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		unit(rules_go_where_they_are_inserted),
		unit(equal_rules_of_one_chain_are_numbered),
		unit(chains_are_found_within_family_and_table),
		unit(base_chains_come_in_order_of_priority),
		unit(a_reached_loop_is_an_error_with_its_cycle),
		unit(longer_and_shorter_loops_are_found),
		unit(a_loop_that_nobody_reaches_is_a_warning),
		unit(what_is_lacking_may_put_things_right),
		unit(one_chain_called_twice_is_no_loop),
		unit(uses_of_sets_are_checked),
		unit(the_text_form_shows_what_decides),
		unit(the_order_of_a_maps_entries_says_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
