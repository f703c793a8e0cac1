/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets with auto-merge: elements that overlap or touch become one, as nft does before the kernel sees them.
 *
 *     { 192.0.2.0/25, 192.0.2.128/25, 192.0.2.7 }     { 192.0.2.0/24 }
 *
 * Only plain values are merged, not elements with a time, a comment or a counter of their own; they stay as they are.
 */
#include "lang/nft/tree.h"

#include <stdlib.h>

static bool is_plain(const struct nft_elem *e)
{
	bool is_number = e->key->kind == NFT_NUMBER || e->key->kind == NFT_RANGE || e->key->kind == NFT_PREFIX;

	return is_number && !e->data && !e->has_timeout && !e->has_expires && !e->comment.n && e->n_stmts == 0;
}

static int cmp_elem(const void *x, const void *y)
{
	const struct nft_elem *p = x, *q = y;

	return p->key->lo < q->key->lo ? -1 : p->key->lo > q->key->lo;
}

/* The shape of lo to hi: a value, a prefix, or a range. Only addresses have prefixes. */
static void shape(struct nft_expr *e, u128 lo, u128 hi)
{
	u128 size = hi - lo + 1;
	unsigned bits = nft_type_table[e->type].bits, n = 0;

	e->lo = lo;
	e->hi = hi;
	e->kind = lo == hi ? NFT_NUMBER : NFT_RANGE;
	if (lo == hi || (e->type != NFT_TYPE_IPV4_ADDR && e->type != NFT_TYPE_IPV6_ADDR) || size == 0 || (size & (size - 1)) ||
	    (lo & (size - 1)))
		return;
	while (size >> n > 1)
		n++;
	e->kind = NFT_PREFIX;
	e->plen = (uint8_t)(bits - n);
}

static void merge_set(struct arena *a, struct nft_set *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->elems.n; i++)
		if (!is_plain(&s->elems.v[i]))
			return;
	if (s->elems.n)
		qsort(s->elems.v, s->elems.n, sizeof *s->elems.v, cmp_elem);
	for (size_t i = 0; i < s->elems.n; i++) {
		struct nft_elem *e = &s->elems.v[i], *last = n ? &s->elems.v[n - 1] : NULL;
		struct nft_expr *key;

		if (last && (last->key->hi == ~(u128)0 || e->key->lo <= last->key->hi + 1)) {
			if (e->key->hi > last->key->hi)
				shape(last->key, last->key->lo, e->key->hi);
			continue;
		}
		key = arena_new(a, struct nft_expr, 1); /* a variable's value may stand in several sets */
		*key = *e->key;
		s->elems.v[n] = *e;
		s->elems.v[n++].key = key;
	}
	s->elems.n = n;
}

void nft_merge(struct arena *a, const struct nft_file *f)
{
	for (size_t i = 0; i < f->tables.n; i++)
		for (size_t j = 0; j < f->tables.v[i]->sets.n; j++)
			if (f->tables.v[i]->sets.v[j]->auto_merge && f->tables.v[i]->sets.v[j]->key.n == 1)
				merge_set(a, f->tables.v[i]->sets.v[j]);
}
