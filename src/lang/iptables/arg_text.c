/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text as text: comments, prefixes, names, patterns, devices, sets. */
#include <ctype.h>

#include "lang/iptables/arg.h"

enum { DEVICE_MAX = 15, SET_NAME_MAX = 31 };

/* A text that is too long is an error, or (F_CUT) cut as iptables cuts it. */
static bool check_length(const struct ipt_arg_in *in, struct str *s)
{
	const struct ipt_opt_row *row = in->row;

	if (s->n < row->min) {
		diag_error(in->d, in->w->at, "--%s needs a text that is not empty", row->name);
		return false;
	}
	if (s->n <= row->max)
		return true;
	if (!(row->flags & F_CUT)) {
		diag_error(in->d, in->w->at, "the text is %zu bytes long; --%s takes %llu", s->n, row->name,
			   (unsigned long long)row->max);
		return false;
	}
	diag_warn(in->d, ipt_word_part(in->w, row->max, s->n - row->max), "cut-text",
		  "the text is %zu bytes long; iptables cuts it to the %llu that --%s takes", s->n,
		  (unsigned long long)row->max, row->name);
	s->n = row->max;
	return true;
}

static bool parse_text(const struct ipt_arg_in *in, struct ipt_value *v, struct str s)
{
	v->kind = IPT_VALUE_TEXT;
	if (!check_length(in, &s))
		return false;
	v->text = s;
	return true;
}

bool ipt_parse_text(const struct ipt_arg_in *in, struct ipt_value *v)
{
	if (in->w->text.n && memchr(in->w->text.p, '\0', in->w->text.n)) {
		diag_error(in->d, in->w->at, "a NUL byte cannot stand in the text of --%s", in->row->name);
		return false;
	}
	return parse_text(in, v, in->w->text);
}

static void print_quoted(struct buf *b, struct str s, const char *escape)
{
	buf_add(b, "\"", 1);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] && strchr(escape, s.p[i]))
			buf_add(b, "\\", 1);
		buf_add(b, s.p + i, 1);
	}
	buf_add(b, "\"", 1);
}

void ipt_arg_print_text(struct buf *b, struct str s)
{
	size_t i = 0;

	while (i < s.n && (isalnum((unsigned char)s.p[i]) || s.p[i] == '_' || s.p[i] == '-'))
		i++;
	if (i == s.n && s.n)
		buf_add(b, s.p, s.n);
	else
		print_quoted(b, s, "\"\\'");
}

void ipt_print_text(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	ipt_arg_print_text(b, o->v.text);
}

/* hashlimit and recent show their tables as files in /proc. */
static bool is_proc_name(const struct ipt_opt_row *row)
{
	return row->ext == IPT_M_HASHLIMIT || row->ext == IPT_M_RECENT;
}

bool ipt_parse_name(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text;

	if (!ipt_parse_text(in, v))
		return false;
	if (!is_proc_name(in->row) || (!memchr(s.p, '/', s.n) && !str_is(s, ".") && !str_is(s, "..")))
		return true;
	diag_error(in->d, in->w->at, "'%.*s' cannot be the name of a file, which --%s becomes", STR_ARG(s), in->row->name);
	return false;
}

void ipt_print_name(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	ipt_arg_print_name(b, o->v.text);
}

bool ipt_parse_quoted(const struct ipt_arg_in *in, struct ipt_value *v)
{
	return ipt_parse_text(in, v);
}

void ipt_print_quoted(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	print_quoted(b, o->v.text, "\"\\");
}

/* ---------- patterns ---------- */

bool ipt_parse_string(const struct ipt_arg_in *in, struct ipt_value *v)
{
	return ipt_parse_text(in, v);
}

/* Bytes in quotes, or all of them in hex where one does not print (or the last is a backslash, as iptables-save does). */
void ipt_print_string(struct buf *b, enum family f, const struct ipt_opt *o)
{
	struct str s = o->v.text;

	(void)f;
	print_quoted(b, s, "\"\\");
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What stands between two bars: pairs of hex digits, blanks between pairs. i is behind the first bar. */
static bool hex_block(const struct ipt_arg_in *in, struct buf *out, size_t *i)
{
	struct str s = in->w->text;

	while (*i < s.n && s.p[*i] != '|') {
		int hi, lo;
		char byte;

		if (s.p[*i] == ' ') {
			(*i)++;
			continue;
		}
		hi = hex_digit(s.p[*i]);
		lo = *i + 1 < s.n ? hex_digit(s.p[*i + 1]) : -1;
		if (hi < 0 || lo < 0) {
			size_t n = *i + 1 < s.n ? 2 : 1;

			diag_error(in->d, ipt_word_part(in->w, *i, n), "'%.*s' is not a byte in hex: two digits", (int)n, s.p + *i);
			return false;
		}
		byte = (char)(hi << 4 | lo);
		buf_add(out, &byte, 1);
		*i += 2;
	}
	if (*i >= s.n) {
		diag_error(in->d, in->w->at, "the hex part of the pattern is not closed with '|'");
		return false;
	}
	(*i)++;
	return true;
}

/* text|41 42 43|text: hex between bars; a backslash before a byte outside takes it as it is. */
bool ipt_parse_hex_text(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text;
	struct buf out = { .a = in->a };

	for (size_t i = 0; i < s.n;) {
		if (s.p[i] == '|') {
			i++;
			if (!hex_block(in, &out, &i))
				return false;
			continue;
		}
		if (s.p[i] == '\\' && i + 1 < s.n)
			i++;
		buf_add(&out, s.p + i++, 1);
	}
	return parse_text(in, v, buf_str(&out));
}

void ipt_print_hex_text(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	buf_printf(b, "\"|");
	for (size_t i = 0; i < o->v.text.n; i++)
		buf_printf(b, "%02x", (unsigned char)o->v.text.p[i]);
	buf_printf(b, "|\"");
}

/* ---------- devices ---------- */

bool ipt_arg_device(const struct ipt_arg_in *in, struct str s)
{
	struct loc at = ipt_arg_at(in, s);
	const char *colon = s.n ? memchr(s.p, ':', s.n) : NULL;

	if (s.n == 0) {
		diag_error(in->d, at, "the name of the interface is empty");
		return false;
	}
	if (s.n > DEVICE_MAX) {
		diag_error(in->d, at, "the interface name '%.*s' is %zu bytes long; names have at most %d", STR_ARG(s), s.n,
			   DEVICE_MAX);
		return false;
	}
	if (memchr(s.p, '!', s.n) && s.p[0] == '!') {
		diag_error(in->d, at, "'%.*s' is no interface; write '! --%s %.*s'", STR_ARG(s), in->row->name, (int)s.n - 1,
			   s.p + 1);
		return false;
	}
	if (colon)
		diag_hint(in->d,
			  diag_warn(in->d, at, "alias-interface",
				    "'%.*s' names an alias; packets carry the name of the device itself, so it never matches",
				    STR_ARG(s)),
			  "write '%.*s' and test the address instead", (int)(colon - s.p), s.p);
	else if (memchr(s.p, '/', s.n) || memchr(s.p, ' ', s.n))
		diag_warn(in->d, at, "odd-interface", "no device can be called '%.*s': names have no '/' and no blank",
			  STR_ARG(s));
	else if (s.n > 1 && s.p[s.n - 1] == '*')
		diag_hint(in->d,
			  diag_warn(in->d, at, "star-interface", "'*' is an ordinary byte here, not a wildcard"),
			  "iptables writes a prefix as '%.*s+'", (int)s.n - 1, s.p);
	return true;
}

bool ipt_parse_iface(const struct ipt_arg_in *in, struct ipt_value *v)
{
	v->kind = IPT_VALUE_TEXT;
	v->text = in->w->text;
	return ipt_arg_device(in, v->text);
}

void ipt_arg_print_name(struct buf *b, struct str s)
{
	bool is_odd = s.n == 0 || s.p[0] == '-' || s.p[0] == '!' || s.p[0] == '#';

	for (size_t i = 0; i < s.n; i++)
		is_odd |= isspace((unsigned char)s.p[i]) || s.p[i] == '"';
	if (is_odd)
		print_quoted(b, s, "\"\\");
	else
		buf_add(b, s.p, s.n);
}

void ipt_print_iface(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	ipt_arg_print_name(b, o->v.text);
}

/* ---------- sets ---------- */

static bool set_dirs(const struct ipt_arg_in *in, struct set_use *u)
{
	struct ipt_arg_in flags = *in;
	struct str rest = in->w[1].text;
	bool more = true;

	flags.w = &in->w[1];
	while (more) {
		struct str one = str_cut(rest, ',', &rest, &more);

		if (u->n_dirs == TEST_MAX_FIELDS) {
			diag_error(in->d, ipt_arg_at(&flags, one), "a set is used with at most %d of src and dst", TEST_MAX_FIELDS);
			return false;
		}
		if (!str_is(one, "src") && !str_is(one, "dst")) {
			struct diag *g = diag_error(in->d, ipt_arg_at(&flags, one), "'%.*s' is neither src nor dst", STR_ARG(one));

			diag_hint(in->d, g, "--%s takes the set's name, then src or dst for each of its dimensions", in->row->name);
			return false;
		}
		u->dir[u->n_dirs++] = str_is(one, "src") ? SET_DIR_SRC : SET_DIR_DST;
	}
	return true;
}

bool ipt_parse_set(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct set_use *u = arena_new(in->a, struct set_use, 1);

	if (in->w->text.n == 0 || in->w->text.n > SET_NAME_MAX) {
		diag_error(in->d, in->w->at, "the name of a set has 1 to %d bytes, this one has %zu", SET_NAME_MAX,
			   in->w->text.n);
		return false;
	}
	u->name = in->w->text;
	u->at = in->w->at;
	v->kind = IPT_VALUE_SET;
	v->set = u;
	return set_dirs(in, u);
}

void ipt_print_set(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const struct set_use *u = o->v.set;

	(void)f;
	ipt_arg_print_name(b, u->name);
	for (uint8_t i = 0; i < u->n_dirs; i++)
		buf_printf(b, "%s%s", i ? "," : " ", u->dir[i] == SET_DIR_SRC ? "src" : "dst");
}
