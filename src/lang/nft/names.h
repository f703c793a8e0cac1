/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names that stand for numbers: those of names.def, and those of the system's own files (/etc/services, /etc/protocols,
 * /etc/passwd, /etc/group, /etc/iproute2, connlabel.conf), each read when the first name of its kind is looked for. Where the
 * system has no such file, a list of our own serves for services and protocols. No name is asked of a network.
 */
#ifndef WEIR_LANG_NFT_NAMES_H
#define WEIR_LANG_NFT_NAMES_H

#include "lang/nft/tree.h"

enum nft_names_file { NFT_NAMES_SERVICES, NFT_NAMES_PROTOCOLS, NFT_NAMES_USERS, NFT_NAMES_GROUPS, NFT_NAMES_MARKS, NFT_NAMES_REALMS,
		      NFT_NAMES_DEVGROUPS, NFT_NAMES_LABELS, NFT_NAMES_FILES };
struct nft_names {
	struct arena *a;
	bool is_read[NFT_NAMES_FILES];
	struct strmap of_file[NFT_NAMES_FILES]; /* to struct nft_name_value */
	struct strmap fixed[NFT_TYPE_COUNT];
	bool has_fixed;
};
struct nft_name_value {
	uint64_t value;
};

/* The number that a name stands for in a type. false: none. */
bool nft_name_find(struct nft_names *n, enum nft_type type, struct str name, uint64_t *value);
/* A name of the type near to what was written, to suggest; NULL. */
const char *nft_name_nearest(struct nft_names *n, enum nft_type type, struct str name);
/* Does the type have names? */
bool nft_name_has(enum nft_type type);
/* The name to print for a number, of names.def; NULL: print the number. Flags: of one bit. */
const char *nft_name_of(enum nft_type type, uint64_t value);

#endif
