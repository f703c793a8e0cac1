# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The other matches of IPv4: what they say, and what they say of packets that lack what they look for.

case address ranges and their edges
rules   -A INPUT -m iprange --src-range 192.0.2.5-192.0.2.9 -j DROP
rules   -A INPUT -m iprange ! --dst-range 198.51.100.0-198.51.100.3 -j DROP
packet  in=eth0 udp 192.0.2.4:1 > 198.51.100.0:2      accept  policy
packet  in=eth0 udp 192.0.2.5:1 > 198.51.100.0:2      drop    rule 1
packet  in=eth0 udp 192.0.2.9:1 > 198.51.100.3:2      drop    rule 1
packet  in=eth0 udp 192.0.2.10:1 > 198.51.100.3:2     accept  policy
packet  in=eth0 udp 192.0.2.10:1 > 198.51.100.4:2     drop    rule 2
warn    -A INPUT -m iprange --src-range 198.51.100.5-192.0.2.250 -j DROP    -    reversed

case second and later fragments
rules   *raw
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -f -j DROP
rules   -A PREROUTING ! -f -p icmp -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 mf=1 tcp 4 > 22 flags=S           accept  policy
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=6 frag=3 payload=20B        drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=6 frag=3 mf=1 payload=24B   drop    rule 1
packet  in=eth0 icmp 192.0.2.1 > 192.0.2.2 type=8                          drop    rule 2

case length of the whole packet
rules   -A INPUT -m length --length 100:200 -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=71B      accept  policy
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=72B      drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=172B     drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=173B     accept  policy

case length, open and negated
rules   -A INPUT -m length --length 1000: -j DROP
rules   -A INPUT -m length ! --length 28 -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=972B     drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=0B       accept  policy
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=1B       drop    rule 2

case time to live
rules   -A INPUT -m ttl --ttl-lt 5 -j DROP
rules   -A INPUT -m ttl --ttl-gt 200 -j DROP
rules   -A INPUT -m ttl ! --ttl-eq 64 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ttl=4 udp 1 > 2      drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ttl=5 udp 1 > 2      accept  rule 3
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ttl=200 udp 1 > 2    accept  rule 3
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ttl=201 udp 1 > 2    drop    rule 2
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ttl=64 udp 1 > 2     drop    policy

case type of service, class
rules   -A INPUT -m tos --tos 0x10/0x3f -j DROP
rules   -A INPUT -m dscp --dscp-class EF -j DROP
rules   -A INPUT -m dscp ! --dscp 0 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 tos=0xd0 udp 1 > 2   drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 dscp=ef udp 1 > 2    drop    rule 2
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 dscp=af11 udp 1 > 2  accept  rule 3
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 tos=3 udp 1 > 2      drop    policy

case congestion bits of IP
rules   -A INPUT -m ecn --ecn-ip-ect 3 -j DROP
rules   -A INPUT -m ecn ! --ecn-ip-ect 0 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ecn=ce udp 1 > 2         drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ecn=ect0 udp 1 > 2       accept  rule 2
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ecn=not-ect udp 1 > 2    drop    policy

case hardware address of the sender
rules   -A INPUT -m mac --mac-source 02:00:00:00:00:01 -j DROP
rules   -A INPUT -m mac ! --mac-source 02:00:00:00:00:02 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 mac=02:00:00:00:00:01 udp 192.0.2.1:1 > 192.0.2.2:2    drop    rule 1
packet  in=eth0 mac=02:00:00:00:00:03 udp 192.0.2.1:1 > 192.0.2.2:2    accept  rule 2
packet  in=eth0 mac=02:00:00:00:00:02 udp 192.0.2.1:1 > 192.0.2.2:2    drop    policy

case sort of packet
rules   -A INPUT -m pkttype --pkt-type broadcast -j DROP
rules   -A INPUT -m pkttype ! --pkt-type unicast -j DROP
packet  in=eth0 pkttype=broadcast udp 192.0.2.1:1 > 192.0.2.255:2      drop    rule 1
packet  in=eth0 pkttype=multicast udp 192.0.2.1:1 > 224.0.0.1:2        drop    rule 2
packet  in=eth0 pkttype=host udp 192.0.2.1:1 > 192.0.2.2:2             accept  policy

case owner of the socket
rules   -A OUTPUT -m owner --uid-owner 1000-1001 -j DROP
rules   -A OUTPUT -m owner --gid-owner 33 -j DROP
rules   -A OUTPUT -m owner --socket-exists -j ACCEPT
rules   -P OUTPUT DROP
packet  out=eth0 uid=1001 gid=1 udp 192.0.2.1:1 > 192.0.2.2:2          drop    rule 1
packet  out=eth0 uid=1002 gid=33 udp 192.0.2.1:1 > 192.0.2.2:2         drop    rule 2
packet  out=eth0 uid=1002 gid=34 udp 192.0.2.1:1 > 192.0.2.2:2         accept  rule 3
packet  out=eth0 uid=none gid=none udp 192.0.2.1:1 > 192.0.2.2:2       drop    policy

case without a socket every negated owner test holds
rules   -A OUTPUT -m owner ! --uid-owner 0 -j DROP
packet  out=eth0 uid=none gid=none udp 192.0.2.1:1 > 192.0.2.2:2       drop    rule 1
packet  out=eth0 uid=0 gid=0 udp 192.0.2.1:1 > 192.0.2.2:2             accept  policy

case an owner that nobody says
rules   -A OUTPUT -m owner --uid-owner 0 -j DROP
packet  out=eth0 udp 192.0.2.1:1 > 192.0.2.2:2                         unknown

case types of addresses, by the environment and by nature
env     interface eth0 address 192.0.2.1/24
rules   -A INPUT -m addrtype --dst-type BROADCAST -j DROP
rules   -A INPUT -m addrtype --dst-type MULTICAST -j DROP
rules   -A INPUT -m addrtype ! --dst-type LOCAL -j DROP
packet  in=eth0 udp 192.0.2.9:1 > 192.0.2.255:2       drop    rule 1
packet  in=eth0 udp 192.0.2.9:1 > 255.255.255.255:2   drop    rule 1
packet  in=eth0 udp 192.0.2.9:1 > 224.0.0.251:2       drop    rule 2
packet  in=eth0 udp 192.0.2.9:1 > 192.0.2.8:2         drop    rule 3
packet  in=eth0 udp 192.0.2.9:1 > 192.0.2.1:2         accept  policy

case processor
rules   -A INPUT -m cpu --cpu 1 -j DROP
rules   -A INPUT -m cpu ! --cpu 0 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 cpu=1 udp 192.0.2.1:1 > 192.0.2.2:2   drop    rule 1
packet  in=eth0 cpu=2 udp 192.0.2.1:1 > 192.0.2.2:2   accept  rule 2
packet  in=eth0 cpu=0 udp 192.0.2.1:1 > 192.0.2.2:2   drop    policy

case realm of the route
rules   -A INPUT -m realm --realm 0x5/0xf -j DROP
packet  in=eth0 realm=0x15 udp 192.0.2.1:1 > 192.0.2.2:2    drop    rule 1
packet  in=eth0 realm=0x16 udp 192.0.2.1:1 > 192.0.2.2:2    accept  policy

case SCTP chunks
rules   -A INPUT -p sctp --chunk-types only INIT -j DROP
rules   -A INPUT -p sctp --chunk-types any ABORT,SHUTDOWN -j DROP
rules   -A INPUT -p sctp --chunk-types all DATA,SACK -j DROP
packet  in=eth0 sctp 192.0.2.1:1 > 192.0.2.2:2 chunks=init              drop    rule 1
packet  in=eth0 sctp 192.0.2.1:1 > 192.0.2.2:2 chunks=data,shutdown     drop    rule 2
packet  in=eth0 sctp 192.0.2.1:1 > 192.0.2.2:2 chunks=sack,data         drop    rule 3
packet  in=eth0 sctp 192.0.2.1:1 > 192.0.2.2:2 chunks=data              accept  policy

case types of DCCP
rules   -A INPUT -p dccp --dccp-types REQUEST,RESET -j DROP
packet  in=eth0 dccp 192.0.2.1:1 > 192.0.2.2:2 type=request             drop    rule 1
packet  in=eth0 dccp 192.0.2.1:1 > 192.0.2.2:2 type=data                accept  policy

case IPsec headers
rules   -A INPUT -p esp -m esp --espspi 256:512 -j DROP
rules   -A INPUT -p esp -m esp ! --espspi 7 -j ACCEPT
rules   -A INPUT -p ah -m ah --ahspi 5 -j DROP
rules   -P INPUT DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 esp spi=256          drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 esp spi=513          accept  rule 2
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 esp spi=7            drop    policy
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ah spi=5             drop    rule 3

case a rule's comment changes nothing
rules   -A INPUT -p udp -m comment --comment "drop # all -j ACCEPT" -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2                 drop    rule 1

case several matches of one sort in one rule
rules   -A INPUT -m iprange --src-range 192.0.2.1-192.0.2.9 -m length --length 28 -m ttl --ttl-eq 7 -j DROP
packet  in=eth0 ip 192.0.2.5 > 192.0.2.2 ttl=7 udp 1 > 2      drop    rule 1
packet  in=eth0 ip 192.0.2.5 > 192.0.2.2 ttl=8 udp 1 > 2      accept  policy

case what nobody here can decide is unknown, whatever the spelling
rules   -A INPUT -m policy --dir in --pol ipsec -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2                 unknown

case reverse path
rules   *raw
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -m rpfilter --invert -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2                 unknown

case helper, socket, cgroup
rules   -A INPUT -p tcp -m helper --helper ftp -j DROP
rules   -A INPUT -p udp -m socket -j DROP
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2 flags=S ct=established    unknown
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2                 unknown

case unknown tests that the verdict does not hang on
rules   -A INPUT -m policy --dir in --pol ipsec -j DROP
rules   -A INPUT -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2                 drop

case misspelt matches
error   -A INPUT -m conntrak --ctstate NEW -j DROP            13-20   conntrak
error   -A INPUT -m ttl -j DROP                               -       ttl
error   -A INPUT -m length --length 70000 -j DROP             -       70000
error   -A INPUT -m mac --mac-source 02:00:00:00:00 -j DROP   -       02:00:00:00:00
error   -A OUTPUT -m mac --mac-source 02:00:00:00:00:01 -j DROP    -   mac
error   -A INPUT -m owner --uid-owner 0 -j DROP               -       owner
error   -A INPUT -m pkttype --pkt-type brodcast -j DROP       -       brodcast
error   -A INPUT -m iprange --src-range 192.0.2.1 -m tos --tos 0x100 -j DROP    -    0x100
