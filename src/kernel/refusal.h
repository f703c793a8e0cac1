/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A refusal: the machine said no. What was tried, why it failed, and what would help; the caller in cli/ prints it.
 *
 *     weir: cannot attach at ip input, priority 0: Device or resource busy
 *       help: table 'filter' of iptables-legacy holds that place
 *
 * The first refusal stays: what fails while cleaning up after it does not hide it. Functions that can be refused
 * return 0 or a negative errno, and have filled in `why` then.
 */
#ifndef WEIR_KERNEL_REFUSAL_H
#define WEIR_KERNEL_REFUSAL_H

#include "base/arena.h"

struct refusal {
	struct arena *a;
	int err;	  /* positive errno; 0: nothing was refused, or the text says it all */
	struct str what;  /* empty: nothing was refused */
	struct str help;  /* may be empty */
};

/* Returns -err (-EINVAL for 0), so that a caller may return it at once. */
int refusal_set(struct refusal *why, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void refusal_help(struct refusal *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The lines above, without "weir: " and with a line end. */
struct str refusal_text(struct arena *a, const struct refusal *why);

#endif
