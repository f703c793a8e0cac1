/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of addresses beside the rules: --set NAME=FILE fills a set that the rules or an ipset file name. */
#ifndef WEIR_CLI_LISTS_H
#define WEIR_CLI_LISTS_H

#include <jansson.h>

#include "cli/cli.h"
#include "lang/lang.h"
#include "sets/setmem.h"

/* What came of the lists of one set. */
struct lists_one {
	struct set *set;
	struct lang_list got;
	double seconds;
	bool is_declared_here;
	VEC(struct setmem_span) spans; /* in place of elements, if is_spans */
	bool is_spans;
};

struct lists_args {
	const char *const *v;
	size_t n;
	const char *dir;
};

struct lists {
	VEC(struct lists_one) all;
};

/*
 * Adds to rs what each of args, NAME=FILE, says; obeys --only-family. FILE is looked for in dir unless that is NULL. A set
 * that nothing declares becomes one of networks, of the family of the rules that ask it, else of the list's first
 * address. Returns CLI_YES (errors in the lists are in d), or CLI_USAGE or CLI_REFUSED, told already.
 */
int lists_read(struct cli *c, struct diags *d, struct ruleset *rs, const struct lists_args *args, struct lists *out);
/* Opens a file; CLI_YES or CLI_REFUSED, told already. */
int lists_open(struct cli *c, const char *path, uint32_t *source);
/* Reads a list into a set that it can fill, with progress on a terminal; errors go to d. */
void lists_read_source(struct cli *c, struct diags *d, uint32_t source, struct lists_one *one);
/* After the last list, of elements: merges, or with --strict finds overlaps. */
void lists_finish(struct cli *c, struct diags *d, struct lists_one *one);
/* "120430 entries, 118911 after merge, 3 duplicates, 0.05 s, 1711064 bytes" */
struct str lists_text(struct arena *a, const struct lists_one *one);
json_t *lists_json(struct cli *c, const struct lists_one *one);

#endif
