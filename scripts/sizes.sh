#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Prints the ten longest functions and files, and fails past the hard limits: 70 lines a function (150 where a comment
# inside says "flat switch" or "flat table" and why), 1000 lines a file.
set -eu
cd "$(dirname "$0")/.."
files=$(find src tests bench -name '*.[ch]' 2>/dev/null | sort)

# shellcheck disable=SC2086 # a list of files
functions=$(awk '
	FNR == 1 { inside = 0; head = "" }
	!inside && /^[a-zA-Z_].*\(/ { head = $0; at = FNR }
	!inside && /^\{/ && head != "" { inside = 1; flat = 0; next }
	inside && /flat (switch|table)/ { flat = 1 }
	inside && /^\}/ {
		n = FNR - at + 1
		name = head
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
		printf "%d %s:%d %s %s\n", n, FILENAME, at, name, flat ? "flat" : "-"
		inside = 0
		head = ""
	}' $files | sort -rn)
# shellcheck disable=SC2086
lines=$(wc -l $files | grep -v ' total$' | sort -rn | awk '{ print $1, $2 }')

echo "longest functions:"
echo "$functions" | head -10 | awk '{ printf "  %4d  %s  %s%s\n", $1, $2, $3, $4 == "flat" ? "  (flat)" : "" }'
echo "longest files:"
echo "$lines" | head -10 | awk '{ printf "  %4d  %s\n", $1, $2 }'
# shellcheck disable=SC2086
wide=$(for f in $files; do expand "$f"; done | awk 'length > 120' | wc -l)
echo "lines beyond 120 columns: $wide"

bad=0
over=$(echo "$functions" | awk '$1 > ($4 == "flat" ? 150 : 70) { print $2 ": function " $3 " has " $1 " lines" }')
[ -z "$over" ] || { echo "$over"; bad=1; }
over=$(echo "$lines" | awk '$1 > 1000 { print $2 ": file has " $1 " lines" }')
[ -z "$over" ] || { echo "$over"; bad=1; }
exit $bad
