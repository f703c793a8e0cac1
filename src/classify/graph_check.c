/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measuring a graph that is there, from its words alone. Every descriptor that can be reached is visited once; what lies
 * behind it is kept by its target. The builder's own account is not asked.
 */
#include <string.h>

#include "classify/graph.h"

struct depth {
	uint16_t walk, leaves; /* from here: cuts to the next leaf at most, leaves at most */
};

enum { SEEN_NOT, SEEN_OPEN, SEEN_DONE, NEST_MOST = 4096 };

struct measure {
	const uint64_t *word;
	size_t n;
	size_t entry_words;
	const struct graph_bounds *most;
	uint8_t *seen;	      /* by the offset of a target */
	struct depth *depth;
};

static bool visit(struct measure *m, uint64_t d, unsigned nest, struct depth *out);

static bool visit_leaf(struct measure *m, uint64_t d, unsigned nest, struct depth *out)
{
	size_t at = (uint32_t)d, n = d >> 32 & 0x7f;
	struct depth cont;

	if (n > m->most->leaf || at + DP_LEAF_HEAD + n * m->entry_words + (n > DP_LEAF_INLINE ? (n - DP_LEAF_INLINE + 1) / 2 : 0) > m->n)
		return false;
	if (!visit(m, m->word[at], nest + 1, &cont))
		return false;
	*out = (struct depth){ 0, (uint16_t)(cont.leaves + 1) };
	return true;
}

static bool visit_cut(struct measure *m, uint64_t d, unsigned nest, struct depth *out)
{
	size_t at = (uint32_t)d, mask = d >> 32 & 0xffff;
	struct depth x;

	*out = (struct depth){ 0 };
	if (at + mask >= m->n || (mask & (mask + 1)) || (d >> 54 & 31) >= DP_KEY_WORDS || d >> 59)
		return false;
	for (size_t i = 0; i <= mask; i++) {
		if (!visit(m, m->word[at + i], nest + 1, &x))
			return false;
		if (x.walk > out->walk)
			out->walk = x.walk;
		if (x.leaves > out->leaves)
			out->leaves = x.leaves;
	}
	out->walk++;
	return true;
}

static bool visit(struct measure *m, uint64_t d, unsigned nest, struct depth *out)
{
	size_t at = (uint32_t)d;

	*out = (struct depth){ 0 };
	if (d == 0)
		return true;
	if (at >= m->n || nest > NEST_MOST || m->seen[at] == SEEN_OPEN)
		return false;
	if (m->seen[at] == SEEN_DONE) {
		*out = m->depth[at];
		return true;
	}
	m->seen[at] = SEEN_OPEN;
	if (!(d & DP_LEAF_BIT ? visit_leaf(m, d, nest, out) : visit_cut(m, d, nest, out)))
		return false;
	m->seen[at] = SEEN_DONE;
	m->depth[at] = *out;
	return out->walk <= m->most->walk && out->leaves <= m->most->leaves;
}

bool graph_check(const uint64_t *word, size_t n, uint64_t root, bool is_ip6, const struct graph_bounds *most)
{
	struct arena *a = arena_create();
	struct measure m = { word, n, is_ip6 ? DP_ENTRY_IP6 : DP_ENTRY_IP4, most, arena_new(a, uint8_t, n + 1),
			     arena_new(a, struct depth, n + 1) };
	struct depth out;
	bool ok = visit(&m, root, 0, &out);

	arena_destroy(a);
	return ok;
}
