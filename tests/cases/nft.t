# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What statements of nft do behind one another. Each was seen to be so in the kernel.

case continue in a verdict map goes on with the next statement
lang    nft
rules   table ip f {
rules   chain i { type filter hook input priority 0; policy accept;
rules   tcp dport vmap { 22 : continue, 80 : return } drop
rules   tcp dport 80 accept
rules   } }
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:22      drop
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:80      accept
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:443     accept

case continue alone goes on with the next rule
lang    nft
rules   table ip f {
rules   chain i { type filter hook input priority 0; policy accept;
rules   tcp dport vmap { 22 : continue }
rules   tcp dport 22 drop
rules   } }
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:22      drop

case the mark of a connection that is not there ends a rule that calculates with it
lang    nft
rules   table ip f {
rules   chain i { type filter hook input priority 0; policy accept;
rules   ct mark set ct mark | 1 drop
rules   } }
packet  in=eth0 ct=new tcp 192.0.2.1:1 > 192.0.2.2:22       drop
packet  in=eth0 ct=invalid tcp 192.0.2.1:1 > 192.0.2.2:22   accept

case a named limit is one for all rules and both families
lang    nft
track   yes
rules   table inet f {
rules   limit l { rate 1/day burst 2 packets }
rules   chain i { type filter hook input priority 0; policy drop;
rules   tcp dport 22 limit name "l" accept
rules   udp dport 53 limit name "l" accept
rules   } }
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:22              accept
packet  in=eth0 udp [2001:db8::1]:1 > [2001:db8::2]:53         accept
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:22              drop

case a negated pair whose interface is not there holds where the other value is there
lang    nft
hook    prerouting
rules   table ip f {
rules   chain p { type filter hook prerouting priority 0; policy accept;
rules   oifname . tcp dport != { "eth0" . 22 } drop
rules   } }
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:22              drop
packet  in=eth0 udp 192.0.2.1:1 > 192.0.2.2:22              accept
packet  in=eth0 tcp 192.0.2.1 > 192.0.2.2 frag=8            accept
