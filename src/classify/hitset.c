/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of counting rules. See hitset.h. */
#include "classify/hitset.h"

#include <string.h>

enum { ROW_MOST = 64, ATOMS_MOST = 6, CLASSES_A_RULE = 4, CLASSES_MORE = 8, CLASSES_MOST = ROW_MOST * CLASSES_A_RULE + CLASSES_MORE };

/* A compare that no dimension of a box holds, and whether it must fail. */
struct atom {
	struct code_atom test;
	bool is_negated;
};

struct guard {
	struct box box;
	struct atom atom[ATOMS_MOST];
	unsigned n_atoms;
	uint64_t hits; /* rules of the row */
};

struct row {
	size_t first, n; /* entries, dead ones too */
	size_t n_rules;	 /* that live: */
	uint32_t member[ROW_MOST];
	struct guard *class;
	size_t n_classes;
};

struct rows {
	struct row *v;
	size_t n, cap;
};

/* Room for the row at hand. */
struct search {
	const struct box_rule *rule;
	const bool *is_dead;
	bool *is_target; /* an earlier entry but the last one before leads there */
	struct guard own[ROW_MOST], class[CLASSES_MOST];
};

/* ---------- guards ---------- */

static bool add_atom(struct guard *g, const struct atom *x)
{
	for (unsigned i = 0; i < g->n_atoms; i++)
		if (memcmp(&g->atom[i], x, sizeof *x) == 0)
			return true;
	if (g->n_atoms == ATOMS_MOST)
		return false;
	memcpy(&g->atom[g->n_atoms++], x, sizeof *x);
	return true;
}

static uint32_t target_of(const struct code *c, uint32_t at, int label)
{
	return label == CODE_NEXT ? at + 1 : c->label.v[label];
}

/* Compares in a row that all must hold, or all must fail, then the count. */
static bool read_guard(const struct code *c, const struct box_rule *r, struct guard *g)
{
	uint32_t last = r->end - 1;

	memset(g, 0, sizeof *g);
	g->box = r->box;
	if (r->is_never || c->insn.v[last].op != DP_OP_COUNT || c->insn.v[last].yes != CODE_NEXT)
		return false;
	for (uint32_t at = r->first; at < last; at++) {
		const struct code_insn *x = &c->insn.v[at];
		bool goes_on = target_of(c, at, x->yes) == at + 1, fails_on = target_of(c, at, x->no) == at + 1;
		struct atom atom;

		if (x->op != DP_OP_TEST || goes_on == fails_on || target_of(c, at, goes_on ? x->no : x->yes) != r->end)
			return false;
		memset(&atom, 0, sizeof atom);
		atom.test = (struct code_atom){ x->arg, x->a, x->b, x->c };
		atom.is_negated = fails_on;
		if ((fails_on || !box_holds(x)) && !add_atom(g, &atom))
			return false;
	}
	return true;
}

static bool intersect(const struct guard *x, const struct guard *y, struct guard *out)
{
	*out = *x;
	for (uint32_t left = y->box.dims; left; left &= left - 1) {
		enum box_dim d = (enum box_dim)__builtin_ctz(left);

		if (!box_narrow(&out->box, d, y->box.lo[d], y->box.hi[d]))
			return false;
	}
	if ((x->box.l4_value ^ y->box.l4_value) & x->box.l4_mask & y->box.l4_mask)
		return false;
	out->box.l4_mask |= y->box.l4_mask;
	out->box.l4_value |= y->box.l4_value;
	return true;
}

static bool join_atoms(struct guard *g, const struct guard *y)
{
	for (unsigned i = 0; i < y->n_atoms; i++)
		if (!add_atom(g, &y->atom[i]))
			return false;
	return true;
}

static bool has_atoms(const struct guard *g, const struct guard *of)
{
	for (unsigned i = 0; i < of->n_atoms; i++) {
		bool has = false;

		for (unsigned k = 0; k < g->n_atoms && !has; k++)
			has = memcmp(&g->atom[k], &of->atom[i], sizeof *g->atom) == 0;
		if (!has)
			return false;
	}
	return true;
}

/* Who passes g passes `wide` too. */
static bool is_within(const struct guard *g, const struct guard *wide)
{
	return box_covers(&wide->box, &g->box) && has_atoms(g, wide);
}

/* ---------- classes ---------- */

/* False: too many. */
static bool add_class(struct row *r, const struct guard *g, size_t most)
{
	for (size_t i = 0; i < r->n_classes; i++)
		if (is_within(g, &r->class[i]) && is_within(&r->class[i], g))
			return true;
	if (r->n_classes == most)
		return false;
	r->class[r->n_classes++] = *g;
	return true;
}

/* The next rule of the row, and its intersections with all that is there. False: too many; the row is as before. */
static bool add_rule(struct row *r, struct guard *own, const struct guard *g)
{
	size_t had = r->n_classes, most = CLASSES_A_RULE * (r->n_rules + 1) + CLASSES_MORE;
	bool ok = add_class(r, g, most);

	for (size_t i = 0; i < had && ok; i++) {
		struct guard both;

		if (intersect(&r->class[i], g, &both))
			ok = join_atoms(&both, g) && add_class(r, &both, most);
	}
	if (!ok) {
		r->n_classes = had;
		return false;
	}
	own[r->n_rules++] = *g;
	return true;
}

static void find_hits(struct row *r, const struct guard *own)
{
	for (size_t i = 0; i < r->n_classes; i++)
		for (size_t k = 0; k < r->n_rules; k++)
			if (is_within(&r->class[i], &own[k]))
				r->class[i].hits |= 1ull << k;
}

/* Most hits first. Of as many, in the order in which they came. */
static void sort_classes(struct row *r)
{
	for (size_t i = 1; i < r->n_classes; i++) {
		struct guard x = r->class[i];
		size_t k = i;

		for (; k > 0 && __builtin_popcountll(r->class[k - 1].hits) < __builtin_popcountll(x.hits); k--)
			r->class[k] = r->class[k - 1];
		r->class[k] = x;
	}
}

/* As many counting rules from `first` on as go together. False: they are not worth it; *next is where to go on. */
static bool find_row(struct search *s, const struct entries *l, size_t first, struct row *r, size_t *next)
{
	size_t i = first;
	struct guard g;

	*r = (struct row){ .first = first, .class = s->class };
	for (; i < l->n && r->n_rules < ROW_MOST; i++) {
		if (i > first && s->is_target[i])
			break; /* who skips to it shall not meet those before it */
		if (s->is_dead[i])
			continue;
		if (!read_guard(l->code, &s->rule[i], &g) || !add_rule(r, s->own, &g))
			break;
		r->member[r->n_rules - 1] = (uint32_t)i;
	}
	r->n = i - first;
	*next = i > first ? i : first + 1;
	if (r->n_rules < 2)
		return false;
	find_hits(r, s->own);
	sort_classes(r);
	return (r->class[0].hits & (r->class[0].hits - 1)) != 0; /* two rules at once */
}

/* ---------- rewriting ---------- */

static void write_guard(struct code *c, const struct guard *g, int fail)
{
	box_emit(c, &g->box, fail);
	for (unsigned i = 0; i < g->n_atoms; i++) {
		const struct atom *x = &g->atom[i];

		code_test(c, x->test, x->is_negated ? fail : CODE_NEXT, x->is_negated ? CODE_NEXT : fail);
	}
}

static void write_class(struct entries_writer *w, struct sums *sums, const struct row *r, const struct guard *g, int end)
{
	struct code *c = w->l->code;
	int fail = code_label(c);
	VEC(const struct rule *) hit = { 0 };
	struct code_insn *x;

	for (size_t k = 0; k < r->n_rules; k++)
		for (uint32_t i = 0; (g->hits >> k & 1) && i < w->l->entry[r->member[k]].n; i++)
			*vec_add(c->a, &hit) = w->l->entry[r->member[k]].rule[i];
	entries_begin(w, (struct tables_entry){ hit.v, (uint32_t)hit.n });
	write_guard(c, g, fail);
	x = code_add(c, DP_OP_COUNT);
	x->a = sums_of_rules(sums, hit.v, hit.n);
	x->yes = end;
	code_put(c, fail);
}

static void write_row(struct entries_writer *w, struct sums *sums, const struct row *r)
{
	struct code *c = w->l->code;
	int end = code_label(c);

	entries_skip(w, r->first, r->n);
	for (size_t i = 0; i < r->n_classes; i++)
		write_class(w, sums, r, &r->class[i], end);
	code_put(c, end);
}

static void rewrite(struct arena *scratch, struct entries *l, const struct rows *rows, const bool *is_dead, struct sums *sums)
{
	struct entries_writer w;
	size_t next = 0;

	entries_open(&w, scratch, l);
	for (size_t i = 0; i < l->n;) {
		if (next < rows->n && rows->v[next].first == i) {
			write_row(&w, sums, &rows->v[next]);
			i += rows->v[next++].n;
		} else if (is_dead[i]) {
			entries_skip(&w, i++, 1);
		} else {
			entries_copy(&w, i++);
		}
	}
	entries_close(&w);
}

bool hitset_merge(struct arena *scratch, struct entries *l, const struct box_rule *rule, const bool *is_dead, struct sums *sums)
{
	struct search *s = arena_new(scratch, struct search, 1);
	struct rows rows = { 0 };

	s->rule = rule;
	s->is_dead = is_dead;
	s->is_target = entries_find_targets(scratch, l);
	for (size_t i = 0; i < l->n;) {
		struct row r;

		if (find_row(s, l, i, &r, &i)) {
			struct guard *classes = arena_new(scratch, struct guard, r.n_classes);

			memcpy(classes, r.class, r.n_classes * sizeof *classes);
			r.class = classes;
			*vec_add(scratch, &rows) = r;
		}
	}
	if (rows.n)
		rewrite(scratch, l, &rows, is_dead, sums);
	return rows.n > 0;
}
