/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adding up: what a rule has counted is its own counter and every sum that it is in (info.sums).
 *
 *     counter 9    rule 1       rule 1 = 9 + 40
 *     counter 40   rules 1, 2   rule 2 = 10 + 40
 */
#ifndef WEIR_KERNEL_TALLY_H
#define WEIR_KERNEL_TALLY_H

#include "kernel/counts.h"
#include "kernel/info.h"

/* Adds to rule[], beside info->rules, what the sums have counted. */
void tally_add_sums(const struct info *info, const struct counts *c, struct counts_cell *rule);
/* What every rule, policy and special counter of info has counted, by its number; n_counters of them, in a. */
struct counts_cell *tally_by_counter(struct arena *a, const struct info *info, const struct counts *c);

#endif
