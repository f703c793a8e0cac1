/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The tables of the nft front end, and who is called what in a file. See tree.h. */
#include "lang/nft/tree.h"

const struct nft_type_row nft_type_table[NFT_TYPE_COUNT] = {
	[NFT_TYPE_NONE] = { "invalid", 0, NFT_KIND_NUMBER },
#define X(id, name, bits, kind) [NFT_TYPE_##id] = { name, bits, NFT_KIND_##kind },
#include "lang/nft/type.def"
#undef X
};

const struct nft_select_row nft_select_table[NFT_SEL_COUNT] = {
	[NFT_SEL_NONE] = { .word = "" },
#define X(id, word, name, type, source, base, at_bit, bits, needs, proto, kind)                                                 \
	[NFT_SEL_##id] = { word,   name, NFT_TYPE_##type,   NFT_##source, PAYLOAD_##base,                                        \
			   at_bit, bits, NFT_NEEDS_##needs, proto,	  kind },
#include "lang/nft/select.def"
#undef X
};

const char *nft_family_name(enum nft_family f)
{
	static const char *const names[NFT_FAMILY_COUNT] = { "ip", "ip6", "inet", "netdev", "arp", "bridge" };

	return names[f];
}

struct nft_table *nft_table_find(const struct nft_file *f, enum nft_family fam, struct str name)
{
	for (size_t i = 0; i < f->tables.n; i++)
		if (f->tables.v[i]->family == fam && str_eq(f->tables.v[i]->name, name))
			return f->tables.v[i];
	return NULL;
}

struct nft_chain *nft_chain_find(const struct nft_table *t, struct str name)
{
	return strmap_get(&t->chain_by_name, name);
}

struct nft_set *nft_set_find(const struct nft_table *t, struct str name)
{
	return strmap_get(&t->set_by_name, name);
}

struct nft_object *nft_object_find(const struct nft_table *t, enum nft_stmt_object kind, struct str name)
{
	return strmap_get(&t->object_by_name[kind], name);
}
