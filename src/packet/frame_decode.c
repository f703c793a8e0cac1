/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes become headers as values, for printing. See frame.h.
 *
 * This may be careless, because nothing is believed: frame_decode() builds the frame again and compares. A packet
 * whose transport header cannot be said is tried once more as a payload. What is the default anyway is then dropped,
 * one thing at a time, as long as the bytes stay the same.
 */
#include "packet/frame.h"

struct in {
	const uint8_t *p;
	size_t n;
};

static unsigned get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static u128 get128(const uint8_t *p)
{
	return U128((uint64_t)get32(p) << 32 | get32(p + 4), (uint64_t)get32(p + 8) << 32 | get32(p + 12));
}

static struct str rest_of(struct in in, size_t from)
{
	return (struct str){ (const char *)in.p + from, in.n - from };
}

static void payload_only(struct frame *f, struct in in)
{
	f->l4 = -1;
	f->has_payload = true;
	f->payload = rest_of(in, 0);
}

/* ---------- transport layer ---------- */

static void decode_tcp(struct frame *f, struct in in)
{
	size_t header = (size_t)(in.p[12] >> 4) * 4;

	f->seq = get32(in.p + 4);
	f->ack = get32(in.p + 8);
	f->tcp_flags = in.p[13];
	f->window = (uint16_t)get16(in.p + 14);
	f->l4_sum = get16(in.p + 16);
	f->urgent = (uint16_t)get16(in.p + 18);
	if (header < 20 || header > in.n) {
		f->doff = (int)(header / 4);
		header = 20;
	}
	f->tcp_opts = (struct str){ (const char *)in.p + 20, header - 20 };
	f->payload = rest_of(in, header);
}

static size_t l4_header_bytes(int proto)
{
	switch (proto) {
	case FRAME_TCP:
		return 20;
	case FRAME_DCCP:
		return 16;
	case FRAME_SCTP:
		return 12;
	case FRAME_AH:
		return 24;
	case FRAME_UDP:
	case FRAME_UDPLITE:
	case FRAME_ICMP:
	case FRAME_ICMP6:
	case FRAME_ESP:
		return 8;
	}
	return 0;
}

static void decode_l4(struct frame *f, int proto, struct in in)
{
	size_t header = l4_header_bytes(proto);

	f->l4 = proto;
	f->has_payload = true;
	f->payload = rest_of(in, header);
	if (frame_has_ports(proto)) {
		f->has_sport = f->has_dport = true;
		f->sport = (uint16_t)get16(in.p);
		f->dport = (uint16_t)get16(in.p + 2);
		f->l4_sum = get16(in.p + 6); /* UDP, UDP-Lite, DCCP */
	}
	if (proto == FRAME_TCP)
		decode_tcp(f, in);
	if (proto == FRAME_SCTP) {
		f->seq = get32(in.p + 4);
		f->l4_sum = get32(in.p + 8);
		f->chunks = f->payload;
		f->payload = rest_of(in, in.n);
	}
	if (proto == FRAME_DCCP) {
		f->dccp_type = in.p[8] >> 1 & 15;
		f->seq = get32(in.p + 12);
	}
	if (proto == FRAME_ICMP || proto == FRAME_ICMP6) {
		f->icmp_type = in.p[0];
		f->icmp_code = in.p[1];
		f->l4_sum = get16(in.p + 2);
		f->icmp_rest = get32(in.p + 4);
	}
	if (proto == FRAME_ESP || proto == FRAME_AH) {
		f->spi = get32(in.p + (proto == FRAME_ESP ? 0 : 4));
		f->seq = get32(in.p + (proto == FRAME_ESP ? 4 : 8));
	}
}

static void decode_rest(struct frame *f, int proto, struct in in, bool is_later, bool with_l4)
{
	size_t header = l4_header_bytes(proto);

	if (is_later || !with_l4 || !header || in.n < header) {
		payload_only(f, in);
		f->proto = proto;
	} else {
		decode_l4(f, proto, in);
	}
}

/* ---------- network layer ---------- */

/* said: the length in the header, with the header; the packet's end is there, or where the bytes end. */
static struct in decode_end(struct frame *f, struct in in, size_t said, size_t fixed)
{
	if (said < fixed || said > in.n) {
		f->bad_len = (int64_t)(f->net == FRAME_NET_IP6 ? said - 40 : said);
		return in;
	}
	f->pad = rest_of(in, said);
	return (struct in){ in.p, said };
}

static bool decode_ip4(struct frame *f, struct in in, bool with_l4)
{
	size_t header;
	unsigned frag;

	if (in.n < 20 || in.p[0] >> 4 != 4)
		return false;
	header = (size_t)(in.p[0] & 15) * 4;
	if (header < 20 || header > in.n)
		return false;
	f->net = FRAME_NET_IP4;
	f->tos = in.p[1];
	f->ip_id = (uint16_t)get16(in.p + 4);
	frag = get16(in.p + 6);
	f->evil = frag >> 15;
	f->df = frag >> 14 & 1;
	f->more = frag >> 13 & 1;
	f->frag_off = frag & 0x1fff;
	f->ttl = in.p[8];
	f->ip_sum = get16(in.p + 10);
	f->src = get32(in.p + 12);
	f->dst = get32(in.p + 16);
	f->ip_opts = (struct str){ (const char *)in.p + 20, header - 20 };
	in = decode_end(f, in, get16(in.p + 2), header);
	decode_rest(f, in.p[9], (struct in){ in.p + header, in.n - header }, f->frag_off, with_l4);
	return true;
}

/* One extension header; its length, or 0: it is not one, or not whole. */
static size_t decode_ext(struct frame_ext *e, unsigned next, struct in in)
{
	size_t len, fixed = 2;

	*e = (struct frame_ext){ .type = (uint8_t)next, .bad_len = -1 };
	if ((next != FRAME_HOPOPTS && next != FRAME_ROUTING && next != FRAME_FRAGMENT && next != FRAME_AH &&
	     next != FRAME_DSTOPTS) ||
	    in.n < 8)
		return 0;
	len = next == FRAME_FRAGMENT ? 8 : next == FRAME_AH ? (in.p[1] + 2u) * 4 : (in.p[1] + 1u) * 8;
	if (len > in.n || (next == FRAME_AH && len < 12))
		return 0;
	if (next == FRAME_FRAGMENT) {
		e->frag_off = (uint16_t)(get16(in.p + 2) >> 3);
		e->more = in.p[3] & 1;
		e->reserved = (uint16_t)(in.p[1] << 2 | (in.p[3] >> 1 & 3));
		e->id = get32(in.p + 4);
		return len;
	}
	if (next == FRAME_ROUTING) {
		e->rt_type = in.p[2];
		e->rt_left = in.p[3];
		e->seq = get32(in.p + 4);
		fixed = 8;
	}
	if (next == FRAME_AH) {
		e->reserved = (uint16_t)get16(in.p + 2);
		e->id = get32(in.p + 4);
		e->seq = get32(in.p + 8);
		fixed = 12;
	}
	e->body = (struct str){ (const char *)in.p + fixed, len - fixed };
	return len;
}

static bool decode_ip6(struct frame *f, struct in in, bool with_l4)
{
	bool is_later = false;
	unsigned next;
	size_t len;

	if (in.n < 40 || in.p[0] >> 4 != 6)
		return false;
	f->net = FRAME_NET_IP6;
	f->tos = (uint8_t)(get16(in.p) >> 4 & 0xff);
	f->flow = get32(in.p) & 0xfffff;
	next = in.p[6];
	f->ttl = in.p[7];
	f->src = get128(in.p + 8);
	f->dst = get128(in.p + 24);
	in = decode_end(f, in, get16(in.p + 4) + 40u, 40);
	in = (struct in){ in.p + 40, in.n - 40 };
	while (!is_later && f->n_exts < FRAME_MAX_EXTS && (len = decode_ext(&f->exts[f->n_exts], next, in)) > 0) {
		is_later = f->exts[f->n_exts].frag_off != 0;
		f->n_exts++;
		next = in.p[0];
		in = (struct in){ in.p + len, in.n - len };
	}
	decode_rest(f, (int)next, in, is_later, with_l4);
	return true;
}

static bool decode_arp(struct frame *f, struct in in)
{
	if (in.n < 28)
		return false;
	f->net = FRAME_NET_ARP;
	f->arp_op = (uint16_t)get16(in.p + 6);
	f->src = get32(in.p + 14);
	f->dst = get32(in.p + 24);
	f->pad = rest_of(in, 28);
	return true;
}

/* ---------- link layer ---------- */

static bool decode_ether(struct frame *f, struct in *in)
{
	size_t off = 12;
	unsigned type;

	if (in->n < 14)
		return false;
	f->is_ether = f->has_src_mac = f->has_dst_mac = true;
	memcpy(f->dst_mac, in->p, 6);
	memcpy(f->src_mac, in->p + 6, 6);
	type = get16(in->p + off);
	while ((type == 0x8100 || type == 0x88a8) && f->n_vlans < FRAME_MAX_VLANS && off + 6 <= in->n) {
		f->vlans[f->n_vlans++] = (struct frame_vlan){ (uint16_t)type, (uint16_t)get16(in->p + off + 2) };
		off += 4;
		type = get16(in->p + off);
	}
	f->ethertype = (int)type;
	*in = (struct in){ in->p + off + 2, in->n - off - 2 };
	return true;
}

static bool decode(struct frame *f, struct in in, bool is_ether, bool with_l4)
{
	frame_init(f);
	if (is_ether && !decode_ether(f, &in))
		return false;
	if (decode_ip4(f, in, with_l4) || decode_ip6(f, in, with_l4))
		return true;
	if (!is_ether)
		return false;
	if (f->ethertype == 0x0806 && with_l4 && decode_arp(f, in))
		return true;
	f->net = FRAME_NET_NONE;
	payload_only(f, in);
	return true;
}

/* ---------- is it the same packet? ---------- */

static bool gives(struct arena *a, const struct frame *f, const struct packet *p)
{
	struct packet q;

	packet_init(&q);
	return frame_build(a, f, &q) == NULL && q.link == p->link && q.len == p->len && q.wire_len == p->wire_len &&
	       (p->len == 0 || memcmp(q.bytes, p->bytes, p->len) == 0);
}

/* Leaves out what the build does by itself. */
static void drop_defaults(struct arena *a, struct frame *f, const struct packet *p)
{
	struct frame g;

#define TRY(change)                    \
	do {                           \
		g = *f;                \
		change;                \
		if (gives(a, &g, p))   \
			*f = g;        \
	} while (0)
	TRY(g.l4_sum = -1);
	TRY(g.ip_sum = -1);
	TRY(g.bad_len = -1);
	TRY(g.ethertype = -1);
	TRY(g.has_src_mac = false);
	TRY(g.has_dst_mac = false);
	if (f->payload.n == 0)
		TRY(g.has_payload = false);
	TRY((g.has_payload = false, g.payload = (struct str){ 0 }));
#undef TRY
}

bool frame_decode(struct arena *a, const struct packet *p, struct frame *f)
{
	bool is_ether = p->link == PACKET_LINK_ETHER;
	struct in in = { p->bytes, p->wire_len };

	if (p->link == PACKET_LINK_OTHER || p->len == 0 || p->wire_len > FRAME_MAX_BYTES)
		return false;
	if (p->len < p->wire_len) { /* what was not captured is taken as zeros */
		uint8_t *whole = arena_alloc(a, p->wire_len, 1);

		memcpy(whole, p->bytes, p->len);
		in.p = whole;
	}
	for (int with_l4 = 1; with_l4 >= 0; with_l4--) {
		if (!decode(f, in, is_ether, with_l4))
			return false;
		if (p->len < p->wire_len) {
			size_t link = is_ether ? 14 + 4 * f->n_vlans : 0;

			if (p->len < link)
				return false;
			f->cut = (int64_t)(p->len - link);
		}
		if (gives(a, f, p)) {
			drop_defaults(a, f, p);
			return true;
		}
	}
	return false;
}
