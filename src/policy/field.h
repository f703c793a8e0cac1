/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fields: the facts about a packet that rules may test. The table is field.def; this makes it an enum. */
#ifndef WEIR_POLICY_FIELD_H
#define WEIR_POLICY_FIELD_H

#include "base/str.h"

typedef unsigned __int128 u128;
#define U128(hi, lo) (((u128)(hi) << 64) | (u128)(lo))

enum field {
#define X(id, name, bits, layer, kind, mut, absent) FIELD_##id,
#include "policy/field.def"
#undef X
	FIELD_COUNT
};

enum field_kind { FIELD_KIND_NUM, FIELD_KIND_BITS, FIELD_KIND_ADDR, FIELD_KIND_NAME, FIELD_KIND_MANY };
enum field_layer { FIELD_LAYER_META, FIELD_LAYER_CT, FIELD_LAYER_L3, FIELD_LAYER_EXT, FIELD_LAYER_L4 };

struct field_row {
	const char *name;
	uint16_t bits;
	enum field_layer layer;
	enum field_kind kind;
	bool is_mutable;
	const char *absent_when;
};
extern const struct field_row field_table[FIELD_COUNT];

u128 field_max(enum field f); /* all bits of the field set */

/* Connection states; the value of FIELD_CT_STATE is 1 << one of these. SNAT/DNAT are FIELD_CT_STATUS bits. */
enum ct_state { CT_INVALID, CT_NEW, CT_ESTABLISHED, CT_RELATED, CT_UNTRACKED, CT_STATE_COUNT };
/* FIELD_CT_STATUS: the kernel's enum ip_conntrack_status bits (uapi nf_conntrack_common.h). */
enum { CT_STATUS_EXPECTED = 1, CT_STATUS_SEEN_REPLY = 2, CT_STATUS_ASSURED = 4, CT_STATUS_CONFIRMED = 8,
       CT_STATUS_SRC_NAT = 16, CT_STATUS_DST_NAT = 32 };
/* FIELD_SRC_TYPE, FIELD_DST_TYPE: 1 << RTN_* (uapi rtnetlink.h: UNSPEC 0, UNICAST 1, LOCAL 2, BROADCAST 3, ...). */
/* FIELD_HDRS: bits as in ip6tables ipv6header: */
enum { HDR_PROTO = 1, HDR_ESP = 2, HDR_NONE = 4, HDR_AUTH = 8, HDR_DSTOPTS = 16, HDR_FRAG = 32, HDR_ROUTE = 64, HDR_HOPOPTS = 128 };

/* An interface name as a number: its bytes, first highest, zero-filled to 16. "eth0" < "eth0.5" < "eth1". */
u128 field_name_value(struct str name);	    /* name of at most 15 bytes */
u128 field_name_prefix_last(struct str prefix); /* last value that starts with prefix; first is field_name_value() */

#endif
