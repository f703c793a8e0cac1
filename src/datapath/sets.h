/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets: is a tuple of facts among many elements? tables/sets.h has the image that is read, whoever changes it meanwhile.
 *
 * A set of addresses or networks is a trie: a few steps. Other sets are hash tables, asked for one shape of the tuple
 * after the other; what was read of the directory for the first one holds for all, so one asking sees one state. The
 * phase is read once a run, so that what one command changes is seen by all askings of a packet at a point, or by none.
 */
#ifndef WEIR_DATAPATH_SETS_H
#define WEIR_DATAPATH_SETS_H

/* One key word of the packet: a word of the key, or one made for sets. */
static __always_inline u64 dp_set_word(const struct dp_key *k, u32 which)
{
	u64 l4 = k->w[DP_W_L4], proto = l4 >> 24 & 0xff;

	if (which < DP_KEY_WORDS)
		return k->w[which];
	if (which == DP_SET_MARK)
		return k->w[DP_W_MARK] & 0xffffffff;
	if (which == DP_SET_MACS || which == DP_SET_MACD)
		return k->w[which == DP_SET_MACS ? DP_W_MACS : DP_W_MACD] & 0xffffffffffff;
	if (which == DP_SET_SPORT_ONLY)
		return l4 >> 48;
	if (which == DP_SET_DPORT_ONLY)
		return l4 >> 32 & 0xffff;
	if (l4 & (DP_HAS_ICMP | DP_HAS_ICMP6))
		return proto << 16 | k->w[DP_W_L4B] >> 48;
	if (!(l4 & DP_HAS_PORTS) || (l4 & DP_HAS_DCCP))
		return proto << 16;
	return proto << 16 | (which == DP_SET_SPORT ? l4 >> 48 : l4 >> 32 & 0xffff);
}

/* ---------- tries ---------- */

/* The word of the last run of IPv4 that does not begin behind the address. */
static __always_inline u64 dp_set_run_ip4(const u64 *s, u64 entry, u64 addr)
{
	u64 at = entry >> 32, n = entry >> 8 & 0xff, half, is_behind;

	DP_NOUNROLL
	for (u32 i = 0; i < DP_SET_RUN_STEPS && n > 1; i++) {
		DP_RELOAD();
		half = n >> 1;
		n -= half;
		is_behind = (addr - (s[(at + half) & dp_c.sets_mask] >> 32)) >> 63;
		DP_FORGET(is_behind);
		at += half & (is_behind - 1);
	}
	return (u32)s[at & dp_c.sets_mask];
}

static __always_inline u64 dp_set_run_ip6(const u64 *s, u64 entry, u64 key)
{
	u64 at = entry >> 32, n = entry >> 8 & 0xff, half;

	DP_NOUNROLL
	for (u32 i = 0; i < DP_SET_RUN_STEPS && n > 1; i++) {
		DP_RELOAD();
		half = n >> 1;
		n -= half;
		if (s[(at + 2 * half) & dp_c.sets_mask] <= key)
			at += 2 * half;
	}
	return s[(at + 1) & dp_c.sets_mask];
}

/* From the root of a trie, for one word of the address, to what is behind its nodes and runs. */
static __always_inline u64 dp_set_walk(const u64 *s, u64 entry, u64 key)
{
	DP_NOUNROLL
	for (u32 n = 0; n < DP_SET_MAX_NODES && (entry & DP_SET_KIND_MASK) == DP_SET_NODE; n++) {
		u64 child = key >> (entry >> 8 & 63) & ((1ull << (entry >> 16 & 31)) - 1);

		DP_RELOAD();
		entry = s[((entry >> 32) + child) & dp_c.sets_mask];
	}
	if ((entry & DP_SET_KIND_MASK) != DP_SET_RUNS)
		return entry;
	return entry & DP_SET_WIDE ? dp_set_run_ip6(s, entry, key) : dp_set_run_ip4(s, entry, key >> 32);
}

/*
 * What the trie says about the address that instruction i asks with: DP_SET_OUT, DP_SET_IN or DP_SET_IN +
 * DP_SET_EXCEPTION. Addresses are the first four words of the key.
 */
static __always_inline u64 dp_set_trie(const struct dp_key *k, const u64 *s, u64 entry, const u64 *i)
{
	u64 key = k->w[i[2] & 3];

	if (i[3] & DP_SET_IS_IP4)
		key <<= 32;
	entry = dp_set_walk(s, entry, key);
	if ((entry & DP_SET_KIND_MASK) == DP_SET_NEXT)
		entry = dp_set_walk(s, s[entry >> 32 & dp_c.sets_mask], k->w[i[2] >> 8 & 3]);
	return entry >> 4 & 3;
}

/* ---------- hash tables ---------- */

static __always_inline void dp_set_ask(struct dp_key *k, u64 words, u32 n)
{
	DP_NOUNROLL
	for (u32 j = 0; j < DP_SET_WORDS && j < n; j++)
		k->tuple[j] = dp_set_word(k, words >> 8 * j & 0xff);
}

/* The hash of the tuple in the shape whose number and masks are at m; the writer has the same (sets/hash.c). */
static __always_inline u64 dp_set_hash(const struct dp_key *k, const u64 *m)
{
	u64 sum = (k->tuple[0] & m[1]) * DP_SET_HASH0 + (k->tuple[1] & m[2]) * DP_SET_HASH1 +
		  (k->tuple[2] & m[3]) * DP_SET_HASH2 + (k->tuple[3] & m[4]) * DP_SET_HASH3 +
		  (k->tuple[4] & m[5]) * DP_SET_HASH4;

	return DP_SET_MIX(sum, m[0] & DP_SLOT_SHAPE_MASK);
}

/* 0 if the slot holds the tuple in that shape. Words that the set does not have are compared under a mask of 0. */
static __always_inline u64 dp_set_differs(const struct dp_key *k, const u64 *m, const u64 *slot)
{
	return ((k->tuple[0] ^ slot[1]) & m[1]) | ((k->tuple[1] ^ slot[2]) & m[2]) | ((k->tuple[2] ^ slot[3]) & m[3]) |
	       ((k->tuple[3] ^ slot[4]) & m[4]) | ((k->tuple[4] ^ slot[5]) & m[5]);
}

/* The word of the slot that holds the tuple in the shape at word `shape` of the table at word `head`, or 0. */
static __always_inline u64 dp_set_find(const struct dp_key *k, const u64 *s, u64 head, u64 shape)
{
	const u64 *h = s + (head & dp_c.sets_mask), *m = s + (shape & dp_c.sets_mask);
	u64 hash = dp_set_hash(k, m), there = DP_SLOT_THERE(k->shape >> 8 & 1), stride = h[0] >> 24 & 0xff, at, want, word;

	at = (h[1] >> 32) + DP_SET_SLOT(hash, (u32)h[1]) * stride;
	want = DP_SLOT_USED | (hash & DP_SLOT_TAG_MASK) << DP_SLOT_TAG_SHIFT |
	       (m[0] & DP_SLOT_SHAPE_MASK) << DP_SLOT_SHAPE_SHIFT | there;
	DP_NOUNROLL
	for (u32 i = 0; i < DP_SET_PROBES; i++, at += stride) {
		const u64 *slot = s + (at & dp_c.sets_mask);

		word = slot[0];
		DP_RELOAD();
		if (!(((word ^ want) & (DP_SLOT_SAME | there)) | dp_set_differs(k, m, slot)))
			return word >> DP_SLOT_EXPIRES_SHIFT && dp_now() > word >> DP_SLOT_EXPIRES_SHIFT ? 0 : word;
		if (!(word & DP_SLOT_USED))
			break;
	}
	return 0;
}

/*
 * Asks a hash table for its next shape. What is kept in between: | offset of the table 32 | next shape 16 | phase 8 |
 * DP_SET_HASH |.
 */
static __always_inline u32 dp_set_shape(struct dp_key *k, const u64 *s, const u64 *i)
{
	u64 head = k->shape >> 32, at = k->shape >> 16 & 0xffff, n = s[head & dp_c.sets_mask] & 0xffff, found = 0;

	if (at < n)
		found = dp_set_find(k, s, head, head + DP_SET_HEAD + at * DP_SET_SHAPE);
	if (!found && at + 1 < n) {
		k->shape += 1 << 16;
		return 0;
	}
	k->shape = 0;
	return dp_jump(i[0], found && (found & (DP_SLOT_EXCEPTION | DP_SLOT_END)) ==
				       (i[3] & DP_SET_EXCEPTION ? DP_SLOT_EXCEPTION : 0));
}

/* A value as a set holds it: a word of its own, from bits of another. True. */
DP_GLOBAL int dp_set_take(struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;
	u64 v;

	if (!k || !t)
		return 1;
	i = dp_insn(k, t, pc);
	if (i[3] >= DP_KEY_WORDS)
		return 1;
	v = DP_SHR(k->w[i[3]] & i[1], i[2]);
	if ((i[0] >> 8 & 0xff) == DP_W_MADE_HI)
		k->w[DP_W_MADE_HI] = v;
	else
		k->w[DP_W_MADE_LO] = v;
	return 1;
}

/*
 * Asks the set of the instruction at pc, or its next shape. Returns how far to go on, 0: ask again for the one after.
 */
DP_GLOBAL u32 dp_set_step(struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *s = dp_map(&dp_sets), *i;
	u64 view;

	if (!k || !t || !s)
		return 0;
	i = dp_insn(k, t, pc);
	if (!k->shape) {
		if (!k->sets)
			k->sets = (u16)(1 + (*(const volatile u64 *)s & 1));
		view = s[(DP_SETS_VIEW + 2 * i[1] + k->sets - 1) & dp_c.sets_mask];
		if ((view & DP_SET_KIND_MASK) != DP_SET_HASH)
			return dp_jump(i[0], dp_set_trie(k, s, view, i) == DP_SET_IN + (i[3] & DP_SET_EXCEPTION));
		dp_set_ask(k, i[2], s[view >> 32 & dp_c.sets_mask] >> 16 & 0xff);
		k->shape = view | (u64)(k->sets - 1) << 8;
	}
	return dp_set_shape(k, s, i);
}

#endif
