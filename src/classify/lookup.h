/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which engine finds the next rule of a list, and the list rewritten for it.
 *
 * A list is emitted as its guards and bodies one behind the other: that is the scan, and it needs nothing else. If
 * another engine is expected to be cheaper, LOOKUP instructions are put between the rules, and of every guard only what
 * its box does not answer is left:
 *
 *     guard 0, body 0, guard 1, body 1, policy     ->     LOOKUP, body 0, LOOKUP, rest of guard 1, body 1, LOOKUP, policy
 *
 * A LOOKUP stands only where a packet can come: not behind a rule whose whole guard is in its box and whose body
 * ends the list. If that body is but a verdict, there is no code of the rule at all: the lookup's answer says it. Where
 * rules test connections all guards and bodies stay, because without conntrack they are all run. Rules that no packet comes
 * to (hidden.h) are left out of both, whichever the engine.
 */
#ifndef WEIR_CLASSIFY_LOOKUP_H
#define WEIR_CLASSIFY_LOOKUP_H

#include "classify/graph.h"
#include "classify/tables.h"

struct lookup_list {
	struct code *code;
	const struct chain *chain;
	uint32_t *start;	    /* of each entry; start[n]: the list's policy */
	struct tables_entry *entry; /* what each is for */
	size_t n;
	bool is_ip6;
	enum tables_engine wanted; /* TABLES_ENGINE_ANY: the cheapest */
	struct words *words;
	uint32_t policy_pc;	    /* where the policy lies: out */
	struct tables_fate *fate;   /* of the chain's rules: room for them */
	struct sums *sums;	    /* NULL: every counter is of one rule */
	struct tables_list *report; /* engine, why, words, worst, entries, fate are filled in */
};

/* The open list, all of whose labels have their place; before code_list_close(). */
void lookup_make(struct lookup_list *l);
/* All code and words will lie at these places of the half: tells the instructions and the tables. */
void lookup_write(struct code *c, struct words *w, uint32_t code_pc, size_t words_at);

#endif
