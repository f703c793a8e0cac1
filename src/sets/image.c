/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The image as a whole: made, opened, put in order; grace and batches. See inside.h. */
#include "sets/inside.h"

#include <assert.h>

static const uint64_t image_magic = 0x3273746573726965; /* the bytes "eirsets2" */

static void begin_use(struct setmem *m, uint64_t *word, size_t n_words)
{
	*m = (struct setmem){ .word = word, .n_words = n_words, .hz = 1000, .scratch = arena_create() };
}

void setmem_create(struct setmem *m, uint64_t *word, unsigned log2)
{
	assert(log2 >= SETMEM_MIN_LOG2 && log2 <= SETMEM_MAX_LOG2);
	begin_use(m, word, (size_t)1 << log2);
	memset(word, 0, SETMEM_FIXED_WORDS * sizeof *word);
	word[IMAGE_WORDS] = m->n_words;
	word[IMAGE_TOP] = SETMEM_FIXED_WORDS;
	word[IMAGE_EPOCH] = 1;
	word[IMAGE_MAGIC] = image_magic;
}

static bool is_image(const uint64_t *word, size_t n_words)
{
	return n_words >= SETMEM_FIXED_WORDS && word[IMAGE_MAGIC] == image_magic && word[IMAGE_WORDS] <= n_words &&
	       word[IMAGE_TOP] <= word[IMAGE_WORDS];
}

void setmem_close(struct setmem *m)
{
	if (m->batch)
		setmem_abort(m);
	arena_destroy(m->scratch);
	*m = (struct setmem){ 0 };
}

/* ---------- two phases ---------- */

unsigned head_sides(const struct setmem *m, const struct head *h)
{
	if (m->batch)
		return 1u << image_side(m);
	return m->word[IMAGE_UNSETTLED] && h->is_dirty ? 1u << image_phase(m) : 3;
}

void head_set(struct setmem *m, uint32_t id, uint64_t *pair, uint64_t value)
{
	unsigned sides = head_sides(m, head_of(m, id)), now = image_phase(m);

	if (sides >> now & 1)
		image_publish(&pair[now], value);
	if (sides >> (1 - now) & 1)
		image_publish(&pair[1 - now], value);
}

/* The other phase of a set becomes what phase `side` is. */
static void settle_set(struct setmem *m, uint32_t id, unsigned side)
{
	struct head *h = head_of(m, id);
	uint64_t *view = view_of(m, id, 0);

	image_publish(&view[1 - side], view[side]);
	h->store[1 - side] = h->store[side];
	h->n_elems[1 - side] = h->n_elems[side];
	h->words[1 - side] = h->words[side];
	hash_settle(m, *elems_of(m, id, side), side);
	h->is_dirty = 0;
}

static void settle_all(struct setmem *m)
{
	for (uint32_t id = 0; id < DP_MAX_SETS; id++) {
		struct head *h = head_of(m, id);

		if (h && h->is_dirty)
			settle_set(m, id, image_phase(m));
	}
}

bool setmem_needs_grace(const struct setmem *m)
{
	return m->word[IMAGE_UNSETTLED] || m->word[IMAGE_LIMBO];
}

void setmem_grace(struct setmem *m)
{
	assert(!m->batch);
	if (m->word[IMAGE_UNSETTLED])
		settle_all(m);
	m->word[IMAGE_UNSETTLED] = 0;
	space_settle(m);
}

/* ---------- opening ---------- */

/* A trie that a killed writer left beside other elements is made anew of them. */
static int repair_trie(struct setmem *m, uint32_t id)
{
	struct head *h = head_of(m, id);
	uint64_t trie;
	struct op op;

	op_open(&op, m);
	if (!contents_again(&op, h, h->store[image_phase(m)], image_phase(m), &trie))
		return op_fail(&op);
	head_set(m, id, view_of(m, id, 0), trie);
	h->is_halfway = 0;
	op_done(&op, h); /* the old one is lost: nobody knows what of it is whole */
	return 0;
}

int setmem_open(struct setmem *m, uint64_t *word, size_t n_words)
{
	int err = 0;

	if (!is_image(word, n_words))
		return -EPROTO;
	begin_use(m, word, n_words);
	word[IMAGE_WORDS] = n_words;
	if (word[IMAGE_BATCH] == 1 + (word[IMAGE_PHASE] & 1)) /* begun and not published */
		settle_all(m);
	else if (word[IMAGE_BATCH])
		word[IMAGE_UNSETTLED] = 1;
	word[IMAGE_BATCH] = 0;
	for (uint32_t id = 0; id < DP_MAX_SETS && !err; id++)
		if (head_of(m, id) && head_of(m, id)->is_halfway)
			err = repair_trie(m, id);
	if (err)
		setmem_close(m);
	return err;
}

int setmem_open_ro(struct setmem *m, const uint64_t *word, size_t n_words)
{
	if (!is_image(word, n_words))
		return -EPROTO;
	begin_use(m, (uint64_t *)(uintptr_t)word, n_words);
	m->is_readonly = true;
	return 0;
}

void setmem_space(const struct setmem *m, struct setmem_space *out)
{
	const uint64_t *w = m->word;

	*out = (struct setmem_space){ .words = w[IMAGE_WORDS], .waiting = w[IMAGE_WAITING],
				      .free = w[IMAGE_FREE] + w[IMAGE_WORDS] - w[IMAGE_TOP],
				      .unused = w[IMAGE_WORDS] - w[IMAGE_TOP] };
	out->used = out->words - out->free - out->waiting;
}

/* ---------- batches ---------- */

int setmem_begin(struct setmem *m)
{
	struct arena *a;

	if (m->is_readonly || m->batch)
		return -EINVAL;
	if (m->word[IMAGE_UNSETTLED])
		return -EAGAIN;
	a = arena_create();
	m->word[IMAGE_BATCH] = 1 + image_phase(m);
	m->batch = arena_new(a, struct setmem_batch, 1);
	m->batch->a = a;
	return 0;
}

static void end_batch(struct setmem *m)
{
	struct arena *a = m->batch->a;

	m->batch = NULL;
	m->word[IMAGE_BATCH] = 0;
	arena_destroy(a);
}

void setmem_commit(struct setmem *m)
{
	const struct setmem_batch *b = m->batch;

	m->word[IMAGE_UNSETTLED] = 1;
	image_publish(&m->word[IMAGE_PHASE], m->word[IMAGE_PHASE] ^ 1);
	for (size_t i = 0; i < b->gone.n; i++)
		space_wait(m, &b->gone.v[i]);
	end_batch(m);
}

void setmem_abort(struct setmem *m)
{
	const struct setmem_batch *b = m->batch;

	settle_all(m);
	for (size_t i = 0; i < b->cap; i++)
		if (b->fresh[i].at > 1)
			space_give(m, b->fresh[i].at, b->fresh[i].n);
	end_batch(m);
}
