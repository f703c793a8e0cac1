/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an iptables tree means, told once more: a small interpreter over the syntax tree, written from iptables-extensions(8)
 * and knowing nothing of how trees are lowered or how the evaluator reads packets, must agree with the evaluator on random
 * packets: verdict, mark, and which rules counted, in order. Rules that it does not know are taken out of the text first.
 *
 *     WEIR_SEED=N, WEIR_PACKETS=N    where to begin, how many packets; 1, 100000
 *
 * TIMEOUT 300
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/lib/gen.h"
#include "lang/iptables/tree.h"
#include "meaning/lib/way.h"

/* ---------- single options ---------- */

static bool in_range(struct ipt_range r, uint64_t v)
{
	return r.lo <= v && v <= r.hi;
}

static bool range_holds(const struct ipt_opt *o, uint64_t v)
{
	return in_range(o->v.range, v) != o->negated;
}

static bool masked_holds(const struct ipt_opt *o, uint32_t v)
{
	return ((v & o->v.masked.mask) == o->v.masked.value) != o->negated;
}

static unsigned port(const struct way *w, bool is_dst)
{
	return head_u16(w->h.l4 + (is_dst ? 2 : 0));
}

static bool ports_hold(const struct ipt_opt *o, const struct way *w)
{
	unsigned s = port(w, false), d = port(w, true);
	bool found = false;

	for (uint32_t i = 0; i < o->v.list.n; i++) {
		found |= o->id != IPT_M_MULTIPORT_DPORTS && in_range(o->v.list.v[i], s);
		found |= o->id != IPT_M_MULTIPORT_SPORTS && in_range(o->v.list.v[i], d);
	}
	return found != o->negated;
}

static bool addrs_hold(const struct ipt_opt *o, u128 a)
{
	return (o->v.addrs.lo <= a && a <= o->v.addrs.hi) != o->negated;
}

/* Before tracking a packet belongs to nobody; behind it, it says which state it has. */
static unsigned state_bit(const struct way *w)
{
	return 1u << (w->is_untracked ? CT_UNTRACKED : w->ct);
}

static bool has_connection(const struct way *w)
{
	return !w->is_untracked && (w->ct == CT_NEW || w->ct == CT_ESTABLISHED || w->ct == CT_RELATED);
}

static bool tcp_option_holds(const struct ipt_opt *o, const struct way *w)
{
	const uint8_t *p = w->h.l4 + 20;
	unsigned n = (w->h.l4[12] >> 4) * 4u - 20;
	bool found = false;

	for (unsigned i = 0; i < n && !found; i += p[i] < 2 || i + 1 >= n || p[i + 1] < 2 ? 1u : p[i + 1])
		found = p[i] == o->v.range.lo;
	return found != o->negated;
}

/* ---------- matches ---------- */

enum holds { NO, YES, UNKNOWN_TO_US };

static enum holds option(const struct ipt_opt *o, struct way *w)
{
	const struct head *h = &w->h;

	switch (o->id) {
	case IPT_M_TCP_SPORT:
	case IPT_M_UDP_SPORT:
	case IPT_M_UDPLITE_SPORT:
	case IPT_M_SCTP_SPORT:
	case IPT_M_DCCP_SPORT:
		return range_holds(o, port(w, false));
	case IPT_M_TCP_DPORT:
	case IPT_M_UDP_DPORT:
	case IPT_M_UDPLITE_DPORT:
	case IPT_M_SCTP_DPORT:
	case IPT_M_DCCP_DPORT:
		return range_holds(o, port(w, true));
	case IPT_M_TCP_FLAGS:
		return masked_holds(o, h->l4[13]);
	case IPT_M_TCP_OPTION:
		return tcp_option_holds(o, w);
	case IPT_M_ICMP_TYPE:
	case IPT_M_ICMP6_TYPE:
		return range_holds(o, head_u16(h->l4));
	case IPT_M_ESP_SPI:
		return range_holds(o, (uint64_t)head_u16(h->l4) << 16 | head_u16(h->l4 + 2));
	case IPT_M_MULTIPORT_SPORTS:
	case IPT_M_MULTIPORT_DPORTS:
	case IPT_M_MULTIPORT_PORTS:
		return ports_hold(o, w);
	case IPT_M_MARK_MARK:
		return masked_holds(o, w->mark);
	case IPT_M_CONNMARK_MARK:
		return has_connection(w) && masked_holds(o, w->ct_mark);
	case IPT_M_IPRANGE_SRC:
		return addrs_hold(o, h->src);
	case IPT_M_IPRANGE_DST:
		return addrs_hold(o, h->dst);
	case IPT_M_LENGTH_LENGTH:
		return range_holds(o, h->length);
	case IPT_M_TTL_EQ:
	case IPT_M_HL_EQ:
		return range_holds(o, h->ttl);
	case IPT_M_TTL_LT:
	case IPT_M_HL_LT:
		return h->ttl < o->v.range.lo;
	case IPT_M_TTL_GT:
	case IPT_M_HL_GT:
		return h->ttl > o->v.range.lo;
	case IPT_M_TOS_TOS:
		return masked_holds(o, h->tos);
	case IPT_M_DSCP_DSCP:
		return range_holds(o, h->tos >> 2);
	case IPT_M_STATE_STATE:
	case IPT_M_CONNTRACK_STATE:
		return ((o->v.bits & state_bit(w)) != 0) != o->negated;
	case IPT_M_COMMENT_TEXT:
		return YES;
	default:
		return UNKNOWN_TO_US;
	}
}

/* Matches whose options need a transport header: of a later fragment there is none. */
static bool needs_l4(enum ipt_ext_id m)
{
	return m == IPT_M_TCP || m == IPT_M_UDP || m == IPT_M_UDPLITE || m == IPT_M_SCTP || m == IPT_M_DCCP || m == IPT_M_ICMP ||
	       m == IPT_M_ICMP6 || m == IPT_M_MULTIPORT || m == IPT_M_ESP;
}

static bool match_is_known(const struct ipt_use *u)
{
	static const enum ipt_ext_id known[] = { IPT_M_TCP, IPT_M_UDP, IPT_M_UDPLITE, IPT_M_SCTP, IPT_M_DCCP, IPT_M_ICMP,
		IPT_M_ICMP6, IPT_M_MULTIPORT, IPT_M_MARK, IPT_M_CONNMARK, IPT_M_IPRANGE, IPT_M_LENGTH, IPT_M_TTL, IPT_M_HL,
		IPT_M_TOS, IPT_M_DSCP, IPT_M_STATE, IPT_M_CONNTRACK, IPT_M_COMMENT, IPT_M_ESP };
	struct way w = { .ct = CT_NEW };
	static const uint8_t zero[64] = { [12] = 0x50 };

	w.h.l4 = zero;
	for (size_t i = 0; i < u->opts.n; i++)
		if (option(&u->opts.v[i], &w) == UNKNOWN_TO_US)
			return false;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i] == u->ext)
			return true;
	return false;
}

static bool match(const struct ipt_use *u, struct way *w)
{
	if (needs_l4(u->ext) && !w->h.has_l4)
		return false;
	for (size_t i = 0; i < u->opts.n; i++)
		if (option(&u->opts.v[i], w) != YES)
			return false;
	return true;
}

/* ---------- core options ---------- */

static bool addr_holds(const struct ipt_addrs *a, u128 v)
{
	bool found = a->list.n == 0;

	for (size_t i = 0; i < a->list.n; i++)
		found |= (v & a->list.v[i].mask) == a->list.v[i].addr;
	return found != (a->negated && a->list.n);
}

static bool iface_holds(const struct ipt_iface *f, const char *name)
{
	bool found = strncmp(name, f->name.p ? f->name.p : "", f->name.n) == 0 && (f->is_prefix || strlen(name) == f->name.n);

	if (f->name.n == 0 && !f->negated)
		return true;
	return found != f->negated;
}

static bool core(const struct ipt_rule *r, const struct way *w)
{
	bool has_in = w->hook != HOOK_OUTPUT && w->hook != HOOK_POSTROUTING, has_out = w->hook != HOOK_PREROUTING && w->hook != HOOK_INPUT;

	if (!addr_holds(&r->src, w->h.src) || !addr_holds(&r->dst, w->h.dst))
		return false;
	if (!iface_holds(&r->in, has_in ? w->p->iif : "") || !iface_holds(&r->out, has_out ? w->p->oif : ""))
		return false;
	if (r->proto && (r->proto == w->h.proto) == r->proto_negated)
		return false;
	return !r->frag || (w->h.frag_off != 0) != r->frag_negated;
}

/* ---------- rules and chains ---------- */

enum end { GOES_ON, ACCEPTS, DROPS, RETURNS };

static const struct ipt_opt *the(const struct ipt_use *u, enum ipt_opt_id id)
{
	return ipt_opt_find(u, id);
}

static bool target_is_known(const struct ipt_rule *r)
{
	static const enum ipt_ext_id known[] = { IPT_T_ACCEPT, IPT_T_DROP, IPT_T_RETURN, IPT_T_REJECT, IPT_T_LOG, IPT_T_MARK };

	if (r->jump != IPT_JUMP_TARGET)
		return !r->chain_is_missing;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i] == r->target.ext)
			return true;
	return false;
}

static enum end target(const struct ipt_use *u, struct way *w)
{
	const struct ipt_opt *o;

	switch (u->ext) {
	case IPT_T_ACCEPT:
		return ACCEPTS;
	case IPT_T_RETURN:
		return RETURNS;
	case IPT_T_REJECT:
		w->rejects = true;
		return DROPS;
	case IPT_T_DROP:
		return DROPS;
	case IPT_T_MARK:
		o = the(u, IPT_T_MARK_SET_XMARK);
		w->mark = (w->mark & ~o->v.masked.mask) ^ o->v.masked.value;
		return GOES_ON;
	default:
		return GOES_ON;
	}
}

static bool rule_matches(const struct ipt_rule *r, struct way *w)
{
	if (!core(r, w))
		return false;
	for (size_t i = 0; i < r->matches.n; i++)
		if (!match(&r->matches.v[i], w))
			return false;
	return true;
}

static enum end chain(const struct ipt_table *t, const struct ipt_chain *c, struct way *w)
{
	for (size_t i = 0; i < c->rules.n; i++) {
		const struct ipt_rule *r = c->rules.v[i];
		enum end e = GOES_ON;

		if (!rule_matches(r, w))
			continue;
		way_hit(w, r->at);
		if (r->jump == IPT_JUMP_TARGET)
			e = target(&r->target, w);
		else if (r->jump != IPT_JUMP_NONE)
			e = chain(t, ipt_chain_find(t, r->chain_name), w);
		if (r->jump == IPT_JUMP_CHAIN && e == RETURNS)
			e = GOES_ON;
		if (r->jump == IPT_GOTO_CHAIN && e == GOES_ON)
			e = RETURNS; /* whoever called this chain goes on */
		if (e != GOES_ON)
			return e;
	}
	return GOES_ON;
}

static void table(const struct ipt_table *t, struct way *w)
{
	for (size_t i = 0; i < t->chains.n; i++) {
		const struct ipt_chain *c = t->chains.v[i];
		enum end e;

		if (c->hook != w->hook)
			continue;
		e = chain(t, c, w);
		w->drops |= e == DROPS || (e != ACCEPTS && c->policy == VERDICT_DROP);
	}
}

/* raw is asked before connections are looked up, at the first hook. */
static void run(const void *tree, struct way *w, const enum hook *hooks, unsigned n_hooks)
{
	static const char *const order[] = { "raw", "mangle", "filter", "security" };
	const struct ipt_file *f = tree;
	int ct = w->ct;

	for (unsigned k = 0; k < n_hooks; k++) {
		w->hook = hooks[k];
		if (w->hook == HOOK_FORWARD)
			w->h.ttl = w->h.ttl ? w->h.ttl - 1 : 0;
		for (unsigned i = 0; i < 4; i++) {
			w->ct = i == 0 ? CT_INVALID : ct;
			for (size_t t = 0; t < f->tables.n && !w->drops; t++)
				if (str_is(f->tables.v[t]->name, order[i]))
					table(f->tables.v[t], w);
		}
	}
}

/* ---------- taking out what is not known ---------- */

static bool rule_is_known(const struct ipt_rule *r)
{
	for (size_t i = 0; i < r->matches.n; i++)
		if (!match_is_known(&r->matches.v[i]))
			return false;
	return target_is_known(r);
}

static bool prune(const void *tree, struct str text, struct buf *out)
{
	const struct ipt_file *f = tree;
	char *cut = calloc(text.n + 1, 1);
	bool any = false;

	for (size_t t = 0; t < f->tables.n; t++)
		for (size_t c = 0; c < f->tables.v[t]->chains.n; c++)
			for (size_t i = 0; i < f->tables.v[t]->chains.v[c]->rules.n; i++) {
				const struct ipt_rule *r = f->tables.v[t]->chains.v[c]->rules.v[i];

				if (rule_is_known(r))
					continue;
				memset(cut + r->at.off, 1, r->at.len);
				any = true;
			}
	for (size_t i = 0; i < text.n; i++)
		if (!cut[i])
			buf_add(out, text.p + i, 1);
	free(cut);
	return any;
}

/* ---------- cases ---------- */

static const struct way_lang langs[2] = { { "rules.v4", LANG_IPTABLES, run, prune }, { "rules.v6", LANG_IP6TABLES, run, prune } };

static const char *make(uint64_t seed, const struct way_lang **l, char lines[WAY_LINES][WAY_LINE])
{
	static struct gen g;

	if (g.text)
		gen_end(&g);
	gen_begin(&g, seed, 0);
	*l = &langs[g.ip6];
	g.n_sets = 0;
	gen_rules(&g);
	for (unsigned i = 0; i < WAY_LINES; i++)
		gen_packet(&g, lines[i], WAY_LINE);
	return g.text;
}

int main(void)
{
	static const struct way_make m = { "iptables", make };

	return way_main(&m, 100000);
}
