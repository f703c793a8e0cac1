/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that see whole Ethernet frames: tcx and XDP. The includer gives the context's type (DP_CTX), dp_copy() and
 * dp_meta_live(); IPv4 and IPv6 frames are judged at their points, all others pass.
 */
#ifndef WEIR_DATAPATH_FRAME_H
#define WEIR_DATAPATH_FRAME_H

struct dp_buffer {
	u8 b[40]; /* the largest header that is read at once: of IPv6 */
};
struct dp_pkt {
	DP_CTX *ctx;
	const u8 *data, *end;
	u64 len, linear;
	struct dp_buffer far;
};

/* Headers beyond what may be read directly. */
DP_GLOBAL int dp_far(DP_CTX *ctx, u32 off, u32 n, struct dp_buffer *to)
{
	if (!to || n > sizeof to->b)
		return -1;
	return dp_copy(ctx, off, n, to->b);
}

static __always_inline const u8 *dp_at(struct dp_pkt *p, u64 off, u32 n)
{
	const u8 *q = p->data + off;

	if (q + n <= p->end && off + n <= p->linear)
		return q;
	if (off + n > p->len || dp_far(p->ctx, (u32)off, n, &p->far))
		return NULL;
	return p->far.b;
}

#include "datapath/parse.h"
#include "datapath/run.h"

#include "datapath/log.h"
#include "datapath/testmeta.h"

static __always_inline void dp_open(struct dp_pkt *p, DP_CTX *ctx)
{
	p->ctx = ctx;
	p->data = (const u8 *)(long)ctx->data;
	p->end = (const u8 *)(long)ctx->data_end;
	p->len = dp_length(ctx);
	p->linear = dp_linear_test(p->len);
}

/* The Ethernet and the IP header: enum dp_parsed. */
DP_GLOBAL int dp_read(DP_CTX *ctx, struct dp_key *k)
{
	struct dp_pkt p = {};

	if (!k)
		return DP_PARSED_MALFORMED;
	dp_open(&p, ctx);
	k->bytes = p.len;
	return dp_ether(&p, k, dp_has_tag(ctx));
}

/* What the kernel knows about the packet. */
DP_GLOBAL int dp_read_meta(DP_CTX *ctx, struct dp_key *k)
{
	if (!k)
		return 0;
	if (dp_c.test_meta)
		dp_meta_test(k);
	else
		dp_meta_live(k, ctx);
	return 0;
}

DP_GLOBAL int dp_read_l4(DP_CTX *ctx, struct dp_key *k, bool is_ip6)
{
	struct dp_pkt p = {};

	if (!k)
		return DP_PARSED_MALFORMED;
	dp_open(&p, ctx);
	return dp_transport(&p, k, is_ip6);
}

static __always_inline int dp_judge(DP_CTX *ctx, struct dp_key *k)
{
	const u64 *gen = dp_map(&dp_generation);
	int parsed, verdict;

	if (!gen)
		return DP_VERDICT_DROP;
	k->base = (*(const volatile u64 *)gen & DP_GEN_HALF(dp_c.slot) ? 1ull : 0) << dp_c.half_log2;
	parsed = dp_read(ctx, k);
	dp_read_meta(ctx, k);
	if (parsed == DP_PARSED_OTHER)
		return DP_VERDICT_ACCEPT;
	if (parsed == DP_PARSED_MALFORMED || dp_read_l4(ctx, k, parsed == DP_PARSED_IP6)) {
		dp_count_add(k, DP_COUNTER_MALFORMED);
		verdict = dp_c.malformed_accept ? DP_VERDICT_ACCEPT : DP_VERDICT_DROP;
	} else {
		verdict = dp_run(ctx, k, dp_c.point + (parsed == DP_PARSED_IP6 ? DP_POINTS_PER_FAMILY : 0));
	}
	dp_mark_test(k);
	return verdict;
}

#endif
