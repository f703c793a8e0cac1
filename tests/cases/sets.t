# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Named sets: types, dimensions, exceptions, lists, changes by rules.

case addresses
set     create s hash:ip family inet
set     add s 192.0.2.1
set     add s 192.0.2.3
rules   -A INPUT -m set --match-set s src -j DROP
rules   -A INPUT -m set ! --match-set s dst -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 udp 192.0.2.1:1 > 198.51.100.1:2      drop    rule 1
packet  in=eth0 udp 192.0.2.2:1 > 198.51.100.1:2      accept  rule 2
packet  in=eth0 udp 192.0.2.2:1 > 192.0.2.3:2         drop    policy

case an address of a bitmap without a MAC takes the one of the first packet
set     create b bitmap:ip,mac range 192.0.2.0/24
set     add b 192.0.2.1,02:00:00:00:00:07
set     add b 192.0.2.2
rules   -A INPUT -m set --match-set b src,src -j DROP
packet  in=eth0 mac=02:00:00:00:00:08 udp 192.0.2.2:1 > 198.51.100.1:2      drop    rule 1
packet  in=eth0 mac=02:00:00:00:00:07 udp 192.0.2.2:1 > 198.51.100.1:2      accept  policy
packet  in=eth0 mac=02:00:00:00:00:08 udp 192.0.2.2:1 > 198.51.100.1:2      drop    rule 1
packet  in=eth0 mac=02:00:00:00:00:07 udp 192.0.2.1:1 > 198.51.100.1:2      drop    rule 1
packet  in=eth0 mac=02:00:00:00:00:08 udp 192.0.2.1:1 > 198.51.100.1:2      accept  policy

case networks and an exception inside
set     create n hash:net family inet
set     add n 192.0.2.0/24
set     add n 192.0.2.64/26 nomatch
set     add n 192.0.2.65/32
rules   -A INPUT -m set --match-set n src -j DROP
packet  in=eth0 udp 192.0.2.63:1 > 198.51.100.1:2     drop    rule 1
packet  in=eth0 udp 192.0.2.64:1 > 198.51.100.1:2     accept  policy
packet  in=eth0 udp 192.0.2.65:1 > 198.51.100.1:2     drop    rule 1
packet  in=eth0 udp 192.0.2.127:1 > 198.51.100.1:2    accept  policy
packet  in=eth0 udp 192.0.2.128:1 > 198.51.100.1:2    drop    rule 1
packet  in=eth0 udp 192.0.3.0:1 > 198.51.100.1:2      accept  policy

case an exception seen with --return-nomatch
set     create n hash:net family inet
set     add n 192.0.2.0/24
set     add n 192.0.2.64/26 nomatch
rules   -A INPUT -m set --match-set n src --return-nomatch -j DROP
packet  in=eth0 udp 192.0.2.64:1 > 198.51.100.1:2     drop    rule 1
packet  in=eth0 udp 192.0.2.63:1 > 198.51.100.1:2     accept  policy

case address and port, each with its direction
set     create s hash:ip,port family inet
set     add s 192.0.2.53,udp:53
set     add s 192.0.2.80,80
rules   -A INPUT -m set --match-set s src,src -j DROP
rules   -A INPUT -m set --match-set s dst,dst -j DROP
packet  in=eth0 udp 192.0.2.53:53 > 198.51.100.1:9    drop    rule 1
packet  in=eth0 udp 192.0.2.53:9 > 198.51.100.1:53    accept  policy
packet  in=eth0 tcp 198.51.100.1:9 > 192.0.2.80:80 flags=S    drop    rule 2
packet  in=eth0 tcp 198.51.100.1:9 > 192.0.2.53:53 flags=S    accept  policy
packet  in=eth0 udp 198.51.100.1:9 > 192.0.2.80:80            accept  policy

case too few directions never match, and are said
set     create s hash:ip,port family inet
set     add s 192.0.2.53,udp:53
rules   -A INPUT -m set --match-set s src -j DROP
packet  in=eth0 udp 192.0.2.53:53 > 198.51.100.1:9    accept  policy
warn    -A INPUT -m set --match-set s src -j DROP     -       dimension

case a port of a later fragment
set     create s hash:ip,port family inet
set     add s 192.0.2.53,udp:53
rules   -A INPUT -m set --match-set s src,src -j DROP
rules   -A INPUT -m set ! --match-set s src,src -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 ip 192.0.2.53 > 198.51.100.1 proto=17 frag=8 payload=40B    accept  rule 2

case network and port with ranges
set     create s hash:net,port family inet
set     add s 192.0.2.0/24,tcp:80-90
rules   -A INPUT -m set --match-set s src,dst -j DROP
packet  in=eth0 tcp 192.0.2.9:1 > 198.51.100.1:80 flags=S    drop    rule 1
packet  in=eth0 tcp 192.0.2.9:1 > 198.51.100.1:90 flags=S    drop    rule 1
packet  in=eth0 tcp 192.0.2.9:1 > 198.51.100.1:91 flags=S    accept  policy
packet  in=eth0 udp 192.0.2.9:1 > 198.51.100.1:80            accept  policy

case two networks
set     create s hash:net,net family inet
set     add s 192.0.2.0/24,198.51.100.0/25
rules   -A INPUT -m set --match-set s src,dst -j DROP
packet  in=eth0 udp 192.0.2.9:1 > 198.51.100.127:2    drop    rule 1
packet  in=eth0 udp 192.0.2.9:1 > 198.51.100.128:2    accept  policy

case network and interface
set     create s hash:net,iface family inet
set     add s 192.0.2.0/24,eth0
rules   -A INPUT -m set --match-set s src,src -j DROP
packet  in=eth0 udp 192.0.2.9:1 > 198.51.100.1:2      drop    rule 1
packet  in=eth1 udp 192.0.2.9:1 > 198.51.100.1:2      accept  policy

case marks and hardware addresses
set     create m hash:ip,mark family inet
set     add m 192.0.2.9,0x7
set     create h hash:mac
set     add h 02:00:00:00:00:01
rules   -A INPUT -m set --match-set m src,src -j DROP
rules   -A INPUT -m set --match-set h src -j DROP
packet  in=eth0 mark=7 udp 192.0.2.9:1 > 198.51.100.1:2    drop    rule 1
packet  in=eth0 mark=6 udp 192.0.2.9:1 > 198.51.100.1:2 mac=02:00:00:00:00:01    drop    rule 2
packet  in=eth0 mark=6 udp 192.0.2.9:1 > 198.51.100.1:2 mac=02:00:00:00:00:02    accept  policy

case bitmaps
set     create p bitmap:port range 1000-2000
set     add p 1000
set     add p 1500-1510
set     create b bitmap:ip range 192.0.2.0/24
set     add b 192.0.2.7
rules   -A INPUT -m set --match-set p dst -j DROP
rules   -A INPUT -m set --match-set b src -j DROP
packet  in=eth0 udp 192.0.2.9:1 > 198.51.100.1:1000   drop    rule 1
packet  in=eth0 tcp 192.0.2.9:1 > 198.51.100.1:1510 flags=S    drop    rule 1
packet  in=eth0 udp 192.0.2.9:1 > 198.51.100.1:1511   accept  policy
packet  in=eth0 udp 192.0.2.7:1 > 198.51.100.1:1511   drop    rule 2

case a list of sets
set     create a hash:ip family inet
set     create b hash:net family inet
set     create l list:set size 8
set     add a 192.0.2.1
set     add b 203.0.113.0/24
set     add l a
set     add l b
rules   -A INPUT -m set --match-set l src -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 198.51.100.1:2      drop    rule 1
packet  in=eth0 udp 203.0.113.9:1 > 198.51.100.1:2    drop    rule 1
packet  in=eth0 udp 192.0.2.2:1 > 198.51.100.1:2      accept  policy

case an IPv6 set
lang    ip6tables
set     create s hash:net family inet6
set     add s 2001:db8:1::/48
rules   -A INPUT -m set --match-set s src -j DROP
packet  in=eth0 ip6 2001:db8:1:ffff::1 > 2001:db8::1 udp 1 > 2    drop    rule 1
packet  in=eth0 ip6 2001:db8:2::1 > 2001:db8::1 udp 1 > 2         accept  policy

case no next header is no protocol to a set
lang    ip6tables
set     create s hash:ip,port family inet6
set     add s 2001:db8::1,59:0
set     add s 2001:db8::1,47:0
rules   -A INPUT -m set --match-set s src,dst -j DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 nh=59                   accept  policy
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 nh=47 payload=8B        drop    rule 1

case a set of the other family never matches
set     create s hash:ip family inet6
set     add s 2001:db8::1
rules   -A INPUT -m set --match-set s src -j DROP
rules   -A INPUT -m set ! --match-set s src -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 udp 192.0.2.1:1 > 198.51.100.1:2      accept  rule 2

case a rule adds to a set, and later packets are in it
set     create seen hash:ip family inet
rules   -A INPUT -m set --match-set seen src -j DROP
rules   -A INPUT -p tcp --dport 23 -j SET --add-set seen src
rules   -A INPUT -p tcp --dport 23 -j ACCEPT
packet  in=eth0 tcp 192.0.2.1:1 > 198.51.100.1:22 flags=S    accept  policy
packet  in=eth0 tcp 192.0.2.1:1 > 198.51.100.1:23 flags=S    accept  rule 3
packet  in=eth0 tcp 192.0.2.1:1 > 198.51.100.1:22 flags=S    drop    rule 1
packet  in=eth0 tcp 192.0.2.2:1 > 198.51.100.1:22 flags=S    accept  policy

case a rule takes out of a set
set     create ok hash:ip family inet
set     add ok 192.0.2.1
rules   -A INPUT -p icmp -j SET --del-set ok src
rules   -A INPUT -m set ! --match-set ok src -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 198.51.100.1:2      accept  policy
packet  in=eth0 icmp 192.0.2.1 > 198.51.100.1 type=8  drop    rule 2
packet  in=eth0 udp 192.0.2.1:1 > 198.51.100.1:2      drop    rule 2

case elements end with their time
set     create seen hash:ip family inet timeout 10
rules   -A INPUT -m set --match-set seen src -j DROP
rules   -A INPUT -p udp --dport 23 -j SET --add-set seen src
packet  in=eth0 t=1 udp 192.0.2.1:1 > 198.51.100.1:23   accept  policy
packet  in=eth0 t=10 udp 192.0.2.1:1 > 198.51.100.1:22  drop    rule 1
packet  in=eth0 t=12 udp 192.0.2.1:1 > 198.51.100.1:22  accept  policy

case declared elements end with their time
set     create seen hash:net family inet timeout 10
set     add seen 192.0.2.0/24 timeout 5
set     add seen 192.0.0.0/16
set     add seen 198.51.100.0/24 timeout 0
set     add seen 192.0.2.128/25 timeout 3 nomatch
rules   -A INPUT -m set --match-set seen src -j DROP
packet  in=eth0 t=0 udp 192.0.2.1:1 > 198.51.100.1:1    drop    rule 1
packet  in=eth0 t=3 udp 192.0.2.129:1 > 198.51.100.1:1  accept  policy
packet  in=eth0 t=4 udp 192.0.2.129:1 > 198.51.100.1:1  drop    rule 1
packet  in=eth0 t=6 udp 192.0.2.1:1 > 198.51.100.1:1    drop    rule 1    # by the larger network
packet  in=eth0 t=11 udp 192.0.2.1:1 > 198.51.100.1:1   accept  policy
packet  in=eth0 t=11 udp 198.51.100.1:1 > 192.0.2.1:1   drop    rule 1

case wrong sets
error   -A INPUT -m set --match-set s -j DROP         -       --match-set
error   -A INPUT -m set --match-set s sorc -j DROP    -       sorc
error   -A INPUT -j SET --add-set s                   -       --add-set
warn    -A INPUT -m set --match-set nosuch src -j DROP    -   unknown-set
