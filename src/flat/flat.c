/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points and lists. See flat.h. */
#include "flat/flat.h"

/*
 * Positions in the order of packets. `joins`: by default the chain joins the program of the one before it at its hook,
 * because no hook of the kernel's own lies between their priorities.
 */
static const struct position {
	const char *table;
	enum hook hook;
	bool joins;
} positions[FLAT_POSITIONS] = {
	{ "raw", HOOK_PREROUTING, false },
	{ "mangle", HOOK_PREROUTING, false },
	{ "mangle", HOOK_INPUT, false },
	{ "filter", HOOK_INPUT, true },
	{ "security", HOOK_INPUT, true },
	{ "mangle", HOOK_FORWARD, false },
	{ "filter", HOOK_FORWARD, true },
	{ "security", HOOK_FORWARD, true },
	{ "raw", HOOK_OUTPUT, false },
	{ "mangle", HOOK_OUTPUT, false },
	{ "filter", HOOK_OUTPUT, false },
	{ "security", HOOK_OUTPUT, true },
	{ "mangle", HOOK_POSTROUTING, false },
};

/* ---------- points ---------- */

static bool is_needed(const struct chain *c)
{
	return c->hook != HOOK_NONE && !c->is_nat && (c->rules.n > 0 || c->policy == VERDICT_DROP);
}

static const struct chain *chain_at(const struct ruleset *rs, enum family f, const struct position *p)
{
	for (size_t i = 0; i < rs->chains.n; i++) {
		const struct chain *c = rs->chains.v[i];

		if (c->family == f && c->hook == p->hook && str_is(c->table, p->table) && is_needed(c))
			return c;
	}
	return NULL;
}

static bool may_join(unsigned i, unsigned shared)
{
	return shared ? shared >> i & 1 : positions[i].joins;
}

static void family_points(const struct ruleset *rs, enum family f, unsigned shared, struct flat_point *point)
{
	struct flat_point *open = NULL; /* the point of the last chain seen at this hook */

	for (unsigned i = 0; i < FLAT_POSITIONS; i++) {
		const struct chain *c = chain_at(rs, f, &positions[i]);

		if (!may_join(i, shared) || (open && open->hook != positions[i].hook))
			open = NULL;
		if (!c)
			continue;
		if (!open || open->n_chains == FLAT_MAX_CHAINS) {
			open = &point[i];
			*open = (struct flat_point){ .family = f, .hook = c->hook, .priority = c->priority };
		}
		open->chain[open->n_chains++] = c;
	}
}

static void make_points(const struct ruleset *rs, unsigned shared_chains, struct flat_point point[FLAT_POINTS])
{
	memset(point, 0, FLAT_POINTS * sizeof *point);
	for (enum family f = FAMILY_IP4; f < FAMILY_COUNT; f++)
		family_points(rs, f, shared_chains, point + f * (FLAT_POINTS / FAMILY_COUNT));
}

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
	make_points(rs, opt->shared_chains, out->point);
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
