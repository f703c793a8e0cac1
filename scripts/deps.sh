#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Brings in the Debian packages that a target of the Makefile needs.
#
#     scripts/deps.sh build|demo|test|fuzz [--print]
#
# Silent when nothing is missing. As root it installs what is missing; otherwise, or with --print, it prints the one
# line that does, and fails.
set -eu

build="gcc libc6-dev make pkg-config clang libbpf-dev libelf-dev zlib1g-dev libpcap-dev libjansson-dev libmnl-dev
	libnftnl-dev libnftables-dev"
demo="$build iproute2 nftables procps python3"
tests="$demo git libcmocka-dev iptables ipset bpftool"

case ${1:-} in
build) want=$build ;;
demo) want=$demo ;;
test) want=$tests ;;
fuzz) want="$tests libclang-rt-14-dev" ;;
*)
	echo "usage: scripts/deps.sh build|demo|test|fuzz [--print]" >&2
	exit 2
	;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "weir: this is no Debian; the packages it needs are called there: ${want//[[:space:]]/ }" >&2
	exit 0
fi
missing=
for p in $want; do
	dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
missing=${missing# }

if [ "$(id -u)" -ne 0 ] || [ "${2:-}" = --print ]; then
	echo "weir: packages are missing; as root: apt-get update && apt-get install -y $missing" >&2
	exit 1
fi

echo "weir: installing $missing"
export DEBIAN_FRONTEND=noninteractive
install() {
	# shellcheck disable=SC2086 # a list of words
	apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 $missing
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! install >"$log" 2>&1; then
	{ apt-get update -qq && install; } >"$log" 2>&1 || {
		cat "$log" >&2
		echo "weir: apt-get could not install: $missing" >&2
		exit 1
	}
fi
