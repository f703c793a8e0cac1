/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters as they lie in the kernel: a row for each CPU, which only programs on that CPU add to, and behind them a
 * row of user space, which holds what was counted elsewhere before. A total is the sum of a column. Reading takes
 * no system call.
 */
#ifndef WEIR_KERNEL_COUNTS_H
#define WEIR_KERNEL_COUNTS_H

#include "kernel/program.h"
#include "kernel/refusal.h"

struct counts_cell {
	uint64_t packets, bytes;
};

struct counts {
	struct counts_cell *cell;
	size_t map_bytes;
	uint32_t n_columns, n_cpus;
};

int counts_open(int fd, const struct program_size *size, struct counts *c, struct refusal *why);
void counts_close(struct counts *c);
struct counts_cell counts_total(const struct counts *c, uint32_t counter); /* {0} if there is no such column */
/* The same without the row of user space. */
struct counts_cell counts_of_cpus(const struct counts *c, uint32_t counter);
/* Only for a counter that no program uses: sets the column to nothing. */
void counts_clear(struct counts *c, uint32_t counter);
/* Makes the counter go on at n, by writing it into the row of user space. Doing it again changes nothing. */
void counts_put(struct counts *c, uint32_t counter, struct counts_cell n);

#endif
