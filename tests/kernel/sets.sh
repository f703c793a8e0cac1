#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# TIMEOUT 300 HOLDS clock
# `weir set` on rules that judge: what it changes holds for the next packet, whole, and the rules are not touched.
. "$(dirname "$0")/lib.sh"
enter "$@"
ROUNDS=${ROUNDS:-150}
peer a eth0 1
serve 1001 1002
A=10.0.1.1 P=10.0.1.2 P6=2001:db8:1::2
now() { verdict @a udp $A 1001 30; }

cat >sets <<EOF
create bad hash:net
create timed hash:net timeout 0
create small hash:net maxelem 2
create one hash:net
create two hash:net
create tuple hash:ip,port
create six hash:net family inet6
create other hash:net
add other 198.51.100.0/24
EOF
rules r.v4 '-A INPUT -p udp -m udp --dport 1001 -m set --match-set bad src -j DROP' \
	'-A INPUT -p udp -m udp --dport 1001 -m set --match-set timed src -j DROP' \
	'-A INPUT -p udp -m set --match-set tuple src,dst -j DROP' \
	'-A INPUT -p udp -m udp --dport 1003 -m set --match-set small src -j DROP' \
	'-A INPUT -p udp -m udp --dport 1004 -m set --match-set one src -m set --match-set two src -j DROP' \
	'-A INPUT -p udp -m udp --dport 1004 -m set ! --match-set one src -m set ! --match-set two src -j DROP' \
	'-A INPUT -p udp -m udp --dport 1005 -m set --match-set bad src -m set ! --match-set bad dst -j DROP' \
	'-A INPUT -p udp -m udp --dport 1005 -m set ! --match-set bad src -m set --match-set bad dst -j DROP' \
	'-A INPUT -p udp -m udp --dport 1003 -m set --match-set other src -j DROP'
rules r.v6 '-A INPUT -p udp -m udp --dport 1001 -m set --match-set six src -j DROP'
"$WEIR" load r.v4 r.v6 sets >/dev/null
is $? 0 "rules with sets are loaded"
serial() { "$WEIR" list --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["serial"])'; }
before=$(serial)
programs=$(find /sys/fs/bpf/weir | sort)

# ---- add, test, del
is "$(now)" pass "an empty set stops nothing"
out=$("$WEIR" set add bad $P)
is "$? $(now)" "0 drop" "an element that was added stops the next packet"
has "$out" "set bad: 1 added, 1 element" "add says what it did"
"$WEIR" set test bad $P >out
is "$? $(cat out)" "0 $P is in set bad" "test says yes"
"$WEIR" set test bad 10.0.1.3 >out
is "$? $(cat out)" "1 10.0.1.3 is not in set bad" "and no"
out=$("$WEIR" set add bad $P 2>&1)
is "$? $out" "1 weir: $P is in set bad already" "an element is not added twice"
"$WEIR" set add --exist bad $P >/dev/null
is $? 0 "unless --exist says so"
"$WEIR" set del bad $P >/dev/null
is "$? $(now)" "0 pass" "an element that was deleted lets the next packet through"
out=$("$WEIR" set del bad $P 2>&1)
is "$? $out" "1 weir: $P is not an element of set bad" "what is not there cannot be deleted"
"$WEIR" set add bad 10.0.0.0/8 >/dev/null
is "$(now)" drop "a network stops its addresses"
out=$("$WEIR" set del bad $P 2>&1)
has "$out" "weir set add bad $P nomatch" "del tells the way out of a larger one"
"$WEIR" set add bad $P nomatch >/dev/null
is "$? $(now)" "0 pass" "an exception takes one out"
"$WEIR" set test bad $P 10.9.9.9 >out
is "$? $(tr '\n' '|' <out)" "1 $P is not in set bad: an exception (nomatch)|10.9.9.9 is in set bad|" "test knows exceptions"
is "$("$WEIR" set list bad | tr '\n' '|')" \
	"create bad hash:net family inet|add bad 10.0.0.0/8|add bad $P nomatch|" "list shows the set as ipset save does"
out=$("$WEIR" set add bad 192.0.2.1 $P 192.0.2.2 2>&1)
is "$? $("$WEIR" set list bad | grep -c 192.0.2)" "1 0" "of several elements all are added or none"
"$WEIR" set del bad 10.0.0.0/8 $P >/dev/null
is "$("$WEIR" set list bad | grep -c add)" 0 "several are deleted at once"
is "$(serial) $(find /sys/fs/bpf/weir | sort | cmp - <(echo "$programs") && echo same)" "$before same" "the rules were not touched"

# ---- wrong
out=$("$WEIR" set add bad 10.0.0.0/33 2>&1)
is $? 2 "a wrong element is a usage error"
has "$out" "element:1:10: error: '33' is not a prefix length" "with its place"
out=$("$WEIR" set add bda $P 2>&1)
is "$? $out" "2 weir: no set 'bda' is loaded; did you mean 'bad'?" "a name that is wrong"
out=$("$WEIR" set add six $P 2>&1)
is $? 2 "an address of the other family"
out=$("$WEIR" set add bad $P timeout 5 2>&1)
has "$out" "created with 'timeout'" "an option that the set has not"
"$WEIR" set add small 192.0.2.1 198.51.100.1 >/dev/null
out=$("$WEIR" set add small 203.0.113.1 2>&1)
is $? 3 "a full set refuses"
has "$out" "at most 2 elements" "and says why"
"$WEIR" set swap bad tuple >/dev/null 2>&1
is $? 1 "sets of different types are not swapped"

# ---- tuples, IPv6, timeouts
"$WEIR" set add tuple $P,udp:1001 >/dev/null
is "$(now) $(verdict @a udp $A 1002)" "drop pass" "a tuple stops what it names"
"$WEIR" set del tuple $P,udp:1001 >/dev/null
is "$(now)" pass "and no longer"
"$WEIR" set add six $P6 >/dev/null
is "$(verdict @a udp 2001:db8:1::1 1001 30) $(now)" "drop pass" "an IPv6 set"
"$WEIR" set del six $P6 >/dev/null
"$WEIR" set add timed $P timeout 2 >/dev/null
is "$(now)" drop "an element with a timeout is there"
has "$("$WEIR" set list timed)" "add timed $P timeout " "and listed with the time that it has left"
sleep 2.3
is "$(now)" pass "and goes when its time is up"
is "$("$WEIR" set list timed | grep -c add)" 0 "and is not listed any more"

# ---- lists
printf '%s\n' '# a list' "$P # us" 198.51.100.0/25 198.51.100.128/25 198.51.100.7 203.0.113.4-203.0.113.7 "$P" >list
out=$("$WEIR" set load bad list)
is "$? $(now)" "0 drop" "a list is loaded"
has "$out" "set bad: 6 entries, 3 after merge, 1 duplicate, " "with a report"
is "$("$WEIR" set load --json bad list | /usr/bin/python3 -c '
import json, sys
j = json.load(sys.stdin)
print(j["entries"], j["after_merge"], j["duplicates"], j["elements"], j["bytes"] > 0, j["seconds"] >= 0)')" \
	"6 3 1 3 True True" "as JSON too"
json() { # python expression of j
	/usr/bin/python3 -c "import json, sys; j = json.load(sys.stdin); print(($1))"
}
is "$("$WEIR" set test --json bad $P 10.9.9.9 | json '[(a["element"], a["in"], a["exception"]) for a in j["answers"]]')" \
	"[('$P', True, False), ('10.9.9.9', False, False)]" "test as JSON"
is "$("$WEIR" set add --json bad 10.9.9.9 | json 'j["set"], j["added"], j["elements"]')" "('bad', 1, 4)" "add as JSON"
is "$("$WEIR" set add --json bad $P 10.9.9.8 | json 'j["added"], j["present"]')" "(0, ['$P'])" "what stood in the way as JSON"
is "$("$WEIR" set del --json bad 10.9.9.9 | json 'j["deleted"], j["elements"]')" "(1, 3)" "del as JSON"
is "$("$WEIR" set list --json | json '[(s["set"], s["type"], s["elements"], s["changed"]) for s in j["sets"]][:1]')" \
	"[('bad', 'hash:net', 3, True)]" "all sets as JSON"
is "$("$WEIR" set list --json bad | json 'j["set"], [m["element"] for m in j["members"]]')" \
	"('bad', ['$P', '198.51.100.0/24', '203.0.113.4/30'])" "one set as JSON"
printf '%s\n' 192.0.2.1 example.org >wrong
is "$("$WEIR" set load --json bad wrong | json 'j["loaded"], j["errors"], j["diagnostics"][0]["line"]')" "(False, 1, 2)" \
	"errors of a list as JSON"
out=$("$WEIR" set load --strict bad list 2>&1)
is $? 1 "--strict refuses what overlaps"
has "$out" "list:5:1: error: '198.51.100.7' lies within another entry (list:3)" "with the places"
has "$out" "list:7:1: error: '$P' is there already (list:2)" "all of them"
has "$out" "nothing was changed" "and nothing is changed"
out=$("$WEIR" set load bad wrong 2>&1)
is "$? $(now)" "1 drop" "a list with an error changes nothing"
"$WEIR" set load bad - </dev/null >/dev/null
is "$? $(now)" "0 pass" "an empty list empties the set"
printf '%s\n' "$P,udp:1001" '192.0.2.1,80 # x' >tuples
"$WEIR" set load tuple tuples >/dev/null
is "$? $(now)" "0 drop" "a list of tuples"
"$WEIR" set load tuple /dev/null >/dev/null
"$WEIR" set add other $P >/dev/null
has "$("$WEIR" set list)" "changed since it was loaded" "list tells which sets have changed"

# ---- under a flood: counted by nft before and behind the hook
nft -f - <<EOF
table ip count {
	chain before { type filter hook prerouting priority -500; udp dport 1001 counter; udp dport 1004 counter; udp dport 1005 counter; }
	chain behind { type filter hook input priority 500; udp dport 1001 counter drop; udp dport 1004 counter drop; udp dport 1005 counter drop; }
}
EOF
counted() { # chain port
	nft list chain ip count "$1" | awk -v p="$2" '$3 == p { print $6 }'
}
flood a $A 1001
"$WEIR" set add bad $P >/dev/null
n=$(counted behind 1001) m=$(counted before 1001)
sleep 0.5
is "$(counted behind 1001) $([ "$(counted before 1001)" -gt $((m + 1000)) ] && echo more)" "$n more" \
	"no packet of a flood comes through once add is done"
printf '%s\n' "$P" 192.0.2.0/24 >x
{ echo 10.0.1.0/24; seq -f '198.18.%g.1' 0 250; } >y
failed=0
for i in $(seq "$ROUNDS"); do
	"$WEIR" set load bad x >/dev/null && "$WEIR" set load bad y >/dev/null || failed=$((failed + 1))
done
is "$failed $(($(counted behind 1001) - n))" "0 0" "nor while $((2 * ROUNDS)) lists that have it take each other's place"
"$WEIR" set load bad /dev/null >/dev/null
sleep 0.3
flood_end >/dev/null
sleep 0.2
is "$([ "$(counted behind 1001)" -gt "$n" ] && echo yes)" yes "(it comes through when no list has it)"

# two sets are swapped: every packet is in exactly one of them. One command adds and deletes two elements at once.
"$WEIR" set add one $P >/dev/null
flood a $A 1004 1005
failed=0
for i in $(seq "$ROUNDS"); do
	"$WEIR" set swap one two >/dev/null && "$WEIR" set add bad $P $A >/dev/null && "$WEIR" set swap two one >/dev/null &&
		"$WEIR" set del bad $P $A >/dev/null || failed=$((failed + 1))
done
sent=$(flood_end)
sleep 0.2
echo "# $sent packets, $(counted before 1004) and $(counted before 1005) arrived"
is "$failed" 0 "$((2 * ROUNDS)) swaps, $((2 * ROUNDS)) changes of two elements"
is "$([ "$(counted before 1004)" -gt 10000 ] && echo yes)" yes "under a flood"
is "$(counted behind 1004)" "$(counted before 1004)" "no packet sees one set swapped and the other not"
is "$(counted behind 1005)" "$(counted before 1005)" "no packet sees one of two elements"

# ---- killed in the middle
seq -f '198.18.%g.1' 0 250 >z
for i in $(seq 40); do
	"$WEIR" set load bad z >/dev/null 2>&1 &
	sleep 0.00$((i % 10))
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
done
"$WEIR" set load bad z >/dev/null
is "$? $("$WEIR" set list bad | grep -c add)" "0 251" "a set is whole after writers were killed"
"$WEIR" set load bad /dev/null >/dev/null

nft delete table ip count
"$WEIR" unload >/dev/null
out=$("$WEIR" set list 2>&1)
is $? 3 "without rules there are no sets"
has "$out" "no rules are loaded" "and that is said"
finish
