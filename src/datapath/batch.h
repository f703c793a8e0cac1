/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Batch: many packets at once through the lookup of one list. User space only; the tables are those of lookup.h.
 *
 * A lookup alone waits: for the cut that the last one led to, for the leaf, for the guess which entry matches. Here all
 * packets take one step before any takes the next:
 *
 *     walk:   each packet takes a cut, until all are in leaves
 *     leaf:   all ask for the lines of their leaf, then each compares some entries at once
 *     again:  with those whose continuation may hold an earlier rule than they have found
 *
 * The loads of different packets do not depend on each other, and who goes on in which list is arithmetic, not a
 * branch. The answers are those of dp_lookup().
 *
 * How entries are compared is given by the includer of this template, so that a machine with wide registers does it with
 * them (batch_wide.h): dp_block(), a bit for each of DP_BLOCK entries.
 */
#ifndef WEIR_DATAPATH_BATCH_H
#define WEIR_DATAPATH_BATCH_H

enum { DP_BLOCK = 4 };

/* One packet on its way. */
struct dp_lane {
	const struct dp_key *k;
	u64 d;		 /* where it is: a descriptor */
	u64 best;	 /* least result so far */
	u64 addrs;	 /* IPv4: source 32, destination 0 */
	u64 ports;	 /* destination 32, source 0 */
	u64 pad[3];	 /* a cache line each */
};

/* A list of lanes. */
struct dp_lanes {
	u32 n;
	struct dp_lane *v[NATIVE_BATCH];
};

/* Which of the DP_BLOCK entries at e are the lane's: bit i for entry i. */
typedef u32 dp_block(const struct dp_lane *l, const u64 *e);

static __always_inline u32 dp_block_ip4(const struct dp_lane *l, const u64 *e)
{
	u32 hits = 0;

	for (u32 i = 0; i < DP_BLOCK; i++)
		hits |= (u32)(dp_entry_ip4(l->k, dp_entry_lanes(l->k->w[DP_W_L4]), e + i * DP_ENTRY_IP4) == 0) << i;
	return hits;
}

static __always_inline u32 dp_block_ip6(const struct dp_lane *l, const u64 *e)
{
	u32 hits = 0;

	for (u32 i = 0; i < DP_BLOCK; i++)
		hits |= (u32)(dp_entry_ip6(l->k, dp_entry_lanes(l->k->w[DP_W_L4]), e + i * DP_ENTRY_IP6) == 0) << i;
	return hits;
}

/* The lanes of a lookup and where they are. */
struct dp_lookup {
	const u64 *begin; /* of the list's tables */
	struct dp_lanes walk, leaf;
};

/* A lane has come to d: it goes to a list, or, at an end, to none. */
static __always_inline void dp_lane_sort(struct dp_lookup *x, struct dp_lane *l, u64 d)
{
	l->d = d;
	x->walk.v[x->walk.n] = l;
	x->walk.n += (__s64)d > 0;
	x->leaf.v[x->leaf.n] = l;
	x->leaf.n += (u32)(d >> 63);
}

/* All lanes at cuts to their next leaf or end. Those that stay in walk have met a bound. */
static __always_inline void dp_batch_walk(struct dp_lookup *x)
{
	const u64 *begin = x->begin;

	for (u32 round = 0; round < DP_MAX_WALK && x->walk.n; round++) {
		u32 n = x->walk.n, on = 0, in = x->leaf.n;

		for (u32 i = 0; i < n; i++) {
			struct dp_lane *l = x->walk.v[i];
			u64 d = l->d, w = ((const u64 *)l->k)[d >> 54];

			d = begin[(u32)d + (w >> (d >> 48 & 63) & (d >> 32 & 0xffff))];
			l->d = d;
			x->walk.v[on] = l;
			on += (__s64)d > 0;
			x->leaf.v[in] = l;
			in += (u32)(d >> 63);
		}
		x->walk.n = on;
		x->leaf.n = in;
	}
}

/*
 * A block of entries of all lanes in a list: entry number `from` of the leaf, and those behind it. The lanes that have more
 * to compare stay in the list; done gets those that are through and have to look on.
 */
static __always_inline void dp_batch_block(struct dp_lookup *x, struct dp_lanes *list, struct dp_lanes *done, u32 from, u32 words,
					   dp_block *block)
{
	u32 n = list->n, more = 0, on = done->n;

	for (u32 i = 0; i < n; i++) {
		struct dp_lane *l = list->v[i];
		u64 d = l->d;
		const u64 *e = x->begin + (u32)d + from * words;
		u32 left = DP_LEAF_COUNT(d) - from;
		u32 hits = block(l, e) & ((1u << left) - 1), first = (u32)__builtin_ctz(hits | 1u << (DP_BLOCK - 1));
		u64 result = e[first * words + words - 1] | -(u64)(hits == 0), best = l->best; /* no branch: nobody could guess it */
		bool is_more = (hits == 0) & (left > DP_BLOCK);

		best = result < best ? result : best;
		l->best = best;
		list->v[more] = l;
		more += is_more;
		done->v[on] = l;
		on += !is_more & (best >> DP_PLACE_SHIFT > DP_LEAF_LEAST(d));
	}
	list->n = more;
	done->n = on;
}

/* All lanes in leaves through them; walk and leaf are then those that have to look on. */
static __always_inline void dp_batch_leaf(struct dp_lookup *x, u32 words, dp_block *block)
{
	struct dp_lanes done, in = x->leaf;

	for (u32 i = 0; i < in.n; i++) {
		const u64 *e = x->begin + (u32)in.v[i]->d;

		__builtin_prefetch(e);
		__builtin_prefetch(e + 8);
	}
	done.n = 0;
	for (u32 from = 0; from < DP_MAX_LEAF && in.n; from += DP_BLOCK)
		dp_batch_block(x, &in, &done, from, words, block);
	x->leaf.n = 0;
	for (u32 i = 0; i < done.n; i++) {
		struct dp_lane *l = done.v[i];

		dp_lane_sort(x, l, x->begin[(u32)l->d + DP_LEAF_COUNT(l->d) * words]);
	}
}

static __always_inline void dp_lanes_fail(struct dp_lanes *list)
{
	for (u32 i = 0; i < list->n; i++)
		list->v[i]->best = DP_RESULT_NONE;
	list->n = 0;
}

/*
 * The answers to the LOOKUP i, in best of n lanes whose keys are set; as dp_lookup() gives them. Only for a LOOKUP at the
 * head of its list, before which there is no rule to leave out.
 */
static __always_inline void dp_batch_lookup(const u64 *t, const u64 *i, struct dp_lane *lane, u32 n, u32 words, dp_block *block)
{
	struct dp_lookup x;

	x.begin = t + (u32)i[3];
	x.walk.n = x.leaf.n = 0;
	for (u32 j = 0; j < n; j++) {
		const u64 *w = lane[j].k->w;

		lane[j].best = i[2];
		lane[j].addrs = w[DP_W_SRC_LO] << 32 | (u32)w[DP_W_DST_LO];
		lane[j].ports = w[DP_W_L4] >> 48 | (w[DP_W_L4] >> 32 & 0xffff) << 32;
		dp_lane_sort(&x, &lane[j], i[1]);
	}
	for (u32 leaves = 0; x.walk.n + x.leaf.n && leaves <= DP_MAX_LEAVES; leaves++) {
		dp_batch_walk(&x);
		dp_lanes_fail(&x.walk);
		dp_batch_leaf(&x, words, block);
	}
	dp_lanes_fail(&x.walk);
	dp_lanes_fail(&x.leaf);
}

#endif
