/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the evaluator saw, one line an event. Calls are indented; behind # stands why a rule did not match:
 *
 *     input filter/INPUT, policy drop
 *       no     rules.v4:3  -i lo -j ACCEPT  # in is eth0
 *       match  rules.v4:4  -p tcp -j web
 *         no     rules.v4:9  --dport 80 -j ACCEPT  # dport is 23
 *         back in INPUT
 *       policy drop
 */
#include "cli/trace.h"

#include <stdio.h>

#include "cli/answer.h"
#include "cli/report.h"

static const char *const event_names[] = {
	[EVAL_AT_CHAIN] = "chain",   [EVAL_RULE_NO] = "no",	    [EVAL_RULE_MAYBE] = "maybe",
	[EVAL_RULE_MATCH] = "match", [EVAL_CALL] = "call",	    [EVAL_RETURNED] = "returned",
	[EVAL_POLICY] = "policy",    [EVAL_NOTE] = "note",
};
static const char *const event_colors[] = {
	[EVAL_AT_CHAIN] = "\033[1m",	[EVAL_RULE_NO] = "\033[2m",    [EVAL_RULE_MAYBE] = "\033[33m",
	[EVAL_RULE_MATCH] = "\033[36m", [EVAL_CALL] = "",	       [EVAL_RETURNED] = "",
	[EVAL_POLICY] = "",		[EVAL_NOTE] = "\033[2m",
};

static void print_chain(const struct chain *ch)
{
	printf("%s %.*s/%.*s", policy_hook_name(ch->hook), STR_ARG(ch->table), STR_ARG(ch->name));
	if (ch->hook != HOOK_NONE)
		printf(", policy %s", policy_verdict_name(ch->policy));
}

static void print_rule(struct cli *c, const struct eval_event *e, int width)
{
	struct str place = answer_place(c, e->rule), text = report_clean(c->run, e->rule->text);

	printf("%-5s  %-*.*s  %.*s", event_names[e->kind], width, STR_ARG(place), STR_ARG(text));
	if (e->text.n)
		printf("  # %.*s", STR_ARG(e->text));
	else if (e->kind != EVAL_RULE_MATCH && e->test && e->test->what)
		printf("  # %s", e->test->what);
}

static void print_event(struct cli *c, const struct eval_event *e, int width)
{
	int indent = e->kind == EVAL_AT_CHAIN ? 0 : 2 + 2 * (int)e->depth;

	printf("%*s%s", indent, "", c->color_out ? event_colors[e->kind] : "");
	switch (e->kind) {
	case EVAL_AT_CHAIN:
		print_chain(e->chain);
		break;
	case EVAL_RULE_NO:
	case EVAL_RULE_MAYBE:
	case EVAL_RULE_MATCH:
		print_rule(c, e, width);
		break;
	case EVAL_CALL: /* the rule says it, and the indent */
		break;
	case EVAL_RETURNED:
		printf("back in %.*s", STR_ARG(e->chain->name));
		break;
	case EVAL_POLICY:
		printf("policy %s", policy_verdict_name(e->verdict));
		break;
	case EVAL_NOTE:
		printf("note: %.*s", STR_ARG(e->text));
		break;
	}
	printf("%s\n", c->color_out ? "\033[0m" : "");
}

void trace_print(struct cli *c, const struct eval_result *r)
{
	int width = 0;

	for (size_t i = 0; i < r->trace.n; i++)
		if (r->trace.v[i].rule) {
			int n = (int)answer_place(c, r->trace.v[i].rule).n;

			width = n > width ? n : width;
		}
	for (size_t i = 0; i < r->trace.n; i++)
		if (r->trace.v[i].kind != EVAL_CALL)
			print_event(c, &r->trace.v[i], width);
}

json_t *trace_json(struct cli *c, const struct eval_result *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->trace.n; i++) {
		const struct eval_event *e = &r->trace.v[i];
		json_t *j = json_object();

		json_object_set_new(j, "event", json_string(event_names[e->kind]));
		json_object_set_new(j, "depth", json_integer(e->depth));
		if (e->chain)
			json_object_set_new(j, "chain", report_json_str(c->run, answer_chain(c, e->chain)));
		if (e->kind == EVAL_AT_CHAIN)
			json_object_set_new(j, "hook", json_string(policy_hook_name(e->chain->hook)));
		if (e->rule)
			json_object_set_new(j, "rule", answer_rule_json(c, e->rule));
		if (e->test && e->test->what)
			json_object_set_new(j, "test", json_string(e->test->what));
		if (e->kind == EVAL_POLICY)
			json_object_set_new(j, "verdict", json_string(policy_verdict_name(e->verdict)));
		if (e->text.n)
			json_object_set_new(j, "why", report_json_str(c->run, e->text));
		json_array_append_new(all, j);
	}
	return all;
}
