/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lookup: the first rule behind an instruction that may match, by the tables of its list. tables/lookup.h has the layout.
 *
 * Cuts are walked until a leaf, its entries compared, then its continuation walked, as long as an earlier rule may lie
 * there. Bounds are the builder's promise; one that is met all the same is told by DP_RESULT_NONE.
 */
#ifndef WEIR_DATAPATH_LOOKUP_H
#define WEIR_DATAPATH_LOOKUP_H

#include "datapath/classes.h"

#define DP_LANES 0x0000ffff0000ffffull
#define DP_LANE_SIGNS 0x8000000080000000ull

/* The ports, each in a lane of 32 bits of its own. */
static __always_inline u64 dp_entry_lanes(u64 l4)
{
	return (l4 & DP_LANES << 32) | l4 >> 48;
}

/*
 * 0 if ports and the lower half of the L4 word are those of an entry. Both ports at once: one that lies outside of its span
 * leaves its lane negative; what the lower lane then borrows from the upper one changes no answer.
 */
static __always_inline u64 dp_entry_l4(u64 l4, u64 lanes, u64 ports, u64 low)
{
	u64 from = lanes - (ports & DP_LANES), beyond = from | ((ports >> 16 & DP_LANES) - from);

	return (u32)((l4 ^ low) & low >> 32) | (beyond & DP_LANE_SIGNS);
}

static __always_inline u64 dp_entry_ip4(const struct dp_key *k, u64 lanes, const u64 *e)
{
	u64 result = e[3], src = k->w[DP_W_SRC_LO] ^ e[0] >> 32, dst = (u32)(k->w[DP_W_DST_LO] ^ e[0]);

	src = DP_SHR(src, result >> DP_SHIFT_SRC) | DP_SHR(dst, result >> DP_SHIFT_DST);
	if (src)
		return 1;
	return dp_entry_l4(k->w[DP_W_L4], lanes, e[1], e[2]);
}

/* One word of an IPv6 address, by the lower two bytes of the shifts. */
static __always_inline u64 dp_entry_word(u64 key, u64 value, u64 shifts)
{
	return DP_SHR(DP_SHR(key ^ value, shifts), shifts >> 8);
}

static __always_inline u64 dp_entry_ip6(const struct dp_key *k, u64 lanes, const u64 *e)
{
	u64 shifts = e[6];

	return dp_entry_word(k->w[DP_W_SRC_HI], e[0], shifts) | dp_entry_word(k->w[DP_W_SRC_LO], e[1], shifts >> 16) |
	       dp_entry_word(k->w[DP_W_DST_HI], e[2], shifts >> 32) | dp_entry_word(k->w[DP_W_DST_LO], e[3], shifts >> 48) |
	       dp_entry_l4(k->w[DP_W_L4], lanes, e[4], e[5]);
}

/*
 * What the verifier learns about words on the way it would have to keep apart, and look at all ways there are. So words of
 * tables and keys are compared by their difference, of which nothing comes back to them.
 */
static __always_inline bool dp_less(u64 x, u64 y) /* both below 2^63, or their lowest bits do not matter */
{
	u64 d = x - y;

	DP_FORGET(d);
	d >>= 63;
	DP_FORGET(d);
	return d;
}

static __always_inline u64 dp_lesser(u64 x, u64 y)
{
	return dp_less(x >> 1, y >> 1) ? x : y;
}

/* A lookup under way. */
struct dp_search {
	u64 begin, from, lanes;
	u64 d, best;
	bool is_ip6;
};

/* The first of n entries at e that matches and is not below `from`, or the best so far if that is less. */
static __always_inline u64 dp_leaf(const struct dp_key *k, const struct dp_search *s, const u64 *e, u64 n)
{
	u32 words = s->is_ip6 ? DP_ENTRY_IP6 : DP_ENTRY_IP4;

	DP_NOUNROLL
	for (u32 i = 0; i < DP_MAX_LEAF; i++, e += words) {
		DP_RELOAD();
		if (!dp_less(i, n))
			break;
		if ((s->is_ip6 ? dp_entry_ip6(k, s->lanes, e) : dp_entry_ip4(k, s->lanes, e)) == 0 &&
		    !(s->from && dp_less(e[words - 1] >> 1, s->from >> 1)))
			return dp_lesser(e[words - 1], s->best);
	}
	return s->best;
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
		d = t[(begin + (u32)d + (DP_SHR(w, d >> 48) & (d >> 32 & 0xffff))) & dp_c.table_mask];
	}
	return d;
}

/* A program for one family has no code for the other. */
static __always_inline bool dp_is_ip6(bool otherwise)
{
#ifdef DP_ONE_FAMILY
	return dp_c.point >= DP_POINTS_PER_FAMILY;
#endif
	return otherwise;
}

/* On to the next leaf and through it. True: that was all. */
static __always_inline bool dp_search_leaf(const struct dp_key *k, const u64 *t, struct dp_search *s)
{
	u64 d = dp_walk(k, t, s->begin, s->d), at = s->begin + (u32)d, n = DP_LEAF_COUNT(d);

	if ((__s64)d >= 0) {
		if (d)
			s->best = DP_RESULT_NONE;
		return true;
	}
	s->best = dp_leaf(k, s, t + (at & dp_c.table_mask), n);
	if (!dp_less(DP_LEAF_LEAST(d), s->best >> DP_PLACE_SHIFT))
		return true;
	s->d = t[(at + n * (s->is_ip6 ? DP_ENTRY_IP6 : DP_ENTRY_IP4)) & dp_c.table_mask];
	return false;
}

static __always_inline struct dp_search dp_search_start(const struct dp_key *k, const u64 *i, bool is_ip6)
{
	return (struct dp_search){ .begin = k->base + (u32)i[3], .from = i[3] >> 32 << DP_PLACE_SHIFT, .lanes = dp_entry_lanes(k->w[DP_W_L4]),
				   .d = i[1], .best = i[2], .is_ip6 = is_ip6 };
}

static __always_inline u64 dp_lookup_all(const struct dp_key *k, const u64 *t, const u64 *i, bool is_ip6)
{
	struct dp_search s = dp_search_start(k, i, is_ip6);
	struct dp_iter it;
	bool done = false;

	dp_iter_start(&it, DP_MAX_LEAVES + 1);
	while (!done && dp_iter_next(&it))
		done = dp_search_leaf(k, t, &s);
	dp_iter_end(&it);
	return done ? s.best : DP_RESULT_NONE;
}

/* The answer of the LOOKUP at pc, whose engine is the graph: a result word, or DP_RESULT_NONE. */
DP_GLOBAL u64 dp_lookup_graph(const struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;

	if (!k || !t)
		return DP_RESULT_NONE;
	i = dp_insn(k, t, pc);
	return dp_is_ip6(i[0] >> 8 & DP_LOOKUP_IP6) ? dp_lookup_all(k, t, i, true) : dp_lookup_all(k, t, i, false);
}

/* The same for class tables, in two parts, so that each does with a small stack. */
DP_GLOBAL int dp_lookup_sums(struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;

	if (!k || !t)
		return 0;
	i = dp_insn(k, t, pc);
	dp_classes_sum(k, t, k->base + (u32)i[3], i[1]);
	return 0;
}

DP_GLOBAL u64 dp_lookup_classes(const struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;

	if (!k || !t)
		return DP_RESULT_NONE;
	i = dp_insn(k, t, pc);
	return dp_classes_from(k, t, k->base + (u32)i[3], i[1], i[3] >> 32);
}

/* Where no list has class tables, the verifier never sees what reads them. */
static __always_inline bool dp_lookup_has_classes(const u64 *i)
{
	return (dp_c.features & DP_F_CLASSES) && (i[0] >> 8 & DP_LOOKUP_CLASSES);
}

static __always_inline u64 dp_lookup(struct dp_key *k, const u64 *i, u32 pc)
{
	if (!dp_lookup_has_classes(i))
		return dp_lookup_graph(k, pc);
	dp_lookup_sums(k, pc);
	return dp_lookup_classes(k, pc);
}

static __always_inline u64 dp_lookup_few(const struct dp_key *k, const u64 *t, const u64 *i, bool is_ip6)
{
	struct dp_search s = dp_search_start(k, i, is_ip6);

	s.from = 0;
	DP_NOUNROLL
	for (u64 n = dp_zero(t); n < DP_SHORT_LEAVES; n++)
		if (dp_search_leaf(k, t, &s))
			return s.best;
	return DP_RESULT_NONE;
}

/* The same at the head of a list, and for few leaves: others are DP_RESULT_NONE. */
static __always_inline u64 dp_lookup_short(const struct dp_key *k, const u64 *t, const u64 *i, bool is_ip6)
{
	if (dp_lookup_has_classes(i))
		return dp_classes_first(k, t, k->base + (u32)i[3], i[1]);
	return is_ip6 ? dp_lookup_few(k, t, i, true) : dp_lookup_few(k, t, i, false);
}

/* Does the list ask about connections where nothing tracks them? */
static __always_inline bool dp_lookup_is_blind(const struct dp_key *k, const u64 *i)
{
	return (i[0] >> 8 & DP_LOOKUP_CT) && (k->w[DP_W_CT] >> DP_CT_STATE_SHIFT & DP_CT_MISSING);
}

#endif
