/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A frame: the headers of one packet as values, before they are bytes.
 *
 * The notation reads a line into a frame and frame_build() writes the bytes: lengths, header chains and checksums are
 * right unless the frame says otherwise (bad_len, doff, ip_sum, l4_sum). frame_decode() goes the other way, for
 * printing; it is no packet parser to judge by: it gives up on whatever it could not write back.
 *
 *     struct frame f = { .net = FRAME_NET_IP4, .src = 0x0a010203, .dst = 0xc0000201, ... };
 *     [vlan tags] [IPv4 + options | IPv6 + ext...] [header of l4] payload
 */
#ifndef WEIR_PACKET_FRAME_H
#define WEIR_PACKET_FRAME_H

#include "packet/packet.h"

enum frame_net { FRAME_NET_NONE, FRAME_NET_IP4, FRAME_NET_IP6, FRAME_NET_ARP };
enum { FRAME_MAX_VLANS = 8, FRAME_MAX_EXTS = 40, FRAME_MAX_BYTES = 1 << 20 };

/* IP protocol numbers that a frame builds a header for, and the extension headers. */
enum {
	FRAME_HOPOPTS = 0, FRAME_ICMP = 1, FRAME_TCP = 6, FRAME_UDP = 17, FRAME_DCCP = 33, FRAME_ROUTING = 43,
	FRAME_FRAGMENT = 44, FRAME_ESP = 50, FRAME_AH = 51, FRAME_ICMP6 = 58, FRAME_NO_NEXT = 59, FRAME_DSTOPTS = 60,
	FRAME_SCTP = 132, FRAME_UDPLITE = 136,
};

struct frame_vlan {
	uint16_t tpid, tci;
};

struct frame_ext {
	uint8_t type;	     /* FRAME_HOPOPTS, ROUTING, FRAGMENT, AH or DSTOPTS */
	uint8_t rt_type, rt_left;
	uint16_t frag_off;   /* in units of 8 bytes */
	bool more;
	uint16_t reserved;   /* routing: none; fragment: byte 1 << 2 | two bits of the offset word; AH: 16 bits */
	uint32_t id;	     /* fragment identification; AH: SPI */
	uint32_t seq;	     /* AH; routing: the 32 bits before the addresses */
	struct str body;     /* what follows the fixed part: options, addresses, check value */
	int bad_len;	     /* written into the length byte as it is, or -1 */
};

struct frame {
	bool is_ether;
	bool has_src_mac, has_dst_mac;
	uint8_t src_mac[6], dst_mac[6];
	struct frame_vlan vlans[FRAME_MAX_VLANS];
	unsigned n_vlans;
	int ethertype;	     /* -1: what the network layer says */

	enum frame_net net;
	u128 src, dst;
	uint8_t ttl, tos;
	uint16_t ip_id, arp_op;
	uint32_t flow;	     /* IPv6 flow label */
	bool df, evil;
	struct str ip_opts;  /* IPv4 options; padded to words */
	uint16_t frag_off;   /* IPv4; in units of 8 bytes */
	bool more;
	struct frame_ext exts[FRAME_MAX_EXTS];
	unsigned n_exts;
	int proto;	     /* the number in the header before; -1: l4's */
	int l4;		     /* whose header is built: FRAME_TCP ...; -1: payload only */

	bool has_sport, has_dport;
	uint16_t sport, dport;
	uint8_t tcp_flags;
	uint32_t seq, ack;
	uint16_t window, urgent;
	struct str tcp_opts; /* padded to words */
	int doff;	     /* data offset written as it is, or -1 */
	uint8_t icmp_type, icmp_code;
	uint32_t icmp_rest;
	uint8_t dccp_type;
	uint32_t spi;
	struct str chunks;   /* SCTP */
	bool has_payload;
	struct str payload;

	uint32_t ip_len, l4_len; /* 0, or zeros are appended until the IP packet, the L4 part is that long */
	int64_t bad_len;     /* written as total length or payload length as it is, or -1 */
	int64_t ip_sum, l4_sum; /* checksums written as they are, or -1 */
	int64_t trunc;	     /* the IP packet ends after so many bytes, or -1 */
	int64_t cut;	     /* only so many bytes of the IP packet were captured, or -1 */
	struct str pad;	     /* bytes behind the IP packet */
};

void frame_init(struct frame *f); /* TTL 64, nothing else */
/* Writes f's bytes into p (bytes, len, wire_len, link). Returns NULL, or what is wrong with f's lengths. */
const char *frame_build(struct arena *a, const struct frame *f, struct packet *p);
/* Reads the headers of p. True only if the build of *f gives p's bytes again. */
bool frame_decode(struct arena *a, const struct packet *p, struct frame *f);
/* Does this protocol's header begin with two ports? */
bool frame_has_ports(int proto);

#endif
