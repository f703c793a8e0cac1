/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Diagnostics on the way out. See report.h. */
#include "cli/report.h"

#include <stdio.h>

static const char *const severity_names[] = { "error", "warning", "note" };
static const char *const severity_colors[] = { "\033[1;31m", "\033[1;35m", "\033[1;36m" };

/* "FILE:LINE:COL: error: text" with its middle word coloured. */
static void print_colored(struct str text, const struct diag *g)
{
	const char *name = severity_names[g->severity];
	char mark[16];
	const char *at;

	snprintf(mark, sizeof mark, "%s: ", name);
	at = strstr(text.p, mark);
	if (!at) {
		fwrite(text.p, 1, text.n, stderr);
		return;
	}
	fprintf(stderr, "\033[1m%.*s%s%s:\033[0m %s", (int)(at - text.p), text.p, severity_colors[g->severity], name,
		at + strlen(mark));
}

struct str report_clean(struct arena *a, struct str s)
{
	char *p = arena_cstr(a, s);

	for (size_t i = 0; i < s.n; i++)
		if (((unsigned char)p[i] < 0x20 && p[i] != '\n' && p[i] != '\t') || p[i] == 0x7f)
			p[i] = '?';
	return (struct str){ p, s.n };
}

void report_print(struct cli *c, enum report_what what)
{
	bool skipping = false;

	fflush(stdout);
	diag_sort(&c->diags);
	for (size_t i = 0; i < c->diags.all.n; i++) {
		const struct diag *g = &c->diags.all.v[i];
		struct str text;

		if (g->severity != DIAG_NOTE)
			skipping = what == REPORT_ERRORS && g->severity == DIAG_WARNING;
		if (skipping)
			continue;
		text = report_clean(c->run, diag_format(c->run, &c->diags, g));
		if (c->color_err)
			print_colored(text, g);
		else
			fwrite(text.p, 1, text.n, stderr);
	}
	if (what == REPORT_ERRORS && c->diags.n_warnings)
		fprintf(stderr, "weir: %u warning%s; 'weir check' shows %s\n", c->diags.n_warnings,
			c->diags.n_warnings == 1 ? "" : "s", c->diags.n_warnings == 1 ? "it" : "them");
}

/* Bytes of the UTF-8 character at p, or 0 if there is none. Overlong forms and surrogates are none. */
static size_t utf8_bytes(const unsigned char *p, size_t n)
{
	size_t len = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 :
		     p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;

	if (len == 0 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

json_t *report_json_str(struct arena *a, struct str s)
{
	struct buf b = { .a = a };

	for (size_t i = 0; i < s.n;) {
		size_t len = utf8_bytes((const unsigned char *)s.p + i, s.n - i);

		if (len)
			buf_add(&b, s.p + i, len);
		else
			buf_add(&b, "\xef\xbf\xbd", 3);
		i += len ? len : 1;
	}
	return json_stringn(b.n ? b.v : "", b.n);
}

json_t *report_json(struct cli *c)
{
	json_t *all = json_array();

	diag_sort(&c->diags);
	for (size_t i = 0; i < c->diags.all.n; i++) {
		const struct diag *g = &c->diags.all.v[i];
		json_t *j = json_object();
		uint32_t line, col;

		json_object_set_new(j, "severity", json_string(severity_names[g->severity]));
		if (source_place(&c->sources, g->at, &line, &col)) {
			struct str name = source_get(&c->sources, g->at.source)->name;

			json_object_set_new(j, "file", report_json_str(c->run, name));
			json_object_set_new(j, "line", json_integer(line));
			json_object_set_new(j, "column", json_integer(col));
			json_object_set_new(j, "length", json_integer(g->at.len));
		}
		if (g->id)
			json_object_set_new(j, "id", json_string(g->id));
		json_object_set_new(j, "text", report_json_str(c->run, g->text));
		if (g->hint.n)
			json_object_set_new(j, "help", report_json_str(c->run, g->hint));
		json_array_append_new(all, j);
	}
	return all;
}

void report_json_print(json_t *j)
{
	json_dumpf(j, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(j);
}
