# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Matches on bytes of the packet: u32, string, bpf.

case u32: the total length, the protocol
rules   -A INPUT -m u32 --u32 "0&0xFFFF=0x1c:0x1d" -j DROP
rules   -A INPUT -m u32 ! --u32 "6&0xFF=17" -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=0B     drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=1B     drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=2B     accept  policy
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2 flags=S             drop    rule 2

case u32: over the header to the ports
rules   -A INPUT -m u32 --u32 "0>>22&0x3C@0>>16=53,67:68" -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 53 > 2               drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ihl=7 udp 68 > 2         drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 69 > 2               accept  policy

case u32: two conditions
rules   -A INPUT -m u32 --u32 "6&0xFF=17 && 8&0xFF=1:9" -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ttl=64 udp 1 > 2         accept  policy

case u32: beyond the packet's end
rules   -A INPUT -m u32 --u32 "60=0" -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=0B     accept  policy
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=40B    drop    rule 1

case a string, wherever it is
rules   -A INPUT -m string --string "GET /evil" --algo bm -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 tcp 1 > 80 flags=A payload="GET /evil HTTP/1.0"    drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 tcp 1 > 80 flags=A payload="xxGET /evil"           drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 tcp 1 > 80 flags=A payload="GET /good"             accept  policy
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 tcp 1 > 80 flags=A payload="get /evil"             accept  policy

case a string of bytes, without regard to case, negated
rules   -A INPUT -m string --hex-string "abc|00 ff|" --algo kmp -j DROP
rules   -A INPUT -m string --string "HeLLo" --algo bm --icase -j DROP
rules   -A INPUT -p tcp -m string ! --string "ok" --algo bm -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=hex:61626300ff             drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload="hello"                    drop    rule 2
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 tcp 1 > 2 flags=A payload="ok"               accept  policy
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 tcp 1 > 2 flags=A payload="no"               drop    rule 3

case without regard to case, beyond ASCII: as Latin-1
rules   -A INPUT -m string --hex-string "|c0 c9|" --algo kmp --icase -j DROP
rules   -A INPUT -m string --hex-string "|01 f7 02|" --algo bm --icase -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=hex:00e0e900               drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=hex:01f702                 drop    rule 2
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=hex:01d702                 accept  policy

case a string that must end at byte 0 is nowhere
rules   -A INPUT -m string --string "GET" --algo bm --to 0 -j DROP
rules   -A INPUT -m string ! --string "GET" --algo bm --to 0 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 tcp 1 > 80 flags=A payload="GET"             accept  rule 2

case a program
rules   -A INPUT -m bpf --bytecode "4,48 0 0 9,21 0 1 6,6 0 0 1,6 0 0 0" -j DROP
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2 flags=S             drop    rule 1
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2                     accept  policy

case wrong bytes
error   -A INPUT -m u32 --u32 "0&0xFFFF" -j DROP                  -       =
error   -A INPUT -m string --string x -j DROP                     -       algo
error   -A INPUT -m bpf --bytecode "2,6 0 0 1" -j DROP            -       2
