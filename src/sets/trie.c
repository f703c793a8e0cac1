/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tries of an image: for every address what the longest prefix that holds it says. tables/sets.h has the layout.
 *
 * A region of addresses is few runs of equal answers, or a node that cuts it into 2^stride equal regions. Strides follow
 * the number of runs, so dense and sparse sets take two to four words a prefix, and a look-up is few steps.
 *
 * Changes repaint: where a prefix is added, what shorter ones said becomes what it says; where it is removed, what it said
 * becomes what the rest says. A region of runs is written anew and its entry stored; a node in which one entry changes
 * is changed in place, else copied. So what is published is one entry.
 */
#include "sets/inside.h"

#include <string.h>

enum { STRIDE_MIN = 4, STRIDE_MAX = 16, SHRINK_RUNS = DP_SET_MAX_RUNS / 4, SHRINK_STRIDE = 8 };

static unsigned node_stride(uint64_t entry)
{
	return entry >> 16 & 0xff;
}

static unsigned node_shift(uint64_t entry)
{
	return entry >> 8 & 0xff;
}

static unsigned runs_n(uint64_t entry)
{
	return entry >> 8 & 0xffff;
}

static unsigned runs_width(uint64_t entry)
{
	return entry & DP_SET_WIDE ? 2 : 1;
}

static unsigned kind_of(uint64_t entry)
{
	return entry & DP_SET_KIND_MASK;
}

static uint64_t last_of(uint64_t lo, unsigned bits)
{
	return bits >= 64 ? UINT64_MAX : lo + ((1ull << bits) - 1);
}

/* ---------- building ---------- */

static uint64_t put_runs(struct op *op, const struct run *r, size_t n, bool is_ip6)
{
	unsigned width = is_ip6 ? 2 : 1;
	uint64_t at = op_take(op, n * width), *to = op->m->word + at;

	if (!at)
		return 0;
	for (size_t i = 0; i < n; i++) {
		to[i * width] = is_ip6 ? r[i].lo : r[i].lo | (uint32_t)r[i].entry;
		if (is_ip6)
			to[2 * i + 1] = r[i].entry;
	}
	return at << 32 | n << 8 | (is_ip6 ? DP_SET_WIDE : 0) | DP_SET_RUNS;
}

static unsigned stride_for(size_t n)
{
	unsigned stride = 62 - (unsigned)__builtin_clzll(n);

	return stride < STRIDE_MIN ? STRIDE_MIN : stride > STRIDE_MAX ? STRIDE_MAX : stride;
}

static uint64_t build(struct op *op, struct run *r, size_t n, unsigned bits, bool is_ip6);

/* The runs are used up: each one's lo moves on to the next child that it reaches into. */
static uint64_t build_node(struct op *op, struct run *r, size_t n, unsigned bits, bool is_ip6)
{
	unsigned stride = stride_for(n), shift = bits - stride;
	uint64_t at = op_take(op, 1ull << stride), lo = r[0].lo;
	size_t i = 0;

	for (uint64_t c = 0; at && c < 1ull << stride; c++) {
		uint64_t from = lo + (c << shift), to = last_of(from, shift);
		size_t end = i + 1;

		while (end < n && r[end].lo <= to)
			end++;
		r[i].lo = from;
		op->m->word[at + c] = build(op, r + i, end - i, shift, is_ip6);
		i = end < n && to < UINT64_MAX && r[end].lo == to + 1 ? end : end - 1;
	}
	return at << 32 | (uint64_t)stride << 16 | shift << 8 | DP_SET_NODE;
}

static uint64_t build(struct op *op, struct run *r, size_t n, unsigned bits, bool is_ip6)
{
	if (n == 1)
		return r[0].entry;
	return n <= DP_SET_MAX_RUNS ? put_runs(op, r, n, is_ip6) : build_node(op, r, n, bits, is_ip6);
}

uint64_t trie_build(struct op *op, struct run *r, size_t n, unsigned bits, bool is_ip6)
{
	return build(op, r, n, bits, is_ip6);
}

/* ---------- painting ---------- */

enum { MOST_RUNS = DP_SET_MAX_RUNS + 3 };

struct runs {
	struct run v[MOST_RUNS];
	size_t n;
};

/* A word of the key, the prefix within it, and the region of an entry. */
struct place {
	unsigned half; /* 0: the first word of the key */
	uint64_t lo, hi; /* what the prefix covers of this word */
	bool is_deep;  /* the prefix ends in the next word: lo == hi */
};

struct region_of {
	uint64_t lo;
	unsigned bits;
};

static uint64_t paint(struct op *op, uint64_t entry, struct region_of g, const struct paint *p, unsigned half);

static struct place place_of(const struct paint *p, unsigned half)
{
	unsigned plen = half == 0 ? p->plen : p->plen > 64 ? p->plen - 64 : 0;
	struct place at = { .half = half };

	at.lo = !p->is_ip6 ? (uint64_t)p->lo << 32 : half ? (uint64_t)p->lo : (uint64_t)(p->lo >> 64);
	at.is_deep = plen > 64;
	if (half == 1 && p->plen <= 64)
		at.lo = 0;
	at.hi = plen >= 64 ? at.lo : at.lo | UINT64_MAX >> plen;
	return at;
}

static void add_run(struct runs *r, uint64_t lo, uint64_t entry)
{
	if (r->n && r->v[r->n - 1].entry == entry && kind_of(entry) == DP_SET_SAYS)
		return;
	r->v[r->n++] = (struct run){ lo, entry };
}

static void read_runs(const struct setmem *m, uint64_t entry, uint64_t lo, struct runs *out)
{
	const uint64_t *w = m->word + image_offset(entry);
	unsigned width = runs_width(entry);

	out->n = 0;
	if (kind_of(entry) != DP_SET_RUNS) {
		out->v[out->n++] = (struct run){ lo, entry };
		return;
	}
	for (unsigned i = 0; i < runs_n(entry); i++, w += width)
		out->v[out->n++] = width == 2 ? (struct run){ w[0], w[1] } :
						(struct run){ w[0] & ~(uint64_t)UINT32_MAX, (uint32_t)w[0] };
}

static bool may_say(uint64_t entry, const struct paint *p)
{
	unsigned length = entry >> 8 & 0xff;

	return p->is_removed ? length == p->plen + 1 : length <= p->plen + 1;
}

/* What one run says inside the prefix. */
static uint64_t paint_run(struct op *op, uint64_t entry, const struct paint *p, const struct place *at)
{
	uint64_t below, cell;

	if (kind_of(entry) == DP_SET_NEXT)
		return paint(op, entry, (struct region_of){ at->lo, 0 }, p, at->half);
	if (!at->is_deep)
		return may_say(entry, p) ? p->says : entry;
	below = paint(op, entry, (struct region_of){ 0, 64 }, p, 1);
	if (kind_of(below) == DP_SET_SAYS)
		return entry; /* as before: a removed prefix that nothing is left of */
	cell = op_take(op, 1);
	if (!cell)
		return entry;
	op->m->word[cell] = below;
	return cell << 32 | DP_SET_NEXT;
}

/* Few runs: written anew. */
static uint64_t paint_runs(struct op *op, uint64_t entry, struct region_of g, const struct paint *p, const struct place *at)
{
	struct runs old, new = { .n = 0 };
	bool is_changed = false;
	uint64_t made;

	read_runs(op->m, entry, g.lo, &old);
	for (size_t i = 0; i < old.n; i++) {
		uint64_t lo = old.v[i].lo, hi = i + 1 < old.n ? old.v[i + 1].lo - 1 : last_of(g.lo, g.bits), said;

		if (hi < at->lo || lo > at->hi) {
			add_run(&new, lo, old.v[i].entry);
			continue;
		}
		said = paint_run(op, old.v[i].entry, p, at);
		is_changed = is_changed || said != old.v[i].entry;
		if (lo < at->lo)
			add_run(&new, lo, old.v[i].entry);
		add_run(&new, lo < at->lo ? at->lo : lo, said);
		if (hi > at->hi)
			add_run(&new, at->hi + 1, old.v[i].entry);
	}
	if (!is_changed)
		return entry;
	made = build(op, new.v, new.n, g.bits, p->is_ip6);
	if (kind_of(entry) == DP_SET_RUNS)
		op_drop(op, image_offset(entry), (uint64_t)runs_n(entry) * runs_width(entry));
	return made;
}

static bool may_write(const struct op *op, uint64_t at)
{
	return !op->m->batch || op_is_fresh(op, at);
}

static uint64_t paint_next(struct op *op, uint64_t entry, const struct paint *p)
{
	uint64_t at = image_offset(entry), below = op->m->word[at];
	uint64_t said = paint(op, below, (struct region_of){ 0, 64 }, p, 1), cell;

	if (said == below)
		return entry;
	if (kind_of(said) == DP_SET_SAYS) {
		op_drop(op, at, 1);
		return said;
	}
	if (p->plen > 64 && may_write(op, at)) {
		if (!op->err)
			image_publish(&op->m->word[at], said);
		return entry;
	}
	cell = op_take(op, 1);
	if (!cell)
		return entry;
	op->m->word[cell] = said;
	op_drop(op, at, 1);
	return cell << 32 | DP_SET_NEXT;
}

static uint64_t paint_node(struct op *op, uint64_t entry, struct region_of g, const struct paint *p, const struct place *at)
{
	uint64_t node = image_offset(entry), hi = last_of(g.lo, g.bits), copy = 0, *w = op->m->word;
	uint64_t mask = (1ull << node_stride(entry)) - 1;
	unsigned shift = node_shift(entry);
	uint64_t first = (at->lo > g.lo ? at->lo : g.lo) >> shift & mask, last = (at->hi < hi ? at->hi : hi) >> shift & mask;
	bool in_place = first == last && may_write(op, node);

	for (uint64_t c = first; c <= last && !op->err; c++) {
		uint64_t said = paint(op, w[node + c], (struct region_of){ g.lo + (c << shift), shift }, p, at->half);

		if (said == w[node + c] || op->err)
			continue;
		if (in_place) {
			image_publish(&w[node + c], said);
			return entry;
		}
		if (!copy) {
			copy = op_take(op, mask + 1);
			if (!copy)
				break;
			memcpy(w + copy, w + node, (mask + 1) * sizeof *w);
			op_drop(op, node, mask + 1);
		}
		w[copy + c] = said;
	}
	return copy ? copy << 32 | (uint32_t)entry : entry;
}

static uint64_t paint(struct op *op, uint64_t entry, struct region_of g, const struct paint *p, unsigned half)
{
	struct place at = place_of(p, half);

	if (op->err)
		return entry;
	if (kind_of(entry) == DP_SET_NODE)
		return paint_node(op, entry, g, p, &at);
	if (kind_of(entry) == DP_SET_NEXT)
		return paint_next(op, entry, p);
	return paint_runs(op, entry, g, p, &at);
}

uint64_t trie_paint(struct op *op, uint64_t entry, const struct paint *p)
{
	return paint(op, entry, (struct region_of){ 0, 64 }, p, 0);
}

/* ---------- shrinking ---------- */

/* A node of which little is left as runs, or the node. */
static uint64_t shrink_node(struct op *op, uint64_t entry, struct region_of g, bool is_ip6)
{
	unsigned stride = node_stride(entry), shift = node_shift(entry);
	const uint64_t *child = op->m->word + image_offset(entry);
	struct runs all = { .n = 0 }, part;
	uint64_t made;

	for (unsigned c = 0; c < 1u << stride; c++) {
		if (kind_of(child[c]) == DP_SET_NODE || (kind_of(child[c]) == DP_SET_RUNS && runs_n(child[c]) > SHRINK_RUNS))
			return entry;
		read_runs(op->m, child[c], g.lo + ((uint64_t)c << shift), &part);
		for (size_t i = 0; i < part.n; i++)
			add_run(&all, part.v[i].lo, part.v[i].entry);
		if (all.n > SHRINK_RUNS)
			return entry;
	}
	made = build(op, all.v, all.n, g.bits, is_ip6);
	if (op->err)
		return entry;
	for (unsigned c = 0; c < 1u << stride; c++)
		if (kind_of(child[c]) == DP_SET_RUNS)
			op_drop(op, image_offset(child[c]), (uint64_t)runs_n(child[c]) * runs_width(child[c]));
	op_drop(op, image_offset(entry), 1ull << stride);
	return made;
}

static uint64_t shrink(struct op *op, uint64_t entry, struct region_of g, const struct paint *p, unsigned half)
{
	struct place at = place_of(p, half);
	uint64_t *w = op->m->word, node = image_offset(entry), c, said;
	unsigned shift = node_shift(entry);

	if (kind_of(entry) == DP_SET_NEXT && may_write(op, node)) {
		said = shrink(op, w[node], (struct region_of){ 0, 64 }, p, 1);
		if (said != w[node])
			image_publish(&w[node], said);
	}
	if (kind_of(entry) == DP_SET_RUNS && entry & DP_SET_WIDE)
		for (unsigned i = 0; i < runs_n(entry); i++)
			if (w[node + 2 * i] == at.lo && kind_of(w[node + 2 * i + 1]) == DP_SET_NEXT)
				shrink(op, w[node + 2 * i + 1], (struct region_of){ at.lo, 0 }, p, half);
	if (kind_of(entry) != DP_SET_NODE || !may_write(op, node))
		return entry;
	c = at.lo >> shift & ((1ull << node_stride(entry)) - 1);
	said = shrink(op, w[node + c], (struct region_of){ g.lo + (c << shift), shift }, p, half);
	if (said != w[node + c])
		image_publish(&w[node + c], said);
	return node_stride(entry) <= SHRINK_STRIDE ? shrink_node(op, entry, g, p->is_ip6) : entry;
}

uint64_t trie_shrink(struct op *op, uint64_t entry, const struct paint *p)
{
	return shrink(op, entry, (struct region_of){ 0, 64 }, p, 0);
}

/* ---------- reading ---------- */

static uint64_t find_run(const struct setmem *m, uint64_t entry, uint64_t key)
{
	const uint64_t *w = m->word + image_offset(entry);
	unsigned width = runs_width(entry), i = 0;

	key = width == 2 ? key : key | UINT32_MAX;
	for (unsigned n = runs_n(entry), half; n > 1; n -= half) {
		half = n / 2;
		i = w[(i + half) * width] <= key ? i + half : i;
	}
	return width == 2 ? w[2 * i + 1] : (uint32_t)w[i];
}

enum setmem_answer trie_match(const struct setmem *m, uint64_t entry, u128 addr, bool is_ip6)
{
	uint64_t key = is_ip6 ? (uint64_t)(addr >> 64) : (uint64_t)addr << 32;

	for (;;) {
		switch (kind_of(entry)) {
		case DP_SET_NODE:
			entry = m->word[image_offset(entry) + (key >> node_shift(entry) & ((1ull << node_stride(entry)) - 1))];
			break;
		case DP_SET_RUNS:
			entry = find_run(m, entry, key);
			break;
		case DP_SET_NEXT:
			key = (uint64_t)addr;
			entry = m->word[image_offset(entry)];
			break;
		default:
			return (enum setmem_answer)(entry >> 4 & 3);
		}
	}
}

void trie_walk(const struct setmem *m, uint64_t entry, void (*f)(void *arg, uint64_t at, uint64_t n), void *arg)
{
	uint64_t at = image_offset(entry), n;

	switch (kind_of(entry)) {
	case DP_SET_NODE:
		n = 1ull << node_stride(entry);
		for (uint64_t i = 0; i < n; i++)
			trie_walk(m, m->word[at + i], f, arg);
		f(arg, at, n);
		break;
	case DP_SET_RUNS:
		n = (uint64_t)runs_n(entry) * runs_width(entry);
		for (uint64_t i = 1; entry & DP_SET_WIDE && i < n; i += 2)
			trie_walk(m, m->word[at + i], f, arg);
		f(arg, at, n);
		break;
	case DP_SET_NEXT:
		trie_walk(m, m->word[at], f, arg);
		f(arg, at, 1);
		break;
	default:
		break;
	}
}
