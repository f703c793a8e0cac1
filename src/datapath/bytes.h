/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests on bytes of the packet, from the first of its IP header: u32 and string. What they look for lies in the table:
 *
 *     u32     one word for each step: operation 56 | number 0; behind DP_U32_SPANS as many words: first 32 | last 0
 *     string  from 32 | to 0, length of the pattern; then an automaton: for each number of bytes matched so far and each
 *             byte, how many are matched then, 8 bits each
 */
#ifndef WEIR_DATAPATH_BYTES_H
#define WEIR_DATAPATH_BYTES_H

/* Four bytes at `at` of the IP packet, first one highest. */
static __always_inline bool dp_word_at(DP_CTX *ctx, const struct dp_key *k, u64 at, u32 *out)
{
	u32 be = 0;

	if (at + 4 > k->bytes || dp_copy(ctx, (u32)((k->w[DP_W_OFF] >> 24 & 0xff) + at), 4, &be))
		return false;
	*out = BE32(be);
	return true;
}

struct dp_u32 {
	u32 v;	    /* the value at hand */
	u64 at;	    /* where offsets count from */
	u64 spans;  /* how many of the words that follow are spans, */
	bool found; /* and one of them held it */
};

/* One step. False: the whole test fails. */
static __always_inline bool dp_u32_step(DP_CTX *ctx, const struct dp_key *k, struct dp_u32 *s, u64 word)
{
	u32 n = (u32)word, op = (u32)(word >> 56);

	if (s->spans) {
		s->found |= s->v - (u32)(word >> 32) <= n - (u32)(word >> 32);
		s->spans--;
		return s->spans || s->found;
	}
	if (op == DP_U32_AND) {
		s->v &= n;
	} else if (op == DP_U32_LEFT) {
		s->v <<= n & 31;
	} else if (op == DP_U32_RIGHT) {
		s->v >>= n & 31;
	} else if (op == DP_U32_SPANS) {
		s->spans = n;
		s->found = false;
	} else {
		s->at = op == DP_U32_AT ? s->at + s->v : 0;
		return s->at <= 0xffffffff && dp_word_at(ctx, k, s->at + n, &s->v);
	}
	return true;
}

DP_GLOBAL int dp_u32_test(DP_CTX *ctx, const struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;
	struct dp_u32 s = { 0 };
	struct dp_iter it;
	bool holds = true;

	if (!k || !t)
		return 0;
	i = t + ((k->base + 4 * (u64)pc) & dp_c.table_mask);
	s.at = s.spans = s.v = (u32)dp_zero(t);
	dp_iter_start(&it, DP_MAX_U32);
	while (holds && dp_iter_next(&it)) {
		if (it.round >= i[2])
			break;
		holds = dp_u32_step(ctx, k, &s, t[(k->base + i[1] + it.round) & dp_c.table_mask]);
	}
	dp_iter_end(&it);
	return holds;
}

enum { DP_PIECE = 40 }; /* bytes of the packet that are read at once, into k->options */

static __always_inline int dp_piece(DP_CTX *ctx, struct dp_key *k, u64 off, u64 end)
{
	u64 n = end - off < DP_PIECE ? end - off : DP_PIECE;

	DP_FORGET(n); /* the compiler knows, the verifier does not: it must see the test */
	if (n > DP_PIECE)
		return -1;
	return dp_copy(ctx, (u32)((k->w[DP_W_OFF] >> 24 & 0xff) + off), (u32)n, k->options);
}

/* One byte: how many are matched then. */
static __always_inline u64 dp_automaton(const u64 *t, u64 table, u64 state, u32 byte)
{
	u64 at = state * 256 + byte;

	return t[(table + at / 8) & dp_c.table_mask] >> at % 8 * 8 & 0xff;
}

/* The automaton goes over the bytes one by one; k->shape says where in the piece. */
DP_GLOBAL int dp_string_test(DP_CTX *ctx, struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table);
	u64 table, end, state;
	struct dp_iter it;

	if (!k || !t)
		return 0;
	table = k->base + t[(k->base + 4 * (u64)pc + 1) & dp_c.table_mask];
	end = (u32)t[table & dp_c.table_mask];
	end = k->bytes < end ? k->bytes : end;
	state = k->shape = dp_zero(t);
	dp_iter_start(&it, 0x10000);
	while (state < t[(table + 1) & dp_c.table_mask] && dp_iter_next(&it)) {
		u64 at, off = (t[table & dp_c.table_mask] >> 32) + it.round;

		DP_RELOAD();
		if (off >= end || (k->shape == 0 && dp_piece(ctx, k, off, end)))
			break;
		at = k->shape;
		if (at >= DP_PIECE)
			break;
		state = dp_automaton(t, table + 2, state, k->options[at]);
		k->shape = at + 1 < DP_PIECE ? at + 1 : 0;
	}
	dp_iter_end(&it);
	k->shape = 0;
	return state >= t[(table + 1) & dp_c.table_mask];
}

#endif
