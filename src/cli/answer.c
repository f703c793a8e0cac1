/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Verdicts on the way out. See answer.h. */
#include "cli/answer.h"

#include "cli/report.h"

struct str answer_place(struct cli *c, const struct rule *r)
{
	struct str place = source_name_line(c->run, &c->sources, r->at);

	if (r->expansion == 0)
		return place;
	return arena_printf(c->run, "%.*s:%u", STR_ARG(place), r->expansion);
}

struct str answer_chain(struct cli *c, const struct chain *ch)
{
	return arena_printf(c->run, "%.*s/%.*s", STR_ARG(ch->table), STR_ARG(ch->name));
}

static void add_decider(struct cli *c, struct buf *b, const struct eval_result *r)
{
	if (r->rule) {
		buf_printf(b, " rule=%.*s", STR_ARG(answer_place(c, r->rule)));
		return;
	}
	if (!r->chain) {
		buf_printf(b, r->is_malformed ? " malformed" : " chain=none");
		return;
	}
	buf_printf(b, " policy=%.*s", STR_ARG(answer_chain(c, r->chain)));
	if (r->chain->at.source)
		buf_printf(b, " %.*s", STR_ARG(source_name_line(c->run, &c->sources, r->chain->at)));
	if (r->via)
		buf_printf(b, " via=%.*s", STR_ARG(answer_place(c, r->via)));
}

struct str answer_text(struct cli *c, const struct packet *p, const struct eval_result *r)
{
	struct buf b = { .a = c->run };

	buf_printf(&b, "%.*s", STR_ARG(eval_verdict_text(c->run, r)));
	if (r->is_unknown) {
		buf_printf(&b, " why=%.*s", STR_ARG(r->why));
		return buf_str(&b);
	}
	add_decider(c, &b, r);
	if (r->mark_known && r->mark != p->mark)
		buf_printf(&b, " mark=0x%x", r->mark);
	if (r->is_malformed && r->why.n)
		buf_printf(&b, " why=%.*s", STR_ARG(r->why));
	return buf_str(&b);
}

static void set_place(struct cli *c, json_t *j, struct loc at)
{
	uint32_t line, col;

	if (!source_place(&c->sources, at, &line, &col))
		return;
	json_object_set_new(j, "file", report_json_str(c->run, source_get(&c->sources, at.source)->name));
	json_object_set_new(j, "line", json_integer(line));
}

json_t *answer_rule_json(struct cli *c, const struct rule *r)
{
	json_t *j = json_object();

	set_place(c, j, r->at);
	if (r->expansion)
		json_object_set_new(j, "expansion", json_integer(r->expansion));
	json_object_set_new(j, "family", json_string(policy_family_name(r->chain->family)));
	json_object_set_new(j, "table", report_json_str(c->run, r->chain->table));
	json_object_set_new(j, "chain", report_json_str(c->run, r->chain->name));
	json_object_set_new(j, "text", report_json_str(c->run, r->text));
	return j;
}

json_t *answer_policy_json(struct cli *c, const struct chain *ch)
{
	json_t *j = json_object();

	set_place(c, j, ch->at);
	json_object_set_new(j, "family", json_string(policy_family_name(ch->family)));
	json_object_set_new(j, "table", report_json_str(c->run, ch->table));
	json_object_set_new(j, "chain", report_json_str(c->run, ch->name));
	json_object_set_new(j, "verdict", json_string(policy_verdict_name(ch->policy)));
	return j;
}

json_t *answer_json(struct cli *c, const struct eval_result *r)
{
	json_t *j = json_object();

	json_object_set_new(j, "verdict", report_json_str(c->run, eval_verdict_text(c->run, r)));
	if (r->rule)
		json_object_set_new(j, "rule", answer_rule_json(c, r->rule));
	else if (r->chain)
		json_object_set_new(j, "policy", answer_policy_json(c, r->chain));
	if (r->via)
		json_object_set_new(j, "via", answer_rule_json(c, r->via));
	if (r->mark_known)
		json_object_set_new(j, "mark", json_integer(r->mark));
	json_object_set_new(j, "malformed", json_boolean(r->is_malformed));
	if (r->why.n)
		json_object_set_new(j, "why", report_json_str(c->run, r->why));
	return j;
}

int answer_status(const struct eval_result *r)
{
	return r->is_unknown || r->verdict == VERDICT_QUEUE ? CLI_UNKNOWN : CLI_YES; /* a program will decide */
}
