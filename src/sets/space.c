/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Regions of an image: taken, let go of, reused. See inside.h.
 *
 * Sizes come in classes: even numbers of words to 64, then four sizes to each doubling. A region that is free hangs in the
 * list of its class by its first word. What is wanted comes from its class, else from the never used rest, else a
 * larger free region is cut up; pieces are not joined again.
 *
 * Limbo: what packets may still read is noted in blocks of its own, for the regions themselves must stay as they are.
 */
#include "sets/inside.h"

#include <string.h>

enum { SMALL_MAX = 64, SMALL_CLASSES = SMALL_MAX / 2, CLASSES = 140 };
enum { LIMBO_WORDS = 128, LIMBO_RECORDS = (LIMBO_WORDS - 2) / 2 };
static const uint64_t limbo_trie = 1ull << 63;

static uint64_t class_size(unsigned class)
{
	unsigned k = class - SMALL_CLASSES + 1;

	if (class < SMALL_CLASSES)
		return 2 * (class + 1);
	return (uint64_t)(4 + k % 4) * (SMALL_MAX / 4) << k / 4;
}

/* The smallest class that holds n words. */
static unsigned class_of(uint64_t n)
{
	unsigned class, log2;

	if (n <= SMALL_MAX)
		return n ? (unsigned)(n - 1) / 2 : 0;
	log2 = 63 - (unsigned)__builtin_clzll(n - 1); /* at least 6 */
	class = SMALL_CLASSES - 1 + 4 * (log2 - 6);
	while (class_size(class) < n)
		class++;
	return class;
}

uint64_t space_size(uint64_t n)
{
	return class_size(class_of(n));
}

static uint64_t *list_of(struct setmem *m, unsigned class)
{
	return &m->word[IMAGE_LISTS + class];
}

static void put_free(struct setmem *m, uint64_t at, unsigned class)
{
	uint64_t *list = list_of(m, class);

	m->word[at] = *list;
	*list = at;
	m->word[IMAGE_FREE] += class_size(class);
}

void space_give(struct setmem *m, uint64_t at, uint64_t n)
{
	put_free(m, at, class_of(n));
}

/* n words, even, that belong to no region, as regions of whatever classes. */
static void put_rest(struct setmem *m, uint64_t at, uint64_t n)
{
	while (n >= 2) {
		unsigned class = class_of(n);
		uint64_t size;

		if (class_size(class) > n)
			class--;
		size = class_size(class);
		put_free(m, at, class);
		at += size;
		n -= size;
	}
}

static uint64_t take_free(struct setmem *m, unsigned class)
{
	uint64_t *list = list_of(m, class), at = *list;

	if (!at)
		return 0;
	*list = m->word[at];
	m->word[IMAGE_FREE] -= class_size(class);
	return at;
}

/* From where nothing ever was. Large regions begin with a cache line. */
static uint64_t take_top(struct setmem *m, uint64_t size)
{
	uint64_t at = m->word[IMAGE_TOP], pad = size > SMALL_MAX ? -at & 7 : 0;

	if (at + pad + size > m->word[IMAGE_WORDS])
		return 0;
	m->word[IMAGE_TOP] = at + pad + size;
	put_rest(m, at, pad);
	return at + pad;
}

static uint64_t space_get(struct setmem *m, uint64_t n)
{
	unsigned class = class_of(n);
	uint64_t size = class_size(class), at = take_free(m, class);

	if (!at)
		at = take_top(m, size);
	for (unsigned larger = class + 1; !at && larger < CLASSES; larger++) {
		at = take_free(m, larger);
		if (at)
			put_rest(m, at + size, class_size(larger) - size);
	}
	return at;
}

/* ---------- limbo ---------- */

void space_wait(struct setmem *m, const struct region *r)
{
	uint64_t block = m->word[IMAGE_LIMBO], *b = m->word + block;

	if (!block || b[1] == LIMBO_RECORDS) {
		uint64_t next = space_get(m, LIMBO_WORDS);

		if (!next)
			return; /* lost until the image is made anew */
		b = m->word + next;
		b[0] = block;
		b[1] = 0;
		m->word[IMAGE_LIMBO] = next;
	}
	b[2 + 2 * b[1]] = r->at;
	b[3 + 2 * b[1]] = r->n | (r->is_trie ? limbo_trie : 0);
	b[1]++;
	m->word[IMAGE_WAITING] += r->is_trie ? r->n : space_size(r->n);
}

static void give(void *m, uint64_t at, uint64_t n)
{
	space_give(m, at, n);
}

/* A record leaves the block before its region is reused: killed in between, the region is lost, not used twice. */
void space_settle(struct setmem *m)
{
	uint64_t block;

	while ((block = m->word[IMAGE_LIMBO])) {
		uint64_t *b = m->word + block;

		while (b[1]) {
			uint64_t at, n;

			b[1]--;
			at = b[2 + 2 * b[1]];
			n = b[3 + 2 * b[1]];
			if (n & limbo_trie)
				trie_walk(m, at, give, m);
			else
				space_give(m, at, n);
		}
		m->word[IMAGE_LIMBO] = b[0];
		space_give(m, block, LIMBO_WORDS);
	}
	m->word[IMAGE_WAITING] = 0;
	m->word[IMAGE_EPOCH]++;
}

/* ---------- ops ---------- */

void op_open(struct op *op, struct setmem *m)
{
	arena_reset(m->scratch);
	*op = (struct op){ .m = m, .a = m->scratch };
}

uint64_t op_take(struct op *op, uint64_t n)
{
	uint64_t at = op->err ? 0 : space_get(op->m, n);

	if (!at) {
		if (!op->err)
			op->err = setmem_needs_grace(op->m) ? -EAGAIN : -ENOSPC;
		return 0;
	}
	*vec_add(op->a, &op->made) = (struct region){ at, n, false };
	op->words += (int64_t)space_size(n);
	return at;
}

void op_drop(struct op *op, uint64_t at, uint64_t n)
{
	*vec_add(op->a, &op->gone) = (struct region){ at, n, false };
	op->words -= (int64_t)space_size(n);
}

void op_drop_trie(struct op *op, uint64_t entry, uint64_t words)
{
	*vec_add(op->a, &op->gone) = (struct region){ entry, words, true };
	op->words -= (int64_t)words;
}

/* ---------- what a batch made ---------- */

static struct region *fresh_slot(const struct setmem_batch *b, uint64_t at)
{
	size_t i = (size_t)(at * DP_HASH_MUL >> 20) & (b->cap - 1);

	while (b->fresh[i].at && b->fresh[i].at != at)
		i = (i + 1) & (b->cap - 1);
	return &b->fresh[i];
}

static void fresh_add(struct setmem_batch *b, const struct region *r)
{
	if (2 * (b->n_fresh + 1) > b->cap) {
		struct region *old = b->fresh;
		size_t cap = b->cap;

		b->cap = cap ? 2 * cap : 256;
		b->fresh = arena_new(b->a, struct region, b->cap);
		b->n_fresh = 0;
		for (size_t i = 0; i < cap; i++)
			if (old[i].at > 1) {
				*fresh_slot(b, old[i].at) = old[i];
				b->n_fresh++;
			}
	}
	*fresh_slot(b, r->at) = *r;
	b->n_fresh++;
}

bool op_is_fresh(const struct op *op, uint64_t at)
{
	const struct setmem_batch *b = op->m->batch;

	return b && b->cap && fresh_slot(b, at)->at == at;
}

/* What the batch made itself nobody has read: it can be used again at once. */
static void batch_drop(struct op *op, const struct region *r)
{
	struct setmem_batch *b = op->m->batch;

	if (!r->is_trie && op_is_fresh(op, r->at)) {
		fresh_slot(b, r->at)->at = 1;
		space_give(op->m, r->at, r->n);
	} else {
		*vec_add(b->a, &b->gone) = *r;
	}
}

void op_done(struct op *op, struct head *h)
{
	struct setmem *m = op->m;

	if (h)
		h->words[image_side(m)] += (uint64_t)op->words;
	for (size_t i = 0; m->batch && i < op->made.n; i++)
		fresh_add(m->batch, &op->made.v[i]);
	for (size_t i = 0; i < op->gone.n; i++) {
		if (m->batch)
			batch_drop(op, &op->gone.v[i]);
		else
			space_wait(m, &op->gone.v[i]);
	}
}

int op_fail(struct op *op)
{
	for (size_t i = 0; i < op->made.n; i++)
		space_give(op->m, op->made.v[i].at, op->made.v[i].n);
	return op->err;
}
