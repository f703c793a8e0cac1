# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# TCP: flags, options, maximum segment size.

case --syn is SYN of four flags
rules   -A INPUT -p tcp --syn -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S           drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=SA          accept  policy
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=SEC         drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=SPU         drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=SR          accept  policy

case ! --syn
rules   -A INPUT -p tcp ! --syn -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S           accept  policy
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=SA          drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=            drop    rule 1
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=6 frag=8 payload=40B    accept  policy

case ALL is six flags, NONE none of them
rules   -A INPUT -p tcp --tcp-flags ALL NONE -j DROP
rules   -A INPUT -p tcp --tcp-flags ALL ALL -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=            drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=EC          drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=FSRPAU      drop    rule 2
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=FSRPAUEC    drop    rule 2
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=F           accept  policy

case flags under a mask, negated
rules   -A INPUT -p tcp ! --tcp-flags SYN,FIN SYN,FIN -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=SF          drop    policy
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=SFA         drop    policy
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S           accept  rule 1

case a bit outside of the mask never matches
warn    -A INPUT -p tcp --tcp-flags SYN SYN,ACK -j DROP         -       never

case options of TCP
rules   -A INPUT -p tcp --tcp-option 2 -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S mss=1460  drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S wscale=7  accept  policy
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S           accept  policy

case without an option of TCP
rules   -A INPUT -p tcp ! --tcp-option 2 -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S mss=1460  accept  policy
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S           drop    rule 1

case maximum segment size
rules   -A INPUT -p tcp --syn -m tcpmss --mss 500:1400 -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S mss=499   accept  policy
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S mss=500   drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S mss=1400  drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S mss=1401  accept  policy
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S           accept  policy

case negated segment size: a packet without one matches
rules   -A INPUT -p tcp --syn -m tcpmss ! --mss 500:1400 -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S mss=500   accept  policy
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S mss=1401  drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S           drop    rule 1

case congestion marks of TCP and IP
rules   -A INPUT -p tcp -m ecn --ecn-tcp-cwr -j DROP
rules   -A INPUT -p tcp -m ecn ! --ecn-tcp-ece --ecn-ip-ect 2 -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=AC          drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=A ecn=2     drop    rule 2
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=AE ecn=2    accept  policy
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=A ecn=1     accept  policy

case spelling of flags
print   -A INPUT -p tcp --syn -j DROP                           -p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN -j DROP
print   -A INPUT -p tcp --tcp-flags ALL NONE -j DROP            -p tcp -m tcp --tcp-flags FIN,SYN,RST,PSH,ACK,URG NONE -j DROP

case wrong flags
error   -A INPUT -p tcp --tcp-flags SYN,SNY SYN -j DROP         -       SNY
error   -A INPUT -p udp --syn -j DROP                           -       --syn
error   -A INPUT -p tcp --tcp-flags SYN -j DROP                 -       --tcp-flags
