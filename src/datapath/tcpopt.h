/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TCP options: walked when a rule asks, as the kernel's tcp match does: on past an end-of-list, and a length of 0 counts
 * as 1. The first well-formed maximum segment size counts.
 */
#ifndef WEIR_DATAPATH_TCPOPT_H
#define WEIR_DATAPATH_TCPOPT_H

/* Does the option at `at` answer the instruction i? *next: where the next one begins. */
static __always_inline bool dp_option_passes(const struct dp_key *k, const u64 *i, u64 at, u64 n, u64 *next)
{
	u32 kind = k->options[at], len = at + 1 < n ? k->options[at + 1] : 1, mss;

	*next = at + (kind < 2 || len == 0 ? 1 : len);
	if ((i[0] & 0xff) == DP_OP_TCPOPT)
		return kind - i[1] <= i[2] - i[1];
	if (kind != 2 || len != 4 || at + 4 > n)
		return false;
	mss = (u32)k->options[at + 2] << 8 | k->options[at + 3];
	*next = n; /* the first decides */
	return mss - i[1] <= i[2] - i[1];
}

DP_GLOBAL int dp_tcpopt_test(DP_CTX *ctx, struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;
	struct dp_iter it;
	bool passes = false;
	u64 n, at;

	if (!k || !t || !(k->w[DP_W_L4] & DP_HAS_TCP))
		return 0;
	i = t + ((k->base + 4 * (u64)pc) & dp_c.table_mask);
	n = (k->w[DP_W_L4B] >> 40 & 0xff) - 20;
	if (n == 0 || n > 40 || dp_copy(ctx, (u32)(k->w[DP_W_OFF] & 0xffffff) + 20, (u32)n, k->options)) {
		k->shape = 0;
		return 0;
	}
	at = dp_zero(t);
	dp_iter_start(&it, 40);
	while (!passes && at < n && at < 40 && dp_iter_next(&it))
		passes = dp_option_passes(k, i, at, n, &at);
	dp_iter_end(&it);
	k->shape = 0; /* lies over the options */
	return passes;
}

#endif
