/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One guard for several bodies. See gather.h. */
#include "classify/gather.h"

#include <string.h>

enum { OPEN_MOST = 16 };

/* Rules with one box, to which more may come. */
struct group {
	const struct box *box;
	size_t last;
};

struct search {
	const struct entries *l;
	const struct box_rule *rule;
	struct group open[OPEN_MOST]; /* the one that grew last comes first */
	unsigned n_open;
	size_t *next;	 /* of each entry: the one whose body follows; 0: none */
	bool *is_behind; /* its body follows another one's */
	size_t n_behind;
};

static bool may_change(enum box_dim d)
{
	return d == BOX_MARK || d == BOX_CT_MARK;
}

/* Effects and nothing that is asked. *comes_back: and the next body may follow. */
static bool is_movable(const struct search *s, size_t i, bool *comes_back)
{
	const struct box_rule *r = &s->rule[i];
	const struct code *c = s->l->code;

	*comes_back = true;
	if (r->is_never || !r->is_whole || (r->box.dims & (1u << BOX_MARK | 1u << BOX_CT_MARK)))
		return false;
	for (uint32_t at = r->place; at < r->end; at++) {
		const struct code_insn *x = &c->insn.v[at];

		if (x->op == DP_OP_ACCEPT || x->op == DP_OP_DROP || x->op == DP_OP_GOTO || x->op == DP_OP_RETURN)
			*comes_back = false;
		else if (x->op == DP_OP_COUNT ? x->yes != CODE_NEXT
					      : x->op != DP_OP_LOG && x->op != DP_OP_MARK && x->op != DP_OP_CALL)
			return false;
	}
	return true;
}

static bool is_same(const struct box *a, const struct box *b)
{
	return a->dims == b->dims && a->l4_mask == b->l4_mask && box_covers(a, b) && box_covers(b, a);
}

/* No packet is in both, whatever is written between them. */
static bool is_apart(const struct box *a, const struct box *b)
{
	for (uint32_t left = a->dims & b->dims; left; left &= left - 1) {
		enum box_dim d = (enum box_dim)__builtin_ctz(left);

		if (!may_change(d) && (a->hi[d] < b->lo[d] || b->hi[d] < a->lo[d]))
			return true;
	}
	return ((a->l4_value ^ b->l4_value) & a->l4_mask & b->l4_mask) != 0;
}

static void put_first(struct search *s, unsigned k, struct group g)
{
	memmove(s->open + 1, s->open, k * sizeof *s->open);
	s->open[0] = g;
}

static void close_group(struct search *s, unsigned k)
{
	memmove(s->open + k, s->open + k + 1, (--s->n_open - k) * sizeof *s->open);
}

static void add_rule(struct search *s, size_t i)
{
	const struct box *box = &s->rule[i].box;
	bool comes_back, movable = is_movable(s, i, &comes_back);
	struct group g = { box, i };

	for (unsigned k = 0; k < s->n_open; k++) {
		if (is_apart(s->open[k].box, box))
			continue;
		if (movable && is_same(s->open[k].box, box)) {
			s->next[s->open[k].last] = i;
			s->is_behind[i] = true;
			s->n_behind++;
		}
		close_group(s, k--);
	}
	if (!movable || !comes_back)
		return;
	s->n_open += s->n_open < OPEN_MOST;
	put_first(s, s->n_open - 1, g);
}

static void write_group(struct entries_writer *w, const struct search *s, size_t first)
{
	const struct entries *l = s->l;
	VEC(const struct rule *) rule = { 0 };

	size_t i = first;

	do {
		for (uint32_t k = 0; k < l->entry[i].n; k++)
			*vec_add(l->code->a, &rule) = l->entry[i].rule[k];
		i = s->next[i];
	} while (i);
	entries_begin(w, (struct tables_entry){ rule.v, (uint32_t)rule.n });
	entries_move(w, l->start[first], l->start[first + 1]);
	for (i = s->next[first]; i; i = s->next[i])
		entries_move(w, s->rule[i].place, l->start[i + 1]);
}

static void rewrite(struct arena *scratch, struct entries *l, const struct search *s, const bool *is_dead)
{
	struct entries_writer w;

	entries_open(&w, scratch, l);
	for (size_t i = 0; i < l->n; i++) {
		if (is_dead[i] || s->is_behind[i])
			entries_skip(&w, i, 1);
		else if (s->next[i])
			write_group(&w, s, i);
		else
			entries_copy(&w, i);
	}
	entries_close(&w);
}

size_t gather_rules(struct arena *scratch, struct entries *l, const struct box_rule *rule, const bool *is_dead)
{
	struct search *s = arena_new(scratch, struct search, 1);
	const bool *is_target = entries_find_targets(scratch, l);

	s->l = l;
	s->rule = rule;
	s->next = arena_new(scratch, size_t, l->n + 1);
	s->is_behind = arena_new(scratch, bool, l->n + 1);
	for (size_t i = 0; i < l->n; i++) {
		if (is_target[i] || rule[i].escape != BOX_NO_ESCAPE)
			s->n_open = 0;
		if (!is_dead[i])
			add_rule(s, i);
	}
	if (s->n_behind)
		rewrite(scratch, l, s, is_dead);
	return s->n_behind;
}
