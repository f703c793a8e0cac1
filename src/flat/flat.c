/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists. See flat.h; points.c has the points. */
#include "flat/points.h"

/* ---------- lists ---------- */

enum seen { SEEN_NOT, SEEN_OPEN, SEEN_DONE };
enum { MAX_WAY = 2000 }; /* chains on the way, by calls and gotos; a bound for the recursion */

struct reach {
	struct arena *a;
	const struct ruleset *rs;
	const struct flat_options *opt;
	struct diags *d;
	struct flat *out;
	uint8_t *seen;	/* by chain.id: enum seen */
	uint8_t *below; /* by chain.id: calls that may be on the way in it */
	bool asks_route; /* some rule does */
};

static const struct step *last_step(const struct rule *r)
{
	return r->n_steps ? &r->step[r->n_steps - 1] : NULL;
}

static const struct chain *callee(const struct rule *r)
{
	const struct step *s = last_step(r);

	if (!s || s->kind != STEP_VERDICT || (s->v.verdict != VERDICT_JUMP && s->v.verdict != VERDICT_GOTO))
		return NULL;
	return s->v.chain;
}

static void reach_chain(struct reach *r, const struct chain *c, unsigned depth);

static void reach_callee(struct reach *r, const struct rule *rule, unsigned depth)
{
	const struct chain *to = callee(rule), *c = rule->chain;
	const struct step *s = last_step(rule);
	unsigned below;

	if (!to)
		return;
	if (r->seen[to->id] == SEEN_OPEN) {
		diag_error(r->d, s->v.at, "chain %.*s is called from within itself", STR_ARG(to->name));
		return;
	}
	if (r->seen[to->id] == SEEN_NOT && depth == MAX_WAY) {
		diag_error(r->d, s->v.at, "this leads to the %dth chain out of another", MAX_WAY);
		return;
	}
	if (r->seen[to->id] == SEEN_NOT)
		reach_chain(r, to, depth + 1);
	below = r->below[to->id] + (s->v.verdict == VERDICT_JUMP ? 1u : 0u);
	if (below > r->below[c->id])
		r->below[c->id] = (uint8_t)below;
	if (below == FLAT_MAX_DEPTH + 1)
		diag_hint(r->d,
			  diag_error(r->d, s->v.at, "this is the %uth call inside another; the datapath comes back from at most %d",
				     FLAT_MAX_DEPTH + 1, FLAT_MAX_DEPTH),
			  "use -g where a chain need not come back, or join chains");
}

static void reach_chain(struct reach *r, const struct chain *c, unsigned depth)
{
	r->seen[c->id] = SEEN_OPEN;
	for (size_t i = 0; i < c->rules.n; i++) {
		policy_ahead(c, i);
		flat_refuse_rule(r->rs, c->rules.v[i], r->opt, r->d);
		r->asks_route |= flat_asks_route(c->rules.v[i]);
		reach_callee(r, c->rules.v[i], depth);
	}
	r->seen[c->id] = SEEN_DONE;
	*vec_add(r->a, &r->out->lists) = c;
}

/* Everything that PREROUTING reaches, once more. */
static void reach_early(struct reach *r, const struct chain *c, uint8_t *seen)
{
	if (seen[c->id])
		return;
	seen[c->id] = 1;
	for (size_t i = 0; i < c->rules.n; i++) {
		policy_ahead(c, i);
		flat_refuse_early(r->rs, c->rules.v[i], r->d);
		if (callee(c->rules.v[i]))
			reach_early(r, callee(c->rules.v[i]), seen);
	}
}

bool flat_make(struct arena *a, const struct ruleset *rs, const struct flat_options *opt, struct diags *d, struct flat *out)
{
	struct reach r = { .a = a, .rs = rs, .opt = opt, .d = d, .out = out };
	unsigned errors = d->n_errors;

	*out = (struct flat){ 0 };
	r.seen = arena_new(a, uint8_t, rs->chains.n + 1);
	r.below = arena_new(a, uint8_t, rs->chains.n + 1);
	points_make(rs, opt, d, out);
	flat_refuse_devices(rs, d);
	for (size_t i = 0; i < rs->chains.n; i++)
		if (rs->chains.v[i]->hook != HOOK_NONE && rs->chains.v[i]->is_nat)
			flat_refuse_nat(rs, rs->chains.v[i], d);
	for (unsigned i = 0; i < FLAT_POINTS; i++)
		for (unsigned k = 0; k < out->point[i].n_chains; k++)
			reach_chain(&r, out->point[i].chain[k], 0);
	for (unsigned i = 0; i < FLAT_POINTS && d->n_errors == errors && r.asks_route; i++)
		for (unsigned k = 0; k < out->point[i].n_chains; k++)
			if (out->point[i].hook == HOOK_PREROUTING)
				reach_early(&r, out->point[i].chain[k], arena_new(a, uint8_t, rs->chains.n + 1));
	return d->n_errors == errors;
}
