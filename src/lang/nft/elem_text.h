/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Elements of sets of nft types as texts of their own: what commands read and print. As lang_elems_read() and its like. */
#ifndef WEIR_LANG_NFT_ELEM_TEXT_H
#define WEIR_LANG_NFT_ELEM_TEXT_H

#include "policy/policy.h"

bool nft_elems_are(const struct set *s); /* is the set's type one of nft? */
void nft_elems_read(struct arena *a, struct diags *d, uint32_t source, struct set *s);
void nft_elem_print(struct buf *b, const struct set *s, const struct set_elem *e);
void nft_set_print(struct buf *b, const struct set *s);

#endif
