/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Expressions: what a packet has, with masks and shifts, several of them together, and through maps; and the other side of a
 * comparison, whose types the left side gives.
 *
 *     ip saddr . tcp dport          CONCAT(SELECT, SELECT)
 *     meta mark & 0xff              BINOP(AND, SELECT, NUMBER)
 *     ip saddr map { ... }          MAP(SELECT, SETLIT)
 */
#include "lang/nft/parse.h"

uint16_t nft_expr_bits(const struct nft_expr *e)
{
	switch (e->kind) {
	case NFT_SELECT:
		if (e->sel == NFT_SEL_TCPOPT_RAW)
			return e->payload.n_bits;
		return nft_type_table[e->type].bits && e->type != NFT_TYPE_IFNAME && nft_select_table[e->sel].type == NFT_TYPE_NONE
			       ? nft_type_table[e->type].bits
			       : nft_select_table[e->sel].bits;
	case NFT_PAYLOAD:
		return e->payload.n_bits;
	case NFT_BINOP:
		return nft_expr_bits(e->part[0]);
	case NFT_NUMGEN:
	case NFT_HASH:
		return 32;
	default:
		return nft_type_table[e->type].bits;
	}
}

static const char *what_of(struct nft_parse *p, const struct nft_expr *e)
{
	const struct nft_select_row *r = &nft_select_table[e->sel];

	if (e->kind == NFT_BINOP)
		return what_of(p, e->part[0]);
	if (e->kind == NFT_SELECT && r->name) {
		if (!p->what[e->sel])
			p->what[e->sel] = r->kind == 1 && r->source == NFT_META ? r->name : arena_printf(p->a, "%s %s", r->word, r->name).p;
		return p->what[e->sel];
	}
	return e->kind == NFT_SELECT ? r->word : e->kind == NFT_PAYLOAD ? "these bits" : nft_type_table[e->type].name;
}

struct nft_want nft_want_of(struct nft_parse *p, const struct nft_expr *e)
{
	return (struct nft_want){ e->type, nft_expr_bits(e), what_of(p, e) };
}

static size_t wants_of(struct nft_parse *p, const struct nft_expr *e, struct nft_want *w)
{
	if (e->kind != NFT_CONCAT) {
		w[0] = nft_want_of(p, e);
		return 1;
	}
	for (uint32_t i = 0; i < e->n_parts; i++)
		w[i] = nft_want_of(p, e->part[i]);
	return e->n_parts;
}

/* ---------- what a packet has ---------- */

static struct nft_expr *basic(struct nft_parse *p, unsigned level);

static int level_of(struct nft_parse *p, enum nft_binop *op)
{
	static const struct {
		const char *word;
		enum nft_binop op;
		int level;
	} words[] = { { "or", NFT_OR, 0 }, { "xor", NFT_XOR, 1 }, { "and", NFT_AND, 2 }, { "lshift", NFT_LSHIFT, 3 }, { "rshift", NFT_RSHIFT, 3 } };
	static const unsigned signs[] = { '|', '^', '&', NFT_TOK_LSHIFT, NFT_TOK_RSHIFT };

	for (size_t i = 0; i < 5; i++)
		if (nft_is(p, signs[i]) || nft_is_word(p, words[i].word)) {
			*op = words[i].op;
			return words[i].level;
		}
	return -1;
}

static struct nft_expr *primary(struct nft_parse *p)
{
	struct loc at = nft_token_loc(nft_peek(p));
	struct nft_expr *e;

	if (nft_is(p, '(')) {
		if (p->depth >= NFT_DEPTH)
			return nft_error(p, at, "parentheses are nested too deep"), NULL;
		p->depth++;
		nft_next(p);
		e = basic(p, 0);
		p->depth--;
		return e && nft_need(p, ')') ? e : NULL;
	}
	if (nft_select_is_next(p)) {
		if (p->depth >= NFT_DEPTH)
			return nft_error(p, at, "expressions are nested too deep"), NULL;
		p->depth++;
		e = nft_select(p);
		p->depth--;
		return e;
	}
	return nft_expected(p, "a field of the packet"), NULL;
}

static struct nft_expr *binop_right(struct nft_parse *p, const struct nft_expr *left, enum nft_binop op, unsigned level)
{
	struct nft_want w = nft_want_of(p, left), shift = { NFT_TYPE_INTEGER, 32, "a shift" };

	if (nft_select_is_next(p) && op < NFT_LSHIFT)
		return basic(p, level + 1);
	if (nft_is(p, '(') && op < NFT_LSHIFT) {
		struct nft_mark m = nft_mark(p);
		bool is_select;

		nft_next(p);
		is_select = nft_select_is_next(p);
		nft_back(p, m);
		if (is_select)
			return primary(p);
	}
	return nft_value_operand(p, op >= NFT_LSHIFT ? &shift : &w);
}

static struct nft_expr *binop(struct nft_parse *p, enum nft_binop op, struct nft_expr *left, struct nft_expr *right)
{
	struct nft_expr *e = nft_expr_new(p, NFT_BINOP, nft_span(left->at, right->at));

	e->op = op;
	e->type = left->type;
	e->part = arena_new(p->a, struct nft_expr *, 2);
	e->part[0] = left;
	e->part[1] = right;
	e->n_parts = 2;
	return e;
}

static struct nft_expr *basic(struct nft_parse *p, unsigned level)
{
	struct nft_expr *e = level >= 3 ? primary(p) : basic(p, level + 1), *right;
	enum nft_binop op = NFT_AND;

	while (e && level_of(p, &op) == (int)level) {
		nft_next(p);
		right = binop_right(p, e, op, level);
		if (!right)
			return NULL;
		e = binop(p, op, e, right);
	}
	return e;
}

struct nft_expr *nft_expr(struct nft_parse *p)
{
	struct nft_expr *e = basic(p, 0), *all, *part[NFT_MAX_KEYS];
	uint32_t n = 0;

	if (!e || !nft_is(p, '.'))
		return e;
	part[n++] = e;
	while (nft_take(p, '.')) {
		if (n == NFT_MAX_KEYS)
			return nft_expected(p, "at most %d fields together", NFT_MAX_KEYS), NULL;
		e = basic(p, 0);
		if (!e)
			return NULL;
		part[n++] = e;
	}
	all = nft_expr_new(p, NFT_CONCAT, nft_span(part[0]->at, e->at));
	all->part = arena_new(p->a, struct nft_expr *, n);
	memcpy(all->part, part, n * sizeof *part);
	all->n_parts = n;
	return all;
}

/* ---------- verdicts ---------- */

static const struct {
	const char *word;
	enum verdict verdict;
} verdicts[] = { { "accept", VERDICT_ACCEPT }, { "drop", VERDICT_DROP },     { "continue", VERDICT_NONE }, { "return", VERDICT_RETURN },
		 { "jump", VERDICT_JUMP },     { "goto", VERDICT_GOTO },     { "queue", VERDICT_QUEUE } };

bool nft_verdict_is_next(struct nft_parse *p)
{
	for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
		if (nft_is_word(p, verdicts[i].word))
			return true;
	return false;
}

struct nft_expr *nft_verdict(struct nft_parse *p)
{
	struct nft_expr *e = nft_expr_new(p, NFT_VERDICT, nft_token_loc(nft_peek(p)));
	size_t i = 0, n = sizeof verdicts / sizeof *verdicts;

	e->type = NFT_TYPE_VERDICT;
	if (nft_is(p, NFT_TOK_POISON)) {
		nft_next(p);
		return e;
	}
	while (i < n && !nft_take_word(p, verdicts[i].word))
		i++;
	if (i == n)
		return nft_expected(p, "a verdict: accept, drop, continue, return, jump CHAIN or goto CHAIN"), NULL;
	e->verdict.verdict = verdicts[i].verdict;
	if (verdicts[i].verdict != VERDICT_JUMP && verdicts[i].verdict != VERDICT_GOTO)
		return e;
	if (nft_is(p, NFT_TOK_POISON))
		return nft_next(p), e;
	if (!nft_need_name(p, "a chain's name", &e->verdict.chain, &e->verdict.chain_at))
		return NULL;
	e->at = nft_span(e->at, e->verdict.chain_at);
	if (p->table && !nft_chain_find(p->table, e->verdict.chain))
		*vec_add(p->a, &p->jumps) = (struct nft_jump){ p->table, e->verdict.chain, e->verdict.chain_at, false };
	return e;
}

/* ---------- maps ---------- */

static void check_key(struct nft_parse *p, const struct nft_expr *key, const struct nft_expr *ref)
{
	struct nft_want have[NFT_MAX_KEYS], want[NFT_MAX_KEYS];
	size_t n = wants_of(p, key, have), m = nft_set_wants(p, ref->set, want);

	if (n != m) {
		nft_error(p, ref->at, "'%.*s' has keys of %zu fields, and here are %zu", STR_ARG(ref->set->name), m, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (!nft_want_fits(&have[i], &want[i])) {
			nft_error(p, ref->at, "'%.*s' has keys of the type %s, and %s is of the type %s", STR_ARG(ref->set->name),
				  nft_type_table[want[i].type].name, have[i].what, nft_type_table[have[i].type].name);
			return;
		}
}

bool nft_want_fits(const struct nft_want *have, const struct nft_want *want)
{
	enum nft_type_kind h = nft_type_table[have->type].kind, w = nft_type_table[want->type].kind;

	if (have->type == want->type)
		return have->type != NFT_TYPE_INTEGER || !have->bits || !want->bits || have->bits == want->bits || have->bits / 8 == want->bits / 8;
	if (have->type == NFT_TYPE_NONE || want->type == NFT_TYPE_NONE)
		return true;
	if (have->type == NFT_TYPE_INTEGER || want->type == NFT_TYPE_INTEGER)
		return h != NFT_KIND_NAME && w != NFT_KIND_NAME;
	return (have->type == NFT_TYPE_STRING || want->type == NFT_TYPE_STRING) && h == w && have->type != NFT_TYPE_IFACE_INDEX &&
	       want->type != NFT_TYPE_IFACE_INDEX;
}

struct nft_expr *nft_setlit(struct nft_parse *p, const struct nft_want *key, size_t n_key, const struct nft_want *data, size_t n_data)
{
	struct nft_expr *e = nft_expr_new(p, NFT_SETLIT, nft_token_loc(nft_peek(p)));

	e->lit = arena_new(p->a, struct nft_set, 1);
	e->lit->at = e->at;
	e->lit->flags = NFT_SET_CONSTANT;
	e->lit->is_map = n_data > 0;
	for (size_t i = 0; i < n_key; i++)
		*vec_add(p->a, &e->lit->key) = key[i].type;
	for (size_t i = 0; i < n_data; i++)
		*vec_add(p->a, &e->lit->data) = data[i].type;
	if (!nft_elems(p, e->lit, key, data))
		return NULL;
	if (e->lit->elems.n == 0)
		nft_error(p, e->at, "this set is empty");
	return e;
}

/* Behind `map` or `vmap`. */
struct nft_expr *nft_map(struct nft_parse *p, struct nft_expr *key, const struct nft_want *data, size_t n_data)
{
	struct nft_expr *e = nft_expr_new(p, NFT_MAP, key->at), *body;
	struct nft_want want[NFT_MAX_KEYS];
	size_t n = wants_of(p, key, want);

	if (nft_is(p, '@')) {
		body = nft_setref(p);
		if (!body)
			return NULL;
		if (!body->set->is_map)
			nft_error(p, body->at, "'%.*s' is a set, and a map is needed here", STR_ARG(body->set->name));
		else
			check_key(p, key, body);
	} else if (nft_is(p, '{')) {
		body = nft_setlit(p, want, n, data, n_data);
	} else {
		return nft_expected(p, "'{' or @ and the name of a map"), NULL;
	}
	if (!body)
		return NULL;
	e->part = arena_new(p->a, struct nft_expr *, 2);
	e->part[0] = key;
	e->part[1] = body;
	e->n_parts = 2;
	e->type = body->kind == NFT_SETREF && body->set->data.n ? body->set->data.v[0] : n_data ? data[0].type : NFT_TYPE_NONE;
	e->at = nft_span(key->at, body->at);
	return e;
}

/* ---------- the right side ---------- */

static struct nft_expr *concat_values(struct nft_parse *p, const struct nft_want *w, size_t n)
{
	struct nft_expr *all = nft_expr_new(p, NFT_CONCAT, nft_token_loc(nft_peek(p)));

	if (n == 0)
		return nft_error(p, all->at, "nothing tells the type of what stands here"), NULL;
	if (n == 1)
		return nft_value(p, w);
	all->part = arena_new(p->a, struct nft_expr *, n);
	for (size_t i = 0; i < n; i++) {
		if (i && !nft_need(p, '.'))
			return NULL;
		all->part[i] = nft_value(p, &w[i]);
		if (!all->part[i])
			return NULL;
		all->n_parts++;
	}
	all->at = nft_span(all->at, all->part[n - 1]->at);
	return all;
}

struct nft_expr *nft_key(struct nft_parse *p, const struct nft_want *w, size_t n)
{
	return concat_values(p, w, n);
}

/* new,established */
struct nft_expr *nft_flags(struct nft_parse *p, const struct nft_want *w, struct nft_expr *first)
{
	struct nft_expr *all = nft_expr_new(p, NFT_LIST, first->at), *e;
	VEC(struct nft_expr *) part = { 0 };

	*vec_add(p->a, &part) = first;
	while (nft_take(p, ',')) {
		nft_skip_lines(p);
		e = nft_value_single(p, w);
		if (!e)
			return NULL;
		*vec_add(p->a, &part) = e;
		all->at = nft_span(first->at, e->at);
	}
	all->type = w->type;
	all->part = part.v;
	all->n_parts = (uint32_t)part.n;
	for (size_t i = 0; i < part.n; i++)
		all->lo |= part.v[i]->lo;
	all->hi = all->lo;
	return all;
}

struct nft_expr *nft_rhs(struct nft_parse *p, const struct nft_expr *left)
{
	struct nft_want w[NFT_MAX_KEYS];
	size_t n = wants_of(p, left, w);
	struct nft_expr *e;

	if (nft_is(p, '{'))
		return nft_setlit(p, w, n, NULL, 0);
	if (nft_is(p, '@')) {
		e = nft_setref(p);
		if (e && e->set->is_map)
			nft_error(p, e->at, "'%.*s' is a map, and a set is needed here", STR_ARG(e->set->name));
		else if (e)
			check_key(p, left, e);
		return e;
	}
	e = concat_values(p, w, n);
	if (e && n > 1)
		nft_hint(p, nft_error(p, e->at, "several fields together are compared with sets"), "put braces around the values");
	if (!e || n > 1 || !nft_is(p, ','))
		return e;
	if (nft_type_table[w[0].type].kind != NFT_KIND_BITMASK) {
		nft_hint(p, nft_error(p, nft_token_loc(nft_peek(p)), "%s is no set of flags, so it cannot be compared with a list", w[0].what),
			 "write the values in braces: { A, B }");
		return NULL;
	}
	return nft_flags(p, w, e);
}

/* ---------- what statements take ---------- */

static bool is_constant_name(struct nft_parse *p, const struct nft_want *w)
{
	uint64_t v;

	return (w->type == NFT_TYPE_ETHER_TYPE || w->type == NFT_TYPE_INET_PROTO) && nft_is(p, NFT_TOK_WORD) &&
	       nft_name_find(&p->names, w->type, nft_token_text(nft_peek(p)), &v);
}

static bool is_select_in_parentheses(struct nft_parse *p)
{
	struct nft_mark m = nft_mark(p);
	bool is;

	while (nft_take(p, '('))
		;
	is = nft_select_is_next(p);
	nft_back(p, m);
	return is;
}

struct nft_expr *nft_operand(struct nft_parse *p, const struct nft_want *w, size_t n)
{
	struct nft_expr *e;

	if (is_select_in_parentheses(p) && !is_constant_name(p, w)) {
		e = nft_expr(p);
		if (e && nft_take_word(p, "map"))
			e = nft_map(p, e, w, n);
		return e;
	}
	e = concat_values(p, w, n);
	if (e && n == 1 && nft_is(p, ',') && nft_type_table[w->type].kind == NFT_KIND_BITMASK)
		e = nft_flags(p, w, e);
	return e;
}
