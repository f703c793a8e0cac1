/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Building class tables. See classes.h. */
#include "classify/classes.h"

#include <stdlib.h>
#include <string.h>

#include "classify/classdim.h"
#include "classify/classgroup.h"
#include "classify/classrun.h"
#include "classify/walk.h"
#include "tables/classes.h"

/* A field of one or more dimensions, whose classes are looked up one dimension after the other. */
struct entity {
	size_t first, n;	  /* dimensions */
	bool is_address;
	struct class_sets *sets;  /* by class */
	uint32_t **table;	  /* behind dimension i: [state * classes of i + class] -> state */
	size_t *n_states;	  /* in front of dimension i */
	uint64_t *sum;		  /* by class: what is added for it */
};

enum { ENTITIES = CLASS_DIMS, MANY = 8192 };

struct build {
	const struct class_task *t;
	struct class_tables *c;
	struct words *w;
	struct arena *a; /* all of the builder's own */
	struct class_rules rules;
	uint8_t *group;
	size_t word[DP_CLASS_GROUPS + 1]; /* of rule sets: where a group begins */
	struct class_dim dim[CLASS_DIMS];
	size_t n_dims;
	struct entity entity[ENTITIES];
	size_t n_entities;
	struct class_runs runs;
	uint64_t work;
};

/* Counts what is about to be done; false: it is too much. */
static bool may_work(struct build *b, uint64_t sets, uint64_t words)
{
	b->work += sets * (words + 4);
	return b->work <= b->t->most_work;
}

/* ---------- rules as bits: a group begins at a word of its own ---------- */

static void place_rules(struct build *b)
{
	uint32_t next[DP_CLASS_GROUPS] = { 0 }, *bit = arena_new(b->a, uint32_t, b->t->n);
	uint64_t *all;

	for (size_t i = 0; i < b->t->n; i++)
		next[b->group[i]]++;
	for (unsigned g = 0; g < b->c->n_groups; g++) {
		b->word[g + 1] = b->word[g] + (next[g] + 63) / 64;
		next[g] = (uint32_t)b->word[g] * 64;
	}
	all = arena_new(b->a, uint64_t, b->word[b->c->n_groups]);
	for (size_t i = 0; i < b->t->n; i++) {
		bit[i] = next[b->group[i]]++;
		all[bit[i] / 64] |= 1ull << bit[i] % 64;
	}
	b->rules = (struct class_rules){ b->t->rule, bit, all, b->t->n, b->word[b->c->n_groups] };
}

/* ---------- pairs of classes ---------- */

struct pairs {
	struct class_sets *sets;
	uint32_t *of; /* [x * classes of y + y] */
};

/* All pairs of a class of x and one of y; false: too many. */
static bool pair_up(struct build *b, const struct class_sets *x, const struct class_sets *y, struct pairs *out)
{
	uint64_t *set = arena_new(b->a, uint64_t, x->words);

	if (x->n * y->n > DP_CLASS_CELLS || !may_work(b, x->n * y->n, x->words))
		return false;
	out->sets = arena_new(b->a, struct class_sets, 1);
	class_sets_open(out->sets, b->a, x->words);
	out->of = arena_new(b->a, uint32_t, x->n * y->n);
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < y->n; k++) {
			const uint64_t *p = class_sets_at(x, i), *q = class_sets_at(y, k);

			for (size_t w = 0; w < x->words; w++)
				set[w] = p[w] & q[w];
			out->of[i * y->n + k] = class_sets_add(out->sets, set);
		}
	return true;
}

/* ---------- entities ---------- */

/* Would the classes of all that is no address be too many for one table? */
static bool has_many(const struct build *b)
{
	double n = 1;

	for (size_t i = 0; i < b->n_dims; i++)
		if (b->dim[i].box_dim > BOX_DST0)
			n *= (double)b->dim[i].sets.n;
	return n > MANY;
}

/*
 * The parts of an address, or of a name, belong together, and so do all fields that have no place of their own if they are
 * many: the last dimension of the entity that begins at d.
 */
static unsigned last_part(unsigned d, bool are_many)
{
	static const uint8_t last[] = { BOX_SRC0, BOX_DST0, BOX_IIF0, BOX_OIF0 };

	if (are_many && d > BOX_FLAGS)
		return BOX_DIMS;
	for (size_t i = 0; i < sizeof last; i++)
		if (d <= last[i] && d + 3 >= last[i])
			return last[i];
	return d;
}

static bool read_entities(struct build *b)
{
	bool are_many = has_many(b);

	for (size_t i = 0; i < b->n_dims;) {
		struct entity *e = &b->entity[b->n_entities++];
		unsigned last = last_part(b->dim[i].box_dim, are_many);

		*e = (struct entity){ .first = i, .is_address = b->dim[i].box_dim <= BOX_DST0, .sets = &b->dim[i].sets,
				      .table = arena_new(b->a, uint32_t *, b->n_dims), .n_states = arena_new(b->a, size_t, b->n_dims) };
		while (++i < b->n_dims && b->dim[i].box_dim <= last && (are_many || last != BOX_DIMS)) {
			struct pairs p;

			if (!pair_up(b, e->sets, &b->dim[i].sets, &p))
				return false;
			e->n_states[i - e->first] = e->sets->n;
			e->table[i - e->first] = p.of;
			e->sets = p.sets;
		}
		e->n = i - e->first;
		e->sum = arena_new(b->a, uint64_t, e->sets->n);
	}
	return true;
}

/* ---------- the tables of a group ---------- */

struct cells {
	uint16_t *v;
	size_t n;
};

struct group {
	struct cells x, p, y;
	size_t stride; /* of p in y */
};

/* The entity's classes, as far as the rules of a group tell them apart: their sets, and the number of each. */
static uint32_t *classes_in(struct build *b, const struct entity *e, unsigned g, struct class_sets *sets)
{
	uint32_t *number = arena_new(b->a, uint32_t, e->sets->n);

	class_sets_open(sets, b->a, b->word[g + 1] - b->word[g]);
	for (size_t i = 0; i < e->sets->n; i++)
		number[i] = class_sets_add(sets, class_sets_at(e->sets, i) + b->word[g]);
	return number;
}

/*
 * One side of a group, X or P: the product of its entities' classes leads to states. of[]: by the sum of all classes, each
 * times its stride.
 */
static bool fold_side(struct build *b, unsigned g, bool is_address, struct pairs *out, size_t *n)
{
	struct class_sets *all = arena_new(b->a, struct class_sets, 1);

	class_sets_open(all, b->a, b->word[g + 1] - b->word[g]);
	class_sets_add(all, b->rules.all + b->word[g]);
	*out = (struct pairs){ all, arena_new(b->a, uint32_t, 1) };
	*n = 1;
	for (size_t i = 0; i < b->n_entities; i++) {
		const struct entity *e = &b->entity[i];
		struct class_sets sets;
		struct pairs p;
		uint32_t *number, *of;

		if (e->is_address != is_address)
			continue;
		number = classes_in(b, e, g, &sets);
		if (*n * sets.n > DP_CLASS_CELLS || !pair_up(b, out->sets, &sets, &p))
			return false;
		for (size_t c = 0; c < e->sets->n; c++)
			e->sum[c] |= (uint64_t)(number[c] * *n) << 16 * g;
		of = arena_new(b->a, uint32_t, *n * sets.n);
		for (size_t k = 0; k < *n * sets.n; k++)
			of[k] = p.of[out->of[k % *n] * sets.n + k / *n];
		*out = (struct pairs){ p.sets, of };
		*n *= sets.n;
	}
	return true;
}

static struct cells cells_of(struct build *b, const uint32_t *v, size_t n)
{
	struct cells c = { arena_new(b->a, uint16_t, n), n };

	for (size_t i = 0; i < n; i++)
		c.v[i] = (uint16_t)v[i];
	return c;
}

static bool build_group(struct build *b, unsigned g, struct group *out)
{
	size_t words = b->word[g + 1] - b->word[g], nx, np;
	struct pairs x, p;

	if (!fold_side(b, g, true, &x, &nx) || !fold_side(b, g, false, &p, &np))
		return false;
	if (x.sets->n * p.sets->n > 4 * b->t->most_words || !may_work(b, x.sets->n * p.sets->n, words / 4))
		return false;
	out->x = cells_of(b, x.of, nx);
	out->p = cells_of(b, p.of, np);
	out->stride = x.sets->n;
	out->y = (struct cells){ arena_new(b->a, uint16_t, x.sets->n * p.sets->n), x.sets->n * p.sets->n };
	for (size_t i = 0; i < out->y.n; i++) {
		int state = class_runs_add(&b->runs, class_sets_at(x.sets, i % x.sets->n), class_sets_at(p.sets, i / x.sets->n),
					   words, (uint32_t)b->word[g] * 64);

		if (state < 0)
			return false;
		out->y.v[i] = (uint16_t)state;
	}
	return true;
}

/* ---------- writing ---------- */

static bool put_walk(struct build *b, const struct class_dim *d, const uint64_t *value, size_t at)
{
	struct arena *pass = arena_create();
	uint64_t *v = arena_new(pass, uint64_t, d->n);
	struct walk_field f = { .start = d->start, .value = v, .n = d->n, .bits = d->bits };
	struct walk walk;
	bool ok;

	for (size_t i = 0; i < d->n; i++)
		v[i] = value[d->class[i]];
	ok = walk_build(pass, &f, b->w, b->c->begin, &walk);
	b->w->v[at] = walk.word;
	b->c->loads += 1 + walk.rounds;
	arena_destroy(pass);
	return ok;
}

/* Which of the first fields it is, or DP_CLASS_FIELDS. */
static unsigned field_of(const struct entity *e, const struct class_dim *d)
{
	static const uint8_t dims[] = { [DP_CLASS_SRC] = BOX_SRC0, [DP_CLASS_DST] = BOX_DST0, [DP_CLASS_SPORT] = BOX_SPORT,
					[DP_CLASS_DPORT] = BOX_DPORT, [DP_CLASS_PROTO] = BOX_PROTO, [DP_CLASS_FLAGS] = BOX_FLAGS };
	unsigned i = 0;

	while (i < DP_CLASS_FIELDS && (e->n > 1 || dims[i] != d->box_dim))
		i++;
	return i;
}

static uint64_t other_word(const struct class_dim *d, unsigned flags, size_t table)
{
	unsigned left = 64u - d->shift - d->bits, right = 64u - d->bits;

	return (uint64_t)table << 32 | (uint64_t)flags << 21 | (uint64_t)d->word << 16 | left << 8 | right;
}

/* The table behind dimension i of an entity, whose cells lead on: times the next one's classes, or to the entity's sum. */
static size_t put_table(struct build *b, const struct entity *e, size_t i)
{
	size_t classes = b->dim[e->first + i].sets.n, n = e->n_states[i] * classes, at = words_add(b->w, n);

	for (size_t k = 0; k < n; k++) {
		uint32_t state = e->table[i][k];

		b->w->v[at + k] = i + 1 < e->n ? state * b->dim[e->first + i + 1].sets.n : e->sum[state];
	}
	b->c->loads++;
	return at - b->c->begin;
}

static bool put_entity(struct build *b, const struct entity *e, size_t header, size_t *n_others)
{
	unsigned end = e->is_address ? DP_CLASS_TO_X : DP_CLASS_TO_P;

	for (size_t i = 0; i < e->n; i++) {
		const struct class_dim *d = &b->dim[e->first + i];
		size_t at = header + DP_CLASS_OTHER_AT + 2 * *n_others, table = 0;
		uint64_t *value = arena_new(b->a, uint64_t, d->sets.n);
		unsigned field = field_of(e, d), flags = i + 1 == e->n ? end : 0;

		for (size_t c = 0; c < d->sets.n; c++)
			value[c] = e->n == 1 ? e->sum[c] : c * (i == 0 ? b->dim[e->first + 1].sets.n : 1);
		if (i > 0) {
			table = put_table(b, e, i);
			flags |= DP_CLASS_TABLE;
		}
		if (field < DP_CLASS_FIELDS)
			at = header + 1 + field;
		else
			b->w->v[at + 1] = other_word(d, flags, table);
		*n_others += field == DP_CLASS_FIELDS;
		if (!put_walk(b, d, value, at))
			return false;
	}
	return true;
}

static uint64_t put_cells(struct build *b, const struct cells *c)
{
	size_t at = words_add(b->w, (c->n + 3) / 4);

	memcpy(b->w->v + at, c->v, c->n * sizeof *c->v);
	return 4 * (at - b->c->begin);
}

static void put_group(struct build *b, struct group *g, size_t at)
{
	uint64_t p, x, y;

	for (size_t i = 0; i < g->y.n; i++)
		g->y.v[i] = b->runs.rank[g->y.v[i]];
	p = put_cells(b, &g->p);
	x = put_cells(b, &g->x);
	y = put_cells(b, &g->y);
	b->w->v[at] = p << 32 | x;
	b->w->v[at + 1] = (uint64_t)g->stride << 32 | y;
	b->c->loads += 3;
}

static bool write_all(struct build *b, struct group group[DP_CLASS_GROUPS])
{
	size_t n_others = 0, header = words_add(b->w, DP_CLASS_OTHER_AT + 2 * b->n_dims), states;

	for (size_t i = 0; i < b->n_entities; i++)
		if (!put_entity(b, &b->entity[i], header, &n_others))
			return false;
	class_runs_sort(&b->runs);
	for (unsigned g = 0; g < b->c->n_groups; g++)
		put_group(b, &group[g], header + DP_CLASS_GROUP_AT + 2 * g);
	states = words_add(b->w, 2 * b->runs.n);
	class_runs_write(&b->runs, b->w->v + states);
	b->c->loads++;
	b->c->root = header - b->c->begin;
	b->w->v[header] = (uint64_t)(states - b->c->begin) << 32 | (uint64_t)b->c->n_groups << 8 | n_others;
	return n_others <= DP_CLASS_OTHERS && b->w->n - b->c->begin <= b->t->most_words;
}

/* ---------- the whole ---------- */

static bool build(struct build *b)
{
	struct group group[DP_CLASS_GROUPS];
	size_t cells = 0;

	b->group = arena_new(b->a, uint8_t, b->t->n);
	b->c->n_groups = class_groups(b->a, b->t->rule, b->t->n, b->group);
	place_rules(b);
	if (!may_work(b, 12 * b->t->n, b->rules.words))
		return false;
	b->n_dims = class_dims(b->a, &b->rules, b->dim);
	if (!read_entities(b))
		return false;
	class_runs_open(&b->runs, b->a, b->t, b->rules.bit, b->rules.words * 64);
	for (unsigned g = 0; g < b->c->n_groups; g++) {
		if (!build_group(b, g, &group[g]))
			return false;
		cells += group[g].x.n + group[g].p.n + group[g].y.n;
		if (cells / 4 > b->t->most_words)
			return false;
	}
	return write_all(b, group);
}

bool classes_build(const struct class_task *t, struct words *w, struct class_tables *c)
{
	struct build b = { .t = t, .c = c, .w = w, .a = arena_create() };
	struct class_tables measured;
	bool ok;

	words_add(w, (0 - w->n) & 7);
	*c = (struct class_tables){ .begin = words_add(w, 1) };
	ok = t->n && build(&b);
	c->run = b.runs.longest;
	arena_destroy(b.a);
	if (ok && classes_check(w->v + c->begin, w->n - c->begin, c->root, &measured) && measured.loads == c->loads &&
	    measured.run == c->run)
		return true;
	w->n = c->begin;
	return false;
}
