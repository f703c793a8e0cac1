/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A large map in the address space, mapped piece by piece where it is touched.
 *
 * The kernel maps an array of a map page by page at once: 64 MiB cost 4 ms, and 2 ms when they go, which is more than all the
 * rest of `weir set add`. So only addresses are reserved, and the fault of the first touch maps the pages around it.
 *
 *     uint64_t *word = window_open(fd, bytes, &why);
 *     word[n] = 7;
 *     window_close();
 *
 * One at a time, in one thread: the handler of SIGSEGV belongs to the process.
 */
#ifndef WEIR_KERNEL_WINDOW_H
#define WEIR_KERNEL_WINDOW_H

#include "kernel/refusal.h"

/* NULL with why. Other faults end the process as they did before. fd may be closed afterwards. */
void *window_open(int fd, size_t bytes, struct refusal *why);
void window_close(void);

#endif
