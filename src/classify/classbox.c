/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Guards as boxes: every way through the code that ends at the body. See classbox.h. */
#include "classify/classbox.h"

#include <string.h>

enum { WAYS = 64 };

struct ways {
	const struct code *c;
	const struct box_rule *r;
	struct {
		uint32_t at;
		struct class_box box;
	} open[WAYS];
	unsigned n;
	bool is_exact;
};

static uint64_t bits_of(enum box_dim d)
{
	return (uint64_t)box_dim_max(d) << box_places[d].shift;
}

/* ---------- what an instruction asks of one field ---------- */

/* Either a range of a dimension, or bits of a word. */
struct ask {
	enum box_dim d; /* BOX_DIMS: bits */
	uint32_t lo, hi;
	unsigned word;
	uint64_t mask, value;
};

struct asks {
	struct ask v[8];
	unsigned n;
};

static bool add_ask(struct asks *s, struct ask a)
{
	if (s->n == sizeof s->v / sizeof *s->v)
		return false;
	s->v[s->n++] = a;
	return true;
}

static bool has_bits(unsigned word)
{
	return word == DP_W_L4 || word == DP_W_DEV || word == DP_W_CT;
}

static bool is_prefix(uint32_t mask, uint32_t max)
{
	uint32_t wild = max & ~mask;

	return !(wild & (wild + 1));
}

/* Bits of a word have values: whole fields and prefixes are ranges, others stay bits where a word's bits are known. */
static bool ask_value(const struct code_insn *x, struct asks *s)
{
	uint64_t left = x->a;

	for (unsigned d = 0; d < BOX_DIMS; d++) {
		uint32_t mask = (uint32_t)((x->a & bits_of((enum box_dim)d)) >> box_places[d].shift), max = box_dim_max((enum box_dim)d);
		uint32_t value = (uint32_t)((x->b & bits_of((enum box_dim)d)) >> box_places[d].shift);

		if (box_places[d].word != x->arg || !mask || (has_bits(x->arg) && mask != max) || !is_prefix(mask, max))
			continue;
		left &= ~bits_of((enum box_dim)d);
		if (!add_ask(s, (struct ask){ (enum box_dim)d, value, value | (max & ~mask), 0, 0, 0 }))
			return false;
	}
	if (left && (!has_bits(x->arg) || (x->arg == DP_W_L4 && left >> 32)))
		return false;
	return !left || add_ask(s, (struct ask){ BOX_DIMS, 0, 0, x->arg, left, x->b & left });
}

/* A range of one field, and bits that say that it is there. */
static bool ask_span(const struct code_insn *x, struct asks *s)
{
	for (unsigned d = 0; d < BOX_DIMS; d++) {
		uint64_t f = bits_of((enum box_dim)d), rest = x->a & ~f;
		uint32_t lo = (uint32_t)((x->b & f) >> box_places[d].shift);

		if (box_places[d].word != x->arg || (x->a & f) != f || (x->c & ~f) || (x->b & f) + x->c < x->c || (x->b & f) + x->c > f)
			continue;
		if (rest && (x->arg != DP_W_L4 || rest >> 16))
			return false;
		return add_ask(s, (struct ask){ (enum box_dim)d, lo, lo + (uint32_t)(x->c >> box_places[d].shift), 0, 0, 0 }) &&
		       (!rest || add_ask(s, (struct ask){ BOX_DIMS, 0, 0, x->arg, rest, x->b & rest }));
	}
	return false;
}

/* A range of a whole word of two dimensions, if it is a range of one of them. */
static bool ask_wide(const struct code_insn *x, struct asks *s)
{
	uint64_t lo = x->b, hi = x->b + x->c;

	for (unsigned d = 0; d + 1 < BOX_DIMS; d++) {
		if (box_places[d].word != x->arg || box_places[d].shift != 32 || box_places[d].bits != 32 || box_places[d + 1].bits != 32 ||
		    box_places[d + 1].word != x->arg)
			continue;
		if (lo >> 32 == hi >> 32)
			return add_ask(s, (struct ask){ (enum box_dim)d, (uint32_t)(lo >> 32), (uint32_t)(lo >> 32), 0, 0, 0 }) &&
			       add_ask(s, (struct ask){ (enum box_dim)(d + 1), (uint32_t)lo, (uint32_t)hi, 0, 0, 0 });
		return !(uint32_t)lo && (uint32_t)hi == UINT32_MAX &&
		       add_ask(s, (struct ask){ (enum box_dim)d, (uint32_t)(lo >> 32), (uint32_t)(hi >> 32), 0, 0, 0 });
	}
	return false;
}

/* All that a compare asks: each of them must hold. False: boxes cannot say it. */
static bool ask(const struct code_insn *x, struct asks *s)
{
	s->n = 0;
	if (x->b & ~x->a)
		return false;
	if (x->c == 0)
		return ask_value(x, s);
	if (x->a == ~0ull && x->b + x->c >= x->b)
		return ask_wide(x, s);
	return ask_span(x, s);
}

/* ---------- boxes ---------- */

static bool narrow_bits(struct class_box *b, unsigned word, uint64_t mask, uint64_t value)
{
	uint64_t m, v;

	if (word == DP_W_L4) {
		if ((b->box.l4_value ^ value) & b->box.l4_mask & mask)
			return false;
		b->box.l4_mask |= (uint32_t)mask;
		b->box.l4_value |= (uint32_t)value;
		return true;
	}
	m = word == DP_W_CT ? b->ct_mask : b->dev_mask;
	v = word == DP_W_CT ? b->ct_value : b->dev_value;
	if ((v ^ value) & m & mask)
		return false;
	*(word == DP_W_CT ? &b->ct_mask : &b->dev_mask) = m | mask;
	*(word == DP_W_CT ? &b->ct_value : &b->dev_value) = v | value;
	return true;
}

/* Lists that ask about connections are not looked up where nothing tracks them. */
static bool narrow(struct class_box *b, const struct ask *a)
{
	uint64_t missing = (uint64_t)DP_CT_MISSING << DP_CT_STATE_SHIFT;

	if (a->d != BOX_DIMS)
		return box_narrow(&b->box, a->d, a->lo, a->hi);
	if (a->word == DP_W_CT && (a->mask & missing) && (a->value & missing))
		return false;
	return narrow_bits(b, a->word, a->mask & ~(a->word == DP_W_CT ? missing : 0), a->value);
}

static void go(struct ways *w, int label, uint32_t at, const struct class_box *b)
{
	uint32_t target = label == CODE_NEXT ? at + 1 : w->c->label.v[label];

	if (target == w->r->end)
		return;
	if (target > w->r->end || w->n == WAYS) {
		w->is_exact = false;
		return;
	}
	w->open[w->n].at = target;
	w->open[w->n++].box = *b;
}

static void go_if(struct ways *w, int label, uint32_t at, struct class_box b, struct ask a)
{
	if (narrow(&b, &a))
		go(w, label, at, &b);
}

/* Those for whom one ask does not hold. */
static void go_unless(struct ways *w, int label, uint32_t at, const struct class_box *b, const struct ask *a)
{
	if (a->d == BOX_DIMS) {
		for (unsigned i = 0; i < 64; i++)
			if (a->mask >> i & 1)
				go_if(w, label, at, *b, (struct ask){ BOX_DIMS, 0, 0, a->word, 1ull << i, ~a->value & 1ull << i });
		return;
	}
	if (a->lo > 0)
		go_if(w, label, at, *b, (struct ask){ a->d, 0, a->lo - 1, 0, 0, 0 });
	if (a->hi < box_dim_max(a->d))
		go_if(w, label, at, *b, (struct ask){ a->d, a->hi + 1, box_dim_max(a->d), 0, 0, 0 });
}

static void go_both(struct ways *w, const struct code_insn *x, uint32_t at, const struct class_box *b)
{
	struct class_box yes = *b;
	struct asks s;
	bool some = true;

	if (x->a == 0) {
		go(w, 0 - x->b <= x->c ? x->yes : x->no, at, b);
		return;
	}
	if (!ask(x, &s)) {
		w->is_exact = false;
		return;
	}
	for (unsigned i = 0; i < s.n && some; i++)
		some = narrow(&yes, &s.v[i]);
	if (some)
		go(w, x->yes, at, &yes);
	if (x->no != CODE_NEXT && w->c->label.v[x->no] == w->r->end)
		return;
	for (unsigned i = 0; i < s.n; i++)
		go_unless(w, x->no, at, b, &s.v[i]);
}

struct guard {
	struct class_box box[CLASS_BOXES];
	unsigned n;
	uint32_t body; /* the first instruction behind the guard */
};

/* False: boxes cannot say what the guard asks, or it would take too many. */
static bool read_guard(const struct code *c, const struct box_rule *r, struct guard *g)
{
	struct ways w = { .c = c, .r = r, .is_exact = true };

	w.n = 1;
	w.open[0].at = r->first;
	box_full(&w.open[0].box.box);
	g->n = 0;
	while (w.n && w.is_exact) {
		struct class_box b = w.open[--w.n].box;
		uint32_t at = w.open[w.n].at;
		const struct code_insn *x = &c->insn.v[at];

		if (x->op == DP_OP_TEST) {
			go_both(&w, x, at, &b);
			continue;
		}
		if (x->op >= DP_OP_SET || (g->n && g->body != at) || g->n == CLASS_BOXES)
			return false;
		g->body = at;
		g->box[g->n++] = b;
	}
	return w.is_exact && g->n > 0;
}

/* ---------- the list ---------- */

static void set_exact(const struct code *c, const struct guard *g, struct box_rule *r, bool *asks_mark)
{
	uint8_t last = c->insn.v[r->end - 1].op;

	r->place = g->body;
	r->is_whole = true;
	for (uint32_t i = r->place; i < r->end; i++)
		r->is_whole &= !code_is_test(c->insn.v[i].op);
	for (unsigned i = 0; i < g->n; i++)
		*asks_mark |= (g->box[i].box.dims >> BOX_MARK & 1) != 0;
	r->is_final = r->is_whole && (last == DP_OP_ACCEPT || last == DP_OP_DROP || last == DP_OP_GOTO || last == DP_OP_RETURN ||
				last == DP_OP_END);
}

bool class_box_is_wild(const struct class_box *b)
{
	return !b->box.dims && !b->box.l4_mask && !b->dev_mask && !b->ct_mask;
}

bool class_list_read(struct arena *a, const struct code *c, const struct box_rule *rule, size_t n, size_t most,
		     struct class_list *out)
{
	struct guard *g = arena_new(a, struct guard, 1);

	*out = (struct class_list){ .rule = arena_new(a, struct box_rule, n + 1), .v = arena_new(a, struct class_rule, most),
				    .of = arena_new(a, uint32_t, most), .asks_mark = arena_new(a, bool, n + 1) };
	memcpy(out->rule, rule, n * sizeof *rule);
	for (size_t i = 0; i < n; i++) {
		struct class_box *box;

		if (rule[i].is_never)
			continue;
		if (read_guard(c, &rule[i], g)) {
			set_exact(c, g, &out->rule[i], &out->asks_mark[i]);
		} else {
			g->n = 1;
			g->box[0] = (struct class_box){ .box = rule[i].box };
		}
		if (out->n + g->n > most)
			return false;
		box = arena_new(a, struct class_box, g->n);
		memcpy(box, g->box, g->n * sizeof *box);
		for (unsigned k = 0; k < g->n; k++) {
			out->of[out->n] = (uint32_t)i;
			out->v[out->n++] = (struct class_rule){ .box = &box[k] };
		}
	}
	return true;
}
