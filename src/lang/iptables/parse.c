/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files, line by line: tables, chains, commands. Commands are carried out on the tree at once, so that it holds what
 * iptables-restore would leave in the kernel.
 *
 *     *filter                  a table begins
 *     :INPUT DROP [0:0]        a built-in chain with its policy; ":mine - [0:0]" makes a user chain
 *     [3:180] -A INPUT ...     a rule, with counts or without
 *     COMMIT                   the table ends; without it nothing is applied
 *
 * iptables-restore stops at its first error. Here every line is read; a wrong one is reported and left out.
 */
#include "lang/iptables/parse.h"

#include "lang/iptables/check.h"
#include "lang/iptables/ext.h"

static struct loc loc_of(const struct ipt_parse *p, struct str s)
{
	return (struct loc){ p->source, (uint32_t)(s.p - p->text.p), (uint32_t)s.n };
}

/* ---------- tables ---------- */

/* As restoring does: a table that comes again starts from nothing; policies stay. */
static void clear_table(struct ipt_parse *p, struct ipt_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->chains.n; i++) {
		struct ipt_chain *c = t->chains.v[i];

		c->rules.n = 0;
		if (c->hook != HOOK_NONE)
			t->chains.v[n++] = c;
		else
			*strmap_slot(p->a, &t->by_name, c->name) = NULL;
	}
	t->chains.n = n;
}

static void table_twice(struct ipt_parse *p, struct ipt_table *t, struct loc at)
{
	struct str first = source_name_line(p->a, p->d->sources, t->at);
	struct diag *g = diag_warn(p->d, at, "table-twice", "table %.*s comes a second time; iptables-restore throws away what "
							       "it has from %.*s", STR_ARG(t->name), STR_ARG(first));

	diag_hint(p->d, g, "put all rules of the table between one '*%.*s' and one COMMIT", STR_ARG(t->name));
	clear_table(p, t);
	t->at = at;
}

static void close_table(struct ipt_parse *p, struct loc at)
{
	struct ipt_table *t = p->table;

	if (!t)
		return;
	t->commit_at = at;
	for (size_t i = 0; i < t->chains.n; i++) {
		const struct ipt_chain *c = t->chains.v[i];

		if (c->hook != HOOK_NONE && c->rules.n && !c->policy_stated)
			diag_warn(p->d, t->at, "policy-not-stated", "%.*s policy not stated; kernel default ACCEPT assumed",
				  STR_ARG(c->name));
	}
	ipt_check_table(p->a, p->d, t);
	p->table = NULL;
}

static void open_table(struct ipt_parse *p, struct str s)
{
	struct str name = str_trim(str_slice(s, 1, s.n));
	struct loc at = loc_of(p, name);

	if (p->table) {
		diag_error(p->d, loc_of(p, s), "COMMIT expected before this line: table %.*s is still open", STR_ARG(p->table->name));
		close_table(p, at);
	}
	p->skips_table = !ipt_check_is_table(name);
	if (p->skips_table) {
		const char *near = ipt_check_nearest_table(name);
		struct diag *g = diag_error(p->d, at, "unknown table '%.*s'", STR_ARG(name));

		if (near)
			diag_hint(p->d, g, "did you mean '%s'?", near);
		else
			diag_hint(p->d, g, "the tables are filter, nat, mangle, raw and security");
		return;
	}
	for (size_t i = 0; i < p->file->tables.n && !p->table; i++) {
		if (str_eq(p->file->tables.v[i]->name, name))
			p->table = p->file->tables.v[i];
	}
	if (p->table) {
		table_twice(p, p->table, at);
		return;
	}
	p->table = arena_new(p->a, struct ipt_table, 1);
	p->table->name = name;
	p->table->at = at;
	*vec_add(p->a, &p->file->tables) = p->table;
}

static void commit(struct ipt_parse *p, struct str s)
{
	if (!p->table && !p->skips_table)
		diag_error(p->d, loc_of(p, s), "COMMIT without a table: no line '*TABLE' is above it");
	close_table(p, loc_of(p, s));
	p->skips_table = false;
}

/* ---------- chains ---------- */

struct ipt_chain *ipt_parse_add_chain(struct ipt_parse *p, struct str name, struct loc at, enum hook hook)
{
	struct ipt_chain *c = arena_new(p->a, struct ipt_chain, 1);

	c->name = name;
	c->at = at;
	c->hook = hook;
	c->policy = hook == HOOK_NONE ? VERDICT_NONE : VERDICT_ACCEPT;
	*vec_add(p->a, &p->table->chains) = c;
	*strmap_slot(p->a, &p->table->by_name, name) = c;
	return c;
}

bool ipt_parse_chain_name(struct ipt_parse *p, struct str name, struct loc at)
{
	struct diag *g;

	if (!ipt_check_chain_name(p->d, name, at))
		return false;
	if (ipt_ext_find(name, true, p->file->family) != IPT_NONE) {
		g = diag_error(p->d, at, "a chain cannot be called '%.*s': that is a target", STR_ARG(name));
		diag_hint(p->d, g, "a rule with -j %.*s could mean either", STR_ARG(name));
		return false;
	}
	return true;
}

struct ipt_chain *ipt_parse_chain(struct ipt_parse *p, struct str name, struct loc at)
{
	struct ipt_chain *c = ipt_chain_find(p->table, name);
	enum hook hook = ipt_check_hook(p->table->name, name);
	VEC(const char *) all = { 0 };
	const char *near;
	struct diag *g;

	if (c)
		return c;
	if (hook != HOOK_NONE)
		return ipt_parse_add_chain(p, name, at, hook);
	for (size_t i = 0; i < p->table->chains.n; i++)
		*vec_add(p->a, &all) = arena_cstr(p->a, p->table->chains.v[i]->name);
	for (enum hook h = 0; h < HOOK_IP_COUNT; h++) {
		if (ipt_check_hook(p->table->name, str_from(policy_hook_chain(h))) != HOOK_NONE)
			*vec_add(p->a, &all) = policy_hook_chain(h);
	}
	g = diag_error(p->d, at, "there is no chain '%.*s' in table %.*s", STR_ARG(name), STR_ARG(p->table->name));
	near = str_nearest(name, all.v, all.n);
	if (near)
		diag_hint(p->d, g, "did you mean '%s'?", near);
	else
		diag_hint(p->d, g, "declare it above the rules: ':%.*s - [0:0]'", STR_ARG(name));
	ipt_parse_add_chain(p, name, at, HOOK_NONE); /* so that its other rules do not say it again */
	return NULL;
}

bool ipt_parse_counts(struct ipt_parse *p, struct str s, uint64_t *packets, uint64_t *bytes)
{
	struct str hi;
	bool has_colon = false;

	if (s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']') {
		struct str lo = str_cut(str_slice(s, 1, s.n - 1), ':', &hi, &has_colon);

		if (has_colon && str_u64(lo, 10, UINT64_MAX, packets) && str_u64(hi, 10, UINT64_MAX, bytes))
			return true;
	}
	diag_error(p->d, loc_of(p, s), "'%.*s' is not a pair of counters: [packets:bytes]", STR_ARG(s));
	return false;
}

bool ipt_parse_policy(struct ipt_parse *p, struct ipt_chain *c, struct str policy, struct loc at)
{
	struct diag *g;

	if (str_is(policy, "-"))
		return true;
	if (c->hook == HOOK_NONE) {
		g = diag_error(p->d, at, "user chain '%.*s' cannot have the policy '%.*s'", STR_ARG(c->name),
			       STR_ARG(policy));
		diag_hint(p->d, g, "table %.*s has no built-in chain of that name; user chains take '-'", STR_ARG(p->table->name));
		return false;
	}
	if (!str_is(policy, "ACCEPT") && !str_is(policy, "DROP")) {
		g = diag_error(p->d, at, "'%.*s' is not a policy: ACCEPT or DROP", STR_ARG(policy));
		if (str_is_nocase(policy, "ACCEPT") || str_is_nocase(policy, "DROP"))
			diag_hint(p->d, g, "write it in capitals");
		else if (str_is(policy, "REJECT"))
			diag_hint(p->d, g, "end the chain with a rule '-j REJECT'");
		return false;
	}
	c->policy = str_is(policy, "DROP") ? VERDICT_DROP : VERDICT_ACCEPT;
	c->policy_stated = true;
	return true;
}

/* The next word of a line that knows no quotes. */
static struct str next_word(struct str *s)
{
	size_t n = 0;
	struct str w;

	*s = str_trim(*s);
	while (n < s->n && s->p[n] != ' ' && s->p[n] != '\t')
		n++;
	w = str_slice(*s, 0, n);
	*s = str_slice(*s, n, s->n);
	return w;
}

static void declare_chain(struct ipt_parse *p, struct str s)
{
	struct str rest = str_slice(s, 1, s.n);
	struct str name = next_word(&rest), policy = next_word(&rest), counts = next_word(&rest);
	enum hook hook = ipt_check_hook(p->table->name, name);
	struct ipt_chain *c = ipt_chain_find(p->table, name);

	if (c && c->hook == HOOK_NONE) {
		struct str first = source_name_line(p->a, p->d->sources, c->at);

		diag_error(p->d, loc_of(p, name), "chain '%.*s' exists already (%.*s)", STR_ARG(name), STR_ARG(first));
		return;
	}
	if (hook == HOOK_NONE && !ipt_parse_chain_name(p, name, loc_of(p, name)))
		return;
	if (!c)
		c = ipt_parse_add_chain(p, name, loc_of(p, name), hook);
	c->declared = true;
	c->at = loc_of(p, name);
	if (policy.n == 0) {
		diag_error(p->d, loc_of(p, s), "the policy of chain '%.*s' is missing: %s", STR_ARG(name),
			   hook == HOOK_NONE ? "'-' for a user chain" : "ACCEPT or DROP");
		return;
	}
	if (!ipt_parse_policy(p, c, policy, loc_of(p, policy)) || counts.n == 0)
		return;
	c->has_counts = ipt_parse_counts(p, counts, &c->packets, &c->bytes);
	if (str_trim(rest).n)
		diag_error(p->d, loc_of(p, str_trim(rest)), "nothing is expected behind the counters of a chain");
}


/* ---------- lines ---------- */

/* "*TABLE", ":CHAIN" and COMMIT begin in the first column. */
static void warn_indent(struct ipt_parse *p, size_t n, const char *what)
{
	struct loc at = p->line;
	struct diag *g;

	if (n == 0)
		return;
	at.off -= (uint32_t)n;
	at.len = (uint32_t)n;
	g = diag_warn(p->d, at, "leading-space", "leading space before %s", what);
	diag_hint(p->d, g, "iptables-restore refuses the line; begin it in the first column");
}

/* COMMIT is a line of its own, to the byte. */
static void warn_tail(struct ipt_parse *p, struct str tail)
{
	bool has_end = tail.p + tail.n < p->text.p + p->text.n;

	if (tail.n)
		diag_warn(p->d, loc_of(p, tail), "trailing-space", "iptables-restore does not take a COMMIT with blanks behind it");
	else if (!has_end)
		diag_hint(p->d, diag_warn(p->d, loc_of(p, tail), "no-newline", "iptables-restore does not take a COMMIT without "
									 "a line end behind it"),
			  "end the file with a newline");
}

static bool is_table_needed(struct ipt_parse *p)
{
	if (p->skips_table)
		return false;
	if (p->table)
		return true;
	diag_hint(p->d, diag_error(p->d, p->line, "this line belongs to no table"), "a line '*filter' (or another table) comes first");
	return false;
}

static void parse_line(struct ipt_parse *p, struct str raw)
{
	struct str s = str_trim(raw);
	size_t indent = (size_t)(s.p - raw.p);

	p->line = loc_of(p, s);
	if (s.n == 0)
		return;
	if (s.p[0] == '#') {
		warn_indent(p, indent, "a comment");
		return;
	}
	if (s.p[0] == '*') {
		warn_indent(p, indent, "a table");
		open_table(p, s);
	} else if (str_is(s, "COMMIT")) {
		warn_indent(p, indent, "COMMIT");
		warn_tail(p, str_slice(raw, indent + s.n, raw.n));
		commit(p, s);
	} else if (s.p[0] == ':') {
		warn_indent(p, indent, "a chain");
		if (is_table_needed(p))
			declare_chain(p, s);
	} else if (str_is_nocase(s, "COMMIT")) {
		diag_error(p->d, p->line, "COMMIT is written in capitals");
		commit(p, s);
	} else if (is_table_needed(p)) {
		ipt_command(p);
	}
}

static void warn_crlf(struct ipt_parse *p, size_t off)
{
	struct loc at = { p->source, (uint32_t)off, 1 };

	if (p->has_crlf)
		return;
	p->has_crlf = true;
	diag_hint(p->d, diag_warn(p->d, at, "crlf", "file has CRLF line ends; iptables-restore takes the CR for a part of the line"),
		  "save the file with Unix line ends");
}

static void finish(struct ipt_parse *p)
{
	struct loc end = { p->source, (uint32_t)p->text.n, 0 };
	struct diag *g;

	if (!p->table && !p->skips_table)
		return;
	g = diag_error(p->d, end, "COMMIT expected: the file ends inside table %.*s",
		       STR_ARG(p->table ? p->table->name : STR("?")));
	diag_hint(p->d, g, "without it iptables-restore applies nothing of the table");
	close_table(p, end);
}

struct ipt_file *iptables_parse(struct arena *a, struct diags *d, const struct sources *s, uint32_t source, enum family family)
{
	const struct source *src = source_get(s, source);
	struct ipt_parse p = { .a = a, .d = d, .source = source, .text = src->text };
	size_t at = 0;

	p.file = arena_new(a, struct ipt_file, 1);
	p.file->family = family;
	if (str_starts(p.text, "\xef\xbb\xbf")) {
		at = 3;
		diag_warn(d, (struct loc){ source, 0, 3 }, "byte-order-mark", "the file begins with a byte order mark, which "
									    "iptables-restore does not take");
	}
	while (at < p.text.n) {
		const char *end = memchr(p.text.p + at, '\n', p.text.n - at);
		size_t n = end ? (size_t)(end - p.text.p) - at : p.text.n - at;
		struct str line = { p.text.p + at, n };

		if (n && line.p[n - 1] == '\r') {
			warn_crlf(&p, at + n - 1);
			line.n--;
		}
		parse_line(&p, line);
		at += n + 1;
	}
	finish(&p);
	return p.file;
}
