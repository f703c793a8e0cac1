/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sample: packets made from rules, as keys. For each a rule of the chain is drawn, and, where it calls, a rule of the chain
 * that it calls; the packet gets values that these tests ask for, often at their ends. One in four then gets some
 * values of another rule, so that it nearly matches. What no test asks for is what a TCP packet between random addresses has.
 */
#ifndef WEIR_CLASSIFY_SAMPLE_H
#define WEIR_CLASSIFY_SAMPLE_H

#include "policy/policy.h"
#include "tables/key.h"

/* random: the state of the draw, not 0. key: DP_KEY_WORDS words. */
void sample_key(const struct chain *c, uint64_t *random, uint64_t *key);

#endif
