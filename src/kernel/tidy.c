/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Removing what is not needed. See tidy.h. */
#include "kernel/tidy.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel/conntrack.h"
#include "kernel/setmap.h"
#include "kernel/tally.h"

static const bool no_family[FAMILY_COUNT];

static uint32_t map_id(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t n = sizeof info;

	return bpf_obj_get_info_by_fd(fd, &info, &n) ? 0 : info.id;
}

/* The log is the instance's and stays open. */
static void close_maps(struct program_maps *m)
{
	m->log = -1;
	program_maps_close(m);
}

struct before {
	struct counts_cell *count; /* by counter */
	uint32_t n;
};

static void carry_one(struct counts *to, const struct before *from, uint32_t counter)
{
	if (counter < from->n)
		counts_put(to, counter, from->count[counter]);
}

static void carry(const struct info *active, struct counts *to, const struct before *from)
{
	for (uint32_t i = 0; i < DP_COUNTERS_SPECIAL; i++)
		carry_one(to, from, i);
	for (size_t i = 0; i < active->chains.n; i++)
		if (active->chains.v[i].is_kept)
			carry_one(to, from, active->chains.v[i].counter);
	for (size_t i = 0; i < active->rules.n; i++)
		if (active->rules.v[i].is_kept)
			carry_one(to, from, active->rules.v[i].counter);
}

/* The maps of both slots, if the active rules go on with counts that lie in another map than theirs. */
static bool open_both(const struct pins *p, const struct info *active, struct program_maps *now,
		      struct program_maps *old)
{
	struct refusal ignored = { .a = p->in->a };
	bool has_now, has_old;

	/* Without the info of the generation before, the other slot holds no counts of it: they were carried over, or a
	 * load that never became active has left the slot. */
	if (!active->counts_from || !pins_has_info(p, active->counts_from))
		return false;
	has_now = pins_slot_get(p, active->slot, now, &ignored) == 0;
	has_old = pins_slot_get(p, 1 - active->slot, old, &ignored) == 0;
	if (has_now && has_old && map_id(now->count) != map_id(old->count))
		return true;
	close_maps(now);
	close_maps(old);
	return false;
}

int tidy_counts_before(const struct pins *p, const struct info *active, struct counts_cell **from, uint32_t *n,
		       struct refusal *why)
{
	struct refusal gone = { .a = p->in->a };
	struct program_maps now, old;
	struct info before;
	struct counts c;
	int err;

	if (!open_both(p, active, &now, &old))
		return -ENOENT;
	/* Who has no lock may come while they are carried over. */
	err = pins_info_of(p, p->in->a, active->counts_from, &before, &gone) ? -ENOENT : 0;
	if (!err)
		err = counts_open(old.count, &before.size, &c, why);
	if (!err) {
		*from = tally_by_counter(p->in->a, &before, &c);
		*n = before.n_counters;
		counts_close(&c);
	}
	close_maps(&now);
	close_maps(&old);
	return err;
}

int tidy_carry_counts(const struct pins *p, const struct info *active, struct refusal *why)
{
	struct counts to = { 0 };
	struct program_maps now;
	struct before from;
	int err = tidy_counts_before(p, active, &from.count, &from.n, why);

	if (err)
		return err == -ENOENT ? 0 : err;
	err = pins_slot_get(p, active->slot, &now, why);
	if (!err)
		err = counts_open(now.count, &active->size, &to, why);
	if (!err)
		carry(active, &to, &from);
	close_maps(&now);
	counts_close(&to);
	return err;
}

/* All files of the folder whose name begins with prefix, but keep. */
static void remove_files(struct pins *p, const char *prefix, const char *keep)
{
	DIR *d = opendir(p->in->dir);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)))
		if (strncmp(e->d_name, prefix, strlen(prefix)) == 0 && (!keep || strcmp(e->d_name, keep) != 0))
			pins_remove(p, e->d_name);
	closedir(d);
}

/* Points of which something is pinned: "link-3", "programs-3". */
static uint32_t pinned_points(const struct pins *p)
{
	DIR *d = opendir(p->in->dir);
	struct dirent *e;
	uint32_t found = 0;
	unsigned n;

	while (d && (e = readdir(d)))
		if ((sscanf(e->d_name, "link-%u", &n) == 1 || sscanf(e->d_name, "programs-%u", &n) == 1) && n < DP_POINTS)
			found |= 1u << n;
	if (d)
		closedir(d);
	return found;
}

static void remove_points(struct pins *p, uint64_t word)
{
	uint32_t pinned = pinned_points(p);
	struct refusal ignored = { .a = p->in->a };

	for (unsigned i = 0; i < DP_POINTS; i++) {
		if (!(pinned >> i & 1))
			continue;
		if (word & DP_GEN_POINT(i))
			points_set_program(p, i, 1 - pins_slot(word), -1, &ignored);
		else
			points_detach(p, i);
	}
}

/* Sets that the rules in use do not mean. */
static int remove_sets(struct pins *p, struct refusal *why)
{
	struct refusal another = { .a = why->a };
	struct setmap s;
	int err = setmap_open(p, SETMAP_WRITE, &s, &another);

	if (err)
		return 0; /* of another weir: they go with its slot */
	err = setmap_settle(&s, why);
	if (!err)
		setmem_tidy(&s.m);
	setmap_close(&s);
	return err;
}

int tidy_run(struct pins *p, const struct info *active, struct refusal *why)
{
	uint64_t word = pins_word(p);
	char keep[32];
	int err = pins_settle(p, why);

	if (!err && active)
		err = tidy_carry_counts(p, active, why);
	if (!err && active)
		err = remove_sets(p, why);
	if (err)
		return err;
	remove_points(p, word);
	pins_slot_remove(p, 1 - pins_slot(word));
	if (!active)
		pins_slot_remove(p, pins_slot(word));
	snprintf(keep, sizeof keep, "info-%u", pins_serial(word));
	remove_files(p, "info-", active ? keep : NULL);
	return conntrack_keep_only(p->in, active ? active->ct : no_family, why);
}

int tidy_remove(struct pins *p, struct refusal *why)
{
	const struct instance *in = p->in;
	int err;

	pins_flip(p, 0);
	err = pins_settle(p, why);
	if (err)
		return err;
	remove_points(p, 0);
	for (unsigned slot = 0; slot < DP_SLOTS; slot++)
		pins_slot_remove(p, slot);
	remove_files(p, "info-", NULL);
	pins_remove(p, "trial");
	pins_remove(p, "books");
	pins_remove(p, "log");
	pins_remove(p, "generation");
	pins_close(p);
	rmdir(in->dir);
	rmdir(arena_printf(in->a, "%s/weir", in->bpffs).p);
	return 0;
}

int tidy_unload(struct pins *p, struct refusal *why)
{
	const struct instance *in = p->in;
	int err = tidy_remove(p, why);

	return err ? err : conntrack_keep_only(in, no_family, why);
}
