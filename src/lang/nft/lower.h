/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside of lowering, from the tree of an nft file to the model. Only lower*.c include this.
 *
 *     lower.c        tables, chains, rules and their twins
 *     lower_key.c    left sides: what of the packet is asked, under which mask, and what must hold before
 *     lower_match.c  comparisons: values, and a key with them, to tests
 *     lower_set.c    sets and maps
 *     lower_stmt.c   statements that do something; lower_nat.c those that translate
 *
 * A rule of a table for several families is lowered once for each. Where a twin's family contradicts what is asked the rule
 * ends at that place (struct nft_lower.is_over): what stands before still happens.
 */
#ifndef WEIR_LANG_NFT_LOWER_H
#define WEIR_LANG_NFT_LOWER_H

#include "lang/nft/tree.h"

struct nft_lower_shared; /* lower_set.c: what sets and maps have become */

struct nft_lower {
	struct arena *a;
	struct diags *d;
	struct ruleset *rs;
	struct nft_lower_shared *shared;
	const struct nft_table *table;
	const struct nft_chain *chain;
	bool is_last; /* no statement of the rule follows */
	struct str table_name; /* as the model has it: "inet filter" */
	enum family family;    /* of the twin at hand */
	bool is_over;	       /* the rest of the rule is never reached */
	struct valset protos;  /* n > 0: the transport protocol is one of these, as far as asked */
	VEC(struct step) steps;
	VEC(struct nft_lower_spec { const void *stmt; struct state_spec *spec; }) specs; /* of the rule's twins */
};

/* ---------- lower_key.c ---------- */

enum nft_lower_key_kind { NFT_LOWER_KEY, NFT_LOWER_CONST, NFT_LOWER_UNKNOWN };
/* How a value as written becomes one of the field: as it is, or by the name of what it is. */
enum nft_lower_code { NFT_LOWER_PLAIN, NFT_LOWER_CT_STATE, NFT_LOWER_ADDR_TYPE };

/*
 * A left side. A value v as written stands for ((field & key.mask) ^ flip) >> up == v; the value has `bits` bits. CONST: it is `constant` for every packet of this family.
 */
struct nft_lower_key {
	enum nft_lower_key_kind kind;
	struct map_key key;
	unsigned up;
	unsigned bits;
	u128 flip;
	enum nft_lower_code code;
	u128 constant;
	bool is_absent_zero; /* what is absent reads as 0, or the empty name */
	const char *why;     /* UNKNOWN */
	const char *what;
	struct loc at;
};

/* What must hold for it to be there is added to the rule's steps. False: it never is, and the rule is over. */
bool nft_lower_key(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_key *out);
/* The transport protocol must be this one. */
void nft_lower_needs_proto(struct nft_lower *l, uint8_t proto, struct loc at);
struct test *nft_lower_test(struct nft_lower *l, enum test_kind kind, struct loc at, const char *what);
/* The field is there and one of these. */
void nft_lower_field(struct nft_lower *l, enum field f, struct valset in, struct loc at, const char *what);
void nft_lower_never(struct nft_lower *l, struct loc at, const char *what);
void nft_lower_unknown(struct nft_lower *l, struct loc at, const char *what, const char *why);
struct str nft_lower_text(struct nft_lower *l, const struct nft_expr *e);

/* ---------- lower_match.c ---------- */

struct nft_lower_values {
	VEC(struct valset_span) v;
};
u128 nft_lower_mask_bits(unsigned bits); /* the lowest bits set */
bool nft_lower_number(const struct nft_expr *e, u128 *v); /* a constant: numbers, lists of flags, sums of them */
/* The spans that an element's part, or a right side, stands for, in values as written. False: it is no constant. */
bool nft_lower_values(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_values *out);
bool nft_lower_has(const struct nft_lower_values *v, u128 x);
/* Values as written, in the field's own. False: ranges of what was calculated (nft_lower_why_ranges). */
bool nft_lower_own(struct nft_lower *l, const struct nft_lower_key *k, const struct nft_lower_values *v, struct nft_lower_values *out);
extern const char nft_lower_why_ranges[];
/* A test whether the key, a field or bits of a header, is one of these values of its own. */
void nft_lower_in(struct nft_lower *l, const struct nft_lower_key *k, struct valset in, bool negated);
/* The first prefix of the span lo to hi in numbers of `bits` bits: its length, *first; *lo is what follows (0: it wrapped). */
unsigned nft_lower_prefix(u128 *lo, u128 hi, unsigned bits, u128 *first);
void nft_lower_match(struct nft_lower *l, const struct nft_stmt *s);

/* ---------- lower_set.c ---------- */

struct nft_lower_shared *nft_lower_shared_create(struct arena *a);
/* The state of a limit or quota that has a name: one for all rules that name it. NULL in *slot: not made yet. */
struct state_spec **nft_lower_named_state(struct nft_lower *l, const char *kind, struct str name);
void nft_lower_set(struct nft_lower *l, const struct nft_set *s); /* a named set, once for all families */
/* One of the keys is in a set, named or not. */
void nft_lower_in_set(struct nft_lower *l, struct nft_lower_key *k, unsigned n, const struct nft_set *s, struct loc at, bool negated);
struct set_use *nft_lower_set_use(struct nft_lower *l, const struct nft_lower_key *k, unsigned n, const struct nft_set *s, struct loc at);
/* The parts of a concatenation, or the one. 0: the rule is over. */
unsigned nft_lower_keys(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_key *out);

/* What an entry's data does: fills *out, an effect or a verdict. */
typedef void nft_lower_outcome(struct nft_lower *l, const struct nft_expr *data, const void *arg, struct step *out);
void nft_lower_map(struct nft_lower *l, const struct nft_expr *map, nft_lower_outcome *outcome, const void *arg, const void *kind);
struct str nft_lower_name(struct nft_lower *l, struct str name); /* "inet/filter/NAME" */

/* ---------- lower_stmt.c, lower_nat.c ---------- */

void nft_lower_stmt(struct nft_lower *l, const struct nft_stmt *s);
void nft_lower_verdict(struct nft_lower *l, const struct nft_expr *data, const void *arg, struct step *out);
struct effect *nft_lower_effect(struct nft_lower *l, enum effect_kind kind, const char *name, struct loc at);
void nft_lower_end(struct nft_lower *l, enum verdict v, struct loc at);
void nft_lower_nat(struct nft_lower *l, const struct nft_stmt *s);

#endif
