# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ICMP and ICMPv6 types and codes.

case a type by name, by number, with a code
rules   -A INPUT -p icmp --icmp-type echo-request -j DROP
rules   -A INPUT -p icmp --icmp-type 3/4 -j ACCEPT
rules   -A INPUT -p icmp --icmp-type 3 -j DROP
packet  in=eth0 icmp 192.0.2.1 > 192.0.2.2 type=8               drop    rule 1
packet  in=eth0 icmp 192.0.2.1 > 192.0.2.2 type=3/4             accept  rule 2
packet  in=eth0 icmp 192.0.2.1 > 192.0.2.2 type=3/3             drop    rule 3
packet  in=eth0 icmp 192.0.2.1 > 192.0.2.2 type=0               accept  policy

case a negated type
rules   -A INPUT -p icmp ! --icmp-type 8 -j DROP
packet  in=eth0 icmp 192.0.2.1 > 192.0.2.2 type=8               accept  policy
packet  in=eth0 icmp 192.0.2.1 > 192.0.2.2 type=0               drop    rule 1

case any type, but not a later fragment, which has none
rules   -A INPUT -p icmp --icmp-type any -j DROP
rules   -A INPUT -p icmp ! --icmp-type 8 -j DROP
rules   -A INPUT -p icmp -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 icmp 192.0.2.1 > 192.0.2.2 type=13              drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=1 frag=8 payload=40B    accept  rule 3

case types of ICMPv6
lang    ip6tables
rules   -A INPUT -p icmpv6 --icmpv6-type neighbour-solicitation -j ACCEPT
rules   -A INPUT -p ipv6-icmp -m icmp6 --icmpv6-type 128/0 -j DROP
rules   -A INPUT -p icmpv6 ! --icmpv6-type packet-too-big -j DROP
packet  in=eth0 icmp6 2001:db8::1 > 2001:db8::2 type=135        accept  rule 1
packet  in=eth0 icmp6 2001:db8::1 > 2001:db8::2 type=128        drop    rule 2
packet  in=eth0 icmp6 2001:db8::1 > 2001:db8::2 type=2          accept  policy
packet  in=eth0 icmp6 2001:db8::1 > 2001:db8::2 type=1/4        drop    rule 3

case ICMP behind an extension header
lang    ip6tables
rules   -A INPUT -p icmpv6 --icmpv6-type 143 -j DROP
packet  in=eth0 ip6 2001:db8::1 > ff02::16 ext=hbh icmp6 type=143    drop    rule 1

case spelling of types
print   -A INPUT -p icmp --icmp-type echo-request -j DROP       -p icmp -m icmp --icmp-type 8 -j DROP
print   -A INPUT -p icmp --icmp-type any -j DROP                -p icmp -m icmp --icmp-type any -j DROP

case wrong types
error   -A INPUT -p icmp --icmp-type echo-reqest -j DROP        -       echo-reqest
error   -A INPUT -p icmp --icmp-type 256 -j DROP                -       256
error   -A INPUT -p icmp --icmpv6-type 1 -j DROP                -       --icmpv6-type
error   -A INPUT -p icmpv6 --icmp-type 8 -j DROP                -       --icmp-type
