/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The datapath as an XDP program, before the kernel has made anything of the frame: no mark, no socket, no connection;
 * a VLAN tag that the device took out is not seen.
 */
#include "datapath/bpf.h"
#include "datapath/kernel.h"

#define DP_CTX struct xdp_md

struct xdp_rxq_info {
	struct net_device *dev;
} DP_BTF;
struct xdp_buff {
	struct xdp_rxq_info *rxq;
} DP_BTF;

extern void *bpf_cast_to_kern_ctx(void *obj) __ksym;

/* n bytes at off, 1 to 128 of them. 0 or negative. */
static __always_inline int dp_copy(struct xdp_md *ctx, u32 off, u32 n, void *to)
{
	if (n == 0 || n > DP_LOG_HEAD)
		return -1;
	return (int)bpf_xdp_load_bytes(ctx, off, to, n);
}

static __always_inline void dp_ifindex(struct xdp_md *ctx, struct dp_log_event *e)
{
	e->iif = ctx->ingress_ifindex;
	e->oif = 0;
}

static __always_inline u64 dp_length(struct xdp_md *ctx)
{
	return bpf_xdp_get_buff_len(ctx);
}

static __always_inline bool dp_has_tag(struct xdp_md *ctx)
{
	(void)ctx;
	return false;
}

static __always_inline void dp_meta_live(struct dp_key *k, struct xdp_md *ctx)
{
	struct xdp_buff *xdp = bpf_cast_to_kern_ctx(ctx);

	k->w[DP_W_DEV] |= dp_cpu();
	k->w[DP_W_CT] = 1ull << DP_CT_STATE_SHIFT;
	dp_devices(k, xdp->rxq->dev, NULL);
}

#include "datapath/frame.h"

SEC("xdp")
int dp_xdp(struct xdp_md *ctx)
{
	struct dp_key k = {};

	return dp_judge(ctx, &k) == DP_VERDICT_DROP ? XDP_DROP : XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
