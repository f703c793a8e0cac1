/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Classes of one field: ranges of its values, and for each class the set of rules that may match there. Inside of the
 * builder of class tables.
 */
#ifndef WEIR_CLASSIFY_CLASSDIM_H
#define WEIR_CLASSIFY_CLASSDIM_H

#include "classify/classes.h"

/* Different sets of rules, numbered as they come; a rule is a bit. */
struct class_sets {
	struct arena *a;
	size_t words; /* of a set */
	uint64_t *v;
	size_t n, cap;
	uint32_t *slot; /* number + 1 */
	size_t n_slots;
};
void class_sets_open(struct class_sets *s, struct arena *a, size_t words);
uint32_t class_sets_add(struct class_sets *s, const uint64_t *set);
const uint64_t *class_sets_at(const struct class_sets *s, size_t i);

/* The rules, each with the bit that stands for it. */
struct class_rules {
	const struct class_rule *rule;
	const uint32_t *bit;
	const uint64_t *all; /* the set of all */
	size_t n, words;
};

struct class_dim {
	uint8_t word, shift, bits;
	uint8_t box_dim; /* BOX_DIMS: a slice of DP_W_L4, DP_W_DEV or DP_W_CT */
	uint32_t *start; /* of each range */
	uint32_t *class;
	size_t n;
	struct class_sets sets; /* by class */
};

enum { CLASS_DIMS = BOX_DIMS + 18 }; /* slices of eight bits of three words */

/* All fields that some rule narrows; returns how many. */
size_t class_dims(struct arena *a, const struct class_rules *r, struct class_dim dim[CLASS_DIMS]);

#endif
