/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lookup: how the datapath skips the rules of a list that surely do not match.
 *
 * Where a list is worth it, LOOKUP stands at its head and behind every rule that a packet may pass by. It leads to the
 * first rule behind it that may match: to the rule's body, if what the tables compare is the whole guard, or to the guard,
 * which decides. A guard that fails and a body that does not end the list run into the next LOOKUP. So nothing but
 * rules that cannot match is ever skipped, and what a rule writes (a mark) is seen by every lookup behind it.
 *
 *     LOOKUP:  argument: DP_LOOKUP_* | word 1: root | word 2: pc of the list's head 32, of its policy from there 0
 *              word 3: where the list's tables begin, in words of the half
 *
 * The places of rules inside tables count instructions from the head of the list, words from the tables' begin.
 *
 * The graph: a descriptor is a word,
 *
 *     cut:   | 0 | key word 5 (bit 54) | shift 6 (48) | mask 16 (32) | offset 32 |    next = T[offset + (key >> shift & mask)]
 *     leaf:  | 1 | entries 7 (bit 32) | offset 32 |
 *     end:   0
 *     leaf at offset:  continuation | least place in the continuation | places of the first four entries, 32 bits each |
 *                      entries | places of the others
 *
 * An entry compares addresses under masks, both ports with ranges, and the lower half of DP_W_L4 (protocol, flags, what is
 * there) under a mask. The entries of a leaf are in the order of the rules; the first that matches counts, and
 * the continuation (rules that a cut would not have told apart) is looked at only if something there comes earlier.
 */
#ifndef WEIR_TABLES_LOOKUP_H
#define WEIR_TABLES_LOOKUP_H

enum dp_lookup_flag {
	DP_LOOKUP_IP6 = 1, /* entries of ten words */
	/* The list tests connections: if nothing tracks them (DP_CT_MISSING), every guard is run, one after the other. */
	DP_LOOKUP_CT = 2,
};

/* Bounds of the datapath's loops. What is built beyond them is never loaded. */
enum {
	DP_MAX_WALK = 12,    /* cuts between two leaves */
	DP_MAX_LEAF = 32,    /* entries */
	DP_MAX_LEAVES = 128, /* leaves of one lookup */
};

enum {
	DP_LEAF_HEAD = 4,   /* words before the entries */
	DP_LEAF_INLINE = 4, /* places among them */
	DP_ENTRY_IP4 = 4,
	DP_ENTRY_IP6 = 10,
};

/*
 * Entry, IPv4:  source 32 | destination 0;  their masks;  ports;  lower half of L4: mask 32, value 0
 * Entry, IPv6:  ports;  lower half of L4;  values, then masks, of the four address words
 * ports: first destination + span: | span 48 | first 32 |; source: | span 16 | first 0 |
 */

#define DP_LEAF_BIT (1ull << 63)
#define DP_CUT(word, shift, mask, offset) \
	((__u64)(word) << 54 | (__u64)(shift) << 48 | (__u64)(mask) << 32 | (__u64)(offset))

#endif
