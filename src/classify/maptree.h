/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The keys of a map as rows of compares, and as a tree of them. A level is one word of the packet's key under a mask; a value
 * of two words (an address of IPv6, the name of an interface) is two levels. An entry is an interval in each level; one whose
 * interval is none in each half becomes up to three rows.
 */
#ifndef WEIR_CLASSIFY_MAPTREE_H
#define WEIR_CLASSIFY_MAPTREE_H

#include "classify/place.h"
#include "policy/policy.h"

struct maptree_level {
	unsigned word;
	uint64_t mask;
};
enum { MAPTREE_LEVELS = 2 * MAP_MAX_DIMS };

struct maptree_row {
	uint32_t outcome;
	uint64_t *lo, *hi; /* of (word & mask), in each level */
};

struct maptree {
	struct arena *a;
	struct maptree_level level[MAPTREE_LEVELS];
	unsigned n_levels;
	struct maptree_row *row;
	size_t n_rows, cap;
	bool is_indexed; /* a lookup can tell all levels: addresses, protocol, ports */
};

/* Where value i of a key lies; bits of headers in words that are made of them. */
struct place maptree_place(const struct map_key *key, unsigned i, bool is_ip4);
/* All memory from a. */
void maptree_read(struct arena *a, const struct map *m, const struct map_key *key, bool is_ip4, struct maptree *out);
/* Sorts the rows. False: intervals of a level overlap without being equal, so that there is no tree. */
bool maptree_sort(struct maptree *t);
/* Goes to label[outcome] of the row that holds, or to miss. Needs the sorted rows. */
void maptree_emit(const struct maptree *t, struct code *c, const int *label, int miss);

#endif
