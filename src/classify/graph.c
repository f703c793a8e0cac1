/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Building the graph: leaves, cuts, side graphs. See graph.h. */
#include "classify/graph.h"

#include <string.h>

#include "classify/cut.h"

/* Shadowed rules are looked for among so few only. */
enum { SHADOW_MOST = 14, LEAF_WITHOUT_GAIN = 16 };

/* What a descriptor leads to. */
struct part {
	uint64_t d;
	uint32_t least; /* place */
	uint32_t worst;
	unsigned walk;	/* cuts to the next leaf */
	unsigned leaves; /* on the longest way */
};

struct ids {
	uint32_t *v;
	size_t n;
};

struct grow {
	const struct graph_task *t;
	struct words *w;
	struct graph *g;
	struct arena *scratch;
	struct cut_rules rules;
	bool is_beyond;
};

size_t words_add(struct words *w, size_t n)
{
	size_t at = w->n;

	if (w->n + n > w->cap) {
		size_t cap = 2 * (w->n + n) + 64;
		uint64_t *v = arena_new(w->a, uint64_t, cap);

		if (w->n)
			memcpy(v, w->v, w->n * sizeof *v);
		w->v = v;
		w->cap = cap;
	}
	if (n)
		memset(w->v + at, 0, n * sizeof *w->v);
	w->n += n;
	return at;
}

/* ---------- what hides what ---------- */

static bool is_prefix(struct cut_span s, uint32_t *mask)
{
	uint32_t wild = s.hi ^ s.lo;

	*mask = ~wild;
	return !(wild & (wild + 1)) && !(s.lo & wild);
}

/* Bits of DP_HAS_* that every key of the region has: a field that is not 0 is there. */
static uint32_t region_has(const struct cut_rules *r, const struct cut_region *g)
{
	uint32_t has = 0;

	for (unsigned d = 0; d < r->n_dims; d++) {
		if (g->range[d].lo == 0 && !g->value[d])
			continue;
		if (r->dim[d] == BOX_SPORT || r->dim[d] == BOX_DPORT)
			has |= DP_HAS_PORTS;
		else if (r->dim[d] == BOX_FLAGS)
			has |= DP_HAS_PORTS | DP_HAS_TCP;
	}
	return has;
}

/* Is the presence that rule a asks for certain, where `has` is? */
static bool has_presence(const struct box *a, uint32_t has)
{
	uint32_t mask = a->l4_mask & 0xffff;

	return (mask & ~has) == 0 && (a->l4_value & mask) == mask;
}

/* Does rule a's span of dimension d hold all of s, of which the bits under mask are known? */
static bool span_covers(struct cut_span a, struct cut_span s, uint32_t mask, uint32_t value)
{
	uint32_t need;

	if (a.lo <= s.lo && a.hi >= s.hi)
		return true;
	return is_prefix(a, &need) && !(need & ~mask) && !((value ^ a.lo) & need);
}

/* No key of the region that comes to this rule comes to those before its `until`. */
static bool rule_covers(const struct cut_rules *r, uint32_t id, const struct cut_region *g)
{
	const struct box_rule *a = &r->rule[id];

	if (!a->until || !has_presence(&a->box, region_has(r, g)))
		return false;
	for (unsigned d = 0; d < r->n_dims; d++)
		if (!span_covers(r->span[(size_t)id * r->n_dims + d], g->range[d], g->mask[d], g->value[d]))
			return false;
	return true;
}

/* No key of the region that may match rule b comes to it, because of the earlier rule a. */
static bool rule_shadows(const struct cut_rules *r, uint32_t a, uint32_t b, const struct cut_region *g)
{
	const struct box *x = &r->rule[a].box, *y = &r->rule[b].box;

	if (r->rule[a].until <= b || !has_presence(x, region_has(r, g) | (y->l4_mask & y->l4_value & 0xffff)))
		return false;
	for (unsigned d = 0; d < r->n_dims; d++) {
		struct cut_span own = r->span[(size_t)b * r->n_dims + d], s = cut_clip(r, b, d, g);
		uint32_t mask = g->mask[d], value = g->value[d], prefix;

		if (is_prefix(own, &prefix)) {
			value = (value & ~prefix) | (own.lo & prefix);
			mask |= prefix;
		}
		if (s.lo <= s.hi && !span_covers(r->span[(size_t)a * r->n_dims + d], s, mask, value))
			return false;
	}
	return true;
}

static bool rule_misses(const struct cut_rules *r, uint32_t id, const struct cut_region *g)
{
	for (unsigned d = 0; d < r->n_dims; d++) {
		struct cut_span s = r->span[(size_t)id * r->n_dims + d];
		uint32_t prefix;

		if (s.hi < g->range[d].lo || s.lo > g->range[d].hi)
			return true;
		if (is_prefix(s, &prefix) && ((g->value[d] ^ s.lo) & prefix & g->mask[d]))
			return true;
	}
	return false;
}

/* Takes out rules that miss the region or are hidden in it by an earlier one. */
static void prune(const struct cut_rules *r, struct ids *s, const struct cut_region *g)
{
	uint32_t until = 0;
	size_t n = 0, m = 0;

	for (size_t i = 0; i < s->n && until != BOX_FINAL; i++) {
		uint32_t id = s->v[i];

		if (id < until || rule_misses(r, id, g))
			continue;
		s->v[n++] = id;
		if (rule_covers(r, id, g) && r->rule[id].until > until)
			until = r->rule[id].until;
	}
	for (size_t i = 0; i < n && n <= SHADOW_MOST; i++) {
		bool is_hidden = false;

		for (size_t k = 0; k < m && !is_hidden; k++)
			is_hidden = rule_shadows(r, s->v[k], s->v[i], g);
		if (!is_hidden)
			s->v[m++] = s->v[i];
	}
	s->n = n <= SHADOW_MOST ? m : n;
}

/* ---------- leaves ---------- */

static uint32_t place_of(const struct graph_task *t, uint32_t id)
{
	return (uint32_t)(t->result[id] >> DP_PLACE_SHIFT);
}

static struct part leaf_of(struct grow *b, struct ids s, struct part cont)
{
	size_t size = b->t->is_ip6 ? DP_ENTRY_IP6 : DP_ENTRY_IP4, at;
	bool has_cont = cont.least != DP_PLACE_POLICY;
	struct part p;

	if (s.n > b->t->most.leaf) {
		cont = leaf_of(b, (struct ids){ s.v + b->t->most.leaf, s.n - b->t->most.leaf }, cont);
		s.n = b->t->most.leaf;
		has_cont = true;
	}
	words_add(b->w, (0 - (b->w->n - b->g->begin)) & 3);
	at = words_add(b->w, s.n * size + has_cont);
	for (size_t i = 0; i < s.n; i++)
		box_entry(&b->t->rule[s.v[i]].box, b->t->is_ip6, b->t->result[s.v[i]], b->w->v + at + i * size);
	if (has_cont)
		b->w->v[at + s.n * size] = cont.d;
	p = (struct part){ .d = DP_LEAF(cont.least, s.n, at - b->g->begin), .least = cont.least,
			   .worst = (uint32_t)s.n + 1 + has_cont + cont.worst, .leaves = cont.leaves + 1 };
	if (s.n && place_of(b->t, s.v[0]) < p.least)
		p.least = place_of(b->t, s.v[0]);
	b->is_beyond |= p.leaves > b->t->most.leaves;
	b->g->n_leaves++;
	b->g->n_refs += (uint32_t)s.n;
	return p;
}

/* ---------- cuts ---------- */

static struct part build(struct grow *b, struct ids s, const struct cut_region *g, struct part cont, unsigned depth,
			 double budget);

/* Sampling can miss rare wide rules, which would go to thousands of children. */
static void recount_wide(const struct grow *b, struct ids s, const struct cut_region *g, double budget, struct cut *c)
{
	size_t wide = 0;

	if (c->has_side || s.n <= 48)
		return;
	for (size_t i = 0; i < s.n; i++)
		wide += cut_width(cut_clip(&b->rules, s.v[i], (unsigned)c->d, g), c->shift) >= c->wide;
	if ((double)(wide << c->bits) > (budget - (double)s.n) / 2 || wide > 8)
		c->has_side = true;
}

/* The rules of each child, one list behind the other: start[i]..start[i + 1]. */
static uint32_t *deal(struct grow *b, struct ids s, const struct cut_region *g, const struct cut *c, uint32_t *start)
{
	uint32_t fan = 1u << c->bits, *next, *out;

	for (size_t i = 0; i < s.n; i++) {
		struct cut_span x = cut_clip(&b->rules, s.v[i], (unsigned)c->d, g);
		uint32_t more = cut_width(x, c->shift);

		for (uint32_t k = 0; k <= more && k < fan; k++)
			start[((x.lo >> c->shift) + k) % fan + 1]++;
	}
	for (uint32_t i = 0; i < fan; i++)
		start[i + 1] += start[i];
	out = arena_new(b->scratch, uint32_t, start[fan] + 1);
	next = arena_new(b->scratch, uint32_t, fan);
	memcpy(next, start, fan * sizeof *next);
	for (size_t i = 0; i < s.n; i++) {
		struct cut_span x = cut_clip(&b->rules, s.v[i], (unsigned)c->d, g);
		uint32_t more = cut_width(x, c->shift);

		for (uint32_t k = 0; k <= more && k < fan; k++)
			out[next[((x.lo >> c->shift) + k) % fan]++] = s.v[i];
	}
	return out;
}

/* The region of child i; false: it is empty. */
static bool child_region(const struct cut_region *g, const struct cut *c, uint32_t i, struct cut_region *out)
{
	uint32_t mask = ((1u << c->bits) - 1) << c->shift, below = (1u << c->shift) - 1;
	bool is_top_known = !(~g->mask[c->d] & ~mask & ~below);
	struct cut_span *s = &out->range[c->d];

	*out = *g;
	out->mask[c->d] |= mask;
	out->value[c->d] = (g->value[c->d] & ~mask) | i << c->shift;
	if (is_top_known) {
		uint32_t lo = out->value[c->d] & ~below, hi = lo | below;

		if (lo > s->lo)
			s->lo = lo;
		if (hi < s->hi)
			s->hi = hi;
	}
	return s->lo <= s->hi;
}

/* Where a child leads straight to the continuation, the cuts there and here are one walk. */
static struct part pass_on(struct grow *b, struct part cont, unsigned depth, struct part *passed)
{
	if (depth + 1 + cont.walk <= b->t->most.walk)
		return cont;
	if (!passed->d)
		*passed = leaf_of(b, (struct ids){ 0 }, cont);
	return *passed;
}

/* Neighbours with the same few rules share a leaf. */
struct twin {
	struct ids s;
	struct part p;
};

static struct part child_of(struct grow *b, struct ids s, const struct cut_region *g, struct part cont, unsigned depth, double budget,
			    struct twin *last)
{
	if (s.n == last->s.n && s.n <= CUT_LEAF && memcmp(s.v, last->s.v, s.n * sizeof *s.v) == 0)
		return last->p;
	last->s = s;
	last->p = s.n <= CUT_LEAF ? leaf_of(b, s, cont) : build(b, s, g, cont, depth + 1, budget);
	return last->p;
}

static struct part cut_into(struct grow *b, struct ids s, const struct cut_region *g, struct part cont, unsigned depth, double budget,
			    const struct cut *c)
{
	const struct box_place *place = &box_places[b->rules.dim[c->d]];
	uint32_t fan = 1u << c->bits, *start = arena_new(b->scratch, uint32_t, fan + 1), *dealt = deal(b, s, g, c, start);
	size_t at = words_add(b->w, fan);
	double left = budget - 0.25 * fan;
	struct part p = { .least = cont.least }, passed = { 0 };
	struct twin last = { 0 };

	if (left < 1.25 * start[fan])
		left = 1.25 * start[fan];
	p.d = DP_CUT(place->word, place->shift + c->shift, fan - 1, at - b->g->begin);
	b->g->n_cuts++;
	for (uint32_t i = 0; i < fan && !b->is_beyond; i++) {
		struct ids in = { dealt + start[i], start[i + 1] - start[i] };
		struct part x = { 0 };
		struct cut_region region;

		if (!child_region(g, c, i, &region))
			in.n = 0;
		prune(&b->rules, &in, &region);
		x = in.n ? child_of(b, in, &region, cont, depth, left * (double)in.n / (start[fan] + 1), &last) :
			   pass_on(b, cont, depth, &passed);
		b->w->v[at + i] = x.d;
		p.least = x.least < p.least ? x.least : p.least;
		p.worst = x.worst > p.worst ? x.worst : p.worst;
		p.walk = x.walk > p.walk ? x.walk : p.walk;
		p.leaves = x.leaves > p.leaves ? x.leaves : p.leaves;
	}
	p.worst++;
	p.walk++;
	if (p.walk > b->g->got.walk)
		b->g->got.walk = p.walk;
	return p;
}

/* Wide rules go to a graph of their own, which becomes the continuation. */
static void split_side(struct grow *b, struct ids *s, const struct cut_region *g, struct part *cont, unsigned depth, double budget,
		       const struct cut *c)
{
	struct ids wide = { arena_new(b->scratch, uint32_t, s->n), 0 }, narrow = { arena_new(b->scratch, uint32_t, s->n), 0 };

	for (size_t i = 0; i < s->n; i++) {
		struct ids *to = cut_width(cut_clip(&b->rules, s->v[i], (unsigned)c->d, g), c->shift) >= c->wide ? &wide : &narrow;

		to->v[to->n++] = s->v[i];
	}
	if (wide.n && narrow.n)
		*cont = build(b, wide, g, *cont, depth, budget * (double)wide.n / (double)s->n);
	if (narrow.n)
		*s = narrow;
}

static struct part build(struct grow *b, struct ids s, const struct cut_region *g, struct part cont, unsigned depth,
			 double budget)
{
	struct cut c;

	if (b->is_beyond)
		return cont;
	if (depth == 0 || s.n > SHADOW_MOST)
		prune(&b->rules, &s, g);
	if (s.n == 0)
		return cont;
	if (s.n <= CUT_LEAF || depth >= b->t->most.walk)
		return leaf_of(b, s, cont);
	c = cut_choose(&b->rules, s.v, s.n, g, budget);
	if (c.d < 0 || (s.n <= LEAF_WITHOUT_GAIN && c.score + 5 > 9 + 1.3 * (double)s.n))
		return leaf_of(b, s, cont);
	recount_wide(b, s, g, budget, &c);
	if (c.has_side)
		split_side(b, &s, g, &cont, depth, budget, &c);
	return cut_into(b, s, g, cont, depth, budget, &c);
}

/* ---------- the whole ---------- */

static void collect_dims(struct grow *b, struct cut_region *g)
{
	struct cut_rules *r = &b->rules;
	uint32_t dims = 0;
	size_t n = b->t->n;

	r->rule = b->t->rule;
	for (size_t i = 0; i < n; i++)
		dims |= r->rule[i].is_never ? 0 : r->rule[i].box.dims;
	for (unsigned d = 0; d < BOX_DIMS; d++) {
		uint32_t max = box_dim_max((enum box_dim)d);

		if (!(dims >> d & 1))
			continue;
		g->range[r->n_dims] = (struct cut_span){ 0, max };
		g->mask[r->n_dims] = ~max;
		r->dim[r->n_dims++] = (uint8_t)d;
	}
	r->span = arena_new(b->scratch, struct cut_span, n * r->n_dims + 1);
	for (size_t i = 0; i < n; i++)
		for (unsigned d = 0; d < r->n_dims; d++)
			r->span[i * r->n_dims + d] = (struct cut_span){ r->rule[i].box.lo[r->dim[d]], r->rule[i].box.hi[r->dim[d]] };
}

bool graph_build(const struct graph_task *t, struct words *w, struct graph *g)
{
	struct grow b = { .t = t, .w = w, .g = g, .scratch = arena_create() };
	struct ids all = { arena_new(b.scratch, uint32_t, t->n + 1), 0 };
	struct part end = { .least = DP_PLACE_POLICY }, p;
	struct cut_region everything = { 0 };

	*g = (struct graph){ 0 };
	words_add(w, (0 - w->n) & 3);
	g->begin = w->n;
	words_add(w, 4); /* the list's head, and no offset is 0 */
	collect_dims(&b, &everything);
	for (size_t i = 0; i < t->n; i++)
		if (!t->rule[i].is_never)
			all.v[all.n++] = (uint32_t)i;
	p = build(&b, all, &everything, end, 0, t->budget * (double)t->n + 256);
	g->root = p.d;
	g->worst = p.worst;
	g->got.leaves = p.leaves;
	arena_destroy(b.scratch);
	if (!b.is_beyond && graph_check(w->v + g->begin, w->n - g->begin, g->root, t->is_ip6, &t->most))
		return true;
	w->n = g->begin;
	return false;
}
