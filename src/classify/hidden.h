/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules that no packet comes to: whose guard contradicts itself, or whose packets an earlier rule takes, all of them.
 *
 *     1  -s 192.0.2.0/24 -j DROP
 *     2  -s 192.0.2.7 -p tcp --dport 22 -j ACCEPT     hidden by 1
 *     3  -p tcp -p udp -j ACCEPT                      never
 *
 * They are told apart here, and those left out of the code of which nothing can be seen: what a rule says about
 * connections is asked before the rest of its guard is, and without connection tracking that alone drops the packet.
 * What writes a mark may let a packet come back to a box that it was not in before, so a rule that looks at marks hides
 * nothing in a list where marks are written.
 *
 * Which rule hides which is looked for among the rules with the widest boxes and among those with the same addresses, so that
 * the time stays within a bound; a pair that is missed costs table space and nothing else.
 */
#ifndef WEIR_CLASSIFY_HIDDEN_H
#define WEIR_CLASSIFY_HIDDEN_H

#include "classify/box.h"
#include "classify/tables.h"

struct hidden_task {
	const struct code *code;
	const struct tables_entry *entry;
	struct box_rule *rule; /* of each entry */
	size_t n;
	struct tables_fate *fate; /* out */
};

/*
 * Sets fate, and is_never of the rules that are hidden. Where a rule asks about connections before it is sure that it is
 * hidden, fate[i].is_kept: its code must stay.
 */
void hidden_find(const struct hidden_task *t);

#endif
