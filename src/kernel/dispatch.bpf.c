/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The dispatcher of one point. See dispatch.h. The slot is a constant in each tail call: an index from memory would
 * cost an indirect jump. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "kernel/dispatch.h"

#define NF_DROP 0
#define NF_ACCEPT 1

struct bpf_nf_ctx;

const volatile __u32 point = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} generation SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dispatch_books);
} books SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, DP_SLOTS);
	__type(key, __u32);
	__type(value, __u32);
} slots SEC(".maps");

SEC("netfilter")
int dispatch(struct bpf_nf_ctx *ctx)
{
	__u32 zero = 0, p = point & (DP_POINTS - 1);
	__u64 *word = bpf_map_lookup_elem(&generation, &zero), w;
	struct dispatch_books *b;

	if (!word)
		return NF_DROP;
	w = *(volatile __u64 *)word;
	if (!(w & DP_GEN_POINT(p)))
		return NF_ACCEPT;
	if (w & DP_GEN_SLOT)
		bpf_tail_call_static(ctx, &slots, 1);
	else
		bpf_tail_call_static(ctx, &slots, 0);
	b = bpf_map_lookup_elem(&books, &zero);
	if (b)
		__sync_fetch_and_add(&b->missing[p], 1);
	return NF_DROP;
}

char LICENSE[] SEC("license") = "GPL";
