/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Building the graph: leaves, cuts, side graphs. See graph.h. */
#include "classify/graph.h"

#include <string.h>

#include "classify/cut.h"
#include "classify/prune.h"

enum { LEAF_WITHOUT_GAIN = 16, AHEAD = 6 };

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
	uint64_t *entry; /* of each rule, as it lies in leaves */
	bool is_beyond;
};

static void words_reserve(struct words *w, size_t cap)
{
	uint64_t *v;

	if (cap <= w->cap)
		return;
	v = arena_new(w->a, uint64_t, cap);
	if (w->n)
		memcpy(v, w->v, w->n * sizeof *v);
	w->v = v;
	w->cap = cap;
}

size_t words_add(struct words *w, size_t n)
{
	size_t at = w->n;

	if (at + n > w->cap)
		words_reserve(w, 2 * (at + n) + 64);
	w->n += n;
	return at;
}

/* What is behind n stays zero. */
static void words_cut(struct words *w, size_t n)
{
	if (w->n > n)
		memset(w->v + n, 0, (w->n - n) * sizeof *w->v);
	w->n = n;
}

/* ---------- leaves ---------- */

static uint32_t place_of(const struct grow *b, uint32_t id)
{
	size_t size = b->t->is_ip6 ? DP_ENTRY_IP6 : DP_ENTRY_IP4;

	return (uint32_t)(b->entry[(id + 1) * size - 1] >> DP_PLACE_SHIFT);
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
	at = words_add(b->w, s.n * size + has_cont);
	for (size_t i = 0; i < s.n; i++)
		memcpy(b->w->v + at + i * size, b->entry + s.v[i] * size, size * sizeof *b->entry);
	if (has_cont)
		b->w->v[at + s.n * size] = cont.d;
	p = (struct part){ .d = DP_LEAF(cont.least, s.n, at - b->g->begin), .least = cont.least,
			   .worst = (uint32_t)s.n + 1 + has_cont + cont.worst, .leaves = cont.leaves + 1 };
	if (s.n && place_of(b, s.v[0]) < p.least)
		p.least = place_of(b, s.v[0]);
	b->is_beyond |= p.leaves > b->t->most.leaves;
	b->g->n_leaves++;
	b->g->n_refs += (uint32_t)s.n;
	return p;
}

/* ---------- cuts ---------- */

static struct part build(struct grow *b, struct ids s, struct cut_region *g, struct part cont, unsigned depth, double budget);

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

static struct part child_of(struct grow *b, struct ids s, struct cut_region *g, struct part cont, unsigned depth, double budget,
			    struct twin *last)
{
	if (s.n == last->s.n && s.n <= CUT_LEAF && memcmp(s.v, last->s.v, s.n * sizeof *s.v) == 0)
		return last->p;
	last->s = s;
	last->p = s.n <= CUT_LEAF ? leaf_of(b, s, cont) : build(b, s, g, cont, depth + 1, budget);
	return last->p;
}

static void part_add(struct part *p, struct part x)
{
	p->least = x.least < p->least ? x.least : p->least;
	p->worst = x.worst > p->worst ? x.worst : p->worst;
	p->walk = x.walk > p->walk ? x.walk : p->walk;
	p->leaves = x.leaves > p->leaves ? x.leaves : p->leaves;
}

/* Rules of a child lie anywhere; the next children's are asked for in time. */
static void ask_ahead(const struct grow *b, const uint32_t *id, const uint32_t *end)
{
	size_t size = b->t->is_ip6 ? DP_ENTRY_IP6 : DP_ENTRY_IP4;

	for (; id < end; id++) {
		__builtin_prefetch(b->rules.span + (size_t)*id * b->rules.n_dims);
		__builtin_prefetch(b->entry + *id * size);
		__builtin_prefetch(b->rules.hides + *id);
	}
}

static struct part cut_into(struct grow *b, struct ids s, struct cut_region *g, struct part cont, unsigned depth, double budget,
			    const struct cut *c)
{
	const struct box_place *place = &box_places[b->rules.dim[c->d]];
	uint32_t fan = 1u << c->bits, *start = arena_new(b->scratch, uint32_t, fan + 1), *dealt = deal(b, s, g, c, start);
	size_t at = words_add(b->w, fan);
	double left = budget - 0.25 * fan;
	struct part p = { .least = cont.least }, passed = { 0 };
	struct cut_known whole = g->dim[c->d];
	struct twin last = { 0 };

	if (left < 1.25 * start[fan])
		left = 1.25 * start[fan];
	p.d = DP_CUT(place->word, place->shift + c->shift, fan - 1, at - b->g->begin);
	b->g->n_cuts++;
	for (uint32_t i = 0; i < fan && !b->is_beyond; i++) {
		struct ids in = { dealt + start[i], start[i + 1] - start[i] };
		struct part x;

		if (i + AHEAD < fan)
			ask_ahead(b, dealt + start[i + AHEAD], dealt + start[i + AHEAD + 1]);
		if (in.n && cut_child(&whole, c, i, &g->dim[c->d]))
			in.n = prune_rules(&b->rules, in.v, in.n, g, (unsigned)c->d);
		else
			in.n = 0;
		x = in.n ? child_of(b, in, g, cont, depth, left * (double)in.n / (start[fan] + 1), &last) :
			   pass_on(b, cont, depth, &passed);
		b->w->v[at + i] = x.d;
		part_add(&p, x);
	}
	g->dim[c->d] = whole;
	p.worst++;
	p.walk++;
	if (p.walk > b->g->got.walk)
		b->g->got.walk = p.walk;
	return p;
}

/* Wide rules go to a graph of their own, which becomes the continuation. */
static void split_side(struct grow *b, struct ids *s, struct cut_region *g, struct part *cont, unsigned depth, double budget,
		       const struct cut *c)
{
	struct ids wide = { arena_new(b->scratch, uint32_t, s->n), 0 }, narrow = { arena_new(b->scratch, uint32_t, s->n), 0 };

	for (size_t i = 0; i < s->n; i++) {
		struct ids *to = cut_width(cut_clip(&b->rules, s->v[i], (unsigned)c->d, g), c->shift) >= c->wide ? &wide : &narrow;

		to->v[to->n++] = s->v[i];
	}
	if (wide.n && narrow.n) {
		wide.n = prune_hidden(&b->rules, wide.v, wide.n, g);
		*cont = build(b, wide, g, *cont, depth, budget * (double)wide.n / (double)s->n);
	}
	if (narrow.n)
		*s = narrow;
}

/* The rules are those that prune_rules() leaves in the region; on return that is as it was. */
static struct part build(struct grow *b, struct ids s, struct cut_region *g, struct part cont, unsigned depth, double budget)
{
	const struct cut_price *price = b->rules.price;
	struct cut c;

	if (b->is_beyond || s.n == 0)
		return cont;
	if (s.n <= CUT_LEAF || depth >= b->t->most.walk)
		return leaf_of(b, s, cont);
	c = cut_choose(&b->rules, s.v, s.n, g, budget);
	if (c.d < 0 || (s.n <= LEAF_WITHOUT_GAIN && c.score + price->cut > price->leaf + price->entry * (double)s.n))
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

	for (size_t i = 0; i < b->t->n; i++)
		dims |= b->t->rule[i].is_never ? 0 : b->t->rule[i].box.dims;
	for (unsigned d = 0; d < BOX_DIMS; d++) {
		uint32_t max = box_dim_max((enum box_dim)d);

		if (!(dims >> d & 1))
			continue;
		g->dim[r->n_dims] = (struct cut_known){ .hi = max, .mask = ~max };
		r->dim[r->n_dims++] = (uint8_t)d;
	}
}

/* What the builder asks of rules again and again, side by side; boxes are large. Returns those that there are. */
static struct ids collect_rules(struct grow *b)
{
	struct cut_rules *r = &b->rules;
	size_t n = b->t->n, size = b->t->is_ip6 ? DP_ENTRY_IP6 : DP_ENTRY_IP4;
	struct ids all = { arena_new(b->scratch, uint32_t, n + 1), 0 };

	r->span = arena_new(b->scratch, struct cut_span, n * r->n_dims + 1);
	r->hides = arena_new(b->scratch, struct cut_hides, n + 1);
	b->entry = arena_new(b->scratch, uint64_t, n * size + 1);
	for (size_t i = 0; i < n; i++) {
		const struct box_rule *x = &b->t->rule[i];

		if (x->is_never)
			continue;
		all.v[all.n++] = (uint32_t)i;
		for (unsigned d = 0; d < r->n_dims; d++)
			r->span[i * r->n_dims + d] = (struct cut_span){ x->box.lo[r->dim[d]], x->box.hi[r->dim[d]] };
		r->hides[i] = prune_hides(x);
		box_entry(&x->box, b->t->is_ip6, b->t->result[i], b->entry + i * size);
	}
	return all;
}

/* Words for one rule, about; if they are too few, there is another reserve. */
enum { WORDS_OF_RULE = 12 };

bool graph_build(const struct graph_task *t, struct words *w, struct graph *g)
{
	struct grow b = { .t = t, .w = w, .g = g, .scratch = arena_create() };
	struct part end = { .least = DP_PLACE_POLICY }, p;
	struct cut_region everything = { 0 };
	struct ids all;

	*g = (struct graph){ 0 };
	words_add(w, (0 - w->n) & 3);
	g->begin = w->n;
	words_add(w, 4); /* the list's head, and no offset is 0 */
	words_reserve(w, w->n + WORDS_OF_RULE * t->n);
	b.rules.price = t->has_room ? &cut_price_few : &cut_price_many;
	collect_dims(&b, &everything);
	all = collect_rules(&b);
	all.n = prune_rules(&b.rules, all.v, all.n, &everything, 0);
	p = build(&b, all, &everything, end, 0, t->budget * (double)t->n + 256);
	g->root = p.d;
	g->worst = p.worst;
	g->got.leaves = p.leaves;
	arena_destroy(b.scratch);
	if (!b.is_beyond && graph_check(w->v + g->begin, w->n - g->begin, g->root, t->is_ip6, &t->most))
		return true;
	words_cut(w, g->begin);
	return false;
}
