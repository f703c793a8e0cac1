/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engines and lists. See lookup.h. */
#include "classify/lookup.h"

#include <string.h>

#include "classify/box.h"
#include "classify/hidden.h"

enum { LEAST_RULES = 4 };
/* ns, roughly: one lookup; a rule that is passed by in a scan. Only their ratio matters. */
static const double lookup_cost = 25, pass_cost = 3;

struct plan {
	const struct lookup_list *l;
	struct arena *scratch;
	struct box_rule *rule;
	uint32_t *place; /* of each rule's entry, from the head of the list */
	bool *lookup;	 /* stands in front of the rule */
	uint32_t policy; /* from the head */
	bool has_ct;
	size_t n_used; /* rules that a packet may come to */
};

/* ---------- the plan ---------- */

static bool is_dead(const struct plan *p, size_t i)
{
	return p->rule[i].is_never && !p->l->fate[i].is_kept;
}

/* The first instruction of the rule that stays. */
static uint32_t kept_from(const struct plan *p, size_t i)
{
	return p->has_ct ? p->rule[i].first : p->rule[i].place;
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

	for (uint32_t at = kept_from(p, i); at < end; at++) {
		const struct code_insn *x = &c->insn.v[at];

		if ((x->op == DP_OP_TEST || x->op >= DP_OP_SET) &&
		    (target_of(c, at, x->yes) == end || target_of(c, at, x->no) == end))
			return true;
	}
	switch (c->insn.v[end - 1].op) {
	case DP_OP_ACCEPT:
	case DP_OP_DROP:
	case DP_OP_GOTO:
	case DP_OP_RETURN:
		return false;
	default:
		return true;
	}
}

static void make_plan(struct plan *p)
{
	bool falls = true;
	uint32_t at = 0;

	for (size_t i = 0; i < p->l->n; i++) {
		if (is_dead(p, i))
			continue;
		p->lookup[i] = falls;
		at += falls;
		p->place[i] = at + (p->rule[i].place - kept_from(p, i));
		at += p->rule[i].end - kept_from(p, i);
		falls = falls_through(p, i);
	}
	p->policy = at;
}

/* ---------- the rewriting ---------- */

static void put_lookup(struct plan *p, const struct graph *g)
{
	struct code *c = p->l->code;
	struct code_insn *i = code_add(c, DP_OP_LOOKUP);

	i->arg = (uint8_t)((p->l->is_ip6 ? DP_LOOKUP_IP6 : 0) | (p->has_ct ? DP_LOOKUP_CT : 0));
	i->a = g->root;
	i->b = (uint64_t)c->list << 32 | p->policy;
	i->c = g->begin;
	c->features |= DP_F_LOOKUP;
}

/* Old places to new ones: to[] has one for each old instruction of the list and one for its end. */
static void move_labels(struct code *c, const uint32_t *to)
{
	for (size_t i = 0; i < c->label.n; i++)
		if (c->label.v[i] != UINT32_MAX)
			c->label.v[i] = to[c->label.v[i] - c->list];
}

/* Without a graph only rules that are dead go. */
static void rewrite(struct plan *p, const struct graph *g)
{
	struct code *c = p->l->code;
	size_t n = c->insn.n - c->list;
	struct code_insn *old = arena_new(p->scratch, struct code_insn, n);
	uint32_t *to = arena_new(p->scratch, uint32_t, n + 1);
	size_t at = 0;

	memcpy(old, c->insn.v + c->list, n * sizeof *old);
	c->insn.n = c->list;
	for (size_t i = 0; i < p->l->n; i++) {
		size_t first = p->rule[i].first - c->list, end = p->rule[i].end - c->list, from = first;

		if (is_dead(p, i))
			from = end;
		else if (g)
			from = kept_from(p, i) - c->list;
		for (; at < from; at++)
			to[at] = (uint32_t)c->insn.n;
		to[first] = (uint32_t)c->insn.n;
		if (g && p->lookup[i])
			put_lookup(p, g);
		for (; at < end; at++) {
			if (at != first)
				to[at] = (uint32_t)c->insn.n;
			*vec_add(c->a, &c->insn) = old[at];
		}
	}
	for (; at < n; at++) {
		to[at] = (uint32_t)c->insn.n;
		*vec_add(c->a, &c->insn) = old[at];
	}
	to[n] = (uint32_t)c->insn.n;
	for (size_t i = 0; i <= p->l->n; i++)
		p->l->rule_pc[i] = to[p->l->start[i] - c->list] - (uint32_t)c->list;
	move_labels(c, to);
}

/* ---------- the choice ---------- */

/* Rules whose guards every lookup that comes so far has to run, because nothing of them is in the tables. */
static size_t count_wild(const struct plan *p)
{
	struct box full;
	size_t n = 0;

	box_full(&full);
	for (size_t i = 0; i < p->l->n; i++)
		n += !p->rule[i].is_never && !p->rule[i].is_final && memcmp(&p->rule[i].box, &full, sizeof full) == 0;
	return n;
}

static const char *reason_for_scan(const struct plan *p)
{
	size_t n = p->n_used;

	if (p->l->wanted == TABLES_ENGINE_SCAN)
		return "wanted";
	if (p->l->wanted == TABLES_ENGINE_GRAPH)
		return n ? NULL : "no rules";
	if (n < LEAST_RULES)
		return "few rules";
	if (lookup_cost * (double)(1 + count_wild(p)) > pass_cost * (double)n)
		return "a lookup would cost more";
	return NULL;
}

/* With more cuts a graph is less deep. */
static bool build_graph(const struct plan *p, struct graph *g)
{
	static const double budgets[] = { 5, 10, 30 };
	struct graph_task t = { .rule = p->rule, .place = p->place, .n = p->l->n, .is_ip6 = p->l->is_ip6,
				.most = { .walk = DP_MAX_WALK, .leaf = DP_MAX_LEAF, .leaves = DP_MAX_LEAVES } };

	for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
		t.budget = budgets[i];
		if (graph_build(&t, p->l->words, g))
			return true;
	}
	return false;
}

static void read_rules(struct plan *p)
{
	const struct lookup_list *l = p->l;
	struct arena *pass = arena_create();
	struct hidden_task hidden = { .code = l->code, .rule = p->rule, .n = l->n, .fate = l->fate };

	for (size_t i = 0; i < l->n; i++) {
		arena_reset(pass);
		box_read(pass, l->code, l->start[i], l->start[i + 1], l->start[l->n], &p->rule[i], &p->has_ct);
	}
	arena_destroy(pass);
	hidden_find(&hidden);
	for (size_t i = 0; i < l->n; i++)
		p->n_used += !p->rule[i].is_never;
}

/* False: nothing has been rewritten. */
static bool make_graph(struct plan *p)
{
	struct tables_list *report = p->l->report;
	struct graph g;

	make_plan(p);
	if (!build_graph(p, &g)) {
		report->why = "the graph would exceed the datapath's bounds";
		return false;
	}
	report->engine = TABLES_ENGINE_GRAPH;
	report->n_words = p->l->words->n - g.begin;
	report->worst = g.worst;
	rewrite(p, &g);
	return true;
}

void lookup_make(struct lookup_list *l)
{
	struct plan p = { .l = l, .scratch = arena_create() };

	p.rule = arena_new(p.scratch, struct box_rule, l->n + 1);
	p.place = arena_new(p.scratch, uint32_t, l->n + 1);
	p.lookup = arena_new(p.scratch, bool, l->n + 1);
	read_rules(&p);
	for (size_t i = 0; i <= l->n; i++)
		l->rule_pc[i] = l->start[i] - (uint32_t)l->code->list;
	*l->report = (struct tables_list){ .chain = l->report->chain, .engine = TABLES_ENGINE_SCAN, .why = reason_for_scan(&p),
					   .rule_pc = l->rule_pc, .fate = l->fate };
	if (l->report->why || !make_graph(&p))
		rewrite(&p, NULL);
	l->policy_pc = (uint32_t)l->code->list + l->rule_pc[l->n];
	arena_destroy(p.scratch);
}

void lookup_write(struct code *c, uint32_t code_pc, size_t words_at)
{
	for (size_t i = 0; i < c->insn.n; i++)
		if (c->insn.v[i].op == DP_OP_LOOKUP) {
			c->insn.v[i].b += (uint64_t)code_pc << 32;
			c->insn.v[i].c += words_at;
		}
}
