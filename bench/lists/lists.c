/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of lists, each way beside the other in one run: chains called and chains put in the place of their calls; rows of
 * counting rules one by one and made one. As root: the netfilter program by test run; and the same code in user space.
 *
 *     lists [ROUNDS]
 *
 * ns a packet with parsing and counting, mean over packets of which some match each way, the least of ROUNDS rounds in turn.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "diff/lib/judge.h"
#include "diff/lib/testrun.h"
#include "lang/lang.h"
#include "packet/notation.h"

enum { PACKETS = 128, ROUNDS = 9, USER_RUNS = 200000, KERNEL_RUNS = 3000, WORDS = 1 << 16, COUNTERS = 4096 };
enum { POINT = DP_POSITION_FORWARD_FILTER };

struct way {
	struct tables *tables;
	struct native *native;
	double user, kernel; /* ns */
};

struct input {
	const char *name, *ways[2];
	const char *rules;
};

static uint64_t random_state = 88172645463325252ull;

static unsigned below(unsigned n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(random_state >> 33) % n;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---------- rules and packets ---------- */

static void put_drops(struct buf *b, int n)
{
	for (int i = 0; i < n; i++)
		buf_printf(b, "-A FORWARD -s 198.51.100.%d -j DROP\n", i);
}

/* A router: 20 addresses dropped, then calls of a chain of 12 rules and one of 20. */
static const char *router(struct arena *a, const char *services, const char *dmz)
{
	static const int ports[] = { 22, 80, 443, 8080, 993, 587, 5222, 3389, 110, 143 };
	struct buf b = { .a = a };

	buf_printf(&b, "*filter\n:FORWARD DROP [0:0]\n:services - [0:0]\n:dmz - [0:0]\n");
	put_drops(&b, 20);
	buf_printf(&b, "-A FORWARD %s -j services\n-A FORWARD %s -j dmz\n-A FORWARD -i lan+ -o lan+ -j ACCEPT\n", services, dmz);
	for (size_t i = 0; i < sizeof ports / sizeof *ports; i++)
		buf_printf(&b, "-A services -p tcp --dport %d -j ACCEPT\n", ports[i]);
	buf_printf(&b, "-A services -p udp --dport 53 -j ACCEPT\n-A services -p udp --dport 123 -j ACCEPT\n");
	for (int i = 1; i <= 20; i++)
		buf_printf(&b, "-A dmz -d 203.0.113.%d -p tcp --dport %d -j ACCEPT\n", i, i % 3 ? 80 * (i % 3) + 363 * (i % 3 - 1) : 25);
	buf_printf(&b, "COMMIT\n");
	return b.v;
}

/* Twenty rules that all count the same packets, then 40 addresses dropped. */
static const char *accounting(struct arena *a)
{
	struct buf b = { .a = a };

	buf_printf(&b, "*filter\n:FORWARD ACCEPT [0:0]\n");
	for (int i = 0; i < 20; i++)
		buf_printf(&b, "-A FORWARD -s 192.0.0.0/%d\n", 2 + i);
	put_drops(&b, 40);
	buf_printf(&b, "COMMIT\n");
	return b.v;
}

static size_t make_packets(struct arena *a, struct packet *p)
{
	static const char *const way[] = { "in=lan0 out=wan0", "in=wan0 out=dmz0", "in=lan1 out=dmz0", "in=lan0 out=lan1" };
	static const char *const src[] = { "192.0.2.7", "192.0.2.99", "198.51.100.9" };
	static const char *const dst[] = { "203.0.113.4", "203.0.113.15", "198.18.0.1" };
	static const int port[] = { 22, 80, 443, 25, 143, 9999 };
	size_t n = 0;

	for (int i = 0; i < PACKETS; i++) {
		struct str line = arena_printf(a, "%s eth mac=02:00:00:00:00:01 dstmac=02:00:00:00:01:01 tcp %s:%u > %s:%d ct=new",
					       way[below(4)], src[below(3)], 1024 + below(60000), dst[below(3)], port[below(6)]);

		n += notation_parse(a, NULL, line, (struct loc){ 0 }, &p[n]);
	}
	return n;
}

/* ---------- measuring ---------- */

/* which: 0 as the rules are written, 1 as load makes them. */
static bool compile(struct arena *a, const char *rules, int which, bool puts_in, struct way *w)
{
	struct sources src = { .a = a };
	struct diags d = { .a = a, .sources = &src };
	struct tables_options opt = { .hz = JUDGE_HZ, .may_sum = which || puts_in, .keep_calls = puts_in && !which };
	struct ruleset *rs = policy_create(a);
	struct lang_file f;

	lang_read(rs, &d, source_add(&src, "rules", str_from(rules)), LANG_IPTABLES, &f);
	policy_number(rs);
	w->tables = d.n_errors ? NULL : tables_build(a, rs, &opt, &d);
	if (!w->tables)
		return false;
	w->native = native_create(a, &(struct native_tables){ .word = w->tables->word, .n_words = w->tables->n_words,
							      .n_counters = w->tables->n_counters });
	w->user = w->kernel = 1e18;
	return true;
}

static void run_user(struct way *w, const struct packet *p, size_t n)
{
	double start = now_ns(), ns;
	struct native_result r;

	for (unsigned i = 0; i < USER_RUNS; i++)
		native_run(w->native, POINT, &p[i * 7919 % n], 0, 0, &r);
	ns = (now_ns() - start) / USER_RUNS;
	w->user = ns < w->user ? ns : w->user;
}

/* A struct nf_hook_state as the kernel takes it from a test. */
struct hook_state {
	uint8_t hook, pf, pad[6];
	uint64_t in, out, sk, net, okfn;
};

static bool run_kernel(struct kernel *k, struct way *w, const struct packet *p, size_t n)
{
	struct str why;
	double ns = 0;

	if (!testrun_put(k, w->tables, w->tables->n_counters, &why))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct hook_state state = { .hook = 2, .pf = 2 };
		LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = p[i].bytes, .data_size_in = p[i].len, .ctx_in = &state,
			    .ctx_size_in = sizeof state, .repeat = KERNEL_RUNS);

		testrun_judge(k, JUDGE_NF, POINT, &p[i], 0); /* says what devices the packet has */
		if (bpf_prog_test_run_opts(k->fd[0][POINT], &o))
			return false;
		ns += o.duration / (double)n;
	}
	w->kernel = ns < w->kernel ? ns : w->kernel;
	return true;
}

static size_t calls_put_in(const struct tables *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_lists; i++)
		n += t->list[i].n_inlined;
	return n;
}

static bool measure(struct arena *a, struct kernel *k, const struct input *x, const struct packet *p, size_t n, int rounds)
{
	bool is_calls = x->ways[1] && strcmp(x->ways[1], "put in") == 0;
	struct way w[2];

	if (!compile(a, x->rules, 0, is_calls, &w[0]) || !compile(a, x->rules, 1, is_calls, &w[1]))
		return false;
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < 2; i++) {
			run_user(&w[i], p, n);
			if (k && !run_kernel(k, &w[i], p, n))
				return false;
		}
	for (int i = 0; i < 2; i++) {
		printf("%-30s %-12s", i ? "" : x->name, x->ways[i]);
		if (k)
			printf(" %7.0f", w[i].kernel);
		else
			printf(" %7s", "n/a");
		printf(" %7.0f %9zu", w[i].user, sizeof(uint64_t) * w[i].tables->n_words);
		if (i && k)
			printf("   kernel %.2f of the other way, user %.2f", w[1].kernel / w[0].kernel, w[1].user / w[0].user);
		if (i && is_calls)
			printf("; %zu calls put in", calls_put_in(w[1].tables));
		puts("");
	}
	return true;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
	struct arena *a = arena_create();
	const struct input inputs[] = {
		{ "chains called by address", { "calls", "put in" }, router(a, "-s 192.0.2.0/24", "-d 203.0.113.0/24") },
		{ "chains called by interface", { "calls", "put in" }, router(a, "-i lan+ -o wan0", "-i wan0 -o dmz0") },
		{ "twenty rules that count", { "one by one", "made one" }, accounting(a) },
	};
	struct packet *p = arena_new(a, struct packet, PACKETS);
	size_t n = make_packets(a, p);
	struct kernel k;
	struct str why;
	int err = kernel_open_one(&k, a, JUDGE_NF, POINT, WORDS, COUNTERS, &why);

	if (err)
		printf("kernel: n/a, %.*s\n", STR_ARG(why));
	printf("%-30s %-12s %7s %7s %9s\n", "ns a packet", "", "kernel", "user", "bytes");
	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
		if (!measure(a, err ? NULL : &k, &inputs[i], p, n, rounds)) {
			fprintf(stderr, "lists: %s: cannot be run\n", inputs[i].name);
			return 1;
		}
	if (!err)
		kernel_close(&k);
	arena_destroy(a);
	return 0;
}
