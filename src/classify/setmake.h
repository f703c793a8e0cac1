/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One set as words: its shapes, and its elements in two buckets each. */
#ifndef WEIR_CLASSIFY_SETMAKE_H
#define WEIR_CLASSIFY_SETMAKE_H

#include "classify/code.h"
#include "policy/policy.h"

enum { SETMAKE_OK, SETMAKE_TOO_MANY_SHAPES, SETMAKE_TOO_LARGE };

struct setmake {
	uint64_t *word; /* the offset of the slots in word 0 is from word 0 on */
	size_t n_words, n_shapes;
};

/* How many key words a dimension takes. */
unsigned setmake_words(const struct set *s, unsigned dim);
int setmake(struct arena *a, const struct set *s, struct setmake *out);

#endif
