/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `weir save`: the files that are active, as they were loaded. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cli/live.h"
#include "cli/report.h"
#include "cli/saved.h"
#include "cli/set.h"

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

/* dir: the folder that has the files now; NULL: their texts are told. */
static void print_json(struct cli *c, const struct active *active, const char *dir)
{
	json_t *j = json_object(), *files = json_array(), *options = json_array();
	struct str rest = active->info.options;

	for (size_t i = 0; i < active->info.files.n; i++) {
		json_t *f = json_object();

		json_object_set_new(f, "name", report_json_str(c->run, active->info.files.v[i].name));
		if (!dir)
			json_object_set_new(f, "text", report_json_str(c->run, active->info.files.v[i].text));
		json_array_append_new(files, f);
	}
	for (bool more = rest.n > 0; more;) {
		struct str one = str_cut(rest, '\n', &rest, &more);

		if (one.n)
			json_array_append_new(options, report_json_str(c->run, one));
	}
	if (dir)
		json_object_set_new(j, "folder", report_json_str(c->run, str_from(dir)));
	json_object_set_new(j, "files", files);
	json_object_set_new(j, "options", options);
	json_object_set_new(j, "on_trial", json_boolean(active->trial.is_there));
	report_json_print(j);
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
	set_tell_unsaved(c, &l.in);
	if (!c->n_args && c->opt.given[OPTION_JSON]) {
		print_json(c, &active, NULL);
		return CLI_YES;
	}
	if (!c->n_args)
		return print_files(c, &active.info);
	if (mkdir(c->arg[0], 0755) && errno != EEXIST)
		return cli_fail(CLI_REFUSED, "cannot make %s: %s", c->arg[0], strerror(errno));
	if (stat(c->arg[0], &st) || !S_ISDIR(st.st_mode))
		return cli_fail(CLI_REFUSED, "%s is no folder", c->arg[0]);
	status = saved_write(c, &active.info, c->arg[0]);
	if (!status && c->opt.given[OPTION_JSON]) {
		print_json(c, &active, c->arg[0]);
		return status;
	}
	if (!status)
		printf("saved %.*s; 'weir load %s' brings them back\n", STR_ARG(info_files_text(c->run, &active.info)),
		       c->arg[0]);
	if (!status && active.trial.is_there)
		fputs("weir: these rules are on trial and not confirmed yet\n", stderr);
	return status;
}
