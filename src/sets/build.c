/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whole sets: made beside what is there, then published. See setmem.h. */
#include "sets/inside.h"

#include <string.h>
#include <time.h>

/* ---------- what the elements are given as ---------- */

/* Elements one after the other, from a sorted list of prefixes or as the model has them. */
struct given {
	const struct head *h;
	const struct set *s;	 /* its elements, or NULL: all is in list */
	const struct list *list; /* NULL: those of s as they are */
	size_t at;
};

static bool next_given(struct given *g, struct set_elem *el)
{
	const struct item *x;

	if (!g->list) {
		if (g->at == g->s->elems.n)
			return false;
		*el = g->s->elems.v[g->at++];
		return true;
	}
	if (g->at == g->list->n)
		return false;
	x = &g->list->v[g->at++];
	memset(el, 0, sizeof *el);
	if (g->s && g->h->has_default_timeout) {
		el->has_timeout = g->s->elems.v[x->from].has_timeout;
		el->timeout_s = g->s->elems.v[x->from].timeout_s;
	}
	el->v[0] = x->lo;
	el->plen[0] = x->plen;
	el->nomatch = x->nomatch;
	return true;
}

/* ---------- the hash ---------- */

static bool collect_shapes(struct op *op, struct given g, struct shapes *shapes)
{
	bool has_one = g.list && g.h->dim[0] == SET_DIM_ADDR;
	struct set_elem el;
	struct hash_key k;

	while (!(has_one && shapes->n) && next_given(&g, &el)) {
		if (!key_make(op->m, g.h, &el, &k)) {
			op->err = el.physdev || el.mac_any ? -EOPNOTSUPP : -EINVAL;
			return false;
		}
		shapes_add(op->a, shapes, &k);
		if (key_has_ends(g.h)) {
			key_end(g.h, &k);
			shapes_add(op->a, shapes, &k);
		}
		if (shapes->n > DP_MAX_SHAPES) {
			op->err = -E2BIG;
			return false;
		}
	}
	return true;
}

/* The last one said counts. False: no room near its place. */
static bool put_key(struct op *op, const struct hash *t, const struct shapes *shapes, struct hash_key *k, uint64_t *n)
{
	uint64_t *found;
	bool is_new;

	k->shape = (uint32_t)shapes_find(shapes, k, &is_new);
	found = hash_find(t, k, 0);
	if (found) {
		hash_remove(op->m, found, 3);
		(*n)--;
	}
	(*n)++;
	return hash_insert(op->m, t, k, 3) != NULL;
}

static bool fill_hash(struct op *op, const struct hash *t, struct given g, const struct shapes *shapes, uint64_t *n)
{
	struct set_elem el;
	struct hash_key k;
	uint64_t n_ends = 0;

	*n = 0;
	while (next_given(&g, &el)) {
		key_make(op->m, g.h, &el, &k);
		if (!put_key(op, t, shapes, &k, n))
			return false;
		if (!key_has_ends(g.h))
			continue;
		key_end(g.h, &k);
		if (!put_key(op, t, shapes, &k, &n_ends))
			return false;
	}
	return true;
}

enum { AHEAD = 16 };

/* The same of elements that all differ: memory is asked for a few elements ahead of the one that is put. */
static bool fill_hash_ahead(struct op *op, const struct hash *t, struct given g, const struct shapes *shapes, uint64_t *n)
{
	struct hash_key ring[AHEAD];
	struct set_elem el;
	size_t in = 0, out = 0;
	bool is_new;

	*n = 0;
	for (;;) {
		struct hash_key *k = &ring[in % AHEAD];

		if (in - out < AHEAD && next_given(&g, &el)) {
			key_make(op->m, g.h, &el, k);
			if (shapes)
				k->shape = (uint32_t)shapes_find(shapes, k, &is_new);
			hash_prefetch(t, k);
			in++;
			if (in - out < AHEAD)
				continue;
		}
		if (out == in)
			return true;
		if (!hash_insert(op->m, t, &ring[out++ % AHEAD], 3))
			return false;
		(*n)++;
	}
}

static uint64_t make_hash(struct op *op, struct given g, uint64_t *n)
{
	size_t room = g.list ? g.list->n : g.s->elems.n;
	struct shapes shapes = { 0 };
	struct hash t;

	if (!g.h->is_trie && !collect_shapes(op, g, &shapes))
		return 0;
	for (room *= key_has_ends(g.h) ? 2 : 1;; room += room / 4) {
		uint64_t entry = hash_create(op, g.h, room, g.h->is_trie ? NULL : &shapes);

		if (!entry)
			return 0;
		hash_open(op->m, entry, &t);
		if ((g.list ? fill_hash_ahead : fill_hash)(op, &t, g, g.h->is_trie ? NULL : &shapes, n))
			return entry;
		hash_drop(op, entry);
	}
}

/* ---------- contents ---------- */

static bool is_list(const struct head *h)
{
	return h->n_dims == 1 && (h->dim[0] == SET_DIM_ADDR || h->dim[0] == SET_DIM_NET) && !h->has_bitmask;
}

static bool check_kind(const struct head *h, const struct setmem_source *src, struct op *op)
{
	for (unsigned d = 0; d < h->n_dims; d++)
		if (h->dim[d] == SET_DIM_LIST)
			op->err = -EOPNOTSUPP;
	if (h->key_words > DP_SET_WORDS)
		op->err = -EOPNOTSUPP;
	if (src->span && !is_list(h))
		op->err = -EINVAL;
	return !op->err;
}

bool contents_make(struct op *op, const struct head *h, const struct set *s, const struct setmem_source *src,
		   struct contents *out, struct setmem_report *r)
{
	struct given g = { .h = h, .s = src->span ? NULL : s };
	struct list list = { 0 };
	uint64_t hash;

	*out = (struct contents){ 0 };
	if (!check_kind(h, src, op))
		return false;
	if (is_list(h)) {
		op->err = list_make(op->a, h, s, src, &list, r);
		g.list = &list;
	}
	if (op->err)
		return false;
	hash = make_hash(op, g, &out->n_elems);
	if (hash && h->max_elems && out->n_elems > h->max_elems && src->span)
		op->err = -E2BIG;
	if (!hash || op->err)
		return false;
	if (!is_list(h)) {
		r->n_entries = s->elems.n;
		r->n_duplicates = s->elems.n - out->n_elems;
	}
	r->n_after = out->n_elems;
	out->store = h->is_trie ? hash : 0;
	out->view = h->is_trie ? list_trie(op, &list, h->family == FAMILY_IP6) : hash;
	return !op->err;
}

bool contents_again(struct op *op, const struct head *h, uint64_t store, unsigned side, uint64_t *trie)
{
	const struct setmem_source none = { .overlap = SETMEM_KEEP };
	struct set s = { .n_dims = 1 };
	struct setmem_report r;
	struct list list;
	struct hash t;
	struct hash_key k;
	uint64_t at = 0;

	hash_open(op->m, store, &t);
	while (hash_next(op->m, &t, &at, side, &k))
		key_elem(op->m, h, &k, vec_add(op->a, &s.elems));
	op->err = list_make(op->a, h, &s, &none, &list, &r);
	if (!op->err)
		*trie = list_trie(op, &list, h->family == FAMILY_IP6);
	return !op->err;
}

void contents_drop(struct op *op, const struct head *h, uint64_t view, uint64_t store, uint64_t words)
{
	uint64_t hash = h->is_trie ? store : view, n = hash_words(op->m, hash);

	hash_drop(op, hash);
	if (h->is_trie)
		op_drop_trie(op, view, words > n ? words - n : 0);
}

/* ---------- sets ---------- */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

enum { SHAPES_SPARE = 136 };

/* How many shapes elements that come later may make of it. */
static uint32_t most_shapes(size_t n)
{
	size_t most = 2 * n + SHAPES_SPARE;

	return (uint32_t)(most < DP_MAX_SHAPES ? most : DP_MAX_SHAPES);
}

uint32_t setmem_most_shapes(const struct set *s)
{
	struct setmem none = { .hz = 1 };
	struct op op = { .m = &none, .a = arena_create() };
	struct shapes shapes = { 0 };
	struct head h;
	bool ok;

	head_fill(&h, s);
	ok = h.key_words <= DP_SET_WORDS && (h.is_trie || collect_shapes(&op, (struct given){ .h = &h, .s = s }, &shapes));
	arena_destroy(op.a);
	return ok ? most_shapes(h.is_trie ? 1 : shapes.n) : 0;
}

static uint32_t free_id(const struct setmem *m)
{
	for (uint32_t id = 0; id < DP_MAX_SETS; id++)
		if (!head_of(m, id))
			return id;
	return SETMEM_NONE;
}

enum { HEAD_WORDS = (sizeof(struct head) + 7) / 8 };

/* The set can be found from here on. */
static void put_set(struct op *op, uint32_t id, uint64_t at, struct head *h, const struct contents *c)
{
	struct setmem *m = op->m;
	struct hash t;

	hash_open(m, h->is_trie ? c->store : c->view, &t);
	h->max_shapes = most_shapes(t.n_shapes);
	for (unsigned i = 0; i < 2; i++) {
		h->store[i] = c->store;
		h->n_elems[i] = c->n_elems;
		h->words[i] = (uint64_t)op->words;
		image_publish(view_of(m, id, i), c->view);
	}
	memcpy(m->word + at, h, sizeof *h);
	image_publish(&m->word[IMAGE_HEADS + id], at);
}

static void note_plens(const struct setmem *m, struct head *h, uint64_t store)
{
	struct hash t;
	struct hash_key k;
	uint64_t at = 0;

	hash_open(m, store, &t);
	while (hash_next(m, &t, &at, 0, &k))
		h->plens[k.shape / 64] |= 1ull << k.shape % 64;
}

int setmem_build(struct setmem *m, const struct set *s, const struct setmem_source *src, uint32_t *id, struct setmem_report *r)
{
	static const struct setmem_source none;
	struct setmem_report unwanted;
	double began = seconds();
	struct contents c;
	struct head h;
	struct op op;
	uint64_t at;

	r = r ? r : &unwanted;
	src = src ? src : &none;
	*r = (struct setmem_report){ 0 };
	*id = free_id(m);
	if (m->batch || m->is_readonly || s->name.n > SETMEM_NAME_MAX)
		return -EINVAL;
	if (*id == SETMEM_NONE)
		return -EMFILE;
	op_open(&op, m);
	head_fill(&h, s);
	h.declared = setmem_declared(s);
	h.born = src->born;
	h.is_runtime = src->is_runtime;
	at = op_take(&op, HEAD_WORDS);
	if (!at || !contents_make(&op, &h, s, src, &c, r))
		return op_fail(&op);
	if (h.is_trie)
		note_plens(m, &h, c.store);
	put_set(&op, *id, at, &h, &c);
	r->bytes = 8 * (size_t)op.words;
	op_done(&op, NULL);
	r->seconds = seconds() - began;
	return 0;
}

static int replace(struct setmem *m, uint32_t id, const struct set *s, const struct setmem_source *src, struct setmem_report *r)
{
	struct head *h = head_of(m, id);
	unsigned side = image_side(m);
	uint64_t view, store, words;
	struct contents c;
	struct hash t;
	struct op op;

	if (h->is_dirty)
		return -EBUSY;
	op_open(&op, m);
	if (!contents_make(&op, h, s, src, &c, r))
		return op_fail(&op);
	hash_open(m, h->is_trie ? c.store : c.view, &t);
	op.err = t.n_shapes > h->max_shapes ? -E2BIG : 0;
	if (op.err)
		return op_fail(&op);
	r->bytes = 8 * (size_t)op.words;
	view = *view_of(m, id, side);
	store = h->store[side];
	words = h->words[side];
	h->is_dirty = 1;
	h->is_changed = 1;
	head_set(m, id, view_of(m, id, 0), c.view);
	h->store[side] = c.store;
	h->n_elems[side] = c.n_elems;
	if (h->is_trie)
		note_plens(m, h, c.store);
	contents_drop(&op, h, view, store, words);
	op_done(&op, h);
	return 0;
}

int setmem_replace(struct setmem *m, uint32_t id, const struct set *s, const struct setmem_source *src, struct setmem_report *r)
{
	static const struct setmem_source none;
	bool is_alone = !m->batch;
	struct setmem_report unwanted;
	double began = seconds();
	int err;

	r = r ? r : &unwanted;
	*r = (struct setmem_report){ 0 };
	if (!head_of(m, id))
		return -ENOENT;
	err = is_alone ? setmem_begin(m) : 0;
	if (err)
		return err;
	err = replace(m, id, s, src ? src : &none, r);
	if (is_alone && err)
		setmem_abort(m);
	else if (is_alone)
		setmem_commit(m);
	r->seconds = seconds() - began;
	return err;
}

int setmem_flush(struct setmem *m, uint32_t id)
{
	const struct set nothing = { 0 };

	return setmem_replace(m, id, &nothing, NULL, NULL);
}

int setmem_remove(struct setmem *m, uint32_t id)
{
	struct head *h = head_of(m, id);
	uint64_t at;
	struct op op;

	if (!h)
		return -ENOENT;
	if (m->batch || m->is_readonly)
		return -EINVAL;
	if (h->is_dirty)
		return -EAGAIN;
	op_open(&op, m);
	at = m->word[IMAGE_HEADS + id];
	contents_drop(&op, h, *view_of(m, id, 0), h->store[0], h->words[0]);
	op_drop(&op, at, HEAD_WORDS);
	image_publish(&m->word[IMAGE_HEADS + id], 0);
	image_publish(view_of(m, id, 0), 0);
	image_publish(view_of(m, id, 1), 0);
	op_done(&op, NULL);
	return 0;
}

static unsigned shapes_of(const struct setmem *m, uint32_t id)
{
	struct hash t;

	hash_open(m, *elems_of(m, id, image_side(m)), &t);
	return t.n_shapes;
}

static bool are_alike(const struct head *x, const struct head *y)
{
	return strcmp(x->type, y->type) == 0 && x->family == y->family && x->is_trie == y->is_trie &&
	       x->has_default_timeout == y->has_default_timeout && x->netmask == y->netmask &&
	       x->mark_mask == y->mark_mask && x->has_bitmask == y->has_bitmask &&
	       memcmp(x->bitmask, y->bitmask, sizeof x->bitmask) == 0;
}

static void exchange(uint64_t *x, uint64_t *y)
{
	uint64_t z = *x;

	*x = *y;
	*y = z;
}

static void swap(struct setmem *m, uint32_t x, uint32_t y)
{
	struct head *a = head_of(m, x), *b = head_of(m, y);
	unsigned side = image_side(m);

	a->is_dirty = b->is_dirty = a->is_changed = b->is_changed = 1;
	exchange(view_of(m, x, side), view_of(m, y, side));
	exchange(&a->store[side], &b->store[side]);
	exchange(&a->n_elems[side], &b->n_elems[side]);
	exchange(&a->words[side], &b->words[side]);
	for (unsigned i = 0; i < 3; i++)
		a->plens[i] = b->plens[i] = a->plens[i] | b->plens[i];
}

int setmem_swap(struct setmem *m, uint32_t x, uint32_t y)
{
	struct head *a = head_of(m, x), *b = head_of(m, y);
	bool is_alone = !m->batch;
	int err;

	if (!a || !b)
		return -ENOENT;
	if (!are_alike(a, b))
		return -EINVAL;
	if (shapes_of(m, x) > b->max_shapes || shapes_of(m, y) > a->max_shapes)
		return -E2BIG;
	err = is_alone ? setmem_begin(m) : 0;
	if (err)
		return err;
	if (a->is_dirty || b->is_dirty)
		return -EBUSY; /* in this very batch */
	if (x != y)
		swap(m, x, y);
	if (is_alone)
		setmem_commit(m);
	return 0;
}

/* Of a trie the words of its nodes follow the number of prefixes; of a hash those of its slots are known. */
size_t setmem_words_for(const struct set *s, size_t n)
{
	struct head h;
	size_t slots;

	head_fill(&h, s);
	slots = (n + n / 2 + 150) * (h.key_words + 1u) * (key_has_ends(&h) ? 2 : 1);
	slots += slots / 4 + HEAD_WORDS + 64;
	return h.is_trie ? slots + n * (s->family == FAMILY_IP4 ? 6 : 14) + 64 : slots;
}
