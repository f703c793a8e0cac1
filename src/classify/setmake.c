/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Elements become masked words, masks become shapes, most specific first. In a set of networks and interfaces the search
 * ends at the longest network that has any interface, so each network gets one more element that ends it.
 *
 *     {192.0.2.0/24,eth0}    word 192.0.2.0 "eth0" under mask ffffff00 ffff...    shape 0
 *                            word 192.0.2.0        under mask ffffff00            shape 1: ends the search
 *
 * Cuckoo hashing: an element that finds both its buckets full takes a place and its former holder looks for another.
 */
#include "classify/setmake.h"

#include <stdlib.h>

enum { FLAG_EXCEPTION = DP_SET_EXCEPTION, FLAG_END = DP_SET_END, MAX_KICKS = 1000, MAX_LOG2 = 24 };

struct item {
	uint64_t w[DP_SET_WORDS], m[DP_SET_WORDS];
	uint32_t shape;
	uint8_t flags;
};

struct build {
	struct arena *a;
	const struct set *set;
	VEC(struct item) items;
	const struct item **shape; /* one item of each shape, in order */
	size_t n_shapes;
	unsigned n_words; /* key words of an element */
};

/* ---------- elements ---------- */

unsigned setmake_words(const struct set *s, unsigned dim)
{
	switch (s->dim[dim]) {
	case SET_DIM_ADDR:
	case SET_DIM_NET:
		return s->family == FAMILY_IP4 ? 1 : 2;
	case SET_DIM_IFACE:
		return 2;
	default:
		return 1;
	}
}

static u128 prefix_mask(unsigned bits, unsigned plen)
{
	u128 all = bits >= 128 ? ~(u128)0 : ((u128)1 << bits) - 1;

	if (plen >= bits)
		return all;
	return plen ? all & ~(((u128)1 << (bits - plen)) - 1) : 0;
}

/* Bytes of a name's prefix; the end of a whole name counts. */
static u128 name_mask(const struct set_elem *el, unsigned dim)
{
	u128 mask = ~(u128)0;

	for (unsigned i = 0; el->wildcard && i < 16 && !(uint8_t)(el->v[dim] >> (8 * i)); i++)
		mask <<= 8;
	if (el->wildcard && el->v[dim] == 0)
		mask = 0;
	return mask;
}

static u128 dim_mask(const struct set *s, const struct set_elem *el, unsigned dim)
{
	unsigned bits = s->family == FAMILY_IP4 ? 32 : 128;
	u128 mask;

	switch (s->dim[dim]) {
	case SET_DIM_NET:
		mask = prefix_mask(bits, el->plen[dim]);
		break;
	case SET_DIM_ADDR:
		mask = prefix_mask(bits, s->netmask ? s->netmask : bits);
		break;
	case SET_DIM_IFACE:
		return name_mask(el, dim);
	case SET_DIM_MARK:
		return s->mark_mask ? s->mark_mask : UINT32_MAX;
	default:
		return ~(uint64_t)0;
	}
	return dim == 0 && s->has_bitmask ? mask & s->bitmask : mask;
}

static struct item item_of(const struct set *s, const struct set_elem *el)
{
	struct item it = { .flags = el->nomatch ? FLAG_EXCEPTION : 0 };
	unsigned n = 0;

	for (unsigned d = 0; d < s->n_dims; d++) {
		u128 mask = dim_mask(s, el, d), v = el->v[d] & mask;

		if (setmake_words(s, d) == 2) {
			it.m[n] = (uint64_t)(mask >> 64);
			it.w[n++] = (uint64_t)(v >> 64);
		}
		it.m[n] = (uint64_t)mask;
		it.w[n++] = (uint64_t)v;
	}
	return it;
}

static bool ends_at_first(const struct set *s)
{
	return s->n_dims == 2 && s->dim[0] == SET_DIM_NET && s->dim[1] == SET_DIM_IFACE;
}

static void add_items(struct build *b)
{
	const struct set *s = b->set;
	unsigned net_words = setmake_words(s, 0);

	for (size_t i = 0; i < s->elems.n; i++) {
		struct item it = item_of(s, &s->elems.v[i]);

		*vec_add(b->a, &b->items) = it;
		if (!ends_at_first(s))
			continue;
		for (unsigned k = net_words; k < DP_SET_WORDS; k++)
			it.w[k] = it.m[k] = 0;
		it.flags = FLAG_END;
		*vec_add(b->a, &b->items) = it;
	}
}

/* ---------- shapes ---------- */

/* Most specific first: longer prefixes of the first dimension, then of the next. */
static int compare_masks(const void *x, const void *y)
{
	const struct item *a = *(const struct item *const *)x, *b = *(const struct item *const *)y;

	for (unsigned i = 0; i < DP_SET_WORDS; i++)
		if (a->m[i] != b->m[i])
			return a->m[i] > b->m[i] ? -1 : 1;
	return 0;
}

static bool number_shapes(struct build *b)
{
	struct item **order = arena_new(b->a, struct item *, b->items.n + 1);

	b->shape = arena_new(b->a, const struct item *, DP_MAX_SHAPES);
	for (size_t i = 0; i < b->items.n; i++)
		order[i] = &b->items.v[i];
	qsort(order, b->items.n, sizeof *order, compare_masks);
	for (size_t i = 0; i < b->items.n; i++) {
		if (i == 0 || compare_masks(&order[i - 1], &order[i]) != 0) {
			if (b->n_shapes == DP_MAX_SHAPES)
				return false;
			b->shape[b->n_shapes++] = order[i];
		}
		order[i]->shape = (uint32_t)b->n_shapes - 1;
	}
	return true;
}

/* ---------- the hash table ---------- */

struct table {
	uint64_t *slot; /* n_words + 1 words each */
	unsigned log2, stride;
	uint64_t random;
};

/* As dp_set_hash() of the datapath. */
static uint64_t hash_words(const uint64_t *w, unsigned n, uint64_t shape)
{
	uint64_t h = shape;

	for (unsigned i = 0; i < DP_SET_WORDS; i++)
		h = (h ^ h >> 32 ^ (i < n ? w[i] : 0)) * DP_HASH_MUL;
	return h ^ h >> 29;
}

static uint64_t *slot_at(const struct table *t, uint64_t bucket, unsigned i)
{
	return t->slot + (bucket * DP_BUCKET_SLOTS + i) * t->stride;
}

/* The two buckets of what lies in a slot. */
static void buckets_of(const struct table *t, const uint64_t *slot, uint64_t bucket[2])
{
	uint64_t h = hash_words(slot + 1, t->stride - 1, (slot[0] & 0xffff) - 1), mask = ((uint64_t)1 << t->log2) - 1;

	bucket[0] = h & mask;
	bucket[1] = h >> 32 & mask;
}

/* A slot for x: one that holds the same words already, else a free one, else NULL. */
static uint64_t *find_slot(const struct table *t, const uint64_t *x, const uint64_t bucket[2])
{
	uint64_t *free_slot = NULL;

	for (unsigned i = 0; i < 2 * DP_BUCKET_SLOTS; i++) {
		uint64_t *s = slot_at(t, bucket[i / DP_BUCKET_SLOTS], i % DP_BUCKET_SLOTS);

		if (s[0] == 0)
			free_slot = free_slot ? free_slot : s;
		else if ((s[0] & 0xffff) == (x[0] & 0xffff) && memcmp(s + 1, x + 1, (t->stride - 1) * sizeof *s) == 0)
			return s;
	}
	return free_slot;
}

static bool insert(struct table *t, uint64_t *x)
{
	uint64_t bucket[2], *s, old[1 + DP_SET_WORDS];

	for (unsigned i = 0; i < MAX_KICKS; i++) {
		buckets_of(t, x, bucket);
		s = find_slot(t, x, bucket);
		if (s) {
			memcpy(s, x, t->stride * sizeof *s);
			return true;
		}
		t->random = t->random * 6364136223846793005u + 1442695040888963407u;
		s = slot_at(t, bucket[t->random >> 63], (unsigned)(t->random >> 60) % DP_BUCKET_SLOTS);
		memcpy(old, s, t->stride * sizeof *s);
		memcpy(s, x, t->stride * sizeof *s);
		memcpy(x, old, t->stride * sizeof *s);
	}
	return false;
}

static bool fill(const struct build *b, struct table *t)
{
	uint64_t x[1 + DP_SET_WORDS];

	for (size_t i = 0; i < b->items.n; i++) {
		const struct item *it = &b->items.v[i];

		x[0] = (it->shape + 1) | (uint64_t)it->flags << 16;
		memcpy(x + 1, it->w, sizeof it->w);
		if (!insert(t, x))
			return false;
	}
	return true;
}

/* Grows until every element has a place. */
static bool make_table(const struct build *b, struct table *t, size_t *n)
{
	t->stride = b->n_words + 1;
	while (t->log2 < MAX_LOG2 && ((uint64_t)DP_BUCKET_SLOTS << t->log2) * 9 < (uint64_t)b->items.n * 10)
		t->log2++;
	for (; t->log2 <= MAX_LOG2; t->log2++) {
		*n = ((size_t)DP_BUCKET_SLOTS << t->log2) * t->stride;
		t->slot = arena_new(b->a, uint64_t, *n);
		t->random = 1;
		if (fill(b, t))
			return true;
	}
	return false;
}

int setmake(struct arena *a, const struct set *s, struct setmake *out)
{
	struct build b = { .a = a, .set = s };
	struct table t = { 0 };
	size_t head, n_slots = 0;

	for (unsigned d = 0; d < s->n_dims; d++)
		b.n_words += setmake_words(s, d);
	add_items(&b);
	if (!number_shapes(&b))
		return SETMAKE_TOO_MANY_SHAPES;
	if (!make_table(&b, &t, &n_slots))
		return SETMAKE_TOO_LARGE;
	head = 1 + b.n_shapes * DP_SET_WORDS;
	out->n_shapes = b.n_shapes;
	out->n_words = head + n_slots;
	out->word = arena_new(a, uint64_t, out->n_words);
	out->word[0] = (uint64_t)head << 32 | (uint64_t)b.n_shapes << 16 | (uint64_t)b.n_words << 8 | t.log2;
	for (size_t i = 0; i < b.n_shapes; i++)
		memcpy(out->word + 1 + i * DP_SET_WORDS, b.shape[i]->m, sizeof b.shape[i]->m);
	memcpy(out->word + head, t.slot, n_slots * sizeof *t.slot);
	return SETMAKE_OK;
}
