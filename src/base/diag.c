/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Collecting and formatting diagnostics. See diag.h. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdlib.h>

enum { LINE_MAX_SHOWN = 500, LINE_LEFT = 100, LINE_WINDOW = 200, TEXT_MAX = 2000 };

/* A text quotes what the user wrote, and that may be a whole file without a line end. */
static struct str shorten(struct diags *d, struct str text)
{
	if (text.n <= TEXT_MAX)
		return text;
	return arena_printf(d->a, "%.*s...", TEXT_MAX, text.p);
}

static struct diag *add(struct diags *d, enum diag_severity sev, struct loc at, struct str text)
{
	struct diag *g = vec_add(d->a, &d->all);

	text = shorten(d, text);
	g->severity = sev;
	g->at = at;
	g->text = text;
	d->n_errors += sev == DIAG_ERROR;
	d->n_warnings += sev == DIAG_WARNING;
	return g;
}

struct diag *diag_error(struct diags *d, struct loc at, const char *fmt, ...)
{
	va_list ap;
	struct str text;

	va_start(ap, fmt);
	text = arena_vprintf(d->a, fmt, ap);
	va_end(ap);
	return add(d, DIAG_ERROR, at, text);
}

struct diag *diag_warn(struct diags *d, struct loc at, const char *id, const char *fmt, ...)
{
	va_list ap;
	struct str text;
	struct diag *g;

	va_start(ap, fmt);
	text = arena_vprintf(d->a, fmt, ap);
	va_end(ap);
	g = add(d, DIAG_WARNING, at, text);
	g->id = id;
	return g;
}

struct diag *diag_note(struct diags *d, struct loc at, const char *fmt, ...)
{
	va_list ap;
	struct str text;

	va_start(ap, fmt);
	text = arena_vprintf(d->a, fmt, ap);
	va_end(ap);
	return add(d, DIAG_NOTE, at, text);
}

void diag_hint(struct diags *d, struct diag *g, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	g->hint = arena_vprintf(d->a, fmt, ap);
	va_end(ap);
}

/* An error or warning with the notes behind it: they move together. */
struct group {
	struct loc at;
	size_t head;
};

static int group_order(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->at.source != y->at.source)
		return x->at.source < y->at.source ? -1 : 1;
	if (x->at.off != y->at.off)
		return x->at.off < y->at.off ? -1 : 1;
	return x->head < y->head ? -1 : x->head > y->head;
}

static bool is_same(const struct diag *x, const struct diag *y)
{
	return x->severity == y->severity && x->at.source == y->at.source && x->at.off == y->at.off && x->at.len == y->at.len &&
	       str_eq(x->text, y->text);
}

void diag_sort(struct diags *d)
{
	size_t n = d->all.n, n_groups = 0, k = 0;
	struct diag *v = d->all.v, *out;
	struct group *groups;

	if (n < 2)
		return;
	groups = arena_new(d->a, struct group, n);
	out = arena_new(d->a, struct diag, n);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || v[i].severity != DIAG_NOTE)
			groups[n_groups++] = (struct group){ v[i].at, i };
	qsort(groups, n_groups, sizeof *groups, group_order);
	for (size_t i = 0; i < n_groups; i++) {
		const struct diag *g = &v[groups[i].head];

		if (i && is_same(&v[groups[i - 1].head], g)) {
			d->n_errors -= g->severity == DIAG_ERROR;
			d->n_warnings -= g->severity == DIAG_WARNING;
			continue;
		}
		for (size_t j = groups[i].head; j == groups[i].head || (j < n && v[j].severity == DIAG_NOTE); j++)
			out[k++] = v[j];
	}
	d->all.v = out;
	d->all.n = k;
	d->all.cap = n;
}

/* Of a long line the part around the place: with dots where something is left out. */
static struct str line_window(struct str text, uint32_t *col, bool *cut_left, bool *cut_right)
{
	size_t from, to;

	*cut_left = *cut_right = false;
	if (text.n <= LINE_MAX_SHOWN)
		return text;
	from = *col > LINE_LEFT ? *col - LINE_LEFT : 0;
	while (from > 0 && from < text.n && ((unsigned char)text.p[from] & 0xc0) == 0x80)
		from--;
	to = text.n - from > LINE_WINDOW ? from + LINE_WINDOW : text.n;
	while (to > from && to < text.n && ((unsigned char)text.p[to] & 0xc0) == 0x80)
		to--;
	*cut_left = from > 0;
	*cut_right = to < text.n;
	*col -= (uint32_t)from;
	return str_slice(text, from, to);
}

static void add_caret(struct buf *b, struct str text, uint32_t col, uint32_t len)
{
	bool cut_left, cut_right;

	text = line_window(text, &col, &cut_left, &cut_right);
	buf_printf(b, "%s%.*s%s\n", cut_left ? "..." : "", STR_ARG(text), cut_right ? "..." : "");
	if (cut_left)
		buf_add(b, "   ", 3);
	for (uint32_t i = 1; i < col; i++)
		buf_add(b, i <= text.n && text.p[i - 1] == '\t' ? "\t" : " ", 1);
	buf_add(b, "^", 1);
	for (uint32_t i = 1; i < len && col + i <= text.n; i++)
		buf_add(b, "~", 1);
	buf_add(b, "\n", 1);
}

struct str diag_format(struct arena *a, const struct diags *d, const struct diag *g)
{
	static const char *const names[] = { "error", "warning", "note" };
	struct buf b = { .a = a };
	uint32_t line, col;

	if (source_place(d->sources, g->at, &line, &col)) {
		const struct source *src = source_get(d->sources, g->at.source);

		buf_printf(&b, "%.*s:%u:%u: %s: %.*s\n", STR_ARG(src->name), line, col,
			   names[g->severity], STR_ARG(g->text));
		if (source_line(src, line).n)
			add_caret(&b, source_line(src, line), col, g->at.len);
	} else {
		buf_printf(&b, "%s: %.*s\n", names[g->severity], STR_ARG(g->text));
	}
	if (g->hint.n)
		buf_printf(&b, "  help: %.*s\n", STR_ARG(g->hint));
	return buf_str(&b);
}
