/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The compiled tables as an engine for tests: the datapath's own code, in user space. It has no way to say "unknown", a
 * reject is a drop to it, and what it cannot do at all it refuses when the tables are built.
 */
#include "cli/engine_way.h"
#include "datapath/native.h"

struct state {
	struct engine_tables t;
	struct native *native;
};

static void *tables_open(struct arena *a, const struct ruleset *rs, const struct eval_options *opt, struct str *skip)
{
	struct state *s = arena_new(a, struct state, 1);

	if (!engine_tables_build(a, rs, opt, &s->t, skip))
		return NULL;
	s->native = native_create(a, &(struct native_tables){
		.word = s->t.tables->word, .n_words = s->t.tables->n_words, .state = s->t.tables->state,
		.n_state = s->t.tables->n_state, .sets = s->t.tables->image.word, .malformed_accept = opt->malformed_accept,
		.n_counters = engine_counters(&s->t) });
	return s;
}

/* The counters that went up, as rules and, the last of them, who decided. */
static void take_hits(struct state *s, struct arena *a, const struct native_result *r, struct engine_answer *out)
{
	out->rule = NULL;
	for (unsigned i = 0; i < r->n_hits; i++) {
		const struct chain *policy;
		size_t n;
		const struct rule *const *rule = engine_counter(&s->t, r->hit[i], &n, &policy);

		for (size_t k = 0; k < n; k++)
			*vec_add(a, &out->hits) = rule[k];
		if (policy) {
			out->chain = policy;
			out->via = out->rule;
		}
		if (n || policy)
			out->rule = n ? rule[n - 1] : NULL;
	}
}

/* Runs one point; false when the packet goes no further. */
static bool run_point(struct state *s, struct arena *a, const struct packet *p, unsigned position,
		      struct engine_answer *out)
{
	struct packet here = engine_packet_at(&s->t, p, position);
	uint64_t now = engine_now(&s->t, p);
	struct native_result r;

	native_run(s->native, position, &here, out->mark, now, &r);
	if (r.verdict == NATIVE_UNKNOWN) {
		out->skip = STR("a header that was not captured would have to be read");
		return false;
	}
	if (r.verdict == NATIVE_NOT_IP)
		return false;
	out->mark = r.mark;
	out->is_malformed = out->is_malformed || r.is_malformed;
	take_hits(s, a, &r, out);
	if (r.verdict == NATIVE_DROP)
		out->verdict = STR("drop");
	return r.verdict == NATIVE_ACCEPT;
}

static void tables_run(void *state, struct arena *a, const struct packet *p, struct engine_answer *out)
{
	struct state *s = state;
	unsigned position[DP_POSITION_COUNT], n = engine_way(&s->t, p, position);

	*out = (struct engine_answer){ .verdict = STR("accept"), .mark = p->mark, .mark_known = true,
				       .only_drops = true };
	if (s->t.opt.hook < 0 && !p->iif[0] && !p->oif[0]) {
		out->skip = STR("the way of the packet is not said");
		return;
	}
	for (unsigned i = 0; i < n; i++)
		if (!run_point(s, a, p, position[i], out))
			return;
}

static void tables_close(void *state)
{
	(void)state; /* lives in the arena */
}

const struct engine engine_tables = { "tables", tables_open, tables_run, tables_close };
