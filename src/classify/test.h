/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests as code. A test becomes instructions that end at one of two labels: `yes`, it passed; `no`, it did not. What it
 * answers when its field is absent is part of it, so nothing else needs to know.
 *
 *     ! --dport 22, absent: no      L4 & has_ports          -> go on, else no
 *                                   L4 & dport == 22        -> no, else yes
 *     --dport 22, absent: no        L4 & (dport, has_ports) == (22, 1)    -> yes, else no
 */
#ifndef WEIR_CLASSIFY_TEST_H
#define WEIR_CLASSIFY_TEST_H

#include "classify/code.h"
#include "classify/place.h"
#include "classify/sets.h"
#include "policy/policy.h"

struct map_lists;

struct test_state {
	const struct state_spec *spec;
	uint64_t at;
};
struct test_room {
	struct code *code;
	struct sets *sets;
	bool is_ip4;
	uint32_t hz;
	struct map_lists *maps;
	VEC(uint64_t) state; /* first contents of the state */
	VEC(struct test_state) kept; /* which words are whose: twins point at one */
};

/* Emits t. All kinds that flat/refuse.c lets pass. */
void test_emit(struct test_room *r, const struct test *t, int yes, int no);
bool test_asks_conntrack(const struct test *t);
/* Goes to `there` when the field is present. */
void test_emit_presence(struct code *c, const struct place *p, int there, int absent);
/* (value & mask) is in one of the spans; presence is not asked. */
void test_emit_spans(struct code *c, const struct place *p, u128 mask, const struct valset *in, int yes, int no);

#endif
