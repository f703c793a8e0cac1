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
formatted() {
	local files
	files=$(find src tests bench -name '*.[ch]' 2>/dev/null)
	# shellcheck disable=SC2086 # a list of files
	clang-format --dry-run -Werror $files 2>&1 | grep 'error:' | head -20
	# shellcheck disable=SC2086
	clang-format --dry-run -Werror $files >/dev/null 2>&1
}
echo "1..$((3 + (${FORMAT:-0})))"
try "arrows between folders run one way" scripts/layers.sh
try "functions and files keep their limits" scripts/sizes.sh
try "no foreign words, every file names its licence" scripts/words.sh
[ "${FORMAT:-0}" = 0 ] || try "clang-format has nothing to say" formatted
