/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dispatchers: the one small program that hangs at a hook for as long as an instance has rules there.
 *
 *     generation word -> point not in use:  accept
 *                     -> active slot 0 | 1: tail call of the slot's program for this point
 *                     -> no program there:  drop, counted in books.missing
 *
 * A dispatcher is attached before the generation that uses its point and detached after the last one that did, so that
 * attaching and detaching never decide about a packet; the store of the generation word does.
 */
#ifndef WEIR_KERNEL_DISPATCH_H
#define WEIR_KERNEL_DISPATCH_H

#include "tables/format.h"

/* One element of an instance's map "books"; mapped by user space. */
struct dispatch_books {
	__u64 missing[DP_POINTS]; /* packets dropped because the active slot had no program */
	__u64 settled;		  /* the generation word since whose store a grace period has passed */
};

#ifndef __bpf__
#include "kernel/refusal.h"

int dispatch_books_create(void);  /* fd of the map, or -errno */
int dispatch_slots_create(void);  /* fd of a point's array of programs, one per slot, or -errno */
/* Loads the dispatcher of a point. Returns its fd or -errno with why filled in. Nothing is attached. */
int dispatch_load(struct refusal *why, unsigned point, int generation_fd, int books_fd, int slots_fd);
#endif

#endif
