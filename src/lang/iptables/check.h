/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What iptables or the kernel would refuse in rules that are well written, and what makes no sense. */
#ifndef WEIR_LANG_IPTABLES_CHECK_H
#define WEIR_LANG_IPTABLES_CHECK_H

#include "lang/iptables/tree.h"

/* Can a chain be called so? false: reported. */
bool ipt_check_chain_name(struct diags *d, struct str name, struct loc at);
/* The hook of a built-in chain of a table; HOOK_NONE. */
enum hook ipt_check_hook(struct str table, struct str chain);
bool ipt_check_is_table(struct str name);
/* The known table nearest to name; NULL. */
const char *ipt_check_nearest_table(struct str name);

/* One rule by itself: protocols that its matches and target need. false: reported. */
bool ipt_check_rule(struct diags *d, enum family family, const struct ipt_rule *r);
/*
 * A whole table: jumps lead to chains, and what stands in a chain may stand where the chain is reached from. Sets
 * chain_is_missing.
 */
void ipt_check_table(struct arena *a, struct diags *d, const struct ipt_table *t);

#endif
