/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of the nft printer share: print.c writes tables, chains and objects, print_set.c sets and elements,
 * print_stmt.c what rules do, print_expr.c what they look at, print_value.c numbers in the words of their type.
 */
#ifndef WEIR_LANG_NFT_PRINT_H
#define WEIR_LANG_NFT_PRINT_H

#include "lang/nft/tree.h"

/* Where text goes, and whether counters, quotas and the like show what they have counted. */
struct nft_print {
	struct buf b;
	bool with_counts;
};

/* print_value.c */
void nft_print_quoted(struct buf *b, struct str s);
void nft_print_time(struct buf *b, uint64_t ms); /* "1d2h3m4s5ms" */
void nft_print_number(struct buf *b, enum nft_type type, u128 v, bool with_names);
void nft_print_bits(struct buf *b, enum nft_type type, u128 v, const char *between); /* flags by name */

/* print_expr.c */
void nft_print_expr_to(struct nft_print *p, const struct nft_expr *e);
/* In an element or a mask, where a comma would start the next one: flags are joined by '|'. */
void nft_print_expr_joined(struct nft_print *p, const struct nft_expr *e);

/* print_set.c */
void nft_print_elem(struct nft_print *p, const struct nft_elem *e, bool is_in_rule);
void nft_print_elems(struct nft_print *p, const struct nft_set *s); /* { ... } on one line */
void nft_print_set(struct nft_print *p, const struct nft_set *s);   /* a named one: its block */

/* print_stmt.c */
void nft_print_stmt(struct nft_print *p, const struct nft_stmt *s);
void nft_print_stmts(struct nft_print *p, struct nft_stmt *const *s, uint32_t n); /* with blanks between */
void nft_print_limit(struct nft_print *p, const struct nft_stmt *s);	  /* what stands behind `limit` */
void nft_print_quota(struct nft_print *p, const struct nft_stmt *s);
void nft_print_synproxy(struct nft_print *p, const struct nft_stmt *s);

#endif
