/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measuring a graph that is there, from its words alone. Every descriptor that can be reached is visited once; what lies
 * behind it is kept by its target, at which no other descriptor may point. The builder's own account is not asked.
 */
#include <string.h>

#include "classify/graph.h"

struct depth {
	uint16_t walk, leaves; /* from here: cuts to the next leaf at most, leaves at most */
	uint32_t least;	       /* place of the first rule that may be found */
};

enum { SEEN_NOT, SEEN_OPEN, SEEN_DONE, NEST_MOST = 4096 };

struct measure {
	const uint64_t *word;
	size_t n;
	size_t entry_words;
	const struct graph_bounds *most;
	uint8_t *seen;	      /* by the offset of a target */
	uint64_t *by;	      /* the descriptor that points there */
	struct depth *depth;
};

static bool visit(struct measure *m, uint64_t d, unsigned nest, struct depth *out);

static bool is_entry_sane(const struct measure *m, const uint64_t *e)
{
	uint64_t result = e[m->entry_words - 1];

	if (DP_RESULT_KIND(result) >= DP_RESULT_KINDS || result >> DP_PLACE_SHIFT >= DP_PLACE_POLICY)
		return false;
	if (m->entry_words == DP_ENTRY_IP4)
		return (result >> DP_SHIFT_SRC & 63) <= 32 && (result >> DP_SHIFT_DST & 63) <= 32;
	for (unsigned i = 0; i < 8; i++)
		if ((e[6] >> 8 * i & 0xff) > 32)
			return false;
	return true;
}

static bool visit_leaf(struct measure *m, uint64_t d, unsigned nest, struct depth *out)
{
	size_t at = (uint32_t)d, n = DP_LEAF_COUNT(d), end = at + n * m->entry_words;
	bool has_cont = DP_LEAF_LEAST(d) != DP_PLACE_POLICY;
	struct depth cont = { .least = DP_PLACE_POLICY };

	if (n > m->most->leaf || end + has_cont > m->n || (d & ~DP_LEAF(DP_PLACE_POLICY, 15, UINT32_MAX)))
		return false;
	if (has_cont && !visit(m, m->word[end], nest + 1, &cont))
		return false;
	if (cont.least < DP_LEAF_LEAST(d))
		return false;
	*out = (struct depth){ 0, (uint16_t)(cont.leaves + 1), cont.least };
	for (size_t i = n, last = DP_PLACE_POLICY; i-- > 0;) {
		const uint64_t *e = m->word + at + i * m->entry_words;
		size_t place = e[m->entry_words - 1] >> DP_PLACE_SHIFT;

		if (!is_entry_sane(m, e) || place >= last)
			return false;
		last = place;
		if (place < out->least)
			out->least = (uint32_t)place;
	}
	return true;
}

static bool visit_cut(struct measure *m, uint64_t d, unsigned nest, struct depth *out)
{
	size_t at = (uint32_t)d, mask = d >> 32 & 0xffff;
	struct depth x;

	*out = (struct depth){ .least = DP_PLACE_POLICY };
	if (at + mask >= m->n || (mask & (mask + 1)) || (d >> 54 & 31) >= DP_KEY_WORDS || d >> 59)
		return false;
	for (size_t i = 0; i <= mask; i++) {
		if (!visit(m, m->word[at + i], nest + 1, &x))
			return false;
		if (x.walk > out->walk)
			out->walk = x.walk;
		if (x.leaves > out->leaves)
			out->leaves = x.leaves;
		if (x.least < out->least)
			out->least = x.least;
	}
	out->walk++;
	return true;
}

static bool visit(struct measure *m, uint64_t d, unsigned nest, struct depth *out)
{
	size_t at = (uint32_t)d;

	*out = (struct depth){ .least = DP_PLACE_POLICY };
	if (d == 0)
		return true;
	if (at >= m->n || nest > NEST_MOST || m->seen[at] == SEEN_OPEN)
		return false;
	if (m->seen[at] == SEEN_DONE) {
		*out = m->depth[at];
		return m->by[at] == d;
	}
	m->seen[at] = SEEN_OPEN;
	m->by[at] = d;
	if (!(d & DP_LEAF_BIT ? visit_leaf(m, d, nest, out) : visit_cut(m, d, nest, out)))
		return false;
	m->seen[at] = SEEN_DONE;
	m->depth[at] = *out;
	return out->walk <= m->most->walk && out->leaves <= m->most->leaves;
}

bool graph_check(const uint64_t *word, size_t n, uint64_t root, bool is_ip6, const struct graph_bounds *most)
{
	struct arena *a = arena_create();
	struct measure m = { .word = word, .n = n, .entry_words = is_ip6 ? DP_ENTRY_IP6 : DP_ENTRY_IP4, .most = most,
			     .seen = arena_new(a, uint8_t, n + 1), .by = arena_new(a, uint64_t, n + 1),
			     .depth = arena_new(a, struct depth, n + 1) };
	struct depth out;
	bool ok = visit(&m, root, 0, &out);

	arena_destroy(a);
	return ok;
}
