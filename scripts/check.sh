#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck disable=SC2001
# Looks at the source itself, as TAP. `make check` has built with both compilers before; `make test` runs this alone.
cd "$(dirname "$0")/.." || exit 1
n=0
try() { # what command...
	n=$((n + 1))
	local what=$1 out
	shift
	if out=$("$@" 2>&1); then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
	fi
	[ -z "$out" ] || echo "$out" | sed 's/^/# /'
}
echo "1..3"
try "arrows between folders run one way" scripts/layers.sh
try "functions and files keep their limits" scripts/sizes.sh
try "no foreign words, every file names its licence" scripts/words.sh
