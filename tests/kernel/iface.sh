#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# An interface is judged by the name that it has at the moment of the packet.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
peer b wan 2
peer c br0 3
serve 1001

load() {
	printf '*filter\n%s\nCOMMIT\n' "$1" >rules.v4
	"$WEIR" load rules.v4 >out 2>&1 || sed 's/^/# /' out
}
three() { echo "$(verdict @a udp 10.0.1.1 1001 40) $(verdict @b udp 10.0.2.1 1001 40) $(verdict @c udp 10.0.3.1 1001 40)"; }

load '-A INPUT -i eth0 -j DROP'
is "$(three)" "drop pass pass" "-i eth0"
load '-A INPUT ! -i eth0 -j DROP'
is "$(three)" "pass drop drop" "! -i eth0"
load '-A INPUT -i eth+ -j DROP'
is "$(three)" "drop pass pass" "-i eth+"
load '-A INPUT ! -i eth+ -j DROP'
is "$(three)" "pass drop drop" "! -i eth+"
load '-A INPUT -i w+ -j DROP'
is "$(three)" "pass drop pass" "-i w+"

# renamed while the rules stay
load '-A INPUT -i eth+ -j DROP'
ip link set eth0 down && ip link set eth0 name lan0 && ip link set lan0 up
sleep 0.1
is "$(verdict @a udp 10.0.1.1 1001)" pass "renamed away from eth+, it passes"
ip link set br0 down && ip link set br0 name eth7 && ip link set eth7 up
sleep 0.1
is "$(verdict @c udp 10.0.3.1 1001 40)" drop "renamed to eth7, it is dropped"
ip link set lan0 down && ip link set lan0 name eth0 && ip link set eth0 up
sleep 0.1
is "$(verdict @a udp 10.0.1.1 1001 40)" drop "and back under eth+"

# deleted and made again, with another index
load '-A INPUT -i eth0 -j DROP'
is "$(verdict @a udp 10.0.1.1 1001 40)" drop "-i eth0 before it is deleted"
index() { ip -o link show eth0 | cut -d: -f1; }
old=$(index)
ip link del eth0
ip netns del a
peer a eth0 1
[ "$(index)" != "$old" ]
ok $? "the new eth0 has another index"
is "$(verdict @a udp 10.0.1.1 1001 40)" drop "the new eth0 is judged like the old one"

# the old index under another name
ip link set wan down
peer d eth9 4
load '-A INPUT -i eth+ -j DROP'
is "$(verdict @d udp 10.0.4.1 1001 40)" drop "eth9 there before the load"
peer e eth10 5
is "$(verdict @e udp 10.0.5.1 1001 40)" drop "eth10, new since the load, is dropped"
peer f lan1 6
is "$(verdict @f udp 10.0.6.1 1001)" pass "lan1, new since the load, passes"

# names of 15 bytes and prefixes beyond 8
peer g abcdefghij12345 7
load '-A INPUT -i abcdefghij1+ -j DROP'
is "$(verdict @g udp 10.0.7.1 1001 40)" drop "a long prefix"
load '-A INPUT -i abcdefghij12346 -j DROP'
is "$(verdict @g udp 10.0.7.1 1001)" pass "the last of 15 bytes differs"
load '-A INPUT -i abcdefghij12345 -j DROP'
is "$(verdict @g udp 10.0.7.1 1001 40)" drop "all 15 bytes agree"

# output interfaces
load '-A OUTPUT -o lo -j DROP'
is "$(verdict udp 127.0.0.1 1001 40) $(verdict @f udp 10.0.6.1 1001)" "drop pass" "-o lo"
"$WEIR" unload >/dev/null
finish
