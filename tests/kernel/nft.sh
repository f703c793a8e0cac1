#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# nft rulesets in the kernel: sets, concatenations, verdict maps, limits, several base chains at a hook, both families by one
# rule; another ruleset with other priorities takes their place; what cannot be run is refused by name, and changes nothing.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
peer b eth1 2
serve 1001 1002 1003 1004 1005 1006
A=10.0.1.1 A6=2001:db8:1::1

packets() { # comment
	"$WEIR" list --json | /usr/bin/python3 -c '
import json, sys
print(sum(r["packets"] for c in json.load(sys.stdin).get("chains", []) for r in c["rules"] if r.get("comment") == sys.argv[1]))' "$1"
}

cat >one.nft <<'END'
table inet f {
	set blocked { type ipv4_addr; flags interval; elements = { 10.0.2.0-10.0.2.255, 10.0.3.7 } }
	set pairs { type ipv4_addr . inet_service; elements = { 10.0.1.2 . 1, 10.0.1.2 . 1003 } }
	map ports { type inet_service : verdict; elements = { 1001 : jump web, 1002 : drop, 1003 : goto last } }
	chain web {
		ip saddr 10.0.1.0/24 counter accept comment "web4"
		counter return comment "web6"
	}
	chain last { counter comment "last"
		accept
	}
	chain i {
		type filter hook input priority 0; policy drop;
		ip saddr @blocked counter drop comment "blocked"
		ip saddr . udp dport @pairs drop
		meta l4proto { tcp, udp } th dport vmap @ports
		meta l4proto udp udp dport 1001 counter accept comment "returned"
		ip saddr . udp dport { 10.0.1.2 . 1004, 10.9.0.0/16 . 1-2000 } counter accept comment "pair"
		ip6 saddr . udp dport { 2001:db8:1::2 . 1004 } counter accept comment "pair6"
		udp dport 1005 limit rate over 1/hour burst 2 packets counter drop comment "over"
		udp dport 1005 accept
		ip saddr 10.0.1.2 udp dport 1006 @th,32,16 > 0 counter accept comment "bits"
		meta l4proto { icmp, ipv6-icmp } counter accept comment "icmp"
	}
}
table inet late {
	chain i { type filter hook input priority 10; policy accept; udp dport 1004 ip6 saddr ::/0 counter drop comment "late"; }
}
END
"$WEIR" load one.nft >out 2>&1
is $? 0 "an nft ruleset is loaded"
is "$(verdict @a udp $A 1001) $(verdict @a udp $A6 1001)" "pass pass" "a verdict map jumps, IPv4 is accepted there, IPv6 after its return"
is "$(verdict @a udp $A 1002) $(verdict @a udp $A6 1002)" "drop drop" "a verdict of the map itself"
is "$(verdict @a udp $A 1003) $(verdict @a tcp $A6 1003)" "drop pass" "a pair of a set, and goto, which does not come back"
is "$(verdict @a udp $A 1004) $(verdict @a udp $A6 1004)" "pass drop" "a pair is accepted; a later base chain drops IPv6"
is "$(verdict @a udp $A 1005) $(verdict @a udp $A6 1005) $(verdict @a udp $A 1005)" "pass pass drop" "one limit for both families"
is "$(verdict @a udp $A 1006) $(verdict @a udp $A6 1006)" "pass drop" "bits of a header"
is "$(packets web4) $(packets web6) $(packets returned)" "1 1 1" "counters of the called chain"
# what gets no answer is sent three times
is "$(packets pair) $(packets pair6) $(packets late)" "1 3 3" "counters of pairs, and of the later chain"
is "$(packets blocked) $(packets over) $(packets bits)" "0 3 1" "and of the rest"
is "$(verdict @b udp 10.0.2.1 1001) $(verdict @b udp 2001:db8:2::1 1001) $(packets blocked)" "drop pass 3" "an address of the interval set"

# sets change while the rules judge, by elements in nft's words
"$WEIR" set test blocked 10.0.2.77 >/dev/null
is $? 0 "an address within an interval of the set"
"$WEIR" set add blocked 10.0.1.0/24 203.0.113.1 >/dev/null
is "$? $(verdict @a udp $A 1001) $(verdict @a udp $A6 1001)" "0 drop pass" "a prefix is added"
has "$("$WEIR" set list blocked)" "203.0.113.1" "list shows what was added"
"$WEIR" set del blocked 10.0.1.0/24 >/dev/null
is "$? $(verdict @a udp $A 1001)" "0 pass" "and is taken out again"
"$WEIR" set del pairs '10.0.1.2 . 1003' >/dev/null
"$WEIR" set add pairs '10.0.1.2 . 1004' '10.0.1.2 . ssh' >/dev/null
is "$? $(verdict @a udp $A 1003) $(verdict @a udp $A 1004)" "0 pass drop" "pairs are taken out and added"
has "$("$WEIR" set list pairs)" "10.0.1.2 . 22" "and listed in nft's words"
out=$("$WEIR" set add blocked nonsense 2>&1)
is "$? $(echo "$out" | grep -c "error: 'nonsense'")" "2 1" "what is no element is refused"
is "$("$WEIR" list | grep -c "comment \"icmp\"")" 1 "twins are one line"

cat >two.nft <<'END'
table ip6 g { chain early { type filter hook input priority -150; policy accept; udp dport 1001 counter drop comment "early"; } }
table inet f {
	chain i { type filter hook input priority -20; policy accept; udp dport { 1002, 1003 } counter accept comment "two"; }
	chain j { type filter hook input priority 20; policy accept; udp dport 1003 counter drop comment "second"; }
}
END
"$WEIR" load two.nft >out 2>&1
is $? 0 "another one takes its place, at other priorities"
is "$(verdict @a udp $A 1001) $(verdict @a udp $A6 1001)" "pass drop" "IPv6 alone is dropped early"
is "$(verdict @a udp $A 1002) $(verdict @a udp $A6 1003)" "pass drop" "accepted by the first, dropped by the second"
is "$(packets two) $(packets second) $(packets early)" "4 3 3" "all have counted"

refused() { # text of a chain's head and rule, part of the message, what
	printf 'table inet x { %s }\n' "$1" >bad.nft
	out=$("$WEIR" load bad.nft 2>&1)
	is $? 1 "$3 is refused"
	has "$out" "$2" "by name"
}
I='chain c { type filter hook input priority 0;'
refused "$I reject; }" reject "an answer"
refused "$I meta mark set 1; }" mark "a mark that is set"
refused "chain c { type nat hook prerouting priority -100; tcp dport 80 redirect to :8080; }" translate "translation"
refused "$I tcp dport 22 queue; }" queue "a queue"
refused "$I fib saddr . iif oif missing drop; }" fib "a question to the routing table"
printf 'table netdev n { chain c { type filter hook ingress device eth0 priority 0; drop; } }\n' >bad.nft
out=$("$WEIR" load bad.nft 2>&1)
is $? 1 "a chain at a device is refused"
has "$out" "bad.nft:1" "at its place"
is "$(verdict @a udp $A 1001) $(verdict @a udp $A6 1001)" "pass drop" "and nothing has changed"
"$WEIR" unload >/dev/null
is "$(verdict @a udp $A6 1001)" pass "unloaded"
finish
