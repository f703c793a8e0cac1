/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The decision graph: cuts by a slice of bits, leaves of a few rules, continuations. tables/lookup.h has its layout.
 *
 * At a node a slice of bits of one dimension is chosen that tells most pairs of rules apart; every value of the slice
 * gets the rules that may match there. Rules that are wide in the slice would go to every child. Either the budget
 * allows that, or they form one side graph that is built once, and every leaf below points to it as its continuation:
 *
 *     dst bits 31..24 --+-- 10: leaf {1, 4}  --.
 *                       +-- 11: leaf {2}     --+--> continuation: rules 3 and 5, for any destination
 *                       `-- else ------------'
 *
 * A rule that surely ends the list hides what comes behind it in its part of the space. Skipped bits do no harm: leaves
 * compare all that a box holds. How deep the graph is is known when it is built; what exceeds the bounds is not used.
 */
#ifndef WEIR_CLASSIFY_GRAPH_H
#define WEIR_CLASSIFY_GRAPH_H

#include "classify/box.h"

/* The tables' words of all lists, one behind the other. */
struct words {
	struct arena *a;
	uint64_t *v;
	size_t n, cap;
};
size_t words_add(struct words *w, size_t n); /* n zero words; returns where they are */

struct graph_bounds {
	unsigned walk, leaf, leaves;
};

struct graph_task {
	const struct box_rule *rule;
	const uint64_t *result; /* of each rule, for its entry: places ascend and are below DP_PLACE_POLICY */
	size_t n;
	bool is_ip6;
	double budget; /* references a rule, on the average: more cuts deeper */
	bool has_room; /* steps are dear, words are not */
	struct graph_bounds most;
};

struct graph {
	uint64_t root;	      /* offsets from `begin` */
	size_t begin;	      /* in words.v; four words from there on are the caller's */
	struct graph_bounds got;
	uint32_t worst; /* loads and compares on the longest way */
	uint32_t n_cuts, n_leaves, n_refs;
};

/* False: it would exceed the bounds; the words are as before. */
bool graph_build(const struct graph_task *t, struct words *w, struct graph *g);
/*
 * Walks the words from a root and measures them without trusting who made them. False: a bound is exceeded, an offset lies
 * outside of n words, the walk does not end, an entry's result or shifts make no sense, entries are out of order, or what a
 * leaf says of its continuation hides an earlier rule there.
 */
bool graph_check(const uint64_t *word, size_t n, uint64_t root, bool is_ip6, const struct graph_bounds *most);

#endif
