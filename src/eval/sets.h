/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Named sets as the evaluator holds them: what the file declared, indexed, and what a packet asks. */
#ifndef WEIR_EVAL_SETS_H
#define WEIR_EVAL_SETS_H

#include "eval/walk.h"

/* A declared set. Chains of elements with equal key hang at slot[hash]. */
struct set_index {
	const struct set *set;
	bool is_list, is_bitmap, is_bitmap_port, is_hash_ip, has_nets, has_iface;
	bool plen_used[SET_MAX_DIMS][129];
	unsigned plen_max[SET_MAX_DIMS]; /* the longest prefix that was declared, or of a host if there is none */
	uint32_t *slot, *next;		 /* 1 + index of an element */
	uint32_t n_slots;
};

/* What the packet has for one dimension. */
struct set_dim_value {
	enum eval_truth is_there; /* UNKNOWN: nobody knows */
	bool is_known;
	u128 v;
	const char *what;
};

struct sets {
	struct set_index *index; /* by set.id */
	size_t n;
};

struct set_index *sets_index(const struct eval *e, const struct set *s);
void index_make(struct arena *a, struct set_index *ix, const struct set *s);
/* First declared element with these values, from element `from` (0: the first); UINT32_MAX: none. */
uint32_t index_find(const struct set_index *ix, const struct set_elem *key, uint32_t from);
unsigned index_bits(const struct set *s, unsigned dim); /* how long a prefix of this dimension may be */
bool index_has_prefixes(const struct set_index *ix, unsigned dim); /* its elements are prefixes */
void index_by_field(struct set_index *ix);
void index_mask(const struct set_index *ix, struct set_elem *el); /* to the form in which it is stored */

/* ---------- dims.c ---------- */
/* All dimensions, at full length. NO: one is absent; UNKNOWN: one is not known; *what says which. May choose, by field. */
enum eval_truth dims_read(struct walk *w, const struct set_index *ix, const struct set_use *use, struct set_elem *el,
			  const char **what);

#endif
