/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Single elements: found, told, added, removed. See setmem.h.
 *
 * Of a trie the elements lie in a hash that only the writer reads; the trie follows. A mark in the head says that they may
 * differ, from the first store to the last: whoever opens the image after a writer that was killed makes the trie anew.
 *
 * In a set of networks and interfaces a new network takes two stores: the element, then what ends the search there.
 */
#include "sets/inside.h"

#include <string.h>

/* What a change of one set works on. */
struct change {
	struct op op;
	struct setmem *m;
	struct head *h;
	uint32_t id;
	unsigned side, sides;
	uint64_t entry; /* of the hash, as it will be */
	struct hash t;
	struct hash_key k;
};

static int change_open(struct change *c, struct setmem *m, uint32_t id, const struct set_elem *el)
{
	*c = (struct change){ .m = m, .h = head_of(m, id), .id = id };
	if (!c->h)
		return -ENOENT;
	if (m->is_readonly)
		return -EINVAL;
	if (!key_make(m, c->h, el, &c->k))
		return el->physdev || el->mac_any ? -EOPNOTSUPP : -EINVAL;
	c->side = image_side(m);
	c->sides = head_sides(m, c->h);
	c->entry = *elems_of(m, id, c->side);
	hash_open(m, c->entry, &c->t);
	op_open(&c->op, m);
	return 0;
}

static void change_done(struct change *c)
{
	c->h->is_changed = 1;
	c->h->is_halfway = 0;
	op_done(&c->op, c->h);
}

/* From here on something is stored. */
static void change_begin(struct change *c)
{
	c->h->is_halfway = c->h->is_trie;
	if (c->m->batch)
		c->h->is_dirty = 1;
}

static void count_elems(struct change *c, int by)
{
	for (unsigned i = 0; i < 2; i++)
		if (c->sides >> i & 1)
			c->h->n_elems[i] += (uint64_t)by;
}

/* A table that was made anew has lost the elements whose time was past. */
static void count_again(struct change *c)
{
	uint64_t at = 0, n = 0;
	struct hash_key k;

	while (hash_next(c->m, &c->t, &at, c->side, &k))
		n += !(k.flags & DP_SLOT_END);
	for (unsigned i = 0; i < 2; i++)
		if (c->sides >> i & 1)
			c->h->n_elems[i] = n;
}

/* ---------- finding ---------- */

/* The masks of a key whose shape is known; or, if has_number is false, the shape whose masks it has. False: there is none. */
static bool find_shape(const struct hash *t, struct hash_key *k, bool has_number)
{
	for (unsigned i = 0; i < t->n_shapes; i++) {
		const uint64_t *s = t->head + DP_SET_HEAD + i * DP_SET_SHAPE;
		uint32_t number = s[0] & DP_SLOT_SHAPE_MASK;
		bool is_end = s[0] >> 16, wants_end = k->flags & DP_SLOT_END;

		if (has_number ? number != k->shape : is_end != wants_end || memcmp(s + 1, k->mask, sizeof k->mask))
			continue;
		k->shape = number;
		memcpy(k->mask, s + 1, sizeof k->mask);
		return true;
	}
	return false;
}

static uint64_t *find(const struct change *c, struct hash_key *k)
{
	if (!c->h->is_trie && !find_shape(&c->t, k, false))
		return NULL;
	return hash_find(&c->t, k, c->side);
}

static bool is_past(const struct setmem *m, uint64_t word)
{
	uint64_t expires = word >> DP_SLOT_EXPIRES_SHIFT;

	return expires && m->now > expires;
}

static void slot_elem(const struct setmem *m, const struct head *h, const struct hash *t, const uint64_t *slot,
		      struct set_elem *out)
{
	struct hash_key k = { .shape = slot[0] >> DP_SLOT_SHAPE_SHIFT & DP_SLOT_SHAPE_MASK,
			      .flags = slot[0] & (DP_SLOT_EXCEPTION | DP_SLOT_END),
			      .expires = slot[0] >> DP_SLOT_EXPIRES_SHIFT };

	memcpy(k.w, slot + 1, t->n_words * sizeof *slot);
	if (!h->is_trie)
		find_shape(t, &k, true);
	key_elem(m, h, &k, out);
}

bool setmem_has(const struct setmem *m, uint32_t id, const struct set_elem *el, struct set_elem *out)
{
	struct change c = { .h = head_of(m, id), .id = id, .side = image_side(m) };
	uint64_t *slot;

	if (!c.h || !key_make(m, c.h, el, &c.k))
		return false;
	hash_open(m, *elems_of(m, id, c.side), &c.t);
	slot = find(&c, &c.k);
	if (!slot || is_past(m, slot[0]))
		return false;
	if (out)
		slot_elem(m, c.h, &c.t, slot, out);
	return true;
}

bool setmem_elem(const struct setmem *m, uint32_t id, uint64_t *at, struct set_elem *out)
{
	const struct head *h = head_of(m, id);
	struct hash_key k;
	struct hash t;
	uint64_t *slot;

	if (!h)
		return false;
	hash_open(m, *elems_of(m, id, image_side(m)), &t);
	do
		slot = hash_next(m, &t, at, image_side(m), &k);
	while (slot && k.flags & DP_SLOT_END);
	if (slot)
		slot_elem(m, h, &t, slot, out);
	return slot != NULL;
}

static enum setmem_answer match_hash(const struct setmem *m, const struct hash *t, const struct hash_key *whole)
{
	unsigned side = image_side(m);

	for (unsigned i = 0; i < t->n_shapes; i++) {
		const uint64_t *s = t->head + DP_SET_HEAD + i * DP_SET_SHAPE;
		struct hash_key k = { .shape = s[0] & DP_SLOT_SHAPE_MASK };
		uint64_t *slot;

		for (unsigned j = 0; j < t->n_words; j++)
			k.w[j] = whole->w[j] & s[1 + j];
		slot = hash_find(t, &k, side);
		if (!slot || is_past(m, slot[0]))
			continue;
		if (slot[0] & DP_SLOT_END)
			return SETMEM_OUT;
		return slot[0] & DP_SLOT_EXCEPTION ? SETMEM_EXCEPTION : SETMEM_IN;
	}
	return SETMEM_OUT;
}

enum setmem_answer setmem_match(const struct setmem *m, uint32_t id, const struct set_elem *el)
{
	const struct head *h = head_of(m, id);
	struct hash_key k = { .shape = 0 };
	struct hash t;
	unsigned n = 0;

	if (!h)
		return SETMEM_OUT;
	if (h->is_trie)
		return trie_match(m, *view_of(m, id, image_side(m)), el->v[0], h->family == FAMILY_IP6);
	for (unsigned d = 0; d < h->n_dims; d++) {
		if (key_words(h, d) == 2)
			k.w[n++] = (uint64_t)(el->v[d] >> 64);
		k.w[n++] = (uint64_t)el->v[d];
	}
	hash_open(m, *view_of(m, id, image_side(m)), &t);
	return match_hash(m, &t, &k);
}

/* ---------- the trie follows ---------- */

/* What the longest prefix that is shorter than k's says about it. */
static uint64_t covering(const struct change *c)
{
	unsigned bits = c->h->family == FAMILY_IP4 ? 32 : 128;
	struct hash_key k = c->k;

	for (unsigned plen = c->k.shape; plen-- > 0;) {
		u128 mask = key_prefix_mask(bits, plen);
		uint64_t *slot;

		if (!(c->h->plens[plen / 64] >> plen % 64 & 1))
			continue;
		k.shape = plen;
		k.w[0] = c->k.w[0] & (uint64_t)(bits == 32 ? mask : mask >> 64);
		if (bits == 128)
			k.w[1] = c->k.w[1] & (uint64_t)mask;
		slot = hash_find(&c->t, &k, c->side);
		if (slot)
			return TRIE_SAYS(slot[0] & DP_SLOT_EXCEPTION ? SETMEM_EXCEPTION : SETMEM_IN, plen);
	}
	return DP_SET_SAYS;
}

static void paint_of(const struct change *c, bool is_removed, struct paint *p)
{
	bool is_ip6 = c->h->family == FAMILY_IP6;

	*p = (struct paint){ .lo = is_ip6 ? U128(c->k.w[0], c->k.w[1]) : c->k.w[0], .plen = c->k.shape, .is_ip6 = is_ip6,
			     .is_removed = is_removed };
	p->says = is_removed ? covering(c) :
			       TRIE_SAYS(c->k.flags & DP_SLOT_EXCEPTION ? SETMEM_EXCEPTION : SETMEM_IN, c->k.shape);
}

/* False: c->op.err, and nothing was changed. */
static bool paint_trie(struct change *c, bool is_removed)
{
	uint64_t *view = view_of(c->m, c->id, 0), was = view[c->side], now;
	struct paint p;

	if (!c->h->is_trie)
		return true;
	paint_of(c, is_removed, &p);
	now = trie_paint(&c->op, was, &p);
	if (c->op.err)
		return false;
	if (now != was)
		head_set(c->m, c->id, view, now);
	return true;
}

/* What a removal leaves behind is tidied up; if there is no room for that, it stays. */
static void tidy_trie(struct change *c)
{
	uint64_t *view = view_of(c->m, c->id, 0), was = view[c->side], now;
	struct paint p;
	struct op op;

	if (!c->h->is_trie)
		return;
	paint_of(c, true, &p);
	op_open(&op, c->m);
	now = trie_shrink(&op, was, &p);
	if (now != was)
		head_set(c->m, c->id, view, now);
	op_done(&op, c->h);
}

/* ---------- adding ---------- */

/* Room for one more in the table, which is made anew if need be; false: op.err. */
static bool make_room(struct change *c, bool is_needed)
{
	uint64_t made;

	if (!is_needed)
		return true;
	made = hash_grow(&c->op, c->h, c->entry, c->side);
	if (!made)
		return false;
	hash_drop(&c->op, c->entry);
	c->entry = made;
	hash_open(c->m, made, &c->t);
	return true;
}

/* The key in its shape; the table is another one if it has to be. NULL: op.err. */
static uint64_t *put(struct change *c, struct hash_key *k)
{
	uint64_t *slot;

	if (!c->h->is_trie && !hash_shape(&c->op, c->h, &c->entry, k))
		return NULL;
	hash_open(c->m, c->entry, &c->t);
	if (!make_room(c, hash_is_full(&c->t)))
		return NULL;
	while (!(slot = hash_insert(c->m, &c->t, k, c->sides)))
		if (!make_room(c, true))
			return NULL;
	return slot;
}

/* Publishes the table if it is another one. */
static void set_entry(struct change *c)
{
	uint64_t *pair = elems_of(c->m, c->id, 0);

	if (pair[c->side] != c->entry)
		head_set(c->m, c->id, pair, c->entry);
}

/* No table was published: a slot of the one that packets read is taken out again. */
static int undo(struct change *c, uint64_t *slot)
{
	struct hash now;

	hash_open(c->m, *elems_of(c->m, c->id, c->side), &now);
	if (slot && slot >= now.slot && slot < now.slot + hash_slots_words(&now))
		hash_remove(c->m, slot, c->sides);
	c->h->is_halfway = 0;
	return op_fail(&c->op);
}

/* One phase takes the element anew, the other keeps the *old. */
static uint64_t *put_beside(struct change *c, uint64_t **old)
{
	uint64_t *slot;

	if (!make_room(c, hash_is_full(&c->t)))
		return NULL;
	for (;;) {
		*old = hash_find(&c->t, &c->k, c->side);
		slot = hash_insert(c->m, &c->t, &c->k, c->sides);
		if (slot)
			break;
		if (!make_room(c, true))
			return NULL;
	}
	hash_remove(c->m, *old, c->sides);
	return slot;
}

static int add_beside(struct change *c)
{
	uint64_t *old, *slot = put_beside(c, &old);
	int err;

	if (slot && paint_trie(c, false)) {
		set_entry(c);
		change_done(c);
		return 0;
	}
	err = undo(c, slot);
	if (slot)
		image_publish(old, old[0] | c->sides);
	return err;
}

/* Another time or another answer for an element that is there. */
static int add_again(struct change *c, uint64_t *slot)
{
	uint64_t kept = slot[0] & ((1ull << DP_SLOT_EXPIRES_SHIFT) - 1) & ~DP_SLOT_EXCEPTION;

	if (((slot[0] ^ c->k.flags) & DP_SLOT_EXCEPTION) == 0 && !c->h->has_default_timeout)
		return -EEXIST;
	change_begin(c);
	if (c->sides != 3)
		return add_beside(c);
	if (!paint_trie(c, false))
		return undo(c, NULL);
	image_publish(slot, kept | c->k.flags | c->k.expires << DP_SLOT_EXPIRES_SHIFT);
	change_done(c);
	return 0;
}

static bool is_full_set(const struct change *c)
{
	return c->h->max_elems && c->h->n_elems[c->side] >= c->h->max_elems;
}

static int add_new(struct change *c)
{
	const uint64_t *slots = c->t.slot;
	struct hash_key end = c->k;
	uint64_t *slot;

	if (is_full_set(c))
		return -E2BIG;
	change_begin(c);
	key_end(c->h, &end);
	slot = put(c, &c->k);
	if (!slot || !paint_trie(c, false) || (key_has_ends(c->h) && !find(c, &end) && !put(c, &end)))
		return undo(c, slot);
	if (c->h->is_trie)
		c->h->plens[c->k.shape / 64] |= 1ull << c->k.shape % 64;
	set_entry(c);
	count_elems(c, 1);
	if (c->t.slot != slots && c->h->has_default_timeout)
		count_again(c);
	change_done(c);
	return 0;
}

/* A set that is full of elements whose time is past is made anew without them. */
static void expire(struct change *c)
{
	uint64_t at = 0, n = 0;
	struct hash_key k;

	if (!c->h->has_default_timeout || !is_full_set(c) || c->sides != 3)
		return;
	while (hash_next(c->m, &c->t, &at, c->side, &k))
		n += !(k.flags & DP_SLOT_END);
	if (n == c->h->n_elems[c->side] || !make_room(c, true))
		return;
	set_entry(c);
	c->h->n_elems[0] = c->h->n_elems[1] = n;
	op_done(&c->op, c->h);
	op_open(&c->op, c->m);
}

int setmem_add(struct setmem *m, uint32_t id, const struct set_elem *el)
{
	struct change c;
	uint64_t *slot;
	int err = change_open(&c, m, id, el);

	if (err)
		return err;
	slot = find(&c, &c.k);
	if (slot)
		return add_again(&c, slot);
	expire(&c);
	return add_new(&c);
}

/* ---------- removing ---------- */

/* Does another element lie in this network? */
static bool has_other(const struct change *c, const struct hash_key *end)
{
	unsigned n = key_words(c->h, 0);
	struct hash_key k;
	uint64_t at = 0;

	while (hash_next(c->m, &c->t, &at, c->side, &k)) {
		if (k.flags & DP_SLOT_END || memcmp(k.w, end->w, n * sizeof *k.w) != 0)
			continue;
		find_shape(&c->t, &k, true);
		if (memcmp(k.mask, end->mask, n * sizeof *k.mask) == 0)
			return true;
	}
	return false;
}

static void remove_end(struct change *c)
{
	struct hash_key end = c->k;
	uint64_t *slot;

	key_end(c->h, &end);
	slot = find(c, &end);
	if (slot && !has_other(c, &end))
		hash_remove(c->m, slot, c->sides);
}

int setmem_del(struct setmem *m, uint32_t id, const struct set_elem *el)
{
	struct change c;
	uint64_t *slot;
	bool was_past;
	int err = change_open(&c, m, id, el);

	if (err)
		return err;
	slot = find(&c, &c.k);
	if (!slot)
		return -ENOENT;
	was_past = is_past(m, slot[0]);
	change_begin(&c);
	if (!paint_trie(&c, true))
		return undo(&c, NULL);
	hash_remove(m, slot, c.sides);
	if (key_has_ends(c.h))
		remove_end(&c);
	count_elems(&c, -1);
	change_done(&c);
	tidy_trie(&c);
	return was_past ? -ENOENT : 0;
}
