/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lookup: the first rule behind an instruction that may match, by the tables of its list. tables/lookup.h has the layout.
 *
 * Cuts are walked until a leaf, its entries compared, then its continuation walked, as long as an earlier rule may lie
 * there. Bounds are the builder's promise; one that is met all the same is told by DP_PC_NONE.
 */
#ifndef WEIR_DATAPATH_LOOKUP_H
#define WEIR_DATAPATH_LOOKUP_H

/* 0 if ports and the lower half of the L4 word are those of an entry. */
static __always_inline u64 dp_entry_l4(u64 l4, u64 ports, u64 low)
{
	u64 s = ((l4 >> 48) - ports) & 0xffff, d = ((l4 >> 32) - (ports >> 32)) & 0xffff;
	u64 beyond = ((ports >> 16 & 0xffff) - s) | ((ports >> 48) - d);

	return (u32)((l4 ^ low) & low >> 32) | beyond >> 63;
}

static __always_inline u64 dp_entry_ip4(const struct dp_key *k, const u64 *e)
{
	return ((k->addrs ^ e[0]) & e[1]) | dp_entry_l4(k->w[DP_W_L4], e[2], e[3]);
}

static __always_inline u64 dp_entry_ip6(const struct dp_key *k, const u64 *e)
{
	return dp_entry_l4(k->w[DP_W_L4], e[0], e[1]) | ((k->w[DP_W_SRC_HI] ^ e[2]) & e[6]) |
	       ((k->w[DP_W_SRC_LO] ^ e[3]) & e[7]) | ((k->w[DP_W_DST_HI] ^ e[4]) & e[8]) |
	       ((k->w[DP_W_DST_LO] ^ e[5]) & e[9]);
}

/* The place of entry i of the key's leaf. */
static __always_inline u32 dp_leaf_place(const struct dp_key *k, const u64 *t, u32 i, u32 entry_words)
{
	u64 w = k->leaf + (i < DP_LEAF_INLINE ? 2 + i / 2 : DP_LEAF_HEAD + (u64)k->n * entry_words + i / 2 - 2);

	return (u32)(t[w & dp_c.table_mask] >> (i & 1) * 32);
}

/* The place of the first entry of the key's leaf that matches and counts, or DP_PC_NONE. */
DP_GLOBAL u32 dp_leaf_ip4(const struct dp_key *k)
{
	const u64 *t = dp_map(&dp_table);

	if (!k || !t)
		return DP_PC_NONE;
	DP_NOUNROLL
	for (u32 i = 0; i < DP_MAX_LEAF; i++) {
		u32 place;

		DP_RELOAD();
		if (i >= k->n)
			break;
		if (dp_entry_ip4(k, t + ((k->leaf + DP_LEAF_HEAD + i * DP_ENTRY_IP4) & dp_c.table_mask)))
			continue;
		place = dp_leaf_place(k, t, i, DP_ENTRY_IP4);
		if (place >= k->from)
			return place;
	}
	return DP_PC_NONE;
}

DP_GLOBAL u32 dp_leaf_ip6(const struct dp_key *k)
{
	const u64 *t = dp_map(&dp_table);

	if (!k || !t)
		return DP_PC_NONE;
	DP_NOUNROLL
	for (u32 i = 0; i < DP_MAX_LEAF; i++) {
		u32 place;

		DP_RELOAD();
		if (i >= k->n)
			break;
		if (dp_entry_ip6(k, t + ((k->leaf + DP_LEAF_HEAD + i * DP_ENTRY_IP6) & dp_c.table_mask)))
			continue;
		place = dp_leaf_place(k, t, i, DP_ENTRY_IP6);
		if (place >= k->from)
			return place;
	}
	return DP_PC_NONE;
}

/* From a cut to the next leaf or end. */
static __always_inline u64 dp_walk(const struct dp_key *k, const u64 *t, u64 base, u64 d)
{
	DP_NOUNROLL
	for (u32 i = 0; i < DP_MAX_WALK; i++) {
		u64 w;

		if ((__s64)d <= 0)
			break;
		w = ((const u64 *)k)[d >> 54 & 31]; /* a word of the key: w[] comes first, and more than 32 words follow */
		d = t[(base + (u32)d + (w >> (d >> 48 & 63) & (d >> 32 & 0xffff))) & dp_c.table_mask];
	}
	return d;
}

/* Where to go on behind the LOOKUP at pc, or DP_PC_NONE. */
DP_GLOBAL u32 dp_lookup(struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;
	u32 best, found;
	struct dp_iter it;
	bool done = false;
	u64 d;

	if (!k || !t)
		return DP_PC_NONE;
	i = t + ((k->base + 4 * (u64)pc) & dp_c.table_mask);
	if ((i[0] >> 8 & DP_LOOKUP_CT) && (k->w[DP_W_CT] >> DP_CT_STATE_SHIFT & DP_CT_MISSING))
		return pc + 1;
	d = i[1];
	best = (u32)i[2];
	k->from = pc + 1 - (u32)(i[2] >> 32);
	k->addrs = k->w[DP_W_SRC_LO] << 32 | (u32)k->w[DP_W_DST_LO];
	dp_iter_start(&it, DP_MAX_LEAVES + 1);
	while (!done && dp_iter_next(&it)) {
		d = dp_walk(k, t, k->base + i[3], d);
		if (!(d >> 63)) {
			done = d == 0;
			break;
		}
		k->leaf = k->base + i[3] + (u32)d;
		k->n = d >> 32 & 0x7f;
		found = i[0] >> 8 & DP_LOOKUP_IP6 ? dp_leaf_ip6(k) : dp_leaf_ip4(k);
		best = found < best ? found : best;
		done = best < (u32)t[(k->leaf + 1) & dp_c.table_mask];
		d = t[k->leaf & dp_c.table_mask];
	}
	dp_iter_end(&it);
	return done ? (u32)(i[2] >> 32) + best : DP_PC_NONE;
}

#endif
