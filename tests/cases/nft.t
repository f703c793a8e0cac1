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

case one map goes on in the rule that has more to do, and ends the one that has not
lang    nft
rules   table ip f { map m { type inet_service : verdict; elements = { 22 : continue, 80 : accept } }
rules   chain i { type filter hook input priority 0; policy accept;
rules   tcp dport vmap @m
rules   tcp dport vmap @m counter drop
rules   } }
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:22      drop
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:80      accept
packet  in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:443     accept

case nobody knows where a packet goes whose destination a rule wrote
lang    nft
rules   table ip f {
rules   chain p { type filter hook prerouting priority 0; policy accept; ip daddr set 198.51.100.9; }
rules   chain i { type filter hook input priority 0; policy drop; }
rules   chain f { type filter hook forward priority 0; policy accept; }
rules   }
packet  in=eth0 ct=new tcp 192.0.2.1:1 > 192.0.2.2:22       unknown

case nobody knows what is in a set of four values that rules fill
lang    nft
rules   table ip f { set s { type ipv4_addr . inet_service . inet_proto . ifname; flags dynamic; }
rules   chain i { type filter hook input priority 0; policy accept;
rules   ip saddr . tcp dport . meta l4proto . iifname @s drop
rules   add @s { ip saddr . tcp dport . meta l4proto . iifname }
rules   } }
packet  in=eth0 ct=new tcp 192.0.2.1:1 > 192.0.2.2:22       unknown
packet  in=eth0 ct=new udp 192.0.2.1:1 > 192.0.2.2:22       accept

case a name that is not there is empty, which only the asterisk of a map has
lang    nft
rules   table inet f {
rules   chain o { type filter hook output priority 0; policy accept; iifname vmap { "lo" : accept, * : drop }; }
rules   chain i { type filter hook input priority 0; policy accept; iifname vmap { "lo" : accept, * : drop }; }
rules   }
packet  out=eth0 ct=new tcp 192.0.2.1:1 > 192.0.2.2:22      unknown
packet  in=eth0 ct=new tcp 192.0.2.1:1 > 192.0.2.2:22       drop
packet  in=lo ct=new tcp 192.0.2.1:1 > 192.0.2.2:22         accept

case what was known of a header that a rule writes into is not known any more
lang    nft
rules   table ip f {
rules   chain i { type filter hook input priority 0; policy accept;
rules   tcp dport 22 @th,16,16 set 80
rules   tcp dport 22 drop
rules   } }
packet  in=eth0 ct=new tcp 192.0.2.1:1 > 192.0.2.2:22      unknown
packet  in=eth0 ct=new tcp 192.0.2.1:1 > 192.0.2.2:23      accept
