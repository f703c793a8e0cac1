/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The library's image of sets (sets/setmem.h), asked in user space. */
#include <errno.h>
#include <string.h>

#include "sets/setmem.h"
#include "sets/ways.h"

struct library {
	struct setmem m;
	uint32_t id;
	uint32_t key[MAKE_KEYS];
	uint64_t found;
};

static struct set *declared(struct arena *a, bool is_hosts)
{
	struct set *s = arena_new(a, struct set, 1);

	s->name = STR("bench");
	s->type = is_hosts ? STR("hash:ip") : STR("hash:net");
	s->family = FAMILY_IP4;
	s->has_addrs = true;
	s->dim[0] = is_hosts ? SET_DIM_ADDR : SET_DIM_NET;
	s->n_dims = 1;
	s->netmask = 32;
	s->max_elems = 1 << 24;
	return s;
}

static const char *open(struct way *w, const struct bench *b, double *ms)
{
	struct library *l = w->own = arena_new(b->a, struct library, 1);
	struct set *s = declared(b->a, b->is_hosts);
	struct setmem_span *span = arena_new(b->a, struct setmem_span, b->n);
	struct setmem_source src = { .overlap = SETMEM_MERGE, .span = span, .n_spans = b->n };
	unsigned log2 = SETMEM_MIN_LOG2;
	uint64_t *word;
	int err;

	for (size_t i = 0; i < b->n; i++)
		span[i] = (struct setmem_span){ .lo = b->net[i].addr,
						.hi = b->net[i].addr + (uint32_t)((1ull << (32 - b->net[i].plen)) - 1) };
	while (SETMEM_FIXED_WORDS + 2 * setmem_words_for(s, b->n + WAYS_ADDED) > 1ull << log2)
		log2++;
	word = arena_new(b->a, uint64_t, 1ull << log2);
	*ms = 1e18;
	for (unsigned i = 0; i < 3; i++) {
		double start;

		setmem_create(&l->m, word, log2);
		start = ways_now_ns();
		err = setmem_build(&l->m, s, &src, &l->id, NULL);
		start = (ways_now_ns() - start) / 1e6;
		*ms = start < *ms ? start : *ms;
		if (err)
			return "the image is too small";
	}
	return NULL;
}

static void keys(struct way *w, const uint32_t key[MAKE_KEYS])
{
	struct library *l = w->own;

	memcpy(l->key, key, sizeof l->key);
}

static double run(struct way *w, bool base)
{
	struct library *l = w->own;
	struct set_elem el = { .plen = { 32 } };
	double start = ways_now_ns();
	uint64_t found = 0;

	for (size_t i = 0; i < MAKE_KEYS; i++) {
		el.v[0] = l->key[i];
		found += base ? (uint64_t)el.v[0] & 1 : (uint64_t)setmem_match(&l->m, l->id, &el);
	}
	l->found += found;
	return (ways_now_ns() - start) / MAKE_KEYS;
}

static int add(struct way *w, uint32_t addr)
{
	struct library *l = w->own;
	struct set_elem el = { .v = { addr }, .plen = { 32 } };
	int err = setmem_add(&l->m, l->id, &el);

	if (err != -EAGAIN)
		return err;
	setmem_grace(&l->m); /* nobody reads it */
	return setmem_add(&l->m, l->id, &el);
}

const struct way way_library = { "weir's library, user space", open, keys, run, add, NULL, NULL };
