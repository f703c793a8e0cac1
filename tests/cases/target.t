# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Targets: which end the way of a packet, which do something and go on.

case REJECT and its answers
rules   -A INPUT -p udp --dport 1 -j REJECT
rules   -A INPUT -p tcp --dport 1 -j REJECT --reject-with tcp-reset
rules   -A INPUT -p udp --dport 2 -j REJECT --reject-with icmp-host-prohibited
rules   -A INPUT -p udp --dport 3 -j REJECT --reject-with icmp-admin-prohibited
rules   -A INPUT -p udp --dport 4 -j REJECT --reject-with icmp-net-unreachable
rules   -A INPUT -p udp --dport 5 -j REJECT --reject-with icmp-proto-unreachable
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:1           reject(icmp-port-unreach)  rule 1
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:1 flags=S   reject(tcp-rst)            rule 2
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2           reject                     rule 3
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:3           reject                     rule 4
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:4           reject                     rule 5
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:5           reject                     rule 6

case REJECT of IPv6
lang    ip6tables
rules   -A INPUT -p udp -j REJECT
rules   -A INPUT -j REJECT --reject-with icmp6-adm-prohibited
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 udp 1 > 2               reject  rule 1
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 tcp 1 > 2 flags=S       reject  rule 2

case targets of filter that go on
set     create s hash:ip family inet
rules   -A INPUT -j LOG --log-prefix "in: " --log-level 6
rules   -A INPUT -j NFLOG --nflog-group 3 --nflog-prefix x
rules   -A INPUT -j SET --add-set s src
rules   -A INPUT -j AUDIT --type drop
rules   -A INPUT -j CONNMARK --set-mark 1
rules   -A INPUT -j TEE --gateway 192.0.2.7
rules   -A INPUT -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2 ct=new    drop    rule 7
hits    1 1 1 1 1 1 1

case targets of mangle that go on
rules   *mangle
rules   :POSTROUTING ACCEPT [0:0]
rules   -A POSTROUTING -p tcp -j TCPMSS --clamp-mss-to-pmtu
rules   -A POSTROUTING -p tcp -j TCPMSS --set-mss 1300
rules   -A POSTROUTING -j CLASSIFY --set-class 1:2
rules   -A POSTROUTING -j DSCP --set-dscp-class CS1
rules   -A POSTROUTING -j TOS --set-tos 0x10/0x3f
rules   -A POSTROUTING -j TTL --ttl-set 9
rules   -A POSTROUTING -j CHECKSUM --checksum-fill
rules   -A POSTROUTING -p tcp -j ECN --ecn-tcp-remove
rules   -A POSTROUTING -j DROP
packet  out=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2 flags=S mss=1460    drop    rule 9
hits    1 1 1 1 1 1 1 1 1

case later rules see what was written
rules   *mangle
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -j TTL --ttl-dec 1
rules   -A PREROUTING -j DSCP --set-dscp 46
rules   -A PREROUTING -m ttl --ttl-eq 9 -m dscp --dscp 46 -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ttl=10 udp 1 > 2      drop    rule 3
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 ttl=11 udp 1 > 2      accept  policy

case later rules see a written type of service
rules   *mangle
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -j TOS --set-tos 0x10/0x3f
rules   -A PREROUTING -m tos --tos 0xd0 -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 tos=0xc3 udp 1 > 2    drop    rule 2

case tracing and its table
rules   *raw
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -j TRACE
rules   -A PREROUTING -j CT --helper ftp
rules   -A PREROUTING -j DROP
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:21 flags=S         drop    rule 3

case a program in user space decides
rules   -A INPUT -p udp -j NFQUEUE --queue-num 3
rules   -A INPUT -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2                  queue   rule 1
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2 flags=S          drop    rule 2

case spelling of targets
print   -A INPUT -j REJECT                                     -j REJECT --reject-with icmp-port-unreachable
print   -A INPUT -j LOG --log-prefix x --log-level warning     -j LOG --log-prefix x
print   -A INPUT -j NFQUEUE                                    -j NFQUEUE --queue-num 0

case targets at the wrong place
error   *nat\n-A PREROUTING -j REJECT\nCOMMIT                  -       REJECT
error   -A INPUT -j DNAT --to-destination 192.0.2.1            -       nat
error   -A INPUT -p udp -j REJECT --reject-with tcp-reset      -       tcp
error   -A INPUT -j REJECT --reject-with icmp6-no-route        -       icmp6-no-route
error   -A INPUT -j LOG --log-level loud                       -       loud
warn    -A INPUT -j LOG --log-prefix "a prefix that is far too long for it"    -    29
error   *mangle\n-A INPUT -p udp -j TCPMSS --set-mss 1300\nCOMMIT    -    tcp
