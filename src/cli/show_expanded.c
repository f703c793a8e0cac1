/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `weir show --expanded`: every rule of the model in one line with its place, then sets and named maps with all they hold.
 *
 *     chain ip "inet host" input hook input priority 0 policy drop
 *       host.nft:12  ip.src in set inet/host/blocked; count; drop
 *     set inet/host/blocked ipv4_addr ip 1 element
 *       203.0.113.7
 *     map ip inet/host/services of dport
 *       22: jump manage
 *
 * Twins are not folded: here the chain of each family shows what it has. The text of an entry depends on what its map is
 * asked for, which its first use says.
 */
#include <stdio.h>

#include "cli/answer.h"
#include "cli/expanded.h"
#include "cli/report.h"
#include "cli/show.h"

struct use {
	const struct map *map;
	const struct map_use *use; /* NULL: no rule asks it */
	enum family family;
};
struct uses {
	VEC(struct use) all;
};

static void add_use(struct cli *c, struct uses *u, const struct map_use *use, enum family f)
{
	if (!use->map->name.n)
		return;
	for (size_t i = 0; i < u->all.n; i++)
		if (u->all.v[i].map == use->map)
			return;
	*vec_add(c->run, &u->all) = (struct use){ use->map, use, f };
}

static void find_uses(struct cli *c, struct uses *u, const struct chain *ch)
{
	for (size_t i = 0; i < ch->rules.n; i++)
		for (uint32_t k = 0; k < ch->rules.v[i]->n_steps; k++) {
			const struct step *s = &ch->rules.v[i]->step[k];

			if (s->kind == STEP_MAP)
				add_use(c, u, s->map, ch->family);
			else if (s->kind == STEP_TEST && s->test.kind == TEST_TUPLE)
				add_use(c, u, s->test.tuple, ch->family);
		}
}

/* Maps that no rule asks are in the model, too; only their numbers are known. */
static void add_idle(struct cli *c, struct uses *u, const struct ruleset *rs)
{
	for (size_t i = 0; i < rs->maps.n; i++) {
		size_t k = 0;

		while (k < u->all.n && u->all.v[k].map != rs->maps.v[i])
			k++;
		if (k == u->all.n && rs->maps.v[i]->name.n)
			*vec_add(c->run, &u->all) = (struct use){ rs->maps.v[i], NULL, FAMILY_ALL };
	}
}

static struct str chain_head(struct cli *c, const struct chain *ch)
{
	struct buf b = { .a = c->run };

	buf_printf(&b, "chain %s ", policy_family_name(ch->family));
	expanded_name(&b, ch->table);
	buf_printf(&b, " ");
	expanded_name(&b, ch->name);
	if (ch->hook != HOOK_NONE)
		buf_printf(&b, " hook %s priority %d%s policy %s", policy_hook_name(ch->hook), ch->priority,
			   ch->is_nat ? " nat" : "", policy_verdict_name(ch->policy));
	for (size_t i = 0; i < ch->devices.n; i++)
		buf_printf(&b, " device %.*s", STR_ARG(ch->devices.v[i]));
	return report_clean(c->run, buf_str(&b));
}

static struct str rule_line(struct cli *c, const struct rule *r)
{
	struct buf b = { .a = c->run };

	expanded_rule(&b, r);
	return report_clean(c->run, buf_str(&b));
}

static struct str set_head(struct cli *c, const struct set *s)
{
	struct buf b = { .a = c->run };

	buf_printf(&b, "set ");
	expanded_name(&b, s->name);
	buf_printf(&b, " %.*s %s %zu element%s", STR_ARG(s->type), s->has_addrs ? policy_family_name(s->family) : "any",
		   s->elems.n, s->elems.n == 1 ? "" : "s");
	return report_clean(c->run, buf_str(&b));
}

static struct str elem_line(struct arena *a, const struct set *s, size_t i)
{
	struct buf b = { .a = a };

	expanded_elem(&b, s, &s->elems.v[i]);
	return report_clean(a, buf_str(&b));
}

static struct str map_head(struct cli *c, const struct use *u)
{
	struct buf b = { .a = c->run };

	buf_printf(&b, "map %s ", u->use ? policy_family_name(u->family) : "unused");
	expanded_name(&b, u->map->name);
	if (u->use) {
		buf_printf(&b, " of ");
		expanded_keys(&b, u->use->key, u->map->n_dims);
	}
	return report_clean(c->run, buf_str(&b));
}

/* i behind the last entry: keys that none has. */
static struct str entry_line(struct arena *a, const struct use *u, size_t i)
{
	struct buf b = { .a = a };

	if (i < u->map->entries.n)
		expanded_entry(&b, u->family, u->map, &u->map->entries.v[i], u->use);
	else
		expanded_other(&b, u->family, u->map);
	return report_clean(a, buf_str(&b));
}

static size_t n_lines(const struct map *m)
{
	return m->entries.n + m->has_other;
}

/* ---------- text ---------- */

static void print_chain(struct cli *c, const struct chain *ch)
{
	printf("%.*s\n", STR_ARG(chain_head(c, ch)));
	for (size_t i = 0; i < ch->rules.n; i++)
		printf("  %.*s  %.*s\n", STR_ARG(answer_place(c, ch->rules.v[i])), STR_ARG(rule_line(c, ch->rules.v[i])));
}

static void print_set(struct cli *c, const struct set *s)
{
	struct arena *line = arena_create();

	printf("%.*s\n", STR_ARG(set_head(c, s)));
	for (size_t i = 0; i < s->elems.n; i++) {
		printf("  %.*s\n", STR_ARG(elem_line(line, s, i)));
		arena_reset(line);
	}
	arena_destroy(line);
}

static void print_map(struct cli *c, const struct use *u)
{
	printf("%.*s\n", STR_ARG(map_head(c, u)));
	for (size_t i = 0; i < n_lines(u->map); i++)
		printf("  %.*s\n", STR_ARG(entry_line(c->run, u, i)));
}

static void print_all(struct cli *c, const struct ruleset *rs, const struct uses *u)
{
	for (size_t i = 0; i < rs->chains.n; i++)
		if (show_is_asked_for(c, rs->chains.v[i]))
			print_chain(c, rs->chains.v[i]);
	for (size_t i = 0; i < rs->sets.n && !c->opt.given[OPTION_CHAIN]; i++)
		print_set(c, rs->sets.v[i]);
	for (size_t i = 0; i < u->all.n; i++)
		print_map(c, &u->all.v[i]);
}

/* ---------- JSON: heads and lines are the same texts ---------- */

static json_t *chain_json(struct cli *c, const struct chain *ch)
{
	json_t *rules = json_array();

	for (size_t i = 0; i < ch->rules.n; i++) {
		json_t *r = answer_rule_json(c, ch->rules.v[i]);

		json_object_set_new(r, "expanded", report_json_str(c->run, rule_line(c, ch->rules.v[i])));
		json_array_append_new(rules, r);
	}
	return json_pack("{s:o, s:o}", "head", report_json_str(c->run, chain_head(c, ch)), "rules", rules);
}

static json_t *set_json(struct cli *c, const struct set *s)
{
	json_t *elems = json_array();

	for (size_t i = 0; i < s->elems.n; i++)
		json_array_append_new(elems, report_json_str(c->run, elem_line(c->run, s, i)));
	return json_pack("{s:o, s:o, s:o}", "head", report_json_str(c->run, set_head(c, s)), "set",
			 report_json_str(c->run, s->name), "elements", elems);
}

static json_t *map_json(struct cli *c, const struct use *u)
{
	json_t *entries = json_array();

	for (size_t i = 0; i < n_lines(u->map); i++)
		json_array_append_new(entries, report_json_str(c->run, entry_line(c->run, u, i)));
	return json_pack("{s:o, s:o, s:o}", "head", report_json_str(c->run, map_head(c, u)), "map",
			 report_json_str(c->run, u->map->name), "entries", entries);
}

static void print_json(struct cli *c, const struct ruleset *rs, const struct uses *u)
{
	json_t *chains = json_array(), *sets = json_array(), *maps = json_array();

	for (size_t i = 0; i < rs->chains.n; i++)
		if (show_is_asked_for(c, rs->chains.v[i]))
			json_array_append_new(chains, chain_json(c, rs->chains.v[i]));
	for (size_t i = 0; i < rs->sets.n && !c->opt.given[OPTION_CHAIN]; i++)
		json_array_append_new(sets, set_json(c, rs->sets.v[i]));
	for (size_t i = 0; i < u->all.n; i++)
		json_array_append_new(maps, map_json(c, &u->all.v[i]));
	report_json_print(json_pack("{s:o, s:o, s:o}", "chains", chains, "sets", sets, "maps", maps));
}

int show_expanded(struct cli *c, const struct ruleset *rs)
{
	struct uses u = { .all = { 0 } };

	for (size_t i = 0; i < rs->chains.n; i++)
		if (show_is_asked_for(c, rs->chains.v[i]))
			find_uses(c, &u, rs->chains.v[i]);
	if (!c->opt.given[OPTION_CHAIN])
		add_idle(c, &u, rs);
	if (c->opt.given[OPTION_JSON])
		print_json(c, rs, &u);
	else
		print_all(c, rs, &u);
	return CLI_YES;
}
