/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks: a function of a field that is constant on few ranges, as words that the datapath walks (tables/classes.h).
 *
 * A walk begins with the field's upper bits. Each round takes the distance from a least value in steps of 2^shift; what lies
 * outside of n such steps shares one cell, so a round skips the bits that all ranges of its part have in common. All
 * values take the same number of rounds.
 */
#ifndef WEIR_CLASSIFY_WALK_H
#define WEIR_CLASSIFY_WALK_H

#include "classify/graph.h"

struct walk_field {
	const uint32_t *start; /* ascending, the first is 0 */
	const uint64_t *value; /* from start[i] on */
	size_t n;
	unsigned bits;
};

struct walk {
	uint64_t word; /* DP_CLASS_WALK; its base counts from `begin` */
	unsigned rounds;
};

/* False: it would be larger than a walk can be. */
bool walk_build(struct arena *scratch, const struct walk_field *f, struct words *w, size_t begin, struct walk *out);

#endif
