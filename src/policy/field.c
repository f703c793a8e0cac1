/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The field table as data. See field.h. */
#include "policy/field.h"

const struct field_row field_table[FIELD_COUNT] = {
#define X(id, name, bits, layer, kind, mut, absent) \
	[FIELD_##id] = { name, bits, FIELD_LAYER_##layer, FIELD_KIND_##kind, mut, absent },
#include "policy/field.def"
#undef X
};

u128 field_max(enum field f)
{
	unsigned bits = field_table[f].bits;

	return bits >= 128 ? ~(u128)0 : ((u128)1 << bits) - 1;
}

u128 field_name_value(struct str name)
{
	u128 v = 0;

	for (size_t i = 0; i < 16; i++)
		v = v << 8 | (u128)(i < name.n ? (unsigned char)name.p[i] : 0);
	return v;
}

u128 field_name_prefix_last(struct str prefix)
{
	if (prefix.n == 0)
		return ~(u128)0;
	return field_name_value(prefix) | (((u128)1 << (8 * (16 - (prefix.n > 16 ? 16 : prefix.n)))) - 1);
}
