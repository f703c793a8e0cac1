/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A packet: bytes as they were on the wire or as the notation described them, and what the machine knew about it.
 * Shared by the notation, the capture reader, the evaluator and the runs of the datapath. No parsing of headers here.
 */
#ifndef WEIR_PACKET_PACKET_H
#define WEIR_PACKET_PACKET_H

#include "base/arena.h"
#include "policy/field.h"

/* The first byte is an Ethernet header, an IP header, or something that is not IP and that no chain judges. */
enum packet_link { PACKET_LINK_ETHER, PACKET_LINK_IP, PACKET_LINK_OTHER };
enum packet_hook { PACKET_HOOK_BY_IFACE = -1 };		  /* hook not said: in and out decide */

struct packet {
	struct str id;	      /* "p1" in a case file; else empty */
	const uint8_t *bytes;
	uint32_t len;	      /* bytes captured */
	uint32_t wire_len;    /* bytes on the wire, >= len */
	enum packet_link link;
	char iif[16], oif[16]; /* "" = none; NUL-ended */
	bool has_iif, has_oif;
	char physin[16], physout[16]; /* ports of the bridge; "" with has_* set: not bridged */
	bool has_physin, has_physout;
	int vlan_meta;	      /* tag control word of a VLAN tag that is not in the bytes, or -1 */
	uint32_t mark;	      /* 0 unless said; has_mark tells */
	bool has_mark;
	int ct;		      /* enum ct_state, or -1 unknown */
	uint32_t ct_mark;
	bool has_ct_mark;
	int64_t time_ns;      /* since the epoch for captures; as said by t= (from 0) in the notation */
	bool has_time, time_is_epoch;
	int pkttype;	      /* PACKET_HOST 0, BROADCAST 1, MULTICAST 2, OTHERHOST 3; -1 unknown */
	int64_t uid, gid;     /* -1 unknown, -2 no socket */
	int64_t cpu, realm;   /* -1 unknown */
};

void packet_init(struct packet *p); /* everything unknown, no bytes */

#endif
