/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cuts: which slice of which dimension tells the rules of a node apart. Inside of the graph's builder. */
#ifndef WEIR_CLASSIFY_CUT_H
#define WEIR_CLASSIFY_CUT_H

#include "classify/graph.h"

struct cut_span {
	uint32_t lo, hi;
};

/* Only the dimensions that some rule narrows. */
struct cut_rules {
	const struct box_rule *rule;
	unsigned n_dims;
	uint8_t dim[BOX_DIMS];
	struct cut_span *span; /* [rule * n_dims + d] */
};

/* Part of the space: values from lo to hi, of which some bits are known. By d as above. */
struct cut_region {
	struct cut_span range[BOX_DIMS];
	uint32_t mask[BOX_DIMS], value[BOX_DIMS];
};

struct cut {
	int d; /* -1: none is worth it */
	unsigned shift, bits;
	uint32_t wide; /* rules that go to so many children more than one are wide */
	bool has_side;
	double score;
};

enum { CUT_LEAF = 6, CUT_MAX_BITS = 13 };

/* What looking among n rules costs, in steps. */
double cut_cost(double n);
struct cut cut_choose(const struct cut_rules *r, const uint32_t *id, size_t n, const struct cut_region *g, double budget);
/* The rule's span within the region. */
struct cut_span cut_clip(const struct cut_rules *r, uint32_t id, unsigned d, const struct cut_region *g);
/* How many children more than one. */
uint32_t cut_width(struct cut_span s, unsigned shift);

#endif
