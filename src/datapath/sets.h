/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets: is a tuple of facts among many elements?
 *
 * A set is a hash table in the table's words. An element is up to five words, of which only the leading bits may count
 * (192.0.2.0/24); elements whose same bits count have one shape. The shapes are asked from the most specific on, and the
 * first element found decides. A hash names two buckets of four slots, and the builder moves elements around until
 * each lies in one of its two (cuckoo hashing), so a look-up has no loop.
 *
 *     set:    | slots' offset 32 | shapes 16 | key words 8 | buckets as log2 8 |
 *             then for each shape: five masks, 0 for key words that the set does not have
 *     slot:   | flags 8: DP_SET_* | shape + 1, 0 = free |, then the masked key words
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

static __always_inline void dp_set_ask(struct dp_key *k, u64 words)
{
	DP_NOUNROLL
	for (u32 j = 0; j < DP_SET_WORDS; j++)
		k->tuple[j] = dp_set_word(k, words >> 8 * j & 0xff);
}

/* The hash of one shape of the tuple; repeated by the builder (classify/set.c). */
static __always_inline u64 dp_set_hash(const struct dp_key *k, const u64 *masks, u64 shape)
{
	u64 h = shape;

	for (u32 j = 0; j < DP_SET_WORDS; j++)
		h = (h ^ h >> 32 ^ (k->tuple[j] & masks[j])) * DP_HASH_MUL;
	return h ^ h >> 29;
}

/* 0 if slot s holds the tuple in that shape. Words that the set does not have are compared under a mask of 0. */
static __always_inline u64 dp_set_differs(const struct dp_key *k, const u64 *masks, const u64 *s, u64 shape)
{
	u64 d = (s[0] & 0xffff) ^ (shape + 1);

	for (u32 j = 0; j < DP_SET_WORDS; j++)
		d |= (s[1 + j] ^ k->tuple[j]) & masks[j];
	return d;
}

/* Looks one shape up: the first word of its slot, or 0. */
static __always_inline u64 dp_set_find(const struct dp_key *k, const u64 *t, u64 set, u64 shape)
{
	const u64 *masks = t + ((set + 1 + shape * DP_SET_WORDS) & dp_c.table_mask);
	u64 head = t[set & dp_c.table_mask], h = dp_set_hash(k, masks, shape), bucket, found = 0;

	DP_NOUNROLL
	for (u32 i = 0; i < 2 * DP_BUCKET_SLOTS; i++) {
		const u64 *s;

		DP_RELOAD();
		bucket = (i < DP_BUCKET_SLOTS ? h : h >> 32) & ((1ull << (head & 63)) - 1);
		s = t + ((k->base + (head >> 32) + (bucket * DP_BUCKET_SLOTS + i % DP_BUCKET_SLOTS) * ((head >> 8 & 0xff) + 1)) &
			 dp_c.table_mask);
		if (!dp_set_differs(k, masks, s, shape))
			found = s[0];
	}
	return found;
}

/*
 * Asks the set of the instruction at pc for its next shape. Returns how far to go on, 0: ask again for the one after.
 */
DP_GLOBAL u32 dp_set_step(struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;
	u64 set, found, shape;
	u32 n;

	if (!k || !t)
		return 0;
	i = t + ((k->base + 4 * (u64)pc) & dp_c.table_mask);
	set = k->base + (u32)i[1];
	n = t[set & dp_c.table_mask] >> 16 & 0xffff;
	shape = k->shape;
	if (shape == 0)
		dp_set_ask(k, i[2]);
	found = shape < n ? dp_set_find(k, t, set, shape) : 0;
	k->shape = shape + 1;
	if (!found && shape + 1 < n)
		return 0;
	k->shape = 0;
	return dp_jump(i[0], found && (found >> 16 & (DP_SET_EXCEPTION | DP_SET_END)) == (i[3] & DP_SET_EXCEPTION));
}

#endif
