#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Every match, as it is and negated, against packets that have what it looks for, have something else, or lack it.

All rules only count, and stand in one chain that every chain of mangle jumps to (those that only some hooks allow stand in
these hooks' chains), so each packet meets each rule at each hook on its path. After every packet the kernel's counters
are compared with the evaluator's. With connection tracking on, the kernel reassembles before the first chain; so tests
on connections come in a ruleset of their own, with whole packets. TIMEOUT 300
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lab  # noqa: E402

# families, hooks (i: with an input interface, o: with an output interface, s: with a socket,
# r: with a route; "any": a chain that all of them jump to; "-": a rule in every chain), words.
# "~" is where a "!" may stand: such a rule is tried both ways.
MATCHES = """
46 - ~ -s $SRC
46 - ~ -d $DST
46 - ~ -s $SRCNET
46 - ~ -d $DSTNET
46 - -s $ALL
46 i ~ -i eth0
46 i ~ -i eth+
46 i ~ -i ppp10
46 i ~ -i eth00
46 o ~ -o eth1
46 o ~ -o eth+
46 o ~ -o ppp1
46 any ~ -i eth0
46 any ~ -o eth1
46 any ~ -i e+
46 any ~ -o e+
46 - ~ -p tcp
46 - ~ -p udp
46 - ~ -p $ICMP
46 - ~ -p 47
46 - ~ -p sctp
46 - -p all
4 - ~ -f
46 - -p tcp ~ --dport 22
46 - -p tcp ~ --dport 0:21
46 - -p tcp ~ --dport 23:65535
46 - -p tcp ~ --sport 40000
46 - -p tcp ~ --sport 0:65535
46 - -p tcp ~ --syn
46 - -p tcp ~ --tcp-flags ALL NONE
46 - -p tcp ~ --tcp-flags ALL ALL
46 - -p tcp ~ --tcp-flags SYN,ACK SYN,ACK
46 - -p tcp ~ --tcp-flags FIN,URG,PSH FIN,URG,PSH
46 - -p tcp ~ --tcp-option 2
46 - -p tcp ~ --tcp-option 8
46 - -p udp ~ --dport 53
46 - -p udp ~ --sport 1024:65535
4 - -p icmp -m icmp ~ --icmp-type any
4 - -p icmp -m icmp ~ --icmp-type 8
4 - -p icmp -m icmp ~ --icmp-type 3/1
4 - -p icmp -m icmp ~ --icmp-type 3
6 - -p icmpv6 -m icmp6 ~ --icmpv6-type 128
6 - -p icmpv6 -m icmp6 ~ --icmpv6-type 1/4
6 - -p icmpv6 -m icmp6 ~ --icmpv6-type 1
46 - -p tcp -m multiport ~ --dports 21,22,80:443
46 - -p udp -m multiport ~ --sports 1:1023
46 - -p tcp -m multiport ~ --ports 22
46 - -p udplite -m multiport ~ --dports 53
46 - -p dccp -m multiport ~ --dports 53
46 - -p sctp -m multiport ~ --dports 9
46 - -p sctp -m sctp ~ --dport 9
46 - -p sctp -m sctp ~ --sport 7:8
46 - -p sctp -m sctp ~ --chunk-types any INIT
46 - -p sctp -m sctp ~ --chunk-types all DATA,SACK
46 - -p sctp -m sctp ~ --chunk-types only DATA
46 - -p dccp -m dccp ~ --dport 53
46 - -p dccp -m dccp ~ --sport 40000
46 - -p dccp -m dccp ~ --dccp-types REQUEST,DATA
46 - -m mark ~ --mark 0
46 - -m mark ~ --mark 7
46 - -m mark ~ --mark 0x7/0xf
46 - -m iprange ~ --src-range $SRCRANGE
46 - -m iprange ~ --dst-range $DSTRANGE
46 - -m set ~ --match-set hosts$F src
46 - -m set ~ --match-set hosts$F dst
46 - -m set ~ --match-set nets$F src
46 - -m set ~ --match-set services$F src,src
46 - -m set ~ --match-set services$F dst,dst
46 - -m set ~ --match-set ports$F dst
46 - -m set ~ --match-set ports$F src
46 i -m set ~ --match-set ifaces$F src,src
46 any -m set ~ --match-set ifaces$F src,src
46 any -m set ~ --match-set ifaces$F dst,dst
46 i -m mac ~ --mac-source 02:00:00:00:00:0a
46 i -m mac ~ --mac-source 02:00:00:00:00:0b
4 - -m addrtype ~ --src-type LOCAL
46 - -m addrtype ~ --dst-type LOCAL
4 - -m addrtype ~ --dst-type UNICAST
4 - -m addrtype ~ --dst-type BROADCAST
46 - -m addrtype ~ --dst-type MULTICAST
46 - -m pkttype ~ --pkt-type unicast
46 - -m pkttype ~ --pkt-type broadcast
46 - -m pkttype ~ --pkt-type multicast
46 - -m length ~ --length 0:39
46 - -m length ~ --length 40
46 - -m length ~ --length 60:65535
4 - -m ttl ~ --ttl-eq 64
4 - -m ttl --ttl-lt 64
4 - -m ttl --ttl-gt 64
6 - -m hl ~ --hl-eq 64
6 - -m hl --hl-lt 64
6 - -m hl --hl-gt 64
46 - -m tos ~ --tos 0x10/0xff
46 - -m tos ~ --tos 0x10/0x3f
46 - -m dscp ~ --dscp 46
46 - -m dscp ~ --dscp-class CS1
46 - -m ecn ~ --ecn-ip-ect 0
46 - -m ecn ~ --ecn-ip-ect 3
46 - -p tcp -m tcp -m ecn ~ --ecn-tcp-cwr
46 - -p tcp -m tcp -m ecn ~ --ecn-tcp-ece
46 - -m limit --limit 1/hour --limit-burst 3
46 - -p tcp -m limit --limit 1/hour --limit-burst 2
46 - -m hashlimit --hashlimit-upto 1/hour --hashlimit-burst 2 --hashlimit-mode srcip --hashlimit-name a
4 - -m hashlimit --hashlimit-above 1/hour --hashlimit-burst 2 --hashlimit-mode dstip,dstport --hashlimit-name b
6 - -p udp -m hashlimit --hashlimit-above 1/hour --hashlimit-burst 2 --hashlimit-mode dstip,dstport --hashlimit-name b
6 - -p 47 -m hashlimit --hashlimit-above 1/hour --hashlimit-burst 2 --hashlimit-mode dstip,dstport --hashlimit-name g
46 - -m hashlimit --hashlimit-upto 1/hour --hashlimit-burst 2 --hashlimit-mode srcip --hashlimit-srcmask 24 --hashlimit-name c
46 - -m hashlimit --hashlimit-upto 1/hour --hashlimit-burst 5 --hashlimit-name d
46 - -m recent ~ --set --name a --rsource
46 - -m recent ~ --rcheck --name a --rsource
46 - -m recent ~ --rcheck --name a --rsource --hitcount 3 --seconds 1000
46 - -m recent ~ --update --name b --rdest
46 - -m recent ~ --remove --name c --rdest
46 - -m statistic --mode nth ~ --every 3 --packet 0
46 - -m statistic --mode nth ~ --every 2 --packet 1
46 - -m statistic --mode random ~ --probability 0
46 s -m owner ~ --uid-owner 1000
46 s -m owner ~ --uid-owner 500-999
46 s -m owner ~ --gid-owner 100
46 s -m owner ~ --socket-exists
46 any -m physdev ~ --physdev-in eth0
46 i -m physdev ~ --physdev-is-in
46 i -m physdev ~ --physdev-is-bridged
46 - -m time --datestart 2001-01-01 --datestop 2002-01-01
46 - -m time --datestart 2001-01-01
46 - -m time --timestart 00:00 --timestop 23:59:59
46 - -m time ~ --weekdays Mon,Tue,Wed,Thu,Fri,Sat,Sun
4 - -m u32 ~ --u32 "6&0xff=6"
4 - -m u32 ~ --u32 "0>>22&0x3c@0>>16=40000"
4 - -m u32 ~ --u32 "0>>22&0x3c@0&0xffff=22,53"
4 - -m u32 ~ --u32 "4&0x3fff=0&&6&0xff=17"
4 - -m u32 ~ --u32 "1000=0"
6 - -m u32 ~ --u32 "4>>8&0xff=6"
6 - -m u32 ~ --u32 "40&0xffff=22"
46 - -m string --algo bm ~ --string "GET /"
46 - -m string --algo kmp ~ --string "get /" --icase
46 - -m string --algo bm ~ --string "GET /" --from 60
46 - -m string --algo kmp ~ --string "GET /" --to 30
46 - -p tcp --tcp-flags SYN,RST SYN -m tcpmss ~ --mss 1400:1460
46 - -p tcp -m tcp -m tcpmss ~ --mss 0:65535
46 - -p esp -m esp ~ --espspi 256:512
4 - -p ah -m ah ~ --ahspi 5
6 - -m ah ~ --ahspi 5
6 - -m ah ~ --ahlen 24
46 - -m policy --dir $DIR --pol none
46 i -m devgroup ~ --src-group 0x7
46 o -m devgroup ~ --dst-group 7/0xf
46 i -m devgroup ~ --src-group 0
46 o -m devgroup ~ --dst-group 0
46 - -m comment --comment "all of them"
46 - -m bpf --bytecode "4,48 0 0 9,21 0 1 6,6 0 0 1,6 0 0 0"
46 - -m bpf --bytecode "1,6 0 0 1"
46 - -m quota ~ --quota 200
4 r -m realm ~ --realm 0
6 - -m rt ~ --rt-type 0
6 - -m rt ~ --rt-type 4
6 - -m rt ~ --rt-segsleft 0:1
6 - -m rt ~ --rt-len 8
6 - -m rt --rt-type 0 --rt-0-res
6 - -m rt --rt-type 0 --rt-0-addrs 2001:db8::9
6 - -m rt --rt-type 0 --rt-0-addrs 2001:db8::9 --rt-0-not-strict
6 - -m frag ~ --fragid 7
6 - -m frag ~ --fragid 0:6
6 - -m frag --fragfirst
6 - -m frag --fragmore
6 - -m frag --fraglast
6 - -m frag --fragres
6 - -m hbh
6 - -m hbh ~ --hbh-len 8
6 - -m hbh --hbh-opts 5
6 - -m dst
6 - -m dst ~ --dst-len 8
6 - -m dst --dst-opts 1,5:2
6 - -m ipv6header ~ --header hop --soft
6 - -m ipv6header ~ --header frag --soft
6 - -m ipv6header ~ --header none --soft
6 - -m ipv6header ~ --header prot --soft
6 - -m ipv6header ~ --header hop
6 - -m ipv6header ~ --header hop,dst
6 - -m ipv6header ~ --header route,frag,auth,esp --soft
6 - -p mh -m mh ~ --mh-type 1
6 i -m eui64
"""

CONNECTIONS = """
46 - -m state ~ --state NEW
46 - -m state ~ --state ESTABLISHED
46 - -m state ~ --state RELATED
46 - -m state ~ --state INVALID
46 - -m state ~ --state UNTRACKED
46 - -m state ~ --state RELATED,ESTABLISHED
46 - -m conntrack ~ --ctstate NEW
46 - -m conntrack ~ --ctstate INVALID
46 - -m conntrack ~ --ctstate UNTRACKED,ESTABLISHED
46 - -m conntrack ~ --ctstate SNAT
46 - -m conntrack ~ --ctstate DNAT
46 - -m conntrack ~ --ctproto 17
46 - -m conntrack ~ --ctproto tcp
46 - -m conntrack ~ --ctorigsrc $SRC
46 - -m conntrack ~ --ctorigdst $DST
46 - -m conntrack ~ --ctreplsrc $DST
46 - -m conntrack ~ --ctrepldst $SRC
46 - -p tcp -m conntrack ~ --ctorigsrcport 40000
46 - -p udp -m conntrack ~ --ctorigdstport 53
46 - -p udp -m conntrack ~ --ctreplsrcport 53
46 - -p tcp -m conntrack ~ --ctrepldstport 40000:40001
46 - -m conntrack ~ --ctstatus NONE
46 - -m conntrack ~ --ctstatus SEEN_REPLY
46 - -m conntrack ~ --ctstatus ASSURED
46 - -m conntrack ~ --ctstatus CONFIRMED
46 - -m conntrack ~ --ctstatus EXPECTED
46 - -m conntrack --ctdir ORIGINAL
46 - -m conntrack --ctdir REPLY
46 - -m connmark ~ --mark 0
46 - -m connmark ~ --mark 9
46 - -m connmark ~ --mark 0/0xff
46 - -p tcp --syn -m connlimit --connlimit-above 1 --connlimit-mask 32 --connlimit-saddr
46 - -p tcp --syn -m connlimit --connlimit-upto 1 --connlimit-mask 24 --connlimit-daddr
46 - -m helper ~ --helper ftp
"""

VALUES = {
    "ip": {"SRCNET": "192.0.2.0/25", "DSTNET": "198.51.100.0/24", "SRCRANGE": "192.0.2.10-192.0.2.20", "F": "",
           "DSTRANGE": "198.51.100.20-203.0.113.1", "SRC": "192.0.2.10", "DST": "198.51.100.20", "ALL": "0.0.0.0/0",
           "ICMP": "icmp"},
    "ip6": {"SRCNET": "2001:db8::/65", "DSTNET": "2001:db8:1::/64", "SRCRANGE": "2001:db8::a-2001:db8::20", "F": "6",
            "DSTRANGE": "2001:db8:1::20-2001:db8:2::1", "SRC": "2001:db8::a", "DST": "2001:db8:1::20", "ALL": "::/0",
            "ICMP": "icmpv6"},
}
SETS = {
    "ip": """create hosts hash:ip
create nets hash:net
create services hash:ip,port
create ports bitmap:port range 0-65535
create ifaces hash:net,iface
add hosts 192.0.2.10
add hosts 198.51.100.1
add nets 192.0.2.0/24
add nets 192.0.2.128/25 nomatch
add services 198.51.100.20,tcp:22
add services 192.0.2.1,icmp:echo-request
add services 192.0.2.10,udp:40000
add ports 22
add ports 40000
add ifaces 192.0.2.0/24,eth0
add ifaces 198.51.100.0/24,eth1
""",
    "ip6": """create hosts6 hash:ip family inet6
create nets6 hash:net family inet6
create services6 hash:ip,port family inet6
create ports6 bitmap:port range 0-65535
create ifaces6 hash:net,iface family inet6
add hosts6 2001:db8::a
add hosts6 2001:db8:1::1
add nets6 2001:db8::/64
add nets6 2001:db8:0:0:8000::/65 nomatch
add services6 2001:db8:1::20,tcp:22
add services6 2001:db8::1,icmpv6:128/0
add services6 2001:db8::a,udp:40000
add ports6 22
add ports6 40000
add ifaces6 2001:db8::/64,eth0
add ifaces6 2001:db8:1::/64,eth1
""",
}

# What stands behind "SRC > DST" of a packet; sent along each of WAYS. "4:" or "6:" restricts it to a family.
INNER = """
tcp 40000 > 22 flags=S
tcp 40000 > 21 flags=S mss=1460
tcp 40000 > 23 flags=S mss=1399 opts=mss:0577,nop,nop,ts
tcp 1023 > 443 flags=SA
tcp 22 > 40000 flags=
tcp 40000 > 80 flags=FSRPAUEC
tcp 40000 > 80 flags=FPU
tcp 40000 > 80 flags=A payload="GET /index"
tcp 40000 > 80 flags=SE
tcp 40000 > 80 flags=SC payload="xxxxxxxxxxxxxxxxxxxxxxxxget /"
udp 40000 > 53
udp 1023 > 54 payload="GET /"
udp 53 > 40000 payload=1B
udplite 40000 > 53
udplite 40000 > 54
sctp 7 > 9
sctp 7 > 9 chunks=init
sctp 9 > 10 chunks=data,sack
sctp 8 > 9 chunks=data
dccp 40000 > 53 type=request
dccp 40001 > 54 type=ack
4: icmp type=8
4: icmp type=0
4: icmp type=3/1
4: icmp type=3/0
6: icmp6 type=128
6: icmp6 type=129
6: icmp6 type=1/4
6: icmp6 type=1/0
proto=47 payload=16B
4: proto=89 payload=4B
esp spi=256
esp spi=7
ttl=63 udp 40000 > 53
ttl=64 udp 40000 > 53
ttl=65 udp 40000 > 53
tos=0x10 udp 40000 > 53
tos=0xd0 udp 40000 > 53
tos=0xb8 udp 40000 > 53
tos=0x23 udp 40000 > 53
4: ihl=6 tcp 40000 > 22 flags=S
4: ihl=15 udp 40000 > 53
4: ah spi=5 payload=16B
4: ah spi=6 payload=20B
6: ext=ah(spi=5) udp 40000 > 53
6: ext=ah(spi=6) tcp 40000 > 22 flags=S
6: ext=hbh tcp 40000 > 22 flags=S
6: ext=hbh(opt=5:0000) udp 40000 > 53
6: ext=dst tcp 40000 > 22 flags=S
6: ext=hbh,dst udp 40000 > 53
6: ext=rt(type=4) tcp 40000 > 22 flags=S
6: ext=rt(type=0,left=1,addr=2001:db8::9) tcp 40000 > 22 flags=S
6: ext=rt(type=0,left=0) udp 40000 > 53
6: nh=59
"""
FRAGMENTS = """
4: mf=1 id=7 tcp 40000 > 22 flags=S payload=4B
4: mf=1 id=7 udp 40000 > 53 payload=8B
4: proto=6 frag=3 id=7 payload=24B
4: proto=6 frag=3 mf=1 id=7 payload=24B
4: proto=17 frag=185 payload=24B
4: proto=1 frag=3 payload=24B
4: proto=132 frag=3 payload=24B
4: proto=33 frag=3 payload=24B
4: proto=136 frag=3 payload=24B
4: proto=50 frag=3 payload=24B
4: proto=51 frag=3 payload=24B
6: ext=frag(off=0,mf=1,id=7) tcp 40000 > 22 flags=S payload=4B
6: ext=frag(off=0,mf=0,id=8) udp 40000 > 53
6: ext=frag(off=3,id=7) nh=6 payload=24B
6: ext=frag(off=3,mf=1,id=7) nh=17 payload=24B
6: ext=frag(off=3) nh=58 payload=24B
6: ext=frag(off=3) nh=132 payload=24B
6: ext=frag(off=3) nh=33 payload=24B
6: ext=frag(off=3) nh=136 payload=24B
6: ext=frag(off=3) nh=50 payload=24B
6: ext=hbh,frag(off=3) nh=17 payload=24B
"""
WAYS = {
    "ip": ["in=eth0 mac=02:00:00:00:00:0a pkttype=unicast mark=0 ip 192.0.2.10 > 192.0.2.1",
           "in=eth0 out=eth1 mac=02:00:00:00:00:0b pkttype=unicast mark=0 ip 192.0.2.10 > 198.51.100.20",
           "in=eth1 out=ppp10 mac=02:00:00:00:00:0c pkttype=unicast mark=0 ip 198.51.100.7 > 203.0.113.30",
           "out=eth1 uid=1000 gid=0 pkttype=unicast mark=7 ip 198.51.100.1 > 198.51.100.20"],
    "ip6": ["in=eth0 mac=02:00:00:00:00:0a pkttype=unicast mark=0 ip6 2001:db8::a > 2001:db8::1",
            "in=eth0 out=eth1 mac=02:00:00:00:00:0b pkttype=unicast mark=0 ip6 2001:db8::a > 2001:db8:1::20",
            "in=eth1 out=ppp10 mac=02:00:00:00:00:0c pkttype=unicast mark=0 ip6 2001:db8:1::7 > 2001:db8:2::30",
            "out=eth1 uid=1000 gid=0 pkttype=unicast mark=7 ip6 2001:db8:1::1 > 2001:db8:1::20"],
}
# Rules that the evaluator says it cannot decide for some of the packets, as iptables prints them.
NO_BRIDGE = {"-m physdev %s%s" % (n, o) for n in ("", "! ") for o in (
    "--physdev-in eth0", "--physdev-is-bridged", "--physdev-is-in")}
NO_CLOCK = {"-m time " + o for o in (
    "--datestart 2001-01-01T00:00:00 --datestop 2002-01-01T00:00:00",
    "--datestart 2001-01-01T00:00:00 --datestop 2038-01-19T03:14:07", "--datestop 2038-01-19T03:14:07",
    "--weekdays  --datestop 2038-01-19T03:14:07")}
NO_POLICY = {"-m policy --dir in --pol none", "-m policy --dir out --pol none"}
CHUNKS = {"-p sctp -m sctp ! --chunk-types all DATA,SACK"}
HEADERS = {"-m eui64", "-m rt --rt-type 0 --rt-0-res"}
HELPER = {"-m helper --helper ftp", "-m helper ! --helper ftp"}
UNDECIDED = {
    ("ip", "every match"): NO_BRIDGE | NO_CLOCK | NO_POLICY | CHUNKS | {
        "-m realm --realm cosmos", "-m realm ! --realm cosmos"},
    ("ip6", "every match"): NO_BRIDGE | NO_CLOCK | NO_POLICY | CHUNKS | HEADERS,
    ("ip", "connections"): HELPER,
    ("ip6", "connections"): HELPER,
}
# Whole lines.
MORE = {
    "ip": ["in=eth0 mac=02:00:00:00:00:0a pkttype=broadcast mark=0 ip 192.0.2.200 > 192.0.2.255 udp 67 > 68",
           "in=eth0 mac=02:00:00:00:00:0a pkttype=multicast mark=0 ip 192.0.2.200 > 224.0.0.1 udp 67 > 68",
           "in=ppp10 mac=02:00:00:00:00:0a pkttype=unicast mark=0 ip 10.1.2.3 > 203.0.113.1 tcp 1 > 2 flags=S",
           "out=eth0 uid=0 gid=100 pkttype=unicast mark=0 ip 192.0.2.1 > 192.0.2.200 udp 1 > 2",
           "out=ppp10 uid=700 gid=0 pkttype=unicast mark=0x17 ip 203.0.113.1 > 203.0.113.9 udp 1 > 2"],
    "ip6": ["in=eth0 mac=02:00:00:00:00:0a pkttype=multicast mark=0 ip6 2001:db8::200 > ff02::1 udp 67 > 68",
            "in=ppp10 mac=02:00:00:00:00:0a pkttype=unicast mark=0 ip6 fd00::1 > 2001:db8:2::1 tcp 1 > 2 flags=S",
            "in=eth0 mac=02:00:00:00:00:0a pkttype=unicast mark=0 ip6 2001:db8::ff:fe00:a > 2001:db8::1 udp 1 > 2",
            "out=eth0 uid=0 gid=100 pkttype=unicast mark=0 ip6 2001:db8::1 > 2001:db8::200 udp 1 > 2",
            "out=ppp10 uid=700 gid=0 pkttype=unicast mark=0x17 ip6 2001:db8:2::1 > 2001:db8:2::9 udp 1 > 2"],
}
# Conversations, in order: -> from the first address, <- from the second.
TALK = """
-> udp 40000 > 53
-> udp 40000 > 53
<- udp 53 > 40000
-> udp 40000 > 53
-> tcp 40000 > 22 flags=S
<- tcp 22 > 40000 flags=SA
-> tcp 40000 > 22 flags=A
-> tcp 40000 > 22 flags=PA payload=9B
<- tcp 22 > 40000 flags=A
-> tcp 40000 > 22 flags=FA
<- tcp 22 > 40000 flags=FA
-> tcp 40000 > 22 flags=A
-> tcp 40001 > 22 flags=S
-> tcp 40001 > 22 flags=R
-> tcp 40002 > 22 flags=R
-> tcp 40003 > 22 flags=SA
-> tcp 40004 > 22 flags=A
-> tcp 40005 > 22 flags=FSRPAUEC
-> tcp 40006 > 22 flags=
-> ECHO id=5
<- REPLY id=5
<- REPLY id=6
-> proto=47 payload=16B
<- proto=47 payload=16B
"""
HOOKS = {"i": ("PREROUTING", "INPUT", "FORWARD"), "o": ("FORWARD", "OUTPUT", "POSTROUTING"), "s": ("OUTPUT", "POSTROUTING"),
         "r": ("INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
         "-": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING")}


def expand(text, family):
    for name, value in VALUES[family].items():
        text = re.sub(r"\$%s\b" % name, value, text)
    return text


def ruleset(table, family, only=None):
    """Text of the rules; only: of this one line of the table."""
    chains = {h: [] for h in HOOKS["-"]}
    chains["any"] = []
    digit = "4" if family == "ip" else "6"
    for line in table.strip().splitlines():
        families, where, words = line.split(" ", 2)
        if digit not in families or (only and line != only):
            continue
        forms = [words.replace("~ ", "")] + ([words.replace("~", "!")] if "~" in words else [])
        for form in forms:
            for hook in HOOKS.get(where, ("any",)):
                pol = "in" if hook in ("PREROUTING", "INPUT", "FORWARD") else "out"
                chains[hook].append("-A %s %s" % (hook, rename(form.replace("$DIR", pol), family, hook)))
    for hook in HOOKS["-"]:
        chains[hook].append("-A %s -j any" % hook)
    lines = ["*mangle"] + [":%s ACCEPT [0:0]" % h for h in HOOKS["-"]] + [":any - [0:0]"]
    return "\n".join(lines + [r for c in chains.values() for r in c] + ["COMMIT"]) + "\n"


def rename(words, family, hook):
    """State that has a name is kept apart hook by hook."""
    out = expand(words, family).split(" ")
    for i, w in enumerate(out):
        if w in ("--name", "--hashlimit-name"):
            out[i + 1] += hook.lower()[:4]
    return " ".join(out)


def packets(inner, family):
    digit = "4:" if family == "ip" else "6:"
    lines = []
    for line in inner.strip().splitlines():
        if line[1:2] == ":" and line[:2] != digit:
            continue
        # the kernel puts the fragments of IPv4 packets to itself together before INPUT
        for way in WAYS[family][1 if family == "ip" and ("mf=1" in line or "frag=" in line) else 0:]:
            lines.append(way + " " + line[2 if line[1:2] == ":" else 0:].strip())
    return lines + MORE[family]


def talk(family):
    icmp = ("icmp type=8", "icmp type=0") if family == "ip" else ("icmp6 type=128", "icmp6 type=129")
    lines = []
    a, b = ("192.0.2.10", "198.51.100.20") if family == "ip" else ("2001:db8::a", "2001:db8:1::20")
    for line in TALK.strip().splitlines():
        arrow, what = line.split(" ", 1)
        what = what.replace("ECHO id=", icmp[0] + " rest=0x000").replace("REPLY id=", icmp[1] + " rest=0x000")
        ends = ("in=eth0 out=eth1", a, b) if arrow == "->" else ("in=eth1 out=eth0", b, a)
        lines.append("%s mac=02:00:00:00:00:0a pkttype=unicast mark=0 %s %s > %s %s" % (ends[0], family, ends[1], ends[2],
                                                                                       what))
    return lines


class Trial:
    """One ruleset and its packets; differences are collected by rule."""

    def __init__(self, router, folder, family, rules, lines):
        self.router, self.family, self.lines = router, family, lines
        names = {"rules": "rules.v4" if family == "ip" else "rules.v6", "sets": "ipset.save", "env": "env", "packets": "packets"}
        texts = {"rules": rules, "sets": SETS[family], "env": lab.env_text(), "packets": "\n".join(lines) + "\n"}
        path = {k: os.path.join(folder, n) for k, n in names.items()}
        for k, p in path.items():
            with open(p, "w") as f:
                f.write(texts[k])
        self.expected = lab.Expected([path["rules"], path["sets"]], path["packets"], path["env"], each=True)
        router.load(family, rules, SETS[family])

    def run(self):
        """Returns ({rule text: [difference, ...]}, counters compared, {rules that weir does not decide})."""
        before, bad, compared, maybe = self.router.counters(self.family), {}, 0, set()
        for i, line in enumerate(self.lines):
            link, data, verdict = self.expected.packets[i]
            target = self.router.received()
            target += self.router.send(line, link, data)
            if not self.router.wait(target):
                raise RuntimeError("the router did not take in: " + line)
            now = self.router.counters(self.family)
            want = self.expected.each.get(i + 1, {})
            for key, (count, text) in now.items():
                if key[0] != "mangle":
                    continue
                got = count - before[key][0]
                if key in self.expected.maybe.get(i + 1, ()):
                    maybe.add(re.sub("^-A [A-Za-z]+ ", "", text))
                    continue
                compared += 1
                if got != want.get(key, 0):
                    bad.setdefault(text, []).append("%d, the kernel %d: %s (%s)" % (want.get(key, 0), got, line, verdict))
            before = now
        return bad, compared, maybe


def report(n, what, bad, compared, rules):
    print("%sok %d - %s: %d rules, %d counters alike" % ("not " if bad else "", n, what, rules, compared - sum(map(len, bad.values()))))
    if len(bad) > 40:
        print("# %d rules count differently; the first:" % len(bad))
    for text, lines in list(bad.items())[:40]:
        print("# %s: weir counts %s%s" % (text, lines[0], ", and %d more packets" % (len(lines) - 1) if len(lines) > 1 else ""))
    sys.stdout.flush()


def main():
    why = lab.why_not()
    jobs = [(f, what, t, l) for f in ("ip", "ip6") for what, t, l in (
        ("every match", MATCHES, packets(INNER + FRAGMENTS, f)), ("connections", CONNECTIONS, talk(f)))]
    print("1..%d" % (2 * len(jobs)))
    failed, n = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        router = None if why else lab.Lab()
        for family, what, table, lines in jobs:
            name = "%s, %s" % (what, family)
            if why:
                print("ok %d - %s # SKIP %s\nok %d - %s # SKIP %s" % (n + 1, name, why, n + 2, name, why))
                n += 2
                continue
            rules = ruleset(table, family)
            trial = Trial(router, folder, family, rules, lines)
            bad, compared, maybe = trial.run()
            report(n + 1, name, bad, compared, rules.count("\n-A "))
            surprise = maybe ^ UNDECIDED[(family, what)]
            print("%sok %d - %s: the evaluator decides all but %d rules" % ("not " if surprise else "", n + 2, name, len(maybe)))
            for s in sorted(surprise):
                print("# %s: %s" % ("not decided" if s in maybe else "decided", s))
            failed += bool(bad) + bool(surprise)
            n += 2
        if router:
            router.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
