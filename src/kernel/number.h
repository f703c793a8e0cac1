/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers of counters. A rule is the same rule as before if family, table, chain, canonical text and which of several
 * equal ones it is are the same; then it keeps its number, and so its counts, wherever its line has moved to:
 *
 *     before   -A INPUT -p tcp --dport 22 -j ACCEPT    number 9
 *     now      -A INPUT -s 192.0.2.1 -j DROP           number 12, the lowest that the active rules do not use
 *              -A INPUT -p tcp --dport 22 -j ACCEPT    number 9
 *
 * The policy of a base chain has a number too. Numbers below DP_COUNTERS_SPECIAL are the instance's own.
 */
#ifndef WEIR_KERNEL_NUMBER_H
#define WEIR_KERNEL_NUMBER_H

#include "kernel/info.h"

struct numbers {
	uint32_t *rule, *chain; /* by rule.id, chain.id */
	bool *rule_kept, *chain_kept;
	uint32_t n; /* one more than the highest number */
	uint32_t n_added, n_kept, n_removed; /* rules against those of `active` */
	VEC(bool) sum_kept; /* of each number_of_sum() in order: it goes on with the counts of one of `active` */
	struct number_book *book;
};

/*
 * in_use: by chain.id, chains that are loaded; the rules of others get TABLES_NO_COUNTER.
 * active: what is loaded now, or NULL.
 */
void number_assign(struct arena *a, const struct ruleset *rs, const bool *in_use, const struct info *active,
		   struct numbers *out);
/*
 * The number of a counter that counts for all these rules at once: that of the active sum of the same rules, or a free one. To
 * be called after number_assign(), once for each such set.
 */
uint32_t number_of_sum(struct arena *a, struct numbers *n, const struct rule *const *rule, size_t n_rules);

#endif
