/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules that ask the same become one entry: its guard once, then all their bodies. Between them may stand rules that no packet
 * of theirs can match.
 *
 *     1  -s 192.0.2.0/24 -j LOG                1, 3, 5   -s 192.0.2.0/24    log, log, drop
 *     2  -s 198.51.100.1 -j ACCEPT     ->      2         -s 198.51.100.1    accept
 *     3  -s 192.0.2.0/24 -j LOG                4         -s 203.0.113.0/24  accept
 *     4  -s 203.0.113.0/24 -j ACCEPT
 *     5  -s 192.0.2.0/24 -j DROP
 *
 * Whoever passes the first goes on with the next body, with no lookup between them; everybody else meets one entry. So
 * a list that logs ahead of each of its thousands of rules can be looked up at all: each of the entries would else lie on
 * the way of every packet of the network that is logged, and be found by a lookup of its own.
 *
 * Only guards that a box holds whole are gathered, without marks, which a body may write. No body goes before a rule that a packet
 * may skip to from before the first, nor one that drops every packet where connections are not tracked.
 */
#ifndef WEIR_CLASSIFY_GATHER_H
#define WEIR_CLASSIFY_GATHER_H

#include "classify/box.h"
#include "classify/entries.h"

/*
 * As hitset_merge(); returns how many entries are gone because their bodies follow those of others. Time O(n).
 */
size_t gather_rules(struct arena *scratch, struct entries *l, const struct box_rule *rule, const bool *is_dead);

#endif
