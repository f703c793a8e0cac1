/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which files an `include` names. */
#ifndef WEIR_LANG_NFT_INCLUDE_H
#define WEIR_LANG_NFT_INCLUDE_H

#include "base/diag.h"

struct nft_include {
	struct loc at;
	VEC(uint32_t) source; /* opened, in the order of their names */
};

/*
 * path: absolute, from "./" or "../", or looked for in the directories that were named (none: /etc); *, ? and [] stand for
 * many files or none, but for those that begin with a dot. depth: of includes around this one. false after an error.
 */
bool nft_include_find(struct arena *a, struct diags *d, struct str path, unsigned depth, struct nft_include *out);

#endif
