/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A larger image for the sets of the rules in use. The size of the image is a constant of the programs, so they are loaded
 * once more, into the other slot, beside the maps that they had: tables, counters and buckets stay the same memory.
 *
 *     copy the image into a larger map -> programs with it in the other slot -> ONE STORE -> wait -> the old slot goes
 *
 * As with a load, whatever ends the process in the middle, the rules are whole.
 */
#ifndef WEIR_KERNEL_SETGROW_H
#define WEIR_KERNEL_SETGROW_H

#include "kernel/setmap.h"

/*
 * With the lock, and no image open. Afterwards it has 2^n words, at least `words`, and is larger than before. Refused during
 * a trial, and if another weir has loaded the rules. 0 or -errno.
 */
int setgrow(struct pins *p, uint64_t words, struct refusal *why);

#endif
