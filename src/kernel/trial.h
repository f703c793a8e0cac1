/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A load on trial (`weir load --confirm 30s`): the rules before stay whole in the spare half or slot, and come back by
 * themselves when the time is up and nobody has said `weir confirm`.
 *
 * Who brings them back is the guardian, a process of its own session that outlives the shell, the terminal and the
 * command. It is there before the new rules are. Should it be killed, the next weir command that finds the time
 * up does its work. On SIGTERM the guardian does not wait any longer.
 */
#ifndef WEIR_KERNEL_TRIAL_H
#define WEIR_KERNEL_TRIAL_H

#include "kernel/pins.h"

enum trial_end { TRIAL_CONFIRMED, TRIAL_ROLLED_BACK, TRIAL_OVERTAKEN /* unloaded, or never begun */, TRIAL_FAILED };

struct trial {
	bool is_there;	  /* a load waits for its confirmation */
	bool is_expired;  /* its time is up, and nobody has done anything yet */
	unsigned left_s;  /* rounded up */
	uint32_t serial, serial_before; /* serial_before 0: no rules were loaded */
};

/* What the guardian tells at its end, from a process without standard output; why is set for TRIAL_FAILED. */
typedef void trial_told(void *arg, enum trial_end end, const struct refusal *why);

/*
 * Before the flip from word `before` to `next`: writes the record down and starts the guardian. With the lock. On
 * failure nothing is left behind.
 */
int trial_begin(struct pins *p, uint64_t before, uint64_t next, unsigned seconds, trial_told *told, void *arg,
		struct refusal *why);
void trial_look(const struct pins *p, struct trial *t);
/* Both with the lock. A record that no flip followed is removed. */
int trial_confirm(struct pins *p, struct refusal *why);
int trial_roll_back(struct pins *p, struct refusal *why);
/*
 * What every change begins with: a load whose time is up is rolled back (*rolled_back), a record that no flip followed
 * is removed, a load that still waits is a refusal. With the lock. Afterwards p may be closed: no rules are loaded.
 */
int trial_resolve(struct pins *p, bool *rolled_back, struct refusal *why);
/* Removes the record without a change of rules; ends the guardian. */
void trial_drop(struct pins *p);

#endif
