/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engines and lists. See lookup.h. */
#include "classify/lookup.h"

#include <string.h>

#include "classify/box.h"
#include "classify/classbox.h"
#include "classify/hidden.h"
#include "classify/hitset.h"

enum { FEW_RULES = 2000 };
/* ns, roughly: one lookup; a rule that is passed by in a scan. Only their ratio matters. */
static const double lookup_cost = 25, pass_cost = 3;
/* Class tables are for few rules; beyond these sizes they are no longer the faster ones. */
enum { CLASS_RULES = 1500, CLASS_WORDS = 80000, CLASS_WORK = 20000000 };
enum { CHEAP = 40 }; /* ns: a graph is hardly less */
enum { MANY_RULES = 400 }; /* of more, class tables take long to build */

/* Tables that are made: what the LOOKUP instructions say of them. */
struct made {
	uint64_t root;
	size_t begin, n_words;
	enum tables_engine engine;
	uint32_t worst; /* steps */
	size_t wild; /* rules whose guards every lookup that comes so far has to run, because nothing of them is in the tables */
};

struct plan {
	struct lookup_list *l;
	struct arena *scratch;
	struct box_rule *rule;
	bool *dead;	  /* not in the tables at all */
	uint64_t *result; /* of each rule, policy_result of the policy */
	uint64_t policy_result;
	uint32_t *kept;	 /* the first instruction of each rule that stays, or its end */
	bool *lookup;	 /* stands in front of the rule */
	uint32_t policy; /* from the head */
	bool has_ct;
	size_t n_used; /* rules that a packet may come to */
};

/* ---------- the plan ---------- */

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

		if ((x->op == DP_OP_TEST || x->op >= DP_OP_SET) &&
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

static void make_plan(struct plan *p)
{
	bool falls = true;
	uint32_t at = 0;

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

/* ---------- the rewriting ---------- */

static void put_lookup(struct plan *p, const struct made *m, size_t from)
{
	struct code *c = p->l->code;
	struct code_insn *i = code_add(c, DP_OP_LOOKUP);

	i->arg = (uint8_t)((p->l->is_ip6 ? DP_LOOKUP_IP6 : 0) | (p->has_ct ? DP_LOOKUP_CT : 0) |
			   (m->engine == TABLES_ENGINE_CLASSES ? DP_LOOKUP_CLASSES : 0));
	i->a = m->root;
	i->b = p->policy_result;
	i->c = (uint64_t)from << 32 | m->begin;
	c->features |= DP_F_LOOKUP;
}

/* Old places to new ones: to[] has one for each old instruction of the list and one for its end. */
static void move_labels(struct code *c, const uint32_t *to)
{
	for (size_t i = 0; i < c->label.n; i++)
		if (c->label.v[i] != UINT32_MAX)
			c->label.v[i] = to[c->label.v[i] - c->list];
}

/* How far instructions are put behind where they were at most: lookups come in, guards go. */
static size_t most_lead(const struct plan *p, bool has_tables)
{
	size_t most = 0, now = 0, gone = 0;

	for (size_t i = 0; i < p->l->n && has_tables; i++) {
		now += p->lookup[i];
		gone += p->kept[i] - p->rule[i].first;
		if (now > gone + most)
			most = now - gone;
	}
	return most;
}

/* Without tables only rules that are dead go. */
static void rewrite(struct plan *p, const struct made *m)
{
	struct code *c = p->l->code;
	size_t n = c->insn.n - c->list, at = 0, lead = most_lead(p, m);
	uint32_t *to = arena_new(p->scratch, uint32_t, n + 1);
	const struct code_insn *old;

	/* New ones never reach the old ones that are still to come. */
	vec_reserve(c->a, &c->insn, c->insn.n + lead);
	if (lead)
		memmove(c->insn.v + c->list + lead, c->insn.v + c->list, n * sizeof *c->insn.v);
	old = c->insn.v + c->list + lead;
	c->insn.n = c->list;
	for (size_t i = 0; i < p->l->n; i++) {
		size_t first = p->rule[i].first - c->list, end = p->rule[i].end - c->list, from = first;

		if (p->dead[i])
			from = end;
		else if (m)
			from = p->kept[i] - c->list;
		for (; at < from; at++)
			to[at] = (uint32_t)c->insn.n;
		to[first] = (uint32_t)c->insn.n;
		if (m && p->lookup[i])
			put_lookup(p, m, i);
		for (; at < end; at++) {
			if (at != first)
				to[at] = (uint32_t)c->insn.n;
			c->insn.v[c->insn.n++] = old[at];
		}
	}
	for (; at < n; at++) {
		to[at] = (uint32_t)c->insn.n;
		c->insn.v[c->insn.n++] = old[at];
	}
	to[n] = (uint32_t)c->insn.n;
	p->l->policy_pc = to[p->l->start[p->l->n] - c->list];
	move_labels(c, to);
}

/* ---------- the choice ---------- */

/* Rules whose guards every lookup that comes so far has to run, because nothing of them is in the tables. */
static size_t count_wild(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->l->n; i++)
		n += !p->rule[i].is_never && !p->rule[i].is_final && !p->rule[i].box.dims && !p->rule[i].box.l4_mask;
	return n;
}

bool lookup_is_worth(size_t n, size_t n_wild)
{
	return lookup_cost * (double)(1 + n_wild) <= pass_cost * (double)n;
}

bool lookup_compares_all(size_t n)
{
	return n <= CLASS_RULES;
}

static const char *reason_for_scan(const struct plan *p)
{
	size_t n = p->n_used;

	if (p->l->wanted == TABLES_ENGINE_SCAN)
		return "wanted";
	if (p->l->n >= DP_PLACE_POLICY)
		return "too many rules";
	return n ? NULL : "no rules";
}

/* ns, roughly, as bench-classify measures in the kernel. Only which is less matters. */
static double scan_cost(const struct plan *p)
{
	return 70 + 4 * (double)p->n_used;
}

static size_t count_runs(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->l->n; i++)
		n += !p->rule[i].is_never && DP_RESULT_KIND(p->result[i]) == DP_RESULT_RUN;
	return n;
}

/*
 * Rules that the lookup alone does not decide are run, some of them in vain, and those that nothing tells apart for every packet.
 * Memory is held dearer than it is while all of it is in the nearest cache.
 */
static double tables_cost(const struct plan *p, const struct made *m)
{
	double kb = (double)m->n_words / 128, n = m->engine == TABLES_ENGINE_CLASSES ? 2.6 * m->worst - 10 + 0.15 * kb : 14 + 1.2 * m->worst;
	size_t runs = count_runs(p);

	return n + 45 * (double)runs / (double)p->n_used + 10 * (double)(runs < 20 ? runs : 20) + (double)m->wild * (n + 20);
}

/* With more cuts a graph is less deep. The tables of few rules are small whatever they are given. */
static bool build_graph(const struct plan *p, struct made *m)
{
	static const double budgets[] = { 5, 13, 30 };
	struct graph_task t = { .rule = p->rule, .result = p->result, .n = p->l->n, .is_ip6 = p->l->is_ip6,
				.has_room = p->n_used <= FEW_RULES,
				.most = { .walk = DP_MAX_WALK, .leaf = DP_MAX_LEAF, .leaves = DP_MAX_LEAVES } };
	struct graph g;

	for (size_t i = t.has_room; i < sizeof budgets / sizeof *budgets; i++) {
		t.budget = budgets[i];
		if (!graph_build(&t, p->l->words, &g))
			continue;
		*m = (struct made){ g.root, g.begin, p->l->words->n - g.begin, TABLES_ENGINE_GRAPH, g.worst, 0 };
		m->wild = count_wild(p);
		return true;
	}
	return false;
}

/*
 * Who matches a whole rule comes to none before its `until`. But where an earlier rule may skip this one, nothing is known of
 * those who do, so nothing behind the place where they go on is hidden by it.
 */
struct under_way {
	size_t near, far; /* the next and the last place where somebody who skips goes on */
};

static void set_until(struct plan *p, size_t i, struct under_way *w)
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

static void plan_again(struct plan *p)
{
	p->result = arena_new(p->scratch, uint64_t, p->l->n + 1);
	p->kept = arena_new(p->scratch, uint32_t, p->l->n + 1);
	p->lookup = arena_new(p->scratch, bool, p->l->n + 1);
	make_plan(p);
}

/* The mark may be written on the way, so who passed a rule that asks it may meet its box again. */
static void set_untils(struct plan *p, const bool *asks_mark)
{
	struct under_way under_way = { 0 };

	for (size_t i = 0; i < p->l->n; i++) {
		set_until(p, i, &under_way);
		if (asks_mark[i])
			p->rule[i].until = 0;
	}
}

/* With the plan made anew, since the boxes of class tables say more. */
static bool build_classes(struct plan *p, struct made *m)
{
	struct box_rule *rule = p->rule;
	struct class_task t = { .most_words = CLASS_WORDS, .most_work = CLASS_WORK };
	struct class_list list;
	struct class_tables c;
	size_t n_wild = 0;

	if (!class_list_read(p->scratch, p->l->code, rule, p->l->n, CLASS_RULES, &list))
		return false;
	p->rule = list.rule;
	set_untils(p, list.asks_mark);
	plan_again(p);
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
	*m = (struct made){ c.root, c.begin, p->l->words->n - c.begin, TABLES_ENGINE_CLASSES, c.loads, n_wild };
	return true;
}

/* Moves the words of the tables that are taken to where the others began, which are not kept. */
static void take(struct plan *p, const struct plan *best, const struct made *made, size_t at, struct made *m)
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
	return cost <= CHEAP || (p->n_used > MANY_RULES && count_runs(p) == 0);
}

/* The cheaper one of both engines, if it is not to be one of them. */
static bool build_tables(struct plan *p, struct made *m)
{
	struct plan with_graph = *p, with_classes = *p;
	enum tables_engine wanted = p->l->wanted;
	struct made graph = { 0 }, classes = { 0 };
	bool has_graph = false, has_classes = false;
	double cost = 0;

	if (wanted != TABLES_ENGINE_CLASSES) {
		plan_again(&with_graph);
		has_graph = build_graph(&with_graph, &graph);
		cost = has_graph ? tables_cost(&with_graph, &graph) : 0;
	}
	if (wanted == TABLES_ENGINE_CLASSES || (wanted == TABLES_ENGINE_ANY && !(has_graph && is_good(&with_graph, cost))))
		has_classes = build_classes(&with_classes, &classes);
	if (wanted == TABLES_ENGINE_CLASSES && !has_classes) {
		plan_again(&with_graph);
		has_graph = build_graph(&with_graph, &graph);
	}
	if (has_classes && (!has_graph || tables_cost(&with_classes, &classes) < cost))
		take(p, &with_classes, &classes, has_graph ? graph.begin : classes.begin, m);
	else if (has_graph)
		take(p, &with_graph, &graph, graph.begin, m);
	return has_graph || has_classes;
}

/* What the entries ask, and which of them no packet comes to. */
static void read_rules(struct plan *p, struct tables_fate *fate)
{
	const struct lookup_list *l = p->l;
	struct box_room room = { .a = p->scratch };
	struct under_way under_way = { 0 };
	struct hidden_task hidden = { .code = l->code, .entry = l->entry, .n = l->n, .fate = fate };

	p->rule = arena_new(p->scratch, struct box_rule, l->n + 1);
	p->dead = arena_new(p->scratch, bool, l->n + 1);
	for (size_t i = 0; i < l->n; i++) {
		struct box_rule *r = &p->rule[i];

		box_read(&room, l->code, l->start[i], l->start[i + 1], l->start[l->n], r, &p->has_ct);
		set_until(p, i, &under_way);
	}
	hidden.rule = p->rule;
	hidden_find(&hidden);
	p->n_used = 0;
	for (size_t i = 0; i < l->n; i++) {
		p->dead[i] = p->rule[i].is_never && !fate[i].is_kept;
		p->n_used += !p->rule[i].is_never;
	}
}

/* A rule is used if one of its entries is. */
static void tell_fates(const struct plan *p, const struct tables_fate *fate)
{
	const struct lookup_list *l = p->l;
	bool *is_told = arena_new(p->scratch, bool, l->chain->rules.n + 1);

	for (size_t i = 0; i < l->n; i++) {
		uint32_t rule = l->entry[i].rule[0]->index;

		if (!is_told[rule] || fate[i].kind == TABLES_FATE_USED)
			l->fate[rule] = fate[i];
		is_told[rule] = true;
	}
}

static void merge_counting(struct plan *p)
{
	struct lookup_list *l = p->l;
	struct hitset_list h = { l->code, l->start, l->entry, l->n };

	if (!l->sums || !hitset_merge(p->scratch, &h, p->rule, p->dead, l->sums))
		return;
	l->start = h.start;
	l->entry = h.entry;
	l->n = h.n;
	read_rules(p, arena_new(p->scratch, struct tables_fate, l->n + 1));
}

/* False: nothing has been rewritten. */
static bool make_tables(struct plan *p)
{
	struct tables_list *report = p->l->report;
	struct made m;

	if (!build_tables(p, &m)) {
		report->why = "the graph would exceed the datapath's bounds";
		return false;
	}
	if (p->l->wanted == TABLES_ENGINE_ANY && tables_cost(p, &m) > scan_cost(p)) {
		report->why = "a lookup would cost more";
		p->l->words->n = m.begin;
		return false;
	}
	report->engine = m.engine;
	report->n_words = m.n_words;
	report->worst = m.worst;
	p->l->words->v[m.begin] = p->l->code->list;
	rewrite(p, &m);
	return true;
}

void lookup_make(struct lookup_list *l)
{
	struct plan p = { .l = l, .scratch = arena_create() };
	struct tables_fate *fate;

	fate = arena_new(p.scratch, struct tables_fate, l->n + 1);
	read_rules(&p, fate);
	tell_fates(&p, fate);
	*l->report = (struct tables_list){ .chain = l->chain, .engine = TABLES_ENGINE_SCAN, .why = reason_for_scan(&p),
					   .fate = l->fate };
	if (!l->report->why)
		merge_counting(&p);
	if (l->report->why || !make_tables(&p))
		rewrite(&p, NULL);
	l->report->entry = l->entry;
	l->report->n_entries = l->n;
	arena_destroy(p.scratch);
}

void lookup_write(struct code *c, struct words *w, uint32_t code_pc, size_t words_at)
{
	uint32_t done = UINT32_MAX;

	for (size_t i = 0; i < c->insn.n; i++) {
		struct code_insn *x = &c->insn.v[i];

		if (x->op != DP_OP_LOOKUP)
			continue;
		if (done != (uint32_t)x->c)
			w->v[(uint32_t)x->c] += code_pc;
		done = (uint32_t)x->c;
		x->c += words_at;
	}
}
