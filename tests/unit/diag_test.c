/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Diagnostics: their order, and how a long line and a long text look. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/diag.h"

struct kit {
	struct arena *a;
	struct sources s;
	struct diags d;
	uint32_t source;
};

static void open_kit(struct kit *k, const char *text)
{
	memset(k, 0, sizeof *k);
	k->a = arena_create();
	k->s.a = k->d.a = k->a;
	k->d.sources = &k->s;
	k->source = source_add(&k->s, "f", str_from(text));
}

static void errors_are_told_in_the_order_of_their_places(void **state)
{
	static const uint32_t offs[] = { 5, 1, 3, 1, 0, 9 };
	struct buf got = { 0 };
	struct kit k;

	(void)state;
	open_kit(&k, "0123456789");
	got.a = k.a;
	for (size_t i = 0; i < sizeof offs / sizeof *offs; i++) {
		diag_error(&k.d, (struct loc){ k.source, offs[i], 1 }, "e%zu", i);
		diag_note(&k.d, (struct loc){ k.source, 0, 1 }, "n%zu", i);
	}
	diag_sort(&k.d);
	for (size_t i = 0; i < k.d.all.n; i++)
		buf_printf(&got, "%.*s ", STR_ARG(k.d.all.v[i].text));
	assert_string_equal(buf_str(&got).p, "e4 n4 e1 n1 e3 n3 e2 n2 e0 n0 e5 n5 ");
	arena_destroy(k.a);
}

/* Many errors out of order must not take long. */
static void many_errors_are_sorted(void **state)
{
	enum { N = 200000 };
	static char text[N + 1];
	struct kit k;

	(void)state;
	memset(text, 'x', N);
	open_kit(&k, text);
	for (uint32_t i = 0; i < N; i++)
		diag_error(&k.d, (struct loc){ k.source, N - 1 - i, 1 }, "e");
	diag_sort(&k.d);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(k.d.all.v[i].at.off, i);
	arena_destroy(k.a);
}

static void a_long_line_is_shown_in_part(void **state)
{
	static const struct {
		uint32_t off;
		bool left, right;
	} rows[] = { { 0, false, true }, { 50, false, true }, { 5000, true, true }, { 9999, true, false } };
	static char text[10001];
	struct kit k;

	(void)state;
	for (size_t i = 0; i < sizeof text - 1; i++)
		text[i] = (char)('a' + i % 26);
	open_kit(&k, text);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct diag *g = diag_error(&k.d, (struct loc){ k.source, rows[i].off, 1 }, "here");
		const char *out = diag_format(k.a, &k.d, g).p, *line = strchr(out, '\n') + 1, *caret = strchr(line, '\n') + 1;

		assert_true(strlen(out) < 600);
		assert_int_equal(strncmp(line, "...", 3) == 0, rows[i].left);
		assert_int_equal(strncmp(caret - 4, "...", 3) == 0, rows[i].right);
		assert_int_equal(line[strchr(caret, '^') - caret], text[rows[i].off]);
	}
	arena_destroy(k.a);
}

static void a_long_text_is_cut(void **state)
{
	static char text[100001];
	struct kit k;
	struct diag *g;

	(void)state;
	memset(text, 'x', sizeof text - 1);
	open_kit(&k, text);
	g = diag_error(&k.d, (struct loc){ k.source, 0, sizeof text - 1 }, "'%s' is too long", text);
	assert_true(g->text.n < 3000);
	assert_true(str_ends(g->text, "..."));
	assert_true(diag_format(k.a, &k.d, g).n < 4000);
	arena_destroy(k.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_told_in_the_order_of_their_places),
		cmocka_unit_test(many_errors_are_sorted),
		cmocka_unit_test(a_long_line_is_shown_in_part),
		cmocka_unit_test(a_long_text_is_cut),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
