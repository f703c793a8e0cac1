/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inspect: what there is to say about tables that are built, read from their words alone.
 *
 * The longest way through a list and the expected one are counted in steps: a compare, a word of a graph, an instruction. A
 * set is one step, however it is made. Calls count with the chain that they call.
 *
 *     worst      over all ways that the code has, whether or not a packet can take them
 *     expected   the mean over packets that are made from the rules (sample.h): an estimate, not a measurement. The
 *                same rules give the same figure.
 */
#ifndef WEIR_CLASSIFY_INSPECT_H
#define WEIR_CLASSIFY_INSPECT_H

#include "classify/tables.h"

struct inspect_list {
	uint64_t worst;
	double expected;
	size_t code_bytes, lookup_bytes;
};

/* One for each of t->list, in a. */
struct inspect_list *inspect_lists(struct arena *a, const struct tables *t);
const struct tables_list *inspect_list_of(const struct tables *t, const struct chain *c); /* NULL: nothing leads there */
/* The entry of a place in the list's tables; NULL: it is the policy's. */
const struct tables_entry *inspect_entry_at(const struct tables_list *l, uint32_t place);
/*
 * The list's decision graph as graphviz text: cuts with the bits that they look at, leaves with the places of their rules,
 * dashed the way on when no entry of a leaf matches. The list must have one: TABLES_ENGINE_GRAPH.
 */
struct str inspect_draw(struct arena *a, const struct tables *t, const struct tables_list *l, const struct sources *sources);

#endif
