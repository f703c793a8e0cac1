/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Value sets in normal form: spans sorted, disjoint, not touching. Every function gives normal form back, so that two
 * sets are the same set exactly if their spans are the same. See valset.h.
 *
 *     {80-90, 22, 91}  ->  {22, 80-91}
 *
 * The largest value has no successor: "touching" is asked as lo - 1 == hi, and only of a lo above 0.
 */
#include "policy/valset.h"

#include <stdlib.h>

static int span_cmp(const void *x, const void *y)
{
	const struct valset_span *p = x, *q = y;

	return p->lo < q->lo ? -1 : p->lo > q->lo;
}

/* Joins sorted spans in place; returns how many are left. */
static uint32_t join(struct valset_span *v, size_t n)
{
	uint32_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (k && (v[i].lo == 0 || v[i].lo - 1 <= v[k - 1].hi)) {
			if (v[i].hi > v[k - 1].hi)
				v[k - 1].hi = v[i].hi;
		} else {
			v[k++] = v[i];
		}
	}
	return k;
}

struct valset valset_make(struct arena *a, const struct valset_span *v, size_t n)
{
	struct valset s = { 0 };
	bool is_sorted = true;

	if (n == 0)
		return s;
	s.span = arena_new(a, struct valset_span, n);
	memcpy(s.span, v, n * sizeof *v);
	for (size_t i = 1; i < n && is_sorted; i++)
		is_sorted = v[i - 1].lo <= v[i].lo;
	if (!is_sorted)
		qsort(s.span, n, sizeof *s.span, span_cmp);
	s.n = join(s.span, n);
	return s;
}

struct valset valset_one(struct arena *a, u128 lo, u128 hi)
{
	struct valset_span v = { lo, hi };

	return valset_make(a, &v, 1);
}

struct valset valset_union(struct arena *a, struct valset x, struct valset y)
{
	struct valset s = { 0 };
	uint32_t i = 0, j = 0, k = 0;

	if (x.n + y.n == 0)
		return s;
	s.span = arena_new(a, struct valset_span, x.n + y.n);
	while (i < x.n || j < y.n) {
		if (j == y.n || (i < x.n && x.span[i].lo <= y.span[j].lo))
			s.span[k++] = x.span[i++];
		else
			s.span[k++] = y.span[j++];
	}
	s.n = join(s.span, k);
	return s;
}

struct valset valset_complement(struct arena *a, struct valset x, u128 max)
{
	struct valset s = { .span = arena_new(a, struct valset_span, (size_t)x.n + 1) };
	u128 from = 0;

	for (uint32_t i = 0; i < x.n; i++) {
		if (x.span[i].lo > max)
			break;
		if (x.span[i].lo > from)
			s.span[s.n++] = (struct valset_span){ from, x.span[i].lo - 1 };
		if (x.span[i].hi >= max)
			return s;
		from = x.span[i].hi + 1;
	}
	s.span[s.n++] = (struct valset_span){ from, max };
	return s;
}

/* Index of the first span whose end is not below v, or n. */
static uint32_t first_not_below(const struct valset *s, u128 v)
{
	uint32_t lo = 0, hi = s->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->span[mid].hi < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

bool valset_has(const struct valset *s, u128 v)
{
	uint32_t i = first_not_below(s, v);

	return i < s->n && s->span[i].lo <= v;
}

bool valset_eq(const struct valset *x, const struct valset *y)
{
	if (x->n != y->n)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->span[i].lo != y->span[i].lo || x->span[i].hi != y->span[i].hi)
			return false;
	return true;
}

bool valset_covers(const struct valset *big, const struct valset *small)
{
	for (uint32_t i = 0; i < small->n; i++) {
		uint32_t j = first_not_below(big, small->span[i].lo);

		if (j == big->n || big->span[j].lo > small->span[i].lo ||
		    big->span[j].hi < small->span[i].hi)
			return false;
	}
	return true;
}
