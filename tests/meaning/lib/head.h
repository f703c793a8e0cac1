/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a packet's headers say, read anew for the tests of meaning: it shares nothing with src/eval or src/datapath. Only
 * packets that are whole as far as their ports are read; the rest is not judged.
 */
#ifndef WEIR_TESTS_MEANING_HEAD_H
#define WEIR_TESTS_MEANING_HEAD_H

#include "packet/packet.h"

struct head {
	bool is_ip, is_ip6;    /* neither: nothing else is set */
	const uint8_t *l3;     /* its first byte, ... */
	unsigned l3_len;       /* ... and what there is from there, without padding */
	u128 src, dst;
	unsigned tos, ttl, length; /* length: of the IP packet as it says itself */
	unsigned proto;	       /* of the last header; first_proto: what the IP header itself names */
	unsigned first_proto;
	unsigned frag_off;     /* in units of 8 bytes; 0: the whole packet, or its first fragment */
	unsigned frag_id;
	bool more_frags;
	bool has_ext[256];     /* IPv6: extension headers that it has, by number */
	unsigned rt_type, rt_left, hbh_len, dst_len;
	bool has_l4;	       /* l4 is the first byte of a transport header (not of a later fragment) */
	const uint8_t *l4;
	unsigned l4_len;
	bool has_mac;
	uint64_t smac;
};

/* false: not to be judged (cut short, or of no known form). */
bool head_read(struct head *h, const struct packet *p);
unsigned head_u16(const uint8_t *p);

#endif
