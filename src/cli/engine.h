/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What judges the packets of a test: the reference evaluator, the compiled tables in user space, or the programs in
 * the kernel. An engine is opened for the rules of a case, judges its packets in order and is closed.
 */
#ifndef WEIR_CLI_ENGINE_H
#define WEIR_CLI_ENGINE_H

#include "eval/eval.h"

struct engine_answer {
	struct str verdict;	   /* as eval_verdict_text() writes it */
	bool is_malformed;
	const struct rule *rule;   /* that decided, or NULL: */
	const struct chain *chain; /* whose policy did, or NULL */
	const struct rule *via;
	bool mark_known;
	uint32_t mark;
	struct str why;		   /* of unknown */
	bool only_drops;	   /* a reject is a drop to this engine */
	struct str skip;	   /* the engine cannot judge this packet, because of this */
	VEC(const struct rule *) hits;
};

struct engine {
	const char *name;
	/* NULL and *skip (why it cannot run these rules), or the state of this engine. */
	void *(*open)(struct arena *a, const struct ruleset *rs, const struct eval_options *opt, struct str *skip);
	void (*run)(void *state, struct arena *a, const struct packet *p, struct engine_answer *out);
	void (*close)(void *state);
};

extern const struct engine engine_eval, engine_tables, engine_kernel;

/* The engine of --engine's choice (option.def); -1: the evaluator. */
const struct engine *engine_choose(int choice);

#endif
