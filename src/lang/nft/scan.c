/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text to tokens. Of all that could begin at a byte the longest counts, as in nft's own scanner. See scan.h. */
#include "lang/nft/scan.h"
#include "lang/nft/include.h"
#include "policy/addr.h"

struct scan {
	struct arena *a;
	struct diags *d;
	struct nft_tokens *out;
	uint32_t source;
	const char *text, *p, *end;
	unsigned depth; /* of includes */
};

static void scan_source(struct arena *a, struct diags *d, uint32_t source, struct nft_tokens *out, unsigned depth);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word_byte(char c)
{
	return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '-' || c == '/';
}

struct str nft_token_text(const struct nft_token *t)
{
	if (t->kind == NFT_TOK_QUOTED)
		return (struct str){ t->p + 1, t->len - 2 };
	return (struct str){ t->p, t->len };
}

struct loc nft_token_loc(const struct nft_token *t)
{
	return (struct loc){ t->source, t->off, t->len };
}

static struct loc here(const struct scan *s, const char *p, size_t n)
{
	return (struct loc){ s->source, (uint32_t)(p - s->text), (uint32_t)n };
}

static struct nft_token *push(struct scan *s, unsigned kind, size_t len)
{
	struct nft_token *t = vec_add(s->a, &s->out->all);

	*t = (struct nft_token){ .kind = (uint8_t)kind, .source = s->source, .off = (uint32_t)(s->p - s->text), .len = (uint32_t)len, .p = s->p };
	s->p += len;
	return t;
}

/* ---------- words that begin with a digit, addresses ---------- */

static size_t run_of(const struct scan *s, bool (*is)(char))
{
	const char *p = s->p;

	while (p < s->end && is(*p))
		p++;
	return (size_t)(p - s->p);
}

static size_t number_len(const struct scan *s)
{
	const char *p = s->p;

	if (s->end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && is_hex(p[2])) {
		for (p += 2; p < s->end && is_hex(*p);)
			p++;
		return (size_t)(p - s->p);
	}
	return run_of(s, is_digit);
}

/* 1d2h3m4s5ms, each with its unit and nothing behind it. */
static size_t time_len(const struct scan *s)
{
	const char *p = s->p;

	while (p < s->end && is_digit(*p)) {
		while (p < s->end && is_digit(*p))
			p++;
		if (p >= s->end || !memchr("wdhms", *p, 5))
			return 0;
		p += 1 + (p + 1 < s->end && p[0] == 'm' && p[1] == 's');
	}
	return p < s->end && (is_letter(*p) || *p == '_') ? 0 : (size_t)(p - s->p);
}

/* Digits with dots between them, whether it is an address or not: who needs one will say so. */
static size_t dotted_len(const struct scan *s)
{
	const char *p = s->p;
	unsigned dots = 0;

	for (; p < s->end && is_digit(*p); p++) {
		while (p < s->end && is_digit(*p))
			p++;
		if (s->end - p < 2 || p[0] != '.' || !is_digit(p[1]))
			break;
		dots++;
	}
	return dots ? (size_t)(p - s->p) : 0;
}

static size_t mac_len(const struct scan *s)
{
	const char *p = s->p;

	for (unsigned i = 0; i < 6; i++) {
		const char *from = p;

		while (p < s->end && is_hex(*p))
			p++;
		if (p == from || p - from > 2)
			return 0;
		if (i < 5 && (p >= s->end || *p++ != ':'))
			return 0;
	}
	return p < s->end && (*p == ':' || is_letter(*p)) && p + 1 < s->end && is_hex(p[1]) ? 0 : (size_t)(p - s->p);
}

static bool is_ip6_byte(char c)
{
	return is_hex(c) || c == ':' || c == '.';
}

/* "fe80::1:drop": the last group goes on as a word, so it is none. */
static size_t ip6_len(const struct scan *s)
{
	size_t n = run_of(s, is_ip6_byte);
	u128 v;

	if (n < 2 || !memchr(s->p, ':', n < 5 ? n : 5))
		return 0;
	if (n < (size_t)(s->end - s->p) && (is_letter(s->p[n]) || s->p[n] == '_'))
		while (n > 0 && s->p[n - 1] != ':')
			n--;
	while (n >= 2 && !addr_parse(FAMILY_IP6, (struct str){ s->p, n }, &v)) {
		n--;
		while (n > 0 && s->p[n] != ':' && s->p[n] != '.')
			n--;
	}
	return n >= 2 ? n : 0;
}

static size_t longest(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The only names that begin with a digit. */
static size_t vlan_len(const struct scan *s)
{
	static const char *const names[] = { "8021ad", "8021q" };

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(names[i]);

		if ((size_t)(s->end - s->p) >= n && memcmp(s->p, names[i], n) == 0 && (s->p + n == s->end || !is_word_byte(s->p[n])))
			return n;
	}
	return 0;
}

static bool scan_digits(struct scan *s)
{
	size_t number = number_len(s), word;

	word = longest(longest(longest(time_len(s), dotted_len(s)), longest(mac_len(s), ip6_len(s))), vlan_len(s));
	push(s, word > number ? NFT_TOK_WORD : NFT_TOK_NUMBER, longest(word, number));
	return true;
}

/* ---------- words, quotes ---------- */

static bool is_star_escape(const struct scan *s, const char *p)
{
	return s->end - p >= 2 && p[0] == '\\' && p[1] == '*';
}

static void scan_word(struct scan *s)
{
	const char *p = s->p;
	size_t n = is_hex(*p) || *p == ':' ? longest(ip6_len(s), mac_len(s)) : 0;
	bool has_star = false;

	while (p < s->end && is_word_byte(*p))
		p++;
	if (n > (size_t)(p - s->p)) {
		push(s, NFT_TOK_WORD, n);
		return;
	}
	if (p < s->end && *p == '*') {
		has_star = true;
		p++;
	} else if (is_star_escape(s, p)) {
		has_star = true;
		for (p += 2; p < s->end && is_word_byte(*p);)
			p++;
	}
	push(s, NFT_TOK_WORD, (size_t)(p - s->p))->has_star = has_star;
}

static void scan_quoted(struct scan *s)
{
	const char *p = memchr(s->p + 1, '"', (size_t)(s->end - s->p - 1)), *line = memchr(s->p, '\n', (size_t)(s->end - s->p));
	struct diag *g;

	if (p && (!line || p < line)) {
		push(s, NFT_TOK_QUOTED, (size_t)(p + 1 - s->p));
		return;
	}
	p = line ? line : s->end;
	g = diag_error(s->d, here(s, s->p, (size_t)(p - s->p)), "the quote is not closed on this line");
	diag_hint(s->d, g, "close it with '\"'; nothing can be escaped inside quotes");
	s->out->lacks_some = true;
	push(s, NFT_TOK_POISON, (size_t)(p - s->p));
}

/* ---------- lines ---------- */

static uint32_t handle_of(struct str comment)
{
	uint64_t v;

	comment = str_trim(comment);
	if (!str_starts(comment, "handle ") || !str_u64(str_slice(comment, 7, comment.n), 10, UINT32_MAX, &v))
		return 0;
	return (uint32_t)v;
}

static void scan_comment(struct scan *s)
{
	const char *p = memchr(s->p, '\n', (size_t)(s->end - s->p)), *from = s->p + 1;
	struct nft_token *t;

	s->p = p ? p : s->end;
	if (p) {
		t = push(s, NFT_TOK_LINE, 1);
		t->handle = handle_of((struct str){ from, (size_t)(p - from) });
	}
}

/* A backslash that is not the last of its line, nor in front of a star. */
static void scan_backslash(struct scan *s)
{
	const char *p = s->p + 1;
	struct diag *g;

	if (p < s->end && *p == '\r')
		p++;
	if (p < s->end && *p == '\n') {
		s->p = p + 1;
		return;
	}
	if (is_star_escape(s, s->p)) {
		scan_word(s);
		return;
	}
	while (p < s->end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	if (p < s->end && *p == '\n') {
		g = diag_error(s->d, here(s, s->p, (size_t)(p - s->p)), "blanks stand behind the backslash, so it does not join the lines");
		diag_hint(s->d, g, "end the line right behind the backslash");
		s->out->lacks_some = true;
		s->p = p + 1;
		return;
	}
	push(s, NFT_TOK_JUNK, 1);
}

static void scan_sign(struct scan *s)
{
	static const struct {
		char text[3];
		uint8_t kind;
	} twos[] = { { "!=", NFT_TOK_NE }, { "==", NFT_TOK_EQ }, { "<=", NFT_TOK_LE },
		     { ">=", NFT_TOK_GE }, { "<<", NFT_TOK_LSHIFT }, { ">>", NFT_TOK_RSHIFT } };

	for (size_t i = 0; i < sizeof twos / sizeof *twos; i++)
		if (s->end - s->p >= 2 && memcmp(s->p, twos[i].text, 2) == 0) {
			push(s, twos[i].kind, 2);
			return;
		}
	push(s, *s->p && strchr("{}()[],.:;/-+*$@=!<>&|^", *s->p) ? (unsigned char)*s->p : NFT_TOK_JUNK, 1);
}

/* ---------- include ---------- */

static bool begins_statement(const struct scan *s)
{
	uint8_t k = s->out->all.n ? s->out->all.v[s->out->all.n - 1].kind : NFT_TOK_LINE;

	return k == NFT_TOK_LINE || k == ';' || k == '{' || k == '}';
}

/* The word `include` was pushed last. Its files' tokens take its place. */
static void scan_include(struct scan *s)
{
	struct nft_token word = s->out->all.v[s->out->all.n - 1], path;
	struct nft_include inc = { 0 };

	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
		s->p++;
	if (s->p >= s->end || *s->p != '"')
		return;
	scan_quoted(s);
	path = s->out->all.v[s->out->all.n - 1];
	if (path.kind != NFT_TOK_QUOTED)
		return;
	s->out->all.n -= 2;
	inc.at = (struct loc){ s->source, word.off, path.off + path.len - word.off };
	if (!nft_include_find(s->a, s->d, nft_token_text(&path), s->depth, &inc))
		s->out->lacks_some = true;
	for (size_t i = 0; i < inc.source.n; i++)
		scan_source(s->a, s->d, inc.source.v[i], s->out, s->depth + 1);
}

static void scan_token(struct scan *s)
{
	char c = *s->p;

	if (c == ' ' || c == '\t' || c == '\r')
		s->p++;
	else if (c == '\n')
		push(s, NFT_TOK_LINE, 1);
	else if (c == '#')
		scan_comment(s);
	else if (c == '"')
		scan_quoted(s);
	else if (c == '\\')
		scan_backslash(s);
	else if (is_digit(c))
		scan_digits(s);
	else if (is_letter(c) || c == '_' || (c == '.' && s->p + 1 < s->end && is_word_byte(s->p[1])) || (c == ':' && ip6_len(s)))
		scan_word(s);
	else
		scan_sign(s);
}

static void scan_source(struct arena *a, struct diags *d, uint32_t source, struct nft_tokens *out, unsigned depth)
{
	const struct source *src = source_get(d->sources, source);
	struct scan s = { a, d, out, source, src->text.p, src->text.p, src->text.p + src->text.n, depth };

	while (s.p < s.end) {
		bool begins = begins_statement(&s);
		size_t n = out->all.n;

		scan_token(&s);
		if (begins && out->all.n == n + 1 && str_is(nft_token_text(&out->all.v[n]), "include"))
			scan_include(&s);
	}
	push(&s, NFT_TOK_LINE, 0);
}

void nft_scan(struct arena *a, struct diags *d, uint32_t source, struct nft_tokens *out)
{
	scan_source(a, d, source, out, 0);
}
