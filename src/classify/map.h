/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps as lists of their own: what an entry asks, then where it leads (tables/code.h: DP_OP_MAP, DP_OP_END). A list does not
 * know the rule that asks it, so rules that ask the same map with the same values share one. Whether the values are there is
 * asked in the rule; values that are bits of a header are read there.
 *
 * A list takes one of two shapes. Few entries, or fields that no lookup indexes, become a tree of compares, one level for each
 * value, as far as the intervals of a value are equal or apart; everything else becomes guards in a row with a lookup in front.
 *
 *     tcp dport vmap { 22 : jump ssh, 80 : accept, 443 : accept }
 *         dport < 80 ?  dport = 22 ? -> jump ssh           else -> no
 *                       dport < 443 ?  dport = 80 ? -> accept  else  dport = 443 ? -> accept
 */
#ifndef WEIR_CLASSIFY_MAP_H
#define WEIR_CLASSIFY_MAP_H

#include "classify/graph.h"
#include "classify/tables.h"
#include "classify/test.h"

struct sums;

struct map_lists *map_lists_create(struct arena *a);
bool map_asks_conntrack(const struct map_use *u);
/* A TEST_TUPLE. */
void map_emit_test(struct test_room *r, const struct test *t, int yes, int no);
/* A STEP_MAP, in a rule that counts with this counter; effects go on at yes. */
void map_emit_step(struct test_room *r, const struct map_use *u, uint64_t counter, int yes, int no);
/* All lists that were asked for, behind those of the chains. */
void map_lists_emit(struct test_room *r, struct words *w, enum tables_engine wanted, struct diags *d);
/* When pcs are known: where the lists lie, of which the first instruction of all will lie at pc. */
void map_lists_link(const struct map_lists *m, struct code *c, uint32_t pc);

#endif
