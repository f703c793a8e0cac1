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

#endif
