/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engines and what they cost. See choice.h. */
#include "classify/choice.h"

#include <string.h>

#include "classify/classbox.h"

enum { FEW_RULES = 2000 };
/* ns, roughly: one lookup; a rule that is passed by in a scan. Only their ratio matters. */
static const double lookup_cost = 25, pass_cost = 3;
/* Class tables are for few rules; beyond these sizes they are no longer the faster ones. */
enum { CLASS_RULES = 1500, CLASS_WORDS = 80000, CLASS_WORK = 20000000 };
enum { CHEAP = 40 };	   /* ns: a graph is hardly less */
enum { MANY_RULES = 400 }; /* of more, class tables take long to build */

/* Rules whose guards every lookup that comes so far has to run, because nothing of them is in the tables. */
static size_t count_wild(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->l->n; i++)
		n += !p->rule[i].is_never && !p->rule[i].is_final && !p->rule[i].box.dims && !p->rule[i].box.l4_mask;
	return n;
}

bool choice_is_worth(size_t n, size_t n_wild)
{
	return lookup_cost * (double)(1 + n_wild) <= pass_cost * (double)n;
}

bool choice_compares_all(size_t n)
{
	return n <= CLASS_RULES;
}

/* ns, roughly, as bench-classify measures in the kernel. Only which is less matters. */
static double scan_cost(const struct plan *p)
{
	return 70 + 4 * (double)p->n_used;
}

/*
 * Rules that the lookup alone does not decide are run, some of them in vain, and those that nothing tells apart for every packet.
 * Memory is held dearer than it is while all of it is in the nearest cache.
 */
static double tables_cost(const struct plan *p, const struct choice *m)
{
	double kb = (double)m->n_words / 128,
	       n = m->engine == TABLES_ENGINE_CLASSES ? 2.6 * m->worst - 10 + 0.15 * kb : 14 + 1.2 * m->worst;
	size_t runs = plan_count_runs(p);

	return n + 45 * (double)runs / (double)p->n_used + 10 * (double)(runs < 20 ? runs : 20) +
	       (double)m->wild * (n + 20);
}

/* With more cuts a graph is less deep. The tables of few rules are small whatever they are given. */
static bool build_graph(const struct plan *p, struct choice *m)
{
	static const double budgets[] = { 5, 13, 30 };
	struct graph_task t = { .rule = p->rule,
				.result = p->result,
				.n = p->l->n,
				.is_ip6 = p->l->is_ip6,
				.has_room = p->n_used <= FEW_RULES,
				.most = { .walk = DP_MAX_WALK, .leaf = DP_MAX_LEAF, .leaves = DP_MAX_LEAVES } };
	struct graph g;

	for (size_t i = t.has_room; i < sizeof budgets / sizeof *budgets; i++) {
		t.budget = budgets[i];
		if (!graph_build(&t, p->l->words, &g))
			continue;
		*m = (struct choice){ g.root, g.begin, p->l->words->n - g.begin, TABLES_ENGINE_GRAPH, g.worst, 0 };
		m->wild = count_wild(p);
		return true;
	}
	return false;
}

/* With the plan made anew, since the boxes of class tables say more. */
static bool build_classes(struct plan *p, struct choice *m)
{
	struct box_rule *rule = p->rule;
	struct class_task t = { .most_words = CLASS_WORDS, .most_work = CLASS_WORK };
	struct class_list list;
	struct class_tables c;
	size_t n_wild = 0;

	if (!class_list_read(p->scratch, p->l->code, rule, p->l->n, CLASS_RULES, &list))
		return false;
	p->rule = list.rule;
	plan_set_untils(p, list.asks_mark);
	plan_make(p);
	for (size_t i = 0; i < list.n; i++) {
		list.v[i].result = p->result[list.of[i]];
		list.v[i].until = p->rule[list.of[i]].until;
		n_wild += list.v[i].until != BOX_FINAL && class_box_is_wild(list.v[i].box);
	}
	t.rule = list.v;
	t.n = list.n;
	t.policy = p->policy_result;
	if (!classes_build(&t, p->l->words, &c)) {
		p->rule = rule;
		return false;
	}
	*m = (struct choice){ c.root, c.begin, p->l->words->n - c.begin, TABLES_ENGINE_CLASSES, c.loads, n_wild };
	return true;
}

/* Moves the words of the tables that are taken to where the others began, which are not kept. */
static void take(struct plan *p, const struct plan *best, const struct choice *made, size_t at, struct choice *m)
{
	struct words *w = p->l->words;

	if (made->begin != at)
		memmove(w->v + at, w->v + made->begin, made->n_words * sizeof *w->v);
	w->n = at + made->n_words;
	*p = *best;
	*m = *made;
	m->begin = at;
}

/*
 * Class tables would hardly be faster than this graph: it is cheap, or it leaves nothing to be run of so many rules that
 * class tables take long to build.
 */
static bool is_good(const struct plan *p, double cost)
{
	return cost <= CHEAP || (p->n_used > MANY_RULES && plan_count_runs(p) == 0);
}

/* The cheaper one of both engines, if it is not to be one of them. */
static bool build_tables(struct plan *p, struct choice *m)
{
	struct plan with_graph = *p, with_classes = *p;
	enum tables_engine wanted = p->l->wanted;
	struct choice graph = { 0 }, classes = { 0 };
	bool has_graph = false, has_classes = false;
	double cost = 0;

	if (wanted != TABLES_ENGINE_CLASSES) {
		plan_make(&with_graph);
		has_graph = build_graph(&with_graph, &graph);
		cost = has_graph ? tables_cost(&with_graph, &graph) : 0;
	}
	if (wanted == TABLES_ENGINE_CLASSES ||
	    (wanted == TABLES_ENGINE_ANY && !(has_graph && is_good(&with_graph, cost))))
		has_classes = build_classes(&with_classes, &classes);
	if (wanted == TABLES_ENGINE_CLASSES && !has_classes) {
		plan_make(&with_graph);
		has_graph = build_graph(&with_graph, &graph);
	}
	if (has_classes && (!has_graph || tables_cost(&with_classes, &classes) < cost))
		take(p, &with_classes, &classes, has_graph ? graph.begin : classes.begin, m);
	else if (has_graph)
		take(p, &with_graph, &graph, graph.begin, m);
	return has_graph || has_classes;
}

const char *choice_make(struct plan *p, struct choice *m)
{
	if (!build_tables(p, m))
		return "the graph would exceed the datapath's bounds";
	if (p->l->wanted == TABLES_ENGINE_ANY && tables_cost(p, m) > scan_cost(p)) {
		p->l->words->n = m->begin;
		return "a lookup would cost more";
	}
	return NULL;
}
