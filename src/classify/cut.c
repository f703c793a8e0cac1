/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Choosing a cut. A slice is good if few pairs of rules meet in one child; pairs are counted on a sample of the rules. The
 * score estimates the steps that are left: down to a child, and to the side graph if wide rules need one.
 *
 * Most nodes are small, so that is where the time goes. Up to PAIRS_RULES rules all pairs are looked at once for each
 * dimension (pairs.h), and a slice costs some dozens of instructions; nodes somewhat larger choose a few slices that way
 * and count the children of these.
 */
#include "classify/cut.h"

#include <string.h>

#include "classify/pairs.h"

enum { SAMPLE_MAX = 512, WIDTHS = 4, PICKS = 4 };

/* Found by trying on ClassBench sets; a step is somewhat more than a nanosecond. */
const struct cut_price cut_price_few = { .leaf = 8, .entry = 3.6, .cut = 6, .slope = 3.1, .side = 6.4, .copies = 0.85, .words = 0.8,
					     .pick_most = 64 };
const struct cut_price cut_price_many = { .leaf = 9, .entry = 1.3, .cut = 5, .slope = 2.2, .side = 12, .copies = 4, .words = 6,
					      .pick_most = 256 };

/* To a few percent; x >= 1: the exponent, and the mantissa as if the curve were straight. */
static double log_2(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return (double)bits / (double)(1ull << 52) - 1023;
}

/* What looking among n rules costs. */
static double cost_of(const struct cut_price *p, double n)
{
	if (n <= CUT_LEAF)
		return p->leaf + p->entry * n;
	return p->leaf + p->entry * CUT_LEAF + p->cut + p->slope * (log_2(n) - 2.58);
}

struct cut_span cut_clip(const struct cut_rules *r, uint32_t id, unsigned d, const struct cut_region *g)
{
	struct cut_span s = r->span[(size_t)id * r->n_dims + d];

	if (s.lo < g->dim[d].lo)
		s.lo = g->dim[d].lo;
	if (s.hi > g->dim[d].hi)
		s.hi = g->dim[d].hi;
	return s;
}

uint32_t cut_width(struct cut_span s, unsigned shift)
{
	return (s.hi >> shift) - (s.lo >> shift);
}

bool cut_child(const struct cut_known *whole, const struct cut *c, uint32_t i, struct cut_known *child)
{
	uint32_t mask = ((1u << c->bits) - 1) << c->shift, below = (1u << c->shift) - 1;

	*child = *whole;
	child->mask |= mask;
	child->value = (whole->value & ~mask) | i << c->shift;
	/* With all upper bits known its values lie side by side. */
	if (!(~whole->mask & ~mask & ~below)) {
		uint32_t lo = child->value & ~below, hi = lo | below;

		if (lo > child->lo)
			child->lo = lo;
		if (hi < child->hi)
			child->hi = hi;
	}
	return child->lo <= child->hi;
}

/* ---------- samples ---------- */

struct sample {
	struct cut_span span[SAMPLE_MAX]; /* those that are narrower than the region */
	unsigned n, n_all, full;
	double scale;	 /* rules for each one of the sample */
	uint32_t varies; /* bits in which they differ */
};

struct slice {
	unsigned d, shift, bits;
	uint32_t wide;
};

struct search {
	const struct cut_rules *r;
	const uint32_t *id;
	size_t n;
	const struct cut_region *g;
	double budget, budget_inverse;
	struct sample sample;
	struct cut best[PICKS]; /* the best first */
	unsigned n_best;	/* how many to find */
	unsigned max_wide;	/* with more wide rules of the sample a slice is worse than all of best[] */
	double max_wide_of;	/* the score that max_wide belongs to */
};

static void take_sample(struct search *t, unsigned most, unsigned d)
{
	struct sample *s = &t->sample;
	const struct cut_region *g = t->g;

	s->n = s->full = s->varies = 0;
	s->n_all = t->n < most ? (unsigned)t->n : most;
	s->scale = (double)t->n / s->n_all;
	for (unsigned i = 0; i < s->n_all; i++) {
		struct cut_span x = cut_clip(t->r, t->id[s->n_all == t->n ? i : (size_t)i * t->n / s->n_all], d, g);

		if (x.lo == g->dim[d].lo && x.hi == g->dim[d].hi) {
			s->full++;
			continue;
		}
		s->span[s->n++] = x;
		s->varies |= (x.lo ^ s->span[0].lo) | (x.hi ^ s->span[0].lo);
	}
	s->varies &= ~g->dim[d].mask;
}

/* ---------- scoring ---------- */

static unsigned count_max_wide(const struct cut_price *p, const struct sample *s, double best)
{
	unsigned m = s->n_all;

	while (m > s->full) {
		double wide = m * s->scale, here = cost_of(p, wide), side = p->leaf + p->side + here;

		if ((side < here ? side : here) < best)
			break;
		m -= m > 16 ? m / 8 : 1;
	}
	return m < s->full ? s->full : m;
}

static unsigned most_wide(struct search *t)
{
	double score = t->best[t->n_best - 1].score;

	if (score != t->max_wide_of) {
		t->max_wide = count_max_wide(t->r->price, &t->sample, score);
		t->max_wide_of = score;
	}
	return t->max_wide;
}

/* m: narrow rules in a child; extra: words and references that they cost more. */
static double score_wide(const struct search *t, double m, double wide, double fan, double extra, bool *has_side)
{
	const struct cut_price *p = t->r->price;
	double side = cost_of(p, m) + p->side + cost_of(p, wide), all = cost_of(p, m + wide), least;

	least = 0.9 * (p->side + cost_of(p, wide));
	if (wide < least)
		least = wide;
	if (cost_of(p, m) + least > all)
		all = cost_of(p, m) + least;
	all += p->copies * wide * fan / (t->budget + 1);
	*has_side = all > side || wide * fan + extra + 0.25 * fan > (t->budget - (double)t->n) / 2;
	return *has_side ? side : all;
}

static void keep_best(struct search *t, struct cut c)
{
	unsigned i = t->n_best - 1;

	if (c.score >= t->best[i].score)
		return;
	for (; i > 0 && t->best[i - 1].score > c.score; i--)
		t->best[i] = t->best[i - 1];
	t->best[i] = c;
}

static void score_slice(struct search *t, const struct slice *c, const struct pairs_tally *y)
{
	const struct sample *s = &t->sample;
	double narrow, crowd, m, extra, fan = 1u << c->bits, score, words;
	bool has_side = false;

	if (y->narrow < 2 || y->narrow < s->n_all * 0.1)
		return;
	crowd = y->pairs / (0.5 * y->narrow * (y->narrow - 1));
	narrow = y->narrow * s->scale;
	m = crowd > 1 ? narrow * 0.95 : 1 + crowd * (narrow - 1);
	extra = y->extra * s->scale;
	if (m > 0.9 * narrow || extra + 0.25 * fan > t->budget - (double)t->n + 8)
		return;
	score = cost_of(t->r->price, m);
	words = t->r->price->words * (extra + 0.25 * fan) * t->budget_inverse;
	if (score + words >= t->best[t->n_best - 1].score) /* wide rules make it no better */
		return;
	if (y->wide)
		score = score_wide(t, m, y->wide * s->scale, fan, extra, &has_side);
	keep_best(t, (struct cut){ (int)c->d, c->shift, c->bits, c->wide, has_side, score + words });
}

/* Counts the rules of the sample in each child. */
static void try_children(struct search *t, const struct slice *c)
{
	const struct sample *s = &t->sample;
	struct pairs_tally y = { .wide = s->full };
	uint16_t count[1 << CUT_MAX_BITS];
	uint32_t mask = (1u << c->bits) - 1;
	unsigned max_wide = most_wide(t);
	uint64_t pairs = 0, extra = 0;

	memset(count, 0, sizeof *count << c->bits);
	for (unsigned i = 0; i < s->n && y.wide <= max_wide; i++) {
		uint32_t more = cut_width(s->span[i], c->shift), first = s->span[i].lo >> c->shift;

		if (more >= c->wide) {
			y.wide++;
			continue;
		}
		y.narrow++;
		extra += more;
		for (uint32_t x = 0; x <= more; x++)
			pairs += count[(first + x) & mask]++;
	}
	y.pairs = (double)pairs;
	y.extra = (double)extra;
	if (y.wide <= max_wide)
		score_slice(t, c, &y);
}

static void try_pairs(struct search *t, const struct pairs *p, const struct slice *c)
{
	struct pairs_tally y;

	if (p->n + t->sample.full - pairs_narrow(p, c->shift, c->bits) > most_wide(t))
		return;
	pairs_count(p, c->shift, c->bits, &y);
	y.wide += t->sample.full;
	score_slice(t, c, &y);
}

/* ---------- the slices ---------- */

/* How many bits to try for n rules. */
static void widths_of(size_t n, unsigned width[WIDTHS])
{
	unsigned lg = 0, t;

	while (((size_t)1 << lg) < n)
		lg++;
	memset(width, 0, WIDTHS * sizeof *width);
	if (lg <= 4) {
		width[0] = 4;
		width[1] = 3;
		width[2] = 2;
	} else if (lg <= 6) {
		width[0] = 6;
		width[1] = 5;
		width[2] = 3;
	} else {
		t = lg + 1 > CUT_MAX_BITS ? CUT_MAX_BITS : lg + 1;
		width[0] = t;
		width[1] = t - 2;
		width[2] = t - 4;
		width[3] = t / 2;
	}
}

static void try_dim(struct search *t, const unsigned *width, unsigned d, const struct pairs *p)
{
	unsigned top = 31 - (unsigned)__builtin_clz(t->sample.varies), low = (unsigned)__builtin_ctz(t->sample.varies);
	unsigned field_bits = box_places[t->r->dim[d]].bits;

	for (unsigned w = 0; w < WIDTHS && width[w]; w++) {
		unsigned bits = width[w] < field_bits ? width[w] : field_bits, step = bits >= 9 ? 3 : bits >= 6 ? 2 : 1;
		struct slice c = { .d = d, .bits = bits, .wide = bits <= 1 ? 1 : bits == 2 ? 2 : bits <= 4 ? 4 : 1u << (bits - 3) };

		for (int shift = top + 1 > bits ? (int)(top + 1 - bits) : 0; shift >= 0 && (unsigned)shift + bits > low;
		     shift -= (int)step) {
			c.shift = (unsigned)shift;
			if (t->g->dim[d].mask >> shift & ((1u << bits) - 1))
				continue;
			if (p)
				try_pairs(t, p, &c);
			else
				try_children(t, &c);
		}
	}
}

static void start(struct search *t, unsigned n_best)
{
	t->n_best = n_best;
	for (unsigned i = 0; i < n_best; i++)
		t->best[i] = (struct cut){ .d = -1, .score = 1e30 };
}

static void search_dims(struct search *t, unsigned most, const unsigned *width, struct pairs *p)
{
	const struct sample *s = &t->sample;

	for (unsigned d = 0; d < t->r->n_dims; d++) {
		take_sample(t, most, d);
		t->max_wide_of = -1;
		if (s->n < 2 || s->n < s->n_all * 0.1 || !s->varies)
			continue;
		if (p)
			pairs_take(p, s->span, s->n, s->varies);
		try_dim(t, width, d, p);
	}
}

/* Of the slices found by few rules the best by more. */
static void count_picks(struct search *t)
{
	struct cut pick[PICKS];

	memcpy(pick, t->best, sizeof pick);
	start(t, 1);
	for (unsigned i = 0; i < PICKS && pick[i].d >= 0; i++) {
		struct slice c = { (unsigned)pick[i].d, pick[i].shift, pick[i].bits, pick[i].wide };

		take_sample(t, 96, c.d);
		t->max_wide_of = -1;
		try_children(t, &c);
	}
}

struct cut cut_choose(const struct cut_rules *r, const uint32_t *id, size_t n, const struct cut_region *g, double budget)
{
	struct search t = { .r = r, .id = id, .n = n, .g = g, .budget = budget, .budget_inverse = 1 / (budget + 1) };
	unsigned width[WIDTHS];
	struct pairs p;

	widths_of(n, width);
	start(&t, n <= PAIRS_RULES || n > r->price->pick_most ? 1 : PICKS);
	if (n > r->price->pick_most) {
		search_dims(&t, n > 4096 ? SAMPLE_MAX : 256, width, NULL);
	} else {
		search_dims(&t, PAIRS_RULES, width, &p);
		if (n > PAIRS_RULES)
			count_picks(&t);
	}
	return t.best[0];
}
