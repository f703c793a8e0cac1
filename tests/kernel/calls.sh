#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Chains: 16 calls inside one another come back one by one, more are refused; gotos may go on as long as they like.
. "$(dirname "$0")/lib.sh"
enter "$@"

# INPUT -> C0 -> C1 ... by -j or -g; behind each call a rule that counts; the last chain returns for port 7, drops 8
ladder() { # how many chains, j or g
	echo '*filter'
	seq 0 $(($1 - 1)) | sed 's/.*/:C& - [0:0]/'
	echo '-A INPUT -p udp -j C0'
	echo '-A INPUT -p udp -m comment --comment back'
	for i in $(seq 0 $(($1 - 2))); do
		echo "-A C$i -$2 C$((i + 1))"
		echo "-A C$i -p udp -m comment --comment back"
	done
	echo "-A C$(($1 - 1)) -p udp -m udp --dport 7 -j RETURN"
	echo "-A C$(($1 - 1)) -p udp -m udp --dport 8 -j DROP"
	echo COMMIT
}
back() { # how many rules behind a call were met: "count x rules"
	"$WEIR" list | awk '/comment back/ { n[$1]++ } END { for (i in n) print i "x" n[i] }' | sort | tr '\n' ' '
}
climb() { # chains, j or g: ports 7, 8 and 9 once each
	ladder "$1" "$2" >rules.v4
	[ "$1" -gt 1000 ] || "$WEIR" unload >/dev/null
	"$WEIR" load rules.v4 >out 2>&1 || return
	echo "$(for port in 7 8 9; do verdict self 127.0.0.1 $port; done | tr '\n' ' ')$(back)"
}

is "$(climb 1 j)" "pass drop pass 2x1 " "a call"
is "$(climb 16 j)" "pass drop pass 2x16 " "16 calls inside one another"
is "$(climb 17 j)" "" "17 are refused"
has "$(cat out)" "rules.v4:19:20: error: this is the 17th call inside another" "with the place of a call"
is "$(climb 1000 g)" "pass drop pass 0x999 2x1 " "1,000 gotos, which do not come back"
is "$(climb 3000 g)" "" "3,000 are refused"
has "$(cat out)" "out of another" "as what they are"
has "$("$WEIR" list)" "C999" "and what was loaded stays"

{
	echo '*filter'
	seq 0 11 | sed 's/.*/:C& - [0:0]/'
	echo '-A INPUT -j C0'
	for i in $(seq 0 10); do for _ in 1 2 3 4; do echo "-A C$i -j C$((i + 1))"; done; done
	echo '-A C11 -p udp -m udp --dport 8 -j DROP'
	echo COMMIT
} >wide.v4
"$WEIR" load wide.v4 >out 2>&1
is $? 1 "calls that multiply"
has "$(cat out)" "may lead through more than" "are refused"
"$WEIR" unload >/dev/null
finish
