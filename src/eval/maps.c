/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps and tuples: which entry the packet's values choose.
 *
 *     ip daddr . tcp dport vmap { 192.0.2.1 . 22 : accept, 192.0.2.0/24 . 1-1023 : drop }
 *
 * Entries are sorted once by their shape (which dimensions are single values), then by those values, then by where their
 * first interval begins; so each shape is a binary search, and back from there as far as an interval may still reach.
 * Entries of a map do not overlap, so one that is found is the only one.
 *
 * Values that nobody knows are asked for. One of them: outcome by outcome, with all values that lead to it; several: entry
 * by entry, as if each were a rule.
 */
#include "eval/walk.h"

#include <stdlib.h>

struct shape {
	unsigned points; /* bit of each dimension that is a single value */
	int first;	 /* the first dimension that is not, or -1 */
	uint32_t from, n;
};

struct map_index {
	const struct map *map;
	uint32_t *order; /* entries, sorted */
	u128 *reach;	 /* the highest end of the first interval among entries of equal values up to here */
	VEC(struct shape) shapes;
};

struct maps {
	struct map_index **index; /* by map.id */
	size_t n;
};

/* ---------- the index ---------- */

static unsigned points_of(const struct map *m, const struct map_entry *e)
{
	unsigned points = 0;

	for (unsigned i = 0; i < m->n_dims; i++)
		points |= e->key[i].lo == e->key[i].hi ? 1u << i : 0;
	return points;
}

static int first_interval(const struct map *m, unsigned points)
{
	for (unsigned i = 0; i < m->n_dims; i++)
		if (!(points >> i & 1))
			return (int)i;
	return -1;
}

/* By single values, then by the begin of the first interval. */
static int compare(const struct map *m, unsigned points, const struct map_span *x, const struct map_span *y)
{
	int first = first_interval(m, points);

	for (unsigned i = 0; i < m->n_dims; i++)
		if (points >> i & 1 && x[i].lo != y[i].lo)
			return x[i].lo < y[i].lo ? -1 : 1;
	if (first < 0 || x[first].lo == y[first].lo)
		return 0;
	return x[first].lo < y[first].lo ? -1 : 1;
}

static int by_place(const void *x, const void *y, void *arg)
{
	const struct map *m = arg;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct map_entry *a = &m->entries.v[i], *b = &m->entries.v[k];
	unsigned pa = points_of(m, a), pb = points_of(m, b);
	int c;

	if (pa != pb)
		return pa < pb ? -1 : 1;
	c = compare(m, pa, a->key, b->key);
	return c ? c : i < k ? -1 : i > k;
}

static bool same_points(const struct map *m, unsigned points, const struct map_span *x, const struct map_span *y)
{
	for (unsigned i = 0; i < m->n_dims; i++)
		if (points >> i & 1 && x[i].lo != y[i].lo)
			return false;
	return true;
}

static struct map_index *index_map(struct arena *a, const struct map *m)
{
	struct map_index *ix = arena_new(a, struct map_index, 1);
	uint32_t n = (uint32_t)m->entries.n;
	struct shape *s = NULL;

	ix->map = m;
	ix->order = arena_new(a, uint32_t, n + 1);
	ix->reach = arena_new(a, u128, n + 1);
	for (uint32_t i = 0; i < n; i++)
		ix->order[i] = i;
	qsort_r(ix->order, n, sizeof *ix->order, by_place, (void *)m);
	for (uint32_t i = 0; i < n; i++) {
		const struct map_span *key = m->entries.v[ix->order[i]].key;
		unsigned points = points_of(m, &m->entries.v[ix->order[i]]);

		if (!s || s->points != points) {
			s = vec_add(a, &ix->shapes);
			*s = (struct shape){ points, first_interval(m, points), i, 0 };
		}
		if (s->first >= 0) {
			ix->reach[i] = key[s->first].hi;
			if (s->n && same_points(m, points, m->entries.v[ix->order[i - 1]].key, key) &&
			    ix->reach[i - 1] > ix->reach[i])
				ix->reach[i] = ix->reach[i - 1];
		}
		s->n++;
	}
	return ix;
}

struct maps *maps_create(struct arena *a, const struct ruleset *rs)
{
	struct maps *s = arena_new(a, struct maps, 1);

	s->n = rs->maps.n;
	s->index = arena_new(a, struct map_index *, s->n + 1);
	for (size_t i = 0; i < s->n; i++)
		s->index[i] = index_map(a, rs->maps.v[i]);
	return s;
}

static bool entry_has(const struct map *m, const struct map_entry *e, const struct map_span *v)
{
	for (unsigned i = 0; i < m->n_dims; i++)
		if (v[i].lo < e->key[i].lo || v[i].lo > e->key[i].hi)
			return false;
	return true;
}

/* The last of the shape's entries that is not behind v, counted from 1; 0: none. */
static uint32_t place_of(const struct map_index *ix, const struct shape *s, const struct map_span *v)
{
	uint32_t lo = 0, hi = s->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (compare(ix->map, s->points, ix->map->entries.v[ix->order[s->from + mid]].key, v) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct map_entry *look_up(const struct map_index *ix, const struct map_span *v)
{
	for (size_t i = 0; i < ix->shapes.n; i++) {
		const struct shape *s = &ix->shapes.v[i];

		for (uint32_t k = place_of(ix, s, v); k > 0; k--) {
			uint32_t at = s->from + k - 1;
			const struct map_entry *e = &ix->map->entries.v[ix->order[at]];

			if (!same_points(ix->map, s->points, e->key, v) || (s->first >= 0 && ix->reach[at] < v[s->first].lo))
				break;
			if (entry_has(ix->map, e, v))
				return e;
		}
	}
	return NULL;
}

/* ---------- a packet ---------- */

enum found { FOUND_NO, FOUND_ABSENT, FOUND_YES, FOUND_UNKNOWN };

/* The packet's values, as intervals of one value each; which of them nobody knows. */
struct asked {
	const struct map_use *use;
	struct map_span v[MAP_MAX_DIMS];
	unsigned unknown; /* bits of dimensions */
	unsigned n_unknown, one;
	const char *absent; /* the dimension that is not there */
};

static const char *name_of(const struct map_use *use)
{
	return use->what ? use->what : "the key";
}

static enum found read_values(struct walk *w, struct asked *q)
{
	const struct map *m = q->use->map;

	for (unsigned i = 0; i < m->n_dims; i++) {
		struct key_value x = keys_value(w, &q->use->key[i]);

		if (x.is_there == EVAL_NO) {
			q->absent = x.what;
			return FOUND_ABSENT;
		}
		if (x.is_there == EVAL_UNKNOWN)
			return FOUND_UNKNOWN;
		q->v[i].lo = q->v[i].hi = x.v;
		if (!x.is_known) {
			q->unknown |= 1u << i;
			q->n_unknown++;
			q->one = i;
		}
	}
	return FOUND_YES;
}

/* Do the values that are known lie in this entry? */
static bool may_be(const struct asked *q, const struct map_entry *e)
{
	for (unsigned i = 0; i < q->use->map->n_dims; i++)
		if (!(q->unknown >> i & 1) && (q->v[i].lo < e->key[i].lo || q->v[i].lo > e->key[i].hi))
			return false;
	return true;
}

/* Several values are not known: is it this entry? */
static enum eval_truth is_entry(struct walk *w, const struct asked *q, const struct map_entry *e)
{
	enum eval_truth x = EVAL_YES;

	for (unsigned i = 0; i < q->use->map->n_dims && x == EVAL_YES; i++)
		if (q->unknown >> i & 1)
			x = keys_in(w, &q->use->key[i], valset_one(w->a, e->key[i].lo, e->key[i].hi));
	return x;
}

static enum found ask_entries(struct walk *w, const struct asked *q, uint32_t *outcome)
{
	const struct map *m = q->use->map;

	for (size_t i = 0; i < m->entries.n; i++) {
		enum eval_truth x = may_be(q, &m->entries.v[i]) ? is_entry(w, q, &m->entries.v[i]) : EVAL_NO;

		if (x == EVAL_NO)
			continue;
		*outcome = m->entries.v[i].outcome;
		return x == EVAL_YES ? FOUND_YES : FOUND_UNKNOWN;
	}
	return FOUND_NO;
}

struct leads {
	uint32_t outcome;
	struct map_span span;
};

static int by_outcome(const void *x, const void *y)
{
	const struct leads *a = x, *b = y;

	return a->outcome < b->outcome ? -1 : a->outcome > b->outcome;
}

/* One value is not known: is it one of those that lead to this outcome? */
static enum found ask_outcomes(struct walk *w, const struct asked *q, uint32_t *outcome)
{
	const struct map *m = q->use->map;
	struct leads *v = arena_new(w->a, struct leads, m->entries.n + 1);
	struct valset_span *span = arena_new(w->a, struct valset_span, m->entries.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < m->entries.n; i++)
		if (may_be(q, &m->entries.v[i]))
			v[n++] = (struct leads){ m->n_outcomes ? m->entries.v[i].outcome : 0, m->entries.v[i].key[q->one] };
	qsort(v, n, sizeof *v, by_outcome);
	for (size_t i = 0; i < n;) {
		enum eval_truth x;
		size_t k = 0;

		*outcome = v[i].outcome;
		for (; i < n && v[i].outcome == *outcome; i++)
			span[k++] = (struct valset_span){ v[i].span.lo, v[i].span.hi };
		x = keys_in(w, &q->use->key[q->one], valset_make(w->a, span, k));
		if (x != EVAL_NO)
			return x == EVAL_YES ? FOUND_YES : FOUND_UNKNOWN;
	}
	return FOUND_NO;
}

/* Nobody can tell the key: any outcome that has an entry may be it, or none unless there is one for all other keys. */
static enum found choose(struct walk *w, const struct map_use *use, uint32_t *outcome)
{
	const struct map *m = use->map;
	bool *is_listed = arena_new(w->a, bool, m->n_outcomes + 1);

	w->why = arena_printf(w->a, "%s cannot be decided here: %s", name_of(use), use->why);
	if (w->is_peeking)
		return FOUND_UNKNOWN;
	for (size_t i = 0; i < m->entries.n; i++) {
		uint32_t k = m->n_outcomes ? m->entries.v[i].outcome : 0;

		if (is_listed[k] || (m->has_other && m->other == k))
			continue;
		is_listed[k] = true;
		*outcome = k;
		if (fork_choose(w, "%.*s", STR_ARG(w->why)))
			return FOUND_YES;
	}
	return FOUND_NO;
}

static void say(struct walk *w, const struct asked *q, enum found x)
{
	const struct map_use *use = q->use;
	struct buf b = { .a = w->a };

	if (x == FOUND_UNKNOWN && w->why.n == 0)
		w->why = arena_printf(w->a, "%s is not known", name_of(use));
	if (!w->has_trace || x == FOUND_UNKNOWN)
		return;
	buf_printf(&b, "%s%s: ", name_of(use), use->map->n_outcomes ? " map" : "");
	if (x == FOUND_ABSENT)
		buf_printf(&b, "there is no %s", q->absent);
	else if (q->n_unknown)
		buf_printf(&b, x == FOUND_YES ? "there is an entry" : "no entry");
	else if (use->map->n_outcomes)
		buf_printf(&b, x == FOUND_YES ? "the entry for " : "no entry for ");
	for (unsigned i = 0; i < use->map->n_dims && x != FOUND_ABSENT && !q->n_unknown && !use->why; i++) {
		buf_printf(&b, i ? " . " : "");
		keys_print(w, &b, &use->key[i], q->v[i].lo);
	}
	if (!use->map->n_outcomes && x != FOUND_ABSENT && !q->n_unknown)
		buf_printf(&b, x == FOUND_YES ? " is listed" : " is not listed");
	w->why = buf_str(&b);
}

static enum found find(struct walk *w, const struct map_use *use, uint32_t *outcome)
{
	const struct map *m = use->map;
	struct asked q = { .use = use };
	const struct map_entry *e;
	enum found x;

	w->why = STR("");
	if (use->why) {
		x = choose(w, use, outcome);
	} else if ((x = read_values(w, &q)) == FOUND_YES) {
		if (q.n_unknown == 0) {
			e = look_up(w->e->maps->index[m->id], q.v);
			x = e ? FOUND_YES : FOUND_NO;
			*outcome = e ? e->outcome : 0;
		} else {
			x = q.n_unknown == 1 ? ask_outcomes(w, &q, outcome) : ask_entries(w, &q, outcome);
		}
	}
	if (x == FOUND_NO && m->has_other) {
		*outcome = m->other;
		return FOUND_YES;
	}
	say(w, &q, x);
	return x;
}

const struct step *maps_outcome(struct walk *w, const struct map_use *use, enum eval_truth *x)
{
	uint32_t outcome = 0;
	enum found f;

	w->test = NULL;
	f = find(w, use, &outcome);
	*x = f == FOUND_YES ? EVAL_YES : f == FOUND_UNKNOWN ? EVAL_UNKNOWN : EVAL_NO;
	return f == FOUND_YES ? &use->map->outcome[outcome] : NULL;
}

enum eval_truth maps_tuple(struct walk *w, const struct test *t)
{
	uint32_t outcome;

	switch (find(w, t->tuple, &outcome)) {
	case FOUND_UNKNOWN:
		return EVAL_UNKNOWN;
	case FOUND_ABSENT:
		return t->on_absent ? EVAL_YES : EVAL_NO;
	case FOUND_YES:
		return t->negated ? EVAL_NO : EVAL_YES;
	case FOUND_NO:
		break;
	}
	return t->negated ? EVAL_YES : EVAL_NO;
}
