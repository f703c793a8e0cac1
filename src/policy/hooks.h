/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What base chains do to each other at a hook: warnings for policy_check(). See hooks.c. */
#ifndef WEIR_POLICY_HOOKS_H
#define WEIR_POLICY_HOOKS_H

#include "policy/policy.h"

/* has_loop: calls lead back to where they came from, so that nobody asks how deep they go. */
void hooks_check(const struct ruleset *rs, bool has_loop, struct diags *d, struct arena *scratch);

#endif
