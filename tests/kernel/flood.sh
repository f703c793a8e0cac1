#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# TIMEOUT 300 HOLDS clock
# 1,000 rules replaced 1,000 times under a flood: what both rulesets drop never gets through, what both accept is
# never lost. Counted by nft before and behind the hook, so that nothing but the hook can lose a packet in between.
. "$(dirname "$0")/lib.sh"
enter "$@"
ROUNDS=${ROUNDS:-1000}
peer a eth0 1

filler() { # salt
	for i in $(seq 997); do echo "-A INPUT -s 198.51.$((i % 250)).$1/32 -p udp -m udp --dport $((2000 + i)) -j DROP"; done
}
{
	echo '*filter'
	echo ':INPUT DROP [0:0]'
	filler 1 | head -300
	echo '-A INPUT -p udp -m udp --dport 1001 -j ACCEPT'
	echo '-A INPUT -p udp -m udp --dport 1002 -j DROP'
	filler 1 | tail -697
	echo '-A INPUT -p udp -m udp --dport 1003 -j ACCEPT'
	echo COMMIT
} >a.v4
{
	echo '*filter'
	echo ':INPUT ACCEPT [0:0]'
	echo '-A INPUT -p udp -m udp --dport 1003 -j DROP'
	filler 2
	echo '-A INPUT -p udp -m udp --dport 1002 -j DROP'
	echo '-A INPUT -p udp -m udp --dport 1001 -j ACCEPT'
	echo COMMIT
} >b.v4
nft -f - <<EOF
table ip count {
	chain before { type filter hook prerouting priority -500; udp dport 1001 counter; udp dport 1002 counter; udp dport 1003 counter; }
	chain behind { type filter hook input priority 500; udp dport 1001 counter drop; udp dport 1002 counter drop; udp dport 1003 counter drop; }
}
EOF
counted() { # chain port
	nft list chain ip count "$1" | awk -v p="$2" '$3 == p { print $6 }'
}

"$WEIR" load a.v4 >/dev/null
flood a 10.0.1.1 1001 1002 1003
from=$(date +%s)
failed=0
i=0
while [ $i -lt "$ROUNDS" ]; do
	"$WEIR" load b.v4 >/dev/null 2>out || { failed=$((failed + 1)); sed 's/^/# /' out; }
	"$WEIR" load a.v4 >/dev/null 2>out || { failed=$((failed + 1)); sed 's/^/# /' out; }
	i=$((i + 2))
	[ $(($(date +%s) - from)) -lt 240 ] || break
done
sent=$(flood_end)
sleep 0.3
echo "# $i loads in $(($(date +%s) - from)) s; $sent packets sent, $(counted before 1001) + $(counted before 1002) + $(counted before 1003) arrived"
is "$i" "$ROUNDS" "1,000 rules were replaced $ROUNDS times"
is "$failed" 0 "every load succeeded"
is "$([ "$(counted before 1001)" -gt 10000 ] && echo yes)" yes "under a flood"
is "$(counted behind 1001)" "$(counted before 1001)" "what both accept is never lost"
is "$(counted behind 1002)" 0 "what both drop never gets through"
n=$(counted behind 1003)
is "$([ "$n" -gt 0 ] && [ "$n" -lt "$(counted before 1003)" ] && echo yes)" yes "and both did decide: $n of $(counted before 1003)"
is "$(find /sys/fs/bpf/weir -name 'info-*' | wc -l)" 1 "nothing piles up"

# the same with another shape each time: other programs and maps in the other slot, hooks that come and go
{ sed /COMMIT/d b.v4; echo '-A OUTPUT -p udp -m udp --dport 9 -j DROP'; echo '-A FORWARD -p udp -m udp --dport 9 -j DROP'; echo COMMIT; } >c.v4
before=$(counted before 1001) behind=$(counted behind 1001)
flood a 10.0.1.1 1001 1002 1003
failed=0
for i in $(seq $((ROUNDS / 20))); do
	"$WEIR" load --malformed accept c.v4 >/dev/null 2>out || { failed=$((failed + 1)); sed 's/^/# /' out; }
	"$WEIR" load a.v4 >/dev/null 2>out || { failed=$((failed + 1)); sed 's/^/# /' out; }
done
flood_end >/dev/null
sleep 0.3
is "$failed" 0 "$((ROUNDS / 10)) loads of another shape succeed"
is "$(($(counted behind 1001) - behind))" "$(($(counted before 1001) - before))" "what both accept is never lost"
is "$(counted behind 1002)" 0 "what both drop never gets through"
is "$(find /sys/fs/bpf/weir -name 'link-*' | wc -l) $(find /sys/fs/bpf/weir -name 'slot*' | wc -l)" "1 1" "nothing piles up"
"$WEIR" unload >/dev/null
finish
