/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts that the kernel keeps beside a packet: interfaces, socket, connection, Ethernet header. For programs that see a
 * struct sk_buff. Places of members come from the running kernel's BTF; every read is guarded, so a pointer that leads
 * nowhere reads 0.
 *
 * The connection is read from skb->_nfct, as conntrack left it. At a point behind conntrack a packet without one may be
 * invalid, or nothing in this network namespace asks for tracking: then the hook function of conntrack is not among
 * the hooks, and the state is DP_CT_MISSING, at which every rule that tests the connection drops. It stays so for about
 * a second after tracking is back.
 */
#ifndef WEIR_DATAPATH_KERNEL_H
#define WEIR_DATAPATH_KERNEL_H

#define DP_BTF __attribute__((preserve_access_index))

struct cred {
	struct { u32 val; } fsuid, fsgid;
} DP_BTF;
struct file {
	const struct cred *f_cred;
} DP_BTF;
struct socket {
	struct file *file;
} DP_BTF;
struct sock_common {
	volatile unsigned char skc_state;
	struct sock *skc_listener;
} DP_BTF;
struct sock {
	struct sock_common __sk_common;
	struct socket *sk_socket;
} DP_BTF;
struct dst_entry {
	u32 tclassid;
} DP_BTF;
struct rtable {
	u16 rt_type;
} DP_BTF;
struct rt6_info {
	u32 rt6i_flags;
} DP_BTF;
struct net_device {
	int ifindex;
	char name[16];
	int group;
	unsigned short type;
} DP_BTF;
struct nf_hook_entries {
	u16 num_hook_entries;
} DP_BTF;
struct netns_nf {
	struct nf_hook_entries *hooks_ipv4[5], *hooks_ipv6[5];
} DP_BTF;
struct net {
	struct netns_nf nf;
} DP_BTF;
struct nf_conntrack_tuple_hash {
	u64 hnnode[2];
} DP_BTF;
struct nf_conn {
	unsigned long status;
	u32 mark;
	struct nf_conntrack_tuple_hash tuplehash[2];
} DP_BTF;
struct nf_conntrack_tuple {
	struct {
		u8 protonum;
	} dst;
} DP_BTF;
struct sk_buff {
	u32 len, data_len;
	u32 mark;
	struct sock *sk;
	struct net_device *dev;
	unsigned long _nfct, _skb_refdst;
	unsigned char *data, *head;
	u16 mac_header, vlan_tci;
	u32 vlan_all;
	u8 __pkt_type_offset[0];
} DP_BTF;

enum { DP_TCP_TIME_WAIT = 6, DP_TCP_NEW_SYN_RECV = 12, DP_ARPHRD_ETHER = 1, DP_CT_SETTLE = 256 /* jiffies */ };
enum { DP_RTN_UNICAST = 1, DP_RTN_LOCAL = 2, DP_RTN_ANYCAST = 4 };
#define DP_RTF_LOCAL 0x80000000u
#define DP_RTF_ANYCAST 0x00100000u
enum { DP_PACKET_MULTICAST = 2, DP_PACKET_BROADCAST = 1, DP_PACKET_LOOPBACK = 5 };

/* The bytes of a name up to its end; more = 0 when the end lies in this word. */
static __always_inline u64 dp_name_word(u64 w, u64 *more)
{
	u64 ends = (w - 0x0101010101010101ull) & ~w & 0x8080808080808080ull;

	if (!ends)
		return BE64(w);
	*more = 0;
	return BE64(w & (((ends & -ends) >> 7) - 1)); /* bytes before the first 0; what an earlier name left is not */
}

static __always_inline void dp_iface(struct dp_key *k, const struct net_device *dev, u32 word, u64 has)
{
	u64 more = ~0ull;
	const void *name;

	if (!dev)
		return;
	k->w[DP_W_DEV] |= has;
	name = dp_kernel(dev, bpf_core_field_offset(struct net_device, name));
	k->w[word] = dp_name_word(LD64(name), &more);
	if (more)
		k->w[word + 1] = dp_name_word(LD64(dp_kernel(name, 8)), &more);
}

static __always_inline void dp_devices(struct dp_key *k, const struct net_device *in, const struct net_device *out)
{
	if (dp_c.features & DP_F_IFACE) {
		dp_iface(k, in, DP_W_IIF0, DP_HAS_IIF);
		dp_iface(k, out, DP_W_OIF0, DP_HAS_OIF);
	}
	if (!(dp_c.features & DP_F_GROUP))
		return;
	k->w[DP_W_DEV] |= (in ? DP_HAS_IIF : 0) | (out ? DP_HAS_OIF : 0);
	k->w[DP_W_GROUP] = (u64)(in ? (u32)in->group : 0) | (u64)(out ? (u32)out->group : 0) << 32;
}

/* As xt_owner: the full socket's file. */
static __always_inline void dp_socket(struct dp_key *k, const struct sk_buff *skb)
{
	const struct sock *sk = bpf_rdonly_cast(skb->sk, bpf_core_type_id_kernel(struct sock));
	const struct file *file;
	const struct cred *cred;
	u32 state;

	if (!skb->sk)
		return;
	state = sk->__sk_common.skc_state;
	if (state == DP_TCP_TIME_WAIT)
		return;
	if (state == DP_TCP_NEW_SYN_RECV)
		sk = bpf_rdonly_cast(sk->__sk_common.skc_listener, bpf_core_type_id_kernel(struct sock));
	if (!sk || !sk->sk_socket)
		return;
	k->w[DP_W_DEV] |= DP_IS_SOCKET;
	file = sk->sk_socket->file;
	if (!file)
		return;
	cred = file->f_cred;
	k->w[DP_W_DEV] |= DP_HAS_SOCKET;
	k->w[DP_W_SOCK] = (u64)cred->fsuid.val | (u64)cred->fsgid.val << 32;
}

/* Is conntrack's function among the hooks at prerouting? It stands near the front. */
static __always_inline bool dp_ct_enabled(const struct net *net, bool is_ip6)
{
	u64 wanted = dp_c.conntrack_hook[is_ip6];
	const struct nf_hook_entries *e = is_ip6 ? net->nf.hooks_ipv6[0] : net->nf.hooks_ipv4[0];
	bool is_there = false;
	struct dp_iter it;

	if (!e || !wanted)
		return false;
	dp_iter_start(&it, 64);
	while (!is_there && dp_iter_next(&it))
		if (it.round < e->num_hook_entries)
			is_there = LD64(dp_kernel(e, 8 + 16 * (u64)it.round)) == wanted;
	dp_iter_end(&it);
	return is_there;
}

/*
 * Nothing tracks connections, or nothing did a moment ago: a packet that came in before tracking was turned on has no
 * connection either, and must not pass for an invalid one. The last time is kept behind the state words.
 */
static __always_inline bool dp_ct_missing(const struct net *net, bool is_ip6)
{
	u64 *s = dp_map(&dp_state), now = bpf_jiffies64(), last = dp_c.state_mask + DP_TABLE_PAD - is_ip6;

	if (!s)
		return true;
	if (dp_ct_enabled(net, is_ip6))
		return s[last] && now - s[last] < DP_CT_SETTLE;
	if (s[last] != now)
		s[last] = now;
	return true;
}

/* net: NULL where it does not matter whether tracking is on. */
static __always_inline void dp_ct(struct dp_key *k, const struct sk_buff *skb, const struct net *net, bool is_ip6)
{
	u64 nfct = skb->_nfct, info = nfct & 7, state, tuple;
	const struct nf_conn *ct;

	if (!(nfct & ~7ull)) {
		state = info == 7 ? 1u << 4 : 1u << 0; /* untracked, invalid */
		if (info != 7 && dp_c.sees_ct && net && dp_ct_missing(net, is_ip6))
			state = DP_CT_MISSING;
		k->w[DP_W_CT] = state << DP_CT_STATE_SHIFT;
		return;
	}
	ct = (const void *)(nfct & ~7ull);
	/* ctinfo: established, related, new; the same in reply from 3 on */
	state = info % 3 == 0 ? 1u << 2 : info % 3 == 1 ? 1u << 3 : 1u << 1;
	tuple = bpf_core_field_offset(struct nf_conn, tuplehash) + 16 + bpf_core_field_offset(struct nf_conntrack_tuple, dst.protonum);
	k->w[DP_W_CT] = state << DP_CT_STATE_SHIFT | DP_HAS_CT | (info >= 3 ? DP_CT_DIR : 0) |
			(u64)LD8(dp_kernel(ct, tuple)) << 48 |
			LD32(dp_kernel(ct, bpf_core_field_offset(struct nf_conn, status)));
	k->w[DP_W_MARK] |= (u64)LD32(dp_kernel(ct, bpf_core_field_offset(struct nf_conn, mark))) << 32;
}

/* As xt_mac: only of Ethernet devices, and where the header is still there. */
static __always_inline void dp_macs(struct dp_key *k, const struct sk_buff *skb)
{
	const u8 *h = skb->head + skb->mac_header;
	const struct net_device *dev = skb->dev;

	if (!dev || dev->type != DP_ARPHRD_ETHER || skb->mac_header == 0xffff || h + 14 > skb->data)
		return;
	k->w[DP_W_DEV] |= DP_HAS_ETHER;
	k->w[DP_W_MACD] = (u64)BE32(LD32(dp_kernel(h, 0))) << 16 | BE16(LD16(dp_kernel(h, 4)));
	k->w[DP_W_MACS] = (u64)BE16(LD16(dp_kernel(h, 6))) << 32 | BE32(LD32(dp_kernel(h, 8))) |
			  (u64)BE16(LD16(dp_kernel(h, 12))) << 48;
}

/* As xt_pkttype: a looped-back packet is what its address says. */
static __always_inline void dp_pkttype(struct dp_key *k, const struct sk_buff *skb, bool is_ip6)
{
	u64 type = LD8(dp_kernel(skb, bpf_core_field_offset(struct sk_buff, __pkt_type_offset))) & 7;

	if (type == DP_PACKET_LOOPBACK)
		type = is_ip6 || (k->w[DP_W_DST_LO] >> 28 & 15) == 14 ? DP_PACKET_MULTICAST : DP_PACKET_BROADCAST;
	k->w[DP_W_DEV] |= type << 32;
}

/*
 * What the destination is to this machine, as the route that the packet took was found by it: 1 << RTN_*. (xt_addrtype asks
 * the table of local addresses, which is where that route came from.) Behind the routing decision only.
 */
static __always_inline void dp_dst_type(struct dp_key *k, const struct sk_buff *skb, bool is_ip6)
{
	const void *dst = (const void *)(skb->_skb_refdst & ~1ull);
	u64 type = DP_RTN_UNICAST;
	u32 flags;

	if (!dst)
		return;
	if (is_ip6) {
		flags = LD32(dp_kernel(dst, bpf_core_field_offset(struct rt6_info, rt6i_flags)));
		type = flags & DP_RTF_LOCAL ? DP_RTN_LOCAL : flags & DP_RTF_ANYCAST ? DP_RTN_ANYCAST : DP_RTN_UNICAST;
	} else {
		type = LD16(dp_kernel(dst, bpf_core_field_offset(struct rtable, rt_type)));
	}
	k->w[DP_W_IP] |= 1ull << (type & 15) << 52;
}

static __always_inline void dp_realm(struct dp_key *k, const struct sk_buff *skb)
{
	u64 dst = skb->_skb_refdst & ~1ull;

	if (!dst)
		return;
	k->w[DP_W_DEV] |= DP_HAS_REALM;
	k->w[DP_W_OFF] |= (u64)LD32(dp_kernel((const void *)dst, bpf_core_field_offset(struct dst_entry, tclassid))) << 32;
}

#endif
