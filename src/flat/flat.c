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

bool flat_next_call(struct flat_call *c)
{
	for (; c->step < c->rule->n_steps; c->step++, c->outcome = 0) {
		const struct step *s = &c->rule->step[c->step];

		if (s->kind == STEP_VERDICT && s->v.chain && c->outcome++ == 0) {
			c->verdict = s;
			c->is_of_map = false;
			return true;
		}
		while (s->kind == STEP_MAP && c->outcome < s->map->map->n_outcomes) {
			c->verdict = &s->map->map->outcome[c->outcome++];
			c->is_of_map = true;
			if (c->verdict->kind == STEP_VERDICT && c->verdict->v.chain)
				return true;
		}
	}
	return false;
}

/* Is a map looked up in the rule? Its list is called, too. */
static bool asks_map(const struct rule *r)
{
	for (uint32_t i = 0; i < r->n_steps; i++)
		if (r->step[i].kind == STEP_MAP || (r->step[i].kind == STEP_TEST && r->step[i].test.kind == TEST_TUPLE))
			return true;
	return false;
}

static void reach_chain(struct reach *r, const struct chain *c, unsigned depth);

static void set_below(struct reach *r, const struct chain *c, unsigned below, struct loc at)
{
	if (below > r->below[c->id])
		r->below[c->id] = (uint8_t)below;
	if (below == FLAT_MAX_DEPTH + 1)
		diag_hint(r->d,
			  diag_error(r->d, at, "this is the %uth call inside another; the datapath comes back from at most %d",
				     FLAT_MAX_DEPTH + 1, FLAT_MAX_DEPTH),
			  "use -g (goto) where a chain need not come back, or join chains");
}

static void reach_callee(struct reach *r, const struct chain *c, const struct step *s, unsigned depth)
{
	const struct chain *to = s->v.chain;

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
	set_below(r, c, r->below[to->id] + (s->v.verdict == VERDICT_JUMP ? 1u : 0u), s->v.at);
}

static void reach_chain(struct reach *r, const struct chain *c, unsigned depth)
{
	r->seen[c->id] = SEEN_OPEN;
	for (size_t i = 0; i < c->rules.n; i++) {
		policy_ahead(c, i);
		flat_refuse_rule(r->rs, c->rules.v[i], r->opt, r->d);
		r->asks_route |= flat_asks_route(c->rules.v[i]);
		if (asks_map(c->rules.v[i]))
			set_below(r, c, 1, c->rules.v[i]->at);
		for (struct flat_call call = { .rule = c->rules.v[i] }; flat_next_call(&call);)
			reach_callee(r, c, call.verdict, depth);
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
		for (struct flat_call call = { .rule = c->rules.v[i] }; flat_next_call(&call);)
			reach_early(r, call.verdict->v.chain, seen);
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
