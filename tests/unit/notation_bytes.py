#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A tool of notation_test.c, not a test. Writes notation_bytes.h, packet lines and the bytes that scapy, another
# program, makes for the same packets:
#
#     tests/unit/notation_bytes.py > tests/unit/notation_bytes.h

import logging

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import *  # noqa: E402,F403
from scapy.layers.sctp import *  # noqa: E402,F403

A, B = "198.51.100.7", "192.0.2.1"
A6, B6 = "2001:db8::1", "2001:db8::2"
M1, M2 = "02:00:00:00:00:01", "02:00:00:00:00:02"


def ip(**k):
    return IP(src=A, dst=B, id=0, flags=k.pop("flags", 0), **k)


def ip6(**k):
    return IPv6(src=A6, dst=B6, **k)


def tcp(s, d, flags="", **k):
    return TCP(sport=s, dport=d, flags=flags, window=65535, seq=0, ack=0, **k)


L = f"ip {A} > {B}"
L6 = f"ip6 {A6} > {B6}"
rows = [
    ("tcp syn", f"{L} tcp 40000 > 22 flags=S", ip() / tcp(40000, 22, "S")),
    ("the short form", f"tcp {A} > {B}:22 flags=S", ip() / tcp(40000, 22, "S")),
    ("the short form with a source port", f"tcp {A}:5 > {B}:22", ip() / tcp(5, 22)),
    ("the short form of IPv6", f"tcp [{A6}]:5 > [{B6}]:22", ip6() / tcp(5, 22)),
    ("IPv6 without a source port", f"udp {A6} > [{B6}]:53", ip6() / UDP(sport=40000, dport=53)),
    ("all eight flags", f"{L} tcp 1 > 2 flags=FSRPAUEC", ip() / tcp(1, 2, "FSRPAUEC")),
    ("udp with text", f'{L} udp 1 > 2 payload="hello"', ip() / UDP(sport=1, dport=2) / b"hello"),
    ("udp with hex", f"{L} udp 1 > 2 payload=hex:00ff10", ip() / UDP(sport=1, dport=2) / b"\x00\xff\x10"),
    ("quotes and escapes", f'{L} udp 1 > 2 payload="a\\"b\\\\\\x00 # > ("',
     ip() / UDP(sport=1, dport=2) / b'a"b\\\0 # > ('),
    ("udp over IPv6", f"{L6} udp 1 > 2 payload=20B", ip6() / UDP(sport=1, dport=2) / bytes(20)),
    ("ttl, tos, id, df", f"{L} ttl=1 tos=0x10 id=7 df tcp 1 > 2", IP(src=A, dst=B, ttl=1, tos=16, id=7, flags="DF") / tcp(1, 2)),
    ("dscp and ecn", f"{L} dscp=ef ecn=ce tcp 1 > 2", ip(tos=0xbb) / tcp(1, 2)),
    ("traffic class, flow label, hop limit", f"{L6} tos=0xb8 flow=0x12345 hlim=255 tcp 1 > 2", ip6(tc=0xb8, fl=0x12345, hlim=255) / tcp(1, 2)),
    ("IPv4 options", f"{L} ihl=6 tcp 1 > 2", ip(options=[IPOption(b"\1")] * 4) / tcp(1, 2)),
    ("router alert", f"{L} ipopts=ra proto=2 payload=8B", ip(options=[IPOption(b"\x94\4\0\0")], proto=2) / bytes(8)),
    ("first fragment", f"{L} proto=6 frag=0 mf=1 tcp 4 > 22 payload=12B", ip(flags="MF") / tcp(4, 22) / bytes(12)),
    ("later fragment", f"{L} proto=6 frag=3 mf=0 payload=20B", ip(frag=3, proto=6) / bytes(20)),
    ("later fragment, short form", f"tcp {A} > {B} frag=8", ip(frag=8, proto=6) / bytes(8)),
    ("icmp echo", f"{L} icmp type=8", ip() / ICMP(type=8, id=0, seq=0)),
    ("icmp by name", f"{L} icmp type=port-unreachable payload=28B", ip() / ICMP(type=3, code=3) / bytes(28)),
    ("icmp type and code", f"{L} icmp type=3/1", ip() / ICMP(type=3, code=1)),
    ("icmp rest", f"{L} icmp type=ping rest=0x00070009", ip() / ICMP(type=8, id=7, seq=9)),
    ("icmp6 echo", f"{L6} icmp6 type=echo-request", ip6() / ICMPv6EchoRequest(id=0, seq=0)),
    ("icmp6 by number", f"{L6} icmp6 type=1 code=4 payload=48B", ip6() / ICMPv6DestUnreach(code=4) / bytes(48)),
    ("tcp mss", f"{L} tcp 1 > 2 flags=S mss=1460", ip() / tcp(1, 2, "S", options=[("MSS", 1460)])),
    ("tcp options by name", f"{L} tcp 1 > 2 opts=mss:0200,sackok,nop,wscale",
     ip() / tcp(1, 2, options=[("MSS", 512), ("SAckOK", b""), ("NOP", None), ("WScale", 7)])),
    ("tcp options in hex", f"{L} tcp 1 > 2 opts=hex:0204020001010402", ip() / tcp(1, 2, options=[("MSS", 512), ("NOP", None), ("NOP", None), ("SAckOK", b"")])),
    ("tcp option by number", f"{L} tcp 1 > 2 opts=254:aabb", ip() / tcp(1, 2, options=[(254, b"\xaa\xbb")])),
    ("tcp seq, ack, window", f"{L} tcp 1 > 2 seq=5 ack=0xffffffff win=100 urp=9", ip() / TCP(sport=1, dport=2, flags="", seq=5, ack=0xffffffff, window=100, urgptr=9)),
    ("hop-by-hop", f"{L6} ext=hbh tcp 4 > 22", ip6() / IPv6ExtHdrHopByHop(options=[PadN(optdata=bytes(4))]) / tcp(4, 22)),
    ("hop-by-hop router alert", f"{L6} ext=hbh(opt=5:0000) icmp6 type=130 payload=20B",
     ip6() / IPv6ExtHdrHopByHop(options=[RouterAlert(value=0), PadN(optdata=b"")]) / ICMPv6MLQuery(mrd=0, mladdr="::") / bytes(4)),
    ("routing header", f"{L6} ext=rt(type=4,left=1,addr=2001:db8::9) udp 1 > 2",
     ip6() / IPv6ExtHdrRouting(type=4, segleft=1, addresses=["2001:db8::9"]) / UDP(sport=1, dport=2, chksum=0)),
    ("fragment header", f"{L6} ext=frag(off=3,mf=1,id=7) nh=6 payload=24B", ip6() / IPv6ExtHdrFragment(offset=3, m=1, id=7, nh=6) / bytes(24)),
    ("frag= on IPv6", f"tcp {A6} > {B6} frag=3", ip6() / IPv6ExtHdrFragment(offset=3, m=0, id=0, nh=6) / bytes(8)),
    ("destination options", f"{L6} ext=dst(len=16) tcp 4 > 22", ip6() / IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(12))]) / tcp(4, 22)),
    ("AH in IPv6", f"{L6} ext=ah(spi=0x100,seq=9) tcp 4 > 22", ip6(nh=51) / Raw(bytes(AH(nh=6, payloadlen=4, spi=0x100, seq=9, icv=bytes(12), padding=b"")) + bytes(ip6() / tcp(4, 22))[40:])),
    ("headers in any order", f"{L6} ext=dst,hbh,frag(id=1),dst tcp 4 > 22",
     ip6() / IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(4))]) / IPv6ExtHdrHopByHop(options=[PadN(optdata=bytes(4))])
     / IPv6ExtHdrFragment(id=1) / IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(4))]) / tcp(4, 22)),
    ("esp", f"{L} esp spi=0x200 seq=1 payload=16B", ip() / ESP(spi=0x200, seq=1, data=bytes(16))),
    ("ah in IPv4", f"{L} ah spi=0x100 seq=1", ip(proto=51) / AH(spi=0x100, seq=1, icv=bytes(12), padding=b"", nh=59, payloadlen=4)),
    ("sctp", f"{L} sctp 1 > 2 chunks=hex:01000004", ip() / SCTP(sport=1, dport=2, tag=0) / bytes.fromhex("01000004")),
    ("sctp chunks by name", f"{L} sctp 1 > 2 chunks=cookie_ack,11:3", ip() / SCTP(sport=1, dport=2, tag=0) / bytes.fromhex("0b0000040b030004")),
    ("gre", f"{L} gre payload=4B", ip(proto=47) / bytes(4)),
    ("a protocol by number", f"{L} proto=132 payload=hex:0001", ip(proto=132) / b"\x00\x01"),
    ("length by padding", f"{L} len=100 udp 1 > 2", ip() / UDP(sport=1, dport=2) / bytes(72)),
    ("length in the short form", f"udp {A}:1 > {B}:2 len=100", ip() / UDP(sport=1, dport=2) / bytes(72)),
    ("length of udp", f"{L} udp 4 > 53 len=8", ip() / UDP(sport=4, dport=53)),
    ("Ethernet", f"eth {L} udp 1 > 2", Ether(src=M1, dst=M2) / ip() / UDP(sport=1, dport=2)),
    ("MAC addresses", f"mac=0a:00:00:00:00:0b dstmac=0A-00-00-00-00-0C {L6} udp 1 > 2",
     Ether(src="0a:00:00:00:00:0b", dst="0a:00:00:00:00:0c") / ip6() / UDP(sport=1, dport=2)),
    ("one tag", f"vlan=5 {L} udp 1 > 2", Ether(src=M1, dst=M2) / Dot1Q(vlan=5) / ip() / UDP(sport=1, dport=2)),
    ("two tags", f"vlan=5(ad) vlan=4095(pcp=7,dei) {L} udp 1 > 2",
     Ether(src=M1, dst=M2) / Dot1AD(vlan=5) / Dot1Q(vlan=4095, prio=7, id=1) / ip() / UDP(sport=1, dport=2)),
    ("three tags", f"eth vlan=1 vlan=2 vlan=3 {L} udp 1 > 2",
     Ether(src=M1, dst=M2) / Dot1Q(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3) / ip() / UDP(sport=1, dport=2)),
    ("arp", f"arp 192.0.2.7 > {B}", Ether(src=M1, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=M1, psrc="192.0.2.7", pdst=B, hwdst="00:00:00:00:00:00")),
    ("multicast goes to a group address", "eth ip 192.0.2.7 > 239.129.2.3 udp 1 > 2",
     Ether(src=M1, dst="01:00:5e:01:02:03") / IP(src="192.0.2.7", dst="239.129.2.3", id=0) / UDP(sport=1, dport=2)),
    ("IPv6 multicast", "eth ip6 fe80::1 > ff02::1:ff00:1 icmp6 type=135 hlim=255 payload=16B",
     Ether(src=M1, dst="33:33:ff:00:00:01") / IPv6(src="fe80::1", dst="ff02::1:ff00:1", hlim=255) / ICMPv6ND_NS(tgt="::")),
    ("a frame that is not IP", "eth type=0x8892 payload=hex:0102", Ether(src=M1, dst=M2, type=0x8892) / b"\1\2"),
    ("a wrong total length", f"{L} badlen=19 udp 1 > 2 sum=2", ip(len=19) / UDP(sport=1, dport=2, chksum=2)),
    ("big TCP has length 0", f"{L} badlen=0 tcp 1 > 2 sum=2", ip(len=0) / tcp(1, 2, chksum=2)),
    ("wrong checksums", f"{L} ipsum=1 udp 1 > 2 sum=2", ip(chksum=1) / UDP(sport=1, dport=2, chksum=2)),
    ("a wrong data offset", f"{L} tcp 1 > 2 doff=4 sum=0", ip() / tcp(1, 2, dataofs=4, chksum=0)),
    ("bytes", "hex 4500 0014", Raw(bytes.fromhex("45000014"))),
]
# the checksum over a routing header's final address is not what a filter looks at
rows = [(w, l + " sum=0" if w == "routing header" else l, p) for w, l, p in rows]

print("/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */")
print("/* Made by notation_bytes.py with scapy. { what, line, bytes } */")
for what, line, pkt in rows:
    text = line.replace("\\", "\\\\").replace('"', '\\"')
    print(f'{{ "{what}", "{text}",\n  "{bytes(pkt).hex()}" }},')
