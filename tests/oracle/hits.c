/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the reference evaluator counts; not a test, but the tool of those beside it.
 *
 *     hits [--env FILE] [--each] RULES... -- PACKETS
 *
 * PACKETS holds one packet a line in the packet notation. For each packet, what it is on the wire:
 *     packet N ip|ether HEX VERDICT [why]
 * with --each, what it hit:
 *     hit N FAMILY TABLE CHAIN RULE LINE
 *     policy-hit N FAMILY TABLE CHAIN
 *     maybe N FAMILY TABLE CHAIN RULE        it met this rule, and the evaluator cannot decide it
 * and in the end, in the order of the ruleset, all counters (RULE counts from 0 in its chain):
 *     rule FAMILY TABLE CHAIN RULE COUNT LINE
 *     policy FAMILY TABLE CHAIN COUNT
 * A blank in the name of a table is printed as a slash. Exit status 1 if rules or packets have errors, which go to stderr.
 */
#include <stdio.h>
#include <stdlib.h>

#include "eval/eval.h"
#include "lang/lang.h"
#include "packet/notation.h"

struct hits {
	struct arena *a;
	struct sources sources;
	struct diags diags;
	struct ruleset *rs;
	struct env env;
	bool has_env, each;
	uint64_t *by_rule, *by_chain;
};

static bool hits_report(struct hits *h)
{
	diag_sort(&h->diags);
	for (size_t i = 0; i < h->diags.all.n; i++) {
		const struct diag *g = &h->diags.all.v[i];

		if (g->severity != DIAG_ERROR)
			continue;
		struct str s = diag_format(h->a, &h->diags, g);
		fprintf(stderr, "%.*s\n", STR_ARG(s));
	}
	return h->diags.n_errors == 0;
}

static uint32_t hits_open(struct hits *h, const char *path)
{
	uint32_t id = 0;

	if (source_open(&h->sources, path, &id) < 0) {
		fprintf(stderr, "hits: cannot read %s\n", path);
		exit(2);
	}
	return id;
}

static void hits_where(const struct chain *c)
{
	printf("%s ", policy_family_name(c->family));
	for (size_t i = 0; i < c->table.n; i++)
		putchar(c->table.p[i] == ' ' ? '/' : c->table.p[i]);
	printf(" %.*s", STR_ARG(c->name));
}

static unsigned hits_line(const struct hits *h, const struct rule *r)
{
	uint32_t line = 0, col = 0;

	source_place(&h->sources, r->at, &line, &col);
	return line;
}

static void hits_packet(struct hits *h, struct eval *e, unsigned no, const struct packet *p)
{
	struct arena *pass = arena_create();
	struct eval_result r = { 0 };

	printf("packet %u %s ", no, p->link == PACKET_LINK_IP ? "ip" : "ether");
	for (uint32_t i = 0; i < p->len; i++)
		printf("%02x", p->bytes[i]);
	eval_packet(e, pass, p, &r);
	struct str v = eval_verdict_text(pass, &r);
	printf(" %.*s%s%.*s\n", STR_ARG(v), r.why.n ? " " : "", STR_ARG(r.why));
	for (size_t i = 0; i < r.hits.n; i++) {
		const struct rule *rule = r.hits.v[i];

		h->by_rule[rule->id]++;
		if (h->each) {
			printf("hit %u ", no);
			hits_where(rule->chain);
			printf(" %u %u\n", rule->index, hits_line(h, rule));
		}
	}
	for (size_t i = 0; h->each && i < r.trace.n; i++) {
		const struct eval_event *event = &r.trace.v[i];

		if (event->kind != EVAL_RULE_MAYBE)
			continue;
		printf("maybe %u ", no);
		hits_where(event->rule->chain);
		printf(" %u\n", event->rule->index);
	}
	for (size_t i = 0; i < r.policy_hits.n; i++) {
		h->by_chain[r.policy_hits.v[i]->id]++;
		if (h->each) {
			printf("policy-hit %u ", no);
			hits_where(r.policy_hits.v[i]);
			printf("\n");
		}
	}
	arena_destroy(pass);
}

static bool hits_packets(struct hits *h, uint32_t source)
{
	const struct source *src = source_get(&h->sources, source);
	struct eval_options opt = { .env = h->has_env ? &h->env : NULL, .hook = -1, .ct = -1, .track = true,
		.want_trace = h->each };
	struct eval *e = eval_create(h->a, h->rs, &opt);
	unsigned no = 0;

	for (uint32_t line = 1; line <= src->n_lines; line++) {
		struct str s = source_line(src, line);
		struct loc at = { .source = source, .off = src->line_off[line - 1], .len = (uint32_t)s.n };
		struct packet p;

		if (str_trim(s).n == 0 || s.p[0] == '#')
			continue;
		packet_init(&p);
		if (!notation_parse(h->a, &h->diags, s, at, &p))
			continue;
		hits_packet(h, e, ++no, &p);
	}
	return hits_report(h);
}

static void hits_print(const struct hits *h)
{
	for (size_t i = 0; i < h->rs->chains.n; i++) {
		const struct chain *c = h->rs->chains.v[i];

		for (size_t k = 0; k < c->rules.n; k++) {
			const struct rule *r = c->rules.v[k];

			printf("rule ");
			hits_where(c);
			printf(" %zu %llu %u\n", k, (unsigned long long)h->by_rule[r->id], hits_line(h, r));
		}
		if (c->hook != HOOK_NONE) {
			printf("policy ");
			hits_where(c);
			printf(" %llu\n", (unsigned long long)h->by_chain[c->id]);
		}
	}
}

static int hits_usage(void)
{
	fprintf(stderr, "usage: hits [--env FILE] [--each] RULES... -- PACKETS\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct arena *a = arena_create();
	struct hits h = { .a = a, .sources.a = a, .diags.a = a };
	int i = 1;

	h.diags.sources = &h.sources;
	h.rs = policy_create(a);
	for (; i < argc && strcmp(argv[i], "--"); i++) {
		struct lang_file file;

		if (!strcmp(argv[i], "--each")) {
			h.each = true;
		} else if (!strcmp(argv[i], "--env") && i + 1 < argc) {
			h.has_env = env_read(a, &h.diags, hits_open(&h, argv[++i]), &h.env);
		} else {
			lang_read(h.rs, &h.diags, hits_open(&h, argv[i]), LANG_AUTO, &file);
		}
	}
	if (i + 2 != argc)
		return hits_usage();
	policy_number(h.rs);
	policy_check(h.rs, &h.diags);
	if (!hits_report(&h))
		return 1;
	h.by_rule = arena_new(a, uint64_t, h.rs->rules.n + 1);
	h.by_chain = arena_new(a, uint64_t, h.rs->chains.n + 1);
	if (!hits_packets(&h, hits_open(&h, argv[i + 1])))
		return 1;
	hits_print(&h);
	arena_destroy(a);
	return 0;
}
