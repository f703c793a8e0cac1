/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Choosing a cut. A slice is good if few pairs of rules meet in one child; pairs are counted on a sample of the rules. The
 * score estimates the steps that are left: down to a child, and to the side graph if wide rules need one.
 */
#include "classify/cut.h"

#include <string.h>

enum { SAMPLE_MAX = 512, WIDTHS = 4, PLANES = 7 };
static const double side_cost = 12, slope = 2.2;

/* To a few percent. */
static double log_2(double x)
{
	int e = 0;

	for (; x >= 2; x /= 2)
		e++;
	return e + x - 1;
}

double cut_cost(double n)
{
	if (n <= CUT_LEAF)
		return 9 + 1.3 * n;
	return 9 + 1.3 * CUT_LEAF + 5 + slope * (log_2(n) - 2.58);
}

struct cut_span cut_clip(const struct cut_rules *r, uint32_t id, unsigned d, const struct cut_region *g)
{
	struct cut_span s = r->span[(size_t)id * r->n_dims + d];

	if (s.lo < g->range[d].lo)
		s.lo = g->range[d].lo;
	if (s.hi > g->range[d].hi)
		s.hi = g->range[d].hi;
	return s;
}

uint32_t cut_width(struct cut_span s, unsigned shift)
{
	return (s.hi >> shift) - (s.lo >> shift);
}

/* ---------- counting pairs ---------- */

struct sample {
	struct cut_span span[SAMPLE_MAX]; /* those that are narrower than the region */
	unsigned n, n_all, full;
	double scale;	/* rules for each one of the sample */
	uint32_t varies; /* bits in which they differ */
};

struct tally {
	unsigned narrow, wide;
	double pairs, refs;
};

struct slice {
	unsigned d, shift, bits;
	uint32_t wide;
};

/* Up to 64 children and 64 rules: how often each child is named as a column of bits, seven planes high. */
static void tally_planes(const struct sample *s, const struct slice *c, unsigned max_wide, struct tally *t)
{
	uint64_t plane[PLANES] = { 0 }, full = c->bits == 6 ? ~0ull : (1ull << (1u << c->bits)) - 1;
	double squares = 0;

	for (unsigned i = 0; i < s->n && t->wide <= max_wide; i++) {
		uint32_t more = cut_width(s->span[i], c->shift), first = s->span[i].lo >> c->shift & ((1u << c->bits) - 1);
		uint64_t m;

		if (more >= c->wide) {
			t->wide++;
			continue;
		}
		t->narrow++;
		t->refs += more + 1;
		m = (((2ull << more) - 1) << first) & full;
		for (unsigned p = 0; p < PLANES; p++) {
			uint64_t carry = plane[p] & m;

			plane[p] ^= m;
			m = carry;
		}
	}
	for (unsigned i = 0; i < PLANES; i++) {
		squares += (double)((uint64_t)__builtin_popcountll(plane[i]) << 2 * i);
		for (unsigned j = 0; j < i; j++)
			squares += (double)((uint64_t)__builtin_popcountll(plane[i] & plane[j]) << (i + j + 1));
	}
	t->pairs = squares > t->refs ? (squares - t->refs) / 2 : 0;
}

static void tally_children(const struct sample *s, const struct slice *c, unsigned max_wide, struct tally *t)
{
	uint16_t count[1 << CUT_MAX_BITS];
	uint32_t mask = (1u << c->bits) - 1;

	memset(count, 0, sizeof *count << c->bits);
	for (unsigned i = 0; i < s->n && t->wide <= max_wide; i++) {
		uint32_t more = cut_width(s->span[i], c->shift), first = s->span[i].lo >> c->shift;

		if (more >= c->wide) {
			t->wide++;
			continue;
		}
		t->narrow++;
		t->refs += more + 1;
		for (uint32_t x = 0; x <= more; x++)
			t->pairs += count[(first + x) & mask]++;
	}
}

static void take_sample(struct sample *s, const struct cut_rules *r, const uint32_t *id, size_t n, const struct cut_region *g,
			unsigned d)
{
	unsigned most = n > 4096 ? SAMPLE_MAX : n > 1024 ? 256 : n > 256 ? 96 : 64;

	s->n = s->full = s->varies = 0;
	s->n_all = n < most ? (unsigned)n : most;
	s->scale = (double)n / s->n_all;
	for (unsigned i = 0; i < s->n_all; i++) {
		struct cut_span x = cut_clip(r, id[s->n_all == n ? i : (size_t)i * n / s->n_all], d, g);

		if (x.lo == g->range[d].lo && x.hi == g->range[d].hi) {
			s->full++;
			continue;
		}
		s->span[s->n++] = x;
		s->varies |= (x.lo ^ s->span[0].lo) | (x.hi ^ s->span[0].lo);
	}
	s->varies &= ~g->mask[d];
}

/* ---------- scoring ---------- */

/* With more wide rules than this the slice cannot beat the best one. */
static unsigned most_wide(const struct sample *s, double best)
{
	unsigned m = s->n_all;

	while (m > s->full) {
		double wide = m * s->scale, side = 9 + side_cost + cut_cost(wide), here = cut_cost(wide);

		if ((side < here ? side : here) < best)
			break;
		m -= m > 16 ? m / 8 : 1;
	}
	return m < s->full ? s->full : m;
}

static double score_wide(double m, double wide, double fan, double extra, double n, double budget, bool *has_side)
{
	double side = cut_cost(m) + side_cost + cut_cost(wide), all = cut_cost(m + wide), least;

	least = 0.9 * (side_cost + cut_cost(wide));
	if (wide < least)
		least = wide;
	if (cut_cost(m) + least > all)
		all = cut_cost(m) + least;
	all += 4 * wide * fan / (budget + 1);
	*has_side = all > side || wide * fan + extra + 0.25 * fan > (budget - n) / 2;
	return *has_side ? side : all;
}

static void try_slice(const struct sample *s, const struct slice *c, size_t n, double budget, struct cut *best)
{
	struct tally t = { .wide = s->full };
	unsigned max_wide = most_wide(s, best->score);
	double narrow, crowd, m, extra, fan = 1u << c->bits, score;
	bool has_side = false;

	if (c->bits <= 6 && s->n <= 64)
		tally_planes(s, c, max_wide, &t);
	else
		tally_children(s, c, max_wide, &t);
	if (t.wide > max_wide || t.narrow < 2 || t.narrow < s->n_all * 0.1)
		return;
	crowd = t.pairs / (0.5 * t.narrow * (t.narrow - 1));
	narrow = t.narrow * s->scale;
	m = crowd > 1 ? narrow * 0.95 : 1 + crowd * (narrow - 1);
	extra = (t.refs - t.narrow) * s->scale;
	if (m > 0.9 * narrow || extra + 0.25 * fan > budget - (double)n + 8)
		return;
	score = t.wide ? score_wide(m, t.wide * s->scale, fan, extra, (double)n, budget, &has_side) : cut_cost(m);
	score += 6 * (extra + 0.25 * fan) / (budget + 1);
	if (score < best->score)
		*best = (struct cut){ (int)c->d, c->shift, c->bits, c->wide, has_side, score };
}

static void try_widths(const struct sample *s, const unsigned *width, unsigned d, size_t n, const struct cut_region *g,
		       double budget, unsigned field_bits, struct cut *best)
{
	unsigned top = 31 - (unsigned)__builtin_clz(s->varies), low = (unsigned)__builtin_ctz(s->varies);

	for (unsigned w = 0; w < WIDTHS && width[w]; w++) {
		unsigned bits = width[w] < field_bits ? width[w] : field_bits, step = bits >= 9 ? 3 : bits >= 6 ? 2 : 1;
		struct slice c = { .d = d, .bits = bits, .wide = bits <= 1 ? 1 : bits == 2 ? 2 : bits <= 4 ? 4 : 1u << (bits - 3) };

		for (int shift = top + 1 > bits ? (int)(top + 1 - bits) : 0; shift >= 0 && (unsigned)shift + bits > low;
		     shift -= (int)step) {
			c.shift = (unsigned)shift;
			if (!(g->mask[d] >> shift & ((1u << bits) - 1)))
				try_slice(s, &c, n, budget, best);
		}
	}
}

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

struct cut cut_choose(const struct cut_rules *r, const uint32_t *id, size_t n, const struct cut_region *g, double budget)
{
	struct cut best = { .d = -1, .score = 1e30 };
	unsigned width[WIDTHS];
	struct sample s;

	widths_of(n, width);
	for (unsigned d = 0; d < r->n_dims; d++) {
		take_sample(&s, r, id, n, g, d);
		if (s.n >= 2 && s.n >= s.n_all * 0.1 && s.varies)
			try_widths(&s, width, d, n, g, budget, box_places[r->dim[d]].bits, &best);
	}
	return best;
}
