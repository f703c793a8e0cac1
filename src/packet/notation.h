/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packet notation: one line describes one packet.
 *
 *     [pN:] [eth] [t=SEC] [in=IF] [out=IF] [vlan=N]... [mac=MAC] ip|ip6|arp SRC > DST [ihl=N] [ttl=N] [tos=N] [id=N] [len=N]
 *           [ext=HDR[(k=v,...)][,HDR...]] [frag=N] [mf=0|1] [nh=N|proto=N] PROTO [SPORT > DPORT] [flags=FSRPAUEC]
 *           [type=T[/C]] [ct=STATE] [ctmark=N] [mark=N] [uid=N] [gid=N] [pkttype=...] [mss=N] [opts=K,K] [payload=NB|hex:..|"text"]
 *     tcp 10.1.2.3 > 192.0.2.1:22 [...]      the short form: the family comes from the addresses
 *     hex 45000014...                        bytes as they are (an IP packet; "eth hex ..." an Ethernet frame)
 */
#ifndef WEIR_PACKET_NOTATION_H
#define WEIR_PACKET_NOTATION_H

#include "base/diag.h"
#include "packet/packet.h"

/*
 * at: where text stands in its source (its first byte). Errors go to d with places inside text, or none if
 * at.source is 0. Returns false if there were errors. The bytes belong to a.
 */
bool notation_parse(struct arena *a, struct diags *d, struct str text, struct loc at, struct packet *out);

#endif
