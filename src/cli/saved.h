/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules in a folder, as `weir save DIR` writes and `weir load DIR` reads them: the files that were loaded, and beside
 * them weir.options, one word a line, with the options that shape what the files mean.
 */
#ifndef WEIR_CLI_SAVED_H
#define WEIR_CLI_SAVED_H

#include "cli/cli.h"
#include "kernel/info.h"

struct saved_args {
	char **path;
	size_t n;
};

/* The verb's arguments, folders replaced by their files in the order of their names; obeys their weir.options. */
int saved_expand(struct cli *c, struct saved_args *out);
/* The options given that shape the rules, as the words of weir.options. */
struct str saved_options(struct cli *c);
/* Writes the files of info into a folder. */
int saved_write(struct cli *c, const struct info *info, const char *dir);

#endif
