/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where lookups stand, and what they answer. See plan.h. */
#include "classify/plan.h"

/* Does the rule do nothing but give a verdict to whom its box lets pass? */
static bool is_verdict(const struct plan *p, size_t i)
{
	const struct box_rule *r = &p->rule[i];
	const struct code_insn *x = &p->l->code->insn.v[r->place];

	return r->is_whole && r->place + 1 == r->end && (x->op == DP_OP_ACCEPT || x->op == DP_OP_DROP);
}

static uint32_t kept_from(const struct plan *p, size_t i)
{
	if (p->has_ct)
		return p->rule[i].first;
	return is_verdict(p, i) || p->dead[i] ? p->rule[i].end : p->rule[i].place;
}

static uint64_t verdict_result(uint32_t place, const struct code_insn *x)
{
	return DP_RESULT(place, x->op == DP_OP_ACCEPT ? DP_RESULT_ACCEPT : DP_RESULT_DROP,
			 x->a < DP_NO_COUNTER ? x->a : DP_NO_COUNTER);
}

static uint64_t policy_result(const struct plan *p)
{
	const struct code_insn *x = &p->l->code->insn.v[p->l->start[p->l->n]];

	if (x->op == DP_OP_ACCEPT || x->op == DP_OP_DROP)
		return verdict_result(DP_PLACE_POLICY, x);
	return DP_RESULT(DP_PLACE_POLICY, DP_RESULT_RUN, p->policy);
}

static uint32_t target_of(const struct code *c, uint32_t at, int label)
{
	return label == CODE_NEXT ? at + 1 : c->label.v[label];
}

/* Can the list go on behind the rule? */
static bool falls_through(const struct plan *p, size_t i)
{
	const struct code *c = p->l->code;
	uint32_t end = p->rule[i].end;

	for (uint32_t at = p->kept[i]; at < end; at++) {
		const struct code_insn *x = &c->insn.v[at];

		if (code_is_test(x->op) &&
		    (target_of(c, at, x->yes) == end || target_of(c, at, x->no) == end))
			return true;
	}
	switch (c->insn.v[end - 1].op) {
	case DP_OP_COUNT:
		return target_of(c, end - 1, c->insn.v[end - 1].yes) == end;
	case DP_OP_ACCEPT:
	case DP_OP_DROP:
	case DP_OP_GOTO:
	case DP_OP_RETURN:
	case DP_OP_END:
		return false;
	default:
		return true;
	}
}

/* Where who passes goes on, if that is not the next entry; n: at the policy. Else 0. */
static size_t skips_to(const struct plan *p, size_t i)
{
	const struct code_insn *x = &p->l->code->insn.v[p->rule[i].end - 1];
	size_t lo = i + 1, hi = p->l->n;
	uint32_t to;

	if (x->op != DP_OP_COUNT || x->yes == CODE_NEXT)
		return 0;
	to = p->l->code->label.v[x->yes];
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->l->start[mid] < to)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void plan_make(struct plan *p)
{
	bool falls = true;
	uint32_t at = 0;

	p->result = arena_new(p->scratch, uint64_t, p->l->n + 1);
	p->kept = arena_new(p->scratch, uint32_t, p->l->n + 1);
	p->lookup = arena_new(p->scratch, bool, p->l->n + 1);
	for (size_t i = 0; i < p->l->n; i++) {
		const struct box_rule *r = &p->rule[i];
		size_t to = skips_to(p, i);

		falls |= p->lookup[i];
		p->lookup[i] = falls && !p->dead[i];
		p->kept[i] = kept_from(p, i);
		if (p->dead[i])
			continue;
		at += falls;
		if (is_verdict(p, i))
			p->result[i] = verdict_result((uint32_t)i, &p->l->code->insn.v[r->place]);
		else
			p->result[i] = DP_RESULT(i, DP_RESULT_RUN, at + (r->place - p->kept[i]));
		at += r->end - p->kept[i];
		falls = p->kept[i] < r->end && falls_through(p, i);
		p->lookup[to] |= to > 0; /* whoever skips comes there */
	}
	p->policy = at;
	p->policy_result = policy_result(p);
}

size_t plan_count_runs(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->l->n; i++)
		n += !p->rule[i].is_never && DP_RESULT_KIND(p->result[i]) == DP_RESULT_RUN;
	return n;
}

void plan_set_until(struct plan *p, size_t i, struct plan_under_way *w)
{
	struct box_rule *r = &p->rule[i];
	size_t to = skips_to(p, i), limit = w->near > i ? w->near : i + 1;

	r->until = r->is_final ? BOX_FINAL : r->is_whole ? (uint32_t)to : 0;
	if (w->far > i && r->until > limit)
		r->until = (uint32_t)limit;
	if (to && (w->near <= i || to < w->near))
		w->near = to;
	w->far = to > w->far ? to : w->far;
}

void plan_set_untils(struct plan *p, const bool *asks_mark)
{
	struct plan_under_way under_way = { 0 };

	for (size_t i = 0; i < p->l->n; i++) {
		plan_set_until(p, i, &under_way);
		if (asks_mark[i])
			p->rule[i].until = 0;
	}
}
