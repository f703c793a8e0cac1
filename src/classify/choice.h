/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which engine looks a list up: what each would cost, and the tables of the cheapest.
 *
 * The costs are of steps that are expected, in ns as bench-classify measured them; only which is less matters. Tables
 * that are built and not taken leave no words behind.
 */
#ifndef WEIR_CLASSIFY_CHOICE_H
#define WEIR_CLASSIFY_CHOICE_H

#include "classify/plan.h"

/* Tables that are made: what the LOOKUP instructions say of them. */
struct choice {
	uint64_t root;
	size_t begin, n_words;
	enum tables_engine engine;
	uint32_t worst; /* steps */
	size_t wild; /* rules whose guards every lookup that comes so far has to run: the tables hold nothing of them */
};

/*
 * The tables of the engine that is wanted, or of the cheaper one; the plan is then the one that they were made for.
 *
 * Returns NULL, or why the list is to be scanned: then no words are left, and the plan says nothing.
 */
const char *choice_make(struct plan *p, struct choice *m);
/* Is it expected to cost less to look n rules up than to scan them? n_wild: of which a packet meets every one anyhow. */
bool choice_is_worth(size_t n, size_t n_wild);
/* Are n rules few enough for tables that compare all that a guard asks of the key, not only addresses, protocol and ports? */
bool choice_compares_all(size_t n);

#endif
