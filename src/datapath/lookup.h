/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lookup: the first rule behind an instruction that may match, by the tables of its list. tables/lookup.h has the layout.
 *
 * Cuts are walked until a leaf, its entries compared, then its continuation walked, as long as an earlier rule may lie
 * there. Bounds are the builder's promise; one that is met all the same is told by DP_RESULT_NONE.
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
	u64 result = e[3], src = k->w[DP_W_SRC_LO] ^ e[0] >> 32, dst = (u32)(k->w[DP_W_DST_LO] ^ e[0]);

	return DP_SHR(src, result >> DP_SHIFT_SRC) | DP_SHR(dst, result >> DP_SHIFT_DST) |
	       dp_entry_l4(k->w[DP_W_L4], e[1], e[2]);
}

/* One word of an IPv6 address, by the lower two bytes of the shifts. */
static __always_inline u64 dp_entry_word(u64 key, u64 value, u64 shifts)
{
	return DP_SHR(DP_SHR(key ^ value, shifts), shifts >> 8);
}

static __always_inline u64 dp_entry_ip6(const struct dp_key *k, const u64 *e)
{
	u64 shifts = e[6];

	return dp_entry_word(k->w[DP_W_SRC_HI], e[0], shifts) | dp_entry_word(k->w[DP_W_SRC_LO], e[1], shifts >> 16) |
	       dp_entry_word(k->w[DP_W_DST_HI], e[2], shifts >> 32) | dp_entry_word(k->w[DP_W_DST_LO], e[3], shifts >> 48) |
	       dp_entry_l4(k->w[DP_W_L4], e[4], e[5]);
}

/* Puts the result of the first entry at e that matches and is not below `from` into the key, if that is less. */
static __always_inline void dp_leaf_ip4(struct dp_key *k, const u64 *e, u64 from)
{
	u32 n = DP_LEAF_COUNT(k->leaf);

	DP_NOUNROLL
	for (u32 i = 0; i < DP_MAX_LEAF; i++, e += DP_ENTRY_IP4) {
		DP_RELOAD();
		if (i >= n)
			break;
		if (!dp_entry_ip4(k, e) && e[3] >= from) {
			if (e[3] < k->best)
				k->best = e[3];
			break;
		}
	}
}

static __always_inline void dp_leaf_ip6(struct dp_key *k, const u64 *e, u64 from)
{
	u32 n = DP_LEAF_COUNT(k->leaf);

	DP_NOUNROLL
	for (u32 i = 0; i < DP_MAX_LEAF; i++, e += DP_ENTRY_IP6) {
		DP_RELOAD();
		if (i >= n)
			break;
		if (!dp_entry_ip6(k, e) && e[7] >= from) {
			if (e[7] < k->best)
				k->best = e[7];
			break;
		}
	}
}

/* From a cut to the next leaf or end. */
static __always_inline u64 dp_walk(const struct dp_key *k, const u64 *t, u64 begin, u64 d)
{
	DP_NOUNROLL
	for (u32 i = 0; i < DP_MAX_WALK; i++) {
		u64 w;

		if ((__s64)d <= 0)
			break;
		w = ((const u64 *)k)[d >> 54 & 31]; /* a word of the key: w[] comes first, and more than 32 words follow */
		d = t[(begin + (u32)d + (w >> (d >> 48 & 63) & (d >> 32 & 0xffff))) & dp_c.table_mask];
	}
	return d;
}

/* On from descriptor *d to the next leaf and through it. True: that was all. */
static __always_inline bool dp_lookup_leaf(struct dp_key *k, const u64 *t, const u64 *i, bool is_ip6, u64 *d)
{
	u64 begin = k->base + (u32)i[3], at;

	*d = dp_walk(k, t, begin, *d);
	if ((__s64)*d >= 0) {
		if (*d)
			k->best = DP_RESULT_NONE;
		return true;
	}
	/* What the verifier learns about words on the way is forgotten with them, or it would look at all ways there are. */
	k->leaf = *d;
	at = (begin + (u32)*d) & dp_c.table_mask;
	if (is_ip6)
		dp_leaf_ip6(k, t + at, i[3] >> 32 << DP_PLACE_SHIFT);
	else
		dp_leaf_ip4(k, t + at, i[3] >> 32 << DP_PLACE_SHIFT);
	DP_RELOAD();
	if (k->best >> DP_PLACE_SHIFT <= DP_LEAF_LEAST(k->leaf))
		return true;
	at = begin + (u32)k->leaf + DP_LEAF_COUNT(k->leaf) * (is_ip6 ? DP_ENTRY_IP6 : DP_ENTRY_IP4);
	*d = t[at & dp_c.table_mask];
	return false;
}

/* The answer of the LOOKUP at pc: a result word, or DP_RESULT_NONE. */
DP_GLOBAL u64 dp_lookup(struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;
	struct dp_iter it;
	bool done = false;
	u64 d;

	if (!k || !t)
		return DP_RESULT_NONE;
	i = dp_insn(k, t, pc);
	d = i[1];
	k->best = i[2];
	dp_iter_start(&it, DP_MAX_LEAVES + 1);
	while (!done && dp_iter_next(&it))
		done = i[0] >> 8 & DP_LOOKUP_IP6 ? dp_lookup_leaf(k, t, i, true, &d) : dp_lookup_leaf(k, t, i, false, &d);
	dp_iter_end(&it);
	return done ? k->best : DP_RESULT_NONE;
}

/* The same for lookups of few leaves: others are DP_RESULT_NONE. */
static __always_inline u64 dp_lookup_few(struct dp_key *k, const u64 *t, const u64 *i, bool is_ip6)
{
	u64 d = i[1];

	k->best = i[2];
	DP_NOUNROLL
	for (u64 n = dp_zero(t); n < DP_SHORT_LEAVES; n++)
		if (dp_lookup_leaf(k, t, i, is_ip6, &d))
			return k->best;
	return DP_RESULT_NONE;
}

static __always_inline u64 dp_lookup_short(struct dp_key *k, const u64 *t, const u64 *i)
{
	if (i[0] >> 8 & DP_LOOKUP_IP6)
		return dp_lookup_few(k, t, i, true);
	return dp_lookup_few(k, t, i, false);
}

/* Does the list ask about connections where nothing tracks them? */
static __always_inline bool dp_lookup_is_blind(const struct dp_key *k, const u64 *i)
{
	return (i[0] >> 8 & DP_LOOKUP_CT) && (k->w[DP_W_CT] >> DP_CT_STATE_SHIFT & DP_CT_MISSING);
}

#endif
