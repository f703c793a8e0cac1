# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Packets that are cut short or contradict themselves are dropped, unless asked otherwise.

case a TCP header cut short
rules   *raw
rules   :PREROUTING ACCEPT [0:0]
rules   -A PREROUTING -p tcp --dport 22 -j ACCEPT
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=6 payload=8B    drop    malformed

case a UDP header cut short
rules   -A INPUT -p udp -j ACCEPT
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=17 payload=6B   drop    malformed

case malformed packets let through when asked
malformed accept
rules   -A INPUT -p udp --dport 53 -j DROP
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=17 payload=6B   accept

case without a chain on the path nobody drops
rules   -A OUTPUT -p udp -j ACCEPT
packet  in=eth0 ip 192.0.2.1 > 192.0.2.2 proto=17 payload=6B   accept

case bytes of a packet that ends in its IP header
rules   -A INPUT -p udp -j ACCEPT
packet  in=eth0 hex 45000014000000004011                       drop    malformed

case a header length below the least
rules   -A INPUT -p udp -j ACCEPT
packet  in=eth0 hex 4400001c000000004011f6cdc0000201c0000202000100020008     drop    malformed

case too little was captured to tell anything
lang    ip6tables
rules   -P INPUT DROP
packet  in=eth0 ip6 2001:db8::1 > 2001:db8::2 udp 1 > 2 cut=0                       unknown
packet  in=eth0 eth hex ffffffffffff02000000000186dd60000000 cut=13                 unknown
packet  in=eth0 eth hex ffffffffffff02000000000186dd60000000 cut=14                 unknown
