/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The compares of a batch's leaves with the registers of 256 bits that most x86-64 machines have (AVX2): four entries at once,
 * or one of IPv6. What a machine can do is asked when it runs; any other takes dp_block_ip4() and dp_block_ip6(),
 * which say what is compared here.
 */
#ifndef WEIR_DATAPATH_BATCH_WIDE_H
#define WEIR_DATAPATH_BATCH_WIDE_H

#ifdef __x86_64__
#include <immintrin.h>

#define DP_WIDE __attribute__((target("avx2,bmi,bmi2")))

static __always_inline bool dp_is_wide(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static __always_inline DP_WIDE __m256i dp_wide_load(const u64 *p)
{
	return _mm256_loadu_si256((const __m256i_u *)p);
}

/* 0 in each entry whose ports (as they lie in an entry) and lower half of L4 are the lane's. */
static __always_inline DP_WIDE __m256i dp_wide_l4(const struct dp_lane *l, __m256i ports, __m256i low)
{
	__m256i from = _mm256_sub_epi16(_mm256_set1_epi64x((long long)l->ports), ports);
	__m256i beyond = _mm256_and_si256(_mm256_subs_epu16(from, _mm256_srli_epi32(ports, 16)), _mm256_set1_epi32(0xffff));
	__m256i l4 = _mm256_set1_epi64x((long long)l->k->w[DP_W_L4]);

	return _mm256_or_si256(beyond, _mm256_and_si256(_mm256_xor_si256(l4, low), _mm256_srli_epi64(low, 32)));
}

static __always_inline DP_WIDE u32 dp_wide_zeros(__m256i x)
{
	return (u32)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(x, _mm256_setzero_si256())));
}

static __always_inline DP_WIDE u32 dp_wide_ip4(const struct dp_lane *l, const u64 *e)
{
	/* Entries of four words are turned into words of four entries. */
	__m256i e0 = dp_wide_load(e), e1 = dp_wide_load(e + 4), e2 = dp_wide_load(e + 8), e3 = dp_wide_load(e + 12);
	__m256i lo01 = _mm256_unpacklo_epi64(e0, e1), hi01 = _mm256_unpackhi_epi64(e0, e1);
	__m256i lo23 = _mm256_unpacklo_epi64(e2, e3), hi23 = _mm256_unpackhi_epi64(e2, e3);
	__m256i addrs = _mm256_permute2x128_si256(lo01, lo23, 0x20), ports = _mm256_permute2x128_si256(hi01, hi23, 0x20);
	__m256i low = _mm256_permute2x128_si256(lo01, lo23, 0x31), result = _mm256_permute2x128_si256(hi01, hi23, 0x31);
	/* Both addresses are shifted by their own lengths, 32 bits each. */
	__m256i six = _mm256_set1_epi64x(63), dst = _mm256_and_si256(_mm256_srli_epi64(result, DP_SHIFT_DST), six);
	__m256i src = _mm256_and_si256(result, _mm256_slli_epi64(six, DP_SHIFT_SRC));
	__m256i differ = _mm256_xor_si256(_mm256_set1_epi64x((long long)l->addrs), addrs);

	differ = _mm256_srlv_epi32(differ, _mm256_or_si256(src, dst));
	return dp_wide_zeros(_mm256_or_si256(differ, dp_wide_l4(l, ports, low)));
}

/* The four address words of one entry; shifts: two bytes for each. */
static __always_inline DP_WIDE __m256i dp_wide_addrs(__m256i key, const u64 *e)
{
	__m256i shifts = _mm256_set1_epi64x((long long)e[6]), six = _mm256_set1_epi64x(63);
	__m256i first = _mm256_and_si256(_mm256_srlv_epi64(shifts, _mm256_setr_epi64x(0, 16, 32, 48)), six);
	__m256i second = _mm256_and_si256(_mm256_srlv_epi64(shifts, _mm256_setr_epi64x(8, 24, 40, 56)), six);

	return _mm256_srlv_epi64(_mm256_xor_si256(key, dp_wide_load(e)), _mm256_add_epi64(first, second));
}

static __always_inline DP_WIDE u32 dp_wide_ip6(const struct dp_lane *l, const u64 *e)
{
	__m256i key = dp_wide_load(l->k->w);
	u32 hits = 0;

	for (u32 i = 0; i < DP_BLOCK; i++, e += DP_ENTRY_IP6) {
		__m256i differ = dp_wide_addrs(key, e);
		bool is_other = !_mm256_testz_si256(differ, differ);

		hits |= (u32)((dp_entry_l4(l->k->w[DP_W_L4], dp_entry_lanes(l->k->w[DP_W_L4]), e[4], e[5]) | is_other) == 0) << i;
	}
	return hits;
}
#endif

#endif
