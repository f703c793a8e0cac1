/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks that need the whole ruleset: calls that never come back, and uses of sets that can never do what they say.
 *
 *     -A A -j B            error: loop A -> B -> A reached from INPUT (line 6)
 *     -A B -j A            error: this jump closes the loop A -> B -> A
 *     -A INPUT -j A
 *
 * After errors the ruleset lacks what could not be read. What is wrong with the rest is told all the same, but nothing that
 * the missing part may put right.
 *
 * Loops are found by walking calls in depth first order from every base chain, then from what is left; a call to a chain
 * that is being walked closes a loop. The walk keeps its own stack, so that a long row of calls costs no C stack.
 */
#include "policy/hooks.h"

enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

/* A chain that is being walked, and how far. */
struct frame {
	const struct chain *chain;
	const struct rule *by; /* the call that led here; NULL at the bottom */
	struct loc at;	       /* place of that call */
	uint32_t rule, step;   /* next to look at */
	uint32_t outcome;      /* of a map: the next one */
};

struct walk {
	const struct ruleset *rs;
	struct diags *d;
	struct arena *a;
	uint8_t *mark; /* by position of the chain in the ruleset */
	VEC(struct frame) stack;
	const struct chain *base; /* where the walk began, if that is a base chain */
	bool has_loop;
	VEC(struct loc) told;	  /* calls whose loop was reported: a twin's stands at the same place */
};

static void push(struct walk *w, const struct chain *c, const struct rule *by, struct loc at)
{
	*vec_add(w->a, &w->stack) = (struct frame){ .chain = c, .by = by, .at = at };
	w->mark[c->id] = MARK_OPEN;
}

/* "line 6", or "rules.v4:6" if the reader is looking at another text. */
static struct str place_text(struct walk *w, struct loc at, struct loc seen_from)
{
	uint32_t line, col;

	if (at.source == seen_from.source && source_place(w->d->sources, at, &line, &col))
		return arena_printf(w->d->a, "line %u", line);
	return source_name_line(w->d->a, w->d->sources, at);
}

static struct str cycle_text(struct walk *w, size_t from)
{
	struct buf b = { .a = w->d->a };

	for (size_t i = from; i < w->stack.n; i++)
		buf_printf(&b, "%.*s -> ", STR_ARG(w->stack.v[i].chain->name));
	buf_printf(&b, "%.*s", STR_ARG(w->stack.v[from].chain->name));
	return buf_str(&b);
}

static bool was_told(struct walk *w, struct loc at)
{
	for (size_t i = 0; i < w->told.n; i++)
		if (at.source && w->told.v[i].source == at.source && w->told.v[i].off == at.off)
			return true;
	*vec_add(w->a, &w->told) = at;
	return false;
}

/* The call at `at` leads back to stack[from]. Reported at its first call, and again at the one that closes it. */
static void report_loop(struct walk *w, size_t from, struct loc at)
{
	struct str cycle = cycle_text(w, from);
	bool is_self = from + 1 == w->stack.n;
	struct loc first = is_self ? at : w->stack.v[from + 1].at;

	w->has_loop = true;
	if (was_told(w, first))
		return;
	if (!w->base) {
		if (w->rs->lacks_rules)
			return; /* one of them may reach it */
		diag_warn(w->d, first, "unreached-loop", "loop %.*s, which no built-in chain reaches", STR_ARG(cycle));
		return;
	}
	if (from == 0) {
		diag_error(w->d, first, "loop %.*s through %.*s itself", STR_ARG(cycle), STR_ARG(w->base->name));
	} else {
		struct str p = place_text(w, w->stack.v[1].at, first);

		diag_error(w->d, first, "loop %.*s reached from %.*s (%.*s)", STR_ARG(cycle), STR_ARG(w->base->name),
			   STR_ARG(p));
	}
	for (size_t i = from + 2; i < w->stack.n; i++)
		diag_note(w->d, w->stack.v[i].at, "the loop goes on with this jump");
	if (!is_self)
		diag_error(w->d, at, "this jump closes the loop %.*s", STR_ARG(cycle));
}

static void meet(struct walk *w, const struct chain *c, const struct rule *by, struct loc at)
{
	if (w->mark[c->id] == MARK_NEW) {
		push(w, c, by, at);
	} else if (w->mark[c->id] == MARK_OPEN) {
		for (size_t i = w->stack.n; i-- > 0;)
			if (w->stack.v[i].chain == c) {
				report_loop(w, i, at);
				return;
			}
	}
}

static void walk_from(struct walk *w, const struct chain *start)
{
	if (w->mark[start->id] != MARK_NEW)
		return;
	w->base = start->hook == HOOK_NONE ? NULL : start;
	push(w, start, NULL, (struct loc){ 0 });
	while (w->stack.n) {
		struct frame *f = &w->stack.v[w->stack.n - 1];
		const struct rule *r;
		const struct step *s;

		if (f->rule == f->chain->rules.n) {
			w->mark[f->chain->id] = MARK_DONE;
			w->stack.n--;
			continue;
		}
		r = f->chain->rules.v[f->rule];
		if (f->step == r->n_steps) {
			f->rule++;
			f->step = 0;
			continue;
		}
		s = &r->step[f->step];
		if (s->kind == STEP_MAP && f->outcome < s->map->map->n_outcomes) {
			s = &s->map->map->outcome[f->outcome++];
		} else {
			f->step++;
			f->outcome = 0;
		}
		if (s->kind == STEP_VERDICT && s->v.chain)
			meet(w, s->v.chain, r, s->v.at);
	}
}

/* Is there one? */
static bool check_loops(const struct ruleset *rs, struct diags *d, struct arena *scratch)
{
	struct walk w = { .rs = rs, .d = d, .a = scratch, .mark = arena_new(scratch, uint8_t, rs->chains.n + 1) };

	for (size_t i = 0; i < rs->chains.n; i++)
		if (rs->chains.v[i]->hook != HOOK_NONE)
			walk_from(&w, rs->chains.v[i]);
	for (size_t i = 0; i < rs->chains.n; i++)
		walk_from(&w, rs->chains.v[i]);
	return w.has_loop;
}

static void unknown_set(const struct ruleset *rs, const struct set_use *use, struct diags *d)
{
	if (!rs->lacks_sets)
		diag_hint(d, diag_warn(d, use->at, "unknown-set", "set %.*s is used, but no file defines it", STR_ARG(use->name)),
			  "give the output of `ipset save` as one more file");
}

/* One use of a set that is known. `negated`: of a test; an effect is never negated. */
static void check_use(const struct rule *r, const struct set_use *use, const struct step *s, struct diags *d)
{
	const struct set *set = use->set;
	const char *what = s->kind == STEP_EFFECT ? "does nothing" : s->test.negated ? "always matches" : "never matches";

	if (set->is_doubtful)
		return;
	if (use->by_field)
		return;
	if (use->n_dirs < set->n_dims)
		diag_warn(d, use->at, "set-dimensions", "set %.*s has %u dimensions, %u given: %s", STR_ARG(set->name),
			  set->n_dims, use->n_dirs, what);
	else if (use->n_dirs > set->n_dims && set->dim[0] != SET_DIM_LIST)
		diag_warn(d, use->at, "set-dimensions", "set %.*s has %u dimension%s, %u given: the rest is not looked at",
			  STR_ARG(set->name), set->n_dims, set->n_dims == 1 ? "" : "s", use->n_dirs);
	if (set->has_addrs && set->family != r->chain->family)
		diag_warn(d, use->at, "set-family", "set %.*s holds %s addresses, the rule sees %s packets: %s",
			  STR_ARG(set->name), set->family == FAMILY_IP6 ? "IPv6" : "IPv4",
			  r->chain->family == FAMILY_IP6 ? "IPv6" : "IPv4", what);
}

static void check_steps(const struct ruleset *rs, const struct rule *r, const struct step *steps, uint32_t n, struct diags *d)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct step *s = &steps[i];
		const struct set_use *use = s->kind == STEP_TEST && s->test.kind == TEST_SET ? s->test.set :
					    s->kind == STEP_EFFECT			      ? s->effect.set :
											NULL;

		if (use && use->set)
			check_use(r, use, s, d);
		else if (use)
			unknown_set(rs, use, d);
		if (s->kind == STEP_MAP)
			check_steps(rs, r, s->map->map->outcome, s->map->map->n_outcomes, d);
	}
}

void policy_check(const struct ruleset *rs, struct diags *d)
{
	struct arena *scratch = arena_create();

	hooks_check(rs, check_loops(rs, d, scratch), d, scratch);
	for (size_t i = 0; i < rs->rules.n; i++)
		if (policy_rule_root(rs->rules.v[i]) == rs->rules.v[i])
			check_steps(rs, rs->rules.v[i], rs->rules.v[i]->step, rs->rules.v[i]->n_steps, d);
	for (size_t i = 0; i < rs->sets.n && !rs->lacks_sets; i++)
		for (size_t j = 0; rs->sets.v[i]->dim[0] == SET_DIM_LIST && j < rs->sets.v[i]->elems.n; j++) {
			const struct set_elem *e = &rs->sets.v[i]->elems.v[j];

			if (!policy_set_find(rs, e->list))
				diag_warn(d, e->at, "unknown-set", "set %.*s is a member of %.*s, but no file defines it",
					  STR_ARG(e->list), STR_ARG(rs->sets.v[i]->name));
		}
	arena_destroy(scratch);
}
