/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses, prefixes and ranges in a line of a list. Lists have a million lines, so an IPv4 address is read here digit by
 * digit, as strictly as addr_parse() would; whatever is not one goes the slow way, which knows what to say about it.
 */
#include "lang/list/list.h"
#include "policy/addr.h"

static bool is_end(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '#' || c == ';';
}

/* Four decimal numbers from *p on, which is then behind them. false: no IPv4 address stands here. */
static bool read_ip4(const char **p, const char *end, uint32_t *out)
{
	const char *q = *p;
	uint32_t addr = 0;

	for (unsigned i = 0; i < 4; i++) {
		const char *first = q;
		uint32_t v = 0;

		if (i && (q == end || *q++ != '.'))
			return false;
		first = q;
		for (; q < end && q < first + 3 && (unsigned char)(*q - '0') < 10; q++)
			v = v * 10 + (uint32_t)(*q - '0');
		if (q == first || v > 255 || (*first == '0' && q > first + 1))
			return false;
		addr = addr << 8 | v;
	}
	*p = q;
	*out = addr;
	return true;
}

/* ---------- what is wrong ---------- */

/* "010.1.2.3" and "001.002.003.004": octal to some programs, decimal to others. */
static bool has_leading_zeros(struct arena *a, struct str s, struct str *meant)
{
	struct buf b = { .a = a };
	bool is_first = true;
	uint32_t addr;
	const char *p;

	for (size_t i = 0; i < s.n; i++) {
		if (is_first && s.p[i] == '0' && i + 1 < s.n && s.p[i + 1] != '.')
			continue;
		buf_add(&b, &s.p[i], 1);
		is_first = s.p[i] == '.';
	}
	*meant = buf_str(&b);
	p = meant->p;
	return meant->n < s.n && read_ip4(&p, meant->p + meant->n, &addr) && p == meant->p + meant->n;
}

static bool has_letter_beyond_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((s.p[i] | 0x20) > 'f' && (s.p[i] | 0x20) <= 'z')
			return true;
	return false;
}

static bool is_ipset_command(struct str word)
{
	return str_is(word, "add") || str_is(word, "create") || str_is(word, "flush") || str_is(word, "destroy");
}

static void refuse_addr(struct list_reader *r, struct str s)
{
	struct diag *g = list_error(r, list_place(r, s.p, s.p + s.n), "'%.*s' is not an address, prefix or range", STR_ARG(s));
	struct str rest, meant, port = { 0 };
	u128 addr;

	if (!g)
		return;
	if (is_ipset_command(s))
		diag_hint(r->d, g, "this looks like a file of `ipset save`, which is read beside the rules");
	else if (has_letter_beyond_hex(s))
		diag_hint(r->d, g, "host names are never looked up: write the address");
	else if (has_leading_zeros(r->d->a, s, &meant))
		diag_hint(r->d, g, "a number that begins with 0 may be octal: write %.*s", STR_ARG(meant));
	else if (addr_parse(FAMILY_IP4, str_cut(s, ':', &port, NULL), &addr) && port.n)
		diag_hint(r->d, g, "a list holds addresses without ports");
	else if (s.n > 2 && s.p[0] == '[' && addr_parse(FAMILY_IP6, str_cut(str_slice(s, 1, s.n), ']', &rest, NULL), &addr))
		diag_hint(r->d, g, "write it without brackets");
}

static void refuse_plen(struct list_reader *r, struct str s, enum family f)
{
	struct diag *g = list_error(r, list_place(r, s.p, s.p + s.n), "'%.*s' is not a prefix length from 0 to %u", STR_ARG(s),
				    addr_bits(f));
	u128 mask;

	if (g && addr_parse(f, s, &mask) && addr_plen(f, mask) >= 0)
		diag_hint(r->d, g, "write the length of the prefix: /%d", addr_plen(f, mask));
}

/* ---------- values ---------- */

/* The word from p on, up to a character of `stop` too. */
static struct str word_at(const char *p, const char *end, const char *stop)
{
	const char *q = p;

	while (q < end && !is_end(*q) && !strchr(stop, *q))
		q++;
	return (struct str){ p, (size_t)(q - p) };
}

/* One address; *p is then behind it. */
static bool read_addr(struct list_reader *r, const char **p, const char *end, u128 *out, enum family *family)
{
	const char *q = *p;
	struct str word;
	uint32_t ip4;

	if (read_ip4(&q, end, &ip4) && (q == end || is_end(*q) || *q == '/' || *q == '-')) {
		*p = q;
		*out = ip4;
		*family = FAMILY_IP4;
		return true;
	}
	word = word_at(*p, end, "/-");
	if (addr_parse(FAMILY_IP6, word, out)) {
		*p += word.n;
		*family = FAMILY_IP6;
		return true;
	}
	word = word_at(*p, end, "/");
	refuse_addr(r, word.n ? word : (struct str){ *p, *p < end });
	return false;
}

static bool read_prefix(struct list_reader *r, const char *p, const char *end, struct list_span *s, const char **after)
{
	struct str word = word_at(p, end, "");
	unsigned bits = addr_bits(s->family);
	uint64_t plen;

	*after = p + word.n;
	if (!str_u64(word, 10, bits, &plen)) { /* a mask, or nonsense */
		refuse_plen(r, word.n ? word : (struct str){ p - 1, 1 }, s->family);
		return false;
	}
	s->plen = (uint8_t)plen;
	s->has_host_bits = s->lo & ~addr_mask(s->family, s->plen);
	s->lo &= addr_mask(s->family, s->plen);
	s->hi = s->lo | (addr_mask(s->family, bits) & ~addr_mask(s->family, s->plen));
	return true;
}

static bool read_range(struct list_reader *r, const char *from, const char *p, const char *end, struct list_span *s,
		       const char **after)
{
	enum family family;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	*after = p;
	if (p == end || is_end(*p)) {
		list_error(r, list_place(r, from, p), "the range has no end");
		return false;
	}
	if (!read_addr(r, after, end, &s->hi, &family))
		return false;
	if (*after < end && !is_end(**after)) {
		struct str word = word_at(p, end, "");

		list_error(r, list_place(r, p, p + word.n), "'%.*s' is not an address that can end a range", STR_ARG(word));
		return false;
	}
	if (family != s->family) {
		list_error(r, list_place(r, from, *after), "a range from one family to the other");
		return false;
	}
	if (s->lo > s->hi) {
		list_error(r, list_place(r, from, *after), "the range ends before it begins");
		return false;
	}
	s->is_range = s->lo != s->hi;
	return true;
}

bool list_value(struct list_reader *r, const char *p, const char *line_end, struct list_span *out, const char **end)
{
	const char *from = p, *q;

	*out = (struct list_span){ .is_range = false };
	if (!read_addr(r, &p, line_end, &out->lo, &out->family))
		return false;
	out->hi = out->lo;
	out->plen = (uint8_t)addr_bits(out->family);
	*end = p;
	if (p == line_end)
		return true;
	if (*p == '/')
		return read_prefix(r, p + 1, line_end, out, end);
	if (*p == '-')
		return read_range(r, from, p + 1, line_end, out, end);
	for (q = p; q < line_end && (*q == ' ' || *q == '\t');)
		q++;
	if (q + 1 < line_end && *q == '-' && (q[1] == ' ' || q[1] == '\t'))
		return read_range(r, from, q + 1, line_end, out, end);
	return true;
}
