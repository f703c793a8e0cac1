/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The other slot, with the same maps but one. See setgrow.h. */
#include "kernel/setgrow.h"

#include <errno.h>
#include <unistd.h>

#include "kernel/points.h"
#include "kernel/tidy.h"
#include "kernel/trial.h"

struct grow {
	struct pins *p;
	struct info info; /* of the rules in use; becomes that of the same rules in the other slot */
	struct program_maps maps;
	uint32_t from_log2;
	uint64_t word;
	struct refusal *why;
};

static int choose_size(struct grow *g, uint64_t words)
{
	uint32_t log2 = g->from_log2 + 1;

	while (log2 < SETMEM_MAX_LOG2 && (uint64_t)1 << log2 < words)
		log2++;
	g->info.size.sets_log2 = log2;
	if (log2 <= SETMEM_MAX_LOG2 && (uint64_t)1 << log2 >= words)
		return 0;
	refusal_set(g->why, ENOSPC, "the sets would take more than %u MiB", (1u << SETMEM_MAX_LOG2) / (1 << 17));
	return -ENOSPC;
}

/* The maps of the active slot, with a larger one in the place of that of the sets, and the image in it. */
static int make_map(struct grow *g)
{
	size_t bytes = sizeof(uint64_t) << g->from_log2;
	int old = g->maps.sets, err = -ENOMEM;
	void *from, *to;

	g->maps.sets = program_sets_create(&g->info.size);
	if (g->maps.sets < 0) {
		err = refusal_set(g->why, -g->maps.sets, "cannot make a BPF map for the sets");
	} else {
		from = pins_map(old, bytes, g->why);
		to = from ? pins_map(g->maps.sets, bytes, g->why) : NULL;
		if (to) {
			memcpy(to, from, bytes);
			err = 0;
		}
		pins_unmap(from, bytes);
		pins_unmap(to, bytes);
	}
	close(old);
	return err;
}

static int load_program(struct grow *g, const struct info_point *at)
{
	struct program_spec spec = { .type = PROGRAM_NF, .point = at->number, .slot = g->info.slot, .features = at->features,
				     .size = g->info.size, .malformed_accept = g->info.malformed_accept, .maps = g->maps };
	struct str log = { 0 };
	int fd = program_load(g->p->in->a, &spec, &log), err;

	if (fd < 0) {
		refusal_set(g->why, -fd, "the kernel does not take a program that it had taken");
		refusal_help(g->why, "%.*s", STR_ARG(log));
		return fd;
	}
	err = points_set_program(g->p, at->number, g->info.slot, fd, g->why);
	close(fd);
	return err;
}

static uint64_t next_word(const struct grow *g)
{
	unsigned slot = g->info.slot;
	uint64_t word = g->word & ~(DP_GEN_SLOT | DP_GEN_HALF(slot) | (uint64_t)DP_GEN_SERIAL_MASK << DP_GEN_SERIAL_SHIFT);

	word |= slot ? DP_GEN_SLOT : 0;
	word |= pins_half(g->word, 1 - slot) ? DP_GEN_HALF(slot) : 0;
	return word | (uint64_t)g->info.serial << DP_GEN_SERIAL_SHIFT;
}

static int prepare(struct grow *g)
{
	int err = make_map(g);

	if (!err)
		err = pins_slot_put(g->p, g->info.slot, &g->maps, g->why);
	for (size_t i = 0; i < g->info.points.n && !err; i++)
		err = load_program(g, &g->info.points.v[i]);
	if (!err)
		err = pins_info_store(g->p, g->info.serial, info_write(g->p->in->a, &g->info), g->why);
	return err;
}

static int change(struct grow *g, const struct info *active)
{
	int err = pins_slot_get(g->p, active->slot, &g->maps, g->why);

	if (!err)
		err = prepare(g);
	if (err) {
		tidy_run(g->p, active, g->why);
	} else {
		pins_flip(g->p, next_word(g));
		err = tidy_run(g->p, &g->info, g->why);
	}
	g->maps.log = -1; /* the instance's */
	program_maps_close(&g->maps);
	return err;
}

int setgrow(struct pins *p, uint64_t words, struct refusal *why)
{
	struct grow g = { .p = p, .maps = PROGRAM_NO_MAPS, .why = why };
	struct info active;
	bool rolled_back;
	int err = trial_resolve(p, &rolled_back, why);

	if (!err)
		err = pins_info(p, p->in->a, &active, why);
	if (!err && !str_eq(active.made_by, program_identity())) {
		refusal_set(why, 0, "another version of weir has loaded these rules");
		refusal_help(why, "load them again");
		err = -ESTALE;
	}
	if (!err)
		err = tidy_run(p, &active, why);
	if (err)
		return err;
	g.word = pins_word(p);
	g.info = active;
	g.from_log2 = active.size.sets_log2;
	g.info.slot = 1 - active.slot;
	g.info.serial = active.serial % DP_GEN_SERIAL_MASK + 1;
	g.info.counts_from = 0; /* the counters are the same map */
	err = choose_size(&g, words);
	return err ? err : change(&g, &active);
}
