/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The compiled tables as an engine for tests: the datapath's own code, in user space. It has no way to say "unknown", a
 * reject is a drop to it, and what it cannot do at all it refuses when the tables are built.
 */
#include "cli/engine.h"

#include "classify/tables.h"
#include "datapath/native.h"
#include "tables/format.h"

enum { TABLES_HZ = 1000 };

struct engine_tables {
	const struct ruleset *rs;
	const struct tables *tables;
	struct native *native;
	struct eval_options opt;
};

static const enum hook way_in[] = { HOOK_PREROUTING, HOOK_INPUT };
static const enum hook way_through[] = { HOOK_PREROUTING, HOOK_FORWARD, HOOK_POSTROUTING };
static const enum hook way_out[] = { HOOK_OUTPUT, HOOK_POSTROUTING };

static const char *first_error(const struct diags *d)
{
	for (size_t i = 0; i < d->all.n; i++)
		if (d->all.v[i].severity == DIAG_ERROR)
			return d->all.v[i].text.p;
	return "the tables cannot be built";
}

static void *tables_open(struct arena *a, const struct ruleset *rs, const struct eval_options *opt, struct str *skip)
{
	struct engine_tables *e = arena_new(a, struct engine_tables, 1);
	struct sources none = { .a = a };
	struct diags d = { .a = a, .sources = &none };
	struct tables_options build = { .reject_as_drop = true, .log_as_count = true, .test_run = true,
					.hz = TABLES_HZ, .malformed_accept = opt->malformed_accept };

	e->rs = rs;
	e->opt = *opt;
	e->tables = tables_build(a, rs, &build, &d);
	if (!e->tables)
		*skip = arena_printf(a, "%s", first_error(&d));
	else if (opt->track)
		*skip = STR("the tables do not follow connections");
	else if (e->tables->features & DP_F_GROUP)
		*skip = STR("interface groups are known in the kernel only");
	if (skip->n)
		return NULL;
	e->native = native_create(a, &(struct native_tables){
		.word = e->tables->word, .n_words = e->tables->n_words, .state = e->tables->state,
		.n_state = e->tables->n_state, .malformed_accept = opt->malformed_accept,
		.n_counters = (uint32_t)(DP_COUNTERS_SPECIAL + rs->rules.n + rs->chains.n) });
	return e;
}

/* The hooks that a packet passes, as the evaluator sees it: its interfaces tell, or the hook that was said. */
static size_t way_of(const struct engine_tables *e, const struct packet *p, const enum hook **way, enum hook *one)
{
	if (e->opt.hook >= 0) {
		*one = (enum hook)e->opt.hook;
		*way = one;
		return 1;
	}
	if (p->has_iif && p->has_oif && p->iif[0] && p->oif[0]) {
		*way = way_through;
		return sizeof way_through / sizeof *way_through;
	}
	*way = p->has_iif && p->iif[0] ? way_in : way_out;
	return p->has_iif || p->has_oif ? 2 : 0;
}

/* The counters that went up, as rules and, the last of them, who decided. */
static void take_hits(const struct engine_tables *e, struct arena *a, const struct native_result *r,
		      struct engine_answer *out)
{
	out->rule = NULL;
	for (unsigned i = 0; i < r->n_hits; i++) {
		size_t n = r->hit[i] - (size_t)DP_COUNTERS_SPECIAL;

		if (r->hit[i] < DP_COUNTERS_SPECIAL)
			continue;
		if (n < e->rs->rules.n) {
			*vec_add(a, &out->hits) = out->rule = e->rs->rules.v[n];
		} else {
			out->via = out->rule;
			out->rule = NULL;
			out->chain = e->rs->chains.v[n - e->rs->rules.n];
		}
	}
}

/* Runs one point; false when the packet goes no further. */
static bool run_point(struct engine_tables *e, struct arena *a, const struct packet *p, unsigned position,
		      struct engine_answer *out)
{
	uint64_t now = (uint64_t)(p->time_ns / 1000000) + 1000000;
	struct packet here = *p;
	struct native_result r;

	if (position == DP_POSITION_PREROUTING_RAW || position == DP_POSITION_OUTPUT_RAW)
		here.ct = CT_INVALID; /* nothing has looked at its connection yet */
	native_run(e->native, position, &here, out->mark, now, &r);
	if (r.verdict == NATIVE_UNKNOWN) {
		out->skip = STR("a header that was not captured would have to be read");
		return false;
	}
	if (r.verdict == NATIVE_NOT_IP)
		return false;
	out->mark = r.mark;
	out->is_malformed = out->is_malformed || r.is_malformed;
	take_hits(e, a, &r, out);
	if (r.verdict == NATIVE_DROP)
		out->verdict = STR("drop");
	return r.verdict == NATIVE_ACCEPT;
}

static void tables_run(void *state, struct arena *a, const struct packet *p, struct engine_answer *out)
{
	struct engine_tables *e = state;
	struct packet known = *p;
	const enum hook *way = NULL;
	enum hook one;
	size_t n = way_of(e, p, &way, &one);

	*out = (struct engine_answer){ .verdict = STR("accept"), .mark = p->mark, .mark_known = true,
				       .only_drops = true };
	if (n == 0) {
		out->skip = STR("the way of the packet is not said");
		return;
	}
	if (known.ct < 0)
		known.ct = e->opt.ct;
	for (size_t i = 0; i < n; i++)
		for (unsigned position = 0; position < DP_POINTS_PER_FAMILY; position++) {
			const struct tables_point *v4 = &e->tables->point[position];
			const struct tables_point *v6 = &e->tables->point[position + DP_POINTS_PER_FAMILY];

			if (!(v4->is_used && v4->hook == way[i]) && !(v6->is_used && v6->hook == way[i]))
				continue;
			if (!run_point(e, a, &known, position, out))
				return;
		}
}

static void tables_close(void *state)
{
	(void)state; /* lives in the arena */
}

const struct engine engine_tables = { "tables", tables_open, tables_run, tables_close };
