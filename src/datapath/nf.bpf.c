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

#include "datapath/parse.h"
#include "datapath/run.h"

#include "datapath/log.h"

/* A test run has no devices, no connection, no socket: the test's map stands for them. */
static __always_inline void dp_meta_test(struct dp_key *k)
{
	const struct dp_test_meta *m = dp_map(&dp_meta);

	if (!m)
		return;
	k->w[DP_W_IIF0] = m->iif[0];
	k->w[DP_W_IIF1] = m->iif[1];
	k->w[DP_W_OIF0] = m->oif[0];
	k->w[DP_W_OIF1] = m->oif[1];
	k->w[DP_W_GROUP] = m->iif_group | (u64)m->oif_group << 32;
	k->w[DP_W_MARK] = m->mark | (u64)m->ct_mark << 32;
	k->w[DP_W_CT] = m->ct_status | (u64)m->ct_state << DP_CT_STATE_SHIFT | (m->has_ct ? DP_HAS_CT : 0) |
			(m->ct_dir ? DP_CT_DIR : 0) | (u64)m->ct_proto << 48;
	k->w[DP_W_SOCK] = m->uid | (u64)m->gid << 32;
	k->w[DP_W_DEV] = m->cpu | (u64)m->pkttype << 32 | (m->iif[0] ? DP_HAS_IIF : 0) | (m->oif[0] ? DP_HAS_OIF : 0) |
			 (m->has_socket ? DP_HAS_SOCKET | DP_IS_SOCKET : 0) | (m->has_mac ? DP_HAS_ETHER : 0) |
			 (m->has_realm ? DP_HAS_REALM : 0);
	k->w[DP_W_MACS] = m->mac_src;
	k->w[DP_W_MACD] = m->mac_dst;
	k->w[DP_W_OFF] |= (u64)m->realm << 32;
}

/* Test runs have linear packets: part of them as if they were not. */
static __always_inline void dp_linear_test(struct dp_pkt *p)
{
	const struct dp_test_meta *m = dp_map(&dp_meta);

	if (m && m->linear && m->linear < p->linear)
		p->linear = m->linear;
}

static __always_inline void dp_meta_live(struct dp_key *k, struct bpf_nf_ctx *ctx, bool is_ip6)
{
	const struct nf_hook_state *state = ctx->state;
	struct sk_buff *skb = ctx->skb;

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
}

/* Fills the key: enum dp_parsed. */
DP_GLOBAL int dp_read(struct bpf_nf_ctx *ctx, struct dp_key *k)
{
	struct sk_buff *skb = ctx->skb;
	struct dp_pkt p = { .ctx = ctx, .data = skb->data, .linear = skb->len - skb->data_len, .len = skb->len };
	bool is_ip6 = dp_c.point >= DP_POINTS_PER_FAMILY;
	int r;

	if (!k)
		return DP_PARSED_MALFORMED;
	k->bytes = p.len;
	if (dp_c.test_meta)
		dp_linear_test(&p);
	r = dp_ip(&p, k, 0, is_ip6);
	if (dp_c.test_meta)
		dp_meta_test(k);
	else
		dp_meta_live(k, ctx, is_ip6);
	return r;
}

SEC("netfilter")
int dp_nf(struct bpf_nf_ctx *ctx)
{
	const u64 *gen = dp_map(&dp_generation);
	struct dp_test_meta *m;
	struct dp_key k = {};
	int verdict;

	if (!gen)
		return 0;
	k.base = (*(const volatile u64 *)gen & DP_GEN_HALF(dp_c.slot) ? 1ull : 0) << dp_c.half_log2;
	if (dp_read(ctx, &k) == DP_PARSED_MALFORMED) {
		dp_count_add(&k, DP_COUNTER_MALFORMED);
		verdict = dp_c.malformed_accept ? DP_VERDICT_ACCEPT : DP_VERDICT_DROP;
	} else {
		verdict = dp_run(ctx, &k, dp_c.point);
	}
	if (dp_c.test_meta) {
		m = dp_map(&dp_meta);
		if (m)
			m->mark_out = (u32)k.w[DP_W_MARK];
	}
	return verdict == DP_VERDICT_ACCEPT;
}

char LICENSE[] SEC("license") = "GPL";
