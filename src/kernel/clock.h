/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clock that programs read: jiffies. */
#ifndef WEIR_KERNEL_CLOCK_H
#define WEIR_KERNEL_CLOCK_H

#include <stdint.h>

/* 0 or -errno. Takes some 100 us: a program of four instructions is loaded and run. */
int clock_jiffies(uint64_t *now);
uint32_t clock_hz(void); /* jiffies in a second */

#endif
