/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading test files. See casefile.h. */
#include "cli/casefile.h"

#include "cli/read.h"

/* Lines gathered into a source of their own, each at the line number that it has in the file. */
struct piece {
	struct buf text;
	uint32_t first, next; /* line numbers; next: of the line that would be added now */
	bool is_begun;
	struct str last; /* the last line added */
};

struct reader {
	struct cli *c;
	struct casefile *out;
	struct str name;      /* of the file */
	struct case_one *now; /* NULL between cases */
	struct piece rules, sets, env;
	uint32_t line;
};

static const struct {
	const char *word;
	enum case_kind kind;
	bool has_subject;
} checks[] = {
	{ "packet", CASE_PACKET, true }, { "hits", CASE_HITS, false }, { "error", CASE_ERROR, true },
	{ "also", CASE_ALSO, false },	 { "warn", CASE_WARN, true },  { "print", CASE_PRINT, true },
};
enum { CHECK_COUNT = sizeof checks / sizeof *checks };

static const char *const statement_words[] = {
	"case", "lang", "hook", "ct", "malformed", "track", "rules", "set", "list", "env",
	"packet", "hits", "error", "also", "warn", "print",
};

static struct loc place_of(const struct reader *r, struct str s)
{
	const struct source *src = source_get(&r->c->sources, r->out->source);

	return (struct loc){ r->out->source, (uint32_t)(s.p - src->text.p), (uint32_t)s.n };
}

static void piece_add(struct piece *p, uint32_t line, struct str text)
{
	if (!p->is_begun)
		p->first = p->next = line;
	p->is_begun = true;
	for (; p->next < line; p->next++)
		buf_add(&p->text, "\n", 1);
	buf_add(&p->text, text.p, text.n);
	buf_add(&p->text, "\n", 1);
	p->next++;
	p->last = text;
}

static uint32_t piece_source(struct reader *r, struct piece *p)
{
	uint32_t id = 0;

	if (p->is_begun) {
		id = source_add(&r->c->sources, r->name.p, buf_str(&p->text));
		r->c->sources.all.v[id - 1]->first_line = p->first;
	}
	*p = (struct piece){ .text = { .a = r->c->run } };
	return id;
}

static bool is_iptables(enum lang l)
{
	return l == LANG_IPTABLES || l == LANG_IP6TABLES;
}

static void end_case(struct reader *r)
{
	if (!r->now)
		return;
	if (r->rules.is_begun && is_iptables(r->now->lang) && !str_is(str_trim(r->rules.last), "COMMIT"))
		piece_add(&r->rules, r->rules.next, STR("COMMIT"));
	r->now->rules = piece_source(r, &r->rules);
	r->now->sets = piece_source(r, &r->sets);
	r->now->env = piece_source(r, &r->env);
	r->now = NULL;
}

static void begin_case(struct reader *r, struct str name, struct loc at)
{
	end_case(r);
	r->now = vec_add(r->c->run, &r->out->cases);
	*r->now = (struct case_one){ .name = name, .at = at, .lang = LANG_IPTABLES, .hook = -1, .ct = -1 };
}

/* -P CHAIN POLICY and -N CHAIN as iptables-save writes them. */
static struct str as_saved(struct arena *a, struct str text)
{
	struct str rest, chain, policy;
	bool has_policy;

	if (!str_starts(text, "-P ") && !str_starts(text, "-N "))
		return text;
	rest = str_trim(str_slice(text, 3, text.n));
	chain = str_cut(rest, ' ', &policy, &has_policy);
	if (text.p[1] == 'N')
		return arena_printf(a, ":%.*s - [0:0]", STR_ARG(rest));
	return arena_printf(a, ":%.*s %.*s [0:0]", STR_ARG(chain), STR_ARG(str_trim(policy)));
}

static bool holds_rule(struct str text)
{
	if (str_starts(text, "[")) {
		bool found;

		str_cut(text, ']', &text, &found);
		text = str_trim(text);
	}
	return str_starts(text, "-A") || str_starts(text, "-I");
}

static void add_rules(struct reader *r, struct str text)
{
	if (!is_iptables(r->now->lang)) {
		*vec_add(r->c->run, &r->now->rule_line) = r->line;
		piece_add(&r->rules, r->line, text);
		return;
	}
	if (holds_rule(text))
		*vec_add(r->c->run, &r->now->rule_line) = r->line;
	if (!r->rules.is_begun && !str_starts(text, "*"))
		piece_add(&r->rules, r->line - 1, STR("*filter"));
	piece_add(&r->rules, r->line, as_saved(r->c->run, text));
}

/* The end of the first field of s: at two blanks or a tab outside of quotes. */
static size_t field_end(struct str s)
{
	bool quoted = false;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && quoted && i + 1 < s.n)
			i++;
		else if (s.p[i] == '"')
			quoted = !quoted;
		else if (!quoted && (s.p[i] == '\t' || (s.p[i] == ' ' && i + 1 < s.n && s.p[i + 1] == ' ')))
			return i;
	}
	return s.n;
}

static struct str without_comment(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '#' && (i == 0 || s.p[i - 1] == ' ' || s.p[i - 1] == '\t'))
			return str_trim(str_slice(s, 0, i));
	return str_trim(s);
}

static void add_check(struct reader *r, int i, struct str rest, struct loc at)
{
	struct case_line *l = vec_add(r->c->run, &r->now->lines);
	size_t end = checks[i].has_subject ? field_end(rest) : 0;

	l->kind = checks[i].kind;
	l->at = at;
	l->subject = str_trim(str_slice(rest, 0, end));
	l->subject_at = place_of(r, l->subject);
	l->expect = without_comment(str_slice(rest, end, rest.n));
	l->expect_at = place_of(r, l->expect);
	if (checks[i].has_subject && l->subject.n == 0)
		diag_error(&r->c->diags, at, "'%s' needs something to look at", checks[i].word);
	else if (l->expect.n == 0)
		diag_hint(&r->c->diags, diag_error(&r->c->diags, at, "what is expected of this is missing"),
			  "two blanks stand between the packet or text and what is expected of it");
}

/* One of the words that a setting may have; its place in them, or -1 and an error. */
static int word_of(struct reader *r, struct str got, const char *choices)
{
	struct str rest = str_from(choices);
	int i = 0;

	for (bool more = true; more; i++)
		if (str_eq(str_cut(rest, '|', &rest, &more), got))
			return i;
	diag_error(&r->c->diags, place_of(r, got), "'%.*s' is none of %s", STR_ARG(got), choices);
	return -1;
}

static bool setting(struct reader *r, struct str word, struct str rest)
{
	int i;

	if (str_is(word, "lang")) {
		i = word_of(r, rest, option_table[OPTION_LANG].choices);
		r->now->lang = i < 0 ? LANG_IPTABLES : (enum lang)(i + 1);
	} else if (str_is(word, "hook")) {
		r->now->hook = word_of(r, rest, option_table[OPTION_HOOK].choices);
	} else if (str_is(word, "ct")) {
		r->now->ct = read_ct_choice(word_of(r, rest, option_table[OPTION_CT].choices));
	} else if (str_is(word, "malformed")) {
		r->now->malformed_accept = word_of(r, rest, option_table[OPTION_MALFORMED].choices) == 1;
	} else if (str_is(word, "track")) {
		r->now->track = true;
	} else if (str_is(word, "list")) {
		*vec_add(r->c->run, &r->now->lists) = arena_cstr(r->c->run, rest);
	} else {
		return false;
	}
	return true;
}

static void unknown_word(struct reader *r, struct str word)
{
	const char *near = str_nearest(word, statement_words, sizeof statement_words / sizeof *statement_words);
	struct diag *g = diag_error(&r->c->diags, place_of(r, word), "unknown statement '%.*s'", STR_ARG(word));

	if (near)
		diag_hint(&r->c->diags, g, "did you mean '%s'?", near);
}

static void statement(struct reader *r, struct str text)
{
	size_t n = 0;
	struct str word, rest;

	while (n < text.n && text.p[n] != ' ' && text.p[n] != '\t')
		n++;
	word = str_slice(text, 0, n);
	rest = str_trim(str_slice(text, n, text.n));
	if (str_is(word, "case")) {
		begin_case(r, rest, place_of(r, text));
		return;
	}
	if (!r->now)
		begin_case(r, arena_printf(r->c->run, "line %u", r->line), place_of(r, text));
	if (str_is(word, "rules")) {
		add_rules(r, rest);
	} else if (str_is(word, "set")) {
		piece_add(&r->sets, r->line, rest);
	} else if (str_is(word, "env")) {
		piece_add(&r->env, r->line, rest);
	} else if (!setting(r, word, without_comment(rest))) {
		for (int i = 0; i < CHECK_COUNT; i++)
			if (str_is(word, checks[i].word)) {
				add_check(r, i, rest, place_of(r, text));
				return;
			}
		unknown_word(r, word);
	}
}

bool casefile_read(struct cli *c, uint32_t source, struct casefile *out)
{
	const struct source *src = source_get(&c->sources, source);
	struct reader r = { .c = c, .out = out, .name = src->name };
	unsigned before = c->diags.n_errors;

	*out = (struct casefile){ .source = source };
	r.rules.text.a = r.sets.text.a = r.env.text.a = c->run;
	for (r.line = 1; r.line <= src->n_lines; r.line++) {
		struct str text = str_trim(source_line(src, r.line));

		if (text.n == 0)
			end_case(&r);
		else if (text.p[0] != '#')
			statement(&r, text);
	}
	end_case(&r);
	return c->diags.n_errors == before;
}

static void add_unescaped(struct buf *b, struct str s)
{
	static const char letters[] = "nrts", meant[] = "\n\r\t ";

	for (size_t i = 0; i < s.n; i++) {
		const char *l = s.p[i] == '\\' && i + 1 < s.n ? strchr(letters, s.p[i + 1]) : NULL;

		if (l && *l) {
			buf_add(b, &meant[l - letters], 1);
			i++;
		} else {
			buf_add(b, s.p + i, 1);
		}
	}
}

uint32_t casefile_text_source(struct cli *c, const struct case_one *k, const struct case_line *l, uint32_t *first_line)
{
	const struct source *file = source_get(&c->sources, l->at.source);
	bool wrap = is_iptables(k->lang) && !str_starts(l->subject, "*") && !str_starts(l->subject, "\\");
	struct buf b = { .a = c->run };
	uint32_t col, id;

	source_place(&c->sources, l->at, first_line, &col);
	if (wrap)
		buf_printf(&b, "*filter\n");
	add_unescaped(&b, l->subject);
	if (wrap)
		buf_printf(&b, "\nCOMMIT");
	if (!str_ends(l->subject, "\\n"))
		buf_printf(&b, "\n");
	id = source_add(&c->sources, arena_cstr(c->run, file->name), buf_str(&b));
	c->sources.all.v[id - 1]->first_line = *first_line - (wrap ? 1 : 0);
	return id;
}
