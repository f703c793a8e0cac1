#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A firewall at work, in network namespaces of its own:
#
#     client --- lan0  router  wan0 --- server
#     guest  --- lan1
#
# Loads demo/rules.v4, rules.v6 and ipset.save on the router, sends TCP, UDP and ICMP both ways, replaces the rules under
# traffic, and looks whether what had to pass passed and what had to be dropped was dropped. Exit status 0 if so.
# Everything lives in a mount namespace of its own, so nothing is left behind however this ends. Not root: shows what can
# be seen offline.
set -eu
cd "$(dirname "$0")/.."
weir=$PWD/build/weir
rules="demo/rules.v4 demo/rules.v6 demo/ipset.save"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { # shows a command, then runs it
	local words='' a
	for a in "$@"; do
		case $a in *' '*) words="$words '$a'" ;; *) words="$words $a" ;; esac
	done
	echo "\$ weir$words"
	"$weir" "$@"
}

offline() {
	say "Not root: what the rules do, offline"
	# shellcheck disable=SC2086 # a list of files
	{
		run check $rules
		run explain $rules --env demo/router.env 'in=lan0 out=wan0 tcp 192.0.2.10:40000 > 198.51.100.10:8085 flags=S ct=new'
		run explain $rules --env demo/router.env --short 'in=wan0 out=lan0 tcp 198.51.100.10:40000 > 192.0.2.10:22 flags=S ct=new'
		run eval $rules --env demo/router.env --in lan0 --out wan0 demo/lan0.pcap
	}
	say "As root, make demo runs these rules in the kernel."
}

if [ "$(id -u)" -ne 0 ]; then
	offline
	exit 0
fi
if [ -z "${WEIR_DEMO_INSIDE:-}" ]; then
	WEIR_DEMO_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi

client=weir-demo-$$-client guest=weir-demo-$$-guest router=weir-demo-$$-router server=weir-demo-$$-server
pids=
failed=0
checks=0
cleanup() {
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$pids" ] || kill $pids 2>/dev/null || true
	"$weir" unload --netns "$router" >/dev/null 2>&1 || true
	for ns in $client $guest $router $server; do ip netns del "$ns" 2>/dev/null || true; done
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
within() { # namespace command...
	local ns=$1
	shift
	nsenter --net="/run/netns/$ns" "$@"
}
verdict() { # 0 or 1: counts a check
	checks=$((checks + 1))
	[ "$1" -eq 0 ] || failed=$((failed + 1))
}
probe() { # namespace line...
	local ns=$1 bad=0
	shift
	within "$ns" demo/traffic.py probe "$@" || bad=1
	verdict $bad
}

# seen by nobody else, and gone when the last process is
mkdir -p /run/netns
mount -t tmpfs none /run/netns
mount -t bpf bpf /sys/fs/bpf

say "Three hosts and a router"
for ns in $client $guest $router $server; do
	ip netns add "$ns"
	within "$ns" sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
done
ip link add lan0 netns "$router" type veth peer name eth0 netns "$client"
ip link add wan0 netns "$router" type veth peer name eth0 netns "$server"
within "$router" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
host() { # namespace net4 net6 last: an address on eth0, a way to the router
	within "$1" ip link set lo up
	within "$1" ip link set eth0 up
	within "$1" ip addr add "$2$4" dev eth0
	within "$1" ip addr add "$3$5" dev eth0 nodad
	within "$1" ip route add default via "$6"
	within "$1" ip -6 route add default via "$7"
}
for i in lo lan0 wan0; do within "$router" ip link set $i up; done
within "$router" ip addr add 192.0.2.1/25 dev lan0
within "$router" ip addr add 2001:db8:1::1/64 dev lan0 nodad
within "$router" ip addr add 198.51.100.1/24 dev wan0
within "$router" ip addr add 2001:db8:2::1/64 dev wan0 nodad
host "$client" 192.0.2. 2001:db8:1:: 10/25 10/64 192.0.2.1 2001:db8:1::1
within "$client" ip addr add 192.0.2.66/25 dev eth0
within "$client" ip addr add 2001:db8:1::66/64 dev eth0 nodad
host "$server" 198.51.100. 2001:db8:2:: 10/24 10/64 198.51.100.1 2001:db8:2::1
within "$server" ip addr add 192.0.2.99/32 dev eth0
echo "  client 192.0.2.10, 192.0.2.66  --- lan0 router wan0 ---  server 198.51.100.10    (and IPv6)"
start() { # namespace port...
	local ns=$1 line
	shift
	exec {ready}< <(nsenter --net="/run/netns/$ns" demo/traffic.py serve "$@" & echo $!; wait)
	read -r line <&"$ready"
	pids="$pids $line"
	read -r line <&"$ready"
}
start "$server" tcp:22 tcp:80 tcp:8085 tcp:9999 udp:53 udp:5353
start "$client" tcp:22 udp:53
start "$router" tcp:22

say "Loading the rules"
# shellcheck disable=SC2086 # a list of files
run load --netns "$router" $rules

say "What has to pass, and what has to be dropped"
probe "$client" \
	"tcp 192.0.2.10 198.51.100.10 80 pass" "tcp 192.0.2.10 198.51.100.10 8085 pass" \
	"tcp 192.0.2.10 198.51.100.10 22 drop" "tcp 192.0.2.10 198.51.100.10 9999 drop" \
	"udp 192.0.2.10 198.51.100.10 53 pass" "udp 192.0.2.10 198.51.100.10 5353 drop" \
	"icmp 192.0.2.10 198.51.100.10 - pass" "tcp 192.0.2.66 198.51.100.10 80 drop on the list" \
	"udp 192.0.2.10 198.51.100.10 33435 drop counted by a rule that only counts" \
	"tcp 192.0.2.10 192.0.2.1 22 pass to the router" "icmp 192.0.2.10 192.0.2.1 - pass to the router" \
	"tcp 2001:db8:1::10 2001:db8:2::10 80 pass" "tcp 2001:db8:1::10 2001:db8:2::10 22 drop" \
	"udp 2001:db8:1::10 2001:db8:2::10 53 pass" "udp 2001:db8:1::10 2001:db8:2::10 5353 drop" \
	"icmp 2001:db8:1::10 2001:db8:2::10 - pass" "tcp 2001:db8:1::66 2001:db8:2::10 80 drop on the list" \
	"tcp 2001:db8:1::10 2001:db8:1::1 22 pass to the router"
probe "$server" \
	"tcp 198.51.100.10 192.0.2.10 22 drop" "udp 198.51.100.10 192.0.2.10 53 drop" "icmp 198.51.100.10 192.0.2.10 - drop" \
	"tcp 198.51.100.10 198.51.100.1 22 drop to the router" "tcp 2001:db8:2::10 2001:db8:1::10 22 drop" \
	"icmp 2001:db8:2::10 2001:db8:1::10 - drop" "udp 192.0.2.99 192.0.2.10 53 drop spoofed"

say "A new interface under lan+, not loaded again"
ip link add lan1 netns "$router" type veth peer name eth0 netns "$guest"
within "$router" ip link set lan1 up
within "$router" ip addr add 192.0.2.129/25 dev lan1
within "$router" ip addr add 2001:db8:1:1::1/64 dev lan1 nodad
host "$guest" 192.0.2. 2001:db8:1:1:: 130/25 10/64 192.0.2.129 2001:db8:1:1::1
probe "$guest" "tcp 192.0.2.130 198.51.100.10 80 pass" "tcp 192.0.2.130 198.51.100.10 9999 drop" \
	"tcp 192.0.2.130 192.0.2.10 22 pass lan to lan" "tcp 2001:db8:1:1::10 2001:db8:2::10 80 pass"

say "Replacing the rules again and again, under traffic that all of them accept"
answers=$(mktemp)
within "$client" demo/traffic.py flood 192.0.2.10 198.51.100.10 53 5 >"$answers" &
flood=$!
times=0
while kill -0 $flood 2>/dev/null; do
	"$weir" load --netns "$router" demo/next.v4 demo/rules.v6 demo/ipset.save >/dev/null
	# shellcheck disable=SC2086 # a list of files
	"$weir" load --netns "$router" $rules >/dev/null
	times=$((times + 2))
done
wait $flood || true
result=$(cat "$answers")
rm -f "$answers"
sent=${result#sent } && sent=${sent%%,*}
bad=1
[ "${sent:-0}" -gt 0 ] && [ "${result##* }" = "$sent" ] && bad=0
echo "  $([ $bad -eq 0 ] && echo 'ok  ' || echo FAIL) $times replacements; UDP requests through the router: $result"
verdict $bad

say "The next rules: port 22 opened, 8085 closed; counters of rules that stayed are kept"
run load --netns "$router" demo/next.v4 demo/rules.v6 demo/ipset.save
probe "$client" "tcp 192.0.2.10 198.51.100.10 22 pass" "tcp 192.0.2.10 198.51.100.10 8085 drop" \
	"tcp 192.0.2.10 198.51.100.10 80 pass"

say "The counted rules"
run list --netns "$router"

say "Unloading"
run unload --netns "$router"
probe "$client" "tcp 192.0.2.10 198.51.100.10 9999 pass nothing filters any more"

if [ $failed -eq 0 ]; then
	say "Demo: all $checks groups of checks are right."
else
	say "Demo: $failed of $checks groups of checks are WRONG."
	exit 1
fi
