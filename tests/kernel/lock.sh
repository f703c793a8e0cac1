#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Writers take turns.
. "$(dirname "$0")/lib.sh"
enter "$@"
for i in 1 2 3 4; do
	rules $i.v4 "-A INPUT -p udp -m udp --dport 100$i -m comment --comment is-$i -j DROP" \
		"-A OUTPUT -p udp -m udp --dport 200$i -m comment --comment is-$i -j DROP"
done
bad=0
for round in $(seq 15); do
	pids=
	for i in 1 2 3 4; do
		"$WEIR" load $i.v4 >/dev/null 2>out$i &
		pids="$pids $!"
	done
	for p in $pids; do wait "$p" || bad=$((bad + 1)); done
	[ "$("$WEIR" list | grep -o 'is-[0-9]' | sort | uniq -c | tr -s ' ' | cut -d' ' -f2)" = 2 ] || bad=$((bad + 1))
done
is "$bad" 0 "four loads at once, fifteen times: all succeed, and one of them is there, whole"
# somebody holds the lock
lock=$(ls /run/weir/*.lock -t | head -1)
(
	flock 9
	"$WEIR" load 1.v4 >/dev/null 9>&- &
	echo $! >pid
	sleep 0.3
	kill -0 "$(cat pid)" && echo waits >waits
	"$WEIR" list >listed
) 9<>"$lock"
sleep 0.3
is "$(cat waits)" waits "a load waits for the lock"
has "$(cat listed)" "Chain INPUT" "list does not"
has "$("$WEIR" list)" "is-1" "then it loads"
if command -v script >/dev/null; then
	(
		flock 9
		script -qec "$WEIR load 2.v4" typescript >/dev/null 2>&1 </dev/null 9>&- &
		sleep 0.4
	) 9<>"$lock"
	sleep 0.3
	has "$(cat typescript)" "waiting for another weir" "on a terminal it says that it waits"
else
	skip "needs script" "on a terminal it says that it waits"
fi
"$WEIR" unload >/dev/null
finish
