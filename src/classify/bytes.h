/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests on bytes as code and data. The other side is datapath/bytes.h. */
#ifndef WEIR_CLASSIFY_BYTES_H
#define WEIR_CLASSIFY_BYTES_H

#include "classify/test.h"

void bytes_emit(struct test_room *r, const struct test *t, int yes, int no);

#endif
