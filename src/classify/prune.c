/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What hides what. See prune.h. */
#include "classify/prune.h"

/* Rules that one of the others hides are looked for among so few only. */
enum { FEW = 14 };
enum { FLAGS = 0xff0000 }; /* of TCP, in the L4 word */

/* What is known where bits of the L4 word under mask are, as in struct cut_hides. */
static uint32_t known_l4(uint32_t mask, uint32_t value)
{
	return (mask & value & (FLAGS | 0xffff)) | (mask & ~value & FLAGS) << 8;
}

struct cut_hides prune_hides(const struct box_rule *r)
{
	uint32_t mask = r->box.l4_mask, value = r->box.l4_value, has = known_l4(mask, value);
	bool is_proto_span = mask >> 24 == 0 || mask >> 24 == 0xff, all_are_there = (mask & ~value & 0xffff) == 0;

	return (struct cut_hides){ .until = is_proto_span && all_are_there ? r->until : 0,
				   .needs = (mask & FLAGS) == FLAGS ? has & 0xffff : has, /* all flags are a span */
				   .has = has };
}

static bool is_prefix(struct cut_span s, uint32_t *mask)
{
	uint32_t wild = s.hi ^ s.lo;

	*mask = ~wild;
	return !(wild & (wild + 1)) && !(s.lo & wild);
}

/* What every key of the region has, as in struct cut_hides: a field that is not 0 is there. */
static uint32_t region_has(const struct cut_rules *r, const struct cut_region *g)
{
	uint32_t has = 0;

	for (unsigned d = 0; d < r->n_dims; d++) {
		if (r->dim[d] == BOX_FLAGS)
			has |= known_l4((g->dim[d].mask & 0xff) << 16, g->dim[d].value << 16);
		if (g->dim[d].lo == 0 && !g->dim[d].value)
			continue;
		if (r->dim[d] == BOX_SPORT || r->dim[d] == BOX_DPORT)
			has |= DP_HAS_PORTS;
		else if (r->dim[d] == BOX_FLAGS)
			has |= DP_HAS_PORTS | DP_HAS_TCP;
	}
	return has;
}

/* Does span a hold all that is known to be? */
static bool span_covers(struct cut_span a, const struct cut_known *k)
{
	uint32_t need;

	if (a.lo <= k->lo && a.hi >= k->hi)
		return true;
	return is_prefix(a, &need) && !(need & ~k->mask) && !((k->value ^ a.lo) & need);
}

static const struct cut_span *spans_of(const struct cut_rules *r, uint32_t id)
{
	return r->span + (size_t)id * r->n_dims;
}

/* No key of the region that comes to this rule comes to those before its `until`. */
static bool rule_covers(const struct cut_rules *r, uint32_t id, const struct cut_region *g, uint32_t has)
{
	const struct cut_span *s = spans_of(r, id);

	if (r->hides[id].needs & ~has)
		return false;
	for (unsigned d = 0; d < r->n_dims; d++)
		if (!span_covers(s[d], &g->dim[d]))
			return false;
	return true;
}

/* What is known of the keys of rule b in a dimension of the region. False: they are none. */
static bool rule_knows(struct cut_span b, const struct cut_known *region, struct cut_known *k)
{
	uint32_t prefix;

	*k = *region;
	if (is_prefix(b, &prefix)) {
		k->value = (k->value & ~prefix) | (b.lo & prefix);
		k->mask |= prefix;
	}
	if (b.lo > k->lo)
		k->lo = b.lo;
	if (b.hi < k->hi)
		k->hi = b.hi;
	return k->lo <= k->hi;
}

/* No key of the region that may match rule b comes to it, because of the earlier rule a. */
static bool rule_shadows(const struct cut_rules *r, uint32_t a, uint32_t b, const struct cut_region *g, uint32_t has)
{
	const struct cut_span *x = spans_of(r, a), *y = spans_of(r, b);
	struct cut_known k;

	if (r->hides[a].until <= b || (r->hides[a].needs & ~(has | r->hides[b].has)))
		return false;
	for (unsigned d = 0; d < r->n_dims; d++) {
		if (x[d].lo <= y[d].lo && x[d].hi >= y[d].hi)
			continue;
		if (rule_knows(y[d], &g->dim[d], &k) && !span_covers(x[d], &k))
			return false;
	}
	return true;
}

static bool rule_misses(struct cut_span s, const struct cut_known *k)
{
	uint32_t prefix;

	return s.hi < k->lo || s.lo > k->hi || (is_prefix(s, &prefix) && ((k->value ^ s.lo) & prefix & k->mask));
}

size_t prune_hidden(const struct cut_rules *r, uint32_t *id, size_t n, const struct cut_region *g)
{
	uint32_t has;
	size_t m = 0;

	if (n > FEW || n < 2)
		return n;
	has = region_has(r, g);
	for (size_t i = 0; i < n; i++) {
		bool is_hidden = false;

		for (size_t k = 0; k < m && !is_hidden; k++)
			is_hidden = rule_shadows(r, id[k], id[i], g, has);
		if (!is_hidden)
			id[m++] = id[i];
	}
	return m;
}

size_t prune_rules(const struct cut_rules *r, uint32_t *id, size_t n, const struct cut_region *g, unsigned d)
{
	uint32_t has = n > 1 ? region_has(r, g) : 0, until = 0;
	size_t m = 0;

	for (size_t i = 0; i < n && until != BOX_FINAL; i++) {
		if (id[i] < until || (r->n_dims && rule_misses(spans_of(r, id[i])[d], &g->dim[d])))
			continue;
		id[m++] = id[i];
		if (r->hides[id[i]].until > until && rule_covers(r, id[i], g, has))
			until = r->hides[id[i]].until;
	}
	return prune_hidden(r, id, m, g);
}
