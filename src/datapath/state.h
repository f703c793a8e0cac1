/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests with a memory: limit, nth, quota; and the die. The arithmetic is that of the kernel's xt_limit, xt_statistic and
 * xt_quota, so that a rule passes the same packets here and there.
 *
 * State words belong to a rule and lie in the half of the rules in use; the loader writes how they begin.
 *
 *     limit   word 0: jiffies of the last look, word 1: credit       (insn: cap 32 | cost 0, credits a jiffy in word 3)
 *     limit   in nanoseconds, the same two words. In the table lie four: the cap; the cost of a packet, or with the third not 0
 *             of so many bytes; nanoseconds in a jiffy, for the clock of tests
 *     nth     word 0: packets since the last match                   (insn: every - 1)
 *     quota   word 0: bytes left
 */
#ifndef WEIR_DATAPATH_STATE_H
#define WEIR_DATAPATH_STATE_H

/* How often an update is tried again when another CPU was faster. */
enum { DP_MAX_TRIES = 64 };

static __always_inline bool dp_limit(u64 *s, u64 now, u64 cost, u64 cap, u64 per_tick)
{
	u64 more = 0, old, left;
	bool done = false, ok = false;
	struct dp_iter it;

	if (s[1] < cost && s[0] == now)
		return false;
	dp_iter_start(&it, DP_MAX_TRIES);
	while (!done && dp_iter_next(&it)) {
		u64 gone = now - __sync_lock_test_and_set(&s[0], now);

		if (gone >> 63) /* another CPU was here with a later clock */
			gone = 0;
		if (gone > cap) /* no longer fits anyway, and cannot wrap around */
			gone = cap;
		more += gone * per_tick;
		old = s[1];
		left = old + more > cap ? cap : old + more;
		ok = cost <= left;
		done = __sync_val_compare_and_swap(&s[1], old, ok ? left - cost : left) == old;
	}
	dp_iter_end(&it);
	return done && ok;
}

static __always_inline bool dp_nth(u64 *s, u64 last)
{
	bool done = false;
	struct dp_iter it;
	u64 old, next = 1;

	dp_iter_start(&it, DP_MAX_TRIES);
	while (!done && dp_iter_next(&it)) {
		old = s[0];
		next = old == last ? 0 : old + 1;
		done = __sync_val_compare_and_swap(&s[0], old, next) == old;
	}
	dp_iter_end(&it);
	return done && next == 0;
}

static __always_inline bool dp_quota(u64 *s, u64 bytes)
{
	bool done = false;
	struct dp_iter it;
	u64 old = 0;

	dp_iter_start(&it, DP_MAX_TRIES);
	while (!done && dp_iter_next(&it)) {
		old = s[0];
		done = __sync_val_compare_and_swap(&s[0], old, old >= bytes ? old - bytes : 0) == old;
	}
	dp_iter_end(&it);
	return done && old >= bytes;
}

static __always_inline bool dp_limit_ns(const struct dp_key *k, const u64 *t, u64 *s, u64 at)
{
	const u64 *d = t + ((k->base + at) & dp_c.table_mask);
	u64 cost = d[1];

	if (d[2]) /* 17 bits times the nanoseconds of a day fit; what is longer is a rare jumbogram */
		cost = k->bytes >> 17 ? d[1] / d[2] * k->bytes : d[1] * k->bytes / d[2];

	return dp_limit(s, dp_now_ns(d[3]), cost, d[0], 1);
}

/* The answer of the test with a memory at pc. */
DP_GLOBAL int dp_state_test(const struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;
	u64 *s = dp_map(&dp_state), half;

	if (!k || !t || !s)
		return 0;
	i = t + ((k->base + 4 * (u64)pc) & dp_c.table_mask);
	if ((i[0] & 0xff) == DP_OP_RANDOM)
		return (dp_random() & 0x7fffffff) < i[1];
	half = k->base >> dp_c.half_log2 << dp_c.state_log2;
	s += (half + i[1]) & dp_c.state_mask;
	if ((i[0] & 0xff) == DP_OP_LIMIT)
		return dp_limit(s, dp_now(), (u32)i[2], i[2] >> 32, i[3]);
	if ((i[0] & 0xff) == DP_OP_LIMIT_NS)
		return dp_limit_ns(k, t, s, i[2]);
	if ((i[0] & 0xff) == DP_OP_NTH)
		return dp_nth(s, i[2]);
	return dp_quota(s, k->bytes);
}

#endif
