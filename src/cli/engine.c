/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engines, and the first of them: the reference evaluator. See engine.h. */
#include "cli/engine.h"

static void *eval_open(struct arena *a, const struct ruleset *rs, const struct eval_options *opt, struct str *skip)
{
	*skip = STR("");
	return eval_create(a, rs, opt);
}

static void eval_run(void *state, struct arena *a, const struct packet *p, struct engine_answer *out)
{
	struct eval_result r = { 0 };

	eval_packet(state, a, p, &r);
	*out = (struct engine_answer){
		.verdict = eval_verdict_text(a, &r), .is_malformed = r.is_malformed, .rule = r.rule, .chain = r.chain,
		.via = r.via, .mark_known = r.mark_known, .mark = r.mark, .why = r.why,
	};
	for (size_t i = 0; i < r.hits.n; i++)
		*vec_add(a, &out->hits) = r.hits.v[i];
}

static void eval_close(void *state)
{
	(void)state; /* lives in the arena */
}

const struct engine engine_eval = { "eval", eval_open, eval_run, eval_close };

const struct engine *engine_choose(int choice)
{
	static const struct engine *const engines[] = { &engine_eval, &engine_tables, &engine_kernel };

	return engines[choice < 0 ? 0 : choice];
}
