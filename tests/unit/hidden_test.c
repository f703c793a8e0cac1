/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules that no packet comes to: which are found, which must not be, and what of them stays in the tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "classify/tables.h"
#include "lang/lang.h"
#include "tables/format.h"

enum { MOST = 6 };

/* Fates of the rules of INPUT, a letter each: used, never, hidden; K: hidden or never and kept. by: of the last rule. */
static const struct {
	const char *what, *fates;
	int by;
	const char *rule[MOST];
} rows[] = {
	{ "a wider source hides", "uhu", -1, { "-s 192.0.2.0/24 -j DROP", "-s 192.0.2.7 -p tcp --dport 22 -j ACCEPT", "-s 192.0.3.7 -j DROP" } },
	{ "so does everything", "uhh", 0, { "-j ACCEPT", "-p udp -j DROP", "-j DROP" } },
	{ "and the same rule", "uh", 0, { "-s 192.0.2.7 -p tcp --dport 22 -j DROP", "-s 192.0.2.7 -p tcp --dport 22 -j DROP" } },
	{ "a narrower one does not", "uu", -1, { "-s 192.0.2.7 -j DROP", "-s 192.0.2.0/24 -j ACCEPT" } },
	{ "nor one of another source", "uu", -1, { "-s 192.0.2.0/24 -j DROP", "-d 192.0.2.0/24 -j ACCEPT" } },
	{ "nor one that only counts", "uu", -1, { "-s 192.0.2.0/24", "-s 192.0.2.7 -j ACCEPT" } },
	{ "nor one that logs", "uu", -1, { "-s 192.0.2.0/24 -j LOG", "-s 192.0.2.7 -j ACCEPT" } },
	{ "nor one that calls", "uu", -1, { "-s 192.0.2.0/24 -j c", "-s 192.0.2.7 -j ACCEPT" } },
	{ "one that goes does", "uh", 0, { "-s 192.0.2.0/24 -g c", "-s 192.0.2.7 -j ACCEPT" } },
	{ "one that returns does", "uh", 0, { "-s 192.0.2.0/24 -j RETURN", "-s 192.0.2.7 -j ACCEPT" } },
	{ "one with a limit does not", "uu", -1, { "-s 192.0.2.0/24 -m limit --limit 1/s -j DROP", "-s 192.0.2.7 -j ACCEPT" } },
	{ "a limit may be hidden", "uh", 0, { "-s 192.0.2.0/24 -j DROP", "-s 192.0.2.7 -m limit --limit 1/s -j ACCEPT" } },
	{ "ports within ports", "uh", 0, { "-p tcp --dport 20:30 -j DROP", "-p tcp --dport 22 -j ACCEPT" } },
	{ "ports of another protocol", "uu", -1, { "-p tcp --dport 20:30 -j DROP", "-p udp --dport 22 -j ACCEPT" } },
	{ "ports without a protocol's rule: later fragments pass", "uu", -1, { "-p tcp --dport 0:65535 -j DROP", "-p tcp -j ACCEPT" } },
	{ "flags", "uu", -1, { "-p tcp --syn -j DROP", "-p tcp --dport 22 -j ACCEPT" } },
	{ "ports side by side are a range", "uh", 0, { "-p tcp -m multiport --dports 21,22 -j DROP", "-p tcp --dport 22 -j ACCEPT" } },
	{ "several ranges are not looked into", "uu", -1, { "-p tcp -m multiport --dports 21,25 -j DROP", "-p tcp --dport 25 -j ACCEPT" } },
	{ "interfaces are not compared to the end", "uu", -1, { "-i eth0 -j DROP", "-i eth0 -j ACCEPT" } },
	{ "two marks contradict", "n", -1, { "-p tcp -m mark --mark 1 -m mark --mark 2 -j DROP" } },
	{ "a hidden rule hides nothing more", "uhh", 0, { "-s 192.0.2.0/24 -j DROP", "-s 192.0.2.0/25 -j ACCEPT", "-s 192.0.2.1 -j DROP" } },
	{ "a test on connections behind the address goes with it", "uh", 0,
	  { "-s 192.0.2.0/24 -j DROP", "-s 192.0.2.7 -m conntrack --ctstate NEW -j ACCEPT" } },
	{ "one in front of what hides it stays", "uK", 0,
	  { "-p tcp -m tcp --dport 22 -j DROP", "-m conntrack --ctstate NEW -p tcp -m tcp --dport 22 -j ACCEPT" } },
	{ "a contradiction behind a test on connections stays", "K", -1,
	  { "-m conntrack --ctstate NEW -m mark --mark 1 -m mark --mark 2 -j ACCEPT" } },
	{ "one in front of it goes", "n", -1, { "-m mark --mark 1 -m mark --mark 2 -m conntrack --ctstate NEW -j ACCEPT" } },
	{ "what tests connections hides nothing", "uu", -1,
	  { "-m conntrack --ctstate NEW -j DROP", "-m conntrack --ctstate NEW -s 192.0.2.1 -j ACCEPT" } },
};

static struct tables *build(struct arena *a, const char *const *rule, enum tables_engine engine)
{
	struct sources src = { .a = a };
	struct diags d = { .a = a, .sources = &src };
	struct ruleset *rs = policy_create(a);
	struct tables_options opt = { .engine = engine, .test_run = true };
	struct buf b = { .a = a };
	struct lang_file f;

	buf_printf(&b, "*filter\n:INPUT DROP [0:0]\n:c - [0:0]\n");
	for (size_t i = 0; i < MOST && rule[i]; i++)
		buf_printf(&b, "-A INPUT %s\n", rule[i]);
	buf_printf(&b, "COMMIT\n");
	lang_read(rs, &d, source_add(&src, "r", buf_str(&b)), LANG_IPTABLES, &f);
	policy_number(rs);
	assert_int_equal(d.n_errors, 0);
	return tables_build(a, rs, &opt, &d);
}

static const struct tables_list *input_of(const struct tables *t)
{
	return &t->list[t->n_lists - 1];
}

static void fates_are_those_of_the_table(void **state)
{
	struct arena *a = arena_create();

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int e = TABLES_ENGINE_SCAN; e < TABLES_ENGINE_COUNT; e++) {
			const struct tables_list *l = input_of(build(a, rows[i].rule, (enum tables_engine)e));
			char got[MOST + 1] = { 0 };
			size_t n = l->chain->rules.n;

			for (size_t k = 0; k < n; k++)
				got[k] = l->fate[k].is_kept ? 'K' : "unh"[l->fate[k].kind];
			if (strcmp(got, rows[i].fates))
				fail_msg("%s: %s, not %s", rows[i].what, got, rows[i].fates);
			if (rows[i].by >= 0)
				assert_int_equal(l->fate[n - 1].by->index, rows[i].by);
		}
	arena_destroy(a);
}

/* What goes takes no word: tables with the rule are as large as without. */
static void what_goes_takes_no_space(void **state)
{
	static const char *const with[MOST] = { "-s 192.0.2.0/24 -j DROP", "-s 192.0.2.7 -p tcp --dport 22 -j ACCEPT", "-d 192.0.2.9 -j DROP" };
	static const char *const without[MOST] = { "-s 192.0.2.0/24 -j DROP", "-d 192.0.2.9 -j DROP" };
	struct arena *a = arena_create();

	(void)state;
	for (int e = TABLES_ENGINE_SCAN; e < TABLES_ENGINE_COUNT; e++) {
		const struct tables *x = build(a, with, (enum tables_engine)e), *y = build(a, without, (enum tables_engine)e);

		assert_int_equal(x->n_words, y->n_words);
		assert_int_equal(input_of(x)->n_insns, input_of(y)->n_insns);
	}
	arena_destroy(a);
}

/* Pairs far apart in a long list, of a wide rule and of twins. */
static void long_lists_are_searched_too(void **state)
{
	struct arena *a = arena_create();
	struct sources src = { .a = a };
	struct diags d = { .a = a, .sources = &src };
	struct ruleset *rs = policy_create(a);
	struct tables_options opt = { .engine = TABLES_ENGINE_ANY };
	struct buf b = { .a = a };
	struct lang_file f;
	struct tables *t;
	size_t hidden = 0;

	(void)state;
	buf_printf(&b, "*filter\n:INPUT DROP [0:0]\n-A INPUT -s 10.0.0.0/9 -j DROP\n");
	for (unsigned i = 0; i < 20000; i++)
		buf_printf(&b, "-A INPUT -s %u.%u.%u.7 -p tcp --dport 22 -j ACCEPT\n", i % 10 == 0 ? 10 : 11, i >> 8, i & 255);
	for (unsigned i = 0; i < 100; i++)
		buf_printf(&b, "-A INPUT -s 11.%u.%u.7 -p tcp --dport 22 -j DROP\n", i >> 8, 10 * (i / 9) + 1 + i % 9);
	buf_printf(&b, "COMMIT\n");
	lang_read(rs, &d, source_add(&src, "r", buf_str(&b)), LANG_IPTABLES, &f);
	policy_number(rs);
	t = tables_build(a, rs, &opt, &d);
	assert_non_null(t);
	for (size_t i = 0; i < input_of(t)->chain->rules.n; i++)
		hidden += input_of(t)->fate[i].kind == TABLES_FATE_HIDDEN;
	assert_int_equal(hidden, 2000 + 100);
	arena_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fates_are_those_of_the_table),
		cmocka_unit_test(what_goes_takes_no_space),
		cmocka_unit_test(long_lists_are_searched_too),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
