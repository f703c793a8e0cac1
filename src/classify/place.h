/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Places: which bits of which word of the datapath's key hold a field, and which bit says that it is there. */
#ifndef WEIR_CLASSIFY_PLACE_H
#define WEIR_CLASSIFY_PLACE_H

#include "classify/code.h"
#include "policy/field.h"

struct place {
	bool is_known;	 /* false: the datapath does not have this field */
	unsigned word;	 /* of its lowest 64 bits; of a wide field the upper ones lie in `high` */
	unsigned high;
	unsigned shift, bits;
	unsigned has_word; /* with has_mask != 0: the field is there if these bits are set */
	uint64_t has_mask;
	uint32_t feature; /* DP_F_* that fills it; 0: always filled */
};
/* is_ip4: of an address only 32 bits are looked at. */
struct place place_of(enum field f, bool is_ip4);

#endif
