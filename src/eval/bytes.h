/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The packet's bytes from its IP header on, as rules have left them. */
#ifndef WEIR_EVAL_BYTES_H
#define WEIR_EVAL_BYTES_H

#include "eval/walk.h"

/* READ: here it is; UNKNOWN: not captured, or rewritten to nobody knows what; BEYOND: the packet ends before. */
enum bytes_read { BYTES_READ, BYTES_UNKNOWN, BYTES_BEYOND };
/* n (1, 2 or 4) bytes at off, first byte highest. */
enum bytes_read bytes_get(const struct walk *w, uint64_t off, unsigned n, uint32_t *v);

#endif
