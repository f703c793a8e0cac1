/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which base chains are judged together, and at which position. */
#ifndef WEIR_FLAT_POINTS_H
#define WEIR_FLAT_POINTS_H

#include "flat/flat.h"

/* Fills point, order and n_order of out. More places than there are is an error in d. */
void points_make(const struct ruleset *rs, const struct flat_options *opt, struct diags *d, struct flat *out);

#endif
