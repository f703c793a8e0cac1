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
/* ---------- elements as ipset writes them: `192.0.2.0/24 timeout 300 nomatch` ---------- */

/*
 * Adds the elements in a text to s, whose type and options say how they are read; several may stand in a line, and # and ;
 * begin a comment. Errors go to d. How many a set may have is not looked at.
 */
void lang_elems_read(struct arena *a, struct diags *d, uint32_t source, struct set *s);
void lang_elem_print(struct buf *b, const struct set *s, const struct set_elem *e); /* without a line end */
void lang_set_print(struct buf *b, const struct set *s); /* "create NAME TYPE ...", as ipset save does */

/* ---------- lists of addresses: a set filled from a file of its own ---------- */

struct lang_list_options {
	bool is_declared_here; /* the set is what the list makes it: it may have timeouts and comments */
	bool only_family;      /* addresses of the other family are left out, instead of being errors */
	/*
	 * Where lines go instead of becoming elements, for lists so large that elements are too many bytes. A line with options
	 * other than nomatch cannot: then reading ends with needs_elements, and the caller begins again without take.
	 */
	void (*take)(void *arg, u128 lo, u128 hi, bool nomatch);
	void *take_arg;
	void (*progress)(void *arg, size_t bytes_done, size_t bytes); /* now and then; may be NULL */
	void *progress_arg;
};

/* What came of the lists of a set. Zeroed before the first. */
struct lang_list {
	uint64_t n_entries;    /* lines that hold something */
	uint64_t n_left_out;   /* of the other family */
	uint64_t n_duplicates; /* elements that were there already */
	uint64_t n_overlaps;   /* elements within others, which add nothing */
	uint64_t n_merged;     /* elements that are left */
	uint64_t n_bytes;      /* of text */
	unsigned n_warned;
	bool needs_elements;   /* see take */
};

/* Is it a set of addresses or of networks, and nothing else? */
bool lang_list_can_fill(const struct set *s);
/* The family of the first address in a list. */
enum family lang_list_family(const struct source *src);
/* Makes a new set one of networks. When it is filled, lang_list_size() says how many elements it may come to have. */
void lang_list_declare(struct set *s, enum family family);
void lang_list_size(struct arena *a, struct set *s);
/* Adds the elements of a list to s, which must be such a set; errors go to d. out is added to. */
void lang_list_read(struct arena *a, struct diags *d, uint32_t source, struct set *s, const struct lang_list_options *o,
		    struct lang_list *out);
/*
 * After all lists: elements that say nothing new go, halves of a prefix become one. With is_strict elements that overlap
 * are errors. What the set answers stays the same.
 */
void lang_list_merge(struct diags *d, struct set *s, bool is_strict, struct lang_list *out);

/* Canonical text of what was read, in its own language; with_counts writes [packets:bytes]. */
struct str lang_print(struct arena *a, const struct lang_file *f, bool with_counts);

#endif
