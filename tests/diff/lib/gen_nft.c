/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random nft rulesets as text: tables of ip, ip6 and inet, several base chains a hook, named and anonymous sets and maps,
 * concatenations with intervals, verdict maps, jump, goto and return. As with iptables, every value leaves its edges for the
 * packets. A rule is about one network protocol and one transport, because nft refuses two of a kind.
 *
 * Elements of a set that has intervals are made in rising order, so that none overlaps another.
 */
#include "diff/lib/gen.h"

#include <stdio.h>
#include <string.h>

enum { MAX_OWN = 4 };

struct nft_make {
	struct gen *g;
	int family;	    /* of the table: 0 ip, 1 ip6, 2 inet */
	const char *l4;	    /* of the rule: "tcp" ... or "icmp" */
	bool is_output;	    /* sockets may be asked */
	unsigned from, own; /* chains c<from> to c<own - 1> may be called */
	bool has_map;	    /* the rule looks something up: its counter is written */
};

static const char *net(const struct nft_make *m)
{
	return m->g->ip6 ? "ip6" : "ip";
}

static const char *ne(struct gen *g)
{
	return gen_chance(g, 20) ? "!= " : "";
}

/* ---------- values ---------- */

static void put_addr_at(struct gen *g, enum gen_pool p, gen_u128 a)
{
	char buf[64];

	gen_edges(g, p, a, a);
	gen_printf(g, "%s", gen_addr_text(g, a, buf));
}

/* An address, a prefix or a range from a on; returns its last one. */
static gen_u128 put_addr_span(struct gen *g, enum gen_pool p, gen_u128 a)
{
	unsigned bits = g->ip6 ? 128 : 32, host = (unsigned)gen_below(g, 10);
	gen_u128 hi, size = (gen_u128)1 << host;
	char x[64], y[64];

	switch (gen_below(g, 3)) {
	case 0:
		put_addr_at(g, p, a);
		return a;
	case 1:
		a = (a + size - 1) & ~(size - 1);
		hi = a | (size - 1);
		gen_printf(g, "%s/%u", gen_addr_text(g, a, x), bits - host);
		break;
	default:
		hi = a + 1 + gen_below(g, 300);
		gen_printf(g, "%s-%s", gen_addr_text(g, a, x), gen_addr_text(g, hi, y));
	}
	gen_edges(g, p, a, hi);
	return hi;
}

static gen_u128 first_addr(struct gen *g)
{
	gen_u128 a = gen_addr(g);

	return g->ip6 ? a : a & 0x7fffffff; /* rising elements do not pass the end */
}

static unsigned put_port_span(struct gen *g, enum gen_pool p, unsigned lo)
{
	unsigned hi = lo;

	if (gen_chance(g, 50))
		hi = lo + 1 + (unsigned)gen_below(g, gen_chance(g, 80) ? 8 : 3000);
	gen_edges(g, p, lo, hi);
	gen_printf(g, hi > lo ? "%u-%u" : "%u", lo, hi);
	return hi;
}

static void put_mark_value(struct gen *g)
{
	unsigned v = (unsigned)gen_below(g, 16);

	gen_edges(g, GEN_MARK, v, v);
	gen_printf(g, "0x%x", v);
}

static void put_verdict(struct nft_make *m)
{
	static const char *const words[] = { "accept", "drop", "drop", "return", "continue" };
	struct gen *g = m->g;

	if (m->from < m->own && gen_chance(g, 45))
		gen_printf(g, "%s c%u", gen_chance(g, 70) ? "jump" : "goto", m->from + (unsigned)gen_below(g, m->own - m->from));
	else
		gen_printf(g, "%s", words[gen_below(g, 5)]);
}

/* ---------- elements: with_data puts " : DATA" behind each ---------- */

typedef void put_data(struct nft_make *m);

static void put_behind(struct nft_make *m, put_data *data)
{
	if (!data)
		return;
	gen_printf(m->g, " : ");
	data(m);
}

static void mark_data(struct nft_make *m)
{
	put_mark_value(m->g);
}

static void put_addrs(struct nft_make *m, enum gen_pool p, bool spans, put_data *data)
{
	gen_u128 at = first_addr(m->g);
	unsigned n = 1 + (unsigned)gen_below(m->g, 5);

	for (unsigned i = 0; i < n; i++) {
		gen_printf(m->g, i ? ", " : "{ ");
		if (spans)
			at = put_addr_span(m->g, p, at);
		else
			put_addr_at(m->g, p, at);
		put_behind(m, data);
		at += 2 + gen_below(m->g, 600);
	}
	gen_printf(m->g, " }");
}

static void put_ports(struct nft_make *m, enum gen_pool p, put_data *data)
{
	unsigned at = (unsigned)gen_below(m->g, 20), n = 1 + (unsigned)gen_below(m->g, 5);

	for (unsigned i = 0; i < n; i++) {
		gen_printf(m->g, i ? ", " : "{ ");
		at = put_port_span(m->g, p, at) + 2 + (unsigned)gen_below(m->g, 10);
		put_behind(m, data);
	}
	gen_printf(m->g, " }");
}

static void put_pairs(struct nft_make *m, enum gen_pool a, enum gen_pool p, bool spans, put_data *data)
{
	gen_u128 at = first_addr(m->g);
	unsigned n = 1 + (unsigned)gen_below(m->g, 6);

	for (unsigned i = 0; i < n; i++) {
		unsigned port = (unsigned)gen_below(m->g, 40);

		gen_printf(m->g, i ? ", " : "{ ");
		if (spans)
			at = put_addr_span(m->g, a, at);
		else
			put_addr_at(m->g, a, at);
		gen_printf(m->g, " . ");
		if (spans)
			put_port_span(m->g, p, port);
		else {
			gen_edges(m->g, p, port, port);
			gen_printf(m->g, "%u", port);
		}
		put_behind(m, data);
		at += 1 + gen_below(m->g, 3);
	}
	gen_printf(m->g, " }");
}

/* ---------- matches ---------- */

static void match_addr(struct nft_make *m)
{
	struct gen *g = m->g;
	enum gen_pool p = gen_chance(g, 60) ? GEN_SRC : GEN_DST;

	gen_printf(g, "%s %s ", net(m), p == GEN_SRC ? "saddr" : "daddr");
	switch (gen_below(g, 5)) {
	case 0:
		gen_printf(g, "%s", ne(g));
		put_addrs(m, p, gen_chance(g, 60), NULL);
		break;
	case 1:
		gen_printf(g, "%s@%s_%s", ne(g), gen_chance(g, 50) ? "hosts" : "nets", net(m));
		break;
	case 2: {
		gen_u128 a = gen_addr(g), mask = ~(gen_u128)0 ^ ((gen_u128)0xff << 8) ^ 3;
		char x[64], y[64];

		gen_edges(g, p, a & mask, a & mask);
		gen_printf(g, "& %s == %s", gen_addr_text(g, mask, x), gen_addr_text(g, a & mask, y));
		break;
	}
	default:
		gen_printf(g, "%s", ne(g));
		put_addr_span(g, p, gen_addr(g) & (g->ip6 ? ~(gen_u128)0 : 0x7fffffff));
	}
	gen_printf(g, " ");
}

static void match_port(struct nft_make *m)
{
	static const char *const ops[] = { "< ", "> ", "<= ", ">= " };
	struct gen *g = m->g;
	enum gen_pool p = gen_chance(g, 40) ? GEN_SPORT : GEN_DPORT;
	unsigned v = 1 + (unsigned)gen_below(g, 40);

	gen_printf(g, "%s %s ", m->l4, p == GEN_SPORT ? "sport" : "dport");
	switch (gen_below(g, 4)) {
	case 0:
		gen_printf(g, "%s", ne(g));
		put_ports(m, p, NULL);
		break;
	case 1:
		gen_printf(g, "%s@ports", ne(g));
		break;
	case 2:
		gen_edges(g, p, v, v);
		gen_printf(g, "%s%u", ops[gen_below(g, 4)], v);
		break;
	default:
		gen_printf(g, "%s", ne(g));
		put_port_span(g, p, v);
	}
	gen_printf(g, " ");
}

static void match_flags(struct nft_make *m)
{
	static const char *const names[] = { "fin", "syn", "rst", "psh", "ack", "urg", "ecn", "cwr" };
	struct gen *g = m->g;
	unsigned a = (unsigned)gen_below(g, 8), b = (a + 1 + (unsigned)gen_below(g, 7)) % 8;
	const char *x = names[a], *y = names[b];

	gen_edges(g, GEN_FLAGS, 1u << a, 1u << a);
	gen_edges(g, GEN_FLAGS, 1u << a | 1u << b, 1u << a | 1u << b);
	gen_printf(g, "tcp flags ");
	switch (gen_below(g, 9)) {
	case 0:
		gen_printf(g, "%s ", x);
		break;
	case 1:
		gen_printf(g, "%s,%s ", x, y);
		break;
	case 2:
		gen_printf(g, "== %s ", x);
		break;
	case 3:
		gen_printf(g, "!= %s ", x);
		break;
	case 4:
		gen_printf(g, "& (%s | %s) == %s ", x, y, x);
		break;
	case 5:
		gen_printf(g, "& (%s | %s) != 0 ", x, y);
		break;
	case 6:
		gen_printf(g, "! %s,%s ", x, y);
		break;
	case 7:
		gen_printf(g, "{ %s, %s | %s } ", x, x, y);
		break;
	default:
		gen_printf(g, "%s / %s,%s ", x, x, y);
	}
}

static void match_icmp(struct nft_make *m)
{
	struct gen *g = m->g;
	unsigned type = (unsigned)gen_below(g, 20) + (g->ip6 ? 120 : 0), code = (unsigned)gen_below(g, 4);

	gen_edges(g, GEN_ICMP, type << 8 | code, type << 8 | code);
	gen_edges(g, GEN_PROTO, g->ip6 ? 58 : 1, g->ip6 ? 58 : 1);
	gen_printf(g, "%s ", g->ip6 ? "icmpv6" : "icmp");
	switch (gen_below(g, 4)) {
	case 0:
		gen_printf(g, "code %s%u ", ne(g), code);
		break;
	case 1:
		gen_printf(g, "type { %u, %u } ", type, type + 2);
		break;
	case 2:
		gen_printf(g, "type %u-%u ", type, type + 5);
		break;
	default:
		gen_printf(g, "type %s%u ", ne(g), type);
	}
}

static void match_proto(struct nft_make *m)
{
	static const unsigned protos[] = { 6, 17, 1, 58, 132, 136, 50, 47 };
	struct gen *g = m->g;
	unsigned a = protos[gen_below(g, 8)], b = protos[gen_below(g, 8)];
	const char *word = gen_chance(g, 60) ? "meta l4proto" : g->ip6 ? "ip6 nexthdr" : "ip protocol";

	gen_edges(g, GEN_PROTO, a, a);
	if (gen_chance(g, 40) && a != b)
		gen_printf(g, "%s %s{ %u, %u } ", word, ne(g), a, b);
	else
		gen_printf(g, "%s %s%u ", word, ne(g), a);
}

static void match_iface(struct nft_make *m)
{
	struct gen *g = m->g;
	const char *a = gen_iface(g);
	size_t n = strlen(a);

	gen_printf(g, "%s %s", gen_chance(g, 50) ? "iifname" : "oifname", ne(g));
	if (gen_chance(g, 30))
		gen_printf(g, "\"%.*s*\" ", (int)(1 + gen_below(g, n < 14 ? n : 14)), a);
	else if (gen_chance(g, 30))
		gen_printf(g, "{ \"%s\", \"eth1*\", \"lo\" } ", strncmp(a, "eth1", 4) == 0 || strcmp(a, "lo") == 0 ? "e" : a);
	else
		gen_printf(g, "\"%s\" ", a);
}

static void match_mark(struct nft_make *m)
{
	struct gen *g = m->g;
	unsigned v = (unsigned)gen_below(g, 16);

	gen_edges(g, GEN_MARK, v, v);
	switch (gen_below(g, 6)) {
	case 0:
		gen_printf(g, "meta mark & 0x%x %s 0x%x ", v | 3, gen_chance(g, 70) ? "==" : "!=", v & 3);
		break;
	case 1:
		gen_printf(g, "meta mark %s0x%x-0x%x ", ne(g), v, v + 4);
		break;
	case 2:
		gen_printf(g, "meta mark %s{ 0x%x, 0x%x-0x%x } ", ne(g), v, v + 2, v + 5);
		break;
	case 3:
		gen_printf(g, "ct mark %s0x%x ", ne(g), v & 7);
		gen_edges(g, GEN_CTMARK, v & 7, v & 7);
		break;
	case 4:
		gen_printf(g, "meta mark %s 0x%x ", gen_chance(g, 50) ? ">" : "<=", v);
		break;
	default:
		gen_printf(g, "meta mark %s0x%x ", ne(g), v);
	}
}

static void match_meta(struct nft_make *m)
{
	static const char *const types[] = { "host", "broadcast", "multicast" };
	struct gen *g = m->g;
	unsigned v = 40 + (unsigned)gen_below(g, 100);

	switch (gen_below(g, 6)) {
	case 0:
		gen_edges(g, GEN_LENGTH, v, v + 30);
		gen_printf(g, gen_chance(g, 50) ? "meta length %s%u-%u " : "meta length %s%u ", ne(g), v, v + 30);
		break;
	case 1:
		gen_printf(g, "meta pkttype %s%s ", ne(g), types[v % 3]);
		break;
	case 2:
		gen_edges(g, GEN_CPU, v % 4, v % 4);
		gen_printf(g, "meta cpu %s%u ", ne(g), v % 4);
		break;
	case 3:
		gen_edges(g, GEN_UID, v, v + 5);
		gen_printf(g, gen_chance(g, 50) ? "meta skuid %s%u " : "meta skuid %s%u-%u ", ne(g), v, v + 5);
		break;
	case 4:
		gen_printf(g, m->family == 2 ? "meta nfproto ipv%c " : "meta length > %c ", g->ip6 ? '6' : '4');
		break;
	default:
		gen_printf(g, "meta protocol %s%s ", ne(g), net(m));
	}
}

static void match_header(struct nft_make *m)
{
	struct gen *g = m->g;
	unsigned v = (unsigned)gen_below(g, 256);

	switch (gen_below(g, 5)) {
	case 0:
		gen_edges(g, GEN_TTL, v, v);
		gen_printf(g, "%s %s%u ", g->ip6 ? "ip6 hoplimit" : "ip ttl", gen_chance(g, 50) ? "" : gen_chance(g, 50) ? "!= " : "> ", v % 255);
		break;
	case 1:
		gen_edges(g, GEN_TOS, v & 0xfc, v | 3);
		gen_printf(g, "%s dscp %s%u ", net(m), ne(g), v >> 2);
		break;
	case 2:
		gen_edges(g, GEN_TOS, v, v);
		gen_printf(g, "%s ecn %s%u ", net(m), ne(g), v & 3);
		break;
	case 3:
		gen_edges(g, GEN_LENGTH, v, v);
		gen_printf(g, "%s length %s%u ", net(m), gen_chance(g, 50) ? "< " : ">= ", v + 1);
		break;
	default:
		gen_printf(g, "@th,0,16 %s%u ", ne(g), v % 40);
	}
}

static void match_state(struct nft_make *m)
{
	static const char *const states[] = { "new", "established", "related", "invalid", "untracked" };
	struct gen *g = m->g;
	unsigned a = (unsigned)gen_below(g, 5), b = (a + 1 + (unsigned)gen_below(g, 4)) % 5;

	switch (gen_below(g, 4)) {
	case 0:
		gen_printf(g, "ct state %s,%s ", states[a], states[b]);
		break;
	case 1:
		gen_printf(g, "ct state { %s, %s } ", states[a], states[b]);
		break;
	case 2:
		gen_printf(g, "ct state != %s,%s ", states[a], states[b]);
		break;
	default:
		gen_printf(g, "ct state %s%s ", ne(g), states[a]);
	}
}

static void match_pair(struct nft_make *m)
{
	struct gen *g = m->g;
	bool is_src = gen_chance(g, 60);

	if (gen_chance(g, 35)) {
		gen_printf(g, "%s saddr . %s dport %s@pairs_%s ", net(m), m->l4, ne(g), net(m));
		return;
	}
	gen_printf(g, "%s %s . %s %s %s", net(m), is_src ? "saddr" : "daddr", m->l4, is_src ? "dport" : "sport", ne(g));
	put_pairs(m, is_src ? GEN_SRC : GEN_DST, is_src ? GEN_DPORT : GEN_SPORT, gen_chance(g, 50), NULL);
	gen_printf(g, " ");
}

static void put_match(struct nft_make *m)
{
	static void (*const any[])(struct nft_make *) = { match_addr, match_addr, match_addr, match_iface, match_iface, match_mark,
							  match_meta, match_header, match_state };
	struct gen *g = m->g;
	bool is_icmp = strcmp(m->l4, "icmp") == 0;

	if (gen_chance(g, 50))
		any[gen_below(g, sizeof any / sizeof *any)](m);
	else if (is_icmp)
		match_icmp(m);
	else if (strcmp(m->l4, "tcp") == 0 && gen_chance(g, 25))
		match_flags(m);
	else if (strcmp(m->l4, "th") == 0 && gen_chance(g, 40))
		match_proto(m);
	else if (gen_chance(g, 30))
		match_pair(m);
	else
		match_port(m);
}

/* ---------- what rules do ---------- */

static void put_change(struct nft_make *m)
{
	struct gen *g = m->g;

	switch (gen_below(g, 5)) {
	case 0:
		gen_printf(g, "meta mark set ");
		put_mark_value(g);
		break;
	case 1:
		gen_printf(g, "meta mark set meta mark %c 0x%x", "|&^"[gen_below(g, 3)], (unsigned)gen_below(g, 16));
		break;
	case 2:
		m->has_map = true;
		gen_printf(g, "meta mark set %s saddr map @marks_%s", net(m), net(m));
		break;
	case 3:
		gen_printf(g, "log prefix \"x\"");
		break;
	default:
		gen_printf(g, "meta mark set ct mark");
	}
	gen_printf(g, " ");
}

static void put_vmap(struct nft_make *m)
{
	struct gen *g = m->g;

	m->has_map = true;
	switch (gen_below(g, strcmp(m->l4, "icmp") == 0 ? 2 : 4)) {
	case 0:
		gen_printf(g, "%s saddr vmap ", net(m));
		put_addrs(m, GEN_SRC, true, put_verdict);
		break;
	case 1:
		if (m->from == 0) /* it calls any chain, so only base chains may ask it */
			gen_printf(g, "%s daddr vmap @verdicts_%s", net(m), net(m));
		else
			put_verdict(m);
		break;
	case 2:
		gen_printf(g, "%s dport vmap ", m->l4);
		put_ports(m, GEN_DPORT, put_verdict);
		break;
	default:
		gen_printf(g, "%s saddr . %s dport vmap ", net(m), m->l4);
		put_pairs(m, GEN_SRC, GEN_DPORT, false, put_verdict);
	}
}

static void put_rule(struct nft_make *m)
{
	static const char *const l4s[] = { "tcp", "tcp", "tcp", "udp", "udp", "sctp", "udplite", "th", "icmp" };
	struct gen *g = m->g;
	unsigned n = (unsigned)gen_below(g, 4), counter = (unsigned)gen_below(g, 5);
	bool counts = gen_chance(g, 60);

	if (m->family == 2)
		g->ip6 = gen_chance(g, 50);
	m->l4 = l4s[gen_below(g, 9)];
	m->has_map = false;
	gen_printf(g, "\t\t");
	for (unsigned i = 0; i < n; i++) {
		if (counts && i == counter)
			gen_printf(g, "counter ");
		put_match(m);
	}
	if (gen_chance(g, 15)) {
		if (counts && counter >= n)
			gen_printf(g, "counter ");
		else if (!counts)
			gen_printf(g, "counter "), counts = true, counter = 0;
		put_change(m);
	} else if (!counts || counter >= n) {
		gen_printf(g, counts || gen_chance(g, 20) ? "counter " : "");
	}
	/* what a rule that is looked up counts without a counter of its own is nobody's business */
	if (gen_chance(g, 25))
		put_vmap(m);
	else if (gen_chance(g, 70) || n == 0)
		put_verdict(m);
	gen_printf(g, "\n");
}

/* ---------- sets and tables ---------- */

static void put_sets_of(struct nft_make *m)
{
	struct gen *g = m->g;
	const char *type = g->ip6 ? "ipv6_addr" : "ipv4_addr";

	gen_printf(g, "\tset hosts_%s { type %s; elements = ", net(m), type);
	put_addrs(m, GEN_SRC, false, NULL);
	gen_printf(g, "; }\n\tset nets_%s { type %s; flags interval; elements = ", net(m), type);
	put_addrs(m, GEN_SRC, true, NULL);
	gen_printf(g, "; }\n\tset pairs_%s { type %s . inet_service; flags interval; elements = ", net(m), type);
	put_pairs(m, GEN_SRC, GEN_DPORT, true, NULL);
	gen_printf(g, "; }\n\tmap marks_%s { type %s : mark; elements = ", net(m), type);
	put_addrs(m, GEN_SRC, false, mark_data);
	gen_printf(g, "; }\n\tmap verdicts_%s { type %s : verdict; flags interval; elements = ", net(m), type);
	put_addrs(m, GEN_DST, true, put_verdict);
	gen_printf(g, "; }\n");
}

static void put_sets(struct nft_make *m)
{
	struct gen *g = m->g;

	gen_printf(g, "\tset ports { type inet_service; flags interval; elements = ");
	put_ports(m, GEN_DPORT, NULL);
	gen_printf(g, "; }\n");
	for (unsigned six = 0; six < 2; six++) {
		g->ip6 = six;
		if (m->family == 2 || m->family == (int)six)
			put_sets_of(m);
	}
}

static void put_chain_rules(struct nft_make *m, unsigned most)
{
	for (unsigned n = 1 + (unsigned)gen_below(m->g, most); n > 0; n--)
		put_rule(m);
	gen_printf(m->g, "\t}\n");
}

static void put_table(struct gen *g, unsigned k)
{
	static const char *const families[] = { "ip", "ip6", "inet" };
	static const char *const hooks[] = { "prerouting", "input", "forward", "output", "postrouting" };
	static const int priorities[] = { -300, -150, -100, -1, 0, 0, 0, 1, 50, 100 };
	struct nft_make m = { .g = g, .family = gen_chance(g, 50) ? 2 : (int)gen_below(g, 2), .own = (unsigned)gen_below(g, MAX_OWN) };
	unsigned n = 1 + (unsigned)gen_below(g, 4);

	gen_printf(g, "table %s t%u {\n", families[m.family], k);
	put_sets(&m);
	g->ip6 = m.family == 1;
	for (unsigned c = m.own; c-- > 0;) {
		gen_printf(g, "\tchain c%u {\n", c);
		m.from = c + 1;
		put_chain_rules(&m, 5);
	}
	m.from = 0;
	for (unsigned c = 0; c < n; c++) {
		unsigned hook = (unsigned)gen_below(g, 5);

		gen_printf(g, "\tchain b%u {\n\t\ttype filter hook %s priority %d; policy %s;\n", c, hooks[hook],
			   priorities[gen_below(g, 10)], gen_chance(g, 12) ? "drop" : "accept");
		put_chain_rules(&m, 8);
	}
	gen_printf(g, "}\n");
}

const char *gen_nft_rules(struct gen *g)
{
	g->n = 0;
	for (unsigned n = 1 + (unsigned)gen_below(g, 3), k = 0; k < n; k++)
		put_table(g, k);
	return g->text;
}
