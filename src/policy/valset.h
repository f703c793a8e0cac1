/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Value sets: sets of numbers of up to 128 bits as spans in normal form: sorted, disjoint, not touching, ends
 * inside. {22, 80-90, 443}. Host order.
 */
#ifndef WEIR_POLICY_VALSET_H
#define WEIR_POLICY_VALSET_H

#include "base/arena.h"
#include "policy/field.h"

struct valset_span {
	u128 lo, hi;
};

struct valset {
	struct valset_span *span;
	uint32_t n;
};

/* Any spans in any order, lo <= hi each; v is not kept. Time O(n log n). */
struct valset valset_make(struct arena *a, const struct valset_span *v, size_t n);
struct valset valset_one(struct arena *a, u128 lo, u128 hi);
struct valset valset_union(struct arena *a, struct valset x, struct valset y);
struct valset valset_complement(struct arena *a, struct valset x, u128 max); /* within 0..max */
bool valset_has(const struct valset *s, u128 v); /* O(log n) */
bool valset_eq(const struct valset *x, const struct valset *y);
bool valset_covers(const struct valset *big, const struct valset *small);

#endif
