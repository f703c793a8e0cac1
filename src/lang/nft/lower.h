/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of lowering share: lower.c makes chains and rules, lower_field.c says which field or which bits a selector
 * is, lower_match.c makes tests, lower_map.c tuples and maps, lower_effect.c the rest of what rules do.
 *
 * A statement that nobody lowers becomes a test that nobody can decide, so that no verdict is ever guessed.
 */
#ifndef WEIR_LANG_NFT_LOWER_H
#define WEIR_LANG_NFT_LOWER_H

#include "lang/nft/tree.h"

struct nft_lower {
	struct arena *a;
	struct ruleset *rs;
	const struct nft_table *table;
	struct str table_name;	/* "inet filter" */
	enum family family;
	VEC(struct step) steps;
	uint64_t asked[4];	/* bit of each transport protocol that the rule has asked for */
	bool is_never;		/* the rule cannot match in this family, and nothing came before that counts */
};

/* What an expression looks at: a field under a mask, or bits; moved by `shift` from where its values are (dscp: 2). */
struct nft_source_of {
	enum field field;
	const struct payload_ref *payload; /* instead of field */
	u128 mask;	  /* of the field's or the bits' own numbers */
	unsigned shift;
	unsigned bits;	  /* of a value */
	bool is_name, is_state;
	bool is_constant; /* in this family it is always `constant` */
	u128 constant;
};

struct test *nft_lower_test(struct nft_lower *l, enum test_kind kind, struct loc at, const char *what);
void nft_lower_never(struct nft_lower *l, struct loc at);
void nft_lower_unknown(struct nft_lower *l, struct loc at, const char *what, const char *why);
/* The rule's tests on protocols that e needs come first. false: in this family there is no such thing (nft_lower_never was called). */
bool nft_lower_needs(struct nft_lower *l, const struct nft_expr *e);
/* false: nobody knows how; nothing was added. */
bool nft_lower_source(struct nft_lower *l, const struct nft_expr *e, struct nft_source_of *s);
/* The span of a constant; false: it is none. */
bool nft_lower_span(const struct nft_source_of *s, const struct nft_expr *e, struct valset_span *out);

void nft_lower_match(struct nft_lower *l, const struct nft_stmt *s);
/* A concatenation that is in a set. */
void nft_lower_tuple(struct nft_lower *l, const struct nft_stmt *s, const struct nft_set *set);
/* A map whose data are verdicts or, with effect not NULL, values that make an effect. false: nobody knows how. */
bool nft_lower_map(struct nft_lower *l, const struct nft_expr *e, bool (*outcome)(struct nft_lower *, const struct nft_expr *, struct step *));
bool nft_lower_verdict(struct nft_lower *l, const struct nft_expr *e, struct step *out);
void nft_lower_stmt(struct nft_lower *l, const struct nft_stmt *s);
const struct nft_set *nft_lower_set(const struct nft_expr *e);
bool nft_lower_is_fixed(const struct nft_lower *l, const struct nft_set *s); /* no rule changes it */

#endif
