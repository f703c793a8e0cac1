/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table that `weir eval` prints, in the manner of `weir list`. Rules that nothing matched have a ! in front.
 *
 *     Chain INPUT (ip filter, policy drop 12 packets 720 bytes, rules.v4:2)
 *          packets        bytes  where      rule
 *              120         9600  rules.v4:5 -i lo -j ACCEPT
 *     !          0            0  rules.v4:6 -p tcp -m tcp --dport 23 -j DROP
 */
#include "cli/hits.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/answer.h"
#include "cli/report.h"

enum { HITS_MAX_WHY = 16 };

void hits_init(struct arena *a, struct hits *h, const struct ruleset *rs)
{
	*h = (struct hits){ .rs = rs };
	h->rule = arena_new(a, struct hits_count, rs->rules.n + 1);
	h->chain = arena_new(a, struct hits_count, rs->chains.n + 1);
	h->counter = arena_new(a, struct hits_count, rs->counters.n + 1);
}

static void count(struct hits_count *c, uint64_t bytes)
{
	c->packets++;
	c->bytes += bytes;
}

/* The reasons of unknown verdicts; past a handful, all others count as one. */
static void add_why(struct arena *a, struct hits *h, struct str why)
{
	struct hits_why *w;

	for (size_t i = 0; i < h->why.n; i++)
		if (str_eq(h->why.v[i].text, why)) {
			h->why.v[i].packets++;
			return;
		}
	if (h->why.n == HITS_MAX_WHY) {
		h->why.v[HITS_MAX_WHY - 1].text = STR("other reasons");
		h->why.v[HITS_MAX_WHY - 1].packets++;
		return;
	}
	w = vec_add(a, &h->why);
	w->text = arena_str(a, why.p, why.n);
	w->packets = 1;
}

void hits_add(struct arena *a, struct hits *h, const struct eval_result *r, bool is_ip, uint64_t bytes)
{
	count(&h->all, bytes);
	count(&h->verdict[r->is_unknown ? VERDICT_NONE : r->verdict], bytes);
	h->malformed += r->is_malformed;
	h->not_ip += !is_ip;
	if (r->is_unknown)
		add_why(a, h, r->why);
	for (size_t i = 0; i < r->hits.n; i++)
		count(&h->rule[r->hits.v[i]->id], bytes);
	for (size_t i = 0; i < r->policy_hits.n; i++)
		count(&h->chain[r->policy_hits.v[i]->id], bytes);
	for (size_t i = 0; i < r->counter_hits.n; i++)
		count(&h->counter[r->counter_hits.v[i]->id], bytes);
}

/* Twins are listed as the one that was written. */
static bool is_written(const struct rule *r)
{
	return policy_rule_root(r) == r;
}

static void print_head(struct cli *c, const struct hits *h, const struct chain *ch, int width)
{
	const struct hits_count *p = &h->chain[ch->id];

	printf("Chain %.*s (%s%s%.*s", STR_ARG(ch->name), ch->root ? "" : policy_family_name(ch->family), ch->root ? "" : " ",
	       STR_ARG(ch->table));
	if (ch->hook != HOOK_NONE)
		printf(", policy %s %" PRIu64 " packets %" PRIu64 " bytes", policy_verdict_name(ch->policy), p->packets,
		       p->bytes);
	if (ch->hook != HOOK_NONE && ch->at.source)
		printf(", %.*s", STR_ARG(source_name_line(c->run, &c->sources, ch->at)));
	puts(")");
	if (ch->rules.n)
		printf("  %10s %12s  %-*s rule\n", "packets", "bytes", width, "where");
}

static void print_chain(struct cli *c, const struct hits *h, const struct chain *ch, int width)
{
	size_t n_rules;
	const struct rule *const *rules = policy_written_rules(c->run, h->rs, ch, &n_rules);

	print_head(c, h, ch, width);
	for (size_t i = 0; i < n_rules; i++) {
		const struct rule *r = rules[i];
		const struct hits_count *n = &h->rule[r->id];
		struct str text = report_clean(c->run, r->text);

		printf("%c %10" PRIu64 " %12" PRIu64 "  %-*.*s %.*s\n", n->packets ? ' ' : '!', n->packets, n->bytes,
		       width, STR_ARG(answer_place(c, r)), STR_ARG(text));
	}
	putchar('\n');
}

static void print_counters(struct cli *c, const struct hits *h)
{
	for (size_t i = 0; i < h->rs->counters.n; i++) {
		struct str name = report_clean(c->run, h->rs->counters.v[i]->name);

		printf("Counter %.*s: %" PRIu64 " packets %" PRIu64 " bytes\n", STR_ARG(name), h->counter[i].packets,
		       h->counter[i].bytes);
	}
	if (h->rs->counters.n)
		putchar('\n');
}

static void print_totals(const struct hits *h)
{
	size_t zero = 0, written = 0;

	for (size_t i = 0; i < h->rs->rules.n; i++)
		if (is_written(h->rs->rules.v[i])) {
			written++;
			zero += h->rule[i].packets == 0;
		}
	printf("%zu of %zu rules matched nothing%s\n", zero, written, zero ? " (!)" : "");
	printf("%" PRIu64 " packets, %" PRIu64 " bytes:", h->all.packets, h->all.bytes);
	for (int v = VERDICT_NONE; v <= VERDICT_STOLEN; v++)
		if (h->verdict[v].packets)
			printf(" %" PRIu64 " %s,", h->verdict[v].packets,
			       v == VERDICT_NONE ? "unknown" : policy_verdict_name((enum verdict)v));
	printf(" %" PRIu64 " malformed, %" PRIu64 " not IP\n", h->malformed, h->not_ip);
	for (size_t i = 0; i < h->why.n; i++)
		printf("  unknown %" PRIu64 " times: %.*s\n", h->why.v[i].packets, STR_ARG(h->why.v[i].text));
}

void hits_print(struct cli *c, const struct hits *h)
{
	int width = 0;

	for (size_t i = 0; i < h->rs->rules.n; i++) {
		int n = (int)answer_place(c, h->rs->rules.v[i]).n;

		width = n > width ? n : width;
	}
	for (size_t i = 0; i < h->rs->chains.n; i++) {
		const struct chain *ch = h->rs->chains.v[i];

		if (policy_chain_root(ch) == ch && (ch->root || ch->rules.n || ch->hook != HOOK_NONE))
			print_chain(c, h, ch, width);
	}
	print_counters(c, h);
	print_totals(h);
}

static void set_count(json_t *j, const struct hits_count *n)
{
	json_object_set_new(j, "packets", json_integer((json_int_t)n->packets));
	json_object_set_new(j, "bytes", json_integer((json_int_t)n->bytes));
}

static json_t *verdicts_json(const struct hits *h)
{
	json_t *all = json_object();

	for (int v = VERDICT_NONE; v <= VERDICT_STOLEN; v++) {
		json_t *j = json_object();

		if (v == VERDICT_JUMP || v == VERDICT_GOTO || v == VERDICT_RETURN) {
			json_decref(j);
			continue;
		}
		set_count(j, &h->verdict[v]);
		json_object_set_new(all, v == VERDICT_NONE ? "unknown" : policy_verdict_name((enum verdict)v), j);
	}
	return all;
}

static json_t *counters_json(struct cli *c, const struct hits *h)
{
	json_t *all = json_array();

	for (size_t i = 0; i < h->rs->counters.n; i++) {
		json_t *j = json_object();

		json_object_set_new(j, "name", report_json_str(c->run, h->rs->counters.v[i]->name));
		set_count(j, &h->counter[i]);
		json_array_append_new(all, j);
	}
	return all;
}

json_t *hits_json(struct cli *c, const struct hits *h)
{
	json_t *j = json_object(), *rules = json_array(), *policies = json_array(), *why = json_array();

	for (size_t i = 0; i < h->rs->rules.n; i++) {
		json_t *r;

		if (!is_written(h->rs->rules.v[i]))
			continue;
		r = answer_rule_json(c, h->rs->rules.v[i]);

		set_count(r, &h->rule[h->rs->rules.v[i]->id]);
		json_array_append_new(rules, r);
	}
	for (size_t i = 0; i < h->rs->chains.n; i++) {
		const struct chain *ch = h->rs->chains.v[i];
		json_t *p;

		if (ch->hook == HOOK_NONE || policy_chain_root(ch) != ch)
			continue;
		p = answer_policy_json(c, ch);
		set_count(p, &h->chain[ch->id]);
		json_array_append_new(policies, p);
	}
	for (size_t i = 0; i < h->why.n; i++) {
		json_t *w = json_object();

		json_object_set_new(w, "why", report_json_str(c->run, h->why.v[i].text));
		json_object_set_new(w, "packets", json_integer((json_int_t)h->why.v[i].packets));
		json_array_append_new(why, w);
	}
	set_count(j, &h->all);
	json_object_set_new(j, "verdicts", verdicts_json(h));
	json_object_set_new(j, "malformed", json_integer((json_int_t)h->malformed));
	json_object_set_new(j, "not_ip", json_integer((json_int_t)h->not_ip));
	json_object_set_new(j, "unknown", why);
	json_object_set_new(j, "rules", rules);
	json_object_set_new(j, "policies", policies);
	if (h->rs->counters.n)
		json_object_set_new(j, "counters", counters_json(c, h));
	return j;
}
