/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters that stand for several rules: where one instruction does what several rules do, it adds to one counter, and each
 * of the rules has counted. Whoever reads the counts adds up: a rule's own counter and every sum that it is in.
 *
 *     counter 9    rule 1          rule 1 = 9 + 40
 *     counter 10   rule 2          rule 2 = 10 + 40
 *     counter 40   rules 1 and 2
 */
#ifndef WEIR_CLASSIFY_SUMS_H
#define WEIR_CLASSIFY_SUMS_H

#include "base/strmap.h"
#include "classify/tables.h"

struct sums {
	struct arena *a;
	const struct ruleset *rs;
	const struct tables_options *opt;
	VEC(struct tables_sum) all;
	struct strmap by_rules;
	uint32_t n_counters; /* one more than the highest that is given away */
};

void sums_init(struct sums *s, struct arena *a, const struct ruleset *rs, const struct tables_options *opt);
uint32_t sums_of_rule(const struct sums *s, const struct rule *r);
uint32_t sums_of_chain(const struct sums *s, const struct chain *c);
/* The counter of n rules, each there once; of one, its own. The same rules in the same order get the same. */
uint32_t sums_of_rules(struct sums *s, const struct rule *const *rule, size_t n);

#endif
