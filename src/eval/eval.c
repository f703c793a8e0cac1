/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A packet: all its ways, and what they have in common.
 *
 * The first way answers every open question with "no"; if there was none, it is the only one. Otherwise every other
 * combination is walked too (fork.c), at most PATHS_MAX; what lasts (limits, sets, connections) is taken back after each
 * way and kept only where all agree (store.c). The verdict is known if all ways have the same.
 *
 * Time is the packets' own; without any, all packets come at one instant, right after the rules were loaded. It
 * never goes backwards.
 */
#include "eval/walk.h"

enum { PATHS_MAX = 4096 };

static bool step_is_harmless(const struct step *s)
{
	if (s->kind == STEP_VERDICT)
		return s->v.verdict == VERDICT_NONE;
	if (s->kind == STEP_EFFECT)
		return effect_is_harmless(&s->effect);
	if (s->kind == STEP_MAP) {
		for (uint32_t i = 0; i < s->map->map->n_outcomes; i++)
			if (!step_is_harmless(&s->map->map->outcome[i]))
				return false;
		return true;
	}
	return s->test.kind != TEST_STATE || s->test.state->kind == STATE_RANDOM || s->test.state->kind == STATE_TIME;
}

static bool rule_is_harmless(const struct rule *r)
{
	for (uint32_t i = 0; i < r->n_steps; i++)
		if (!step_is_harmless(&r->step[i]))
			return false;
	return true;
}

static bool rule_has_state(const struct rule *r, enum state_kind kind)
{
	for (uint32_t i = 0; i < r->n_steps; i++)
		if (r->step[i].kind == STEP_TEST && r->step[i].test.kind == TEST_STATE && r->step[i].test.state->kind == kind)
			return true;
	return false;
}

static bool rule_counts_itself(const struct rule *r)
{
	for (uint32_t i = 0; i < r->n_steps; i++)
		if (r->step[i].kind == STEP_EFFECT && r->step[i].effect.kind == EFFECT_COUNT && !r->step[i].effect.counter)
			return true;
	return false;
}

static bool step_is_stateful(const struct step *s)
{
	if (s->kind == STEP_TEST)
		return s->test.kind == TEST_STATE;
	if (s->kind == STEP_EFFECT)
		return s->effect.kind == EFFECT_SET_ADD || s->effect.kind == EFFECT_SET_DEL;
	for (uint32_t i = 0; s->kind == STEP_MAP && i < s->map->map->n_outcomes; i++)
		if (step_is_stateful(&s->map->map->outcome[i]))
			return true;
	return false;
}

static bool rule_is_stateful(const struct rule *r)
{
	for (uint32_t i = 0; i < r->n_steps; i++)
		if (step_is_stateful(&r->step[i]))
			return true;
	return false;
}

static void read_rules(struct eval *e)
{
	const struct ruleset *rs = e->rs;

	e->is_harmless = arena_new(e->a, bool, rs->rules.n + 1);
	e->counts_itself = arena_new(e->a, bool, rs->rules.n + 1);
	for (uint32_t i = 0; i < rs->rules.n; i++) {
		const struct rule *r = rs->rules.v[i];

		e->is_harmless[i] = rule_is_harmless(r);
		e->counts_itself[i] = rule_counts_itself(r);
		e->is_stateful |= rule_is_stateful(r);
		if (rule_has_state(r, STATE_HASHLIMIT))
			*vec_add(e->a, &e->hashlimits) = i;
		if (binding_is_made_by(r))
			*vec_add(e->a, &e->translating) = i;
		if (rule_has_state(r, STATE_RECENT))
			*vec_add(e->a, &e->recents) = i;
	}
}

struct eval *eval_create(struct arena *a, const struct ruleset *rs, const struct eval_options *opt)
{
	struct eval *e = arena_new(a, struct eval, 1);

	e->a = a;
	e->rs = rs;
	e->opt = *opt;
	e->store = store_create(a);
	e->sets = sets_create(a, rs);
	e->maps = maps_create(a, rs);
	e->is_stateful = opt->track;
	read_rules(e);
	for (int fam = 0; fam < FAMILY_ALL; fam++)
		for (int h = 0; h < HOOK_COUNT; h++) {
			struct base *b = &e->base[fam][h];

			b->v = policy_base_chains(a, rs, (enum family)fam, (enum hook)h, &b->n);
		}
	return e;
}

static void clock_set(struct eval *e, const struct packet *p)
{
	if (p->has_time && p->time_ns > e->now_ns)
		e->now_ns = p->time_ns;
	if (!e->has_started && p->has_time && p->time_is_epoch)
		e->start_ns = e->now_ns;
	e->has_started = true;
}

/* ---------- the ways of one packet ---------- */

struct ways {
	struct eval *e;
	struct arena *a;
	const struct packet *p;
	const struct facts *facts;
	struct fork fork;
	struct eval_result *out;
	unsigned n;
	bool differ;
	size_t differ_at;  /* the choice that made the difference */
	bool rules_differ;
	uint32_t *min_hits; /* by rule.id; policies by chain.id and counters by their id behind them */
};

static void one_way(struct ways *ws, struct eval_result *out, bool has_trace)
{
	struct walk *w = arena_new(ws->a, struct walk, 1);

	memset(out, 0, sizeof *out);
	w->e = ws->e;
	w->a = ws->a;
	w->p = ws->p;
	w->out = out;
	w->fork = &ws->fork;
	w->has_trace = has_trace;
	w->read = ws->facts;
	w->f = *ws->facts;
	ws->fork.pos = 0;
	path_run(w);
}

/* The last "no" becomes "yes"; false: all was asked. */
static bool next_way(struct ways *ws)
{
	struct fork *f = &ws->fork;

	while (f->v.n && f->v.v[f->v.n - 1].yes)
		f->v.n--;
	if (f->v.n == 0)
		return false;
	f->v.v[f->v.n - 1].yes = true;
	return true;
}

/* How many numbers there are to count; where those of policies and of counters begin. */
static size_t n_counts(const struct ruleset *rs, size_t *policies, size_t *counters)
{
	*policies = rs->rules.n;
	*counters = *policies + rs->chains.n;
	return *counters + rs->counters.n;
}

static void count(struct ways *ws, const struct eval_result *r, uint32_t *n)
{
	size_t policies, counters;

	n_counts(ws->e->rs, &policies, &counters);
	for (size_t i = 0; i < r->hits.n; i++)
		n[r->hits.v[i]->id]++;
	for (size_t i = 0; i < r->policy_hits.n; i++)
		n[policies + r->policy_hits.v[i]->id]++;
	for (size_t i = 0; i < r->counter_hits.n; i++)
		n[counters + r->counter_hits.v[i]->id]++;
}

static void count_min(struct ways *ws, const struct eval_result *r)
{
	size_t policies, counters, n = n_counts(ws->e->rs, &policies, &counters);
	uint32_t *c = arena_new(ws->a, uint32_t, n + 1);

	count(ws, r, c);
	for (size_t i = 0; i < n; i++)
		if (c[i] < ws->min_hits[i])
			ws->min_hits[i] = c[i];
}

static void add_way(struct ways *ws, const struct eval_result *r, size_t asked)
{
	struct eval_result *out = ws->out;

	count_min(ws, r);
	if (!ws->differ && (r->verdict != out->verdict || r->is_unknown != out->is_unknown || r->reject != out->reject)) {
		ws->differ = true;
		ws->differ_at = asked;
	}
	if (r->rule != out->rule || r->chain != out->chain || r->via != out->via)
		ws->rules_differ = true;
	if (!r->mark_known || r->mark != out->mark)
		out->mark_known = false;
	if (!r->is_malformed)
		out->is_malformed = false;
}

/* Is this one counted on all ways? Each of them is given out once. */
static bool is_common(uint32_t *left)
{
	if (*left == 0)
		return false;
	--*left;
	return true;
}

static void keep_common_hits(struct ways *ws)
{
	struct eval_result *out = ws->out;
	size_t policies, counters, k = 0;

	n_counts(ws->e->rs, &policies, &counters);
	for (size_t i = 0; i < out->hits.n; i++)
		if (is_common(&ws->min_hits[out->hits.v[i]->id]))
			out->hits.v[k++] = out->hits.v[i];
	out->hits.n = k;
	k = 0;
	for (size_t i = 0; i < out->policy_hits.n; i++)
		if (is_common(&ws->min_hits[policies + out->policy_hits.v[i]->id]))
			out->policy_hits.v[k++] = out->policy_hits.v[i];
	out->policy_hits.n = k;
	k = 0;
	for (size_t i = 0; i < out->counter_hits.n; i++)
		if (is_common(&ws->min_hits[counters + out->counter_hits.v[i]->id]))
			out->counter_hits.v[k++] = out->counter_hits.v[i];
	out->counter_hits.n = k;
}

/* Not all ways were walked: only what was counted before the first question is certain. */
static void keep_first_hits(struct ways *ws, const struct choice *first)
{
	ws->out->hits.n = first->n_hits;
	ws->out->policy_hits.n = first->n_policy_hits;
	ws->out->counter_hits.n = first->n_counter_hits;
}

static void make_unknown(struct eval_result *out, const struct choice *c)
{
	out->verdict = VERDICT_NONE;
	out->is_unknown = true;
	out->is_malformed = false;
	out->mark_known = false;
	out->rule = c->rule;
	out->chain = c->chain;
	out->via = NULL;
	out->why = c->why;
}

static void walk_all(struct ways *ws)
{
	struct eval_result r;
	struct choice first = ws->fork.v.v[0], at = first;
	size_t policies, counters, n = n_counts(ws->e->rs, &policies, &counters);
	bool all = true;

	ws->min_hits = arena_new(ws->a, uint32_t, n + 1);
	count(ws, ws->out, ws->min_hits);
	store_take_back(ws->e->store);
	ws->n = 1;
	while (next_way(ws)) {
		size_t asked = ws->fork.v.n - 1;

		if (ws->n == PATHS_MAX || (ws->differ && !ws->e->is_stateful)) {
			all = false;
			break;
		}
		if (!ws->differ)
			at = ws->fork.v.v[asked];
		one_way(ws, &r, false);
		store_take_back(ws->e->store);
		ws->n++;
		add_way(ws, &r, asked);
	}
	store_settle(ws->e->store, all || !ws->e->is_stateful);
	if (all)
		keep_common_hits(ws);
	else
		keep_first_hits(ws, &first);
	if (ws->differ || !all)
		make_unknown(ws->out, &at);
	if (!ws->differ && !all)
		ws->out->why = arena_printf(ws->a, "too many questions are open; one of them: %.*s", STR_ARG(first.why));
	else if (!ws->differ && !ws->out->is_unknown && ws->rules_differ)
		ws->out->why = arena_printf(ws->a, "another rule may decide, with the same verdict: %.*s", STR_ARG(first.why));
}

static bool has_base_chain(const struct eval *e)
{
	for (size_t i = 0; i < e->rs->chains.n; i++)
		if (e->rs->chains.v[i]->hook != HOOK_NONE)
			return true;
	return false;
}

static bool judges_frames(const struct eval *e)
{
	return e->base[FAMILY_FRAME][HOOK_INGRESS].n || e->base[FAMILY_FRAME][HOOK_EGRESS].n;
}

/* ARP and the like, and no chain judges it. A frame too short to tell is dropped where there is any chain. */
static void not_ip(const struct eval *e, const struct packet *p, const struct facts *f, struct eval_result *out)
{
	memset(out, 0, sizeof *out);
	out->verdict = f->is_malformed && !e->opt.malformed_accept && has_base_chain(e) ? VERDICT_DROP : VERDICT_ACCEPT;
	out->is_malformed = f->is_malformed;
	out->why = f->is_malformed ? str_from(f->malformed) : STR("not IP: no chain judges it");
	out->mark_known = true;
	out->mark = p->has_mark ? p->mark : 0;
}

/* So little was captured that it may be anything. */
static void unseen(struct eval_result *out)
{
	memset(out, 0, sizeof *out);
	out->is_unknown = true;
	out->why = STR("too little was captured to tell what this is");
}

void eval_packet(struct eval *e, struct arena *a, const struct packet *p, struct eval_result *out)
{
	struct facts *facts = arena_new(a, struct facts, 1);
	struct ways ws = { .e = e, .a = a, .p = p, .facts = facts, .out = out };

	clock_set(e, p);
	facts_read(facts, p);
	store_begin(e->store, e->now_ns);
	if (facts->is_unseen && has_base_chain(e)) {
		unseen(out);
		return;
	}
	if (!facts->is_ip && (facts->is_malformed || !judges_frames(e))) {
		not_ip(e, p, facts, out);
		return;
	}
	one_way(&ws, out, e->opt.want_trace);
	if (ws.fork.v.n)
		walk_all(&ws);
	else
		store_settle(e->store, true);
}

struct str eval_verdict_text(struct arena *a, const struct eval_result *r)
{
	if (r->is_unknown)
		return STR("unknown");
	if (r->verdict == VERDICT_REJECT)
		return arena_printf(a, "reject(%s)", policy_reject_name(r->reject));
	return str_from(policy_verdict_name(r->verdict));
}
