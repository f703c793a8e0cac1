/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Class tables: how a small list is looked up. Every field that the list's rules narrow has few classes of values that they
 * do not tell apart. The class of each field is found by a walk of its own, and tables of pairs of classes lead to the
 * first rule:
 *
 *     source -----.
 *     destination -+-- X --.
 *     ports -------.        +-- Y -- state: result word of a rule, next state
 *     protocol -----+-- P --'
 *     ...
 *
 * The rules are dealt into at most four groups with an X, P and Y each, so that rules that narrow different fields do not
 * multiply. What a walk leads to is one word with 16 bits for each group: the class there, multiplied by its stride.
 * Words of several fields are added, and the sums index the tables of all groups at once. The least state of all groups
 * counts. No branch depends on the packet.
 *
 * All places count from the beginning of the list's tables, in words; X, P, Y in cells of 16 bits. Header:
 *
 *     0       | states 32 | 0 16 | groups 8 | others 8 |
 *     1..6    fields DP_CLASS_*: a walk, or 0: nobody narrows it
 *     7..14   for each group | P 32 | X 32 |, | stride 32 | Y 32 |         state = Y[p * stride + x]
 *     15..    for each other field a walk, | table 32 | 0 3 | flags 8 (21) | key word 5 (16) | left 8 (8) | right 8 (0) |
 *
 *     walk:   | 0 | rounds 2 (40) | shift 6 (32) | base 32 |        begins at base + (field >> shift)
 *     round:  | cell 16 (48) | n 10 (38) | shift 6 (32) | least 32 |
 *             goes on at base + cell - n + i; i = (field - least) >> shift, but n at most
 *     state:  result word, next state (DP_CLASS_NO_STATE: there is none)
 *
 * DP_CLASS_FLAGS are the TCP flags, and above them whether there are ports and TCP's own fields (DP_HAS_PORTS, DP_HAS_TCP).
 * An other field is (word << left) >> right. Its class is added to those of the fields before it until a flag says what the
 * sum is for: DP_CLASS_TABLE: it indexes the table, whose word takes its place; DP_CLASS_TO_X, DP_CLASS_TO_P: it is done.
 */
#ifndef WEIR_TABLES_CLASSES_H
#define WEIR_TABLES_CLASSES_H

enum { DP_CLASS_SRC, DP_CLASS_DST, DP_CLASS_SPORT, DP_CLASS_DPORT, DP_CLASS_PROTO, DP_CLASS_FLAGS, DP_CLASS_FIELDS };
enum { DP_CLASS_TABLE = 1, DP_CLASS_TO_X = 2, DP_CLASS_TO_P = 4 };
enum { DP_CLASS_GROUP_AT = 1 + DP_CLASS_FIELDS, DP_CLASS_GROUPS = 4, DP_CLASS_OTHER_AT = DP_CLASS_GROUP_AT + 2 * DP_CLASS_GROUPS };

/* Bounds of the datapath's loops. */
enum {
	DP_CLASS_ROUNDS = 3,
	DP_CLASS_OTHERS = 16,
	DP_CLASS_RUN = 64, /* rules of one lookup that may match one after the other */
};
enum { DP_CLASS_CHILDREN = 1023, DP_CLASS_CELLS = 1 << 16, DP_CLASS_NO_STATE = 0xffff };

#define DP_CLASS_WALK(base, shift, rounds) ((__u64)(rounds) << 40 | (__u64)(shift) << 32 | (__u64)(base))
#define DP_CLASS_ROUND(cell, n, shift, least) \
	((__u64)(cell) << 48 | (__u64)(n) << 38 | (__u64)(shift) << 32 | (__u64)(least))
#define DP_CLASS_FLAGS_OF(l4) (((l4) >> 16 & 0xff) | ((l4) & (DP_HAS_PORTS | DP_HAS_TCP)) << 8)

#endif
