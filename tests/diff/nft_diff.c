/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differential test of nft: random rulesets as text (tests/diff/lib/gen_nft.c) x packets drawn from the edges of their rules;
 * the evaluator, the tables in user space and (WEIR_BPF=1, as root) the netfilter programs in the kernel must say the same:
 * verdict, mark, and the count of every rule and policy.
 *
 *     WEIR_SEED=N      where to begin; else 1. A ruleset has the seed that is shown; WEIR_PACKETS=1 runs it alone.
 *     WEIR_PACKETS=N   how many packets each judge is asked
 *
 * TIMEOUT 900
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/lib/gen.h"
#include "diff/lib/judge.h"
#include "lang/lang.h"
#include "packet/notation.h"

enum { PACKETS_PER_CASE = 200, LINE = 4096, MOST_SHOWN = 3, MOST_BAD = 20 };

struct arenas {
	struct arena *pass, *scratch;
};

struct totals {
	uint64_t cases, refused, unread, judged[JUDGE_COUNT], bad[JUDGE_COUNT];
	uint64_t packets, unknown, drops, marks, hits; /* of the evaluator; marks: changed, hits: rules counted */
};

static bool same(const struct judged *x, const struct judged *y)
{
	return x->is_unknown == y->is_unknown && x->drops == y->drops && (x->drops || x->mark == y->mark);
}

static void show_text(const char *s)
{
	for (; *s; s += strcspn(s, "\n"), s += *s == '\n')
		printf("# %.*s\n", (int)strcspn(s, "\n"), s);
}

/* The text as a model, or NULL: it could not be read. */
static struct ruleset *read_rules(struct arena *a, const char *text)
{
	struct sources *src = arena_new(a, struct sources, 1);
	struct diags d = { .a = a, .sources = src };
	struct ruleset *rs = policy_create(a);
	struct lang_file f;

	src->a = a;
	lang_read(rs, &d, source_add(src, "rules.nft", str_from(text)), LANG_NFT, &f);
	return d.n_errors ? NULL : rs;
}

/* One packet by the evaluator and one judge; false: they differ, and *why says how. */
static bool ask(struct bench *b, enum judge j, struct arena *scratch, const struct packet *p, bool ip6, struct totals *t,
		struct str *why)
{
	struct judged want, got = bench_judge(b, j, scratch, p, ip6);

	if (got.is_skipped)
		return true;
	want = bench_judge(b, JUDGE_EVAL, scratch, p, ip6);
	t->packets++;
	t->judged[j]++;
	t->drops += want.drops;
	t->unknown += want.is_unknown;
	t->marks += !want.is_unknown && !want.drops && want.mark != p->mark;
	if (want.is_unknown || same(&want, &got))
		return true;
	*why = arena_printf(b->a, "evaluator: %s mark %u; judge %d: %s%s mark %u", want.drops ? "drop" : "accept", want.mark, (int)j,
			    got.is_unknown ? "unknown " : "", got.drops ? "drop" : "accept", got.mark);
	return false;
}

static void tell(uint64_t seed, const char *text, const char *line, struct str why)
{
	printf("# WEIR_SEED=%llu WEIR_PACKETS=1 shows this:\n", (unsigned long long)seed);
	show_text(text);
	printf("# packet %s\n# %.*s\n", line, STR_ARG(why));
	fflush(stdout);
}

static void run_packets(struct gen *g, struct bench *b, enum judge j, struct arena *scratch, uint64_t seed, struct totals *t)
{
	char line[LINE];
	struct packet p;
	struct str why;

	for (unsigned i = 0; i < PACKETS_PER_CASE; i++) {
		arena_reset(scratch);
		g->ip6 = gen_chance(g, 50);
		gen_packet(g, line, sizeof line);
		if (!notation_parse(b->a, NULL, str_from(line), (struct loc){ 0 }, &p))
			continue; /* a length that is too small for its headers */
		if (ask(b, j, scratch, &p, g->ip6, t, &why))
			continue;
		if (t->bad[j]++ < MOST_SHOWN)
			tell(seed, g->text, line, why);
		return; /* the counts differ, too */
	}
	for (size_t i = 0; i < b->rs->rules.n; i++)
		t->hits += b->eval_count[DP_COUNTERS_SPECIAL + i];
	if (!b->has_unknown && !bench_counts_agree(b, j, b->a, &why) && t->bad[j]++ < MOST_SHOWN)
		tell(seed, g->text, "(counts)", why);
}

static void run_judge(const struct arenas *ar, uint64_t seed, enum judge j, struct kernel *k, struct totals *t)
{
	struct case_text text = { .engine = (enum tables_engine)(seed % TABLES_ENGINE_COUNT) };
	struct bench b;
	struct gen g;
	struct str why;

	arena_reset(ar->pass);
	gen_begin(&g, seed, 0);
	gen_nft_rules(&g);
	text.rs = read_rules(ar->pass, g.text);
	t->cases++;
	if (!text.rs) {
		t->unread++;
	} else if (!bench_open(&b, ar->pass, &text, j == JUDGE_NATIVE ? NULL : k, &why)) {
		if (t->refused++ < MOST_SHOWN)
			printf("# refused, seed %llu: %.*s\n", (unsigned long long)seed, (int)(why.n < 400 ? why.n : 400), why.p);
	} else {
		run_packets(&g, &b, j, ar->scratch, seed, t);
	}
	gen_end(&g);
}

static uint64_t env_number(const char *name, uint64_t other)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : other;
}

static void print_result(const struct totals *t, enum judge last)
{
	bool is_one = t->cases <= (uint64_t)last; /* a single ruleset need not show all there is */
	unsigned n = 0;

	for (enum judge j = JUDGE_NATIVE; j <= last; j++)
		printf("%sok %u - nft: %s agree with the evaluator: %llu mismatches, %llu packets\n",
		       t->bad[j] || !t->judged[j] ? "not " : "", ++n, j == JUDGE_NATIVE ? "tables in user space" : "netfilter programs",
		       (unsigned long long)t->bad[j], (unsigned long long)t->judged[j]);
	printf("%sok %u - every ruleset was read, and most can be loaded: %llu unread, %llu refused of %llu\n",
	       t->unread || t->refused * 2 > t->cases ? "not " : "", ++n, (unsigned long long)t->unread,
	       (unsigned long long)t->refused, (unsigned long long)t->cases);
	printf("%sok %u - the evaluator knows its verdict: %llu of %llu unknown\n", t->unknown * 100 > t->packets ? "not " : "",
	       ++n, (unsigned long long)t->unknown, (unsigned long long)t->packets);
	printf("%sok %u - packets are dropped and passed, marks change, rules count: %llu drops, %llu marks, %llu hits\n",
	       !is_one && (t->drops * 50 < t->packets || t->drops * 50 > t->packets * 49 || t->marks * 200 < t->packets || t->hits < t->packets) ?
		       "not " : "",
	       ++n, (unsigned long long)t->drops, (unsigned long long)t->marks, (unsigned long long)t->hits);
	printf("1..%u\n", n);
}

int main(void)
{
	bool in_kernel = env_number("WEIR_BPF", 0);
	uint64_t seed = env_number("WEIR_SEED", 1);
	uint64_t wanted = env_number("WEIR_PACKETS", in_kernel ? 30000 : 100000);
	enum judge last = in_kernel ? JUDGE_NF : JUDGE_NATIVE;
	struct arenas ar = { arena_create(), arena_create() };
	struct totals t = { 0 };
	struct kernel k;
	struct str why;

	printf("# WEIR_SEED=%llu WEIR_PACKETS=%llu\n", (unsigned long long)seed, (unsigned long long)wanted);
	if (in_kernel && kernel_open(&k, ar.pass, ~0u, &why)) {
		printf("ok 1 - programs in the kernel # SKIP %.*s\n1..1\n", STR_ARG(why));
		return 0;
	}
	while (t.judged[last] < wanted && t.bad[JUDGE_NATIVE] + t.bad[JUDGE_NF] < MOST_BAD && t.refused + t.unread < 100 + t.judged[last] / 50) {
		for (enum judge j = JUDGE_NATIVE; j <= last; j++)
			run_judge(&ar, seed, j, &k, &t);
		seed++;
	}
	print_result(&t, last);
	if (in_kernel)
		kernel_close(&k);
	arena_destroy(ar.pass);
	arena_destroy(ar.scratch);
	return 0;
}
