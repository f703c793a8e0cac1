/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The datapath in user space: the same C, compiled by the C compiler. Judges packets by tables without a kernel.
 *
 *     struct native *n = native_create(a, &(struct native_tables){ t->word, t->n_words, t->state, t->n_state, counters });
 *     native_run(n, 3, &packet, &out);       input, filter: of the packet's own family
 *
 * State (limits) and counters go on from packet to packet. What a packet does not say (no interface, no connection) is
 * absent.
 */
#ifndef WEIR_DATAPATH_NATIVE_H
#define WEIR_DATAPATH_NATIVE_H

#include "packet/packet.h"

struct native;

struct native_tables {
	const uint64_t *word; /* DP_TABLE_PAD more words than n_words can be read */
	size_t n_words;
	const uint64_t *state; /* first contents; copied */
	size_t n_state;
	uint32_t n_counters;
	bool malformed_accept;
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
const uint64_t *native_counts(const struct native *n); /* packets and bytes of each counter */

#endif
