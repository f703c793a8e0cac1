/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `weir help`: what the tables of verbs, options and examples say, for people and for the shell's completion. */
#include <stdio.h>

#include "cli/cli.h"

#include "version.h"

#ifndef WEIR_VERSION
#define WEIR_VERSION "unknown"
#endif

enum { EXAMPLE_AS_ROOT = -1 }; /* changes the machine, so it is not run by the test of examples */

struct example {
	const char *verb, *args;
	int status;
	const char *shows;
};

static const struct example examples[] = {
#define X(verb, args, status, shows) { #verb, args, status, shows },
#include "cli/example.def"
#undef X
};

void help_version(void)
{
	printf("weir %s\n", WEIR_VERSION);
}

void help_overview(void)
{
	puts("weir: one compiler for every packet filter\n\nusage: weir VERB [options] [arguments]\n");
	for (size_t i = 0; i < verb_count; i++)
		printf("  %-9s %s\n", verb_table[i].name, verb_table[i].line);
	puts("\nSeveral files make one ruleset: weir check rules.v4 rules.v6 ipset.save\n"
	     "Exit status: 0 yes, 1 errors in the rules, 2 usage, 3 the system refused, 4 verdict unknown\n"
	     "'weir help VERB' tells about a verb; the manual is weir(8)");
}

static void print_option(const struct option_row *row)
{
	char left[64];

	if (row->choices || !row->arg || strlen(row->arg) > 12)
		snprintf(left, sizeof left, "--%s%s%s", row->name, row->arg ? " " : "", row->arg ? row->arg : "");
	else
		snprintf(left, sizeof left, "--%s %s", row->name, row->arg);
	printf("  %-20s %s\n", left, row->help);
	if (row->choices)
		printf("  %-20s   %s\n", "", row->choices);
}

void help_of_verb(const struct verb *v)
{
	bool any = false;

	printf("weir %s: %s\n\nusage: weir %s [options] %s\n\n%s\n\noptions:\n", v->name, v->line, v->name, v->args,
	       v->text);
	for (int i = 0; i < OPTION_COUNT; i++)
		if (v->options >> i & 1)
			print_option(&option_table[i]);
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const struct example *x = &examples[i];

		if (strcmp(x->verb, v->name) != 0)
			continue;
		printf("%s  # %s%s\n", any ? "" : "\nexamples:\n", x->shows, x->status ? "" : ":");
		if (x->status == EXAMPLE_AS_ROOT)
			puts("  # (as root):");
		else if (x->status)
			printf("  # (exit status %d):\n", x->status);
		printf("  $ weir %s\n", x->args);
		any = true;
	}
}

static void print_words(const char *choices)
{
	for (; *choices; choices++)
		putchar(*choices == '|' ? ' ' : *choices);
}

/* Words for the shell: the verbs, the options of each verb, the choices of each option. */
static void print_completion(void)
{
	puts("# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n"
	     "# bash completion for weir; made by: weir help --completion bash\n"
	     "_weir()\n{\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
	     "\tlocal verb=${COMP_WORDS[1]}\n"
	     "\tif [ \"$COMP_CWORD\" -eq 1 ] || [ \"$COMP_CWORD$verb\" = 2help ]; then");
	fputs("\t\twords=\"", stdout);
	for (size_t i = 0; i < verb_count; i++)
		printf("%s%s", i ? " " : "", verb_table[i].name);
	puts("\"\n\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n\t\treturn\n\tfi");
	fputs("\tif [ \"$COMP_CWORD$verb\" = 2set ]; then\n\t\twords=\"", stdout);
	for (size_t i = 0; set_command(i); i++)
		printf("%s%s", i ? " " : "", set_command(i));
	puts("\"\n\tfi\n\tcase $prev in");
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (!option_table[i].choices)
			continue;
		printf("\t--%s) words=\"", option_table[i].name);
		print_words(option_table[i].choices);
		puts("\" ;;");
	}
	puts("\tesac\n\tif [ -z \"$words\" ] && [[ $cur == -* ]]; then\n\t\tcase $verb in");
	for (size_t i = 0; i < verb_count; i++) {
		printf("\t\t%s) words=\"--help", verb_table[i].name);
		for (int o = 0; o < OPTION_COUNT; o++)
			if (verb_table[i].options >> o & 1)
				printf(" --%s", option_table[o].name);
		puts("\" ;;");
	}
	puts("\t\tesac\n\tfi\n"
	     "\tif [ -n \"$words\" ]; then\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	     "\telse\n"
	     "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	     "\tfi\n}\n"
	     "complete -o filenames -F _weir weir");
}

int help_verb(struct cli *c)
{
	if (c->opt.given[OPTION_COMPLETION]) {
		print_completion();
		return CLI_YES;
	}
	if (c->n_args == 0) {
		help_overview();
		return CLI_YES;
	}
	for (size_t i = 0; i < verb_count; i++)
		if (strcmp(verb_table[i].name, c->arg[0]) == 0) {
			help_of_verb(&verb_table[i]);
			return CLI_YES;
		}
	return cli_unknown_verb(c->run, c->arg[0]);
}
