/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables: a ruleset compiled to position-independent words, ready for the datapath (kernel or user space).
 *
 * A point is one place where a program runs: a family, a hook, and the base chains that are judged there together, in
 * order. Counters are numbered by the caller, so that a rule that stays keeps its counter over a reload.
 */
#ifndef WEIR_CLASSIFY_TABLES_H
#define WEIR_CLASSIFY_TABLES_H

#include "classify/sets.h"

enum { TABLES_MAX_POINTS = 32, TABLES_MAX_CHAINS = 8, TABLES_NO_COUNTER = UINT32_MAX };

/*
 * Point numbers are family * 16 + position. The hook of a position is fixed, its priority is not (flat/points.c): a number in
 * use means the same until it is not in use any more. Chains judged together sit at the point of the first.
 */
struct tables_point {
	bool is_used;
	enum family family;
	enum hook hook;
	int priority;
	const struct chain *chain[TABLES_MAX_CHAINS];
	unsigned n_chains;
	uint32_t features; /* DP_F_* bits (tables/format.h) that this point's rules need */
};

/* How the next rule of a list is found. */
enum tables_engine {
	TABLES_ENGINE_ANY,   /* the cheapest */
	TABLES_ENGINE_SCAN,  /* guard by guard */
	TABLES_ENGINE_GRAPH, /* a decision graph of cuts */
	TABLES_ENGINE_CLASSES, /* class tables */
	TABLES_ENGINE_COUNT,
};

/* What became of a rule. */
enum tables_fate_kind {
	TABLES_FATE_USED,
	TABLES_FATE_NEVER,  /* no packet can match it */
	TABLES_FATE_HIDDEN, /* every packet that could match it ends at an earlier rule */
};
struct tables_fate {
	enum tables_fate_kind kind;
	bool is_kept;	/* not USED, and yet in the tables: without connection tracking it drops packets */
	const struct rule *by; /* HIDDEN: that rule */
};

/* A counter that stands for several rules: whenever it counts, each of them has, in this order. */
struct tables_sum {
	uint32_t counter, n;
	const struct rule *const *rule;
};

/* What a list looks among: usually a rule each; one that stands for several, or for none of the chain's. */
struct tables_entry {
	const struct rule *const *rule; /* that count here, in order */
	uint32_t n;
};

/* What became of a chain. */
struct tables_list {
	const struct chain *chain;
	enum tables_engine engine;
	const char *why;  /* SCAN: why nothing else; else NULL */
	size_t n_words;	  /* of its tables */
	size_t n_insns;	  /* of its code, four words each */
	uint32_t worst;	  /* loads and compares of a lookup at most */
	uint32_t pc;	  /* its first instruction, in the half */
	const struct tables_fate *fate; /* of each rule of the chain; what is not USED counts nothing */
	const struct tables_entry *entry; /* by place */
	size_t n_entries;
	size_t n_gathered; /* entries whose bodies follow those of earlier ones: gather.h */
	const struct rule *const *inlined; /* calls in whose place the chain's rules are: inline.h */
	size_t n_inlined;
};

struct flat_places;
struct tables_options {
	const uint32_t *rule_counter;  /* by rule.id; NULL: DP_COUNTERS_SPECIAL + rule.id */
	const uint32_t *chain_counter; /* by chain.id: the policy's counter; NULL: behind those of all rules */
	/*
	 * Twins count as their root: both arrays give them its number.
	 * Who reads the counts adds up what tables.sum says, so counters may stand for several rules. sum_counter: the number of
	 * such a counter; NULL: the next ones behind those of all rules and chains.
	 */
	bool may_sum;
	bool keep_calls; /* chains are never put in the place of their calls */
	uint32_t (*sum_counter)(void *arg, const struct rule *const *rule, size_t n);
	void *sum_arg;
	uint32_t special_counter;      /* 0: the first counters are the special ones (enum dp_counter) */
	bool reject_as_drop, malformed_accept, log_as_count;
	bool test_run;	/* for test runs: what only a live hook refuses (MARK at netfilter hooks) is compiled */
	enum tables_engine engine; /* of every list, as far as it can; 0: each list's own best */
	uint32_t hz;	/* jiffies in a second, for limits; 0: this kernel's */
	bool sets_expire; /* elements of sets may have a time */
	uint64_t now;	/* jiffies: when it begins */
	bool sets_apart; /* somebody else makes the image of the sets, and calls sets_number() */
	bool apart; /* every base chain has a point of its own, as far as there are enough */
	/* As those of struct flat_options: who hangs between chains, and which positions are in use. */
	bool (*is_between)(void *arg, enum family f, enum hook h, int lower, int upper);
	void *between_arg;
	const struct flat_places *held;
};

struct tables {
	uint64_t *word; /* what one half of the kernel's table map gets; DP_TABLE_PAD zero words lie behind */
	uint32_t n_words;
	uint64_t *state; /* first contents of one half of the kernel's state map (limits, quotas) */
	uint32_t n_state;
	uint32_t features; /* of all points together */
	struct tables_point point[TABLES_MAX_POINTS];
	uint8_t order[TABLES_MAX_POINTS / FAMILY_COUNT]; /* positions in use: by hook, then in the order of packets */
	unsigned n_order;
	struct tables_list *list; /* all chains that are reached, callees before their callers */
	size_t n_lists;
	const struct tables_sum *sum; /* counters ascend, unless sum_counter gave them */
	size_t n_sums;
	uint32_t n_counters; /* one more than the highest, unless rule_counter or sum_counter gave them */
	struct sets_asked sets;	 /* that the rules ask */
	struct sets_image image; /* of them; empty if there are none, or with sets_apart */
};

/*
 * Compiles. What the datapath cannot decide is an error in d with the rule's place, the reason and the way out. Returns
 * NULL then; else tables in a.
 */
struct tables *tables_build(struct arena *a, const struct ruleset *rs, const struct tables_options *opt, struct diags *d);
/* The sum that a counter is, or NULL; for counters that ascend. Time O(log n). */
const struct tables_sum *tables_find_sum(const struct tables *t, uint32_t counter);

#endif
