# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Connection states: said by the packet, by the case, or found by following the packets in their order.

case states that the packet says
rules   -A INPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT
rules   -A INPUT -m conntrack --ctstate INVALID -j DROP
rules   -A INPUT -m state --state NEW -j DROP
rules   -A INPUT -m conntrack --ctstate UNTRACKED -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=A ct=established    accept  rule 1
packet  in=eth0 icmp 192.0.2.1 > 192.0.2.2 type=3/4 ct=related          accept  rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=R ct=invalid        drop    rule 2
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S ct=new            drop    rule 3
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S ct=untracked      accept  rule 4

case a negated state
rules   -A INPUT -m conntrack ! --ctstate NEW -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S ct=new            accept  policy
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=A ct=established    drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=A ct=invalid        drop    rule 1

case a state that nobody says is unknown
rules   -A INPUT -m conntrack --ctstate NEW -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S                   unknown

case a state that nobody says and that changes nothing
rules   -A INPUT -m conntrack --ctstate NEW -j DROP
rules   -A INPUT -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S                   drop

case the case says the state
ct      established
rules   -A INPUT -m conntrack --ctstate ESTABLISHED -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S                   drop    rule 1
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S ct=new            accept  policy

case nothing tracks: INVALID
ct      none
rules   -A INPUT -m conntrack --ctstate INVALID -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S                   drop    rule 1

case packets in order make a connection
track
rules   -A INPUT -m conntrack --ctstate NEW -p tcp --dport 22 -j ACCEPT
rules   -A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT
rules   -A OUTPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT
rules   -P INPUT DROP
rules   -P OUTPUT DROP
packet  in=eth0 t=1 tcp 192.0.2.1:4000 > 192.0.2.2:22 flags=S           accept  rule 1
packet  out=eth0 t=2 tcp 192.0.2.2:22 > 192.0.2.1:4000 flags=SA         accept  rule 3
packet  in=eth0 t=3 tcp 192.0.2.1:4000 > 192.0.2.2:22 flags=A           accept  rule 2
packet  in=eth0 t=4 tcp 192.0.2.1:4001 > 192.0.2.2:23 flags=S           drop    policy INPUT

case raw sees the packet before connections are tracked: INVALID
rules   *raw
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -m conntrack --ctstate INVALID -j DROP
packet  in=eth0 tcp 192.0.2.1:4 > 192.0.2.2:5 flags=S ct=new            drop    rule 1

case NOTRACK makes UNTRACKED
rules   *raw
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -p udp --dport 53 -j NOTRACK
rules   -A PREROUTING -p udp --dport 123 -j CT --notrack
rules   COMMIT
rules   *filter
rules   :INPUT DROP [0:0]
rules   -A INPUT -m conntrack --ctstate UNTRACKED -j ACCEPT
rules   -A INPUT -m conntrack --ctstate NEW -j DROP
packet  in=eth0 udp 192.0.2.1:4 > 192.0.2.2:53 ct=new                   accept  rule 3
packet  in=eth0 udp 192.0.2.1:4 > 192.0.2.2:123 ct=new                  accept  rule 3
packet  in=eth0 udp 192.0.2.1:4 > 192.0.2.2:67 ct=new                   drop    rule 4

case mark of the connection
rules   -A INPUT -m connmark --mark 0x10/0xf0 -j DROP
rules   -A INPUT -m connmark ! --mark 0x2 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 udp 192.0.2.1:4 > 192.0.2.2:5 ct=established ctmark=0x1f     drop    rule 1
packet  in=eth0 udp 192.0.2.1:4 > 192.0.2.2:5 ct=established ctmark=0x2      drop    policy
packet  in=eth0 udp 192.0.2.1:4 > 192.0.2.2:5 ct=established ctmark=0x3      accept  rule 2

case a packet without a connection has no mark of one, negated or not
rules   -A INPUT -m connmark --mark 0 -j DROP
rules   -A INPUT -m connmark ! --mark 0 -j DROP
packet  in=eth0 udp 192.0.2.1:4 > 192.0.2.2:5 ct=invalid                accept  policy
packet  in=eth0 udp 192.0.2.1:4 > 192.0.2.2:5 ct=untracked              accept  policy

case spelling of states
print   -A INPUT -m state --state RELATED,ESTABLISHED -j ACCEPT         -m state --state RELATED,ESTABLISHED -j ACCEPT
print   -A INPUT -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT   -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT

case wrong states
error   -A INPUT -m conntrack --ctstate ESTABLISED -j ACCEPT            33-42  'ESTABLISED' is unknown for --ctstate
error   -A INPUT -m state --ctstate NEW -j ACCEPT                       -       --ctstate
error   -A INPUT -m conntrack -j ACCEPT                                 -       conntrack
