/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Elements of sets and maps, between braces: keys, what a map has for them, and what is kept for each. */
#include "lang/nft/parse.h"

static bool time_of(struct nft_parse *p, uint64_t *ms)
{
	const struct nft_token *t = nft_peek(p);
	uint64_t s;

	*ms = 0;
	if (t->kind == NFT_TOK_POISON)
		return nft_next(p), true;
	if (t->kind == NFT_TOK_NUMBER && str_u64(nft_token_text(t), 10, UINT32_MAX, &s)) {
		*ms = s * 1000;
		return nft_next(p), true;
	}
	if (t->kind == NFT_TOK_WORD && str_is(nft_token_text(t), "never"))
		return nft_next(p), true;
	if (t->kind != NFT_TOK_WORD || !nft_value_time(nft_token_text(t), ms))
		return nft_expected(p, "a time such as 1h30m");
	nft_next(p);
	return true;
}

bool nft_time(struct nft_parse *p, uint64_t *ms)
{
	return time_of(p, ms);
}

bool nft_elem_options(struct nft_parse *p, struct nft_elem *e)
{
	VEC(struct nft_stmt *) stmt = { 0 };

	for (;;) {
		if (nft_take_word(p, "timeout")) {
			e->has_timeout = true;
			if (!time_of(p, &e->timeout_ms))
				return false;
		} else if (nft_take_word(p, "expires")) {
			e->has_expires = true;
			if (!time_of(p, &e->expires_ms))
				return false;
		} else if (nft_take_word(p, "comment")) {
			if (!nft_need_quoted(p, "a comment in quotes", &e->comment))
				return false;
		} else if (nft_stmt_stateful_is_next(p)) {
			struct nft_stmt *s = nft_stmt_stateful(p);

			if (!s)
				return false;
			*vec_add(p->a, &stmt) = s;
		} else {
			break;
		}
	}
	if (stmt.n) {
		e->stmt = stmt.v;
		e->n_stmts = (uint32_t)stmt.n;
	}
	return true;
}

static bool is_interval(const struct nft_expr *e)
{
	if (e->kind == NFT_CONCAT) {
		for (uint32_t i = 0; i < e->n_parts; i++)
			if (is_interval(e->part[i]))
				return true;
		return false;
	}
	return (e->kind == NFT_RANGE || e->kind == NFT_PREFIX || (e->kind == NFT_TEXT && e->is_prefix)) && (e->lo != e->hi || e->kind == NFT_TEXT);
}

/* What the set does not allow. Sets in rules allow all. */
static void check_elem(struct nft_parse *p, const struct nft_set *s, const struct nft_elem *e)
{
	if (s->name.n == 0)
		return;
	if (is_interval(e->key) && !(s->flags & NFT_SET_INTERVAL))
		nft_hint(p, nft_error(p, e->at, "set '%.*s' holds single values, and this is a range", STR_ARG(s->name)),
			 "add 'flags interval' to the set");
	if ((e->has_timeout || e->has_expires) && !(s->flags & NFT_SET_TIMEOUT) && !s->has_timeout)
		nft_hint(p, nft_error(p, e->at, "set '%.*s' has no timeouts", STR_ARG(s->name)), "add 'flags timeout' to the set");
}

static struct nft_expr *data_of(struct nft_parse *p, const struct nft_set *s, const struct nft_want *data)
{
	struct nft_expr *e;

	if (s->data_object) {
		e = nft_expr_new(p, NFT_OBJREF, nft_token_loc(nft_peek(p)));
		if (!nft_need_name(p, "the name of an object", &e->text, NULL))
			return NULL;
		if (p->table && !nft_object_find(p->table, s->data_object, e->text))
			nft_error(p, e->at, "there is no %s '%.*s' in this table", nft_object_name(s->data_object), STR_ARG(e->text));
		return e;
	}
	if (data[0].type == NFT_TYPE_VERDICT)
		return nft_verdict(p);
	return nft_key(p, data, s->data.n);
}

static bool elem(struct nft_parse *p, struct nft_set *s, const struct nft_want *key, const struct nft_want *data)
{
	struct nft_elem e = { .at = nft_token_loc(nft_peek(p)) };
	bool has_data = s->is_map && (s->data.n || s->data_object);

	if (nft_take(p, '*')) {
		e.key = nft_expr_new(p, NFT_ANY, e.at);
	} else {
		e.key = nft_key(p, key, s->key.n);
		if (e.key && nft_type_table[key[0].type].kind == NFT_KIND_BITMASK && s->key.n == 1 && has_data && nft_is(p, ','))
			e.key = nft_flags(p, key, e.key);
	}
	if (!e.key || !nft_elem_options(p, &e))
		return false;
	e.at = e.key->at;
	nft_skip_lines(p);
	if (has_data) {
		if (!nft_need(p, ':'))
			return false;
		nft_skip_lines(p);
		e.data = data_of(p, s, data);
		if (!e.data)
			return false;
		e.at = nft_span(e.at, e.data->at);
		if (!nft_elem_options(p, &e))
			return false;
	} else if (nft_is(p, ':')) {
		nft_hint(p, nft_error(p, nft_token_loc(nft_peek(p)), "this is a set, so its elements have nothing behind a ':'"), "a map is needed for that");
		return false;
	}
	check_elem(p, s, &e);
	*vec_add(p->a, &s->elems) = e;
	return true;
}

bool nft_elems(struct nft_parse *p, struct nft_set *s, const struct nft_want *key, const struct nft_want *data)
{
	bool is_good = true;

	if (!nft_need(p, '{'))
		return false;
	if (p->depth >= NFT_DEPTH)
		return nft_expected(p, "fewer braces inside each other");
	p->depth++;
	for (;;) {
		nft_skip_lines(p);
		if (nft_is(p, '}'))
			break;
		is_good = nft_is(p, '{') ? nft_elems(p, s, key, data) : elem(p, s, key, data);
		if (!is_good)
			break;
		nft_skip_lines(p);
		if (!nft_take(p, ','))
			break;
	}
	p->depth--;
	if (is_good && !nft_take(p, '}'))
		return nft_expected(p, "',' or '}'");
	return is_good;
}
