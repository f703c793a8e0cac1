/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From a ruleset, its counters and its points to the description that stays in the kernel (info.h). */
#ifndef WEIR_KERNEL_DESCRIBE_H
#define WEIR_KERNEL_DESCRIBE_H

#include "classify/tables.h"
#include "kernel/number.h"

/* By chain.id: chains of tables that hang at some hook. The others are left out (weir load --tables). */
bool *describe_in_use(struct arena *a, const struct ruleset *rs);
/* Fills files, chains, rules and n_counters of out. */
void describe_rules(struct arena *a, const struct ruleset *rs, const struct sources *sources, const bool *in_use,
		    const struct numbers *numbers, const struct tables *t, struct info *out);
/*
 * Fills sums of out, which has all else: those of the tables, and those of `active` whose counts rules of out go on with. active
 * NULL: counts begin in maps of their own, where none of that is needed.
 */
void describe_sums(struct arena *a, const struct numbers *numbers, const struct tables *t, const struct info *active,
		   struct info *out);
/*
 * Tells the generation before of the sums that `next` begins: if it comes back, its rules that are in both go on with what
 * these have counted. False: there is nothing to tell.
 */
bool describe_sums_to_come(struct arena *a, const struct info *next, struct info *before);

#endif
