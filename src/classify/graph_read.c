/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading graphs. See graph_read.h. */
#include "classify/graph_read.h"

struct graph_lookup graph_read_insn(const uint64_t *half, uint32_t pc)
{
	const uint64_t *i = half + 4 * (size_t)pc;
	uint64_t flags = i[0] >> 8 & 0xff;

	return (struct graph_lookup){ .root = i[1], .word = half + i[3], .head = (uint32_t)(i[2] >> 32), .policy = (uint32_t)i[2],
				      .is_ip6 = (flags & DP_LOOKUP_IP6) != 0, .has_ct = (flags & DP_LOOKUP_CT) != 0 };
}

struct graph_part graph_read_part(const struct graph_lookup *g, uint64_t d)
{
	struct graph_part p = { .offset = (uint32_t)d };

	if (d & DP_LEAF_BIT) {
		p.kind = GRAPH_LEAF;
		p.n = d >> 32 & 0x7f;
		p.cont = g->word[p.offset];
		p.cont_least = (uint32_t)g->word[p.offset + 1];
	} else if (d) {
		p.kind = GRAPH_CUT;
		p.word = d >> 54 & 31;
		p.shift = d >> 48 & 63;
		p.mask = d >> 32 & 0xffff;
	}
	return p;
}

static size_t entry_words(const struct graph_lookup *g)
{
	return g->is_ip6 ? DP_ENTRY_IP6 : DP_ENTRY_IP4;
}

uint32_t graph_read_place(const struct graph_lookup *g, const struct graph_part *leaf, uint32_t i)
{
	size_t at = i < DP_LEAF_INLINE ? 2 + i / 2 : DP_LEAF_HEAD + leaf->n * entry_words(g) + i / 2 - 2;

	return (uint32_t)(g->word[leaf->offset + at] >> (i & 1) * 32);
}

static bool ports_match(uint64_t l4, uint64_t ports, uint64_t low)
{
	uint16_t s = (uint16_t)((l4 >> 48) - ports), d = (uint16_t)((l4 >> 32) - (ports >> 32));

	return s <= (uint16_t)(ports >> 16) && d <= ports >> 48 && !((l4 ^ low) & low >> 32);
}

bool graph_read_matches(const struct graph_lookup *g, const struct graph_part *leaf, uint32_t i, const uint64_t *key)
{
	const uint64_t *e = g->word + leaf->offset + DP_LEAF_HEAD + i * entry_words(g);
	uint64_t addrs = key[DP_W_SRC_LO] << 32 | (uint32_t)key[DP_W_DST_LO];

	if (!g->is_ip6)
		return !((addrs ^ e[0]) & e[1]) && ports_match(key[DP_W_L4], e[2], e[3]);
	return ports_match(key[DP_W_L4], e[0], e[1]) && !((key[DP_W_SRC_HI] ^ e[2]) & e[6]) &&
	       !((key[DP_W_SRC_LO] ^ e[3]) & e[7]) && !((key[DP_W_DST_HI] ^ e[4]) & e[8]) &&
	       !((key[DP_W_DST_LO] ^ e[5]) & e[9]);
}

static uint32_t least_of(const struct graph_lookup *g, const struct graph_part *leaf, uint32_t from, const uint64_t *key,
			 uint64_t *steps)
{
	for (uint32_t i = 0; i < leaf->n; i++) {
		uint32_t place = graph_read_place(g, leaf, i);

		++*steps;
		if (place >= from && graph_read_matches(g, leaf, i, key))
			return place;
	}
	return UINT32_MAX;
}

uint32_t graph_read_lookup(const uint64_t *half, uint32_t pc, const uint64_t *key, uint64_t *steps)
{
	struct graph_lookup g = graph_read_insn(half, pc);
	uint32_t best = g.policy, from = pc + 1 - g.head;
	struct graph_part p = graph_read_part(&g, g.root);

	if (g.has_ct && (key[DP_W_CT] >> DP_CT_STATE_SHIFT & DP_CT_MISSING))
		return pc + 1;
	while (p.kind != GRAPH_END) {
		uint32_t found;

		++*steps;
		if (p.kind == GRAPH_CUT) {
			p = graph_read_part(&g, g.word[p.offset + (key[p.word] >> p.shift & p.mask)]);
			continue;
		}
		found = least_of(&g, &p, from, key, steps);
		best = found < best ? found : best;
		if (best < p.cont_least)
			break;
		p = graph_read_part(&g, p.cont);
	}
	return g.head + best;
}
