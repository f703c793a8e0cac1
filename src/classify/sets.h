/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Named sets as hash tables in the table's words; datapath/sets.h has the layout. A set is built once, however many rules
 * ask it: what differs between `src` and `dst` is only which words of the key it is asked with.
 */
#ifndef WEIR_CLASSIFY_SETS_H
#define WEIR_CLASSIFY_SETS_H

#include "classify/code.h"
#include "policy/policy.h"

struct sets;

struct sets *sets_collect(struct arena *a, const struct ruleset *rs, struct diags *d);
/* The test t (TEST_SET), for rules of one family. What cannot be built is an error, once for each set. */
void sets_emit(struct sets *s, struct code *c, const struct test *t, bool is_ip4, int yes, int no);
size_t sets_words(const struct sets *s);
/*
 * The sets' words will lie from word `at` of the half on: copies them to word[at...] and tells the instructions that ask
 * them.
 */
void sets_write(struct sets *s, struct code *c, uint64_t *word, size_t at);

#endif
