# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# not a test: what the tests of this folder begin with.
#
#     #!/bin/bash
#     . "$(dirname "$0")/lib.sh"
#     enter "$@"
#     ...
#     is "$(verdict udp 192.0.2.2 1001)" pass "port 1001 is let in"
#     finish
#
# enter() puts the test into namespaces of its own: network, mounts (a BPF file system of its own), processes. So
# nothing that a test makes outlives it, however it ends.

WEIR=${WEIR:-build/weir}
B=${B:-build}
N=0
FAILED=0

enter() {
	if [ "$(id -u)" != 0 ]; then
		echo "1..0 # SKIP needs root"
		exit 0
	fi
	if [ -z "${WEIR_TEST_INSIDE:-}" ]; then
		WEIR=$(realpath "$WEIR") B=$(realpath "$B") WEIR_TEST_INSIDE=1 \
			exec unshare -mnpf --kill-child --mount-proc bash "$(realpath "$0")" "$@"
	fi
	export WEIR B
	umask 077
	mkdir -p /run/netns /run/weir
	mount -t tmpfs tmpfs /run/netns
	mount -t tmpfs tmpfs /run/weir
	mount -t bpf bpf /sys/fs/bpf
	T=$(mktemp -d)
	mount -t tmpfs tmpfs "$T" # goes with the namespace; the folder itself is removed by finish
	cd "$T" || exit 99
	export XTABLES_LOCKFILE=$T/xtables.lock # the usual one is for all namespaces, and who does not get it gives up
	ip link set lo up
}

ok() { # status, what
	N=$((N + 1))
	if [ "$1" = 0 ]; then
		echo "ok $N - $2"
	else
		echo "not ok $N - $2"
		FAILED=$((FAILED + 1))
	fi
}

is() { # found, expected, what
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3"
		printf '%s\n' "found:    $1" "expected: $2" | sed 's/^/# /'
	fi
}

has() { # text, part, what
	case $1 in
	*"$2"*) ok 0 "$3" ;;
	*)
		ok 1 "$3"
		printf '%s\n' "$1" | sed 's/^/# found: /'
		echo "# expected in it: $2"
		;;
	esac
}

skip() { # reason, what
	N=$((N + 1))
	echo "ok $N - $2 # SKIP $1"
}

finish() {
	echo "1..$N"
	cd / && umount -l "$T" && rmdir "$T"
	[ "$FAILED" = 0 ]
	exit
}

# A namespace NAME behind a veth pair: interface IFACE here with address 192.0.2.NUMBER/24... of subnet $3.
#     peer a eth0 1      here eth0 10.0.1.1/24 and 2001:db8:1::1/64; in namespace a: veth0 with .2
peer() { # name, interface here, number of the net
	ip netns add "$1"
	# While a link-local address is being tried for duplicates, a router asks no neighbour.
	echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
	at "$1" sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'
	ip link add "$2" type veth peer name veth0 netns "$1"
	ip addr add "10.0.$3.1/24" dev "$2"
	ip addr add "2001:db8:$3::1/64" dev "$2" nodad
	ip link set "$2" up
	ip -n "$1" addr add "10.0.$3.2/24" dev veth0
	ip -n "$1" addr add "2001:db8:$3::2/64" dev veth0 nodad
	ip -n "$1" link set veth0 up
	ip -n "$1" link set lo up
	ip -n "$1" route add default via "10.0.$3.1"
	ip -n "$1" -6 route add default via "2001:db8:$3::1"
}

# Runs a command in a peer's network namespace, without a new /sys.
at() { # name, command...
	local ns=$1
	shift
	nsenter --net="/run/netns/$ns" "$@"
}

# Echo servers on these ports, UDP and TCP, both families.
serve() { # [@peer] port...
	local where=
	case $1 in @*) where=${1#@}; shift ;; esac
	if [ -n "$where" ]; then
		at "$where" "$B/tests/probe" serve "$@" &
	else
		"$B/tests/probe" serve "$@" &
	fi
	SERVERS="${SERVERS:-} $!"
	sleep 0.2
}

# UDP to these ports in turn, from a peer; flood_end says how many were sent.
flood() { # peer address port...
	nsenter --net="/run/netns/$1" "$B/tests/probe" flood "${@:2}" >flood.sent 2>flood.err &
	FLOOD=$!
	sleep 0.2
}

flood_end() {
	kill $FLOOD
	for _ in $(seq 500); do [ -s flood.sent ] && break; sleep 0.02; done
	cat flood.sent
}

# pass or drop: does an answer come back?
verdict() { # [@peer] udp|tcp|icmp address [port]
	local where=
	case $1 in @*) where=${1#@}; shift ;; esac
	if [ -n "$where" ]; then
		at "$where" "$B/tests/probe" "$@"
	else
		"$B/tests/probe" "$@"
	fi
}

# Packets of the rules whose text holds $1.
packets() { # text
	"$WEIR" list --json | /usr/bin/python3 -c '
import json, sys
print(sum(r["packets"] for c in json.load(sys.stdin).get("chains", []) for r in c["rules"] if sys.argv[1] in r["rule"]))' "$1"
}

# iptables-save text: rules FILE 'line'...   of table filter; rules6 is the same, for the file's name tells
rules() { # file, line...
	local file=$1 line
	shift
	{
		echo '*filter'
		for line in ':INPUT ACCEPT [0:0]' ':FORWARD ACCEPT [0:0]' ':OUTPUT ACCEPT [0:0]'; do
			case " $* " in *" ${line%% *} "*) ;; *) echo "$line" ;; esac
		done
		for line in "$@"; do echo "$line"; done
		echo COMMIT
	} >"$file"
}
