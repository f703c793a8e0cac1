/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps in the tables: large ones, and what is refused by name. tests/diff/maps.c holds small ones against the evaluator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "classify/tables.h"
#include "datapath/native.h"
#include "packet/notation.h"

enum { ENTRIES = 50000, PORTS = 100, SAMPLES = 400 };

struct kit {
	struct arena *a;
	struct sources sources;
	struct diags d;
	struct ruleset *rs;
	struct chain *input, *drops, *accepts;
	struct map_key key[2];
};

static int set_up(void **state)
{
	struct arena *a = arena_create();
	struct kit *k = arena_new(a, struct kit, 1);
	struct rule *r;

	k->a = a;
	k->sources = (struct sources){ .a = a };
	k->d = (struct diags){ .a = a, .sources = &k->sources };
	k->rs = policy_create(a);
	k->drops = policy_chain_add(k->rs, FAMILY_IP4, STR("filter"), STR("drops"), (struct loc){ 0 });
	k->accepts = policy_chain_add(k->rs, FAMILY_IP4, STR("filter"), STR("accepts"), (struct loc){ 0 });
	k->input = policy_chain_add(k->rs, FAMILY_IP4, STR("filter"), STR("input"), (struct loc){ 0 });
	k->input->hook = HOOK_INPUT;
	k->input->policy = VERDICT_DROP;
	for (unsigned i = 0; i < 2; i++) {
		r = policy_rule_add(k->rs, i ? k->accepts : k->drops, UINT32_MAX);
		r->step = arena_new(a, struct step, 1);
		r->n_steps = 1;
		r->step[0] = (struct step){ .kind = STEP_VERDICT, .v = { .verdict = i ? VERDICT_ACCEPT : VERDICT_DROP } };
	}
	k->key[0] = (struct map_key){ .field = FIELD_DST, .mask = UINT32_MAX };
	k->key[1] = (struct map_key){ .field = FIELD_DPORT, .mask = UINT16_MAX };
	*state = k;
	return 0;
}

static int tear_down(void **state)
{
	arena_destroy(((struct kit *)*state)->a);
	return 0;
}

static struct rule *ask(struct kit *k, struct map *m, const char *why)
{
	struct rule *r = policy_rule_add(k->rs, k->input, UINT32_MAX);
	struct map_use *u = arena_new(k->a, struct map_use, 1);

	m->n_outcomes = 2;
	m->outcome = arena_new(k->a, struct step, 2);
	m->outcome[0] = (struct step){ .kind = STEP_VERDICT, .v = { .verdict = VERDICT_JUMP, .chain = k->drops } };
	m->outcome[1] = (struct step){ .kind = STEP_VERDICT, .v = { .verdict = VERDICT_JUMP, .chain = k->accepts } };
	*u = (struct map_use){ .map = m, .key = k->key, .why = why, .what = "ip daddr . tcp dport" };
	r->step = arena_new(k->a, struct step, 2);
	r->step[0] = (struct step){ .kind = STEP_MAP, .map = u };
	r->n_steps = 1;
	return r;
}

static struct tables *build(struct kit *k)
{
	struct tables_options opt = { .hz = 1000 };

	policy_number(k->rs);
	return tables_build(k->a, k->rs, &opt, &k->d);
}

/* 10.0.x.y . 1000..1099, of which every third is let pass. */
static struct map *large_map(struct kit *k)
{
	struct map *m = policy_map_add(k->rs, (struct str){ 0 }, (struct loc){ 0 });

	m->n_dims = 2;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct map_span *s = arena_new(k->a, struct map_span, 2);

		s[0].lo = s[0].hi = 0x0a000000 + i / PORTS;
		s[1].lo = s[1].hi = 1000 + i % PORTS;
		*vec_add(k->a, &m->entries) = (struct map_entry){ .key = s, .outcome = i % 3 == 0 };
	}
	return m;
}

static void is_judged(struct kit *k, struct native *n, unsigned host, unsigned port, bool passes, uint32_t counter)
{
	const char *line = arena_printf(k->a, "in=eth0 tcp 192.0.2.1:5000 > 10.0.%u.%u:%u", host >> 8, host & 255, port).p;
	struct native_result r;
	struct packet p;

	assert_true(notation_parse(k->a, NULL, str_from(line), (struct loc){ 0 }, &p));
	native_run(n, DP_POSITION_INPUT_FILTER, &p, 0, 0, &r);
	assert_int_equal(r.verdict, passes ? NATIVE_ACCEPT : NATIVE_DROP);
	assert_true(r.n_hits > 0);
	assert_int_equal(r.hit[r.n_hits - 1], counter);
}

static void fifty_thousand_entries_are_one_lookup(void **state)
{
	struct kit *k = *state;
	struct native_tables nt;
	struct native *n;
	struct tables *t;

	ask(k, large_map(k), NULL);
	t = build(k);
	assert_non_null(t);
	assert_true(t->features & DP_F_LOOKUP);
	nt = (struct native_tables){ .word = t->word, .n_words = t->n_words, .n_counters = t->n_counters };
	n = native_create(k->a, &nt);
	for (uint32_t i = 0; i < ENTRIES; i += ENTRIES / SAMPLES)
		is_judged(k, n, i / PORTS, 1000 + i % PORTS, i % 3 == 0, DP_COUNTERS_SPECIAL + (i % 3 == 0));
	is_judged(k, n, 0, 999, false, DP_COUNTERS_SPECIAL + 3 + 2); /* the policy of input */
	is_judged(k, n, ENTRIES / PORTS, 1000, false, DP_COUNTERS_SPECIAL + 3 + 2);
	assert_true(t->n_words / ENTRIES < 40); /* 320 bytes an entry */
}

static void what_nobody_can_tell_is_refused(void **state)
{
	struct kit *k = *state;

	ask(k, large_map(k), "numgen random is drawn by the kernel");
	assert_null(build(k));
	assert_int_equal(k->d.n_errors, 1);
	assert_non_null(strstr(arena_cstr(k->a, k->d.all.v[0].text), "numgen random"));
}

static void counters_with_a_name_are_refused(void **state)
{
	struct kit *k = *state;
	struct rule *r = ask(k, large_map(k), NULL);

	r->step[1] = r->step[0];
	r->step[0] = (struct step){ .kind = STEP_EFFECT,
				    .effect = { .kind = EFFECT_COUNT, .name = "counter",
						.counter = policy_counter_add(k->rs, STR("inet/filter/web"), (struct loc){ 0 }) } };
	r->n_steps = 2;
	assert_null(build(k));
	assert_non_null(strstr(arena_cstr(k->a, k->d.all.v[0].text), "counters with a name"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		T(fifty_thousand_entries_are_one_lookup), T(what_nobody_can_tell_is_refused), T(counters_with_a_name_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
