/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `weir show`: the model as it was read, rule by rule with its place; --tables and --dot: show_tables.c,
 * --expanded: show_expanded.c.
 *
 *     chain ip filter/services
 *       rules.v4:25  -p udp -m udp --dport 53 -j ACCEPT
 *                      [ip.proto in {0x11}] [dport in {0x35}] [accept]
 */
#include "cli/show.h"

#include <stdio.h>

#include "cli/answer.h"
#include "cli/read.h"
#include "cli/report.h"

bool show_is_asked_for(const struct cli *c, const struct chain *ch)
{
	return !c->opt.given[OPTION_CHAIN] || str_is(ch->name, c->opt.text[OPTION_CHAIN]);
}

/* ---------- the model ---------- */

static void print_chain(struct cli *c, const struct chain *ch)
{
	int width = 0;

	printf("chain %s %.*s/%.*s", policy_family_name(ch->family), STR_ARG(ch->table), STR_ARG(ch->name));
	if (ch->hook != HOOK_NONE)
		printf(", %s%s priority %d, policy %s", ch->is_nat ? "nat, " : "", policy_hook_name(ch->hook), ch->priority,
		       policy_verdict_name(ch->policy));
	puts("");
	for (size_t i = 0; i < ch->rules.n; i++) {
		int n = (int)answer_place(c, ch->rules.v[i]).n;

		width = n > width ? n : width;
	}
	for (size_t i = 0; i < ch->rules.n; i++) {
		const struct rule *r = ch->rules.v[i];
		struct str model = policy_dump_rule(c->run, r);

		printf("  %-*.*s  %.*s\n", width, STR_ARG(answer_place(c, r)), STR_ARG(report_clean(c->run, r->text)));
		printf("  %*s    %.*s\n", width, "", STR_ARG(model));
	}
}

static void print_model(struct cli *c, const struct ruleset *rs)
{
	for (size_t i = 0; i < rs->chains.n; i++)
		if (show_is_asked_for(c, rs->chains.v[i]))
			print_chain(c, rs->chains.v[i]);
	for (size_t i = 0; i < rs->sets.n && !c->opt.given[OPTION_CHAIN]; i++) {
		const struct set *s = rs->sets.v[i];

		printf("set %.*s, %.*s%s%s, %zu element%s\n", STR_ARG(s->name), STR_ARG(s->type), s->has_addrs ? ", " : "",
		       s->has_addrs ? policy_family_name(s->family) : "", s->elems.n, s->elems.n == 1 ? "" : "s");
	}
}

static json_t *model_chain_json(struct cli *c, const struct chain *ch)
{
	json_t *j = json_object(), *rules = json_array();

	json_object_set_new(j, "family", json_string(policy_family_name(ch->family)));
	json_object_set_new(j, "table", report_json_str(c->run, ch->table));
	json_object_set_new(j, "chain", report_json_str(c->run, ch->name));
	if (ch->hook != HOOK_NONE) {
		json_object_set_new(j, "hook", json_string(policy_hook_name(ch->hook)));
		json_object_set_new(j, "priority", json_integer(ch->priority));
		json_object_set_new(j, "policy", json_string(policy_verdict_name(ch->policy)));
	}
	for (size_t i = 0; i < ch->rules.n; i++) {
		json_t *r = answer_rule_json(c, ch->rules.v[i]);

		json_object_set_new(r, "model", report_json_str(c->run, policy_dump_rule(c->run, ch->rules.v[i])));
		json_array_append_new(rules, r);
	}
	json_object_set_new(j, "rules", rules);
	return j;
}

static void print_model_json(struct cli *c, const struct ruleset *rs)
{
	json_t *j = json_object(), *chains = json_array(), *sets = json_array();

	for (size_t i = 0; i < rs->chains.n; i++)
		if (show_is_asked_for(c, rs->chains.v[i]))
			json_array_append_new(chains, model_chain_json(c, rs->chains.v[i]));
	for (size_t i = 0; i < rs->sets.n; i++) {
		json_t *s = json_object();

		json_object_set_new(s, "set", report_json_str(c->run, rs->sets.v[i]->name));
		json_object_set_new(s, "type", report_json_str(c->run, rs->sets.v[i]->type));
		json_object_set_new(s, "elements", json_integer((json_int_t)rs->sets.v[i]->elems.n));
		json_array_append_new(sets, s);
	}
	json_object_set_new(j, "chains", chains);
	json_object_set_new(j, "sets", sets);
	report_json_print(j);
}

int show_verb(struct cli *c)
{
	struct rules rules;
	int status;

	/* What --tables A,B is to the other verbs. */
	c->opt.given[OPTION_TABLES] = c->opt.given[OPTION_ONLY];
	c->opt.text[OPTION_TABLES] = c->opt.text[OPTION_ONLY];
	status = read_rules(c, c->arg, c->n_args, &rules);
	if (status == CLI_ERRORS)
		report_print(c, REPORT_ERRORS);
	if (status)
		return status;
	if (c->opt.given[OPTION_SHOW_TABLES] || c->opt.given[OPTION_DOT])
		return show_tables(c, rules.set);
	if (c->opt.given[OPTION_EXPANDED])
		return show_expanded(c, rules.set);
	if (c->opt.given[OPTION_JSON])
		print_model_json(c, rules.set);
	else
		print_model(c, rules.set);
	return CLI_YES;
}
