/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists of prefixes: sorted, without duplicates, merged or held to be disjoint; and the runs of answers that they make.
 *
 *     {10.0.0.0/8, 10.1.0.0/16 nomatch}   ->   0.0.0.0 OUT | 10.0.0.0 IN | 10.1.0.0 EXCEPTION | 10.2.0.0 IN | 11.0.0.0 OUT
 */
#include "sets/inside.h"

#include <stdlib.h>

struct listing {
	struct arena *a;
	const struct head *h;
	unsigned bits; /* of an address */
	VEC(struct item) items;
};

static u128 last_value(const struct item *x, unsigned bits)
{
	return x->lo | (key_prefix_mask(bits, bits) & ~key_prefix_mask(bits, x->plen));
}

/* ---------- collecting ---------- */

static void add_item(struct listing *l, u128 lo, unsigned plen, size_t from, bool nomatch)
{
	*vec_add(l->a, &l->items) = (struct item){ .lo = lo & key_prefix_mask(l->bits, plen), .plen = (uint8_t)plen,
						   .from = (uint32_t)from, .nomatch = nomatch };
}

static void add_range(struct listing *l, u128 lo, u128 hi, size_t from, bool nomatch)
{
	for (;;) {
		unsigned plen = l->bits;
		u128 last = lo;

		while (plen > 0 && (lo & key_prefix_mask(l->bits, plen - 1)) == lo) {
			u128 wider = lo | (key_prefix_mask(l->bits, l->bits) & ~key_prefix_mask(l->bits, plen - 1));

			if (wider > hi)
				break;
			last = wider;
			plen--;
		}
		add_item(l, lo, plen, from, nomatch);
		if (last >= hi)
			return;
		lo = last + 1;
	}
}

static bool collect(struct listing *l, const struct set *s, const struct setmem_source *src)
{
	unsigned plen = l->h->dim[0] == SET_DIM_ADDR && l->h->netmask ? l->h->netmask : l->bits;
	bool is_net = l->h->dim[0] == SET_DIM_NET;

	if (!src->span) {
		for (size_t i = 0; i < s->elems.n; i++)
			add_item(l, s->elems.v[i].v[0], is_net ? s->elems.v[i].plen[0] : plen, i, s->elems.v[i].nomatch);
		return true;
	}
	for (size_t i = 0; i < src->n_spans; i++) {
		const struct setmem_span *x = &src->span[i];

		if (is_net) {
			add_range(l, x->lo, x->hi, i, x->nomatch);
			continue;
		}
		if (l->h->max_elems && x->hi - x->lo >= l->h->max_elems)
			return false;
		for (u128 v = x->lo;; v++) {
			add_item(l, v, plen, i, x->nomatch);
			if (v == x->hi)
				break;
		}
	}
	return true;
}

/* ---------- sorting ---------- */

static int item_compare(const void *x, const void *y)
{
	const struct item *a = x, *b = y;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	if (a->plen != b->plen)
		return a->plen < b->plen ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

enum { DIGIT = 13, KEY_SHIFT = 64 - 3 * DIGIT, PLACES = 1 << KEY_SHIFT };

/* One pass of a radix sort of n words by the digit at `shift`. */
static void sort_digit(const uint64_t *from, uint64_t *to, size_t n, unsigned shift)
{
	static const uint64_t mask = (1u << DIGIT) - 1;
	uint32_t at[1 << DIGIT] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[from[i] >> shift & mask]++;
	for (size_t i = 0; i <= mask; i++) {
		uint32_t k = at[i];

		at[i] = sum;
		sum += k;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i] >> shift & mask]++] = from[i];
}

/* IPv4: | address 32 | prefix length 7 | place 25 |, sorted by its upper 39 bits. */
static void sort_ip4(struct listing *l)
{
	size_t n = l->items.n;
	uint64_t *x = arena_new(l->a, uint64_t, n), *y = arena_new(l->a, uint64_t, n);
	struct item *sorted = arena_new(l->a, struct item, n);

	for (size_t i = 0; i < n; i++)
		x[i] = (uint64_t)l->items.v[i].lo << 32 | (uint64_t)l->items.v[i].plen << KEY_SHIFT | i;
	sort_digit(x, y, n, KEY_SHIFT);
	sort_digit(y, x, n, KEY_SHIFT + DIGIT);
	sort_digit(x, y, n, KEY_SHIFT + 2 * DIGIT);
	for (size_t i = 0; i < n; i++)
		sorted[i] = l->items.v[y[i] & (PLACES - 1)];
	l->items.v = sorted;
	l->items.cap = n;
}

static void sort(struct listing *l)
{
	bool is_sorted = true;

	for (size_t i = 1; i < l->items.n && is_sorted; i++)
		is_sorted = item_compare(&l->items.v[i - 1], &l->items.v[i]) < 0;
	if (is_sorted)
		return;
	if (l->bits == 32 && l->items.n < PLACES)
		sort_ip4(l);
	else
		qsort(l->items.v, l->items.n, sizeof *l->items.v, item_compare);
}

/* ---------- duplicates, overlaps, merging ---------- */

static size_t drop_duplicates(struct listing *l, struct setmem_report *r)
{
	size_t k = 0;

	for (size_t i = 0; i < l->items.n; i++) {
		struct item *x = &l->items.v[i], *y = k ? &l->items.v[k - 1] : NULL;

		if (y && y->lo == x->lo && y->plen == x->plen) {
			r->first = y->from;
			r->second = x->from;
			*y = *x;
		} else {
			l->items.v[k++] = *x;
		}
	}
	return l->items.n - k;
}

/* The first two of sorted items that overlap. */
static bool find_overlap(const struct listing *l, struct setmem_report *r)
{
	for (size_t i = 1; i < l->items.n; i++)
		if (l->items.v[i].lo <= last_value(&l->items.v[i - 1], l->bits)) {
			r->first = l->items.v[i - 1].from;
			r->second = l->items.v[i].from;
			return true;
		}
	return false;
}

struct merged { /* beside each item that stays */
	size_t holder, before; /* what it lies in; its neighbour to the left in there; + 1, 0 = none */
	size_t last;	       /* of what lies in it, + 1 */
	bool is_gone;
};

struct merging {
	struct listing *l;
	struct merged *x;
	size_t n, top_last;
	size_t open[130], depth;
};

static bool holds(const struct listing *l, const struct item *big, const struct item *small)
{
	return big->plen <= small->plen && ((big->lo ^ small->lo) & key_prefix_mask(l->bits, big->plen)) == 0;
}

static bool are_halves(const struct merging *g, size_t x, size_t y)
{
	const struct item *a = &g->l->items.v[x], *b = &g->l->items.v[y];
	const struct item *in = g->x[x].holder ? &g->l->items.v[g->x[x].holder - 1] : NULL;

	if (a->plen != b->plen || a->plen == 0 || a->nomatch != b->nomatch)
		return false;
	if (in && in->plen + 1 == a->plen) /* nothing of it would be left; it says something else */
		return false;
	return ((a->lo ^ b->lo) & key_prefix_mask(g->l->bits, a->plen - 1u)) == 0;
}

/* Item i of the sorted ones comes to lie at g->n, unless something of its kind holds it. */
static void merge_item(struct merging *g, size_t i)
{
	struct item *v = g->l->items.v, it = v[i];
	size_t me = g->n, holder, *last;

	while (g->depth && !holds(g->l, &v[g->open[g->depth - 1]], &it))
		g->depth--;
	holder = g->depth ? g->open[g->depth - 1] + 1 : 0;
	if (holder && v[holder - 1].nomatch == it.nomatch)
		return;
	last = holder ? &g->x[holder - 1].last : &g->top_last;
	v[me] = it;
	g->x[me] = (struct merged){ .holder = holder, .before = *last };
	g->n++;
	while (g->x[me].before && are_halves(g, g->x[me].before - 1, me)) {
		g->x[me].is_gone = true;
		me = g->x[me].before - 1;
		v[me].plen--;
	}
	*last = me + 1;
	g->open[g->depth++] = me;
}

static void merge(struct listing *l)
{
	struct merging g = { .l = l, .x = arena_new(l->a, struct merged, l->items.n + 1) };
	size_t k = 0;

	for (size_t i = 0; i < l->items.n; i++)
		merge_item(&g, i);
	for (size_t i = 0; i < g.n; i++)
		if (!g.x[i].is_gone)
			l->items.v[k++] = l->items.v[i];
	l->items.n = k;
}

int list_make(struct arena *a, const struct head *h, const struct set *s, const struct setmem_source *src, struct list *out,
	      struct setmem_report *r)
{
	struct listing l = { .a = a, .h = h, .bits = h->family == FAMILY_IP4 ? 32 : 128 };

	if (!collect(&l, s, src))
		return -E2BIG;
	sort(&l);
	r->n_entries = src->span ? src->n_spans : s->elems.n;
	r->n_duplicates = drop_duplicates(&l, r);
	l.items.n -= r->n_duplicates;
	if (src->overlap == SETMEM_STRICT && (r->n_duplicates || find_overlap(&l, r)))
		return -EEXIST;
	if (src->overlap == SETMEM_MERGE && h->is_trie)
		merge(&l);
	*out = (struct list){ l.items.v, l.items.n };
	return 0;
}

/* ---------- runs ---------- */

struct open_span {
	uint64_t hi, entry;
};

/* Spans that lie in one another, as runs. */
struct sweep {
	struct arena *a;
	VEC(struct run) runs;
	struct open_span open[68];
	size_t depth;
	uint64_t at;	 /* the next value that no run holds yet */
	bool is_at_end;	 /* there is none */
};

static void say(struct sweep *w, uint64_t lo, uint64_t entry)
{
	if (w->runs.n && w->runs.v[w->runs.n - 1].entry == entry && (entry & DP_SET_KIND_MASK) == DP_SET_SAYS)
		return;
	*vec_add(w->a, &w->runs) = (struct run){ lo, entry };
}

static void sweep_begin(struct sweep *w, struct arena *a, uint64_t entry)
{
	*w = (struct sweep){ .a = a };
	w->open[w->depth++] = (struct open_span){ UINT64_MAX, entry };
}

/* Spans that end in front of lo are over. */
static void sweep_to(struct sweep *w, uint64_t lo)
{
	while (w->depth > 1 && w->open[w->depth - 1].hi < lo) {
		struct open_span *x = &w->open[--w->depth];

		if (w->at <= x->hi) {
			say(w, w->at, x->entry);
			w->at = x->hi + 1;
		}
	}
	if (w->at < lo) {
		say(w, w->at, w->open[w->depth - 1].entry);
		w->at = lo;
	}
}

static void sweep_open(struct sweep *w, uint64_t lo, uint64_t hi, uint64_t entry)
{
	sweep_to(w, lo);
	w->open[w->depth++] = (struct open_span){ hi, entry };
}

static void sweep_end(struct sweep *w)
{
	while (w->depth && !w->is_at_end) {
		struct open_span *x = &w->open[--w->depth];

		if (w->at > x->hi)
			continue;
		say(w, w->at, x->entry);
		w->is_at_end = x->hi == UINT64_MAX;
		w->at = x->hi + 1;
	}
}

static uint64_t says(const struct item *x)
{
	return TRIE_SAYS(x->nomatch ? SETMEM_EXCEPTION : SETMEM_IN, x->plen);
}

/* Prefixes longer than 64 bits of one upper half, as a NEXT entry. */
static uint64_t next_of(struct op *op, const struct item *x, size_t n, uint64_t base)
{
	struct arena *a = arena_create();
	struct sweep w;
	uint64_t cell = op_take(op, 1);

	sweep_begin(&w, a, base);
	for (size_t i = 0; i < n; i++) {
		uint64_t lo = (uint64_t)x[i].lo, below = x[i].plen == 128 ? 0 : UINT64_MAX >> (x[i].plen - 64);

		sweep_open(&w, lo, lo | below, says(&x[i]));
	}
	sweep_end(&w);
	if (cell)
		op->m->word[cell] = trie_build(op, w.runs.v, w.runs.n, 64, true);
	arena_destroy(a);
	return cell << 32 | DP_SET_NEXT;
}

uint64_t list_trie(struct op *op, const struct list *l, bool is_ip6)
{
	struct sweep w;

	sweep_begin(&w, op->a, DP_SET_SAYS);
	for (size_t i = 0, n; i < l->n; i += n) {
		const struct item *x = &l->v[i];
		uint64_t lo = is_ip6 ? (uint64_t)(x->lo >> 64) : (uint64_t)x->lo << 32;
		uint64_t hi = x->plen >= 64 ? lo : lo | UINT64_MAX >> x->plen;

		n = 1;
		if (x->plen <= 64) {
			sweep_open(&w, lo, hi, says(x));
			continue;
		}
		while (i + n < l->n && (uint64_t)(l->v[i + n].lo >> 64) == lo)
			n++;
		sweep_to(&w, lo);
		sweep_open(&w, lo, lo, next_of(op, x, n, w.open[w.depth - 1].entry));
	}
	sweep_end(&w);
	return trie_build(op, w.runs.v, w.runs.n, 64, is_ip6);
}
