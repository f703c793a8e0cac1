/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of the nft parser share: where they are in the tokens, the names that were defined, and how they complain.
 *
 * Tokens are read one after the other. `$name` is replaced where it is met: what stands behind the define is read in its place,
 * by whatever the place expects, so that places in errors are those of the define. Which define is meant is told by the position
 * of the `$name` (symbol.h), so rules may be read later than the declarations around them: of a table's block, sets, objects and
 * the heads of chains are read first, then the rules, whose types depend on sets.
 *
 * After an error in its syntax a statement is given up (false, NULL), and reading goes on behind it. Values that are wrong are
 * complained about, and reading goes on with something in their place: the whole is not used then (file.lacks_rules).
 */
#ifndef WEIR_LANG_NFT_PARSE_H
#define WEIR_LANG_NFT_PARSE_H

#include "lang/nft/names.h"
#include "lang/nft/scan.h"
#include "lang/nft/symbol.h"

/* Where `$name` was met, and where reading goes on behind its value. */
struct nft_frame {
	const struct nft_token *t, *end;
	const struct nft_frame *below;
};
/* A place to come back to. */
struct nft_mark {
	const struct nft_token *t, *end;
	const struct nft_frame *frame;
	bool is_poisoned;
};

struct nft_jump {
	struct nft_table *table;
	struct str chain;
	struct loc at;
	bool is_late; /* its command is over */
};

struct nft_late {
	struct nft_set *set;
	struct nft_table *table;
	struct nft_mark at;
};

struct nft_parse {
	struct arena *a;
	struct diags *d;
	struct nft_file *f;
	const struct nft_token *t, *end; /* next token, end of the piece */
	const struct nft_frame *frame;	 /* NULL: outside of any variable */
	const struct nft_token *whole_end;
	bool is_poisoned;		 /* a variable that means nothing stands in front of t */
	struct nft_symbols symbols;
	struct nft_names names;
	struct strmap words;		 /* of select.def: to the first row + 1, as a number */
	const char *what[NFT_SEL_COUNT]; /* "ip saddr", once it was needed */
	struct strmap complaints;	 /* places that have an error */
	struct nft_table *table;
	struct nft_chain *chain;
	bool tells_family;		 /* the rule has something that only one of IPv4 and IPv6 has */
	unsigned depth;			 /* of parentheses and braces in an expression */
	uint64_t n_expanded;
	const struct nft_set *indexed;	 /* the set whose elements are in index, by their keys */
	struct strmap index;
	bool has_gaps;			 /* elements without a key are to be taken out */
	VEC(struct nft_late) late;	 /* sets whose elements are not read yet */
	VEC(struct nft_jump) jumps;	 /* to chains that are not there yet */
};
enum { NFT_DEPTH = 32 };

/* ---------- tokens (token.c) ---------- */
const struct nft_token *nft_peek(struct nft_parse *p);
const struct nft_token *nft_peek2(struct nft_parse *p); /* the one behind it */
const struct nft_token *nft_next(struct nft_parse *p);	/* peek, and step over it */
bool nft_is(struct nft_parse *p, unsigned kind);
bool nft_is_word(struct nft_parse *p, const char *word);
bool nft_take(struct nft_parse *p, unsigned kind);	 /* steps over it if it is there */
bool nft_take_word(struct nft_parse *p, const char *word);
bool nft_need(struct nft_parse *p, unsigned kind);	 /* else complains */
bool nft_need_word(struct nft_parse *p, const char *word);
/* An identifier; what: "a chain's name". */
bool nft_need_name(struct nft_parse *p, const char *what, struct str *name, struct loc *at);
bool nft_need_quoted(struct nft_parse *p, const char *what, struct str *text); /* quoted, or one word */
bool nft_need_number(struct nft_parse *p, const char *what, uint64_t max, uint64_t *v);
bool nft_is_end(struct nft_parse *p); /* of a statement: line end, ';', '}', end */
void nft_skip_lines(struct nft_parse *p);
void nft_skip_block(struct nft_parse *p); /* behind the '}' that closes a block which is open */
unsigned nft_braces_open(const struct nft_token *from, const struct nft_token *to);
bool nft_begins_block(const struct nft_token *t, const struct nft_token *end); /* of a table: then a brace was not closed */
void nft_skip_rest(struct nft_parse *p, unsigned open); /* to the end of a statement that opened so many braces */
void nft_skip_rule(struct nft_parse *p, unsigned open); /* the same of a rule, whose braces may lack their end */
struct nft_mark nft_mark(const struct nft_parse *p);
void nft_back(struct nft_parse *p, struct nft_mark m);
const struct nft_token *nft_base(struct nft_parse *p); /* leaves all variables; where we are in the file */

/* ---------- errors ---------- */
/* NULL: this place was complained about already. */
struct diag *nft_error(struct nft_parse *p, struct loc at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "expected WHAT, found ..." at the next token. Always false. */
bool nft_expected(struct nft_parse *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void nft_hint(struct nft_parse *p, struct diag *g, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
struct loc nft_span(struct loc from, struct loc to);

/* ---------- expressions ---------- */

/* What a value is to be: a type, of so many bits. what: "tcp dport", for errors. */
struct nft_want {
	enum nft_type type;
	uint16_t bits;
	const char *what;
};
struct nft_expr *nft_expr_new(struct nft_parse *p, enum nft_expr_kind kind, struct loc at);
uint16_t nft_expr_bits(const struct nft_expr *e);
struct nft_want nft_want_of(struct nft_parse *p, const struct nft_expr *e);

/* select.c: NULL after an error. */
bool nft_select_is_next(struct nft_parse *p);
struct nft_expr *nft_select(struct nft_parse *p);

/* value.c: constants. One value, range or prefix; is_alone: no range, prefix or '.' may follow. */
struct nft_expr *nft_value(struct nft_parse *p, const struct nft_want *w);
struct nft_expr *nft_value_single(struct nft_parse *p, const struct nft_want *w);
struct nft_expr *nft_value_operand(struct nft_parse *p, const struct nft_want *w); /* of an operator: without operators */
bool nft_value_is_next(struct nft_parse *p);
bool nft_value_time(struct str s, uint64_t *ms); /* "1h30m" */

/* expr.c */
struct nft_expr *nft_expr(struct nft_parse *p); /* a concatenation of what a packet has, with masks; left side of a match */
struct nft_expr *nft_rhs(struct nft_parse *p, const struct nft_expr *left); /* what left is compared with */
/* What a statement takes: a constant of the type, something of the packet, or a map. */
struct nft_expr *nft_operand(struct nft_parse *p, const struct nft_want *w, size_t n_want);
struct nft_expr *nft_map(struct nft_parse *p, struct nft_expr *key, const struct nft_want *data, size_t n_data);
struct nft_expr *nft_setlit(struct nft_parse *p, const struct nft_want *key, size_t n_key, const struct nft_want *data, size_t n_data);
struct nft_expr *nft_key(struct nft_parse *p, const struct nft_want *w, size_t n); /* values, with '.' between them */
struct nft_expr *nft_flags(struct nft_parse *p, const struct nft_want *w, struct nft_expr *first); /* at a ',' */
bool nft_want_fits(const struct nft_want *have, const struct nft_want *want);
struct nft_expr *nft_verdict(struct nft_parse *p);
bool nft_verdict_is_next(struct nft_parse *p);

/* ---------- sets (set.c, elem.c) ---------- */
/* The elements between braces. data: of a map, else n_data 0. */
bool nft_elems(struct nft_parse *p, struct nft_set *s, const struct nft_want *key, const struct nft_want *data);
bool nft_elem_options(struct nft_parse *p, struct nft_elem *e);
bool nft_time(struct nft_parse *p, uint64_t *ms); /* 1h30m, or seconds */
const char *nft_object_name(enum nft_stmt_object kind); /* "counter", "ct helper" */
struct nft_expr *nft_setref(struct nft_parse *p); /* behind '@' */
void nft_late_elems(struct nft_parse *p); /* reads the elements of the sets whose blocks were read */
bool nft_set_body(struct nft_parse *p, struct nft_set *s); /* behind '{', to behind '}' */
void nft_set_key_of(struct nft_parse *p, struct nft_set *s, const struct nft_expr *key);
struct nft_set *nft_lit_for(struct nft_parse *p, const struct nft_expr *key, enum nft_stmt_object object);
bool nft_elems_for(struct nft_parse *p, struct nft_set *s);
bool nft_set_block(struct nft_parse *p, bool is_map, bool is_meter);
size_t nft_set_wants(struct nft_parse *p, const struct nft_set *s, struct nft_want *key); /* how many; at most NFT_MAX_KEYS */
size_t nft_set_data_wants(struct nft_parse *p, const struct nft_set *s, struct nft_want *data);
enum { NFT_MAX_KEYS = 16 };

/* ---------- statements ---------- */
struct nft_stmt *nft_stmt_new(struct nft_parse *p, enum nft_stmt_kind kind, struct loc at);
struct nft_stmt *nft_stmt(struct nft_parse *p);	      /* one of a rule */
struct nft_stmt *nft_stmt_stateful(struct nft_parse *p); /* counter, limit, quota, last, ct count; NULL: none, or an error */
bool nft_stmt_stateful_is_next(struct nft_parse *p);
struct nft_stmt *nft_stmt_named(struct nft_parse *p, enum nft_stmt_kind kind, enum nft_stmt_object object, struct loc at);
struct nft_expr *nft_object_map(struct nft_parse *p, struct nft_expr *key, enum nft_stmt_object object); /* behind `map` */
struct nft_expr *nft_operand_map(struct nft_parse *p, const struct nft_want *w, size_t n_data); /* an address; maps may have ports, too */
bool nft_stmt_other_is_next(struct nft_parse *p);
struct nft_stmt *nft_stmt_nat(struct nft_parse *p);
struct nft_stmt *nft_stmt_log(struct nft_parse *p);
struct nft_stmt *nft_stmt_reject(struct nft_parse *p);
struct nft_stmt *nft_stmt_other(struct nft_parse *p); /* dup, fwd, queue, synproxy, flow, xt, reset, notrack */
struct nft_stmt *nft_stmt_dynset(struct nft_parse *p);
struct nft_stmt *nft_stmt_match(struct nft_parse *p); /* and vmap, and `set` */
bool nft_stmt_limit_body(struct nft_parse *p, struct nft_stmt *s);
bool nft_stmt_quota_body(struct nft_parse *p, struct nft_stmt *s);
bool nft_stmt_counter_body(struct nft_parse *p, struct nft_stmt *s);
bool nft_stmt_synproxy_body(struct nft_parse *p, struct nft_stmt *s);
struct nft_rule *nft_rule(struct nft_parse *p); /* to its end; NULL: error, and the statement's rest was left out */

/* ---------- blocks and commands ---------- */
bool nft_chain_spec(struct nft_parse *p, struct nft_chain *c); /* type ... | policy ... | devices ... | flags | comment */
bool nft_chain_spec_is_next(struct nft_parse *p);
struct nft_chain *nft_chain_make(struct nft_parse *p, struct nft_table *t, struct str name, struct loc at);
struct nft_set *nft_set_make(struct nft_parse *p, struct nft_table *t, struct str name, struct loc at);
bool nft_priority(struct nft_parse *p, enum nft_family fam, enum hook hook, struct str *text, int *priority);
bool nft_devices(struct nft_parse *p, struct nft_chain *c, struct nft_flowtable *ft);
bool nft_hook(struct nft_parse *p, enum nft_family fam, enum hook *hook);
bool nft_define(struct nft_parse *p); /* define, redefine, undefine: skips them, symbol.c has read them; false: something else */
bool nft_object_is_next(struct nft_parse *p, enum nft_stmt_object *kind);
bool nft_object_block(struct nft_parse *p, enum nft_stmt_object kind); /* behind its kind's words */
bool nft_flowtable_block(struct nft_parse *p);
bool nft_chain_block(struct nft_parse *p, struct nft_chain *c); /* behind '{', to behind '}' */
bool nft_table_body(struct nft_parse *p, struct nft_table *t); /* behind '{', to behind '}' */
struct nft_table *nft_table_make(struct nft_parse *p, enum nft_family fam, struct str name, struct loc at);
void nft_command(struct nft_parse *p);
void nft_jumps_check(struct nft_parse *p, bool is_last);

#endif
