/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One rule, from the words behind "-A CHAIN" to the tree. */
#ifndef WEIR_LANG_IPTABLES_RULE_H
#define WEIR_LANG_IPTABLES_RULE_H

#include "lang/iptables/scan.h"
#include "lang/iptables/tree.h"

struct ipt_rule_in {
	struct arena *a;
	struct diags *d;
	enum family family;
	const struct ipt_table *table;
	const struct ipt_word *w; /* the words behind the chain (and the position of -I) */
	size_t n;
};

/*
 * Reads a rule. A name behind -j that is neither a chain so far nor a target is kept as a chain; the table's end
 * decides (check.c). false: reported; r is then incomplete.
 */
bool ipt_rule_read(const struct ipt_rule_in *in, struct ipt_rule *r);

/*
 * Brings the options of a use into their final form (fold.c): what must be there or must not stand together is checked,
 * defaults are added, aliases of meaning are folded, and the rest is put into the order of ext.def. false: reported.
 */
bool ipt_fold_use(struct arena *a, struct diags *d, enum family family, struct ipt_use *u);

#endif
