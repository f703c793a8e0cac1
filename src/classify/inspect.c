/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ways through tables. See inspect.h. */
#include "classify/inspect.h"

#include <string.h>

#include "classify/code.h"
#include "classify/classes.h"
#include "classify/graph_read.h"
#include "classify/sample.h"

enum { SAMPLES = 2048 };

struct insn {
	unsigned op, arg;
	uint32_t yes, no; /* distances */
	const uint64_t *word;
};

static struct insn insn_at(const struct tables *t, uint32_t pc)
{
	const uint64_t *w = t->word + 4 * (size_t)pc;

	return (struct insn){ (unsigned)(w[0] & 0xff), (unsigned)(w[0] >> 8 & 0xff), (uint32_t)(w[0] >> 16 & DP_JUMP_MAX),
			      (uint32_t)(w[0] >> 40 & DP_JUMP_MAX), w };
}

static const struct tables_list *list_at(const struct tables *t, uint64_t pc, size_t *index)
{
	for (size_t i = 0; i < t->n_lists; i++)
		if (t->list[i].pc == pc) {
			*index = i;
			return &t->list[i];
		}
	return NULL;
}

const struct tables_list *inspect_list_of(const struct tables *t, const struct chain *c)
{
	for (size_t i = 0; i < t->n_lists; i++)
		if (t->list[i].chain == c)
			return &t->list[i];
	return NULL;
}

const struct tables_entry *inspect_entry_at(const struct tables_list *l, uint32_t place)
{
	return place < l->n_entries ? &l->entry[place] : NULL;
}

/* ---------- the longest way ---------- */

static uint64_t larger(uint64_t x, uint64_t y)
{
	return x > y ? x : y;
}

static uint64_t worst_of_callee(const struct tables *t, const struct inspect_list *done, uint64_t pc)
{
	size_t i;

	return list_at(t, pc, &i) ? done[i].worst : 0;
}

/* Code runs forward only, so from its end backward everything is known. Callees come first. */
static uint64_t worst_of(const struct tables *t, const struct tables_list *l, const struct inspect_list *done)
{
	struct arena *a = arena_create();
	uint64_t *way = arena_new(a, uint64_t, l->n_insns + 1), longest = 0, worst;

	for (size_t i = l->n_insns; i-- > 0;) {
		struct insn x = insn_at(t, l->pc + (uint32_t)i);
		uint64_t next = i + 1 < l->n_insns ? way[i + 1] : 0;

		if (x.op == DP_OP_ACCEPT || x.op == DP_OP_DROP || x.op == DP_OP_RETURN)
			next = 0;
		else if (x.op == DP_OP_GOTO)
			next = worst_of_callee(t, done, x.word[2]);
		else if (x.op == DP_OP_CALL)
			next += worst_of_callee(t, done, x.word[2]);
		else if (x.op == DP_OP_LOOKUP)
			next = l->worst + longest;
		else if (x.op == DP_OP_COUNT)
			next = i + x.yes < l->n_insns ? way[i + x.yes] : 0;
		else if (code_is_test((uint8_t)x.op))
			next = larger(way[i + x.yes], way[i + x.no]);
		way[i] = 1 + next;
		longest = larger(longest, way[i]);
	}
	worst = way[0];
	arena_destroy(a);
	return worst;
}

/* ---------- the way of a packet ---------- */

struct walk {
	const struct tables *t;
	uint64_t key[DP_KEY_WORDS];
	uint32_t ret[DP_MAX_DEPTH];
	unsigned depth;
	uint64_t steps;
};

/* Where a test that the key alone cannot answer leads: a packet is in no set, has no option, and within its limit. */
static bool is_yes(const struct walk *w, const struct insn *x)
{
	if (x->op == DP_OP_TEST)
		return (w->key[x->arg % DP_KEY_WORDS] & x->word[1]) - x->word[2] <= x->word[3];
	return x->op == DP_OP_LIMIT || x->op == DP_OP_LIMIT_NS || x->op == DP_OP_QUOTA;
}

static void write_mark(struct walk *w, const struct insn *x)
{
	uint64_t mark = w->key[DP_W_MARK];

	if (x->op == DP_OP_MARK)
		w->key[DP_W_MARK] = (mark & x->word[1]) ^ x->word[2];
	else if (x->op == DP_OP_RESTORE_MARK)
		w->key[DP_W_MARK] = (mark & x->word[1]) ^ (mark >> 32 & x->word[2]);
}

/* The next instruction; 0: none, the packet is judged or has come back. */
static uint32_t step(struct walk *w, uint32_t pc)
{
	struct insn x = insn_at(w->t, pc);

	w->steps++;
	switch (x.op) {
	case DP_OP_ACCEPT:
	case DP_OP_DROP:
		return 0;
	case DP_OP_RETURN:
		return w->depth ? w->ret[--w->depth] : 0;
	case DP_OP_CALL:
		if (w->depth == DP_MAX_DEPTH)
			return 0;
		w->ret[w->depth++] = pc + 1;
		return (uint32_t)x.word[2];
	case DP_OP_GOTO:
		return (uint32_t)x.word[2];
	case DP_OP_LOOKUP:
		return (x.arg & DP_LOOKUP_CLASSES ? classes_read_lookup : graph_read_lookup)(w->t->word, pc, w->key, &w->steps);
	case DP_OP_COUNT:
		return pc + x.yes;
	case DP_OP_MARK:
	case DP_OP_RESTORE_MARK:
	case DP_OP_LOG:
		write_mark(w, &x);
		return pc + 1;
	default:
		return pc + (is_yes(w, &x) ? x.yes : x.no);
	}
}

static double expected_of(const struct tables *t, const struct tables_list *l)
{
	struct walk w = { .t = t };
	uint64_t random = 88172645463325252ull;

	for (int i = 0; i < SAMPLES; i++) {
		sample_key(l->chain, &random, w.key);
		w.depth = 0;
		for (uint32_t pc = l->pc; pc;)
			pc = step(&w, pc);
	}
	return (double)w.steps / SAMPLES;
}

struct inspect_list *inspect_lists(struct arena *a, const struct tables *t)
{
	struct inspect_list *out = arena_new(a, struct inspect_list, t->n_lists + 1);

	for (size_t i = 0; i < t->n_lists; i++) {
		const struct tables_list *l = &t->list[i];

		out[i] = (struct inspect_list){ worst_of(t, l, out), expected_of(t, l), 4 * sizeof(uint64_t) * l->n_insns,
						sizeof(uint64_t) * l->n_words };
	}
	return out;
}
