/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses of both families as numbers: IPv4 in the low 32 bits of a u128, host order. Reading and printing are
 * the same for every language: "192.0.2.1", "2001:db8::1" (shortest form, as the C library prints it). No names,
 * no DNS.
 */
#ifndef WEIR_POLICY_ADDR_H
#define WEIR_POLICY_ADDR_H

#include "policy/policy.h"

/* Strict: four decimal numbers, or any RFC 4291 form. false: not an address of that family. */
bool addr_parse(enum family f, struct str s, u128 *out);
void addr_print(struct buf *b, enum family f, u128 addr);
unsigned addr_bits(enum family f);	    /* 32, 128 */
u128 addr_mask(enum family f, unsigned plen); /* plen <= addr_bits: the high plen bits set */
int addr_plen(enum family f, u128 mask);    /* length of the prefix; -1 if mask is not a prefix */

#endif
