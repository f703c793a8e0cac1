/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a graph that is there: its descriptors and leaves, and a lookup that counts its steps. tables/lookup.h has the layout. */
#ifndef WEIR_CLASSIFY_GRAPH_READ_H
#define WEIR_CLASSIFY_GRAPH_READ_H

#include "classify/graph.h"

/* The LOOKUP instruction at a place of the half. */
struct graph_lookup {
	uint64_t root;
	const uint64_t *word; /* where the list's tables begin */
	uint64_t policy; /* a result */
	uint32_t head;	 /* pc of the list */
	uint32_t from;	 /* the least place that counts */
	bool is_ip6, has_ct;
};
struct graph_lookup graph_read_insn(const uint64_t *half, uint32_t pc);

enum graph_part_kind { GRAPH_END, GRAPH_CUT, GRAPH_LEAF };
struct graph_part {
	enum graph_part_kind kind;
	uint32_t offset; /* of the children, of the leaf */
	unsigned word, shift;
	uint32_t mask;	   /* of a cut: children - 1 */
	uint32_t n;	   /* entries */
	uint64_t cont;	   /* descriptor */
	uint32_t cont_least; /* place; DP_PLACE_POLICY: nothing is there */
};
struct graph_part graph_read_part(const struct graph_lookup *g, uint64_t d);
uint64_t graph_read_result(const struct graph_lookup *g, const struct graph_part *leaf, uint32_t i); /* of entry i */
bool graph_read_matches(const struct graph_lookup *g, const struct graph_part *leaf, uint32_t i, const uint64_t *key);

/*
 * What the datapath does: where the LOOKUP at pc leads for this key; 0: to a verdict. A word loaded and an entry compared are
 * a step each.
 */
uint32_t graph_read_lookup(const uint64_t *half, uint32_t pc, const uint64_t *key, uint64_t *steps);

#endif
