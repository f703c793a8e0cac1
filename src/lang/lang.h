/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The languages that weir reads, and the one door to them. Which language a text is in is told by the text itself
 * (and, for IPv4 against IPv6 files, by addresses, protocols and the file's name); --lang overrides.
 */
#ifndef WEIR_LANG_LANG_H
#define WEIR_LANG_LANG_H

#include "policy/policy.h"

enum lang { LANG_AUTO, LANG_IPTABLES, LANG_IP6TABLES, LANG_IPSET, LANG_NFT, LANG_IPFW, LANG_PF, LANG_TC, LANG_COUNT };

enum lang lang_by_name(struct str name); /* LANG_COUNT if there is none */
const char *lang_name(enum lang l);
enum lang lang_detect(const struct source *src);
/* Is this a table that the language always has, though a text may not name it? */
bool lang_has_table(enum lang l, struct str name);

/*
 * One text read: its language's own tree (opaque outside its folder), for printing; its rules are added to rs.
 * Several texts make one ruleset. Errors go to d; then rs must not be used for anything but more reading.
 */
struct lang_file {
	enum lang lang;
	uint32_t source;
	const void *tree;
};
void lang_read(struct ruleset *rs, struct diags *d, uint32_t source, enum lang l, struct lang_file *out);
/* Canonical text of what was read, in its own language; with_counts writes [packets:bytes]. */
struct str lang_print(struct arena *a, const struct lang_file *f, bool with_counts);

#endif
