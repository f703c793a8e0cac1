/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Matches of a rule as text. A rule draws a protocol, some core options and a few matches that go with them. Every value
 * leaves its edges for the packets.
 */
#include "diff/lib/gen.h"

#include <stdio.h>
#include <string.h>

enum { AT_PRE = 1 << GEN_PREROUTING, AT_IN = 1 << GEN_INPUT, AT_FWD = 1 << GEN_FORWARD, AT_OUT = 1 << GEN_OUTPUT,
       AT_POST = 1 << GEN_POSTROUTING };

static const char *bang(struct gen *g)
{
	return gen_chance(g, 25) ? " !" : "";
}

/* "N" or "N:M" below max; edges go into the pool. */
static void put_span(struct gen *g, enum gen_pool p, unsigned max, char sep)
{
	unsigned small = max < 64 || gen_chance(g, 70) ? (max < 40 ? max : 40) : max;
	unsigned lo = (unsigned)gen_below(g, small), hi = lo;

	if (gen_chance(g, 40))
		hi = lo + (unsigned)gen_below(g, gen_chance(g, 80) ? 8 : max - lo);
	if (hi > max)
		hi = max;
	gen_edges(g, p, lo, hi);
	gen_printf(g, "%u", lo);
	if (hi != lo)
		gen_printf(g, "%c%u", sep, hi);
}

static void put_value(struct gen *g, enum gen_pool p, unsigned max)
{
	unsigned v = (unsigned)gen_below(g, max + 1);

	gen_edges(g, p, v, v);
	gen_printf(g, "%u", v);
}

static void put_masked(struct gen *g, enum gen_pool p, unsigned max)
{
	unsigned v = (unsigned)gen_below(g, max + 1);

	gen_edges(g, p, v, v);
	gen_printf(g, "0x%x", v);
	if (gen_chance(g, 50))
		gen_printf(g, "/0x%x", (unsigned)gen_below(g, max + 1));
}

/* ---------- core options ---------- */

static void put_addr(struct gen *g, enum gen_pool p)
{
	unsigned bits = g->ip6 ? 128 : 32, plen = bits - (unsigned)gen_below(g, gen_chance(g, 80) ? 12 : bits + 1);
	gen_u128 a = gen_addr(g), host = plen == 0 ? ~(gen_u128)0 : plen == bits ? 0 : ((gen_u128)1 << (bits - plen)) - 1;
	char buf[64], mask[64];

	gen_printf(g, "%s -%c ", bang(g), p == GEN_SRC ? 's' : 'd');
	if (gen_chance(g, 5)) { /* a mask with a hole */
		gen_u128 m = ~(gen_u128)0 ^ ((gen_u128)0xff << 8) ^ 3;

		a &= m;
		gen_edges(g, p, a, a);
		gen_printf(g, "%s/%s", gen_addr_text(g, a, buf), gen_addr_text(g, m, mask));
		return;
	}
	a &= ~host;
	gen_edges(g, p, a, a | host);
	gen_printf(g, "%s/%u", gen_addr_text(g, a, buf), plen);
}

static void put_iface(struct gen *g, bool is_in)
{
	const char *name = gen_iface(g);
	size_t n = strlen(name);

	gen_printf(g, "%s -%c ", bang(g), is_in ? 'i' : 'o');
	if (gen_chance(g, 40))
		gen_printf(g, "%.*s+", (int)(n > 14 ? 14 : gen_below(g, n) + 1), name);
	else
		gen_printf(g, "%s", name);
}

static void put_core(struct gen *g, unsigned hooks)
{
	if (gen_chance(g, 25))
		put_addr(g, GEN_SRC);
	if (gen_chance(g, 25))
		put_addr(g, GEN_DST);
	if (gen_chance(g, 15) && !(hooks & (AT_OUT | AT_POST)))
		put_iface(g, true);
	if (gen_chance(g, 15) && !(hooks & (AT_PRE | AT_IN)))
		put_iface(g, false);
	if (gen_chance(g, 5) && !g->ip6)
		gen_printf(g, "%s -f", bang(g));
}

/* ---------- what goes with a protocol ---------- */

static void put_ports(struct gen *g, const char *match)
{
	gen_printf(g, " -m %s", match);
	if (gen_chance(g, 40)) {
		gen_printf(g, "%s --sport ", bang(g));
		put_span(g, GEN_SPORT, 65535, ':');
	}
	if (gen_chance(g, 60)) {
		gen_printf(g, "%s --dport ", bang(g));
		put_span(g, GEN_DPORT, 65535, ':');
	}
}

static void put_flags(struct gen *g)
{
	static const char *const names[] = { "FIN", "SYN", "RST", "PSH", "ACK", "URG" };
	unsigned mask = 1 + (unsigned)gen_below(g, 63), value = mask & (unsigned)gen_below(g, 64);
	const char *sep = "";

	gen_printf(g, "%s --tcp-flags ", bang(g));
	for (unsigned i = 0; i < 6; i++)
		if (mask >> i & 1) {
			gen_printf(g, "%s%s", sep, names[i]);
			sep = ",";
		}
	gen_printf(g, " ");
	sep = "";
	for (unsigned i = 0; i < 6; i++)
		if (value >> i & 1) {
			gen_printf(g, "%s%s", sep, names[i]);
			sep = ",";
		}
	gen_printf(g, "%s", value ? "" : "NONE");
	gen_edges(g, GEN_FLAGS, value, value);
}

static void put_multiport(struct gen *g)
{
	static const char *const which[] = { "--sports", "--dports", "--ports" };
	unsigned w = (unsigned)gen_below(g, 3), n = 1 + (unsigned)gen_below(g, 5);

	gen_printf(g, " -m multiport%s %s ", bang(g), which[w]);
	for (unsigned i = 0; i < n; i++) {
		gen_printf(g, i ? "," : "");
		put_span(g, w == 0 || (w == 2 && gen_chance(g, 50)) ? GEN_SPORT : GEN_DPORT, 65535, ':');
	}
}

static void put_tcp(struct gen *g, bool is_mangle)
{
	(void)is_mangle;
	if (gen_chance(g, 60))
		put_ports(g, "tcp");
	else
		gen_printf(g, " -m tcp");
	if (gen_chance(g, 20))
		put_flags(g);
	else if (gen_chance(g, 10))
		gen_printf(g, "%s --syn", bang(g));
	if (gen_chance(g, 10)) {
		unsigned kind = gen_chance(g, 70) ? (unsigned)gen_below(g, 9) : 250 + (unsigned)gen_below(g, 5);

		gen_edges(g, GEN_OPT, kind, kind);
		gen_printf(g, "%s --tcp-option %u", bang(g), kind ? kind : 1);
	}
	if (gen_chance(g, 10)) {
		gen_printf(g, " -m tcpmss%s --mss ", bang(g));
		put_span(g, GEN_MSS, 65535, ':');
	}
	if (gen_chance(g, 4) && !g->ip6)
		gen_printf(g, " -m ecn%s --ecn-tcp-%s", bang(g), gen_chance(g, 50) ? "cwr" : "ece");
}

static void put_icmp(struct gen *g)
{
	unsigned type = (unsigned)gen_below(g, 20) + (g->ip6 ? 120 : 0), code = (unsigned)gen_below(g, 4);
	bool has_code = gen_chance(g, 50);

	gen_edges(g, GEN_ICMP, type << 8 | code, type << 8 | code);
	gen_printf(g, g->ip6 ? " -m icmp6%s --icmpv6-type %u" : " -m icmp%s --icmp-type %u", bang(g), type);
	if (has_code)
		gen_printf(g, "/%u", code);
}

static void put_dccp(struct gen *g)
{
	static const char *const types[] = { "REQUEST", "RESPONSE", "DATA", "ACK", "DATAACK", "CLOSEREQ", "CLOSE", "RESET" };

	put_ports(g, "dccp");
	if (gen_chance(g, 30)) {
		unsigned t = (unsigned)gen_below(g, 8);

		gen_edges(g, GEN_DCCP, t, t);
		gen_printf(g, "%s --dccp-types %s", bang(g), types[t]);
	}
}

static void put_spi(struct gen *g, bool is_ah)
{
	gen_printf(g, " -m %s", is_ah ? "ah" : "esp");
	if (gen_chance(g, 80)) {
		gen_printf(g, "%s --%sspi ", bang(g), is_ah ? "ah" : "esp");
		put_span(g, GEN_SPI, 1000, ':');
	}
	if (is_ah && g->ip6 && gen_chance(g, 30)) {
		gen_printf(g, "%s --ahlen ", bang(g));
		put_value(g, GEN_HDRLEN, 40);
	}
}

static void put_proto(struct gen *g, bool is_mangle)
{
	static const struct {
		const char *name;
		unsigned number;
	} protos[] = { { "tcp", 6 }, { "udp", 17 }, { "icmp", 1 }, { "sctp", 132 }, { "udplite", 136 }, { "dccp", 33 },
		       { "esp", 50 }, { "ah", 51 } };
	unsigned k = gen_chance(g, 75) ? (unsigned)gen_below(g, 3) : (unsigned)gen_below(g, 8), n = protos[k].number;

	if (g->ip6 && n == 51) { /* the chain of headers has it, -p does not */
		put_spi(g, true);
		return;
	}
	if (g->ip6 && n == 1)
		n = 58;
	gen_edges(g, GEN_PROTO, n, n);
	gen_printf(g, " -p %s", n == 58 ? "ipv6-icmp" : protos[k].name);
	if (gen_chance(g, 15))
		return;
	if (n == 6)
		put_tcp(g, is_mangle);
	else if (n == 1 || n == 58)
		put_icmp(g);
	else if (n == 33)
		put_dccp(g);
	else if (n == 50 || n == 51)
		put_spi(g, n == 51);
	else if (n != 33 && n != 6 && gen_chance(g, 20) && n != 50)
		put_multiport(g);
	else
		put_ports(g, protos[k].name);
	if (n == 6 && gen_chance(g, 15))
		put_multiport(g);
}

/* ---------- what goes with any protocol ---------- */

static void put_state(struct gen *g)
{
	static const char *const names[] = { "INVALID", "NEW", "ESTABLISHED", "RELATED", "UNTRACKED" };
	unsigned bits = 1 + (unsigned)gen_below(g, 31);
	const char *sep = "";

	gen_printf(g, gen_chance(g, 50) ? " -m state%s --state " : " -m conntrack%s --ctstate ", bang(g));
	for (unsigned i = 0; i < 5; i++)
		if (bits >> i & 1) {
			gen_printf(g, "%s%s", sep, names[i]);
			sep = ",";
		}
}

static void put_iprange(struct gen *g)
{
	enum gen_pool p = gen_chance(g, 50) ? GEN_SRC : GEN_DST;
	gen_u128 lo = gen_addr(g), hi = lo + gen_below(g, gen_chance(g, 80) ? 300 : 1000000);
	char x[64], y[64];

	if (g->ip6 && gen_chance(g, 50))
		hi += (gen_u128)gen_below(g, 3) << 64;
	gen_edges(g, p, lo, hi);
	gen_printf(g, " -m iprange%s --%s-range %s-%s", bang(g), p == GEN_SRC ? "src" : "dst", gen_addr_text(g, lo, x),
		   gen_addr_text(g, hi, y));
}

static void put_set(struct gen *g, unsigned hooks)
{
	const struct gen_set *s = &g->set[gen_below(g, g->n_sets)];
	const char *sep = "";
	unsigned n = s->n_dims;

	(void)hooks;
	if (gen_chance(g, 10))
		n = n == 3 ? 2 : n + 1;
	gen_printf(g, " -m set%s --match-set %s ", bang(g), s->name);
	for (unsigned d = 0; d < n; d++) {
		gen_printf(g, "%s%s", sep, gen_chance(g, 60) ? "src" : "dst");
		sep = ",";
	}
	if (gen_chance(g, 15))
		gen_printf(g, " --return-nomatch");
}

static void put_meta(struct gen *g, unsigned hooks)
{
	static const char *const types[] = { "unicast", "broadcast", "multicast" };
	unsigned v = (unsigned)gen_below(g, 6);

	switch (gen_below(g, 7)) {
	case 0:
		if (hooks & (AT_OUT | AT_POST) || g->flags & GEN_LIVE)
			return;
		gen_edges(g, GEN_MAC, 0x020000000000 + v, 0x020000000000 + v);
		gen_printf(g, " -m mac%s --mac-source 02:00:00:00:00:%02x", bang(g), v);
		break;
	case 1:
		gen_printf(g, " -m pkttype%s --pkt-type %s", bang(g), types[v % 3]);
		break;
	case 2:
		gen_printf(g, " -m mark%s --mark ", bang(g));
		put_masked(g, GEN_MARK, 15);
		break;
	case 3:
		gen_printf(g, " -m connmark%s --mark ", bang(g));
		put_masked(g, GEN_CTMARK, 7);
		break;
	case 4:
		if (hooks & ~(unsigned)(AT_OUT | AT_POST))
			return;
		if (gen_chance(g, 20)) {
			gen_printf(g, " -m owner%s --socket-exists", bang(g));
			return;
		}
		gen_printf(g, " -m owner%s --%s-owner ", bang(g), gen_chance(g, 50) ? "uid" : "gid");
		put_span(g, gen_chance(g, 50) ? GEN_UID : GEN_GID, 100, '-');
		break;
	case 5:
		gen_printf(g, " -m cpu%s --cpu ", bang(g));
		put_value(g, GEN_CPU, 3);
		break;
	default:
		if (hooks & (AT_PRE | AT_OUT) || g->ip6)
			return;
		gen_printf(g, " -m realm%s --realm ", bang(g));
		put_masked(g, GEN_REALM, 7);
	}
}

static void put_header(struct gen *g)
{
	unsigned lo, hi;

	switch (gen_below(g, 6)) {
	case 0:
		gen_printf(g, " -m length%s --length ", bang(g));
		lo = 40 + (unsigned)gen_below(g, 200);
		hi = lo + (unsigned)gen_below(g, 40);
		gen_edges(g, GEN_LENGTH, lo, hi);
		gen_printf(g, "%u:%u", lo, hi);
		break;
	case 1:
		gen_printf(g, g->ip6 ? " -m hl%s --hl-eq " : " -m ttl%s --ttl-eq ", bang(g));
		put_value(g, GEN_TTL, 255);
		break;
	case 2:
		gen_printf(g, g->ip6 ? " -m hl --hl-%s " : " -m ttl --ttl-%s ", gen_chance(g, 50) ? "lt" : "gt");
		put_value(g, GEN_TTL, 255);
		break;
	case 3:
		gen_printf(g, " -m tos%s --tos ", bang(g));
		put_masked(g, GEN_TOS, 255);
		break;
	case 4: {
		unsigned v = (unsigned)gen_below(g, 64);

		gen_edges(g, GEN_TOS, v << 2, v << 2 | 3);
		gen_printf(g, " -m dscp%s --dscp %u", bang(g), v);
		break;
	}
	default:
		gen_printf(g, " -m ecn%s --ecn-ip-ect %u", bang(g), (unsigned)gen_below(g, 4));
	}
}

static void put_ext6(struct gen *g)
{
	static const char *const headers[] = { "hop", "dst", "route", "frag", "auth", "esp", "none", "prot" };
	unsigned bits = gen_chance(g, 70) ? 1u << gen_below(g, 8) | 1u << gen_below(g, 8) : 1 + (unsigned)gen_below(g, 255);
	const char *sep = "";

	switch (gen_below(g, 5)) {
	case 0:
		gen_printf(g, " -m ipv6header%s --header ", bang(g));
		for (unsigned i = 0; i < 8; i++)
			if (bits >> i & 1) {
				gen_printf(g, "%s%s", sep, headers[i]);
				sep = ",";
			}
		gen_printf(g, "%s", gen_chance(g, 70) ? " --soft" : "");
		break;
	case 1:
		gen_printf(g, " -m frag%s --fragid ", bang(g));
		put_span(g, GEN_FRAGID, 100, ':');
		if (gen_chance(g, 50))
			gen_printf(g, gen_chance(g, 50) ? " --fragfirst" : gen_chance(g, 50) ? " --fragmore" : " --fraglast");
		break;
	case 2:
		gen_printf(g, " -m rt%s --rt-type ", bang(g));
		put_value(g, GEN_RTTYPE, 4);
		if (gen_chance(g, 50)) {
			gen_printf(g, "%s --rt-segsleft ", bang(g));
			put_span(g, GEN_RTLEFT, 8, ':');
		}
		break;
	case 3:
		gen_printf(g, " -m hbh%s --hbh-len ", bang(g));
		put_value(g, GEN_HDRLEN, 24);
		break;
	default:
		gen_printf(g, " -m dst%s --dst-len ", bang(g));
		put_value(g, GEN_HDRLEN, 24);
	}
}

static void put_memory(struct gen *g)
{
	static const char *const units[] = { "second", "minute" };
	unsigned every = 1 + (unsigned)gen_below(g, 4), unit;

	switch (gen_below(g, 3)) {
	case 0: /* rates at which the kernel's credits have no remainder, nor are cut to whole seconds */
		unit = (unsigned)gen_below(g, 2);
		gen_printf(g, " -m limit --limit %u/%s --limit-burst %u", (unit ? 28 : 1) + (unsigned)gen_below(g, 20),
			   units[unit], 1 + (unsigned)gen_below(g, 5));
		break;
	case 1:
		gen_printf(g, " -m statistic --mode nth%s --every %u --packet %u", bang(g), every,
			   (unsigned)gen_below(g, every));
		break;
	default:
		gen_printf(g, " -m quota%s --quota %u", bang(g), 50 + (unsigned)gen_below(g, 400));
	}
}

static void put_u32(struct gen *g)
{
	static const char *const at[] = { "0", "2", "4", "6", "8", "12", "16", "0>>22&0x3C@0", "0>>22&0x3C@4", "0&0xFF@0", "40", "6>>8", "4<<8",
					  "0>>22&0x3C@12>>26&0x3C@0" };

	gen_printf(g, " -m u32%s --u32 \"%s", bang(g), at[gen_below(g, sizeof at / sizeof *at)]);
	if (gen_chance(g, 60))
		gen_printf(g, "&0x%x", (unsigned)gen_below(g, gen_chance(g, 50) ? 0x100 : 0x10000));
	gen_printf(g, "=%u", (unsigned)gen_below(g, 64));
	if (gen_chance(g, 50))
		gen_printf(g, ":%u", 64 + (unsigned)gen_below(g, 100000));
	if (gen_chance(g, 30))
		gen_printf(g, ",%u:%u", 200000, 300000 + (unsigned)gen_below(g, 1u << 31));
	if (gen_chance(g, 20))
		gen_printf(g, "&&0>>16=0:0xFFFF");
	gen_printf(g, "\"");
}

static void put_string(struct gen *g)
{
	unsigned n = 1 + (unsigned)gen_below(g, gen_chance(g, 80) ? 4 : 20);

	gen_printf(g, " -m string --algo %s%s --string \"", gen_chance(g, 50) ? "bm" : "kmp", bang(g));
	for (unsigned i = 0; i < n; i++)
		gen_printf(g, "%c", "abAGE"[gen_below(g, gen_chance(g, 80) ? 2 : 5)]);
	gen_printf(g, "\"%s", gen_chance(g, 30) ? " --icase" : "");
	if (gen_chance(g, 30))
		gen_printf(g, " --from %u", (unsigned)gen_below(g, 80));
	if (gen_chance(g, 30))
		gen_printf(g, " --to %u", 80 + (unsigned)gen_below(g, 60));
}

void gen_matches(struct gen *g, unsigned hooks, bool is_mangle)
{
	put_core(g, hooks);
	if (gen_chance(g, 50))
		put_proto(g, is_mangle);
	else if (gen_chance(g, 10))
		gen_printf(g, "%s -p %u", bang(g), 1 + (unsigned)gen_below(g, 140));
	if (gen_chance(g, 15))
		put_state(g);
	if (gen_chance(g, 8))
		put_iprange(g);
	if (g->n_sets && gen_chance(g, 25))
		put_set(g, hooks);
	if (gen_chance(g, 20))
		put_meta(g, hooks);
	if (gen_chance(g, 15))
		put_header(g);
	if (g->ip6 && gen_chance(g, 20))
		put_ext6(g);
	if (gen_chance(g, 6))
		put_u32(g);
	if (gen_chance(g, 6))
		put_string(g);
	if (gen_chance(g, 12) && !(g->flags & GEN_LIVE))
		put_memory(g);
	if (gen_chance(g, 5)) /* a test behind one that has a memory */
		put_header(g);
	if (gen_chance(g, 3))
		gen_printf(g, " -m comment --comment \"a b\"");
}
