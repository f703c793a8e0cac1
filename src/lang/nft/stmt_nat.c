/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* log, reject, and the statements that change addresses: snat, dnat, masquerade, redirect, tproxy. */
#include <linux/netfilter/nf_log.h>

#include "lang/nft/parse.h"

/* ---------- log ---------- */

static bool log_flags(struct nft_parse *p, struct nft_stmt *s)
{
	if (nft_take_word(p, "tcp")) {
		do {
			if (nft_take_word(p, "sequence"))
				s->log.flags |= NF_LOG_TCPSEQ;
			else if (nft_take_word(p, "options"))
				s->log.flags |= NF_LOG_TCPOPT;
			else
				return nft_expected(p, "sequence or options");
		} while (nft_take(p, ','));
		return true;
	}
	if (nft_take_word(p, "ip")) {
		s->log.flags |= NF_LOG_IPOPT;
		return nft_need_word(p, "options");
	}
	if (nft_take_word(p, "skuid"))
		s->log.flags |= NF_LOG_UID;
	else if (nft_take_word(p, "ether"))
		s->log.flags |= NF_LOG_MACDECODE;
	else if (nft_take_word(p, "all"))
		s->log.flags |= NF_LOG_MASK;
	else
		return nft_expected(p, "tcp sequence, tcp options, ip options, skuid, ether or all");
	return true;
}

static bool log_level(struct nft_parse *p, struct nft_stmt *s)
{
	static const char *const levels[] = { "emerg", "alert", "crit", "err", "warn", "notice", "info", "debug", "audit" };
	uint64_t v;

	s->log.has_level = true;
	if (nft_is(p, NFT_TOK_NUMBER)) {
		if (!nft_need_number(p, "a level", 8, &v))
			return false;
		s->log.level = (uint8_t)v;
		return true;
	}
	for (uint8_t i = 0; i < 9; i++)
		if (nft_take_word(p, levels[i]) || (nft_is(p, NFT_TOK_QUOTED) && str_is(nft_token_text(nft_peek(p)), levels[i]) && nft_next(p))) {
			s->log.level = i;
			return true;
		}
	return nft_expected(p, "a level: emerg, alert, crit, err, warn, notice, info, debug or audit");
}

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* $name inside of quotes: the text of its only token. */
static struct str expand_text(struct nft_parse *p, struct str s, struct loc at)
{
	const struct nft_symbol *later, *n;
	struct buf b = { .a = p->a };

	for (size_t i = 0; i < s.n;) {
		size_t end = i + 1;

		if (s.p[i] == '$') {
			while (end < s.n && is_name_byte(s.p[end]))
				end++;
			n = nft_symbol_find(&p->symbols, str_slice(s, i + 1, end), p->t, &later);
			if (end == i + 1 || !n || n->value_end - n->value != 1)
				nft_error(p, at, "'%.*s' is no variable that stands for one word", (int)(end - i), s.p + i);
			else
				buf_printf(&b, "%.*s", STR_ARG(nft_token_text(n->value)));
		} else {
			buf_add(&b, s.p + i, 1);
		}
		i = end;
	}
	return b.n ? buf_str(&b) : STR("");
}

/* The prefix may be a variable, or have variables inside: "$name: ". */
static bool log_prefix(struct nft_parse *p, struct nft_stmt *s)
{
	struct loc at = nft_token_loc(nft_peek(p));

	if (!nft_need_quoted(p, "a prefix in quotes", &s->log.prefix))
		return false;
	if (s->log.prefix.n && memchr(s->log.prefix.p, '$', s->log.prefix.n))
		s->log.prefix = expand_text(p, s->log.prefix, at);
	if (s->log.prefix.n > 127)
		nft_error(p, at, "a prefix has at most 127 bytes, this one has %zu", s->log.prefix.n);
	return true;
}

static bool log_option(struct nft_parse *p, struct nft_stmt *s, bool *is_option)
{
	uint64_t v = 0;

	*is_option = true;
	if (nft_take_word(p, "prefix"))
		return log_prefix(p, s);
	if (nft_take_word(p, "level"))
		return log_level(p, s);
	if (nft_take_word(p, "flags"))
		return log_flags(p, s);
	if (nft_take_word(p, "group")) {
		s->log.has_group = nft_need_number(p, "a group", 65535, &v);
		s->log.group = (uint16_t)v;
		return s->log.has_group;
	}
	if (nft_take_word(p, "snaplen")) {
		s->log.has_snaplen = nft_need_number(p, "a number of bytes", UINT32_MAX, &v);
		s->log.snaplen = (uint32_t)v;
		return s->log.has_snaplen;
	}
	if (nft_take_word(p, "queue-threshold")) {
		s->log.has_threshold = nft_need_number(p, "a number of packets", 65535, &v);
		s->log.threshold = (uint16_t)v;
		return s->log.has_threshold;
	}
	*is_option = false;
	return true;
}

struct nft_stmt *nft_stmt_log(struct nft_parse *p)
{
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_LOG, nft_token_loc(nft_next(p)));
	bool is_option = true;

	while (is_option)
		if (!log_option(p, s, &is_option))
			return NULL;
	if (s->log.has_group && (s->log.has_level || s->log.flags))
		nft_error(p, s->at, "a group of log messages has neither a level nor flags");
	return s;
}

/* ---------- reject ---------- */

static bool reject_code(struct nft_parse *p, struct nft_stmt *s, enum nft_type type)
{
	struct nft_want w = { type, 8, "reject" };
	struct nft_expr *e;

	nft_take_word(p, "type");
	nft_take_word(p, "code");
	e = nft_value_single(p, &w);
	if (!e)
		return false;
	s->reject.code = (uint8_t)e->lo;
	return true;
}

struct nft_stmt *nft_stmt_reject(struct nft_parse *p)
{
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_REJECT, nft_token_loc(nft_next(p)));
	bool is_good = true;

	if (!nft_take_word(p, "with"))
		return s;
	s->at = nft_span(s->at, nft_token_loc(nft_peek(p)));
	if (nft_take_word(p, "tcp")) {
		s->reject.kind = NFT_REJECT_TCP_RST;
		is_good = nft_need_word(p, "reset");
	} else if (nft_take_word(p, "icmp")) {
		s->reject.kind = NFT_REJECT_ICMP;
		is_good = reject_code(p, s, NFT_TYPE_ICMP_CODE);
	} else if (nft_take_word(p, "icmpv6")) {
		s->reject.kind = NFT_REJECT_ICMP6;
		is_good = reject_code(p, s, NFT_TYPE_ICMPV6_CODE);
	} else if (nft_take_word(p, "icmpx")) {
		s->reject.kind = NFT_REJECT_ICMPX;
		is_good = reject_code(p, s, NFT_TYPE_ICMPX_CODE);
	} else {
		is_good = nft_expected(p, "icmp, icmpv6, icmpx or tcp reset");
	}
	return is_good ? s : NULL;
}

/* ---------- nat ---------- */

static bool nat_flags(struct nft_parse *p, struct nft_stmt *s)
{
	static const struct {
		const char *word;
		uint32_t flag;
	} flags[] = { { "random", NFT_NAT_RANDOM }, { "fully-random", NFT_NAT_FULLY_RANDOM }, { "persistent", NFT_NAT_PERSISTENT } };
	bool more = false;

	do {
		size_t i = 0;

		while (i < 3 && !nft_take_word(p, flags[i].word))
			i++;
		if (i == 3)
			return !more || nft_expected(p, "random, fully-random or persistent");
		s->nat.flags |= flags[i].flag;
		more = nft_take(p, ',');
	} while (more || nft_is_word(p, "random") || nft_is_word(p, "fully-random") || nft_is_word(p, "persistent"));
	return true;
}

static const struct nft_want port_want = { NFT_TYPE_INET_SERVICE, 16, "a port" };

/* Behind ':'. */
static bool nat_port(struct nft_parse *p, struct nft_stmt *s)
{
	s->nat.port = nft_operand(p, &port_want, 1);
	return s->nat.port != NULL;
}

/* Which family the addresses are of: said, or the table's, or told by the first address. */
static bool is_ip6(struct nft_parse *p, const struct nft_stmt *s)
{
	const struct nft_token *t = nft_peek(p);

	if (s->nat.has_family)
		return s->nat.family == NFT_IP6;
	if (p->table && (p->table->family == NFT_IP || p->table->family == NFT_IP6))
		return p->table->family == NFT_IP6;
	return t->kind == '[' || (t->kind == NFT_TOK_WORD && memchr(t->p, ':', t->len));
}

/* [2001:db8::1] and [2001:db8::1]-[2001:db8::2] */
static struct nft_expr *bracketed(struct nft_parse *p, const struct nft_want *w)
{
	struct nft_expr *e, *to;

	nft_next(p);
	e = nft_value(p, w);
	if (!e || !nft_need(p, ']'))
		return NULL;
	if (!nft_take(p, '-'))
		return e;
	if (!nft_need(p, '['))
		return NULL;
	to = nft_value_single(p, w);
	if (!to || !nft_need(p, ']'))
		return NULL;
	if (to->lo < e->lo)
		nft_error(p, nft_span(e->at, to->at), "this range is reversed: its end is below its beginning");
	e->kind = NFT_RANGE;
	e->hi = to->lo;
	e->at = nft_span(e->at, to->at);
	return e;
}

static bool nat_to(struct nft_parse *p, struct nft_stmt *s)
{
	bool is_told = s->nat.has_family || s->nat.kind == NFT_TPROXY || p->tells_family;
	bool six = is_ip6(p, s);
	struct nft_want w[2] = { { six ? NFT_TYPE_IPV6_ADDR : NFT_TYPE_IPV4_ADDR, six ? 128 : 32, six ? "an IPv6 address" : "an address" }, port_want };

	if (nft_take(p, ':'))
		return nat_port(p, s);
	if (s->nat.kind == NFT_MASQUERADE)
		return nft_expected(p, "':' and a port");
	if (s->nat.kind == NFT_REDIRECT)
		return nat_port(p, s);
	s->nat.addr = nft_is(p, '[') ? bracketed(p, w) : nft_operand_map(p, w, s->nat.with_port ? 2 : 0);
	if (!s->nat.addr)
		return false;
	if (p->table && p->table->family == NFT_INET && !is_told)
		nft_hint(p, nft_error(p, s->nat.addr->at, "family inet has addresses of both kinds: which one this is must be said"),
			 "write '%s to'", six ? "ip6" : "ip");
	return !nft_take(p, ':') || nat_port(p, s);
}

/* ip, ip6, addr . port, interval, prefix: between the word and `to` */
static bool nat_form(struct nft_parse *p, struct nft_stmt *s)
{
	if (nft_is_word(p, "ip") || nft_is_word(p, "ip6")) {
		s->nat.has_family = true;
		s->nat.family = nft_is_word(p, "ip6") ? NFT_IP6 : NFT_IP;
		nft_next(p);
	}
	for (;;) {
		if (nft_take_word(p, "addr")) {
			s->nat.with_port = true;
			if (!nft_need(p, '.') || !nft_need_word(p, "port"))
				return false;
		} else if (nft_take_word(p, "interval")) {
			s->nat.flags |= NFT_NAT_INTERVAL;
		} else if (nft_take_word(p, "prefix")) {
			s->nat.flags |= NFT_NAT_PREFIX;
		} else {
			return true;
		}
	}
}

struct nft_stmt *nft_stmt_nat(struct nft_parse *p)
{
	static const char *const words[] = { "snat", "dnat", "masquerade", "redirect", "tproxy" };
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_NAT, nft_token_loc(nft_peek(p)));
	bool needs_to;

	for (unsigned i = 0; i < 5; i++)
		if (nft_take_word(p, words[i])) {
			s->nat.kind = (enum nft_nat)i;
			break;
		}
	needs_to = s->nat.kind != NFT_MASQUERADE && s->nat.kind != NFT_REDIRECT;
	if (needs_to && !nat_form(p, s))
		return NULL;
	if (nft_take_word(p, "to") || (needs_to && !nft_is_end(p))) {
		if (!nat_to(p, s))
			return NULL;
	} else if (needs_to) {
		return nft_expected(p, "'to' and an address"), NULL;
	}
	if (s->nat.kind != NFT_TPROXY && !nat_flags(p, s))
		return NULL;
	s->at = nft_span(s->at, s->nat.port ? s->nat.port->at : s->nat.addr ? s->nat.addr->at : s->at);
	return s;
}
