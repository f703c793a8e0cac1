/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differential test of what becomes of lists: rows of counting rules that overlap, chains that are called, gone to and
 * returned from, rules that hide others, marks that are written on the way. Few values, so that much matches at once. The
 * evaluator, the tables in user space and (WEIR_BPF=1, as root) the netfilter programs must say the same: verdict, mark,
 * and the count of every rule and policy. What policy/shadow.h says can never match must have no count.
 *
 *     WEIR_SEED=N       where to begin; else 1
 *     WEIR_CASES=N      how many rulesets
 *
 * A mismatch prints its ruleset and packet. TIMEOUT 600
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/lib/judge.h"
#include "packet/notation.h"
#include "policy/shadow.h"
#include "tables/format.h"

enum { CASES = 600, CASES_IN_KERNEL = 150, PACKETS = 60, CHAINS = 5, MOST_SHOWN = 3 };

static uint64_t seed;

/*
 * splitmix64 (Steele, Lea, Flood 2014). Rulesets are numbered, and neighbours must have nothing in common: a linear
 * generator would make the same draw of each move on by one constant, for some draws by so little that all rulesets of a
 * run are alike in it.
 */
static unsigned below(unsigned n)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ z >> 31) >> 33) % n;
}

static const char *one_of(const char *const *v, unsigned n)
{
	return v[below(n)];
}
#define ONE_OF(...) one_of((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static const char *const addr4[] = { "10.0.0.1", "10.0.0.2", "10.0.1.1", "10.1.0.1", "192.0.2.1" };
static const char *const addr6[] = { "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "2001:db8:1::1", "2001:db9::1" };
enum { ADDRS = 5 };

static void put_prefix(struct buf *b, char option, bool ip6)
{
	static const char *const len4[] = { "/32", "/31", "/24", "/16", "/8" }, *const len6[] = { "/128", "/126", "/64", "/48", "/31" };

	buf_printf(b, " %s-%c %s%s", below(8) ? "" : "! ", option, (ip6 ? addr6 : addr4)[below(ADDRS)], (ip6 ? len6 : len4)[below(5)]);
}

/* What the key answers. */
static void put_compares(struct buf *b, bool ip6, unsigned most)
{
	unsigned n = below(most + 1);
	const char *proto = below(2) ? NULL : ONE_OF("tcp", "udp");

	if (n && below(2))
		put_prefix(b, 's', ip6);
	if (n && below(3) == 0)
		put_prefix(b, 'd', ip6);
	if (n && below(4) == 0)
		buf_printf(b, " %s", ONE_OF("-i eth0", "-i eth1", "-i eth+", "! -i eth0", "! -i lo"));
	if (proto)
		buf_printf(b, " -p %s", proto);
	if (proto && below(2))
		buf_printf(b, " -m %s %s", proto, ONE_OF("--dport 80", "--dport 0:80", "--dport 80:443", "! --dport 80", "--sport 1000:2000"));
}

static void put_more_tests(struct buf *b)
{
	if (below(8) == 0)
		buf_printf(b, " -m mark --mark %s", ONE_OF("0", "1", "0x2/0x2"));
	if (below(10) == 0)
		buf_printf(b, " -m conntrack --ctstate %s", ONE_OF("NEW", "ESTABLISHED", "NEW,ESTABLISHED"));
	if (below(30) == 0)
		buf_printf(b, " -m limit --limit 1/hour --limit-burst 3");
	if (below(12) == 0)
		buf_printf(b, " -m length --length %s", ONE_OF("0:60", "40:100", "0:65535"));
}

static void put_target(struct buf *b, unsigned chain, unsigned counting)
{
	unsigned kind = below(100);

	if (kind < counting)
		return;
	if (chain + 1 < CHAINS && below(2))
		buf_printf(b, " -%c c%u", "jjg"[below(3)], chain + 1 + below(CHAINS - chain - 1));
	else
		buf_printf(b, " -j %s", ONE_OF("ACCEPT", "DROP", "ACCEPT", "DROP", "RETURN", "MARK --set-mark 1", "MARK --or-mark 2"));
}

/* Rules in a row or nearly so that ask the same and all do something: the guards are to become one (classify/gather.h). */
static void put_alike(struct buf *b, const char *chain, bool ip6)
{
	struct buf guard = { .a = b->a };
	unsigned n = 2 + below(3);

	put_compares(&guard, ip6, 1 + below(2));
	for (unsigned i = 0; i < n; i++) {
		buf_printf(b, "-A %s%.*s", chain, (int)guard.n, guard.n ? guard.v : "");
		buf_printf(b, "%s\n", ONE_OF("", " -j LOG", " -j MARK --set-mark 1", " -j MARK --xor-mark 2", " -j DROP", " -j RETURN"));
		if (below(2)) {
			buf_printf(b, "-A %s", chain);
			put_compares(b, ip6, 2);
			buf_printf(b, " -j %s\n", ONE_OF("ACCEPT", "DROP"));
		}
	}
}

/* Ends the way through the chain, as every rule must of a chain that is put in the place of its call (classify/inline.h). */
static void put_end(struct buf *b, unsigned chain)
{
	if (chain + 1 < CHAINS && below(4) == 0)
		buf_printf(b, " -g c%u", chain + 1 + below(CHAINS - chain - 1));
	else
		buf_printf(b, " -j %s", ONE_OF("ACCEPT", "DROP", "RETURN"));
}

/*
 * Base chain INPUT is c0; every chain calls only later ones. In a third of the rulesets the chains that are called are such
 * that they can be put in the place of their calls, which a row of rules that may do anything seldom is.
 */
static const char *make_rules(struct arena *a, bool ip6)
{
	static const unsigned counting[] = { 0, 40, 85, 95 };
	bool fit = below(3) == 0;
	struct buf b = { .a = a };

	buf_printf(&b, "*mangle\n:INPUT %s [0:0]\n", ONE_OF("ACCEPT", "DROP"));
	for (unsigned i = 1; i < CHAINS; i++)
		buf_printf(&b, ":c%u - [0:0]\n", i);
	for (unsigned i = 0; i < CHAINS; i++) {
		unsigned n = below(3) ? below(12) : 10 + below(30), share = counting[below(4)], most = 1 + below(3);

		const char *chain = i ? arena_printf(a, "c%u", i).p : "INPUT";

		for (unsigned k = 0; k < n; k++) {
			if (!(fit && i) && below(6) == 0)
				put_alike(&b, chain, ip6);
			buf_printf(&b, "-A %s", chain);
			put_compares(&b, ip6, most);
			if (!fit || (i == 0 && below(3) == 0))
				put_more_tests(&b);
			if (fit && i)
				put_end(&b, i);
			else
				put_target(&b, i, share);
			buf_printf(&b, "\n");
		}
	}
	buf_printf(&b, "COMMIT\n");
	return b.v;
}

static const char *make_packet(struct arena *a, bool ip6)
{
	const char *const *addr = ip6 ? addr6 : addr4, *src = addr[below(ADDRS)], *dst = addr[below(ADDRS)], *open = ip6 ? "[" : "", *close = ip6 ? "]" : "";
	const char *in = arena_printf(a, "%s eth mac=02:00:00:00:00:01 dstmac=02:00:00:00:01:01", ONE_OF("eth0", "eth1", "lo")).p, *ct = ONE_OF("new", "established", "invalid"), *mark = ONE_OF("0", "1", "2", "3");

	if (below(12) == 0)
		return arena_printf(a, "in=%s %s %s > %s proto=47 ct=%s mark=%s", in, ip6 ? "ip6" : "ip", src, dst, ct, mark).p;
	return arena_printf(a, "in=%s %s %s%s%s:%s > %s%s%s:%s ct=%s mark=%s", in, ONE_OF("tcp", "udp"), open, src, close, ONE_OF("1000", "2001"),
			    open, dst, close, ONE_OF("80", "79", "443", "81"), ct, mark).p;
}

struct total {
	uint64_t packets, drops, bad, unknown, refused, sums, unused, inlined, gathered, shadows;
};

static void add_report(const struct bench *b, struct total *t)
{
	t->sums += b->tables->n_sums;
	for (size_t i = 0; i < b->tables->n_lists; i++) {
		const struct tables_list *l = &b->tables->list[i];

		t->inlined += l->n_inlined;
		t->gathered += l->n_gathered;
		for (size_t k = 0; k < l->chain->rules.n; k++)
			t->unused += l->fate[k].kind != TABLES_FATE_USED;
	}
}

static void complain(struct total *t, uint64_t at, const char *rules, const char *packet, struct str text)
{
	if (t->bad++ >= MOST_SHOWN)
		return;
	printf("# WEIR_SEED=%llu WEIR_CASES=1\n", (unsigned long long)at);
	for (const char *p = rules; *p; p = strchr(p, '\n') + 1)
		printf("# %.*s\n", (int)(strchr(p, '\n') - p), p);
	printf("# packet %s: %.*s\n", packet, STR_ARG(text));
}

/* What is said to match never did not match here: by the evaluator's counts. */
static void check_shadows(const struct bench *b, struct arena *a, uint64_t at, const char *rules, struct total *t)
{
	struct shadows s;

	shadow_find(a, b->rs, SHADOW_COMPARES, &s);
	t->shadows += s.all.n;
	for (size_t i = 0; i < s.all.n; i++)
		if (b->eval_count[DP_COUNTERS_SPECIAL + s.all.v[i].rule->id])
			complain(t, at, rules, "any", arena_printf(a, "rule %u, which can never match, did", s.all.v[i].rule->id));
}

/* One ruleset by one judge. */
static void run_case(struct arena *a, uint64_t at, enum judge j, struct kernel *k, struct total *t)
{
	struct arena *scratch = arena_create();
	struct case_text text = { .sets = "", .ip6 = at & 1, .engine = (enum tables_engine)(at / 2 % TABLES_ENGINE_COUNT) };
	const char *packet = "";
	struct str why;
	struct bench b;
	bool whole = true;

	seed = at * 0xd1342543de82ef95u + 99;
	text.rules = make_rules(a, text.ip6);
	if (!bench_open(&b, a, &text, k, &why)) {
		t->refused++;
		printf("# %.*s\n", STR_ARG(why));
		arena_destroy(scratch);
		return;
	}
	add_report(&b, t);
	for (unsigned i = 0; i < PACKETS && whole; i++) {
		struct judged want, got;
		struct packet p;

		arena_reset(scratch);
		packet = make_packet(a, text.ip6);
		if (!notation_parse(a, NULL, str_from(packet), (struct loc){ 0 }, &p))
			continue;
		got = bench_judge(&b, j, scratch, &p, text.ip6);
		if (got.is_skipped)
			continue;
		want = bench_judge(&b, JUDGE_EVAL, scratch, &p, text.ip6);
		t->packets++;
		t->drops += want.drops;
		t->unknown += want.is_unknown;
		whole = !want.is_unknown && !got.is_unknown && want.drops == got.drops && (want.drops || want.mark == got.mark);
		if (!whole && !want.is_unknown)
			complain(t, at, text.rules, packet,
				 arena_printf(a, "evaluator %s mark %u, here %s mark %u", want.drops ? "drop" : "accept", want.mark,
					      got.drops ? "drop" : "accept", got.mark));
	}
	if (whole && !bench_counts_agree(&b, j, a, &why))
		complain(t, at, text.rules, packet, why);
	check_shadows(&b, a, at, text.rules, t);
	arena_destroy(scratch);
}

static uint64_t env_number(const char *name, uint64_t other)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : other;
}

static void result(bool ok, const char *what, uint64_t x, uint64_t y)
{
	static unsigned n;

	printf("%sok %u - %s: %llu, %llu\n", ok ? "" : "not ", ++n, what, (unsigned long long)x, (unsigned long long)y);
}

int main(void)
{
	const char *bpf = getenv("WEIR_BPF");
	bool in_kernel = bpf && *bpf && *bpf != '0';
	uint64_t first = env_number("WEIR_SEED", 1), cases = env_number("WEIR_CASES", in_kernel ? CASES_IN_KERNEL : CASES);
	struct arena *a = arena_create(), *run = arena_create();
	struct total t = { 0 };
	struct kernel k;
	struct str why;

	if (in_kernel && kernel_open(&k, run, ~0u, &why)) {
		printf("ok 1 - programs in the kernel # SKIP %.*s\n1..1\n", STR_ARG(why));
		return 0;
	}
	for (uint64_t i = 0; i < cases; i++) {
		arena_reset(a);
		run_case(a, first + i, in_kernel ? JUDGE_NF : JUDGE_NATIVE, in_kernel ? &k : NULL, &t);
	}
	result(t.bad == 0 && t.packets > 0, "mismatches, packets", t.bad, t.packets);
	result(t.refused == 0 && t.unknown == 0, "refused rulesets, unknown verdicts", t.refused, t.unknown);
	result(cases < CASES_IN_KERNEL || (t.drops > t.packets / 10 && t.drops < t.packets), "drops, packets", t.drops, t.packets);
	result(cases < CASES_IN_KERNEL || (t.sums > cases && t.unused > cases), "counters for several rules, rules that no packet comes to",
	       t.sums, t.unused);
	result(cases < CASES_IN_KERNEL || t.inlined > cases / 8, "calls in whose place the chain is, rulesets", t.inlined, cases);
	result(cases < CASES_IN_KERNEL || t.gathered > cases / 8, "rules whose guards are one with an earlier rule's, rulesets", t.gathered, cases);
	result(cases < CASES_IN_KERNEL || t.shadows > cases, "rules that are said never to match, rulesets", t.shadows, cases);
	printf("1..7\n");
	if (in_kernel)
		kernel_close(&k);
	arena_destroy(a);
	arena_destroy(run);
	return 0;
}
