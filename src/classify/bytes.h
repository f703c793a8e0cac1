/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests on bytes as code and data. The other side is datapath/bytes.h. */
#ifndef WEIR_CLASSIFY_BYTES_H
#define WEIR_CLASSIFY_BYTES_H

#include "classify/test.h"

/* Makes words of the key of bits of a header: `word`, of more than 64 bits DP_W_MADE_HI and DP_W_MADE_LO. */
void bytes_emit_payload(struct code *c, const struct payload_ref *p, unsigned word, int there, int absent);
void bytes_emit(struct test_room *r, const struct test *t, int yes, int no);

#endif
