/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules as code: tests, then COUNT, effects and verdict. A test that fails goes to a label, mostly the next rule. The first test
 * of a rule that asks about connections first asks whether anything tracks them at all. Sets are asked behind the plain
 * compares that stand beside them, whatever their order in the rule: who does not pass those never touches a set.
 */
#ifndef WEIR_CLASSIFY_EMIT_H
#define WEIR_CLASSIFY_EMIT_H

#include "classify/sums.h"
#include "classify/test.h"

struct emit {
	struct code *code;
	struct test_room *room;
	struct sums *sums;
	const struct tables_options *opt;
	int ct_missing; /* label of the drop at the end of the open list, or -1: nobody asked yet */
};

void emit_rule(struct emit *e, const struct rule *r);
/* asked_ct: whether an earlier test of the same rule has; set if this one does. */
void emit_test(struct emit *e, const struct test *t, bool *asked_ct, int fail);
/* Step k is a counter that may as well count at the verdict behind it. */
bool emit_counts_at_verdict(const struct rule *r, uint32_t k);
void emit_verdict(struct emit *e, const struct step *s, uint64_t counter);

#endif
