/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words of a line. iptables-restore knows double quotes only; inside them a backslash takes the next byte as it is;
 * a closing quote ends the word, an opening one inside a word goes on with it. Apostrophes are ordinary bytes.
 *
 *     a"b c"d   ->  ab c|d
 *     'a b'     ->  'a|b'
 */
#include "lang/iptables/scan.h"

struct scan {
	struct arena *a;
	const char *p;	/* the piece of text */
	size_t n, i;
	struct loc at;
};

static bool scan_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

/* Bytes up to the closing quote go to text. false: the line ends first. */
static bool scan_quoted(struct scan *s, struct buf *text, bool *has_escape)
{
	for (; s->i < s->n; s->i++) {
		char c = s->p[s->i];

		if (c == '"')
			return true;
		if (c == '\\' && s->i + 1 < s->n) {
			*has_escape = true;
			c = s->p[++s->i];
		}
		buf_add(text, &c, 1);
	}
	return false;
}

/* A word without a quote is a piece of the source itself. */
static bool scan_bare(struct scan *s, struct ipt_word *w)
{
	size_t end = s->i;

	while (end < s->n && !scan_is_blank(s->p[end]) && s->p[end] != '"')
		end++;
	if (end < s->n && s->p[end] == '"')
		return false;
	w->text = (struct str){ s->p + s->i, end - s->i };
	w->text_off = s->at.off + (uint32_t)s->i;
	w->at = (struct loc){ s->at.source, w->text_off, (uint32_t)w->text.n };
	w->is_plain = true;
	s->i = end;
	return true;
}

/* One word with quotes from s->i. false: a quote at *open is not closed. */
static bool scan_word(struct scan *s, struct ipt_word *w, size_t *open)
{
	struct buf text = { .a = s->a };
	size_t start = s->i;
	bool has_escape = false, opens_late = false;

	while (s->i < s->n && !scan_is_blank(s->p[s->i])) {
		char c = s->p[s->i++];

		if (c != '"') {
			buf_add(&text, &c, 1);
			continue;
		}
		*open = s->i - 1;
		opens_late = *open != start;
		w->is_quoted = true;
		if (!scan_quoted(s, &text, &has_escape))
			return false;
		s->i++;
		break;
	}
	w->text = buf_str(&text);
	if (!w->text.p)
		w->text = STR("");
	w->at = (struct loc){ s->at.source, s->at.off + (uint32_t)start, (uint32_t)(s->i - start) };
	w->is_plain = !has_escape && !(w->is_quoted && opens_late);
	w->text_off = w->at.off + (w->is_quoted ? 1 : 0);
	return true;
}

bool ipt_scan_words(struct arena *a, struct diags *d, struct loc at, struct ipt_words *out)
{
	const struct source *src = source_get(d->sources, at.source);
	struct scan s = { .a = a, .p = src->text.p + at.off, .n = at.len, .at = at };

	for (;;) {
		struct ipt_word *w;
		size_t open = 0;

		while (s.i < s.n && scan_is_blank(s.p[s.i]))
			s.i++;
		if (s.i >= s.n)
			return true;
		w = vec_add(a, &out->all);
		if (!scan_bare(&s, w) && !scan_word(&s, w, &open)) {
			struct loc q = { at.source, at.off + (uint32_t)open, (uint32_t)(s.n - open) };
			struct diag *g = diag_error(d, q, "the quote is not closed on this line");

			diag_hint(d, g, "close it with '\"'; write \\\" for a quote inside quotes");
			out->all.n--;
			return false;
		}
	}
}

struct loc ipt_word_part(const struct ipt_word *w, size_t off, size_t n)
{
	if (!w->is_plain || off > w->text.n)
		return w->at;
	return (struct loc){ w->at.source, w->text_off + (uint32_t)off, (uint32_t)n };
}

struct loc ipt_word_slice(const struct ipt_word *w, struct str slice)
{
	return ipt_word_part(w, (size_t)(slice.p - w->text.p), slice.n);
}
