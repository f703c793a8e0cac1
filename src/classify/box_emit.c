/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A box as code again. All that can be one compare under a mask is, word by word; what is a span is a compare of its own.
 *
 *     src0 c0000200..c00002ff, dport 20..30, l4 "tcp, has ports"
 *     TEST src_lo, ffffff00, c0000200, 0;  TEST l4, ff000001, 06000001, 0;  TEST l4, ffff << 32, 20 << 32, 10 << 32
 */
#include "classify/box.h"

static bool is_prefix(uint32_t lo, uint32_t hi)
{
	uint32_t wild = lo ^ hi;

	return !(wild & (wild + 1)) && !(lo & wild);
}

static void emit_span(struct code *c, const struct box *b, enum box_dim d, int fail)
{
	const struct box_place *p = &box_places[d];

	code_test(c, (struct code_atom){ p->word, (uint64_t)box_dim_max(d) << p->shift, (uint64_t)b->lo[d] << p->shift,
					 (uint64_t)(b->hi[d] - b->lo[d]) << p->shift }, CODE_NEXT, fail);
}

/* Do the masked bits of the L4 word say all about it? */
static bool is_masked(const struct box *b, enum box_dim d)
{
	uint64_t bits = (uint64_t)box_dim_max(d) << box_places[d].shift;

	return (d == BOX_PROTO || d == BOX_FLAGS) && (b->l4_mask & bits) == bits;
}

void box_emit(struct code *c, const struct box *b, int fail)
{
	uint64_t mask[DP_KEY_WORDS] = { [DP_W_L4] = b->l4_mask }, value[DP_KEY_WORDS] = { [DP_W_L4] = b->l4_value };
	bool is_span[BOX_DIMS] = { false };

	for (enum box_dim d = 0; d < BOX_DIMS; d++) {
		const struct box_place *p = &box_places[d];
		uint32_t max = box_dim_max(d), wild = b->lo[d] ^ b->hi[d];

		if (!(b->dims >> d & 1) || is_masked(b, d))
			continue;
		is_span[d] = !is_prefix(b->lo[d], b->hi[d]) || (p->word == DP_W_L4 && wild);
		if (is_span[d])
			continue;
		mask[p->word] |= (uint64_t)(max & ~wild) << p->shift;
		value[p->word] |= (uint64_t)b->lo[d] << p->shift;
	}
	for (unsigned w = 0; w < DP_KEY_WORDS; w++)
		if (mask[w])
			code_test(c, (struct code_atom){ w, mask[w], value[w], 0 }, CODE_NEXT, fail);
	for (enum box_dim d = 0; d < BOX_DIMS; d++)
		if (is_span[d])
			emit_span(c, b, d, fail);
}
