/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tc commands say, as they were written: the tree that is printed and lowered.
 *
 *     tc qdisc add dev eth0 clsact
 *     tc filter add dev eth0 ingress protocol ip prio 1 u32 match ip dport 22 0xffff action drop
 *     protocol ip u32 match u32 0xc0000200 0xffffff00 at 12 action drop      only the tail: any device, ingress
 *     4,40 0 0 12,21 0 1 2048,6 0 0 65535,6 0 0 0                            only a program: the same
 *
 * A key of u32 is a word of the packet, from its network header, under a mask; `nexthdr+` adds the offset that the link
 * by which the walk came here has computed.
 */
#ifndef WEIR_LANG_TC_TREE_H
#define WEIR_LANG_TC_TREE_H

#include "policy/policy.h"

struct tc_word {
	struct str text; /* without quotes */
	struct loc at;
	bool is_plain;	 /* text stands in the source byte by byte, from at.off on */
};
struct tc_line {
	struct tc_word *w;
	size_t n;
	struct loc at;
};
struct tc_lines {
	VEC(struct tc_line) all;
};

enum tc_control { TC_PIPE, TC_OK, TC_DROP, TC_CONTINUE, TC_RECLASSIFY, TC_STOLEN };
enum tc_action_kind { TC_ACTION_GACT, TC_ACTION_MIRRED, TC_ACTION_SKBEDIT, TC_ACTION_POLICE };
struct tc_action {
	enum tc_action_kind kind;
	enum tc_control control; /* POLICE: of what is over the rate */
	bool has_mark;
	uint32_t mark, mark_mask;
	struct str text; /* canonical: "mirred egress redirect dev eth1" */
	struct loc at;
};

enum tc_filter_kind { TC_FILTER_U32, TC_FILTER_BPF };
struct tc_handle {
	bool is_given;
	uint32_t table, hash, node;
};
struct tc_filter {
	enum tc_filter_kind kind;
	struct loc at;
	bool is_tail, is_bare; /* only what follows the device; only a program */
	struct str dev;	       /* empty: any */
	enum hook hook;
	struct str parent;     /* as printed: "ingress", "egress", "parent 1:" */
	uint16_t protocol;
	uint32_t prio;	       /* as given or as tc gives it; */
	bool has_prio;
	struct tc_handle handle;
	VEC(struct tcu32_key) keys;
	bool has_mark;
	uint32_t mark, mark_mask;
	struct tc_handle ht, link;
	uint32_t divisor;      /* makes a table */
	bool has_order;
	struct { bool is_given, has_at, eats; uint16_t mask; uint32_t at, shift, plus; } offset;
	struct { bool is_given; uint32_t mask; int32_t at; } hashkey;
	bool has_class;
	uint32_t classid;
	struct str indev;
	bool skips_sw;
	struct bytes_spec *code; /* BPF */
	bool is_direct;
	VEC(struct tc_action) actions;
};
struct tc_file {
	struct arena *a;
	VEC(struct tc_filter *) filters; /* in the order of the text, without those that were deleted */
	VEC(struct str) qdiscs;		 /* canonical lines */
};

/* ---------- scan.c ---------- */
struct tc_lines tc_scan(struct arena *a, struct diags *d, uint32_t source);
/* ---------- parse.c ---------- */
struct tc_file *tc_parse(struct ruleset *rs, struct diags *d, uint32_t source);
/* ---------- print.c ---------- */
struct str tc_print_file(struct arena *a, const struct tc_file *f);
struct str tc_print_rule(struct arena *a, const struct tc_filter *f); /* from its protocol on */
const char *tc_protocol_name(uint16_t p); /* NULL: has none */
/* ---------- lower.c ---------- */
void tc_lower(struct ruleset *rs, struct diags *d, const struct tc_file *f);

#endif
