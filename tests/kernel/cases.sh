#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The cases once more, judged by the programs in the kernel, by test runs; nothing is attached.
if [ "$(id -u)" -ne 0 ]; then
	echo "1..0 # SKIP programs can be loaded by root only"
	exit 0
fi
. "$(dirname "$0")/../cli/judged.sh"
judged kernel tests/kernel/cases.refused
