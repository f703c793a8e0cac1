/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists of addresses as they are published: what a set of addresses or networks is filled from.
 *
 *     # anything behind # or ; is a comment
 *     192.0.2.1
 *     198.51.100.0/24 ; SBL123
 *     203.0.113.7-203.0.113.12
 *     2001:db8::/32 nomatch
 *     192.0.2.9 timeout 300 comment "seen twice"
 *
 * A line is one address, prefix or range; behind it the options that ipset knows. A range becomes the prefixes that make
 * it up, in a set of addresses its addresses. Names are never looked up.
 *
 * list.c reads lines, value.c what stands in them, merge.c finds what is said twice.
 */
#ifndef WEIR_LANG_LIST_LIST_H
#define WEIR_LANG_LIST_LIST_H

#include "lang/lang.h"

enum { LIST_MAX_ERRORS = 100, LIST_LINE_MAX = 1000000 /* addresses that one line may stand for */, LIST_MAX = 1 << 24,
       LIST_SET_MIN = 65536 /* elements that a set may have which a list declares; else twice as many as it has, rounded up */ };

/* See lang_list_declare(), lang_list_read() and lang_list_merge(). */
bool list_can_fill(const struct set *s);
void list_declare(struct set *s, enum family family);
enum family list_family(const struct source *src);
void list_read(struct arena *a, struct diags *d, uint32_t source, struct set *s, const struct lang_list_options *o,
	       struct lang_list *out);
void list_merge(struct diags *d, struct set *s, bool is_strict, struct lang_list *out);
void list_size(struct arena *a, struct set *s);

/* ---------- inside ---------- */

struct list_reader {
	struct arena *a;
	struct diags *d;
	struct set *s;
	const struct lang_list_options *o;
	struct lang_list *out;
	const char *text; /* of the source */
	uint32_t source;
	unsigned n_errors;
	bool is_full;
};

/* The addresses of a line. */
struct list_span {
	u128 lo, hi;
	uint8_t plen; /* of a prefix or an address; is_range: has none */
	bool is_range, has_host_bits;
	enum family family;
};

struct loc list_place(const struct list_reader *r, const char *from, const char *to);
/* An error of this list; beyond LIST_MAX_ERRORS it is only counted, and NULL. */
struct diag *list_error(struct list_reader *r, struct loc at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Reads an address, prefix or range from p on; *end is behind it. false after an error. */
bool list_value(struct list_reader *r, const char *p, const char *line_end, struct list_span *out, const char **end);

#endif
