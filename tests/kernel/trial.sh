#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# HOLDS clock
# Not locking oneself out: load --confirm goes back by itself, whatever happens to those who began it.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
serve 1001
A=10.0.1.1
rules good.v4 '-A INPUT -p udp -m udp --dport 9 -j DROP'
rules cut.v4 '-A INPUT -p tcp -m tcp --dport 1001 -j DROP' '-A INPUT -p udp -m udp --dport 1001 -j DROP'
now() { verdict @a udp $A 1001 30; }
guardians() { pgrep -x weir | wc -l; }

"$WEIR" load good.v4 >/dev/null
# the tester's own connection
mkfifo line
at a "$B/tests/probe" open $A 1001 500 <line >said &
exec 7>line
sleep 0.2
echo one >&7
sleep 0.2
is "$(tr '\n' ' ' <said)" "open echo " "a connection is open"
out=$("$WEIR" load --confirm 2s cut.v4)
has "$out" "on trial for 2 s" "load says that the rules are on trial"
echo two >&7
sleep 0.7
is "$(tail -1 said)" silence "the new rules cut the connection"
has "$("$WEIR" list)" "on trial" "list says so"
out=$("$WEIR" load good.v4 2>&1)
is $? 3 "a second load is refused during a trial"
has "$out" "weir confirm" "and says what to do"
sleep 2
echo three >&7
for i in $(seq 20); do # TCP tries again at growing intervals
	[ "$(tail -1 said)" = silence ] || break
	echo more >&7
	sleep 0.2
done
is "$(tail -1 said)" echo "the connection is back when the time is up"
has "$("$WEIR" list)" "dport 9" "with the rules before"
is "$(guardians)" 0 "the guardian is gone"
exec 7>&-

# confirmed
"$WEIR" load --confirm 1s cut.v4 >/dev/null
out=$("$WEIR" confirm)
is $? 0 "confirm in time"
has "$out" "confirmed: the rules loaded" "says what it confirmed"
sleep 1.3
is "$(now) $(guardians)" "drop 0" "confirmed rules stay, the guardian goes"
out=$("$WEIR" confirm 2>&1)
is $? 3 "there is nothing to confirm twice"
"$WEIR" load good.v4 >/dev/null
"$WEIR" load --confirm 60s cut.v4 >/dev/null
"$WEIR" confirm --no >/dev/null
sleep 0.3
is "$(now) $(guardians)" "pass 0" "confirm --no goes back at once"

# the shell and its terminal die
if command -v script >/dev/null; then
	setsid script -qec "$WEIR load --confirm 2s cut.v4; sleep 60" /dev/null >/dev/null 2>&1 </dev/null &
	sleep 0.8
	is "$(now)" drop "loaded from a terminal"
	pkill -9 -x script
	pkill -9 -x sleep
	sleep 2
	is "$(now)" pass "the terminal died; the rules before are back"
else
	skip "needs script" "loaded from a terminal"
fi
setsid -w bash -c "$WEIR load --confirm 1s cut.v4 >/dev/null; kill -HUP 0; kill -9 \$\$" 2>/dev/null
sleep 1.5
is "$(now)" pass "the shell died of a signal to all of its group; the rules before are back"

# the guardian dies
"$WEIR" load --confirm 1s cut.v4 >/dev/null
pkill -9 -x weir
sleep 1.2
is "$(now)" drop "without a guardian nobody goes back"
has "$("$WEIR" doctor 2>&1)" "the time of a load on trial is up" "but doctor sees it"
out=$("$WEIR" list 2>&1)
has "$out" "was not confirmed in time" "and the next verb goes back, and says so"
is "$(now)" pass "the rules before are back"
"$WEIR" load --confirm 60s cut.v4 >/dev/null
pkill -TERM -x weir
sleep 0.5
is "$(now)" pass "a guardian that must end goes back at once"

# rules of another shape, and the first rules at all
{ cat cut.v4 | grep -v COMMIT; for i in $(seq 2000); do echo "-A INPUT -s 198.51.100.7/32 -p udp -m udp --dport $((i + 2000)) -j DROP"; done; echo '-A OUTPUT -p udp -m udp --dport 7 -j DROP'; echo COMMIT; } >large.v4
"$WEIR" load --confirm 1s large.v4 >/dev/null
is "$(now)" drop "rules that need other maps, on trial"
sleep 1.5
is "$(now)" pass "and back"
is "$(find /sys/fs/bpf/weir -name 'slot*' | wc -l) $(find /sys/fs/bpf/weir -name 'link-*' | wc -l)" "1 1" \
	"nothing of them is left"
"$WEIR" unload >/dev/null
"$WEIR" load --confirm 1s cut.v4 >/dev/null
is "$(now)" drop "the first rules, on trial"
sleep 1.5
is "$(now)" pass "and gone"
is "$(find /sys/fs/bpf/weir 2>/dev/null; ls /run/weir)" "" "nothing of them is left"
"$WEIR" load --confirm 60s cut.v4 >/dev/null
"$WEIR" unload >/dev/null
sleep 0.3
is "$(now) $(guardians)" "pass 0" "unload ends a trial"
out=$("$WEIR" load --confirm soon cut.v4 2>&1)
is $? 2 "--confirm wants a time"
finish
