/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What files of check*.c ask of each other. */
#ifndef WEIR_LANG_NFT_CHECK_H
#define WEIR_LANG_NFT_CHECK_H

#include "lang/nft/tree.h"

/* check_set.c: errors for elements that overlap; n_dims: of their keys. */
void nft_check_overlap(struct arena *a, struct diags *d, const struct nft_set *s, uint32_t n_dims);

/* check_place.c: is a chain of this kind possible there, and may a statement stand in it? */
void nft_check_chain(struct diags *d, const struct nft_table *t, const struct nft_chain *c);
void nft_check_place(struct diags *d, const struct nft_chain *c, const struct nft_stmt *s);

#endif
