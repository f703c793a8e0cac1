#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The cases once more, judged by the compiled tables in user space.
. "$(dirname "$0")/judged.sh"
judged tables tests/cli/tables.refused
