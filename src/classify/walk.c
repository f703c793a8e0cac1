/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Building walks: the fewest rounds that do with few words. See walk.h. */
#include "classify/walk.h"

#include <string.h>

#include "tables/classes.h"

/* Words that a walk may have, besides so many for each range, before another round is thought to be better. */
enum { ENOUGH = 1024, ENOUGH_A_RANGE = 16, NEVER = 1 << 28 };

/* Values lo..hi, which begin in range i and end in range j. */
struct part {
	uint32_t lo, hi;
	size_t i, j;
};

struct way {
	uint32_t least, n; /* cells 0..n-1; what is outside: cell n */
	unsigned shift;
	uint32_t cost; /* words */
};

struct pass { /* a row of cells that leads to a value in so many rounds */
	uint64_t value;
	unsigned rounds;
	uint32_t at;
};

struct grow {
	const struct walk_field *f;
	struct words *w;
	size_t base;
	struct arena *scratch;
	struct pass *pass;
	size_t n_slots;
	bool is_beyond;
};

static unsigned trailing(uint32_t x)
{
	return x ? (unsigned)__builtin_ctz(x) : 31;
}

static unsigned width(uint32_t x)
{
	return x ? 32 - (unsigned)__builtin_clz(x) : 0;
}

static void better(struct way *best, struct way w)
{
	if (w.n <= DP_CLASS_CHILDREN && w.shift < 32 && w.cost < best->cost)
		*best = w;
}

/* Do all values of lo..least-1 get to cell n? */
static bool is_left_outside(struct way w, uint32_t lo)
{
	return w.least == lo || ((0x100000000ull - (w.least - lo)) >> w.shift) >= w.n;
}

/* ---------- the last round: every cell is in one range ---------- */

static uint32_t steps_of(const struct walk_field *f, const struct part *p, uint32_t from)
{
	uint32_t bits = 0;

	for (size_t k = p->i + 1; k <= p->j; k++)
		bits |= f->start[k] - from;
	return bits;
}

static struct way last_way(const struct walk_field *f, const struct part *p)
{
	uint32_t first = f->start[p->i + 1], last = f->start[p->j];
	struct way best = { .cost = NEVER }, w;

	/* from the part's beginning; its end is outside */
	w = (struct way){ .least = p->lo, .shift = trailing(steps_of(f, p, p->lo)) };
	w.n = (last - p->lo) >> w.shift;
	w.cost = w.n + 1;
	better(&best, w);
	/* from the first change to the last; both ends are outside */
	w = (struct way){ .least = first, .shift = trailing(steps_of(f, p, first)) };
	w.n = (last - first) >> w.shift;
	w.cost = w.n + 1;
	if (f->value[p->i] == f->value[p->j] && p->j > p->i + 1 && is_left_outside(w, p->lo))
		better(&best, w);
	/* from the first change to the part's end; its beginning is outside */
	if (p->j == p->i + 1)
		w.shift = width(p->hi - first);
	w.n = ((p->hi - first) >> w.shift) + 1;
	w.cost = w.n + 1;
	if (is_left_outside(w, p->lo))
		better(&best, w);
	return best;
}

/* ---------- rounds before it ---------- */

static struct way best_way(const struct walk_field *f, const struct part *p, unsigned rounds, uint32_t most);

/* Cell c of a way, from range *i on, which is left at the range where the cell ends. */
static struct part cell_part(const struct walk_field *f, const struct part *p, struct way w, uint32_t c, size_t *i)
{
	uint64_t lo = w.least + ((uint64_t)c << w.shift), hi = lo + (1ull << w.shift) - 1;
	struct part x = { .lo = lo < p->lo ? p->lo : (uint32_t)lo, .hi = hi > p->hi ? p->hi : (uint32_t)hi };

	while (*i < p->j && f->start[*i + 1] <= x.lo)
		++*i;
	x.i = *i;
	while (*i < p->j && f->start[*i + 1] <= x.hi)
		++*i;
	x.j = *i;
	return x;
}

/* What lies outside, the hole taken as part of its left side. */
static bool outside_part(const struct walk_field *f, const struct part *p, struct way w, uint32_t *change)
{
	uint64_t end = w.least + ((uint64_t)w.n << w.shift);

	*change = (uint32_t)end;
	return w.least > p->lo && end <= p->hi && f->value[p->i] != f->value[p->j];
}

static uint32_t cost_of(const struct walk_field *f, const struct part *p, unsigned rounds, struct way w, uint32_t most)
{
	uint32_t cost = w.n + 1, change;
	size_t i = p->i;

	if (outside_part(f, p, w, &change))
		cost += 2;
	while (i < p->j && cost < most) {
		uint32_t c = (f->start[i + 1] - w.least) >> w.shift;
		struct part x;

		if (c >= w.n)
			break;
		x = cell_part(f, p, w, c, &i);
		if (x.i < x.j)
			cost += best_way(f, &x, rounds - 1, most - cost).cost;
	}
	return cost < most ? cost : NEVER;
}

static struct way best_way(const struct walk_field *f, const struct part *p, unsigned rounds, uint32_t most)
{
	uint32_t first = f->start[p->i + 1], last = f->start[p->j];
	struct way best = { .cost = most };

	if (rounds == 1)
		return last_way(f, p);
	for (int shift = (int)width(last - first); shift >= 0; shift--) {
		struct way w = { .shift = (unsigned)shift };
		uint32_t below = (uint32_t)((1ull << shift) - 1);

		if (shift > 31)
			continue;
		w.least = first & ~below;
		w.n = ((last - 1 - w.least) >> shift) + 1;
		if (w.n > DP_CLASS_CHILDREN || w.n >= best.cost)
			break;
		if (w.least < p->lo ? false : !is_left_outside(w, p->lo))
			continue;
		w.cost = cost_of(f, p, rounds, w, best.cost);
		better(&best, w);
	}
	return best;
}

/* ---------- writing ---------- */

static uint64_t round_word(const struct grow *b, struct way w, size_t at)
{
	return DP_CLASS_ROUND(at - b->base + w.n, w.n, w.shift, w.least);
}

static size_t room_for(struct grow *b, size_t n)
{
	size_t at = words_add(b->w, n);

	b->is_beyond |= b->w->n - b->base > DP_CLASS_CELLS;
	return at;
}

/* The word of a cell from which every value leads to this one. */
static uint64_t pass_to(struct grow *b, uint64_t value, unsigned rounds)
{
	uint64_t next;
	size_t slot;

	if (rounds == 0)
		return value;
	slot = ((value + rounds) * 0x9e3779b97f4a7c15ull >> 32) & (b->n_slots - 1);
	for (; b->pass[slot].rounds; slot = (slot + 1) & (b->n_slots - 1))
		if (b->pass[slot].value == value && b->pass[slot].rounds == rounds)
			return round_word(b, (struct way){ 0 }, b->base + b->pass[slot].at);
	next = pass_to(b, value, rounds - 1);
	slot = ((value + rounds) * 0x9e3779b97f4a7c15ull >> 32) & (b->n_slots - 1);
	while (b->pass[slot].rounds)
		slot = (slot + 1) & (b->n_slots - 1);
	b->pass[slot] = (struct pass){ value, rounds, (uint32_t)(room_for(b, 1) - b->base) };
	b->w->v[b->base + b->pass[slot].at] = next;
	return round_word(b, (struct way){ 0 }, b->base + b->pass[slot].at);
}

static uint64_t put_part(struct grow *b, const struct part *p, unsigned rounds);

static uint64_t put_outside(struct grow *b, const struct part *p, struct way w, unsigned rounds)
{
	struct way two = { .n = 1 };
	uint64_t right, left;
	uint32_t change;
	size_t at;

	if (!outside_part(b->f, p, w, &change))
		return pass_to(b, b->f->value[w.least > p->lo ? p->i : p->j], rounds);
	two.least = change;
	two.shift = width(p->hi - change);
	b->is_beyond |= two.shift > 31 || !is_left_outside(two, p->lo);
	at = room_for(b, 2);
	/* The words may move while more are added: no place among them is taken before. */
	right = pass_to(b, b->f->value[p->j], rounds - 1);
	left = pass_to(b, b->f->value[p->i], rounds - 1);
	b->w->v[at] = right;
	b->w->v[at + 1] = left;
	return round_word(b, two, at);
}

static uint64_t put_part(struct grow *b, const struct part *p, unsigned rounds)
{
	struct way w;
	size_t at, i = p->i;
	uint64_t outside;

	if (p->i == p->j || b->is_beyond)
		return pass_to(b, b->f->value[p->i], rounds);
	w = best_way(b->f, p, rounds, NEVER);
	b->is_beyond |= w.cost >= NEVER;
	if (b->is_beyond)
		return 0;
	at = room_for(b, w.n + 1);
	for (uint32_t c = 0; c < w.n; c++) {
		struct part x = cell_part(b->f, p, w, c, &i);
		uint64_t d = x.i == x.j || rounds > 1 ? put_part(b, &x, rounds - 1) : 0;

		b->is_beyond |= x.i != x.j && rounds == 1;
		b->w->v[at + c] = d;
	}
	outside = put_outside(b, p, w, rounds - 1);
	b->w->v[at + w.n] = outside;
	return round_word(b, w, at);
}

/* ---------- the whole ---------- */

static uint32_t cost_of_root(const struct walk_field *f, const struct part *all, unsigned shift, unsigned rounds)
{
	struct way root = { .shift = shift, .n = (uint32_t)(1ull << (f->bits - shift)) };

	if (rounds > 0)
		return cost_of(f, all, rounds + 1, root, NEVER);
	for (size_t i = 1; i < f->n; i++)
		if (f->start[i] & ((1ull << shift) - 1))
			return NEVER;
	return root.n;
}

/* The fewest rounds that are not too dear; returns how many, with the first shift. */
static unsigned choose(const struct walk_field *f, const struct part *all, unsigned *shift)
{
	static const unsigned roots[] = { 2, 4, 6, 8, 10 };
	uint32_t enough = ENOUGH + ENOUGH_A_RANGE * (uint32_t)f->n, least = NEVER;
	unsigned rounds;

	for (rounds = 0; rounds <= DP_CLASS_ROUNDS; rounds++) {
		for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
			unsigned bits = roots[i] > f->bits ? f->bits : roots[i];
			uint32_t cost = cost_of_root(f, all, f->bits - bits, rounds);

			if (cost < least) {
				least = cost;
				*shift = f->bits - bits;
			}
		}
		if (least <= enough || (rounds == 0 && least < NEVER) || rounds == DP_CLASS_ROUNDS)
			break;
	}
	return rounds;
}

bool walk_build(struct arena *scratch, const struct walk_field *f, struct words *w, size_t begin, struct walk *out)
{
	struct grow b = { .f = f, .w = w, .scratch = scratch, .n_slots = 64 };
	struct part all = { 0, (uint32_t)((1ull << f->bits) - 1), 0, f->n - 1 };
	struct way root = { 0 };
	size_t i = 0;

	while (b.n_slots < 8 * f->n)
		b.n_slots *= 2;
	b.pass = arena_new(scratch, struct pass, b.n_slots);
	out->rounds = choose(f, &all, &root.shift);
	root.n = (uint32_t)(1ull << (f->bits - root.shift));
	b.base = words_add(w, root.n);
	for (uint32_t c = 0; c < root.n && !b.is_beyond; c++) {
		struct part x = cell_part(f, &all, root, c, &i);
		uint64_t d = x.i == x.j || out->rounds ? put_part(&b, &x, out->rounds) : 0;

		b.is_beyond |= x.i != x.j && !out->rounds;
		w->v[b.base + c] = d;
	}
	out->word = DP_CLASS_WALK(b.base - begin, root.shift, out->rounds);
	return !b.is_beyond;
}
