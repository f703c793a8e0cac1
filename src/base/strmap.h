/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A map from texts to pointers, in an arena. Zeroed is empty. Keys are kept by reference: they must live as long.
 *
 *     struct strmap m = { 0 };
 *     *strmap_slot(a, &m, name) = chain;
 *     struct chain *c = strmap_get(&m, name);
 */
#ifndef WEIR_BASE_STRMAP_H
#define WEIR_BASE_STRMAP_H

#include "base/arena.h"

struct strmap_entry {
	struct str key;
	uint64_t hash;
	void *value;
	bool is_used;
};

struct strmap {
	struct strmap_entry *entry;
	size_t n, cap; /* cap: a power of two, or 0 */
};

/* The value's place, made (NULL) if there is none. Good until the next call. */
void **strmap_slot(struct arena *a, struct strmap *m, struct str key);
void *strmap_get(const struct strmap *m, struct str key); /* NULL if there is none */

#endif
