/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declared elements of a set, found by value. See sets.h.
 *
 * Elements hash by all dimensions but those that a look-up cannot give exactly: an interface may be a prefix, an address
 * in a bitmap may stand for any MAC. Those hang in one chain and are looked at one by one, in the order of the file.
 */
#include "eval/sets.h"

static uint32_t addr_bits(const struct set *s)
{
	return s->family == FAMILY_IP4 ? 32 : 128;
}

unsigned index_bits(const struct set *s, unsigned dim)
{
	return s->dim[dim] == SET_DIM_VALUE ? s->value_bits[dim] : addr_bits(s);
}

bool index_has_prefixes(const struct set_index *ix, unsigned dim)
{
	return ix->set->dim[dim] == SET_DIM_NET || ix->set->dim[dim] == SET_DIM_VALUE;
}

static u128 mask_of(uint32_t bits, uint32_t plen)
{
	u128 all = bits >= 128 ? ~(u128)0 : ((u128)1 << bits) - 1;

	if (plen >= bits)
		return all;
	return plen == 0 ? 0 : all & ~(((u128)1 << (bits - plen)) - 1);
}

void index_mask(const struct set_index *ix, struct set_elem *el)
{
	for (unsigned i = 0; i < ix->set->n_dims; i++) {
		if (index_has_prefixes(ix, i))
			el->v[i] &= mask_of(index_bits(ix->set, i), el->plen[i]);
		else if (ix->set->dim[i] == SET_DIM_ADDR && ix->set->netmask)
			el->v[i] &= mask_of(addr_bits(ix->set), ix->set->netmask);
		else if (ix->set->dim[i] == SET_DIM_MARK && ix->set->mark_mask)
			el->v[i] &= ix->set->mark_mask;
	}
	if (ix->set->has_bitmask)
		el->v[0] &= ix->set->bitmask;
}

static bool in_key(const struct set_index *ix, unsigned i)
{
	return ix->set->dim[i] != SET_DIM_IFACE && !(ix->is_bitmap && ix->set->dim[i] == SET_DIM_MAC);
}

static uint64_t hash_elem(const struct set_index *ix, const struct set_elem *el)
{
	uint64_t h = 0x9e3779b97f4a7c15u;

	for (unsigned i = 0; i < ix->set->n_dims; i++) {
		if (!in_key(ix, i))
			continue;
		h = (h ^ (uint64_t)el->v[i] ^ (uint64_t)(el->v[i] >> 64)) * 0xff51afd7ed558ccdu;
		h = (h ^ h >> 31) + (index_has_prefixes(ix, i) ? el->plen[i] : 0u);
	}
	return h ^ h >> 29;
}

static bool same_key(const struct set_index *ix, const struct set_elem *x, const struct set_elem *y)
{
	for (unsigned i = 0; i < ix->set->n_dims; i++) {
		if (!in_key(ix, i))
			continue;
		if (x->v[i] != y->v[i] || (index_has_prefixes(ix, i) && x->plen[i] != y->plen[i]))
			return false;
	}
	return true;
}

static void read_type(struct set_index *ix)
{
	const struct set *s = ix->set;

	ix->is_list = s->n_dims == 1 && s->dim[0] == SET_DIM_LIST;
	ix->is_bitmap = str_starts(s->type, "bitmap:");
	ix->is_bitmap_port = str_is(s->type, "bitmap:port");
	ix->is_hash_ip = str_is(s->type, "hash:ip");
	for (unsigned i = 0; i < s->n_dims; i++) {
		ix->has_nets |= s->dim[i] == SET_DIM_NET;
		ix->has_iface |= s->dim[i] == SET_DIM_IFACE;
	}
}

static void add_elem(struct set_index *ix, uint32_t i)
{
	struct set_elem el = ix->set->elems.v[i];
	uint32_t slot;

	index_mask(ix, &el);
	for (unsigned k = 0; k < ix->set->n_dims; k++)
		if (index_has_prefixes(ix, k) && el.plen[k] <= 128)
			ix->plen_used[k][el.plen[k]] = true;
	slot = (uint32_t)(hash_elem(ix, &el) & (ix->n_slots - 1));
	ix->next[i] = ix->slot[slot];
	ix->slot[slot] = i + 1;
}

void index_make(struct arena *a, struct set_index *ix, const struct set *s)
{
	uint32_t n = (uint32_t)s->elems.n;

	ix->set = s;
	read_type(ix);
	ix->n_slots = 16;
	while (ix->n_slots < n)
		ix->n_slots *= 2;
	ix->slot = arena_new(a, uint32_t, ix->n_slots);
	ix->next = arena_new(a, uint32_t, n + 1);
	for (uint32_t i = n; i-- > 0;) /* from the back: chains are in the order of the file */
		add_elem(ix, i);
	for (unsigned k = 0; k < s->n_dims; k++) {
		ix->plen_max[k] = index_bits(s, k);
		for (unsigned p = index_bits(s, k) + 1; p-- > 0;)
			if (ix->plen_used[k][p]) {
				ix->plen_max[k] = p;
				break;
			}
	}
}

void index_by_field(struct set_index *ix)
{
	for (unsigned k = 0; k < ix->set->n_dims; k++)
		if (index_has_prefixes(ix, k))
			ix->plen_max[k] = index_bits(ix->set, k);
}

uint32_t index_find(const struct set_index *ix, const struct set_elem *key, uint32_t from)
{
	uint32_t i = from ? ix->next[from - 1] : ix->slot[hash_elem(ix, key) & (ix->n_slots - 1)];

	for (; i; i = ix->next[i - 1]) {
		struct set_elem el = ix->set->elems.v[i - 1];

		index_mask(ix, &el);
		if (same_key(ix, &el, key))
			return i - 1;
	}
	return UINT32_MAX;
}
