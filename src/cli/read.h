/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way from files to a ruleset that every verb takes: open, tell the language, read, number, check as a whole.
 *
 *     struct rules rules;
 *     int status = read_rules(c, c->arg, c->n_args, &rules);
 *     if (status) { report_print(c, REPORT_ALL); return status; }
 */
#ifndef WEIR_CLI_READ_H
#define WEIR_CLI_READ_H

#include "cli/cli.h"
#include "cli/lists.h"
#include "eval/eval.h"
#include "lang/lang.h"

struct rules {
	struct ruleset *set;
	struct lang_file *file; /* one for each file that was named */
	size_t n_files;
	struct lists lists; /* of --set */
};

/*
 * Several files make one ruleset. Obeys --lang, --tables and --set. Errors of the rules are in c->diags and the status is
 * CLI_ERRORS; a file that cannot be read is told at once: CLI_REFUSED. Nothing else is printed.
 */
int read_rules(struct cli *c, char **path, size_t n, struct rules *out);
/* Adds the text of an open source to a ruleset; l may be LANG_AUTO. */
void read_source(struct ruleset *rs, struct diags *d, uint32_t source, enum lang l, struct lang_file *out);
/* --env, --hook, --ct, --malformed. *env is the storage for what --env says. */
int read_eval_options(struct cli *c, struct env *env, struct eval_options *out);
int read_ct_choice(int choice); /* of --ct; the enum ct_state, or -1 */

#endif
