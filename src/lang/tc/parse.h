/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the files that read tc commands: where they are in a line. */
#ifndef WEIR_LANG_TC_PARSE_H
#define WEIR_LANG_TC_PARSE_H

#include "lang/tc/tree.h"

struct tc_parse {
	struct arena *a;
	struct diags *d;
	struct tc_file *file;
	const struct tc_line *line;
	size_t i;		 /* the word that comes next */
	struct tc_filter *f;
};

bool tc_is(const struct tc_parse *p, const char *what); /* the next word is this */
bool tc_take(struct tc_parse *p, const char *what);	/* and goes on behind it */
const struct tc_word *tc_next(struct tc_parse *p, const char *expected); /* NULL after an error: the line ends here */
struct loc tc_here(const struct tc_parse *p);
/* Numbers as tc reads them: base 0 (0x, 0) or 16. false after an error that names `expected`. */
bool tc_number(struct tc_parse *p, int base, uint64_t max, const char *expected, uint64_t *v);
bool tc_signed(struct tc_parse *p, int32_t *v);
bool tc_handle(struct tc_parse *p, struct tc_handle *h); /* 800:0:1, 1:, 0x80000001 */

bool tc_match(struct tc_parse *p, struct tc_filter *f);	 /* u32.c: behind "match" */
bool tc_bytecode(struct tc_parse *p, const struct tc_word *w, struct bytes_spec **out); /* bytecode.c */
bool tc_listing(struct tc_parse *p, const struct tc_lines *l); /* bytecode.c: tcpdump -ddd; false: an error */
bool tc_action(struct tc_parse *p, bool is_police);	 /* action.c: behind "action" or "police" */

#endif
