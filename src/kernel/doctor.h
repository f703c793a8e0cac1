/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this kernel can do for weir, by trying it, and whether what is loaded is well. */
#ifndef WEIR_KERNEL_DOCTOR_H
#define WEIR_KERNEL_DOCTOR_H

#include "kernel/instance.h"

enum doctor_state { DOCTOR_GOOD, DOCTOR_NOTE, DOCTOR_BAD };

struct doctor_finding {
	enum doctor_state state;
	struct str what; /* "ip input: program type netfilter" */
	struct str text; /* "attaches" */
	struct str help; /* what to do; empty when all is well */
	bool is_repaired;
};

struct doctor {
	struct arena *a;
	VEC(struct doctor_finding) all;
	unsigned n_bad, n_notes;
};

/* The kernel: nothing of any instance is touched; links are attached for a moment, with programs that accept. */
void doctor_kernel(struct doctor *d, const struct instance *in);
/* The instance. With repair (and the lock): brings back what others took away. */
void doctor_instance(struct doctor *d, const struct instance *in, bool repair);
/* Instances whose network namespace nobody else has any more. With repair: removes them. */
void doctor_stale(struct doctor *d, const struct instance *in, bool repair);

#endif
