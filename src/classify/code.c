/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Labels and distances. See code.h. */
#include "classify/code.h"

#include <assert.h>

int code_label(struct code *c)
{
	*vec_add(c->a, &c->label) = UINT32_MAX;
	return (int)c->label.n - 1;
}

void code_put(struct code *c, int label)
{
	c->label.v[label] = (uint32_t)c->insn.n;
}

struct code_insn *code_add(struct code *c, enum dp_op op)
{
	struct code_insn *i = vec_add(c->a, &c->insn);

	*i = (struct code_insn){ .op = (uint8_t)op, .yes = CODE_NEXT, .no = CODE_NEXT }; /* a list that is rewritten leaves old ones */
	if (op != DP_OP_TEST)
		c->steps++;
	return i;
}

void code_test(struct code *c, struct code_atom t, int yes, int no)
{
	struct code_insn *i = code_add(c, DP_OP_TEST);

	i->arg = (uint8_t)t.word;
	i->a = t.mask;
	i->b = t.lo;
	i->c = t.span;
	i->yes = yes;
	i->no = no;
}

void code_list_open(struct code *c, size_t n_rules)
{
	enum { INSNS_OF_RULE = 5, LABELS_OF_RULE = 8 };

	vec_reserve(c->a, &c->insn, c->insn.n + INSNS_OF_RULE * n_rules);
	vec_reserve(c->a, &c->label, LABELS_OF_RULE * n_rules);
	c->list = c->insn.n;
	c->label.n = 0;
	c->features = 0;
	c->steps = 0;
}

static uint64_t distance(const struct code *c, size_t at, int label)
{
	size_t to = label == CODE_NEXT ? at + 1 : c->label.v[label];

	assert(to > at && to <= c->insn.n);
	return to - at;
}

bool code_list_close(struct code *c)
{
	if (c->insn.n - c->list > DP_MAX_SCAN)
		return false;
	for (size_t i = c->list; i < c->insn.n; i++) {
		struct code_insn *x = &c->insn.v[i];

		x->yes = (int)distance(c, i, x->yes);
		x->no = (int)distance(c, i, x->no);
	}
	return true;
}

void code_write(const struct code *c, uint64_t *to)
{
	for (size_t i = 0; i < c->insn.n; i++) {
		const struct code_insn *x = &c->insn.v[i];

		to[4 * i] = DP_INSN(x->op, x->arg, x->yes, x->no);
		to[4 * i + 1] = x->a;
		to[4 * i + 2] = x->b;
		to[4 * i + 3] = x->c;
	}
}
