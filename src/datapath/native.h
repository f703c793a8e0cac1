/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The datapath in user space: the same C, compiled by the C compiler. Judges packets by tables without a kernel.
 *
 *     struct native *n = native_create(a, &(struct native_tables){ t->word, t->n_words, t->state, t->n_state, counters });
 *     native_run(n, 3, &packet, &out);       input, filter: of the packet's own family
 *
 * State (limits) and counters go on from packet to packet. What a packet does not say (no interface, no connection) is
 * absent.
 *
 * Many packets are judged faster together: native_batch() keeps several on their way at once. It gives the same
 * answers and counts, and takes packets in a smaller form: a frame, and what the machine knew as facts that frames share.
 */
#ifndef WEIR_DATAPATH_NATIVE_H
#define WEIR_DATAPATH_NATIVE_H

#include "packet/packet.h"
#include "tables/format.h"

struct native;

struct native_tables {
	const uint64_t *word; /* DP_TABLE_PAD more words than n_words can be read */
	size_t n_words;
	const uint64_t *state; /* first contents; copied */
	size_t n_state;
	uint32_t n_counters;
	bool malformed_accept;
	bool plain;    /* batches take no wide registers: for tests */
	bool in_order; /* rules keep state (DP_F_STATE): packets go through one after the other, each to its end */
	const uint64_t *sets; /* the image of the sets; NULL: no rule asks one. It may be changed while packets are judged */
};

enum native_verdict {
	NATIVE_ACCEPT,
	NATIVE_DROP,
	NATIVE_NOT_IP,	/* no chain judges it */
	NATIVE_UNKNOWN, /* a header that was not captured would have to be read */
};

enum { NATIVE_MAX_HITS = 4096 };

struct native_result {
	enum native_verdict verdict;
	bool is_malformed;
	uint32_t mark;	      /* after the rules */
	const uint32_t *hit; /* counters in the order in which they went up; good until the next run */
	unsigned n_hits;     /* beyond NATIVE_MAX_HITS they are counted but not listed */
};

struct native *native_create(struct arena *a, const struct native_tables *t);
/*
 * position: 0..15 (enum dp_position); the packet's family chooses between points position and position + 16. mark:
 * what the packet comes with (the packet's own for the first program on its way). now: jiffies, for limits.
 */
void native_run(struct native *n, unsigned position, const struct packet *p, uint32_t mark, uint64_t now,
		struct native_result *out);
/* Which device the packet has at a position. */
bool native_sees_iif(unsigned position);
bool native_sees_oif(unsigned position);

/* ---------- batches ---------- */

enum { NATIVE_BATCH = 64, NATIVE_NO_COUNTER = UINT32_MAX };

/* What the machine knew, ready for the key. */
struct native_facts {
	uint64_t iif[2], oif[2]; /* names, first byte highest; 0: none */
	uint64_t dev, sock, off; /* bits of those words of the key (tables/key.h) */
	bool is_local;		 /* sent from here: no Ethernet header yet */
};
void native_facts_read(struct native_facts *f, const struct packet *p);

struct native_frame {
	const uint8_t *bytes;
	const uint64_t *key; /* not NULL: the words of the key, parsed by others (tables/key.h); then bytes are not looked at */
	bool is_ip6;	     /* what the key is */
	enum packet_link link;
	uint32_t len, wire_len; /* wire_len below len counts as len; with a key: wire_len is the length of the IP packet */
	uint32_t mark, ct_mark;
	int ct; /* enum ct_state; -1 is invalid */
	const struct native_facts *facts;
};
struct native_answer {
	enum native_verdict verdict; /* UNKNOWN with a key: a rule wants to see more of the packet */
	bool is_malformed;
	uint32_t counter; /* that went up last; NATIVE_NO_COUNTER: there were no rules */
	uint32_t mark;	  /* after the rules */
	uint32_t bytes;	  /* what counters add for this packet */
	uint32_t passed;  /* positions of the way that let it pass */
};
/* Judges n frames, each at these positions in order until something drops it; now: jiffies. out: n of them. */
struct native_way {
	uint8_t position[DP_POSITION_COUNT];
	unsigned n;
};
void native_batch(struct native *nat, const struct native_way *way, const struct native_frame *frame, unsigned n, uint64_t now,
		  struct native_answer *out);

const uint64_t *native_counts(const struct native *n); /* packets and bytes of each counter */

#endif
