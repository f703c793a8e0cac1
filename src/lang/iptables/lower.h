/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the tree of an iptables file to the model: what a rule says becomes tests, effects and a verdict, with every answer
 * about absent things written out as the kernel gives it (docs/semantics.md has the table).
 *
 * lower.c does files, chains and the core options; lower_match.c the matches on packets, lower_meta.c those on what the
 * machine knows, lower_state.c those that remember; lower_target.c the targets.
 */
#ifndef WEIR_LANG_IPTABLES_LOWER_H
#define WEIR_LANG_IPTABLES_LOWER_H

#include "lang/iptables/tree.h"

/* Adds the file's tables to rs. A table that another file already gave is an error naming both places. */
void iptables_lower(struct ruleset *rs, struct diags *d, const struct ipt_file *f);

/* ---------- inside ---------- */

/* The rule that is being lowered: its steps so far. */
struct lower {
	struct arena *a;
	struct diags *d;
	enum family family;
	const struct ipt_use *use; /* the match or target at hand */
	VEC(struct step) steps;
};

/*
 * Every maker of a test adds one to l->steps and gives it back for more (good until the next is added). `o` is the option
 * that asks: its place, its negation and its name go into the test. What it answers about absent things is "no" unless the
 * caller changes on_absent.
 */
struct test *lower_test(struct lower *l, const struct ipt_opt *o, enum test_kind kind);
struct test *lower_in(struct lower *l, const struct ipt_opt *o, enum field f, u128 lo, u128 hi);
struct test *lower_bits(struct lower *l, const struct ipt_opt *o, enum field f, uint64_t bits, bool as_masks);
struct test *lower_mask(struct lower *l, const struct ipt_opt *o, enum field f, u128 value, u128 mask);
struct test *lower_addr(struct lower *l, const struct ipt_opt *o, enum field f, const struct ipt_addr *addr);
struct test *lower_unknown(struct lower *l, const struct ipt_opt *o, const char *why);
/* The field is there, whatever its value: what a match asks that was given no option (-m tcp). */
struct test *lower_exists(struct lower *l, enum field f);
struct state_spec *lower_state(struct lower *l, const struct ipt_opt *o, enum state_kind kind);
/* The options of a use as text, to tell apart what the model does not look into. */
struct str lower_params(struct arena *a, const struct ipt_use *u);
struct set_use *lower_set_use(struct lower *l, const struct ipt_opt *o);

void lower_match(struct lower *l, const struct ipt_use *u);
bool lower_meta_match(struct lower *l, const struct ipt_use *u);  /* false: none of its matches */
bool lower_state_match(struct lower *l, const struct ipt_use *u); /* false: none of its matches */
void lower_target(struct lower *l, const struct ipt_rule *r);

#endif
