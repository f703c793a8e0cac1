/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `weir save`: the files that are active, as they were loaded. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/live.h"
#include "cli/saved.h"

static int print_files(struct cli *c, const struct info *info)
{
	if (info->files.n > 1)
		return cli_fail(CLI_REFUSED, "%zu files are loaded: name a folder that takes them", info->files.n);
	fwrite(info->files.v[0].text.p, 1, info->files.v[0].text.n, stdout);
	if (info->options.n) {
		fflush(stdout);
		fprintf(stderr, "weir: these rules were loaded with:\n%.*s", STR_ARG(info->options));
	}
	(void)c;
	return CLI_YES;
}

int save_verb(struct cli *c)
{
	struct active active;
	struct stat st;
	struct live l;
	int status = live_open(c, &l), err;

	if (!status)
		status = live_roll_back_expired(c, &l);
	if (status)
		return status;
	err = active_read(&l.in, &active, &l.why);
	if (err == -ENOENT)
		return cli_fail(CLI_REFUSED, "no rules are loaded");
	if (err)
		return live_refused(c, &l);
	if (!c->n_args)
		return print_files(c, &active.info);
	if (mkdir(c->arg[0], 0755) && errno != EEXIST)
		return cli_fail(CLI_REFUSED, "cannot make %s: %s", c->arg[0], strerror(errno));
	if (stat(c->arg[0], &st) || !S_ISDIR(st.st_mode))
		return cli_fail(CLI_REFUSED, "%s is no folder", c->arg[0]);
	status = saved_write(c, &active.info, c->arg[0]);
	if (!status)
		printf("saved %.*s; 'weir load %s' brings them back\n", STR_ARG(info_files_text(c->run, &active.info)),
		       c->arg[0]);
	if (!status && active.trial.is_there)
		fputs("weir: these rules are on trial and not confirmed yet\n", stderr);
	return status;
}
