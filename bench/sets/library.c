/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The library's image of sets (sets/setmem.h), asked in user space. */
#include <string.h>

#include "sets/model.h"
#include "sets/ways.h"

struct library {
	struct setmem m;
	uint32_t id;
	uint32_t key[MAKE_KEYS];
	uint64_t found;
};

static const char *open(struct way *w, const struct bench *b, double *ms)
{
	struct library *l = w->own = arena_new(b->a, struct library, 1);
	struct set *s = model_declare(b->a, b->is_hosts);
	struct setmem_source src = { .overlap = SETMEM_MERGE, .span = model_spans(b->a, b->net, b->n), .n_spans = b->n };
	unsigned log2 = model_log2(s, b->n + WAYS_ADDED);
	uint64_t *word;

	word = arena_new(b->a, uint64_t, 1ull << log2);
	*ms = 1e18;
	for (unsigned i = 0; i < 3; i++) {
		double start;

		setmem_create(&l->m, word, log2);
		start = ways_now_ns();
		if (setmem_build(&l->m, s, &src, &l->id, NULL))
			return "the image is too small";
		start = (ways_now_ns() - start) / 1e6;
		*ms = start < *ms ? start : *ms;
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

	return model_add(&l->m, l->id, addr);
}

const struct way way_library = { "weir's library, user space", open, keys, run, add, NULL, NULL };
