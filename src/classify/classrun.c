/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs of rules. See classrun.h. */
#include "classify/classrun.h"

#include <stdlib.h>
#include <string.h>

#include "tables/classes.h"

static size_t slot_of(const struct class_runs *r, uint64_t result, uint32_t next)
{
	size_t i = ((result ^ (uint64_t)next << 20) * 0x9e3779b97f4a7c15ull >> 24) & (r->n_slots - 1);

	while (r->slot[i] && (r->v[r->slot[i] - 1].result != result || r->v[r->slot[i] - 1].next != next))
		i = (i + 1) & (r->n_slots - 1);
	return i;
}

static void grow(struct class_runs *r)
{
	size_t cap = r->cap ? 2 * r->cap : 256;
	struct class_state *v = arena_new(r->a, struct class_state, cap);

	if (r->n)
		memcpy(v, r->v, r->n * sizeof *v);
	r->v = v;
	r->cap = cap;
	r->n_slots = 2 * cap;
	r->slot = arena_new(r->a, uint32_t, r->n_slots);
	for (size_t i = 0; i < r->n; i++)
		r->slot[slot_of(r, v[i].result, v[i].next)] = (uint32_t)i + 1;
}

/* -1: there are too many, or the run is too long. */
static int state_of(struct class_runs *r, uint64_t result, uint32_t next)
{
	uint32_t run = next == DP_CLASS_NO_STATE ? 1 : r->v[next].run + 1;
	size_t i = slot_of(r, result, next);

	if (r->slot[i])
		return (int)r->slot[i] - 1;
	if (r->n >= DP_CLASS_NO_STATE || run > DP_CLASS_RUN)
		return -1;
	if (r->n == r->cap) {
		grow(r);
		i = slot_of(r, result, next);
	}
	r->v[r->n] = (struct class_state){ result, next, run };
	r->slot[i] = (uint32_t)++r->n;
	if (run > r->longest)
		r->longest = run;
	return (int)r->n - 1;
}

void class_runs_open(struct class_runs *r, struct arena *a, const struct class_task *t, const uint32_t *bit, size_t n_bits)
{
	*r = (struct class_runs){ .a = a, .t = t, .rule = arena_new(a, uint32_t, n_bits) };
	for (size_t i = 0; i < t->n; i++)
		r->rule[bit[i]] = (uint32_t)i;
	grow(r);
}

int class_runs_add(struct class_runs *r, const uint64_t *x, const uint64_t *y, size_t words, uint32_t bit)
{
	uint32_t found[DP_CLASS_RUN], n = 0, until = 0;
	int state;

	for (size_t w = 0; w < words && until != BOX_FINAL; w++)
		for (uint64_t both = x[w] & y[w]; both && until != BOX_FINAL; both &= both - 1) {
			uint32_t rule = r->rule[bit + 64 * w + (size_t)__builtin_ctzll(both)];

			if (r->t->rule[rule].result >> DP_PLACE_SHIFT < until)
				continue;
			if (n == DP_CLASS_RUN)
				return -1;
			found[n++] = rule;
			until = r->t->rule[rule].until;
		}
	state = until == BOX_FINAL ? DP_CLASS_NO_STATE : state_of(r, r->t->policy, DP_CLASS_NO_STATE);
	while (n && state >= 0) {
		uint64_t result = r->t->rule[found[--n]].result;

		/* Several boxes of one rule count once. */
		if (state != DP_CLASS_NO_STATE && r->v[state].result == result)
			continue;
		state = state_of(r, result, (uint32_t)state);
	}
	return state;
}

/* ---------- ranks ---------- */

struct ranked {
	uint64_t result;
	uint32_t state;
};

static int by_result(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	if (a->result != b->result)
		return a->result < b->result ? -1 : 1;
	return (a->state > b->state) - (a->state < b->state);
}

void class_runs_sort(struct class_runs *r)
{
	struct ranked *v = arena_new(r->a, struct ranked, r->n);

	r->rank = arena_new(r->a, uint16_t, r->n);
	for (size_t i = 0; i < r->n; i++)
		v[i] = (struct ranked){ r->v[i].result, (uint32_t)i };
	qsort(v, r->n, sizeof *v, by_result);
	for (size_t i = 0; i < r->n; i++)
		r->rank[v[i].state] = (uint16_t)i;
}

void class_runs_write(const struct class_runs *r, uint64_t *word)
{
	for (size_t i = 0; i < r->n; i++) {
		uint64_t *w = word + 2 * (size_t)r->rank[i];

		w[0] = r->v[i].result;
		w[1] = r->v[i].next == DP_CLASS_NO_STATE ? DP_CLASS_NO_STATE : r->rank[r->v[i].next];
	}
}
