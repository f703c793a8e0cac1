/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The code: rules as instructions of four words that the datapath runs. A pc counts instructions from the base of the
 * half, so instruction pc lies at word 4 * pc.
 *
 *     word 0:  | jf 24 | jt 24 | argument 8 | operation 8 |      jt, jf: how far to go on, in instructions
 *
 * A test is ((key[argument] & word 1) - word 2) <= word 3, unsigned: one instruction for "bits equal", "bits in a
 * range", "any of these bits", on a field that need not be shifted. A rule is its tests, then its body:
 *
 *     -s 192.0.2.0/24 -p tcp ! --dport 22 -j DROP
 *       0: TEST src_lo, ffffff00, c0000200, 0    true: 1  false: 4     (4: the next rule)
 *       1: TEST l4, ff00_0000, 0600_0000, 0      true: 2  false: 4
 *       2: TEST l4, ffff_0000_0001, 0016_0000_0001, 0  true: 4  false: 3   ("has ports" is bit 0)
 *       3: DROP, counter in word 1
 *
 * Jumps go forward only, so a list ends; only calls go elsewhere, to chains that do not call back.
 */
#ifndef WEIR_TABLES_CODE_H
#define WEIR_TABLES_CODE_H

enum dp_op {
	DP_OP_TEST,
	/* verdicts: word 1 is the counter to add to, or DP_NO_COUNTER */
	DP_OP_ACCEPT, /* ends this base chain */
	DP_OP_DROP,
	DP_OP_CALL, /* word 2: pc of the list; comes back behind this instruction */
	DP_OP_GOTO, /* word 2: pc of the list */
	DP_OP_RETURN,
	DP_OP_MAP, /* word 2: pc of a map's list, which ends with an END; jt, jf as a test's. Word 1: the counter of who is in it */
	DP_OP_END, /* of a map's list: argument is one of enum dp_end */
	DP_OP_COUNT, /* nothing but the counter; goes on at jt */
	/* effects */
	DP_OP_MARK,	    /* mark = (mark & word 1) ^ word 2 */
	DP_OP_RESTORE_MARK, /* mark = (mark & word 1) ^ (ct mark & word 2) */
	DP_OP_LOG,	    /* word 1: counter that names the rule */
	/* tests that are not a compare: jt, jf as above */
	DP_OP_SET,    /* word 1: the set, by its number in the image of the sets; words 2, 3: see below */
	DP_OP_TCPOPT, /* a TCP option of kind word 1 to word 2 is there */
	DP_OP_TCPMSS, /* there is a maximum segment size, and it is word 1 to word 2 */
	DP_OP_U32,    /* word 1: the steps, as a word offset; word 2: how many words they are */
	DP_OP_STRING, /* word 1: the pattern, as a word offset */
	DP_OP_LIMIT,  /* word 1: index into state; word 2: cap 32, cost 0; word 3: credits a jiffy */
	DP_OP_LIMIT_NS, /* word 1: index into state; word 2: what it counts with, as a word offset (datapath/state.h) */
	DP_OP_NTH,    /* word 1: index into state; word 2: every - 1 */
	DP_OP_RANDOM, /* word 1: threshold of 2^31 */
	DP_OP_QUOTA,  /* word 1: index into state */
	DP_OP_TUPLE,  /* as MAP, of a collection of keys */
	DP_OP_PAYLOAD, /* reads bits of a header: argument is enum dp_base; word 1: first bit 32 | how many 0; word 3: of the key */
	DP_OP_TAKE, /* key[argument] = (key[word 3] & word 1) >> word 2, for sets; goes on at jt */
	DP_OP_LOOKUP, /* finds the first rule behind it that may match: tables/lookup.h */
	DP_OP_COUNT_OF,
};

#define DP_NO_COUNTER ((1ull << 30) - 1) /* this or more: not counted */
#define DP_JUMP_BITS 24
#define DP_JUMP_MAX ((1ull << DP_JUMP_BITS) - 1)
#define DP_INSN(op, arg, jt, jf) \
	((__u64)(op) | (__u64)(arg) << 8 | (__u64)(jt) << 16 | (__u64)(jf) << 40)

/* Bounds of the datapath. The builder refuses what needs more, so that no table is ever judged half. */
enum {
	DP_MAX_DEPTH = 16,	    /* calls */
	DP_MAX_SCAN = 1 << 20,	    /* instructions of one list */
	DP_MAX_STEPS = 1 << 23,	    /* bodies and calls of one run, on the longest way there is */
	DP_MAX_BASE = 8,	    /* base chains of a point */
	DP_MAX_U32 = 4096,	    /* words of one u32 test */
	DP_MAX_SHAPES = 1024,	    /* different prefix lengths (or pairs of them) in a set */
};

/*
 * A point begins with the first instruction of its first base chain, in whose first word the distances are others:
 *
 *     word 0:  | root 32 | number of base chains 16 | argument 8 | operation 8 |
 *
 * Its root, so many words from the half's begin: number of base chains, then for each one word: pc of its first
 * instruction 32 | pc of its policy 0. A policy is ACCEPT or DROP with the chain's counter.
 */
#define DP_POINT_CHAINS(head) ((__u32)(head) >> 16)
#define DP_POINT_ROOT(head) ((head) >> 32)

/*
 * Maps. A map's list is called like a chain, and the place that comes back is the MAP or TUPLE itself: END says how.
 *
 *     rule:  MAP  yes: behind it, no: the next rule        list:  guard of entry 1, END STAY, GOTO web
 *                                                                 guard of entry 2, END LEAVE, DROP
 *                                                                 END NO
 */
enum dp_end {
	DP_END_NO,    /* back, to where no leads */
	DP_END_YES,   /* counts; back, to where yes leads */
	DP_END_LEAVE, /* counts; goes on behind the END, as if that stood in the rule */
	DP_END_STAY,  /* counts; goes on behind the END; a return comes back to where no leads */
};

/* Where bits of a header are counted from. Their key words: WORD_LO, of more than 64 bits also WORD_HI, the upper ones. */
enum dp_base { DP_BASE_LINK, DP_BASE_NETWORK, DP_BASE_TRANSPORT, DP_BASE_INNER };
enum { DP_PAYLOAD_MOST_LINK = 112 }; /* bits of an Ethernet header */

/* Steps of u32 (datapath/bytes.h). START reads at the number, AT at the value so far plus the number. */
enum dp_u32_op { DP_U32_START, DP_U32_AND, DP_U32_LEFT, DP_U32_RIGHT, DP_U32_AT, DP_U32_SPANS };

/*
 * Sets (tables/sets.h has the layout). Which key words a set is asked with: bytes of word 2 of the instruction, numbers
 * below DP_KEY_WORDS are words of the key, the others are made up. Word 3: DP_SET_EXCEPTION turns the found around
 * (--return-nomatch), DP_SET_IS_IP4: addresses are one word.
 */
enum { DP_SET_WORDS = 5, DP_SET_EXCEPTION = 1, DP_SET_IS_IP4 = 2 };
enum dp_set_word {
	DP_SET_SPORT = 64, /* protocol 16, port 0; ICMP: type and code */
	DP_SET_DPORT,
	DP_SET_SPORT_ONLY,
	DP_SET_DPORT_ONLY,
	DP_SET_MACS,
	DP_SET_MACD,
	DP_SET_MARK,
};
#define DP_HASH_MUL 0x9e3779b97f4a7c15ull

#endif
