/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The evaluator's reading of packets: every field, its edges, what is absent, what is unknown, what is malformed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "eval/eval.h"
#include "packet/notation.h"

#define L4 "ip 198.51.100.7 > 192.0.2.1 "
#define L6 "ip6 2001:db8::1 > 2001:db8::2 "

/*
 * want: words. name=VALUE known, name=- absent, name=? unknown if it is there, name=* there with a value unknown,
 * name={a,b} several values, not-ip, ip4, ip6. malformed: a part of the text, or NULL.
 */
static const struct {
	const char *line, *malformed, *want;
} rows[] = {
	/* network layer */
	{ "tcp 198.51.100.7:4 > 192.0.2.1:22 flags=SA", NULL,
	  "ip4 ip.src=0xc6336407 ip.dst=0xc0000201 ip.proto=6 ip.length=40 ip.ttl=64 ip.tos=0 ip.later-fragment=0 sport=4 dport=22 "
	  "tcp.flags=0x12 tcp.options={} tcp.mss=- icmp.type-code=- ip6.headers=- frag.id=- rt.type=- mark=0 ct.state=*" },
	{ L6 "udp 4 > 53 hlim=1 tos=0xb9", NULL,
	  "ip6 ip.proto=17 ip.length=48 ip.ttl=1 ip.tos=0xb9 ip.later-fragment=0 ip6.headers=1 sport=4 dport=53 tcp.flags=-" },
	{ L4 "ihl=15 tcp 4 > 22", NULL, "sport=4 dport=22 ip.length=80" },
	{ L4 "ttl=0 tos=255 udp 1 > 2", NULL, "ip.ttl=0 ip.tos=255" },
	{ L4 "proto=255 payload=1B", NULL, "ip.proto=255 sport=- dport=-" },
	{ L4 "proto=0 payload=20B", NULL, "ip.proto=0 ip6.headers=-" },
	{ L4 "proto=44 payload=20B", NULL, "ip.proto=44 frag.id=- ip.later-fragment=0" },
	{ L4 "udp 1 > 2 pad=20B", NULL, "ip.length=28 sport=1" },
	{ L6 "udp 1 > 2 pad=20B", NULL, "ip.length=48 sport=1" },
	{ L4 "udp 1 > 2 payload=100B badlen=0", NULL, "ip.length=128 sport=1 dport=2" },
	{ L6 "tcp 1 > 2 payload=100B badlen=0", NULL, "ip.length=160 sport=1 dport=2" },
	{ L6 "nh=59 badlen=0 pad=6B", NULL, "ip.length=40 ip.proto=59 ip6.headers=4" },
	{ "hex 4400001400000000400600000a0102030a010204", "header length is below 5 words", "ip4 ip.proto=6 ip.ttl=64 sport=-" },
	{ "hex 4600001800000000401100000a0102030a010204", "beyond the packet", "ip.proto=17 sport=-" },
	{ L4 "udp 1 > 2 badlen=19", "below the header length", "sport=-" },
	{ L4 "ihl=7 udp 1 > 2 badlen=27", "below the header length", "sport=-" },
	{ L4 "udp 1 > 2 badlen=29", "beyond the packet", "sport=-" },
	{ L4 "udp 1 > 2 badlen=27", "transport header is cut short", "sport=-" },
	{ L6 "udp 1 > 2 badlen=9", "beyond the packet", "sport=-" },
	{ L6 "udp 1 > 2 badlen=7", "transport header is cut short", "sport=-" },
	{ L4 "udp 1 > 2 trunc=19", "IPv4 header is cut short", "ip4 ip.proto=-" },
	{ L6 "udp 1 > 2 trunc=39", "IPv6 header is cut short", "ip6 ip.proto=-" },
	{ "hex 54000014000000004006", "version is wrong", "ip4 ip.src=-" },
	{ "eth " L4 "type=0x86dd udp 1 > 2", "version is wrong", "ip6 ip.src=-" },
	{ "eth " L6 "type=0x0800 udp 1 > 2", "version is wrong", "ip4 ip.src=-" },

	/* fragments */
	{ L4 "frag=0 mf=1 tcp 4 > 22", NULL, "ip.later-fragment=0 sport=4 dport=22 tcp.flags=0" },
	{ L4 "frag=1 mf=0 tcp", "begins inside the TCP header", "ip.later-fragment=1 ip.proto=6 sport=- tcp.flags=-" },
	{ L4 "frag=2 mf=0 tcp", NULL, "ip.later-fragment=1 ip.proto=6 sport=- dport=- tcp.flags=- tcp.options=-" },
	{ L4 "frag=1 proto=17 payload=8B", NULL, "ip.later-fragment=1 ip.proto=17 sport=-" },
	{ L6 "ext=frag(off=1) nh=6 payload=20B", NULL, "ip.later-fragment=1 ip.proto=6 sport=-" },
	{ L4 "frag=8191 mf=1 proto=1 payload=8B", NULL, "ip.later-fragment=1 icmp.type-code=-" },
	{ L4 "frag=0 mf=1 proto=6 payload=16B", "transport header is cut short", "sport=-" },
	{ L4 "df tcp 4 > 22", NULL, "ip.later-fragment=0 sport=4" },
	{ L4 "evil=1 tcp 4 > 22", NULL, "ip.later-fragment=0 sport=4" },
	{ L4 "frag=3 proto=6 payload=1B", NULL, "ip.later-fragment=1" },
	{ L6 "ext=frag(off=0,mf=1,id=0xdeadbeef,res=1023) tcp 4 > 22", NULL,
	  "ip.later-fragment=0 frag.id=0xdeadbeef frag.reserved=1023 frag.first=1 frag.more=1 ip6.headers=0x21 sport=4" },
	{ L6 "ext=frag tcp 4 > 22", NULL, "ip.later-fragment=0 frag.first=1 frag.more=0 frag.reserved=0 sport=4" },
	{ L6 "ext=frag(off=3) nh=6 payload=20B", NULL,
	  "ip.later-fragment=1 ip.proto=6 frag.first=0 frag.more=0 sport=- tcp.flags=- ip6.headers=0x21" },
	{ L6 "ext=frag(off=8191) nh=58 payload=20B", NULL, "ip.later-fragment=1 ip.proto=58 icmp6.type-code=-" },
	{ L6 "ext=frag(off=3) nh=60 payload=20B", "later fragment does not say its protocol", "ip.proto=-" },
	{ L6 "ext=frag(off=3) nh=59 payload=20B", NULL, "ip.later-fragment=1 ip.proto=59" },
	{ L6 "ext=frag,frag(off=3,id=7) nh=17 payload=20B", NULL, "ip.later-fragment=1 ip.proto=17 frag.first=1 frag.id=0" },
	{ L6 "ext=frag(mf=1) proto=17 payload=4B", "transport header is cut short", "sport=-" },

	/* extension headers */
	{ L6 "ext=hbh(len=24),dst,rt(type=2,left=3,len=40),frag(id=5),ah(spi=7,res=9,len=28),dst(len=16) udp 1 > 2", NULL,
	  "ip.proto=17 sport=1 dport=2 hbh.length=24 dst.length=8 rt.type=2 rt.segsleft=3 rt.length=40 frag.id=5 ah.spi=7 "
	  "ah.length=28 ah.reserved=9 ip6.headers=0xf9" },
	{ L6 "ext=dst,hbh,dst udp 1 > 2", NULL, "ip6.headers=0x91 hbh.length=8 sport=1" },
	{ L6 "ext=rt(type=0,left=1),rt(type=4,left=2) udp 1 > 2", NULL, "rt.type=0 rt.segsleft=1" },
	{ L6 "ext=ah(spi=1),ah(spi=2) udp 1 > 2", NULL, "ah.spi=1 ip.proto=17" },
	{ L6 "ext=ah(spi=1,len=12) nh=59", NULL, "ah.spi=1 ah.length=12 ip.proto=59 ip6.headers=12" },
	{ L6 "ext=hbh esp spi=5", NULL, "ip.proto=50 esp.spi=5 ip6.headers=0x82" },
	{ L6 "nh=59", NULL, "ip.proto=59 ip6.headers=4 sport=-" },
	{ L6 "nh=132 payload=12B", NULL, "ip.proto=132 sport=0 dport=0" },
	{ L6 "nh=135 payload=8B", NULL, "ip.proto=135 sport=- ip6.headers=1" },
	{ L6 "nh=51 payload=7B", "extension header is cut short", "ip.proto=-" },
	{ L6 "nh=43 payload=0B", "extension header is cut short", "ip.proto=-" },
	{ L6 "ext=hbh(badlen=1) nh=59", "extension header goes beyond the packet", "ip.proto=-" },
	{ L6 "ext=hbh(badlen=1) udp 1 > 2 payload=8B", NULL, "hbh.length=16 ip.proto=17 sport=0" },
	{ L6 "ext=ah(badlen=255) udp 1 > 2", "goes beyond the packet", "ip.proto=-" },
	{ L6 "ext=dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst udp 1 > 2", NULL, "sport=1" },
	{ L6 "ext=dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst,dst udp 1 > 2",
	  "more than 16 extension headers", "sport=- ip.proto=-" },

	/* transport layer */
	{ L4 "tcp 65535 > 0 flags=FSRPAUEC", NULL, "sport=65535 dport=0 tcp.flags=255" },
	{ L4 "proto=6 payload=8B dport=22", "transport header is cut short", "ip.proto=6 sport=- dport=- tcp.flags=-" },
	{ L4 "proto=6 payload=19B", "transport header is cut short", "tcp.flags=-" },
	{ L4 "tcp 1 > 2 doff=4", "data offset is below 5", "sport=1 dport=2" },
	{ L4 "tcp 1 > 2 doff=0", "data offset is below 5", "" },
	{ L4 "tcp 1 > 2 doff=6", "data offset is beyond the packet", "" },
	{ L4 "tcp 1 > 2 doff=15 payload=39B", "data offset is beyond the packet", "" },
	{ L4 "tcp 1 > 2 doff=15 payload=40B", NULL, "tcp.options={0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}" },
	{ L4 "tcp 1 > 2 opts=mss:05b4,nop,wscale,sackok,ts", NULL, "tcp.options={2,1,3,4,8} tcp.mss=1460" },
	{ L4 "tcp 1 > 2 opts=nop,nop,sack", NULL, "tcp.options={1,1,5} tcp.mss=-" },
	{ L4 "tcp 1 > 2 opts=hex:00020405b4", NULL, "tcp.options={0,2,0,0,0} tcp.mss=1460" },
	{ L4 "tcp 1 > 2 opts=hex:fe000405b4010101", NULL, "tcp.options={254,0,4,1} tcp.mss=-" },
	{ L4 "tcp 1 > 2 opts=hex:02030500", NULL, "tcp.options={2,0} tcp.mss=-" },
	{ L4 "tcp 1 > 2 opts=hex:01020405", NULL, "tcp.options={1,2} tcp.mss=-" },
	{ L4 "tcp 1 > 2 opts=hex:01010102", NULL, "tcp.options={1,1,1,2} tcp.mss=-" },
	{ L4 "tcp 1 > 2 opts=mss:0001,mss:0002", NULL, "tcp.options={2,2} tcp.mss=1" },
	{ L4 "tcp 1 > 2 opts=hex:2204aabb", NULL, "tcp.options={34}" },
	{ L4 "udp 1 > 2", NULL, "ip.length=28 sport=1 dport=2 tcp.flags=-" },
	{ L4 "proto=17 payload=6B", "transport header is cut short", "sport=-" },
	{ L4 "proto=17 payload=8B", NULL, "sport=0" },
	{ L4 "proto=136 payload=7B", "transport header is cut short", "sport=-" },
	{ L4 "udplite 7 > 8", NULL, "ip.proto=136 sport=7 dport=8" },
	{ L4 "icmp type=8", NULL, "ip.proto=1 icmp.type-code=0x800 icmp6.type-code=- sport=-" },
	{ L4 "icmp type=255/255", NULL, "icmp.type-code=0xffff" },
	{ L4 "proto=1 payload=7B", "transport header is cut short", "icmp.type-code=-" },
	{ L4 "proto=58 payload=8B", NULL, "icmp.type-code=- icmp6.type-code=-" },
	{ L4 "proto=58 payload=1B", NULL, "icmp6.type-code=-" },
	{ L6 "icmp6 type=128/1", NULL, "ip.proto=58 icmp6.type-code=0x8001 icmp.type-code=-" },
	{ L6 "proto=1 payload=8B", NULL, "icmp.type-code=- icmp6.type-code=-" },
	{ L6 "proto=58 payload=7B", "transport header is cut short", "icmp6.type-code=-" },
	{ L4 "sctp 1 > 2 chunks=init:0,cookie_ack:3", NULL, "sport=1 sctp.chunks={0x100,0xb03}" },
	{ L4 "sctp 1 > 2 chunks=hex:0003000500000000010000040b00000d", NULL, "sctp.chunks={3,0x100,0xb00}" },
	{ L4 "sctp 1 > 2 chunks=hex:01000000", NULL, "sport=1 sctp.chunks=?" },
	{ L4 "sctp 1 > 2 chunks=hex:010000040b0000", NULL, "sctp.chunks=?" },
	{ L4 "sctp 1 > 2 chunks=hex:", NULL, "dport=2 sctp.chunks=?" },
	{ L4 "proto=132 payload=11B", "transport header is cut short", "sport=-" },
	{ L4 "dccp 1 > 2 type=reset", NULL, "sport=1 dport=2 dccp.type=7" },
	{ L4 "dccp 1 > 2 type=15", NULL, "dccp.type=15" },
	{ L4 "proto=33 payload=11B", "transport header is cut short", "dccp.type=-" },
	{ L4 "esp spi=0xffffffff", NULL, "ip.proto=50 esp.spi=0xffffffff sport=-" },
	{ L4 "proto=50 payload=7B", "transport header is cut short", "esp.spi=-" },
	{ L4 "ah spi=0x100", NULL, "ip.proto=51 ah.spi=0x100 ah.length=24 ah.reserved=0 ip6.headers=-" },
	{ L4 "proto=51 payload=11B", "transport header is cut short", "ah.spi=-" },
	{ L4 "gre", NULL, "ip.proto=47 sport=-" },

	/* link layer */
	{ "eth " L4 "udp 1 > 2", NULL, "ether.src=0x020000000001 ether.dst=0x020000000002 ether.type=0x800 vlan.id=- pkttype=*" },
	{ "mac=ff:fe:fd:fc:fb:fa dstmac=ff:ff:ff:ff:ff:ff " L6 "udp 1 > 2", NULL,
	  "ether.src=0xfffefdfcfbfa pkttype=1 ether.type=0x86dd" },
	{ "dstmac=01:00:5e:00:00:01 " L4 "udp 1 > 2", NULL, "pkttype=2" },
	{ "pkttype=host dstmac=01:00:5e:00:00:01 " L4 "udp 1 > 2", NULL, "pkttype=0" },
	{ "vlan=7 " L4 "udp 1 > 2", NULL, "vlan.id=7 ether.type=0x800 sport=1" },
	{ "vlan=4095(ad,pcp=7,dei) vlan=9 " L6 "udp 1 > 2", NULL, "vlan.id=4095 ether.type=0x86dd sport=1" },
	{ "eth vlan=1 vlan=2 vlan=3 " L4 "udp 1 > 2", "more than two VLAN tags", "not-ip sport=-" },
	{ "eth vlan=9(metadata) vlan=2 " L4 "udp 1 > 2", NULL, "vlan.id=9 sport=1" },
	{ "eth vlan=9(metadata) vlan=2 vlan=3 " L4 "udp 1 > 2", "more than two VLAN tags", "vlan.id=9" },
	{ "eth vlan=9(metadata) type=0x8892", NULL, "not-ip vlan.id=9 ether.type=0x8892" },
	{ L4 "udp 1 > 2", NULL, "ether.src=? ether.type=? vlan.id=-" },
	{ "out=eth0 " L4 "udp 1 > 2", NULL, "ether.src=- ether.type=- iif.name=- iif.group=-" },
	{ "arp 192.0.2.7 > 192.0.2.1", NULL, "not-ip ether.type=0x806 ip.proto=- pkttype=1" },
	{ "eth type=0x8100", "VLAN tag is cut short", "not-ip" },
	{ "eth type=0x88a8 payload=hex:0001", "VLAN tag is cut short", "not-ip vlan.id=1" },
	{ "eth type=46 payload=46B", NULL, "not-ip ether.type=-" },
	{ "eth type=0x9100 payload=46B", NULL, "not-ip ether.type=0x9100" },
	{ "eth hex ffffffffffff02000000000108", "Ethernet header is cut short", "not-ip pkttype=1 ether.src=0x020000000001" },
	{ "eth type=0x0800", "IP header is cut short", "ip4" },
	{ "eth type=0x86dd", "IP header is cut short", "ip6" },
	{ "other hex 4500", NULL, "not-ip ether.type=-" },

	/* what the machine knew */
	{ "in=eth0 " L4 "udp 1 > 2", NULL, "iif.name=eth0 oif.name=? iif.group=? physdev.in=? socket.uid=? socket.exists=*" },
	{ "in=eth0 out=eth1 " L4 "udp 1 > 2", NULL, "iif.name=eth0 oif.name=eth1 socket.uid=- socket.gid=- socket.exists=0" },
	{ "in=- out=eth1 " L4 "udp 1 > 2", NULL, "iif.name=- oif.name=eth1 socket.uid=?" },
	{ "out=eth1 uid=0 " L4 "udp 1 > 2", NULL, "socket.uid=0 socket.gid=* socket.exists=1" },
	{ "out=eth1 gid=7 " L4 "udp 1 > 2", NULL, "socket.uid=* socket.gid=7 socket.exists=1" },
	{ "out=eth1 uid=- " L4 "udp 1 > 2", NULL, "socket.uid=- socket.gid=- socket.exists=0" },
	{ "physin=veth1 physout=- " L4 "udp 1 > 2", NULL, "physdev.in=veth1 physdev.out=-" },
	{ "mark=0xffffffff cpu=3 realm=9 pkttype=3 " L4 "udp 1 > 2", NULL, "mark=0xffffffff cpu=3 route.realm=9 pkttype=3" },
	{ L4 "udp 1 > 2", NULL, "iif.name=? oif.name=? cpu=* route.realm=? src.type=* dst.type=* ct.mark=? ct.status=? ct.orig.src=?" },
	{ "ct=new " L4 "udp 1 > 2", NULL, "ct.state=2 ct.mark=? ct.status=?" },
	{ "ct=established ctmark=5 " L4 "udp 1 > 2", NULL, "ct.state=4 ct.mark=5" },
	{ "ct=related " L4 "udp 1 > 2", NULL, "ct.state=8" },
	{ "ct=invalid ctmark=5 " L4 "udp 1 > 2", NULL, "ct.state=1 ct.mark=- ct.status=- ct.expire=- ct.reply.dport=-" },
	{ "ct=untracked " L4 "udp 1 > 2", NULL, "ct.state=16 ct.mark=- ct.direction=-" },

	/* captured in part: unknown, neither absent nor malformed */
	{ L4 "tcp 1 > 2 flags=S mss=5 cut=44", NULL, "dport=2 tcp.flags=2 tcp.mss=5" },
	{ L4 "tcp 1 > 2 flags=S mss=5 cut=43", NULL, "dport=2 tcp.flags=2 tcp.options=? tcp.mss=?" },
	{ L4 "tcp 1 > 2 cut=33", NULL, "dport=2 tcp.flags=* tcp.options=?" },
	{ L4 "tcp 1 > 2 cut=32", NULL, "dport=2 tcp.flags=* tcp.options=? tcp.mss=?" },
	{ L4 "tcp 1 > 2 cut=22", NULL, "sport=1 dport=* icmp.type-code=- sctp.chunks=-" },
	{ L4 "tcp 1 > 2 cut=20", NULL, "ip.later-fragment=0 sport=* dport=*" },
	{ L4 "tcp 1 > 2 cut=19", NULL, "ip.src=0xc6336407 ip.dst=* ip.proto=6 sport=*" },
	{ L4 "tcp 1 > 2 cut=9", NULL, "ip.ttl=64 ip.proto=* sport=? tcp.flags=? icmp.type-code=? ip.length=40" },
	{ L4 "frag=3 payload=8B proto=6 cut=7", NULL, "ip.later-fragment=* sport=?" },
	{ L4 "tcp 1 > 2 cut=1", NULL, "ip4 ip.length=* ip.src=* sport=?" },
	{ L4 "tcp 1 > 2 cut=0", NULL, "unseen" },
	{ "eth " L4 "tcp 1 > 2 cut=0", NULL, "unseen ip4" },
	{ "eth hex ffffffffffff020000000001080045 cut=13", NULL, "unseen not-ip" },
	{ L4 "icmp type=8 cut=21", NULL, "icmp.type-code=* ip.proto=1" },
	{ L4 "proto=17 payload=6B cut=20", "transport header is cut short", "" },
	{ L6 "tcp 1 > 2 cut=40", NULL, "ip.proto=6 sport=* tcp.flags=*" },
	{ L6 "tcp 1 > 2 cut=39", NULL, "ip.proto=6 ip.dst=* sport=*" },
	{ L6 "tcp 1 > 2 cut=6", NULL, "ip.proto=* ip.later-fragment=* sport=? rt.type=? ip6.headers=* ip.ttl=*" },
	{ L6 "ext=hbh,rt(type=4) tcp 1 > 2 cut=55", NULL, "ip.proto=* hbh.length=8 rt.type=? sport=? icmp6.type-code=? ip6.headers=*" },
	{ L6 "ext=hbh,rt(type=4) tcp 1 > 2 cut=56", NULL, "ip.proto=6 rt.type=4 sport=*" },
	{ L4 "sctp 1 > 2 chunks=init,init cut=39", NULL, "dport=2 sctp.chunks=?" },
};

static int field_by_name(struct str name)
{
	for (int x = 0; x < FIELD_COUNT; x++)
		if (str_is(name, field_table[x].name))
			return x;
	fail_msg("no field '%.*s'", STR_ARG(name));
	return -1;
}

static void check_many(const struct facts *f, int x, struct str list, const char *line)
{
	const uint16_t *v = x == FIELD_TCP_OPTS ? f->tcp_opts.v : f->sctp_chunks.v;
	unsigned n = x == FIELD_TCP_OPTS ? f->tcp_opts.n : f->sctp_chunks.n, i = 0;
	struct str rest = str_slice(list, 1, list.n - 1), item;
	uint64_t want;

	while (rest.n) {
		item = str_cut(rest, ',', &rest, NULL);
		assert_true(str_u64(item, 0, 65535, &want));
		if (i >= n || v[i] != want)
			fail_msg("%s: value %u of %s is not %u", line, i, field_table[x].name, (unsigned)want);
		i++;
	}
	if (i != n || f->has[x] != EVAL_YES || !f->known[x])
		fail_msg("%s: %s has %u values, not %u", line, field_table[x].name, n, i);
}

static void check_value(const struct facts *f, int x, struct str want, const char *line)
{
	bool there = f->has[x] == EVAL_YES;
	uint64_t v = 0;

	if (str_is(want, "-") ? f->has[x] != EVAL_NO
	    : str_is(want, "?") ? f->has[x] != EVAL_UNKNOWN
				: !there)
		fail_msg("%s: %s is %s, not %.*s", line, field_table[x].name,
			 f->has[x] == EVAL_NO ? "absent" : there ? "there" : "unknown", STR_ARG(want));
	if (str_is(want, "-") || str_is(want, "?"))
		return;
	if (f->known[x] == str_is(want, "*"))
		fail_msg("%s: the value of %s is %sknown", line, field_table[x].name, f->known[x] ? "" : "un");
	if (str_is(want, "*"))
		return;
	if (field_table[x].kind == FIELD_KIND_NAME)
		assert_true(f->v[x] == field_name_value(want));
	else if (!str_u64(want, 0, UINT64_MAX, &v) || f->v[x] != v)
		fail_msg("%s: %s is 0x%llx, not %.*s", line, field_table[x].name, (unsigned long long)f->v[x], STR_ARG(want));
}

static void check_word(const struct facts *f, struct str word, const char *line)
{
	struct str want, name = str_cut(word, '=', &want, NULL);

	if (str_is(word, "not-ip")) {
		if (f->is_ip)
			fail_msg("%s: is IP", line);
	} else if (str_is(word, "unseen")) {
		if (!f->is_unseen)
			fail_msg("%s: is seen", line);
	} else if (str_is(word, "ip4") || str_is(word, "ip6")) {
		if (!f->is_ip || f->family != (str_is(word, "ip6") ? FAMILY_IP6 : FAMILY_IP4))
			fail_msg("%s: is not %.*s", line, STR_ARG(word));
	} else if (want.n && want.p[0] == '{') {
		check_many(f, field_by_name(name), want, line);
	} else if (word.n) {
		check_value(f, field_by_name(name), want, line);
	}
}

static bool read_line(struct arena *a, const char *line, struct packet *p)
{
	return notation_parse(a, NULL, str_from(line), (struct loc){ 0 }, p);
}

static void packets_have_their_facts(void **state)
{
	struct facts f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *a = arena_create();
		struct packet p;
		struct str rest = str_from(rows[i].want);

		if (!read_line(a, rows[i].line, &p))
			fail_msg("not read: %s", rows[i].line);
		facts_read(&f, &p);
		if (f.is_malformed != (rows[i].malformed != NULL) || (f.is_malformed && !strstr(f.malformed, rows[i].malformed)))
			fail_msg("%s: malformed is '%s', not '%s'", rows[i].line, f.is_malformed ? f.malformed : "",
				 rows[i].malformed ? rows[i].malformed : "");
		while (rest.n)
			check_word(&f, str_cut(rest, ' ', &rest, NULL), rows[i].line);
		arena_destroy(a);
	}
}

static void bytes_of_the_packet_are_found(void **state)
{
	struct arena *a = arena_create();
	struct packet p;
	struct facts f;

	(void)state;
	assert_true(read_line(a, "vlan=1 " L4 "ihl=6 udp 1 > 2 payload=\"abc\" pad=9B", &p));
	facts_read(&f, &p);
	assert_ptr_equal(f.l3, p.bytes + 18);
	assert_int_equal(f.l3_len, 35);
	assert_int_equal(f.l3_wire_len, 35);
	assert_int_equal(f.l4_off, 24);
	assert_int_equal(f.l4_len, 11);
	assert_true(read_line(a, L6 "ext=hbh,frag(off=1) nh=17 payload=9B cut=60", &p));
	facts_read(&f, &p);
	assert_int_equal(f.l3_len, 60);
	assert_int_equal(f.l3_wire_len, 65);
	assert_int_equal(f.l4_off, 56);
	assert_int_equal(f.l4_len, 4);
	assert_true(read_line(a, L4 "udp 1 > 2 cut=10", &p));
	facts_read(&f, &p);
	assert_int_equal(f.l4_off + f.l4_len, 10);
	arena_destroy(a);
}

/* ---------- laws over damaged packets ---------- */

static uint64_t seed = 4711;

static uint32_t dice(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* What holds of every reading. */
static void check_laws(const struct facts *f, const struct packet *p)
{
	assert_true(f->is_malformed == (f->malformed != NULL));
	assert_true(f->tcp_opts.n <= FACTS_MANY_MAX && f->sctp_chunks.n <= FACTS_MANY_MAX);
	if (f->l3) {
		assert_true(f->l3 >= p->bytes && f->l3 + f->l3_len <= p->bytes + p->len);
		assert_true(f->l4_off + f->l4_len <= f->l3_len && f->l3_len <= f->l3_wire_len);
	}
	for (int x = 0; x < FIELD_COUNT; x++) {
		assert_true(f->has[x] <= EVAL_UNKNOWN);
		assert_true(f->has[x] == EVAL_YES || !f->known[x]);
		assert_true(f->v[x] <= field_max((enum field)x));
		if (field_table[x].layer >= FIELD_LAYER_L3 && p->len == p->wire_len && x != FIELD_SCTP_CHUNKS &&
		    !f->is_malformed)
			assert_true(f->has[x] != EVAL_UNKNOWN && (f->has[x] == EVAL_NO || f->known[x]));
	}
}

/* Seeing less of a packet makes facts unknown; it changes none and adds none. */
static void check_less(const struct facts *less, const struct facts *full)
{
	if (less->is_malformed)
		assert_true(full->is_malformed);
	if (less->is_malformed || less->is_unseen)
		return;
	for (int x = 0; x < FIELD_COUNT; x++) {
		if (less->has[x] == EVAL_YES && less->known[x] && (full->has[x] != EVAL_YES || full->v[x] != less->v[x]))
			fail_msg("%s is known as %llu of less, but %llu of all (%s)", field_table[x].name,
				 (unsigned long long)less->v[x], (unsigned long long)full->v[x],
				 full->is_malformed ? full->malformed : "fine");
		if (less->has[x] == EVAL_NO && !full->is_malformed && full->has[x] != EVAL_NO)
			fail_msg("%s is absent of less, but not of all", field_table[x].name);
	}
}

/* bytes: exactly n of them on the heap, so that reading one more is caught. */
static void read_exact(const uint8_t *bytes, uint32_t n, uint32_t wire, const struct packet *like, struct facts *f)
{
	struct packet p = *like;
	uint8_t *copy = test_malloc(n + !n);

	memcpy(copy, bytes, n);
	p.bytes = copy;
	p.len = n;
	p.wire_len = wire;
	facts_read(f, &p);
	check_laws(f, &p);
	test_free(copy);
}

static void every_cut_and_every_end_is_safe(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *a = arena_create();
		struct facts full, less;
		struct packet p;

		assert_true(read_line(a, rows[i].line, &p));
		p.wire_len = p.len;
		read_exact(p.bytes, p.len, p.len, &p, &full);
		for (uint32_t n = 0; n <= p.len; n++) {
			read_exact(p.bytes, n, p.len, &p, &less); /* captured up to there */
			check_less(&less, &full);
			read_exact(p.bytes, n, n, &p, &less); /* ends there */
		}
		arena_destroy(a);
	}
}

static void flipped_bytes_are_safe(void **state)
{
	struct facts full, less;
	unsigned malformed = 0, fine = 0;

	(void)state;
	for (unsigned round = 0; round < 40000; round++) {
		struct arena *a = arena_create();
		uint8_t bytes[1024];
		struct packet p;

		if (read_line(a, rows[dice(sizeof rows / sizeof *rows)].line, &p) && p.len > 0) {
			memcpy(bytes, p.bytes, p.len);
			for (uint32_t k = 1 + dice(4); k > 0; k--)
				bytes[dice(p.len)] = (uint8_t)dice(256);
			p.link = dice(8) ? p.link : PACKET_LINK_ETHER;
			read_exact(bytes, p.len, p.len, &p, &full);
			read_exact(bytes, dice(p.len + 1), p.len, &p, &less);
			check_less(&less, &full);
			malformed += full.is_malformed;
			fine += !full.is_malformed;
		}
		arena_destroy(a);
	}
	assert_true(malformed > 1000 && fine > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_have_their_facts),
		cmocka_unit_test(bytes_of_the_packet_are_found),
		cmocka_unit_test(every_cut_and_every_end_is_safe),
		cmocka_unit_test(flipped_bytes_are_safe),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
