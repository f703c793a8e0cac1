/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bits of a header, 1 to 128 of them, wherever they begin: DP_OP_PAYLOAD makes words of the key of them, which tests and maps
 * then compare like any other. The bits of the Ethernet header are in the key already.
 */
#ifndef WEIR_DATAPATH_PAYLOAD_H
#define WEIR_DATAPATH_PAYLOAD_H

enum { DP_PAYLOAD_NONE = 1 << 24 }; /* more than any packet has */

/* The Ethernet header as bits in k->options: destination, source, type. */
static __always_inline bool dp_payload_link(struct dp_key *k, u64 end)
{
	u64 *to = (u64 *)(void *)k->options;

	if (!(k->w[DP_W_DEV] & DP_HAS_ETHER) || end > DP_PAYLOAD_MOST_LINK)
		return false;
	to[0] = BE64(k->w[DP_W_MACD] << 16 | (k->w[DP_W_MACS] >> 32 & 0xffff));
	to[1] = BE64(k->w[DP_W_MACS] << 32 | k->w[DP_W_MACS] >> 48 << 16);
	to[2] = 0;
	return true;
}

/* How long the header at `at` is, as far as what it carries is looked into; or DP_PAYLOAD_NONE. */
static __always_inline u64 dp_payload_header(DP_CTX *ctx, const struct dp_key *k, u64 at)
{
	u32 proto = k->w[DP_W_L4] >> 24 & 0xff;
	u16 head = 0;

	if (proto == DP_PROTO_TCP)
		return k->w[DP_W_L4B] >> 40 & 0xff;
	if (proto == DP_PROTO_UDP)
		return 8;
	if (proto == DP_PROTO_IPIP)
		return 0;
	if (proto != DP_PROTO_GRE || at + 2 > k->bytes || dp_copy(ctx, (u32)((k->w[DP_W_OFF] >> 24 & 0xff) + at), 2, &head))
		return DP_PAYLOAD_NONE;
	head = BE16(head); /* a checksum, a key, a sequence number are there if it says so */
	return head & 7 ? DP_PAYLOAD_NONE : 4 + (head & 0x8000 ? 4u : 0u) + (head & 0x2000 ? 4u : 0u) + (head & 0x1000 ? 4u : 0u);
}

/* Where a base begins, from the start of the IP header; DP_PAYLOAD_NONE or more: it is not there. */
static __always_inline u64 dp_payload_start(DP_CTX *ctx, const struct dp_key *k, u32 base)
{
	u64 at = (k->w[DP_W_OFF] & 0xffffff) - (k->w[DP_W_OFF] >> 24 & 0xff);

	if (base == DP_BASE_NETWORK)
		return 0;
	if (k->w[DP_W_L4] & DP_IS_LATER)
		return DP_PAYLOAD_NONE;
	return base == DP_BASE_TRANSPORT ? at : at + dp_payload_header(ctx, k, at);
}

/* The bits of k->options from `at` on (0 to 7, or up to 111 of an Ethernet header), n of them, as words of the key. */
static __always_inline void dp_payload_take(struct dp_key *k, u32 at, u32 n, u32 word)
{
	const u64 *from = (const u64 *)(const void *)k->options;
	u64 a = BE64(from[0]), b = BE64(from[1]), c = BE64(from[2]);

	if (at >= 64) {
		a = b;
		b = c;
		c = 0;
		at -= 64;
	}
	if (at) {
		a = a << (at & 63) | DP_SHR(b, 64 - at);
		b = b << (at & 63) | DP_SHR(c, 64 - at);
	}
	if (n <= 64) {
		a = DP_SHR(a, 64 - n);
		k->w[word == DP_W_MADE_HI ? DP_W_MADE_HI : DP_W_MADE_LO] = a;
		return;
	}
	k->w[DP_W_MADE_LO] = n == 128 ? b : DP_SHR(b, 128 - n) | a << ((n - 64) & 63);
	k->w[DP_W_MADE_HI] = n == 128 ? a : DP_SHR(a, 128 - n);
}

/* Are the bits that the instruction at pc wants there? */
DP_GLOBAL int dp_payload(DP_CTX *ctx, struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;
	u64 bit, off, len, *to;
	u32 n, base;

	if (!k || !t)
		return 0;
	to = (u64 *)(void *)k->options;
	i = t + ((k->base + 4 * (u64)pc) & dp_c.table_mask);
	bit = i[1] >> 32;
	n = (u32)i[1] & 0xff;
	base = i[0] >> 8 & 0xff;
	if (base == DP_BASE_LINK) {
		if (!dp_payload_link(k, bit + n))
			return 0;
		dp_payload_take(k, (u32)bit, n, (u32)i[3]);
		return 1;
	}
	off = dp_payload_start(ctx, k, base) + bit / 8;
	len = (bit % 8 + n + 7) / 8;
	if (off + len > k->bytes || len == 0 || len > 17)
		return 0;
	to[0] = to[1] = to[2] = 0;
	DP_FORGET(len);
	if (len > 17 || dp_copy(ctx, (u32)((k->w[DP_W_OFF] >> 24 & 0xff) + off), (u32)len, k->options))
		return 0;
	dp_payload_take(k, bit % 8, n, (u32)i[3]);
	return 1;
}

#endif
