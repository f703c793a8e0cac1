# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Ports of TCP, UDP, UDP-Lite, SCTP and DCCP; ranges, lists, negation, and packets that have none.

case a port and its neighbours
rules   -A INPUT -p tcp --dport 22 -j DROP
packet  in=eth0 tcp 192.0.2.1:40000 > 192.0.2.2:21 flags=S      accept  policy
packet  in=eth0 tcp 192.0.2.1:40000 > 192.0.2.2:22 flags=S      drop    rule 1
packet  in=eth0 tcp 192.0.2.1:40000 > 192.0.2.2:23 flags=S      accept  policy
packet  in=eth0 tcp 192.0.2.1:22 > 192.0.2.2:40000 flags=S      accept  policy
packet  in=eth0 udp 192.0.2.1:40000 > 192.0.2.2:22              accept  policy

case ranges with an open end
rules   -A INPUT -p udp --sport :1023 -j DROP
rules   -A INPUT -p udp --dport 60000: -j DROP
packet  in=eth0 udp 192.0.2.1:0 > 192.0.2.2:1          drop    rule 1
packet  in=eth0 udp 192.0.2.1:1023 > 192.0.2.2:1       drop    rule 1
packet  in=eth0 udp 192.0.2.1:1024 > 192.0.2.2:59999   accept  policy
packet  in=eth0 udp 192.0.2.1:1024 > 192.0.2.2:60000   drop    rule 2
packet  in=eth0 udp 192.0.2.1:1024 > 192.0.2.2:65535   drop    rule 2

case negated range
rules   -A INPUT -p tcp ! --dport 1024:2048 -j DROP
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:1023 flags=S        drop    rule 1
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:1024 flags=S        accept  policy
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2048 flags=S        accept  policy
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2049 flags=S        drop    rule 1

case a later fragment has no ports, also for a negated test
rules   -A INPUT -p tcp --dport 22 -j DROP
rules   -A INPUT -p tcp ! --dport 22 -j DROP
rules   -A INPUT -p udp --sport 0:65535 -j DROP
rules   -A INPUT -p tcp -m multiport ! --dports 22 -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=6 frag=8 payload=40B     accept  policy
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=17 frag=8 payload=40B    accept  policy

case a first fragment has its ports
rules   -A INPUT -p udp --dport 53 -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 mf=1 udp 4000 > 53     drop    rule 1

case the protocol alone holds for later fragments
rules   -A INPUT -p tcp -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=6 frag=8 payload=40B     drop    rule 1

case first and later IPv6 fragments
lang    ip6tables
rules   -A INPUT -p udp --dport 53 -j DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=frag(off=0,mf=1) udp 4000 > 53     drop    rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=frag(off=8) nh=17 payload=20B      accept  policy

case a list of ports and ranges
rules   -A INPUT -p tcp -m multiport --dports 22,80:90,443 -j DROP
packet  in=eth0 tcp 192.0.2.1:22 > 192.0.2.2:79 flags=S         accept  policy
packet  in=eth0 tcp 192.0.2.1:22 > 192.0.2.2:80 flags=S         drop    rule 1
packet  in=eth0 tcp 192.0.2.1:22 > 192.0.2.2:90 flags=S         drop    rule 1
packet  in=eth0 tcp 192.0.2.1:22 > 192.0.2.2:91 flags=S         accept  policy
packet  in=eth0 tcp 192.0.2.1:22 > 192.0.2.2:443 flags=S        drop    rule 1

case source list, negated
rules   -A INPUT -p udp -m multiport ! --sports 53,123 -j DROP
packet  in=eth0 udp 192.0.2.1:53 > 192.0.2.2:53                 accept  policy
packet  in=eth0 udp 192.0.2.1:124 > 192.0.2.2:53                drop    rule 1

case --ports means one of the two
rules   -A INPUT -p tcp -m multiport --ports 22,25 -j DROP
packet  in=eth0 tcp 192.0.2.1:22 > 192.0.2.2:1 flags=A          drop    rule 1
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:25 flags=A          drop    rule 1
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2 flags=A           accept  policy

case ! --ports means neither of the two
rules   -A INPUT -p tcp -m multiport ! --ports 22,25 -j DROP
packet  in=eth0 tcp 192.0.2.1:22 > 192.0.2.2:1 flags=A          accept  policy
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:25 flags=A          accept  policy
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2 flags=A           drop    rule 1

case ports of SCTP, UDP-Lite and DCCP
rules   -A INPUT -p sctp --dport 36412 -j DROP
rules   -A INPUT -p udplite -m udplite --dport 36412 -j DROP
rules   -A INPUT -p dccp --dport 36412 -j DROP
packet  in=eth0 sctp 192.0.2.1:1 > 192.0.2.2:36412              drop    rule 1
packet  in=eth0 udplite 192.0.2.1:1 > 192.0.2.2:36412           drop    rule 2
packet  in=eth0 dccp 192.0.2.1:1 > 192.0.2.2:36412              drop    rule 3
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:36412               accept  policy

case the smallest UDP packet is whole
rules   -A INPUT -p udp --dport 53 -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 4 > 53 len=8       drop    rule 1

case service names
print   -A INPUT -p tcp --dport ssh -j DROP                     -p tcp -m tcp --dport 22 -j DROP
print   -A INPUT -p tcp -m multiport --dports http,https -j DROP    -p tcp -m multiport --dports 80,443 -j DROP

case wrong ports
error   -A INPUT -p tcp --dport 70000 -j DROP                   25-29   70000
error   -A INPUT -p tcp --dport 200:100 -j DROP                 25-31   200
error   -A INPUT -p tcp -m multiport --dports 1-65535 -j DROP   -       1:65535
error   -A INPUT -m multiport --dports 22 -j DROP               -       multiport
error   -A INPUT -p tcp -m multiport --dports 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 -j DROP    -    15
error   -A INPUT -p tcp -m multiport --dports 22, -j DROP       -       port
error   -A INPUT -p tcp --dport nosuchservice -j DROP           25-37   nosuchservice
error   -A INPUT -p icmp --dport 22 -j DROP                     -       --dport
error   -A INPUT -p tcp --dprot 22 -j DROP                      17-23  unknown option '--dprot'
