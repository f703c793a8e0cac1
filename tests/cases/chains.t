# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Order of rules, calls, goto, return, policies, tables.

case the first rule that decides, decides
rules   -A INPUT -p udp -j ACCEPT
rules   -A INPUT -p udp -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         accept  rule 1
hits    1 0

case -I puts a rule before others
rules   -A INPUT -p udp -j ACCEPT
rules   -I INPUT -p udp -j DROP
rules   -I INPUT 2 -p udp --dport 2 -j ACCEPT
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         drop    rule 2

case a rule without a target counts and goes on
rules   -A INPUT -p udp
rules   -A INPUT
rules   -A INPUT -p udp -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         drop    rule 3
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2 flags=S  accept  policy
hits    1 2 1

case a call comes back behind the rule that called
rules   -N web
rules   -A INPUT -p tcp -j web
rules   -A INPUT -j DROP
rules   -A web -p tcp --dport 80 -j ACCEPT
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:80 flags=S   accept  rule 3
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:81 flags=S   drop    rule 2
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:80           drop    rule 2
hits    2 2 1

case RETURN from the depth of three calls
rules   -N a
rules   -N b
rules   -N c
rules   -A INPUT -j a
rules   -A INPUT -p udp --dport 2 -j ACCEPT
rules   -A a -j b
rules   -A a -p udp --dport 1 -j DROP
rules   -A b -j c
rules   -A b -j RETURN
rules   -A b -j DROP
rules   -A c -p udp -j RETURN
rules   -A c -j DROP
rules   -P INPUT DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:1         drop    rule 4
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         accept  rule 2
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:3         drop    policy INPUT
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:1 flags=S  drop    rule 9
hits    4 1 4 1 4 3 0 3 1

case RETURN in a base chain is its policy
rules   -A INPUT -p tcp --dport 22 -j RETURN
rules   -A INPUT -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:22 flags=S   drop    policy via 1
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:23 flags=S   accept  rule 2

case goto comes back to where the caller of this chain goes on
rules   -N a
rules   -N b
rules   -A INPUT -j a
rules   -A INPUT -p tcp -j ACCEPT
rules   -A a -g b
rules   -A a -j DROP
rules   -A b -p udp -j DROP
rules   -P INPUT DROP
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:22 flags=S   accept  rule 2
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:22           drop    rule 5
packet  in=eth0 icmp 192.0.2.1 > 192.0.2.2 type=8        drop    policy
hits    3 1 3 0 1

case goto from a base chain ends with its policy
rules   -N a
rules   -A INPUT -p udp -g a
rules   -A INPUT -j ACCEPT
rules   -A a -p udp --dport 1 -j ACCEPT
rules   -P INPUT DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:1         accept  rule 3
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         drop    policy

case RETURN in a chain reached by goto
rules   -N a
rules   -N b
rules   -A INPUT -j a
rules   -A INPUT -j DROP
rules   -A a -g b
rules   -A b -p udp -j RETURN
rules   -A b -j ACCEPT
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:1         drop    rule 2
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:1 flags=S  accept  rule 5

case one chain called from two places
rules   -N log
rules   -A INPUT -p udp -j log
rules   -A INPUT -p udp --dport 2 -j log
rules   -A INPUT -p udp -j ACCEPT
rules   -A log -j LOG --log-prefix "seen "
rules   -P INPUT DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         accept  rule 3
hits    1 1 1 2

case a call's test is made once, at the call
rules   *mangle
rules   :PREROUTING ACCEPT [0:0]
rules   :c - [0:0]
rules   -A PREROUTING -m mark --mark 1 -j c
rules   -A c -j MARK --set-mark 2
rules   -A c -p udp -j DROP
packet  in=eth0 mark=1 udp 192.0.2.1:1 > 192.0.2.2:2  drop    rule 3
packet  in=eth0 mark=2 udp 192.0.2.1:1 > 192.0.2.2:2  accept  policy

case a limit on a call spends one token for the call
rules   -N c
rules   -A INPUT -m limit --limit 1/hour --limit-burst 2 -j c
rules   -A c -p udp --dport 1 -j RETURN
rules   -A c -p udp --dport 2 -j RETURN
rules   -A c -j DROP
packet  in=eth0 t=1 udp 192.0.2.1:1 > 192.0.2.2:3     drop    rule 4
packet  in=eth0 t=2 udp 192.0.2.1:1 > 192.0.2.2:3     drop    rule 4
packet  in=eth0 t=3 udp 192.0.2.1:1 > 192.0.2.2:3     accept  policy
hits    2 0 0 2

case accept ends its base chain only
rules   *mangle
rules   :INPUT ACCEPT [0:0]
rules   -A INPUT -p udp -j ACCEPT
rules   COMMIT
rules   *filter
rules   :INPUT ACCEPT [0:0]
rules   -A INPUT -p udp --dport 2 -j DROP
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         drop    rule 2
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:3         accept  policy filter/INPUT

case drop ends the packet: later tables do not see it
rules   *raw
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -p udp -j DROP
rules   COMMIT
rules   *filter
rules   :INPUT ACCEPT [0:0]
rules   -A INPUT -p udp -j ACCEPT
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         drop    rule 1
hits    1 0

case tables at one hook in their order: raw, mangle, filter, security
rules   *security
rules   :INPUT ACCEPT [0:0]
rules   -A INPUT -p udp -j DROP
rules   COMMIT
rules   *filter
rules   :INPUT ACCEPT [0:0]
rules   -A INPUT -m mark --mark 1 -j DROP
rules   COMMIT
rules   *mangle
rules   :INPUT ACCEPT [0:0]
rules   -A INPUT -p tcp -j MARK --set-mark 1
rules   COMMIT
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         drop    rule 1
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:2 flags=S  drop   rule 2  mark=1

case a chain line with a policy and no counters
rules   *filter
rules   :INPUT DROP
rules   -A INPUT -p tcp -j ACCEPT
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         drop    policy

case no rules at all
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         accept  none

case counters of a saved file do not change the rules
rules   *filter
rules   :INPUT DROP [7:420]
rules   [3:180] -A INPUT -p udp -j ACCEPT
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:2         accept  rule 1

case loops
error   *filter\n:a - [0:0]\n:b - [0:0]\n-A a -j b\n-A b -j a\n-A INPUT -j a\nCOMMIT   4:9    loop a -> b -> a reached from INPUT
also    5:9    closes the loop
error   *filter\n:a - [0:0]\n-A INPUT -j a\n-A a -j a\nCOMMIT                         -    loop

case calls into nothing
error   -A INPUT -j nosuchchain                       13-23   nosuchchain
error   -A nosuchchain -j DROP                        4-14    nosuchchain
error   -A INPUT -j DORP                              13-16   DORP
error   -A INPUT -j INPUT                             13-17   INPUT
error   -A INPUT -j ACCEPT -j DROP                    -       -j
error   -A INPUT -g ACCEPT                            -       ACCEPT

case files cut short or hand-written
error   *filter\n-A INPUT -j DROP                     -       COMMIT
warn    -A INPUT -j ACCEPT \s# ssh                    -       comments must start the line
error   *fliter\nCOMMIT                               2-7     fliter
error   *filter\n:nosuch DROP\nCOMMIT                 -       nosuch
error   *filter\n:INPUT REJECT\nCOMMIT                -       REJECT
warn    *filter\n-A INPUT -j DROP\nCOMMIT             -       policy
