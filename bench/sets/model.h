/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sets to measure as the library wants them: see sets/setmem.h. */
#ifndef WEIR_BENCH_SETS_MODEL_H
#define WEIR_BENCH_SETS_MODEL_H

#include "sets/make.h"
#include "sets/setmem.h"

struct set *model_declare(struct arena *a, bool is_hosts);
struct setmem_span *model_spans(struct arena *a, const struct net *v, size_t n);
unsigned model_log2(const struct set *s, size_t n); /* of an image that has ample room for n elements */
int model_add(struct setmem *m, uint32_t id, uint32_t addr); /* where no packets come meanwhile */

#endif
