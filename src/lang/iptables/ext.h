/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of matches and targets (ext.def) as data, and look-ups in it. What an argument is, and how it is read and
 * printed, is in arg.h.
 */
#ifndef WEIR_LANG_IPTABLES_EXT_H
#define WEIR_LANG_IPTABLES_EXT_H

#include "lang/iptables/names.h"
#include "lang/iptables/tree.h"

enum ipt_arg {
	ARG_NONE,
	/* numbers */
	ARG_NUM, ARG_RANGE, ARG_COUNT_RANGE, ARG_PORT, ARG_PORTS, ARG_PORT_LIST, ARG_QUEUES, ARG_MARK, ARG_XMARK, ARG_TOS,
	ARG_NAMED_MASK, ARG_PROBABILITY, ARG_ZONE, ARG_CLASSID, ARG_PLEN,
	/* text */
	ARG_TEXT, ARG_NAME, ARG_QUOTED, ARG_STRING, ARG_HEX_TEXT, ARG_IFACE, ARG_SET,
	/* names */
	ARG_WORD, ARG_FLAGS, ARG_PROTO, ARG_ICMP, ARG_TCP_FLAGS, ARG_TCP_OPTIONS, ARG_MH_TYPE, ARG_ID,
	/* addresses */
	ARG_ADDR, ARG_ADDR_RANGE, ARG_ADDR_MASK, ARG_HOST, ARG_NETWORK, ARG_MAC, ARG_NAT, ARG_NAT_PORTS,
	/* rates and times */
	ARG_RATE, ARG_HASHRATE, ARG_BURST, ARG_CLOCK, ARG_DATE, ARG_MONTHDAYS, ARG_WEEKDAYS,
	/* small languages */
	ARG_U32, ARG_BYTECODE, ARG_IP6_OPTS, ARG_RT_ADDRS, ARG_CHUNKS,
	ARG_COUNT
};

enum {
	F_NEG = 1,	/* `! --opt` */
	F_MUST = 2,	/* must be there */
	F_FOLDED = 4,	/* read, then turned into another option (fold.c) */
	F_MANY = 8,	/* may come more than once */
	F_DFLT = 16,	/* there with the value dflt if not written */
	F_SILENT = 32,	/* not printed when it has the value dflt */
	F_DROP_FULL = 64, /* 0 - max, not negated, tests nothing: left out */
	F_DROP_ZERO = 128, /* 0 says nothing: left out */
	F_CUT = 256,	/* iptables cuts a text that is too long */
	F_HEX = 512,	/* printed as 0x1f */
	F_HEX2 = 1024,	/* printed as 0x0a */
	F_HEX8 = 2048,	/* printed as 0x0000001f */
	F_ORDERED = 4096, /* first above last is an error, not only a range that never matches */
};

enum { V4 = 1 << FAMILY_IP4, V6 = 1 << FAMILY_IP6, BOTH = V4 | V6 };
enum { TABLE_FILTER = 1, TABLE_NAT = 2, TABLE_MANGLE = 4, TABLE_RAW = 8, TABLE_SECURITY = 16 };
enum {
	AT_PREROUTING = 1 << HOOK_PREROUTING,
	AT_INPUT = 1 << HOOK_INPUT,
	AT_FORWARD = 1 << HOOK_FORWARD,
	AT_OUTPUT = 1 << HOOK_OUTPUT,
	AT_POSTROUTING = 1 << HOOK_POSTROUTING,
};
enum { IPT_ANY_OPTION = 255 }; /* .one_of: any option will do */

struct ipt_opt_row {
	const char *name, *alias; /* as printed; another that is read ("" if none) */
	enum ipt_ext_id ext;
	enum ipt_arg arg;
	unsigned flags; /* F_* */
	uint64_t min, max;
	const struct ipt_name *names;
	uint8_t group;
	uint64_t dflt;
	uint8_t bad_hooks;	/* AT_*: hooks at which this option says nothing, so that the kernel refuses it */
	enum ipt_opt_id with;	/* this option says something only beside that one */
};

enum { IPT_MAX_PROTOS = 6 };
struct ipt_ext_row {
	const char *name, *alias;
	bool is_target;
	uint8_t families;
	uint8_t implied_by;	/* a protocol */
	uint8_t protos[IPT_MAX_PROTOS]; /* -p must be one of these, not negated */
	uint8_t proto_families;	/* ... in these families; 0: all */
	uint8_t tables, hooks;	/* TABLE_*, AT_* where it may stand; 0: everywhere */
	uint8_t one_of;
	enum ipt_opt_id first;	/* its options: from here as long as their rows name this extension */
};

const struct ipt_ext_row *ipt_ext_row(enum ipt_ext_id id);
const struct ipt_opt_row *ipt_opt_row(enum ipt_opt_id id);

/* A match or target of a family by its name or another name of it; IPT_NONE. */
enum ipt_ext_id ipt_ext_find(struct str name, bool is_target, enum family family);
/* A match or target that iptables has and weir does not read. */
bool ipt_ext_is_foreign(struct str name, bool is_target);
/* The nearest name of a match or target that this family has; NULL. */
const char *ipt_ext_nearest(struct arena *a, struct str name, bool is_target, enum family family);
enum ipt_ext_id ipt_ext_implied_by(uint8_t proto, enum family family); /* IPT_NONE */

#endif
