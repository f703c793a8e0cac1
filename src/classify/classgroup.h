/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which rules of class tables share tables: those that multiply each other's classes least. Inside of the builder. */
#ifndef WEIR_CLASSIFY_CLASSGROUP_H
#define WEIR_CLASSIFY_CLASSGROUP_H

#include "classify/classes.h"

/* The group of each rule; returns how many groups there are, at most DP_CLASS_GROUPS, at least one. */
unsigned class_groups(struct arena *a, const struct class_rule *rule, size_t n, uint8_t *group);

#endif
