#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Rows of counting rules count by counters that stand for several rules; list adds up, and goes on adding up over reloads
# that change the row, over maps that grow, and over a trial that is undone.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
serve 1001 1002
A=10.0.1.1

# The row, then rules that make a lookup worth it. $2...: more rules in front.
row() { # file, rule...
	local file=$1 more=("${@:2}") filler=() i
	for i in $(seq 40); do filler+=("-A INPUT -s 198.51.100.$i/32 -j DROP"); done
	rules "$file" "${more[@]}" '-A INPUT -p udp -m comment --comment r1' '-A INPUT -s 10.0.1.0/24 -m comment --comment r2' \
		'-A INPUT -p udp -m udp --dport 1001 -m comment --comment r3' '-A INPUT -i eth0 -p udp -m comment --comment r4' \
		"${filler[@]}"
}
send() { # port, times
	local i
	for i in $(seq "$2"); do verdict @a udp $A "$1" >/dev/null; done
}
counts() { echo "$(packets '"r1"')" "$(packets '"r2"')" "$(packets '"r3"')" "$(packets '"r4"')" | tr -d '"'; }
# comments without blanks are printed without quotes
packets() {
	"$WEIR" list --json | /usr/bin/python3 -c '
import json, sys
print(sum(r["packets"] for c in json.load(sys.stdin).get("chains", []) for r in c["rules"] if r.get("comment") == sys.argv[1]))' "${1//\"/}"
}

row one.v4
"$WEIR" load one.v4 >/dev/null
is $? 0 "rows are loaded"
is "$("$WEIR" show --tables --json one.v4 | grep -c '"engine": "scan"')" 0 "and looked up"
send 1001 5
is "$(counts)" "5 5 5 5" "all four count"
send 1002 3
is "$(counts)" "8 8 5 8" "three of them count"
bytes=$("$WEIR" list | grep -c " 8 .*--comment r[124]")
is "$bytes" 3 "list shows the same"

# the same row with a rule in front of it, and one more in it: other sums, the old ones retire
row two.v4 '-A INPUT -s 10.0.0.0/8 -m comment --comment r0'
out=$("$WEIR" load two.v4)
has "$out" "1 added, 0 removed, 44 kept" "a rule is put into the row"
is "$(counts)" "8 8 5 8" "what was counted stays"
send 1001 2
is "$(counts) $(packets r0)" "10 10 7 10 2" "and goes on, with the new rule"
"$WEIR" load one.v4 >/dev/null
is "$(counts)" "10 10 7 10" "back again"
send 1001 1
is "$(counts)" "11 11 8 11" "and on"
for i in 1 2 3; do
	"$WEIR" load two.v4 >/dev/null
	"$WEIR" load one.v4 >/dev/null
done
is "$(counts)" "11 11 8 11" "however often"

# a trial that is undone: what was counted during it stays with the rules that come back
"$WEIR" load --confirm 60s two.v4 >/dev/null
send 1001 4
is "$(counts) $(packets r0)" "15 15 12 15 4" "a trial counts"
"$WEIR" confirm --no >/dev/null
is "$(counts)" "15 15 12 15" "undone, the rules that were there keep the counts"
send 1002 1
is "$(counts)" "16 16 12 16" "and go on"

# the maps grow: sums are folded into the rules' own counters
more=()
for i in $(seq 600); do more+=("-A INPUT -s 198.51.$((i / 250)).$((i % 250))/32 -p tcp -m tcp --dport $i -j DROP"); done
row many.v4 "${more[@]}"
"$WEIR" load many.v4 >/dev/null
is "$? $(counts)" "0 16 16 12 16" "counts are carried over to larger maps"
send 1001 1
is "$(counts)" "17 17 13 17" "and go on there"
"$WEIR" load one.v4 >/dev/null
is "$(counts)" "17 17 13 17" "and back"

# a row that becomes rules of their own, and again a row
rules plain.v4 '-A INPUT -p udp -m comment --comment r1' '-A INPUT -s 10.0.1.0/24 -m comment --comment r2'
"$WEIR" load plain.v4 >/dev/null
send 1001 1
is "$(packets r1) $(packets r2)" "18 18" "without a row the rules count by themselves"
"$WEIR" load one.v4 >/dev/null
is "$(counts)" "18 18 0 0" "rules that had gone begin anew"
send 1001 1
is "$(counts)" "19 19 1 1" "and count"
"$WEIR" unload >/dev/null
finish
