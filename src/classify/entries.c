/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists written anew. See entries.h. */
#include "classify/entries.h"

#include <string.h>

void entries_open(struct entries_writer *w, struct arena *a, struct entries *l)
{
	struct code *c = l->code;

	*w = (struct entries_writer){ .a = a, .l = l, .n_old = c->insn.n - c->list, .n_labels = c->label.n };
	w->old = arena_new(a, struct code_insn, w->n_old);
	w->to = arena_new(a, uint32_t, w->n_old + 1);
	memcpy(w->old, c->insn.v + c->list, w->n_old * sizeof *w->old);
	c->insn.n = c->list;
}

void entries_begin(struct entries_writer *w, struct tables_entry e)
{
	*vec_add(w->a, &w->start) = (uint32_t)w->l->code->insn.n;
	*vec_add(w->l->code->a, &w->entry) = e;
}

void entries_move(struct entries_writer *w, uint32_t first, uint32_t end)
{
	struct code *c = w->l->code;

	for (size_t at = first - c->list; at < end - c->list; at++) {
		w->to[at] = (uint32_t)c->insn.n;
		*vec_add(c->a, &c->insn) = w->old[at];
	}
}

void entries_copy(struct entries_writer *w, size_t i)
{
	entries_begin(w, w->l->entry[i]);
	entries_move(w, w->l->start[i], w->l->start[i + 1]);
}

void entries_skip(struct entries_writer *w, size_t first, size_t n)
{
	const struct code *c = w->l->code;

	for (size_t at = w->l->start[first] - c->list; at < w->l->start[first + n] - c->list; at++)
		w->to[at] = (uint32_t)c->insn.n;
}

void entries_close(struct entries_writer *w)
{
	struct code *c = w->l->code;
	uint32_t list = (uint32_t)c->list;

	*vec_add(w->a, &w->start) = (uint32_t)c->insn.n;
	entries_move(w, w->l->start[w->l->n], list + (uint32_t)w->n_old);
	w->to[w->n_old] = (uint32_t)c->insn.n;
	w->l->start = w->start.v;
	w->l->entry = w->entry.v;
	w->l->n = w->entry.n;
	for (size_t i = 0; i < w->n_labels; i++)
		if (c->label.v[i] != UINT32_MAX)
			c->label.v[i] = w->to[c->label.v[i] - c->list];
}

bool *entries_find_targets(struct arena *a, const struct entries *l)
{
	bool *is_target = arena_new(a, bool, l->n + 1);

	for (size_t i = 0; i < l->n; i++) {
		const struct code_insn *x = &l->code->insn.v[l->start[i + 1] - 1];
		size_t to = i + 1;

		if (x->op != DP_OP_COUNT || x->yes == CODE_NEXT)
			continue;
		while (to < l->n && l->start[to] < l->code->label.v[x->yes])
			to++;
		is_target[to] = true;
	}
	return is_target;
}
