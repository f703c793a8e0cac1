/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See head.h. */
#include "meaning/lib/head.h"

#include <string.h>

unsigned head_u16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static u128 bytes_number(const uint8_t *p, unsigned n)
{
	u128 v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

/* Bytes that a transport header needs for its ports, types and flags. */
static unsigned l4_needs(unsigned proto)
{
	return proto == 6 ? 20 : proto == 17 || proto == 1 || proto == 58 || proto == 136 || proto == 50 ? 8 : proto == 132 || proto == 33 || proto == 51 ? 12 : 0;
}

static bool read_ip4(struct head *h)
{
	const uint8_t *p = h->l3;
	unsigned ihl;

	if (h->l3_len < 20)
		return false;
	ihl = (p[0] & 15u) * 4;
	h->length = head_u16(p + 2);
	if (ihl < 20 || h->length < ihl || h->l3_len < h->length)
		return false;
	h->l3_len = h->length;
	h->tos = p[1];
	h->ttl = p[8];
	h->proto = h->first_proto = p[9];
	h->frag_off = head_u16(p + 6) & 0x1fff;
	h->more_frags = (p[6] & 0x20) != 0;
	h->src = bytes_number(p + 12, 4);
	h->dst = bytes_number(p + 16, 4);
	h->l4 = p + ihl;
	h->l4_len = h->length - ihl;
	h->has_l4 = h->frag_off == 0;
	return true;
}

/* One extension header at h->l4; false: it is cut short. */
static bool step_ext(struct head *h)
{
	const uint8_t *p = h->l4;
	unsigned kind = h->proto, n;

	if (h->l4_len < 8)
		return false;
	n = kind == 44 ? 8 : kind == 51 ? (p[1] + 2u) * 4 : (p[1] + 1u) * 8;
	if (n > h->l4_len)
		return false;
	if (!h->has_ext[kind]) { /* the first of its kind counts */
		if (kind == 0)
			h->hbh_len = n;
		else if (kind == 60)
			h->dst_len = n;
		else if (kind == 43)
			h->rt_type = p[2], h->rt_left = p[3];
	}
	h->has_ext[kind] = true;
	if (kind == 44) {
		h->frag_off = head_u16(p + 2) >> 3;
		h->more_frags = p[3] & 1;
		h->frag_id = (unsigned)bytes_number(p + 4, 4);
	}
	h->proto = p[0];
	h->l4 += n;
	h->l4_len -= n;
	return true;
}

static bool is_ext(unsigned proto)
{
	return proto == 0 || proto == 43 || proto == 44 || proto == 51 || proto == 60;
}

static bool read_ip6(struct head *h)
{
	const uint8_t *p = h->l3;

	if (h->l3_len < 40)
		return false;
	h->length = head_u16(p + 4) + 40;
	if (h->l3_len < h->length)
		return false;
	h->l3_len = h->length;
	h->tos = (unsigned)(head_u16(p) >> 4 & 255);
	h->ttl = p[7];
	h->proto = h->first_proto = p[6];
	h->src = bytes_number(p + 8, 16);
	h->dst = bytes_number(p + 24, 16);
	h->l4 = p + 40;
	h->l4_len = h->length - 40;
	while (is_ext(h->proto)) {
		if (!step_ext(h))
			return false;
		if (h->frag_off)
			break; /* what follows is not a header */
	}
	h->has_l4 = h->frag_off == 0; /* also behind "no next header", as the kernel has it */
	return true;
}

/* A length of 0 means big TCP or an empty packet: which of them is a decision (docs/packets.md), not a meaning. */
static bool says_length(const struct head *h)
{
	return head_u16(h->l3 + (h->is_ip ? 2 : 4)) != 0;
}

bool head_read(struct head *h, const struct packet *p)
{
	const uint8_t *b = p->bytes;
	unsigned n = p->len, type;

	*h = (struct head){ 0 };
	if (p->link == PACKET_LINK_ETHER) {
		if (n < 14)
			return false;
		h->has_mac = true;
		h->smac = (uint64_t)bytes_number(b + 6, 6);
		type = head_u16(b + 12);
		b += 14;
		n -= 14;
		if (type != 0x0800 && type != 0x86dd)
			return false;
	}
	if (p->link == PACKET_LINK_OTHER || n == 0)
		return false;
	h->l3 = b;
	h->l3_len = n;
	h->is_ip = b[0] >> 4 == 4;
	h->is_ip6 = b[0] >> 4 == 6;
	if (h->is_ip ? !read_ip4(h) : !h->is_ip6 || !read_ip6(h))
		return false;
	return says_length(h) && (!h->has_l4 || h->l4_len >= l4_needs(h->proto));
}
