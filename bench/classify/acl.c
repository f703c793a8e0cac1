/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The same rules and packets as bench/classify/classify.c in DPDK's rte_acl: ns a packet, one by one and in its best batch.
 *
 *     acl DIR [N...]        the first N rules of acl1, fw1, ipc1; 300 1000 10000 without
 *
 * rte_acl is given the fields of packets as they come to lie in a row; nothing is parsed. It is asked without the flags of
 * TCP. Every set is checked first: the rule that it finds for 4,096 packets against a search from the first rule on.
 */
#include <arpa/inet.h>
#include <rte_acl.h>
#include <rte_eal.h>
#include <rte_malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "diff/lib/classbench.h"

enum { KEYS = 16384, CHECKED = 4096, ROUNDS = 15, MOST_BATCH = 32 };
enum { PROTO, SRC, DST, SPORT, DPORT, FIELDS };

struct fields { /* network order */
	uint8_t proto, pad[3];
	uint32_t src, dst;
	uint16_t sport, dport;
};
RTE_ACL_RULE_DEF(acl_rule, FIELDS);

static struct rte_acl_field_def field(uint8_t type, uint8_t size, uint8_t index, uint8_t input, size_t offset)
{
	return (struct rte_acl_field_def){ .type = type, .size = size, .field_index = index, .input_index = input,
					   .offset = (uint32_t)offset };
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---------- rules and packets ---------- */

static struct acl_rule rule_of(const struct classbench_rule *r, size_t i)
{
	struct acl_rule out = { .data = { .category_mask = 1, .userdata = (uint32_t)i + 1, .priority = RTE_ACL_MAX_PRIORITY - (int)i } };

	out.field[PROTO].value.u8 = r->proto;
	out.field[PROTO].mask_range.u8 = r->has_proto ? 0xff : 0;
	out.field[SRC].value.u32 = r->src;
	out.field[SRC].mask_range.u32 = r->src_plen;
	out.field[DST].value.u32 = r->dst;
	out.field[DST].mask_range.u32 = r->dst_plen;
	out.field[SPORT].value.u16 = r->sport_lo;
	out.field[SPORT].mask_range.u16 = r->sport_hi;
	out.field[DPORT].value.u16 = r->dport_lo;
	out.field[DPORT].mask_range.u16 = r->dport_hi;
	return out;
}

static struct rte_acl_ctx *context(const char *name, const struct classbench *c)
{
	struct rte_acl_param p = { .name = name, .socket_id = SOCKET_ID_ANY, .rule_size = RTE_ACL_RULE_SZ(FIELDS),
				   .max_rule_num = (uint32_t)c->n };
	struct rte_acl_ctx *x = rte_acl_create(&p);

	for (size_t i = 0; x && i < c->n; i++) {
		struct acl_rule r = rule_of(&c->rule[i], i);

		if (rte_acl_add_rules(x, (struct rte_acl_rule *)&r, 1))
			return NULL;
	}
	return x;
}

static int build(struct rte_acl_ctx *x, double *ms, double *bytes)
{
	struct rte_acl_config cfg = { .num_categories = 1, .num_fields = FIELDS };
	struct rte_malloc_socket_stats before, after;
	int err;

	cfg.defs[PROTO] = field(RTE_ACL_FIELD_TYPE_BITMASK, 1, PROTO, 0, offsetof(struct fields, proto));
	cfg.defs[SRC] = field(RTE_ACL_FIELD_TYPE_MASK, 4, SRC, 1, offsetof(struct fields, src));
	cfg.defs[DST] = field(RTE_ACL_FIELD_TYPE_MASK, 4, DST, 2, offsetof(struct fields, dst));
	cfg.defs[SPORT] = field(RTE_ACL_FIELD_TYPE_RANGE, 2, SPORT, 3, offsetof(struct fields, sport));
	cfg.defs[DPORT] = field(RTE_ACL_FIELD_TYPE_RANGE, 2, DPORT, 3, offsetof(struct fields, dport));
	rte_malloc_get_socket_stats(0, &before);
	*ms = now_ns();
	err = rte_acl_build(x, &cfg);
	*ms = (now_ns() - *ms) / 1e6;
	rte_malloc_get_socket_stats(0, &after);
	*bytes = (double)after.heap_allocsz_bytes - (double)before.heap_allocsz_bytes;
	return err;
}

static bool has_ports(const struct classbench_packet *p)
{
	return p->proto == 6 || p->proto == 17;
}

static void lay_out(const struct classbench_packet *p, struct fields *f, const uint8_t **row)
{
	for (size_t i = 0; i < KEYS; i++) {
		bool ports = has_ports(&p[i]);

		f[i] = (struct fields){ .proto = p[i].proto, .src = htonl(p[i].src), .dst = htonl(p[i].dst) };
		f[i].sport = ports ? htons(p[i].sport) : 0;
		f[i].dport = ports ? htons(p[i].dport) : 0;
		row[i] = (const uint8_t *)&f[i];
	}
}

/* ---------- measuring ---------- */

static size_t wrong(struct rte_acl_ctx *x, const struct classbench *c, const struct classbench_packet *p, const uint8_t **row)
{
	static uint32_t found[KEYS];
	uint32_t *hit = calloc(c->n, sizeof *hit), mark;
	size_t n = 0;
	bool drops;

	rte_acl_classify_alg(x, row, found, CHECKED, 1, RTE_ACL_CLASSIFY_SCALAR);
	for (size_t i = 0; hit && i < CHECKED; i++)
		n += found[i] != (classbench_judge(c, &p[i], hit, &mark, &drops) ? hit[0] + 1 : 0);
	free(hit);
	return n;
}

/* ns a packet, the least of some rounds; a very large number if this machine cannot do it. */
static double classify(struct rte_acl_ctx *x, const uint8_t **row, enum rte_acl_classify_alg alg, uint32_t batch)
{
	static uint32_t found[KEYS];
	double least = 1e18;

	for (unsigned round = 0; round < ROUNDS; round++) {
		double start = now_ns();

		for (size_t i = 0; i < KEYS; i += batch)
			if (rte_acl_classify_alg(x, row + i, found + i, batch, 1, alg))
				return 1e18;
		start = (now_ns() - start) / KEYS;
		least = start < least ? start : least;
	}
	return least;
}

static double best_batch(struct rte_acl_ctx *x, const uint8_t **row, const char **name, uint32_t *size)
{
	static const struct {
		enum rte_acl_classify_alg alg;
		const char *name;
	} algs[] = { { RTE_ACL_CLASSIFY_SCALAR, "scalar" }, { RTE_ACL_CLASSIFY_SSE, "SSE" }, { RTE_ACL_CLASSIFY_AVX2, "AVX2" },
		     { RTE_ACL_CLASSIFY_AVX512X16, "AVX512x16" }, { RTE_ACL_CLASSIFY_AVX512X32, "AVX512x32" } };
	double least = 1e18;

	for (size_t i = 0; i < sizeof algs / sizeof *algs; i++)
		for (uint32_t batch = 8; batch <= MOST_BATCH; batch *= 2) {
			double ns = classify(x, row, algs[i].alg, batch);

			if (ns >= least)
				continue;
			least = ns;
			*name = algs[i].name;
			*size = batch;
		}
	return least;
}

static void run_set(const char *dir, const char *set, size_t n)
{
	struct arena *a = arena_create();
	struct classbench c = { .random = 7 };
	struct classbench_packet *p = arena_new(a, struct classbench_packet, KEYS);
	const uint8_t **row = arena_new(a, const uint8_t *, KEYS);
	struct fields *f = arena_new(a, struct fields, KEYS);
	double ms, bytes, single, batch;
	const char *alg = "", *path = arena_cstr(a, arena_printf(a, "%s/%s.%zu", dir, set, n <= 1000 ? (size_t)1000 : n));
	struct rte_acl_ctx *x;
	uint32_t size = 0;

	if (!classbench_read(a, path, n, false, &c))
		goto out;
	for (size_t i = 0; i < c.n; i++)
		c.rule[i].flags_mask = 0;
	classbench_trace(&c, p, KEYS);
	lay_out(p, f, row);
	x = context(arena_cstr(a, arena_printf(a, "%s.%zu", set, n)), &c);
	if (!x || build(x, &ms, &bytes)) {
		printf("%-5s %6zu  rte_acl  n/a: it cannot be built\n", set, c.n);
		goto out;
	}
	single = classify(x, row, RTE_ACL_CLASSIFY_SCALAR, 1);
	batch = best_batch(x, row, &alg, &size);
	printf("%-5s %6zu  rte_acl  one by one %5.0f ns, in batches %6.1f ns (%s, %u)  build %8.1f ms  %6.0f bytes a rule  %zu wrong\n", set,
	       c.n, single, batch, alg, size, ms, bytes / (double)c.n, wrong(x, &c, p, row));
	fflush(stdout);
	rte_acl_free(x);
out:
	arena_destroy(a);
}

int main(int argc, char **argv)
{
	static char *eal[] = { "acl", "--no-huge", "--no-pci", "--no-telemetry", "--log-level=1", "-m", "4096", "-l", "0" };
	static const char *const sets[] = { "acl1", "fw1", "ipc1" };
	static const size_t counts[] = { 300, 1000, 10000 };
	size_t n = argc > 2 ? (size_t)argc - 2 : sizeof counts / sizeof *counts;

	if (argc < 2) {
		fprintf(stderr, "usage: acl DIR [N...]\n");
		return 2;
	}
	if (rte_eal_init(sizeof eal / sizeof *eal, eal) < 0) {
		fprintf(stderr, "acl: DPDK does not start\n");
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
			run_set(argv[1], sets[k], argc > 2 ? strtoul(argv[2 + i], NULL, 10) : counts[i]);
	return 0;
}
