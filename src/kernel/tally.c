/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules and the sums that they are in. See tally.h. */
#include "kernel/tally.h"

#include "tables/format.h"

void tally_add_sums(const struct info *info, const struct counts *c, struct counts_cell *rule)
{
	for (size_t i = 0; i < info->sums.n; i++) {
		const struct info_sum *s = &info->sums.v[i];
		struct counts_cell n = counts_total(c, s->counter);

		for (size_t k = 0; k < s->rules.n; k++) {
			rule[s->rules.v[k]].packets += n.packets;
			rule[s->rules.v[k]].bytes += n.bytes;
		}
	}
}

struct counts_cell *tally_by_counter(struct arena *a, const struct info *info, const struct counts *c)
{
	struct counts_cell *out = arena_new(a, struct counts_cell, info->n_counters + DP_COUNTERS_SPECIAL);
	struct counts_cell *rule = arena_new(a, struct counts_cell, info->rules.n + 1);

	for (uint32_t i = 0; i < DP_COUNTERS_SPECIAL; i++)
		out[i] = counts_total(c, i);
	for (size_t i = 0; i < info->chains.n; i++)
		out[info->chains.v[i].counter] = counts_total(c, info->chains.v[i].counter);
	for (size_t i = 0; i < info->rules.n; i++)
		rule[i] = counts_total(c, info->rules.v[i].counter);
	tally_add_sums(info, c, rule);
	for (size_t i = 0; i < info->rules.n; i++)
		out[info->rules.v[i].counter] = rule[i];
	return out;
}
