#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Rules of the same shape reach the kernel without loading a program: built, copied, flipped. Of another shape they do not.
. "$(dirname "$0")/lib.sh"
enter "$@"

rules() { # how many, port that is dropped
	echo '*filter'
	echo ':INPUT ACCEPT'
	for i in $(seq "$1"); do
		echo "-A INPUT -s 198.51.$((i / 256)).$((i % 256)) -p udp --dport 7 -j DROP"
	done
	echo "-A INPUT -p udp --dport $2 -j DROP"
	echo COMMIT
}

"$B/tests/probe" serve 1001 1002 &
serve=$!
sleep 0.2
rules 300 1001 >a
rules 310 1002 >b
rules 5 1001 >c
{ rules 300 1001 | sed '/^COMMIT/d'; echo '-A INPUT -i lo -m conntrack --ctstate INVALID -j DROP'; echo COMMIT; } >other

n=$("$B/tests/loads" "$WEIR" load a 2>out)
[ "${n:-0}" -ge 1 ]
ok $? "the first rules come with programs: ${n:-none}"
is "$("$B/tests/probe" udp 127.0.0.1 1001)" drop "port 1001 is closed by them"
is "$("$B/tests/loads" "$WEIR" load b 2>out)" 0 "other rules of the same kinds come without a program"
is "$("$B/tests/probe" udp 127.0.0.1 1001)" pass "port 1001 is open now"
is "$("$B/tests/probe" udp 127.0.0.1 1002)" drop "and port 1002 closed"
is "$("$B/tests/loads" "$WEIR" load a 2>out)" 0 "nor does going back"
is "$("$B/tests/probe" udp 127.0.0.1 1001)" drop "port 1001 is closed again"
is "$("$B/tests/loads" "$WEIR" load a 2>out)" 0 "nor do the same rules once more"
n=$("$B/tests/loads" "$WEIR" load other 2>out)
[ "${n:-0}" -ge 1 ]
ok $? "rules that ask for connections, which none did, come with programs: ${n:-none}"
is "$("$B/tests/probe" udp 127.0.0.1 1001)" drop "and port 1001 stays closed"
n=$("$B/tests/loads" "$WEIR" load c 2>out)
echo "# back to few rules: $n programs"
is "$("$B/tests/probe" udp 127.0.0.1 1001)" drop "with few rules too"
"$WEIR" unload >out 2>&1
kill $serve
finish
