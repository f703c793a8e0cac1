/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hash tables of an image: tables/sets.h has the layout. Open addressing without moving: an element stays where it was put,
 * so that one store adds or removes it, and a slot that was used stays so, or a search would end at it too early. It is
 * used for another element once nobody can be comparing its words any more: what was removed notes the epoch in
 * place of its time.
 *
 * A table that gets full of such slots, or of elements, is copied to another one. The last slot of all is never used: a
 * search ends there at the latest.
 */
#include "sets/inside.h"

#include <string.h>

enum { SPARE = 8 };

static size_t pad_of(uint64_t n_slots)
{
	return (size_t)(n_slots < DP_SET_PROBES ? n_slots : DP_SET_PROBES) + 1;
}

void hash_open(const struct setmem *m, uint64_t entry, struct hash *t)
{
	uint64_t *head = m->word + image_offset(entry);

	*t = (struct hash){ .head = head, .slot = m->word + (head[1] >> 32), .n_slots = (uint32_t)head[1],
			    .n_words = head[0] >> 16 & 0xff, .stride = head[0] >> 24 & 0xff, .n_shapes = head[0] & 0xffff };
}

uint64_t hash_slots_words(const struct hash *t)
{
	return (t->n_slots + pad_of(t->n_slots)) * t->stride;
}

static uint64_t head_words(size_t n_shapes)
{
	return DP_SET_HEAD + n_shapes * DP_SET_SHAPE;
}

uint64_t hash_words(const struct setmem *m, uint64_t entry)
{
	struct hash t;

	hash_open(m, entry, &t);
	return space_size(head_words(t.n_shapes)) + space_size(hash_slots_words(&t));
}

void hash_drop(struct op *op, uint64_t entry)
{
	struct hash t;

	hash_open(op->m, entry, &t);
	op_drop(op, image_offset(entry), head_words(t.n_shapes));
	op_drop(op, (uint64_t)(t.slot - op->m->word), hash_slots_words(&t));
}

/* As dp_set_hash() of the datapath. */
static uint64_t hash_of(const struct hash_key *k)
{
	uint64_t sum = k->w[0] * DP_SET_HASH0 + k->w[1] * DP_SET_HASH1 + k->w[2] * DP_SET_HASH2 + k->w[3] * DP_SET_HASH3 +
		       k->w[4] * DP_SET_HASH4;

	return DP_SET_MIX(sum, (uint64_t)k->shape);
}

static uint64_t slot_word(const struct hash_key *k, uint64_t hash)
{
	return DP_SLOT_USED | (hash & DP_SLOT_TAG_MASK) << DP_SLOT_TAG_SHIFT | (uint64_t)k->shape << DP_SLOT_SHAPE_SHIFT |
	       k->flags | k->expires << DP_SLOT_EXPIRES_SHIFT;
}

static bool holds(const struct hash *t, const uint64_t *s, const struct hash_key *k, uint64_t word)
{
	if ((s[0] ^ word) & DP_SLOT_SAME)
		return false;
	return memcmp(s + 1, k->w, t->n_words * sizeof *s) == 0;
}

/* The slots in which an element may lie: the first, and how many. */
static uint64_t *slots_for(const struct hash *t, uint64_t hash, size_t *n)
{
	uint64_t at = DP_SET_SLOT(hash, t->n_slots), left = t->n_slots + pad_of(t->n_slots) - 1 - at;

	*n = (size_t)(left < DP_SET_PROBES ? left : DP_SET_PROBES);
	return t->slot + at * t->stride;
}

void hash_prefetch(const struct hash *t, const struct hash_key *k)
{
	__builtin_prefetch(t->slot + DP_SET_SLOT(hash_of(k), t->n_slots) * t->stride, 1);
}

uint64_t *hash_find(const struct hash *t, const struct hash_key *k, unsigned phase)
{
	uint64_t hash = hash_of(k), word = slot_word(k, hash), *s;
	size_t n;

	s = slots_for(t, hash, &n);
	for (; n && (s[0] & DP_SLOT_USED); n--, s += t->stride)
		if ((s[0] & DP_SLOT_THERE(phase)) && holds(t, s, k, word))
			return s;
	return NULL;
}

static bool is_reusable(const struct setmem *m, const uint64_t *s)
{
	return !(s[0] & 3) && s[0] >> DP_SLOT_EXPIRES_SHIFT < m->word[IMAGE_EPOCH];
}

uint64_t *hash_insert(struct setmem *m, const struct hash *t, const struct hash_key *k, unsigned sides)
{
	uint64_t hash = hash_of(k), word = slot_word(k, hash), *s, *to = NULL;
	size_t n;

	s = slots_for(t, hash, &n);
	for (; n && !to; n--, s += t->stride)
		if (!(s[0] & DP_SLOT_USED) || is_reusable(m, s) || (!(s[0] & 3) && holds(t, s, k, word)))
			to = s;
	if (!to)
		return NULL;
	if (!(to[0] & DP_SLOT_USED))
		t->head[2]++;
	memcpy(to + 1, k->w, t->n_words * sizeof *to);
	image_publish(to, word | sides);
	return to;
}

static uint64_t without(const struct setmem *m, uint64_t word, unsigned sides)
{
	word &= ~(uint64_t)sides;
	if (word & 3)
		return word;
	return (word & ((1ull << DP_SLOT_EXPIRES_SHIFT) - 1)) | m->word[IMAGE_EPOCH] << DP_SLOT_EXPIRES_SHIFT;
}

void hash_remove(struct setmem *m, uint64_t *slot, unsigned sides)
{
	image_publish(slot, without(m, slot[0], sides));
}

bool hash_is_full(const struct hash *t)
{
	return (t->head[2] + 1) * 5 > (t->n_slots + SPARE) * 4;
}

uint64_t *hash_next(const struct setmem *m, const struct hash *t, uint64_t *at, unsigned side, struct hash_key *k)
{
	uint64_t n = t->n_slots + pad_of(t->n_slots);

	while (*at < n) {
		uint64_t *s = t->slot + (*at)++ * t->stride, expires = s[0] >> DP_SLOT_EXPIRES_SHIFT;

		if (!(s[0] & DP_SLOT_THERE(side)) || (expires && m->now > expires))
			continue;
		*k = (struct hash_key){ .shape = s[0] >> DP_SLOT_SHAPE_SHIFT & DP_SLOT_SHAPE_MASK, .expires = expires,
					.flags = s[0] & (DP_SLOT_EXCEPTION | DP_SLOT_END) };
		memcpy(k->w, s + 1, t->n_words * sizeof *s);
		return s;
	}
	return NULL;
}

void hash_settle(struct setmem *m, uint64_t entry, unsigned side)
{
	struct hash t;
	uint64_t n, used = 0;

	hash_open(m, entry, &t);
	n = t.n_slots + pad_of(t.n_slots);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t *s = t.slot + i * t.stride, word = s[0];

		used += (word & DP_SLOT_USED) != 0;
		if ((word & 3) == 0 || (word & 3) == 3)
			continue;
		image_publish(s, word & DP_SLOT_THERE(side) ? word | 3 : without(m, word, 3));
	}
	t.head[2] = used;
}

/* ---------- making ---------- */

/* A table for n elements, with room for n_shapes shapes that are not written yet. */
static uint64_t make_table(struct op *op, unsigned n_words, size_t n, size_t n_shapes)
{
	struct hash t = { .n_slots = n + n / 2 + SPARE, .n_words = n_words, .stride = n_words + 1 };
	uint64_t head = op_take(op, head_words(n_shapes)), slots = op_take(op, hash_slots_words(&t));
	uint64_t *w = op->m->word;

	if (!head || !slots)
		return 0;
	memset(w + slots, 0, hash_slots_words(&t) * sizeof *w);
	w[head] = (uint64_t)t.stride << 24 | (uint64_t)n_words << 16 | n_shapes;
	w[head + 1] = slots << 32 | t.n_slots;
	w[head + 2] = 0;
	return head << 32 | DP_SET_HASH;
}

static void put_shape(uint64_t *to, const struct hash_key *k)
{
	to[0] = k->shape | (k->flags & DP_SLOT_END ? 1ull << 16 : 0);
	memcpy(to + 1, k->mask, sizeof k->mask);
}

uint64_t hash_create(struct op *op, const struct head *h, size_t n, const struct shapes *s)
{
	uint64_t entry = make_table(op, h->key_words, n, s ? s->n : 0);
	uint64_t *to = op->m->word + image_offset(entry) + DP_SET_HEAD;

	for (size_t i = 0; entry && s && i < s->n; i++) {
		struct hash_key k = s->v[i];

		k.shape = (uint32_t)i;
		put_shape(to + i * DP_SET_SHAPE, &k);
	}
	return entry;
}

uint64_t hash_grow(struct op *op, const struct head *h, uint64_t entry, unsigned side)
{
	struct hash from, to;
	struct hash_key k;
	uint64_t at = 0, n = 0, made;

	hash_open(op->m, entry, &from);
	while (hash_next(op->m, &from, &at, side, &k))
		n++;
	for (n += n / 8;; n += n / 4 + 1) {
		bool fits = true;

		made = make_table(op, h->key_words, n, from.n_shapes);
		if (!made)
			return 0;
		hash_open(op->m, made, &to);
		memcpy(to.head + DP_SET_HEAD, from.head + DP_SET_HEAD, from.n_shapes * DP_SET_SHAPE * sizeof *to.head);
		for (at = 0; fits && hash_next(op->m, &from, &at, side, &k);)
			fits = hash_insert(op->m, &to, &k, 3) != NULL;
		if (fits)
			return made;
		hash_drop(op, made);
	}
}

/* ---------- shapes ---------- */

/* Most specific first: longer prefixes of the first dimension, then of the next; what ends a search behind its like. */
static int shape_compare(const struct hash_key *x, const struct hash_key *y)
{
	for (unsigned i = 0; i < DP_SET_WORDS; i++)
		if (x->mask[i] != y->mask[i])
			return x->mask[i] > y->mask[i] ? -1 : 1;
	return (int)(x->flags & DP_SLOT_END) - (int)(y->flags & DP_SLOT_END);
}

size_t shapes_find(const struct shapes *s, const struct hash_key *k, bool *is_new)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (shape_compare(&s->v[mid], k) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*is_new = lo == s->n || shape_compare(&s->v[lo], k) != 0;
	return lo;
}

void shapes_add(struct arena *a, struct shapes *s, const struct hash_key *k)
{
	bool is_new;
	size_t at = shapes_find(s, k, &is_new);

	if (!is_new)
		return;
	vec_add(a, s);
	memmove(s->v + at + 1, s->v + at, (s->n - 1 - at) * sizeof *s->v);
	s->v[at] = *k;
}

static void read_shapes(struct arena *a, const struct hash *t, struct shapes *s)
{
	for (size_t i = 0; i < t->n_shapes; i++) {
		const uint64_t *from = t->head + DP_SET_HEAD + i * DP_SET_SHAPE;
		struct hash_key *k = vec_add(a, s);

		k->shape = (uint32_t)from[0] & DP_SLOT_SHAPE_MASK;
		k->flags = from[0] >> 16 ? DP_SLOT_END : 0;
		memcpy(k->mask, from + 1, sizeof k->mask);
	}
}

bool hash_shape(struct op *op, const struct head *h, uint64_t *entry, struct hash_key *k)
{
	struct shapes s = { 0 };
	struct hash t;
	uint64_t *to, head;
	bool is_new;
	size_t at;

	hash_open(op->m, *entry, &t);
	read_shapes(op->a, &t, &s);
	at = shapes_find(&s, k, &is_new);
	k->shape = is_new ? (uint32_t)s.n : s.v[at].shape;
	if (!is_new)
		return true;
	op->err = s.n >= h->max_shapes ? -E2BIG : op->err;
	shapes_add(op->a, &s, k);
	head = op_take(op, head_words(s.n));
	if (!head)
		return false;
	to = op->m->word + head;
	memcpy(to, t.head, DP_SET_HEAD * sizeof *to);
	to[0]++;
	for (size_t i = 0; i < s.n; i++)
		put_shape(to + DP_SET_HEAD + i * DP_SET_SHAPE, &s.v[i]);
	op_drop(op, image_offset(*entry), head_words(t.n_shapes));
	*entry = head << 32 | DP_SET_HASH;
	return true;
}
