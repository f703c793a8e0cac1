/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Putting chains in. See inline.h. */
#include "classify/inline.h"

#include "classify/choice.h"

enum { GUARD_MOST = 6, CHAIN_MOST = 64, NEST_MOST = 4, ENTRIES_A_RULE = 4, ENTRIES_MORE = 256, CANNOT = 0, NO_LABEL = -1 };

/* ---------- what can be put in ---------- */

static const struct step *last_step(const struct rule *r)
{
	return r->n_steps ? &r->step[r->n_steps - 1] : NULL;
}

static const struct chain *callee(const struct rule *r)
{
	const struct step *s = last_step(r);

	return s && s->kind == STEP_VERDICT ? s->v.chain : NULL;
}

/* May be asked again and again of the same packet, at little cost. */
static bool is_plain(const struct step *s)
{
	return s->kind == STEP_TEST && (s->test.kind == TEST_IN || s->test.kind == TEST_MASK);
}

static bool is_plain_call(const struct rule *r)
{
	for (uint32_t i = 0; i + 1 < r->n_steps; i++)
		if (!is_plain(&r->step[i]) && !emit_counts_at_verdict(r, i))
			return false;
	return callee(r) && r->n_steps <= GUARD_MOST + 1;
}

/* What the leaves of a graph compare whole. */
static bool is_compared(const struct test *t)
{
	enum field f = t->field[0];

	return t->kind == TEST_IN && t->n_fields == 1 && !t->negated && t->in.n == 1 &&
	       (f == FIELD_SRC || f == FIELD_DST || f == FIELD_PROTO || f == FIELD_SPORT || f == FIELD_DPORT);
}

/*
 * Is all that the call asks compared by the lookup itself? If not, every rule of the chain that a packet nearly matches would
 * ask the rest, fail, and be followed by another lookup.
 */
static bool is_compared_call(const struct rule *r)
{
	for (uint32_t i = 0; i + 1 < r->n_steps; i++)
		if (r->step[i].kind == STEP_TEST && !is_compared(&r->step[i].test))
			return false;
	return true;
}

/* Tests without a memory, then a verdict that ends the way or calls. */
static bool is_pure(const struct rule *r)
{
	const struct step *last = last_step(r);

	for (uint32_t i = 0; i + 1 < r->n_steps; i++)
		if ((r->step[i].kind != STEP_TEST && !emit_counts_at_verdict(r, i)) ||
		    (r->step[i].kind == STEP_TEST && r->step[i].test.kind == TEST_STATE))
			return false;
	return last && last->kind == STEP_VERDICT && last->v.verdict != VERDICT_NONE;
}

/* How many entries the call becomes; CANNOT: it stays a call. */
static size_t size_of_call(const struct rule *r, unsigned nest)
{
	const struct chain *c = callee(r);
	size_t n = 1;

	if (!is_plain_call(r) || nest > NEST_MOST || c->rules.n > CHAIN_MOST)
		return CANNOT;
	for (size_t i = 0; i < c->rules.n; i++) {
		const struct rule *x = c->rules.v[i];
		bool comes_back = is_pure(x) && last_step(x)->v.verdict == VERDICT_JUMP;
		size_t more = 1;

		if (!is_pure(x) || (comes_back && i + 1 < c->rules.n))
			return CANNOT;
		if (callee(x))
			more = size_of_call(x, nest + 1);
		if (more == CANNOT)
			return CANNOT;
		n += more;
	}
	return n;
}

/* Rules that every lookup comes to. */
static size_t count_wild(const struct chain *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->rules.n; i++)
		n += c->rules.v[i]->n_steps == 0 || (c->rules.v[i]->step[0].kind != STEP_TEST && !is_pure(c->rules.v[i]));
	return n;
}

/* Marks calls as long as the list stays within its bound; returns how many entries it then has. */
static size_t mark_calls(const struct inline_list *l, bool only_compared, bool *is_in)
{
	const struct chain *c = l->chain;
	size_t most = ENTRIES_A_RULE * c->rules.n + ENTRIES_MORE, n = c->rules.n;

	for (size_t i = 0; i < c->rules.n; i++) {
		size_t more = callee(c->rules.v[i]) ? size_of_call(c->rules.v[i], 0) : CANNOT;

		is_in[i] = more != CANNOT && n + more - 1 <= most && !(only_compared && !is_compared_call(c->rules.v[i]));
		n += is_in[i] ? more - 1 : 0;
	}
	return n;
}

static bool calls(const struct chain *c)
{
	for (size_t i = 0; i < c->rules.n; i++)
		if (callee(c->rules.v[i]))
			return true;
	return false;
}

/* Which calls are put in: [i] for rule i. NULL: none. */
static bool *choose(const struct emit *e, const struct inline_list *l)
{
	bool asks_whether = e->opt->engine == TABLES_ENGINE_ANY, *is_in;
	size_t n;

	if (!e->opt->may_sum || e->opt->keep_calls || e->opt->engine == TABLES_ENGINE_SCAN || !calls(l->chain))
		return NULL;
	is_in = arena_new(l->scratch, bool, l->chain->rules.n + 1);
	n = mark_calls(l, false, is_in);
	if (asks_whether && !choice_compares_all(n))
		n = mark_calls(l, true, is_in);
	return asks_whether && !choice_is_worth(n, count_wild(l->chain)) ? NULL : is_in;
}

/* ---------- putting in ---------- */

/* The calls on the way to a rule, and where that rule's chain comes back to; NO_LABEL: to where the list itself does. */
struct way {
	const struct rule *rule[NEST_MOST + 2];
	unsigned n;
	int back;
};

static void open_entry(struct emit *e, struct inline_list *l, const struct way *w)
{
	struct tables_entry x = { .n = w->n };
	const struct rule **rule = arena_new(l->a, const struct rule *, w->n);

	memcpy(rule, w->rule, w->n * sizeof *rule);
	x.rule = rule;
	*vec_add(l->scratch, &l->start) = (uint32_t)e->code->insn.n;
	*vec_add(l->a, &l->entry) = x;
}

static bool asks_conntrack(const struct way *w)
{
	for (unsigned i = 0; i < w->n; i++)
		for (uint32_t k = 0; k < w->rule[i]->n_steps; k++)
			if (w->rule[i]->step[k].kind == STEP_TEST && test_asks_conntrack(&w->rule[i]->step[k].test))
				return true;
	return false;
}

/*
 * All tests of the way. What a lookup has compared already comes first, so that it can be left out; but where connections are
 * asked for, and none may be tracked, the order tells who is dropped for that.
 */
static void emit_guards(struct emit *e, const struct way *w, int fail)
{
	bool asked_ct = false, in_order = asks_conntrack(w);

	for (int pass = in_order; pass < 2; pass++)
		for (unsigned i = 0; i < w->n; i++)
			for (uint32_t k = 0; k < w->rule[i]->n_steps; k++) {
				const struct step *s = &w->rule[i]->step[k];

				if (s->kind == STEP_TEST && (in_order || is_compared(&s->test) == (pass == 0)))
					emit_test(e, &s->test, &asked_ct, fail);
			}
}

/* Counts, and goes to where the way comes back to. */
static void emit_back(struct emit *e, const struct way *w, bool is_next)
{
	struct code_insn *x = code_add(e->code, w->back == NO_LABEL ? DP_OP_RETURN : DP_OP_COUNT);

	x->a = sums_of_rules(e->sums, w->rule, w->n);
	if (w->back != NO_LABEL && !is_next)
		x->yes = w->back;
}

static void put_chain(struct emit *e, struct inline_list *l, const struct way *w);

static void put_rule(struct emit *e, struct inline_list *l, const struct way *to, const struct rule *r)
{
	const struct step *s = last_step(r);
	struct way w = *to;
	int next;

	w.rule[w.n++] = r;
	if (callee(r)) {
		put_chain(e, l, &w);
		return;
	}
	next = code_label(e->code);
	open_entry(e, l, &w);
	emit_guards(e, &w, next);
	if (s->v.verdict == VERDICT_RETURN)
		emit_back(e, &w, false);
	else
		emit_verdict(e, s, sums_of_rules(e->sums, w.rule, w.n));
	code_put(e->code, next);
}

/* The chain that the last rule of the way calls, and an entry for those who pass through it. */
static void put_chain(struct emit *e, struct inline_list *l, const struct way *w)
{
	const struct chain *c = callee(w->rule[w->n - 1]);
	int next;

	for (size_t i = 0; i < c->rules.n; i++)
		put_rule(e, l, w, c->rules.v[i]);
	next = code_label(e->code);
	open_entry(e, l, w);
	emit_guards(e, w, next);
	emit_back(e, w, w->n == 1);
	code_put(e->code, next);
}

static void put_call(struct emit *e, struct inline_list *l, const struct rule *r)
{
	struct way w = { .rule = { r }, .n = 1, .back = NO_LABEL };

	if (last_step(r)->v.verdict == VERDICT_JUMP)
		w.back = code_label(e->code);
	put_chain(e, l, &w);
	if (w.back != NO_LABEL)
		code_put(e->code, w.back);
	*vec_add(l->a, &l->call) = r;
}

void inline_rules(struct emit *e, struct inline_list *l)
{
	const bool *is_in = choose(e, l);
	size_t n = l->chain->rules.n;

	l->start.v = arena_new(l->scratch, uint32_t, n + 1);
	l->entry.v = arena_new(l->a, struct tables_entry, n + 1);
	l->start.cap = l->entry.cap = n + 1;
	for (size_t i = 0; i < n; i++) {
		const struct rule *r = l->chain->rules.v[i];

		policy_ahead(l->chain, i);
		if (is_in && is_in[i]) {
			put_call(e, l, r);
			continue;
		}
		*vec_add(l->scratch, &l->start) = (uint32_t)e->code->insn.n;
		*vec_add(l->a, &l->entry) = (struct tables_entry){ (const struct rule *const *)&l->chain->rules.v[i], 1 };
		emit_rule(e, r);
	}
}
