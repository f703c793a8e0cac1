/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bits of a header: `@th,16,16`, or any field that has no row in the table of fields.
 *
 *     LINK       the Ethernet header with its tags, also one that the machine holds beside the bytes
 *     NETWORK    the IP header; of another frame what follows the tags
 *     TRANSPORT  what follows the IP header and its extension headers; none in a later fragment
 *     INNER      what follows the header of TCP or UDP, or that of GRE (version 0); of IP in IP the inner header
 *
 * Bits beyond the packet's end are absent; those that were not captured, or that a rule left unknown, are not known. Of
 * a value of which some bits are known, a test may be certain all the same.
 */
#include "eval/facts_reader.h"

#include "eval/bytes.h"

enum { NEXT_IPIP = 4, NEXT_GRE = 47, ETHER_BYTES = 14, TAG_BYTES = 4 };

u128 bytes_ones(unsigned n_bits)
{
	return n_bits >= 128 ? ~(u128)0 : ((u128)1 << n_bits) - 1;
}

/* ---------- one byte ---------- */

static enum bytes_read known_field(const struct walk *w, enum field f)
{
	return w->f.has[f] == EVAL_YES && w->f.known[f] ? BYTES_READ : BYTES_UNKNOWN;
}

enum bytes_read bytes_frame(const struct walk *w, uint64_t off, uint32_t *v)
{
	const struct packet *p = w->p;
	uint32_t wire = p->wire_len > p->len ? p->wire_len : p->len;
	uint64_t l3 = w->f.l3 ? (uint64_t)(w->f.l3 - p->bytes) : UINT64_MAX;

	*v = 0;
	if (w->f.has[FIELD_MAC_SRC] == EVAL_NO || p->link == PACKET_LINK_OTHER)
		return BYTES_BEYOND;
	if (p->link != PACKET_LINK_ETHER)
		return BYTES_UNKNOWN;
	if (off >= l3)
		return bytes_get(w, off - l3, 1, v);
	if (off >= wire)
		return BYTES_BEYOND;
	if (off < 12 && known_field(w, off < 6 ? FIELD_MAC_DST : FIELD_MAC_SRC) != BYTES_READ)
		return BYTES_UNKNOWN; /* it goes out with others */
	if (off >= p->len)
		return BYTES_UNKNOWN;
	*v = p->bytes[off];
	return BYTES_READ;
}

/* The frame as it was on the wire: a tag that is in no byte of it stands behind the addresses. */
static enum bytes_read link_byte(const struct walk *w, uint64_t off, uint32_t *v)
{
	uint32_t tag = 0x81000000u | (uint32_t)w->p->vlan_meta;

	if (w->p->vlan_meta < 0 || off < ETHER_BYTES - 2)
		return bytes_frame(w, off, v);
	if (off >= ETHER_BYTES - 2 + TAG_BYTES)
		return bytes_frame(w, off - TAG_BYTES, v);
	*v = 0;
	if (w->f.has[FIELD_MAC_SRC] == EVAL_NO)
		return BYTES_BEYOND;
	*v = tag >> (8 * (3 - (off - (ETHER_BYTES - 2)))) & 0xff;
	return BYTES_READ;
}

/* ---------- where a base begins ---------- */

static enum bytes_read transport_at(const struct walk *w, uint64_t *at)
{
	*at = w->f.l4_off;
	if (w->f.family == FAMILY_FRAME)
		return BYTES_BEYOND;
	if (known_field(w, FIELD_FRAG) != BYTES_READ)
		return BYTES_UNKNOWN;
	if (w->f.v[FIELD_FRAG])
		return BYTES_BEYOND;
	return known_field(w, FIELD_PROTO);
}

/* GRE: a checksum, a key and a sequence number are there if its first byte says so. */
static enum bytes_read gre_length(const struct walk *w, uint64_t at, uint64_t *n)
{
	uint32_t head;
	enum bytes_read x = bytes_get(w, at, 2, &head);

	if (x != BYTES_READ)
		return x;
	*n = 4u + (head & 0x8000 ? 4u : 0u) + (head & 0x2000 ? 4u : 0u) + (head & 0x1000 ? 4u : 0u);
	return head & 7 ? BYTES_BEYOND : BYTES_READ;
}

static enum bytes_read inner_at(const struct walk *w, uint64_t *at)
{
	enum bytes_read x = transport_at(w, at);
	uint64_t n = 0;
	uint32_t doff;

	if (x != BYTES_READ)
		return x;
	switch ((unsigned)w->f.v[FIELD_PROTO]) {
	case NEXT_TCP:
		x = bytes_get(w, *at + 12, 1, &doff);
		n = (doff >> 4) * 4u;
		break;
	case NEXT_UDP:
		n = 8;
		break;
	case NEXT_GRE:
		x = gre_length(w, *at, &n);
		break;
	case NEXT_IPIP:
		break;
	default:
		return BYTES_BEYOND;
	}
	*at += n;
	return x;
}

/* ---------- bits ---------- */

enum bytes_read bytes_bits(const struct walk *w, const struct payload_ref *ref, u128 *v, u128 *known)
{
	uint64_t base = 0, last = (uint64_t)ref->at_bit + ref->n_bits;
	enum bytes_read x = BYTES_READ;

	*v = *known = 0;
	if (ref->base == PAYLOAD_TRANSPORT)
		x = transport_at(w, &base);
	else if (ref->base == PAYLOAD_INNER)
		x = inner_at(w, &base);
	else if (ref->base == PAYLOAD_LINK && w->f.has[FIELD_MAC_SRC] == EVAL_UNKNOWN)
		x = BYTES_UNKNOWN;
	for (uint64_t bit = ref->at_bit; bit < last && x == BYTES_READ; bit++) {
		uint64_t at = base + bit / 8;
		uint32_t byte;
		enum bytes_read got = ref->base == PAYLOAD_LINK ? link_byte(w, at, &byte) : bytes_get(w, at, 1, &byte);

		if (got == BYTES_BEYOND)
			return got;
		*v = *v << 1 | (byte >> (7 - bit % 8) & 1);
		*known = *known << 1 | (got == BYTES_READ ? 1 : 0);
	}
	*v &= *known;
	return x;
}

/* May a value that has these bits, of which `known` are certain, lie in the span? Must it? */
static enum eval_truth in_span(u128 v, u128 known, u128 all, const struct valset_span *s)
{
	u128 least = v, most = v | (all & ~known), free = s->lo ^ s->hi;

	if (least >= s->lo && most <= s->hi)
		return EVAL_YES;
	if (most < s->lo || least > s->hi)
		return EVAL_NO;
	for (unsigned i = 1; i < 128; i *= 2)
		free |= free >> i; /* bits from the first one on in which the ends differ */
	return (v ^ s->lo) & known & all & ~free ? EVAL_NO : EVAL_UNKNOWN;
}

enum eval_truth payload_truth(const struct walk *w, const struct bytes_spec *b, bool *is_absent)
{
	u128 v, known, all = b->payload_mask & bytes_ones(b->payload.n_bits);
	enum bytes_read x = bytes_bits(w, &b->payload, &v, &known);
	enum eval_truth any = EVAL_NO;

	*is_absent = x == BYTES_BEYOND;
	if (x != BYTES_READ)
		return x == BYTES_BEYOND ? EVAL_NO : EVAL_UNKNOWN;
	for (uint32_t i = 0; i < b->payload_in.n; i++) {
		enum eval_truth y = in_span(v & all, known & all, all, &b->payload_in.span[i]);

		if (y == EVAL_YES)
			return y;
		if (y == EVAL_UNKNOWN)
			any = y;
	}
	return any;
}
