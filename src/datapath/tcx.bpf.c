/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The datapath as a tcx program, at a device's ingress or egress. Accepted packets go on to whoever is next there, with
 * the mark that the rules gave them. Conntrack has not seen a packet at ingress: its state is invalid.
 */
#include "datapath/bpf.h"
#include "datapath/kernel.h"

#define DP_CTX struct __sk_buff
enum { DP_TCX_NEXT = -1, DP_TCX_DROP = 2 };

extern void *bpf_cast_to_kern_ctx(void *obj) __ksym;

/* n bytes at off, 1 to 128 of them. 0 or negative. */
static __always_inline int dp_copy(struct __sk_buff *ctx, u32 off, u32 n, void *to)
{
	if (n == 0 || n > DP_LOG_HEAD)
		return -1;
	return (int)bpf_skb_load_bytes(ctx, off, to, n);
}

static __always_inline void dp_ifindex(struct __sk_buff *ctx, struct dp_log_event *e)
{
	e->iif = dp_c.egress ? 0 : ctx->ifindex;
	e->oif = dp_c.egress ? ctx->ifindex : 0;
}

static __always_inline u64 dp_length(struct __sk_buff *ctx)
{
	return ctx->len;
}

static __always_inline bool dp_has_tag(struct __sk_buff *ctx)
{
	return ctx->vlan_present;
}

static __always_inline void dp_meta_live(struct dp_key *k, struct __sk_buff *ctx)
{
	struct sk_buff *skb = bpf_cast_to_kern_ctx(ctx);

	k->w[DP_W_MARK] = ctx->mark;
	k->w[DP_W_DEV] |= dp_cpu();
	if ((dp_c.features & DP_F_MAC) && ctx->vlan_present)
		k->w[DP_W_DEV] = (k->w[DP_W_DEV] & ~(0xfffull << 48)) | DP_HAS_VLAN | (u64)(ctx->vlan_tci & 0xfff) << 48;
	if (dp_c.features & DP_F_PKTTYPE)
		k->w[DP_W_DEV] |= (u64)(ctx->pkt_type & 7) << 32;
	dp_devices(k, dp_c.egress ? NULL : skb->dev, dp_c.egress ? skb->dev : NULL);
	if (dp_c.features & DP_F_SOCKET)
		dp_socket(k, skb);
	if (dp_c.features & DP_F_CT)
		dp_ct(k, skb, NULL, false);
	if (dp_c.features & DP_F_REALM)
		dp_realm(k, skb);
}

#include "datapath/frame.h"

SEC("tc")
int dp_tcx(struct __sk_buff *ctx)
{
	struct dp_key k = {};

	if (dp_judge(ctx, &k) == DP_VERDICT_DROP)
		return DP_TCX_DROP;
	if (dp_c.features & DP_F_MARK_WRITE)
		ctx->mark = (u32)k.w[DP_W_MARK];
	return DP_TCX_NEXT;
}

char LICENSE[] SEC("license") = "GPL";
