/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel side of the datapath's accessors: maps, frozen constants, loads, kfuncs. native.c has the other side.
 *
 * Every function that takes a struct dp_key * is global and not inlined: the verifier checks it once, with unknown
 * arguments, whatever the packet looked like on the way there. Loops are open-coded iterators or have small bounds.
 */
#ifndef WEIR_DATAPATH_BPF_H
#define WEIR_DATAPATH_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "datapath/key.h"

#ifndef NULL
#define NULL ((void *)0)
#endif

#define DP_NOUNROLL _Pragma("clang loop unroll(disable)")
#define DP_GLOBAL __attribute__((noinline))
#define DP_RELOAD() __asm__ volatile("" ::: "memory") /* or values that a loop uses move to the stack */

/* Plain casts: memcpy and packed structs become byte loads in this back end. */
#define LD8(p) (*(const u8 *)(p))
#define LD16(p) (*(const u16 *)(p))
#define LD32(p) (*(const u32 *)(p))
#define LD64(p) (*(const u64 *)(p))
#define BE16(x) __builtin_bswap16(x)
#define BE32(x) __builtin_bswap32(x)
#define BE64(x) __builtin_bswap64(x)

const volatile struct dp_config dp_c = {};

/* x >> (n & 63): the machine's shift does not see more of n. */
static __always_inline u64 DP_SHR(u64 x, u64 n)
{
	__asm__("%0 >>= %1" : "+r"(x) : "r"(n));
	return x;
}

#define DP_FORGET(x) __asm__ volatile("" : "+r"(x)) /* what the compiler knows about x */

/* Value sizes here are placeholders: the loader puts the slot's maps behind these names. */
#define DP_MAP(name, bytes)                      \
	struct {                                 \
		__uint(type, BPF_MAP_TYPE_ARRAY); \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);          \
		__uint(key_size, 4);             \
		__uint(value_size, bytes);       \
	} name SEC(".maps")
DP_MAP(dp_generation, 8);
DP_MAP(dp_table, 4096);
DP_MAP(dp_count, 4096);
DP_MAP(dp_state, 4096);
DP_MAP(dp_sets, 4096);
DP_MAP(dp_meta, sizeof(struct dp_test_meta));
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} dp_log SEC(".maps");

static __always_inline void *dp_map(void *map)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(map, &zero);
}

/*
 * A 0 that the verifier cannot know: the last word behind the tables. A counter that starts with it has no known value, so
 * a loop's rounds look alike.
 */
static __always_inline u64 dp_zero(const u64 *t)
{
	return t[dp_c.table_mask + DP_TABLE_PAD];
}

struct bpf_iter_num {
	u64 opaque;
} __attribute__((aligned(8)));

extern void *bpf_rdonly_cast(const void *obj, u32 id) __ksym;
extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;

/* A loop of at most n rounds: dp_iter_start(&it, n); while (dp_iter_next(&it)) ...; dp_iter_end(&it); */
struct dp_iter {
	struct bpf_iter_num num;
	u32 round; /* from 0; not known to the verifier */
};

static __always_inline void dp_iter_start(struct dp_iter *it, int n)
{
	bpf_iter_num_new(&it->num, 0, n);
}

static __always_inline bool dp_iter_next(struct dp_iter *it)
{
	const int *round = bpf_iter_num_next(&it->num);

	if (round)
		it->round = (u32)*round;
	return round != NULL;
}

static __always_inline void dp_iter_end(struct dp_iter *it)
{
	bpf_iter_num_destroy(&it->num);
}

static __always_inline u32 dp_cpu(void)
{
	return bpf_get_smp_processor_id();
}

/* For tests in user space: nothing here. */
static __always_inline void dp_counted(u64 counter)
{
	(void)counter;
}

static __always_inline u32 dp_random(void)
{
	return bpf_get_prandom_u32();
}

/* Jiffies, or the test's clock. */
static __always_inline u64 dp_now(void)
{
	const struct dp_test_meta *m;

	if (!dp_c.test_meta)
		return bpf_jiffies64();
	m = dp_map(&dp_meta);
	return m ? m->now : 0;
}

/* Nanoseconds, or the test's clock of jiffies that are so long. */
static __always_inline u64 dp_now_ns(u64 jiffy_ns)
{
	return dp_c.test_meta ? dp_now() * jiffy_ns : bpf_ktime_get_ns();
}

/* A kernel address read with a guard: what is not there reads 0. */
static __always_inline const void *dp_kernel(const void *p, u64 off)
{
	return bpf_rdonly_cast((const u8 *)p + off, 0);
}

#endif
