/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `weir check`: all errors of all files in one run, and on demand what was read, printed back. */
#include <stdio.h>

#include "cli/read.h"
#include "cli/report.h"
#include "policy/shadow.h"

/* As they were written: what was lowered for several families counts once. */
static size_t count_rules(const struct ruleset *rs)
{
	size_t n = 0;

	for (size_t i = 0; i < rs->rules.n; i++)
		n += policy_rule_root(rs->rules.v[i]) == rs->rules.v[i];
	return n;
}

static size_t count_chains(const struct ruleset *rs)
{
	size_t n = 0;

	for (size_t i = 0; i < rs->chains.n; i++)
		n += policy_chain_root(rs->chains.v[i]) == rs->chains.v[i];
	return n;
}

static void print_json(struct cli *c, const struct rules *rules)
{
	json_t *j = json_object();

	json_object_set_new(j, "errors", json_integer(c->diags.n_errors));
	json_object_set_new(j, "warnings", json_integer(c->diags.n_warnings));
	json_object_set_new(j, "rules", json_integer((json_int_t)count_rules(rules->set)));
	json_object_set_new(j, "chains", json_integer((json_int_t)count_chains(rules->set)));
	json_object_set_new(j, "sets", json_integer((json_int_t)rules->set->sets.n));
	if (rules->lists.all.n) {
		json_t *lists = json_array();

		for (size_t i = 0; i < rules->lists.all.n; i++)
			json_array_append_new(lists, lists_json(c, &rules->lists.all.v[i]));
		json_object_set_new(j, "lists", lists);
	}
	json_object_set_new(j, "diagnostics", report_json(c));
	report_json_print(j);
}

static void print_count(size_t n, const char *noun, const char *tail)
{
	printf("%zu %s%s%s", n, noun, n == 1 ? "" : "s", tail);
}

static void print_summary(struct cli *c, const struct rules *rules)
{
	for (size_t i = 0; i < rules->lists.all.n && c->diags.n_errors == 0; i++)
		printf("set %.*s: %.*s\n", STR_ARG(rules->lists.all.v[i].set->name),
		       STR_ARG(lists_text(c->run, &rules->lists.all.v[i])));
	if (c->diags.n_errors == 0) {
		print_count(count_rules(rules->set), "rule", ", ");
		print_count(count_chains(rules->set), "chain", ", ");
		print_count(rules->set->sets.n, "set", ": ");
	}
	print_count(c->diags.n_errors, "error", ", ");
	print_count(c->diags.n_warnings, "warning", "\n");
}

static void print_back(struct cli *c, const struct rules *rules)
{
	struct str text;

	if (c->opt.given[OPTION_PRINT] || c->opt.given[OPTION_COUNTS])
		for (size_t i = 0; i < rules->n_files; i++) {
			text = lang_print(c->run, &rules->file[i], c->opt.given[OPTION_COUNTS]);
			fwrite(text.p, 1, text.n, stdout);
		}
	if (c->opt.given[OPTION_DUMP]) {
		text = policy_dump(c->run, rules->set);
		fwrite(text.p, 1, text.n, stdout);
	}
}

int check_verb(struct cli *c)
{
	struct rules rules;
	int status = read_rules(c, c->arg, c->n_args, &rules);

	if (status == CLI_REFUSED || status == CLI_USAGE)
		return status;
	if (c->diags.n_errors == 0)
		shadow_check(rules.set, &c->diags);
	if (status == CLI_YES && c->opt.given[OPTION_STRICT] && c->diags.n_warnings)
		status = CLI_ERRORS;
	if (c->opt.given[OPTION_JSON]) {
		print_json(c, &rules);
		return status;
	}
	report_print(c, REPORT_ALL);
	if (c->opt.given[OPTION_PRINT] || c->opt.given[OPTION_COUNTS] || c->opt.given[OPTION_DUMP]) {
		if (c->diags.n_errors == 0)
			print_back(c, &rules);
	} else {
		print_summary(c, &rules);
	}
	return status;
}
