/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's own maps asked for addresses that lie in a map, one after the other: what bench/classify/key.bpf.c is for
 * weir's programs. `none` asks nothing.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

enum { KEYS = 16384 };

struct lpm_key {
	__u32 plen, addr;
};
struct keys {
	__u32 addr[KEYS]; /* network order */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct keys);
} peer_keys SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} peer_hash SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct lpm_key);
	__type(value, __u32);
} peer_lpm SEC(".maps");

__u32 peer_next, peer_found;

static __always_inline __u32 next_key(void)
{
	__u32 zero = 0;
	struct keys *k = bpf_map_lookup_elem(&peer_keys, &zero);

	return k ? k->addr[peer_next++ & (KEYS - 1)] : 0;
}

SEC("xdp")
int peer_none(struct xdp_md *ctx)
{
	(void)ctx;
	peer_found += next_key() == 0;
	return XDP_PASS;
}

SEC("xdp")
int peer_in_hash(struct xdp_md *ctx)
{
	__u32 key = next_key();

	(void)ctx;
	peer_found += bpf_map_lookup_elem(&peer_hash, &key) != NULL;
	return XDP_PASS;
}

SEC("xdp")
int peer_in_lpm(struct xdp_md *ctx)
{
	struct lpm_key key = { 32, next_key() };

	(void)ctx;
	peer_found += bpf_map_lookup_elem(&peer_lpm, &key) != NULL;
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
