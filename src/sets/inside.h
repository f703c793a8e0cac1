/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The inside of an image (setmem.h), for the files of this folder.
 *
 *     words 0 ... 63      the phase, then the writer's own notes (enum image_word)
 *     64 ... 319          heads of the lists of free regions, by size
 *     DP_SETS_VIEW ...    two entries for each set
 *     IMAGE_HEADS ...     for each set where its head lies, or 0
 *     SETMEM_FIXED_WORDS ...      regions
 *
 * A change is an op. It takes regions, writes them, publishes by one store, and only then lets go of what it replaced,
 * so that whoever is killed in between leaves at worst a region that nobody finds. An op that fails gives back what it took.
 */
#ifndef WEIR_SETS_INSIDE_H
#define WEIR_SETS_INSIDE_H

#include <errno.h>

#include "sets/setmem.h"
#include "tables/code.h"

enum image_word {
	IMAGE_PHASE,
	IMAGE_MAGIC,
	IMAGE_WORDS,
	IMAGE_TOP,	/* what lies behind was never used */
	IMAGE_EPOCH,	/* grace periods that were reported */
	IMAGE_LIMBO,	/* first block of what waits for one */
	IMAGE_UNSETTLED, /* 1: readers of the other phase may still be on their way */
	IMAGE_BATCH,	/* 1: the other phase is being prepared */
	IMAGE_WAITING,	/* words that wait */
	IMAGE_FREE,	/* words in the lists of free regions */
	IMAGE_LISTS = 64,
	IMAGE_HEADS = DP_SETS_VIEW + 2 * DP_MAX_SETS,
};

/* What is known of a set besides its elements. Zero is a set without any. */
struct head {
	char name[SETMEM_NAME_MAX + 1], type[32], options[160];
	uint8_t dim[SET_MAX_DIMS], n_dims, family, has_addrs, netmask, has_bitmask;
	uint8_t has_range, has_default_timeout, has_counters, has_comments, has_skbinfo, forceadd, is_trie, key_words;
	uint8_t is_changed, is_runtime, is_dirty; /* dirty: the two phases may differ */
	uint8_t is_halfway; /* trie: elements and trie may differ, until the change is done */
	uint32_t mark_mask, default_timeout_s, born, died, max_shapes;
	uint8_t value_bits[SET_MAX_DIMS], unused; /* of VALUE */
	uint64_t bitmask[2], range_lo[2], range_hi[2]; /* high half first */
	uint64_t max_elems, declared, built_at_s;
	uint64_t n_elems[2]; /* by phase */
	uint64_t words[2];
	uint64_t store[2]; /* of a trie: all its elements, as HASH entries */
	uint64_t plens[3]; /* of a trie: prefix lengths that it has or had, as bits */
} __attribute__((may_alias));

struct region {
	uint64_t at;   /* word offset; an entry if is_trie */
	uint64_t n;    /* words */
	bool is_trie;  /* the entry and all below */
};

struct op {
	struct setmem *m;
	struct arena *a;
	VEC(struct region) made, gone;
	int64_t words; /* more than before */
	int err;
};

/* Of a batch: what it let go of so far, and, by open addressing, what it made. */
struct setmem_batch {
	struct arena *a;
	VEC(struct region) gone;
	struct region *fresh; /* at 0: free; 1: no longer there */
	size_t cap, n_fresh;  /* n_fresh: with those that are no longer there */
};

static inline unsigned image_phase(const struct setmem *m)
{
	return m->word[IMAGE_PHASE] & 1;
}

/* The phase that the writer reads and writes first: that of the packets, or the one being prepared. */
static inline unsigned image_side(const struct setmem *m)
{
	return image_phase(m) ^ (m->batch != NULL);
}

static inline uint64_t image_offset(uint64_t entry)
{
	return entry >> 32;
}

static inline void image_publish(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

struct head *head_of(const struct setmem *m, uint32_t id); /* NULL */
uint64_t *view_of(const struct setmem *m, uint32_t id, unsigned phase);
uint64_t *elems_of(const struct setmem *m, uint32_t id, unsigned phase); /* the entry of its hash: the view, or store */
unsigned head_sides(const struct setmem *m, const struct head *h); /* bit mask of the phases that a change writes */
void head_set(struct setmem *m, uint32_t id, uint64_t *pair, uint64_t value); /* an entry, in those */

/* ---------- space.c ---------- */

void op_open(struct op *op, struct setmem *m);
uint64_t op_take(struct op *op, uint64_t n); /* offset of a new region, 0: op->err says why not */
void op_drop(struct op *op, uint64_t at, uint64_t n);
void op_drop_trie(struct op *op, uint64_t entry, uint64_t words);
bool op_is_fresh(const struct op *op, uint64_t at); /* nobody reads it yet */
/* What it replaced is let go of; after the store that published. */
void op_done(struct op *op, struct head *h);
int op_fail(struct op *op); /* gives back what it took; returns op->err */
void space_give(struct setmem *m, uint64_t at, uint64_t n); /* nobody reads it any more */
void space_wait(struct setmem *m, const struct region *r); /* once a grace period has passed */
void space_settle(struct setmem *m);
uint64_t space_size(uint64_t n); /* what a region of n words really takes */

/* ---------- key.c ---------- */

struct hash_key {
	uint64_t w[DP_SET_WORDS], mask[DP_SET_WORDS];
	uint32_t shape;
	uint64_t flags; /* DP_SLOT_EXCEPTION, DP_SLOT_END */
	uint64_t expires;
};

unsigned key_words(const struct head *h, unsigned dim);
/* False: not of this set. */
bool key_make(const struct setmem *m, const struct head *h, const struct set_elem *el, struct hash_key *k);
void key_end(const struct head *h, struct hash_key *k); /* of net,iface: what ends the search at this network */
bool key_has_ends(const struct head *h);
void key_elem(const struct setmem *m, const struct head *h, const struct hash_key *k, struct set_elem *out);
u128 key_prefix_mask(unsigned bits, unsigned plen);

/* ---------- hash.c ---------- */

struct hash {
	uint64_t *head, *slot; /* head: word 0 of tables/sets.h */
	uint64_t n_slots;
	unsigned n_words, stride, n_shapes;
};

/* The third word of its head counts the slots that were ever used. */
void hash_open(const struct setmem *m, uint64_t entry, struct hash *t);
/* The shapes of many keys: collected in any order, then numbered by their order. */
struct shapes {
	struct hash_key *v; /* most specific first */
	size_t n, cap;
};
/* Where it is, or, if it is new, where it comes to lie; *is_new. */
size_t shapes_find(const struct shapes *s, const struct hash_key *k, bool *is_new);
void shapes_add(struct arena *a, struct shapes *s, const struct hash_key *k);
/* An empty table for n elements of these shapes; their numbers are their places. The entry, or 0: op->err. */
uint64_t hash_create(struct op *op, const struct head *h, size_t n, const struct shapes *s);
/* Puts the shape of k there if it is new; k->shape is set. *entry is the table, maybe with another head. False: op->err. */
bool hash_shape(struct op *op, const struct head *h, uint64_t *entry, struct hash_key *k);
/* The slot that holds k in this phase, or NULL. */
void hash_prefetch(const struct hash *t, const struct hash_key *k); /* where an element may lie */
uint64_t *hash_find(const struct hash *t, const struct hash_key *k, unsigned phase);
/* Puts k there for the phases of the mask `sides`; NULL: no room near its place. */
uint64_t *hash_insert(struct setmem *m, const struct hash *t, const struct hash_key *k, unsigned sides);
void hash_remove(struct setmem *m, uint64_t *slot, unsigned sides);
/* All that is there in phase `side`, in a larger table, there in both phases. The entry, or 0. */
uint64_t hash_grow(struct op *op, const struct head *h, uint64_t entry, unsigned side);
bool hash_is_full(const struct hash *t);
void hash_drop(struct op *op, uint64_t entry);
uint64_t hash_words(const struct setmem *m, uint64_t entry);
uint64_t hash_slots_words(const struct hash *t); /* from t->slot on */
/* Both phases as `side` has it. */
void hash_settle(struct setmem *m, uint64_t entry, unsigned side);
/* The next slot of phase `side` from *at on as a key, or NULL. */
uint64_t *hash_next(const struct setmem *m, const struct hash *t, uint64_t *at, unsigned side, struct hash_key *k);

/* ---------- trie.c ---------- */

struct run {
	uint64_t lo;	/* first value; IPv4 in the upper half of the word */
	uint64_t entry; /* SAYS, or NEXT for one value */
};

/* What is being said about a prefix. */
struct paint {
	u128 lo;
	unsigned plen;
	bool is_ip6;
	bool is_removed; /* then `says` is what the rest says about it */
	uint64_t says;
};

#define TRIE_SAYS(answer, plen) ((uint64_t)(answer) << 4 | (uint64_t)((plen) + 1) << 8 | DP_SET_SAYS)

/* An entry for runs that begin with the first value of a region of 2^bits values; they are used up. op->err if it fails. */
uint64_t trie_build(struct op *op, struct run *r, size_t n, unsigned bits, bool is_ip6);
/* The entry that says p too. Inside nodes that may be changed in place that is done, by one store at most; else a copy. */
uint64_t trie_paint(struct op *op, uint64_t entry, const struct paint *p);
/*
 * The entry with less around p where little is left. What cannot be done for want of memory is not done, and what was done
 * stays: op_done() in either case.
 */
uint64_t trie_shrink(struct op *op, uint64_t entry, const struct paint *p);
enum setmem_answer trie_match(const struct setmem *m, uint64_t entry, u128 addr, bool is_ip6);
/* Calls f(arg, offset, words) for all regions below. */
void trie_walk(const struct setmem *m, uint64_t entry, void (*f)(void *arg, uint64_t at, uint64_t n), void *arg);

/* ---------- list.c ---------- */

struct item { /* a prefix */
	u128 lo;
	uint32_t from; /* index into what was given */
	uint8_t plen;
	bool nomatch;
};

struct list {
	struct item *v;
	size_t n;
};

/* The prefixes of a source, sorted, without duplicates. 0 or -EEXIST, with r filled. */
int list_make(struct arena *a, const struct head *h, const struct set *s, const struct setmem_source *src, struct list *out,
	      struct setmem_report *r);
uint64_t list_trie(struct op *op, const struct list *l, bool is_ip6); /* SAYS OUT and op->err if it fails */

/* ---------- build.c ---------- */

struct contents {
	uint64_t view, store; /* store: of tries, else 0 */
	uint64_t n_elems;
};

/* In op; op->err. What r tells of elements is filled in. */
bool contents_make(struct op *op, const struct head *h, const struct set *s, const struct setmem_source *src,
		   struct contents *out, struct setmem_report *r);
/* Of what the store holds in phase `side`. */
bool contents_again(struct op *op, const struct head *h, uint64_t store, unsigned side, uint64_t *trie);
void contents_drop(struct op *op, const struct head *h, uint64_t view, uint64_t store, uint64_t words);
void head_fill(struct head *h, const struct set *s);

#endif
