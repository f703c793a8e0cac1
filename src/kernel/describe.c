/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules as info. See describe.h. */
#include "kernel/describe.h"

bool *describe_in_use(struct arena *a, const struct ruleset *rs)
{
	bool *in_use = arena_new(a, bool, rs->chains.n + 1);

	for (size_t i = 0; i < rs->chains.n; i++) {
		const struct chain *base = rs->chains.v[i];

		if (base->hook == HOOK_NONE || in_use[i])
			continue;
		for (size_t k = 0; k < rs->chains.n; k++)
			if (rs->chains.v[k]->family == base->family && str_eq(rs->chains.v[k]->table, base->table))
				in_use[k] = true;
	}
	return in_use;
}

static void add_files(struct arena *a, const struct sources *sources, struct info *out)
{
	for (size_t i = 0; i < sources->all.n; i++) {
		const struct source *s = sources->all.v[i];

		*vec_add(a, &out->files) = (struct info_file){ s->name, s->text };
	}
	if (!out->files.n) /* so that every place has a file */
		*vec_add(a, &out->files) = (struct info_file){ STR("-"), STR("") };
}

static void set_place(const struct sources *sources, struct loc at, uint32_t *file, uint32_t *line)
{
	uint32_t col;

	*file = *line = 0;
	if (source_place(sources, at, line, &col))
		*file = at.source - 1;
}

static uint32_t point_of(const struct tables *t, const struct chain *c)
{
	for (uint32_t p = 0; p < TABLES_MAX_POINTS; p++)
		for (unsigned i = 0; t->point[p].is_used && i < t->point[p].n_chains; i++)
			if (policy_chain_root(t->point[p].chain[i]) == c)
				return p;
	return INFO_NO_POINT;
}

static void add_chain(struct arena *a, const struct chain *c, const struct sources *sources,
		      const struct numbers *numbers, const struct tables *t, struct info *out)
{
	struct info_chain *to = vec_add(a, &out->chains);

	*to = (struct info_chain){ .table = c->table, .name = c->name, .family = c->family, .hook = c->hook,
				   .priority = c->priority, .policy = c->policy, .point = point_of(t, c),
				   .counter = numbers->chain[c->id], .is_kept = numbers->chain_kept[c->id] };
	set_place(sources, c->at, &to->file, &to->line);
}

static void add_rule(struct arena *a, const struct rule *r, uint32_t chain, const struct sources *sources,
		     const struct numbers *numbers, struct info *out)
{
	struct info_rule *to = vec_add(a, &out->rules);

	*to = (struct info_rule){ .chain = chain, .expansion = r->expansion, .duplicate = r->duplicate, .text = r->text,
				  .comment = r->comment, .counter = numbers->rule[r->id],
				  .is_kept = numbers->rule_kept[r->id] };
	set_place(sources, r->at, &to->file, &to->line);
}

void describe_rules(struct arena *a, const struct ruleset *rs, const struct sources *sources, const bool *in_use,
		    const struct numbers *numbers, const struct tables *t, struct info *out)
{
	out->n_counters = numbers->n;
	add_files(a, sources, out);
	for (size_t i = 0; i < rs->chains.n; i++) {
		const struct chain *c = rs->chains.v[i];
		size_t n;
		const struct rule *const *rule;

		if (!in_use[i] || policy_chain_root(c) != c)
			continue;
		add_chain(a, c, sources, numbers, t, out);
		rule = policy_written_rules(a, rs, c, &n);
		for (size_t k = 0; k < n; k++)
			add_rule(a, rule[k], (uint32_t)out->chains.n - 1, sources, numbers, out);
	}
}

/* Indexes in out->rules by counter, UINT32_MAX: none. */
static uint32_t *rules_by_counter(struct arena *a, const struct info *out, uint32_t n)
{
	uint32_t *index = arena_new(a, uint32_t, n + 1);

	memset(index, 0xff, (n + 1) * sizeof *index);
	for (size_t i = 0; i < out->rules.n; i++)
		index[out->rules.v[i].counter] = (uint32_t)i;
	return index;
}

/* A sum that nothing adds to any more, as far as its rules go on. */
static void add_retired(struct arena *a, const struct info *active, const struct info_sum *s, const uint32_t *index, struct info *out)
{
	struct info_sum kept = { .counter = s->counter, .is_kept = true };

	for (size_t i = 0; i < s->rules.n; i++) {
		uint32_t at = index[active->rules.v[s->rules.v[i]].counter];

		if (at != UINT32_MAX && out->rules.v[at].is_kept)
			*vec_add(a, &kept.rules) = at;
	}
	if (!kept.rules.n)
		return;
	*vec_add(a, &out->sums) = kept;
	if (kept.counter >= out->n_counters)
		out->n_counters = kept.counter + 1;
}

void describe_sums(struct arena *a, const struct numbers *numbers, const struct tables *t, const struct info *active,
		   struct info *out)
{
	uint32_t n = active && active->n_counters > out->n_counters ? active->n_counters : out->n_counters;
	uint32_t *index = rules_by_counter(a, out, n);
	bool *is_used = arena_new(a, bool, n + 1); /* by counter: a sum that goes on */

	for (size_t i = 0; i < t->n_sums; i++) {
		struct info_sum *s = vec_add(a, &out->sums);

		*s = (struct info_sum){ .counter = t->sum[i].counter, .is_kept = active && numbers->sum_kept.v[i] };
		is_used[s->counter] = s->is_kept;
		for (uint32_t k = 0; k < t->sum[i].n; k++)
			*vec_add(a, &s->rules) = index[numbers->rule[t->sum[i].rule[k]->id]];
	}
	for (size_t i = 0; active && i < active->sums.n; i++)
		if (!is_used[active->sums.v[i].counter])
			add_retired(a, active, &active->sums.v[i], index, out);
}

bool describe_sums_to_come(struct arena *a, const struct info *next, struct info *before)
{
	uint32_t n = next->n_counters > before->n_counters ? next->n_counters : before->n_counters, *index = rules_by_counter(a, before, n);
	size_t had = before->sums.n;

	for (size_t i = 0; i < next->sums.n; i++) {
		const struct info_sum *s = &next->sums.v[i];
		struct info_sum told = { .counter = s->counter, .is_kept = true };

		for (size_t k = 0; k < s->rules.n && !s->is_kept; k++) {
			const struct info_rule *r = &next->rules.v[s->rules.v[k]];

			if (r->is_kept)
				*vec_add(a, &told.rules) = index[r->counter];
		}
		if (told.rules.n)
			*vec_add(a, &before->sums) = told;
	}
	before->n_counters = n;
	return before->sums.n > had;
}
