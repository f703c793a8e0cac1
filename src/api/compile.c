/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From texts to rules that packets can be judged by: see weir.h. */
#include "api/api.h"

#include <errno.h>

#include "version.h"
#include "lang/lang.h"

struct compile {
	const struct weir_source *source;
	size_t n;
	const struct weir_options *opt;
	struct sources sources;
	struct diags d;
	struct ruleset *rs;
	struct weir_rules *out;
};

/* ---------- reading ---------- */

static enum weir_error open_source(struct compile *c, const struct weir_source *s, uint32_t *id)
{
	int err;

	if (s->text) {
		*id = source_add(&c->sources, s->name ? s->name : "rules", (struct str){ s->text, s->text_len });
		return WEIR_OK;
	}
	err = source_open(&c->sources, s->name, id);
	if (err == -ENOMEM)
		return WEIR_ERROR_MEMORY;
	if (err)
		diag_error(&c->d, (struct loc){ 0 }, "cannot read %s: %s", s->name, strerror(-err));
	return err ? WEIR_ERROR_FILE : WEIR_OK;
}

static enum weir_error read_all(struct compile *c)
{
	enum weir_error status = WEIR_OK;

	for (size_t i = 0; i < c->n && status != WEIR_ERROR_MEMORY; i++) {
		const char *language = c->source[i].language;
		struct lang_file file;
		enum weir_error e;
		uint32_t id;

		e = open_source(c, &c->source[i], &id);
		if (e == WEIR_OK)
			lang_read(c->rs, &c->d, id, language ? lang_by_name(str_from(language)) : LANG_AUTO, &file);
		else
			status = e;
	}
	return status ? status : c->d.n_errors ? WEIR_ERROR_RULES : WEIR_OK;
}

/* ---------- tables of the language ---------- */

static bool is_listed(struct str list, struct str name)
{
	for (bool more = true; more;)
		if (str_eq(str_trim(str_cut(list, ',', &list, &more)), name))
			return true;
	return false;
}

/* A name that no chain has is an error, or a slip of the pen would let everything pass. */
static void keep_tables(struct compile *c)
{
	struct str list = str_from(c->opt->tables);

	for (bool more = true; more;) {
		struct str name = str_trim(str_cut(list, ',', &list, &more));
		bool is_there = false;

		for (size_t i = 0; i < c->rs->chains.n; i++)
			is_there = is_there || str_eq(c->rs->chains.v[i]->table, name);
		if (!is_there)
			diag_error(&c->d, (struct loc){ 0 }, "these rules have no table '%.*s'", STR_ARG(name));
	}
	for (size_t i = 0; i < c->rs->chains.n; i++)
		if (!is_listed(str_from(c->opt->tables), c->rs->chains.v[i]->table))
			c->rs->chains.v[i]->hook = HOOK_NONE;
}

/* ---------- compiling ---------- */

/* What is compiled for the kernel only. */
static void refuse_host(struct compile *c)
{
	for (size_t i = 0; i < c->rs->rules.n; i++) {
		const struct rule *r = c->rs->rules.v[i];

		for (uint32_t k = 0; k < r->n_steps; k++)
			if (r->step[k].kind == STEP_TEST && (asks_of_test(&r->step[k].test, r->chain->family) & ASKS_HOST))
				diag_error(&c->d, r->step[k].test.at,
					   "groups of interfaces and kinds of addresses are known in the kernel only");
	}
}

static enum weir_error build(struct compile *c)
{
	bool malformed_accept = c->opt->flags & WEIR_MALFORMED_ACCEPT;
	struct tables_options opt = { .reject_as_drop = true, .log_as_count = true, .test_run = true, .hz = API_HZ,
				      .malformed_accept = malformed_accept,
				      .apart = true }; /* one lookup a position: each chain goes in batches */
	enum weir_error e = read_all(c);

	if (e)
		return e;
	policy_number(c->rs);
	if (c->opt->tables)
		keep_tables(c);
	policy_check(c->rs, &c->d);
	if (c->d.n_errors)
		return WEIR_ERROR_RULES;
	c->out->tables = tables_build(c->out->a, c->rs, &opt, &c->d);
	if (c->out->tables && (c->out->tables->features & (DP_F_GROUP | DP_F_ROUTE)))
		refuse_host(c);
	if (!c->out->tables || c->d.n_errors)
		return WEIR_ERROR_RULES;
	c->out->malformed_accept = malformed_accept;
	identity_make(c->out, c->rs, &c->sources);
	return WEIR_OK;
}

/* All that takes memory, under a guard; what it gives is handed out at its end. */
static enum weir_error compile(struct compile *c, struct weir_rules **rules, struct weir_report **report)
{
	struct arena *a = arena_create(), *reading = arena_create();
	struct weir_report *said;
	enum weir_error e;

	c->sources = (struct sources){ .a = reading };
	c->d = (struct diags){ .a = reading, .sources = &c->sources };
	c->rs = policy_create(reading);
	c->out = arena_new(a, struct weir_rules, 1);
	c->out->a = a;
	atomic_init(&c->out->users, 1);
	e = build(c);
	said = report ? report_make(&c->d) : NULL;
	arena_destroy(reading);
	if (e)
		arena_destroy(a);
	else
		*rules = c->out;
	if (report)
		*report = said;
	return e;
}

static bool is_usable(const struct weir_source *source, size_t n, const struct weir_options *opt)
{
	if ((n && !source) || opt->size < sizeof *opt || (opt->flags & ~(unsigned)WEIR_MALFORMED_ACCEPT))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((!source[i].text && !source[i].name) ||
		    (source[i].language && lang_by_name(str_from(source[i].language)) == LANG_COUNT))
			return false;
	return true;
}

enum weir_error weir_compile(const struct weir_source *source, size_t n, const struct weir_options *options,
			     struct weir_rules **rules, struct weir_report **report)
{
	static const struct weir_options defaults = { .size = sizeof defaults };
	struct compile c = { .source = source, .n = n, .opt = options ? options : &defaults };
	struct arena_guard guard;
	enum weir_error e;

	if (rules)
		*rules = NULL;
	if (report)
		*report = NULL;
	if (!rules || !is_usable(source, n, c.opt))
		return WEIR_ERROR_USE;
	if (setjmp(guard.out))
		return WEIR_ERROR_MEMORY;
	arena_guard_open(&guard, c.opt->most_memory);
	e = compile(&c, rules, report);
	arena_guard_close(&guard);
	return e;
}

void rules_drop(struct weir_rules *r)
{
	if (atomic_fetch_sub(&r->users, 1) == 1)
		arena_destroy(r->a);
}

void weir_rules_free(struct weir_rules *rules)
{
	if (rules)
		rules_drop(rules);
}

/* ---------- the library ---------- */

const char *weir_error_text(enum weir_error e)
{
	static const char *const texts[] = { "no error", "the rules have errors", "a file cannot be read", "out of memory",
					     "wrong use of the library" };

	return (unsigned)e < sizeof texts / sizeof *texts ? texts[e] : "unknown error";
}

const char *weir_version(void)
{
	return WEIR_VERSION;
}

unsigned weir_api_version(void)
{
	return WEIR_API_VERSION;
}
