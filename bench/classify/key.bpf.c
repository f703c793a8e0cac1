/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The datapath without its parser: judges keys that lie in a map, one after the other, so that a test run measures the
 * lookup and the rule's body on packets that have nothing in common.
 */
#include "datapath/bpf.h"

#define DP_CTX struct xdp_md
#define DP_ONE_FAMILY

static __always_inline int dp_copy(struct xdp_md *ctx, u32 off, u32 n, void *to)
{
	if (n == 0 || n > DP_LOG_HEAD)
		return -1;
	return (int)bpf_xdp_load_bytes(ctx, off, to, n);
}

#include "datapath/run.h"

enum { KEYS = 16384, KEY_WORDS = 5, KEY_WORDS_IP4 = 2 };
DP_MAP(bench_keys, KEYS * KEY_WORDS * 8);
DP_MAP(bench_next, 8);

DP_GLOBAL int dp_log_event(DP_CTX *ctx, const struct dp_key *k, u32 counter)
{
	(void)ctx;
	(void)k;
	return (int)counter;
}

SEC("xdp")
int bench_key(struct xdp_md *ctx)
{
	const u64 *keys = dp_map(&bench_keys), *from;
	u64 *next = dp_map(&bench_next);
	struct dp_key k = {};

	if (!keys || !next)
		return 0;
	k.bytes = 100;
	if (dp_c.point < DP_POINTS_PER_FAMILY) {
		from = keys + (*next & (KEYS - 1)) * KEY_WORDS_IP4;
		k.w[DP_W_SRC_LO] = from[0] >> 32;
		k.w[DP_W_DST_LO] = (u32)from[0];
		k.w[DP_W_L4] = from[1];
	} else {
		from = keys + (*next & (KEYS - 1)) * KEY_WORDS;
		for (u32 i = 0; i < KEY_WORDS; i++)
			k.w[i] = from[i];
	}
	*next += 1;
	return dp_run(ctx, &k, dp_c.point);
}

char LICENSE[] SEC("license") = "GPL";
