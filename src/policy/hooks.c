/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Base chains at one hook: what they do to each other, and what they leave out.
 *
 *     chain a at forward, priority -25:  tcp dport 40005 accept
 *     chain b at forward, priority 0:    policy drop
 *     warning: this accept ends "a" only: "b" comes behind it, and its policy is drop
 *
 * An accept is not the end where another chain follows, which is what people who come from one table expect. The chains up
 * to the priority of mangle are left out: they prepare packets, and nobody takes their accept for the last word. Chains
 * that translate do not filter. Twins are spoken of once.
 */
#include "policy/hooks.h"

enum { MANGLE = -150, DEEPEST = 15 };

struct pair {
	const struct chain *x, *y;
};

struct hooks {
	const struct ruleset *rs;
	struct diags *d;
	struct arena *a;
	VEC(struct pair) told; /* roots */
	uint8_t *seen;	       /* by chain.id: met already */
};

static bool was_told(struct hooks *h, const struct chain *x, const struct chain *y)
{
	struct pair p = { policy_chain_root(x), policy_chain_root(y) };

	for (size_t i = 0; i < h->told.n; i++)
		if (h->told.v[i].x == p.x && h->told.v[i].y == p.y)
			return true;
	*vec_add(h->a, &h->told) = p;
	return false;
}

/* ---------- an accept that is not the last word ---------- */

struct calls {
	VEC(const struct chain *) v;
};

static const struct step *accept_in(struct hooks *h, const struct step *steps, uint32_t n, struct calls *to)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct step *s = &steps[i], *found = NULL;

		if (s->kind == STEP_VERDICT && s->v.verdict == VERDICT_ACCEPT)
			return s;
		if (s->kind == STEP_VERDICT && s->v.chain && !h->seen[s->v.chain->id]) {
			h->seen[s->v.chain->id] = 1;
			*vec_add(h->a, &to->v) = s->v.chain;
		}
		if (s->kind == STEP_MAP)
			found = accept_in(h, s->map->map->outcome, s->map->map->n_outcomes, to);
		if (found)
			return found;
	}
	return NULL;
}

/* The first accept that a chain may reach; NULL: there is none. */
static const struct step *first_accept(struct hooks *h, const struct chain *base)
{
	struct calls to = { 0 };

	memset(h->seen, 0, h->rs->chains.n);
	*vec_add(h->a, &to.v) = base;
	for (size_t i = 0; i < to.v.n; i++) {
		const struct chain *c = to.v.v[i];

		for (size_t k = 0; k < c->rules.n; k++) {
			const struct step *s = accept_in(h, c->rules.v[k]->step, c->rules.v[k]->n_steps, &to);

			if (s)
				return s;
		}
	}
	return NULL;
}

static bool filters(const struct chain *c)
{
	return !c->is_nat && (c->rules.n || c->policy == VERDICT_DROP);
}

static void check_accept(struct hooks *h, const struct chain *x, const struct chain *y)
{
	const struct step *s;

	if (x->priority <= MANGLE || x->is_nat || y->is_nat || y->policy != VERDICT_DROP)
		return;
	s = first_accept(h, x);
	if (!s || was_told(h, x, y))
		return;
	diag_hint(h->d,
		  diag_warn(h->d, s->v.at.source ? s->v.at : x->at, "accept-not-final",
			    "accept in %.*s/%.*s is overridden by drop policy in %.*s/%.*s (priority %d)", STR_ARG(x->table),
			    STR_ARG(x->name), STR_ARG(y->table), STR_ARG(y->name), y->priority),
		  "an accept ends its own base chain only; what is accepted here must be accepted there, too");
}

static void check_priority(struct hooks *h, const struct chain *first, const struct chain *next)
{
	if (policy_priority(first) != policy_priority(next) || first->is_nat != next->is_nat ||
	    (first->is_nat && first->priority != next->priority) || !filters(first) || !filters(next) ||
	    was_told(h, next, first))
		return;
	diag_warn(h->d, first->at, "equal-priority",
		  "%.*s/%.*s has the priority of %.*s/%.*s at %s, %d: the one registered later runs first", STR_ARG(first->table),
		  STR_ARG(first->name), STR_ARG(next->table), STR_ARG(next->name), policy_hook_name(first->hook), first->priority);
}

/* May a packet meet both? At a device only if both hang at one of the same name. */
static bool may_meet(const struct chain *x, const struct chain *y)
{
	if (x->hook != HOOK_INGRESS && x->hook != HOOK_EGRESS)
		return true;
	for (size_t i = 0; i < x->devices.n; i++)
		for (size_t k = 0; k < y->devices.n; k++)
			if (str_eq(x->devices.v[i], y->devices.v[k]))
				return true;
	return false;
}

static void check_hook(struct hooks *h, enum family f, enum hook hook)
{
	size_t n;
	struct chain **v = policy_base_chains(h->a, h->rs, f, hook, &n);

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++) {
			if (!may_meet(v[i], v[k]))
				continue;
			check_priority(h, v[i], v[k]);
			check_accept(h, v[i], v[k]);
		}
}

/* ---------- a family that nobody looks at ---------- */

static void check_families(struct hooks *h, enum hook hook)
{
	const struct chain *strict = NULL;

	for (size_t i = 0; i < h->rs->chains.n; i++) {
		const struct chain *c = h->rs->chains.v[i];

		if (c->hook != hook || c->is_nat)
			continue;
		if (c->family == FAMILY_IP6)
			return;
		if (!strict && c->family == FAMILY_IP4 && c->policy == VERDICT_DROP)
			strict = c;
	}
	if (strict && !h->rs->lacks_rules)
		diag_warn(h->d, strict->at, "family-not-filtered", "IPv6 is not filtered at %s: %.*s/%.*s sees only IPv4",
			  policy_hook_name(hook), STR_ARG(strict->table), STR_ARG(strict->name));
}

/* ---------- calls that go too deep ---------- */

struct call {
	const struct chain *to;
	struct loc at;
};
struct call_list {
	VEC(struct call) v;
};

static void add_calls(struct hooks *h, const struct step *steps, uint32_t n, struct call_list *out)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct step *s = &steps[i];

		if (s->kind == STEP_MAP)
			add_calls(h, s->map->map->outcome, s->map->map->n_outcomes, out);
		if (s->kind != STEP_VERDICT || !s->v.chain || h->seen[s->v.chain->id])
			continue;
		h->seen[s->v.chain->id] = 1;
		*vec_add(h->a, &out->v) = (struct call){ s->v.chain, s->v.at };
	}
}

/* Level by level: what base chains call, what those call, and so on. */
static void check_depth(struct hooks *h)
{
	struct call_list now = { 0 };

	for (size_t i = 0; i < h->rs->chains.n; i++)
		if (h->rs->chains.v[i]->hook != HOOK_NONE)
			*vec_add(h->a, &now.v) = (struct call){ h->rs->chains.v[i], h->rs->chains.v[i]->at };
	for (unsigned level = 0; level <= DEEPEST && now.v.n; level++) {
		struct call_list next = { 0 };

		memset(h->seen, 0, h->rs->chains.n);
		for (size_t i = 0; i < now.v.n; i++) {
			const struct chain *c = now.v.v[i].to;

			for (size_t k = 0; k < c->rules.n; k++)
				add_calls(h, c->rules.v[k]->step, c->rules.v[k]->n_steps, &next);
		}
		now = next;
	}
	if (now.v.n)
		diag_warn(h->d, now.v.v[0].at, "call-depth",
			  "this call of %.*s is the %uth in a row: the kernel's nft takes no more than %u",
			  STR_ARG(now.v.v[0].to->name), DEEPEST + 1, DEEPEST);
}

void hooks_check(const struct ruleset *rs, bool has_loop, struct diags *d, struct arena *scratch)
{
	struct hooks h = { .rs = rs, .d = d, .a = scratch, .seen = arena_new(scratch, uint8_t, rs->chains.n + 1) };

	for (int f = 0; f < FAMILY_ALL; f++)
		for (int hook = 0; hook < HOOK_COUNT; hook++)
			check_hook(&h, (enum family)f, (enum hook)hook);
	if (rs->has_all_families) {
		check_families(&h, HOOK_INPUT);
		check_families(&h, HOOK_FORWARD);
		check_families(&h, HOOK_OUTPUT);
	}
	if (!has_loop)
		check_depth(&h);
}
