#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# All ten hooks: a rule at each drops what it names and nothing else, and is counted.
. "$(dirname "$0")/lib.sh"
enter "$@"
peer a eth0 1
peer b eth1 2
echo 1 >/proc/sys/net/ipv4/ip_forward
echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
serve 1001 1002
serve @b 1001 1002

# family, hook, from whom, to whom
try() {
	local file=rules.v4 here=10.0.1.1 b=10.0.2.2
	[ "$1" = ip ] || { file=rules.v6 here=2001:db8:1::1 b=2001:db8:2::2; }
	printf '*mangle\n-A %s -p udp -m udp --dport 1002 -j DROP\nCOMMIT\n' "$2" >$file
	"$WEIR" load $file >out 2>&1 || sed 's/^/# /' out
	local from=@a to=$here
	case $2 in
	FORWARD | POSTROUTING) to=$b ;;
	OUTPUT) from= to=$b ;;
	esac
	is "$(verdict $from udp $to 1001) $(verdict $from udp $to 1002 50) $(packets 1002)" "pass drop 3" "$1 $2"
}

for hook in PREROUTING INPUT FORWARD OUTPUT POSTROUTING; do
	for family in ip ip6; do
		try $family $hook
	done
done

# a packet meets several hooks and several tables at one
cat >rules.v4 <<EOF
*raw
-A PREROUTING -p udp -m udp --dport 1001
COMMIT
*mangle
-A PREROUTING -p udp -m udp --dport 1001
-A FORWARD -p udp -m udp --dport 1001
-A POSTROUTING -p udp -m udp --dport 1001
COMMIT
*filter
-A FORWARD -p udp -m udp --dport 1001 -j ACCEPT
-A FORWARD -p udp -m udp --dport 1002 -j DROP
COMMIT
*security
-A FORWARD -p udp -m udp --dport 1001
COMMIT
EOF
"$WEIR" load rules.v4 >out 2>&1 || sed 's/^/# /' out
is "$(verdict @a udp 10.0.2.2 1001) $(verdict @a udp 10.0.2.2 1002 50)" "pass drop" "four tables at once"
is "$("$WEIR" list | awk '/dport 1001/ { printf "%s ", $1 }')" "1 1 1 1 1 1 " "each of them saw the packet once"
"$WEIR" unload >/dev/null
finish
