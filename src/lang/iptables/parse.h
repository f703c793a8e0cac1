/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that is being read: what parse.c (lines, tables, chains) and command.c (commands) share. */
#ifndef WEIR_LANG_IPTABLES_PARSE_H
#define WEIR_LANG_IPTABLES_PARSE_H

#include "lang/iptables/tree.h"

struct ipt_parse {
	struct arena *a;
	struct diags *d;
	struct ipt_file *file;
	uint32_t source;
	struct str text;
	struct ipt_table *table; /* open; NULL between tables */
	bool skips_table;	 /* the open table is unknown: its lines are not read */
	bool has_crlf;
	struct loc line;	 /* at hand, without line end and blanks around */
};

/* The line at hand is a command in an open table: carries it out. */
void ipt_command(struct ipt_parse *p);

struct ipt_chain *ipt_parse_add_chain(struct ipt_parse *p, struct str name, struct loc at, enum hook hook);
/* Could this be the name of a user chain? false: reported. */
bool ipt_parse_chain_name(struct ipt_parse *p, struct str name, struct loc at);
/* A chain that a command names; built-in ones are there even if no line declares them. NULL: reported. */
struct ipt_chain *ipt_parse_chain(struct ipt_parse *p, struct str name, struct loc at);
bool ipt_parse_policy(struct ipt_parse *p, struct ipt_chain *c, struct str policy, struct loc at);
/* "[packets:bytes]", a piece of the source. false: reported. */
bool ipt_parse_counts(struct ipt_parse *p, struct str s, uint64_t *packets, uint64_t *bytes);

#endif
