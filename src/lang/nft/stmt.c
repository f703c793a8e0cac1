/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules and their statements: comparisons, `set`, verdicts, and who reads the others. */
#include "lang/nft/parse.h"

struct nft_stmt *nft_stmt_new(struct nft_parse *p, enum nft_stmt_kind kind, struct loc at)
{
	struct nft_stmt *s = arena_new(p->a, struct nft_stmt, 1);

	s->kind = kind;
	s->at = at;
	return s;
}

/* ---------- comparisons ---------- */

static bool take_op(struct nft_parse *p, enum nft_op *op)
{
	static const struct {
		unsigned kind;
		const char *word;
		enum nft_op op;
	} ops[] = { { NFT_TOK_EQ, "eq", NFT_EQ }, { NFT_TOK_NE, "ne", NFT_NE }, { '<', "lt", NFT_LT }, { '>', "gt", NFT_GT },
		    { NFT_TOK_LE, "le", NFT_LE }, { NFT_TOK_GE, "ge", NFT_GE }, { '!', "!", NFT_NO_BIT } };

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (nft_take(p, ops[i].kind) || nft_take_word(p, ops[i].word)) {
			*op = ops[i].op;
			return true;
		}
	return false;
}

static bool is_flags(const struct nft_expr *e)
{
	return e->kind != NFT_CONCAT && nft_type_table[e->type].kind == NFT_KIND_BITMASK;
}

/* tcp flags syn / syn,ack: the same as tcp flags & (syn|ack) == syn */
static bool mask_form(struct nft_parse *p, struct nft_stmt *s)
{
	struct nft_want w = nft_want_of(p, s->match.left);
	struct nft_expr *mask = nft_value_single(p, &w), *e;

	if (mask && nft_is(p, ','))
		mask = nft_flags(p, &w, mask);
	if (!mask)
		return false;
	mask->kind = NFT_NUMBER;
	e = nft_expr_new(p, NFT_BINOP, nft_span(s->match.left->at, mask->at));
	e->op = NFT_AND;
	e->type = s->match.left->type;
	e->part = arena_new(p->a, struct nft_expr *, 2);
	e->part[0] = s->match.left;
	e->part[1] = mask;
	e->n_parts = 2;
	s->match.left = e;
	s->match.right->kind = NFT_NUMBER;
	s->match.op = s->match.op == NFT_NE ? NFT_NE : NFT_EQ;
	s->match.op_written = true;
	return true;
}

static bool is_order(enum nft_op op)
{
	return op >= NFT_LT && op <= NFT_GE;
}

static struct nft_stmt *compare(struct nft_parse *p, struct nft_expr *left)
{
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_MATCH, left->at);
	struct loc op_at = nft_token_loc(nft_peek(p));
	struct nft_expr *right;

	s->match.left = left;
	s->match.op_written = take_op(p, &s->match.op);
	if (left->kind == NFT_SELECT && left->sel == NFT_SEL_FIB && (nft_is_word(p, "exists") || nft_is_word(p, "missing")))
		left->type = NFT_TYPE_BOOLEAN;
	if (!s->match.op_written && !nft_value_is_next(p) && !nft_is(p, '{') && !nft_is(p, '@')) {
		nft_expected(p, "something to compare %s with", nft_want_of(p, left).what);
		return NULL;
	}
	right = s->match.right = nft_rhs(p, left);
	if (!right)
		return NULL;
	if (is_flags(left) && nft_take(p, '/') && !mask_form(p, s))
		return NULL;
	if (!s->match.op_written && is_flags(left) && left->kind == NFT_SELECT && (right->kind == NFT_NUMBER || right->kind == NFT_LIST))
		s->match.op = NFT_ANY_BIT;
	if (is_order(s->match.op) && (right->kind != NFT_NUMBER || left->kind == NFT_CONCAT))
		nft_error(p, op_at, "only single numbers are less or greater");
	if (s->match.op == NFT_NO_BIT && !is_flags(left))
		nft_hint(p, nft_error(p, op_at, "'!' is for flags"), "write '!='");
	s->at = nft_span(left->at, right->at);
	return s;
}

/* ---------- set ---------- */

static bool is_settable(const struct nft_expr *e)
{
	if (e->kind == NFT_PAYLOAD)
		return true;
	if (e->kind != NFT_SELECT)
		return false;
	switch (nft_select_table[e->sel].source) {
	case NFT_META:
		return e->sel == NFT_SEL_META_MARK || e->sel == NFT_SEL_META_PRIORITY || e->sel == NFT_SEL_META_PKTTYPE ||
		       e->sel == NFT_SEL_META_NFTRACE || e->sel == NFT_SEL_META_SECMARK || e->sel == NFT_SEL_META_BROUTE;
	case NFT_CT:
		return e->sel == NFT_SEL_CT_MARK || e->sel == NFT_SEL_CT_LABEL || e->sel == NFT_SEL_CT_ZONE || e->sel == NFT_SEL_CT_EVENT ||
		       e->sel == NFT_SEL_CT_SECMARK || e->sel == NFT_SEL_CT_HELPER;
	case NFT_HEADER:
	case NFT_TCPOPT:
		return true;
	default:
		return false;
	}
}

static struct nft_stmt *object_set(struct nft_parse *p, struct nft_expr *left)
{
	enum nft_stmt_object kind = left->sel == NFT_SEL_CT_HELPER ? NFT_OBJ_CT_HELPER : NFT_OBJ_SECMARK;

	return nft_stmt_named(p, NFT_STMT_OBJECT, kind, left->at);
}

static struct nft_stmt *mangle(struct nft_parse *p, struct nft_expr *left)
{
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_MANGLE, left->at);
	struct nft_want w = nft_want_of(p, left);

	if (!is_settable(left)) {
		nft_error(p, left->at, "%s cannot be set", w.what);
		return NULL;
	}
	if (left->sel == NFT_SEL_CT_HELPER || (left->sel == NFT_SEL_META_SECMARK && !nft_is(p, NFT_TOK_NUMBER) && !nft_select_is_next(p)))
		return object_set(p, left);
	s->set.left = left;
	s->set.right = nft_operand(p, &w, 1);
	if (!s->set.right)
		return NULL;
	s->at = nft_span(left->at, s->set.right->at);
	return s;
}

/* `counter name X`, `ct helper set "x"`, or through a map whose data are objects. */
struct nft_stmt *nft_stmt_named(struct nft_parse *p, enum nft_stmt_kind kind, enum nft_stmt_object object, struct loc at)
{
	struct nft_stmt *s = nft_stmt_new(p, kind, at);
	struct nft_expr *key;
	struct loc name_at;

	if (kind == NFT_STMT_OBJECT)
		s->object = object;
	if (nft_select_is_next(p)) {
		key = nft_expr(p);
		if (!key || !nft_need_word(p, "map"))
			return NULL;
		s->name_map = nft_object_map(p, key, object);
		return s->name_map ? s : NULL;
	}
	if (!nft_need_name(p, "the name of an object", &s->name, &name_at))
		return NULL;
	s->at = nft_span(at, name_at);
	if (p->table && !nft_object_find(p->table, object, s->name))
		nft_error(p, name_at, "there is no %s '%.*s' in table %.*s", nft_object_name(object), STR_ARG(s->name), STR_ARG(p->table->name));
	return s;
}

struct nft_stmt *nft_stmt_match(struct nft_parse *p)
{
	struct nft_expr *left = nft_expr(p);
	struct nft_want verdict = { NFT_TYPE_VERDICT, 0, "a verdict" };
	struct nft_stmt *s;

	if (!left)
		return NULL;
	if (left->kind == NFT_SELECT && left->sel == NFT_SEL_SOCKET_WILDCARD && nft_is_end(p))
		return nft_expected(p, "0 or 1"), NULL;
	if (nft_take_word(p, "vmap")) {
		s = nft_stmt_new(p, NFT_STMT_VERDICT, left->at);
		s->expr = nft_map(p, left, &verdict, 1);
		if (s->expr && s->expr->type != NFT_TYPE_VERDICT)
			nft_error(p, s->expr->part[1]->at, "this map has no verdicts");
		if (s->expr)
			s->at = s->expr->at;
		return s->expr ? s : NULL;
	}
	if (nft_take_word(p, "set"))
		return mangle(p, left);
	if (nft_take_word(p, "map")) {
		left = nft_map(p, left, NULL, 0);
		if (!left)
			return NULL;
	}
	return compare(p, left);
}

/* ---------- all statements ---------- */

static struct nft_stmt *verdict(struct nft_parse *p)
{
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_VERDICT, nft_token_loc(nft_peek(p)));

	s->expr = nft_verdict(p);
	if (s->expr)
		s->at = s->expr->at;
	return s->expr ? s : NULL;
}

static bool is_words(struct nft_parse *p, const char *a, const char *b)
{
	const struct nft_token *t = nft_peek2(p);

	return nft_is_word(p, a) && t->kind == NFT_TOK_WORD && str_is(nft_token_text(t), b);
}

/* ct timeout set "x", ct expectation set "x" */
static struct nft_stmt *ct_object(struct nft_parse *p)
{
	struct loc at = nft_token_loc(nft_next(p));
	enum nft_stmt_object kind = nft_is_word(p, "timeout") ? NFT_OBJ_CT_TIMEOUT : NFT_OBJ_CT_EXPECTATION;

	nft_next(p);
	return nft_need_word(p, "set") ? nft_stmt_named(p, NFT_STMT_OBJECT, kind, at) : NULL;
}

static const char *const statement_words[] = {
	"accept", "drop", "continue", "return", "jump", "goto", "queue", "counter", "limit", "quota", "last", "log", "reject", "snat", "dnat",
	"masquerade", "redirect", "tproxy", "notrack", "dup", "fwd", "add", "update", "delete", "meter", "flow", "synproxy", "xt", "reset",
	"comment", "ip", "ip6", "tcp", "udp", "icmp", "icmpv6", "ether", "vlan", "arp", "meta", "ct", "fib", "rt", "iif", "oif", "iifname",
	"oifname", "mark", "th", "sctp", "dccp", "udplite", "igmp", "esp", "ah", "comp", "socket", "numgen", "jhash", "symhash", "exthdr",
};

static struct nft_stmt *unknown(struct nft_parse *p)
{
	const struct nft_token *t = nft_peek(p);
	const char *near = NULL;

	if (t->kind == NFT_TOK_WORD)
		near = str_nearest(nft_token_text(t), statement_words, sizeof statement_words / sizeof *statement_words);
	if (near)
		nft_hint(p, nft_error(p, nft_token_loc(t), "expected a statement, found '%.*s'", STR_ARG(nft_token_text(t))), "did you mean '%s'?", near);
	else
		nft_expected(p, "a statement");
	return NULL;
}

static bool is_nat(struct nft_parse *p)
{
	return nft_is_word(p, "snat") || nft_is_word(p, "dnat") || nft_is_word(p, "masquerade") || nft_is_word(p, "redirect") ||
	       nft_is_word(p, "tproxy");
}

struct nft_stmt *nft_stmt(struct nft_parse *p)
{
	if (nft_is(p, NFT_TOK_POISON))
		return nft_next(p), NULL;
	if (nft_is_word(p, "queue") || nft_stmt_other_is_next(p))
		return nft_stmt_other(p);
	if (nft_verdict_is_next(p))
		return verdict(p);
	if (nft_stmt_stateful_is_next(p))
		return nft_stmt_stateful(p);
	if (is_nat(p))
		return nft_stmt_nat(p);
	if (nft_is_word(p, "log"))
		return nft_stmt_log(p);
	if (nft_is_word(p, "reject"))
		return nft_stmt_reject(p);
	if (nft_is_word(p, "add") || nft_is_word(p, "update") || nft_is_word(p, "delete") || nft_is_word(p, "meter") || nft_is_word(p, "set"))
		return nft_stmt_dynset(p);
	if (is_words(p, "ct", "timeout") || is_words(p, "ct", "expectation"))
		return ct_object(p);
	if (nft_select_is_next(p) || nft_is(p, '('))
		return nft_stmt_match(p);
	return unknown(p);
}

/* ---------- rules ---------- */

/* Behind it nothing of the rule happens any more. */
static bool is_terminal(const struct nft_stmt *s)
{
	if (s->kind == NFT_STMT_VERDICT)
		return s->expr->kind == NFT_VERDICT && s->expr->verdict.verdict != VERDICT_NONE;
	return s->kind == NFT_STMT_REJECT || s->kind == NFT_STMT_QUEUE || (s->kind == NFT_STMT_NAT && s->nat.kind != NFT_TPROXY);
}

struct nft_rule *nft_rule(struct nft_parse *p)
{
	struct nft_rule *r = arena_new(p->a, struct nft_rule, 1);
	VEC(struct nft_stmt *) stmt = { 0 };
	const struct nft_token *from = nft_base(p), *to;
	bool is_good = true;

	p->depth = 0;
	p->tells_family = false;
	while (is_good && !nft_is_end(p)) {
		struct nft_stmt *s;

		if (nft_take_word(p, "comment")) {
			is_good = nft_need_quoted(p, "a comment in quotes", &r->comment);
			if (is_good && !nft_is_end(p))
				is_good = nft_expected(p, "the end of the rule behind its comment");
			break;
		}
		s = nft_stmt(p);
		is_good = s != NULL;
		if (is_good && stmt.n && is_terminal(stmt.v[stmt.n - 1]))
			nft_error(p, s->at, "this stands behind the verdict of its rule, so it never happens");
		if (is_good)
			*vec_add(p->a, &stmt) = s;
	}
	to = nft_base(p);
	if (!is_good || (stmt.n == 0 && !nft_expected(p, "a statement"))) {
		nft_skip_rule(p, nft_braces_open(from, to));
		p->f->lacks_rules = true;
		return NULL;
	}
	r->stmt = stmt.v;
	r->n_stmts = (uint32_t)stmt.n;
	r->at = nft_span(nft_token_loc(from), to > from ? nft_token_loc(to - 1) : nft_token_loc(from));
	r->handle = to->kind == NFT_TOK_LINE ? to->handle : 0;
	return r;
}
