/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way of a packet through compiled tables. See engine_way.h. */
#include "cli/engine_way.h"

#include "datapath/native.h"

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

bool engine_tables_build(struct arena *a, const struct ruleset *rs, const struct eval_options *opt,
			 struct engine_tables *out, struct str *skip)
{
	struct sources none = { .a = a };
	struct diags d = { .a = a, .sources = &none };
	struct tables_options build = { .reject_as_drop = true, .log_as_count = true, .test_run = true, .may_sum = true,
					.hz = ENGINE_HZ, .sets_expire = true, .now = ENGINE_START, .malformed_accept = opt->malformed_accept };

	*out = (struct engine_tables){ .rs = rs, .tables = tables_build(a, rs, &build, &d), .opt = *opt };
	if (!out->tables)
		*skip = arena_printf(a, "%s", first_error(&d));
	else if (opt->track)
		*skip = STR("the tables do not follow connections");
	else if (out->tables->features & DP_F_GROUP)
		*skip = STR("interface groups are known in the kernel only");
	else if (out->tables->features & DP_F_ROUTE)
		*skip = STR("the kind of an address is told by its route, which a test does not have");
	return skip->n == 0;
}

/* The evaluator's clock: it begins with the first packet of a capture, at 0 otherwise, and does not go back. */
uint64_t engine_now(struct engine_tables *e, const struct packet *p)
{
	if (!e->has_started && p->has_time && p->time_is_epoch)
		e->start_ns = e->now_ns = p->time_ns;
	e->has_started = true;
	if (p->has_time && p->time_ns > e->now_ns)
		e->now_ns = p->time_ns;
	return (uint64_t)((e->now_ns - e->start_ns) / (1000000000 / ENGINE_HZ)) + ENGINE_START;
}

static size_t hooks_of(const struct engine_tables *e, const struct packet *p, const enum hook **way, enum hook *one)
{
	if (e->opt.hook >= 0) {
		*one = (enum hook)e->opt.hook;
		*way = one;
		return 1;
	}
	if (p->iif[0] && p->oif[0]) {
		*way = way_through;
		return sizeof way_through / sizeof *way_through;
	}
	*way = p->iif[0] ? way_in : way_out;
	return p->iif[0] || p->oif[0] ? 2 : 0;
}

unsigned engine_way(const struct engine_tables *e, const struct packet *p, unsigned *positions)
{
	const enum hook *way = NULL;
	enum hook one;
	size_t n_hooks = hooks_of(e, p, &way, &one);
	unsigned n = 0;

	for (size_t i = 0; i < n_hooks; i++)
		for (unsigned k = 0; k < e->tables->n_order; k++) {
			unsigned position = e->tables->order[k];
			const struct tables_point *v4 = &e->tables->point[position];
			const struct tables_point *v6 = &e->tables->point[position + DP_POINTS_PER_FAMILY];

			if ((v4->is_used && v4->hook == way[i]) || (v6->is_used && v6->hook == way[i]))
				positions[n++] = position;
		}
	return n_hooks ? n : 0;
}

struct packet engine_packet_at(const struct engine_tables *e, const struct packet *p, unsigned position)
{
	struct packet here = *p;

	if (here.ct < 0)
		here.ct = e->opt.ct;
	if (DP_POSITION_IS_RAW(position))
		here.ct = CT_INVALID;
	if (!native_sees_iif(position)) {
		here.has_iif = false;
		here.iif[0] = 0;
	}
	if (!native_sees_oif(position)) {
		here.has_oif = false;
		here.oif[0] = 0;
	}
	return here;
}

uint32_t engine_counters(const struct engine_tables *e)
{
	return e->tables->n_counters;
}

const struct rule *const *engine_counter(const struct engine_tables *e, uint32_t counter, size_t *n, const struct chain **policy)
{
	const struct tables_sum *sum = tables_find_sum(e->tables, counter);
	size_t i = counter - (size_t)DP_COUNTERS_SPECIAL;

	*policy = NULL;
	*n = sum ? sum->n : counter >= DP_COUNTERS_SPECIAL && i < e->rs->rules.n;
	if (sum)
		return sum->rule;
	if (*n)
		return (const struct rule *const *)&e->rs->rules.v[i];
	if (counter >= DP_COUNTERS_SPECIAL)
		*policy = e->rs->chains.v[i - e->rs->rules.n];
	return NULL;
}
