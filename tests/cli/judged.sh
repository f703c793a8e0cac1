# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# not a test: the cases once more, judged by another engine than the evaluator.
#
#     judged ENGINE FILE        FILE has the refusals that are known: "NUMBER REASON", sorted
#
# What the engine cannot do it refuses by name. How many cases it refuses for which reason is a result: it must be what
# FILE says, so that neither a new refusal nor one that has gone passes unseen. BLESS=1 writes FILE anew, to be looked over.

judged() {
	local weir=${WEIR:-build/weir} engine=$1 known=$2 out n all found
	out=$("$weir" test --engine "$engine" tests/cases/*.t)
	all=$("$weir" test tests/cases/*.t | grep -cE '^(not )?ok')
	found=$(sed -n 's/^ok .*# SKIP //p' <<<"$out" | LC_ALL=C sort | uniq -c | sed 's/^ *//')
	[ -z "${BLESS:-}" ] || echo "$found" >"$known"
	grep -E '^(not )?ok|^#' <<<"$out" | grep -v '# SKIP'
	n=$(grep -E '^(not )?ok' <<<"$out" | grep -vc '# SKIP')
	if found=$(diff -U0 "$known" - <<<"$found" | grep -E '^[-+][0-9]'); then
		echo "not ok - refused for the reasons of $known"
		sed 's/^/# /' <<<"$found"
		echo "# BLESS=1 $0 writes that file anew"
	else
		echo "ok - refused for the reasons of $known ($n judged, $((all - n)) refused)"
	fi
	if [ $((n + $(awk '{ n += $1 } END { print n }' "$known"))) = "$all" ] && [ "$n" -ge 600 ]; then
		echo "ok - each of $all cases is judged or refused"
	else
		echo "not ok - each of $all cases is judged or refused, most of them judged ($n)"
	fi
	echo "1..$((n + 2))"
}
