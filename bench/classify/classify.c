/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What finding a rule costs: ns a packet above the same program with no rules, on packets that have nothing in common
 * (16,384 of them, three of four inside of a rule).
 *
 *     classify KEY.bpf.o DIR [ip6]     DIR holds ClassBench sets: acl1.1000, ...
 *
 * `kernel` is a program in the kernel by test run, six passes over the packets a call, the least of some calls; `one pass`
 * the same with one pass a call, which finds the caches as whoever ran before left them; `user` the same code in user space, parsing real
 * packets one by one; `in batches` native_batch(), as weir.h and weir eval use it. A number of rules is the first so many of the set's file.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "classify/tables.h"
#include "datapath/native.h"
#include "diff/lib/classbench.h"
#include "lang/lang.h"
#include "tables/format.h"
#include "tables/key.h"

enum { KEYS = 16384, KEY_WORDS = 5, KEY_WORDS_IP4 = 2, HALF_LOG2 = 22, COUNTERS_LOG2 = 17, SCAN_MOST = 10000, PASSES = 6 };
enum { POINT = DP_POSITION_PREROUTING_MANGLE };

struct program {
	int fd;
	uint64_t *table, *keys;
	double load_ms;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---------- the program in the kernel ---------- */

static void *map_of(struct bpf_object *o, const char *name)
{
	struct bpf_map *m = bpf_object__find_map_by_name(o, name);
	void *p = mmap(NULL, (bpf_map__value_size(m) + 4095) & ~4095u, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(m), 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool program_open(struct program *p, const char *file, bool ip6)
{
	struct dp_config c = { .table_mask = (2ull << HALF_LOG2) - 1, .counter_mask = (8ull << COUNTERS_LOG2) - 1, .state_mask = 7,
			       .features = DP_F_PORTS | DP_F_LOOKUP | DP_F_CLASSES, .point = POINT + (ip6 ? DP_POINTS_PER_FAMILY : 0),
			       .half_log2 = HALF_LOG2, .counters_log2 = COUNTERS_LOG2 };
	struct bpf_object *o = bpf_object__open_file(file, NULL);

	if (!o)
		return false;
	bpf_map__set_initial_value(bpf_object__find_map_by_name(o, ".rodata"), &c, sizeof c);
	bpf_map__set_value_size(bpf_object__find_map_by_name(o, "dp_table"), (uint32_t)((2ull << HALF_LOG2) + DP_TABLE_PAD) * 8);
	bpf_map__set_value_size(bpf_object__find_map_by_name(o, "dp_count"), 16u * 8 << COUNTERS_LOG2);
	p->load_ms = now_ns();
	if (bpf_object__load(o))
		return false;
	p->load_ms = (now_ns() - p->load_ms) / 1e6;
	p->fd = bpf_program__fd(bpf_object__find_program_by_name(o, "bench_key"));
	p->table = map_of(o, "dp_table");
	p->keys = map_of(o, "bench_keys");
	return p->table && p->keys;
}

static unsigned run_once(const struct program *p, unsigned repeat)
{
	static uint8_t packet[64];
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = packet, .data_size_in = sizeof packet, .repeat = (int)repeat);

	return bpf_prog_test_run_opts(p->fd, &o) ? 0 : o.duration;
}

static double run_kernel(const struct program *p, const struct tables *t, unsigned repeat, unsigned rounds)
{
	unsigned least = ~0u, ns;

	if (t)
		memcpy(p->table, t->word, t->n_words * sizeof *t->word);
	else
		memset(p->table, 0, DP_POINTS * DP_POINT_WORDS * sizeof *p->table);
	for (unsigned i = 0; i < rounds; i++) {
		ns = run_once(p, repeat);
		least = ns < least ? ns : least;
	}
	return least;
}

static void put_keys(const struct program *p, const struct classbench_packet *trace, bool ip6)
{
	for (size_t i = 0; i < KEYS; i++) {
		const struct classbench_packet *q = &trace[i];
		uint64_t *w = p->keys + i * (ip6 ? KEY_WORDS : KEY_WORDS_IP4), l4 = (uint64_t)q->proto << 24;
		bool is_tcp = q->proto == 6, has_ports = is_tcp || q->proto == 17;

		if (has_ports)
			l4 |= (uint64_t)q->sport << 48 | (uint64_t)q->dport << 32 | DP_HAS_PORTS |
			      (is_tcp ? (uint64_t)q->flags << 16 | DP_HAS_TCP : 0);
		if (ip6)
			memcpy(w, (uint64_t[]){ 0x20010db800000000u | q->src, 0, 0x20010db800000000u, q->dst, l4 },
			       KEY_WORDS * sizeof *w);
		else
			memcpy(w, (uint64_t[]){ (uint64_t)q->src << 32 | q->dst, l4 }, KEY_WORDS_IP4 * sizeof *w);
	}
}

/* ---------- in user space ---------- */

enum { PACKET = 64 };

/* IP packets close to each other, as small as they can be: what is measured are the tables. */
struct packets {
	uint8_t (*bytes)[PACKET];
	uint8_t len[KEYS];
	struct packet *packet; /* for one by one */
};

static void make_packets(struct arena *a, const struct classbench_packet *trace, bool ip6, struct packets *out)
{
	uint8_t frame[CLASSBENCH_FRAME];

	out->bytes = arena_alloc(a, KEYS * PACKET, PACKET);
	out->packet = arena_new(a, struct packet, KEYS);
	for (size_t i = 0; i < KEYS; i++) {
		struct packet *p = &out->packet[i];

		out->len[i] = (uint8_t)(classbench_frame(&trace[i], ip6, frame) - 14);
		memcpy(out->bytes[i], frame + 14, out->len[i]);
		packet_init(p);
		p->bytes = out->bytes[i];
		p->len = p->wire_len = out->len[i];
		p->link = PACKET_LINK_IP;
	}
}

static double run_user(struct native *nat, const struct packets *p, size_t n)
{
	double start = now_ns();
	struct native_result r;

	for (size_t i = 0; i < n; i++)
		native_run(nat, POINT, &p->packet[i], 0, 0, &r);
	return (now_ns() - start) / (double)n;
}

static double run_batch(struct native *nat, const struct packets *p, size_t n)
{
	static const struct native_way way = { { POINT }, 1 };
	static const struct native_facts facts;
	struct native_frame frame[NATIVE_BATCH];
	struct native_answer out[NATIVE_BATCH];
	double start = now_ns();

	for (size_t i = 0; i < n; i += NATIVE_BATCH) {
		for (size_t k = 0; k < NATIVE_BATCH; k++)
			frame[k] = (struct native_frame){ .bytes = p->bytes[i + k], .len = p->len[i + k], .facts = &facts,
							  .link = PACKET_LINK_IP, .ct = -1 };
		native_batch(nat, &way, frame, NATIVE_BATCH, 0, out);
	}
	return (now_ns() - start) / (double)n;
}

/* ns a packet above no rules: the least of rounds in which both take their turn. */
static double above_none(struct arena *a, const struct tables *t, const struct packets *p, size_t n,
			 double (*run)(struct native *, const struct packets *, size_t))
{
	static const uint64_t none[DP_POINTS * DP_POINT_WORDS + DP_TABLE_PAD];
	struct native *with = native_create(a, &(struct native_tables){ .word = t->word, .n_words = t->n_words, .n_counters = 1u << COUNTERS_LOG2 });
	struct native *without = native_create(a, &(struct native_tables){ .word = none, .n_words = DP_POINTS * DP_POINT_WORDS, .n_counters = 1u << COUNTERS_LOG2 });
	double least = 1e18, least_none = 1e18;

	for (unsigned round = 0; round < 15; round++) {
		double ns = run(with, p, n), ns_none = run(without, p, n);

		least = ns < least ? ns : least;
		least_none = ns_none < least_none ? ns_none : least_none;
	}
	return least - least_none;
}

/* ---------- one set ---------- */

static struct tables *compile(struct arena *a, const struct classbench *c, bool ip6, enum tables_engine engine, double *ms)
{
	struct sources src = { .a = a };
	struct diags d = { .a = a, .sources = &src };
	struct tables_options opt = { .test_run = true, .hz = 250, .engine = engine };
	struct ruleset *rs = policy_create(a);
	struct tables *t;
	struct lang_file f;

	lang_read(rs, &d, source_add(&src, "rules", classbench_text(a, c, ip6)), ip6 ? LANG_IP6TABLES : LANG_IPTABLES, &f);
	policy_number(rs);
	*ms = now_ns();
	t = tables_build(a, rs, &opt, &d);
	*ms = (now_ns() - *ms) / 1e6;
	return t;
}

/* What is built when nobody says which engine, and how long it takes at least, with whatever was tried for it. */
static void run_choice(const struct classbench *c, const char *name, bool ip6, const char *const *engines)
{
	const char *engine = "";
	double least = 1e18, ms;

	for (unsigned i = 0; i < 5; i++) {
		struct arena *a = arena_create();

		engine = engines[compile(a, c, ip6, 0, &ms)->list[0].engine];
		least = ms < least ? ms : least;
		arena_destroy(a);
	}
	printf("%-5s %6zu  load takes %s, built in %.1f ms\n", name, c->n, engine, least);
	fflush(stdout);
}

static void run_set(const struct program *p, const char *dir, const char *name, size_t n, bool ip6)
{
	static const char *const engines[] = { "any", "scan", "graph", "classes" };
	struct arena *a = arena_create();
	struct classbench c = { .random = 7 };
	struct packets packets;
	struct classbench_packet *trace = arena_new(a, struct classbench_packet, KEYS);
	size_t file = n <= 1000 ? 1000 : n;

	if (!classbench_read(a, arena_cstr(a, arena_printf(a, "%s/%s.%zu", dir, name, file)), n, false, &c)) {
		printf("%s.%zu: not there\n", name, file);
		arena_destroy(a);
		return;
	}
	classbench_trace(&c, trace, KEYS);
	put_keys(p, trace, ip6);
	make_packets(a, trace, ip6, &packets);
	for (enum tables_engine e = TABLES_ENGINE_SCAN; e < TABLES_ENGINE_COUNT; e++) {
		bool is_slow = e == TABLES_ENGINE_SCAN && n > 1000;
		size_t keys = is_slow ? KEYS / 8 : KEYS;
		double ms, none, kernel, one, user, batch;
		struct tables *t;

		if (e == TABLES_ENGINE_SCAN && n > SCAN_MOST)
			continue;
		t = compile(a, &c, ip6, e, &ms);
		none = run_kernel(p, NULL, KEYS * PASSES, 15);
		kernel = run_kernel(p, t, (unsigned)keys * (is_slow ? 1 : PASSES), is_slow ? 3 : 15) - none;
		one = run_kernel(p, t, (unsigned)keys, is_slow ? 3 : 15) - none;
		user = above_none(a, t, &packets, keys, run_user);
		batch = above_none(a, t, &packets, keys, run_batch);
		printf("%-5s %6zu  %-5s  kernel %7.0f ns (one pass %.0f)  user %7.0f ns  in batches %6.1f ns  build %7.1f ms  %5.0f bytes a rule, lookup %4.0f  worst %u\n",
		       name, c.n, engines[t->list[0].engine], kernel, one, user, batch, ms, 8.0 * t->n_words / (double)c.n,
		       8.0 * (double)t->list[0].n_words / (double)c.n, t->list[0].worst);
		fflush(stdout);
	}
	run_choice(&c, name, ip6, engines);
	arena_destroy(a);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "acl1", "fw1", "ipc1" };
	static const size_t counts[] = { 10, 30, 100, 300, 1000, 10000, 100000 };
	bool ip6 = argc > 3 && strcmp(argv[3], "ip6") == 0;
	struct program p;

	if (argc < 3) {
		fprintf(stderr, "usage: classify KEY.bpf.o DIR [ip6]\n");
		return 2;
	}
	if (!program_open(&p, argv[1], ip6)) {
		fprintf(stderr, "classify: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	printf("IPv%d; the program loads in %.1f ms; above a program without rules, which takes %.0f ns:\n", ip6 ? 6 : 4, p.load_ms,
	       run_kernel(&p, NULL, KEYS, 15));
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		for (size_t k = 0; k < 3; k++)
			run_set(&p, argv[2], names[k], counts[i], ip6);
	return 0;
}
