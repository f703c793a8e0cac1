/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pairs of rules and the bits that tell them apart. Inside of the graph's builder.
 *
 * For each bit of a dimension one row, in it one bit for each pair: set if neither rule is wild there and they differ. A slice
 * of bits tells apart what the rows of its bits together do, so it is judged by a few OR and a count of bits:
 *
 *     rules  a 0011, b 0101, c 01**       pairs (ab, ac, bc)
 *     bit 2: ab 1, ac 1, bc 0             slice of bits 2..1: all but bc
 *     bit 1: ab 1, ac 0, bc 0
 *
 * A rule's span is taken as the least prefix that holds it, so a range may look a little wilder than it is. Rules lie in the
 * order of how many of their low bits are wild; then those that are narrow in a slice, and their pairs, come first.
 */
#ifndef WEIR_CLASSIFY_PAIRS_H
#define WEIR_CLASSIFY_PAIRS_H

#include "classify/cut.h"

enum { PAIRS_RULES = 32, PAIRS_WORDS = (PAIRS_RULES * (PAIRS_RULES - 1) / 2 + 63) / 64 };

struct pairs {
	unsigned n, n_words;
	uint64_t apart[PAIRS_WORDS][32]; /* by bit of the dimension */
	uint8_t below[36];		 /* [k]: rules with less than k wild bits */
};

/* What a slice does to the rules of a sample. */
struct pairs_tally {
	unsigned narrow, wide;
	double pairs; /* of narrow ones that meet in a child */
	double extra; /* children of the narrow ones, more than one each */
};

/* n <= PAIRS_RULES; bits outside of `varies` are not needed. */
void pairs_take(struct pairs *p, const struct cut_span *s, unsigned n, uint32_t varies);
/* Rules that do not go to too many children. */
unsigned pairs_narrow(const struct pairs *p, unsigned shift, unsigned bits);
void pairs_count(const struct pairs *p, unsigned shift, unsigned bits, struct pairs_tally *t);

#endif
