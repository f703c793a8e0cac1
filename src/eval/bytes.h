/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The packet's bytes from its IP header on, as rules have left them. */
#ifndef WEIR_EVAL_BYTES_H
#define WEIR_EVAL_BYTES_H

#include "eval/walk.h"

/* READ: here it is; UNKNOWN: not captured, or rewritten to nobody knows what; BEYOND: the packet ends before. */
enum bytes_read { BYTES_READ, BYTES_UNKNOWN, BYTES_BEYOND };
/* n (1, 2 or 4) bytes at off, first byte highest. */
enum bytes_read bytes_get(const struct walk *w, uint64_t off, unsigned n, uint32_t *v);

/* ---------- payload.c ---------- */
/* One byte of the frame, counted from its first one; BEYOND also where it has no Ethernet header. */
enum bytes_read bytes_frame(const struct walk *w, uint64_t off, uint32_t *v);
/*
 * Bits of a header: their value, and which of them are known (the others are 0 in *v). BEYOND: absent; UNKNOWN: not even
 * that can be told.
 */
enum bytes_read bytes_bits(const struct walk *w, const struct payload_ref *ref, u128 *v, u128 *known);
u128 bytes_ones(unsigned n_bits); /* so many ones at the lower end */
enum eval_truth payload_truth(const struct walk *w, const struct bytes_spec *b, bool *is_absent); /* not negated */

/* ---------- wire.c ---------- */
uint32_t wire_length(const struct walk *w); /* of the frame, in bytes */
/* n bytes (1, 2 or 4) of the frame, first one highest; known: those bits that are, the others are 0. */
enum bytes_read wire_get(const struct walk *w, uint64_t off, unsigned n, uint32_t *v, uint32_t *known);
enum bytes_read wire_net_get(const struct walk *w, int64_t off, unsigned n, uint32_t *v, uint32_t *known); /* from the network header */

/* ---------- tcu32.c ---------- */
enum eval_truth tcu32_truth(struct walk *w, const struct bytes_spec *b);

#endif
