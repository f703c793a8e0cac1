/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fields and their classes. See classdim.h. */
#include "classify/classdim.h"

#include <stdlib.h>
#include <string.h>

/* ---------- sets of rules ---------- */

void class_sets_open(struct class_sets *s, struct arena *a, size_t words)
{
	*s = (struct class_sets){ .a = a, .words = words, .n_slots = 64 };
	s->slot = arena_new(a, uint32_t, s->n_slots);
}

const uint64_t *class_sets_at(const struct class_sets *s, size_t i)
{
	return s->v + i * s->words;
}

static size_t hash(const uint64_t *set, size_t words)
{
	uint64_t h = words;

	for (size_t i = 0; i < words; i++) {
		h = (h ^ set[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return (size_t)(h * 0xbf58476d1ce4e5b9ull >> 24);
}

static size_t slot_of(const struct class_sets *s, const uint64_t *set)
{
	size_t i = hash(set, s->words) & (s->n_slots - 1);

	while (s->slot[i] && memcmp(class_sets_at(s, s->slot[i] - 1), set, s->words * sizeof *set) != 0)
		i = (i + 1) & (s->n_slots - 1);
	return i;
}

static void grow(struct class_sets *s)
{
	s->n_slots *= 4;
	s->slot = arena_new(s->a, uint32_t, s->n_slots);
	for (size_t i = 0; i < s->n; i++)
		s->slot[slot_of(s, class_sets_at(s, i))] = (uint32_t)i + 1;
}

uint32_t class_sets_add(struct class_sets *s, const uint64_t *set)
{
	size_t i;

	if (2 * s->n >= s->n_slots)
		grow(s);
	i = slot_of(s, set);
	if (s->slot[i])
		return s->slot[i] - 1;
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 32;
		uint64_t *v = arena_new(s->a, uint64_t, cap * s->words);

		if (s->n)
			memcpy(v, s->v, s->n * s->words * sizeof *v);
		s->v = v;
		s->cap = cap;
	}
	memcpy(s->v + s->n * s->words, set, s->words * sizeof *set);
	s->slot[i] = (uint32_t)++s->n;
	return (uint32_t)s->n - 1;
}

/* ---------- ranges ---------- */

struct event {
	uint32_t at, rule;
};

static int by_place(const void *x, const void *y)
{
	const struct event *a = x, *b = y;

	return (a->at > b->at) - (a->at < b->at);
}

static void flip(uint64_t *set, uint32_t bit)
{
	set[bit / 64] ^= 1ull << bit % 64;
}

static void put_range(struct class_dim *d, uint32_t start, const uint64_t *set)
{
	uint32_t class = class_sets_add(&d->sets, set);

	if (d->n && d->class[d->n - 1] == class)
		return;
	d->start[d->n] = start;
	d->class[d->n++] = class;
}

/* Where rules begin and end, in order; *set: the rules that begin at 0. */
static size_t find_events(const struct class_rules *r, enum box_dim dim, struct event *event, uint64_t *set)
{
	uint32_t max = box_dim_max(dim);
	size_t n = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		const struct box *b = &r->rule[i].box->box;

		if (b->lo[dim] == 0)
			flip(set, r->bit[i]);
		else
			event[n++] = (struct event){ b->lo[dim], r->bit[i] };
		if (b->hi[dim] != max)
			event[n++] = (struct event){ b->hi[dim] + 1, r->bit[i] };
	}
	qsort(event, n, sizeof *event, by_place);
	return n;
}

static void read_ranges(struct arena *a, const struct class_rules *r, struct class_dim *d)
{
	struct event *event = arena_new(a, struct event, 2 * r->n);
	uint64_t *set = arena_new(a, uint64_t, r->words);
	size_t n = find_events(r, (enum box_dim)d->box_dim, event, set);

	d->start = arena_new(a, uint32_t, n + 1);
	d->class = arena_new(a, uint32_t, n + 1);
	put_range(d, 0, set);
	for (size_t i = 0; i < n;) {
		uint32_t at = event[i].at;

		for (; i < n && event[i].at == at; i++)
			flip(set, event[i].rule);
		put_range(d, at, set);
	}
}

/* ---------- small fields that rules narrow by bits ---------- */

/* Bits that say that a field is there are certain where the rule asks for a value of the field that is not 0. */
static uint32_t asked_l4(const struct box *b)
{
	uint32_t mask = b->l4_mask, sure = 0;

	if (b->lo[BOX_SPORT] || b->lo[BOX_DPORT])
		sure |= DP_HAS_PORTS;
	if (b->lo[BOX_FLAGS] || (b->l4_mask & b->l4_value & 0xff0000))
		sure |= DP_HAS_PORTS | DP_HAS_TCP;
	return mask & ~(sure & b->l4_value);
}

/* So it is with the names of interfaces. */
static uint64_t asked_dev(const struct class_box *x)
{
	const uint32_t *lo = x->box.lo;
	uint64_t sure = 0;

	if (lo[BOX_IIF3] || lo[BOX_IIF2] || lo[BOX_IIF1] || lo[BOX_IIF0])
		sure |= DP_HAS_IIF;
	if (lo[BOX_OIF3] || lo[BOX_OIF2] || lo[BOX_OIF1] || lo[BOX_OIF0])
		sure |= DP_HAS_OIF;
	return x->dev_mask & ~(sure & x->dev_value);
}

static uint64_t asked(const struct class_box *b, unsigned word)
{
	return word == DP_W_L4 ? asked_l4(&b->box) : word == DP_W_DEV ? asked_dev(b) : b->ct_mask;
}

static uint64_t value_of(const struct class_box *b, unsigned word)
{
	return word == DP_W_L4 ? b->box.l4_value : word == DP_W_DEV ? b->dev_value : b->ct_value;
}

/* Bits of the word that the field's value stands for, and their values. */
static uint64_t mask_of(const struct class_dim *d)
{
	if (d->box_dim == BOX_FLAGS)
		return 0xff0000 | DP_HAS_PORTS | DP_HAS_TCP;
	return ((1ull << d->bits) - 1) << d->shift;
}

static uint64_t word_of(const struct class_dim *d, uint32_t v)
{
	return d->box_dim == BOX_FLAGS ? (v & 0xff) << 16 | v >> 8 : (uint64_t)v << d->shift;
}

static bool has_value(const struct class_dim *d, const struct class_box *b, uint32_t v)
{
	uint32_t own = d->box_dim == BOX_FLAGS ? v & 0xff : v;

	if (d->box_dim != BOX_DIMS && (own < b->box.lo[d->box_dim] || own > b->box.hi[d->box_dim]))
		return false;
	return !((word_of(d, v) ^ value_of(b, d->word)) & asked(b, d->word) & mask_of(d));
}

static void read_values(struct arena *a, const struct class_rules *r, struct class_dim *d)
{
	uint32_t n = 1u << d->bits;
	uint64_t *set = arena_new(a, uint64_t, n * r->words), *wild = arena_new(a, uint64_t, r->words);

	for (size_t i = 0; i < r->n; i++) {
		const struct class_box *b = r->rule[i].box;
		bool is_wild = !(asked(b, d->word) & mask_of(d)) &&
			       (d->box_dim == BOX_DIMS || (b->box.lo[d->box_dim] == 0 && b->box.hi[d->box_dim] == 0xff));

		if (is_wild)
			flip(wild, r->bit[i]);
		for (uint32_t v = 0; v < n && !is_wild; v++)
			if (has_value(d, b, v))
				flip(set + v * r->words, r->bit[i]);
	}
	d->start = arena_new(a, uint32_t, n);
	d->class = arena_new(a, uint32_t, n);
	for (uint32_t v = 0; v < n; v++) {
		for (size_t k = 0; k < r->words; k++)
			set[v * r->words + k] |= wild[k];
		put_range(d, v, set + v * r->words);
	}
}

/* ---------- all fields ---------- */

static void add(struct arena *a, const struct class_rules *r, struct class_dim d, struct class_dim *dim, size_t *n)
{
	class_sets_open(&d.sets, a, r->words);
	if (d.box_dim == BOX_DIMS || d.box_dim == BOX_PROTO || d.box_dim == BOX_FLAGS)
		read_values(a, r, &d);
	else
		read_ranges(a, r, &d);
	if (d.sets.n > 1 || memcmp(d.sets.v, r->all, r->words * sizeof *r->all) != 0) /* or some rule matches nowhere */
		dim[(*n)++] = d;
}

/* Bits of a word that are asked for besides whole fields, as slices. */
static void add_bits(struct arena *a, const struct class_rules *r, unsigned word, struct class_dim *dim, size_t *n)
{
	uint64_t bits = 0, low;

	for (size_t i = 0; i < r->n; i++)
		bits |= asked(r->rule[i].box, word);
	if (word == DP_W_L4)
		bits &= 0xffff & ~(uint64_t)(DP_HAS_PORTS | DP_HAS_TCP);
	while (bits) {
		unsigned shift = (unsigned)__builtin_ctzll(bits);

		low = bits & (0xffull << shift);
		add(a, r, (struct class_dim){ .word = (uint8_t)word, .shift = (uint8_t)shift,
					      .bits = (uint8_t)(64 - __builtin_clzll(low) - (int)shift), .box_dim = BOX_DIMS },
		    dim, n);
		bits &= ~low;
	}
}

size_t class_dims(struct arena *a, const struct class_rules *r, struct class_dim dim[CLASS_DIMS])
{
	size_t n = 0;

	for (unsigned d = 0; d < BOX_DIMS; d++) {
		uint32_t max = box_dim_max((enum box_dim)d);
		bool is_used = false;

		for (size_t i = 0; i < r->n && !is_used; i++) {
			const struct box *b = &r->rule[i].box->box;

			is_used = b->lo[d] != 0 || b->hi[d] != max || (d == BOX_PROTO && b->l4_mask >> 24) ||
				  (d == BOX_FLAGS && (asked_l4(b) & (0xff0000 | DP_HAS_PORTS | DP_HAS_TCP)));
		}
		if (is_used)
			add(a, r, (struct class_dim){ .word = box_places[d].word, .shift = box_places[d].shift,
						      .bits = d == BOX_FLAGS ? 10 : box_places[d].bits, .box_dim = (uint8_t)d },
			    dim, &n);
	}
	add_bits(a, r, DP_W_L4, dim, &n);
	add_bits(a, r, DP_W_DEV, dim, &n);
	add_bits(a, r, DP_W_CT, dim, &n);
	return n;
}
