# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The matches that only IPv6 has.

case routing header
lang    ip6tables
rules   -A INPUT -m rt --rt-type 0 -j DROP
rules   -A INPUT -m rt ! --rt-type 2 --rt-segsleft 1:2 -j DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=rt(type=0) tcp 4 > 22 flags=S           drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=rt(type=4,left=2) tcp 4 > 22 flags=S    drop    rule 2
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=rt(type=2,left=2) tcp 4 > 22 flags=S    accept  policy
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=rt(type=4,left=3) tcp 4 > 22 flags=S    accept  policy
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 tcp 4 > 22 flags=S                          accept  policy

case fragment header
lang    ip6tables
rules   -A INPUT -m frag --fragid 7 -j DROP
rules   -A INPUT -m frag --fraglast -j DROP
rules   -A INPUT -m frag --fragfirst -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=frag(off=0,mf=1,id=7) udp 1 > 2                drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=frag(off=0,mf=1,id=8) udp 1 > 2                accept  rule 3
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=frag(off=8,mf=0,id=8) nh=17 payload=20B        drop    rule 2
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=frag(off=8,mf=1,id=8) nh=17 payload=24B        drop    policy
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 udp 1 > 2                                          drop    policy

case hop limit
lang    ip6tables
rules   -A INPUT -m hl --hl-lt 255 -p icmpv6 -j DROP
rules   -A INPUT -m hl ! --hl-eq 64 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 hl=254 icmp6 type=135    drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 hl=255 icmp6 type=135    accept  rule 2
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 hl=64 udp 1 > 2          drop    policy

case which headers a packet has
lang    ip6tables
rules   -A INPUT -m ipv6header --header hop --soft -j DROP
rules   -A INPUT -m ipv6header --header dst,prot -j DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=hbh udp 1 > 2        drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=hbh,dst udp 1 > 2    drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=dst udp 1 > 2        drop    rule 2
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 udp 1 > 2                accept  policy

case options in front, and for the destination
lang    ip6tables
rules   -A INPUT -m hbh --hbh-opts 5 -j DROP
rules   -A INPUT -m dst --dst-opts 4 -j DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=hbh(opt=5:0000) icmp6 type=143    drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=hbh udp 1 > 2                     accept  policy
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=dst(opt=4:00) udp 1 > 2           drop    rule 2

case authentication header
lang    ip6tables
rules   -A INPUT -m ah --ahspi 5:6 -j DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=ah(spi=6) udp 1 > 2  drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=ah(spi=7) udp 1 > 2  accept  policy
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 udp 1 > 2                accept  policy

case length counts the header
lang    ip6tables
rules   -A INPUT -m length --length 48 -j DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 udp 1 > 2 payload=0B     drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 udp 1 > 2 payload=1B     accept  policy

case types of IPv6 addresses
lang    ip6tables
env     interface eth0 address 2001:db8::2/64
rules   -A INPUT -m addrtype --dst-type LOCAL -j ACCEPT
rules   -A INPUT -m addrtype --dst-type MULTICAST -j DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 udp 1 > 2                accept  rule 1
packet  in=eth0 ip6 2001:db8::1 > ff02::1 udp 1 > 2                    drop    rule 2

case what IPv6 rules lack
lang    ip6tables
error   -A INPUT -m ttl --ttl-eq 5 -j DROP                             13-15   ttl
error   -A INPUT -f -j DROP                                            -       -f
error   -A INPUT -p icmp -m icmp --icmp-type 8 -j DROP                 -       icmp

case a big TCP packet says length 0 and is as long as it is
lang    ip6tables
rules   -A INPUT -m length --length 0:1199 -j DROP
rules   -A INPUT -m length --length 1200:1300 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 badlen=0 tcp 4 > 22 payload=1200B              accept  rule 2
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 badlen=0 ext=hbh tcp 4 > 22 payload=1200B      accept  rule 2
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 badlen=0 tcp 4 > 22 payload=1000B              drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 nh=59                                          drop    rule 1
