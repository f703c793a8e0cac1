/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Class tables: for each field a walk to the class of its value, then tables of pairs of classes. tables/classes.h has the
 * layout.
 *
 * Rules that narrow only the source, only the destination, both or neither (and so for ports) multiply each other's
 * classes in one table, so they are dealt into groups with tables of their own. Which groups are worth it is estimated from
 * how many different values the rules have; what comes out is measured against the budget, and given up early.
 */
#ifndef WEIR_CLASSIFY_CLASSES_H
#define WEIR_CLASSIFY_CLASSES_H

#include "classify/graph.h"

/* A box, and bits of two more words. */
struct class_box {
	struct box box;
	uint64_t dev_mask, dev_value, ct_mask, ct_value; /* DP_W_DEV, DP_W_CT */
};

/* What surely does not match is outside of the box. A rule may have several boxes, one behind the other. */
struct class_rule {
	const struct class_box *box;
	uint64_t result; /* word, ascending in order: place in its upper 20 bits */
	uint32_t until;	 /* every key of the box goes on at this place, BOX_FINAL: ends the list; 0: not known */
};

struct class_task {
	const struct class_rule *rule;
	size_t n;
	uint64_t policy;   /* result word; its place is above all others */
	size_t most_words;
	uint64_t most_work; /* words of rule sets to be looked at, roughly a nanosecond each */
};

struct class_tables {
	uint64_t root; /* offset from `begin` */
	size_t begin;  /* in words.v; its first word is left to the caller */
	unsigned n_groups;
	uint32_t loads; /* of a lookup, all told */
	unsigned run;	/* rules that may match one after the other, at most */
};

/* False: it would exceed the budget or a bound; the words are as before. */
bool classes_build(const struct class_task *t, struct words *w, struct class_tables *c);
/*
 * Measures tables from their words alone, without trusting who made them: n words, lists' root. False: something lies
 * outside of them, or exceeds a bound of the datapath, or an index may exceed its table.
 */
bool classes_check(const uint64_t *word, size_t n, uint64_t root, struct class_tables *measured);
/* As graph_read_lookup(): where the LOOKUP at pc of the half leads for this key; 0: to a verdict. A word is a step. */
uint32_t classes_read_lookup(const uint64_t *half, uint32_t pc, const uint64_t *key, uint64_t *steps);

#endif
