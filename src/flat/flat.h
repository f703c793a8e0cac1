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

enum { FLAT_POINTS = 32, FLAT_MAX_CHAINS = 4, FLAT_MAX_DEPTH = 16, FLAT_POSITIONS = 13, FLAT_MAX_U32 = 4096 };

struct flat_point {
	enum family family;
	enum hook hook;
	int priority; /* of its first chain */
	const struct chain *chain[FLAT_MAX_CHAINS];
	unsigned n_chains; /* 0: not used */
};

struct flat_options {
	bool reject_as_drop, test_run;
	unsigned shared_chains; /* bit p: the chain at position p may join the program of the one before it; 0: the default */
};

struct flat {
	struct flat_point point[FLAT_POINTS];
	VEC(const struct chain *) lists; /* all chains reached, callees before their callers */
};

/*
 * Which base chains run at which point (those without rules that accept need none), and the lists; what cannot be done is an
 * error in d. Memory comes from a.
 */
bool flat_make(struct arena *a, const struct ruleset *rs, const struct flat_options *opt, struct diags *d, struct flat *out);

/* flat/refuse.c: errors for steps of a rule, or of a whole chain, that no program here can do. */
void flat_refuse_rule(const struct ruleset *rs, const struct rule *r, const struct flat_options *opt, struct diags *d);
/* In front of the routing decision: tests on what only the route tells. */
bool flat_asks_route(const struct rule *r);
void flat_refuse_early(const struct ruleset *rs, const struct rule *r, struct diags *d);
void flat_refuse_nat(const struct ruleset *rs, const struct chain *c, struct diags *d);

/* A test on the type of an address that asks for multicast alone: the address itself tells. */
bool flat_asks_multicast(const struct test *t);

#endif
