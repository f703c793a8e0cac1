/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code: instructions as they are written down, with labels instead of distances. A list (a chain's rules) is emitted,
 * then closed: its labels become distances. Labels lie ahead of the jumps to them, so the code runs forward only.
 *
 *     int yes = code_label(c), no = code_label(c);
 *     code_test(c, (struct code_atom){ DP_W_L4, 0xff000000, 6 << 24, 0 }, yes, no);
 *     code_put(c, yes);   ... DROP ...
 *     code_put(c, no);    ... the next rule ...
 */
#ifndef WEIR_CLASSIFY_CODE_H
#define WEIR_CLASSIFY_CODE_H

#include "base/arena.h"
#include "tables/code.h"
#include "tables/format.h"
#include "tables/key.h"

enum { CODE_NEXT = -1 }; /* a label: the instruction behind this one */

struct code_insn {
	uint8_t op, arg;
	uint64_t a, b, c;
	int yes, no; /* labels */
};

struct code_atom { /* ((key[word] & mask) - lo) <= span */
	unsigned word;
	uint64_t mask, lo, span;
};

struct code {
	struct arena *a;
	VEC(struct code_insn) insn;
	VEC(uint64_t) data;  /* what instructions refer to besides sets: DP_OP_U32, DP_OP_STRING */
	VEC(uint32_t) label; /* where it lies; UINT32_MAX: not yet */
	size_t list;	     /* first instruction of the open list */
	uint32_t features;   /* DP_F_* of the open list */
	uint64_t steps;	     /* instructions of the open list that are not plain tests, sets by their shapes */
};

/* Does the instruction ask anything, so that not every packet that comes to it goes the same way on? */
static inline bool code_is_test(uint8_t op)
{
	return op == DP_OP_TEST || op == DP_OP_MAP || op >= DP_OP_SET;
}

int code_label(struct code *c);
void code_put(struct code *c, int label); /* the next instruction is where it lies */
void code_test(struct code *c, struct code_atom t, int yes, int no);
struct code_insn *code_add(struct code *c, enum dp_op op); /* with both labels CODE_NEXT */
void code_list_open(struct code *c, size_t n_rules); /* about so many */
/* Resolves the labels of the open list. False: it is longer than the datapath can scan. */
bool code_list_close(struct code *c);
void code_write(const struct code *c, uint64_t *to); /* all lists: 4 words for each instruction */

#endif
