/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an expression can name of a packet: `ip saddr`, `meta mark`, `ct original ip daddr`, `fib saddr . iif oif`,
 * `@th,16,16`. The words are those of select.def; here is what stands around them.
 */
#include "lang/nft/parse.h"

static size_t first_row(struct nft_parse *p, struct str word)
{
	if (p->words.n == 0)
		for (size_t i = NFT_SEL_COUNT - 1; i > 0; i--)
			*strmap_slot(p->a, &p->words, str_from(nft_select_table[i].word)) = (void *)(uintptr_t)i;
	return (size_t)(uintptr_t)strmap_get(&p->words, word);
}

/* The row of a word and a name; 0: none. */
static enum nft_select_id row_of(struct nft_parse *p, const char *word, struct str name)
{
	size_t i = first_row(p, str_from(word));

	for (; i && i < NFT_SEL_COUNT && strcmp(nft_select_table[i].word, word) == 0; i++)
		if (nft_select_table[i].name && str_is(name, nft_select_table[i].name))
			return (enum nft_select_id)i;
	return NFT_SEL_NONE;
}

static struct nft_expr *make(struct nft_parse *p, enum nft_select_id sel, struct loc at)
{
	struct nft_expr *e = nft_expr_new(p, NFT_SELECT, at);

	e->sel = sel;
	if (nft_select_table[sel].needs == NFT_NEEDS_IP || nft_select_table[sel].needs == NFT_NEEDS_IP6 || sel == NFT_SEL_META_NFPROTO ||
	    sel == NFT_SEL_META_PROTOCOL || sel == NFT_SEL_ETHER_TYPE)
		p->tells_family = true;
	e->type = nft_select_table[sel].type;
	return e;
}

/* "expected a field of ip: saddr, daddr ...", with the nearest one; if none is near, the word itself is meant, at `at`. */
static struct nft_expr *unknown(struct nft_parse *p, const char *word, const struct loc *at)
{
	const struct nft_token *t = nft_peek(p);
	VEC(const char *) names = { 0 };
	struct buf b = { .a = p->a };
	const char *near = NULL;
	struct diag *g;

	for (size_t i = first_row(p, str_from(word)); i && i < NFT_SEL_COUNT && strcmp(nft_select_table[i].word, word) == 0; i++)
		if (nft_select_table[i].name) {
			*vec_add(p->a, &names) = nft_select_table[i].name;
			buf_printf(&b, "%s%s", names.n > 1 ? ", " : "", nft_select_table[i].name);
		}
	if (t->kind == NFT_TOK_POISON)
		return NULL;
	if (t->kind == NFT_TOK_WORD)
		near = str_nearest(nft_token_text(t), names.v, names.n);
	if (!near && at) {
		nft_hint(p, nft_error(p, *at, "'%s' stands without one of its fields", word), "they are: %.*s", STR_ARG(buf_str(&b)));
		return NULL;
	}
	g = nft_error(p, nft_token_loc(t), "expected a field of %s: %.*s%s%.*s%s", word, STR_ARG(buf_str(&b)),
		      t->kind == NFT_TOK_LINE ? "" : ", found '", t->kind == NFT_TOK_LINE ? 0 : (int)t->len, t->p,
		      t->kind == NFT_TOK_LINE ? "" : "'");
	if (near)
		nft_hint(p, g, "did you mean '%s'?", near);
	return NULL;
}

/* A field's name of one or two words: "saddr", "ip saddr", "saddr ether". */
static enum nft_select_id field(struct nft_parse *p, const char *word)
{
	struct str one = nft_token_text(nft_peek(p)), two;
	enum nft_select_id sel;

	if (!nft_is(p, NFT_TOK_WORD))
		return NFT_SEL_NONE;
	sel = row_of(p, word, one);
	if (nft_peek2(p)->kind == NFT_TOK_WORD) {
		enum nft_select_id both;

		two = arena_printf(p->a, "%.*s %.*s", STR_ARG(one), STR_ARG(nft_token_text(nft_peek2(p))));
		both = memchr("axri", word[0], 4) ? row_of(p, word, two) : strcmp(word, "ct") ? NFT_SEL_NONE : row_of(p, word, two);
		if (both) {
			nft_next(p);
			sel = both;
		}
	}
	if (sel)
		nft_next(p);
	return sel;
}

static struct nft_expr *simple(struct nft_parse *p, const char *word, struct loc at)
{
	struct loc to = nft_token_loc(nft_peek(p));
	enum nft_select_id sel = field(p, word);

	return sel ? make(p, sel, nft_span(at, to)) : unknown(p, word, &at);
}

/* ---------- raw bits ---------- */

static struct nft_expr *payload(struct nft_parse *p, struct loc at)
{
	static const char *const bases[] = { "ll", "nh", "th", "ih" };
	struct nft_expr *e = nft_expr_new(p, NFT_PAYLOAD, at);
	uint64_t off, len;

	for (unsigned i = 0; i < 4; i++)
		if (nft_take_word(p, bases[i])) {
			e->payload.base = (enum payload_base)i;
			if (!nft_need(p, ',') || !nft_need_number(p, "an offset in bits", 65535, &off) || !nft_need(p, ',') ||
			    !nft_need_number(p, "a length in bits", PAYLOAD_MAX_BITS, &len))
				return NULL;
			if (len == 0)
				nft_error(p, at, "a length in bits must be from 1 to %d", PAYLOAD_MAX_BITS);
			e->payload.at_bit = (uint32_t)off;
			e->payload.n_bits = (uint8_t)(len ? len : 1);
			e->type = NFT_TYPE_INTEGER;
			return e;
		}
	nft_expected(p, "ll, nh, th or ih behind '@'");
	return NULL;
}

/* ---------- options and extension headers ---------- */

struct option_name {
	const char *name, *shown;
	uint8_t kind, block;
};
static const struct option_name tcp_options[] = {
	{ "eol", "eol", 0, 0 },		{ "nop", "nop", 1, 0 },		 { "noop", "nop", 1, 0 },	     { "maxseg", "maxseg", 2, 0 },
	{ "mss", "maxseg", 2, 0 },	{ "window", "window", 3, 0 },	 { "sack-permitted", "sack-perm", 4, 0 }, { "sack-perm", "sack-perm", 4, 0 },
	{ "sack", "sack", 5, 0 },	{ "sack0", "sack", 5, 0 },	 { "sack1", "sack1", 5, 1 },	     { "sack2", "sack2", 5, 2 },
	{ "sack3", "sack3", 5, 3 },	{ "timestamp", "timestamp", 8, 0 }, { "md5sig", "md5sig", 19, 0 },  { "mptcp", "mptcp", 30, 0 },
	{ "fastopen", "fastopen", 34, 0 }, { NULL, NULL, 0, 0 },
};
static const struct option_name ip_options[] = {
	{ "rr", "rr", 7, 0 }, { "lsrr", "lsrr", 131, 0 }, { "ssrr", "ssrr", 137, 0 }, { "ra", "ra", 148, 0 }, { NULL, NULL, 0, 0 },
};
static const struct option_name chunks[] = {
	{ "data", "data", 0, 0 },		{ "init", "init", 1, 0 },		  { "init-ack", "init-ack", 2, 0 },
	{ "sack", "sack", 3, 0 },		{ "heartbeat", "heartbeat", 4, 0 },	  { "heartbeat-ack", "heartbeat-ack", 5, 0 },
	{ "abort", "abort", 6, 0 },		{ "shutdown", "shutdown", 7, 0 },	  { "shutdown-ack", "shutdown-ack", 8, 0 },
	{ "error", "error", 9, 0 },		{ "cookie-echo", "cookie-echo", 10, 0 },  { "cookie-ack", "cookie-ack", 11, 0 },
	{ "ecne", "ecne", 12, 0 },		{ "cwr", "cwr", 13, 0 },		  { "shutdown-complete", "shutdown-complete", 14, 0 },
	{ "asconf-ack", "asconf-ack", 128, 0 }, { "forward-tsn", "forward-tsn", 192, 0 }, { "asconf", "asconf", 193, 0 },
	{ NULL, NULL, 0, 0 },
};

/* An option by name or number. */
static bool option_kind(struct nft_parse *p, const struct option_name *table, const char *what, struct option_name *out)
{
	const struct nft_token *t = nft_peek(p);
	VEC(const char *) names = { 0 };
	const char *near;
	uint64_t v;

	*out = (struct option_name){ 0 };
	if (t->kind == NFT_TOK_NUMBER && str_u64(nft_token_text(t), 0, 255, &v)) {
		out->kind = (uint8_t)v;
		nft_next(p);
		return true;
	}
	for (; table->name; table++) {
		*vec_add(p->a, &names) = table->name;
		if (nft_take_word(p, table->name)) {
			*out = *table;
			return true;
		}
	}
	near = t->kind == NFT_TOK_WORD ? str_nearest(nft_token_text(t), names.v, names.n) : NULL;
	return nft_expected(p, near ? "%s; did you mean '%s'?" : "%s, by name or number", what, near);
}

/* Behind the option's name: a field, or nothing ("exists" comes then). */
static struct nft_expr *option_field(struct nft_parse *p, const char *word, const struct option_name *o, struct loc at)
{
	size_t first = first_row(p, str_from(word));
	struct str name = nft_is(p, NFT_TOK_WORD) ? nft_token_text(nft_peek(p)) : STR("");
	enum nft_select_id sel = (enum nft_select_id)first; /* ..._EXISTS stands first */
	struct nft_expr *e;

	for (size_t i = first + 1; name.n && i < NFT_SEL_COUNT && strcmp(nft_select_table[i].word, word) == 0; i++)
		if (str_is(name, nft_select_table[i].name) && (sel == first || nft_select_table[i].kind == o->kind))
			sel = (enum nft_select_id)i;
	e = make(p, sel, nft_span(at, sel == first ? at : nft_token_loc(nft_peek(p))));
	if (sel != first)
		nft_next(p);
	else if (!nft_is_word(p, "exists") && !nft_is_word(p, "missing") && !nft_is(p, NFT_TOK_NE) && !nft_is(p, NFT_TOK_EQ) &&
		 !nft_is(p, NFT_TOK_NUMBER) && nft_is(p, NFT_TOK_WORD))
		return unknown(p, word, NULL);
	e->lo = o->kind;
	e->hi = o->block;
	e->text = o->shown ? str_from(o->shown) : arena_printf(p->a, "%u", o->kind);
	return e;
}

static struct nft_expr *tcp_option_raw(struct nft_parse *p, struct loc at)
{
	struct nft_expr *e = make(p, NFT_SEL_TCPOPT_RAW, at);
	uint64_t kind, off, len;

	if (!nft_need_number(p, "an option's number", 255, &kind) || !nft_need(p, ',') ||
	    !nft_need_number(p, "an offset in bits", 320, &off) || !nft_need(p, ',') ||
	    !nft_need_number(p, "a length in bits", PAYLOAD_MAX_BITS, &len))
		return NULL;
	e->lo = kind;
	e->payload = (struct payload_ref){ PAYLOAD_TRANSPORT, (uint32_t)off, (uint8_t)(len ? len : 1) };
	return e;
}

static struct nft_expr *option(struct nft_parse *p, const char *word, struct loc at)
{
	const struct option_name *table = word[0] == 't' ? tcp_options : word[0] == 'i' ? ip_options : chunks;
	static const struct option_name none = { NULL, NULL, 0, 0 };
	struct option_name o;

	nft_next(p); /* option, chunk */
	if (word[0] == 't' && nft_take(p, '@'))
		return tcp_option_raw(p, at);
	if (!option_kind(p, word[0] == 'd' ? &none : table, word[0] == 's' ? "a chunk" : "an option", &o))
		return NULL;
	return option_field(p, word, &o, at);
}

/* rt0 addr[1], srh sid[2] */
static struct nft_expr *exthdr(struct nft_parse *p, const char *word, struct loc at)
{
	struct nft_expr *e = simple(p, word, at);
	uint64_t v;

	if (!e || !nft_take(p, '['))
		return e;
	if (!nft_need_number(p, "a place in the list", 15, &v) || !nft_need(p, ']'))
		return NULL;
	e->lo = v;
	return e;
}

/* ---------- what the kernel is asked ---------- */

/* An address whose family nobody wrote is of the table's. */
static void set_family(struct nft_parse *p, struct nft_expr *e)
{
	bool is_one = p->table && (p->table->family == NFT_IP || p->table->family == NFT_IP6);

	if (e->type != NFT_TYPE_NONE)
		return;
	e->type = p->table && p->table->family == NFT_IP6 ? NFT_TYPE_IPV6_ADDR : NFT_TYPE_IPV4_ADDR;
	if (p->table && !is_one)
		nft_hint(p, nft_error(p, e->at, "whether %s is an IPv4 or an IPv6 address must be said in family %s", nft_select_table[e->sel].name,
				      nft_family_name(p->table->family)),
			 "write 'ip %s' or 'ip6 %s'", nft_select_table[e->sel].name, nft_select_table[e->sel].name);
}

static struct nft_expr *ct(struct nft_parse *p, struct loc at)
{
	uint8_t dir = nft_take_word(p, "original") ? 1 : nft_take_word(p, "reply") ? 2 : 0;
	struct nft_expr *e = simple(p, "ct", at);

	if (!e)
		return NULL;
	e->dir = dir;
	if (dir && !nft_select_table[e->sel].kind)
		nft_error(p, e->at, "ct %s is not of a direction", nft_select_table[e->sel].name);
	if (!dir && nft_select_table[e->sel].kind == 2)
		nft_hint(p, nft_error(p, e->at, "ct %s needs a direction", nft_select_table[e->sel].name),
			 "write 'ct original %s' or 'ct reply %s'", nft_select_table[e->sel].name, nft_select_table[e->sel].name);
	set_family(p, e);
	return e;
}

static struct nft_expr *fib(struct nft_parse *p, struct loc at)
{
	static const char *const flags[] = { "saddr", "daddr", "mark", "iif", "oif" }, *const results[] = { "oif", "oifname", "type" };
	static const enum nft_type types[] = { NFT_TYPE_IFACE_INDEX, NFT_TYPE_IFNAME, NFT_TYPE_FIB_ADDRTYPE };
	struct nft_expr *e = make(p, NFT_SEL_FIB, at);

	do {
		unsigned i = 0;

		while (i < 5 && !nft_take_word(p, flags[i]))
			i++;
		if (i == 5)
			return nft_expected(p, "saddr, daddr, mark, iif or oif"), NULL;
		e->fib.flags |= 1u << i;
	} while (nft_take(p, '.'));
	if (nft_take_word(p, "check")) {
		e->type = NFT_TYPE_BOOLEAN;
		return e;
	}
	for (uint32_t i = 0; i < 3; i++)
		if (nft_take_word(p, results[i])) {
			e->fib.result = i;
			e->type = types[i];
			if (nft_is_word(p, "exists") || nft_is_word(p, "missing"))
				e->type = NFT_TYPE_BOOLEAN;
			return e;
		}
	return nft_expected(p, "what the route is asked: oif, oifname, type or check"), NULL;
}

static struct nft_expr *route(struct nft_parse *p, struct loc at)
{
	struct nft_expr *e;
	struct str name = nft_is(p, NFT_TOK_WORD) ? nft_token_text(nft_peek(p)) : STR("");

	if (row_of(p, "rt", name) && nft_select_table[row_of(p, "rt", name)].source == NFT_EXTHDR)
		return simple(p, "rt", at);
	if (nft_is_word(p, "ip") || nft_is_word(p, "ip6")) {
		bool is6 = nft_is_word(p, "ip6");

		nft_next(p);
		return nft_need_word(p, "nexthop") ? make(p, is6 ? NFT_SEL_ROUTE_IP6_NEXTHOP : NFT_SEL_ROUTE_IP_NEXTHOP, at) : NULL;
	}
	for (unsigned i = NFT_SEL_ROUTE_CLASSID; i <= NFT_SEL_ROUTE_IPSEC; i++)
		if (nft_take_word(p, nft_select_table[i].name)) {
			e = make(p, (enum nft_select_id)i, at);
			set_family(p, e);
			return e;
		}
	return unknown(p, "rt", &at);
}

static struct nft_expr *osf(struct nft_parse *p, struct loc at)
{
	uint64_t ttl = 0;
	struct nft_expr *e;

	if (nft_take_word(p, "ttl")) {
		ttl = nft_take_word(p, "loose") ? 1 : nft_take_word(p, "skip") ? 2 : 0;
		if (!ttl)
			return nft_expected(p, "loose or skip"), NULL;
	}
	e = simple(p, "osf", at);
	if (e)
		e->lo = ttl;
	return e;
}

static struct nft_expr *ipsec(struct nft_parse *p, struct loc at)
{
	uint8_t dir = nft_take_word(p, "in") ? 1 : nft_take_word(p, "out") ? 2 : 0;
	uint64_t spnum = 0;
	struct nft_expr *e;

	if (!dir)
		return nft_expected(p, "in or out"), NULL;
	if (nft_take_word(p, "spnum") && !nft_need_number(p, "the number of a transformation", 255, &spnum))
		return NULL;
	e = simple(p, "ipsec", at);
	if (e) {
		e->dir = dir;
		e->lo = spnum;
	}
	return e;
}

static struct nft_expr *socket(struct nft_parse *p, struct loc at)
{
	struct nft_expr *e = simple(p, "socket", at);
	uint64_t level;

	if (!e || e->sel != NFT_SEL_SOCKET_CGROUPV2)
		return e;
	if (!nft_need_word(p, "level") || !nft_need_number(p, "a level", 255, &level))
		return NULL;
	e->lo = level;
	return e;
}

/* ---------- numbers that are made ---------- */

static bool modulus(struct nft_parse *p, struct nft_expr *e, bool may_seed)
{
	uint64_t v;

	if (!nft_need_word(p, "mod") || !nft_need_number(p, "a modulus", UINT32_MAX, &v))
		return false;
	if (v == 0)
		nft_error(p, e->at, "the modulus must not be 0");
	e->gen.modulus = v ? (uint32_t)v : 1;
	if (may_seed && nft_take_word(p, "seed")) {
		if (!nft_need_number(p, "a seed", UINT32_MAX, &v))
			return false;
		e->gen.seed = (uint32_t)v;
		e->gen.has_seed = true;
	}
	if (nft_take_word(p, "offset")) {
		if (!nft_need_number(p, "an offset", UINT32_MAX, &v))
			return false;
		e->gen.offset = (uint32_t)v;
	}
	return true;
}

static struct nft_expr *made(struct nft_parse *p, struct str word, struct loc at)
{
	struct nft_expr *e = nft_expr_new(p, str_is(word, "numgen") ? NFT_NUMGEN : NFT_HASH, at);

	e->type = NFT_TYPE_INTEGER;
	if (e->kind == NFT_NUMGEN) {
		e->gen.is_random = nft_is_word(p, "random");
		if (!nft_take_word(p, "random") && !nft_take_word(p, "inc"))
			return nft_expected(p, "inc or random"), NULL;
		return modulus(p, e, false) ? e : NULL;
	}
	if (str_is(word, "jhash")) {
		e->part = arena_new(p->a, struct nft_expr *, 1);
		e->part[0] = nft_expr(p);
		e->n_parts = 1;
		if (!e->part[0])
			return NULL;
	}
	return modulus(p, e, e->n_parts) ? e : NULL;
}

/* ---------- all of them ---------- */

static bool is_bare_meta(struct nft_parse *p, struct str word)
{
	enum nft_select_id sel = row_of(p, "meta", word);

	return sel && nft_select_table[sel].kind == 1;
}

static bool is_made(struct str w)
{
	return str_is(w, "numgen") || str_is(w, "jhash") || str_is(w, "symhash");
}

bool nft_select_is_next(struct nft_parse *p)
{
	const struct nft_token *t = nft_peek(p), *u;
	struct str w = nft_token_text(t);

	if (t->kind == '@') {
		u = nft_peek2(p);
		return u->kind == NFT_TOK_WORD && u->len == 2 && memchr("lnti", u->p[0], 4) && (u->p[1] == 'h' || u->p[1] == 'l');
	}
	return t->kind == NFT_TOK_WORD && (first_row(p, w) || is_bare_meta(p, w) || is_made(w) || str_is(w, "gretap"));
}

static bool has_inside(struct str w)
{
	return str_is(w, "vxlan") || str_is(w, "geneve") || str_is(w, "gre") || str_is(w, "gretap");
}

static struct nft_expr *refuse_inside(struct nft_parse *p, struct str word, struct loc at)
{
	nft_hint(p, nft_error(p, nft_span(at, nft_token_loc(nft_peek(p))), "headers inside of %.*s are not supported", STR_ARG(word)),
		 "match on the outer header, or on bits: @ih,OFFSET,LENGTH");
	return NULL;
}

static struct nft_expr *of_header(struct nft_parse *p, struct str w, struct loc at)
{
	const char *word = nft_select_table[first_row(p, w)].word;
	struct str next = nft_is(p, NFT_TOK_WORD) ? nft_token_text(nft_peek(p)) : STR("");

	if (has_inside(w) && (str_is(next, "ip") || str_is(next, "ip6") || str_is(next, "ether") || !row_of(p, word, next)) &&
	    first_row(p, next))
		return refuse_inside(p, w, at);
	if (str_is(next, "option") && str_is(w, "tcp"))
		return option(p, "tcp option", at);
	if (str_is(next, "option") && str_is(w, "ip"))
		return option(p, "ip option", at);
	if (str_is(next, "option") && str_is(w, "dccp"))
		return option(p, "dccp option", at);
	if (str_is(next, "chunk") && str_is(w, "sctp"))
		return option(p, "sctp chunk", at);
	if (nft_select_table[first_row(p, w)].source == NFT_EXTHDR)
		return exthdr(p, word, at);
	if (str_is(w, "icmpv6") && (str_is(next, "param-problem") || str_is(next, "packet-too-big"))) {
		nft_next(p);
		return make(p, str_is(next, "packet-too-big") ? NFT_SEL_ICMPV6_MTU : NFT_SEL_ICMPV6_PARAMETER_PROBLEM, at);
	}
	if (str_is(w, "vlan") && str_is(next, "cfi")) {
		nft_next(p);
		return make(p, NFT_SEL_VLAN_DEI, at);
	}
	return simple(p, word, at);
}

struct nft_expr *nft_select(struct nft_parse *p)
{
	const struct nft_token *t = nft_next(p);
	struct str w = nft_token_text(t);
	struct loc at = nft_token_loc(t);

	if (t->kind == '@')
		return payload(p, at);
	if (is_made(w))
		return made(p, w, at);
	if (str_is(w, "gretap"))
		return refuse_inside(p, w, at);
	if (str_is(w, "ct"))
		return ct(p, at);
	if (str_is(w, "fib"))
		return fib(p, at);
	if (str_is(w, "rt"))
		return route(p, at);
	if (str_is(w, "osf"))
		return osf(p, at);
	if (str_is(w, "ipsec") && (nft_is_word(p, "in") || nft_is_word(p, "out")))
		return ipsec(p, at);
	if (str_is(w, "socket"))
		return socket(p, at);
	if (is_bare_meta(p, w))
		return make(p, row_of(p, "meta", w), at);
	if (str_is(w, "meta") && nft_is_word(p, "secpath"))
		return nft_next(p), make(p, NFT_SEL_META_IPSEC, at);
	if (str_is(w, "meta") && (nft_is_word(p, "ibriport") || nft_is_word(p, "obriport")))
		return make(p, nft_token_text(nft_next(p)).p[0] == 'i' ? NFT_SEL_META_IBRNAME : NFT_SEL_META_OBRNAME, at);
	return of_header(p, w, at);
}
