/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stays in the kernel about loaded rules: written, read back, and numbered over reloads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "classify/tables.h"
#include "kernel/describe.h"
#include "kernel/number.h"

static struct ruleset *rules_of(struct arena *a, const char *const *text, size_t n)
{
	struct ruleset *rs = policy_create(a);
	struct chain *c = policy_chain_add(rs, FAMILY_IP4, STR("filter"), STR("INPUT"), (struct loc){ 0 });

	c->hook = HOOK_INPUT;
	for (size_t i = 0; i < n; i++)
		policy_rule_add(rs, c, UINT32_MAX)->text = str_from(text[i]);
	policy_number(rs);
	return rs;
}

/* What describe.c does, for one chain. */
static struct info info_of(struct arena *a, const struct ruleset *rs, const struct numbers *n)
{
	struct info f = { .made_by = STR("test"), .loaded_at = 1700000000, .serial = 7, .slot = 1, .n_counters = n->n,
			  .options = STR("--tables=filter\n"), .ct = { true, false }, .size = { .half_log2 = 10, .counters_log2 = 6, .rows_log2 = 2, .state_log2 = 4 },
			  .counts_from = 6, .malformed_accept = true };

	*vec_add(a, &f.files) = (struct info_file){ STR("rules.v4"), STR("*filter\n\xff\0x\n") };
	*vec_add(a, &f.chains) = (struct info_chain){ .table = STR("filter"), .name = STR("INPUT"), .hook = HOOK_INPUT,
						      .priority = -150, .policy = VERDICT_DROP, .point = 3,
						      .counter = n->chain[0], .is_kept = true, .line = 2 };
	for (size_t i = 0; i < rs->rules.n; i++)
		*vec_add(a, &f.rules) = (struct info_rule){ .text = rs->rules.v[i]->text, .line = (uint32_t)i + 3,
							    .duplicate = rs->rules.v[i]->duplicate,
							    .counter = n->rule[i], .is_kept = n->rule_kept[i] };
	*vec_add(a, &f.points) = (struct info_point){ 3, 0, -1, 0x80 };
	if (rs->rules.n > 1) {
		struct info_sum *s = vec_add(a, &f.sums);

		*s = (struct info_sum){ .counter = f.n_counters++, .is_kept = true };
		*vec_add(a, &s->rules) = 1;
		*vec_add(a, &s->rules) = 0;
	}
	return f;
}

static const char *const two_rules[] = { "-s 192.0.2.1/32 -j DROP", "-p tcp -j ACCEPT" };
static const bool used[] = { true };

static void what_is_written_is_read(void **state)
{
	struct arena *a = arena_create();
	struct ruleset *rs = rules_of(a, two_rules, 2);
	struct numbers n;
	struct info in, out;
	struct str blob;

	(void)state;
	number_assign(a, rs, used, NULL, &n);
	in = info_of(a, rs, &n);
	blob = info_write(a, &in);
	assert_true(info_read(a, blob, &out));
	assert_true(str_is(out.made_by, "test") && str_is(out.options, "--tables=filter\n"));
	assert_int_equal(out.loaded_at, 1700000000);
	assert_true(out.serial == 7 && out.slot == 1 && out.malformed_accept && out.ct[0] && !out.ct[1]);
	assert_true(out.size.half_log2 == 10 && out.size.state_log2 == 4 && out.counts_from == 6);
	assert_true(str_eq(out.files.v[0].text, in.files.v[0].text));
	assert_true(out.chains.n == 1 && out.chains.v[0].priority == -150 && out.chains.v[0].policy == VERDICT_DROP);
	assert_true(out.rules.n == 2 && str_is(out.rules.v[1].text, two_rules[1]) && out.rules.v[1].line == 4);
	assert_int_equal(out.rules.v[1].counter, n.rule[1]);
	assert_true(out.sums.n == 1 && out.sums.v[0].counter == in.sums.v[0].counter && out.sums.v[0].is_kept);
	assert_true(out.sums.v[0].rules.n == 2 && out.sums.v[0].rules.v[0] == 1 && out.sums.v[0].rules.v[1] == 0);
	assert_true(out.points.n == 1 && out.points.v[0].priority == -1 && out.points.v[0].features == 0x80);
	arena_destroy(a);
}

static void a_blob_cut_anywhere_is_refused(void **state)
{
	struct arena *a = arena_create();
	struct ruleset *rs = rules_of(a, two_rules, 2);
	struct numbers n;
	struct info in, out;
	struct str blob;

	(void)state;
	number_assign(a, rs, used, NULL, &n);
	in = info_of(a, rs, &n);
	blob = info_write(a, &in);
	for (size_t i = 0; i < blob.n; i++)
		assert_false(info_read(a, arena_str(a, blob.p, i), &out));
	arena_destroy(a);
}

static void any_byte_may_be_wrong(void **state)
{
	struct arena *a = arena_create();
	struct ruleset *rs = rules_of(a, two_rules, 2);
	struct numbers n;
	struct info in, out;
	struct str blob;

	(void)state;
	number_assign(a, rs, used, NULL, &n);
	in = info_of(a, rs, &n);
	blob = info_write(a, &in);
	for (size_t i = 0; i < blob.n; i++) {
		struct str wrong = arena_str(a, blob.p, blob.n);

		((char *)(uintptr_t)wrong.p)[i] ^= (char)0xff;
		if (!info_read(a, wrong, &out))
			continue;
		for (size_t k = 0; k < out.rules.n; k++) /* what is read can be followed */
			assert_true(out.rules.v[k].chain < out.chains.n && out.rules.v[k].file < out.files.n &&
				    out.rules.v[k].counter < out.n_counters);
		for (size_t k = 0; k < out.sums.n; k++)
			for (size_t j = 0; j < out.sums.v[k].rules.n; j++)
				assert_true(out.sums.v[k].counter < out.n_counters && out.sums.v[k].rules.v[j] < out.rules.n);
	}
	arena_destroy(a);
}

static void numbers_follow_the_rule_not_the_line(void **state)
{
	static const char *const later[] = { "-i lo -j ACCEPT", "-p tcp -j ACCEPT", "-p tcp -j ACCEPT" };
	struct arena *a = arena_create();
	struct ruleset *before = rules_of(a, two_rules, 2), *after = rules_of(a, later, 3);
	struct numbers n, m;
	struct info active;

	(void)state;
	number_assign(a, before, used, NULL, &n);
	assert_true(n.chain[0] == 8 && n.rule[0] == 9 && n.rule[1] == 10 && n.n == 11);
	assert_true(n.n_added == 2 && n.n_kept == 0 && n.n_removed == 0);
	active = info_of(a, before, &n);
	number_assign(a, after, used, &active, &m);
	assert_int_equal(m.chain[0], 8);
	assert_true(m.rule[1] == 10 && m.rule_kept[1]);
	/* neither 9, which the active rules use, nor 10, which is the first of the equal ones, nor 11, a sum */
	assert_true(m.rule[0] == 12 && m.rule[2] == 13 && !m.rule_kept[0] && !m.rule_kept[2]);
	assert_true(m.n_added == 2 && m.n_kept == 1 && m.n_removed == 1 && m.n == 14);
	arena_destroy(a);
}

static void a_freed_number_is_used_again_later(void **state)
{
	static const char *const one[] = { "-p tcp -j ACCEPT" }, *const other[] = { "-p tcp -j ACCEPT", "-j LOG" };
	struct arena *a = arena_create();
	struct numbers n;
	struct info active;
	struct ruleset *rs = rules_of(a, two_rules, 2);

	(void)state;
	number_assign(a, rs, used, NULL, &n);
	active = info_of(a, rs, &n);
	rs = rules_of(a, one, 1);
	number_assign(a, rs, used, &active, &n);
	assert_int_equal(n.rule[0], 10);
	active = info_of(a, rs, &n);
	number_assign(a, rules_of(a, other, 2), used, &active, &n);
	assert_true(n.rule[0] == 10 && n.rule[1] == 9);
	arena_destroy(a);
}

/* The sum of info_of() is of its second rule and its first. */
static void sums_are_known_by_their_rules(void **state)
{
	struct arena *a = arena_create();
	struct ruleset *rs = rules_of(a, two_rules, 2);
	const struct rule *there[] = { rs->rules.v[1], rs->rules.v[0] }, *back[] = { rs->rules.v[0], rs->rules.v[1] };
	struct numbers n;
	struct info active;

	(void)state;
	number_assign(a, rs, used, NULL, &n);
	active = info_of(a, rs, &n);
	number_assign(a, rs, used, &active, &n);
	assert_int_equal(number_of_sum(a, &n, there, 2), active.sums.v[0].counter);
	assert_int_equal(number_of_sum(a, &n, back, 2), active.sums.v[0].counter + 1);
	assert_true(n.sum_kept.n == 2 && n.sum_kept.v[0] && !n.sum_kept.v[1]);
	assert_int_equal(n.n, active.sums.v[0].counter + 2);
	number_assign(a, rs, used, NULL, &n);
	assert_int_equal(number_of_sum(a, &n, there, 2), 11);
	assert_false(n.sum_kept.v[0]);
	arena_destroy(a);
}

static const char *const three_rules[] = { "-s 192.0.2.1/32 -j DROP", "-j LOG", "-p udp -j DROP" };

/* What a rule has counted stays, wherever it was counted: sums that nothing adds to any more are told on. */
static void sums_that_retire_are_told_on(void **state)
{
	struct arena *a = arena_create();
	struct ruleset *rs = rules_of(a, two_rules, 2), *later = rules_of(a, three_rules, 3);
	struct tables none = { 0 };
	struct numbers n;
	struct info active, next, again;

	(void)state;
	number_assign(a, rs, used, NULL, &n);
	active = info_of(a, rs, &n);
	number_assign(a, later, used, &active, &n);
	next = info_of(a, later, &n);
	next.sums.n = 0;
	next.n_counters = n.n;
	describe_sums(a, &n, &none, &active, &next);
	assert_true(next.sums.n == 1 && next.sums.v[0].counter == active.sums.v[0].counter && next.sums.v[0].is_kept);
	assert_true(next.sums.v[0].rules.n == 1 && next.sums.v[0].rules.v[0] == 0);
	assert_true(next.n_counters > next.sums.v[0].counter);
	again = next;
	again.sums.n = 0;
	describe_sums(a, &n, &none, NULL, &again); /* counts in maps of their own */
	assert_int_equal(again.sums.n, 0);
	/* Told before a trial, to the rules that may come back. */
	again = active;
	again.sums.n = 0;
	assert_false(describe_sums_to_come(a, &next, &again)); /* that one is known */
	next.sums.v[0].is_kept = false;
	assert_true(describe_sums_to_come(a, &next, &again));
	assert_true(again.sums.n == 1 && again.sums.v[0].rules.n == 1 && again.sums.v[0].rules.v[0] == 0 && again.sums.v[0].is_kept);
	arena_destroy(a);
}

static void rules_of_chains_that_are_left_out_have_no_number(void **state)
{
	static const bool none[] = { false };
	struct arena *a = arena_create();
	struct numbers n;

	(void)state;
	number_assign(a, rules_of(a, two_rules, 2), none, NULL, &n);
	assert_true(n.rule[0] == TABLES_NO_COUNTER && n.chain[0] == TABLES_NO_COUNTER && n.n == DP_COUNTERS_SPECIAL);
	arena_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(a_blob_cut_anywhere_is_refused),
		cmocka_unit_test(any_byte_may_be_wrong),
		cmocka_unit_test(numbers_follow_the_rule_not_the_line),
		cmocka_unit_test(a_freed_number_is_used_again_later),
		cmocka_unit_test(sums_are_known_by_their_rules),
		cmocka_unit_test(sums_that_retire_are_told_on),
		cmocka_unit_test(rules_of_chains_that_are_left_out_have_no_number),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
