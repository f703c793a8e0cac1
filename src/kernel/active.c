/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading back. See active.h. */
#include "kernel/active.h"

#include <errno.h>
#include <time.h>

#include "kernel/tally.h"
#include "kernel/tidy.h"

/* Counts of the active maps, and of those before as long as they have not been carried over. */
struct both {
	struct counts now;
	struct counts_cell *before; /* by counter; NULL: there are none */
	uint32_t n_before;
};

static struct counts_cell total(const struct both *b, uint32_t counter, bool is_kept)
{
	struct counts_cell sum;

	if (!b->before || !is_kept || counter >= b->n_before)
		return counts_total(&b->now, counter);
	sum = counts_of_cpus(&b->now, counter);
	return (struct counts_cell){ sum.packets + b->before[counter].packets, sum.bytes + b->before[counter].bytes };
}

static void add_up(struct arena *a, const struct pins *p, const struct both *b, struct active *out)
{
	struct info *info = &out->info;

	out->rule = arena_new(a, struct counts_cell, info->rules.n + 1);
	out->chain = arena_new(a, struct counts_cell, info->chains.n + 1);
	for (size_t i = 0; i < info->rules.n; i++)
		out->rule[i] = total(b, info->rules.v[i].counter, info->rules.v[i].is_kept);
	tally_add_sums(info, &b->now, out->rule);
	for (size_t i = 0; i < info->chains.n; i++)
		out->chain[i] = total(b, info->chains.v[i].counter, info->chains.v[i].is_kept);
	for (uint32_t i = 0; i < DP_COUNTERS_SPECIAL; i++)
		out->special[i] = total(b, i, true);
	out->missing = 0;
	for (unsigned i = 0; i < DP_POINTS; i++)
		out->missing += __atomic_load_n(&p->book->missing[i], __ATOMIC_RELAXED);
}

static int read_counts(const struct pins *p, struct active *out, struct refusal *why)
{
	struct info *info = &out->info;
	struct both b = { .before = NULL };
	struct program_maps maps;
	int err = pins_slot_get(p, info->slot, &maps, why);

	if (!err)
		err = counts_open(maps.count, &info->size, &b.now, why);
	maps.log = -1;
	program_maps_close(&maps);
	if (err)
		return err;
	err = tidy_counts_before(p, info, &b.before, &b.n_before, why);
	if (!err || err == -ENOENT) {
		add_up(p->in->a, p, &b, out);
		err = 0;
	}
	counts_close(&b.now);
	return err;
}

int active_read(const struct instance *in, struct active *out, struct refusal *why)
{
	enum { TRIES = 100 };
	struct pins p;
	int err = pins_open(in, &p, why);

	if (err)
		return err;
	for (int i = 0; i < TRIES; i++) {
		struct refusal now = { .a = in->a };
		uint64_t word = pins_word(&p);

		*out = (struct active){ 0 };
		err = pins_info(&p, in->a, &out->info, &now);
		if (!err)
			err = read_counts(&p, out, &now);
		if (err && now.what.n)
			*why = now;
		if (pins_word(&p) != word)
			continue; /* a load went by; what it retired may be gone */
		trial_look(&p, &out->trial);
		break;
	}
	if (!err)
		*why = (struct refusal){ .a = in->a };
	pins_close(&p);
	return err;
}

struct str active_name(struct arena *a, const struct info *info)
{
	time_t at = (time_t)info->loaded_at, now = time(NULL);
	struct tm then, today;
	char text[32];

	localtime_r(&at, &then);
	localtime_r(&now, &today);
	strftime(text, sizeof text,
		 then.tm_yday == today.tm_yday && then.tm_year == today.tm_year ? "%H:%M" : "%Y-%m-%d %H:%M", &then);
	return arena_printf(a, "the rules loaded %s from %.*s", text, STR_ARG(info_files_text(a, info)));
}

static const struct {
	const char *name, *text;
} special[DP_COUNTERS_SPECIAL] = {
	[DP_COUNTER_MALFORMED] = { "malformed", "malformed packets" },
	[DP_COUNTER_CT_MISSING] = { "ct_missing", "packets dropped because nothing tracks connections" },
	[DP_COUNTER_SLOT_MISSING] = { "slot_missing", "packets dropped because a program was missing" },
	[DP_COUNTER_BOUND] = { "bound", "packets dropped at a bound of the programs" },
	[DP_COUNTER_LOG_LOST] = { "log_lost", "log events lost because nobody read them" },
};

const char *active_special_text(enum dp_counter which)
{
	return special[which].text;
}

const char *active_special_name(enum dp_counter which)
{
	return special[which].name;
}
