/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets as memory of their own: an image of words that holds named sets, that programs in the kernel look things up in
 * without a lock, and that one writer changes in place while they do. The image is a plain array (of an arena, or the
 * mapped value of the kernel's map dp_sets); every reference in it is a word offset. tables/sets.h has what the
 * datapath reads of it.
 *
 *     struct setmem m;
 *     setmem_create(&m, word, 16);                          an empty image of 2^16 words
 *     err = setmem_build(&m, set, NULL, &id, &report);      a set of the model, with its elements
 *     err = setmem_add(&m, id, &element);                   seen by the next packet
 *     setmem_begin(&m); setmem_add(...); setmem_del(...); setmem_commit(&m);      seen together
 *
 * One writer. Whoever changes an image holds the lock of its instance (the caller's flock) from setmem_open() on.
 *
 * One store publishes. Outside of begin ... commit every change is seen at once, by one store: of an element's word in a
 * hash, of one entry in a trie. What begin ... commit encloses, over any number of sets, is seen by one store of word 0
 * of the image, the phase: every set has two views, every element of a hash two presence bits, and the phase says which
 * count. setmem_swap() and setmem_replace() work so by themselves. Stores that publish are release stores; readers
 * need x86's order of loads.
 *
 * Grace. What a change lets go of may still be read by packets on their way, so it is reused only after the caller has
 * waited for a grace period (grace_wait()) and said so by setmem_grace(). No change ever waits by itself: -EAGAIN means
 * that nothing was changed, and that the caller has to wait, call setmem_grace() and try again. It comes with a second
 * begin ... commit (swap, replace) before the readers of the first are done, and where memory is short that only waits.
 *
 * Killed. A writer that is killed leaves an image in which every set is as before or as after the change that it was
 * at; setmem_open() puts the writer's own notes in order again.
 *
 * Errors are negative errno: -EAGAIN (see above), -ENOSPC (the image is too small: make a larger one), -EMFILE (there are
 * DP_MAX_SETS sets), -ENOENT, -EEXIST, -EBUSY (replace, flush or swap of a set that this batch has changed already),
 * -E2BIG (more elements than the set's max_elems; or more different combinations of prefix lengths than the set was made
 * for: a build allows DP_MAX_SHAPES), -EOPNOTSUPP (elements of a kind that no image holds: bridge ports, MACs to be
 * learned, lists of sets), -EINVAL (an element of other dimensions or another family; a name that is too long), -EPROTO
 * (no image).
 * After any of them everything is as it was.
 */
#ifndef WEIR_SETS_SETMEM_H
#define WEIR_SETS_SETMEM_H

#include "policy/policy.h"
#include "tables/sets.h"

#define SETMEM_NONE UINT32_MAX /* no id */
enum { SETMEM_NAME_MAX = 127, SETMEM_MIN_LOG2 = 13, SETMEM_MAX_LOG2 = 27, SETMEM_FIXED_WORDS = 4096 };

struct setmem {
	uint64_t *word;
	uint64_t n_words;
	uint64_t now;	 /* the datapath's clock, in jiffies; the caller keeps it up to date where sets have timeouts */
	uint32_t hz;	 /* jiffies in a second */
	uint32_t serial; /* of the rules in use: which of two sets of one name is meant (see born); 0: no rules */
	/* inside: */
	struct arena *scratch;
	struct setmem_batch *batch; /* between begin and commit */
	bool is_readonly;
};

/* ---------- the image ---------- */

/* Makes 2^log2 words (SETMEM_MIN_LOG2 ... SETMEM_MAX_LOG2) an empty image. The other members of *m become 0, hz 1000. */
void setmem_create(struct setmem *m, uint64_t *word, unsigned log2);
/*
 * Opens an image, for reading and changing. n_words may be larger than what the image was made for (it was copied to a
 * larger array): then it grows. -EPROTO: no image, or of another format. The other members of *m become 0, hz 1000.
 */
int setmem_open(struct setmem *m, uint64_t *word, size_t n_words);
/* For reading alone, without the lock: repairs nothing; what is read may be in the middle of a change. */
int setmem_open_ro(struct setmem *m, const uint64_t *word, size_t n_words);
void setmem_close(struct setmem *m); /* the image stays; an open batch is aborted */
/* Words to expect for this set with n elements in place of its own; an image has SETMEM_FIXED_WORDS besides. */
size_t setmem_words_for(const struct set *s, size_t n);
/* How many combinations of prefix lengths the set may come to have while it is there; 0: it has too many already. */
uint32_t setmem_most_shapes(const struct set *s);

/* A grace period has passed since the last change: everything let go before it may be used again. */
void setmem_grace(struct setmem *m);
bool setmem_needs_grace(const struct setmem *m); /* something waits for it */

struct setmem_space {
	uint64_t words;	  /* of the image */
	uint64_t used;	  /* by sets and the image's own notes */
	uint64_t waiting; /* let go, until a grace period has passed */
	uint64_t free;	  /* the rest; may be in pieces */
	uint64_t unused;  /* of that, in one piece */
};
void setmem_space(const struct setmem *m, struct setmem_space *out);

/* ---------- the directory ---------- */

struct setmem_info {
	uint32_t id; /* what DP_OP_SET says */
	struct str name, type, options; /* in the image */
	enum family family; /* of its addresses */
	bool has_addrs, has_default_timeout, has_counters, has_comments, forceadd;
	bool is_changed;  /* elements came or went since it was built */
	bool is_runtime;  /* made by a command, not by a file of rules */
	bool is_trie;	  /* else a hash */
	uint32_t default_timeout_s;
	uint64_t max_elems, n_elems; /* n_elems: those whose time is past and that nobody removed are among them */
	uint64_t declared; /* hash over what its declaration said, elements and all: setmem_declared() */
	uint64_t n_words, n_shapes;
	uint32_t born, died; /* see setmem_tidy() */
	uint64_t built_at_s; /* seconds since 1970 */
};

/* The set of this name that the rules in use (m->serial) mean, or SETMEM_NONE. */
uint32_t setmem_find(const struct setmem *m, struct str name);
/* All of them: for (id = setmem_next(&m, SETMEM_NONE); id != SETMEM_NONE; id = setmem_next(&m, id)); others are skipped. */
uint32_t setmem_next(const struct setmem *m, uint32_t id);
/* false: there is no such set. */
bool setmem_info(const struct setmem *m, uint32_t id, struct setmem_info *out);
/* As a set of the model without elements (in a): what element texts are read and printed with. */
struct set *setmem_model(struct arena *a, const struct setmem *m, uint32_t id);
/* Over name, type, options, and elements in any order. */
uint64_t setmem_declared(const struct set *s);

/* ---------- whole sets ---------- */

enum setmem_overlap {
	SETMEM_KEEP,   /* as ipset: elements that are the same are one, the last one said counts; others may overlap */
	SETMEM_STRICT, /* two elements that overlap are an error */
	SETMEM_MERGE,  /* addresses and networks become the fewest that cover the same, exceptions apart (see below) */
};

/*
 * A list: addresses, prefixes or ranges, lo <= hi, of the set's family, in any order. For a set of one dimension ADDR or
 * NET. A range becomes the networks that make it up, in an ADDR set its addresses.
 */
struct setmem_span {
	u128 lo, hi;
	bool nomatch;
};

/*
 * What to build from. SETMEM_MERGE drops what lies in a larger network of the same kind and joins neighbours; elements with
 * a timeout, sets of several dimensions and of ADDR are kept as they are.
 */
struct setmem_source {
	enum setmem_overlap overlap;
	const struct setmem_span *span; /* in place of the set's own elements; NULL: those */
	size_t n_spans;
	bool is_runtime;
	uint32_t born;	/* serial of the rules that mean this set; 0: whoever asks for its name */
};

struct setmem_report {
	size_t n_entries;    /* that were given */
	size_t n_duplicates; /* given before, the very same */
	size_t n_after;	     /* elements of the set */
	size_t first, second; /* SETMEM_STRICT, -EEXIST: two that overlap, as indexes into elems or span */
	double seconds;
	size_t bytes;	     /* of the set in the image */
};

/*
 * A new set, beside what is there. src NULL: { 0 }. *id is set if it succeeds; r may be NULL. Not between begin and commit.
 */
int setmem_build(struct setmem *m, const struct set *s, const struct setmem_source *src, uint32_t *id, struct setmem_report *r);
/*
 * The set `id` gets these contents in place of its own; its name, type and options stay. s gives the elements unless src
 * has spans (then NULL). Seen by one store.
 */
int setmem_replace(struct setmem *m, uint32_t id, const struct set *s, const struct setmem_source *src, struct setmem_report *r);
/* Exchanges what two sets hold; names and options stay. -EINVAL: another type or family, or only one has timeouts. */
int setmem_swap(struct setmem *m, uint32_t x, uint32_t y);
/* Removes a set. The caller knows that no rules ask it. */
int setmem_remove(struct setmem *m, uint32_t id);
int setmem_flush(struct setmem *m, uint32_t id); /* all its elements */

/*
 * Sets that come and go with rules. One that is born with serial s is there for rules of serial s, and one that has died
 * with serial s is so for all others; until it is known that s has come into use, or never will. setmem_tidy() is told:
 * the rules of serial m->serial are in use and no others will be again (no trial is open).
 */
void setmem_die(struct setmem *m, uint32_t id, uint32_t serial);
void setmem_tidy(struct setmem *m);

/* ---------- elements ---------- */

/* v, plen, nomatch, wildcard, has_timeout, timeout_s of a struct set_elem; v is masked as the set says. */

/* -EEXIST: it is there already, the same in all; one that differs in nomatch or has a timeout is replaced: 0. */
int setmem_add(struct setmem *m, uint32_t id, const struct set_elem *el);
int setmem_del(struct setmem *m, uint32_t id, const struct set_elem *el); /* -ENOENT */
/* This very element; *out (may be NULL) is it as it is stored, with what is left of its time. */
bool setmem_has(const struct setmem *m, uint32_t id, const struct set_elem *el, struct set_elem *out);

enum setmem_answer { SETMEM_OUT, SETMEM_IN, SETMEM_EXCEPTION };
/* What a packet with these values is told: the most specific element decides. Prefix lengths of el do not count. */
enum setmem_answer setmem_match(const struct setmem *m, uint32_t id, const struct set_elem *el);

/* All elements, in no order, those whose time is past left out: at = 0; while (setmem_elem(m, id, &at, &el)) ... */
bool setmem_elem(const struct setmem *m, uint32_t id, uint64_t *at, struct set_elem *out);

/* ---------- several changes at once ---------- */

/* Only add, del, flush, swap and replace may come between; what reads then sees the changes made so far. -EAGAIN. */
int setmem_begin(struct setmem *m);
void setmem_commit(struct setmem *m); /* one store */
void setmem_abort(struct setmem *m);  /* as before begin */

#endif
