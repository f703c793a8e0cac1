/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * weir VERB [options] [arguments]. The verbs are rows of verb.def, one file each; this finds the verb, reads the
 * options that the verb knows, and runs it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"

#define O(id) (UINT64_C(1) << OPTION_##id)
const struct verb verb_table[] = {
#define X(name, args, least, most, options, line, text) \
	{ #name, args, least, most, (options) | O(COLOR), line, text, name##_verb },
#include "cli/verb.def"
#undef X
};
const size_t verb_count = sizeof verb_table / sizeof *verb_table;

static void complain(const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("weir: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

int cli_fail(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	return status;
}

int cli_usage(const struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	fprintf(stderr, "usage: weir %s %s\n'weir help %s' tells more\n", c->verb->name, c->verb->args, c->verb->name);
	return CLI_USAGE;
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < verb_count; i++)
		if (strcmp(verb_table[i].name, name) == 0)
			return &verb_table[i];
	return NULL;
}

int cli_unknown_verb(struct arena *a, const char *name)
{
	const char **names = arena_new(a, const char *, verb_count), *near;

	for (size_t i = 0; i < verb_count; i++)
		names[i] = verb_table[i].name;
	near = str_nearest(str_from(name), names, verb_count);
	if (near)
		return cli_fail(CLI_USAGE, "unknown verb '%s'; did you mean 'weir %s'?", name, near);
	return cli_fail(CLI_USAGE, "unknown verb '%s'; 'weir help' lists them", name);
}

static void choose_colors(struct cli *c)
{
	int when = option_choice(&c->opt, OPTION_COLOR);
	const char *off = getenv("NO_COLOR");

	c->color_out = when == 1 || (when <= 0 && !(off && *off) && isatty(STDOUT_FILENO));
	c->color_err = when == 1 || (when <= 0 && !(off && *off) && isatty(STDERR_FILENO));
}

static int run_verb(struct cli *c, char **argv, size_t argc)
{
	const char *why;

	c->arg = arena_new(c->run, char *, argc + 1);
	why = option_parse(c->run, c->verb->options, argv, &c->opt, c->arg, &c->n_args);
	if (c->opt.help) {
		help_of_verb(c->verb);
		return CLI_YES;
	}
	if (c->opt.version) {
		help_version();
		return CLI_YES;
	}
	if (why)
		return cli_usage(c, "%s", why);
	if (c->n_args < (size_t)c->verb->least)
		return cli_usage(c, "too few arguments");
	if (c->verb->most >= 0 && c->n_args > (size_t)c->verb->most)
		return cli_usage(c, "too many arguments: '%s'", c->arg[c->verb->most]);
	choose_colors(c);
	return c->verb->run(c);
}

static int run(struct cli *c, int argc, char **argv)
{
	if (argc < 2) {
		help_overview();
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		help_version();
		return CLI_YES;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help_overview();
		return CLI_YES;
	}
	c->verb = find_verb(argv[1]);
	if (!c->verb)
		return cli_unknown_verb(c->run, argv[1]);
	return run_verb(c, argv + 2, (size_t)argc - 2);
}

int main(int argc, char **argv)
{
	struct cli c = { .run = arena_create() };
	int status;

	c.sources.a = c.run;
	c.diags.a = c.run;
	c.diags.sources = &c.sources;
	status = run(&c, argc, argv);
	if (ferror(stdout) || fflush(stdout) != 0)
		status = cli_fail(CLI_REFUSED, "cannot write to standard output: %s", strerror(errno));
	arena_destroy(c.run);
	return status;
}
