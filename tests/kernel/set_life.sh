#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# HOLDS clock
# What becomes of elements that came and went at run time when rules are loaded, tried, saved; and of an image that grows.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
serve 1001
A=10.0.1.1 P=10.0.1.2
now() { verdict @a udp $A 1001 30; }
members() { "$WEIR" set list "$1" | sed -n 's/^add [^ ]* //p' | tr '\n' ' '; }

printf '%s\n' 'create bad hash:net' 'add bad 192.0.2.0/24' 'create other hash:net' >sets
printf '%s\n' 'create bad hash:net' 'add bad 192.0.2.0/24' 'add bad 198.51.100.0/24' 'create other hash:net' >sets2
rules r.v4 '-A INPUT -p udp -m udp --dport 1001 -m set --match-set bad src -j DROP'
rules r2.v4 '-A INPUT -p udp -m udp --dport 1001 -m set --match-set bad src -j DROP' \
	'-A INPUT -p udp -m udp --dport 1002 -m set --match-set other src -j DROP'

# ---- load
"$WEIR" load r.v4 sets >/dev/null
"$WEIR" set add bad $P >/dev/null
"$WEIR" set del bad 192.0.2.0/24 >/dev/null
out=$("$WEIR" load r2.v4 sets)
is "$? $(now) $(members bad)" "0 drop $P " "a set that is declared as before goes on with what came and went"
has "$out" "set bad goes on with what came and went since it was loaded" "and load says so"
out=$("$WEIR" load --dry-run r2.v4 sets2)
has "$out" "set bad is declared in another way than before: what came and went since is gone" "a dry run says when the file would win"
is "$(now) $(members bad)" "drop $P " "and changes nothing"
out=$("$WEIR" load r2.v4 sets2)
is "$? $(now) $(members bad)" "0 pass 192.0.2.0/24 198.51.100.0/24 " "a set that is declared in another way is what the file says"
has "$out" "what came and went since is gone" "and load says so"
is "$("$WEIR" load --json r2.v4 sets | /usr/bin/python3 -c '
import json, sys
print([(s["set"], s["fate"], s["had_changes"], s["declared_elements"]) for s in json.load(sys.stdin)["sets"]])')" \
	"[('bad', 'replaced', False, 1), ('other', 'kept', False, 0)]" "programs read it too"
is "$(members bad)" "192.0.2.0/24 " "back to the first file"
rules none.v4 '-A INPUT -p udp -m udp --dport 9 -j DROP'
"$WEIR" load none.v4 >/dev/null
is "$("$WEIR" set list | grep -c hash)" 0 "sets that no file declares go with their rules"

# ---- trial
"$WEIR" load r.v4 sets >/dev/null
"$WEIR" load --confirm 60s r2.v4 sets2 >/dev/null
"$WEIR" set add bad $P >/dev/null
is "$(now)" drop "a set of rules on trial can be changed"
"$WEIR" confirm --no >/dev/null
is "$(now) $(members bad)" "pass 192.0.2.0/24 " "when the rules before are back, so is their set"
"$WEIR" load --confirm 60s r2.v4 sets >/dev/null
"$WEIR" set add bad $P >/dev/null
"$WEIR" confirm --no >/dev/null
is "$(now) $(members bad)" "drop $P 192.0.2.0/24 " "a set that is the same for both keeps what came during the trial"
"$WEIR" load --confirm 60s r2.v4 sets2 >/dev/null
is "$(now)" pass "new rules, new set"
"$WEIR" confirm >/dev/null
is "$(now) $(members bad)" "pass 192.0.2.0/24 198.51.100.0/24 " "confirmed, it stays"

# ---- save
"$WEIR" load r.v4 sets >/dev/null
"$WEIR" save saved >/dev/null 2>err
is "$(cat err)" "" "what has not changed is saved"
"$WEIR" set add bad $P >/dev/null
out=$("$WEIR" save saved 2>&1 >/dev/null)
has "$out" "set bad has changed since it was loaded" "save says which sets have changed"
"$WEIR" set list bad >bad.save
"$WEIR" load r.v4 bad.save >/dev/null
is "$? $(now) $(members bad)" "0 drop $P 192.0.2.0/24 " "what list writes can be loaded"

# ---- lists beside the rules
printf '%s\n' "$P # us" 192.0.2.0/25 192.0.2.128/25 >list.txt
out=$("$WEIR" load --set bad=list.txt r.v4)
is "$? $(now) $(members bad)" "0 drop $P 192.0.2.0/24 " "a list fills a set that nothing else declares"
has "$out" "set bad: 3 entries, 2 after merge" "with a report"
rm -rf saved
"$WEIR" save saved >/dev/null
is "$(ls saved | tr '\n' ' ')" "list.txt r.v4 weir.options " "the list is saved beside the rules"
"$WEIR" unload >/dev/null
"$WEIR" load saved >/dev/null
is "$? $(now) $(members bad)" "0 drop $P 192.0.2.0/24 " "and comes back with them"

# ---- an image that is too small becomes larger, and nothing else changes
printf '%s\n' 'create bad hash:net maxelem 200000' 'create keep hash:net' "add keep $P" >sets
rules r.v4 '-A INPUT -p udp -m udp --dport 1001 -m set --match-set keep src -j DROP' \
	'-A INPUT -p udp -m udp --dport 1002 -m set --match-set bad src -j DROP'
"$WEIR" load r.v4 sets >/dev/null
nft -f - <<EOF
table ip count {
	chain before { type filter hook prerouting priority -500; udp dport 1001 counter; udp dport 1002 counter; }
	chain behind { type filter hook input priority 500; udp dport 1001 counter drop; udp dport 1002 counter drop; }
}
EOF
counted() { # chain port
	nft list chain ip count "$1" | awk -v p="$2" '$3 == p { print $6 }'
}
/usr/bin/python3 -c '
for i in range(150000):
    a = 0x10000000 + i * 7919 * 3
    print("%d.%d.%d.%d" % (a >> 24 & 127, a >> 16 & 255, a >> 8 & 255, a & 255))' | sort -u >far.txt
serial() { "$WEIR" list --json | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["serial"])'; }
before=$(serial)
flood a $A 1001 1002
"$WEIR" set load bad far.txt >/dev/null
is "$? $("$WEIR" set list bad | grep -c add)" "0 $(wc -l <far.txt)" "more elements than the image had room for"
{ cat far.txt; echo $P; } >far2.txt
"$WEIR" set load bad far2.txt >/dev/null
n=$(counted behind 1002)
sleep 0.3
is "$(counted behind 1002)" "$n" "and once more"
flood_end >/dev/null
sleep 0.2
is "$([ "$(serial)" -gt "$before" ] && echo moved) $(find /sys/fs/bpf/weir -name 'slot*' | wc -l)" "moved 1" "the image has moved"
is "$(counted behind 1001)" 0 "no packet of the flood came through meanwhile"
is "$(packets "--match-set keep")" "$(counted before 1001)" "every packet was counted once"
is "$("$WEIR" load r.v4 sets | head -1)" "loaded: 2 rules, 0 added, 0 removed, 2 kept" "rules can be loaded afterwards"
is "$(packets "--match-set keep")" "$(counted before 1001)" "and keep their counts"
"$WEIR" set list bad >out
is "$(grep -c add out)" "$(wc -l <far2.txt)" "and the set its elements"
"$WEIR" load --confirm 60s none.v4 >/dev/null
"$WEIR" confirm >/dev/null
"$WEIR" unload >/dev/null
is "$(ls /sys/fs/bpf/weir 2>/dev/null)" "" "nothing is left behind"
finish
