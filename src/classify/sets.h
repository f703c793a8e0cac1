/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests on named sets. A set is there once, however many rules ask it: what differs between `src` and `dst` is only which
 * words of the key it is asked with. Where the sets lie is for sets/setmem.h: instructions name them by number.
 */
#ifndef WEIR_CLASSIFY_SETS_H
#define WEIR_CLASSIFY_SETS_H

#include "classify/code.h"
#include "policy/policy.h"

struct sets;

struct sets_asking { /* a word of the tables that is the number of a set */
	uint32_t word, set; /* set.id */
};

/* The sets that rules ask, and where. */
struct sets_asked {
	VEC(const struct set *) set;
	VEC(struct sets_asking) at;
};

/* may_expire: somebody knows when the time of elements begins; else one that expires is an error. */
struct sets *sets_collect(struct arena *a, const struct ruleset *rs, struct diags *d, bool may_expire);
/* The test t (TEST_SET), for rules of one family. What cannot be asked is an error, once for each set. */
void sets_emit(struct sets *s, struct code *c, const struct test *t, bool is_ip4, int yes, int no);
/* When all code is there, of which the first instruction will lie at pc. */
struct sets_asked sets_asked(struct sets *s, const struct code *c, uint32_t pc);
/* Puts the numbers that the sets have in an image into the tables' words. id: by set.id. */
void sets_number(const struct sets_asked *s, uint64_t *word, const uint32_t *id);

struct sets_clock {
	uint64_t now; /* jiffies: when the time of elements begins */
	uint32_t hz;
};
struct sets_image {
	uint64_t *word;
	unsigned log2; /* words; DP_TABLE_PAD more can be read */
	uint64_t n_used; /* of them */
};
/* An image of these sets alone (in a), and their numbers put into the tables' words. 0 or -errno: setmem.h. */
int sets_image(struct arena *a, const struct sets_asked *s, struct sets_clock clock, uint64_t *word, struct sets_image *out);

#endif
