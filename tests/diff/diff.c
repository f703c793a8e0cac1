/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differential test: random rulesets x packets at their edges; the evaluator, the tables in user space and (WEIR_BPF=1,
 * as root) the tables in the kernel must say the same: verdict, mark, and the count of every rule and policy.
 *
 *     WEIR_SEED=N      where to begin; else 1, so that two runs are one; make soak tries others. Printed.
 *     WEIR_PACKETS=N   how many packets the evaluator and the tables judge, and as many the netfilter programs
 *
 * A mismatch prints its seed and the smallest case that still shows it, in the form of a .t file. TIMEOUT 900
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/lib/gen.h"
#include "diff/lib/judge.h"
#include "packet/notation.h"

enum { PACKETS_PER_CASE = 250, MAX_TRIES = 3000, MAX_TRIES_OWN = 300, LINE = 4096, MAX_SHRINKS = 3, OWN_EVERY = 15, MAX_SHOWN = 20 };
enum { FRAMES_EVERY = 4 }; /* tcx and XDP, where load puts no rules yet, judge every fourth ruleset */

/* One case: texts, and packets as lines with the bytes that were then changed. */
struct diff_packet {
	char *line;
	uint64_t mutate; /* seed of the change of bytes; 0: none */
};
struct diff_case {
	uint64_t seed;
	bool ip6;
	char *sets, *rules;
	struct diff_packet packet[PACKETS_PER_CASE];
	unsigned n_packets;
};

struct total {
	uint64_t packets, judged[JUDGE_COUNT], unknown, refused, cases, drops, bad[JUDGE_COUNT];
};

struct arenas {
	struct arena *run, *pass, *scratch;
};

/* ---------- making a case ---------- */

static char *copy(struct arena *a, const char *s)
{
	return arena_cstr(a, str_from(s));
}

static void case_make(struct arena *a, uint64_t seed, struct diff_case *c)
{
	char line[LINE];
	struct gen g;

	gen_begin(&g, seed, 0);
	*c = (struct diff_case){ .seed = seed, .ip6 = g.ip6 };
	c->sets = copy(a, gen_sets(&g));
	c->rules = copy(a, gen_rules(&g));
	for (; c->n_packets < PACKETS_PER_CASE; c->n_packets++) {
		gen_packet(&g, line, sizeof line);
		c->packet[c->n_packets].line = copy(a, line);
		c->packet[c->n_packets].mutate = gen_chance(&g, 5) ? 1 + gen_below(&g, UINT32_MAX) : 0;
	}
	gen_end(&g);
}

/* Some bytes behind the Ethernet header become others. */
static void mutate(struct arena *a, struct packet *p, uint64_t seed)
{
	uint8_t *b = arena_alloc(a, p->len, 1);
	struct gen g = { .random = seed };

	memcpy(b, p->bytes, p->len);
	for (uint64_t i = 1 + gen_below(&g, 3); p->len > 14 && i > 0; i--)
		b[14 + gen_below(&g, p->len - 14 < 70 ? p->len - 14 : 70)] = (uint8_t)gen_below(&g, 256);
	p->bytes = b;
}

static bool packet_make(struct arena *a, const struct diff_packet *d, struct packet *p)
{
	if (!notation_parse(a, NULL, str_from(d->line), (struct loc){ 0 }, p))
		return false; /* a length that is too small for its headers */
	if (d->mutate)
		mutate(a, p, d->mutate);
	return true;
}

/* ---------- running one ---------- */

struct finding {
	enum judge judge; /* JUDGE_EVAL: all agree */
	int packet;	  /* the one whose verdict or mark differs, or -1: only counts do */
	struct judged want, got;
	struct str text;
};

static bool same(struct judged x, struct judged y)
{
	return x.is_unknown == y.is_unknown && x.drops == y.drops && (x.drops || x.mark == y.mark);
}

static bool is_asked(enum judge j, const struct kernel *k)
{
	return j == JUDGE_NATIVE || (k && k->fd[j - JUDGE_NF][0]);
}

/* Every list scanned, every list looked up, or each as it is best. */
static enum tables_engine engine_of(uint64_t seed)
{
	return (enum tables_engine)(seed / 2 % TABLES_ENGINE_COUNT);
}

static bool is_enough(const struct total *t, const struct kernel *k, uint64_t wanted)
{
	return t->judged[JUDGE_NATIVE] >= wanted && (!k || t->judged[JUDGE_NF] >= wanted);
}

/* Runs the packets of the case whose bit is set by one judge and the evaluator. */
static bool run_judge(const struct arenas *ar, const struct diff_case *c, const bool *use, struct kernel *k, enum judge j,
		      struct total *t, struct finding *f)
{
	/* Some rulesets get programs of their own in the kernel, and let malformed packets pass. */
	bool own = c->seed % OWN_EVERY == 0 && j != JUDGE_NATIVE;
	struct case_text text = { .sets = c->sets, .rules = c->rules, .ip6 = c->ip6, .own_programs = own, .engine = engine_of(c->seed),
				  .malformed_accept = c->seed % OWN_EVERY == 0 && c->seed % 2 };
	bool whole = true;
	struct bench b;
	struct str why;

	*f = (struct finding){ .packet = -1 };
	if (!bench_open(&b, ar->pass, &text, j == JUDGE_NATIVE ? NULL : k, &why)) {
		f->text = why;
		return false;
	}
	for (unsigned i = 0; i < c->n_packets; i++) {
		struct judged want, got;
		struct packet p;

		if ((use && !use[i]) || !packet_make(ar->pass, &c->packet[i], &p))
			continue;
		arena_reset(ar->scratch);
		got = bench_judge(&b, j, ar->scratch, &p, c->ip6);
		if (got.is_skipped)
			continue;
		want = bench_judge(&b, JUDGE_EVAL, ar->scratch, &p, c->ip6);
		t->packets++;
		t->judged[j]++;
		t->drops += want.drops;
		t->unknown += want.is_unknown;
		if (want.is_unknown) {
			whole = false;
			break; /* from here on its memory of limits is not whole */
		}
		if (!same(want, got)) {
			*f = (struct finding){ j, (int)i, want, got, STR("") };
			return true;
		}
	}
	if (whole && !bench_counts_agree(&b, j, ar->run, &f->text))
		f->judge = j;
	return true;
}

/* ---------- shrinking ---------- */

struct shrink {
	const struct arenas *ar;
	struct kernel *k;
	enum judge j;
	struct diff_case c;
	bool use[PACKETS_PER_CASE];
	unsigned n_tries; /* each may load programs */
	int culprit;	  /* the packet whose verdict differed, or -1 */
};

static bool still_fails(struct shrink *s)
{
	struct total t = { 0 };
	struct finding f;
	bool ran;

	if (s->n_tries++ > (s->c.seed % OWN_EVERY == 0 && s->j != JUDGE_NATIVE ? MAX_TRIES_OWN : MAX_TRIES))
		return false;
	arena_reset(s->ar->pass);
	ran = run_judge(s->ar, &s->c, s->use, s->k, s->j, &t, &f);
	return ran && f.judge != JUDGE_EVAL;
}

static void shrink_packets(struct shrink *s)
{
	/* Most of the time one packet is enough: the last that was looked at. */
	for (unsigned i = 0; s->culprit >= 0 && i < PACKETS_PER_CASE; i++)
		s->use[i] = (int)i == s->culprit;
	if (s->culprit >= 0 && still_fails(s))
		return;
	for (unsigned i = 0; i < PACKETS_PER_CASE; i++)
		s->use[i] = i < s->c.n_packets && (s->culprit < 0 || (int)i <= s->culprit);
	for (unsigned step = PACKETS_PER_CASE / 2; step > 0; step /= 2)
		for (unsigned i = 0; i < s->c.n_packets; i += step) {
			bool was[PACKETS_PER_CASE];
			unsigned end = i + step < s->c.n_packets ? i + step : s->c.n_packets;

			memcpy(was, s->use, sizeof was);
			for (unsigned k = i; k < end; k++)
				s->use[k] = false;
			if (!still_fails(s))
				memcpy(s->use, was, sizeof was);
		}
}

/* Takes out lines of a text one by one as long as the mismatch stays. */
static void shrink_lines(struct shrink *s, char **text)
{
	char *now = copy(s->ar->run, *text);
	size_t at = 0;

	while (now[at]) {
		size_t end = at + strcspn(now + at, "\n"), n = strlen(now);
		char *next = arena_alloc(s->ar->run, n + 1, 1);

		end += now[end] == '\n';
		memcpy(next, now, at);
		memcpy(next + at, now + end, n - end + 1);
		*text = next;
		if (still_fails(s)) {
			now = next;
		} else {
			at = end;
		}
	}
	*text = now;
}

static void print_text(const char *head, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		printf("# %s%.*s\n", head, (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void shrink_and_print(struct shrink *s)
{
	struct total t = { 0 };
	struct finding f;
	struct packet p;
	unsigned n = 0;

	for (int round = 0; round < 2; round++) {
		shrink_packets(s);
		shrink_lines(s, &s->c.rules);
		shrink_lines(s, &s->c.sets);
	}
	arena_reset(s->ar->pass);
	run_judge(s->ar, &s->c, s->use, s->k, s->j, &t, &f);
	printf("# WEIR_SEED=%llu shows this; %s says otherwise than the evaluator:\n", (unsigned long long)s->c.seed,
	       (const char *const[]){ "", "the tables in user space", "netfilter", "tcx", "xdp" }[s->j]);
	printf("# case seed %llu, engine %d\n", (unsigned long long)s->c.seed, (int)engine_of(s->c.seed));
	if (s->c.ip6)
		printf("# lang    ip6tables\n");
	print_text("sets    ", s->c.sets);
	print_text("rules   ", s->c.rules);
	for (unsigned i = 0; i < s->c.n_packets; i++) {
		struct str line;

		if (!s->use[i] || (n++ > MAX_SHOWN && (int)i != f.packet) || !packet_make(s->ar->pass, &s->c.packet[i], &p))
			continue;
		line = s->c.packet[i].mutate ? notation_print(s->ar->pass, &p) : str_from(s->c.packet[i].line);
		printf("# packet  %.*s\n", STR_ARG(line));
		if ((int)i == f.packet)
			printf("#    evaluator: %s mark %u; here: %s%s mark %u\n", f.want.drops ? "drop" : "accept", f.want.mark,
			       f.got.is_unknown ? "unknown " : "", f.got.drops ? "drop" : "accept", f.got.mark);
	}
	print_text("   ", arena_cstr(s->ar->pass, f.text));
}

/* ---------- all of it ---------- */

static void run_case(const struct arenas *ar, uint64_t seed, struct kernel *k, struct total *t)
{
	struct shrink s = { .ar = ar, .k = k };

	arena_reset(ar->run);
	case_make(ar->run, seed, &s.c);
	t->cases++;
	for (enum judge j = JUDGE_NATIVE; j < JUDGE_COUNT; j++) {
		struct finding f;

		if (!is_asked(j, k) || (j > JUDGE_NF && seed % FRAMES_EVERY))
			continue;
		arena_reset(ar->pass);
		if (!run_judge(ar, &s.c, NULL, k, j, t, &f)) {
			t->refused++;
			if (t->refused < 3)
				print_text("", arena_cstr(ar->pass, f.text));
			return;
		}
		if (f.judge == JUDGE_EVAL)
			continue;
		if (t->bad[j]++ < MAX_SHRINKS) {
			s.j = j;
			s.culprit = f.packet;
			s.n_tries = 0;
			shrink_and_print(&s);
		}
		fflush(stdout);
	}
}

static uint64_t env_number(const char *name, uint64_t other)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : other;
}

static void print_result(const struct total *t, struct kernel *k)
{
	static const char *const names[] = { "", "tables in user space", "netfilter programs", "tcx programs", "xdp programs" };
	unsigned n = 0;

	for (enum judge j = JUDGE_NATIVE; j < JUDGE_COUNT; j++)
		if (is_asked(j, k))
			printf("%sok %u - %s agree with the evaluator: %llu mismatches, %llu packets\n",
			       t->bad[j] || !t->judged[j] ? "not " : "", ++n, names[j], (unsigned long long)t->bad[j],
			       (unsigned long long)t->judged[j]);
	printf("%sok %u - no generated ruleset was refused: %llu of %llu\n", t->refused ? "not " : "", ++n,
	       (unsigned long long)t->refused, (unsigned long long)t->cases);
	printf("%sok %u - the evaluator knows its verdict: %llu of %llu unknown\n", t->unknown * 100 > t->packets ? "not " : "",
	       ++n, (unsigned long long)t->unknown, (unsigned long long)t->packets);
	printf("1..%u\n", n);
}

int main(void)
{
	bool in_kernel = env_number("WEIR_BPF", 0);
	uint64_t seed = env_number("WEIR_SEED", 1);
	uint64_t wanted = env_number("WEIR_PACKETS", in_kernel ? 1000000 : 200000);
	struct arenas ar = { arena_create(), arena_create(), arena_create() };
	struct total t = { 0 };
	struct kernel k;
	struct str why;

	printf("# WEIR_SEED=%llu WEIR_PACKETS=%llu\n", (unsigned long long)seed, (unsigned long long)wanted);
	if (in_kernel && kernel_open(&k, ar.pass, ~0u, &why)) {
		printf("ok 1 - programs in the kernel # SKIP %.*s\n1..1\n", STR_ARG(why));
		return 0;
	}
	while (!is_enough(&t, in_kernel ? &k : NULL, wanted) && t.refused < 20 && t.bad[JUDGE_NATIVE] + t.bad[JUDGE_NF] + t.bad[JUDGE_TCX] + t.bad[JUDGE_XDP] < 20)
		run_case(&ar, seed++, in_kernel ? &k : NULL, &t);
	printf("# %llu cases, %llu judgements compared, %llu drops\n", (unsigned long long)t.cases, (unsigned long long)t.packets,
	       (unsigned long long)t.drops);
	print_result(&t, in_kernel ? &k : NULL);
	if (in_kernel)
		kernel_close(&k);
	arena_destroy(ar.run);
	arena_destroy(ar.pass);
	arena_destroy(ar.scratch);
	return 0;
}
