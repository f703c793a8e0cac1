/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Class tables: the first rule that may match, without a branch that depends on the packet. tables/classes.h has the layout.
 */
#ifndef WEIR_DATAPATH_CLASSES_H
#define WEIR_DATAPATH_CLASSES_H

#include "tables/classes.h"

/* Where the list's tables lie, and the mask of the whole table: kept in registers, not read again for each word. */
struct dp_class_at {
	const u64 *t;
	u64 begin, mask;
};

static __always_inline u64 dp_class_word(const struct dp_class_at *a, u64 at)
{
	return a->t[(a->begin + at) & a->mask];
}

static __always_inline u64 dp_class_cell(const struct dp_class_at *a, u64 at)
{
	return LD16((const u16 *)a->t + ((4 * a->begin + at) & (4 * a->mask + 3)));
}

/* One round of a walk. */
static __always_inline u64 dp_class_round(const struct dp_class_at *a, u64 base, u64 d, u32 field)
{
	u64 x = field - (u32)d;

	x = DP_SHR(x, d >> 32) - (d >> 38 & DP_CLASS_CHILDREN);
	return dp_class_word(a, base + (d >> 48) + (x & (u64)((__s64)x >> 63)));
}

/* What the walk leads to for this value of the field. */
static __always_inline u64 dp_class_walk(const struct dp_class_at *a, u64 walk, u64 field)
{
	u64 rounds = walk >> 40, d = dp_class_word(a, (u32)walk + DP_SHR(field, walk >> 32));

	if (rounds > 0)
		d = dp_class_round(a, (u32)walk, d, (u32)field);
	if (rounds > 1)
		d = dp_class_round(a, (u32)walk, d, (u32)field);
	if (rounds > 2)
		d = dp_class_round(a, (u32)walk, d, (u32)field);
	return d;
}

/* One other field, whose words lie at `at`; *sum: of those before it. */
static __always_inline void dp_class_other(const struct dp_key *k, const struct dp_class_at *a, u64 at, u64 *sum,
					   struct dp_class_sums *s)
{
	u64 how = dp_class_word(a, at + 1);
	u64 w = ((const u64 *)k)[how >> 16 & 31]; /* a word of the key: w[] comes first, and more than 32 words follow */

	w = DP_SHR(w << (how >> 8 & 63), how);
	*sum += dp_class_walk(a, dp_class_word(a, at), w);
	if (how >> 21 & DP_CLASS_TABLE)
		*sum = dp_class_word(a, (how >> 32) + *sum);
	if (how >> 21 & DP_CLASS_TO_X) {
		s->x += *sum;
		*sum = 0;
	}
	if (how >> 21 & DP_CLASS_TO_P) {
		s->p += *sum;
		*sum = 0;
	}
}

static __always_inline u64 dp_class_field(const struct dp_class_at *a, u64 walk, u64 field)
{
	return walk ? dp_class_walk(a, walk, field) : 0;
}

static __always_inline void dp_class_sum(const struct dp_key *k, const struct dp_class_at *a, u64 root, struct dp_class_sums *s)
{
	const u64 *walk = a->t + ((a->begin + root + 1) & a->mask);
	u64 l4 = k->w[DP_W_L4];

	s->x = dp_class_field(a, walk[DP_CLASS_SRC], (u32)k->w[DP_W_SRC_LO]);
	s->x += dp_class_field(a, walk[DP_CLASS_DST], (u32)k->w[DP_W_DST_LO]);
	s->p = dp_class_field(a, walk[DP_CLASS_SPORT], l4 >> 48);
	s->p += dp_class_field(a, walk[DP_CLASS_DPORT], l4 >> 32 & 0xffff);
	s->p += dp_class_field(a, walk[DP_CLASS_PROTO], l4 >> 24 & 0xff);
	s->p += dp_class_field(a, walk[DP_CLASS_FLAGS], DP_CLASS_FLAGS_OF(l4));
}

/* The state of group g. */
static __always_inline u64 dp_class_state(const struct dp_class_at *a, u64 root, u32 g, const struct dp_class_sums *s)
{
	const u64 *group = a->t + ((a->begin + root + DP_CLASS_GROUP_AT + 2 * g) & a->mask);
	u64 x = dp_class_cell(a, (u32)group[0] + (s->x >> 16 * g & 0xffff));
	u64 p = dp_class_cell(a, (group[0] >> 32) + (s->p >> 16 * g & 0xffff));

	return dp_class_cell(a, (u32)group[1] + p * (group[1] >> 32) + x);
}

/* The least result word of all rules that may match. */
static __always_inline u64 dp_classes_first(const struct dp_key *k, const u64 *t, u64 begin, u64 root)
{
	struct dp_class_at a = { t, begin, dp_c.table_mask };
	u64 head = dp_class_word(&a, root), n = head >> 8 & 0xff, sum = 0, best, less;
	struct dp_class_sums s;

	dp_class_sum(k, &a, root, &s);
	DP_NOUNROLL
	for (u64 i = dp_zero(t); i < DP_CLASS_OTHERS; i++) {
		if (i >= (head & 0xff))
			break;
		dp_class_other(k, &a, root + DP_CLASS_OTHER_AT + 2 * i, &sum, &s);
	}
	best = dp_class_state(&a, root, 0, &s);
	for (u32 g = 1; g < DP_CLASS_GROUPS; g++) {
		if (g >= n)
			break;
		/* the lesser of both, without a branch */
		less = dp_class_state(&a, root, g, &s) - best;
		best += less & (u64)((__s64)less >> 63);
	}
	return dp_class_word(&a, (head >> 32) + 2 * best);
}

/* The first result of a state's run whose place is `from` or more; DP_RESULT_NONE: a bound was met. */
static __always_inline u64 dp_class_from(const struct dp_class_at *a, u64 states, u64 state, u64 from)
{
	DP_NOUNROLL
	for (u32 i = 0; i < DP_CLASS_RUN; i++) {
		u64 result;

		if (state == DP_CLASS_NO_STATE)
			break;
		result = dp_class_word(a, states + 2 * state);
		if (result >> DP_PLACE_SHIFT >= from)
			return result;
		state = (u32)dp_class_word(a, states + 2 * state + 1);
	}
	return DP_RESULT_NONE;
}

/* Sums for dp_classes_from(). */
static __always_inline void dp_classes_sum(struct dp_key *k, const u64 *t, u64 begin, u64 root)
{
	struct dp_class_at a = { t, begin, dp_c.table_mask };
	u64 n = dp_class_word(&a, root) & 0xff, at = root + DP_CLASS_OTHER_AT, sum = 0;
	struct dp_iter it;

	dp_class_sum(k, &a, root, &k->sums);
	dp_iter_start(&it, DP_CLASS_OTHERS);
	while (n && dp_iter_next(&it)) {
		dp_class_other(k, &a, at, &sum, &k->sums);
		at += 2;
		n--;
	}
	dp_iter_end(&it);
}

/* The least result word of all rules that may match whose place is `from` or more. */
static __always_inline u64 dp_classes_from(const struct dp_key *k, const u64 *t, u64 begin, u64 root, u64 from)
{
	struct dp_class_at a = { t, begin, dp_c.table_mask };
	u64 head = dp_class_word(&a, root), best = DP_RESULT_NONE;

	DP_NOUNROLL
	for (u32 g = 0; g < DP_CLASS_GROUPS; g++) {
		u64 result;

		if (g >= (head >> 8 & 0xff))
			break;
		result = dp_class_from(&a, head >> 32, dp_class_state(&a, root, g, &k->sums), from);
		if (result == DP_RESULT_NONE)
			return DP_RESULT_NONE;
		best = result < best ? result : best;
	}
	return best;
}

#endif
