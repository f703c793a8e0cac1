/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parse: the bytes of a packet -> the key.
 *
 * Written once; the includer (bpf.h or native.c) gives the types, the constants dp_c.* and two accessors:
 *
 *     const u8 *dp_at(p, off, n)    n bytes (at most DP_CHUNK) at off, or NULL if they are not there
 *     LD8 LD16 LD32 LD64, BE16 BE32 BE64
 *
 * dp_at may use one buffer for all, so a pointer is good until the next call. A header is first held against the end
 * that the IP header states: what lies beyond it is malformed, padding behind it is not looked at.
 *
 * What is malformed, and what each fact means, is docs/semantics.md; the evaluator reads packets in its own way, and
 * the differential test holds the two against each other.
 */
#ifndef WEIR_DATAPATH_PARSE_H
#define WEIR_DATAPATH_PARSE_H

enum dp_parsed { DP_PARSED_IP4, DP_PARSED_IP6, DP_PARSED_OTHER, DP_PARSED_MALFORMED };
enum { DP_CHUNK = 40, DP_MAX_EXT = 16, DP_MAX_OFF = 40 + DP_MAX_EXT * 2048 + 64 };

/* as FIELD_HDRS of policy/field.h */
enum { DP_HDR_PROTO = 1, DP_HDR_ESP = 2, DP_HDR_NONE = 4, DP_HDR_AUTH = 8, DP_HDR_DSTOPTS = 16, DP_HDR_FRAG = 32, DP_HDR_ROUTE = 64,
       DP_HDR_HOPOPTS = 128 };

static __always_inline int dp_tcp(struct dp_pkt *p, struct dp_key *k, u64 off)
{
	const u8 *h = dp_at(p, off, 20);
	u32 len;

	if (!h)
		return DP_PARSED_MALFORMED;
	len = (u32)(LD8(h + 12) >> 4) * 4;
	if (len < 20 || off + len > k->l4_end)
		return DP_PARSED_MALFORMED;
	k->w[DP_W_L4] |= (u64)BE32(LD32(h)) << 32 | (u64)LD8(h + 13) << 16 | DP_HAS_PORTS | DP_HAS_TCP;
	k->w[DP_W_L4B] |= (u64)len << 40;
	return 0;
}

static __always_inline u32 dp_l4_need(u32 proto, bool is_ip6)
{
	switch (proto) {
	case DP_PROTO_TCP:
		return 20;
	case DP_PROTO_UDP:
	case DP_PROTO_UDPLITE:
	case DP_PROTO_ESP:
		return 8;
	case DP_PROTO_SCTP:
	case DP_PROTO_DCCP:
		return 12;
	case DP_PROTO_ICMP:
		return is_ip6 ? 0 : 8;
	case DP_PROTO_ICMP6:
		return is_ip6 ? 8 : 0;
	case DP_PROTO_AH:
		return is_ip6 ? 0 : 12;
	}
	return 0;
}

static __always_inline void dp_ah(struct dp_key *k, const u8 *h)
{
	k->w[DP_W_L4] |= DP_HAS_AH;
	k->w[DP_W_AH] = BE32(LD32(h + 4)) | (u64)((LD8(h + 1) + 2u) * 4) << 32 | (u64)BE16(LD16(h + 2)) << 48;
}

static __always_inline void dp_l4_facts(struct dp_key *k, const u8 *h, u32 proto, bool is_ip6)
{
	if (proto == DP_PROTO_ICMP || proto == DP_PROTO_ICMP6) {
		k->w[DP_W_L4B] |= (u64)BE16(LD16(h)) << 48;
		k->w[DP_W_L4] |= is_ip6 ? DP_HAS_ICMP6 : DP_HAS_ICMP;
	} else if (proto == DP_PROTO_ESP) {
		k->w[DP_W_L4B] |= BE32(LD32(h));
		k->w[DP_W_L4] |= DP_HAS_ESP;
	} else if (proto == DP_PROTO_AH) {
		dp_ah(k, h);
	} else {
		k->w[DP_W_L4] |= (u64)BE32(LD32(h)) << 32 | DP_HAS_PORTS | (proto == DP_PROTO_SCTP ? DP_HAS_SCTP : 0);
		if (proto == DP_PROTO_DCCP) {
			k->w[DP_W_L4] |= DP_HAS_DCCP;
			k->w[DP_W_FRAG] |= (u64)(LD8(h + 8) >> 1 & 15) << 48;
		}
	}
}

/*
 * The transport header of a packet or of its first fragment; dp_ip() has said where. Returns 0 or DP_PARSED_MALFORMED. On
 * its own, so that the verifier sees it once, whatever stood before it.
 */
static __always_inline int dp_transport(struct dp_pkt *p, struct dp_key *k, bool is_ip6)
{
	u32 proto = k->w[DP_W_L4] >> 24 & 0xff, need = dp_l4_need(proto, is_ip6);
	u64 off = k->w[DP_W_OFF] & 0xffffff;
	const u8 *h;

	if (need == 0 || (k->w[DP_W_L4] & DP_IS_LATER))
		return 0;
	if (off > DP_MAX_OFF || off + need > k->l4_end)
		return DP_PARSED_MALFORMED;
	if (proto == DP_PROTO_TCP)
		return dp_tcp(p, k, off);
	h = dp_at(p, off, need == 12 ? 12 : 8);
	if (!h)
		return DP_PARSED_MALFORMED;
	dp_l4_facts(k, h, proto, is_ip6);
	return 0;
}

static __always_inline int dp_ip4(struct dp_pkt *p, struct dp_key *k, u64 off, u64 len)
{
	const u8 *h = dp_at(p, off, 20);
	u64 header, total;
	u32 frag;

	if (!h || LD8(h) >> 4 != 4)
		return DP_PARSED_MALFORMED;
	header = (LD8(h) & 15u) * 4;
	total = BE16(LD16(h + 2));
	if (total == 0)
		total = len - off;
	if (header < 20 || total < header || total > len - off)
		return DP_PARSED_MALFORMED;
	frag = BE16(LD16(h + 6)) & 0x1fffu;
	if (frag == 1 && LD8(h + 9) == DP_PROTO_TCP) /* would overwrite the flags of the first fragment (RFC 1858) */
		return DP_PARSED_MALFORMED;
	if (frag == 1 && LD8(h + 9) == DP_PROTO_TCP)
		return DP_PARSED_MALFORMED;
	k->w[DP_W_SRC_LO] = BE32(LD32(h + 12));
	k->w[DP_W_DST_LO] = BE32(LD32(h + 16));
	k->w[DP_W_IP] = total << 32 | (u64)LD8(h + 8) << 24 | (u64)LD8(h + 1) << 16;
	k->w[DP_W_L4] = (u64)LD8(h + 9) << 24 | (frag ? DP_IS_LATER : 0);
	k->w[DP_W_OFF] = (off + header) | off << 24;
	k->l4_end = off + total;
	k->bytes = total;
	return DP_PARSED_IP4;
}

static __always_inline bool dp_is_ext(u32 next)
{
	return next == 0 || next == DP_PROTO_ROUTING || next == DP_PROTO_FRAGMENT || next == DP_PROTO_AH ||
	       next == DP_PROTO_DSTOPTS;
}

/* The facts of one extension header; the first of its type counts. */
static __always_inline void dp_ext_facts(struct dp_key *k, const u8 *h, u32 next, u64 len)
{
	u32 word, bit = next == 0 ? DP_HDR_HOPOPTS : next == DP_PROTO_ROUTING ? DP_HDR_ROUTE :
			next == DP_PROTO_FRAGMENT ? DP_HDR_FRAG : next == DP_PROTO_AH ? DP_HDR_AUTH : DP_HDR_DSTOPTS;

	if (k->w[DP_W_IP] & bit)
		return;
	k->w[DP_W_IP] |= bit;
	if (next == 0) {
		k->w[DP_W_EXT] |= len << 32;
		k->w[DP_W_L4] |= DP_HAS_HBH;
	} else if (next == DP_PROTO_DSTOPTS) {
		k->w[DP_W_EXT] |= len << 48;
		k->w[DP_W_L4] |= DP_HAS_DSTOPT;
	} else if (next == DP_PROTO_AH) {
		dp_ah(k, h);
	} else if (next == DP_PROTO_ROUTING) {
		k->w[DP_W_EXT] |= len << 16 | (u64)LD8(h + 3) << 8 | LD8(h + 2);
		k->w[DP_W_L4] |= DP_HAS_RT;
	} else {
		word = BE16(LD16(h + 2));
		k->w[DP_W_FRAG] |= BE32(LD32(h + 4)) | (u64)((u32)LD8(h + 1) << 2 | (word >> 1 & 3)) << 32;
		k->w[DP_W_L4] |= DP_HAS_FRAG | (word >> 3 ? 0 : DP_IS_FIRST) | (word & 1 ? DP_IS_MORE : 0);
	}
}

enum dp_walk { DP_WALK_ON, DP_WALK_DONE, DP_WALK_BAD };

/*
 * One extension header, if there is one: where the walk stands is in the key (the protocol, and the offset of what comes
 * next), so that every round looks alike to the verifier.
 */
static __always_inline u32 dp_ext(struct dp_pkt *p, struct dp_key *k)
{
	u64 off = k->w[DP_W_OFF] & 0xffffff, len;
	u32 type = k->w[DP_W_L4] >> 24 & 0xff;
	const u8 *h;

	if (!dp_is_ext(type))
		return DP_WALK_DONE;
	if (k->w[DP_W_L4] & DP_IS_LATER) /* a later fragment that does not say its protocol */
		return DP_WALK_BAD;
	if (off > DP_MAX_OFF || off + 8 > k->l4_end)
		return DP_WALK_BAD;
	h = dp_at(p, off, 8);
	if (!h)
		return DP_WALK_BAD;
	len = LD8(h + 1);
	len = type == DP_PROTO_FRAGMENT ? 8 : type == DP_PROTO_AH ? (len + 2) * 4 : (len + 1) * 8;
	if (off + len > k->l4_end)
		return DP_WALK_BAD;
	if (type == DP_PROTO_FRAGMENT && BE16(LD16(h + 2)) >> 3)
		k->w[DP_W_L4] |= DP_IS_LATER;
	if (dp_c.features & DP_F_EXT)
		dp_ext_facts(k, h, type, len);
	k->w[DP_W_L4] = (k->w[DP_W_L4] & ~(0xffull << 24)) | (u64)LD8(h) << 24;
	k->w[DP_W_OFF] += len;
	return DP_WALK_ON;
}

/* Walks the extension headers. Returns 0 or DP_PARSED_MALFORMED; the key says what is behind the last one. */
static __always_inline int dp_chain(struct dp_pkt *p, struct dp_key *k)
{
	u32 walk = DP_WALK_ON, proto;
	struct dp_iter it;

	dp_iter_start(&it, DP_MAX_EXT + 1);
	while (walk == DP_WALK_ON && dp_iter_next(&it)) {
		DP_RELOAD();
		walk = dp_ext(p, k);
	}
	dp_iter_end(&it);
	if (walk != DP_WALK_DONE)
		return DP_PARSED_MALFORMED;
	proto = k->w[DP_W_L4] >> 24 & 0xff;
	k->w[DP_W_IP] |= proto == DP_PROTO_NONE ? DP_HDR_NONE : proto == DP_PROTO_ESP ? DP_HDR_ESP : DP_HDR_PROTO;
	return 0;
}

static __always_inline int dp_ip6(struct dp_pkt *p, struct dp_key *k, u64 off, u64 len)
{
	const u8 *h = dp_at(p, off, 40);
	u64 payload;
	u32 next;

	if (!h || LD8(h) >> 4 != 6)
		return DP_PARSED_MALFORMED;
	payload = BE16(LD16(h + 4));
	next = LD8(h + 6);
	k->w[DP_W_SRC_HI] = BE64(LD64(h + 8));
	k->w[DP_W_SRC_LO] = BE64(LD64(h + 16));
	k->w[DP_W_DST_HI] = BE64(LD64(h + 24));
	k->w[DP_W_DST_LO] = BE64(LD64(h + 32));
	if (payload == 0 && next != DP_PROTO_NONE)
		payload = len - off - 40;
	if (payload > len - off - 40)
		return DP_PARSED_MALFORMED;
	k->w[DP_W_IP] = (payload + 40) << 32 | (u64)LD8(h + 7) << 24 | (u64)(BE16(LD16(h)) >> 4 & 0xffu) << 16;
	k->w[DP_W_L4] = (u64)next << 24;
	k->w[DP_W_OFF] = (off + 40) | off << 24;
	k->l4_end = off + 40 + payload;
	k->bytes = 40 + payload;
	return dp_chain(p, k) ? DP_PARSED_MALFORMED : DP_PARSED_IP6;
}

/* An IP packet of len bytes at off; is_ip6 says what the layer below called it. */
static __always_inline int dp_ip(struct dp_pkt *p, struct dp_key *k, u64 off, bool is_ip6)
{
	if (off > p->len)
		return DP_PARSED_MALFORMED;
	return is_ip6 ? dp_ip6(p, k, off, p->len) : dp_ip4(p, k, off, p->len);
}

/* An Ethernet frame. has_tag: an outer VLAN tag lies in metadata already. */
static __always_inline int dp_ether(struct dp_pkt *p, struct dp_key *k, bool has_tag)
{
	const u8 *h = dp_at(p, 0, 14);
	u32 type, tags = has_tag;
	const u64 *t = dp_map(&dp_table);
	u64 off = 14;

	if (!h || !t)
		return DP_PARSED_MALFORMED;
	type = BE16(LD16(h + 12));
	if (dp_c.features & DP_F_MAC) {
		k->w[DP_W_MACD] = (u64)BE32(LD32(h)) << 16 | BE16(LD16(h + 4));
		k->w[DP_W_MACS] = (u64)BE16(LD16(h + 6)) << 32 | BE32(LD32(h + 8));
		k->w[DP_W_DEV] |= DP_HAS_ETHER;
	}
	for (u32 i = 0; i < 3; i++) {
		if (type != 0x8100 && type != 0x88a8)
			break;
		if (++tags > 2)
			return DP_PARSED_MALFORMED;
		h = dp_at(p, off, 4);
		if (!h)
			return DP_PARSED_MALFORMED;
		if ((dp_c.features & DP_F_MAC) && tags == 1)
			k->w[DP_W_DEV] |= DP_HAS_VLAN | (u64)(BE16(LD16(h)) & 0xfffu) << 48;
		type = BE16(LD16(h + 2));
		off += 4;
	}
	if (type >= 0x600)
		k->w[DP_W_MACS] |= (u64)type << 48;
	off += dp_zero(t); /* or all that follows would be verified once for each number of tags */
	if (off > 22)
		return DP_PARSED_MALFORMED;
	if (type != 0x0800 && type != 0x86dd)
		return DP_PARSED_OTHER;
	return dp_ip(p, k, off, type == 0x86dd);
}

#endif
