/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random rulesets, and packets that hit their edges; as text, from a seed. Nothing of src/ is used here, so that the
 * texts can be given to any program that reads iptables-save and the packet notation.
 *
 *     struct gen g;
 *     gen_begin(&g, seed, 0);
 *     puts(gen_sets(&g)); puts(gen_rules(&g));          "" if the ruleset has no sets
 *     for (...) { gen_packet(&g, line, sizeof line); puts(line); }
 *
 * While rules are made, each value that they compare with leaves its neighbours in a pool (first - 1, first, last,
 * last + 1); packets draw from the pools, so that what a rule tells apart is asked. The same seed and flags give the
 * same text everywhere.
 */
#ifndef WEIR_TESTS_DIFF_GEN_H
#define WEIR_TESTS_DIFF_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gen_flag {
	GEN_IP4 = 1, /* this family only; neither or both: either */
	GEN_IP6 = 2,
	GEN_LIVE = 4, /* only what a real iptables can load and traffic can show: filter table, no marks, no state */
};

enum gen_pool {
	GEN_SRC, GEN_DST, GEN_SPORT, GEN_DPORT, GEN_PROTO, GEN_ICMP, GEN_MARK, GEN_CTMARK, GEN_LENGTH, GEN_TTL, GEN_TOS,
	GEN_FLAGS, GEN_MAC, GEN_UID, GEN_GID, GEN_SPI, GEN_MSS, GEN_OPT, GEN_CPU, GEN_REALM, GEN_FRAGID, GEN_HDRLEN,
	GEN_RTTYPE, GEN_RTLEFT, GEN_DCCP, GEN_POOLS
};

typedef unsigned __int128 gen_u128;

struct gen_values {
	gen_u128 v[96];
	unsigned n;
};
struct gen_set {
	char name[16];
	const char *type;
	unsigned n_dims;
	char dim[3]; /* a address, n net, p port, i interface, m MAC, k mark, l list */
};
struct gen_chain {
	char name[32];
	unsigned hooks; /* bit 1 << hook: from where it is reached */
	bool is_base;
};

struct gen {
	uint64_t random;
	unsigned flags;
	bool ip6;
	bool is_large;	 /* many rules, and more alike */
	bool has_frames; /* packets come as Ethernet frames */
	struct gen_values pool[GEN_POOLS];
	struct gen_set set[6];
	unsigned n_sets;
	uint64_t now; /* of the packets, in 1/10000 s */
	char *text;   /* of the rules, then of the sets */
	size_t n, cap;
};

void gen_begin(struct gen *g, uint64_t seed, unsigned flags);
const char *gen_sets(struct gen *g);  /* first */
const char *gen_rules(struct gen *g); /* then */
const char *gen_nft_rules(struct gen *g); /* instead: nft; then set ip6 for each packet */
void gen_packet(struct gen *g, char *line, size_t n);
void gen_end(struct gen *g);

/* ---------- inside ---------- */

uint64_t gen_below(struct gen *g, uint64_t n); /* 0..n-1 */
bool gen_chance(struct gen *g, unsigned percent);
void gen_printf(struct gen *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A span was compared with: its edges go into the pool. */
void gen_edges(struct gen *g, enum gen_pool p, gen_u128 lo, gen_u128 hi);
/* One of the pool, or `other` if it is empty or by chance. */
gen_u128 gen_draw(struct gen *g, enum gen_pool p, gen_u128 other);
gen_u128 gen_addr(struct gen *g); /* of the documentation networks */
const char *gen_addr_text(const struct gen *g, gen_u128 a, char buf[64]);
const char *gen_iface(struct gen *g);
/* gen_match.c: up to a few matches of a rule, with the options before them. hooks: where the rule is reached from. */
void gen_matches(struct gen *g, unsigned hooks, bool is_mangle);

enum { GEN_PREROUTING, GEN_INPUT, GEN_FORWARD, GEN_OUTPUT, GEN_POSTROUTING };

#endif
