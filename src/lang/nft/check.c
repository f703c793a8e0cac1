/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What nft refuses of rules that can be read, and what is legal but hardly meant.
 *
 * A rule is gone through from left to right with what is known so far: its network protocol (from the table, from a header's
 * field, from nfproto) and its transport protocol. A field of another protocol conflicts with it; a port to translate to, or a
 * TCP reset, needs the one that has it. Sets of protocols leave open which one it is, and nothing is refused then.
 */
#include "lang/nft/check.h"

struct check {
	struct arena *a;
	struct diags *d;
	const struct nft_table *table;
	enum nft_needs net;	/* NFT_NEEDS_IP, NFT_NEEDS_IP6; NOTHING: not known */
	int proto;		/* -1: not known */
	bool asks_proto;	/* some transport protocol was asked for, maybe one of several */
	struct str net_by, proto_by; /* what said so */
};

static const char *net_name(enum nft_needs n)
{
	return n == NFT_NEEDS_IP6 ? "ip6" : "ip";
}

/* ---------- fields ---------- */

static void check_net(struct check *c, const struct nft_expr *e, const struct nft_select_row *row)
{
	struct diag *g;

	if (row->needs != NFT_NEEDS_IP && row->needs != NFT_NEEDS_IP6)
		return;
	if (c->net != NFT_NEEDS_NOTHING && c->net != row->needs) {
		g = diag_error(c->d, e->at, "conflicting network protocols: %.*s is of %s, %.*s is of %s", STR_ARG(nft_print_expr(c->a, e)),
			       net_name(row->needs), STR_ARG(c->net_by), net_name(c->net));
		diag_hint(c->d, g, "no packet has both; nft refuses such a rule");
		return;
	}
	if (c->net == NFT_NEEDS_NOTHING) {
		c->net = row->needs;
		c->net_by = nft_print_expr(c->a, e);
	}
}

static void check_proto(struct check *c, const struct nft_expr *e, const struct nft_select_row *row)
{
	struct diag *g;

	if (row->needs != NFT_NEEDS_PROTO || row->source == NFT_TCPOPT || row->source == NFT_CHUNK)
		return;
	if (c->proto >= 0 && c->proto != row->proto) {
		g = diag_error(c->d, e->at, "conflicting transport protocols: %.*s after %.*s", STR_ARG(nft_print_expr(c->a, e)),
			       STR_ARG(c->proto_by));
		diag_hint(c->d, g, "no packet has both; nft refuses such a rule");
		return;
	}
	c->asks_proto = true;
	if (c->proto < 0) {
		c->proto = row->proto;
		c->proto_by = nft_print_expr(c->a, e);
	}
}

static void check_select(struct check *c, const struct nft_expr *e)
{
	const struct nft_select_row *row = &nft_select_table[e->sel];

	check_net(c, e, row);
	check_proto(c, e, row);
	if ((e->sel == NFT_SEL_TH_SPORT || e->sel == NFT_SEL_TH_DPORT) && !c->asks_proto) {
		struct diag *g = diag_warn(c->d, e->at, "any-protocol", "%.*s without l4proto reads any protocol, also one without ports",
					   STR_ARG(nft_print_expr(c->a, e)));

		diag_hint(c->d, g, "meta l4proto { tcp, udp } in front of it says which are meant");
	}
}

static uint32_t dims_of(const struct nft_expr *e)
{
	return e->kind == NFT_CONCAT ? e->n_parts : 1;
}

static void check_expr(struct check *c, const struct nft_expr *e)
{
	if (e->kind == NFT_MAP && e->part[1]->kind == NFT_SETLIT)
		nft_check_overlap(c->a, c->d, e->part[1]->lit, dims_of(e->part[0]));
	if (e->kind == NFT_SELECT)
		check_select(c, e);
	for (uint32_t i = 0; i < e->n_parts; i++)
		check_expr(c, e->part[i]);
}

/* ---------- values ---------- */

static void check_star(struct check *c, const struct nft_expr *e)
{
	if (e->kind == NFT_SETLIT)
		for (size_t i = 0; i < e->lit->elems.n; i++)
			check_star(c, e->lit->elems.v[i].key);
	for (uint32_t i = 0; i < e->n_parts; i++)
		check_star(c, e->part[i]);
	if (e->kind != NFT_TEXT || e->is_prefix || !e->text.n || !memchr(e->text.p, '*', e->text.n) ||
	    (e->type != NFT_TYPE_IFNAME && e->type != NFT_TYPE_IFACE_INDEX))
		return;
	diag_hint(c->d,
		  diag_warn(c->d, e->at, "literal-star", "this matches only an interface named literally %.*s", STR_ARG(e->text)),
		  "a star without a backslash, at the end, stands for any rest of the name");
}

static bool is_extension(u128 proto)
{
	static const uint8_t headers[] = { 0, 43, 44, 51, 59, 60, 135, 139, 140 };

	return memchr(headers, (int)proto, sizeof headers) != NULL;
}

static void check_next_header(struct check *c, const struct nft_expr *left, const struct nft_expr *right)
{
	const struct nft_expr *v = right;

	if (right->kind == NFT_SETLIT && right->lit->elems.n)
		v = right->lit->elems.v[0].key;
	if (v->kind != NFT_NUMBER || is_extension(v->lo))
		return;
	diag_hint(c->d,
		  diag_warn(c->d, left->at, "first-header", "ip6 nexthdr is the first header only: packets with extension headers do not match"),
		  "meta l4proto is the protocol behind them");
}

/* What a comparison tells about the packet that comes to what stands behind it. */
static void learn(struct check *c, const struct nft_stmt *s)
{
	const struct nft_expr *left = s->match.left, *right = s->match.right;
	bool is_one = s->match.op == NFT_EQ && right->kind == NFT_NUMBER;

	if (left->kind != NFT_SELECT)
		return;
	switch ((int)left->sel) {
	case NFT_SEL_META_L4PROTO:
	case NFT_SEL_IP_PROTOCOL:
	case NFT_SEL_IP6_NEXTHDR:
		c->asks_proto |= s->match.op != NFT_NE;
		if (is_one && c->proto < 0 && !(left->sel == NFT_SEL_IP6_NEXTHDR && is_extension(right->lo))) {
			c->proto = (int)right->lo;
			c->proto_by = arena_printf(c->a, "%.*s %.*s", STR_ARG(nft_print_expr(c->a, left)),
						   STR_ARG(nft_print_expr(c->a, right)));
		}
		break;
	case NFT_SEL_META_NFPROTO:
		if (is_one && c->net == NFT_NEEDS_NOTHING && (right->lo == 2 || right->lo == 10)) {
			c->net = right->lo == 10 ? NFT_NEEDS_IP6 : NFT_NEEDS_IP;
			c->net_by = STR("meta nfproto");
		}
		break;
	default:
		break;
	}
}

/* ---------- statements ---------- */

static void check_reject(struct check *c, const struct nft_stmt *s)
{
	if (s->reject.kind == NFT_REJECT_TCP_RST && c->proto >= 0 && c->proto != 6)
		diag_hint(c->d, diag_error(c->d, s->at, "tcp reset needs tcp, but %.*s", STR_ARG(c->proto_by)),
			  "meta l4proto tcp in front of it, or reject with another answer");
	else if (s->reject.kind == NFT_REJECT_ICMP && c->net == NFT_NEEDS_IP6)
		diag_error(c->d, s->at, "an ICMP message is no answer to IPv6; icmpv6 or icmpx is");
	else if (s->reject.kind == NFT_REJECT_ICMP6 && c->net == NFT_NEEDS_IP)
		diag_error(c->d, s->at, "an ICMPv6 message is no answer to IPv4; icmp or icmpx is");
}

static void check_nat(struct check *c, const struct nft_stmt *s)
{
	if (s->nat.port && s->nat.port->kind != NFT_MAP && !c->asks_proto && s->nat.kind != NFT_TPROXY)
		diag_hint(c->d, diag_error(c->d, s->at, "a port to translate to needs a transport protocol, and none was asked for"),
			  "tcp dport ... or meta l4proto { tcp, udp } in front of it");
}

static void check_stmt(struct check *c, const struct nft_stmt *s)
{
	switch (s->kind) {
	case NFT_STMT_MATCH:
		check_expr(c, s->match.left);
		if (s->match.right->kind == NFT_SETLIT && dims_of(s->match.left) > 1)
			nft_check_overlap(c->a, c->d, s->match.right->lit, dims_of(s->match.left));
		check_star(c, s->match.right);
		if (s->match.left->kind == NFT_SELECT && s->match.left->sel == NFT_SEL_IP6_NEXTHDR && s->match.op == NFT_EQ)
			check_next_header(c, s->match.left, s->match.right);
		learn(c, s);
		break;
	case NFT_STMT_VERDICT:
		if (s->expr->kind == NFT_MAP) {
			check_expr(c, s->expr);
			check_star(c, s->expr->part[1]);
			c->asks_proto = true; /* entries may say which */
		}
		break;
	case NFT_STMT_REJECT:
		check_reject(c, s);
		break;
	case NFT_STMT_NAT:
		check_nat(c, s);
		if (s->nat.addr)
			check_expr(c, s->nat.addr);
		break;
	case NFT_STMT_MANGLE:
		if (s->set.right->kind == NFT_MAP)
			check_expr(c, s->set.right);
		break;
	default:
		break;
	}
}

static void check_rule(struct check *c, const struct nft_chain *in, const struct nft_rule *r)
{
	c->net = c->table->family == NFT_IP ? NFT_NEEDS_IP : c->table->family == NFT_IP6 ? NFT_NEEDS_IP6 : NFT_NEEDS_NOTHING;
	c->net_by = STR("the table");
	c->proto = -1;
	c->asks_proto = false;
	for (uint32_t i = 0; i < r->n_stmts; i++) {
		check_stmt(c, r->stmt[i]);
		nft_check_place(c->d, in, r->stmt[i]);
	}
}

static void check_table(struct check *c)
{
	const struct nft_table *t = c->table;

	for (size_t i = 0; i < t->sets.n; i++)
		if (!t->sets.v[i]->auto_merge)
			nft_check_overlap(c->a, c->d, t->sets.v[i], (uint32_t)t->sets.v[i]->key.n);
	for (size_t i = 0; i < t->chains.n; i++) {
		nft_check_chain(c->d, t, t->chains.v[i]);
		for (size_t j = 0; j < t->chains.v[i]->rules.n; j++)
			check_rule(c, t->chains.v[i], t->chains.v[i]->rules.v[j]);
	}
}

void nft_check(struct arena *a, struct diags *d, const struct nft_file *f)
{
	struct check c = { .a = a, .d = d };

	for (size_t i = 0; i < f->tables.n; i++) {
		c.table = f->tables.v[i];
		check_table(&c);
	}
}
