/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Making the kernel track connections. It does so in a network namespace only while somebody asks for it, and a BPF
 * program cannot ask. So rules that look at connections bring one nft table with one chain that nobody calls:
 *
 *     table ip weir_weir {
 *             chain tracks_connections { ct state new }
 *     }
 *
 * It costs a packet nothing. A foreign `nft flush ruleset` takes it away; then the programs drop at their conntrack
 * tests and count that, until doctor or a load brings it back.
 */
#ifndef WEIR_KERNEL_CONNTRACK_H
#define WEIR_KERNEL_CONNTRACK_H

#include "kernel/instance.h"
#include "policy/policy.h"

/* Makes the table for the families in `families` (FAMILY_COUNT flags), or changes it. */
int conntrack_enable(const struct instance *in, const bool *families, struct refusal *why);
/* Removes the tables of all other families; it is well if there is none. */
int conntrack_keep_only(const struct instance *in, const bool *families, struct refusal *why);
/* Is the table there, for all these families? */
bool conntrack_is_enabled(const struct instance *in, const bool *families);
/* Could it be enabled? Nothing is changed. */
bool conntrack_is_possible(const struct instance *in, struct str *error);
struct str conntrack_table(const struct instance *in);

#endif
