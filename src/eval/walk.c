/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chains, calls, rules, steps.
 *
 *     chain INPUT: jump A; accept          A: goto B; drop          B: (nothing matches)
 *     INPUT/0 calls A: INPUT/1 is put on the stack. A/0 goes to B: nothing is put there, so B's end comes back to
 *     INPUT/1, and A/1 is never seen. A RETURN, or an end, with an empty stack is the base chain's policy.
 *
 * A rule counts when its tests before the first effect or verdict passed, or where it says so. A test that nobody can decide makes two ways
 * (fork.c), except where it would not matter: rules that only count or log are passed by, and not counted.
 */
#include "eval/walk.h"

enum { STEPS_MAX = 20000000 }; /* rules looked at by one packet on one way; only a loop of gotos needs more */

struct frame {
	const struct chain *chain;
	size_t next;
};
struct stack {
	VEC(struct frame) v;
};

void walk_note(struct walk *w, const char *fmt, ...)
{
	va_list ap;

	if (!w->has_trace)
		return;
	va_start(ap, fmt);
	*vec_add(w->a, &w->out->trace) = (struct eval_event){
		.kind = EVAL_NOTE, .depth = w->depth, .chain = w->chain, .text = arena_vprintf(w->a, fmt, ap) };
	va_end(ap);
}

/* Of twins the root is named. */
static void event(struct walk *w, enum eval_event_kind kind, const struct chain *c, enum verdict v)
{
	bool has_rule = kind == EVAL_RULE_MATCH || kind == EVAL_CALL;

	if (w->has_trace)
		*vec_add(w->a, &w->out->trace) = (struct eval_event){
			.kind = kind, .depth = w->depth, .chain = policy_chain_root(c), .verdict = v,
			.rule = has_rule ? policy_rule_root(w->rule) : NULL };
}

static void event_failed(struct walk *w, enum eval_event_kind kind)
{
	if (w->has_trace)
		*vec_add(w->a, &w->out->trace) = (struct eval_event){
			.kind = kind, .depth = w->depth, .chain = policy_chain_root(w->chain),
			.rule = policy_rule_root(w->rule), .test = w->test, .text = w->why };
}

/* ---------- one rule ---------- */

/* What was done of a rule so far. */
struct progress {
	bool has_counted, has_matched;
	enum verdict own; /* an effect's own verdict, or NONE */
	bool is_over;	  /* the rule goes no further */
};

static void rule_counts(struct walk *w, struct progress *p)
{
	if (!p->has_counted)
		*vec_add(w->a, &w->out->hits) = policy_rule_root(w->rule);
	p->has_counted = true;
}

/* The first effect or verdict is reached, or the end. v: the verdict that follows. */
static void rule_matches(struct walk *w, struct progress *p, enum verdict v)
{
	if (!w->e->counts_itself[w->rule->id])
		rule_counts(w, p);
	if (!p->has_matched)
		event(w, EVAL_RULE_MATCH, w->chain, v);
	p->has_matched = true;
}

static enum verdict next_verdict(const struct rule *r, uint32_t i)
{
	for (; i < r->n_steps; i++)
		if (r->step[i].kind == STEP_VERDICT)
			return r->step[i].v.verdict;
	return VERDICT_NONE;
}

static void rule_fails(struct walk *w, struct progress *p, enum eval_truth x)
{
	p->is_over = true;
	if (w->hot_drop) {
		walk_note(w, "dropped on the spot: %s", w->hot_drop);
		p->own = VERDICT_DROP;
	} else {
		event_failed(w, x == EVAL_NO ? EVAL_RULE_NO : EVAL_RULE_MAYBE);
	}
}

static void do_effect(struct walk *w, const struct effect *ef, struct progress *p, enum verdict next)
{
	if (ef->kind == EFFECT_COUNT && !ef->counter) {
		p->has_counted = false; /* a rule that says so twice counts twice */
		rule_counts(w, p);
		return;
	}
	if (ef->kind == EFFECT_COUNT) {
		if (!w->e->counts_itself[w->rule->id])
			rule_counts(w, p);
		*vec_add(w->a, &w->out->counter_hits) = ef->counter;
		return;
	}
	rule_matches(w, p, next);
	p->own = effect_apply(w, ef);
	p->is_over = p->own != VERDICT_NONE || w->rule_ends;
	w->rule_ends = false;
}

/* The step of the verdict, or NULL: go on. *own: an effect's own verdict, or NONE. */
static const struct step *walk_rule(struct walk *w, const struct rule *r, enum verdict *own)
{
	struct progress p = { .own = VERDICT_NONE };

	*own = VERDICT_NONE;
	w->rule = r;
	w->is_peeking = w->e->is_harmless[r->id];
	for (uint32_t i = 0; i < r->n_steps && !w->has_given_up; i++) {
		const struct step *s = &r->step[i];
		enum eval_truth x = EVAL_YES;

		if (s->kind == STEP_TEST)
			x = test_truth(w, &s->test);
		else if (s->kind == STEP_MAP)
			s = maps_outcome(w, s->map, &x);
		if (x != EVAL_YES || w->hot_drop) {
			rule_fails(w, &p, x);
		} else if (s->kind == STEP_VERDICT) {
			rule_matches(w, &p, s->v.verdict);
			return s;
		} else if (s->kind == STEP_EFFECT) {
			do_effect(w, &s->effect, &p, next_verdict(r, i));
		}
		*own = p.own;
		if (p.is_over)
			return NULL;
	}
	if (!w->has_given_up)
		rule_matches(w, &p, VERDICT_NONE);
	return NULL;
}

/* ---------- one base chain ---------- */

/* Which of several base chains that accept decided: the filter one, else one whose rule did, else one that is no nat. */
static unsigned weight(const struct chain *base, bool by_rule)
{
	return (base->priority == 0 && !base->is_nat ? 4u : 0u) + (by_rule ? 2u : 0u) + (base->is_nat ? 0u : 1u) + 1u;
}

/* The base chain ends with v, by rule r or, if that is NULL, by its policy. */
static enum verdict end_base(struct walk *w, enum verdict v, const struct rule *r, const struct step *s)
{
	struct eval_result *out = w->out;
	bool is_final = v != VERDICT_ACCEPT;

	if (!r) {
		*vec_add(w->a, &out->policy_hits) = policy_chain_root(w->base);
		event(w, EVAL_POLICY, w->base, v);
	}
	if (is_final || weight(w->base, r != NULL) >= w->decided) {
		w->decided = weight(w->base, r != NULL);
		out->rule = r ? policy_rule_root(r) : NULL;
		out->chain = r ? out->rule->chain : policy_chain_root(w->base);
		out->via = r || !w->returned ? NULL : policy_rule_root(w->returned);
	}
	if (v == VERDICT_REJECT)
		out->reject = s->v.reject;
	w->rule = NULL;
	return v;
}

static bool pop(struct walk *w, struct stack *st, struct frame *at, const struct rule *by)
{
	if (st->v.n == 0)
		return false;
	*at = st->v.v[--st->v.n];
	w->depth = (unsigned)st->v.n;
	w->chain = at->chain;
	if (w->has_trace) {
		event(w, EVAL_RETURNED, at->chain, VERDICT_NONE);
		w->out->trace.v[w->out->trace.n - 1].rule = by ? policy_rule_root(by) : NULL;
	}
	return true;
}

static void call(struct walk *w, struct stack *st, struct frame *at, const struct step *s)
{
	event(w, EVAL_CALL, s->v.chain, s->v.verdict);
	if (s->v.verdict == VERDICT_JUMP)
		*vec_add(w->a, &st->v) = *at;
	*at = (struct frame){ s->v.chain, 0 };
	w->depth = (unsigned)st->v.n;
	w->chain = s->v.chain;
	if (st->v.n > w->e->rs->chains.n)
		fork_give_up(w, "the chains call each other in a loop");
}

/* One rule of the chain at hand. NONE: go on; else the base chain's end. */
static enum verdict step_rule(struct walk *w, struct stack *st, struct frame *at)
{
	const struct rule *r = at->chain->rules.v[at->next++];
	enum verdict own;
	const struct step *s = walk_rule(w, r, &own);

	w->is_peeking = false;
	if (own != VERDICT_NONE)
		return end_base(w, own, r, s);
	if (!s || w->has_given_up)
		return VERDICT_NONE;
	switch (s->v.verdict) {
	case VERDICT_NONE:
		return VERDICT_NONE;
	case VERDICT_JUMP:
	case VERDICT_GOTO:
		call(w, st, at, s);
		return VERDICT_NONE;
	case VERDICT_RETURN:
		if (pop(w, st, at, r))
			return VERDICT_NONE;
		w->returned = r;
		return end_base(w, w->base->policy, NULL, s);
	default:
		return end_base(w, s->v.verdict, r, s);
	}
}

static enum verdict walk_base(struct walk *w, const struct chain *base)
{
	struct frame at = { base, 0 };
	struct stack st = { 0 };
	enum verdict v = VERDICT_NONE;

	w->base = w->chain = base;
	w->depth = 0;
	w->returned = NULL;
	event(w, EVAL_AT_CHAIN, base, VERDICT_NONE);
	while (v == VERDICT_NONE && !w->has_given_up) {
		if (at.next < at.chain->rules.n) {
			if (++w->steps > STEPS_MAX)
				fork_give_up(w, "the packet met more than %d rules: do the chains loop?", STEPS_MAX);
			v = step_rule(w, &st, &at);
		} else if (!pop(w, &st, &at, NULL)) {
			v = end_base(w, base->policy, NULL, NULL);
		}
	}
	w->rule = NULL;
	w->depth = 0;
	return v;
}

/* ---------- one hook ---------- */

/* Does the chain hang at the packet's device? A name that ends in * is a prefix. May choose. */
static bool is_at_device(struct walk *w, const struct chain *base)
{
	struct valset_span *span = arena_new(w->a, struct valset_span, base->devices.n + 1);
	struct test *t = arena_new(w->a, struct test, 1);

	for (size_t i = 0; i < base->devices.n; i++) {
		struct str name = base->devices.v[i];
		bool is_prefix = str_ends(name, "*");

		if (is_prefix)
			name = str_slice(name, 0, name.n - 1);
		span[i].lo = field_name_value(name);
		span[i].hi = is_prefix ? field_name_prefix_last(name) : span[i].lo;
	}
	t->kind = TEST_IN;
	t->field[0] = w->hook == HOOK_INGRESS ? FIELD_IIF : FIELD_OIF;
	t->n_fields = 1;
	t->in = valset_make(w->a, span, base->devices.n);
	t->what = w->hook == HOOK_INGRESS ? "the device that receives" : "the device that sends";
	w->chain = base;
	return test_truth(w, t) == EVAL_YES;
}

/* The destination becomes what the connection's first packet had made of it. */
static void translate(struct walk *w)
{
	track_translate(w);
	binding_guess(w);
}

enum verdict walk_hook(struct walk *w, enum hook hook)
{
	const struct base *b = &w->e->base[w->f.family][hook];
	bool tracks = hook == HOOK_PREROUTING || hook == HOOK_OUTPUT;

	for (size_t i = 0; i < b->n; i++) {
		int priority = policy_priority(b->v[i]);
		enum verdict v;

		if (tracks && !w->ct_done && priority >= CONN_PRIORITY)
			conn_enter(w);
		if (tracks && priority > DST_NAT_PRIORITY)
			translate(w);
		if (b->v[i]->is_nat && !nat_is_asked(w, b->v[i]))
			continue;
		if (path_is_at_device(hook) && !is_at_device(w, b->v[i]))
			continue;
		v = walk_base(w, b->v[i]);
		if (v != VERDICT_ACCEPT || w->has_given_up)
			return v;
	}
	if (tracks && !w->ct_done)
		conn_enter(w);
	if (tracks)
		translate(w);
	else if (hook != HOOK_FORWARD && !path_is_at_device(hook))
		track_translate(w);
	return VERDICT_ACCEPT;
}
