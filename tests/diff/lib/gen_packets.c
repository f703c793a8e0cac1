/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets as lines of the notation, drawn from the edges that the rules left. All that the machine knows is said: no
 * verdict may hang on what is open.
 */
#include "diff/lib/gen.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct line {
	char *p;
	size_t n, cap;
};

static void put(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(l->p + l->n, l->cap - l->n, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < l->cap - l->n)
		l->n += (size_t)n;
}

static unsigned draw(struct gen *g, enum gen_pool p, unsigned other, unsigned mask)
{
	return (unsigned)gen_draw(g, p, other) & mask;
}

/* Which way: in, through, out. */
static void put_way(struct gen *g, struct line *l)
{
	static const char *const states[] = { "new", "established", "related", "invalid", "untracked" };
	unsigned way = (unsigned)gen_below(g, 3);

	if (way < 2)
		put(l, " in=%s", gen_iface(g));
	if (way > 0)
		put(l, " out=%s", gen_iface(g));
	if (gen_chance(g, 60))
		put(l, " mark=%u", draw(g, GEN_MARK, (unsigned)gen_below(g, 20), 0xffffffff));
	put(l, " ct=%s ctmark=%u", states[gen_below(g, 5)], draw(g, GEN_CTMARK, 0, 15));
	if (way == 2 && gen_chance(g, 80))
		put(l, " uid=%u gid=%u", draw(g, GEN_UID, 0, 0xffff), draw(g, GEN_GID, 0, 0xffff));
	else
		put(l, " uid=- gid=-");
	put(l, " cpu=%u realm=%u pkttype=%s", draw(g, GEN_CPU, 0, 3), draw(g, GEN_REALM, 0, 15),
	    (const char *const[]){ "host", "broadcast", "multicast" }[gen_below(g, 3)]);
	g->now += gen_below(g, gen_chance(g, 80) ? 2000 : 100000);
	put(l, " t=%u.%04u", (unsigned)(g->now / 10000), (unsigned)(g->now % 10000));
	put(l, " eth mac=02:00:00:00:00:%02x dstmac=02:00:00:00:01:%02x", draw(g, GEN_MAC, 7, 7), draw(g, GEN_MAC, 7, 7));
}

static void put_addrs(struct gen *g, struct line *l)
{
	gen_u128 src = gen_draw(g, GEN_SRC, gen_addr(g)), dst = gen_draw(g, GEN_DST, gen_addr(g));
	char buf[64];

	if (!g->ip6) {
		src &= UINT32_MAX;
		dst &= UINT32_MAX;
	}
	put(l, " %s %s", g->ip6 ? "ip6" : "ip", gen_addr_text(g, src, buf));
	put(l, " > %s", gen_addr_text(g, dst, buf));
}

static void put_ip(struct gen *g, struct line *l)
{
	if (gen_chance(g, 40))
		put(l, " ttl=%u", draw(g, GEN_TTL, 64, 255));
	if (gen_chance(g, 40))
		put(l, " tos=%u", draw(g, GEN_TOS, 0, 255));
	if (!g->ip6 && gen_chance(g, 10))
		put(l, " ihl=%u", 5 + (unsigned)gen_below(g, 11));
	if (gen_chance(g, 12))
		put(l, " frag=%u mf=%u", gen_chance(g, 40) ? 0 : 1 + (unsigned)gen_below(g, 100), (unsigned)gen_below(g, 2));
}

static void put_ext(struct gen *g, struct line *l)
{
	unsigned n = gen_chance(g, 95) ? 1 + (unsigned)gen_below(g, 3) : 14 + (unsigned)gen_below(g, 4);

	put(l, " ext=");
	for (unsigned i = 0; i < n; i++) {
		put(l, i ? "," : "");
		switch (gen_below(g, 5)) {
		case 0:
			put(l, "hbh(len=%u)", 8 * (1 + (unsigned)gen_below(g, 4)));
			break;
		case 1:
			put(l, "rt(type=%u,left=%u)", draw(g, GEN_RTTYPE, 0, 7), draw(g, GEN_RTLEFT, 0, 15));
			break;
		case 2:
			put(l, "frag(off=%u,mf=%u,id=%u)", gen_chance(g, 70) ? 0 : (unsigned)gen_below(g, 9),
			    (unsigned)gen_below(g, 2), draw(g, GEN_FRAGID, 1, 255));
			break;
		case 3:
			put(l, "ah(spi=%u)", draw(g, GEN_SPI, 1, 1023));
			break;
		default:
			put(l, "dst(len=%u)", 8 * (1 + (unsigned)gen_below(g, 4)));
		}
	}
}

static void put_tcp(struct gen *g, struct line *l)
{
	static const char letters[] = "FSRPAUEC";
	unsigned flags = draw(g, GEN_FLAGS, (unsigned)gen_below(g, 256), 255);

	put(l, " tcp %u > %u", draw(g, GEN_SPORT, 1000, 0xffff), draw(g, GEN_DPORT, 80, 0xffff));
	if (flags) {
		put(l, " flags=");
		for (unsigned i = 0; i < 8; i++)
			if (flags >> i & 1)
				put(l, "%c", letters[i]);
	}
	if (gen_chance(g, 15))
		put(l, " mss=%u", draw(g, GEN_MSS, 1460, 0xffff));
	if (gen_chance(g, g->pool[GEN_OPT].n ? 50 : 10)) {
		unsigned n = 1 + (unsigned)gen_below(g, 5);

		put(l, " opts=");
		for (unsigned i = 0; i < n; i++) {
			unsigned kind = gen_chance(g, 25) ? 1 : draw(g, GEN_OPT, (unsigned)gen_below(g, 20), 255);

			put(l, kind < 2 ? "%s%u" : "%s%u:%s", i ? "," : "", kind, gen_chance(g, 50) ? "0102" : "aa");
		}
	}
	if (gen_chance(g, 4))
		put(l, " doff=%u", (unsigned)gen_below(g, 16));
}

static void put_l4(struct gen *g, struct line *l)
{
	unsigned icmp = draw(g, GEN_ICMP, 8 << 8, 0xffff), proto = draw(g, GEN_PROTO, 17, 255);

	if (gen_chance(g, 30))
		proto = gen_chance(g, 50) ? 6 : 17;
	else if (gen_chance(g, 3))
		proto = g->ip6 ? 59 : 0;
	switch (proto) {
	case 6:
		put_tcp(g, l);
		break;
	case 17:
	case 33:
	case 132:
	case 136:
		put(l, " %s %u > %u", proto == 17 ? "udp" : proto == 33 ? "dccp" : proto == 132 ? "sctp" : "udplite",
		    draw(g, GEN_SPORT, 1000, 0xffff), draw(g, GEN_DPORT, 80, 0xffff));
		if (proto == 33)
			put(l, " type=%u", draw(g, GEN_DCCP, 0, 7));
		break;
	case 1:
	case 58:
		if ((proto == 58) == g->ip6) {
			put(l, " %s type=%u code=%u", g->ip6 ? "icmp6" : "icmp", icmp >> 8, icmp & 255);
			break;
		}
		/* fall through */
	default:
		if (proto == 50)
			put(l, " esp spi=%u", draw(g, GEN_SPI, 1, 1023));
		else if (proto == 51 && !g->ip6)
			put(l, " ah spi=%u", draw(g, GEN_SPI, 1, 1023));
		else
			put(l, " proto=%u payload=%uB", proto, (unsigned)gen_below(g, 30));
	}
}

/* Text in which patterns nearly are. */
static void put_payload(struct gen *g, struct line *l)
{
	unsigned n = 1 + (unsigned)gen_below(g, gen_chance(g, 80) ? 12 : 150);

	put(l, " payload=\"");
	for (unsigned i = 0; i < n; i++)
		put(l, "%c", "abAGE"[gen_below(g, gen_chance(g, 80) ? 2 : 5)]);
	put(l, "\"");
}

static void put_end(struct gen *g, struct line *l)
{
	if (!strstr(l->p, "payload=") && gen_chance(g, 50))
		put_payload(g, l);
	if (gen_chance(g, 15))
		put(l, " len=%u", draw(g, GEN_LENGTH, 60, 1023));
	if (gen_chance(g, 10))
		put(l, " pad=%uB", 1 + (unsigned)gen_below(g, 20));
	if (gen_chance(g, 6))
		put(l, " trunc=%u", (g->ip6 ? 40 : 20) + (unsigned)gen_below(g, 40));
	if (gen_chance(g, 3))
		put(l, " badlen=%u", (unsigned)gen_below(g, 100));
}

void gen_packet(struct gen *g, char *line, size_t n)
{
	struct line l = { line, 0, n };

	line[0] = 0;
	put_way(g, &l);
	put_addrs(g, &l);
	put_ip(g, &l);
	if (g->ip6 && gen_chance(g, 25))
		put_ext(g, &l);
	put_l4(g, &l);
	put_end(g, &l);
	memmove(line, line + 1, l.n); /* the first blank */
}
