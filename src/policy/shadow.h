/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules that can never match, told from the model alone: their own tests contradict each other, or an earlier rule of the chain
 * takes every packet that they want.
 *
 *     1  -s 192.0.2.0/24 -j DROP
 *     2  -s 192.0.2.7 -p tcp --dport 22 -j ACCEPT     in the shadow of 1
 *
 * Rule 1 must end the way through the chain, and ask nothing but values of fields that no rule of the ruleset writes; rule 2
 * must ask at least as much of each of them before it does anything. Only one rule at a time is looked at, so what two earlier
 * rules take together is not found; nor is it what a rule says of sets, limits and bytes that makes it cast a shadow.
 *
 * Among rules with an address those are found by its prefix; others are compared one by one, up to a bound.
 */
#ifndef WEIR_POLICY_SHADOW_H
#define WEIR_POLICY_SHADOW_H

#include "base/diag.h"
#include "policy/policy.h"

enum { SHADOW_COMPARES = 20000000 }; /* of two rules, in all chains together: well below a second */

struct shadow {
	const struct rule *rule; /* roots; in the order of the ruleset */
	const struct rule *by;	 /* NULL: it contradicts itself */
};

struct shadows {
	VEC(struct shadow) all;
	const struct rule *stopped_at; /* from here on it was not looked for, because the bound was met; or NULL */
};

/* Of twins, those of which all are in a shadow. most: compares, or SHADOW_COMPARES. */
void shadow_find(struct arena *a, const struct ruleset *rs, uint64_t most, struct shadows *out);
/* The same as warnings "never-matches" and "hidden-rule", and a note where it was stopped. */
void shadow_check(const struct ruleset *rs, struct diags *d);

#endif
