#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Beside iptables-legacy, nft and others that hold the same priorities: the order is kept, and what is not possible is
# refused with the name of who is in the way.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
serve 1001 1002 1003
A=10.0.1.1

load() { # line...
	rules rules.v4 "$@"
	"$WEIR" load rules.v4 2>&1
}
all() { echo "$(verdict @a udp $A 1001 40) $(verdict @a udp $A 1002 40) $(verdict @a udp $A 1003 40)"; }

if command -v iptables-legacy >/dev/null && iptables-legacy -A INPUT -p udp --dport 1001 -j DROP 2>/dev/null; then
	out=$(load '-A INPUT -p udp -m udp --dport 1002 -j DROP')
	is $? 0 "loads beside iptables-legacy at 0"
	has "$out" "priority -1 (0 is held by iptables-legacy table filter)" "and says who holds 0"
	is "$(all)" "drop drop pass" "both judge"
	has "$("$WEIR" list)" "at input priority -1" "list shows the place"
	"$WEIR" unload >/dev/null
	iptables-legacy -F
	for t in raw mangle security; do iptables-legacy -t $t -A PREROUTING -p udp --dport 9 2>/dev/null ||
		iptables-legacy -t $t -A INPUT -p udp --dport 9; done
	printf '%s\n' '*raw' '-A PREROUTING -p udp -m udp --dport 1001 -j DROP' COMMIT '*mangle' \
		'-A INPUT -p udp -m udp --dport 1002 -j DROP' COMMIT '*security' '-A INPUT -p udp -m udp --dport 1003' COMMIT >t.v4
	"$WEIR" load t.v4 >out 2>&1
	is $? 0 "raw, mangle and security find places beside legacy tables"
	is "$(all)" "drop drop pass" "and judge"
	"$WEIR" unload >/dev/null
	iptables-legacy -F
else
	skip "needs iptables-legacy" "loads beside iptables-legacy at 0"
fi

# nft at 0 and around it, as Docker and firewalld are
nft -f - <<EOF
table ip docker {
	chain in { type filter hook input priority 0; udp dport 1001 drop; }
}
table inet firewalld {
	chain filter_INPUT { type filter hook input priority 10; }
}
EOF
out=$(load '-A INPUT -p udp -m udp --dport 1002 -j DROP')
has "$out" "priority -1 (0 is held by" "beside an nft chain at 0"
is "$(all)" "drop drop pass" "both judge"
nft add table ip early '{ chain in { type filter hook input priority -1; }; }'
load '-A INPUT -p udp -m udp --dport 1003 -j DROP' >/dev/null
is $? 0 "a place that is held already stays"
"$WEIR" unload >/dev/null
out=$(load '-A INPUT -p udp -m udp --dport 1002 -j DROP')
has "$out" "priority 1 (0 is held by" "with -1 held too, the place behind"
is "$(all)" "drop drop pass" "both judge"
"$WEIR" unload >/dev/null
nft add table ip late '{ chain in { type filter hook input priority 1; }; }'
out=$(load '-A INPUT -p udp -m udp --dport 1002 -j DROP')
is $? 3 "without a place that keeps the order, load is refused"
has "$out" "chain in of table ip late" "with the name of who is there"
has "$out" "chain in of table ip early" "of all of them"
is "$(all)" "drop pass pass" "and nothing is changed"
has "$("$WEIR" list)" "no rules are loaded" "nothing is loaded"
is "$(find /sys/fs/bpf/weir 2>/dev/null)" "" "nothing is pinned"
nft flush ruleset

# ours stays before and behind its neighbours: a mark set at -5 is seen at 0
nft add table ip marks '{ chain in { type filter hook input priority -5; udp dport 1001 meta mark set 7; }; }'
load '-A INPUT -m mark --mark 0x7 -j DROP' >/dev/null
is "$(all)" "drop pass pass" "a mark that nft sets earlier is seen"
"$WEIR" unload >/dev/null
# tables of one hook with somebody between them
{ printf '*mangle\n-A INPUT -p udp -m udp --dport 1002 -j DROP\nCOMMIT\n'; cat rules.v4; } >both.v4
"$WEIR" load both.v4 >out 2>&1 || sed 's/^/# /' out
is "$(all)" "drop drop pass" "a mark that nft sets between mangle and filter is seen by filter"
"$WEIR" unload >/dev/null
nft flush ruleset
nft add table ip marks '{ chain in { type filter hook input priority -150; udp dport 1001 meta mark set 7; }; }'
"$WEIR" load both.v4 >out 2>&1 || sed 's/^/# /' out
is "$(all)" "drop drop pass" "a mark that nft sets at the priority of mangle is seen by filter"
"$WEIR" unload >/dev/null

# somebody who comes later; in a namespace that has no other tables
ip netns add clean
at clean ip link set lo up
one() { echo "$(at clean "$B/tests/probe" self 127.0.0.1 1001) $(at clean "$B/tests/probe" self 127.0.0.1 1002)"; }
"$WEIR" load --netns clean both.v4 >/dev/null 2>&1
is "$("$WEIR" list --netns clean | grep -c 'at input priority -150')" 2 "with nobody between, two tables share a program"
at clean nft add table ip marks '{ chain in { type filter hook input priority -5; udp dport 1001 meta mark set 7; }; }'
has "$("$WEIR" doctor --netns clean)" "before somebody who has come since" "doctor sees who came between them"
"$WEIR" load --netns clean both.v4 >/dev/null 2>&1
is "$("$WEIR" doctor --netns clean | grep -c 'who has come since') $(one)" "0 drop drop" "a load gives each its place"
"$WEIR" unload --netns clean >/dev/null
finish
