#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs each fuzzer for some seconds, from the seeds of this repository and what earlier runs found.
#
#     scripts/fuzz.sh SECONDS FUZZER...
#
# What it finds lies in build-fuzz/found/NAME-*; `build-fuzz/NAME FILE` repeats it. Exit status 1 if anything was found.
set -u
cd "$(dirname "$0")/.." || exit 1
seconds=$1
shift
seeds() { # fuzzer: files to begin with
	case $1 in
	iptables) ls tests/oracle/rules/*.v4 demo/*.v4 examples/*.v4 tests/cases/*.t ;;
	ip6tables) ls tests/oracle/rules/*.v6 demo/*.v6 examples/*.v6 ;;
	ipset) ls demo/*.save examples/*.ipset ;;
	list) ls examples/*.txt ;;
	capture) ls demo/*.pcap examples/*.pcap ;;
	esac
}
failed=0
mkdir -p build-fuzz/found
for fuzzer in "$@"; do
	name=$(basename "$fuzzer")
	corpus=build-fuzz/corpus/$name
	mkdir -p "$corpus"
	for f in $(seeds "$name" 2>/dev/null); do cp "$f" "$corpus/seed-$(basename "$f")"; done
	case $name in
	notation) grep -hoE '^packet +[^ ].*' tests/cases/*.t | sed -E 's/^packet +//; s/  +.*//' | sort -u |
		split -l 1 -a 4 - "$corpus/seed-" ;;
	esac
	echo "fuzzing $name for $seconds s"
	if ! "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=0 \
		-verbosity=0 -artifact_prefix="build-fuzz/found/$name-" "$corpus" >build-fuzz/"$name".log 2>&1; then
		failed=1
		tail -40 build-fuzz/"$name".log
		echo "FOUND by $name"
	fi
done
exit $failed
