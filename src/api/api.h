/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The insides of weir.h's objects. Nothing outside of this folder includes it. */
#ifndef WEIR_API_API_H
#define WEIR_API_API_H

#include <stdatomic.h>

#include "api/weir.h"
#include "base/diag.h"
#include "classify/tables.h"
#include "datapath/native.h"
#include "flat/asks.h"

enum { API_HZ = 1000 }; /* jiffies a second, for limits */

struct weir_rules {
	atomic_uint users; /* the caller's, and each context */
	struct arena *a;
	const struct tables *tables;
	struct weir_rule *rule; /* rules by rule.id, then policies by chain.id */
	uint8_t *rejects;	/* by the same number */
	uint32_t n;
	uint32_t asks[TABLES_MAX_POINTS]; /* enum asks, of what cannot be told by the position itself */
	bool malformed_accept;
};

struct weir_report {
	struct arena *a;
	struct weir_diagnostic *diagnostic;
	size_t n;
	const char *text;
};

/* Takes the diagnostics over, as text in an arena of its own; NULL if there are none. */
struct weir_report *report_make(struct diags *d);
/* Who the rules are and what they ask: fills in all but tables and users. */
void identity_make(struct weir_rules *r, const struct ruleset *rs, const struct sources *s);
/* The way of packets through these hooks, and what its rules ask in each family. */
void identity_way(const struct weir_rules *r, unsigned hooks, struct native_way *way, uint32_t asks[FAMILY_COUNT]);
/* The facts of a packet, and the WEIR_FACT_* that were said. facts may be NULL: nothing was said. */
const struct native_facts *said_read(const struct weir_facts *facts, uint32_t *said);
/* What a packet lacks of what is asked: enum asks, which is enum weir_fact. */
uint32_t said_lack(uint32_t asks, uint32_t said, unsigned ct);
/* The words of a key that somebody else parsed (tables/key.h); returns which WEIR_FACT_* it says. */
uint32_t key_read(const struct weir_key *k, uint64_t *w);
void rules_drop(struct weir_rules *r); /* one user less */

#endif
