/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chains in the place of their calls. A rule of the chain becomes an entry of the caller's list: it asks what the call asks and
 * what the rule asks, and counts for both (sums.h), once, because who matches does not come to another rule of the chain:
 *
 *     3  -d 192.0.2.0/24 -j web            3 and w1   -d 192.0.2.0/24 -p tcp --dport 80     accept
 *     w1 -p tcp --dport 80 -j ACCEPT       3 and w2   -d 192.0.2.0/24 -s 10.0.0.1           go on at 4
 *     w2 -s 10.0.0.1 -j RETURN             3          -d 192.0.2.0/24                       go on at 4: neither matched
 *     4  -j DROP                           4                                                drop
 *
 * So one lookup finds what took two, one for each list. A call stays a call if anything but a compare of the key is
 * asked by it (what is asked once must not be asked twice), or a rule of the chain does not end the way through the chain:
 * it writes, logs, or only counts; or has a memory, which belongs to the one place where it is. A call in the chain is
 * put in, too, if it is a goto or the last rule. And there are bounds: of the chain, and of the list.
 *
 * This pays only where a lookup finds the entries, and compares all that the call asks: a list that is scanned skips the whole
 * chain at the call, and what the lookup leaves to the guard (an interface, in a long list) would be asked entry by entry. Who
 * asks for one engine gets it everywhere, so that tests meet it.
 */
#ifndef WEIR_CLASSIFY_INLINE_H
#define WEIR_CLASSIFY_INLINE_H

#include "classify/emit.h"

struct inline_list {
	struct arena *a, *scratch;
	const struct chain *chain;
	VEC(uint32_t) start;		 /* in scratch */
	VEC(struct tables_entry) entry;	 /* in a */
	VEC(const struct rule *) call;	 /* in a: those that are not there any more */
};

/* Emits all rules of the chain. */
void inline_rules(struct emit *e, struct inline_list *l);

#endif
