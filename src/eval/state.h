/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests that remember have in common. See state.c. */
#ifndef WEIR_EVAL_STATE_H
#define WEIR_EVAL_STATE_H

#include "eval/track.h"

/* The key of a test's own state, or of the state that it shares by name within its family. */
void state_key(const struct walk *w, const struct test *t, char kind, struct key *k);
/* The answer before negation, and why. */
enum eval_truth state_answer(struct walk *w, const struct test *t, bool raw, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
enum eval_truth state_ask(struct walk *w, const struct test *t, const char *why); /* nobody knows: chooses */
/* Adds the values of these keys to k. NO: one is absent; UNKNOWN: one is not known. May choose whether one is there. */
enum eval_truth state_values(struct walk *w, const struct map_key *keys, unsigned n, struct key *k);
enum eval_truth state_absent(struct walk *w, const struct test *t); /* what it counts by is not there */

#endif
