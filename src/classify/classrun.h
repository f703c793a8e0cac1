/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs: which rules may match one after the other, up to one that ends the list, or the list's policy. A state is a rule and
 * the state behind it, so runs with the same end share it. Inside of the builder of class tables.
 */
#ifndef WEIR_CLASSIFY_CLASSRUN_H
#define WEIR_CLASSIFY_CLASSRUN_H

#include "classify/classes.h"

struct class_state {
	uint64_t result;
	uint32_t next; /* state, or DP_CLASS_NO_STATE */
	uint32_t run;  /* states from here on */
};

struct class_runs {
	struct arena *a;
	const struct class_task *t;
	uint32_t *rule; /* by bit */
	struct class_state *v;
	size_t n, cap;
	uint32_t *slot; /* number + 1 */
	size_t n_slots;
	uint16_t *rank; /* by state, once sorted */
	unsigned longest;
};

void class_runs_open(struct class_runs *r, struct arena *a, const struct class_task *t, const uint32_t *bit, size_t n_bits);
/* The state of the rules that are in both sets, whose first bit is `bit`; -1: there are too many. */
int class_runs_add(struct class_runs *r, const uint64_t *x, const uint64_t *y, size_t words, uint32_t bit);
/* Ranks the states in the order of their results. */
void class_runs_sort(struct class_runs *r);
void class_runs_write(const struct class_runs *r, uint64_t *word); /* two words each, by rank */

#endif
