/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rules that are active, with what they have counted: all that `weir list` shows, from the pins alone. */
#ifndef WEIR_KERNEL_ACTIVE_H
#define WEIR_KERNEL_ACTIVE_H

#include "kernel/counts.h"
#include "kernel/trial.h"

struct active {
	struct info info;
	struct counts_cell *rule, *chain; /* beside info.rules, info.chains; of chains: what the policy decided */
	struct counts_cell special[DP_COUNTERS_SPECIAL];
	uint64_t missing; /* packets dropped because a slot held no program */
	struct trial trial;
};

/* No lock is needed: what was read while the rules were replaced is read again. -ENOENT: nothing is loaded. */
int active_read(const struct instance *in, struct active *out, struct refusal *why);
/* "the rules loaded 12:03 from rules.v4", with the date if it was another day. */
struct str active_name(struct arena *a, const struct info *info);
const char *active_special_text(enum dp_counter which); /* "malformed packets"; NULL: not used */
const char *active_special_name(enum dp_counter which); /* "malformed" */

#endif
