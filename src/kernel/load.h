/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loading: rules become what the kernel obeys, whole or not at all.
 *
 *     number the counters -> compile -> (all errors of the rules are known; nothing has been touched)
 *     wait until the last flip's old half is at rest; clear up
 *     same shape:  write the spare half of the active slot
 *     else:        new maps and programs in the other slot
 *     attach new dispatchers (inert), describe the rules (info), start the guardian of a trial
 *     ONE STORE of the generation word
 *     wait; carry counts over; detach what is not used any more
 *
 * Whatever ends the process in the middle, the word says either the old rules or the new, and all that it refers to
 * is there. Same shape: every point in use has a program that can do what its rules need, and sizes fit.
 */
#ifndef WEIR_KERNEL_LOAD_H
#define WEIR_KERNEL_LOAD_H

#include "kernel/nflink.h"
#include "kernel/number.h"
#include "kernel/setload.h"
#include "kernel/trial.h"

struct load_request {
	const struct ruleset *rules;
	struct str options; /* the words of the command line that shape the rules, for info */
	bool reject_as_drop, malformed_accept;
	bool dry_run;	    /* all but the flip; nothing stays */
	unsigned confirm_s; /* 0: for good */
	trial_told *told;   /* of the guardian */
	void *told_arg;
};

struct load_point {
	unsigned number;
	struct nflink_place wanted, got;
	bool is_new;
	const struct tables_point *rules;
};

struct load_result {
	bool rolled_back; /* an older load that nobody confirmed */
	bool had_rules;
	struct info before; /* if so */
	struct info after;
	struct numbers numbers;
	VEC(struct load_point) points;
	struct setload sets;
	bool is_new_slot;
	bool tracks[FAMILY_COUNT]; /* the kernel was made to track connections for these rules */
	uint32_t n_rules, n_words, serial;
	bool is_active;
};

/*
 * With the lock. Errors of the rules: -EINVAL with errors in d and nothing in why; all else that fails is in why. On
 * failure the rules before are active, untouched, unless out->is_active: then the new rules are, and what failed is
 * the clearing up, which the next load does. A trial whose time is up is rolled back first.
 */
int load_run(const struct instance *in, const struct load_request *q, struct diags *d, struct load_result *out,
	     struct refusal *why);

/* By the number of a counter of the rules before: does a rule go on with it? */
bool *load_kept(struct arena *a, const struct load_result *r);

#endif
