/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests with a memory as code, and what their state begins with. The other side is datapath/state.h. */
#ifndef WEIR_CLASSIFY_STATE_H
#define WEIR_CLASSIFY_STATE_H

#include "classify/test.h"

void state_emit(struct test_room *r, const struct test *t, int yes, int no);

#endif
