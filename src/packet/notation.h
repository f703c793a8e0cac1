/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packet notation: one line describes one packet.
 *
 *     [pN:] ip|ip6 SRC > DST PROTO [SPORT > DPORT] [KEY=VALUE]...      the long form
 *     [pN:] PROTO SRC[:PORT] > DST[:PORT] [KEY=VALUE]...               the short form, IPv6 as [2001:db8::1]:22
 *     [pN:] arp SRC > DST [op=request|reply]
 *     [pN:] eth [type=N] [payload=...]                                 a frame that is not IP
 *     [pN:] [eth|other] hex 45000014...                                bytes as they are: of an IP packet; with eth of
 *                                                                      an Ethernet frame; with other of neither
 *     -                                                                no packet
 *
 *     tcp 10.1.2.3 > 192.0.2.1:22                     in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=hbh tcp 4 > 22 flags=S
 *     tcp 10.1.2.3 > 192.0.2.1 frag=8                 eth vlan=5 mac=02:00:00:00:00:07 ip 10.1.2.3 > 192.0.2.1 icmp type=8
 *
 * Keys stand anywhere; "(...)" alone and "# ..." are comments. Numbers are decimal, 0x hex or 0 octal.
 *
 *   machine    in= out= physin= physout= (an interface; "-" none)  mark= ctmark= ct=new|established|related|invalid|
 *              untracked  uid= gid= ("-" no socket)  cpu= realm= pkttype=host|broadcast|multicast|otherhost
 *              t=SECONDS[.FRACTION]
 *   Ethernet   eth mac= dstmac= vlan=ID[(ad,pcp=N,dei,tpid=N,metadata)] repeated, outer first; any of these, and arp,
 *              makes an Ethernet frame; else the bytes begin with the IP header
 *   IP         ttl= (hlim=) tos= dscp= ecn= id= flow= df ihl= (filled with no-operation) ipopts=KIND[:HEX],...|hex:...
 *              frag=OFFSET/8 mf=0|1 (IPv6: a fragment header behind the others)  proto= (nh=) the number in the header
 *              ext=hbh(opt=K:HEX)|rt(type=,left=,addr=)|frag(off=,mf=,id=,res=)|ah(spi=,seq=,res=)|dst(opt=K:HEX),... in
 *              any order; hbh, rt, ah, dst also take hex=, len= (bytes of the header), badlen= (the length byte)
 *   transport  sport= dport= flags=FSRPAUEC seq= ack= win= urp= mss= wscale= sackok opts=KIND[:HEX],...|hex:... (tcp)
 *              type=NAME|T[/C] code= rest= (icmp, icmp6)  type= (dccp)  chunks=NAME[:FLAGS],...|hex:... (sctp)
 *              spi= seq= (esp, ah)
 *   payload=   20B (zeros), hex:00ff, "text"; pad= the same, behind the IP packet
 *   lengths    len=N zeros follow until the IP packet has N bytes (behind PROTO of the long form: until the transport
 *              header and the payload have), also iplen= and l4len=
 *   wrong      badlen=N in the IP length field, doff=N, ipsum= sum= checksums; trunc=N the IP packet ends after N bytes;
 *              cut=N only N bytes of it were captured (with hex: of all bytes)
 *
 * Ports of tcp, udp, udplite, sctp and dccp: a missing source port is 40000; a missing destination port is an error,
 * but in a later fragment, which has no ports: there a header is written only if somebody says ports, as bytes that
 * look like one. No protocol at all: 253. Lengths and checksums are right, unless said otherwise.
 */
#ifndef WEIR_PACKET_NOTATION_H
#define WEIR_PACKET_NOTATION_H

#include "base/diag.h"
#include "packet/packet.h"

/*
 * at: where text stands in its source (its first byte). Errors go to d with places inside text, or none if
 * at.source is 0 or d NULL. Returns false if there were errors. The bytes belong to a. "-" gives a packet of 0 bytes.
 */
bool notation_parse(struct arena *a, struct diags *d, struct str text, struct loc at, struct packet *out);

/* One line that notation_parse() reads into the same bytes, and into what the machine knew. */
struct str notation_print(struct arena *a, const struct packet *p);

#endif
