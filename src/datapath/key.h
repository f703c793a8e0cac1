/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of one run: the key of the packet, where the run comes back to after calls, and what it found. It lies in
 * the stack frame of the program and every part gets a pointer to it, so that its words are opaque to the verifier.
 */
#ifndef WEIR_DATAPATH_KEY_H
#define WEIR_DATAPATH_KEY_H

#include "tables/code.h"
#include "tables/format.h"
#include "tables/key.h"
#include "tables/lookup.h"
#include "tables/sets.h"

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

struct dp_class_sums {
	u64 x, p;
};

struct dp_key {
	u64 w[DP_KEY_WORDS];
	u64 base;   /* of the half in use, in words */
	u64 bytes;  /* what counters add: the length of the packet as this hook sees it */
	u32 depth;  /* calls on the way */
	u16 chain;  /* base chains begun */
	u16 sets;   /* the phase of the sets for this run, + 1; 0: none was asked yet */
	u32 ret[DP_MAX_DEPTH]; /* pc to come back to */
	union {
		struct dp_class_sums sums; /* of class tables */
		struct {
			u64 tuple[DP_SET_WORDS]; /* what a set is being asked with, */
			u64 shape;		 /* and for which of its shapes next (sets.h); 0: not yet asked */
		};
		u8 options[48]; /* of TCP, while they are walked: 40 are there */
		u64 result;	/* of the first lookup, for the rest of the run */
		u64 l4_end;	/* while the packet is parsed: where it ends */
	};
};

/* Protocols whose headers are looked into, as IPPROTO_*. */
enum { DP_PROTO_ICMP = 1, DP_PROTO_IPIP = 4, DP_PROTO_TCP = 6, DP_PROTO_UDP = 17, DP_PROTO_DCCP = 33, DP_PROTO_ROUTING = 43,
       DP_PROTO_FRAGMENT = 44, DP_PROTO_GRE = 47, DP_PROTO_ESP = 50, DP_PROTO_AH = 51, DP_PROTO_ICMP6 = 58, DP_PROTO_NONE = 59,
       DP_PROTO_DSTOPTS = 60, DP_PROTO_SCTP = 132, DP_PROTO_UDPLITE = 136 };

enum dp_verdict { DP_VERDICT_DROP, DP_VERDICT_ACCEPT };

#endif
