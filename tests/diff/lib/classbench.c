/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rulesets by the thousand. See classbench.h. */
#include "diff/lib/classbench.h"

#include <stdio.h>
#include <string.h>

static uint64_t next(struct classbench *c)
{
	uint64_t z = c->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint32_t below(struct classbench *c, uint64_t n)
{
	return (uint32_t)(next(c) % n);
}

static uint32_t mask_of(unsigned plen)
{
	return plen ? ~0u << (32 - plen) : 0;
}

/* ---------- rules ---------- */

/* What iptables can say: ports are of TCP or UDP, flags of TCP. */
static void settle(struct classbench *c, size_t i, bool mixed)
{
	struct classbench_rule *r = &c->rule[i];
	bool has_ports = r->sport_lo || r->dport_lo || r->sport_hi != 65535 || r->dport_hi != 65535;

	if (has_ports && (!r->has_proto || (r->proto != 6 && r->proto != 17))) {
		r->has_proto = true;
		r->proto = 17;
	}
	if (!r->has_proto || r->proto != 6)
		r->flags_mask = 0;
	r->flags_mask &= 0x3f;
	r->flags &= r->flags_mask;
	r->src &= mask_of(r->src_plen);
	r->dst &= mask_of(r->dst_plen);
	r->target = i % 2 ? CLASSBENCH_ACCEPT : CLASSBENCH_DROP;
	if (!mixed)
		return;
	if (i % 7 == 3)
		r->target = i % 2 ? CLASSBENCH_COUNT : CLASSBENCH_MARK;
	r->has_mark = i % 13 == 5;
	r->mark = (uint8_t)(i % 8);
}

static bool read_line(const char *line, struct classbench_rule *r)
{
	unsigned a[4], b[4], la, lb, s0, s1, d0, d1, p, pm, f = 0, fm = 0;

	if (sscanf(line, "@%u.%u.%u.%u/%u %u.%u.%u.%u/%u %u : %u %u : %u %x/%x %x/%x", a, a + 1, a + 2, a + 3, &la, b, b + 1, b + 2,
		   b + 3, &lb, &s0, &s1, &d0, &d1, &p, &pm, &f, &fm) < 16)
		return false;
	*r = (struct classbench_rule){ .src = a[0] << 24 | a[1] << 16 | a[2] << 8 | a[3],
				       .dst = b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3], .src_plen = (uint8_t)la,
				       .dst_plen = (uint8_t)lb, .sport_lo = (uint16_t)s0, .sport_hi = (uint16_t)s1,
				       .dport_lo = (uint16_t)d0, .dport_hi = (uint16_t)d1, .has_proto = pm != 0, .proto = (uint8_t)p,
				       .flags = (uint8_t)(f >> 8 | f), .flags_mask = (uint8_t)(fm >> 8 | fm) };
	return true;
}

bool classbench_read(struct arena *a, const char *path, size_t most, bool mixed, struct classbench *c)
{
	FILE *f = fopen(path, "r");
	char line[512];

	if (!f)
		return false;
	c->rule = arena_new(a, struct classbench_rule, most + 1);
	c->n = 0;
	while (c->n < most && fgets(line, sizeof line, f))
		if (read_line(line, &c->rule[c->n])) {
			settle(c, c->n, mixed);
			c->n++;
		}
	fclose(f);
	return c->n > 0;
}

static void make_rule(struct classbench *c, const char *kind, size_t i, size_t n, struct classbench_rule *r)
{
	uint32_t k = (uint32_t)i;

	*r = (struct classbench_rule){ .sport_hi = 65535, .dport_hi = 65535 };
	if (strcmp(kind, "bit") == 0) {
		*r = (struct classbench_rule){ 0x0a000000u ^ 1u << k % 32, 0xc0000201u ^ 1u << k / 32 % 32, 32, 32, (uint16_t)(k >> 10),
					       (uint16_t)(k >> 10), 80, 80, true, 6, 0, 0, false, 0, CLASSBENCH_ACCEPT };
	} else if (strcmp(kind, "nested") == 0) {
		r->src = r->dst = 0x0a010203;
		r->src_plen = (uint8_t)(32 - k % 33);
		r->dst_plen = (uint8_t)(32 - k / 33 % 33);
		r->has_proto = true;
		r->proto = 17;
		r->dport_hi = (uint16_t)(65535 - k / 33 / 33 * 100);
	} else if (strcmp(kind, "reversed") == 0) {
		r->src = 0x0a000000u + (k << 8) + (k << 28);
		r->src_plen = (uint8_t)(2 + k * 30 / n);
		r->dst = below(c, 1u << 16) << 8;
		r->dst_plen = (uint8_t)(k * 33 / n);
	} else if (strcmp(kind, "tuples") == 0) {
		r->src = below(c, 1ull << 32);
		r->dst = below(c, 1ull << 32);
		r->src_plen = (uint8_t)(4 * (k % 8) + 4);
		r->dst_plen = (uint8_t)(4 * (k / 8 % 8) + 4);
		r->has_proto = k & 1;
		r->proto = k & 2 ? 6 : 17;
	} else if (strcmp(kind, "ranges") == 0) {
		r->has_proto = true;
		r->proto = 6;
		r->sport_lo = (uint16_t)below(c, 65536);
		r->sport_hi = (uint16_t)(r->sport_lo + below(c, 65536u - r->sport_lo));
		r->dport_lo = (uint16_t)below(c, 65536);
		r->dport_hi = (uint16_t)(r->dport_lo + below(c, 65536u - r->dport_lo));
		r->flags_mask = 0x3f;
		r->flags = (uint8_t)below(c, 64);
	}
}

void classbench_make(struct arena *a, const char *kind, size_t n, bool mixed, struct classbench *c)
{
	c->rule = arena_new(a, struct classbench_rule, n + 1);
	c->n = n;
	for (size_t i = 0; i < n; i++) {
		make_rule(c, kind, i, n, &c->rule[i]);
		settle(c, i, mixed);
		if (mixed && strcmp(kind, "wild") == 0) /* all of them count every packet */
			c->rule[i].target = i % 5 ? CLASSBENCH_COUNT : CLASSBENCH_MARK;
	}
}

/* ---------- text ---------- */

/* The IPv6 image has the source's bits behind 32 fixed ones, the destination's at the end of the address. */
static void put_addr(struct buf *b, char option, uint32_t a, unsigned plen, bool ip6)
{
	if (plen == 0)
		return;
	if (!ip6)
		buf_printf(b, " -%c %u.%u.%u.%u/%u", option, a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255, plen);
	else if (option == 's')
		buf_printf(b, " -s 2001:db8:%x:%x::/%u", a >> 16, a & 0xffff, plen + 32);
	else
		buf_printf(b, " -d 2001:db8::%x:%x/%u", a >> 16, a & 0xffff, plen + 96);
}

static void put_flags(struct buf *b, uint8_t flags)
{
	static const char *const names[] = { "FIN", "SYN", "RST", "PSH", "ACK", "URG" };
	const char *comma = "";

	buf_printf(b, " ");
	for (unsigned i = 0; i < 6; i++)
		if (flags >> i & 1) {
			buf_printf(b, "%s%s", comma, names[i]);
			comma = ",";
		}
	if (!*comma)
		buf_printf(b, "NONE");
}

static void put_rule(struct buf *b, const struct classbench_rule *r, size_t i, bool ip6)
{
	static const char *const targets[] = { " -j ACCEPT", " -j DROP", "" };

	buf_printf(b, "-A PREROUTING");
	put_addr(b, 's', r->src, r->src_plen, ip6);
	put_addr(b, 'd', r->dst, r->dst_plen, ip6);
	if (r->has_proto && r->proto)
		buf_printf(b, " -p %u", r->proto);
	if (r->sport_lo || r->sport_hi != 65535)
		buf_printf(b, " --sport %u:%u", r->sport_lo, r->sport_hi);
	if (r->dport_lo || r->dport_hi != 65535)
		buf_printf(b, " --dport %u:%u", r->dport_lo, r->dport_hi);
	if (r->flags_mask) {
		buf_printf(b, " --tcp-flags");
		put_flags(b, r->flags_mask);
		put_flags(b, r->flags);
	}
	if (r->has_mark)
		buf_printf(b, " -m mark --mark %u", r->mark);
	if (r->target == CLASSBENCH_MARK)
		buf_printf(b, " -j MARK --set-mark %zu\n", i % 8);
	else
		buf_printf(b, "%s\n", targets[r->target]);
}

struct str classbench_text(struct arena *a, const struct classbench *c, bool ip6)
{
	struct buf b = { .a = a };

	buf_printf(&b, "*mangle\n:PREROUTING ACCEPT [0:0]\n");
	for (size_t i = 0; i < c->n; i++)
		put_rule(&b, &c->rule[i], i, ip6);
	buf_printf(&b, "COMMIT\n");
	return buf_str(&b);
}

/* ---------- packets ---------- */

static uint32_t inside(struct classbench *c, uint32_t lo, uint32_t hi)
{
	uint32_t where = below(c, 8);

	return where == 0 ? lo : where == 1 ? hi : lo + below(c, (uint64_t)hi - lo + 1);
}

static struct classbench_packet packet_in(struct classbench *c, const struct classbench_rule *r)
{
	uint8_t flags = (uint8_t)next(c);

	return (struct classbench_packet){
		.src = inside(c, r->src, r->src | ~mask_of(r->src_plen)), .dst = inside(c, r->dst, r->dst | ~mask_of(r->dst_plen)),
		.sport = (uint16_t)inside(c, r->sport_lo, r->sport_hi), .dport = (uint16_t)inside(c, r->dport_lo, r->dport_hi),
		.proto = r->has_proto && r->proto ? r->proto : (uint8_t)(below(c, 2) ? 6 : 17),
		.flags = (uint8_t)((flags & ~r->flags_mask) | r->flags),
	};
}

void classbench_trace(struct classbench *c, struct classbench_packet *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct classbench_packet q = packet_in(c, &c->rule[below(c, c->n)]);
		uint32_t how = below(c, 16);

		p[i] = packet_in(c, &c->rule[below(c, c->n)]);
		if (how == 0) {
			p[i].src = (uint32_t)next(c);
			p[i].dst = (uint32_t)next(c);
			p[i].sport = (uint16_t)next(c);
			p[i].dport = (uint16_t)next(c);
		} else if (how == 1) {
			p[i].src = q.src;
			p[i].dport = q.dport;
		} else if (how == 2) {
			p[i].dst = q.dst ^ 1;
			p[i].proto = q.proto;
		} else if (how == 3) {
			p[i].dport = (uint16_t)(p[i].dport ^ 1);
			p[i].src ^= 1u << below(c, 32);
		}
	}
}

static void put32(uint8_t *b, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		b[i] = (uint8_t)(v >> (24 - 8 * i));
}

size_t classbench_frame(const struct classbench_packet *p, bool ip6, uint8_t f[CLASSBENCH_FRAME])
{
	size_t l4 = ip6 ? 54 : 34, n = l4 + 20;

	memset(f, 0, CLASSBENCH_FRAME);
	f[12] = ip6 ? 0x86 : 0x08;
	f[13] = ip6 ? 0xdd : 0x00;
	if (ip6) {
		f[14] = 0x60;
		f[19] = 20;
		f[20] = p->proto;
		f[21] = 64;
		put32(f + 22, 0x20010db8);
		put32(f + 26, p->src);
		put32(f + 38, 0x20010db8);
		put32(f + 50, p->dst);
	} else {
		f[14] = 0x45;
		f[17] = 40;
		f[22] = 64;
		f[23] = p->proto;
		put32(f + 26, p->src);
		put32(f + 30, p->dst);
	}
	put32(f + l4, (uint32_t)p->sport << 16 | p->dport);
	if (p->proto == 6) {
		f[l4 + 12] = 0x50;
		f[l4 + 13] = p->flags;
	} else {
		f[l4 + 5] = 20;
	}
	return n;
}

/* ---------- the reference ---------- */

static bool passes(const struct classbench_rule *r, const struct classbench_packet *p, uint32_t mark)
{
	bool has_ports = p->proto == 6 || p->proto == 17;
	bool asks_ports = r->sport_lo || r->dport_lo || r->sport_hi != 65535 || r->dport_hi != 65535;

	if (((p->src ^ r->src) & mask_of(r->src_plen)) || ((p->dst ^ r->dst) & mask_of(r->dst_plen)))
		return false;
	if (r->has_proto && r->proto && p->proto != r->proto)
		return false;
	if (asks_ports && (!has_ports || p->sport < r->sport_lo || p->sport > r->sport_hi || p->dport < r->dport_lo ||
			   p->dport > r->dport_hi))
		return false;
	if (r->flags_mask && (p->flags & r->flags_mask) != r->flags)
		return false;
	return !r->has_mark || mark == r->mark;
}

size_t classbench_judge(const struct classbench *c, const struct classbench_packet *p, uint32_t *hit, uint32_t *mark,
			bool *drops)
{
	size_t n = 0;

	*mark = 0;
	*drops = false;
	for (size_t i = 0; i < c->n; i++) {
		const struct classbench_rule *r = &c->rule[i];

		if (!passes(r, p, *mark))
			continue;
		hit[n++] = (uint32_t)i;
		if (r->target == CLASSBENCH_MARK)
			*mark = (uint32_t)(i % 8);
		*drops = r->target == CLASSBENCH_DROP;
		if (r->target <= CLASSBENCH_DROP)
			break;
	}
	return n;
}
