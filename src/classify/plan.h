/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a list becomes if lookups stand in front of its rules: where, what is left of each rule, and what each answers.
 *
 * The plan is made of what the rules' boxes say (box.h), before there are tables, so that the tables can hold where the
 * instructions will lie; it is made anew for each engine that is tried, because one reads more of a guard than the other.
 */
#ifndef WEIR_CLASSIFY_PLAN_H
#define WEIR_CLASSIFY_PLAN_H

#include "classify/box.h"
#include "classify/lookup.h"

struct plan {
	struct lookup_list *l;
	struct arena *scratch;
	struct box_rule *rule;
	bool *dead;	  /* not in the tables at all */
	uint64_t *result; /* of each rule, policy_result of the policy */
	uint64_t policy_result;
	uint32_t *kept;	 /* the first instruction of each rule that stays, or its end */
	bool *lookup;	 /* stands in front of the rule */
	uint32_t policy; /* from the head */
	bool has_ct;
	size_t n_used; /* rules that a packet may come to */
};

/*
 * Who matches a whole rule comes to none before its `until`. But where an earlier rule may skip this one, nothing is known of
 * those who do, so nothing behind the place where they go on is hidden by it.
 */
struct plan_under_way {
	size_t near, far; /* the next and the last place where somebody who skips goes on */
};

void plan_set_until(struct plan *p, size_t i, struct plan_under_way *w);
/* Of all rules anew. The mark may be written on the way, so who passed a rule that asks it may meet its box again. */
void plan_set_untils(struct plan *p, const bool *asks_mark);
/* Results, places and lookups, of the rules as they are read now. */
void plan_make(struct plan *p);
/* Rules that a lookup's answer sends to code of theirs. */
size_t plan_count_runs(const struct plan *p);

#endif
