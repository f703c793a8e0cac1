/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts of the IPv4 and IPv6 headers, and of the IPv6 extension headers. What is malformed is said in facts.c. */
#include "eval/facts_reader.h"

enum { MAX_EXT_HEADERS = 16 };

static void set_l4(struct facts *f, const struct reader *r, uint32_t off)
{
	f->l4_off = off < r->captured ? off : r->captured;
	f->l4_len = r->captured - f->l4_off;
}

/* From here on the packet ends at `end` bytes: what is behind is padding. */
static void set_end(struct facts *f, struct reader *r, uint32_t end)
{
	r->end = end;
	if (r->captured > end)
		r->captured = end;
	f->l3_len = r->captured;
	f->l3_wire_len = r->end;
}

/* Where the packet ends: at its total length, with padding behind; 0 is big TCP. False: malformed. */
static bool read_ip4_end(struct facts *f, struct reader *r, uint32_t header)
{
	uint32_t total;

	if (reader_has(r, 2, 2) != SPAN_HERE)
		return true;
	total = reader_u16(r, 2);
	if (total == 0)
		facts_put(f, FIELD_LENGTH, total = r->end);
	if (total < header)
		return facts_malformed(f, "the IPv4 total length is below the header length");
	if (total > r->end)
		return facts_malformed(f, "the IPv4 total length is beyond the packet");
	set_end(f, r, total);
	return true;
}

/* The fragment word and the protocol were not captured: nobody can tell what follows. */
static void ip4_unseen(struct facts *f)
{
	facts_put_layer_unknown(f, FIELD_LAYER_L4);
	facts_put_unknown(f, FIELD_AH_SPI);
	facts_put_unknown(f, FIELD_AH_LEN);
	facts_put_unknown(f, FIELD_AH_RES);
}

static void read_ip4(struct facts *f, struct reader *r)
{
	uint32_t header;
	unsigned frag;

	if (reader_has(r, 0, 20) == SPAN_BEYOND) {
		facts_malformed(f, "the IPv4 header is cut short");
		return;
	}
	facts_put_at(f, FIELD_TOS, r, 1, 1);
	facts_put_at(f, FIELD_LENGTH, r, 2, 2);
	facts_put_at(f, FIELD_TTL, r, 8, 1);
	facts_put_at(f, FIELD_PROTO, r, 9, 1);
	facts_put_at(f, FIELD_SRC, r, 12, 4);
	facts_put_at(f, FIELD_DST, r, 16, 4);
	facts_put_unknown_value(f, FIELD_FRAG);
	header = (reader_u8(r, 0) & 15) * 4;
	if (header < 20) {
		facts_malformed(f, "the IPv4 header length is below 5 words");
		return;
	}
	if (!read_ip4_end(f, r, header))
		return;
	set_l4(f, r, header);
	if (reader_has(r, 0, 10) != SPAN_HERE) {
		ip4_unseen(f);
		return;
	}
	frag = reader_u16(r, 6);
	facts_put(f, FIELD_FRAG, (frag & 0x1fff) != 0);
	if ((frag & 0x1fff) == 1 && reader_u8(r, 9) == NEXT_TCP)
		facts_malformed(f, "a TCP fragment begins inside the TCP header");
	if (!(frag & 0x1fff))
		facts_read_l4(f, r, reader_u8(r, 9), header);
}

static bool is_ext_header(unsigned next)
{
	return next == NEXT_HOPOPTS || next == NEXT_ROUTING || next == NEXT_FRAGMENT || next == NEXT_AH ||
	       next == NEXT_DSTOPTS;
}

static uint32_t ext_length(const struct reader *r, unsigned next, uint32_t off)
{
	unsigned words = reader_u8(r, off + 1);

	if (next == NEXT_FRAGMENT)
		return 8;
	return next == NEXT_AH ? (words + 2) * 4 : (words + 1) * 8;
}

static void add_header_bit(struct facts *f, unsigned bit)
{
	facts_put(f, FIELD_HDRS, f->v[FIELD_HDRS] | bit);
}

static void read_frag_header(struct facts *f, const struct reader *r, uint32_t off)
{
	unsigned word;

	facts_put_at(f, FIELD_FRAG_ID, r, off + 4, 4);
	if (reader_has(r, off, 4) != SPAN_HERE) {
		facts_put_unknown_value(f, FIELD_FRAG_RES);
		facts_put_unknown_value(f, FIELD_FRAG_FIRST);
		facts_put_unknown_value(f, FIELD_FRAG_MORE);
		return;
	}
	word = reader_u16(r, off + 2);
	facts_put(f, FIELD_FRAG_RES, reader_u8(r, off + 1) << 2 | (word >> 1 & 3));
	facts_put(f, FIELD_FRAG_FIRST, word >> 3 == 0);
	facts_put(f, FIELD_FRAG_MORE, word & 1);
}

/* The fields of one extension header at off, `len` bytes; the first of its type counts. */
static void read_ext(struct facts *f, const struct reader *r, unsigned next, uint32_t off, uint32_t len)
{
	static const struct {
		unsigned next, bit;
	} bits[] = { { NEXT_HOPOPTS, HDR_HOPOPTS }, { NEXT_ROUTING, HDR_ROUTE }, { NEXT_FRAGMENT, HDR_FRAG },
		     { NEXT_AH, HDR_AUTH }, { NEXT_DSTOPTS, HDR_DSTOPTS } };
	unsigned bit = 0;

	for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
		if (bits[i].next == next)
			bit = bits[i].bit;
	if ((unsigned)f->v[FIELD_HDRS] & bit)
		return;
	add_header_bit(f, bit);
	if (next == NEXT_HOPOPTS)
		facts_put(f, FIELD_HBH_LEN, len);
	else if (next == NEXT_DSTOPTS)
		facts_put(f, FIELD_DST_LEN, len);
	else if (next == NEXT_FRAGMENT)
		read_frag_header(f, r, off);
	else if (next == NEXT_AH)
		facts_read_ah(f, r, off);
	else {
		facts_put(f, FIELD_RT_LEN, len);
		facts_put_at(f, FIELD_RT_TYPE, r, off + 2, 1);
		facts_put_at(f, FIELD_RT_LEFT, r, off + 3, 1);
	}
}

/* The chain goes on where we cannot see it. */
static void chain_unseen(struct facts *f, const struct reader *r, uint32_t off)
{
	facts_put_unknown_value(f, FIELD_PROTO);
	facts_put_unknown_value(f, FIELD_FRAG);
	facts_put_unknown_value(f, FIELD_HDRS);
	facts_put_layer_unknown(f, FIELD_LAYER_EXT);
	facts_put_layer_unknown(f, FIELD_LAYER_L4);
	set_l4(f, r, off);
}

/* The final protocol: what it is, and its header unless this is a later fragment. */
static void chain_end(struct facts *f, const struct reader *r, unsigned next, uint32_t off, bool is_later)
{
	facts_put(f, FIELD_PROTO, next);
	facts_put(f, FIELD_FRAG, is_later);
	add_header_bit(f, next == NEXT_NONE ? HDR_NONE : next == NEXT_ESP ? HDR_ESP : HDR_PROTO);
	set_l4(f, r, off);
	if (!is_later)
		facts_read_l4(f, r, next, off);
}

static void read_chain(struct facts *f, const struct reader *r, unsigned next)
{
	uint32_t off = 40;

	facts_put(f, FIELD_HDRS, 0);
	for (unsigned n = 0; is_ext_header(next); n++) {
		enum span here = reader_has(r, off, 8);
		uint32_t len;
		bool is_later = false;

		if (n == MAX_EXT_HEADERS) {
			facts_malformed(f, "there are more than 16 extension headers");
			return;
		}
		if (here == SPAN_BEYOND) {
			facts_malformed(f, "an extension header is cut short");
			return;
		}
		if (here == SPAN_UNSEEN) {
			chain_unseen(f, r, off);
			return;
		}
		len = ext_length(r, next, off);
		if (reader_has(r, off, len) == SPAN_BEYOND) {
			facts_malformed(f, "an extension header goes beyond the packet");
			return;
		}
		read_ext(f, r, next, off, len);
		if (next == NEXT_FRAGMENT)
			is_later = reader_u16(r, off + 2) >> 3 != 0;
		next = reader_u8(r, off);
		off += len;
		if (is_later && is_ext_header(next)) {
			facts_malformed(f, "a later fragment does not say its protocol");
			return;
		}
		if (is_later) {
			chain_end(f, r, next, off, true);
			return;
		}
	}
	chain_end(f, r, next, off, false);
}

static void read_ip6(struct facts *f, struct reader *r)
{
	uint32_t payload, next;

	if (reader_has(r, 0, 40) == SPAN_BEYOND) {
		facts_malformed(f, "the IPv6 header is cut short");
		return;
	}
	facts_put_at(f, FIELD_TOS, r, 0, 2);
	f->v[FIELD_TOS] = f->v[FIELD_TOS] >> 4 & 0xff;
	facts_put_unknown_value(f, FIELD_LENGTH);
	facts_put_at(f, FIELD_TTL, r, 7, 1);
	facts_put_at(f, FIELD_SRC, r, 8, 16);
	facts_put_at(f, FIELD_DST, r, 24, 16);
	if (reader_has(r, 0, 7) != SPAN_HERE) {
		chain_unseen(f, r, 40);
		return;
	}
	payload = reader_u16(r, 4);
	next = reader_u8(r, 6);
	if (payload == 0 && next != NEXT_NONE)
		payload = r->end - 40;
	facts_put(f, FIELD_LENGTH, payload + 40);
	if (payload > r->end - 40) {
		facts_malformed(f, "the IPv6 payload length is beyond the packet");
		return;
	}
	set_end(f, r, payload + 40);
	read_chain(f, r, next);
}

void facts_read_ip(struct facts *f, struct reader *r, unsigned type)
{
	unsigned version = 0;

	f->l3 = r->p;
	f->l3_len = r->captured;
	f->l3_wire_len = r->end;
	f->is_ip = true;
	f->family = type == ETHERTYPE_IP6 ? FAMILY_IP6 : FAMILY_IP4;
	if (r->end == 0) {
		facts_malformed(f, "the IP header is cut short");
		return;
	}
	if (r->captured == 0) {
		f->is_unseen = true;
		return;
	}
	version = reader_u8(r, 0) >> 4;
	if (!type && version == 6)
		f->family = FAMILY_IP6;
	if (version != (f->family == FAMILY_IP6 ? 6u : 4u))
		facts_malformed(f, "the IP version is wrong");
	else if (f->family == FAMILY_IP4)
		read_ip4(f, r);
	else
		read_ip6(f, r);
}
