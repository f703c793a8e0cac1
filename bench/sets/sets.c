/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets of addresses: what looking an address up costs in weir's programs and in the kernel's own maps, in one run in which
 * all take their turn; how long it takes to make a set, and to add one element.
 *
 *     sets KEY.bpf.o PEERS.bpf.o [N...]       tables; N: how many elements, 1000 100000 1000000 without
 *     sets list nets|hosts N                  the elements, one a line, for other tools
 *     sets keys nets|hosts N                  the addresses to look up, 4 bytes each, network order
 *     sets strangers nets|hosts N             addresses in no element, one a line
 *
 * Lookups are test runs: the median of the rounds, above the same program that asks no set (ways.h). `hot` asks for 256 addresses again
 * and again, `wide` for 16,384.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sets/make.h"
#include "sets/ways.h"

enum { HOT_KEYS = 256, ROUNDS = 21 };

static const char *const kind_names[] = { "nets", "hosts" };

struct result {
	const char *why; /* not NULL: it could not be measured */
	double make_ms, add_us, ns[2]; /* hot, wide */
};

double ways_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double ways_test_run(int fd, unsigned repeat)
{
	static uint8_t packet[64];
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = packet, .data_size_in = sizeof packet, .repeat = (int)repeat);

	return bpf_prog_test_run_opts(fd, &o) ? 0 : o.duration;
}

/* ---------- measuring ---------- */

static int compare(const void *x, const void *y)
{
	double p = *(const double *)x, q = *(const double *)y;

	return (p > q) - (p < q);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, compare);
	return v[n / 2];
}

/* All ways in turns, each with its base just before it; the median of the differences. */
static void measure_lookups(struct way *w, size_t n_ways, struct result *r, unsigned which)
{
	static double diff[8][ROUNDS];

	for (unsigned round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < n_ways; i++) {
			double base, with;

			if (r[i].why)
				continue;
			base = w[i].run(&w[i], true);
			with = w[i].run(&w[i], false);
			if (base <= 0 || with <= 0)
				r[i].why = "a run failed";
			diff[i][round] = with - base;
		}
	for (size_t i = 0; i < n_ways; i++)
		if (!r[i].why)
			r[i].ns[which] = median(diff[i], ROUNDS);
}

static void measure_add(struct way *w, const struct bench *b, struct result *r)
{
	static double us[WAYS_ADDED];
	size_t n = b->n < WAYS_ADDED ? b->n : WAYS_ADDED;

	for (size_t i = 0; i < n; i++) {
		double start = ways_now_ns();

		if (w->add(w, make_stranger(b->net, b->n, i)))
			r->why = "an element cannot be added";
		us[i] = (ways_now_ns() - start) / 1e3;
	}
	r->add_us = median(us, n);
}

static void print_result(const struct way *w, const struct result *r)
{
	printf("  %-34s", w->name);
	if (r->why) {
		printf("  n/a: %s\n", r->why);
		return;
	}
	printf("  lookup hot %6.1f ns, wide %6.1f ns", r->ns[0], r->ns[1]);
	if (w->add)
		printf("   made in %8.1f ms   one more %7.2f us", r->make_ms, r->add_us);
	putchar('\n');
}

static void measure(const struct bench *b)
{
	struct way w[] = { way_weir, way_plain, way_library, way_map };
	enum { N = sizeof w / sizeof *w };
	static uint32_t key[MAKE_KEYS], hot[MAKE_KEYS];
	struct result r[N] = { 0 };

	make_keys(key, b->net, b->n);
	for (size_t i = 0; i < MAKE_KEYS; i++)
		hot[i] = key[i % HOT_KEYS];
	for (size_t i = 0; i < N; i++)
		r[i].why = w[i].open(&w[i], b, &r[i].make_ms);
	for (unsigned which = 0; which < 2; which++) {
		for (size_t i = 0; i < N; i++)
			if (!r[i].why)
				w[i].keys(&w[i], which ? key : hot);
		measure_lookups(w, N, r, which);
	}
	for (size_t i = 0; i < N; i++) {
		if (!r[i].why && w[i].add)
			measure_add(&w[i], b, &r[i]);
		print_result(&w[i], &r[i]);
		if (w[i].close && w[i].own)
			w[i].close(&w[i]);
	}
	fflush(stdout);
}

/* ---------- what is asked ---------- */

static void print_net(uint32_t addr, unsigned plen)
{
	printf(plen == 32 ? "%u.%u.%u.%u\n" : "%u.%u.%u.%u/%u\n", addr >> 24, addr >> 16 & 255, addr >> 8 & 255, addr & 255, plen);
}

static void print_keys(const struct net *v, size_t n)
{
	static uint32_t key[MAKE_KEYS];

	make_keys(key, v, n);
	for (size_t i = 0; i < MAKE_KEYS; i++)
		key[i] = htonl(key[i]);
	fwrite(key, sizeof *key, MAKE_KEYS, stdout);
}

/* For other tools. */
static int print(const char *what, const char *kind, size_t n)
{
	struct arena *a = arena_create();
	struct net *v = arena_new(a, struct net, n);

	make_nets(v, n, strcmp(kind, "hosts") == 0);
	if (strcmp(what, "keys") == 0)
		print_keys(v, n);
	for (size_t i = 0; i < n && strcmp(what, "list") == 0; i++)
		print_net(v[i].addr, v[i].plen);
	for (size_t i = 0; i < n && i < WAYS_ADDED && strcmp(what, "strangers") == 0; i++)
		print_net(make_stranger(v, n, i), 32);
	arena_destroy(a);
	return ferror(stdout) != 0;
}

static void run(char **object, size_t n, bool is_hosts)
{
	struct bench b = { .a = arena_create(), .key_object = object[0], .peers_object = object[1], .n = n, .is_hosts = is_hosts };
	struct net *v = arena_new(b.a, struct net, n);

	make_nets(v, n, is_hosts);
	b.net = v;
	printf("%zu %s\n", n, kind_names[is_hosts]);
	measure(&b);
	arena_destroy(b.a);
}

int main(int argc, char **argv)
{
	static const size_t counts[] = { 1000, 100000, 1000000 };
	size_t n = argc > 3 ? (size_t)argc - 3 : sizeof counts / sizeof *counts;

	if (argc == 4 && (strcmp(argv[2], "nets") == 0 || strcmp(argv[2], "hosts") == 0))
		return print(argv[1], argv[2], strtoul(argv[3], NULL, 10));
	if (argc < 3) {
		fputs("usage: sets KEY.bpf.o PEERS.bpf.o [N...] | list|keys|strangers nets|hosts N\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < n; i++)
		for (int is_hosts = 0; is_hosts < 2; is_hosts++)
			run(argv + 1, argc > 3 ? strtoul(argv[3 + i], NULL, 10) : counts[i], is_hosts);
	return 0;
}
