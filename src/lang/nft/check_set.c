/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Elements that overlap. Of plain sets in rules nft makes one of them; of sets with a name (without auto-merge), of maps and
 * of concatenations it refuses them, because nobody could tell which one is meant.
 *
 *     { 192.0.2.0/24 : accept, 192.0.2.7 : drop }     192.0.2.7 lies within 192.0.2.0/24
 *
 * Elements are sorted by their first dimension; each is compared with those before it that reach as far. Time O(n log n + k), k
 * the pairs that meet in the first dimension, of which at most MOST_PAIRS are looked at.
 */
#include "lang/nft/check.h"

#include <stdlib.h>

enum { MOST_PAIRS = 1000000, MOST_TOLD = 20 };

struct key {
	const struct nft_elem *elem;
	u128 lo, hi; /* of the first dimension */
};

static const struct nft_expr *dim(const struct nft_elem *e, uint32_t i)
{
	return e->key->kind == NFT_CONCAT ? e->key->part[i] : e->key;
}

static bool is_number(const struct nft_expr *e)
{
	return e->kind == NFT_NUMBER || e->kind == NFT_RANGE || e->kind == NFT_PREFIX;
}

static bool meet(const struct nft_expr *x, const struct nft_expr *y)
{
	if (is_number(x) && is_number(y))
		return x->lo <= y->hi && y->lo <= x->hi;
	return x->kind == NFT_TEXT && y->kind == NFT_TEXT && str_eq(x->text, y->text) && x->is_prefix == y->is_prefix;
}

/* Do both elements have a packet? The same element twice says nothing new, unless it is to do two things. */
static bool overlap(const struct nft_elem *x, const struct nft_elem *y, uint32_t n, struct arena *a)
{
	bool is_same = true;

	for (uint32_t i = 0; i < n; i++) {
		const struct nft_expr *p = dim(x, i), *q = dim(y, i);

		if (!meet(p, q))
			return false;
		is_same &= p->lo == q->lo && p->hi == q->hi;
	}
	if (!is_same)
		return true;
	return x->data && y->data && !str_eq(nft_print_expr(a, x->data), nft_print_expr(a, y->data));
}

static int cmp_key(const void *x, const void *y)
{
	const struct key *p = x, *q = y;

	if (p->lo != q->lo)
		return p->lo < q->lo ? -1 : 1;
	return p->elem->at.off < q->elem->at.off ? -1 : 1;
}

static void tell(struct arena *a, struct diags *d, const struct nft_elem *x, const struct nft_elem *y)
{
	bool is_first = x->at.source == y->at.source ? x->at.off < y->at.off : x->at.source < y->at.source;
	const struct nft_elem *early = is_first ? x : y, *late = is_first ? y : x;

	diag_error(d, late->key->at, "%.*s overlaps %.*s (%.*s)", STR_ARG(nft_print_expr(a, late->key)),
		   STR_ARG(nft_print_expr(a, early->key)), STR_ARG(source_name_line(a, d->sources, early->at)));
}

void nft_check_overlap(struct arena *a, struct diags *d, const struct nft_set *s, uint32_t n_dims)
{
	struct arena *scratch = arena_create();
	struct key *k = arena_new(scratch, struct key, s->elems.n);
	size_t n = 0, pairs = 0, told = 0, first = 0;

	for (size_t i = 0; i < s->elems.n; i++) {
		const struct nft_elem *e = &s->elems.v[i];
		bool fits = n_dims == 1 ? is_number(e->key) : e->key->kind == NFT_CONCAT && e->key->n_parts == n_dims;

		if (fits && is_number(dim(e, 0)))
			k[n++] = (struct key){ e, dim(e, 0)->lo, dim(e, 0)->hi };
	}
	if (n)
		qsort(k, n, sizeof *k, cmp_key);
	for (size_t i = 1; i < n; i++) {
		while (first < i && k[first].hi < k[i].lo)
			first++;
		for (size_t j = i; j-- > first && pairs < MOST_PAIRS && told < MOST_TOLD; pairs++) {
			if (k[j].hi < k[i].lo || !overlap(k[i].elem, k[j].elem, n_dims, scratch))
				continue;
			tell(a, d, k[i].elem, k[j].elem);
			told++;
			break;
		}
	}
	arena_destroy(scratch);
}
