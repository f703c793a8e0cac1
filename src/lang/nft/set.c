/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Named sets and maps: their blocks, their types, and who refers to them. */
#include "lang/nft/parse.h"

/* ---------- types ---------- */

static struct nft_want want_of_type(struct nft_parse *p, enum nft_type type, const struct nft_expr *of)
{
	if (of)
		return nft_want_of(p, of);
	return (struct nft_want){ type, nft_type_table[type].bits, nft_type_table[type].name };
}

size_t nft_set_wants(struct nft_parse *p, const struct nft_set *s, struct nft_want *key)
{
	for (size_t i = 0; i < s->key.n; i++)
		key[i] = want_of_type(p, s->key.v[i], i < s->key_typeof.n ? s->key_typeof.v[i] : NULL);
	return s->key.n;
}

size_t nft_set_data_wants(struct nft_parse *p, const struct nft_set *s, struct nft_want *data)
{
	const struct nft_expr *of = s->data_typeof;

	for (size_t i = 0; i < s->data.n; i++)
		data[i] = want_of_type(p, s->data.v[i], of && of->kind == NFT_CONCAT ? of->part[i] : of);
	return s->data.n;
}

void nft_set_key_of(struct nft_parse *p, struct nft_set *s, const struct nft_expr *key)
{
	for (uint32_t i = 0; i < (key->kind == NFT_CONCAT ? key->n_parts : 1); i++) {
		const struct nft_expr *e = key->kind == NFT_CONCAT ? key->part[i] : key;

		*vec_add(p->a, &s->key) = e->type;
		*vec_add(p->a, &s->key_typeof) = e;
	}
}

struct nft_set *nft_lit_for(struct nft_parse *p, const struct nft_expr *key, enum nft_stmt_object object)
{
	struct nft_set *s = arena_new(p->a, struct nft_set, 1);

	s->flags = NFT_SET_CONSTANT;
	s->is_map = true;
	s->data_object = object;
	s->at = key->at;
	nft_set_key_of(p, s, key);
	return s;
}

bool nft_elems_for(struct nft_parse *p, struct nft_set *s)
{
	struct nft_want want[NFT_MAX_KEYS], data[NFT_MAX_KEYS];

	nft_set_wants(p, s, want);
	nft_set_data_wants(p, s, data);
	return nft_elems(p, s, want, data);
}

static bool type_word(struct nft_parse *p, enum nft_type *type)
{
	VEC(const char *) names = { 0 };
	const struct nft_token *t = nft_peek(p);
	const char *near;

	for (unsigned i = 1; i < NFT_TYPE_COUNT; i++) {
		*vec_add(p->a, &names) = nft_type_table[i].name;
		if (nft_take_word(p, nft_type_table[i].name)) {
			*type = (enum nft_type)i;
			return true;
		}
	}
	near = t->kind == NFT_TOK_WORD ? str_nearest(nft_token_text(t), names.v, names.n) : NULL;
	if (near)
		nft_hint(p, nft_error(p, nft_token_loc(t), "there is no type '%.*s'", STR_ARG(nft_token_text(t))), "did you mean '%s'?", near);
	else
		nft_expected(p, "a type such as ipv4_addr or inet_service");
	return false;
}

/* The data of a map: a type, several, or a kind of object. */
static bool data_types(struct nft_parse *p, struct nft_set *s)
{
	enum nft_stmt_object kind;
	enum nft_type type;

	if (nft_take_word(p, "interval"))
		s->is_data_interval = true;
	if (nft_object_is_next(p, &kind)) {
		s->data_object = kind;
		return true;
	}
	do {
		if (!type_word(p, &type))
			return false;
		*vec_add(p->a, &s->data) = type;
	} while (nft_take(p, '.'));
	return true;
}

static bool types(struct nft_parse *p, struct nft_set *s)
{
	struct loc at = nft_token_loc(nft_peek(p));
	enum nft_type type;

	if (s->key.n)
		return nft_error(p, at, "the type of this set was said already"), false;
	do {
		if (!type_word(p, &type))
			return false;
		if (type == NFT_TYPE_VERDICT || type == NFT_TYPE_INTEGER || type == NFT_TYPE_STRING || type == NFT_TYPE_BITMASK)
			nft_hint(p, nft_error(p, at, "keys of the type %s have no size", nft_type_table[type].name), "write 'typeof' and an expression");
		if (s->key.n < NFT_MAX_KEYS)
			*vec_add(p->a, &s->key) = type;
	} while (nft_take(p, '.'));
	if (!s->is_map)
		return true;
	return nft_need(p, ':') && data_types(p, s);
}

static bool typeof_data(struct nft_parse *p, struct nft_set *s)
{
	enum nft_stmt_object kind;
	struct nft_expr *e;

	if (nft_take_word(p, "verdict")) {
		*vec_add(p->a, &s->data) = NFT_TYPE_VERDICT;
		return true;
	}
	if (nft_take_word(p, "interval"))
		s->is_data_interval = true;
	if (nft_object_is_next(p, &kind)) {
		s->data_object = kind;
		return true;
	}
	e = nft_expr(p);
	if (!e)
		return false;
	s->data_typeof = e;
	for (uint32_t i = 0; i < (e->kind == NFT_CONCAT ? e->n_parts : 1); i++)
		*vec_add(p->a, &s->data) = e->kind == NFT_CONCAT ? e->part[i]->type : e->type;
	return true;
}

static bool typeofs(struct nft_parse *p, struct nft_set *s)
{
	struct nft_expr *e;

	if (s->key.n)
		return nft_expected(p, "one type only");
	e = nft_expr(p);
	if (!e)
		return false;
	nft_set_key_of(p, s, e);
	if (!s->is_map)
		return true;
	return nft_need(p, ':') && typeof_data(p, s);
}

/* ---------- the lines of a block ---------- */

static bool flags(struct nft_parse *p, struct nft_set *s)
{
	static const struct {
		const char *word;
		uint32_t flag;
	} all[] = { { "constant", NFT_SET_CONSTANT }, { "interval", NFT_SET_INTERVAL }, { "timeout", NFT_SET_TIMEOUT }, { "dynamic", NFT_SET_DYNAMIC } };

	do {
		size_t i = 0;

		while (i < 4 && !nft_take_word(p, all[i].word))
			i++;
		if (i == 4)
			return nft_expected(p, "constant, interval, timeout or dynamic");
		s->flags |= all[i].flag;
	} while (nft_take(p, ','));
	return true;
}

/* elements = ...: noted, and read when the types are known */
static bool elements(struct nft_parse *p, struct nft_mark *at)
{
	if (!nft_need(p, '='))
		return false;
	*at = nft_mark(p);
	nft_base(p);
	p->t = nft_symbol_value_end(p->t);
	return true;
}

static bool option(struct nft_parse *p, struct nft_set *s)
{
	if (nft_take_word(p, "flags"))
		return flags(p, s);
	if (nft_take_word(p, "timeout"))
		return s->has_timeout = true, nft_time(p, &s->timeout_ms);
	if (nft_take_word(p, "gc-interval"))
		return s->has_gc = true, nft_time(p, &s->gc_ms);
	if (nft_take_word(p, "size"))
		return s->has_size = true, nft_need_number(p, "a size", UINT32_MAX, &s->size);
	if (nft_take_word(p, "policy")) {
		if (!nft_is_word(p, "memory") && !nft_is_word(p, "performance"))
			return nft_expected(p, "memory or performance");
		s->policy = nft_token_text(nft_next(p));
		return true;
	}
	if (nft_take_word(p, "auto-merge"))
		return s->auto_merge = true;
	if (nft_take_word(p, "comment"))
		return nft_need_quoted(p, "a comment in quotes", &s->comment);
	if (nft_stmt_stateful_is_next(p)) {
		VEC(struct nft_stmt *) stmt = { s->stmt, s->n_stmts, s->n_stmts };
		struct nft_stmt *one = nft_stmt_stateful(p);

		if (!one)
			return false;
		*vec_add(p->a, &stmt) = one;
		s->stmt = stmt.v;
		s->n_stmts = (uint32_t)stmt.n;
		return true;
	}
	return nft_expected(p, "type, typeof, flags, elements, timeout, gc-interval, size, policy, auto-merge or comment");
}

static bool line(struct nft_parse *p, struct nft_set *s, struct nft_mark *elems)
{
	if (nft_take_word(p, "type"))
		return types(p, s);
	if (nft_take_word(p, "typeof"))
		return typeofs(p, s);
	if (nft_take_word(p, "elements"))
		return elements(p, elems);
	return option(p, s);
}

void nft_late_elems(struct nft_parse *p)
{
	struct nft_mark back = nft_mark(p);
	struct nft_table *table = p->table;

	for (size_t i = 0; i < p->late.n; i++) {
		nft_back(p, p->late.v[i].at);
		p->table = p->late.v[i].table;
		p->depth = 0;
		if (nft_elems_for(p, p->late.v[i].set) && !nft_is_end(p))
			nft_expected(p, "the end of the line");
	}
	p->late.n = 0;
	p->table = table;
	nft_back(p, back);
}

/* What a block says of a set that was there already must be the same; here the newer words hold, elements are added. */
bool nft_set_body(struct nft_parse *p, struct nft_set *s)
{
	struct nft_mark elems = { 0 };
	unsigned errors = p->d->n_errors;

	if (s->key.n)
		s->key.n = s->key_typeof.n = s->data.n = 0;
	for (;;) {
		const struct nft_token *from = nft_base(p);

		if (nft_take(p, NFT_TOK_LINE) || nft_take(p, ';'))
			continue;
		if (nft_take(p, '}'))
			break;
		if (nft_is(p, NFT_TOK_END))
			return nft_expected(p, "'}'");
		if (nft_define(p))
			continue;
		if (!line(p, s, &elems) || (!nft_is_end(p) && !nft_expected(p, "the end of the line")))
			nft_skip_rest(p, nft_braces_open(from, nft_base(p)));
	}
	if (!s->key.n && p->d->n_errors == errors)
		nft_hint(p, nft_error(p, s->at, "the type of '%.*s' is missing", STR_ARG(s->name)), "write 'type' or 'typeof' in its block");
	if (elems.t && s->key.n)
		*vec_add(p->a, &p->late) = (struct nft_late){ s, p->table, elems };
	return true;
}

struct nft_set *nft_set_make(struct nft_parse *p, struct nft_table *t, struct str name, struct loc at)
{
	struct nft_set **slot = (struct nft_set **)strmap_slot(p->a, &t->set_by_name, name);

	if (!*slot) {
		*slot = arena_new(p->a, struct nft_set, 1);
		(*slot)->name = name;
		(*slot)->at = at;
		*vec_add(p->a, &t->sets) = *slot;
	}
	return *slot;
}

/* Behind `set`, `map` or `meter`: NAME { ... } */
bool nft_set_block(struct nft_parse *p, bool is_map, bool is_meter)
{
	struct nft_set *s;
	struct str name;
	struct loc at;

	if (!nft_need_name(p, "a name", &name, &at) || !nft_need(p, '{'))
		return false;
	s = nft_set_make(p, p->table, name, at);
	if (s->key.n && s->is_map != is_map)
		nft_error(p, at, "'%.*s' is a %s already", STR_ARG(name), s->is_map ? "map" : "set");
	s->is_map = is_map;
	s->is_meter = is_meter;
	if (nft_is(p, NFT_TOK_LINE) && nft_peek(p)->handle)
		s->handle = nft_peek(p)->handle;
	return nft_set_body(p, s);
}

struct nft_expr *nft_setref(struct nft_parse *p)
{
	struct nft_expr *e = nft_expr_new(p, NFT_SETREF, nft_token_loc(nft_next(p)));
	VEC(const char *) names = { 0 };
	struct str name;
	struct loc at;
	const char *near;

	if (!nft_need_name(p, "the name of a set", &name, &at))
		return NULL;
	e->at = nft_span(e->at, at);
	e->set = p->table ? nft_set_find(p->table, name) : NULL;
	if (e->set) {
		e->type = e->set->key.n ? e->set->key.v[0] : NFT_TYPE_NONE;
		return e;
	}
	for (size_t i = 0; p->table && i < p->table->sets.n; i++)
		*vec_add(p->a, &names) = arena_cstr(p->a, p->table->sets.v[i]->name);
	near = str_nearest(name, names.v, names.n);
	nft_hint(p, nft_error(p, at, "there is no set or map '%.*s' in this table", STR_ARG(name)),
		 near ? "did you mean '%s'?" : "a set belongs to its table, and must be there before the rule", near);
	return NULL;
}
