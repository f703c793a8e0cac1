/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of reading one packet line: shared by notation.c (the line), notation_keys.c and notation_ext.c (its words). */
#ifndef WEIR_PACKET_NOTATION_STATE_H
#define WEIR_PACKET_NOTATION_STATE_H

#include "base/diag.h"
#include "packet/frame.h"
#include "packet/names.h"

struct notation {
	struct arena *a;
	struct diags *d; /* may be NULL */
	struct str text;
	struct loc at;
	size_t pos;	 /* next byte of text */
	bool ok;
	struct frame f;
	struct packet *out;
	struct str length_word; /* where len= and the like were said, for errors of the build */
	struct str ext_word, ip_opts_word; /* values of ext=, and of ihl= or ipopts=, which only one family has */
	int l4_word;	 /* the protocol whose name was said, or -1 */
	bool is_short;	 /* the protocol's name came before the addresses */
	int ihl;	 /* 0: not said */
	bool has_frag;
	bool is_raw, is_other; /* hex ...; not IP */
	struct str raw;
};

/* word: a piece of n->text. The result is for notation_hint(); it may be NULL. Always makes n->ok false. */
struct diag *notation_error(struct notation *n, struct str word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void notation_hint(struct notation *n, struct diag *g, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Values. Each reports and returns false when `word` is not one. */
bool notation_number(struct notation *n, struct str word, uint64_t max, uint64_t *out);
/* A number, or a name from t. row: NULL is allowed. */
bool notation_named(struct notation *n, const struct names_table *t, struct str word, uint64_t max, uint64_t *out);
bool notation_address(struct notation *n, struct str word, enum frame_net *net, u128 *out);
bool notation_hex(struct notation *n, struct str word, struct str *out);
/* Cuts the next piece before a comma outside parentheses off *list. False at the end. */
bool notation_item(struct str *list, struct str *item);

/* word is KEY=VALUE. Reports unknown keys. */
void notation_key(struct notation *n, struct str word, struct str key, struct str value);
/* A word alone that sets something (df, sackok). False: no such word. */
bool notation_flag_word(struct notation *n, struct str word);
void notation_ext(struct notation *n, struct str list); /* the value of ext= */
void notation_chunks(struct notation *n, struct str list); /* the value of chunks= */
/* Lists of options KIND[:HEX],... of TCP and IPv4, appended to *opts. */
void notation_options(struct notation *n, struct str list, const struct names_table *t, struct str *opts);
/* The key nearest to a misspelt word, or NULL. */
const char *notation_nearest(struct str word);

#endif
