/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rulesets built by hand, one rule a line, and packets in the notation, for the tests of the evaluator:
 *
 *     struct chain *in = kit_chain(k, FAMILY_IP4, "filter", "INPUT", HOOK_INPUT, 0);
 *     struct rule *r = kit_rule(k, in);
 *     kit_in(k, r, FIELD_DPORT, 22, 22);
 *     kit_verdict(k, r, VERDICT_DROP);
 *     kit_expect(k, "in=eth0 ip 192.0.2.1 > 192.0.2.2 tcp 1 > 22 flags=S", "drop", r);
 */
#ifndef WEIR_TESTS_EVAL_KIT_H
#define WEIR_TESTS_EVAL_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "eval/eval.h"
#include "packet/notation.h"

#define KIT __attribute__((unused)) static

enum { KIT_STEPS = 16 };

struct kit {
	struct arena *a;
	struct sources sources;
	struct diags d;
	struct ruleset *rs;
	struct eval_options opt;
	struct eval *e; /* made at the first packet */
	struct eval_result r; /* of the last packet */
};

KIT int kit_setup(void **state)
{
	struct arena *a = arena_create();
	struct kit *k = arena_new(a, struct kit, 1);

	k->a = k->sources.a = k->d.a = a;
	k->d.sources = &k->sources;
	k->rs = policy_create(a);
	k->opt = (struct eval_options){ .hook = -1, .ct = -1 };
	*state = k;
	return 0;
}

KIT int kit_teardown(void **state)
{
	arena_destroy(((struct kit *)*state)->a);
	return 0;
}

KIT struct chain *kit_chain(struct kit *k, enum family fam, const char *table, const char *name, enum hook hook, int priority)
{
	struct chain *c = policy_chain_add(k->rs, fam, str_from(table), str_from(name), (struct loc){ 0 });

	c->hook = hook;
	c->priority = priority;
	c->policy = hook == HOOK_NONE ? VERDICT_NONE : VERDICT_ACCEPT;
	c->is_nat = str_is(c->table, "nat");
	return c;
}

KIT struct rule *kit_rule(struct kit *k, struct chain *c)
{
	struct rule *r = policy_rule_add(k->rs, c, UINT32_MAX);

	r->step = arena_new(k->a, struct step, KIT_STEPS);
	return r;
}

KIT struct step *kit_step(struct rule *r, enum step_kind kind)
{
	struct step *s = &r->step[r->n_steps++];

	assert_true(r->n_steps <= KIT_STEPS);
	s->kind = kind;
	return s;
}

KIT struct test *kit_in(struct kit *k, struct rule *r, enum field f, u128 lo, u128 hi)
{
	struct test *t = &kit_step(r, STEP_TEST)->test;

	t->kind = TEST_IN;
	t->field[0] = f;
	t->n_fields = 1;
	t->in = valset_one(k->a, lo, hi);
	return t;
}

KIT struct test *kit_mask(struct kit *k, struct rule *r, enum field f, u128 value, u128 mask)
{
	struct test *t = &kit_step(r, STEP_TEST)->test;

	t->kind = TEST_MASK;
	t->field[0] = f;
	t->n_fields = 1;
	t->masks = arena_new(k->a, struct test_mask, 4);
	t->masks[0] = (struct test_mask){ value, mask, 0 };
	t->n_masks = 1;
	return t;
}

KIT struct test *kit_iface(struct kit *k, struct rule *r, enum field f, const char *name)
{
	u128 v = field_name_value(str_from(name));

	return kit_in(k, r, f, v, v);
}

KIT struct test *kit_unknown(struct rule *r, const char *what)
{
	struct test *t = &kit_step(r, STEP_TEST)->test;

	t->kind = TEST_UNKNOWN;
	t->what = what;
	t->why = "nobody can tell";
	return t;
}

KIT struct state_spec *kit_state(struct kit *k, struct rule *r, enum state_kind kind)
{
	struct test *t = &kit_step(r, STEP_TEST)->test;
	struct state_spec *s = arena_new(k->a, struct state_spec, 1);

	t->kind = TEST_STATE;
	t->state = s;
	s->kind = kind;
	return s;
}

KIT struct bytes_spec *kit_bytes(struct kit *k, struct rule *r, enum bytes_kind kind)
{
	struct test *t = &kit_step(r, STEP_TEST)->test;
	struct bytes_spec *b = arena_new(k->a, struct bytes_spec, 1);

	t->kind = TEST_BYTES;
	t->bytes = b;
	b->kind = kind;
	return b;
}

KIT struct effect *kit_effect(struct rule *r, enum effect_kind kind)
{
	struct step *s = kit_step(r, STEP_EFFECT);

	s->effect.kind = kind;
	return &s->effect;
}

KIT void kit_verdict(struct rule *r, enum verdict v)
{
	kit_step(r, STEP_VERDICT)->v.verdict = v;
}

KIT void kit_call(struct rule *r, enum verdict v, struct chain *to)
{
	struct step *s = kit_step(r, STEP_VERDICT);

	s->v.verdict = v;
	s->v.chain = to;
}

/* A rule that only has a verdict. */
KIT struct rule *kit_always(struct kit *k, struct chain *c, enum verdict v)
{
	struct rule *r = kit_rule(k, c);

	kit_verdict(r, v);
	return r;
}

KIT const struct eval_result *kit_run(struct kit *k, const char *line)
{
	uint32_t source = source_add(&k->sources, "packet", str_from(line));
	struct packet p;

	if (!k->e) {
		policy_number(k->rs);
		k->e = eval_create(k->a, k->rs, &k->opt);
	}
	packet_init(&p);
	if (!notation_parse(k->a, &k->d, str_from(line), (struct loc){ source, 0, 0 }, &p))
		fail_msg("the packet is not well written: %s", line);
	eval_packet(k->e, k->a, &p, &k->r);
	return &k->r;
}

/* rule: the deciding one, or NULL: a policy, or nobody. */
KIT void kit_expect(struct kit *k, const char *line, const char *verdict, const struct rule *rule)
{
	const struct eval_result *r = kit_run(k, line);
	struct str v = eval_verdict_text(k->a, r);

	if (!str_is(v, verdict))
		fail_msg("%s: %.*s (%.*s), not %s", line, STR_ARG(v), STR_ARG(r->why), verdict);
	if (!r->is_unknown && r->rule != rule)
		fail_msg("%s: rule %d of %.*s decided, not %d", line, r->rule ? (int)r->rule->index : -1,
			 STR_ARG(r->rule ? r->rule->chain->name : STR("-")), rule ? (int)rule->index : -1);
}

KIT unsigned kit_hits(const struct kit *k, const struct rule *r)
{
	unsigned n = 0;

	for (size_t i = 0; i < k->r.hits.n; i++)
		n += k->r.hits.v[i] == r;
	return n;
}

KIT bool kit_why_has(const struct kit *k, const char *text)
{
	return strstr(k->r.why.n ? k->r.why.p : "", text) != NULL;
}

#define KIT_TEST(f) cmocka_unit_test_setup_teardown(f, kit_setup, kit_teardown)
#define KIT_RUN(tests) (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))

#endif
