/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Log events out of the instance's ring, in the order in which the programs wrote them. */
#ifndef WEIR_KERNEL_RING_H
#define WEIR_KERNEL_RING_H

#include <signal.h>

#include "kernel/pins.h"

typedef void ring_event(void *arg, const struct dp_log_event *e);

/*
 * Gives every event that waits to `seen`, and takes it out; with `stop`, goes on with those to come until a signal
 * handler sets it or all rules are gone. 0 or -errno.
 */
int ring_read(const struct pins *p, const volatile sig_atomic_t *stop, ring_event *seen, void *arg,
	      struct refusal *why);

#endif
