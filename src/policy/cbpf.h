/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Classic BPF programs: would the kernel take them? */
#ifndef WEIR_POLICY_CBPF_H
#define WEIR_POLICY_CBPF_H

#include "policy/policy.h"

enum { CBPF_MAX_INSNS = 4096 };

struct cbpf_fault {
	uint32_t insn;	 /* number of the instruction, from 0 */
	struct str text; /* "instruction 1 jumps to 7, program has 2" */
};
struct cbpf_faults {
	VEC(struct cbpf_fault) all;
};

/* All that is wrong with a program of n instructions, in their order; the program is good if there is nothing. */
struct cbpf_faults cbpf_check(struct arena *a, const struct bytes_insn *insn, uint32_t n);

#endif
