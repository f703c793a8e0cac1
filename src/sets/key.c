/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Elements as key words under masks, and back.
 *
 *     192.0.2.0/24,tcp:80     words c0000200 60050     masks ffffff00 ffffffffffffffff
 *
 * In a set of networks and interfaces the search ends at the longest network that has any interface, so each network has
 * one more element, which ends it. The key of a trie's element is the address alone: its prefix length is its shape.
 */
#include "sets/inside.h"

unsigned key_words(const struct head *h, unsigned dim)
{
	switch ((enum set_dim)h->dim[dim]) {
	case SET_DIM_ADDR:
	case SET_DIM_NET:
		return h->family == FAMILY_IP4 ? 1 : 2;
	case SET_DIM_IFACE:
		return 2;
	case SET_DIM_VALUE:
		return h->value_bits[dim] > 64 ? 2 : 1;
	default:
		return 1;
	}
}

u128 key_prefix_mask(unsigned bits, unsigned plen)
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
	return el->wildcard && el->v[dim] == 0 ? 0 : mask;
}

static u128 dim_mask(const struct head *h, const struct set_elem *el, unsigned dim)
{
	unsigned bits = h->family == FAMILY_IP4 ? 32 : 128;
	u128 mask;

	switch ((enum set_dim)h->dim[dim]) {
	case SET_DIM_NET:
		mask = key_prefix_mask(bits, el->plen[dim]);
		break;
	case SET_DIM_ADDR:
		mask = key_prefix_mask(bits, h->netmask ? h->netmask : bits);
		break;
	case SET_DIM_IFACE:
		return name_mask(el, dim);
	case SET_DIM_VALUE:
		return key_prefix_mask(h->value_bits[dim], el->plen[dim]);
	case SET_DIM_MARK:
		return h->mark_mask ? h->mark_mask : UINT32_MAX;
	default:
		return ~(uint64_t)0;
	}
	return dim == 0 && h->has_bitmask ? mask & U128(h->bitmask[0], h->bitmask[1]) : mask;
}

static uint64_t expires_at(const struct setmem *m, const struct head *h, const struct set_elem *el)
{
	uint64_t s = el->has_timeout ? el->timeout_s : h->default_timeout_s;

	return h->has_default_timeout && s ? m->now + s * m->hz : 0;
}

static bool is_of_set(const struct head *h, const struct set_elem *el)
{
	u128 lo = U128(h->range_lo[0], h->range_lo[1]), hi = U128(h->range_hi[0], h->range_hi[1]);

	if (el->physdev || el->mac_any || (el->has_timeout && el->timeout_s && !h->has_default_timeout))
		return false;
	for (unsigned d = 0; d < h->n_dims; d++)
		if ((h->dim[d] == SET_DIM_NET || h->dim[d] == SET_DIM_ADDR) && h->family == FAMILY_IP4 &&
		    (el->v[d] > UINT32_MAX || (h->dim[d] == SET_DIM_NET && el->plen[d] > 32)))
			return false;
	for (unsigned d = 0; d < h->n_dims; d++)
		if (h->dim[d] == SET_DIM_VALUE && (el->v[d] & ~key_prefix_mask(h->value_bits[d], h->value_bits[d])))
			return false;
	return !h->has_range || (el->v[0] >= lo && el->v[0] <= hi);
}

bool key_make(const struct setmem *m, const struct head *h, const struct set_elem *el, struct hash_key *k)
{
	unsigned n = 0;

	*k = (struct hash_key){ .flags = el->nomatch ? DP_SLOT_EXCEPTION : 0, .expires = expires_at(m, h, el) };
	if (!is_of_set(h, el))
		return false;
	for (unsigned d = 0; d < h->n_dims; d++) {
		u128 mask = dim_mask(h, el, d), v = el->v[d] & mask;

		if (key_words(h, d) == 2) {
			k->mask[n] = (uint64_t)(mask >> 64);
			k->w[n++] = (uint64_t)(v >> 64);
		}
		k->mask[n] = (uint64_t)mask;
		k->w[n++] = (uint64_t)v;
	}
	if (h->is_trie)
		k->shape = el->plen[0];
	return true;
}

bool key_has_ends(const struct head *h)
{
	return strcmp(h->type, "hash:net,iface") == 0;
}

void key_end(const struct head *h, struct hash_key *k)
{
	for (unsigned i = key_words(h, 0); i < DP_SET_WORDS; i++)
		k->w[i] = k->mask[i] = 0;
	k->flags = DP_SLOT_END;
	k->expires = 0;
}

static uint8_t bits_of(u128 mask)
{
	return (uint8_t)(__builtin_popcountll((uint64_t)(mask >> 64)) + __builtin_popcountll((uint64_t)mask));
}

void key_elem(const struct setmem *m, const struct head *h, const struct hash_key *k, struct set_elem *out)
{
	unsigned n = 0, width = h->family == FAMILY_IP4 ? 32 : 128;

	memset(out, 0, sizeof *out);
	for (unsigned d = 0; d < h->n_dims; d++) {
		u128 mask = 0;

		if (key_words(h, d) == 2) {
			mask = U128(k->mask[n], 0);
			out->v[d] = U128(k->w[n++], 0);
		}
		mask |= k->mask[n];
		out->v[d] |= k->w[n++];
		out->plen[d] = (uint8_t)width;
		if (h->dim[d] == SET_DIM_NET)
			out->plen[d] = h->is_trie ? (uint8_t)k->shape : bits_of(mask);
		if (h->dim[d] == SET_DIM_VALUE)
			out->plen[d] = bits_of(mask);
		if (h->dim[d] == SET_DIM_IFACE)
			out->wildcard = mask != ~(u128)0;
	}
	out->nomatch = k->flags & DP_SLOT_EXCEPTION;
	if (h->has_default_timeout) {
		out->has_timeout = true;
		out->timeout_s = k->expires > m->now ? (uint32_t)((k->expires - m->now + m->hz - 1) / m->hz) : 0;
	}
}
