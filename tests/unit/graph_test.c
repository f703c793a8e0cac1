/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Graphs at and beyond the bounds of the datapath's loops: what is too deep is never handed out. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "classify/graph.h"

static const struct graph_bounds most = { DP_MAX_WALK, DP_MAX_LEAF, DP_MAX_LEAVES };

/*
 * A chain of n cuts by one bit, then a leaf without entries, whose continuation is `cont` (0: none), where the least place
 * may be 0. Returns the root.
 */
static uint64_t chain_of(uint64_t *word, size_t *at, unsigned n, uint64_t cont)
{
	size_t first = *at;
	uint64_t leaf;

	for (unsigned i = 0; i < n; i++, *at += 2)
		word[*at] = word[*at + 1] = DP_CUT(DP_W_SRC_LO, i, 1, *at + 2);
	leaf = DP_LEAF(cont ? 0 : DP_PLACE_POLICY, 0, *at);
	if (n)
		word[*at - 1] = word[*at - 2] = leaf;
	word[*at] = cont;
	*at += 4;
	return n ? DP_CUT(DP_W_SRC_LO, 31, 0, first) : leaf;
}

static void cuts_in_a_row_are_counted(void **state)
{
	(void)state;
	for (unsigned n = 1; n < 30; n++) {
		uint64_t word[256] = { 0 }, root;
		size_t at = 4;

		root = chain_of(word, &at, n, 0);
		assert_int_equal(graph_check(word, at, root, false, &most), n <= DP_MAX_WALK);
	}
}

static void leaves_in_a_row_are_counted(void **state)
{
	(void)state;
	for (unsigned n = DP_MAX_LEAVES - 2; n < DP_MAX_LEAVES + 3; n++) {
		uint64_t word[4 * (DP_MAX_LEAVES + 4)] = { 0 }, root = 0;
		size_t at = 4;

		for (unsigned i = 0; i < n; i++)
			root = chain_of(word, &at, 0, root);
		assert_int_equal(graph_check(word, at, root, false, &most), n <= DP_MAX_LEAVES);
	}
}

static void a_walk_begins_anew_behind_a_leaf(void **state)
{
	uint64_t word[256] = { 0 }, root;
	size_t at = 4;

	(void)state;
	root = chain_of(word, &at, DP_MAX_WALK, 0);
	root = chain_of(word, &at, DP_MAX_WALK, root);
	assert_true(graph_check(word, at, root, false, &most));
}

static void what_leads_astray_is_refused(void **state)
{
	uint64_t word[128] = { 0 };

	(void)state;
	word[4] = DP_LEAF(0, 0, 4); /* its own continuation */
	assert_false(graph_check(word, 8, DP_LEAF(0, 0, 4), false, &most));
	word[4] = word[5] = DP_CUT(DP_W_SRC_LO, 0, 1, 4); /* its own child */
	assert_false(graph_check(word, 6, DP_CUT(DP_W_SRC_LO, 0, 1, 4), false, &most));
	memset(word, 0, sizeof word);
	assert_true(graph_check(word, 12, DP_CUT(DP_W_SRC_LO, 0, 7, 4), false, &most));
	assert_false(graph_check(word, 11, DP_CUT(DP_W_SRC_LO, 0, 7, 4), false, &most));
	assert_false(graph_check(word, 12, DP_CUT(DP_W_SRC_LO, 0, 6, 4), false, &most));
	assert_false(graph_check(word, 12, DP_CUT(DP_KEY_WORDS, 0, 7, 4), false, &most));
	assert_true(graph_check(word, 8, DP_LEAF(DP_PLACE_POLICY, 1, 4), false, &most));
	assert_false(graph_check(word, 7, DP_LEAF(DP_PLACE_POLICY, 1, 4), false, &most));
	assert_false(graph_check(word, 8, DP_LEAF(DP_PLACE_POLICY, 1, 4), true, &most));
	assert_true(graph_check(word, 9, DP_LEAF(3, 1, 4), false, &most));
	assert_false(graph_check(word, 8, DP_LEAF(3, 1, 4), false, &most));
	assert_false(graph_check(word, 8, DP_LEAF(DP_PLACE_POLICY, 1, 4) | 1ull << 60, false, &most));
	for (unsigned n = 1; n < 16; n++) {
		for (unsigned i = 0; i < n; i++)
			word[4 + 4 * i + 3] = DP_RESULT(i, DP_RESULT_RUN, 1);
		assert_int_equal(graph_check(word, 128, DP_LEAF(DP_PLACE_POLICY, n, 4), false, &most), n <= DP_MAX_LEAF);
	}
}

/* Two entries, then a continuation of one. */
static bool check_entries(const uint64_t result[3], uint32_t least)
{
	uint64_t word[32] = { 0 };

	word[7] = result[0];
	word[11] = result[1];
	word[12] = DP_LEAF(DP_PLACE_POLICY, 1, 16);
	word[19] = result[2];
	return graph_check(word, 20, DP_LEAF(least, 2, 4), false, &most);
}

static void entries_that_make_no_sense_are_refused(void **state)
{
	static const struct {
		uint64_t result[3];
		uint32_t least;
		bool ok;
	} rows[] = {
		{ { DP_RESULT(1, DP_RESULT_ACCEPT, 9), DP_RESULT(2, DP_RESULT_DROP, 9), DP_RESULT(5, DP_RESULT_RUN, 1) }, 5, true },
		{ { DP_RESULT(1, DP_RESULT_ACCEPT, 9), DP_RESULT(2, DP_RESULT_DROP, 9), DP_RESULT(5, DP_RESULT_RUN, 1) }, 4, true },
		/* the continuation would not be looked at, though rule 5 lies there */
		{ { DP_RESULT(1, DP_RESULT_ACCEPT, 9), DP_RESULT(2, DP_RESULT_DROP, 9), DP_RESULT(5, DP_RESULT_RUN, 1) }, 6, false },
		/* out of order, twice the same, one like the policy's */
		{ { DP_RESULT(2, DP_RESULT_ACCEPT, 9), DP_RESULT(1, DP_RESULT_DROP, 9), DP_RESULT(5, DP_RESULT_RUN, 1) }, 5, false },
		{ { DP_RESULT(2, DP_RESULT_ACCEPT, 9), DP_RESULT(2, DP_RESULT_DROP, 9), DP_RESULT(5, DP_RESULT_RUN, 1) }, 5, false },
		{ { DP_RESULT(1, 0, 9), DP_RESULT(2, 0, 9), DP_RESULT(DP_PLACE_POLICY, 0, 1) }, 5, false },
		/* no kind of result */
		{ { DP_RESULT(1, 0, 9), DP_RESULT(2, DP_RESULT_KINDS, 9), DP_RESULT(5, 0, 1) }, 5, false },
		/* shifts of 32 and 33 */
		{ { DP_RESULT(1, 0, 9) | 32ull << DP_SHIFT_SRC, DP_RESULT(2, 0, 9) | 32ull << DP_SHIFT_DST, DP_RESULT(5, 0, 1) }, 5, true },
		{ { DP_RESULT(1, 0, 9) | 33ull << DP_SHIFT_SRC, DP_RESULT(2, 0, 9), DP_RESULT(5, 0, 1) }, 5, false },
		{ { DP_RESULT(1, 0, 9), DP_RESULT(2, 0, 9) | 33ull << DP_SHIFT_DST, DP_RESULT(5, 0, 1) }, 5, false },
	};
	uint64_t word[16] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(check_entries(rows[i].result, rows[i].least), rows[i].ok);
	for (unsigned i = 0; i < 8; i++) {
		word[10] = 32ull << 8 * i;
		assert_true(graph_check(word, 12, DP_LEAF(DP_PLACE_POLICY, 1, 4), true, &most));
		word[10] = 33ull << 8 * i;
		assert_false(graph_check(word, 12, DP_LEAF(DP_PLACE_POLICY, 1, 4), true, &most));
	}
}

/* n rules that nothing tells apart and none of which hides another. */
static void fill(struct box_rule *rule, uint64_t *result, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		box_full(&rule[i].box);
		result[i] = DP_RESULT(i + 1, DP_RESULT_ACCEPT, i);
	}
}

static void rules_that_cannot_be_told_apart_are_refused_when_too_many(void **state)
{
	enum { FIT = DP_MAX_LEAF * DP_MAX_LEAVES };
	static const size_t counts[] = { 1, DP_MAX_LEAF, DP_MAX_LEAF + 1, FIT, FIT + 1, 2 * FIT };
	struct arena *a = arena_create();

	(void)state;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct box_rule *rule = arena_new(a, struct box_rule, counts[i]);
		uint64_t *result = arena_new(a, uint64_t, counts[i]);
		struct words w = { .a = a };
		struct graph g;
		struct graph_task t = { .rule = rule, .result = result, .n = counts[i], .budget = 5, .most = most };

		fill(rule, result, counts[i]);
		words_add(&w, 8);
		assert_int_equal(graph_build(&t, &w, &g), counts[i] <= FIT);
		if (counts[i] > FIT)
			assert_int_equal(w.n, 8);
	}
	arena_destroy(a);
}

static void narrow_to_prefix(struct box *b, enum box_dim d, unsigned wild)
{
	uint32_t lo = wild == 32 ? 0 : 0x0a010203u >> wild << wild;

	box_narrow(b, d, lo, lo | (wild == 32 ? UINT32_MAX : (1u << wild) - 1));
}

static void rules_of_nested_prefixes(struct box_rule *rule, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned wild = (unsigned)(i % 33), other = (unsigned)(i / 33 % 33);

		narrow_to_prefix(&rule[i].box, BOX_SRC0, wild);
		narrow_to_prefix(&rule[i].box, BOX_DST0, other);
	}
}

/* Whatever bounds are asked for, the builder keeps them or refuses; and a graph made for wider ones is told apart. */
static void bounds_are_kept_or_the_graph_is_refused(void **state)
{
	enum { RULES = 1089 };
	struct arena *a = arena_create();
	struct box_rule *rule = arena_new(a, struct box_rule, RULES);
	uint64_t *result = arena_new(a, uint64_t, RULES);
	unsigned n_built = 0, n_refused = 0, n_too_deep = 0;

	(void)state;
	fill(rule, result, RULES);
	rules_of_nested_prefixes(rule, RULES);
	for (unsigned walk = 1; walk <= 12; walk += 3)
		for (unsigned leaf = 1; leaf <= 32; leaf *= 4)
			for (unsigned leaves = 4; leaves <= 4096; leaves *= 8) {
				struct graph_bounds b = { walk, leaf, leaves };
				struct words w = { .a = a };
				struct graph g;
				struct graph_task t = { .rule = rule, .result = result, .n = RULES, .budget = 5, .most = b };

				if (!graph_build(&t, &w, &g)) {
					n_refused++;
					continue;
				}
				n_built++;
				assert_true(graph_check(w.v + g.begin, w.n - g.begin, g.root, false, &b));
				assert_true(g.got.walk <= walk && g.got.leaves <= leaves);
				if (g.got.leaves > DP_MAX_LEAVES) {
					n_too_deep++;
					assert_false(graph_check(w.v + g.begin, w.n - g.begin, g.root, false, &most));
				}
			}
	assert_true(n_built > 0 && n_refused > 0 && n_too_deep > 0);
	arena_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_in_a_row_are_counted),
		cmocka_unit_test(leaves_in_a_row_are_counted),
		cmocka_unit_test(a_walk_begins_anew_behind_a_leaf),
		cmocka_unit_test(what_leads_astray_is_refused),
		cmocka_unit_test(entries_that_make_no_sense_are_refused),
		cmocka_unit_test(rules_that_cannot_be_told_apart_are_refused_when_too_many),
		cmocka_unit_test(bounds_are_kept_or_the_graph_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
