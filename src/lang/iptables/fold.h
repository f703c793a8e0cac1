/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside the fold of options: what fold.c (the table's rules), fold_match.c and fold_target.c share. */
#ifndef WEIR_LANG_IPTABLES_FOLD_H
#define WEIR_LANG_IPTABLES_FOLD_H

#include "lang/iptables/tree.h"

struct ipt_fold {
	struct arena *a;
	struct diags *d;
	enum family family;
	struct ipt_use *u;
};

/* What an extension says in several ways, in one. Nothing to do for most. false: reported. */
bool ipt_fold_match(struct ipt_fold *f);
bool ipt_fold_target(struct ipt_fold *f);
void ipt_fold_policy_sort(struct ipt_use *u); /* -m policy: element by element, as printed */

/* Pointers are good until an option is added or dropped. */
struct ipt_opt *ipt_fold_get(const struct ipt_fold *f, enum ipt_opt_id id); /* NULL */
struct ipt_opt *ipt_fold_add(struct ipt_fold *f, enum ipt_opt_id id);	    /* implied, without a value yet */
void ipt_fold_drop(struct ipt_fold *f, const struct ipt_opt *o);
void ipt_fold_number(struct ipt_fold *f, enum ipt_opt_id id, uint64_t n); /* implied, unless it is there */
void ipt_fold_masked(struct ipt_opt *o, enum ipt_opt_id id, uint64_t value, uint64_t mask);
bool ipt_fold_fail(struct ipt_fold *f, const struct ipt_opt *o, const char *text); /* false; o NULL: at the name */
void ipt_fold_no_effect(struct ipt_fold *f, const struct ipt_opt *o, const char *beside);

#endif
