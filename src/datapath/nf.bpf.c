/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The datapath as a netfilter program: judges the packets of one family at one hook. It can accept and drop, no more.
 *
 * skb->data is the IP header at these hooks; what lies beyond the linear part is copied out.
 */
#include "datapath/bpf.h"
#include "datapath/kernel.h"

struct nf_hook_state {
	struct net_device *in, *out;
	struct net *net;
} DP_BTF;
struct bpf_nf_ctx {
	const struct nf_hook_state *state;
	struct sk_buff *skb;
} DP_BTF;
#define DP_CTX struct bpf_nf_ctx
#define DP_ONE_FAMILY

struct dp_buffer {
	u8 b[40]; /* the largest header that is read at once: of IPv6 */
};
struct dp_pkt {
	struct bpf_nf_ctx *ctx;
	const u8 *data;
	u64 linear, len;
	struct dp_buffer far;
};

extern int bpf_dynptr_from_skb(struct sk_buff *skb, u64 flags, struct bpf_dynptr *ptr) __ksym;

/* n bytes at off, 1 to 128 of them. 0 or negative. */
static __always_inline int dp_copy(struct bpf_nf_ctx *ctx, u32 off, u32 n, void *to)
{
	struct bpf_dynptr d;

	if (n == 0 || n > DP_LOG_HEAD || bpf_dynptr_from_skb(ctx->skb, 0, &d))
		return -1;
	return (int)bpf_dynptr_read(to, n, &d, off, 0);
}

/* Headers beyond the linear part. */
DP_GLOBAL int dp_far(struct bpf_nf_ctx *ctx, u32 off, u32 n, struct dp_buffer *to)
{
	if (!to || n > sizeof to->b)
		return -1;
	return dp_copy(ctx, off, n, to->b);
}

static __always_inline const u8 *dp_at(struct dp_pkt *p, u64 off, u32 n)
{
	if (off + n <= p->linear)
		return dp_kernel(p->data, off);
	if (off + n > p->len || dp_far(p->ctx, (u32)off, n, &p->far))
		return NULL;
	return dp_kernel(p->far.b, 0); /* read in the same guarded way: one instruction cannot read both ways */
}

static __always_inline void dp_ifindex(struct bpf_nf_ctx *ctx, struct dp_log_event *e)
{
	const struct net_device *in = ctx->state->in, *out = ctx->state->out;

	e->iif = in ? (u32)in->ifindex : 0;
	e->oif = out ? (u32)out->ifindex : 0;
}

#include "datapath/parse.h"
#include "datapath/run.h"

#include "datapath/log.h"
#include "datapath/testmeta.h"

/* What the kernel knows about the packet. Functions that are called one after the other share one piece of stack. */
DP_GLOBAL int dp_read_meta(struct bpf_nf_ctx *ctx, struct dp_key *k)
{
	const struct nf_hook_state *state = ctx->state;
	bool is_ip6 = dp_c.point >= DP_POINTS_PER_FAMILY;
	struct sk_buff *skb = ctx->skb;

	if (!k)
		return 0;
	if (dp_c.test_meta) {
		dp_meta_test(k);
		return 0;
	}
	k->w[DP_W_MARK] = skb->mark;
	k->w[DP_W_DEV] |= dp_cpu();
	if (dp_c.features & DP_F_PKTTYPE)
		dp_pkttype(k, skb, is_ip6);
	dp_devices(k, state->in, state->out);
	if (dp_c.features & DP_F_SOCKET)
		dp_socket(k, skb);
	if (dp_c.features & DP_F_CT)
		dp_ct(k, skb, state->net, is_ip6);
	if (dp_c.features & DP_F_MAC)
		dp_macs(k, skb);
	if (dp_c.features & DP_F_REALM)
		dp_realm(k, skb);
	if (dp_c.features & DP_F_ROUTE)
		dp_dst_type(k, skb, is_ip6);
	return 0;
}

static __always_inline void dp_open(struct dp_pkt *p, struct bpf_nf_ctx *ctx)
{
	struct sk_buff *skb = ctx->skb;

	p->ctx = ctx;
	p->data = skb->data;
	p->len = skb->len;
	p->linear = dp_linear_test(skb->len - skb->data_len);
}

/* The IP header: enum dp_parsed. */
DP_GLOBAL int dp_read(struct bpf_nf_ctx *ctx, struct dp_key *k)
{
	bool is_ip6 = dp_c.point >= DP_POINTS_PER_FAMILY;
	struct dp_pkt p = {};

	if (!k)
		return DP_PARSED_MALFORMED;
	dp_open(&p, ctx);
	k->bytes = p.len;
	return dp_ip(&p, k, 0, is_ip6);
}

DP_GLOBAL int dp_read_l4(struct bpf_nf_ctx *ctx, struct dp_key *k)
{
	struct dp_pkt p = {};

	if (!k)
		return DP_PARSED_MALFORMED;
	dp_open(&p, ctx);
	return dp_transport(&p, k, dp_c.point >= DP_POINTS_PER_FAMILY);
}

SEC("netfilter")
int dp_nf(struct bpf_nf_ctx *ctx)
{
	const u64 *gen = dp_map(&dp_generation);
	struct dp_key k = {};
	int parsed, verdict;

	if (!gen)
		return 0;
	k.base = (*(const volatile u64 *)gen & DP_GEN_HALF(dp_c.slot) ? 1ull : 0) << dp_c.half_log2;
	parsed = dp_read(ctx, &k);
	dp_read_meta(ctx, &k);
	if (parsed == DP_PARSED_MALFORMED || dp_read_l4(ctx, &k)) {
		dp_count_add(&k, DP_COUNTER_MALFORMED);
		verdict = dp_c.malformed_accept ? DP_VERDICT_ACCEPT : DP_VERDICT_DROP;
	} else {
		verdict = dp_run(ctx, &k, dp_c.point);
	}
	dp_mark_test(&k);
	return verdict == DP_VERDICT_ACCEPT;
}

char LICENSE[] SEC("license") = "GPL";
