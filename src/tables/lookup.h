/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lookup: how the datapath skips the rules of a list that surely do not match.
 *
 * Where a list is worth it, LOOKUP stands at its head and behind every rule that a packet may pass by. It answers with a
 * result word, which says what the first rule behind it that may match wants:
 *
 *     result:  | place 20 (bit 44) | for the engine 12 (32) | kind 2 (30) | value 30 |
 *
 * Places ascend in the order of the rules, so of two results the lesser one is of the earlier rule; no two of a list have
 * the same. A miss is answered with the list's policy, whose place is above all others. The kind says what to do:
 *
 *     RUN         go on at instruction `value`, counted from the list's head: the rest of a guard, which decides, or a body
 *     ACCEPT,     what the tables compare is the whole guard, and the body is nothing but this verdict: `value` is its
 *     DROP        counter. There need be no code of such a rule
 *
 * A guard that fails and a body that does not end the list run into the next LOOKUP. So nothing but rules that cannot
 * match is ever skipped, and what a rule writes (a mark) is seen by every lookup behind it.
 *
 *     LOOKUP:  argument: DP_LOOKUP_* | word 1: root | word 2: the list's policy, a result
 *              word 3: least place that counts 32 (behind rules that were passed) | where the list's tables begin 0, in words
 *              of the half
 *     tables:  word 0: pc of the list's head, then what the engine wants. Offsets inside count from there.
 *
 * Class tables: classes.h. The graph: a descriptor is a word,
 *
 *     cut:   | 0 | key word 5 (bit 54) | shift 6 (48) | mask 16 (32) | offset 32 |    next = T[offset + (key >> shift & mask)]
 *     leaf:  | 1 | least place in the continuation 20 (bit 40) | entries 4 (32) | offset 32 |
 *     end:   0
 *     leaf at offset:  entries | continuation, a descriptor; not there if its least place is DP_PLACE_POLICY
 *
 * An entry compares addresses with prefixes, both ports with ranges, and the lower half of DP_W_L4 (protocol, flags, what
 * is there) under a mask. The entries of a leaf are in the order of the rules; the first that matches counts, and
 * the continuation (rules that a cut would not have told apart) is looked at only if something there comes earlier.
 */
#ifndef WEIR_TABLES_LOOKUP_H
#define WEIR_TABLES_LOOKUP_H

enum dp_lookup_flag {
	DP_LOOKUP_IP6 = 1, /* entries for IPv6 */
	/* The list tests connections: if nothing tracks them (DP_CT_MISSING), every guard is run, one after the other. */
	DP_LOOKUP_CT = 2,
	DP_LOOKUP_CLASSES = 4, /* class tables (classes.h); else a graph */
};

enum dp_result_kind { DP_RESULT_RUN, DP_RESULT_ACCEPT, DP_RESULT_DROP, DP_RESULT_KINDS };
enum { DP_PLACE_SHIFT = 44, DP_PLACE_POLICY = (1 << 20) - 1 };
#define DP_RESULT(place, kind, value) ((__u64)(place) << DP_PLACE_SHIFT | (__u64)(kind) << 30 | (__u64)(value))
#define DP_RESULT_KIND(r) ((__u32)(r) >> 30)
#define DP_RESULT_VALUE(r) ((__u32)(r) & ((1u << 30) - 1))
#define DP_RESULT_NONE (~0ull) /* no answer: a bound was met */

/* Bounds of the datapath's loops. What is built beyond them is never loaded. */
enum {
	DP_MAX_WALK = 12,    /* cuts between two leaves */
	DP_MAX_LEAF = 8,     /* entries */
	DP_MAX_LEAVES = 512, /* leaves of one lookup */
	DP_SHORT_LEAVES = 6, /* of these at most before the lookup leaves the fast path */
};

/*
 * Entry, IPv4:  source 32 | destination 0;  ports;  lower half of L4: mask 32, value 0;  result
 *               For the engine: how far to shift addresses before they are compared: destination 6 | source 6, 0 to 32
 * Entry, IPv6:  source, two words; destination, two words;  ports;  lower half of L4;  shifts;  result
 *               shifts: of each address word one byte and another one, that far to the right, 0 to 32 each; the first
 *               address word's lowest
 * ports: first destination + span: | span 48 | first 32 |; source: | span 16 | first 0 |
 */
enum { DP_ENTRY_IP4 = 4, DP_ENTRY_IP6 = 8 };
enum { DP_SHIFT_SRC = 32, DP_SHIFT_DST = 38 }; /* in an IPv4 entry's result */

#define DP_LEAF_BIT (1ull << 63)
#define DP_LEAF(least, n, offset) (DP_LEAF_BIT | (__u64)(least) << 40 | (__u64)(n) << 32 | (__u64)(offset))
#define DP_LEAF_LEAST(d) ((__u32)((d) >> 40) & DP_PLACE_POLICY)
#define DP_LEAF_COUNT(d) ((__u32)((d) >> 32) & 15)
#define DP_CUT(word, shift, mask, offset) \
	((__u64)(word) << 54 | (__u64)(shift) << 48 | (__u64)(mask) << 32 | (__u64)(offset))

#endif
