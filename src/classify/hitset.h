/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hit sets: rules in a row that only count become rules of which a packet matches one. Each of these stands for the
 * set of rules that such a packet matches, adds to one counter for all of them (sums.h) and goes on behind the row.
 *
 *     1  -s 192.0.2.0/24             1 and 2   -s 192.0.2.0/24 -p udp    counter of both, go on at 3
 *     2  -p udp                ->    1         -s 192.0.2.0/24           counter of 1, go on at 3
 *                                    2         -p udp                    counter of 2, go on at 3
 *     3  -j DROP                     3         -j DROP
 *
 * The guards are all intersections of the old ones that are not empty. They stand in order of how many rules they
 * are for, most first; so the first that matches is for exactly the rules that match: a packet that matches these and no
 * others lies in their intersection, and in none that is for more.
 *
 * Only guards that are compares in a row, none of them an alternative to another, can be intersected. A row is cut where it
 * would make too many.
 */
#ifndef WEIR_CLASSIFY_HITSET_H
#define WEIR_CLASSIFY_HITSET_H

#include "classify/box.h"
#include "classify/entries.h"
#include "classify/sums.h"

/*
 * Rewrites the open list, whose labels all lie where they lie. rule: as box_read() read it; is_dead: those that shall not be
 * there any more. False: nothing was changed. scratch must stay as long as start is used; entries are in the code's arena.
 */
bool hitset_merge(struct arena *scratch, struct entries *l, const struct box_rule *rule, const bool *is_dead, struct sums *sums);

#endif
