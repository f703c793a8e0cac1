/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The image of the sets as the datapath reads it (sets/setmem.h writes it): u64 words, references as word offsets.
 *
 *     word 0:  bit 0: the phase; the other bits change with it
 *     word DP_SETS_VIEW + 2 * id + phase: what the set `id` is, as an entry
 *
 * An entry has its kind in the lowest bits, and where it leads in the upper half:
 *
 *     SAYS   | 0 | 0 16 | prefix length + 1 8 | answer 4 | 0 | kind 3 |     the answer; 0 for the length: no element says so
 *     RUNS   | offset 32 | 0 8 | n 16 | 0 4 | IPv6 1 | kind 3 |   n sorted runs; the last one that does not begin behind the key
 *     NODE   | offset 32 | 0 8 | stride 8 | shift 8 | 0 5 | kind 3 |       the entry at (key >> shift) & (2^stride - 1)
 *     NEXT   | offset 32 | 0 | kind 3 |                      an entry for the low half of an IPv6 address
 *     HASH   | offset 32 | 0 | kind 3 |                      a hash table, see below
 *
 * A trie's key is the address, IPv4 in the upper half of a word, IPv6 as two words, the low one after NEXT. A run of
 * IPv4 is a word, | first address 32 | SAYS 32 |; of IPv6 it is two, the first value and an entry.
 *
 *     {192.0.2.0/24, 192.0.2.128/25 nomatch}     RUNS: 0.0.0.0 OUT, 192.0.2.0 IN /24, 192.0.2.128 EXCEPTION /25, 192.0.3.0 OUT
 *
 * Hash: an element is up to five key words of which only the leading bits may count; elements whose same bits count have
 * one shape. Shapes are asked from the most specific on, and the first element found decides.
 *
 *     word 0:  | flags 16 | words of a slot 8 | key words 8 | shapes 16 |
 *     word 1:  | offset of the slots 32 | slots 32 |      word 2 is the writer's
 *     then for each shape, most specific first: its number, and five masks, 0 for key words that the set does not have
 *     slot:    | expires 40 | shape's number 12 | tag 7 | end 1 | exception 1 | used 1 | there in phase 1, in phase 0 |,
 *              then the masked key words
 *
 * An element's slot is at or behind DP_SET_SLOT(hash, slots), with no unused one between, less than DP_SET_PROBES on;
 * that many slots lie behind the last. Expires: jiffies, 0 = never.
 */
#ifndef WEIR_TABLES_SETS_H
#define WEIR_TABLES_SETS_H

enum { DP_MAX_SETS = 1024, DP_SETS_VIEW = 512 };

enum dp_set_kind { DP_SET_SAYS, DP_SET_RUNS, DP_SET_NODE, DP_SET_NEXT, DP_SET_HASH };
enum { DP_SET_KIND_MASK = 7, DP_SET_WIDE = 8, DP_SET_OUT = 0, DP_SET_IN = 1 }; /* and DP_SET_EXCEPTION + DP_SET_IN */

/* Bounds of the datapath's loops; the writer keeps them. */
enum {
	DP_SET_MAX_NODES = 17, /* nodes of a trie one after the other, for one word of the key */
	DP_SET_MAX_RUNS = 32, /* runs of one entry */
	DP_SET_RUN_STEPS = 5, /* of a search among so many */
	DP_SET_PROBES = 64,
	DP_SET_HEAD = 3,  /* words of a hash table in front of its shapes */
	DP_SET_SHAPE = 6, /* of each */
};

#define DP_SLOT_THERE(phase) (1ull << (phase))
#define DP_SLOT_USED 4ull
#define DP_SLOT_EXCEPTION 8ull
#define DP_SLOT_END 16ull
#define DP_SLOT_TAG_SHIFT 5
#define DP_SLOT_TAG_MASK 0x7full
#define DP_SLOT_SHAPE_SHIFT 12
#define DP_SLOT_SHAPE_MASK 0xfffull
#define DP_SLOT_EXPIRES_SHIFT 24
#define DP_SLOT_SAME (DP_SLOT_USED | DP_SLOT_TAG_MASK << DP_SLOT_TAG_SHIFT | DP_SLOT_SHAPE_MASK << DP_SLOT_SHAPE_SHIFT)
/* The hash: the sum of the masked words, each times its number; then mixed with the number of the shape. */
#define DP_SET_HASH0 0x9e3779b97f4a7c15ull
#define DP_SET_HASH1 0xc2b2ae3d27d4eb4full
#define DP_SET_HASH2 0xd6e8feb86659fd93ull
#define DP_SET_HASH3 0xa0761d6478bd642full
#define DP_SET_HASH4 0xe7037ed1a0b428dbull
#define DP_SET_MIX(sum, shape) (((sum) ^ (sum) >> 32 ^ (shape)) * DP_SET_HASH0)
#define DP_SET_SLOT(hash, n) (((hash) >> 32) * (n) >> 32)

#endif
