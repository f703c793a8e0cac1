/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What commands do to a tree that is there, and what they say when something is not. All complain by themselves. */
#ifndef WEIR_LANG_NFT_CHANGE_H
#define WEIR_LANG_NFT_CHANGE_H

#include "lang/nft/parse.h"

enum nft_change_by { NFT_BY_NOTHING, NFT_BY_HANDLE, NFT_BY_POSITION, NFT_BY_INDEX };
struct nft_change_place {
	enum nft_change_by by;
	uint64_t number;
	struct loc at;
};
enum nft_change_what { NFT_CHANGE_CHAIN, NFT_CHANGE_SET, NFT_CHANGE_FLOWTABLE, NFT_CHANGE_OBJECT /* + enum nft_stmt_object */ };

/* Always false. */
bool nft_change_no_table(struct nft_parse *p, enum nft_family fam, struct str name, struct loc at);
bool nft_change_no_chain(struct nft_parse *p, struct str name, struct loc at);
bool nft_change_no_set(struct nft_parse *p, struct str name, struct loc at);
bool nft_change_no_command(struct nft_parse *p);

/* In p->chain. */
bool nft_change_add(struct nft_parse *p, struct nft_rule *r, const struct nft_change_place *place, bool in_front);
bool nft_change_replace(struct nft_parse *p, struct nft_rule *r, const struct nft_change_place *place);
bool nft_change_delete_rule(struct nft_parse *p, const struct nft_change_place *place);
bool nft_change_rename(struct nft_parse *p, struct str name, struct loc at);

bool nft_change_delete_table(struct nft_parse *p, enum nft_family fam, struct str name); /* false: there is none */
bool nft_change_delete_table_handle(struct nft_parse *p, enum nft_family fam, uint64_t handle, struct loc at);
bool nft_change_delete(struct nft_parse *p, enum nft_change_what what, struct str name); /* of p->table; false: there is none */
void nft_change_flush(struct nft_parse *p, bool one_family, enum nft_family fam);

/* Takes the elements of `gone` out of s. Its elements are found through an index, which is forgotten when others change s. */
bool nft_change_delete_elems(struct nft_parse *p, struct nft_set *s, const struct nft_set *gone, bool may_lack);
void nft_change_forget(struct nft_parse *p, const struct nft_set *s);
void nft_change_finish(struct nft_parse *p); /* closes the gaps of elements that went */

#endif
