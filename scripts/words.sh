#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The project speaks of itself alone: no paths of one machine, no unfinished marks; every source file names its licence.
set -eu
cd "$(dirname "$0")/.."
bad=0
list() { git ls-files 2>/dev/null || find . -path ./.git -prune -o -type f -print | sed 's,^\./,,' | grep -v '^build'; }

paths='(^|[^a-zA-Z0-9_.-])/(work|root|home/[a-z]+|tmp/w)(/|$|[^a-zA-Z0-9_])'
marks='(^|[^a-zA-Z_])(TODO|FIXME|HACK)([^a-zA-Z_]|$)'
hits=$(list | grep -vE '^(LICENSES/|scripts/words\.sh$)' | xargs grep -nIE "$paths|$marks" 2>/dev/null || true)
[ -z "$hits" ] || { echo "$hits"; bad=1; }

# tabs indent, and nothing stands at the end of a line
hits=$(list | grep -E '\.(c|h|def|sh|py)$|^Makefile$' | xargs grep -nE '[[:blank:]]+$' || true)
[ -z "$hits" ] || { echo "$hits"; bad=1; }
hits=$(list | grep -E '^(src|tests|bench)/.*\.[ch]$' | xargs grep -nE '^ {8}' || true)
[ -z "$hits" ] || { echo "$hits"; bad=1; }

while read -r f; do
	case $f in
	*.c | *.h | *.def | *.sh | *.py | Makefile | tests/run | bench/run | .ci/run) ;;
	*) continue ;;
	esac
	head -3 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause' || {
		echo "$f:1: no SPDX-License-Identifier"
		bad=1
	}
done < <(list | grep -vE '^(LICENSES|build)')
exit $bad
