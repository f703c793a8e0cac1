/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Flat: what the datapath has to run, taken out of a ruleset.
 *
 * At each point (policy/family, hook, priority) base chains are judged together; from them the chains that they call are
 * reached. Every chain is one list of rules, and a call's guard is decided once, at the call. Here is decided what
 * runs where, that no chain calls itself and none is called too deep, and that every step of every reached rule is one
 * that a program at a netfilter hook can do: flat/refuse.c.
 *
 *     point 3 (input filter)   base INPUT -> LOGDROP, BLOCK        lists, callees first: LOGDROP BLOCK INPUT
 *     point 6 (forward filter) base FORWARD -> BLOCK               FORWARD
 */
#ifndef WEIR_FLAT_FLAT_H
#define WEIR_FLAT_FLAT_H

#include "policy/policy.h"

enum { FLAT_POINTS = 32, FLAT_MAX_CHAINS = 8, FLAT_MAX_DEPTH = 16, FLAT_POSITIONS = 16, FLAT_MAX_U32 = 4096, FLAT_SET_WORDS = 5 };

/*
 * A position is a hook and a priority, with a number that it has in both families: point = family * 16 + position. Which
 * numbers a hook has, and whether connections are tracked before it there, is fixed (DP_POSITION_HOOK); the rest is dealt out.
 */
struct flat_places {
	struct {
		bool is_used;
		int priority;
	} at[FLAT_POSITIONS];
};

struct flat_point {
	enum family family;
	enum hook hook;
	int priority; /* of its first chain */
	const struct chain *chain[FLAT_MAX_CHAINS];
	unsigned n_chains; /* 0: not used */
};

struct flat_options {
	bool reject_as_drop, test_run;
	bool apart; /* every base chain has a point of its own, as far as there are enough */
	/* Somebody else hangs at the hook between chains of these two priorities, so that they cannot share a point; NULL: nobody. */
	bool (*is_between)(void *arg, enum family f, enum hook h, int lower, int upper);
	void *arg;
	const struct flat_places *held; /* positions that are in use now: they are given to nothing else; NULL: none */
};

struct flat {
	struct flat_point point[FLAT_POINTS];
	uint8_t order[FLAT_POSITIONS]; /* positions that are used in any family: by hook, then in the order of packets */
	unsigned n_order;
	VEC(const struct chain *) lists; /* all chains reached, callees before their callers */
};

/*
 * Which base chains run at which point (those without rules that accept need none), and the lists; what cannot be done is an
 * error in d. Memory comes from a.
 */
bool flat_make(struct arena *a, const struct ruleset *rs, const struct flat_options *opt, struct diags *d, struct flat *out);

/* The verdicts of a rule that lead to another chain, its maps' too, one after the other. */
struct flat_call {
	const struct rule *rule;
	uint32_t step, outcome;	    /* the next to look at */
	const struct step *verdict; /* the one at hand, */
	bool is_of_map;		    /* an outcome of a map */
};
bool flat_next_call(struct flat_call *c); /* false: no more */

/* flat/refuse.c: errors for steps of a rule, or of a whole chain, that no program here can do. */
void flat_refuse_rule(const struct ruleset *rs, const struct rule *r, const struct flat_options *opt, struct diags *d);
/* In front of the routing decision: tests on what only the route tells. */
bool flat_asks_route(const struct rule *r);
void flat_refuse_early(const struct ruleset *rs, const struct rule *r, struct diags *d);
/* Chains at devices, and what was said beside rules. */
void flat_refuse_devices(const struct ruleset *rs, struct diags *d);
void flat_refuse_nat(const struct ruleset *rs, const struct chain *c, struct diags *d);

/* A test on the type of an address that asks for multicast alone: the address itself tells. */
bool flat_asks_multicast(const struct test *t);

#endif
