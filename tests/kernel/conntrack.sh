#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Connections: their states as the kernel tracks them, and what happens when somebody takes the tracking away.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
serve 1001
serve @a 1001
A=10.0.1.1 PEER=10.0.1.2
no_ports() { awk '$1 == "Udp:" && $2 != "InDatagrams" { print $3 }' /proc/net/snmp; } # packets that came up to UDP and found no socket

cat >rules.v4 <<EOF
*filter
:INPUT DROP [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A INPUT -p udp -m udp --dport 1001 -m conntrack --ctstate NEW -j ACCEPT
COMMIT
EOF
out=$("$WEIR" load rules.v4 2>&1)
is $? 0 "rules with states are loaded"
has "$out" "connections are tracked for these rules: nft table ip weir_weir" "load says what makes the kernel track"
has "$(nft list table ip weir_weir 2>&1)" "ct state new" "and it is there"
is "$(verdict udp $PEER 1001) $(verdict tcp $PEER 1001)" "pass pass" "answers to us are ESTABLISHED"
is "$(verdict @a udp $A 1001) $(verdict @a tcp $A 1001 20)" "pass drop" "NEW is let in where a rule says so, else not"
is "$([ "$(packets RELATED)" -gt 0 ] && [ "$(packets NEW)" -gt 0 ] && echo yes)" yes "both rules have counted"
before=$(packets RELATED)
verdict udp $PEER 9 10 >/dev/null # a closed port: an ICMP error that belongs to a connection of ours
is "$([ "$(packets RELATED)" -gt "$before" ] && echo yes)" yes "an ICMP error about our packet is RELATED"

# a foreign flush: dropped, never passed; told; repaired
nft flush ruleset
sleep 0.2
is "$(verdict @a tcp $A 1001 20)" drop "after a foreign flush nothing dropped passes"
has "$("$WEIR" list)" "because nothing tracks connections" "list counts it"
out=$("$WEIR" doctor 2>&1)
is $? 3 "doctor sees it"
has "$out" "somebody has removed the nft table weir_weir" "and says it"
"$WEIR" doctor --repair >/dev/null
is "$(verdict @a udp $A 1001) $(verdict udp $PEER 1001)" "pass pass" "doctor --repair brings it back"
nft flush ruleset
"$WEIR" load rules.v4 >/dev/null
is "$(verdict @a udp $A 1001) $(verdict udp $PEER 1001)" "pass pass" "and so does a load"

# under traffic: what a state drops does not pass while tracking comes and goes
flush_under() { # what
	local n before
	"$WEIR" load rules.v4 >/dev/null
	flood a $A 1002
	before=$(no_ports)
	for n in $(seq 10); do
		nft flush ruleset
		sleep 0.03
		[ $((n % 2)) = 0 ] || "$WEIR" doctor --repair >/dev/null
	done
	is "$(($(no_ports) - before))" 0 "$1"
	is "$([ "$(flood_end)" -gt 1000 ] && echo yes)" yes "and there was traffic"
}
flush_under "accept ESTABLISHED, drop the rest: nothing passes during flushes"
cat >rules.v4 <<EOF
*filter
:INPUT ACCEPT [0:0]
-A INPUT -p udp -m udp --dport 1002 -m conntrack --ctstate NEW -j DROP
COMMIT
EOF
flush_under "drop NEW, accept the rest: nothing passes during flushes"

# only as long as rules ask for it
"$WEIR" load rules.v4 >/dev/null
rules plain.v4 '-A INPUT -p udp -m udp --dport 1002 -j DROP'
"$WEIR" load plain.v4 >/dev/null
is "$(nft list ruleset)" "" "rules without states leave no table behind"
printf '*filter\n-A INPUT -m state --state NEW -p udp -m udp --dport 1002 -j DROP\nCOMMIT\n' >rules.v6
"$WEIR" load plain.v4 rules.v6 >/dev/null
has "$(nft list ruleset)" "table ip6 weir_weir" "the family whose rules ask is tracked"
is "$(nft list ruleset | grep -c 'table ip weir')" 0 "and no other"
is "$(verdict @a udp 2001:db8:1::1 1002 20) $(verdict @a udp 2001:db8:1::1 1001)" "drop pass" "IPv6 states decide"
"$WEIR" unload >/dev/null
is "$(nft list ruleset)" "" "unload takes the table away"
finish
