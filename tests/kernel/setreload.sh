#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sets of loaded rules: changed while packets pass, kept over a reload that declares them as before, made anew by others,
# and taken back with the rules that a trial takes back.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
serve 1001
A=10.0.1.1
count() { # elements
	"$WEIR" set list "$1" | grep -c '^add'
}
edit() { # add, del ...: without a word
	"$WEIR" set "$@" >/dev/null
}

sets() { # the elements of bad and of spare
	{
		echo "create bad hash:net family inet"
		for x in $1; do echo "add bad $x"; done
		echo "create spare hash:net family inet"
		for x in $2; do echo "add spare $x"; done
	} >sets.save
}
passes() {
	verdict @a udp $A 1001
}

rules one.v4 '-A INPUT -m set --match-set bad src -j DROP'
rules two.v4 '-A INPUT -m set --match-set bad src -j DROP' '-A INPUT -p udp -m udp --dport 9 -j DROP'
sets 192.0.2.0/24 ""
"$WEIR" load one.v4 sets.save >out 2>&1
is "$? $(passes)" "0 pass" "who is in no set passes"
has "$(count bad) $(count spare)" "1 0" "a set that no rule asks is there too"
edit add bad 10.0.1.0/24
is "$? $(passes)" "0 drop" "an element that is added counts at once"
edit add bad 10.0.1.2/32 && edit del bad 10.0.1.0/24
is "$? $(passes) $(count bad)" "0 drop 2" "the shorter one goes, the longer one stays"

# reloads
out=$("$WEIR" load two.v4 sets.save 2>&1)
is "$? $(passes) $(count bad)" "0 drop 2" "rules that declare the set as before keep what was added"
has "$out" "set bad goes on with what came and went since it was loaded" "and load says so"
sets "192.0.2.0/24 198.51.100.0/24" ""
out=$("$WEIR" load --dry-run two.v4 sets.save 2>&1)
has "$out" "set bad is declared in another way than before: what came and went since is gone" "a dry run tells that the file wins"
is "$(passes) $(count bad)" "drop 2" "and changes nothing"
out=$("$WEIR" load two.v4 sets.save 2>&1)
has "$out" "set bad is declared in another way" "load tells it"
is "$(passes) $(count bad)" "pass 2" "the file has won"

# several changes at once
edit add bad 10.0.0.0/8 10.9.0.0/16 && edit del bad 192.0.2.0/24 198.51.100.0/24 && edit add spare 203.0.113.0/24
is "$? $(passes) $(count bad) $(count spare)" "0 drop 2 1" "several changes are carried out"
edit swap bad spare
is "$? $(passes) $(count bad) $(count spare)" "0 pass 1 2" "two sets exchange what they hold"
edit swap spare bad && edit swap bad spare && edit swap bad spare
is "$? $(passes)" "0 drop" "and again, as often as one likes"

# a trial that nobody confirms
sets "192.0.2.0/24" ""
"$WEIR" load --confirm 1s one.v4 sets.save >/dev/null 2>&1
is "$(passes) $(count bad)" "pass 1" "a trial comes with its own set"
sleep 2.5
"$WEIR" list >/dev/null
is "$(passes) $(count bad)" "drop 2" "and takes it back with its rules"

# more than there is room for: other maps, with what is there
for i in $(seq 0 59999); do echo "add big 10.$((i >> 16)).$((i >> 8 & 255)).$((i & 255))/32"; done >adds
{
	echo "create bad hash:net family inet"
	echo "add bad 192.0.2.0/24"
	echo "add bad 198.51.100.0/24"
	echo "create big hash:net family inet maxelem 1000000"
	cat adds
} >large.save
rules three.v4 '-A INPUT -m set --match-set bad src -j DROP' '-A INPUT -p udp -m set --match-set big src -j DROP'
"$WEIR" load two.v4 large.save >out 2>&1
is "$? $(count big)" "0 60000" "a large set is loaded"
edit add bad 10.0.1.2
"$WEIR" load three.v4 large.save >out 2>&1
is "$? $(passes) $(count bad)" "0 drop 3" "rules that ask it replace rules that do not"
for _ in 1 2 3; do
	echo "add big 11.0.0.$((RANDOM % 250))/32 -exist" >>large.save
	"$WEIR" load three.v4 large.save >out 2>&1 || cat out
done
is "$(passes) $(count bad)" "drop 3" "whatever becomes of large sets, others keep what was added"
"$WEIR" unload
is "$(passes) $(find /sys/fs/bpf/weir 2>/dev/null | wc -l)" "pass 0" "unload leaves nothing"
finish
