/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The evaluator's own reading of a packet: bytes and what the machine said -> the fields of field.def.
 *
 * Slow and obvious on purpose. Every byte is fetched through reader_has(), which knows two ends: `end`, where the IP
 * packet ends on the wire, and `captured`, how much of it we hold. A header that goes beyond `end` is malformed; a
 * header that was only not captured is unknown, never absent and never malformed. (A capture that ends before the
 * first byte of the IP header tells nothing at all; that is malformed too, so that nobody lets it pass.)
 *
 *     Ethernet [tag [tag]] IPv4 ........ TCP ...... payload | padding
 *                          ^l3           ^l4_off            ^end
 *
 * What is malformed (a packet is dropped for it unless the user says otherwise):
 *   - an Ethernet frame of less than 14 bytes, a cut tag, more than two VLAN tags (0x8100, 0x88a8);
 *   - a version that is not what the link layer says, a cut IP header, IPv4 header length below 20;
 *   - IPv4 total length below the header length, or beyond the packet; IPv6 payload length beyond the packet. 0 is
 *     legal (big TCP): the packet is as long as the bytes there, except IPv6 with "no next header", which is empty;
 *   - more than 16 IPv6 extension headers, one that goes beyond the packet, and a later fragment whose next header is
 *     one more of them (nobody can tell its protocol from here; the kernel drops it at the first -p as well);
 *   - in the first or only fragment a transport header that is not whole: TCP 20 bytes, and its data offset at least
 *     5 words and inside the packet; UDP, UDP-Lite, ICMP, ICMPv6, ESP 8; SCTP, DCCP, and AH in IPv4 12.
 * What is not: any checksum, UDP's length field, a bad list of TCP options (it is walked as the kernel does: on past
 * an end-of-list, an option of length 0 is stepped over), IPv4 options. A bad list of SCTP chunks makes it unknown.
 *
 * The protocol of an IPv6 packet is the one behind the last extension header, so `-p ah` holds for AH in IPv4 only:
 * hop-by-hop, routing, fragment, AH and destination options are walked, ESP and everything else is final. Fields of
 * extension headers speak of the first header of that type.
 */
#include "eval/eval.h"

enum { NEXT_HOPOPTS = 0, NEXT_ICMP = 1, NEXT_TCP = 6, NEXT_UDP = 17, NEXT_DCCP = 33, NEXT_ROUTING = 43,
       NEXT_FRAGMENT = 44, NEXT_ESP = 50, NEXT_AH = 51, NEXT_ICMP6 = 58, NEXT_NONE = 59, NEXT_DSTOPTS = 60,
       NEXT_SCTP = 132, NEXT_UDPLITE = 136 };
enum { ETHERTYPE_IP4 = 0x0800, ETHERTYPE_IP6 = 0x86dd, ETHERTYPE_Q = 0x8100, ETHERTYPE_AD = 0x88a8 };
enum { MAX_EXT_HEADERS = 16, MAX_TAGS = 2 };

struct reader {
	const uint8_t *p;
	uint32_t captured; /* bytes that we hold */
	uint32_t end;	   /* bytes that there are, >= captured */
};

enum span { SPAN_HERE, SPAN_UNSEEN, SPAN_BEYOND };

static enum span reader_has(const struct reader *r, uint32_t off, uint32_t n)
{
	if ((uint64_t)off + n > r->end)
		return SPAN_BEYOND;
	return (uint64_t)off + n > r->captured ? SPAN_UNSEEN : SPAN_HERE;
}

/* n bytes as a number, first byte highest. Only where reader_has() said SPAN_HERE. */
static u128 reader_get(const struct reader *r, uint32_t off, uint32_t n)
{
	u128 v = 0;

	for (uint32_t i = 0; i < n; i++)
		v = v << 8 | r->p[off + i];
	return v;
}

static unsigned reader_u8(const struct reader *r, uint32_t off)
{
	return (unsigned)reader_get(r, off, 1);
}

static unsigned reader_u16(const struct reader *r, uint32_t off)
{
	return (unsigned)reader_get(r, off, 2);
}

static void put(struct facts *f, enum field x, u128 v)
{
	f->has[x] = EVAL_YES;
	f->known[x] = 1;
	f->v[x] = v;
}

static void put_unknown_value(struct facts *f, enum field x)
{
	f->has[x] = EVAL_YES;
	f->known[x] = 0;
}

static void put_unknown(struct facts *f, enum field x)
{
	f->has[x] = EVAL_UNKNOWN;
	f->known[x] = 0;
}

/* The field is n bytes at off, if they were captured. */
static void put_at(struct facts *f, enum field x, const struct reader *r, uint32_t off, uint32_t n)
{
	if (reader_has(r, off, n) == SPAN_HERE)
		put(f, x, reader_get(r, off, n));
	else
		put_unknown_value(f, x);
}

static bool malformed(struct facts *f, const char *why)
{
	f->is_malformed = true;
	f->malformed = why;
	return false;
}

/* Fields that a part of the packet which we do not hold would have decided. */
static void put_layer_unknown(struct facts *f, enum field_layer layer)
{
	for (int x = 0; x < FIELD_COUNT; x++)
		if (field_table[x].layer == layer && f->has[x] != EVAL_YES)
			put_unknown(f, (enum field)x);
}

/* ---------- what the machine knew ---------- */

static void read_iface(struct facts *f, enum field x, const char *name, bool is_said)
{
	if (!is_said)
		put_unknown(f, x);
	else if (name[0])
		put(f, x, field_name_value(str_from(name)));
}

static void read_socket(struct facts *f, const struct packet *p)
{
	bool forwarded = p->has_iif && p->iif[0] && p->has_oif && p->oif[0];
	bool none = p->uid == -2 || p->gid == -2 || (forwarded && p->uid < 0 && p->gid < 0);

	if (none) {
		put(f, FIELD_HAS_SOCKET, 0);
		return;
	}
	if (p->uid >= 0 || p->gid >= 0)
		put(f, FIELD_HAS_SOCKET, 1);
	else
		put_unknown_value(f, FIELD_HAS_SOCKET);
	put_unknown(f, FIELD_UID);
	put_unknown(f, FIELD_GID);
	if (p->uid >= 0)
		put(f, FIELD_UID, (u128)p->uid);
	else if (p->gid >= 0)
		put_unknown_value(f, FIELD_UID);
	if (p->gid >= 0)
		put(f, FIELD_GID, (u128)p->gid);
	else if (p->uid >= 0)
		put_unknown_value(f, FIELD_GID);
}

static void read_ct(struct facts *f, const struct packet *p)
{
	bool no_connection = p->ct == CT_INVALID || p->ct == CT_UNTRACKED;

	if (p->ct >= 0)
		put(f, FIELD_CT_STATE, (u128)1 << p->ct);
	else
		put_unknown_value(f, FIELD_CT_STATE);
	for (int x = FIELD_CT_STATE + 1; x <= FIELD_CT_REPL_DPORT; x++)
		if (!no_connection)
			put_unknown(f, (enum field)x);
	if (p->has_ct_mark && !no_connection)
		put(f, FIELD_CT_MARK, p->ct_mark);
}

static void read_meta(struct facts *f, const struct packet *p)
{
	bool local = !p->has_iif && p->has_oif; /* sent by this machine */

	read_iface(f, FIELD_IIF, p->iif, p->has_iif || local);
	read_iface(f, FIELD_OIF, p->oif, p->has_oif);
	read_iface(f, FIELD_PHYSIN, p->physin, p->has_physin);
	read_iface(f, FIELD_PHYSOUT, p->physout, p->has_physout);
	if (f->has[FIELD_IIF] != EVAL_NO)
		put_unknown(f, FIELD_IIF_GROUP);
	if (f->has[FIELD_OIF] != EVAL_NO)
		put_unknown(f, FIELD_OIF_GROUP);
	put(f, FIELD_MARK, p->has_mark ? p->mark : 0);
	if (p->pkttype >= 0)
		put(f, FIELD_PKTTYPE, (u128)p->pkttype);
	else
		put_unknown_value(f, FIELD_PKTTYPE);
	if (p->cpu >= 0)
		put(f, FIELD_CPU, (u128)p->cpu);
	else
		put_unknown_value(f, FIELD_CPU);
	if (p->realm >= 0)
		put(f, FIELD_REALM, (u128)p->realm);
	else
		put_unknown(f, FIELD_REALM);
	put_unknown_value(f, FIELD_SRC_TYPE);
	put_unknown_value(f, FIELD_DST_TYPE);
	read_socket(f, p);
	read_ct(f, p);
}

/* ---------- link layer ---------- */

static void read_macs(struct facts *f, const struct packet *p, const struct reader *r)
{
	u128 dst;

	put_at(f, FIELD_MAC_DST, r, 0, 6);
	put_at(f, FIELD_MAC_SRC, r, 6, 6);
	if (p->pkttype >= 0 || !f->known[FIELD_MAC_DST])
		return;
	dst = f->v[FIELD_MAC_DST];
	if (dst == field_max(FIELD_MAC_DST))
		put(f, FIELD_PKTTYPE, 1);
	else if (dst >> 40 & 1)
		put(f, FIELD_PKTTYPE, 2);
}

/*
 * Walks the tags of an Ethernet frame. Returns the type behind them and where the next header starts in *off, or
 * -1: malformed.
 */
static int read_ether(struct facts *f, const struct packet *p, const struct reader *r, uint32_t *off)
{
	unsigned tags = p->vlan_meta >= 0;

	*off = 12;
	read_macs(f, p, r);
	for (;;) {
		enum span here = reader_has(r, *off, 2);
		unsigned type;

		if (here == SPAN_BEYOND)
			return malformed(f, *off == 12 ? "the Ethernet header is cut short" : "a VLAN tag is cut short"), -1;
		if (here == SPAN_UNSEEN)
			return malformed(f, "too little was captured to tell what this is"), -1;
		type = reader_u16(r, *off);
		*off += 2;
		if (type != ETHERTYPE_Q && type != ETHERTYPE_AD) {
			if (type >= 0x600) /* below: the length of an 802.3 frame */
				put(f, FIELD_ETHERTYPE, type);
			return (int)type;
		}
		if (++tags > MAX_TAGS)
			return malformed(f, "there are more than two VLAN tags"), -1;
		if (reader_has(r, *off, 2) == SPAN_BEYOND)
			return malformed(f, "a VLAN tag is cut short"), -1;
		if (tags == 1) {
			put_at(f, FIELD_VLAN, r, *off, 2);
			f->v[FIELD_VLAN] &= 0xfff;
		}
		*off += 2;
	}
}

/* ---------- transport layer ---------- */

/* As the kernel's tcp match: an end-of-list does not end it, and a length of 0 counts as 1. */
static void read_tcp_options(struct facts *f, const struct reader *r, uint32_t off, uint32_t end)
{
	bool has_mss = false;

	if (reader_has(r, off, end - off) != SPAN_HERE) {
		put_unknown(f, FIELD_TCP_OPTS);
		put_unknown(f, FIELD_TCP_MSS);
		return;
	}
	f->has[FIELD_TCP_OPTS] = EVAL_YES;
	f->known[FIELD_TCP_OPTS] = 1;
	while (off < end) {
		unsigned kind = reader_u8(r, off), len = off + 1 < end ? reader_u8(r, off + 1) : 1;

		f->tcp_opts.v[f->tcp_opts.n++] = (uint16_t)kind; /* at most 40 */
		if (kind == 2 && len == 4 && end - off >= 4 && !has_mss) {
			put(f, FIELD_TCP_MSS, reader_u16(r, off + 2));
			has_mss = true;
		}
		off += kind < 2 || len == 0 ? 1 : len;
	}
}

static void read_tcp(struct facts *f, const struct reader *r, uint32_t off)
{
	uint32_t header;

	put_at(f, FIELD_TCP_FLAGS, r, off + 13, 1);
	if (reader_has(r, off + 12, 1) != SPAN_HERE) {
		put_unknown(f, FIELD_TCP_OPTS);
		put_unknown(f, FIELD_TCP_MSS);
		return;
	}
	header = (reader_u8(r, off + 12) >> 4) * 4;
	if (header < 20)
		malformed(f, "the TCP data offset is below 5 words");
	else if (reader_has(r, off, header) == SPAN_BEYOND)
		malformed(f, "the TCP data offset is beyond the packet");
	else
		read_tcp_options(f, r, off + 20, off + header);
}

/* Each chunk: type, flags, length with this header; padded to words. The list ends with the packet. */
static void read_sctp(struct facts *f, const struct reader *r, uint32_t off)
{
	f->has[FIELD_SCTP_CHUNKS] = EVAL_YES;
	f->known[FIELD_SCTP_CHUNKS] = 1;
	do {
		unsigned len;

		if (reader_has(r, off, 4) != SPAN_HERE || f->sctp_chunks.n == FACTS_MANY_MAX) {
			put_unknown(f, FIELD_SCTP_CHUNKS);
			return;
		}
		len = reader_u16(r, off + 2);
		if (len == 0) {
			put_unknown(f, FIELD_SCTP_CHUNKS);
			return;
		}
		f->sctp_chunks.v[f->sctp_chunks.n++] = (uint16_t)reader_u16(r, off);
		off += (len + 3) / 4 * 4;
	} while (off < r->end);
}

static void read_dccp(struct facts *f, const struct reader *r, uint32_t off)
{
	put_at(f, FIELD_DCCP_TYPE, r, off + 8, 1);
	f->v[FIELD_DCCP_TYPE] = f->v[FIELD_DCCP_TYPE] >> 1 & 15;
}

static void read_ah(struct facts *f, const struct reader *r, uint32_t off)
{
	put_at(f, FIELD_AH_LEN, r, off + 1, 1);
	f->v[FIELD_AH_LEN] = (f->v[FIELD_AH_LEN] + 2) * 4;
	put_at(f, FIELD_AH_RES, r, off + 2, 2);
	put_at(f, FIELD_AH_SPI, r, off + 4, 4);
}

/* The shortest whole header of a protocol; 0: we read nothing of it. */
static uint32_t l4_min(enum family fam, unsigned proto)
{
	switch (proto) {
	case NEXT_TCP:
		return 20;
	case NEXT_UDP:
	case NEXT_UDPLITE:
	case NEXT_ESP:
		return 8;
	case NEXT_SCTP:
	case NEXT_DCCP:
		return 12;
	case NEXT_ICMP:
		return fam == FAMILY_IP4 ? 8 : 0;
	case NEXT_ICMP6:
		return fam == FAMILY_IP6 ? 8 : 0;
	case NEXT_AH:
		return fam == FAMILY_IP4 ? 12 : 0;
	}
	return 0;
}

/* The transport header of a packet, or of its first fragment. */
static void read_l4(struct facts *f, const struct reader *r, unsigned proto, uint32_t off)
{
	uint32_t need = l4_min(f->family, proto);

	if (need == 0)
		return;
	if (reader_has(r, off, need) == SPAN_BEYOND) {
		malformed(f, "the transport header is cut short");
		return;
	}
	if (proto == NEXT_TCP || proto == NEXT_UDP || proto == NEXT_UDPLITE || proto == NEXT_SCTP ||
	    proto == NEXT_DCCP) {
		put_at(f, FIELD_SPORT, r, off, 2);
		put_at(f, FIELD_DPORT, r, off + 2, 2);
	}
	if (proto == NEXT_TCP)
		read_tcp(f, r, off);
	else if (proto == NEXT_SCTP)
		read_sctp(f, r, off + 12);
	else if (proto == NEXT_DCCP)
		read_dccp(f, r, off);
	else if (proto == NEXT_ESP)
		put_at(f, FIELD_ESP_SPI, r, off, 4);
	else if (proto == NEXT_AH)
		read_ah(f, r, off);
	else if (proto == NEXT_ICMP)
		put_at(f, FIELD_ICMP, r, off, 2);
	else if (proto == NEXT_ICMP6)
		put_at(f, FIELD_ICMP6, r, off, 2);
}

/* ---------- network layer ---------- */

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

static void read_ip4(struct facts *f, struct reader *r)
{
	uint32_t header, total;
	unsigned frag;

	if (reader_has(r, 0, 20) == SPAN_BEYOND) {
		malformed(f, "the IPv4 header is cut short");
		return;
	}
	put_at(f, FIELD_TOS, r, 1, 1);
	put_at(f, FIELD_LENGTH, r, 2, 2);
	put_at(f, FIELD_TTL, r, 8, 1);
	put_at(f, FIELD_PROTO, r, 9, 1);
	put_at(f, FIELD_SRC, r, 12, 4);
	put_at(f, FIELD_DST, r, 16, 4);
	put_unknown_value(f, FIELD_FRAG);
	header = (reader_u8(r, 0) & 15) * 4;
	if (header < 20) {
		malformed(f, "the IPv4 header length is below 5 words");
		return;
	}
	if (reader_has(r, 2, 2) == SPAN_HERE) {
		total = reader_u16(r, 2);
		if (total == 0)
			put(f, FIELD_LENGTH, total = r->end);
		if (total < header)
			malformed(f, "the IPv4 total length is below the header length");
		else if (total > r->end)
			malformed(f, "the IPv4 total length is beyond the packet");
		else
			set_end(f, r, total);
		if (f->is_malformed)
			return;
	}
	set_l4(f, r, header);
	if (reader_has(r, 0, 10) != SPAN_HERE) {
		put_layer_unknown(f, FIELD_LAYER_L4);
		put_unknown(f, FIELD_AH_SPI);
		put_unknown(f, FIELD_AH_LEN);
		put_unknown(f, FIELD_AH_RES);
		return;
	}
	if (reader_has(r, 0, header) == SPAN_BEYOND) {
		malformed(f, "the IPv4 options are cut short");
		return;
	}
	frag = reader_u16(r, 6);
	put(f, FIELD_FRAG, (frag & 0x1fff) != 0);
	if (!(frag & 0x1fff))
		read_l4(f, r, reader_u8(r, 9), header);
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
	put(f, FIELD_HDRS, f->v[FIELD_HDRS] | bit);
}

static void read_frag_header(struct facts *f, const struct reader *r, uint32_t off)
{
	unsigned word;

	put_at(f, FIELD_FRAG_ID, r, off + 4, 4);
	if (reader_has(r, off, 4) != SPAN_HERE) {
		put_unknown_value(f, FIELD_FRAG_RES);
		put_unknown_value(f, FIELD_FRAG_FIRST);
		put_unknown_value(f, FIELD_FRAG_MORE);
		return;
	}
	word = reader_u16(r, off + 2);
	put(f, FIELD_FRAG_RES, reader_u8(r, off + 1) << 2 | (word >> 1 & 3));
	put(f, FIELD_FRAG_FIRST, word >> 3 == 0);
	put(f, FIELD_FRAG_MORE, word & 1);
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
		put(f, FIELD_HBH_LEN, len);
	else if (next == NEXT_DSTOPTS)
		put(f, FIELD_DST_LEN, len);
	else if (next == NEXT_FRAGMENT)
		read_frag_header(f, r, off);
	else if (next == NEXT_AH)
		read_ah(f, r, off);
	else {
		put(f, FIELD_RT_LEN, len);
		put_at(f, FIELD_RT_TYPE, r, off + 2, 1);
		put_at(f, FIELD_RT_LEFT, r, off + 3, 1);
	}
}

/* The chain goes on where we cannot see it. */
static void chain_unseen(struct facts *f, const struct reader *r, uint32_t off)
{
	put_unknown_value(f, FIELD_PROTO);
	put_unknown_value(f, FIELD_FRAG);
	put_unknown_value(f, FIELD_HDRS);
	put_layer_unknown(f, FIELD_LAYER_EXT);
	put_layer_unknown(f, FIELD_LAYER_L4);
	set_l4(f, r, off);
}

/* The final protocol: what it is, and its header unless this is a later fragment. */
static void chain_end(struct facts *f, const struct reader *r, unsigned next, uint32_t off, bool is_later)
{
	put(f, FIELD_PROTO, next);
	put(f, FIELD_FRAG, is_later);
	add_header_bit(f, next == NEXT_NONE ? HDR_NONE : next == NEXT_ESP ? HDR_ESP : HDR_PROTO);
	set_l4(f, r, off);
	if (!is_later)
		read_l4(f, r, next, off);
}

static void read_chain(struct facts *f, const struct reader *r, unsigned next)
{
	uint32_t off = 40;

	put(f, FIELD_HDRS, 0);
	for (unsigned n = 0; is_ext_header(next); n++) {
		enum span here = reader_has(r, off, 8);
		uint32_t len;
		bool is_later = false;

		if (n == MAX_EXT_HEADERS) {
			malformed(f, "there are more than 16 extension headers");
			return;
		}
		if (here == SPAN_BEYOND) {
			malformed(f, "an extension header is cut short");
			return;
		}
		if (here == SPAN_UNSEEN) {
			chain_unseen(f, r, off);
			return;
		}
		len = ext_length(r, next, off);
		if (reader_has(r, off, len) == SPAN_BEYOND) {
			malformed(f, "an extension header goes beyond the packet");
			return;
		}
		read_ext(f, r, next, off, len);
		if (next == NEXT_FRAGMENT)
			is_later = reader_u16(r, off + 2) >> 3 != 0;
		next = reader_u8(r, off);
		off += len;
		if (is_later && is_ext_header(next)) {
			malformed(f, "a later fragment does not say its protocol");
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
		malformed(f, "the IPv6 header is cut short");
		return;
	}
	put_at(f, FIELD_TOS, r, 0, 2);
	f->v[FIELD_TOS] = f->v[FIELD_TOS] >> 4 & 0xff;
	put_unknown_value(f, FIELD_LENGTH);
	put_at(f, FIELD_TTL, r, 7, 1);
	put_at(f, FIELD_SRC, r, 8, 16);
	put_at(f, FIELD_DST, r, 24, 16);
	if (reader_has(r, 0, 7) != SPAN_HERE) {
		chain_unseen(f, r, 40);
		return;
	}
	payload = reader_u16(r, 4);
	next = reader_u8(r, 6);
	if (payload == 0 && next != NEXT_NONE)
		payload = r->end - 40;
	put(f, FIELD_LENGTH, payload + 40);
	if (payload > r->end - 40) {
		malformed(f, "the IPv6 payload length is beyond the packet");
		return;
	}
	set_end(f, r, payload + 40);
	read_chain(f, r, next);
}

/* type: what the link layer says is there, or 0: the version nibble says it. */
static void read_l3(struct facts *f, struct reader *r, unsigned type)
{
	unsigned version = 0;

	f->l3 = r->p;
	f->l3_len = r->captured;
	f->l3_wire_len = r->end;
	f->is_ip = true;
	f->family = type == ETHERTYPE_IP6 ? FAMILY_IP6 : FAMILY_IP4;
	if (r->end == 0) {
		malformed(f, "the IP header is cut short");
		return;
	}
	if (r->captured == 0) {
		malformed(f, "too little was captured to tell what this is");
		return;
	}
	version = reader_u8(r, 0) >> 4;
	if (!type && version == 6)
		f->family = FAMILY_IP6;
	if (version != (f->family == FAMILY_IP6 ? 6u : 4u))
		malformed(f, "the IP version is wrong");
	else if (f->family == FAMILY_IP4)
		read_ip4(f, r);
	else
		read_ip6(f, r);
}

void facts_read(struct facts *f, const struct packet *p)
{
	struct reader r = { p->bytes, p->len, p->wire_len > p->len ? p->wire_len : p->len };
	uint32_t off = 0;
	int type = 0;

	memset(f, 0, sizeof *f);
	read_meta(f, p);
	if (p->vlan_meta >= 0)
		put(f, FIELD_VLAN, (u128)(p->vlan_meta & 0xfff));
	if (p->link == PACKET_LINK_OTHER)
		return;
	if (p->link == PACKET_LINK_ETHER) {
		type = read_ether(f, p, &r, &off);
		if (type != ETHERTYPE_IP4 && type != ETHERTYPE_IP6)
			return;
		r.p += off;
		r.captured -= off;
		r.end -= off;
	} else if (f->has[FIELD_IIF] != EVAL_NO) { /* received somewhere: by a device that may be Ethernet */
		put_unknown(f, FIELD_MAC_SRC);
		put_unknown(f, FIELD_MAC_DST);
		put_unknown(f, FIELD_ETHERTYPE);
	}
	read_l3(f, &r, (unsigned)type);
}
