/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finding all defines, and what a name means at a place. See symbol.h. */
#include "lang/nft/symbol.h"

struct open_symbol {
	struct nft_symbol *symbol;
	unsigned depth;
};
struct symbol_reader {
	struct arena *a;
	struct diags *d;
	struct nft_symbols *s;
	const struct nft_token *t;
	bool is_good;
	unsigned depth;
	VEC(struct open_symbol) open; /* those whose block has not ended */
};

static bool is_word(const struct nft_token *t, const char *word)
{
	return t->kind == NFT_TOK_WORD && str_is(nft_token_text(t), word);
}

static void complain(struct symbol_reader *r, const struct nft_token *t, const char *what)
{
	struct str text = t->kind == NFT_TOK_LINE || t->kind == NFT_TOK_END ? STR("the end of the line") : nft_token_text(t);

	if (t->kind != NFT_TOK_POISON)
		diag_error(r->d, nft_token_loc(t), "expected %s, found '%.*s'", what, STR_ARG(text));
	r->is_good = false;
}

static const struct nft_token *end_of_line(const struct nft_token *t)
{
	while (t->kind != NFT_TOK_LINE && t->kind != NFT_TOK_END && t->kind != ';')
		t++;
	return t;
}

/* Is there a value here? Two values side by side, or two signs, are a slip that would be hard to understand where it is used. */
static bool check_value(struct symbol_reader *r, const struct nft_token *t, const struct nft_token *end)
{
	unsigned depth = 0;
	bool wants_value = true;

	for (; t < end; t++) {
		bool is_value = t->kind >= NFT_TOK_WORD && t->kind <= NFT_TOK_QUOTED;

		if (t->kind == '{' || t->kind == '(')
			depth++;
		else if ((t->kind == '}' || t->kind == ')') && depth > 0)
			depth--;
		else if (t->kind == '@' || t->kind == '[' || t->kind == NFT_TOK_JUNK || (is_value && !wants_value && depth == 0)) {
			complain(r, t, wants_value ? "a value" : "the end of the line");
			return false;
		}
		wants_value = t->kind == '$' || (!is_value && t->kind != '}' && t->kind != ')') ||
			      is_word(t, "jump") || is_word(t, "goto");
	}
	return true;
}

static void add_symbol(struct symbol_reader *r, const struct nft_token *name, const struct nft_token *value,
		       const struct nft_token *end)
{
	struct nft_symbol *n = arena_new(r->a, struct nft_symbol, 1);
	struct nft_symbol **slot = (struct nft_symbol **)strmap_slot(r->a, &r->s->last, nft_token_text(name));
	struct open_symbol *o = vec_add(r->a, &r->open);

	*n = (struct nft_symbol){ name, value, end, NULL, *slot };
	*slot = n;
	*o = (struct open_symbol){ n, r->depth };
}

static void check_known(struct symbol_reader *r, const struct nft_token *name, bool is_new)
{
	const struct nft_symbol *later, *known = nft_symbol_find(r->s, nft_token_text(name), name, &later);
	struct str text = nft_token_text(name);
	struct diag *g;
	uint32_t line, col;

	if (is_new && known) {
		source_place(r->d->sources, nft_token_loc(known->name), &line, &col);
		g = diag_error(r->d, nft_token_loc(name), "'%.*s' is defined already, at line %u", STR_ARG(text), line);
		diag_hint(r->d, g, "write 'redefine %.*s = ...' to give it another value", STR_ARG(text));
		r->is_good = false;
	} else if (!is_new && !known) {
		diag_error(r->d, nft_token_loc(name), "'%.*s' is not defined here", STR_ARG(text));
		r->is_good = false;
	}
}

/* From the word behind define, redefine or undefine. */
static void read_define(struct symbol_reader *r, bool is_new, bool is_undefine)
{
	const struct nft_token *name = r->t, *value, *end;

	if (name->kind != NFT_TOK_WORD) {
		complain(r, name, "a name");
		r->t = end_of_line(name);
		return;
	}
	check_known(r, name, is_new);
	r->t++;
	if (is_undefine) {
		add_symbol(r, name, NULL, NULL);
		return;
	}
	if (r->t->kind != '=') {
		complain(r, r->t, "'=' and a value");
		r->t = end_of_line(r->t);
		return;
	}
	value = ++r->t;
	end = nft_symbol_value_end(value);
	r->t = end;
	if (value == end)
		complain(r, value, "a value");
	else if (end->kind == NFT_TOK_END)
		complain(r, end, "'}'");
	else
		check_value(r, value, end);
	add_symbol(r, name, value, end);
}

/* A block that is not closed ends where the next block of a table begins; else everything behind would be lost. */
const struct nft_token *nft_symbol_value_end(const struct nft_token *t)
{
	unsigned depth = 0;

	for (; t->kind != NFT_TOK_END; t++) {
		if (t->kind == '{')
			depth++;
		else if (t->kind == '}' && depth == 0)
			break;
		else if (t->kind == '}')
			depth--;
		else if (depth == 0 && (t->kind == NFT_TOK_LINE || t->kind == ';'))
			break;
		else if (t->kind == NFT_TOK_LINE && (is_word(t + 1, "define") || is_word(t + 1, "table") || is_word(t + 1, "chain")))
			break;
	}
	return t;
}

static void close_block(struct symbol_reader *r)
{
	r->depth -= r->depth > 0;
	while (r->open.n && r->open.v[r->open.n - 1].depth > r->depth)
		r->open.v[--r->open.n].symbol->until = r->t;
}

bool nft_symbols_read(struct arena *a, struct diags *d, struct nft_symbols *s, const struct nft_tokens *tok)
{
	struct symbol_reader r = { .a = a, .d = d, .s = s, .t = tok->all.v, .is_good = true };
	bool begins = true;

	while (r.t->kind != NFT_TOK_END) {
		const struct nft_token *t = r.t++;

		if (begins && (is_word(t, "define") || is_word(t, "redefine") || is_word(t, "undefine"))) {
			read_define(&r, is_word(t, "define"), is_word(t, "undefine"));
			continue;
		}
		if (t->kind == '{')
			r.depth++;
		else if (t->kind == '}')
			close_block(&r);
		begins = t->kind == '{' || t->kind == '}' || t->kind == ';' || t->kind == NFT_TOK_LINE;
	}
	return r.is_good;
}

const struct nft_symbol *nft_symbol_find(const struct nft_symbols *s, struct str name, const struct nft_token *at,
					 const struct nft_symbol **later)
{
	const struct nft_symbol *n = strmap_get(&s->last, name);

	*later = NULL;
	for (; n; n = n->before) {
		if (n->name > at)
			*later = n;
		else if (n->name != at && (!n->until || at < n->until))
			return n->value ? n : NULL;
	}
	return NULL;
}

const char *nft_symbol_nearest(struct arena *a, const struct nft_symbols *s, struct str name, const struct nft_token *at)
{
	VEC(const char *) all = { 0 };
	const struct nft_symbol *later;

	for (size_t i = 0; i < s->last.cap; i++)
		if (s->last.entry[i].is_used && nft_symbol_find(s, s->last.entry[i].key, at, &later))
			*vec_add(a, &all) = arena_cstr(a, s->last.entry[i].key);
	return str_nearest(name, all.v, all.n);
}
