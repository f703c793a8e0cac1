#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# TIMEOUT 240
# kill -9 at any system call of a load leaves the old or the new rules, whole; and the next load works.
. "$(dirname "$0")/lib.sh"
enter "$@"

state() { # what traffic says
	echo "$(verdict self 127.0.0.1 1001) $(verdict self 127.0.0.1 1002)"
}
listed() { # what list says: how many rules have which comment, and what the rule in all of them has counted
	"$WEIR" list 2>&1 | awk '/is-kept/ { kept = " kept " $1; next } match($0, /is-[ab]/) { n++; what = substr($0, RSTART, RLENGTH) }
		END { print (n ? n " " what : "") kept }'
}

# Kills `weir $*` at each of its system calls, or at every STEP-th. File good has the states that may be found then, as
# lines "traffic / list"; the last is the one that the next load, or unload, must bring.
sweep() { # what, file to restore with or -, weir arguments...
	local what=$1 restore=$2 stop=1 killed=0 bad=0 found
	shift 2
	while :; do
		"$B/tests/killat" $stop "$WEIR" "$@" >/dev/null 2>&1
		case $? in 0) killed=$((killed + 1)) ;; 1) break ;; *) bad=$((bad + 1)); echo "# killat failed at $stop" ; break ;; esac
		found="$(state) / $(listed)"
		if ! grep -qxF "$found" good; then
			bad=$((bad + 1))
			echo "# stop $stop: $found"
		fi
		[ -z "${TRIAL:-}" ] || "$WEIR" confirm --no >/dev/null 2>&1
		if [ "$restore" = - ]; then
			"$WEIR" unload >/dev/null 2>out || { bad=$((bad + 1)); sed 's/^/# unload: /' out; }
		else
			"$WEIR" load "$restore" >/dev/null 2>out || { bad=$((bad + 1)); sed 's/^/# load: /' out; }
		fi
		if [ $((stop % 4)) = 0 ] && found="$(state) / $(listed)" && ! tail -1 good | grep -qxF "$found"; then
			bad=$((bad + 1))
			echo "# after stop $stop, restored: $found"
		fi
		[ $bad -lt 10 ] || break
		stop=$((stop + ${STEP:-1}))
	done
	is "$bad bad" "0 bad" "$what: $killed kills"
}

kept='-A INPUT -p udp -m udp --dport 1003 -m comment --comment is-kept -j ACCEPT'
rules a.v4 "$kept" '-A INPUT -p udp -m udp --dport 1002 -m comment --comment is-a -j DROP' '-A INPUT -p icmp -m comment --comment is-a -j ACCEPT'
rules b.v4 '-A INPUT -p udp -m udp --dport 1001 -m comment --comment is-b -j DROP' \
	'-A OUTPUT -p udp -m udp --dport 9 -m comment --comment is-b -j DROP' '-A INPUT -p icmp -m comment --comment is-b -j ACCEPT' "$kept"
{ grep -v COMMIT b.v4; for i in $(seq 400); do echo "-A INPUT -s 198.51.100.7/32 -p tcp -m tcp --dport $i -m conntrack --ctstate NEW -j DROP"; done; echo COMMIT; } >large.v4
none="pass pass / "

"$WEIR" load a.v4 >/dev/null
for i in 1 2 3 4 5; do verdict self 127.0.0.1 1003 >/dev/null; done
a="$(state) / $(listed)"
"$WEIR" load b.v4 >/dev/null
b="$(state) / $(listed)"
is "$a" "pass drop / 2 is-a kept 5" "rules a"
is "$b" "drop pass / 3 is-b kept 5" "rules b"
"$WEIR" load a.v4 >/dev/null

printf '%s\n' "$b" "$a" >good
sweep "a load of the same shape" a.v4 load b.v4
sweep "a load that needs other maps" a.v4 load large.v4
TRIAL=1 STEP=3 sweep "a load on trial" a.v4 load --confirm 60s b.v4
"$WEIR" confirm --no >/dev/null # the last one was not killed
sleep 0.5
is "$(state) / $(listed)" "$a" "and the rules before come back"
is "$(pgrep -x weir | wc -l)" 0 "no guardian is left"
"$WEIR" unload >/dev/null
a=${a/kept 5/kept 0}
printf '%s\n' "$a" "$none" >good
sweep "the first load" - load a.v4
"$WEIR" load a.v4 >/dev/null
printf '%s\n' "$none" "$a" >good
sweep "unload" a.v4 unload
"$WEIR" unload >/dev/null
is "$(find /sys/fs/bpf/weir 2>/dev/null)" "" "nothing is left"
finish
