/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows and trees. See maptree.h. */
#include "classify/maptree.h"

#include <stdlib.h>
#include <string.h>

static uint64_t ones(unsigned bits)
{
	return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
}

/* The first one that is read takes the lower word, a second one the upper. */
struct place maptree_place(const struct map_key *key, unsigned i, bool is_ip4)
{
	const struct payload_ref *p = key[i].payload;
	unsigned before = 0;

	if (!p)
		return place_of(key[i].field, is_ip4);
	for (unsigned k = 0; k < i; k++)
		before += key[k].payload != NULL;
	return (struct place){ .is_known = true, .word = before ? DP_W_MADE_HI : DP_W_MADE_LO, .high = DP_W_MADE_HI,
			       .bits = p->n_bits, .feature = DP_F_PAYLOAD | (p->base == PAYLOAD_LINK ? DP_F_MAC : 0) };
}

/* ---------- rows ---------- */

static bool is_indexed_word(unsigned word)
{
	return word <= DP_W_DST_LO || word == DP_W_L4;
}

static void add_level(struct maptree *t, unsigned word, uint64_t mask)
{
	t->level[t->n_levels++] = (struct maptree_level){ word, mask };
	t->is_indexed = t->is_indexed && is_indexed_word(word);
}

/* A bit that says that the value is there rides on the compare. */
static uint64_t riding(const struct place *p)
{
	return p->has_mask && p->has_word == p->word ? p->has_mask : 0;
}

static void add_levels(struct maptree *t, const struct map_key *key, unsigned i, bool is_ip4)
{
	struct place p = maptree_place(key, i, is_ip4);
	uint64_t low = (uint64_t)key[i].mask & ones(p.bits);

	if (p.bits <= 64) {
		add_level(t, p.word, low << p.shift | riding(&p));
		return;
	}
	add_level(t, p.high, (uint64_t)(key[i].mask >> 64) & ones(p.bits - 64));
	add_level(t, p.word, (uint64_t)key[i].mask);
}

static void add_row(struct maptree *t, const struct maptree_row *row)
{
	struct maptree_row *to;

	if (t->n_rows == t->cap) {
		struct maptree_row *more = arena_new(t->a, struct maptree_row, 2 * t->cap + 16);

		if (t->n_rows)
			memcpy(more, t->row, t->n_rows * sizeof *more);
		t->cap = 2 * t->cap + 16;
		t->row = more;
	}
	to = &t->row[t->n_rows++];
	to->outcome = row->outcome;
	to->lo = arena_new(t->a, uint64_t, 2 * t->n_levels);
	to->hi = to->lo + t->n_levels;
	memcpy(to->lo, row->lo, t->n_levels * sizeof *to->lo);
	memcpy(to->hi, row->hi, t->n_levels * sizeof *to->hi);
}

struct reader {
	struct maptree *t;
	const struct map *map;
	const struct map_key *key;
	bool is_ip4;
	struct maptree_row row; /* as far as it is filled */
};

static void read_dim(struct reader *r, const struct map_entry *e, unsigned dim, unsigned level);

static void read_part(struct reader *r, const struct map_entry *e, unsigned dim, unsigned level, struct map_span part)
{
	r->row.lo[level] = (uint64_t)(part.lo >> 64);
	r->row.hi[level] = (uint64_t)(part.hi >> 64);
	r->row.lo[level + 1] = (uint64_t)part.lo;
	r->row.hi[level + 1] = (uint64_t)part.hi;
	read_dim(r, e, dim + 1, level + 2);
}

/* lo..hi of two words: the edges, and what lies between them, are intervals in both. */
static void read_wide(struct reader *r, const struct map_entry *e, unsigned dim, unsigned level)
{
	u128 lo = e->key[dim].lo, hi = e->key[dim].hi, low = UINT64_MAX;

	if (lo >> 64 == hi >> 64) {
		read_part(r, e, dim, level, e->key[dim]);
		return;
	}
	if (lo & low) {
		read_part(r, e, dim, level, (struct map_span){ lo, lo | low });
		lo = (lo | low) + 1;
	}
	if ((hi & low) != low) {
		read_part(r, e, dim, level, (struct map_span){ hi & ~low, hi });
		hi = (hi & ~low) - 1;
	}
	if (lo <= hi) /* whole words: hi is not 0 here, or there would be one word only */
		read_part(r, e, dim, level, (struct map_span){ lo, hi });
}

static void read_dim(struct reader *r, const struct map_entry *e, unsigned dim, unsigned level)
{
	struct place p;
	u128 lo, hi;

	if (dim == r->map->n_dims) {
		r->row.outcome = e->outcome;
		add_row(r->t, &r->row);
		return;
	}
	p = maptree_place(r->key, dim, r->is_ip4);
	if (p.bits > 64) {
		read_wide(r, e, dim, level);
		return;
	}
	lo = e->key[dim].lo;
	hi = e->key[dim].hi;
	if (lo > ones(p.bits))
		return; /* no packet has it */
	r->row.lo[level] = (uint64_t)lo << p.shift | riding(&p);
	r->row.hi[level] = (hi > ones(p.bits) ? ones(p.bits) : (uint64_t)hi) << p.shift | riding(&p);
	read_dim(r, e, dim + 1, level + 1);
}

void maptree_read(struct arena *a, const struct map *m, const struct map_key *key, bool is_ip4, struct maptree *out)
{
	uint64_t lo[MAPTREE_LEVELS], hi[MAPTREE_LEVELS];
	struct reader r = { .t = out, .map = m, .key = key, .is_ip4 = is_ip4, .row = { .lo = lo, .hi = hi } };

	*out = (struct maptree){ .a = a, .is_indexed = true };
	for (unsigned i = 0; i < m->n_dims; i++)
		add_levels(out, key, i, is_ip4);
	for (size_t i = 0; i < m->entries.n; i++)
		read_dim(&r, &m->entries.v[i], 0, 0);
}

/* ---------- the tree ---------- */

static int by_levels(const void *x, const void *y, void *arg)
{
	const struct maptree_row *a = x, *b = y;
	const struct maptree *t = arg;

	for (unsigned k = 0; k < t->n_levels; k++) {
		if (a->lo[k] != b->lo[k])
			return a->lo[k] < b->lo[k] ? -1 : 1;
		if (a->hi[k] != b->hi[k])
			return a->hi[k] < b->hi[k] ? -1 : 1;
	}
	return 0;
}

/* Rows from `from` on that have its interval in the level. */
static size_t same_until(const struct maptree *t, size_t from, size_t end, unsigned level)
{
	size_t i = from + 1;

	while (i < end && t->row[i].lo[level] == t->row[from].lo[level] && t->row[i].hi[level] == t->row[from].hi[level])
		i++;
	return i;
}

/* Within rows that are equal in the levels before: are the intervals of this one equal or apart? */
static bool is_apart(const struct maptree *t, size_t from, size_t end, unsigned level)
{
	if (level == t->n_levels)
		return true;
	while (from < end) {
		size_t next = same_until(t, from, end, level);

		if (next < end && t->row[next].lo[level] <= t->row[from].hi[level])
			return false;
		if (!is_apart(t, from, next, level + 1))
			return false;
		from = next;
	}
	return true;
}

bool maptree_sort(struct maptree *t)
{
	if (t->n_rows)
		qsort_r(t->row, t->n_rows, sizeof *t->row, by_levels, t);
	return is_apart(t, 0, t->n_rows, 0);
}

struct grower {
	const struct maptree *t;
	struct code *c;
	const int *label;
	int miss;
};

static void grow(struct grower *g, size_t from, size_t end, unsigned level);

/* All rows have the same interval in this level. */
static void grow_one(struct grower *g, size_t from, size_t end, unsigned level)
{
	const struct maptree *t = g->t;
	const struct maptree_row *r = &t->row[from];
	struct code_atom atom = { t->level[level].word, t->level[level].mask, r->lo[level], r->hi[level] - r->lo[level] };
	int then;

	if (level + 1 == t->n_levels) {
		code_test(g->c, atom, g->label[r->outcome], g->miss);
		return;
	}
	then = code_label(g->c);
	code_test(g->c, atom, then, g->miss);
	code_put(g->c, then);
	grow(g, from, end, level + 1);
}

static void grow(struct grower *g, size_t from, size_t end, unsigned level)
{
	const struct maptree *t = g->t;
	size_t mid = from + (end - from) / 2, cut = same_until(t, from, end, level);
	int right;

	if (cut == end) {
		grow_one(g, from, end, level);
		return;
	}
	if (cut <= mid) { /* the interval at the middle begins there, or further left */
		for (cut = mid; t->row[cut - 1].lo[level] == t->row[mid].lo[level] && t->row[cut - 1].hi[level] == t->row[mid].hi[level];)
			cut--;
	}
	right = code_label(g->c);
	code_test(g->c, (struct code_atom){ t->level[level].word, t->level[level].mask, 0, t->row[cut].lo[level] - 1 }, CODE_NEXT, right);
	grow(g, from, cut, level);
	code_put(g->c, right);
	grow(g, cut, end, level);
}

void maptree_emit(const struct maptree *t, struct code *c, const int *label, int miss)
{
	struct grower g = { t, c, label, miss };

	if (t->n_rows)
		grow(&g, 0, t->n_rows, 0);
	else
		code_test(c, (struct code_atom){ DP_W_L4, 0, 1, 0 }, miss, miss);
}
