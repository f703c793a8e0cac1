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
			if (t->point[p].chain[i] == c)
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

		if (!in_use[i])
			continue;
		add_chain(a, c, sources, numbers, t, out);
		for (size_t k = 0; k < c->rules.n; k++)
			add_rule(a, c->rules.v[k], (uint32_t)out->chains.n - 1, sources, numbers, out);
	}
}
