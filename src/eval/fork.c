/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Questions that nobody can answer. A packet is walked again and again with a list of answers: the first time there is
 * none, and every question is answered "no"; then the last "no" becomes "yes" and what is behind it is asked anew.
 *
 *     is the uid 0?  no     is the uid 33?  no      -> accept
 *     is the uid 0?  no     is the uid 33?  yes     -> accept
 *     is the uid 0?  yes                            -> drop        so: unknown
 */
#include "eval/walk.h"

bool fork_choose(struct walk *w, const char *fmt, ...)
{
	struct choice c = { 0 };
	struct eval_event *ev;
	va_list ap;

	if (w->fork->pos < w->fork->v.n)
		return w->fork->v.v[w->fork->pos++].yes;
	va_start(ap, fmt);
	c.why = arena_vprintf(w->a, fmt, ap);
	va_end(ap);
	c.rule = w->rule ? policy_rule_root(w->rule) : NULL;
	c.chain = w->chain ? policy_chain_root(w->chain) : NULL;
	c.n_hits = w->out->hits.n;
	c.n_policy_hits = w->out->policy_hits.n;
	c.n_counter_hits = w->out->counter_hits.n;
	*vec_add(w->a, &w->fork->v) = c;
	w->fork->pos++;
	if (w->has_trace) {
		ev = vec_add(w->a, &w->out->trace);
		*ev = (struct eval_event){ .kind = w->rule ? EVAL_RULE_MAYBE : EVAL_NOTE, .depth = w->depth,
					   .chain = c.chain, .rule = c.rule, .test = w->test, .text = c.why };
	}
	return false;
}

void fork_give_up(struct walk *w, const char *fmt, ...)
{
	va_list ap;

	if (w->has_given_up)
		return;
	va_start(ap, fmt);
	w->out->why = arena_vprintf(w->a, fmt, ap);
	va_end(ap);
	w->has_given_up = true;
	w->out->is_unknown = true;
}
