/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Diagnostics for programs: see weir.h. */
#include "api/api.h"

static const char *copy(struct arena *a, struct str s)
{
	return s.p ? arena_cstr(a, s) : NULL;
}

static void fill(struct arena *a, const struct diags *d, const struct diag *g, struct weir_diagnostic *out)
{
	static const enum weir_severity severities[] = { WEIR_SEVERITY_ERROR, WEIR_SEVERITY_WARNING, WEIR_SEVERITY_NOTE };

	*out = (struct weir_diagnostic){ .severity = severities[g->severity], .id = g->id ? copy(a, str_from(g->id)) : NULL,
					 .text = arena_cstr(a, g->text), .help = g->hint.n ? copy(a, g->hint) : NULL };
	out->rendered = copy(a, diag_format(a, d, g));
	if (!source_place(d->sources, g->at, &out->line, &out->column))
		return;
	out->file = copy(a, source_get(d->sources, g->at.source)->name);
	out->length = g->at.len;
}

struct weir_report *report_make(struct diags *d)
{
	struct weir_report *r;
	struct buf all;
	struct arena *a;

	if (d->all.n == 0)
		return NULL;
	a = arena_create();
	r = arena_new(a, struct weir_report, 1);
	*r = (struct weir_report){ .a = a, .n = d->all.n, .diagnostic = arena_new(a, struct weir_diagnostic, d->all.n) };
	all = (struct buf){ .a = a };
	diag_sort(d);
	for (size_t i = 0; i < r->n; i++) {
		fill(a, d, &d->all.v[i], &r->diagnostic[i]);
		buf_add(&all, r->diagnostic[i].rendered, strlen(r->diagnostic[i].rendered));
	}
	r->text = all.v;
	return r;
}

size_t weir_report_count(const struct weir_report *report)
{
	return report ? report->n : 0;
}

const struct weir_diagnostic *weir_report_get(const struct weir_report *report, size_t i)
{
	return i < weir_report_count(report) ? &report->diagnostic[i] : NULL;
}

const char *weir_report_text(const struct weir_report *report)
{
	return report ? report->text : "";
}

void weir_report_free(struct weir_report *report)
{
	if (report)
		arena_destroy(report->a);
}
