/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Collecting and formatting diagnostics. See diag.h. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdlib.h>

static struct diag *add(struct diags *d, enum diag_severity sev, struct loc at, struct str text)
{
	struct diag *g = vec_add(d->a, &d->all);

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

/* Insertion sort of groups: an error or warning and the notes behind it move together. */
void diag_sort(struct diags *d)
{
	size_t n = d->all.n;
	struct diag *v = d->all.v, *out;
	size_t *head, groups = 0;

	if (n < 2)
		return;
	head = arena_new(d->a, size_t, n);
	out = arena_new(d->a, struct diag, n);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || v[i].severity != DIAG_NOTE)
			head[groups++] = i;
	for (size_t i = 1; i < groups; i++)
		for (size_t j = i; j > 0; j--) {
			const struct loc *x = &v[head[j - 1]].at, *y = &v[head[j]].at;
			size_t t = head[j];

			if (x->source < y->source || (x->source == y->source && x->off <= y->off))
				break;
			head[j] = head[j - 1];
			head[j - 1] = t;
		}
	n = 0;
	for (size_t i = 0; i < groups; i++)
		for (size_t j = head[i]; j == head[i] || (j < d->all.n && v[j].severity == DIAG_NOTE); j++)
			out[n++] = v[j];
	d->all.v = out;
	d->all.cap = n;
}

static void add_caret(struct buf *b, struct str text, uint32_t col, uint32_t len)
{
	buf_printf(b, "%.*s\n", STR_ARG(text));
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
