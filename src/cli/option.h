/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options from a table (option.def): --name, --name=ARG, --name ARG, anywhere on the line; `--` ends them. A name
 * may be shortened as far as it stays the only one of its verb. Of an option given twice the last one holds, but for
 * --set, --include and --define, which add up. -I and -D are --include and --define, as nft has them.
 */
#ifndef WEIR_CLI_OPTION_H
#define WEIR_CLI_OPTION_H

#include "base/arena.h"

enum option {
#define X(id, name, arg, choices, help) OPTION_##id,
#include "cli/option.def"
#undef X
	OPTION_COUNT
};

struct option_row {
	const char *name, *arg, *choices, *help;
};
extern const struct option_row option_table[OPTION_COUNT];

struct option_values {
	bool given[OPTION_COUNT];
	const char *text[OPTION_COUNT]; /* of options with an argument */
	int choice[OPTION_COUNT];
	VEC(const char *) set, include, define; /* all that were given: they add up */
	bool help, version;
};

/*
 * Reads the command line of a verb that knows the options `known` (bits 1 << OPTION_*). The arguments that are not
 * options go to args (as long as argv), *n_args of them. Returns NULL, or what is wrong, made in a.
 */
const char *option_parse(struct arena *a, uint64_t known, char **argv, struct option_values *out, char **args,
			 size_t *n_args);
/* Place in the list of choices, or -1 if the option was not given. */
int option_choice(const struct option_values *v, enum option o);

#endif
