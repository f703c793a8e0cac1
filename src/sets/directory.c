/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The directory of an image: which sets there are, and for which rules. See inside.h. */
#include "sets/inside.h"

#include <string.h>
#include <time.h>

struct head *head_of(const struct setmem *m, uint32_t id)
{
	uint64_t at = id < DP_MAX_SETS ? m->word[IMAGE_HEADS + id] : 0;

	return at ? (struct head *)(m->word + at) : NULL;
}

uint64_t *view_of(const struct setmem *m, uint32_t id, unsigned phase)
{
	return &m->word[DP_SETS_VIEW + 2 * (size_t)id + phase];
}

uint64_t *elems_of(const struct setmem *m, uint32_t id, unsigned phase)
{
	struct head *h = head_of(m, id);

	return h->is_trie ? &h->store[phase] : view_of(m, id, phase);
}

static struct str text_of(const char *p, size_t size)
{
	return (struct str){ p, strnlen(p, size) };
}

uint32_t setmem_next(const struct setmem *m, uint32_t id)
{
	for (id = id == SETMEM_NONE ? 0 : id + 1; id < DP_MAX_SETS; id++)
		if (head_of(m, id))
			return id;
	return SETMEM_NONE;
}

uint32_t setmem_find(const struct setmem *m, struct str name)
{
	for (uint32_t id = setmem_next(m, SETMEM_NONE); id != SETMEM_NONE; id = setmem_next(m, id)) {
		const struct head *h = head_of(m, id);

		if ((h->born == 0 || h->born == m->serial) && (h->died == 0 || h->died != m->serial) &&
		    str_eq(text_of(h->name, sizeof h->name), name))
			return id;
	}
	return SETMEM_NONE;
}

bool setmem_info(const struct setmem *m, uint32_t id, struct setmem_info *out)
{
	const struct head *h = head_of(m, id);
	unsigned side = image_side(m);
	struct hash t;

	if (!h)
		return false;
	hash_open(m, *elems_of(m, id, side), &t);
	*out = (struct setmem_info){
		.id = id, .name = text_of(h->name, sizeof h->name), .type = text_of(h->type, sizeof h->type),
		.options = text_of(h->options, sizeof h->options), .family = (enum family)h->family, .has_addrs = h->has_addrs,
		.has_default_timeout = h->has_default_timeout, .has_counters = h->has_counters,
		.has_comments = h->has_comments, .forceadd = h->forceadd, .is_changed = h->is_changed,
		.is_runtime = h->is_runtime, .is_trie = h->is_trie, .default_timeout_s = h->default_timeout_s,
		.max_elems = h->max_elems, .n_elems = h->n_elems[side], .declared = h->declared,
		.n_words = h->words[side], .n_shapes = h->is_trie ? 1 : t.n_shapes, .born = h->born, .died = h->died,
		.built_at_s = h->built_at_s,
	};
	return true;
}

static void put_text(char *to, size_t size, struct str from)
{
	size_t n = from.n < size - 1 ? from.n : size - 1;

	memset(to, 0, size);
	if (n)
		memcpy(to, from.p, n);
}

static bool is_trie(const struct set *s)
{
	return s->n_dims == 1 && s->dim[0] == SET_DIM_NET && !s->has_default_timeout && !s->has_bitmask;
}

void head_fill(struct head *h, const struct set *s)
{
	*h = (struct head){
		.n_dims = s->n_dims, .family = (uint8_t)s->family, .has_addrs = s->has_addrs, .netmask = s->netmask,
		.has_bitmask = s->has_bitmask, .has_range = s->has_range, .has_default_timeout = s->has_default_timeout,
		.has_counters = s->has_counters, .has_comments = s->has_comments, .has_skbinfo = s->has_skbinfo,
		.forceadd = s->forceadd, .is_trie = is_trie(s), .mark_mask = s->mark_mask,
		.default_timeout_s = s->default_timeout_s, .max_elems = s->max_elems,
		.bitmask = { (uint64_t)(s->bitmask >> 64), (uint64_t)s->bitmask },
		.range_lo = { (uint64_t)(s->range_lo >> 64), (uint64_t)s->range_lo },
		.range_hi = { (uint64_t)(s->range_hi >> 64), (uint64_t)s->range_hi },
		.built_at_s = (uint64_t)time(NULL),
	};
	put_text(h->name, sizeof h->name, s->name);
	put_text(h->type, sizeof h->type, s->type);
	put_text(h->options, sizeof h->options, s->options);
	for (unsigned d = 0; d < s->n_dims; d++)
		h->dim[d] = (uint8_t)s->dim[d];
	memcpy(h->value_bits, s->value_bits, sizeof h->value_bits);
	for (unsigned d = 0; d < s->n_dims; d++)
		h->key_words = (uint8_t)(h->key_words + key_words(h, d));
}

struct set *setmem_model(struct arena *a, const struct setmem *m, uint32_t id)
{
	const struct head *h = head_of(m, id);
	struct set *s;

	if (!h)
		return NULL;
	s = arena_new(a, struct set, 1);
	*s = (struct set){
		.name = arena_str(a, h->name, strnlen(h->name, sizeof h->name)),
		.type = arena_str(a, h->type, strnlen(h->type, sizeof h->type)),
		.options = arena_str(a, h->options, strnlen(h->options, sizeof h->options)),
		.family = (enum family)h->family, .has_addrs = h->has_addrs, .n_dims = h->n_dims, .netmask = h->netmask,
		.has_bitmask = h->has_bitmask, .bitmask = U128(h->bitmask[0], h->bitmask[1]), .mark_mask = h->mark_mask,
		.has_range = h->has_range, .range_lo = U128(h->range_lo[0], h->range_lo[1]),
		.range_hi = U128(h->range_hi[0], h->range_hi[1]), .max_elems = h->max_elems,
		.has_default_timeout = h->has_default_timeout, .has_counters = h->has_counters,
		.has_comments = h->has_comments, .has_skbinfo = h->has_skbinfo, .forceadd = h->forceadd,
		.default_timeout_s = h->default_timeout_s,
	};
	for (unsigned d = 0; d < h->n_dims; d++)
		s->dim[d] = (enum set_dim)h->dim[d];
	memcpy(s->value_bits, h->value_bits, sizeof s->value_bits);
	return s;
}

/* ---------- what was declared ---------- */

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * DP_HASH_MUL;
	return h ^ h >> 29;
}

static uint64_t mix_text(uint64_t h, struct str s)
{
	h = mix(h, s.n);
	for (size_t i = 0; i < s.n; i++)
		h = mix(h, (uint8_t)s.p[i]);
	return h;
}

static uint64_t mix_value(uint64_t h, u128 v)
{
	return mix(mix(h, (uint64_t)(v >> 64)), (uint64_t)v);
}

static uint64_t elem_hash(const struct set *s, const struct set_elem *el)
{
	uint64_t h = (uint64_t)(el->nomatch | el->wildcard << 1 | el->has_timeout << 2) | (uint64_t)el->timeout_s << 8;

	for (unsigned d = 0; d < s->n_dims; d++)
		h = mix(mix_value(h, el->v[d]), el->plen[d]);
	return mix(h, 1);
}

uint64_t setmem_declared(const struct set *s)
{
	uint64_t h = mix_text(mix_text(mix_text(1, s->name), s->type), s->options), sum = 0;

	h = mix(h, (uint64_t)s->family | (uint64_t)(s->has_default_timeout << 8 | s->forceadd << 9) | (uint64_t)s->netmask << 16 |
			   (uint64_t)s->default_timeout_s << 32);
	h = mix_value(mix(mix(h, s->max_elems), s->mark_mask), s->has_bitmask ? s->bitmask : 0);
	h = mix_value(mix_value(h, s->has_range ? s->range_lo : 0), s->has_range ? s->range_hi : 0);
	for (unsigned d = 0; d < s->n_dims; d++)
		h = s->dim[d] == SET_DIM_VALUE ? mix(h, (uint64_t)d << 8 | s->value_bits[d]) : h;
	for (size_t i = 0; i < s->elems.n; i++)
		sum += elem_hash(s, &s->elems.v[i]); /* in any order */
	return mix(mix(h, s->elems.n), sum);
}

/* ---------- coming and going ---------- */

void setmem_die(struct setmem *m, uint32_t id, uint32_t serial)
{
	head_of(m, id)->died = serial;
}

void setmem_tidy(struct setmem *m)
{
	for (uint32_t id = setmem_next(m, SETMEM_NONE); id != SETMEM_NONE; id = setmem_next(m, id)) {
		struct head *h = head_of(m, id);
		bool never_was = h->born && h->born != m->serial, is_over = h->died && h->died == m->serial;

		if (never_was || is_over) {
			setmem_remove(m, id); /* if not now, then the next time */
			continue;
		}
		h->born = 0;
		h->died = 0;
	}
}
