/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Headers as values become bytes. See frame.h.
 *
 * The bytes are written front to back. What depends on what follows (lengths, checksums) is written as zero and
 * patched when the end is known:
 *
 *     Ethernet  IPv4 [len?]..[sum?]  TCP ..[sum?]  payload
 *                     ^-- finish_ip4()       ^-- finish_l4()
 */
#include "packet/frame.h"

struct out {
	struct arena *a;
	struct {
		uint8_t *v;
		size_t n, cap;
	} b;
};

static void put8(struct out *o, unsigned v)
{
	*vec_add(o->a, &o->b) = (uint8_t)v;
}

static void put16(struct out *o, unsigned v)
{
	put8(o, v >> 8 & 0xff);
	put8(o, v & 0xff);
}

static void put32(struct out *o, uint32_t v)
{
	put16(o, v >> 16);
	put16(o, v & 0xffff);
}

static void put128(struct out *o, u128 v)
{
	for (int shift = 96; shift >= 0; shift -= 32)
		put32(o, (uint32_t)(v >> shift));
}

static void put_bytes(struct out *o, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < n; i++)
		put8(o, b[i]);
}

static void put_zeros(struct out *o, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put8(o, 0);
}

static void patch16(struct out *o, size_t off, unsigned v)
{
	if (off + 2 > o->b.n)
		return;
	o->b.v[off] = (uint8_t)(v >> 8 & 0xff);
	o->b.v[off + 1] = (uint8_t)(v & 0xff);
}

/* Sum of 16-bit words, not yet folded. */
static uint32_t sum_words(const uint8_t *p, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += (uint32_t)p[i] << (i % 2 ? 0 : 8);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

static unsigned sum_fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum & 0xffff;
}

/* CRC32c, as SCTP has it: reflected, least significant byte first on the wire. */
static uint32_t crc32c(const uint8_t *p, size_t n)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (0x82f63b78u & (0u - (crc & 1)));
	}
	return ~crc;
}

void frame_init(struct frame *f)
{
	*f = (struct frame){
		.ethertype = -1,
		.ttl = 64,
		.arp_op = 1,
		.proto = -1,
		.l4 = -1,
		.window = 65535,
		.doff = -1,
		.bad_len = -1,
		.ip_sum = -1,
		.l4_sum = -1,
		.trunc = -1,
		.cut = -1,
	};
}

bool frame_has_ports(int proto)
{
	return proto == FRAME_TCP || proto == FRAME_UDP || proto == FRAME_UDPLITE || proto == FRAME_SCTP ||
	       proto == FRAME_DCCP;
}

/* ---------- link layer ---------- */

/* The group address that an IP destination has on Ethernet; else a fixed one. */
static void default_dst_mac(const struct frame *f, uint8_t mac[6])
{
	static const uint8_t fixed[6] = { 2, 0, 0, 0, 0, 2 };
	bool all = f->net == FRAME_NET_ARP || (f->net == FRAME_NET_IP4 && f->dst == 0xffffffff);
	size_t low = f->net == FRAME_NET_IP6 ? 4 : 3;

	memcpy(mac, fixed, 6);
	if (all) {
		memset(mac, 0xff, 6);
		return;
	}
	if (f->net == FRAME_NET_IP4 && f->dst >> 28 == 0xe)
		memcpy(mac, "\x01\x00\x5e", 3);
	else if (f->net == FRAME_NET_IP6 && f->dst >> 120 == 0xff)
		memcpy(mac, "\x33\x33", 2);
	else
		return;
	for (size_t i = 6 - low; i < 6; i++)
		mac[i] = (uint8_t)(f->dst >> (8 * (5 - i)));
	if (f->net == FRAME_NET_IP4)
		mac[3] &= 0x7f;
}

static unsigned ethertype_of(const struct frame *f)
{
	if (f->ethertype >= 0)
		return (unsigned)f->ethertype;
	switch (f->net) {
	case FRAME_NET_IP4:
		return 0x0800;
	case FRAME_NET_IP6:
		return 0x86dd;
	case FRAME_NET_ARP:
		return 0x0806;
	case FRAME_NET_NONE:
		break;
	}
	return 0x88b5; /* local experimental */
}

static void build_ether(struct out *o, const struct frame *f)
{
	static const uint8_t src[6] = { 2, 0, 0, 0, 0, 1 };
	uint8_t dst[6];

	default_dst_mac(f, dst);
	put_bytes(o, f->has_dst_mac ? f->dst_mac : dst, 6);
	put_bytes(o, f->has_src_mac ? f->src_mac : src, 6);
	for (unsigned i = 0; i < f->n_vlans; i++) {
		put16(o, f->vlans[i].tpid);
		put16(o, f->vlans[i].tci);
	}
	put16(o, ethertype_of(f));
}

static void build_arp(struct out *o, const struct frame *f)
{
	static const uint8_t src[6] = { 2, 0, 0, 0, 0, 1 };

	put16(o, 1);
	put16(o, 0x0800);
	put16(o, 0x0604);
	put16(o, f->arp_op);
	put_bytes(o, f->has_src_mac ? f->src_mac : src, 6);
	put32(o, (uint32_t)f->src);
	put_zeros(o, 6);
	put32(o, (uint32_t)f->dst);
}

/* ---------- network layer ---------- */

static unsigned last_proto(const struct frame *f)
{
	if (f->proto >= 0)
		return (unsigned)f->proto;
	return f->l4 >= 0 ? (unsigned)f->l4 : FRAME_NO_NEXT;
}

static const char *build_ip4(struct out *o, const struct frame *f)
{
	size_t opts = (f->ip_opts.n + 3) / 4 * 4;
	unsigned frag = f->frag_off | (f->evil ? 0x8000u : 0) | (f->df ? 0x4000u : 0) | (f->more ? 0x2000u : 0);

	if (opts > 40)
		return "IPv4 options are at most 40 bytes";
	put8(o, 0x40 | (unsigned)(20 + opts) / 4);
	put8(o, f->tos);
	put16(o, 0);
	put16(o, f->ip_id);
	put16(o, frag);
	put8(o, f->ttl);
	put8(o, last_proto(f));
	put16(o, 0);
	put32(o, (uint32_t)f->src);
	put32(o, (uint32_t)f->dst);
	put_bytes(o, f->ip_opts.p, f->ip_opts.n);
	put_zeros(o, opts - f->ip_opts.n);
	return NULL;
}

/* Options are filled up with PadN (or Pad1) to a multiple of 8. */
static void build_opts_ext(struct out *o, const struct frame_ext *e)
{
	size_t n = 2 + e->body.n, pad = (8 - n % 8) % 8;

	put_bytes(o, e->body.p, e->body.n);
	if (pad == 1)
		put8(o, 0);
	if (pad > 1) {
		put8(o, 1);
		put8(o, (unsigned)pad - 2);
		put_zeros(o, pad - 2);
	}
}

static const char *build_ext(struct out *o, const struct frame_ext *e, unsigned next)
{
	size_t start = o->b.n, n;

	put8(o, next);
	put8(o, 0);
	if (e->type == FRAME_FRAGMENT) {
		o->b.v[start + 1] = (uint8_t)(e->reserved >> 2);
		put16(o, (unsigned)e->frag_off << 3 | (e->reserved & 3u) << 1 | e->more);
		put32(o, e->id);
		return NULL;
	}
	if (e->type == FRAME_ROUTING) {
		put8(o, e->rt_type);
		put8(o, e->rt_left);
		put32(o, e->seq);
		put_bytes(o, e->body.p, e->body.n);
	} else if (e->type == FRAME_AH) {
		put16(o, e->reserved);
		put32(o, e->id);
		put32(o, e->seq);
		put_bytes(o, e->body.p, e->body.n);
	} else {
		build_opts_ext(o, e);
	}
	n = o->b.n - start;
	if (e->type == FRAME_AH ? n % 4 || n / 4 - 2 > 255 : n % 8 || n / 8 - 1 > 255)
		return e->type == FRAME_AH ? "an AH header is 12 to 1028 bytes, in words of 4"
					   : "an extension header is 8 to 2048 bytes, in steps of 8";
	o->b.v[start + 1] = (uint8_t)(e->type == FRAME_AH ? n / 4 - 2 : n / 8 - 1);
	if (e->bad_len >= 0)
		o->b.v[start + 1] = (uint8_t)e->bad_len;
	return NULL;
}

static const char *build_ip6(struct out *o, const struct frame *f)
{
	const char *err = NULL;

	put32(o, 0x60000000u | (uint32_t)f->tos << 20 | (f->flow & 0xfffff));
	put16(o, 0);
	put8(o, f->n_exts ? f->exts[0].type : last_proto(f));
	put8(o, f->ttl);
	put128(o, f->src);
	put128(o, f->dst);
	for (unsigned i = 0; i < f->n_exts && !err; i++)
		err = build_ext(o, &f->exts[i], i + 1 < f->n_exts ? f->exts[i + 1].type : last_proto(f));
	return err;
}

/* ---------- transport layer ---------- */

static const char *build_tcp(struct out *o, const struct frame *f)
{
	size_t opts = (f->tcp_opts.n + 3) / 4 * 4;

	if (opts > 40)
		return "TCP options are at most 40 bytes";
	put32(o, f->seq);
	put32(o, f->ack);
	put8(o, (f->doff >= 0 ? (unsigned)f->doff : (unsigned)(20 + opts) / 4) << 4);
	put8(o, f->tcp_flags);
	put16(o, f->window);
	put16(o, 0);
	put16(o, f->urgent);
	put_bytes(o, f->tcp_opts.p, f->tcp_opts.n);
	put_zeros(o, opts - f->tcp_opts.n);
	return NULL;
}

static const char *build_l4(struct out *o, const struct frame *f)
{
	if (frame_has_ports(f->l4)) {
		put16(o, f->sport);
		put16(o, f->dport);
	}
	switch (f->l4) {
	case FRAME_TCP:
		return build_tcp(o, f);
	case FRAME_UDP:
	case FRAME_UDPLITE: /* the length field; UDP-Lite: checksum coverage 0 = all */
		put32(o, 0);
		break;
	case FRAME_SCTP:
		put32(o, f->seq); /* verification tag */
		put32(o, 0);
		put_bytes(o, f->chunks.p, f->chunks.n);
		break;
	case FRAME_DCCP: /* 48-bit sequence numbers: X = 1, and a header of 4 words */
		put8(o, 4);
		put8(o, 0);
		put16(o, 0);
		put8(o, (unsigned)f->dccp_type << 1 | 1);
		put_zeros(o, 3);
		put32(o, f->seq);
		break;
	case FRAME_ICMP:
	case FRAME_ICMP6:
		put8(o, f->icmp_type);
		put8(o, f->icmp_code);
		put16(o, 0);
		put32(o, f->icmp_rest);
		break;
	case FRAME_ESP:
		put32(o, f->spi);
		put32(o, f->seq);
		break;
	case FRAME_AH: /* the last header here, with a check value of 12 bytes and nothing behind it */
		put32(o, (uint32_t)FRAME_NO_NEXT << 24 | 4u << 16);
		put32(o, f->spi);
		put32(o, f->seq);
		put_zeros(o, 12);
		break;
	}
	return NULL;
}

static uint32_t pseudo_sum(const struct frame *f, size_t len)
{
	uint32_t sum = (uint32_t)(len >> 16) + (uint32_t)(len & 0xffff) + (uint32_t)f->l4;

	for (int shift = 0; shift < 128; shift += 16)
		sum += (uint32_t)(f->src >> shift & 0xffff) + (uint32_t)(f->dst >> shift & 0xffff);
	return sum;
}

/* Checksums, and UDP's length: l4 is where the header starts; it ends with the packet. */
static void finish_l4(struct out *o, const struct frame *f, size_t l4)
{
	size_t n = o->b.n - l4, at;
	unsigned sum;

	switch (f->l4) {
	case FRAME_UDP:
		patch16(o, l4 + 4, n > 65535 ? 0 : (unsigned)n);
		/* fallthrough */
	case FRAME_UDPLITE:
	case FRAME_DCCP:
		at = l4 + 6;
		break;
	case FRAME_TCP:
		at = l4 + 16;
		break;
	case FRAME_ICMP:
	case FRAME_ICMP6:
		at = l4 + 2;
		break;
	case FRAME_SCTP: {
		uint32_t crc = crc32c(o->b.v + l4, n);

		for (size_t i = 0; i < 4; i++)
			o->b.v[l4 + 8 + i] = (uint8_t)((f->l4_sum >= 0 ? (uint32_t)f->l4_sum >> (24 - 8 * i) : crc >> (8 * i)) & 0xff);
		return;
	}
	default:
		return;
	}
	sum = sum_fold(sum_words(o->b.v + l4, n) + (f->l4 == FRAME_ICMP ? 0 : pseudo_sum(f, n)));
	if (sum == 0 && (f->l4 == FRAME_UDP || f->l4 == FRAME_UDPLITE))
		sum = 0xffff;
	patch16(o, at, f->l4_sum >= 0 ? (unsigned)(f->l4_sum & 0xffff) : sum);
}

static void finish_ip(struct out *o, const struct frame *f, size_t l3)
{
	size_t n = o->b.n - l3;

	if (f->net == FRAME_NET_IP6) {
		n = n - 40 > 65535 ? 0 : n - 40;
		patch16(o, l3 + 4, f->bad_len >= 0 ? (unsigned)f->bad_len : (unsigned)n);
		return;
	}
	n = n > 65535 ? 0 : n;
	patch16(o, l3 + 2, f->bad_len >= 0 ? (unsigned)f->bad_len : (unsigned)n);
	patch16(o, l3 + 10, f->ip_sum >= 0 ? (unsigned)f->ip_sum
					   : sum_fold(sum_words(o->b.v + l3, (size_t)(o->b.v[l3] & 15) * 4)));
}

/* ---------- the whole ---------- */

/* A payload nobody gave: fragments carry some bytes, and whole units of 8 when more follow. */
static void build_payload(struct out *o, const struct frame *f, size_t l4)
{
	bool more = f->more, later = f->frag_off != 0;

	for (unsigned i = 0; i < f->n_exts; i++) {
		more |= f->exts[i].type == FRAME_FRAGMENT && f->exts[i].more;
		later |= f->exts[i].type == FRAME_FRAGMENT && f->exts[i].frag_off;
	}
	put_bytes(o, f->payload.p, f->payload.n);
	if (f->has_payload || f->ip_len || f->l4_len)
		return;
	if (later && o->b.n == l4)
		put_zeros(o, 8);
	while (more && (o->b.n - l4) % 8)
		put8(o, 0);
}

static const char *build_ip(struct out *o, const struct frame *f)
{
	size_t l3 = o->b.n, l4;
	const char *err = f->net == FRAME_NET_IP4 ? build_ip4(o, f) : build_ip6(o, f);

	if (err)
		return err;
	l4 = o->b.n;
	err = build_l4(o, f);
	if (err)
		return err;
	build_payload(o, f, l4);
	if (f->l4 < 0 && o->b.n >= l4 + 4) { /* ports said for bytes without a header */
		if (f->has_sport)
			patch16(o, l4, f->sport);
		if (f->has_dport)
			patch16(o, l4 + 2, f->dport);
	}
	if (f->ip_len && f->ip_len < o->b.n - l3)
		return "the headers and the payload need more bytes than this length has";
	if (f->l4_len && f->l4_len < o->b.n - l4)
		return "the header and the payload need more bytes than this length has";
	put_zeros(o, f->ip_len ? f->ip_len - (o->b.n - l3) : 0);
	if (f->l4_len > o->b.n - l4)
		put_zeros(o, f->l4_len - (o->b.n - l4));
	finish_l4(o, f, l4);
	finish_ip(o, f, l3);
	return NULL;
}

const char *frame_build(struct arena *a, const struct frame *f, struct packet *p)
{
	struct out o = { .a = a };
	const char *err = NULL;
	size_t l3;

	if (f->is_ether)
		build_ether(&o, f);
	l3 = o.b.n;
	if (f->net == FRAME_NET_ARP)
		build_arp(&o, f);
	else if (f->net != FRAME_NET_NONE)
		err = build_ip(&o, f);
	else
		put_bytes(&o, f->payload.p, f->payload.n);
	if (err)
		return err;
	if (f->trunc >= 0 && l3 + (size_t)f->trunc < o.b.n)
		o.b.n = l3 + (size_t)f->trunc;
	put_bytes(&o, f->pad.p, f->pad.n);
	p->link = f->is_ether ? PACKET_LINK_ETHER : PACKET_LINK_IP;
	p->bytes = o.b.v;
	p->wire_len = p->len = (uint32_t)o.b.n;
	if (f->cut >= 0 && l3 + (size_t)f->cut < p->len)
		p->len = (uint32_t)(l3 + (size_t)f->cut);
	return NULL;
}
