/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tokens of an nft file and of all that it includes, in one array in the order in which they are read.
 *
 *     ip saddr 192.0.2.0/24 tcp dport { 22, "http" }   # comment
 *     WORD ip, WORD saddr, WORD 192.0.2.0, '/', NUMBER 24, WORD tcp, WORD dport, '{', NUMBER 22, ',', QUOTED http, '}', LINE
 *
 * What nft takes for one word is one here: names may have '.', '-' and '/' inside ("eth0.100", "mbytes/second"), addresses and
 * durations ("1h30m") are words. Which words are keywords depends on where they stand, and nobody here knows that. A backslash
 * at the end of a line joins it with the next one. `include` at the beginning of a statement is carried out here.
 */
#ifndef WEIR_LANG_NFT_SCAN_H
#define WEIR_LANG_NFT_SCAN_H

#include "base/diag.h"

/* Other tokens are their own character: '{', ','. */
enum nft_token_kind {
	NFT_TOK_END, /* of the whole */
	NFT_TOK_LINE = '\n',
	NFT_TOK_WORD = 128,
	NFT_TOK_NUMBER, /* digits, or 0x and hexadecimal digits */
	NFT_TOK_QUOTED, /* text: without its quotes */
	NFT_TOK_NE, NFT_TOK_EQ, NFT_TOK_LE, NFT_TOK_GE, NFT_TOK_LSHIFT, NFT_TOK_RSHIFT,
	NFT_TOK_JUNK,	/* no language has this here */
	NFT_TOK_POISON, /* stands for what could not be read and was complained about */
};

struct nft_token {
	uint8_t kind;
	bool has_star;	 /* WORD: eth*, or eth\* */
	uint32_t source; /* of sources */
	uint32_t off, len;
	uint32_t handle; /* LINE: "# handle 12" stands in front of it; else 0 */
	const char *p;	 /* the bytes, of QUOTED with the quotes */
};

struct nft_tokens {
	VEC(struct nft_token) all; /* the last one is END */
	bool lacks_some; /* an include could not be read */
};

/* Adds the tokens of a source, without an END. Errors (files that are not there, quotes that stay open) go to d. */
void nft_scan(struct arena *a, struct diags *d, uint32_t source, struct nft_tokens *out);
struct str nft_token_text(const struct nft_token *t);
struct loc nft_token_loc(const struct nft_token *t);

#endif
