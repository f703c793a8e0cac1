/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Variables: `define name = value`, `redefine`, `undefine`, and -D. All of them are found before anything is read; each is
 * good from where it stands to the end of its block, or to the next one that takes its place.
 *
 *     define dns = { 192.0.2.53, 192.0.2.54 }     ip daddr $dns   ->   ip daddr { 192.0.2.53, 192.0.2.54 }
 */
#ifndef WEIR_LANG_NFT_SYMBOL_H
#define WEIR_LANG_NFT_SYMBOL_H

#include "base/strmap.h"
#include "lang/nft/scan.h"

struct nft_symbol {
	const struct nft_token *name;
	const struct nft_token *value, *value_end; /* NULL: undefined from here on */
	const struct nft_token *until;		   /* the end of its block */
	struct nft_symbol *before;		   /* an earlier one of that name, or NULL */
};
struct nft_symbols {
	struct strmap last; /* by name: the last one in the file */
};

/* All defines of these tokens; false: some are wrong. */
bool nft_symbols_read(struct arena *a, struct diags *d, struct nft_symbols *s, const struct nft_tokens *tok);
/* What a name means at a place; NULL: nothing. later: the next one behind that place, if there is one. */
const struct nft_symbol *nft_symbol_find(const struct nft_symbols *s, struct str name, const struct nft_token *at,
					 const struct nft_symbol **later);
/* The end of a value that begins here: a line end or ";" outside of braces, the "}" of the block around it, or END. */
const struct nft_token *nft_symbol_value_end(const struct nft_token *t);
const char *nft_symbol_nearest(struct arena *a, const struct nft_symbols *s, struct str name, const struct nft_token *at);

#endif
