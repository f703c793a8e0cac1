/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a test of meaning gets to know of one packet on its way, and the run of one case: rules and packets, an interpreter
 * over the syntax tree, and the evaluator over what the tree was lowered to. Both must say the same: verdict, mark, and which
 * rules counted, in order.
 */
#ifndef WEIR_TESTS_MEANING_WAY_H
#define WEIR_TESTS_MEANING_WAY_H

#include "eval/eval.h"
#include "lang/lang.h"
#include "meaning/lib/head.h"

enum { WAY_HITS = 1024, WAY_HOOKS = 3, WAY_LINES = 200, WAY_LINE = 4096 };

/* The state of a packet in the interpreter. */
struct way {
	const struct packet *p;
	struct head h;
	enum hook hook;
	uint32_t mark, ct_mark;
	int ct; /* enum ct_state once tracking has seen it */
	bool is_untracked, drops, rejects;
	bool is_lost; /* the interpreter cannot tell: not to be compared */
	uint32_t hit[WAY_HITS]; /* where each rule begins that counted, in the text */
	unsigned n_hits;
};

void way_hit(struct way *w, struct loc rule);

struct way_lang {
	const char *file; /* "rules.v4", for errors and detection */
	enum lang lang;
	/* Runs the packet through the tree. w is the packet as it comes, hooks those that it passes. */
	void (*run)(const void *tree, struct way *w, const enum hook *hooks, unsigned n_hooks);
	/* Writes the text without the lines whose rules the interpreter does not know; false: it knows all. */
	bool (*prune)(const void *tree, struct str text, struct buf *out);
};

struct way_total {
	uint64_t judged, differ, passed_by, drops, rejects, hits, cases, refused;
};

/* Judges one packet of each line of notation by both. Differences are printed as TAP comments. */
void way_case(const struct way_lang *l, const char *text, uint64_t seed, char *const *lines, unsigned n, struct way_total *t);

/* WEIR_PACKETS packets, from WEIR_SEED on; make fills text and lines of a case. Prints TAP; the exit status. */
struct way_make {
	const char *what; /* "iptables" */
	/* Returns the text, which is good until the next call. */
	const char *(*text)(uint64_t seed, const struct way_lang **l, char lines[WAY_LINES][WAY_LINE]);
};
/* Prints what the tree means for each packet of a file; the exit status. */
int way_hits(const struct way_lang *l, const char *rules, const char *packets);
int way_main(const struct way_make *m, unsigned long packets);

#endif
