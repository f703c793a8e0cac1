/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules that ask the same: which become one entry, and that a list of thousands that log is looked up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "classify/inspect.h"
#include "classify/tables.h"
#include "lang/lang.h"

static struct tables *build(struct arena *a, const char *rules, enum tables_engine engine)
{
	struct sources src = { .a = a };
	struct diags d = { .a = a, .sources = &src };
	struct tables_options opt = { .engine = engine, .test_run = true, .may_sum = true };
	struct ruleset *rs = policy_create(a);
	struct tables *t;
	struct lang_file f;

	lang_read(rs, &d, source_add(&src, "r", arena_printf(a, "*mangle\n:INPUT ACCEPT [0:0]\n%sCOMMIT\n", rules)), LANG_IPTABLES, &f);
	policy_number(rs);
	assert_int_equal(d.n_errors, 0);
	t = tables_build(a, rs, &opt, &d);
	assert_non_null(t);
	return t;
}

/* The base chain comes behind those that it calls. */
static const struct tables_list *base_of(const struct tables *t)
{
	return &t->list[t->n_lists - 1];
}

#define A "-A INPUT -s 192.0.2.0/24"
#define B "-A INPUT -s 198.51.100.0/24"

static void rules_are_gathered_where_none_comes_between(void **state)
{
	static const struct {
		const char *what;
		size_t gathered, entries;
		const char *rules;
	} rows[] = {
		{ "log and drop", 1, 1, A " -j LOG\n" A " -j DROP\n" },
		{ "others between them", 2, 3, A " -j LOG\n" B " -j ACCEPT\n" A " -j LOG\n" "-A INPUT -s 10.0.0.0/8 -j LOG\n" A " -j DROP\n" },
		{ "one that meets them", 0, 3, A " -j LOG\n-A INPUT -p tcp -j ACCEPT\n" A " -j DROP\n" },
		{ "one within them", 0, 3, A " -j LOG\n-A INPUT -s 192.0.2.1 -j ACCEPT\n" A " -j DROP\n" },
		{ "what only counts", 1, 2, A "\n" B " -j ACCEPT\n" A " -j DROP\n" },
		{ "nothing follows a verdict", 0, 2, A " -j DROP\n" A " -j LOG\n" },
		{ "marks in the guard", 0, 2, A " -m mark --mark 0 -j MARK --set-mark 1\n" A " -m mark --mark 0 -j DROP\n" },
		{ "marks between them", 0, 3, A " -j MARK --set-mark 1\n-A INPUT -m mark --mark 1 -j DROP\n" A " -j LOG\n" },
		{ "marks in the body", 1, 1, A " -j MARK --set-mark 1\n" A " -j MARK --set-mark 2\n" },
		{ "a memory", 0, 2, A " -j LOG\n" A " -m limit --limit 1/s -j LOG\n" },
		{ "connections between them", 0, 3, A " -j LOG\n" B " -m conntrack --ctstate NEW -j ACCEPT\n" A " -j DROP\n" },
		{ "connections before them", 1, 2, B " -m conntrack --ctstate NEW -j ACCEPT\n" A " -j LOG\n" A " -j DROP\n" },
		{ "two guards by turns", 2, 2, A " -j LOG\n" B " -j LOG\n" A " -j DROP\n" B " -j DROP\n" },
		{ "the same in other words", 1, 1, "-A INPUT -p tcp --dport 80 -j LOG\n-A INPUT -p tcp --dport 80:80 -j DROP\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *a = arena_create();
		const struct tables_list *l = base_of(build(a, rows[i].rules, TABLES_ENGINE_GRAPH));

		if (l->n_gathered != rows[i].gathered || l->n_entries != rows[i].entries)
			fail_msg("%s: %zu gathered, %zu entries", rows[i].what, l->n_gathered, l->n_entries);
		arena_destroy(a);
	}
}

/* A packet of the list is found in as few steps as if nothing were logged; one that is logged pays for its bodies alone. */
static void thousands_that_log_are_looked_up(void **state)
{
	enum { RULES = 6000 };
	struct arena *a = arena_create();
	struct buf b = { .a = a };
	struct inspect_list *in;
	struct tables *t;

	(void)state;
	for (unsigned i = 0; i < RULES; i++)
		buf_printf(&b, A " -j LOG\n-A INPUT -s 10.%u.%u.0/24 -j ACCEPT\n", i / 256, i % 256);
	t = build(a, b.v, TABLES_ENGINE_ANY);
	in = inspect_lists(a, t);
	assert_int_equal(base_of(t)->engine, TABLES_ENGINE_GRAPH);
	assert_int_equal(base_of(t)->n_gathered, RULES - 1);
	assert_true(base_of(t)->worst < 64);
	assert_true(in[t->n_lists - 1].worst < 2 * RULES + 128);
	arena_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_gathered_where_none_comes_between),
		cmocka_unit_test(thousands_that_log_are_looked_up),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
