/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Left-overs: what a load before this one no longer needs, or what one that was killed has left. tidy_run() may be
 * stopped anywhere and done again; it needs the lock. Nothing that the active generation uses is touched.
 */
#ifndef WEIR_KERNEL_TIDY_H
#define WEIR_KERNEL_TIDY_H

#include "kernel/counts.h"
#include "kernel/points.h"

/* active: info of the active generation; NULL if no rules are loaded. */
int tidy_run(struct pins *p, const struct info *active, struct refusal *why);
/*
 * Carries counts that were made in the other slot's map over to the active one's, if the last load changed maps. To
 * be done when that slot is at rest; doing it again changes nothing.
 */
int tidy_carry_counts(const struct pins *p, const struct info *active, struct refusal *why);
/*
 * The counts that the active rules go on with, as long as they lie in the other slot's map: by the numbers of their counters,
 * *n of them, in the instance's arena. -ENOENT (nothing in why): there are none, or they were carried over and that map is
 * gone.
 */
int tidy_counts_before(const struct pins *p, const struct info *active, struct counts_cell **from, uint32_t *n,
		       struct refusal *why);
/* Stops all rules, then removes everything that is pinned of the instance. p is closed. */
int tidy_remove(struct pins *p, struct refusal *why);
/* The same, and what the instance has in this network namespace: the nft table. */
int tidy_unload(struct pins *p, struct refusal *why);

#endif
