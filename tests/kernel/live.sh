#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Rules judge real traffic: loaded, listed, replaced, saved, unloaded; and what is wrong changes nothing.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
serve 1001 1002
A=10.0.1.1 A6=2001:db8:1::1

rules one.v4 ':INPUT DROP [0:0]' '-A INPUT -p udp -m udp --dport 1001 -j ACCEPT' '-A INPUT -p icmp -j ACCEPT'
out=$("$WEIR" load one.v4 2>&1)
is $? 0 "rules are loaded"
has "$out" "loaded: 2 rules, 2 added, 0 removed, 0 kept" "load says what changed"
has "$out" "ip  input       filter/INPUT" "load says where it has attached"
is "$(verdict @a udp $A 1001) $(verdict @a udp $A 1002) $(verdict @a tcp $A 1001 20) $(verdict @a icmp $A)" \
	"pass drop drop pass" "udp to 1001 and icmp pass, the rest is dropped"
is "$(verdict @a udp $A6 1002)" pass "IPv6 has no rules and passes"
before=$(packets "dport 1001")
verdict @a udp $A 1001 >/dev/null
is "$(($(packets "dport 1001") - before))" 1 "a packet counts once"
out=$("$WEIR" list)
has "$out" "Chain INPUT (ip filter, at input priority" "list shows the chain and where it hangs"
has "$out" "policy DROP" "list shows the policy"
has "$out" "one.v4:5" "list says where a rule was read"
has "$out" "-p udp -m udp --dport 1001 -j ACCEPT" "list prints the rule"
has "$out" "Chain OUTPUT (ip filter, not attached, policy ACCEPT - packets" "a policy without a hook shows -"
rules zero.v4 '-A INPUT -p udp -m udp --dport 9 -j ACCEPT' '-A INPUT -p icmp -j ACCEPT'

# an error changes nothing
rules bad.v4 '-A INPUT -p udp -m udp --dport 70000 -j ACCEPT'
out=$("$WEIR" load bad.v4 2>&1)
is $? 1 "a file with an error is refused"
has "$out" "bad.v4:5:" "its place is told"
has "$out" "nothing was changed: the rules loaded" "load says that the rules before stay active"
has "$out" "from one.v4 stay active" "and which these are"
is "$(verdict @a udp $A 1001) $(verdict @a udp $A 1002)" "pass drop" "and they do"

# a dry run changes nothing
rules two.v4 ':INPUT DROP [0:0]' '-A INPUT -p udp -m udp --dport 1002 -j ACCEPT' '-A INPUT -p icmp -j ACCEPT' \
	'-A OUTPUT -p udp -m udp --dport 7 -j DROP'
out=$("$WEIR" load --dry-run two.v4 2>&1)
is $? 0 "a dry run is done"
has "$out" "would load: 3 rules, 2 added, 1 removed, 1 kept" "a dry run says what would change"
has "$out" "- ip filter/INPUT one.v4:5  -p udp -m udp --dport 1001 -j ACCEPT" "which rule goes"
has "$out" "+ ip filter/INPUT two.v4:5  -p udp -m udp --dport 1002 -j ACCEPT" "which rule comes"
has "$out" "ip  output      filter/OUTPUT" "and where it would attach"
is "$(verdict @a udp $A 1001) $(verdict @a udp $A 1002)" "pass drop" "and changes nothing"
rm -rf before after
find /sys/fs/bpf/weir | sort >before
"$WEIR" load --dry-run two.v4 >/dev/null
find /sys/fs/bpf/weir | sort >after
is "$(cat after)" "$(cat before)" "a dry run leaves nothing behind"

# replaced; the rule that stays keeps its count
kept=$(packets "-p icmp")
out=$("$WEIR" load two.v4)
has "$out" "loaded: 3 rules, 2 added, 1 removed, 1 kept" "rules are replaced"
is "$(packets "-p icmp")" "$kept" "a rule that stays keeps its count"
is "$(packets "dport 1002")" 0 "a new rule begins with none"
is "$(verdict @a udp $A 1001) $(verdict @a udp $A 1002)" "drop pass" "the new rules decide"
is "$(verdict @a icmp $A) $(packets "-p icmp")" "pass $((kept + 1))" "the count goes on"
has "$("$WEIR" list --zero)" "dport 7" "list --zero shows what never matched"
is "$("$WEIR" list --zero | grep -c 'icmp')" 0 "and nothing else"
has "$("$WEIR" list --chain OUTPUT)" "Chain OUTPUT" "list --chain shows that chain"
is "$("$WEIR" list --chain OUTPUT | grep -c 'Chain INPUT')" 0 "and no other"

# grown beyond the maps, and back: counts are carried over
{
	echo '*filter'
	echo ':INPUT DROP [0:0]'
	for i in $(seq 3000); do echo "-A INPUT -s 198.51.$((i / 250)).$((i % 250))/32 -p udp -m udp --dport $i -j DROP"; done
	echo '-A INPUT -p icmp -j ACCEPT'
	echo COMMIT
} >many.v4
"$WEIR" load many.v4 >/dev/null
is "$?" 0 "3,000 rules are loaded over two"
is "$(packets "-p icmp")" "$((kept + 1))" "a rule keeps its count when the maps grow"
is "$(verdict @a icmp $A) $(packets "-p icmp")" "pass $((kept + 2))" "and goes on"
"$WEIR" load one.v4 >/dev/null
is "$(packets "-p icmp")" "$((kept + 2))" "and back"
"$WEIR" load two.v4 >/dev/null
has "$("$WEIR" load one.v4)" "filter/OUTPUT is attached no more" "a hook without rules is left, and load says so"
is "$(find /sys/fs/bpf/weir -name 'link-*' | wc -l)" 1 "and nothing hangs there"

# IPv6, and several files as one ruleset
cat >three.v6 <<EOF
*filter
:INPUT ACCEPT [0:0]
:FORWARD ACCEPT [0:0]
:OUTPUT ACCEPT [0:0]
-A INPUT -s 2001:db8:1::2/128 -p udp -m udp --dport 1001 -j DROP
COMMIT
EOF
out=$("$WEIR" load one.v4 three.v6 2>&1)
is $? 0 "two files make one ruleset"
is "$(verdict @a udp $A6 1001) $(verdict @a udp $A6 1002) $(verdict @a udp $A 1001)" "drop pass pass" \
	"both families are judged"

# saved and loaded again
"$WEIR" save saved >/dev/null
is "$(ls saved | tr '\n' ' ')" "one.v4 three.v6 " "save writes the files"
is "$(cat saved/one.v4 saved/three.v6)" "$(cat one.v4 three.v6)" "as they were"
"$WEIR" unload >/dev/null
is "$(verdict @a udp $A 1002)" pass "unload stops every rule"
is "$(ls /sys/fs/bpf)" "$(printf 'maps.debug\nprogs.debug')" "and leaves nothing pinned"
has "$("$WEIR" list)" "no rules are loaded" "list says so"
"$WEIR" load saved >/dev/null
is "$(verdict @a udp $A6 1001) $(verdict @a udp $A 1002)" "drop drop" "the saved folder brings them back"
"$WEIR" load one.v4 >/dev/null
is "$("$WEIR" save)" "$(cat one.v4)" "one file is saved on standard output"

# what shapes the rules is saved with them
{ cat one.v4; printf '*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 8080\nCOMMIT\n'; } >nat.v4
out=$("$WEIR" load nat.v4 2>&1)
is $? 1 "what a hook cannot do is refused"
has "$out" "nat.v4:10:" "with its place"
"$WEIR" load --tables filter nat.v4 >/dev/null
is $? 0 "--tables leaves the other tables out"
rm -rf saved && "$WEIR" save saved >/dev/null && "$WEIR" unload >/dev/null
"$WEIR" load saved >/dev/null
is $? 0 "and the saved folder knows"
"$WEIR" unload >/dev/null

# two instances in one namespace
rules i1.v4 '-A INPUT -p udp -m udp --dport 1001 -j DROP'
rules i2.v4 '-A INPUT -p udp -m udp --dport 1002 -j DROP'
"$WEIR" load i1.v4 >/dev/null && out=$("$WEIR" load --instance other i2.v4)
is "$(verdict @a udp $A 1001) $(verdict @a udp $A 1002)" "drop drop" "two instances judge side by side"
has "$out" "another BPF program" "the second says who holds its place"
"$WEIR" unload >/dev/null
is "$(verdict @a udp $A 1001) $(verdict @a udp $A 1002)" "pass drop" "one goes without the other"
"$WEIR" unload --instance other >/dev/null

# another namespace, by name
ip netns add other
at other ip link set lo up
"$WEIR" load --netns other i1.v4 >/dev/null
is $? 0 "--netns loads into another namespace"
has "$("$WEIR" list --netns other)" "dport 1001" "and lists there"
has "$("$WEIR" list)" "no rules are loaded" "not here"
"$WEIR" unload --netns other >/dev/null
finish
