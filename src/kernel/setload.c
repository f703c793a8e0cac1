/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sets of a load. See setload.h. */
#include "kernel/setload.h"

#include <errno.h>

static const uint64_t most_spare = 1 << 22;

/* ---------- planning ---------- */

static bool is_asked(const struct tables *t, const struct set *s)
{
	for (size_t i = 0; i < t->sets.set.n; i++)
		if (t->sets.set.v[i] == s)
			return true;
	return false;
}

/* A set that no rule asks is there all the same, for commands and for the next rules, if an image can hold it. */
static bool can_be_kept(const struct set *s)
{
	if (s->n_dims == 0 || s->dim[0] == SET_DIM_LIST || s->name.n > SETMEM_NAME_MAX || !setmem_most_shapes(s))
		return false;
	for (size_t i = 0; i < s->elems.n; i++)
		if (s->elems.v[i].physdev || s->elems.v[i].mac_any)
			return false;
	return true;
}

static void plan_set(struct arena *a, struct setload *out, const struct setmap *now, const struct set *s, uint64_t *news)
{
	uint32_t id = now->word ? setmem_find(&now->m, s->name) : SETMEM_NONE;
	uint64_t most = s->max_elems < UINT32_MAX / 64 ? s->max_elems : UINT32_MAX / 64;
	struct setload_set *to = vec_add(a, &out->sets);
	struct setmem_info info;

	*to = (struct setload_set){ .set = s, .n_elems = s->elems.n };
	if (most > s->elems.n && setmem_words_for(s, most) > out->spare)
		out->spare = setmem_words_for(s, most);
	if (id != SETMEM_NONE && setmem_info(&now->m, id, &info)) {
		to->fate = info.declared == setmem_declared(s) ? SETLOAD_KEPT : SETLOAD_REPLACED;
		to->has_changes = info.is_changed;
	}
	if (to->fate == SETLOAD_KEPT)
		return;
	*news += setmem_words_for(s, s->elems.n);
}

int setload_plan(struct arena *a, const struct pins *p, const struct info *active, const struct ruleset *rs,
		 const struct tables *t, struct setload *out, struct refusal *why)
{
	struct setmap now = { 0 };
	struct setmem_space space = { 0 };
	uint64_t news = 0;
	int err = active ? setmap_open(p, SETMAP_READ, &now, why) : 0;

	*out = (struct setload){ 0 };
	if (err && err != -EPROTO)
		return err;
	if (err)
		*why = (struct refusal){ .a = why->a }; /* another weir's: they are made anew */
	for (size_t i = 0; i < rs->sets.n; i++)
		if (is_asked(t, rs->sets.v[i]) || can_be_kept(rs->sets.v[i]))
			plan_set(a, out, &now, rs->sets.v[i], &news);
	out->has_image = now.word != NULL;
	if (out->has_image)
		setmem_space(&now.m, &space);
	out->spare = out->spare < most_spare ? out->spare : most_spare;
	out->words = space.used + space.waiting + news;
	out->fits = out->has_image && news + news / 8 <= space.unused;
	setmap_close(&now);
	return 0;
}

/* ---------- making ---------- */

static int refuse_set(const struct set *s, int err, struct refusal *why)
{
	refusal_set(why, err == -EMFILE || err == -E2BIG ? 0 : -err, "cannot make the set %.*s", STR_ARG(s->name));
	if (err == -EMFILE)
		refusal_help(why, "there can be %d sets", DP_MAX_SETS);
	if (err == -E2BIG)
		refusal_help(why, "its elements have too many different prefix lengths");
	return err;
}

static int make_set(struct setmem *m, struct setload_set *s, uint32_t serial, uint32_t *id, struct refusal *why)
{
	struct setmem_source src = { .born = serial };
	uint32_t had = setmem_find(m, s->set->name);
	int err;

	if (s->fate == SETLOAD_KEPT) {
		*id = had;
		return 0;
	}
	err = setmem_build(m, s->set, &src, id, NULL);
	if (err)
		return refuse_set(s->set, err, why);
	if (had != SETMEM_NONE)
		setmem_die(m, had, serial);
	return 0;
}

/* Sets that files declared before and now do not. */
static void forget_others(struct setmem *m, const struct setload *s, uint32_t serial)
{
	struct setmem_info info;

	for (uint32_t id = setmem_next(m, SETMEM_NONE); id != SETMEM_NONE; id = setmem_next(m, id)) {
		bool is_declared = false;

		setmem_info(m, id, &info);
		for (size_t i = 0; i < s->sets.n; i++)
			is_declared = is_declared || str_eq(info.name, s->sets.v[i].set->name);
		if (!is_declared && !info.is_runtime)
			setmem_die(m, id, serial);
	}
}

static int copy_image(const struct setload_target *to, struct refusal *why)
{
	size_t bytes = sizeof(uint64_t) << to->from_log2;
	void *from = pins_map(to->from, bytes, why), *into = from ? pins_map(to->fd, bytes, why) : NULL;

	if (into)
		memcpy(into, from, bytes);
	pins_unmap(from, bytes);
	pins_unmap(into, bytes);
	return into ? 0 : -ENOMEM;
}

static int make_sets(struct arena *a, struct setload *s, struct setmap *map, const struct setload_target *to, struct tables *t,
		     struct refusal *why)
{
	uint32_t most = 0, *id;
	int err = setmap_settle(map, why);

	for (size_t i = 0; i < s->sets.n; i++)
		most = s->sets.v[i].set->id > most ? s->sets.v[i].set->id : most;
	id = arena_new(a, uint32_t, most + 1u);
	if (!err)
		setmem_tidy(&map->m); /* what a load that failed has left */
	for (size_t i = 0; i < s->sets.n && !err; i++)
		err = make_set(&map->m, &s->sets.v[i], to->serial, &id[s->sets.v[i].set->id], why);
	if (err)
		return err;
	forget_others(&map->m, s, to->serial);
	sets_number(&t->sets, t->word, id);
	return 0;
}

int setload_make(struct arena *a, struct setload *s, const struct setload_target *to, struct tables *t, struct refusal *why)
{
	struct setmap map;
	int err = to->from >= 0 ? copy_image(to, why) : 0;

	if (!err)
		err = setmap_open_fd(to->fd, to->log2, to->is_empty && to->from < 0 ? SETMAP_CREATE : SETMAP_WRITE, &map, why);
	if (err)
		return err;
	map.m.serial = to->active_serial;
	err = make_sets(a, s, &map, to, t, why);
	setmap_close(&map);
	return err;
}
