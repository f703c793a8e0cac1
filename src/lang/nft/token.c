/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walking through the tokens with variables replaced, and errors at a place. See parse.h. */
#include <stdarg.h>

#include "lang/nft/parse.h"

static const struct nft_token poison = { .kind = NFT_TOK_POISON };
static const uint64_t expand_most = 20000000; /* tokens that come out of variables, in all */

static void report_unknown(struct nft_parse *p, const struct nft_token *dollar, const struct nft_token *name)
{
	const struct nft_symbol *later = NULL;
	struct str text = nft_token_text(name);
	struct loc at = nft_span(nft_token_loc(dollar), nft_token_loc(name));
	const char *near;
	uint32_t line, col;

	nft_symbol_find(&p->symbols, text, dollar, &later);
	if (later && source_place(p->d->sources, nft_token_loc(later->name), &line, &col)) {
		nft_error(p, at, "$%.*s is used before its define at line %u", STR_ARG(text), line);
		return;
	}
	near = nft_symbol_nearest(p->a, &p->symbols, text, dollar);
	nft_hint(p, nft_error(p, at, "$%.*s is not defined", STR_ARG(text)), near ? "did you mean $%s?" : "write 'define NAME = VALUE' in front of it, or give it with -D", near);
}

/* At a '$': goes into its value. false: there is none, and the whole is stepped over. */
static bool expand(struct nft_parse *p)
{
	const struct nft_token *dollar = p->t, *name = dollar + 1;
	const struct nft_symbol *later, *s;
	struct nft_frame *f;

	if (name >= p->end || name->kind != NFT_TOK_WORD) {
		nft_hint(p, nft_error(p, nft_token_loc(dollar), "expected a variable's name behind '$'"),
			 "write $name; other forms belong to the shell");
		p->t += p->end - p->t > 3 && name->kind == '{' && dollar[3].kind == '}' ? 4 : 1;
		return false;
	}
	s = nft_symbol_find(&p->symbols, nft_token_text(name), dollar, &later);
	if (s && p->n_expanded > expand_most) {
		nft_error(p, nft_token_loc(dollar), "variables stand for too much text");
		s = NULL;
	} else if (!s) {
		report_unknown(p, dollar, name);
	}
	p->t = name + 1;
	if (!s)
		return false;
	f = arena_new(p->a, struct nft_frame, 1);
	*f = (struct nft_frame){ p->t, p->end, p->frame };
	p->frame = f;
	p->t = s->value;
	p->end = s->value_end;
	p->n_expanded += (uint64_t)(p->end - p->t) + 1;
	return true;
}

/*
 * What cannot be expanded is poison, and stays so until it is stepped over: poisoned is then t, which is already behind it.
 */
static const struct nft_token *settle(struct nft_parse *p)
{
	for (;;) {
		if (p->is_poisoned)
			return &poison;
		if (p->t < p->end) {
			if (p->t->kind != '$')
				return p->t;
			p->is_poisoned = !expand(p);
		} else if (p->frame) {
			p->t = p->frame->t;
			p->end = p->frame->end;
			p->frame = p->frame->below;
		} else {
			return p->whole_end;
		}
	}
}

const struct nft_token *nft_peek(struct nft_parse *p)
{
	return settle(p);
}

const struct nft_token *nft_next(struct nft_parse *p)
{
	const struct nft_token *t = settle(p);

	if (p->is_poisoned)
		p->is_poisoned = false;
	else if (t != p->whole_end)
		p->t++;
	return t;
}

struct nft_mark nft_mark(const struct nft_parse *p)
{
	return (struct nft_mark){ p->t, p->end, p->frame, p->is_poisoned };
}

void nft_back(struct nft_parse *p, struct nft_mark m)
{
	p->t = m.t;
	p->end = m.end;
	p->frame = m.frame;
	p->is_poisoned = m.is_poisoned;
}

const struct nft_token *nft_peek2(struct nft_parse *p)
{
	struct nft_mark m = nft_mark(p);
	const struct nft_token *t;

	nft_next(p);
	t = nft_peek(p);
	nft_back(p, m);
	return t;
}

bool nft_is(struct nft_parse *p, unsigned kind)
{
	return nft_peek(p)->kind == kind;
}

static bool token_is_word(const struct nft_token *t, const char *word)
{
	return t->kind == NFT_TOK_WORD && t->p[0] == word[0] && strncmp(t->p, word, t->len) == 0 && word[t->len] == '\0';
}

bool nft_is_word(struct nft_parse *p, const char *word)
{
	return token_is_word(nft_peek(p), word);
}

bool nft_take(struct nft_parse *p, unsigned kind)
{
	bool is = nft_is(p, kind);

	if (is)
		nft_next(p);
	return is;
}

bool nft_take_word(struct nft_parse *p, const char *word)
{
	bool is = nft_is_word(p, word);

	if (is)
		nft_next(p);
	return is;
}

bool nft_need(struct nft_parse *p, unsigned kind)
{
	return nft_take(p, kind) || nft_expected(p, "'%c'", (char)kind);
}

bool nft_need_word(struct nft_parse *p, const char *word)
{
	return nft_take_word(p, word) || nft_expected(p, "'%s'", word);
}

bool nft_need_name(struct nft_parse *p, const char *what, struct str *name, struct loc *at)
{
	const struct nft_token *t = nft_peek(p);

	if (t->kind != NFT_TOK_WORD && t->kind != NFT_TOK_QUOTED)
		return nft_expected(p, "%s", what);
	*name = nft_token_text(t);
	if (at)
		*at = nft_token_loc(t);
	nft_next(p);
	return true;
}

bool nft_need_quoted(struct nft_parse *p, const char *what, struct str *text)
{
	return nft_need_name(p, what, text, NULL);
}

bool nft_need_number(struct nft_parse *p, const char *what, uint64_t max, uint64_t *v)
{
	const struct nft_token *t = nft_peek(p);

	*v = 0;
	if (t->kind == NFT_TOK_POISON) {
		nft_next(p);
		return true;
	}
	if (t->kind != NFT_TOK_NUMBER)
		return nft_expected(p, "%s", what);
	if (!str_u64(nft_token_text(t), 0, max, v))
		nft_error(p, nft_token_loc(t), "%s must be from 0 to %llu, not %.*s", what, (unsigned long long)max,
			  STR_ARG(nft_token_text(t)));
	nft_next(p);
	return true;
}

bool nft_is_end(struct nft_parse *p)
{
	unsigned k = nft_peek(p)->kind;

	return k == NFT_TOK_LINE || k == ';' || k == '}' || k == NFT_TOK_END;
}

void nft_skip_lines(struct nft_parse *p)
{
	while (nft_is(p, NFT_TOK_LINE))
		nft_next(p);
}

const struct nft_token *nft_base(struct nft_parse *p)
{
	const struct nft_frame *f = p->frame;

	for (; f; f = f->below) {
		p->t = f->t;
		p->end = f->end;
	}
	p->frame = NULL;
	p->is_poisoned = false;
	return p->t;
}

bool nft_begins_block(const struct nft_token *t, const struct nft_token *end)
{
	static const char *const words[] = { "table", "chain", "set", "map" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (end - t > 3 && token_is_word(t, words[i]) && t[1].kind == NFT_TOK_WORD &&
		    (t[2].kind == '{' || (i == 0 && t[3].kind == '{')))
			return true;
	return false;
}

unsigned nft_braces_open(const struct nft_token *from, const struct nft_token *to)
{
	unsigned open = 0;

	for (; from < to; from++)
		open += (from->kind == '{') - (unsigned)(from->kind == '}' && open > 0);
	return open;
}

void nft_skip_rest(struct nft_parse *p, unsigned open)
{
	nft_base(p);
	if (open && nft_begins_block(p->t, p->end))
		return;
	for (; p->t < p->end; p->t++) {
		unsigned k = p->t->kind;

		if (open == 0 && (k == NFT_TOK_LINE || k == ';' || k == '}'))
			return;
		if (k == '{')
			open++;
		else if (k == '}')
			open--;
		else if (k == NFT_TOK_LINE && nft_begins_block(p->t + 1, p->end))
			return;
	}
}

/* Was a brace opened in the line that ends here, and not closed? */
static bool opens_brace(const struct nft_token *line)
{
	int open = 0;

	for (line--; line->kind != NFT_TOK_LINE; line--)
		open += (line->kind == '{') - (line->kind == '}');
	return open > 0;
}

/* Values may go on in the next line behind a ',' or in front of one, or of the '}', if it is not that of the chain. */
static bool goes_on(const struct nft_token *line)
{
	const struct nft_token *end = line;
	unsigned before = line[-1].kind, after;

	while (line->kind == NFT_TOK_LINE)
		line++;
	after = line->kind;
	return before == ',' || before == '{' || before == ':' || before == '.' || before == NFT_TOK_LINE || after == ',' ||
	       after == ':' || after == '.' || (after == '}' && !opens_brace(end));
}

void nft_skip_rule(struct nft_parse *p, unsigned open)
{
	nft_base(p);
	if (open && nft_begins_block(p->t, p->end))
		return;
	for (; p->t < p->end; p->t++) {
		unsigned k = p->t->kind;

		if (open == 0 && (k == NFT_TOK_LINE || k == ';' || k == '}'))
			return;
		if (k == NFT_TOK_LINE && (!goes_on(p->t) || nft_begins_block(p->t + 1, p->end)))
			return;
		open += (k == '{') - (unsigned)(k == '}');
	}
}

void nft_skip_block(struct nft_parse *p)
{
	unsigned open = 1;

	nft_base(p);
	for (; p->t < p->end && open; p->t++)
		open += (p->t->kind == '{') - (unsigned)(p->t->kind == '}');
}

/* ---------- errors ---------- */

static bool is_told(struct nft_parse *p, struct loc at)
{
	void **slot = strmap_slot(p->a, &p->complaints, arena_printf(p->a, "%u:%u", at.source, at.off));
	bool is = *slot != NULL;

	*slot = p;
	return is;
}

struct diag *nft_error(struct nft_parse *p, struct loc at, const char *fmt, ...)
{
	struct str text;
	va_list ap;

	p->f->lacks_rules = true;
	if (is_told(p, at))
		return NULL;
	va_start(ap, fmt);
	text = arena_vprintf(p->a, fmt, ap);
	va_end(ap);
	return diag_error(p->d, at, "%.*s", STR_ARG(text));
}

bool nft_expected(struct nft_parse *p, const char *fmt, ...)
{
	const struct nft_token *t = nft_peek(p);
	struct str text;
	va_list ap;

	p->f->lacks_rules = true;
	if (t->kind == NFT_TOK_POISON)
		return false;
	va_start(ap, fmt);
	text = arena_vprintf(p->a, fmt, ap);
	va_end(ap);
	if (t->kind == NFT_TOK_LINE || t->kind == NFT_TOK_END || t->len == 0)
		nft_error(p, nft_token_loc(t), "expected %.*s, found the end of the %s", STR_ARG(text),
			  t->kind == NFT_TOK_END || t->len == 0 ? "file" : "line");
	else
		nft_error(p, nft_token_loc(t), "expected %.*s, found '%.*s'", STR_ARG(text), (int)t->len, t->p);
	return false;
}

void nft_hint(struct nft_parse *p, struct diag *g, const char *fmt, ...)
{
	va_list ap;

	if (!g)
		return;
	va_start(ap, fmt);
	g->hint = arena_vprintf(p->a, fmt, ap);
	va_end(ap);
}

struct loc nft_span(struct loc from, struct loc to)
{
	if (from.source != to.source || to.off < from.off)
		return from;
	return (struct loc){ from.source, from.off, to.off + to.len - from.off };
}
