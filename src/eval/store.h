/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the evaluator remembers between packets: token buckets, recent lists, set elements, connections. One map from
 * bytes to bytes, so that a packet whose way forks can be taken back and compared.
 *
 *     store_begin()                          a packet begins
 *       store_put() store_put()              the first way changes things ...
 *     store_take_back()                      ... and is undone, but what it wrote is kept aside
 *       store_put()                          the second way
 *     store_take_back()
 *     store_settle()                         written alike on all ways: kept. Else: the entry is uncertain from now on
 *
 * Values are copied in; a pointer to one is good until the next store_put() of its key.
 */
#ifndef WEIR_EVAL_STORE_H
#define WEIR_EVAL_STORE_H

#include "base/arena.h"

struct store;

/* A key: a letter that says what it is for, then whatever tells two of them apart. */
struct key {
	size_t n;
	uint8_t b[384];
};
void key_start(struct key *k, char kind);
void key_add(struct key *k, const void *p, size_t n); /* what goes beyond 384 bytes is folded into the last 8 */
void key_str(struct key *k, struct str s);

enum store_answer { STORE_NONE, STORE_HERE, STORE_UNCERTAIN };

struct store_value {
	const void *p; /* NULL for STORE_NONE, and where not even that is certain */
	size_t n;
	int64_t uncertain_ns; /* STORE_UNCERTAIN: the packet time since which */
};

struct store *store_create(struct arena *a);
enum store_answer store_get(const struct store *s, const struct key *k, struct store_value *out);
/* n = 0 removes it. until_ns: forgotten when the time is past it; INT64_MAX: never. Makes an uncertain entry certain. */
void store_put(struct store *s, const struct key *k, const void *p, size_t n, int64_t until_ns);
void store_doubt(struct store *s, const struct key *k); /* whatever it is now, nobody knows */

void store_begin(struct store *s, int64_t now_ns);
void store_take_back(struct store *s);
/* all: the ways taken back are all there are; else everything is uncertain from now on. */
void store_settle(struct store *s, bool all);

#endif
