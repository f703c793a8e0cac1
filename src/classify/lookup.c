/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists and their instructions. See lookup.h. */
#include "classify/lookup.h"

#include <string.h>

#include "classify/choice.h"
#include "classify/gather.h"
#include "classify/hidden.h"
#include "classify/hitset.h"
#include "classify/plan.h"

/* ---------- the rewriting ---------- */

static void put_lookup(struct plan *p, const struct choice *m, size_t from)
{
	struct code *c = p->l->code;
	struct code_insn *i = code_add(c, DP_OP_LOOKUP);
	bool classes = m->engine == TABLES_ENGINE_CLASSES;

	i->arg = (uint8_t)((p->l->is_ip6 ? DP_LOOKUP_IP6 : 0) | (p->has_ct ? DP_LOOKUP_CT : 0) | (classes ? DP_LOOKUP_CLASSES : 0));
	i->a = m->root;
	i->b = p->policy_result;
	i->c = (uint64_t)from << 32 | m->begin;
	c->features |= DP_F_LOOKUP | (classes ? DP_F_CLASSES : 0);
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
static void rewrite(struct plan *p, const struct choice *m)
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

/* ---------- the list ---------- */

static const char *reason_for_scan(const struct plan *p)
{
	size_t n = p->n_used;

	if (p->l->wanted == TABLES_ENGINE_SCAN)
		return "wanted";
	if (p->l->n >= DP_PLACE_POLICY)
		return "too many rules";
	return n ? NULL : "no rules";
}

/* What the entries ask, and which of them no packet comes to. */
static void read_rules(struct plan *p, struct tables_fate *fate)
{
	const struct lookup_list *l = p->l;
	struct box_room room = { .a = p->scratch };
	struct plan_under_way under_way = { 0 };
	struct hidden_task hidden = { .code = l->code, .entry = l->entry, .n = l->n, .fate = fate };

	p->rule = arena_new(p->scratch, struct box_rule, l->n + 1);
	p->dead = arena_new(p->scratch, bool, l->n + 1);
	for (size_t i = 0; i < l->n; i++) {
		struct box_rule *r = &p->rule[i];

		box_read(&room, l->code, l->start[i], l->start[i + 1], l->start[l->n], r, &p->has_ct);
		plan_set_until(p, i, &under_way);
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

static void read_again(struct plan *p, const struct entries *e)
{
	p->l->start = e->start;
	p->l->entry = e->entry;
	p->l->n = e->n;
	read_rules(p, arena_new(p->scratch, struct tables_fate, e->n + 1));
}

/* Fewer entries for the same rules. */
static void merge_rules(struct plan *p)
{
	struct lookup_list *l = p->l;
	struct entries e = { l->code, l->start, l->entry, l->n };

	if (l->sums && hitset_merge(p->scratch, &e, p->rule, p->dead, l->sums))
		read_again(p, &e);
	l->report->n_gathered = gather_rules(p->scratch, &e, p->rule, p->dead);
	if (l->report->n_gathered)
		read_again(p, &e);
}

/* False: nothing has been rewritten. */
static bool make_tables(struct plan *p)
{
	struct tables_list *report = p->l->report;
	struct choice m;

	report->why = choice_make(p, &m);
	if (report->why)
		return false;
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
	*l->report = (struct tables_list){
		.chain = l->chain, .engine = TABLES_ENGINE_SCAN, .why = reason_for_scan(&p), .fate = l->fate
	};
	if (!l->report->why)
		merge_rules(&p);
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
