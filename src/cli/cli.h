/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every verb gets: its arguments and options, an arena for the run, and the one list of diagnostics.
 *
 * Nothing below this folder prints. A verb reads its rules with read_rules(), asks the library, prints the answer
 * on standard output and what went wrong on standard error, and returns its exit status.
 */
#ifndef WEIR_CLI_CLI_H
#define WEIR_CLI_CLI_H

#include "base/diag.h"
#include "cli/option.h"

enum cli_exit {
	CLI_YES,     /* done, or the answer is yes */
	CLI_ERRORS,  /* errors in the rules, or a test failed */
	CLI_USAGE,   /* the command line is wrong */
	CLI_REFUSED, /* the system refused: no such file, no permission, no such kernel feature */
	CLI_UNKNOWN, /* the verdict is unknown */
};

struct cli {
	struct arena *run; /* lives as long as the command */
	struct sources sources;
	struct diags diags;
	const struct verb *verb;
	struct option_values opt;
	char **arg; /* what is not an option, in order */
	size_t n_args;
	bool color_out; /* standard output may be coloured */
	bool color_err;
};

struct verb {
	const char *name, *args;
	int least, most; /* arguments; most -1: any number */
	uint64_t options;
	const char *line, *text;
	int (*run)(struct cli *c);
};
extern const struct verb verb_table[];
extern const size_t verb_count;

#define X(name, args, least, most, options, line, text) int name##_verb(struct cli *c);
#include "cli/verb.def"
#undef X

/* "weir: " text, on standard error; returns status, so that a verb can end with it. */
int cli_fail(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with a pointer to `weir help VERB`; returns CLI_USAGE. */
int cli_usage(const struct cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Names the verb that was probably meant; returns CLI_USAGE. */
int cli_unknown_verb(struct arena *a, const char *name);

/* The commands of `weir set`, one after the other; NULL behind the last. */
const char *set_command(size_t i);

void help_overview(void);
void help_of_verb(const struct verb *v);
void help_version(void);

#endif
