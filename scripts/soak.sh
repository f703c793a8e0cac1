#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The random tests for long: a new seed each time, until one fails or ROUNDS are over (0: for ever).
#
#     ROUNDS=20 SEED=1 scripts/soak.sh
set -u
cd "$(dirname "$0")/.." || exit 1
seed=${SEED:-$(date +%s)}
rounds=${ROUNDS:-0}
packets=${WEIR_PACKETS:-}
unset ROUNDS
n=0
while [ "$rounds" -eq 0 ] || [ $n -lt "$rounds" ]; do
	echo "seed $seed"
	for t in tests/oracle/random_rules.py tests/oracle/nft_random.py build/tests/*diff* build/tests/meaning_*; do
		[ -x "$t" ] || continue
		case $t in
		*/meaning_* | */nft_diff) export WEIR_PACKETS=${packets:-1000000} ;;
		*) export WEIR_PACKETS=$packets ;;
		esac
		B=build WEIR=build/weir WEIR_BPF=1 SEED=$seed WEIR_SEED=$((seed * 100000)) "$t" >build/soak.log 2>&1 &&
			! grep -q '^not ok' build/soak.log || {
			tail -60 build/soak.log
			echo "FAILED: SEED=$seed WEIR_SEED=$((seed * 100000)) $t"
			exit 1
		}
	done
	seed=$((seed + 1))
	n=$((n + 1))
done
echo "$n rounds passed"
