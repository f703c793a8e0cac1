/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps of a rule as code. See emit.h. */
#include "classify/emit.h"

#include "classify/map.h"

/* Drops who asks about connections where nothing tracks them. */
static void emit_ct_there(struct emit *e, bool *asked_ct)
{
	struct code *c = e->code;
	uint64_t missing = (uint64_t)DP_CT_MISSING << DP_CT_STATE_SHIFT;
	int go_on;

	if (*asked_ct)
		return;
	go_on = code_label(c);
	if (e->ct_missing < 0)
		e->ct_missing = code_label(c);
	code_test(c, (struct code_atom){ DP_W_CT, missing, missing, 0 }, e->ct_missing, go_on);
	code_put(c, go_on);
	*asked_ct = true;
}

void emit_test(struct emit *e, const struct test *t, bool *asked_ct, int fail)
{
	struct code *c = e->code;
	int yes;

	if (test_asks_conntrack(t))
		emit_ct_there(e, asked_ct);
	yes = code_label(c);
	test_emit(e->room, t, yes, fail);
	code_put(c, yes);
}

static void emit_effect(struct emit *e, const struct rule *r, const struct effect *x)
{
	struct code *c = e->code;
	uint64_t upper = (uint64_t)UINT32_MAX << 32;
	int skip;

	if (x->kind == EFFECT_LOG && !e->opt->log_as_count) {
		code_add(c, DP_OP_LOG)->a = sums_of_rule(e->sums, r);
		c->features |= DP_F_LOG;
	} else if (x->kind == EFFECT_MARK) {
		struct code_insn *i = code_add(c, DP_OP_MARK);

		i->a = upper | (uint32_t)~x->mask;
		i->b = x->value;
		c->features |= DP_F_MARK_WRITE;
	} else if (x->kind == EFFECT_RESTORE_MARK) {
		struct code_insn *i;

		skip = code_label(c);
		code_test(c, (struct code_atom){ DP_W_CT, DP_HAS_CT, DP_HAS_CT, 0 }, CODE_NEXT, skip);
		i = code_add(c, DP_OP_RESTORE_MARK);
		i->a = upper | (uint32_t)~x->mask;
		i->b = x->ct_mask;
		code_put(c, skip);
		c->features |= DP_F_MARK_WRITE | DP_F_CT;
	}
}

void emit_verdict(struct emit *e, const struct step *s, uint64_t counter)
{
	static const uint8_t ops[] = { [VERDICT_ACCEPT] = DP_OP_ACCEPT, [VERDICT_DROP] = DP_OP_DROP, [VERDICT_REJECT] = DP_OP_DROP,
				       [VERDICT_JUMP] = DP_OP_CALL, [VERDICT_GOTO] = DP_OP_GOTO,
				       [VERDICT_RETURN] = DP_OP_RETURN };
	struct code_insn *i;

	if (s->v.verdict == VERDICT_NONE) { /* said at the end of a rule: it counts, and the next one follows */
		if (counter != DP_NO_COUNTER)
			code_add(e->code, DP_OP_COUNT)->a = counter;
		return;
	}
	i = code_add(e->code, (enum dp_op)ops[s->v.verdict]);
	i->a = counter;
	if (s->v.chain) {
		i->b = s->v.chain->id; /* its pc is put in when all code is there */
		e->code->features |= DP_F_CALL;
	}
}

static bool is_test_of(const struct step *s, enum test_kind kind)
{
	return s->kind == STEP_TEST && s->test.kind == kind;
}

/* Compares a word of the key, whatever came before. */
static bool is_plain(const struct step *s)
{
	return (is_test_of(s, TEST_IN) || is_test_of(s, TEST_MASK)) && !test_asks_conntrack(&s->test);
}

/* The tests from step k on, as long as they ask sets or are plain: sets last. Returns where it goes on. */
static uint32_t emit_lazily(struct emit *e, const struct rule *r, uint32_t k, bool *asked_ct, int fail)
{
	uint32_t end = k;

	while (end < r->n_steps && (is_plain(&r->step[end]) || is_test_of(&r->step[end], TEST_SET)))
		end++;
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t i = k; i < end; i++)
			if (is_plain(&r->step[i]) == (pass == 0))
				emit_test(e, &r->step[i].test, asked_ct, fail);
	return end;
}

bool emit_counts_at_verdict(const struct rule *r, uint32_t k)
{
	const struct step *s = &r->step[k];

	return s->kind == STEP_EFFECT && s->effect.kind == EFFECT_COUNT && !s->effect.counter && k + 2 == r->n_steps &&
	       r->step[k + 1].kind == STEP_VERDICT;
}

static bool counts_itself(const struct step *s)
{
	return s->kind == STEP_EFFECT && s->effect.kind == EFFECT_COUNT && !s->effect.counter;
}

/* Does the rule say itself where it counts? */
static bool has_count(const struct rule *r)
{
	for (uint32_t k = 0; k < r->n_steps; k++)
		if (counts_itself(&r->step[k]))
			return true;
	return false;
}

/* A counter of its own, because the rule says so here, or because it goes on doing something. */
static void emit_action(struct emit *e, const struct rule *r, uint32_t k, bool *counted)
{
	const struct step *s = &r->step[k];
	uint64_t counter = sums_of_rule(e->sums, r);

	if (emit_counts_at_verdict(r, k)) {
		*counted = false;
		return;
	}
	if (counts_itself(s) || !*counted)
		code_add(e->code, DP_OP_COUNT)->a = counter;
	*counted = true;
	if (!counts_itself(s))
		emit_effect(e, r, &s->effect);
}

static void emit_map(struct emit *e, const struct map_use *u, uint64_t counter, bool *asked_ct, int next)
{
	int yes = code_label(e->code);

	if (map_asks_conntrack(u))
		emit_ct_there(e, asked_ct);
	map_emit_step(e->room, u, counter, yes, next);
	code_put(e->code, yes);
}

void emit_rule(struct emit *e, const struct rule *r)
{
	struct code *c = e->code;
	uint64_t counter = sums_of_rule(e->sums, r);
	bool asked_ct = false, counted = has_count(r);
	int next = code_label(c);

	for (uint32_t k = 0; k < r->n_steps; k++) {
		const struct step *s = &r->step[k];

		if (is_test_of(s, TEST_SET)) {
			k = emit_lazily(e, r, k, &asked_ct, next) - 1;
		} else if (s->kind == STEP_TEST) {
			emit_test(e, &s->test, &asked_ct, next);
		} else if (s->kind == STEP_MAP) {
			emit_map(e, s->map, counted ? DP_NO_COUNTER : counter, &asked_ct, next);
			counted = true;
		} else if (s->kind == STEP_VERDICT) {
			emit_verdict(e, s, counted ? DP_NO_COUNTER : counter);
			counted = true;
		} else {
			emit_action(e, r, k, &counted);
		}
	}
	if (!counted)
		code_add(c, DP_OP_COUNT)->a = counter;
	code_put(c, next);
}
