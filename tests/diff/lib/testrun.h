/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables in the kernel, judged by BPF_PROG_TEST_RUN: nothing is attached. Needs root. */
#ifndef WEIR_TESTS_DIFF_TESTRUN_H
#define WEIR_TESTS_DIFF_TESTRUN_H

#include "diff/lib/judge.h"

bool testrun_put(struct kernel *k, const struct tables *t, uint32_t n_counters, struct str *why);
/* Loads programs with just the features of these tables; testrun_put() drops them. */
bool testrun_own(struct kernel *k, struct arena *a, const struct tables *t, const struct case_text *text, struct str *why);
struct judged testrun_judge(struct kernel *k, enum judge j, unsigned point, const struct packet *p, uint32_t mark);
uint64_t testrun_count(const struct kernel *k, uint32_t counter);

#endif
