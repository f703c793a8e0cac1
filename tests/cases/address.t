# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Addresses and protocols: what stands before any -m.

case a network's edges
rules   -A INPUT -s 192.0.2.80/29 -j DROP
packet  in=eth0 udp 192.0.2.79:1 > 203.0.113.1:2      accept  policy
packet  in=eth0 udp 192.0.2.80:1 > 203.0.113.1:2      drop    rule 1
packet  in=eth0 udp 192.0.2.87:1 > 203.0.113.1:2      drop    rule 1
packet  in=eth0 udp 192.0.2.88:1 > 203.0.113.1:2      accept  policy

case one host, negated
rules   -A INPUT ! -s 192.0.2.1 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 203.0.113.1:2       accept  policy
packet  in=eth0 udp 192.0.2.2:1 > 203.0.113.1:2       drop    rule 1

case destination with a written mask
rules   -A INPUT -d 198.51.100.0/255.255.255.128 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 198.51.100.127:2    drop    rule 1
packet  in=eth0 udp 192.0.2.1:1 > 198.51.100.128:2    accept  policy

case a mask with holes
rules   -A INPUT -s 192.0.2.1/255.255.0.255 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 203.0.113.1:2       drop    rule 1
packet  in=eth0 udp 192.0.9.1:1 > 203.0.113.1:2       drop    rule 1
packet  in=eth0 udp 192.0.2.2:1 > 203.0.113.1:2       accept  policy

case every address
rules   -A INPUT -s 0.0.0.0/0 -j DROP
packet  in=eth0 udp 255.255.255.254:1 > 203.0.113.1:2  drop   rule 1

case one line with a list is several rules
rules   -A INPUT -s 192.0.2.1,192.0.2.3 -d 198.51.100.1,198.51.100.2 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 198.51.100.1:2      drop    rule 1
packet  in=eth0 udp 192.0.2.3:1 > 198.51.100.2:2      drop    rule 1
packet  in=eth0 udp 192.0.2.2:1 > 198.51.100.2:2      accept  policy
packet  in=eth0 udp 192.0.2.3:1 > 198.51.100.3:2      accept  policy

case IPv6 network's edges
lang    ip6tables
rules   -A INPUT -s 2001:db8:0:8::/61 -j DROP
packet  in=eth0 ip6 2001:db8:0:7:ffff:ffff:ffff:ffff > 2001:db8::1 udp 1 > 2      accept  policy
packet  in=eth0 ip6 2001:db8:0:8:: > 2001:db8::1 udp 1 > 2                        drop    rule 1
packet  in=eth0 ip6 2001:db8:0:f:ffff:ffff:ffff:ffff > 2001:db8::1 udp 1 > 2      drop    rule 1
packet  in=eth0 ip6 2001:db8:0:10:: > 2001:db8::1 udp 1 > 2                       accept  policy

case IPv4 rules do not judge IPv6
rules   -P INPUT DROP
packet  in=eth0 ip6 2001:db8::2 > 2001:db8::1 udp 1 > 2     accept  none
packet  in=eth0 udp 192.0.2.1:1 > 203.0.113.1:2       drop    policy

case rules do not judge ARP
rules   -P INPUT DROP
packet  in=eth0 arp 192.0.2.1 > 192.0.2.2             accept  none

case a protocol by name, by number, negated, all
rules   -A INPUT -p 47 -j DROP
rules   -A INPUT -p gre -j ACCEPT
rules   -A INPUT -p udp -j DROP
rules   -A INPUT ! -p icmp -j ACCEPT
rules   -A INPUT -p all -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=47 payload=20B    drop    rule 1
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2                    drop    rule 3
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2 flags=S            accept  rule 4
packet  in=eth0 icmp 192.0.2.1 > 192.0.2.2 type=8                drop    rule 5
hits    1 0 1 1 1

case protocol 0 in IPv4 rules is every protocol
rules   -A INPUT -p 0 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         drop    rule 1

case the protocol of an IPv6 packet stands behind its extension headers
lang    ip6tables
rules   -A INPUT -p tcp -j DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=hbh,dst tcp 1 > 2 flags=S          drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=frag(off=3) nh=6 payload=20B       drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=hbh udp 1 > 2                      accept  policy

case IPv6 packet that ends with no next header
lang    ip6tables
rules   -A INPUT -p ipv6-nonxt -j DROP
rules   -A INPUT -p tcp -j DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 nh=59   drop    rule 1

case IPv4 options move the ports
rules   -A INPUT -p tcp --dport 22 -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ihl=6 tcp 40000 > 22 flags=S     drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ihl=15 tcp 40000 > 22 flags=S    drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ihl=15 tcp 40000 > 23 flags=S    accept  policy

case printed in one spelling
print   -A INPUT --source 192.0.2.1/24 --protocol TCP --jump DROP         -s 192.0.2.0/24 -p tcp -j DROP
print   -A INPUT -j DROP -p udp -d 192.0.2.7                              -d 192.0.2.7/32 -p udp -j DROP
print   -A INPUT -s 0/0 -j DROP                                           -j DROP
print   -A INPUT -s 192.0.2.1,192.0.2.2 -j DROP                           -s 192.0.2.1/32 -j DROP | -s 192.0.2.2/32 -j DROP

case wrong addresses
error   -A INPUT -s 192.0.2.256 -j DROP               13-23  '192.0.2.256' is not an IPv4 address
error   -A INPUT -s 192.0.2.0/33 -j DROP              -       33
error   -A INPUT -s 2001:db8::1 -j DROP               13-23  2001:db8::1 is IPv6 in an IPv4 ruleset
error   -A INPUT -s www.example.net -j DROP           13-27  'www.example.net' is not an address, and weir does no DNS
error   -A INPUT ! -s 192.0.2.1,198.51.100.1 -j DROP  -       !
error   -A INPUT -p tpc -j DROP                       13-15  unknown protocol 'tpc'
error   -A INPUT -p 256 -j DROP                       13-15  unknown protocol '256'

case wrong IPv6 addresses
lang    ip6tables
error   -A INPUT -s 192.0.2.84/32 -j DROP             13-22  192.0.2.84 is IPv4 in an IPv6 ruleset
error   -A INPUT -s 2001:db8::/129 -j DROP            -       129
error   -A INPUT -s 2001:db8:::1 -j DROP              13-24  '2001:db8:::1' is not an IPv6 address

case host bits are cut off, and said
warn    -A INPUT -s 192.0.2.1/24 -j DROP              -       192.0.2.1/24
warn    -A INPUT -s 192.0.2.123/0 -j DROP             -       192.0.2.123/0
