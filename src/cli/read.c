/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From files to a ruleset. See read.h. */
#include "cli/read.h"

#include "policy/env.h"

/*
 * --lang means the rules: an ipset file beside them needs no option of its own, and cannot be taken for anything
 * else.
 */
static enum lang language_of(const struct source *src, enum lang asked)
{
	enum lang seen = lang_detect(src);

	if (asked == LANG_AUTO || (seen == LANG_IPSET && (asked == LANG_IPTABLES || asked == LANG_IP6TABLES)))
		return seen;
	return asked;
}

void read_source(struct ruleset *rs, struct diags *d, uint32_t source, enum lang l, struct lang_file *out)
{
	const struct source *src = source_get(d->sources, source);
	enum lang found = language_of(src, l);

	out->source = source;
	out->lang = found;
	if (found == LANG_AUTO || found >= LANG_COUNT) {
		struct diag *g = diag_error(d, (struct loc){ source, 0, 0 }, "cannot tell the language of this file");

		diag_hint(d, g, "say it: --lang %s; a list of addresses is given as --set NAME=FILE",
			  option_table[OPTION_LANG].choices);
		rs->lacks_rules = rs->lacks_sets = true;
		return;
	}
	lang_read(rs, d, source, found, out);
}

static bool is_listed(struct str list, struct str name)
{
	for (bool more = true; more;)
		if (str_eq(str_trim(str_cut(list, ',', &list, &more)), name))
			return true;
	return false;
}

static bool has_table(const struct ruleset *rs, struct str name)
{
	for (size_t i = 0; i < rs->chains.n; i++)
		if (str_eq(rs->chains.v[i]->table, name))
			return true;
	return false;
}

static bool knows_table(const struct rules *rules, struct str name)
{
	for (size_t i = 0; i < rules->n_files; i++)
		if (lang_has_table(rules->file[i].lang, name))
			return true;
	return has_table(rules->set, name);
}

static int refuse_table(struct cli *c, const struct ruleset *rs, struct str name)
{
	const char **names = arena_new(c->run, const char *, rs->chains.n + 1), *near;

	for (size_t i = 0; i < rs->chains.n; i++)
		names[i] = arena_cstr(c->run, rs->chains.v[i]->table);
	near = str_nearest(name, names, rs->chains.n);
	return cli_usage(c, "--tables: these rules have no table '%.*s'%s%s%s", STR_ARG(name), near ? "; did you mean '" : "",
			 near ? near : "", near ? "'?" : "");
}

/* A table that the language has may be missing in these rules, as long as another one is there. */
static int check_tables(struct cli *c, const struct rules *rules, struct str list)
{
	bool is_any = false;

	for (bool more = true; more;) {
		struct str one = str_trim(str_cut(list, ',', &list, &more));

		if (!knows_table(rules, one))
			return refuse_table(c, rules->set, one);
		is_any = is_any || has_table(rules->set, one);
	}
	return is_any ? CLI_YES : cli_usage(c, "--tables: these rules have none of the tables %s", c->opt.text[OPTION_TABLES]);
}

/* Tables that are not asked for stay in the ruleset, but hang at no hook. After errors tables may be missing. */
static int keep_tables(struct cli *c, const struct rules *rules)
{
	struct str list = str_from(c->opt.text[OPTION_TABLES]);
	int status = c->diags.n_errors ? CLI_YES : check_tables(c, rules, list);

	for (size_t i = 0; i < rules->set->chains.n && !status; i++)
		if (!is_listed(list, rules->set->chains.v[i]->table))
			rules->set->chains.v[i]->hook = HOOK_NONE;
	return status;
}

/* -I and -D are for the texts themselves. */
static int take_includes(struct cli *c)
{
	for (size_t i = 0; i < c->opt.include.n; i++)
		*vec_add(c->run, &c->sources.include_dirs) = str_from(c->opt.include.v[i]);
	for (size_t i = 0; i < c->opt.define.n; i++) {
		bool has_value;
		struct source_define d;

		d.name = str_cut(str_from(c->opt.define.v[i]), '=', &d.value, &has_value);
		if (!has_value || !d.name.n || !d.value.n)
			return cli_usage(c, "--define: expected NAME=VALUE, found '%s'", c->opt.define.v[i]);
		*vec_add(c->run, &c->sources.defines) = d;
	}
	return CLI_YES;
}

int read_rules(struct cli *c, char **path, size_t n, struct rules *out)
{
	int choice = option_choice(&c->opt, OPTION_LANG), status = CLI_YES;
	enum lang l = choice < 0 ? LANG_AUTO : (enum lang)(choice + 1);

	*out = (struct rules){ policy_create(c->run), arena_new(c->run, struct lang_file, n), n, { { 0 } } };
	status = take_includes(c);
	if (status)
		return status;
	for (size_t i = 0; i < n; i++) {
		uint32_t source;
		int err = source_open(&c->sources, path[i], &source);

		if (err)
			status = cli_fail(CLI_REFUSED, "cannot read %s: %s", path[i], strerror(-err));
		else
			read_source(out->set, &c->diags, source, l, &out->file[i]);
	}
	if (!status && c->opt.given[OPTION_SET])
		status = lists_read(c, &c->diags, out->set, &(struct lists_args){ c->opt.set.v, c->opt.set.n, NULL },
				    &out->lists);
	if (status)
		return status;
	policy_number(out->set);
	if (c->opt.given[OPTION_TABLES])
		status = keep_tables(c, out);
	policy_check(out->set, &c->diags);
	return status ? status : c->diags.n_errors ? CLI_ERRORS : CLI_YES;
}

int read_ct_choice(int choice)
{
	/* The order of the choices in option.def. A packet that nothing tracks is INVALID to the kernel. */
	static const int states[] = { CT_INVALID, CT_NEW, CT_ESTABLISHED, CT_RELATED, CT_INVALID, CT_UNTRACKED };

	return choice < 0 ? -1 : states[choice];
}

int read_eval_options(struct cli *c, struct env *env, struct eval_options *out)
{
	uint32_t source;
	const char *path = c->opt.text[OPTION_ENV];

	*out = (struct eval_options){ .hook = option_choice(&c->opt, OPTION_HOOK) };
	out->ct = read_ct_choice(option_choice(&c->opt, OPTION_CT));
	out->malformed_accept = option_choice(&c->opt, OPTION_MALFORMED) == 1;
	if (!c->opt.given[OPTION_ENV])
		return CLI_YES;
	int err = source_open(&c->sources, path, &source);
	if (err)
		return cli_fail(CLI_REFUSED, "cannot read %s: %s", path, strerror(-err));
	*env = (struct env){ .forwarding = false };
	if (!env_read(c->run, &c->diags, source, env))
		return CLI_ERRORS;
	out->env = env;
	return CLI_YES;
}
