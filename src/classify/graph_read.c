/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading graphs. See graph_read.h. */
#include "classify/graph_read.h"

struct graph_lookup graph_read_insn(const uint64_t *half, uint32_t pc)
{
	const uint64_t *i = half + 4 * (size_t)pc;
	uint64_t flags = i[0] >> 8 & 0xff;

	return (struct graph_lookup){ .root = i[1], .word = half + (uint32_t)i[3], .policy = i[2], .head = (uint32_t)half[(uint32_t)i[3]],
				      .from = (uint32_t)(i[3] >> 32), .is_ip6 = (flags & DP_LOOKUP_IP6) != 0,
				      .has_ct = (flags & DP_LOOKUP_CT) != 0 };
}

static size_t entry_words(const struct graph_lookup *g)
{
	return g->is_ip6 ? DP_ENTRY_IP6 : DP_ENTRY_IP4;
}

struct graph_part graph_read_part(const struct graph_lookup *g, uint64_t d)
{
	struct graph_part p = { .offset = (uint32_t)d };

	if (d & DP_LEAF_BIT) {
		p.kind = GRAPH_LEAF;
		p.n = DP_LEAF_COUNT(d);
		p.cont_least = DP_LEAF_LEAST(d);
		if (p.cont_least != DP_PLACE_POLICY)
			p.cont = g->word[p.offset + p.n * entry_words(g)];
	} else if (d) {
		p.kind = GRAPH_CUT;
		p.word = d >> 54 & 31;
		p.shift = d >> 48 & 63;
		p.mask = d >> 32 & 0xffff;
	}
	return p;
}

static const uint64_t *entry_of(const struct graph_lookup *g, const struct graph_part *leaf, uint32_t i)
{
	return g->word + leaf->offset + i * entry_words(g);
}

uint64_t graph_read_result(const struct graph_lookup *g, const struct graph_part *leaf, uint32_t i)
{
	return entry_of(g, leaf, i)[entry_words(g) - 1];
}

static bool ports_match(uint64_t l4, uint64_t ports, uint64_t low)
{
	uint16_t s = (uint16_t)((l4 >> 48) - ports), d = (uint16_t)((l4 >> 32) - (ports >> 32));

	return s <= (uint16_t)(ports >> 16) && d <= ports >> 48 && !((l4 ^ low) & low >> 32);
}

bool graph_read_matches(const struct graph_lookup *g, const struct graph_part *leaf, uint32_t i, const uint64_t *key)
{
	const uint64_t *e = entry_of(g, leaf, i);
	bool same = true;

	if (!g->is_ip6)
		return !((key[DP_W_SRC_LO] ^ e[0] >> 32) >> (e[3] >> DP_SHIFT_SRC & 63)) &&
		       !((key[DP_W_DST_LO] ^ (uint32_t)e[0]) >> (e[3] >> DP_SHIFT_DST & 63)) && ports_match(key[DP_W_L4], e[1], e[2]);
	for (unsigned w = 0; w < 4; w++)
		same = same && !((key[DP_W_SRC_HI + w] ^ e[w]) >> (e[6] >> 16 * w & 63) >> (e[6] >> (16 * w + 8) & 63));
	return same && ports_match(key[DP_W_L4], e[4], e[5]);
}

static uint64_t least_of(const struct graph_lookup *g, const struct graph_part *leaf, const uint64_t *key, uint64_t *steps)
{
	for (uint32_t i = 0; i < leaf->n; i++) {
		uint64_t result = graph_read_result(g, leaf, i);

		++*steps;
		if (result >> DP_PLACE_SHIFT >= g->from && graph_read_matches(g, leaf, i, key))
			return result;
	}
	return UINT64_MAX;
}

uint32_t graph_read_lookup(const uint64_t *half, uint32_t pc, const uint64_t *key, uint64_t *steps)
{
	struct graph_lookup g = graph_read_insn(half, pc);
	struct graph_part p = graph_read_part(&g, g.root);
	uint64_t best = g.policy;

	if (g.has_ct && (key[DP_W_CT] >> DP_CT_STATE_SHIFT & DP_CT_MISSING))
		return pc + 1;
	while (p.kind != GRAPH_END) {
		uint64_t found;

		++*steps;
		if (p.kind == GRAPH_CUT) {
			p = graph_read_part(&g, g.word[p.offset + (key[p.word] >> p.shift & p.mask)]);
			continue;
		}
		found = least_of(&g, &p, key, steps);
		best = found < best ? found : best;
		if (best >> DP_PLACE_SHIFT <= p.cont_least)
			break;
		p = graph_read_part(&g, p.cont);
	}
	return DP_RESULT_KIND(best) == DP_RESULT_RUN ? g.head + DP_RESULT_VALUE(best) : 0;
}
