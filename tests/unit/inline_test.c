/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chains in the place of their calls: which are put there, which stay calls, and what they count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "classify/tables.h"
#include "lang/lang.h"
#include "tables/format.h"

/* The rules of INPUT, then those of chains a and b; all lists by graph. */
static const struct {
	const char *what;
	size_t inlined, entries; /* of INPUT */
	const char *input, *others;
} rows[] = {
	{ "verdicts", 1, 4, "-A INPUT -s 10.0.0.0/8 -j a\n-A INPUT -j DROP\n", "-A a -p tcp -j ACCEPT\n-A a -p udp -j DROP\n" },
	{ "returns", 1, 4, "-A INPUT -s 10.0.0.0/8 -j a\n-A INPUT -j DROP\n", "-A a -p tcp -j RETURN\n-A a -p udp -j DROP\n" },
	{ "by goto", 1, 3, "-A INPUT -s 10.0.0.0/8 -g a\n", "-A a -p tcp -j RETURN\n-A a -p udp -j DROP\n" },
	{ "an empty chain", 1, 1, "-A INPUT -s 10.0.0.0/8 -j a\n", "" },
	{ "twice", 2, 4, "-A INPUT -s 10.0.0.0/8 -j a\n-A INPUT -d 10.0.0.0/8 -j a\n", "-A a -p tcp -j ACCEPT\n" },
	{ "a call at its end", 1, 4, "-A INPUT -s 10.0.0.0/8 -j a\n", "-A a -p tcp -j ACCEPT\n-A a -p udp -j b\n-A b -j DROP\n" },
	{ "a goto in it", 1, 4, "-A INPUT -s 10.0.0.0/8 -j a\n", "-A a -p udp -g b\n-A a -p tcp -j ACCEPT\n-A b -p udp -j DROP\n" },
	{ "a call that is not at its end", 0, 1, "-A INPUT -s 10.0.0.0/8 -j a\n", "-A a -p udp -j b\n-A a -p tcp -j ACCEPT\n-A b -j DROP\n" },
	{ "a rule that counts", 0, 1, "-A INPUT -s 10.0.0.0/8 -j a\n", "-A a -p udp\n-A a -p tcp -j ACCEPT\n" },
	{ "a rule that writes what the call may test", 0, 1, "-A INPUT -m mark --mark 0 -j a\n", "-A a -j MARK --set-mark 1\n-A a -p tcp -j ACCEPT\n" },
	{ "a rule that logs", 0, 1, "-A INPUT -s 10.0.0.0/8 -j a\n", "-A a -j LOG\n-A a -p tcp -j ACCEPT\n" },
	{ "a rule with a memory", 0, 1, "-A INPUT -s 10.0.0.0/8 -j a\n", "-A a -m limit --limit 1/s -j ACCEPT\n" },
	{ "a call with a memory", 0, 1, "-A INPUT -m limit --limit 1/s -j a\n", "-A a -p tcp -j ACCEPT\n" },
	{ "a call that looks into the packet", 0, 1, "-A INPUT -m string --string x --algo bm -j a\n", "-A a -p tcp -j ACCEPT\n" },
	{ "connections", 1, 2, "-A INPUT -m conntrack --ctstate NEW -j a\n", "-A a -p tcp -j ACCEPT\n" },
};

static struct tables *build(struct arena *a, const char *input, const char *others, const struct tables_options *opt)
{
	struct sources src = { .a = a };
	struct diags d = { .a = a, .sources = &src };
	struct ruleset *rs = policy_create(a);
	struct lang_file f;
	struct tables *t;

	lang_read(rs, &d,
		  source_add(&src, "r", arena_printf(a, "*mangle\n:INPUT ACCEPT [0:0]\n:a - [0:0]\n:b - [0:0]\n%s%sCOMMIT\n", input, others)),
		  LANG_IPTABLES, &f);
	policy_number(rs);
	assert_int_equal(d.n_errors, 0);
	t = tables_build(a, rs, opt, &d);
	assert_non_null(t);
	return t;
}

static const struct tables_list *input_of(const struct tables *t)
{
	return &t->list[t->n_lists - 1];
}

static void chains_are_put_in_where_nothing_can_be_told_apart(void **state)
{
	struct tables_options opt = { .engine = TABLES_ENGINE_GRAPH, .test_run = true, .may_sum = true }, keep = opt, alone = opt;
	struct arena *a = arena_create();

	(void)state;
	keep.keep_calls = true;
	alone.may_sum = false;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tables_list *l = input_of(build(a, rows[i].input, rows[i].others, &opt));

		if (l->n_inlined != rows[i].inlined || l->n_entries != rows[i].entries)
			fail_msg("%s: %zu calls put in, %zu entries", rows[i].what, l->n_inlined, l->n_entries);
		assert_int_equal(input_of(build(a, rows[i].input, rows[i].others, &keep))->n_inlined, 0);
		assert_int_equal(input_of(build(a, rows[i].input, rows[i].others, &alone))->n_inlined, 0);
	}
	arena_destroy(a);
}

/* A chain is put in as often as the bounds of the list allow, and no more. */
static void lists_do_not_grow_beyond_their_bound(void **state)
{
	struct tables_options opt = { .engine = TABLES_ENGINE_GRAPH, .test_run = true, .may_sum = true };
	struct arena *a = arena_create();
	struct buf in = { .a = a }, chain = { .a = a };
	const struct tables_list *l;

	(void)state;
	for (int i = 0; i < 60; i++)
		buf_printf(&chain, "-A a -p tcp --dport %d -j ACCEPT\n", i + 1);
	for (int i = 0; i < 100; i++)
		buf_printf(&in, "-A INPUT -s 10.0.%d.0/24 -j a\n", i);
	l = input_of(build(a, in.v, chain.v, &opt));
	assert_true(l->n_inlined > 5 && l->n_inlined < 15);
	assert_true(l->n_entries <= 100 * 4 + 256);
	for (int i = 60; i < 70; i++)
		buf_printf(&chain, "-A a -p tcp --dport %d -j ACCEPT\n", i + 1);
	assert_int_equal(input_of(build(a, in.v, chain.v, &opt))->n_inlined, 0); /* too long a chain */
	arena_destroy(a);
}

/* A list of n rules that drop, then the call of a chain: is it put in? */
static size_t is_put_in(struct arena *a, int n, const char *call)
{
	struct tables_options opt = { .test_run = true, .may_sum = true };
	struct buf b = { .a = a };

	for (int i = 0; i < n; i++)
		buf_printf(&b, "-A INPUT -s 198.51.%d.%d -j DROP\n", i >> 8, i & 255);
	buf_printf(&b, "-A INPUT %s -j a\n", call);
	return input_of(build(a, b.v, "-A a -p tcp -j ACCEPT\n", &opt))->n_inlined;
}

/* Left to itself, only what the lookup compares whole is worth it, and only in lists that are looked up. */
static void calls_stay_where_that_is_cheaper(void **state)
{
	struct arena *a = arena_create();

	(void)state;
	assert_int_equal(is_put_in(a, 0, "-s 10.0.0.0/8"), 0);
	assert_int_equal(is_put_in(a, 40, "-s 10.0.0.0/8"), 1);
	assert_int_equal(is_put_in(a, 40, "-i eth0"), 1);
	assert_int_equal(is_put_in(a, 3000, "-s 10.0.0.0/8"), 1);
	assert_int_equal(is_put_in(a, 3000, "-i eth0"), 0);
	arena_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_put_in_where_nothing_can_be_told_apart),
		cmocka_unit_test(lists_do_not_grow_beyond_their_bound),
		cmocka_unit_test(calls_stay_where_that_is_cheaper),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
