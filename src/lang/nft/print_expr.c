/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What rules look at, as text: selectors, constants, masks, concatenations, maps.
 *
 *     BINOP(SELECT meta mark, AND, NUMBER 0xff)  ->  meta mark & 0x000000ff
 */
#include "lang/nft/print.h"

/* ---------- selectors ---------- */

static void print_fib(struct buf *b, const struct nft_expr *e)
{
	static const char *const flags[] = { "saddr", "daddr", "mark", "iif", "oif" };
	static const char *const results[] = { "oif", "oifname", "type" };
	const char *sep = "";

	buf_printf(b, "fib ");
	for (unsigned i = 0; i < 5; i++) {
		if (e->fib.flags & 1u << i) {
			buf_printf(b, "%s%s", sep, flags[i]);
			sep = " . ";
		}
	}
	buf_printf(b, " %s", results[e->fib.result]);
}

static const char *base_name(enum payload_base base)
{
	static const char *const names[] = { "ll", "nh", "th", "ih" };

	return names[base];
}

/* `tcp option NAME FIELD`, `ip option NAME FIELD`, `sctp chunk NAME FIELD`: text is the name, or lo its number. */
static void print_option(struct buf *b, const struct nft_expr *e, const struct nft_select_row *row)
{
	if (e->sel == NFT_SEL_TCPOPT_RAW) {
		buf_printf(b, "tcp option @%u,%u,%u", (unsigned)e->lo, e->payload.at_bit, e->payload.n_bits);
		return;
	}
	buf_printf(b, "%s ", row->word);
	if (e->text.n)
		buf_printf(b, "%.*s", STR_ARG(e->text));
	else
		buf_printf(b, "%u", (unsigned)e->lo);
	if (row->name)
		buf_printf(b, " %s", row->name);
}

static void print_other(struct buf *b, const struct nft_expr *e, const struct nft_select_row *row)
{
	static const char *const ttl[] = { "", "ttl loose ", "ttl skip " };

	if (e->sel == NFT_SEL_OSF_NAME || e->sel == NFT_SEL_OSF_VERSION) {
		buf_printf(b, "osf %s%s", ttl[e->lo], row->name);
		return;
	}
	buf_printf(b, "ipsec %s ", e->dir == 1 ? "in" : "out");
	if (e->lo)
		buf_printf(b, "spnum %u ", (unsigned)e->lo);
	buf_printf(b, "%s", row->name);
}

/* nft prints `meta` in front of all but interfaces. */
static bool is_bare_meta(enum nft_select_id sel)
{
	return sel == NFT_SEL_META_IIF || sel == NFT_SEL_META_OIF || sel == NFT_SEL_META_IIFNAME || sel == NFT_SEL_META_OIFNAME ||
	       sel == NFT_SEL_META_IIFGROUP || sel == NFT_SEL_META_OIFGROUP;
}

static void print_select(struct buf *b, const struct nft_expr *e)
{
	const struct nft_select_row *row = &nft_select_table[e->sel];
	static const char *const dirs[] = { "", "original ", "reply " };

	switch (row->source) {
	case NFT_FIB:
		print_fib(b, e);
		break;
	case NFT_TCPOPT:
	case NFT_IPOPT:
	case NFT_CHUNK:
		print_option(b, e, row);
		break;
	case NFT_OTHER:
		print_other(b, e, row);
		break;
	case NFT_META:
		buf_printf(b, is_bare_meta(e->sel) ? "%s" : "meta %s", row->name);
		break;
	case NFT_CT:
		buf_printf(b, "ct %s%s", dirs[e->dir], row->name);
		break;
	default:
		buf_printf(b, "%s %s", row->word, row->name);
		if (e->sel == NFT_SEL_RT0_ADDR || e->sel == NFT_SEL_RT2_ADDR || e->sel == NFT_SEL_SRH_SID)
			buf_printf(b, "[%u]", (unsigned)e->lo);
		else if (e->sel == NFT_SEL_SOCKET_CGROUPV2)
			buf_printf(b, " level %u", (unsigned)e->lo);
	}
}

/* ---------- constants ---------- */

/* A '*' at the end of a name that is a name to its end is escaped. */
static void print_text(struct buf *b, const struct nft_expr *e)
{
	struct str s = e->text;
	bool is_star = !e->is_prefix && s.n && s.p[s.n - 1] == '*';

	buf_printf(b, "\"%.*s%s%s\"", (int)(is_star ? s.n - 1 : s.n), s.p, is_star ? "\\*" : "", e->is_prefix ? "*" : "");
}

static void print_verdict(struct buf *b, const struct nft_verdict *v)
{
	static const char *const words[] = {
		[VERDICT_NONE] = "continue", [VERDICT_ACCEPT] = "accept", [VERDICT_DROP] = "drop",	[VERDICT_REJECT] = "reject",
		[VERDICT_JUMP] = "jump",     [VERDICT_GOTO] = "goto",	  [VERDICT_RETURN] = "return", [VERDICT_QUEUE] = "queue",
	};

	buf_printf(b, "%s", words[v->verdict]);
	if (v->verdict == VERDICT_JUMP || v->verdict == VERDICT_GOTO)
		buf_printf(b, " %.*s", STR_ARG(v->chain));
}

static void print_range(struct buf *b, const struct nft_expr *e)
{
	if (e->kind == NFT_PREFIX) {
		nft_print_number(b, e->type, e->lo, false);
		buf_printf(b, "/%u", e->plen);
		return;
	}
	nft_print_number(b, e->type, e->lo, e->type == NFT_TYPE_DAY);
	buf_printf(b, "-");
	nft_print_number(b, e->type, e->hi, e->type == NFT_TYPE_DAY);
}

static bool is_bits(const struct nft_expr *e)
{
	return nft_type_table[e->type].kind == NFT_KIND_BITMASK && e->kind == NFT_NUMBER;
}

/* ---------- made of others ---------- */

static unsigned rank(enum nft_binop op)
{
	static const unsigned char ranks[] = { [NFT_LSHIFT] = 3, [NFT_RSHIFT] = 3, [NFT_AND] = 2, [NFT_XOR] = 1, [NFT_OR] = 0 };

	return ranks[op];
}

static void print_operand(struct nft_print *p, const struct nft_expr *e, bool needs_parens)
{
	bool many = e->kind == NFT_LIST || (is_bits(e) && e->lo & (e->lo - 1));

	needs_parens |= many;
	buf_printf(&p->b, "%s", needs_parens ? "(" : "");
	nft_print_expr_joined(p, e);
	buf_printf(&p->b, "%s", needs_parens ? ")" : "");
}

static void print_binop(struct nft_print *p, const struct nft_expr *e)
{
	static const char *const ops[] = { [NFT_AND] = "&", [NFT_OR] = "|", [NFT_XOR] = "^", [NFT_LSHIFT] = "<<", [NFT_RSHIFT] = ">>" };
	const struct nft_expr *l = e->part[0], *r = e->part[1];

	print_operand(p, l, l->kind == NFT_BINOP && rank(l->op) < rank(e->op));
	buf_printf(&p->b, " %s ", ops[e->op]);
	print_operand(p, r, r->kind == NFT_BINOP && rank(r->op) <= rank(e->op));
}

static void print_parts(struct nft_print *p, const struct nft_expr *e, const char *between)
{
	for (uint32_t i = 0; i < e->n_parts; i++) {
		const struct nft_expr *part = e->part[i];

		buf_printf(&p->b, "%s%s", i ? between : "", part->is_negated_flag ? "! " : "");
		if (between[0] == ' ')
			nft_print_expr_joined(p, part);
		else
			nft_print_expr_to(p, part);
	}
}

static void print_gen(struct nft_print *p, const struct nft_expr *e)
{
	if (e->kind == NFT_NUMGEN) {
		buf_printf(&p->b, "numgen %s mod %u", e->gen.is_random ? "random" : "inc", e->gen.modulus);
	} else if (e->n_parts) {
		buf_printf(&p->b, "jhash ");
		nft_print_expr_to(p, e->part[0]);
		buf_printf(&p->b, " mod %u", e->gen.modulus);
	} else {
		buf_printf(&p->b, "symhash mod %u", e->gen.modulus);
	}
	if (e->gen.has_seed)
		buf_printf(&p->b, " seed 0x%x", e->gen.seed);
	if (e->gen.offset)
		buf_printf(&p->b, " offset %u", e->gen.offset);
}

static void print_map(struct nft_print *p, const struct nft_expr *e)
{
	const struct nft_expr *m = e->part[1];
	const struct nft_set *s = m->kind == NFT_SETLIT ? m->lit : m->set;
	bool is_vmap = s->data.n == 1 && s->data.v[0] == NFT_TYPE_VERDICT;

	nft_print_expr_to(p, e->part[0]);
	buf_printf(&p->b, is_vmap ? " vmap " : " map ");
	nft_print_expr_to(p, m);
}

static void print_made(struct nft_print *p, const struct nft_expr *e)
{
	switch (e->kind) {
	case NFT_BINOP:
		print_binop(p, e);
		break;
	case NFT_CONCAT:
		print_parts(p, e, " . ");
		break;
	case NFT_LIST:
		print_parts(p, e, ",");
		break;
	case NFT_SETREF:
		buf_printf(&p->b, "@%.*s", STR_ARG(e->set->name));
		break;
	case NFT_SETLIT:
		nft_print_elems(p, e->lit);
		break;
	case NFT_MAP:
		print_map(p, e);
		break;
	default:
		print_gen(p, e);
	}
}

void nft_print_expr_to(struct nft_print *p, const struct nft_expr *e)
{
	struct buf *b = &p->b;

	switch (e->kind) {
	case NFT_NUMBER:
		if (is_bits(e))
			nft_print_bits(b, e->type, e->lo, ",");
		else
			nft_print_number(b, e->type, e->lo, true);
		break;
	case NFT_RANGE:
	case NFT_PREFIX:
		print_range(b, e);
		break;
	case NFT_TEXT:
		print_text(b, e);
		break;
	case NFT_SELECT:
		print_select(b, e);
		break;
	case NFT_PAYLOAD:
		buf_printf(b, "@%s,%u,%u", base_name(e->payload.base), e->payload.at_bit, e->payload.n_bits);
		break;
	case NFT_ANY:
		buf_printf(b, "*");
		break;
	case NFT_VERDICT:
		print_verdict(b, &e->verdict);
		break;
	case NFT_OBJREF:
		nft_print_quoted(b, e->text);
		break;
	default:
		print_made(p, e);
	}
}

void nft_print_expr_joined(struct nft_print *p, const struct nft_expr *e)
{
	if (is_bits(e))
		nft_print_bits(&p->b, e->type, e->lo, " | ");
	else if (e->kind == NFT_LIST)
		print_parts(p, e, " | ");
	else
		nft_print_expr_to(p, e);
}

struct str nft_print_expr(struct arena *a, const struct nft_expr *e)
{
	struct nft_print p = { .b.a = a };

	nft_print_expr_to(&p, e);
	return buf_str(&p.b);
}
