/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Boxes: what a guard asks at least, read from its code.
 *
 * Guards are code, and the code decides. A box is an outer bound of the keys that a guard lets pass: for each dimension
 * (32 bits or less of a key word) the least and the greatest value, and bits of the lower half of the L4 word. It is
 * found by following the code: a compare narrows the box on its way to `yes`; where ways meet, their boxes are joined. What
 * has a side effect (a limit spends a token) ends the way, as does the body.
 *
 *     -s 192.0.2.0/24 -p tcp ! --dport 22 -m limit ...
 *     src0 c0000200..c00002ff, proto 6..6, l4 "has ports"      then: 22 is for the guard to say
 *
 * Most guards begin with compares that the box holds exactly; the first instruction behind them is the rule's place: whom
 * the box lets pass goes on there.
 */
#ifndef WEIR_CLASSIFY_BOX_H
#define WEIR_CLASSIFY_BOX_H

#include "classify/code.h"
#include "tables/lookup.h"

enum box_dim {
	BOX_SRC3, BOX_SRC2, BOX_SRC1, BOX_SRC0, /* 32 bits each, the upper first; IPv4: only SRC0, DST0 */
	BOX_DST3, BOX_DST2, BOX_DST1, BOX_DST0,
	BOX_SPORT, BOX_DPORT, BOX_PROTO, BOX_FLAGS, BOX_ICMP,
	BOX_MARK, BOX_CT_MARK, BOX_CT_STATE,
	BOX_IIF3, BOX_IIF2, BOX_IIF1, BOX_IIF0, BOX_OIF3, BOX_OIF2, BOX_OIF1, BOX_OIF0,
	BOX_TOS, BOX_TTL, BOX_LENGTH, BOX_ETHER, BOX_PKTTYPE,
	BOX_DIMS
};

struct box_place {
	uint8_t word, shift, bits;
};
extern const struct box_place box_places[BOX_DIMS];

struct box {
	uint32_t lo[BOX_DIMS], hi[BOX_DIMS];
	uint32_t l4_mask, l4_value; /* of the lower half of DP_W_L4 */
	uint32_t dims;		    /* bit d: it is narrower than all keys in dimension d */
};

/* A rule as the engines see it. */
struct box_rule {
	struct box box;
	uint32_t first, place, end; /* instructions: of its guard; of what the box does not answer; behind its body */
	bool is_never;		    /* no key passes the guard */
	bool is_whole;		    /* every key of the box passes: nothing but the body is left at `place` */
	bool is_final;		    /* who passes does not come back to this list's later rules */
	uint32_t until;		    /* who passes does not come to the rules before this one: its number, or BOX_FINAL */
	uint32_t escape;	    /* the instruction whose jump leaves the list for good, or BOX_NO_ESCAPE */
};
#define BOX_NO_ESCAPE UINT32_MAX
#define BOX_FINAL UINT32_MAX

/* Boxes by instruction, for guards that branch; kept from rule to rule. */
struct box_room {
	struct arena *a;
	struct box *box;
	uint8_t *reached;
	uint32_t n;
};

/* All keys. */
void box_full(struct box *b);
uint32_t box_dim_max(enum box_dim d);
/* Only values of lo..hi in this dimension, of those that there are so far. False: nothing is left. */
bool box_narrow(struct box *b, enum box_dim d, uint32_t lo, uint32_t hi);
/*
 * The rule whose code is at first..end; all labels lie where they lie. Behind the rules the list's policy is at `policy`;
 * jumps beyond it leave the list for good (*has_escape is set).
 */
void box_read(struct box_room *room, const struct code *c, uint32_t first, uint32_t end, uint32_t policy, struct box_rule *r,
	      bool *has_escape);
/* The keys that may come to the rule's instruction `at`. False: none do. */
bool box_at(struct box_room *room, const struct code *c, const struct box_rule *r, uint32_t at, struct box *out);
/* Is every key of b one of a? No, too, if that cannot be told from what boxes hold. */
bool box_covers(const struct box *a, const struct box *b);
/* Does a box that was narrowed by this compare hold all that it asks? */
bool box_holds(const struct code_insn *x);
/* Compares for just the keys of the box; the others go to `fail`. */
void box_emit(struct code *c, const struct box *b, int fail);
/* An entry of a graph's leaf for this box: DP_ENTRY_IP4 or DP_ENTRY_IP6 words. The result is without the engine's bits. */
void box_entry(const struct box *b, bool is_ip6, uint64_t result, uint64_t *word);

#endif
