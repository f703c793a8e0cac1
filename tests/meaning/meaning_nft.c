/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an nft tree means, told once more: a small interpreter over the syntax tree, written from nft(8) and from what the
 * kernel was seen to do, must agree with the evaluator on random packets: verdict, mark, and which rules counted, in order. It
 * knows the statements of tests/diff/lib/gen_nft.c, all of them.
 *
 * An expression that asks what a packet does not have ends its rule, whatever the comparison; a name of an interface that is
 * not there is empty, and is compared. A rule counts at its counter, or, without one, where the first statement stands that is
 * not a match, and finds what it looks up.
 *
 *     WEIR_SEED=N, WEIR_PACKETS=N    where to begin, how many packets; 1, 100000
 *
 *     meaning_nft --hits RULES PACKETS
 *
 * prints what the tree means for the packets of a file, for tests/oracle/nft_random.py: `packet N ip|ether HEX VERDICT` and
 * `hit N LINE`.
 *
 * TIMEOUT 300
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/lib/gen.h"
#include "lang/nft/tree.h"
#include "meaning/lib/way.h"

/* What an expression comes to for one packet. */
struct value {
	bool is_there;
	u128 n;
	const char *text;	 /* names of interfaces; else NULL */
};

/* ---------- what a packet has ---------- */

static bool needs_hold(const struct nft_select_row *row, const struct head *h)
{
	switch (row->needs) {
	case NFT_NEEDS_NOTHING:
		return true;
	case NFT_NEEDS_IP:
		return h->is_ip;
	case NFT_NEEDS_IP6:
		return h->is_ip6;
	case NFT_NEEDS_ETHER:
		return h->has_mac;
	case NFT_NEEDS_PROTO:
		/* nft asks for IPv4 in front of icmp, and for IPv6 in front of icmpv6 */
		return h->proto == row->proto && (row->proto != 1 || h->is_ip) && (row->proto != 58 || h->is_ip6);
	default:
		return false;
	}
}

static struct value bits(const uint8_t *p, unsigned len, unsigned at, unsigned n)
{
	struct value v = { .is_there = true };

	if (at + n > len * 8)
		return (struct value){ 0 };
	for (unsigned i = at; i < at + n; i++)
		v.n = v.n << 1 | ((unsigned)p[i / 8] >> (7 - i % 8) & 1u);
	return v;
}

static struct value payload(const struct way *w, enum payload_base base, unsigned at, unsigned n)
{
	const struct head *h = &w->h;

	if (base == PAYLOAD_NETWORK)
		return bits(h->l3, h->l3_len, at, n);
	if (base == PAYLOAD_TRANSPORT && h->has_l4)
		return bits(h->l4, h->l4_len, at, n);
	return (struct value){ 0 };
}

static struct value number(u128 n)
{
	return (struct value){ .is_there = true, .n = n };
}

static struct value name(bool is_there, const char *text)
{
	return (struct value){ .is_there = true, .text = is_there ? text : "" };
}

static bool has_connection(const struct way *w)
{
	return w->ct == CT_NEW || w->ct == CT_ESTABLISHED || w->ct == CT_RELATED;
}

/* The bits that nft gives the states. */
static unsigned state_bit(const struct way *w)
{
	static const unsigned bit[] = { [CT_INVALID] = 1, [CT_ESTABLISHED] = 2, [CT_RELATED] = 4, [CT_NEW] = 8, [CT_UNTRACKED] = 64 };

	return bit[w->ct];
}

static struct value meta(const struct nft_expr *e, struct way *w)
{
	const struct packet *p = w->p;

	switch (e->sel) {
	case NFT_SEL_META_LENGTH:
		return number(w->h.length);
	case NFT_SEL_META_PROTOCOL:
		return number(w->h.is_ip ? 0x0800 : 0x86dd);
	case NFT_SEL_META_NFPROTO:
		return number(w->h.is_ip ? 2 : 10);
	case NFT_SEL_META_L4PROTO:
		return number(w->h.proto);
	case NFT_SEL_META_MARK:
		return number(w->mark);
	case NFT_SEL_META_IIFNAME:
		return name(p->has_iif, p->iif);
	case NFT_SEL_META_OIFNAME:
		return name(p->has_oif && w->hook != HOOK_PREROUTING && w->hook != HOOK_INPUT, p->oif);
	case NFT_SEL_META_PKTTYPE:
		return number((unsigned)p->pkttype);
	case NFT_SEL_META_CPU:
		return number((u128)p->cpu);
	case NFT_SEL_META_SKUID:
		return p->uid >= 0 ? number((u128)p->uid) : (struct value){ 0 };
	case NFT_SEL_META_SKGID:
		return p->gid >= 0 ? number((u128)p->gid) : (struct value){ 0 };
	default:
		w->is_lost = true;
		return (struct value){ 0 };
	}
}

static struct value selected(const struct nft_expr *e, struct way *w)
{
	const struct nft_select_row *row = &nft_select_table[e->sel];

	if (!needs_hold(row, &w->h))
		return (struct value){ 0 };
	if (row->source == NFT_HEADER && row->base == PAYLOAD_LINK)
		return w->hook == HOOK_OUTPUT || (w->hook == HOOK_POSTROUTING && !w->p->has_iif) ? (struct value){ 0 } :
		       bits(w->p->bytes, 14, row->at_bit, row->bits);
	if (e->sel == NFT_SEL_IP_TTL || e->sel == NFT_SEL_IP6_HOPLIMIT)
		return number(w->h.ttl);
	if (row->source == NFT_HEADER)
		return payload(w, row->base, row->at_bit, row->bits);
	if (row->source == NFT_META)
		return meta(e, w);
	if (e->sel == NFT_SEL_CT_STATE)
		return number(state_bit(w));
	if (e->sel == NFT_SEL_CT_MARK)
		return has_connection(w) ? number(w->ct_mark) : (struct value){ 0 };
	w->is_lost = true;
	return (struct value){ 0 };
}

/* ---------- constants, sets ---------- */

static bool is_in(const struct nft_set *s, const struct nft_expr *key, struct way *w, const struct nft_elem **found);
static struct value value(const struct nft_expr *e, struct way *w);

static bool text_is(const struct nft_expr *e, const char *s)
{
	size_t n = strlen(s);

	return e->is_prefix ? n >= e->text.n && memcmp(s, e->text.p, e->text.n) == 0 : n == e->text.n && memcmp(s, e->text.p, n) == 0;
}

/* A constant of one field and a value: equal, or within. */
static bool constant_holds(const struct nft_expr *c, const struct value *v, struct way *w)
{
	struct value x;

	switch (c->kind) {
	case NFT_ANY:
		return true;
	case NFT_TEXT:
		return v->text && text_is(c, v->text);
	case NFT_NUMBER:
	case NFT_RANGE:
	case NFT_PREFIX:
		return c->lo <= v->n && v->n <= c->hi;
	default:
		x = value(c, w);
		return x.n == v->n;
	}
}

/* false: something is not there. *holds: all parts of the key are in the element. */
static bool key_holds(const struct nft_expr *key, const struct nft_expr *elem, struct way *w, bool *holds)
{
	unsigned n = key->kind == NFT_CONCAT ? key->n_parts : 1;

	*holds = true;
	for (unsigned i = 0; i < n; i++) {
		struct value v = value(n > 1 ? key->part[i] : key, w);

		if (!v.is_there)
			return false;
		*holds &= elem->kind == NFT_ANY || constant_holds(n > 1 ? elem->part[i] : elem, &v, w);
	}
	return true;
}

/* false: the key is not there. */
static bool is_in(const struct nft_set *s, const struct nft_expr *key, struct way *w, const struct nft_elem **found)
{
	const struct nft_elem *any = NULL;
	bool holds;

	*found = NULL;
	for (size_t i = 0; i < s->elems.n && !*found; i++) {
		if (!key_holds(key, s->elems.v[i].key, w, &holds))
			return false;
		if (s->elems.v[i].key->kind == NFT_ANY)
			any = &s->elems.v[i];
		else if (holds)
			*found = &s->elems.v[i];
	}
	if (!*found)
		*found = any;
	return true;
}

static const struct nft_set *set_of(const struct nft_expr *e)
{
	return e->kind == NFT_SETREF ? e->set : e->kind == NFT_SETLIT ? e->lit : NULL;
}

static u128 apply(enum nft_binop op, u128 a, u128 b)
{
	switch (op) {
	case NFT_AND:
		return a & b;
	case NFT_OR:
		return a | b;
	case NFT_XOR:
		return a ^ b;
	case NFT_LSHIFT:
		return a << (unsigned)b;
	default:
		return a >> (unsigned)b;
	}
}

static struct value binop(const struct nft_expr *e, struct way *w)
{
	struct value a = value(e->part[0], w), b = value(e->part[1], w);

	if (!a.is_there || !b.is_there)
		return (struct value){ 0 };
	return number(apply(e->op, a.n, b.n));
}

static struct value mapped(const struct nft_expr *e, struct way *w)
{
	const struct nft_elem *found;

	if (!is_in(set_of(e->part[1]), e->part[0], w, &found) || !found)
		return (struct value){ 0 };
	return value(found->data, w);
}

static struct value value(const struct nft_expr *e, struct way *w)
{
	struct value v = number(0);

	switch (e->kind) {
	case NFT_NUMBER:
		return number(e->lo);
	case NFT_SELECT:
		return selected(e, w);
	case NFT_PAYLOAD:
		return payload(w, e->payload.base, e->payload.at_bit, e->payload.n_bits);
	case NFT_BINOP:
		return binop(e, w);
	case NFT_LIST:
		for (uint32_t i = 0; i < e->n_parts; i++)
			v.n |= value(e->part[i], w).n;
		return v;
	case NFT_MAP:
		return mapped(e, w);
	default:
		w->is_lost = true;
		return (struct value){ 0 };
	}
}

/* ---------- matches ---------- */

static bool compare(const struct nft_stmt *s, const struct value *v, struct way *w)
{
	const struct nft_expr *r = s->match.right;

	switch (s->match.op) {
	case NFT_EQ:
		return constant_holds(r, v, w);
	case NFT_NE:
		return !constant_holds(r, v, w);
	case NFT_LT:
		return v->n < r->lo;
	case NFT_LE:
		return v->n <= r->lo;
	case NFT_GT:
		return v->n > r->lo;
	case NFT_GE:
		return v->n >= r->lo;
	case NFT_ANY_BIT:
		return (v->n & value(r, w).n) != 0;
	default:
		return (v->n & value(r, w).n) == 0;
	}
}

static bool match(const struct nft_stmt *s, struct way *w)
{
	const struct nft_set *set = set_of(s->match.right);
	const struct nft_elem *found;
	struct value v;

	if (set)
		return is_in(set, s->match.left, w, &found) && (found != NULL) == (s->match.op != NFT_NE);
	v = value(s->match.left, w);
	return v.is_there && compare(s, &v, w);
}

/* ---------- rules and chains ---------- */

enum end { GOES_ON, ACCEPTS, DROPS, RETURNS, NEXT_RULE };

static enum end chain(const struct nft_table *t, const struct nft_chain *c, struct way *w);

static enum end verdict(const struct nft_table *t, const struct nft_verdict *v, struct way *w)
{
	enum end e;

	switch (v->verdict) {
	case VERDICT_ACCEPT:
		return ACCEPTS;
	case VERDICT_DROP:
		return DROPS;
	case VERDICT_RETURN:
		return RETURNS;
	case VERDICT_NONE:
		return NEXT_RULE;
	case VERDICT_JUMP:
		e = chain(t, nft_chain_find(t, v->chain), w);
		return e == RETURNS || e == GOES_ON ? NEXT_RULE : e;
	case VERDICT_GOTO:
		e = chain(t, nft_chain_find(t, v->chain), w);
		return e == GOES_ON ? RETURNS : e; /* whoever called this chain goes on */
	default:
		w->is_lost = true;
		return DROPS;
	}
}

static enum end judge(const struct nft_table *t, const struct nft_expr *e, struct way *w)
{
	const struct nft_elem *found;

	if (e->kind == NFT_VERDICT)
		return verdict(t, &e->verdict, w);
	if (!is_in(set_of(e->part[1]), e->part[0], w, &found) || !found)
		return NEXT_RULE;
	return verdict(t, &found->data->verdict, w);
}

static enum end change(const struct nft_stmt *s, struct way *w)
{
	struct value v = value(s->set.right, w);

	if (s->set.left->sel != NFT_SEL_META_MARK)
		w->is_lost = true;
	if (!v.is_there)
		return NEXT_RULE;
	w->mark = (uint32_t)v.n;
	return GOES_ON;
}

static enum end statement(const struct nft_table *t, const struct nft_stmt *s, struct way *w)
{
	switch (s->kind) {
	case NFT_STMT_MATCH:
		return match(s, w) ? GOES_ON : NEXT_RULE;
	case NFT_STMT_VERDICT:
		return judge(t, s->expr, w);
	case NFT_STMT_MANGLE:
		return change(s, w);
	case NFT_STMT_COUNTER:
	case NFT_STMT_LOG:
		return GOES_ON;
	default:
		w->is_lost = true;
		return GOES_ON;
	}
}

static bool is_own_counter(const struct nft_stmt *s)
{
	return s->kind == NFT_STMT_COUNTER && s->name.n == 0 && !s->name_map;
}

static bool has_counter(const struct nft_rule *r)
{
	for (uint32_t i = 0; i < r->n_stmts; i++)
		if (is_own_counter(r->stmt[i]))
			return true;
	return false;
}

/* Does this statement find what it looks up? A rule without a counter counts only then. */
static bool finds(const struct nft_stmt *s, struct way *w)
{
	const struct nft_expr *e = s->kind == NFT_STMT_VERDICT ? s->expr : s->kind == NFT_STMT_MANGLE ? s->set.right : NULL;
	const struct nft_elem *found;

	if (e && e->kind == NFT_MAP)
		return is_in(set_of(e->part[1]), e->part[0], w, &found) && found;
	return !e || e->kind == NFT_VERDICT || value(e, w).is_there;
}

static enum end rule(const struct nft_table *t, const struct nft_rule *r, struct way *w)
{
	bool is_counted = has_counter(r);

	for (uint32_t i = 0; i < r->n_stmts; i++) {
		const struct nft_stmt *s = r->stmt[i];
		enum end e;

		if (is_own_counter(s) || (!is_counted && s->kind != NFT_STMT_MATCH && finds(s, w))) {
			is_counted = true;
			way_hit(w, r->at);
		}
		e = statement(t, s, w);
		if (e != GOES_ON)
			return e;
	}
	if (!is_counted)
		way_hit(w, r->at);
	return NEXT_RULE;
}

static enum end chain(const struct nft_table *t, const struct nft_chain *c, struct way *w)
{
	for (size_t i = 0; i < c->rules.n; i++) {
		enum end e = rule(t, c->rules.v[i], w);

		if (e != NEXT_RULE)
			return e;
	}
	return GOES_ON;
}

/* ---------- the way of a packet ---------- */

struct stop {
	const struct nft_table *t;
	const struct nft_chain *c;
};

/* The base chains at a hook, by priority; of those with the same the one that was made last stands first. */
static unsigned stops(const struct nft_file *f, const struct way *w, struct stop *out, unsigned most)
{
	unsigned n = 0;

	for (size_t t = 0; t < f->tables.n; t++) {
		const struct nft_table *table = f->tables.v[t];

		if (table->family != NFT_INET && table->family != (w->h.is_ip ? NFT_IP : NFT_IP6))
			continue;
		for (size_t c = 0; c < table->chains.n && n < most; c++) {
			const struct nft_chain *ch = table->chains.v[c];
			unsigned at = 0;

			if (!ch->is_base || ch->hook != w->hook)
				continue;
			while (at < n && out[at].c->priority < ch->priority)
				at++;
			memmove(out + at + 1, out + at, (n - at) * sizeof *out);
			out[at] = (struct stop){ table, ch };
			n++;
		}
	}
	return n;
}

static void run(const void *tree, struct way *w, const enum hook *hooks, unsigned n_hooks)
{
	struct stop stop[65];
	int ct = w->ct;

	for (unsigned k = 0; k < n_hooks; k++) {
		unsigned n;

		w->hook = hooks[k];
		if (w->hook == HOOK_FORWARD)
			w->h.ttl = w->h.ttl ? w->h.ttl - 1 : 0;
		n = stops(tree, w, stop, 64);
		for (unsigned i = 0; i < n && !w->drops; i++) {
			enum end e;

			/* before tracking, which is at -200, there is no connection */
			w->ct = k == 0 && stop[i].c->priority < -200 ? CT_INVALID : ct;
			e = chain(stop[i].t, stop[i].c, w);
			w->drops |= e == DROPS || (e != ACCEPTS && stop[i].c->policy == VERDICT_DROP);
		}
	}
}

static bool prune(const void *tree, struct str text, struct buf *out)
{
	(void)tree;
	(void)text;
	(void)out;
	return false; /* all that is made is known; what is not is_lost, and not enough packets are judged then */
}

static const struct way_lang lang = { "rules.nft", LANG_NFT, run, prune };

static const char *make(uint64_t seed, const struct way_lang **l, char lines[WAY_LINES][WAY_LINE])
{
	static struct gen g;

	if (g.text)
		gen_end(&g);
	gen_begin(&g, seed, 0);
	*l = &lang;
	gen_nft_rules(&g);
	for (unsigned i = 0; i < WAY_LINES; i++) {
		g.ip6 = gen_chance(&g, 50);
		gen_packet(&g, lines[i], WAY_LINE);
	}
	return g.text;
}

int main(int argc, char **argv)
{
	static const struct way_make m = { "nft", make };

	if (argc == 4 && strcmp(argv[1], "--hits") == 0)
		return way_hits(&lang, argv[2], argv[3]);
	return way_main(&m, 100000);
}
