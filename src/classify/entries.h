/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entries of an open list: pieces of code one behind the other, each with the rules that count in it. And a writer that puts
 * another list in their place, out of old entries, new ones, and bodies of old ones in new company:
 *
 *     entries_open(&w, scratch, l);
 *     entries_copy(&w, 0);                     as it was
 *     entries_begin(&w, e); code_add(...)      a new one
 *     entries_skip(&w, 1, 2);                  two are gone; jumps to them lead to what comes next
 *     entries_close(&w);                       with the policy's code behind
 */
#ifndef WEIR_CLASSIFY_ENTRIES_H
#define WEIR_CLASSIFY_ENTRIES_H

#include "classify/code.h"
#include "classify/tables.h"

struct entries {
	struct code *code;
	uint32_t *start; /* of each entry; start[n]: the list's policy */
	struct tables_entry *entry;
	size_t n;
};

struct entries_writer {
	struct arena *a; /* what is in the list must not outlive it, but tables_entry: those are in the code's */
	struct entries *l;
	struct code_insn *old;
	size_t n_old, n_labels;
	uint32_t *to; /* old places from the list's head to new ones */
	VEC(uint32_t) start;
	VEC(struct tables_entry) entry;
};

void entries_open(struct entries_writer *w, struct arena *a, struct entries *l);
void entries_begin(struct entries_writer *w, struct tables_entry e);
void entries_copy(struct entries_writer *w, size_t i);
/* Old instructions of the list, to be put behind what is there. */
void entries_move(struct entries_writer *w, uint32_t first, uint32_t end);
void entries_skip(struct entries_writer *w, size_t first, size_t n);
/* All labels of before are put where their instructions are now, or the next that is still there. */
void entries_close(struct entries_writer *w);

/* Entries that others than the one before skip to, by counts with a label: [i] for entry i, [n] for the policy. */
bool *entries_find_targets(struct arena *a, const struct entries *l);

#endif
