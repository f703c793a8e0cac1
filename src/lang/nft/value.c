/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Constants: numbers, names, addresses, durations; ranges and prefixes of them. What a word means depends on the type that is
 * wanted: `http` is 80 for a port, `new` a bit for a connection's state, `eth0` a text for an interface.
 */
#include <stdio.h>
#include <time.h>

#include "lang/nft/parse.h"
#include "policy/addr.h"

static u128 most_of(unsigned bits)
{
	return bits >= 128 ? ~(u128)0 : ((u128)1 << bits) - 1;
}

static unsigned bits_of(const struct nft_want *w)
{
	return w->bits ? w->bits : nft_type_table[w->type].bits ? nft_type_table[w->type].bits : 128;
}

static enum nft_type_kind kind_of(const struct nft_want *w)
{
	return nft_type_table[w->type].kind;
}

struct nft_expr *nft_expr_new(struct nft_parse *p, enum nft_expr_kind kind, struct loc at)
{
	struct nft_expr *e = arena_new(p->a, struct nft_expr, 1);

	e->kind = kind;
	e->at = at;
	return e;
}

bool nft_value_is_next(struct nft_parse *p)
{
	unsigned k = nft_peek(p)->kind;

	return (k >= NFT_TOK_WORD && k <= NFT_TOK_QUOTED) || k == NFT_TOK_POISON || k == '(' || k == '*' || k == '-';
}

/* ---------- durations and points in time ---------- */

bool nft_value_time(struct str s, uint64_t *ms)
{
	size_t i = 0;

	*ms = 0;
	while (i < s.n) {
		uint64_t v = 0, unit;
		size_t from = i;

		for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
			if (v > UINT64_MAX / 1000000000000u)
				return false;
			v = v * 10 + (uint64_t)(s.p[i] - '0');
		}
		if (i == from || i >= s.n)
			return false;
		unit = s.p[i] == 'w' ? 604800000u : s.p[i] == 'd' ? 86400000u : s.p[i] == 'h' ? 3600000u : s.p[i] == 'm' ? 60000u : 1000u;
		if (!memchr("wdhms", s.p[i], 5))
			return false;
		if (s.p[i] == 'm' && i + 1 < s.n && s.p[i + 1] == 's') {
			unit = 1;
			i++;
		}
		i++;
		if (v > UINT64_MAX / 2 / unit || *ms > UINT64_MAX / 2)
			return false;
		*ms += v * unit;
	}
	return s.n > 0;
}

static bool parse_hour(struct str s, uint64_t *v)
{
	unsigned h, m, sec = 0;
	char text[16], extra;
	int n;

	if (s.n >= sizeof text)
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	n = sscanf(text, "%2u:%2u:%2u%c", &h, &m, &sec, &extra);
	if ((n != 2 && n != 3) || h > 24 || m > 59 || sec > 60)
		return false;
	*v = h * 3600 + m * 60 + sec;
	return true;
}

/* "2026-12-01 17:00:00", in the local time of the machine, as nft takes it. To nanoseconds. */
static bool parse_date(struct str s, uint64_t *v)
{
	static const char *const forms[] = { "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d" };
	char text[32];

	if (s.n >= sizeof text)
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	for (size_t i = 0; i < 3; i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(text, forms[i], &tm);

		if (end && !*end) {
			*v = (uint64_t)mktime(&tm) * 1000000000u;
			return true;
		}
	}
	return false;
}

static bool parse_mac(struct str s, u128 *v)
{
	struct str rest = s;
	bool more = true;
	uint64_t b;

	*v = 0;
	for (unsigned i = 0; i < 6; i++) {
		struct str one = str_cut(rest, ':', &rest, &more);

		if (one.n == 0 || one.n > 2 || more != (i < 5) || !str_u64(one, 16, 255, &b))
			return false;
		*v = *v << 8 | b;
	}
	return true;
}

/* ---------- one value ---------- */

static void report_addr(struct nft_parse *p, const struct nft_want *w, struct str s, struct loc at)
{
	bool wants6 = kind_of(w) == NFT_KIND_ADDR6;
	u128 v;
	struct diag *g = nft_error(p, at, "'%.*s' is not an %s address", STR_ARG(s), wants6 ? "IPv6" : "IPv4");

	if (addr_parse(wants6 ? FAMILY_IP4 : FAMILY_IP6, s, &v))
		nft_hint(p, g, "it is an IPv%d address, and %s is of IPv%d", wants6 ? 4 : 6, w->what, wants6 ? 6 : 4);
	else if (s.n && !(s.p[0] >= '0' && s.p[0] <= '9') && s.p[0] != ':')
		nft_hint(p, g, "names of hosts are not looked up: write the address");
}

static void report_name(struct nft_parse *p, const struct nft_want *w, struct str s, struct loc at)
{
	const char *near = nft_name_has(w->type) ? nft_name_nearest(&p->names, w->type, s) : NULL;
	struct diag *g;

	if (w->type == NFT_TYPE_UID || w->type == NFT_TYPE_GID) {
		g = nft_error(p, at, "there is no %s '%.*s' on this machine", w->type == NFT_TYPE_UID ? "user" : "group", STR_ARG(s));
		nft_hint(p, g, "write its number, or read the rules where it exists");
		return;
	}
	g = nft_error(p, at, "'%.*s' is not a value for %s (%s)", STR_ARG(s), w->what, nft_type_table[w->type].name);
	if (near)
		nft_hint(p, g, "did you mean '%s'?", near);
	else if (w->type == NFT_TYPE_INET_SERVICE && memchr(s.p, '-', s.n))
		nft_hint(p, g, "for a range of names put blanks around the '-'");
}

static void report_large(struct nft_parse *p, const struct nft_want *w, struct str s, struct loc at)
{
	if (bits_of(w) <= 64)
		nft_error(p, at, "%.*s is above %llu, the most that %s can be", STR_ARG(s), (unsigned long long)most_of(bits_of(w)), w->what);
	else
		nft_error(p, at, "%.*s is too large for %s", STR_ARG(s), w->what);
}

/* A number may have any length: 128 bits. One that begins with 0 is octal, as in C. */
static bool parse_number(struct str s, u128 *out)
{
	unsigned base = s.n < 2 || s.p[0] != '0' ? 10 : s.p[1] == 'x' || s.p[1] == 'X' ? 16 : 8;
	u128 v = 0;

	for (size_t i = base == 16 ? 2 : 0; i < s.n; i++) {
		unsigned c = (unsigned char)s.p[i], d = c <= '9' ? c - '0' : (c | 32) - 'a' + 10;

		if (d >= base || v > (~(u128)0 - d) / base)
			return false;
		v = v * base + d;
	}
	*out = v;
	return true;
}

static u128 number_value(struct nft_parse *p, const struct nft_want *w, const struct nft_token *t)
{
	struct str s = nft_token_text(t);
	u128 v = 0;

	if (!parse_number(s, &v)) {
		if (s.p[0] == '0')
			nft_hint(p, nft_error(p, nft_token_loc(t), "'%.*s' begins with 0, so it is octal, and this is no octal number", STR_ARG(s)), "leave out the 0");
		else
			report_large(p, w, s, nft_token_loc(t));
		return 0;
	}
	if (s.n > 1 && s.p[0] == '0' && s.p[1] != 'x' && s.p[1] != 'X' && v > 7)
		diag_warn(p->d, nft_token_loc(t), "octal", "'%.*s' begins with 0, so it is octal: %llu", STR_ARG(s), (unsigned long long)v);
	if (w->type == NFT_TYPE_CT_LABEL) {
		if (v > 127)
			nft_error(p, nft_token_loc(t), "a label is a bit from 0 to 127, not %.*s", STR_ARG(s));
		return (u128)1 << (v & 127);
	}
	if (w->type == NFT_TYPE_TIME)
		return v * 1000;
	if (w->type == NFT_TYPE_DATE)
		return v * 1000000000u;
	if (kind_of(w) == NFT_KIND_MAC)
		nft_error(p, nft_token_loc(t), "expected a MAC address for %s, found '%.*s'", w->what, STR_ARG(s));
	if (v > most_of(bits_of(w))) {
		report_large(p, w, s, nft_token_loc(t));
		v = most_of(bits_of(w));
	}
	return v;
}

static bool classid_value(struct str s, u128 *v)
{
	struct str minor, major = str_cut(s, ':', &minor, NULL);
	uint64_t a = 0, b = 0;

	if (str_is(s, "none") || str_is(s, "root")) {
		*v = s.p[0] == 'n' ? 0 : 0xffffffffu;
		return true;
	}
	if (!memchr(s.p, ':', s.n) || (major.n && !str_u64(major, 16, 0xffff, &a)) || (minor.n && !str_u64(minor, 16, 0xffff, &b)))
		return false;
	*v = a << 16 | b;
	return true;
}

static u128 word_value(struct nft_parse *p, const struct nft_want *w, const struct nft_token *t)
{
	struct str s = nft_token_text(t);
	struct loc at = nft_token_loc(t);
	uint64_t n = 0;
	u128 v = 0;

	switch (kind_of(w)) {
	case NFT_KIND_ADDR4:
	case NFT_KIND_ADDR6:
		if (!addr_parse(kind_of(w) == NFT_KIND_ADDR6 ? FAMILY_IP6 : FAMILY_IP4, s, &v))
			report_addr(p, w, s, at);
		return v;
	case NFT_KIND_MAC:
		if (!parse_mac(s, &v))
			nft_error(p, at, "'%.*s' is not a MAC address, which %s needs", STR_ARG(s), w->what);
		return v;
	case NFT_KIND_TIME:
		if (w->type == NFT_TYPE_HOUR ? !parse_hour(s, &n) : w->type == NFT_TYPE_DATE ? !parse_date(s, &n) : !nft_value_time(s, &n))
			nft_hint(p, nft_error(p, at, "'%.*s' is not a time for %s", STR_ARG(s), w->what),
				 w->type == NFT_TYPE_HOUR ? "write \"17:00\"" : w->type == NFT_TYPE_DATE ? "write \"2026-12-31 17:00\"" : "write 1h30m");
		return n;
	default:
		break;
	}
	if (w->type == NFT_TYPE_CLASSID && classid_value(s, &v))
		return v;
	if (!nft_name_find(&p->names, w->type, s, &n))
		report_name(p, w, s, at);
	return w->type == NFT_TYPE_CT_LABEL ? (u128)1 << (n & 127) : n;
}

/* ---------- numbers with operators: 0x1 | 0x2, fin|syn, 1 << 3 ---------- */

static bool constant(struct nft_parse *p, const struct nft_want *w, unsigned level, u128 *v);

static bool constant_one(struct nft_parse *p, const struct nft_want *w, u128 *v)
{
	const struct nft_token *t = nft_peek(p);
	bool is_good;

	*v = 0;
	if (t->kind == '(') {
		if (p->depth >= NFT_DEPTH)
			return nft_error(p, nft_token_loc(t), "parentheses are nested too deep"), false;
		p->depth++;
		nft_next(p);
		is_good = constant(p, w, 0, v) && nft_need(p, ')');
		p->depth--;
		return is_good;
	}
	if (t->kind < NFT_TOK_WORD || (t->kind > NFT_TOK_QUOTED && t->kind != NFT_TOK_POISON))
		return nft_expected(p, "a value for %s", w->what);
	nft_next(p);
	/* A class may be written 1:10, which comes in three pieces. */
	if (w->type == NFT_TYPE_CLASSID && t->kind != NFT_TOK_POISON && nft_is(p, ':') && nft_peek(p) == t + 1) {
		const struct nft_token *last = t + 1;

		nft_next(p);
		if (nft_is(p, NFT_TOK_NUMBER) || nft_is(p, NFT_TOK_WORD))
			last = nft_next(p);
		if (!classid_value((struct str){ t->p, (size_t)(last->p + last->len - t->p) }, v))
			nft_error(p, nft_span(nft_token_loc(t), nft_token_loc(last)), "this is no class, as 1:10 is");
		return true;
	}
	if (t->kind == NFT_TOK_NUMBER)
		*v = number_value(p, w, t);
	else if (t->kind != NFT_TOK_POISON)
		*v = word_value(p, w, t);
	return true;
}

/* The operator here binds at least so strongly: | 0, ^ 1, & 2, shifts 3. -1: none. */
static int operator_level(struct nft_parse *p)
{
	switch (nft_peek(p)->kind) {
	case '|': return 0;
	case '^': return 1;
	case '&': return 2;
	case NFT_TOK_LSHIFT:
	case NFT_TOK_RSHIFT: return 3;
	default: return -1;
	}
}

static bool constant(struct nft_parse *p, const struct nft_want *w, unsigned level, u128 *v)
{
	if (level > 3)
		return constant_one(p, w, v);
	if (!constant(p, w, level + 1, v))
		return false;
	while (operator_level(p) == (int)level) {
		struct nft_want number = { NFT_TYPE_INTEGER, 32, "a shift" };
		unsigned op = nft_next(p)->kind;
		u128 u;

		if (!constant(p, level == 3 ? &number : w, level + 1, &u))
			return false;
		if (op == '|')
			*v |= u;
		else if (op == '^')
			*v ^= u;
		else if (op == '&')
			*v &= u;
		else if (u >= 128)
			*v = 0;
		else
			*v = (op == NFT_TOK_LSHIFT ? *v << u : *v >> u) & most_of(bits_of(w));
	}
	return true;
}

/* ---------- texts ---------- */

/* "eth*" stands for all that begin so; "eth\*" does not. */
static struct str unstar(struct nft_parse *p, struct str s, bool *is_prefix)
{
	struct buf b = { .a = p->a };

	*is_prefix = s.n > 0 && s.p[s.n - 1] == '*' && (s.n < 2 || s.p[s.n - 2] != '\\');
	if (*is_prefix)
		s.n--;
	if (s.n == 0 || !memchr(s.p, '\\', s.n))
		return s;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '\\' || i + 1 == s.n)
			buf_add(&b, s.p + i, 1);
	return buf_str(&b);
}

static struct nft_expr *text_value(struct nft_parse *p, const struct nft_want *w)
{
	const struct nft_token *t = nft_peek(p);
	struct nft_expr *e = nft_expr_new(p, NFT_TEXT, nft_token_loc(t));
	u128 v;

	e->type = w->type;
	if (t->kind == '*' && w->type != NFT_TYPE_CGROUPV2) {
		nft_next(p);
		e->is_prefix = true;
		return e;
	}
	if (t->kind < NFT_TOK_WORD || (t->kind > NFT_TOK_QUOTED && t->kind != NFT_TOK_POISON))
		return nft_expected(p, "a value for %s", w->what), NULL;
	nft_next(p);
	if (t->kind == NFT_TOK_POISON)
		return e;
	if (t->kind == NFT_TOK_NUMBER && w->type == NFT_TYPE_IFACE_INDEX && parse_number(nft_token_text(t), &v) && v <= UINT32_MAX) {
		e->kind = NFT_NUMBER;
		e->lo = e->hi = v;
		return e;
	}
	e->text = unstar(p, nft_token_text(t), &e->is_prefix);
	if (w->type == NFT_TYPE_IFNAME || w->type == NFT_TYPE_IFACE_INDEX) {
		if (e->text.n > 15)
			nft_error(p, e->at, "an interface's name has at most 15 characters, this one has %zu", e->text.n);
		if (e->text.n == 0 && !e->is_prefix)
			nft_error(p, e->at, "an interface's name is missing");
		if (e->is_prefix && w->type == NFT_TYPE_IFACE_INDEX)
			nft_hint(p, nft_error(p, e->at, "%s stands for one interface, not for all that begin so", w->what), "use %sname", w->what);
	}
	return e;
}

/* ---------- values, ranges, prefixes ---------- */

struct nft_expr *nft_value_single(struct nft_parse *p, const struct nft_want *w)
{
	struct nft_expr *e;

	if (kind_of(w) == NFT_KIND_NAME)
		return text_value(p, w);
	e = nft_expr_new(p, NFT_NUMBER, nft_token_loc(nft_peek(p)));
	e->type = w->type;
	if (!constant(p, w, 0, &e->lo))
		return NULL;
	e->hi = e->lo;
	return e;
}

struct nft_expr *nft_value_operand(struct nft_parse *p, const struct nft_want *w)
{
	struct nft_expr *e = nft_expr_new(p, NFT_NUMBER, nft_token_loc(nft_peek(p)));

	e->type = w->type;
	if (!constant_one(p, w, &e->lo))
		return NULL;
	e->hi = e->lo;
	return e;
}

/* Host bits that were written are cleared, and said. */
static struct nft_expr *prefix(struct nft_parse *p, const struct nft_want *w, struct nft_expr *e)
{
	const struct nft_token *t = nft_peek(p);
	unsigned bits = bits_of(w);
	uint64_t plen = bits;
	u128 host, v = e->lo;
	struct diag *g;
	struct buf b = { .a = p->a };

	if (t->kind != NFT_TOK_NUMBER && t->kind != NFT_TOK_POISON)
		return nft_expected(p, "a prefix length from 0 to %u", bits), NULL;
	nft_next(p);
	if (t->kind == NFT_TOK_NUMBER && !str_u64(nft_token_text(t), 0, bits, &plen)) {
		nft_error(p, nft_token_loc(t), "a prefix length of %s must be from 0 to %u, not %.*s", w->what, bits, STR_ARG(nft_token_text(t)));
		plen = bits;
	}
	host = most_of(bits - (unsigned)plen);
	if (t->kind == NFT_TOK_NUMBER)
		e->at = nft_span(e->at, nft_token_loc(t));
	e->kind = NFT_PREFIX;
	e->plen = (uint8_t)plen;
	e->lo &= ~host;
	e->hi = e->lo | host;
	if (v == e->lo || (kind_of(w) != NFT_KIND_ADDR4 && kind_of(w) != NFT_KIND_ADDR6))
		return e;
	addr_print(&b, kind_of(w) == NFT_KIND_ADDR6 ? FAMILY_IP6 : FAMILY_IP4, e->lo);
	g = diag_warn(p->d, e->at, "host-bits", "this prefix has host bits; it means %.*s/%u", STR_ARG(buf_str(&b)), (unsigned)plen);
	diag_hint(p->d, g, "write %.*s/%u", STR_ARG(buf_str(&b)), (unsigned)plen);
	return e;
}

static struct nft_expr *range(struct nft_parse *p, const struct nft_want *w, struct nft_expr *e)
{
	struct nft_expr *to = nft_value_single(p, w);

	if (!to)
		return NULL;
	if (to->kind != NFT_NUMBER || e->kind != NFT_NUMBER)
		return nft_error(p, e->at, "names do not make a range"), NULL;
	e->kind = NFT_RANGE;
	e->at = nft_span(e->at, to->at);
	e->hi = to->lo;
	/* Hours go around midnight. */
	if (e->hi < e->lo && w->type != NFT_TYPE_HOUR) {
		nft_hint(p, nft_error(p, e->at, "this range is reversed: its end is below its beginning"), "write the smaller one first");
		e->hi = e->lo;
	}
	return e;
}

struct nft_expr *nft_value(struct nft_parse *p, const struct nft_want *w)
{
	const struct nft_token *t = nft_peek(p);
	struct nft_expr *e;

	if (t->kind == NFT_TOK_LINE && kind_of(w) == NFT_KIND_VERDICT)
		return NULL;
	if (kind_of(w) == NFT_KIND_VERDICT)
		return nft_verdict(p);
	e = nft_value_single(p, w);
	if (!e)
		return NULL;
	if (nft_take(p, '-'))
		return range(p, w, e);
	if (nft_is(p, '/') && kind_of(w) != NFT_KIND_BITMASK && e->kind == NFT_NUMBER) {
		nft_next(p);
		return prefix(p, w, e);
	}
	return e;
}
