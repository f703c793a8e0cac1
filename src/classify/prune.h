/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pruning: which rules of a node can be found there at all. Inside of the graph's builder.
 *
 * A cut makes a part of the space, and less is to be told apart in there: rules that lie outside go; a rule that holds the
 * whole part and ends the list, or skips some rules, takes those with it; and where few are left, those that one earlier
 * rule hides.
 */
#ifndef WEIR_CLASSIFY_PRUNE_H
#define WEIR_CLASSIFY_PRUNE_H

#include "classify/cut.h"

struct cut_hides prune_hides(const struct box_rule *r);
/* All rules here lie in what the region was before dimension d was narrowed. Those that stay, in order; returns how many. */
size_t prune_rules(const struct cut_rules *r, uint32_t *id, size_t n, const struct cut_region *g, unsigned d);
/* The last step of it: among few, those that are hidden by one. */
size_t prune_hidden(const struct cut_rules *r, uint32_t *id, size_t n, const struct cut_region *g);

#endif
