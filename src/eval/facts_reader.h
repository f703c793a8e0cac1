/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the evaluator reads packets: a reader that knows two ends, and the ways to note a fact. Shared by facts.c (what
 * the machine knew, the link layer), facts_ip.c (IPv4, IPv6 and its headers) and facts_l4.c (the transport header).
 */
#ifndef WEIR_EVAL_FACTS_READER_H
#define WEIR_EVAL_FACTS_READER_H

#include "eval/eval.h"

enum { NEXT_HOPOPTS = 0, NEXT_ICMP = 1, NEXT_TCP = 6, NEXT_UDP = 17, NEXT_DCCP = 33, NEXT_ROUTING = 43,
       NEXT_FRAGMENT = 44, NEXT_ESP = 50, NEXT_AH = 51, NEXT_ICMP6 = 58, NEXT_NONE = 59, NEXT_DSTOPTS = 60,
       NEXT_SCTP = 132, NEXT_UDPLITE = 136 };
enum { ETHERTYPE_IP4 = 0x0800, ETHERTYPE_IP6 = 0x86dd, ETHERTYPE_Q = 0x8100, ETHERTYPE_AD = 0x88a8 };

struct reader {
	const uint8_t *p;
	uint32_t captured; /* bytes that we hold */
	uint32_t end;	   /* bytes that there are, >= captured */
};

enum span { SPAN_HERE, SPAN_UNSEEN, SPAN_BEYOND };

static inline enum span reader_has(const struct reader *r, uint32_t off, uint32_t n)
{
	if ((uint64_t)off + n > r->end)
		return SPAN_BEYOND;
	return (uint64_t)off + n > r->captured ? SPAN_UNSEEN : SPAN_HERE;
}

/* n bytes as a number, first byte highest. Only where reader_has() said SPAN_HERE. */
static inline u128 reader_get(const struct reader *r, uint32_t off, uint32_t n)
{
	u128 v = 0;

	for (uint32_t i = 0; i < n; i++)
		v = v << 8 | r->p[off + i];
	return v;
}

static inline unsigned reader_u8(const struct reader *r, uint32_t off)
{
	return (unsigned)reader_get(r, off, 1);
}

static inline unsigned reader_u16(const struct reader *r, uint32_t off)
{
	return (unsigned)reader_get(r, off, 2);
}

static inline void facts_put(struct facts *f, enum field x, u128 v)
{
	f->has[x] = EVAL_YES;
	f->known[x] = 1;
	f->v[x] = v;
}

static inline void facts_put_unknown_value(struct facts *f, enum field x)
{
	f->has[x] = EVAL_YES;
	f->known[x] = 0;
}

static inline void facts_put_unknown(struct facts *f, enum field x)
{
	f->has[x] = EVAL_UNKNOWN;
	f->known[x] = 0;
}

/* The field is n bytes at off, if they were captured. */
static inline void facts_put_at(struct facts *f, enum field x, const struct reader *r, uint32_t off, uint32_t n)
{
	if (reader_has(r, off, n) == SPAN_HERE)
		facts_put(f, x, reader_get(r, off, n));
	else
		facts_put_unknown_value(f, x);
}

static inline bool facts_malformed(struct facts *f, const char *why)
{
	f->is_malformed = true;
	f->malformed = why;
	return false;
}

/* Fields that a part of the packet which we do not hold would have decided. */
static inline void facts_put_layer_unknown(struct facts *f, enum field_layer layer)
{
	for (int x = 0; x < FIELD_COUNT; x++)
		if (field_table[x].layer == layer && f->has[x] != EVAL_YES)
			facts_put_unknown(f, (enum field)x);
}

/* r begins with the IP header; type: what the link layer says is there, or 0: the version nibble says it. */
void facts_read_ip(struct facts *f, struct reader *r, unsigned type);
/* The transport header at off, of a packet or of its first fragment. */
void facts_read_l4(struct facts *f, const struct reader *r, unsigned proto, uint32_t off);
void facts_read_ah(struct facts *f, const struct reader *r, uint32_t off); /* AH in IPv6 as well */

#endif
