/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cuts: which slice of which dimension tells the rules of a node apart. Inside of the graph's builder. */
#ifndef WEIR_CLASSIFY_CUT_H
#define WEIR_CLASSIFY_CUT_H

#include "classify/graph.h"

struct cut_span {
	uint32_t lo, hi;
};

/* Whom a rule hides, and who it is that may be hidden, besides their spans: | flags that are 0 | flags that are 1 | DP_HAS_* 16 |. */
struct cut_hides {
	uint32_t until; /* rules before this one, of keys that have ...; 0: none */
	uint32_t needs; /* ... these */
	uint32_t has;	/* what the keys that it matches have */
};

/*
 * What things cost, in steps. Where few rules are, the last two are low: their tables stay in the caches even if they are
 * larger than need be.
 */
struct cut_price {
	double leaf, entry; /* a leaf, each of its entries */
	double cut, slope;  /* more than a leaf can hold: one cut, and more for each doubling */
	double side;	    /* to go on at a side graph */
	double copies, words; /* copies of wide rules in all children, and other words, as shares of the budget */
	size_t pick_most; /* nodes of more rules try every slice by a large sample, which takes long */
};
extern const struct cut_price cut_price_few, cut_price_many;

/* Only the dimensions that some rule narrows. */
struct cut_rules {
	const struct cut_price *price;
	unsigned n_dims;
	uint8_t dim[BOX_DIMS];
	struct cut_span *span; /* [rule * n_dims + d] */
	struct cut_hides *hides;
};

/* What is known of a key in one dimension: it is in lo..hi, and has some bits. */
struct cut_known {
	uint32_t lo, hi, mask, value;
};

/* Part of the space; by d as above. */
struct cut_region {
	struct cut_known dim[BOX_DIMS];
};

struct cut {
	int d; /* -1: none is worth it */
	unsigned shift, bits;
	uint32_t wide; /* rules that go to so many children more than one are wide */
	bool has_side;
	double score;
};

enum { CUT_LEAF = 6, CUT_MAX_BITS = 13 };

struct cut cut_choose(const struct cut_rules *r, const uint32_t *id, size_t n, const struct cut_region *g, double budget);
/* The rule's span within the region. */
struct cut_span cut_clip(const struct cut_rules *r, uint32_t id, unsigned d, const struct cut_region *g);
/* The dimension that is cut, as child i knows it; false: nothing is in there. */
bool cut_child(const struct cut_known *whole, const struct cut *c, uint32_t i, struct cut_known *child);
/* How many children more than one. */
uint32_t cut_width(struct cut_span s, unsigned shift);

#endif
