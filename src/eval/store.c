/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The evaluator's memory. See store.h.
 *
 * A hash table of entries; a journal of what the packet at hand overwrote. Taking a way back walks the journal from its
 * end, puts the old values back and keeps the new ones in `ways`. Settling compares them entry by entry:
 *
 *     before     bucket = 5
 *     way 1      bucket = 4                  the rule matched, and spent a token
 *     way 2                                  it did not: the bucket stays 5
 *     after      bucket: uncertain
 *
 * Room of values that are gone is used again, so that a long capture does not grow without end; entries whose time is
 * past are swept out when the table would have to grow.
 */
#include "eval/store.h"

#include <assert.h>

enum { CLASSES = 24, MIN_ROOM = 16 };

struct value {
	uint8_t *p; /* NULL: nothing there */
	size_t n;
	int64_t until_ns;
	uint64_t packet; /* number of the packet that wrote it */
	bool is_uncertain;
	int64_t uncertain_ns;
};

struct entry {
	struct entry *next; /* in its slot */
	uint64_t hash;
	uint8_t *key;
	size_t key_n;
	struct value v;
	uint32_t journal; /* 1 + its place in the journal of this way; 0: untouched */
	uint32_t mark;	  /* while settling: 1 + its place among the touched */
};

struct change {
	struct entry *e;
	struct value old;
};
struct written {
	struct entry *e;
	struct value v;
};
struct touched {
	struct entry *e;
	struct value v;
	uint32_t n_ways;
	bool differs;
};

struct store {
	struct arena *a;
	struct entry **slot;
	size_t n_slots, n_entries;
	int64_t now_ns;
	uint64_t packet; /* number of the one at hand, from 1 */
	uint64_t doubt_packet; /* what was written up to this one is uncertain; 0: nothing */
	int64_t doubt_ns;
	VEC(struct change) journal;
	VEC(struct written) ways;   /* of all ways, one behind the other */
	uint32_t n_ways;
	VEC(struct touched) touched; /* scratch of store_settle() */
	struct room {
		struct room *next;
	} *free_room[CLASSES];
	struct entry *free_entry;
};

void key_start(struct key *k, char kind)
{
	k->n = 1;
	k->b[0] = (uint8_t)kind;
}

void key_add(struct key *k, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++) {
		if (k->n < sizeof k->b) {
			k->b[k->n++] = b[i];
		} else {
			uint64_t fold;

			memcpy(&fold, k->b + sizeof k->b - 8, 8);
			fold = (fold ^ b[i]) * 0x100000001b3u + 1;
			memcpy(k->b + sizeof k->b - 8, &fold, 8);
		}
	}
}

void key_str(struct key *k, struct str s)
{
	uint32_t n = (uint32_t)s.n;

	key_add(k, &n, sizeof n);
	key_add(k, s.p, s.n);
}

struct store *store_create(struct arena *a)
{
	struct store *s = arena_new(a, struct store, 1);

	s->a = a;
	s->n_slots = 64;
	s->slot = arena_new(a, struct entry *, s->n_slots);
	return s;
}

/* ---------- room for values ---------- */

static unsigned room_class(size_t n)
{
	unsigned c = 0;

	while (((size_t)MIN_ROOM << c) < n)
		c++;
	assert(c < CLASSES);
	return c;
}

static void *room_take(struct store *s, size_t n)
{
	unsigned c = room_class(n);
	struct room *r = s->free_room[c];

	if (!r)
		return arena_alloc(s->a, (size_t)MIN_ROOM << c, 16);
	s->free_room[c] = r->next;
	return r;
}

static void room_give(struct store *s, void *p, size_t n)
{
	unsigned c = room_class(n);
	struct room *r = p;

	if (!p)
		return;
	r->next = s->free_room[c];
	s->free_room[c] = r;
}

/* ---------- the table ---------- */

static uint64_t hash_bytes(const uint8_t *p, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h ^ h >> 29;
}

static struct entry *entry_find(const struct store *s, const struct key *k, uint64_t hash)
{
	struct entry *e = s->slot[hash & (s->n_slots - 1)];

	while (e && (e->hash != hash || e->key_n != k->n || memcmp(e->key, k->b, k->n) != 0))
		e = e->next;
	return e;
}

static bool entry_is_dead(const struct store *s, const struct entry *e)
{
	return !e->journal && !e->v.is_uncertain && (!e->v.p || e->v.until_ns < s->now_ns);
}

/* Takes out the dead. */
static void table_sweep(struct store *s)
{
	for (size_t i = 0; i < s->n_slots; i++)
		for (struct entry **at = &s->slot[i]; *at;) {
			struct entry *e = *at;

			if (!entry_is_dead(s, e)) {
				at = &e->next;
				continue;
			}
			*at = e->next;
			room_give(s, e->v.p, e->v.n);
			room_give(s, e->key, e->key_n);
			e->next = s->free_entry;
			s->free_entry = e;
			s->n_entries--;
		}
}

static void table_double(struct store *s)
{
	size_t n_slots = s->n_slots * 2;
	struct entry **slot = arena_new(s->a, struct entry *, n_slots);

	for (size_t i = 0; i < s->n_slots; i++) {
		struct entry *e = s->slot[i], *next;

		for (; e; e = next) {
			next = e->next;
			e->next = slot[e->hash & (n_slots - 1)];
			slot[e->hash & (n_slots - 1)] = e;
		}
	}
	s->slot = slot;
	s->n_slots = n_slots;
}

static struct entry *entry_make(struct store *s, const struct key *k, uint64_t hash)
{
	struct entry *e = entry_find(s, k, hash);

	if (e)
		return e;
	e = s->free_entry;
	if (e)
		s->free_entry = e->next;
	else
		e = arena_new(s->a, struct entry, 1);
	*e = (struct entry){ .hash = hash, .key_n = k->n };
	e->key = room_take(s, k->n);
	memcpy(e->key, k->b, k->n);
	e->next = s->slot[hash & (s->n_slots - 1)];
	s->slot[hash & (s->n_slots - 1)] = e;
	s->n_entries++;
	return e;
}

/* ---------- reading and writing ---------- */

enum store_answer store_get(const struct store *s, const struct key *k, struct store_value *out)
{
	const struct entry *e = entry_find(s, k, hash_bytes(k->b, k->n));

	*out = (struct store_value){ 0 };
	if (s->doubt_packet && (e ? e->v.packet : 0) <= s->doubt_packet) {
		out->uncertain_ns = s->doubt_ns;
		return STORE_UNCERTAIN;
	}
	if (!e)
		return STORE_NONE;
	if (e->v.p) {
		out->p = e->v.p;
		out->n = e->v.n;
	}
	if (e->v.is_uncertain) {
		out->uncertain_ns = e->v.uncertain_ns;
		return STORE_UNCERTAIN;
	}
	if (!e->v.p || e->v.until_ns < s->now_ns) {
		*out = (struct store_value){ 0 };
		return STORE_NONE;
	}
	return STORE_HERE;
}

static void entry_write(struct store *s, struct entry *e, struct value v)
{
	if (!e->journal) {
		*vec_add(s->a, &s->journal) = (struct change){ e, e->v };
		e->journal = (uint32_t)s->journal.n;
	} else {
		room_give(s, e->v.p, e->v.n);
	}
	e->v = v;
}

void store_put(struct store *s, const struct key *k, const void *p, size_t n, int64_t until_ns)
{
	struct entry *e = entry_make(s, k, hash_bytes(k->b, k->n));
	struct value v = { .n = n, .until_ns = until_ns, .packet = s->packet };

	if (n) {
		v.p = room_take(s, n);
		memcpy(v.p, p, n);
	}
	entry_write(s, e, v);
}

void store_doubt(struct store *s, const struct key *k)
{
	struct entry *e = entry_make(s, k, hash_bytes(k->b, k->n));

	entry_write(s, e, (struct value){ .packet = s->packet, .is_uncertain = true, .uncertain_ns = s->now_ns });
}

/* ---------- ways ---------- */

void store_begin(struct store *s, int64_t now_ns)
{
	s->now_ns = now_ns;
	s->packet++;
	s->journal.n = 0;
	s->ways.n = 0;
	s->n_ways = 0;
	if (s->n_entries > s->n_slots) {
		table_sweep(s);
		if (s->n_entries > s->n_slots / 2)
			table_double(s);
	}
}

void store_take_back(struct store *s)
{
	s->n_ways++;
	for (size_t i = s->journal.n; i-- > 0;) {
		struct change *c = &s->journal.v[i];

		*vec_add(s->a, &s->ways) = (struct written){ c->e, c->e->v };
		c->e->v = c->old;
		c->e->journal = 0;
	}
	s->journal.n = 0;
}

static bool value_eq(const struct value *x, const struct value *y)
{
	if (x->is_uncertain || y->is_uncertain || !x->p != !y->p)
		return false;
	return !x->p || (x->n == y->n && x->until_ns == y->until_ns && memcmp(x->p, y->p, x->n) == 0);
}

static void settle_entry(struct store *s, struct touched *t)
{
	struct entry *e = t->e;

	if (t->n_ways < s->n_ways && !value_eq(&t->v, &e->v))
		t->differs = true;
	if (t->differs) {
		room_give(s, t->v.p, t->v.n);
		e->v.is_uncertain = true;
		e->v.uncertain_ns = s->now_ns;
		e->v.packet = s->packet;
	} else if (t->n_ways == s->n_ways) {
		room_give(s, e->v.p, e->v.n);
		e->v = t->v;
	} else {
		room_give(s, t->v.p, t->v.n); /* equal to what is there already */
	}
	e->mark = 0;
}

void store_settle(struct store *s, bool all)
{
	if (s->n_ways == 0) { /* one way, not taken back */
		for (size_t i = 0; i < s->journal.n; i++) {
			room_give(s, s->journal.v[i].old.p, s->journal.v[i].old.n);
			s->journal.v[i].e->journal = 0;
		}
		s->journal.n = 0;
		return;
	}
	s->touched.n = 0;
	for (size_t i = 0; i < s->ways.n; i++) {
		struct written *w = &s->ways.v[i];

		if (!w->e->mark) {
			*vec_add(s->a, &s->touched) = (struct touched){ w->e, w->v, 1, w->v.is_uncertain };
			w->e->mark = (uint32_t)s->touched.n;
			continue;
		}
		s->touched.v[w->e->mark - 1].n_ways++;
		if (!value_eq(&s->touched.v[w->e->mark - 1].v, &w->v))
			s->touched.v[w->e->mark - 1].differs = true;
		room_give(s, w->v.p, w->v.n);
	}
	for (size_t i = 0; i < s->touched.n; i++)
		settle_entry(s, &s->touched.v[i]);
	if (!all) {
		s->doubt_packet = s->packet;
		s->doubt_ns = s->now_ns;
	}
}
