#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# LOG rules: what they saw, with the rule and the packet, for people and for programs.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
serve 1001
rules r.v4 '-A INPUT -p udp -m udp --dport 1001 -j LOG --log-prefix "one: "' '-A INPUT -p tcp -m tcp --dport 1001 -j LOG' \
	'-A INPUT -p tcp -m tcp --dport 1001 -j DROP'
"$WEIR" load r.v4 >/dev/null
is $? 0 "rules that log are loaded"
is "$("$WEIR" log)" "" "nothing was seen yet"
is "$(verdict @a udp 10.0.1.1 1001)" pass "a logged packet goes on to the next rule"
out=$("$WEIR" log)
is "$(wc -l <<<"$out")" 1 "one event"
has "$out" 'filter/INPUT r.v4:5' "with the chain and the place of the rule"
has "$out" '--log-prefix "one: "' "with the rule"
has "$out" "in=eth0" "with the interface"
has "$out" "10.0.1.2 > 10.0.1.1" "with the packet"
packet=${out#*in=eth0}
has "$("$WEIR" explain --short r.v4 "in=eth0$packet")" "verdict: accept" "explain reads the packet"
is "$("$WEIR" log)" "" "an event is taken out"
is "$(verdict @a tcp 10.0.1.1 1001 10)" drop "a packet that is logged and dropped"
"$WEIR" log --json >events
is "$(/usr/bin/python3 -c '
import json
for l in open("events"):
    e = json.loads(l)
    assert e["table"] == "filter" and e["chain"] == "INPUT" and e["line"] == 6 and "tcp" in e["packet"], e
print("good")' 2>&1)" good "--json: each line is an object"
timeout -s INT 1 "$WEIR" log --follow >followed &
sleep 0.3
verdict @a udp 10.0.1.1 1001 >/dev/null
wait $!
has "$(cat followed)" "r.v4:5" "--follow prints what comes"

# events come faster than they are printed
"$WEIR" log >/dev/null
flood a 10.0.1.1 1001
timeout --preserve-status -k 2 3 "$WEIR" log >/dev/null
is $? 0 "log ends with the events that waited, though others come"
timeout --preserve-status -s INT -k 2 1 "$WEIR" log --follow >/dev/null
is $? 0 "--follow ends when interrupted, though others come"
flood_end >/dev/null
"$WEIR" log >/dev/null

rules other.v4 '-A INPUT -p udp -m udp --dport 9 -j DROP'
verdict @a udp 10.0.1.1 1001 >/dev/null
"$WEIR" load other.v4 >/dev/null
has "$("$WEIR" log)" "a rule that is not loaded any more" "an event of rules that are gone"
timeout 2 "$WEIR" log --follow >followed 2>&1 &
sleep 0.3
"$WEIR" unload >/dev/null
wait $!
is "$? $(cat followed)" "0 weir: the rules have been unloaded" "--follow ends when there is nothing more to come"
finish
