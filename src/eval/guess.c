/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an unknown field may still be. A test on it splits the possibilities in two; each way of the packet goes on with
 * its half, so the answers of one way never contradict each other:
 *
 *     ct.state may be invalid, new, established, related, untracked
 *     rule 1: --ctstate NEW          yes: {new}      no: {invalid, established, related, untracked}
 *     rule 2: ! --ctstate NEW        no              yes, without asking again
 *
 * Possible values are an interval set. Masks on wide fields (marks) do not split into intervals: for them the bits
 * that are certain are kept, and the comparisons that were decided to be false. That may keep possibilities that are
 * none; it never loses one.
 */
#include "eval/walk.h"

enum { ENUMERATE_MAX = 64 };

static struct valset vals_minus(struct arena *a, struct valset x, struct valset y, u128 max)
{
	return valset_complement(a, valset_union(a, valset_complement(a, x, max), y), max);
}

static struct valset vals_and(struct arena *a, struct valset x, struct valset y, u128 max)
{
	return valset_complement(a, valset_union(a, valset_complement(a, x, max), valset_complement(a, y, max)), max);
}

/* Number of values, or ENUMERATE_MAX + 1 if there are more. */
static size_t vals_count(const struct valset *x)
{
	u128 n = 0;

	for (uint32_t i = 0; i < x->n && n <= ENUMERATE_MAX; i++)
		n += x->span[i].hi - x->span[i].lo < ENUMERATE_MAX ? x->span[i].hi - x->span[i].lo + 1 :
								      (u128)ENUMERATE_MAX + 1;
	return n > ENUMERATE_MAX ? ENUMERATE_MAX + 1 : (size_t)n;
}

struct guess *guess_of(struct walk *w, enum field f)
{
	struct guess *g = w->guess[f];

	if (g)
		return g;
	g = arena_new(w->a, struct guess, 1);
	g->may_be_absent = w->f.has[f] != EVAL_YES;
	g->may_be_present = w->f.has[f] != EVAL_NO;
	if (w->f.known[f])
		g->vals = valset_one(w->a, w->f.v[f], w->f.v[f]);
	else
		g->vals = valset_one(w->a, 0, field_max(f));
	w->guess[f] = g;
	return g;
}

bool guess_is_empty(const struct guess *g)
{
	return !g->may_be_absent && !g->may_be_present;
}

static void settle_presence(struct guess *g)
{
	if (g->vals.n == 0)
		g->may_be_present = false;
	if (!g->may_be_present)
		g->vals.n = 0;
}

static void split_values(struct walk *w, const struct test *t, unsigned of, struct guess *yes, struct guess *no)
{
	struct valset pass = { 0 };

	for (uint32_t i = 0; i < yes->vals.n; i++)
		for (u128 v = yes->vals.span[i].lo;; v++) {
			if (test_value(t, of, v))
				pass = valset_union(w->a, pass, valset_one(w->a, v, v));
			if (v == yes->vals.span[i].hi)
				break;
		}
	no->vals = vals_minus(w->a, yes->vals, pass, field_max(t->field[of]));
	yes->vals = pass;
}

/* The one mask of the test on this field; NULL if there are none or several. */
static const struct test_mask *single_mask(const struct test *t, unsigned of)
{
	const struct test_mask *m = NULL;

	for (uint32_t i = 0; i < t->n_masks; i++)
		if (t->masks[i].of == of) {
			if (m)
				return NULL;
			m = &t->masks[i];
		}
	return m;
}

static bool is_denied(const struct guess *g, const struct test_mask *m)
{
	for (size_t i = 0; i < g->denied.n; i++)
		if (g->denied.v[i].mask == m->mask && g->denied.v[i].value == m->value)
			return true;
	return false;
}

/* Can the known bits still make (value & mask) == m->value true? And must they? */
static enum eval_truth mask_truth(const struct guess *g, const struct test_mask *m)
{
	if ((m->value & ~m->mask) != 0 || ((g->known_bits ^ m->value) & m->mask & g->known_mask) != 0 || is_denied(g, m))
		return EVAL_NO;
	return (m->mask & ~g->known_mask) == 0 ? EVAL_YES : EVAL_UNKNOWN;
}

static void split_masks(struct walk *w, const struct test *t, unsigned of, struct guess *yes, struct guess *no)
{
	enum eval_truth any = EVAL_NO;
	const struct test_mask *m;

	for (uint32_t i = 0; i < t->n_masks; i++) {
		enum eval_truth x = t->masks[i].of == of ? mask_truth(yes, &t->masks[i]) : EVAL_NO;

		if (x == EVAL_YES || (x == EVAL_UNKNOWN && any == EVAL_NO))
			any = x;
	}
	if (any == EVAL_YES)
		no->vals.n = 0;
	else if (any == EVAL_NO)
		yes->vals.n = 0;
	if (any != EVAL_UNKNOWN)
		return;
	for (uint32_t i = 0; i < t->n_masks; i++)
		if (t->masks[i].of == of)
			*vec_add(w->a, &no->denied) = t->masks[i];
	m = single_mask(t, of);
	if (m) {
		yes->known_mask |= m->mask;
		yes->known_bits |= m->value;
	}
}

void guess_split(struct walk *w, const struct test *t, unsigned of, struct guess *yes, struct guess *no)
{
	const struct guess *g = guess_of(w, t->field[of]);
	u128 max = field_max(t->field[of]);

	*yes = *no = *g;
	no->denied.v = NULL; /* each half has its own list */
	no->denied.n = no->denied.cap = 0;
	for (size_t i = 0; i < g->denied.n; i++)
		*vec_add(w->a, &no->denied) = g->denied.v[i];
	yes->may_be_absent = false;
	if (!g->may_be_present)
		yes->vals.n = no->vals.n = 0;
	else if (g->known_mask == 0 && vals_count(&g->vals) <= ENUMERATE_MAX)
		split_values(w, t, of, yes, no);
	else if (t->kind == TEST_MASK)
		split_masks(w, t, of, yes, no);
	else {
		yes->vals = vals_and(w->a, g->vals, t->in, max);
		no->vals = vals_minus(w->a, g->vals, t->in, max);
	}
	settle_presence(yes);
	settle_presence(no);
}

void guess_narrow(struct walk *w, enum field f, const struct guess *g)
{
	struct guess *own = arena_new(w->a, struct guess, 1);
	u128 max = field_max(f);

	*own = *g;
	w->guess[f] = own;
	w->f.has[f] = g->may_be_present ? (g->may_be_absent ? EVAL_UNKNOWN : EVAL_YES) : EVAL_NO;
	w->f.known[f] = 0;
	if (w->f.has[f] != EVAL_YES)
		return;
	if (g->vals.n == 1 && g->vals.span[0].lo == g->vals.span[0].hi) {
		w->f.known[f] = 1;
		w->f.v[f] = g->vals.span[0].lo;
	} else if ((g->known_mask & max) == max) {
		w->f.known[f] = 1;
		w->f.v[f] = g->known_bits & max;
	}
}

void guess_values(struct walk *w, enum field f, const struct valset *vals, bool may_be_absent)
{
	struct guess g = { .may_be_absent = may_be_absent, .may_be_present = vals->n != 0, .vals = *vals };

	guess_narrow(w, f, &g);
}

void guess_bits(struct walk *w, enum field f, u128 *value, u128 *mask)
{
	const struct guess *g = w->guess[f];

	if (w->f.known[f]) {
		*value = w->f.v[f];
		*mask = field_max(f);
	} else {
		*mask = g ? g->known_mask : 0;
		*value = g ? g->known_bits & *mask : 0;
	}
}

void guess_set_bits(struct walk *w, enum field f, u128 value, u128 mask)
{
	u128 max = field_max(f);
	struct guess g = { .may_be_present = true, .vals = valset_one(w->a, 0, max), .known_mask = mask & max,
			   .known_bits = value & mask & max };

	if ((mask & max) == max)
		guess_put(w, f, value & max);
	else
		guess_narrow(w, f, &g);
}

void guess_forget(struct walk *w, enum field f)
{
	w->guess[f] = NULL;
	w->f.has[f] = EVAL_YES;
	w->f.known[f] = 0;
}

void guess_put(struct walk *w, enum field f, u128 v)
{
	w->guess[f] = NULL;
	w->f.has[f] = EVAL_YES;
	w->f.known[f] = 1;
	w->f.v[f] = v;
}

void guess_absent(struct walk *w, enum field f)
{
	w->guess[f] = NULL;
	w->f.has[f] = EVAL_NO;
	w->f.known[f] = 0;
}
