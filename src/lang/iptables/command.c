/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands inside a table: -A, -I, -N, -P, -F, -X, -Z. Those that undo or ask (-D, -R, -E, -L, -S, -C) are refused: what
 * they do depends on rules that are not in the file.
 */
#include "lang/iptables/check.h"
#include "lang/iptables/ext.h"
#include "lang/iptables/parse.h"
#include "lang/iptables/rule.h"
#include "lang/iptables/scan.h"

enum command {
	COMMAND_APPEND, COMMAND_INSERT, COMMAND_NEW, COMMAND_POLICY, COMMAND_FLUSH, COMMAND_DELETE_CHAIN, COMMAND_ZERO,
	COMMAND_REFUSED
};

static const struct command_row {
	char letter;
	const char *name;
	enum command command;
	const char *instead; /* refused: what to do */
} commands[] = {
	{ 'A', "append", COMMAND_APPEND, NULL },
	{ 'I', "insert", COMMAND_INSERT, NULL },
	{ 'N', "new-chain", COMMAND_NEW, NULL },
	{ 'P', "policy", COMMAND_POLICY, NULL },
	{ 'F', "flush", COMMAND_FLUSH, NULL },
	{ 'X', "delete-chain", COMMAND_DELETE_CHAIN, NULL },
	{ 'Z', "zero", COMMAND_ZERO, NULL },
	{ 'D', "delete", COMMAND_REFUSED, "leave out the line that adds the rule" },
	{ 'R', "replace", COMMAND_REFUSED, "change the line that adds the rule" },
	{ 'E', "rename-chain", COMMAND_REFUSED, "give the chain its name where it is declared" },
	{ 'L', "list", COMMAND_REFUSED, "leave the line out" },
	{ 'S', "list-rules", COMMAND_REFUSED, "leave the line out" },
	{ 'C', "check", COMMAND_REFUSED, "leave the line out" },
};
enum { N_COMMANDS = sizeof(commands) / sizeof(*commands) };

/* A line's words behind its counters. */
struct line {
	struct ipt_parse *p;
	const struct ipt_word *w;
	size_t n, i; /* i: next word */
	struct loc at;
	bool has_counts;
	uint64_t packets, bytes;
};

static bool is_command(const struct command_row *row, struct str s)
{
	size_t n = s.n - 2;

	if (s.p[1] != '-')
		return s.p[1] == row->letter;
	return n && n <= strlen(row->name) && memcmp(s.p + 2, row->name, n) == 0;
}

static const struct command_row *find_command(struct str s)
{
	for (size_t i = 0; s.n >= 2 && s.p[0] == '-' && i < N_COMMANDS; i++) {
		if (is_command(&commands[i], s))
			return &commands[i];
	}
	return NULL;
}

/* The chain behind a command; `-AINPUT` is one word. NULL: there is none. */
static const struct ipt_word *take_chain(struct line *l)
{
	const struct ipt_word *command = &l->w[l->i++];
	struct ipt_word *rest;

	if (command->text.p[1] != '-' && command->text.n > 2) {
		rest = arena_new(l->p->a, struct ipt_word, 1);
		*rest = *command;
		rest->text = str_slice(command->text, 2, command->text.n);
		rest->at = ipt_word_part(command, 2, rest->text.n);
		return rest;
	}
	return l->i < l->n && (l->w[l->i].is_quoted || !str_starts(l->w[l->i].text, "-")) ? &l->w[l->i++] : NULL;
}

static void expect_end(struct line *l)
{
	if (l->i < l->n)
		diag_error(l->p->d, l->w[l->i].at, "unexpected word '%.*s'", STR_ARG(l->w[l->i].text));
}

/* ---------- rules ---------- */

/* Index in c->rules of the rule number pos (from 1) of the chain; lines with address lists make several. */
static bool find_position(struct line *l, const struct ipt_chain *c, uint64_t pos, struct loc at, size_t *index)
{
	uint64_t number = 1;

	for (size_t i = 0; i <= c->rules.n; i++) {
		if (number == pos) {
			*index = i;
			return true;
		}
		if (i == c->rules.n)
			break;
		if (number + ipt_rule_expansions(c->rules.v[i]) > pos) {
			struct str where = source_name_line(l->p->a, l->p->d->sources, c->rules.v[i]->at);

			diag_error(l->p->d, at, "position %llu is among the rules that the address list of %.*s makes",
				   (unsigned long long)pos, STR_ARG(where));
			return false;
		}
		number += ipt_rule_expansions(c->rules.v[i]);
	}
	diag_error(l->p->d, at, "chain %.*s has %llu rules up to here; a rule cannot be inserted at %llu", STR_ARG(c->name),
		   (unsigned long long)(number - 1), (unsigned long long)pos);
	return false;
}

static bool take_position(struct line *l, const struct ipt_chain *c, size_t *index)
{
	const struct ipt_word *w = &l->w[l->i];
	uint64_t pos = 1;

	*index = 0;
	if (l->i >= l->n || w->is_quoted || w->text.n == 0 || w->text.p[0] < '0' || w->text.p[0] > '9')
		return true;
	l->i++;
	if (!str_u64(w->text, 10, UINT32_MAX, &pos) || pos == 0) {
		diag_error(l->p->d, w->at, "'%.*s' is not the number of a rule: they count from 1", STR_ARG(w->text));
		return false;
	}
	return !c || find_position(l, c, pos, w->at, index);
}

static void put_rule(struct ipt_parse *p, struct ipt_chain *c, struct ipt_rule *r, size_t index)
{
	vec_add(p->a, &c->rules);
	memmove(c->rules.v + index + 1, c->rules.v + index, (c->rules.n - 1 - index) * sizeof(*c->rules.v));
	c->rules.v[index] = r;
}

static void add_rule(struct line *l, bool is_insert)
{
	struct ipt_parse *p = l->p;
	const struct command_row *row = find_command(l->w[l->i].text);
	struct loc command_at = l->w[l->i].at;
	const struct ipt_word *name = take_chain(l);
	struct ipt_rule *r = arena_new(p->a, struct ipt_rule, 1);
	struct ipt_rule_in in = { .a = p->a, .d = p->d, .family = p->file->family, .table = p->table };
	struct ipt_chain *c;
	size_t index;

	if (!name) {
		diag_error(p->d, command_at, "-%c needs the name of a chain", row->letter);
		return;
	}
	c = ipt_parse_chain(p, name->text, name->at);
	index = c ? c->rules.n : 0;
	if (is_insert && !take_position(l, c, &index))
		return;
	in.w = l->w + l->i;
	in.n = l->n - l->i;
	r->at = l->at;
	r->inserted = is_insert;
	r->has_counts = l->has_counts;
	r->packets = l->packets;
	r->bytes = l->bytes;
	if (ipt_rule_read(&in, r) && ipt_check_rule(p->d, p->file->family, r) && c)
		put_rule(p, c, r, index);
}

/* ---------- chains ---------- */

static void new_chain(struct line *l)
{
	struct ipt_parse *p = l->p;
	struct loc command_at = l->w[l->i].at;
	const struct ipt_word *name = take_chain(l);

	if (!name) {
		diag_error(p->d, command_at, "-N needs the name of the new chain");
		return;
	}
	expect_end(l);
	if (ipt_parse_chain_name(p, name->text, name->at) && !ipt_chain_find(p->table, name->text) &&
	    ipt_check_hook(p->table->name, name->text) == HOOK_NONE)
		ipt_parse_add_chain(p, name->text, name->at, HOOK_NONE)->declared = true;
	else if (ipt_chain_find(p->table, name->text) || ipt_check_hook(p->table->name, name->text) != HOOK_NONE)
		diag_error(p->d, name->at, "chain '%.*s' exists already", STR_ARG(name->text));
}

static void set_policy(struct line *l)
{
	struct ipt_parse *p = l->p;
	struct loc command_at = l->w[l->i].at;
	const struct ipt_word *name = take_chain(l), *policy = name && l->i < l->n ? &l->w[l->i++] : NULL;
	struct ipt_chain *c;

	if (!policy) {
		diag_error(p->d, command_at, "-P needs a built-in chain and a policy");
		return;
	}
	expect_end(l);
	c = ipt_parse_chain(p, name->text, name->at);
	if (c && ipt_parse_policy(p, c, policy->text, policy->at))
		c->declared = true;
}

/* -F, -Z, -X: of one chain, or of all. */
static void apply_to_chain(struct ipt_parse *p, struct ipt_chain *c, enum command command)
{
	switch (command) {
	case COMMAND_FLUSH:
		c->rules.n = 0;
		break;
	case COMMAND_ZERO:
		c->packets = c->bytes = 0;
		for (size_t i = 0; i < c->rules.n; i++)
			c->rules.v[i]->packets = c->rules.v[i]->bytes = 0;
		break;
	default:
		*strmap_slot(p->a, &p->table->by_name, c->name) = NULL;
		for (size_t i = 0; i < p->table->chains.n; i++) {
			if (p->table->chains.v[i] != c)
				continue;
			memmove(p->table->chains.v + i, p->table->chains.v + i + 1,
				(p->table->chains.n - i - 1) * sizeof(*p->table->chains.v));
			p->table->chains.n--;
			break;
		}
		break;
	}
}

static void change_chains(struct line *l, enum command command)
{
	struct ipt_parse *p = l->p;
	const struct ipt_word *name = take_chain(l);
	struct ipt_chain *c;

	expect_end(l);
	for (size_t i = p->table->chains.n; !name && i-- > 0;) {
		c = p->table->chains.v[i];
		if (command != COMMAND_DELETE_CHAIN || (c->hook == HOOK_NONE && c->rules.n == 0))
			apply_to_chain(p, c, command);
	}
	if (!name)
		return;
	c = ipt_parse_chain(p, name->text, name->at);
	if (!c)
		return;
	if (command == COMMAND_DELETE_CHAIN && (c->hook != HOOK_NONE || c->rules.n)) {
		diag_error(p->d, name->at, c->rules.n ? "chain '%.*s' has rules; it cannot be deleted"
						      : "%.*s is a built-in chain; it cannot be deleted",
			   STR_ARG(name->text));
		return;
	}
	apply_to_chain(p, c, command);
}

/* ---------- lines ---------- */

/* -4 or -6 says for which family the line is; the other family's tool skips it. */
static bool is_for_other_family(const struct line *l)
{
	const char *other_short = l->p->file->family == FAMILY_IP4 ? "-6" : "-4";
	const char *other_long = l->p->file->family == FAMILY_IP4 ? "--ipv6" : "--ipv4";

	for (size_t i = 0; i < l->n; i++) {
		const struct ipt_word *w = &l->w[i];
		bool is_value = i && l->w[i - 1].text.n > 1 && l->w[i - 1].text.p[0] == '-' && !str_is(l->w[i - 1].text, "-f");

		if (!w->is_quoted && !is_value && (str_is(w->text, other_short) || str_is(w->text, other_long)))
			return true;
	}
	return false;
}

static void unknown_command(struct line *l)
{
	const struct ipt_word *w = &l->w[l->i];
	struct diag *g;

	if (!str_starts(w->text, "-")) {
		g = diag_error(l->p->d, w->at, "unexpected word '%.*s': a line begins with '*', ':', '#', COMMIT or -A",
			       STR_ARG(w->text));
		if (str_is(w->text, "iptables") || str_is(w->text, "ip6tables") || str_ends(w->text, "/iptables"))
			diag_hint(l->p->d, g, "a ruleset file has no commands of the shell; leave '%.*s' out", STR_ARG(w->text));
		return;
	}
	if (str_is(w->text, "-t") || str_starts(w->text, "--table")) {
		diag_hint(l->p->d, diag_error(l->p->d, w->at, "-t has no place in a ruleset file"),
			  "put the rule below the line '*TABLE'");
		return;
	}
	diag_hint(l->p->d, diag_error(l->p->d, w->at, "'%.*s' cannot begin a line", STR_ARG(w->text)),
		  "a rule begins with -A CHAIN or -I CHAIN");
}

static void run(struct line *l, const struct command_row *row)
{
	unsigned errors = l->p->d->n_errors;

	switch (row->command) {
	case COMMAND_APPEND:
	case COMMAND_INSERT:
		add_rule(l, row->command == COMMAND_INSERT);
		l->p->table->lacks_rules |= l->p->d->n_errors > errors;
		break;
	case COMMAND_NEW:
		new_chain(l);
		break;
	case COMMAND_POLICY:
		set_policy(l);
		break;
	case COMMAND_REFUSED:
		diag_hint(l->p->d,
			  diag_error(l->p->d, l->w[l->i].at, "-%c (--%s) has no place in a ruleset file: it works on rules that "
							      "are there already", row->letter, row->name),
			  "%s", row->instead);
		l->p->file->is_undone = true;
		break;
	default:
		change_chains(l, row->command);
		l->p->file->is_undone |= l->p->d->n_errors > errors;
		break;
	}
}

/* "[packets:bytes]" in front of a rule. */
static bool take_counts(struct line *l)
{
	const struct source *src = source_get(l->p->d->sources, l->at.source);
	struct str s = { src->text.p + l->at.off, l->at.len };
	const char *end = s.n && s.p[0] == '[' ? memchr(s.p, ']', s.n) : NULL;
	struct str rest;

	if (!end)
		return true;
	if (!ipt_parse_counts(l->p, (struct str){ s.p, (size_t)(end - s.p) + 1 }, &l->packets, &l->bytes))
		return false;
	l->has_counts = true;
	rest = str_trim((struct str){ end + 1, s.n - (size_t)(end - s.p) - 1 });
	l->at.off += (uint32_t)(rest.p - s.p);
	l->at.len = (uint32_t)rest.n;
	return true;
}

void ipt_command(struct ipt_parse *p)
{
	struct line l = { .p = p, .at = p->line };
	struct ipt_words words = { 0 };
	const struct command_row *row;

	if (!take_counts(&l) || !ipt_scan_words(p->a, p->d, l.at, &words) || words.all.n == 0)
		return;
	l.w = words.all.v;
	l.n = words.all.n;
	if (is_for_other_family(&l))
		return;
	while (l.i + 1 < l.n && !l.w[l.i].is_quoted &&
	       (str_is(l.w[l.i].text, "-4") || str_is(l.w[l.i].text, "-6") || str_is(l.w[l.i].text, "--ipv4") ||
		str_is(l.w[l.i].text, "--ipv6")))
		l.i++;
	row = find_command(l.w[l.i].text);
	if (row)
		run(&l, row);
	else
		unknown_command(&l);
}
