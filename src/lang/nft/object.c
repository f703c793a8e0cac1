/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Objects with a name: counters, quotas, limits, synproxies; helpers, timeouts, expectations, marks, which are kept as text. */
#include "lang/nft/parse.h"

static const char *const kinds[NFT_OBJ_COUNT] = { "", "counter", "quota", "limit", "ct helper", "ct timeout", "ct expectation", "secmark", "synproxy" };

const char *nft_object_name(enum nft_stmt_object kind)
{
	return kinds[kind];
}

/* Steps over the words of a kind. */
bool nft_object_is_next(struct nft_parse *p, enum nft_stmt_object *kind)
{
	for (unsigned i = NFT_OBJ_COUNTER; i < NFT_OBJ_COUNT; i++) {
		if (strncmp(kinds[i], "ct ", 3) == 0) {
			const struct nft_token *t = nft_peek2(p);

			if (!nft_is_word(p, "ct") || t->kind != NFT_TOK_WORD || !str_is(nft_token_text(t), kinds[i] + 3))
				continue;
			nft_next(p);
			nft_next(p);
		} else if (!nft_take_word(p, kinds[i])) {
			continue;
		}
		*kind = (enum nft_stmt_object)i;
		return true;
	}
	return false;
}

static struct nft_object *make(struct nft_parse *p, enum nft_stmt_object kind, struct str name, struct loc at)
{
	struct nft_object **slot = (struct nft_object **)strmap_slot(p->a, &p->table->object_by_name[kind], name);

	if (!*slot) {
		*slot = arena_new(p->a, struct nft_object, 1);
		(*slot)->kind = kind;
		(*slot)->name = name;
		(*slot)->at = at;
		*vec_add(p->a, &p->table->objects) = *slot;
	}
	return *slot;
}

static bool has_parameters(enum nft_stmt_object kind)
{
	return kind == NFT_OBJ_COUNTER || kind == NFT_OBJ_QUOTA || kind == NFT_OBJ_LIMIT || kind == NFT_OBJ_SYNPROXY;
}

static bool parameters(struct nft_parse *p, struct nft_object *o)
{
	switch (o->kind) {
	case NFT_OBJ_COUNTER:
		o->stmt->kind = NFT_STMT_COUNTER;
		return nft_stmt_counter_body(p, o->stmt);
	case NFT_OBJ_QUOTA:
		o->stmt->kind = NFT_STMT_QUOTA;
		return nft_stmt_quota_body(p, o->stmt);
	case NFT_OBJ_LIMIT:
		o->stmt->kind = NFT_STMT_LIMIT;
		return nft_stmt_limit_body(p, o->stmt);
	default:
		o->stmt->kind = NFT_STMT_SYNPROXY;
		return nft_stmt_synproxy_body(p, o->stmt);
	}
}

/* To the '}' that closes: its words with one blank between them. */
static bool as_text(struct nft_parse *p, struct nft_object *o)
{
	struct buf b = { .a = p->a };
	unsigned open = 0;

	for (;;) {
		const struct nft_token *t = nft_peek(p);

		if (t->kind == NFT_TOK_END)
			return nft_expected(p, "'}'");
		if (t->kind == '}' && open == 0)
			break;
		open += (t->kind == '{') - (unsigned)(t->kind == '}');
		nft_next(p);
		if (t->kind == NFT_TOK_LINE || t->kind == ';') {
			if (b.n && b.v[b.n - 1] != ';' && open == 0)
				buf_printf(&b, ";");
			continue;
		}
		if (t->kind != NFT_TOK_POISON)
			buf_printf(&b, "%s%.*s", b.n && t->kind != ',' && t->kind != ':' ? " " : "", (int)t->len, t->p);
	}
	if (b.n && b.v[b.n - 1] == ';')
		b.n--;
	o->text = b.n ? buf_str(&b) : STR("");
	return nft_need(p, '}');
}

/* NAME { ... }, or NAME and the parameters behind it */
bool nft_object_block(struct nft_parse *p, enum nft_stmt_object kind)
{
	struct nft_object *o;
	struct str name;
	struct loc at;

	if (!nft_need_name(p, "the name of an object", &name, &at))
		return false;
	o = make(p, kind, name, at);
	o->stmt = has_parameters(kind) ? nft_stmt_new(p, NFT_STMT_COUNTER, at) : NULL;
	if (!nft_take(p, '{')) {
		if (has_parameters(kind))
			return nft_is_end(p) || parameters(p, o);
		return nft_expected(p, "'{'");
	}
	o->handle = nft_peek(p)->handle;
	if (!o->stmt)
		return as_text(p, o);
	for (;;) {
		if (nft_take(p, NFT_TOK_LINE) || nft_take(p, ';'))
			continue;
		if (nft_take(p, '}'))
			return true;
		if (nft_take_word(p, "comment") ? !nft_need_quoted(p, "a comment in quotes", &o->comment) : !parameters(p, o))
			return false;
		if (!nft_is_end(p) && !nft_is_word(p, "comment"))
			return nft_expected(p, "'}'");
		if (nft_is(p, NFT_TOK_END))
			return nft_expected(p, "'}'");
	}
}
