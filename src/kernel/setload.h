/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sets of a load. A set that the files declare as they did before, name, options and elements, stays as it is, with
 * what came and went since; every other one is made anew beside it, and the new rules mean the new one. So nothing
 * changes before the flip, and everything with it. What is not meant any more goes when the old rules are known not to
 * come back.
 */
#ifndef WEIR_KERNEL_SETLOAD_H
#define WEIR_KERNEL_SETLOAD_H

#include "classify/tables.h"
#include "kernel/setmap.h"

enum setload_fate { SETLOAD_NEW, SETLOAD_KEPT, SETLOAD_REPLACED };

struct setload_set {
	const struct set *set;
	enum setload_fate fate;
	bool has_changes; /* elements had come or gone at run time: KEPT has them still, REPLACED has not; the file wins */
	size_t n_elems;	   /* before any packet */
};

struct setload {
	VEC(struct setload_set) sets;
	uint64_t words; /* of all sets together, old ones that stay included; as far as can be told before */
	uint64_t spare; /* words for what may come at run time */
	bool fits;	/* into the image of the active slot */
	bool has_image; /* the active slot has one that can be read */
};

/* What will become of the sets: nothing is touched. active: NULL, or the info of the rules in use. */
int setload_plan(struct arena *a, const struct pins *p, const struct info *active, const struct ruleset *rs,
		 const struct tables *t, struct setload *out, struct refusal *why);
/*
 * Makes what is new, for rules of this serial, in the map `fd` of 2^log2 words, and tells the tables the numbers of their
 * sets. from: -1, or the map of the active slot, 2^from_log2 words, of which fd becomes a copy first. is_empty: there is
 * no image in fd. -ENOSPC with why: an image that seemed large enough is not.
 */
struct setload_target {
	int fd, from;
	uint32_t log2, from_log2;
	uint32_t active_serial, serial;
	bool is_empty;
};
int setload_make(struct arena *a, struct setload *s, const struct setload_target *to, struct tables *t, struct refusal *why);

#endif
