/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dealing rules into groups. Rules are of a kind by which fields they narrow. Kinds are joined, two at a time, as long as
 * there are too many or the tables of both together are expected to be about as small as those of each.
 */
#include "classify/classgroup.h"

#include <stdlib.h>
#include <string.h>

#include "tables/classes.h"

enum { BY_SRC = 1, BY_DST = 2, BY_SPORT = 4, BY_DPORT = 8, BY_OTHER = 16, KINDS = 32 };
enum { SRC, DST, SPORT, DPORT, OTHER, PAIR, ONLY_SRC, ONLY_DST, ASPECTS };
enum { GROUP_COST = 32768 }; /* cells of 16 bits that one more group is worth */

/* Different values of some aspects, as bits. */
struct kind {
	uint64_t *value[ASPECTS];
	size_t n;
	double cost;
};

struct deal {
	struct arena *a;
	const struct class_rule *rule;
	size_t n, words;
	uint32_t *id[PAIR + 1]; /* by rule: the number of its value */
	struct kind kind[KINDS];
	uint8_t joined[KINDS];
};

/* ---------- the values of a rule ---------- */

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 31;
}

static uint64_t hash_dims(const struct box *b, unsigned from, unsigned to, bool *is_wild)
{
	uint64_t h = 1;

	for (unsigned d = from; d <= to; d++) {
		*is_wild &= b->lo[d] == 0 && b->hi[d] == box_dim_max((enum box_dim)d);
		h = mix(mix(h, b->lo[d]), b->hi[d]);
	}
	return h;
}

static unsigned kind_of(const struct class_box *x, uint64_t h[PAIR + 1])
{
	static const struct { uint8_t from, to, bit; } parts[] = {
		[SRC] = { BOX_SRC3, BOX_SRC0, BY_SRC }, [DST] = { BOX_DST3, BOX_DST0, BY_DST },
		[SPORT] = { BOX_SPORT, BOX_SPORT, BY_SPORT }, [DPORT] = { BOX_DPORT, BOX_DPORT, BY_DPORT },
		[OTHER] = { BOX_ICMP, BOX_DIMS - 1, BY_OTHER },
	};
	const struct box *b = &x->box;
	unsigned kind = 0;

	for (unsigned i = 0; i < PAIR; i++) {
		bool is_wild = true;

		h[i] = hash_dims(b, parts[i].from, parts[i].to, &is_wild);
		kind |= is_wild ? 0 : parts[i].bit;
	}
	h[OTHER] = mix(mix(h[OTHER], b->l4_mask), b->l4_value);
	h[OTHER] = mix(mix(h[OTHER], x->dev_mask ^ x->dev_value << 1), x->ct_mask ^ x->ct_value << 1);
	h[PAIR] = mix(h[SRC], h[DST]);
	return kind;
}

struct numbered {
	uint64_t h;
	uint32_t rule;
};

static int by_hash(const void *x, const void *y)
{
	const struct numbered *a = x, *b = y;

	return (a->h > b->h) - (a->h < b->h);
}

/* Hashes to numbers from 0. */
static void number(struct deal *d, unsigned aspect, struct numbered *v)
{
	uint32_t id = 0;

	qsort(v, d->n, sizeof *v, by_hash);
	d->id[aspect] = arena_new(d->a, uint32_t, d->n);
	for (size_t i = 0; i < d->n; i++) {
		id += i && v[i].h != v[i - 1].h;
		d->id[aspect][v[i].rule] = id;
	}
}

static void read_rules(struct deal *d, uint8_t *kind)
{
	struct numbered *v = arena_new(d->a, struct numbered, (PAIR + 1) * d->n);

	for (size_t i = 0; i < d->n; i++) {
		uint64_t h[PAIR + 1];

		kind[i] = (uint8_t)kind_of(d->rule[i].box, h);
		for (unsigned k = 0; k <= PAIR; k++)
			v[k * d->n + i] = (struct numbered){ h[k], (uint32_t)i };
	}
	for (unsigned k = 0; k <= PAIR; k++)
		number(d, k, v + k * d->n);
}

/* ---------- what tables cost ---------- */

static void set_value(struct deal *d, struct kind *k, unsigned aspect, uint32_t id)
{
	if (!k->value[aspect])
		k->value[aspect] = arena_new(d->a, uint64_t, d->words);
	k->value[aspect][id / 64] |= 1ull << id % 64;
}

static void count_in(struct deal *d, unsigned kind, size_t i)
{
	struct kind *k = &d->kind[kind];

	k->n++;
	for (unsigned x = 0; x < PAIR; x++)
		if (x == OTHER || (kind & 1u << x))
			set_value(d, k, x, d->id[x][i]);
	if ((kind & 3) == (BY_SRC | BY_DST))
		set_value(d, k, PAIR, d->id[PAIR][i]);
	else if (kind & BY_SRC)
		set_value(d, k, ONLY_SRC, d->id[SRC][i]);
	else if (kind & BY_DST)
		set_value(d, k, ONLY_DST, d->id[DST][i]);
}

static double count(const struct deal *d, const struct kind *x, const struct kind *y, unsigned aspect)
{
	const uint64_t *a = x->value[aspect], *b = y->value[aspect];
	unsigned n = 0;

	if (!a && !b)
		return 0;
	for (size_t i = 0; i < d->words; i++)
		n += (unsigned)__builtin_popcountll((a ? a[i] : 0) | (b ? b[i] : 0));
	return n;
}

/* Cells of X, P and Y for both kinds together, roughly. */
static double cost_of(const struct deal *d, const struct kind *x, const struct kind *y)
{
	double src = count(d, x, y, SRC) + 1, dst = count(d, x, y, DST) + 1;
	double nx = count(d, x, y, PAIR) + (count(d, x, y, ONLY_SRC) + 1) * (count(d, x, y, ONLY_DST) + 1);
	double np = (count(d, x, y, SPORT) + 1) * (count(d, x, y, DPORT) + 1) * (count(d, x, y, OTHER) + 1);

	return src * dst + np + nx * np;
}

/* ---------- joining ---------- */

static void join(struct deal *d, unsigned to, unsigned from)
{
	struct kind *a = &d->kind[to], *b = &d->kind[from];

	for (unsigned x = 0; x < ASPECTS; x++) {
		if (!a->value[x])
			a->value[x] = b->value[x];
		else
			for (size_t i = 0; i < d->words && b->value[x]; i++)
				a->value[x][i] |= b->value[x][i];
	}
	a->n += b->n;
	a->cost = cost_of(d, a, a);
	b->n = 0;
	for (unsigned k = 0; k < KINDS; k++)
		if (d->joined[k] == from)
			d->joined[k] = (uint8_t)to;
}

/* Joins the two that gain most; false: none should be. */
static bool join_best(struct deal *d, unsigned n_kinds)
{
	double best = n_kinds > DP_CLASS_GROUPS ? -1e300 : 0;
	unsigned to = KINDS, from = 0;

	for (unsigned i = 0; i < KINDS; i++)
		for (unsigned k = i + 1; k < KINDS && d->kind[i].n; k++) {
			double gain;

			if (!d->kind[k].n)
				continue;
			gain = d->kind[i].cost + d->kind[k].cost + GROUP_COST - cost_of(d, &d->kind[i], &d->kind[k]);
			if (gain > best) {
				best = gain;
				to = i;
				from = k;
			}
		}
	if (to < KINDS)
		join(d, to, from);
	return to < KINDS;
}

unsigned class_groups(struct arena *a, const struct class_rule *rule, size_t n, uint8_t *group)
{
	struct deal d = { .a = a, .rule = rule, .n = n, .words = (n + 63) / 64 };
	uint8_t number_of[KINDS] = { 0 };
	unsigned n_kinds = 0, n_groups = 0;

	read_rules(&d, group);
	for (size_t i = 0; i < n; i++)
		count_in(&d, group[i], i);
	for (unsigned k = 0; k < KINDS; k++) {
		d.joined[k] = (uint8_t)k;
		d.kind[k].cost = d.kind[k].n ? cost_of(&d, &d.kind[k], &d.kind[k]) : 0;
		n_kinds += d.kind[k].n > 0;
	}
	while (n_kinds > 1 && join_best(&d, n_kinds))
		n_kinds--;
	for (unsigned k = 0; k < KINDS; k++)
		if (d.kind[k].n)
			number_of[k] = (uint8_t)n_groups++;
	for (size_t i = 0; i < n; i++)
		group[i] = number_of[d.joined[group[i]]];
	return n_groups ? n_groups : 1;
}
