# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Interfaces: exact, by prefix, negated, absent; and which chains a packet meets because of them.

case an exact name is not a prefix
rules   -A INPUT -i eth0 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         drop    rule 1
packet  in=eth0.5 udp 192.0.2.1:1 > 192.0.2.2:2       accept  policy
packet  in=eth udp 192.0.2.1:1 > 192.0.2.2:2          accept  policy
packet  in=eth00 udp 192.0.2.1:1 > 192.0.2.2:2        accept  policy

case + at the end is a prefix, and the prefix alone is one too
rules   -A INPUT -i eth+ -j DROP
packet  in=eth udp 192.0.2.1:1 > 192.0.2.2:2          drop    rule 1
packet  in=eth0.10 udp 192.0.2.1:1 > 192.0.2.2:2      drop    rule 1
packet  in=veth0 udp 192.0.2.1:1 > 192.0.2.2:2        accept  policy
packet  in=et udp 192.0.2.1:1 > 192.0.2.2:2           accept  policy

case + alone is every interface
rules   -A INPUT -i + -j DROP
packet  in=lo udp 192.0.2.1:1 > 192.0.2.2:2           drop    rule 1

case negated name and prefix
rules   -A INPUT ! -i eth+ -j DROP
rules   -A INPUT ! -i eth0 -j DROP
packet  in=lo udp 192.0.2.1:1 > 192.0.2.2:2           drop    rule 1
packet  in=eth1 udp 192.0.2.1:1 > 192.0.2.2:2         drop    rule 2
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         accept  policy

case both interfaces of a forwarded packet
rules   -A FORWARD -i eth0 -o eth1 -j ACCEPT
rules   -A FORWARD -o eth1 -j DROP
rules   -P FORWARD DROP
packet  in=eth0 out=eth1 udp 192.0.2.1:1 > 198.51.100.2:2    accept  rule 1
packet  in=eth2 out=eth1 udp 192.0.2.1:1 > 198.51.100.2:2    drop    rule 2
packet  in=eth1 out=eth0 udp 192.0.2.1:1 > 198.51.100.2:2    drop    policy FORWARD

case in OUTPUT there is no input interface: not one of any name
rules   -N c
rules   -A OUTPUT -j c
rules   -A c -i eth0 -j DROP
rules   -A c ! -i eth0 -j ACCEPT
rules   -P OUTPUT DROP
packet  out=eth0 udp 192.0.2.1:1 > 198.51.100.2:2     accept  rule 3

case in INPUT there is no output interface: not one of any name
rules   -N c
rules   -A INPUT -j c
rules   -A c -o eth0 -j DROP
rules   -A c ! -o eth0 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 udp 198.51.100.2:1 > 192.0.2.1:2      accept  rule 3

case interfaces tell the path
rules   *mangle
rules   :PREROUTING ACCEPT [0:0]
rules   :INPUT ACCEPT [0:0]
rules   :FORWARD ACCEPT [0:0]
rules   :OUTPUT ACCEPT [0:0]
rules   :POSTROUTING ACCEPT [0:0]
rules   -A PREROUTING -p udp
rules   -A INPUT -p udp
rules   -A FORWARD -p udp
rules   -A OUTPUT -p udp
rules   -A POSTROUTING -p udp
packet  in=eth0 udp 192.0.2.1:1 > 198.51.100.2:2             accept
hits    1 1 0 0 0
packet  in=eth0 out=eth1 udp 192.0.2.1:1 > 198.51.100.2:2    accept
hits    2 1 1 0 1
packet  out=eth0 udp 192.0.2.1:1 > 198.51.100.2:2            accept
hits    2 1 1 1 2

case without interfaces the path is unknown, and so is the verdict
rules   -P INPUT DROP
packet  udp 192.0.2.1:1 > 198.51.100.2:2              unknown

case a verdict that every path gives needs no interface
rules   -P INPUT DROP
rules   -P FORWARD DROP
rules   -P OUTPUT DROP
packet  udp 192.0.2.1:1 > 198.51.100.2:2              drop

case a hook that is said
hook    forward
rules   -A FORWARD -p udp -j DROP
rules   -P INPUT DROP
packet  udp 192.0.2.1:1 > 198.51.100.2:2              drop    rule 1
packet  tcp 192.0.2.1:1 > 198.51.100.2:2 flags=S      accept  policy FORWARD

case the interface is not said and decides
hook    input
rules   -A INPUT -i eth0 -j DROP
packet  udp 192.0.2.1:1 > 198.51.100.2:2              unknown

case interface groups from the environment
env     interface eth0 group 7
env     interface eth1 group 9
rules   -A INPUT -m devgroup --src-group 7 -j DROP
rules   -A INPUT -m devgroup ! --src-group 0x1/0x3 -j ACCEPT
rules   -A INPUT -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         drop    rule 1
packet  in=eth1 udp 192.0.2.1:1 > 192.0.2.2:2         drop    rule 3

case bridge ports
rules   -A FORWARD -m physdev --physdev-in veth1 -j DROP
rules   -A FORWARD -m physdev ! --physdev-in veth2 -j ACCEPT
rules   -P FORWARD DROP
packet  in=br0 out=br0 physin=veth1 physout=veth3 udp 192.0.2.1:1 > 192.0.2.2:2    drop    rule 1
packet  in=br0 out=br0 physin=veth3 physout=veth1 udp 192.0.2.1:1 > 192.0.2.2:2    accept  rule 2
packet  in=br0 out=br0 physin=veth2 physout=veth1 udp 192.0.2.1:1 > 192.0.2.2:2    drop    policy

case wrong interfaces
error   -A INPUT -i abcdefghijklmnop -j DROP          13-28  the interface name 'abcdefghijklmnop' is 16 bytes long; names have at most 15
error   -A INPUT -o eth0 -j DROP                      -       INPUT
error   -A OUTPUT -i eth0 -j DROP                     -       OUTPUT
error   -A FORWARD ! -o ! eth0 -j DROP                -       !

case hardly meant
warn    -A INPUT -i + -j DROP                         -       +
