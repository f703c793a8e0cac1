/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A grace period: after grace_wait() no CPU runs a program that began before the call. Memory that only such
 * programs could still read may then be written.
 */
#ifndef WEIR_KERNEL_GRACE_H
#define WEIR_KERNEL_GRACE_H

#include "kernel/refusal.h"

enum grace_way { GRACE_MEMBARRIER, GRACE_MAP_UPDATE, GRACE_NONE };

enum grace_way grace_probe(void);
/* Waits 5 to 30 ms as a rule. 0 or -errno: then nothing may be assumed. */
int grace_wait(struct refusal *why);

#endif
