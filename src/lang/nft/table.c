/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Blocks of tables, read twice: first everything but rules, so that sets, objects and chains are there wherever in the block
 * they stand; then the rules, chain by chain, each from where its body begins.
 */
#include "lang/nft/parse.h"

/* The bodies of a table's chains: where each begins, and where the first reading saw its end. */
struct bodies {
	VEC(struct body {
		struct nft_chain *chain;
		struct nft_mark from;
		const struct nft_token *to;
	}) v;
};

struct nft_table *nft_table_make(struct nft_parse *p, enum nft_family fam, struct str name, struct loc at)
{
	struct nft_table *t = nft_table_find(p->f, fam, name);

	if (!t) {
		t = arena_new(p->a, struct nft_table, 1);
		t->family = fam;
		t->name = name;
		t->at = at;
		*vec_add(p->a, &p->f->tables) = t;
	}
	return t;
}

/* define, redefine and undefine were carried out before. */
bool nft_define(struct nft_parse *p)
{
	const struct nft_token *t = nft_peek(p);

	if (!nft_is_word(p, "define") && !nft_is_word(p, "redefine") && !nft_is_word(p, "undefine"))
		return false;
	nft_base(p);
	for (t = p->t + 1; t->kind != '=' && t->kind != NFT_TOK_LINE && t->kind != ';' && t->kind != NFT_TOK_END; t++)
		;
	p->t = t->kind == '=' ? nft_symbol_value_end(t + 1) : t;
	return true;
}

/* Behind '{' of a chain, to behind its '}'. for_rules: the second time. */
static bool chain_body(struct nft_parse *p, struct nft_chain *c, bool for_rules)
{
	for (;;) {
		const struct nft_token *from = nft_base(p);
		struct nft_rule *r;

		if (nft_take(p, NFT_TOK_LINE) || nft_take(p, ';'))
			continue;
		if (nft_take(p, '}'))
			return true;
		if (nft_is(p, NFT_TOK_END) || nft_begins_block(from, p->end))
			return for_rules || nft_expected(p, "'}' at the end of the chain");
		if (nft_define(p))
			continue;
		if (nft_chain_spec_is_next(p)) {
			if (for_rules || !nft_chain_spec(p, c) || (!nft_is_end(p) && !nft_expected(p, "the end of the line")))
				nft_skip_rest(p, nft_braces_open(from, nft_base(p)));
		} else if (!for_rules) {
			nft_skip_rule(p, 0);
		} else {
			r = nft_rule(p);
			if (r)
				*vec_add(p->a, &c->rules) = r;
		}
	}
}

/*
 * The rules, from the mark on. Both readings must see the same end: what lies between two ends would be lost, or be rules of
 * two chains.
 */
static bool chain_rules(struct nft_parse *p, const struct body *b)
{
	unsigned errors = p->d->n_errors;
	bool is_good;

	nft_back(p, b->from);
	is_good = chain_body(p, b->chain, true);
	if (is_good && errors == p->d->n_errors && p->t != b->to)
		return nft_expected(p, "the end of chain '%.*s' to be elsewhere", STR_ARG(b->chain->name));
	return is_good;
}

static bool chain_block(struct nft_parse *p, struct bodies *bodies)
{
	struct nft_chain *c;
	struct body *b;
	struct str name;
	struct loc at;
	bool is_good;

	if (!nft_need_name(p, "a chain's name", &name, &at) || !nft_need(p, '{'))
		return false;
	c = nft_chain_make(p, p->table, name, at);
	if (nft_is(p, NFT_TOK_LINE) && nft_peek(p)->handle)
		c->handle = nft_peek(p)->handle;
	b = vec_add(p->a, &bodies->v);
	*b = (struct body){ .chain = c, .from = nft_mark(p) };
	is_good = chain_body(p, c, false);
	b->to = p->t;
	return is_good;
}

bool nft_chain_block(struct nft_parse *p, struct nft_chain *c)
{
	struct body b = { .chain = c, .from = nft_mark(p) };

	if (!chain_body(p, c, false))
		return false;
	b.to = p->t;
	return chain_rules(p, &b);
}

static bool table_flags(struct nft_parse *p, struct nft_table *t)
{
	do {
		if (nft_take_word(p, "dormant"))
			t->is_dormant = true;
		else if (!nft_take_word(p, "owner") && !nft_take_word(p, "persist"))
			return nft_expected(p, "dormant, owner or persist");
	} while (nft_take(p, ','));
	return true;
}

static const char *const table_words[] = { "chain", "set", "map", "flowtable", "counter", "quota", "limit", "ct helper", "ct timeout",
					   "ct expectation", "secmark", "synproxy", "flags", "comment", "meter", "define", "include" };

static bool report_line(struct nft_parse *p)
{
	const struct nft_token *t = nft_peek(p);
	const char *near = NULL;

	if (t->kind == NFT_TOK_WORD)
		near = str_nearest(nft_token_text(t), table_words, sizeof table_words / sizeof *table_words);
	if (!near)
		return nft_expected(p, "chain, set, map, flowtable, an object, flags or comment");
	nft_hint(p, nft_error(p, nft_token_loc(t), "expected chain, set, map, flowtable or an object, found '%.*s'", STR_ARG(nft_token_text(t))), "did you mean '%s'?", near);
	return false;
}

/* Everything but chains. */
static bool other_line(struct nft_parse *p, struct nft_table *t)
{
	enum nft_stmt_object kind;

	if (nft_take_word(p, "set"))
		return nft_set_block(p, false, false);
	if (nft_take_word(p, "map"))
		return nft_set_block(p, true, false);
	if (nft_take_word(p, "meter"))
		return nft_set_block(p, false, true);
	if (nft_take_word(p, "flowtable"))
		return nft_flowtable_block(p);
	if (nft_take_word(p, "flags"))
		return table_flags(p, t);
	if (nft_take_word(p, "comment"))
		return nft_need_quoted(p, "a comment in quotes", &t->comment);
	if (nft_object_is_next(p, &kind))
		return nft_object_block(p, kind);
	return report_line(p);
}

/* Everything but rules; false: the block has no end. */
static bool table_block(struct nft_parse *p, struct nft_table *t, struct bodies *bodies)
{
	for (;;) {
		const struct nft_token *from = nft_base(p);

		if (nft_take(p, NFT_TOK_LINE) || nft_take(p, ';'))
			continue;
		if (nft_take(p, '}'))
			return true;
		if (nft_is(p, NFT_TOK_END))
			return nft_expected(p, "'}' at the end of table '%.*s'", STR_ARG(t->name));
		if (nft_define(p))
			continue;
		if (!(nft_take_word(p, "chain") ? chain_block(p, bodies) : other_line(p, t)))
			nft_skip_rest(p, nft_braces_open(from, nft_base(p)));
	}
}

bool nft_table_body(struct nft_parse *p, struct nft_table *t)
{
	struct nft_table *outer = p->table;
	struct bodies bodies = { 0 };
	struct nft_mark end;
	bool is_good;

	p->table = t;
	if (nft_is(p, NFT_TOK_LINE) && nft_peek(p)->handle)
		t->handle = nft_peek(p)->handle;
	is_good = table_block(p, t, &bodies);
	end = nft_mark(p);
	nft_late_elems(p);
	for (size_t i = 0; i < bodies.v.n; i++)
		chain_rules(p, &bodies.v.v[i]);
	nft_back(p, end);
	p->table = outer;
	return is_good;
}
