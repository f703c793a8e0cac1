/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Large and hard rulesets: the tables of every engine against a linear reference, packet by packet: which rules count it, in
 * order, its verdict and its mark. In user space, and with WEIR_BPF=1 (as root) in the kernel.
 *
 *     WEIR_SHARED=DIR   where classbench/ lies: ClassBench sets acl1, fw1, ipc1. Without it only the sets made here.
 *
 * Rules of these sets count, drop, accept, write marks and test them. TIMEOUT 900 HOLDS clock
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "diff/lib/classbench.h"
#include "diff/lib/judge.h"
#include "diff/lib/testrun.h"
#include "lang/lang.h"

enum { SEED = 7, MOST_MS = 20000, MOST_BYTES_A_RULE = 4096, RULES_MOST = 20000, WORDS_MOST = 1 << 21 };

struct input {
	const char *name;
	bool is_file;
	size_t n, packets;
};
/* Packets meet every rule in the reference, so large sets get fewer. */
static const struct input inputs[] = {
	{ "acl1.1000", true, 1000, 16384 },    { "fw1.1000", true, 1000, 16384 },    { "ipc1.1000", true, 1000, 16384 },
	{ "acl1.10000", true, 10000, 4096 },   { "fw1.10000", true, 10000, 4096 },   { "ipc1.10000", true, 10000, 4096 },
	{ "wild", false, 600, 256 },	       { "bit", false, 5000, 4096 },	     { "nested", false, 5000, 4096 },
	{ "reversed", false, 5000, 4096 },     { "tuples", false, 10000, 4096 },     { "ranges", false, 20000, 1024 },
};
static const char *const engine_names[] = { "the cheapest", "scan", "graph", "classes" };

struct run {
	struct arena *a;
	struct classbench c;
	bool ip6;
	enum tables_engine engine;
	struct ruleset *rs;
	struct tables *tables;
	double build_ms;
};

static unsigned n_tests;

static void result(bool ok, struct str what)
{
	printf("%sok %u - %.*s\n", ok ? "" : "not ", ++n_tests, STR_ARG(what));
	fflush(stdout);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static bool compile(struct run *r)
{
	struct sources src = { .a = r->a };
	struct diags d = { .a = r->a, .sources = &src };
	struct tables_options opt = { .test_run = true, .hz = JUDGE_HZ, .engine = r->engine, .may_sum = true };
	struct lang_file f;

	r->rs = policy_create(r->a);
	lang_read(r->rs, &d, source_add(&src, "rules", classbench_text(r->a, &r->c, r->ip6)), r->ip6 ? LANG_IP6TABLES : LANG_IPTABLES,
		  &f);
	policy_number(r->rs);
	r->build_ms = now_ms();
	r->tables = d.n_errors ? NULL : tables_build(r->a, r->rs, &opt, &d);
	r->build_ms = now_ms() - r->build_ms;
	for (size_t i = 0; i < d.all.n && !r->tables; i++)
		printf("# %s\n", arena_cstr(r->a, diag_format(r->a, &d, &d.all.v[i])));
	return r->tables != NULL;
}

/* An extension header of IPv6 is no protocol. */
static bool is_usable(const struct classbench_packet *p, bool ip6)
{
	return !ip6 || (p->proto != 0 && p->proto != 43 && p->proto != 44 && p->proto != 51 && p->proto != 60 && p->proto != 58);
}

static struct packet packet_of(const uint8_t *frame, size_t n)
{
	struct packet p;

	memset(&p, 0, sizeof p);
	p.bytes = frame;
	p.len = (uint32_t)n;
	p.wire_len = (uint32_t)n;
	p.link = PACKET_LINK_ETHER;
	p.has_iif = true;
	strcpy(p.iif, "eth0");
	p.ct = p.pkttype = p.vlan_meta = -1;
	p.uid = p.gid = p.cpu = p.realm = -1;
	return p;
}

/* The rules that were counted, in order, a sum as its rules. Returns how many; more than `most`: at least so many. */
static size_t expand_hits(const struct run *r, const struct native_result *got, uint32_t *out, size_t most)
{
	size_t n = 0;

	for (unsigned i = 0; i < got->n_hits; i++) {
		const struct tables_sum *s = tables_find_sum(r->tables, got->hit[i]);

		for (uint32_t k = 0; k < (s ? s->n : 1); k++, n++)
			if (n < most)
				out[n] = s ? s->rule[k]->id + DP_COUNTERS_SPECIAL : got->hit[i];
	}
	return n;
}

static bool same_hits(const struct run *r, const struct native_result *got, const uint32_t *hit, size_t n, bool reached_end)
{
	uint32_t all[NATIVE_MAX_HITS];

	if (n + 1 > NATIVE_MAX_HITS || expand_hits(r, got, all, NATIVE_MAX_HITS) != n + reached_end)
		return false;
	for (size_t i = 0; i < n; i++)
		if (all[i] != DP_COUNTERS_SPECIAL + hit[i])
			return false;
	return !reached_end || all[n] >= DP_COUNTERS_SPECIAL + r->rs->rules.n;
}

/* The counts of the rules in the kernel that are not `count`. */
static size_t wrong_counts(const struct run *r, const struct kernel *k, const uint64_t *count)
{
	uint64_t *got = arena_new(r->a, uint64_t, r->c.n);
	size_t bad = 0;

	for (size_t i = 0; i < r->c.n; i++)
		got[i] = testrun_count(k, (uint32_t)(DP_COUNTERS_SPECIAL + i));
	for (size_t i = 0; i < r->tables->n_sums; i++)
		for (uint32_t x = 0; x < r->tables->sum[i].n; x++)
			got[r->tables->sum[i].rule[x]->id] += testrun_count(k, r->tables->sum[i].counter);
	for (size_t i = 0; i < r->c.n; i++)
		bad += got[i] != count[i];
	return bad;
}

/* Mismatches in user space; count[] gets the reference's counts. */
static size_t run_native(struct run *r, const struct classbench_packet *trace, size_t n, uint64_t *count)
{
	struct native_tables nt = { .word = r->tables->word, .n_words = r->tables->n_words, .n_counters = r->tables->n_counters };
	struct native *nat = native_create(r->a, &nt);
	uint32_t *hit = arena_new(r->a, uint32_t, r->c.n + 1), mark;
	uint8_t frame[CLASSBENCH_FRAME];
	size_t bad = 0;

	for (size_t i = 0; i < n; i++) {
		struct native_result got;
		struct packet p;
		bool drops;
		size_t k;

		if (!is_usable(&trace[i], r->ip6))
			continue;
		k = classbench_judge(&r->c, &trace[i], hit, &mark, &drops);
		for (size_t j = 0; j < k; j++)
			count[hit[j]]++;
		p = packet_of(frame, classbench_frame(&trace[i], r->ip6, frame));
		native_run(nat, DP_POSITION_PREROUTING_MANGLE, &p, 0, 0, &got);
		if ((got.verdict == NATIVE_DROP) != drops || got.mark != mark ||
		    !same_hits(r, &got, hit, k, k == 0 || r->c.rule[hit[k - 1]].target > CLASSBENCH_DROP)) {
			if (bad++ < 3)
				printf("# packet %zu: the reference says %s, mark %u, %zu rules, first %d; here %s, mark %u, %u, first %d\n", i,
				       drops ? "drop" : "accept", mark, k, k ? (int)hit[0] : -1, got.verdict == NATIVE_DROP ? "drop" : "accept",
				       got.mark, got.n_hits, got.n_hits ? (int)got.hit[0] - DP_COUNTERS_SPECIAL : -1);
		}
	}
	return bad;
}

/* Packets in batches that are not judged as one by one, counters too; plain: without the machine's wide registers. */
static size_t run_batches(const struct run *r, const struct classbench_packet *trace, size_t n, bool plain)
{
	struct native_tables nt = { .word = r->tables->word, .n_words = r->tables->n_words, .n_counters = r->tables->n_counters, .plain = plain };
	struct native *alone = native_create(r->a, &nt), *together = native_create(r->a, &nt);
	const struct native_way way = { { DP_POSITION_PREROUTING_MANGLE }, 1 };
	uint8_t bytes[NATIVE_BATCH][CLASSBENCH_FRAME];
	struct native_frame frame[NATIVE_BATCH];
	struct native_answer out[NATIVE_BATCH];
	struct packet p[NATIVE_BATCH];
	struct native_facts facts;
	size_t bad = 0;

	for (size_t at = 0; at < n; at += NATIVE_BATCH) {
		unsigned round = n - at < NATIVE_BATCH ? (unsigned)(n - at) : NATIVE_BATCH;

		for (unsigned i = 0; i < round; i++) {
			p[i] = packet_of(bytes[i], classbench_frame(&trace[at + i], r->ip6, bytes[i]));
			native_facts_read(&facts, &p[i]);
			frame[i] = (struct native_frame){ .bytes = p[i].bytes, .len = p[i].len, .ct = -1, .facts = &facts };
		}
		native_batch(together, &way, frame, round, 0, out);
		for (unsigned i = 0; i < round; i++) {
			struct native_result got;

			native_run(alone, DP_POSITION_PREROUTING_MANGLE, &p[i], 0, 0, &got);
			bad += got.verdict != out[i].verdict || got.mark != out[i].mark || got.is_malformed != out[i].is_malformed ||
			       (!got.is_malformed && got.n_hits <= NATIVE_MAX_HITS && got.hit[got.n_hits - 1] != out[i].counter);
		}
	}
	for (uint32_t i = 0; i < 2 * r->tables->n_counters; i++)
		bad += native_counts(alone)[i] != native_counts(together)[i];
	return bad;
}

/* Mismatches in the kernel: verdicts and marks, then counts. */
static size_t run_kernel(struct run *r, struct kernel *k, const struct classbench_packet *trace, size_t n, const uint64_t *count)
{
	unsigned point = DP_POSITION_PREROUTING_MANGLE + (r->ip6 ? DP_POINTS_PER_FAMILY : 0);
	uint32_t *hit = arena_new(r->a, uint32_t, r->c.n + 1), mark;
	uint8_t frame[CLASSBENCH_FRAME];
	struct str why;
	size_t bad = 0;

	if (!testrun_put(k, r->tables, r->tables->n_counters, &why)) {
		printf("# %.*s\n", STR_ARG(why));
		return 1;
	}
	for (size_t i = 0; i < n; i++) {
		struct judged got;
		struct packet p;
		bool drops;

		if (!is_usable(&trace[i], r->ip6))
			continue;
		classbench_judge(&r->c, &trace[i], hit, &mark, &drops);
		p = packet_of(frame, classbench_frame(&trace[i], r->ip6, frame));
		got = testrun_judge(k, JUDGE_XDP, point, &p, 0);
		bad += got.is_unknown || got.drops != drops || got.mark != mark;
	}
	return bad + wrong_counts(r, k, count);
}

static const struct tables_list *list_of(const struct run *r)
{
	return &r->tables->list[r->tables->n_lists - 1];
}

static void run_one(struct run *r, const struct input *s, struct kernel *k)
{
	struct classbench_packet *trace = arena_new(r->a, struct classbench_packet, s->packets);
	uint64_t *count;
	double bytes;
	size_t bad;

	if (!compile(r)) {
		result(false, arena_printf(r->a, "%s compiles", s->name));
		return;
	}
	count = arena_new(r->a, uint64_t, r->c.n);
	classbench_trace(&r->c, trace, s->packets);
	bad = run_native(r, trace, s->packets, count);
	bad += run_batches(r, trace, s->packets, false) + run_batches(r, trace, s->packets, true);
	bytes = 8.0 * r->tables->n_words / (double)r->c.n;
	result(bad == 0, arena_printf(r->a, "%s, IPv%d, %s (%s): %zu mismatches in user space", s->name, r->ip6 ? 6 : 4,
				      engine_names[r->engine], engine_names[list_of(r)->engine], bad));
	result(r->build_ms < MOST_MS && bytes < MOST_BYTES_A_RULE,
	       arena_printf(r->a, "... built in %.1f ms, %.0f bytes a rule (%.0f for the lookup), %u steps at most", r->build_ms, bytes,
			    8.0 * (double)list_of(r)->n_words / (double)r->c.n, list_of(r)->worst));
	if (!k)
		return;
	bad = run_kernel(r, k, trace, s->packets, count);
	result(bad == 0, arena_printf(r->a, "... and %zu in the kernel", bad));
}

static void run_set(const struct input *s, const char *shared, struct kernel *k)
{
	struct arena *a = arena_create();
	struct run r = { .a = a };

	for (unsigned ip6 = 0; ip6 < 2; ip6++)
		for (unsigned e = TABLES_ENGINE_ANY; e < TABLES_ENGINE_COUNT; e++) {
			if (e == TABLES_ENGINE_SCAN && s->n > 1000)
				continue;
			arena_reset(a);
			r = (struct run){ .a = a, .c.random = SEED, .ip6 = ip6, .engine = (enum tables_engine)e };
			if (!s->is_file) {
				classbench_make(a, s->name, s->n, true, &r.c);
			} else if (!classbench_read(a, arena_cstr(a, arena_printf(a, "%s/classbench/%s", shared, s->name)), s->n, true, &r.c)) {
				result(true, arena_printf(a, "%s # SKIP no file classbench/%s in WEIR_SHARED", s->name, s->name));
				continue;
			}
			run_one(&r, s, k);
		}
	arena_destroy(a);
}

int main(void)
{
	const char *shared = getenv("WEIR_SHARED"), *bpf = getenv("WEIR_BPF");
	struct arena *a = arena_create();
	struct kernel k, *in_kernel = NULL;
	struct str why;

	if (bpf && *bpf && *bpf != '0') {
		if (kernel_open_one(&k, a, JUDGE_XDP, DP_POSITION_PREROUTING_MANGLE, WORDS_MOST, RULES_MOST, &why)) {
			printf("ok 1 - programs in the kernel # SKIP %.*s\n1..1\n", STR_ARG(why));
			return 0;
		}
		in_kernel = &k;
	}
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
		run_set(&inputs[i], shared ? shared : "../shared", in_kernel);
	printf("1..%u\n", n_tests);
	if (in_kernel)
		kernel_close(&k);
	arena_destroy(a);
	return 0;
}
