/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters, mapped. See counts.h. */
#include "kernel/counts.h"

#include <errno.h>

#include "kernel/pins.h"

int counts_open(int fd, const struct program_size *size, struct counts *c, struct refusal *why)
{
	*c = (struct counts){ .map_bytes = program_count_bytes(size), .n_columns = 1u << size->counters_log2,
			      .n_cpus = program_cpus() };
	c->cell = pins_map(fd, c->map_bytes, why);
	return c->cell ? 0 : -ENOMEM;
}

void counts_close(struct counts *c)
{
	pins_unmap(c->cell, c->map_bytes);
	*c = (struct counts){ 0 };
}

static struct counts_cell *cell_at(const struct counts *c, uint32_t row, uint32_t counter)
{
	return &c->cell[(size_t)row * c->n_columns + counter];
}

static struct counts_cell sum_rows(const struct counts *c, uint32_t counter, uint32_t n_rows)
{
	struct counts_cell sum = { 0 };

	for (uint32_t row = 0; counter < c->n_columns && row < n_rows; row++) {
		const struct counts_cell *one = cell_at(c, row, counter);

		sum.packets += __atomic_load_n(&one->packets, __ATOMIC_RELAXED);
		sum.bytes += __atomic_load_n(&one->bytes, __ATOMIC_RELAXED);
	}
	return sum;
}

struct counts_cell counts_total(const struct counts *c, uint32_t counter)
{
	return sum_rows(c, counter, c->n_cpus + 1);
}

struct counts_cell counts_of_cpus(const struct counts *c, uint32_t counter)
{
	return sum_rows(c, counter, c->n_cpus);
}

void counts_clear(struct counts *c, uint32_t counter)
{
	for (uint32_t row = 0; row <= c->n_cpus; row++)
		*cell_at(c, row, counter) = (struct counts_cell){ 0 };
}

void counts_put(struct counts *c, uint32_t counter, struct counts_cell n)
{
	*cell_at(c, c->n_cpus, counter) = n;
}
