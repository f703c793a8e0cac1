/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pairs as rows of bits. See pairs.h. */
#include "classify/pairs.h"

#include <string.h>

/* Bits that are not the same in the whole span. */
static uint32_t wild_of(struct cut_span s)
{
	uint32_t differ = s.lo ^ s.hi;

	return differ ? (uint32_t)((2ull << (31 - __builtin_clz(differ))) - 1) : 0;
}

/* So many low bits may take all values. */
static unsigned wild_bits(struct cut_span s)
{
	uint32_t more = s.hi - s.lo;

	return more ? 32u - (unsigned)__builtin_clz(more) : 0;
}

static void sort_by_wild(struct pairs *p, const struct cut_span *s, unsigned n, struct cut_span *sorted)
{
	uint8_t wild[PAIRS_RULES], next[36];

	memset(p->below, 0, sizeof p->below);
	for (unsigned i = 0; i < n; i++) {
		wild[i] = (uint8_t)wild_bits(s[i]);
		p->below[wild[i] + 1]++;
	}
	for (unsigned k = 1; k < sizeof p->below; k++)
		p->below[k] = (uint8_t)(p->below[k] + p->below[k - 1]);
	memcpy(next, p->below, sizeof next);
	for (unsigned i = 0; i < n; i++)
		sorted[next[wild[i]]++] = s[i];
}

/* 64 rows of 32 columns to 32 rows of 64: two squares side by side, turned in ever smaller blocks. */
static void transpose(const uint32_t *from, uint64_t *to)
{
	uint64_t mask = 0x0000ffff0000ffffull;

	for (unsigned i = 0; i < 32; i++)
		to[i] = from[i] | (uint64_t)from[i + 32] << 32;
	for (unsigned half = 16; half; half >>= 1, mask ^= mask << half)
		for (unsigned i = 0; i < 32; i = (i + half + 1) & ~half) {
			uint64_t swap = (to[i] >> half ^ to[i + half]) & mask;

			to[i + half] ^= swap;
			to[i] ^= swap << half;
		}
}

void pairs_take(struct pairs *p, const struct cut_span *s, unsigned n, uint32_t varies)
{
	struct cut_span sorted[PAIRS_RULES];
	uint32_t wild[PAIRS_RULES], apart[PAIRS_WORDS * 64];
	unsigned k = 0;

	sort_by_wild(p, s, n, sorted);
	for (unsigned j = 0; j < n; j++) {
		wild[j] = wild_of(sorted[j]);
		for (unsigned i = 0; i < j; i++)
			apart[k++] = (sorted[i].lo ^ sorted[j].lo) & ~(wild[i] | wild[j]) & varies;
	}
	p->n = n;
	p->n_words = (k + 63) / 64;
	for (; k < p->n_words * 64; k++)
		apart[k] = 0;
	for (unsigned w = 0; w < p->n_words; w++)
		transpose(apart + 64 * (size_t)w, p->apart[w]);
}

/* Rules are wide if they are so in so many of the slice's low bits. */
static unsigned wide_bits(unsigned bits)
{
	return bits <= 2 ? bits : bits <= 4 ? 3 : bits - 2;
}

unsigned pairs_narrow(const struct pairs *p, unsigned shift, unsigned bits)
{
	unsigned k = shift + wide_bits(bits);

	return p->below[k < 35 ? k : 35];
}

/* How many bits of the first n are set. */
static unsigned count_bits(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555ull;
	x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (unsigned)(x * 0x0101010101010101ull >> 56);
}

void pairs_count(const struct pairs *p, unsigned shift, unsigned bits, struct pairs_tally *t)
{
	unsigned narrow = pairs_narrow(p, shift, bits), left = narrow * (narrow - (narrow > 0)) / 2, meet = left;

	t->narrow = narrow;
	t->wide = p->n - narrow;
	t->extra = 0;
	for (unsigned k = shift + 1; k < shift + wide_bits(bits) && k < 35; k++)
		t->extra += ((1u << (k - shift)) - 1) * (unsigned)(p->below[k + 1] - p->below[k]);
	for (unsigned w = 0; left; w++) {
		uint64_t apart = 0;

		for (unsigned b = shift; b < shift + bits && b < 32; b++)
			apart |= p->apart[w][b];
		if (left < 64)
			apart &= (1ull << left) - 1;
		meet -= count_bits(apart);
		left -= left < 64 ? left : 64;
	}
	/* Two that share several children meet in each; here a pair is counted once, and again for each child too many. */
	t->pairs = meet + t->extra;
}
