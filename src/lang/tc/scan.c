/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tc commands cut into words, as a shell cuts them: blanks part words, quotes hold them together, a backslash at the end
 * of a line goes on with the next one, # begins a comment. Variables are not known.
 */
#include "lang/tc/tree.h"

struct scan {
	struct arena *a;
	struct diags *d;
	uint32_t source;
	struct str s;
	size_t i;
};

static char at(const struct scan *c, size_t i)
{
	return i < c->s.n ? c->s.p[i] : '\n';
}

static bool is_continued(const struct scan *c)
{
	return at(c, c->i) == '\\' && c->i + 1 < c->s.n && (at(c, c->i + 1) == '\n' ||
		(at(c, c->i + 1) == '\r' && at(c, c->i + 2) == '\n'));
}

static void skip_blanks(struct scan *c)
{
	for (;;) {
		if (is_continued(c))
			c->i += at(c, c->i + 1) == '\r' ? 3 : 2;
		else if (c->i < c->s.n && (at(c, c->i) == ' ' || at(c, c->i) == '\t' || at(c, c->i) == '\r'))
			c->i++;
		else
			break;
	}
	if (at(c, c->i) == '#')
		while (c->i < c->s.n && at(c, c->i) != '\n')
			c->i++;
}

static bool ends_word(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n' || ch == ';';
}

static struct tc_word cut_word(struct scan *c)
{
	struct buf b = { .a = c->a };
	struct tc_word w = { .at = { c->source, (uint32_t)c->i, 0 }, .is_plain = true };
	char quote = 0;

	for (; c->i < c->s.n && (quote || !ends_word(at(c, c->i))) && !is_continued(c); c->i++) {
		char ch = at(c, c->i);

		if (quote ? ch == quote : ch == '\'' || ch == '"') {
			quote = quote ? 0 : ch;
			w.is_plain = false;
		} else {
			buf_add(&b, &ch, 1);
		}
	}
	w.at.len = (uint32_t)c->i - w.at.off;
	w.text = buf_str(&b);
	if (quote)
		diag_error(c->d, w.at, "a quote is not closed");
	if (w.text.n && memchr(w.text.p, '$', w.text.n))
		diag_hint(c->d, diag_error(c->d, w.at, "'%.*s' has a variable of a shell, whose value is not known here",
					   STR_ARG(w.text)), "write the value");
	return w;
}

struct words {
	VEC(struct tc_word) all;
};

static void end_line(struct arena *a, struct tc_lines *out, struct words *w)
{
	if (w->all.n) {
		const struct tc_word *last = &w->all.v[w->all.n - 1];
		struct loc where = w->all.v[0].at;

		where.len = last->at.off + last->at.len - where.off;
		*vec_add(a, &out->all) = (struct tc_line){ w->all.v, w->all.n, where };
	}
	*w = (struct words){ 0 };
}

struct tc_lines tc_scan(struct arena *a, struct diags *d, uint32_t source)
{
	struct scan c = { .a = a, .d = d, .source = source, .s = source_get(d->sources, source)->text };
	struct tc_lines out = { 0 };
	struct words words = { 0 };

	while (c.i < c.s.n) {
		skip_blanks(&c);
		if (c.i < c.s.n && !ends_word(at(&c, c.i))) {
			struct tc_word w = cut_word(&c);

			*vec_add(a, &words.all) = w;
			continue;
		}
		end_line(a, &out, &words);
		c.i++;
	}
	end_line(a, &out, &words);
	return out;
}
