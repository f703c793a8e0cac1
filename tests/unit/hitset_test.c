/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of counting rules: a lookup and a counter for all that match, however many; and where rows end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "classify/tables.h"
#include "datapath/native.h"
#include "lang/lang.h"
#include "packet/notation.h"
#include "tables/format.h"

struct kit {
	struct arena *a;
	struct ruleset *rs;
	struct tables *t;
	struct native *native;
	struct native_result got;
};

static void build(struct kit *k, const char *rules, bool may_sum)
{
	struct sources src = { .a = k->a };
	struct diags d = { .a = k->a, .sources = &src };
	struct tables_options opt = { .engine = TABLES_ENGINE_GRAPH, .test_run = true, .may_sum = may_sum };
	struct lang_file f;

	k->rs = policy_create(k->a);
	lang_read(k->rs, &d, source_add(&src, "r", arena_printf(k->a, "*mangle\n:INPUT ACCEPT [0:0]\n%sCOMMIT\n", rules)), LANG_IPTABLES, &f);
	policy_number(k->rs);
	assert_int_equal(d.n_errors, 0);
	k->t = tables_build(k->a, k->rs, &opt, &d);
	assert_non_null(k->t);
	k->native = native_create(k->a, &(struct native_tables){ .word = k->t->word, .n_words = k->t->n_words, .n_counters = k->t->n_counters });
}

static void judge(struct kit *k, const char *packet)
{
	struct packet p;

	assert_true(notation_parse(k->a, NULL, str_from(packet), (struct loc){ 0 }, &p));
	native_run(k->native, DP_POSITION_INPUT_MANGLE, &p, 0, 0, &k->got);
}

static uint64_t count_of(const struct kit *k, size_t rule)
{
	uint64_t n = native_counts(k->native)[2 * (DP_COUNTERS_SPECIAL + rule)];

	for (size_t i = 0; i < k->t->n_sums; i++)
		for (uint32_t x = 0; x < k->t->sum[i].n; x++)
			if (k->t->sum[i].rule[x]->id == rule)
				n += native_counts(k->native)[2 * (size_t)k->t->sum[i].counter];
	return n;
}

static void twenty_rules_are_one_count(void **state)
{
	struct kit k = { .a = arena_create() };
	struct buf b = { .a = k.a };

	(void)state;
	for (int i = 0; i < 20; i++)
		buf_printf(&b, "-A INPUT -s 10.0.0.0/%d\n", 8 + i);
	build(&k, b.v, true);
	for (int i = 0; i < 3; i++)
		judge(&k, "in=eth0 tcp 10.0.0.1:1 > 192.0.2.1:2 ct=new");
	assert_int_equal(k.got.n_hits, 2); /* the twenty, and the policy */
	judge(&k, "in=eth0 tcp 10.0.32.1:1 > 192.0.2.1:2 ct=new");
	assert_int_equal(k.got.n_hits, 2); /* /8 to /18, and the policy */
	judge(&k, "in=eth0 tcp 11.0.0.1:1 > 192.0.2.1:2 ct=new");
	assert_int_equal(k.got.n_hits, 1);
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(count_of(&k, i), i <= 10 ? 4 : 3);
	build(&k, b.v, false);
	judge(&k, "in=eth0 tcp 10.0.0.1:1 > 192.0.2.1:2 ct=new");
	assert_int_equal(k.got.n_hits, 21);
	arena_destroy(k.a);
}

static void rows_are_made_where_they_help(void **state)
{
	static const struct {
		const char *what;
		size_t sums, entries;
		const char *rules;
	} rows[] = {
		{ "two that overlap", 1, 3, "-A INPUT -s 10.0.0.0/8\n-A INPUT -p tcp\n" },
		{ "two that do not", 0, 2, "-A INPUT -s 10.0.0.0/8\n-A INPUT -s 11.0.0.0/8\n" },
		{ "one inside of the other", 1, 2, "-A INPUT -s 10.0.0.0/8\n-A INPUT -s 10.1.0.0/16\n" },
		{ "three across", 4, 7, "-A INPUT -s 10.0.0.0/8\n-A INPUT -p tcp\n-A INPUT -d 10.0.0.0/8\n" },
		{ "a verdict ends a row", 0, 3, "-A INPUT -s 10.0.0.0/8\n-A INPUT -p udp -j DROP\n-A INPUT -p tcp\n" },
		{ "so does a write", 0, 3, "-A INPUT -s 10.0.0.0/8\n-A INPUT -p udp -j MARK --set-mark 1\n-A INPUT -p tcp\n" },
		{ "and a memory", 0, 3, "-A INPUT -s 10.0.0.0/8\n-A INPUT -m limit --limit 1/s\n-A INPUT -p tcp\n" },
		{ "and alternatives", 0, 3, "-A INPUT -s 10.0.0.0/8\n-A INPUT -p tcp -m multiport --ports 80\n-A INPUT -p tcp\n" },
		{ "interfaces and negations do not", 1, 3, "-A INPUT -i eth0\n-A INPUT ! -s 10.0.0.1\n" },
		{ "the same twice", 1, 1, "-A INPUT -s 10.0.0.0/8\n-A INPUT -s 10.0.0.0/8\n" },
	};
	struct kit k = { .a = arena_create() };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		build(&k, rows[i].rules, true);
		if (k.t->n_sums != rows[i].sums || k.t->list[0].n_entries != rows[i].entries)
			fail_msg("%s: %zu sums, %zu entries", rows[i].what, k.t->n_sums, k.t->list[0].n_entries);
	}
	arena_destroy(k.a);
}

/* Rules that would make 2^n intersections: the tables stay within a bound of the rules. */
static void rows_are_cut_where_they_would_explode(void **state)
{
	struct kit k = { .a = arena_create() };
	struct buf b = { .a = k.a };

	(void)state;
	for (int i = 0; i < 200; i++)
		buf_printf(&b, "-A INPUT -m length --length %d:%d -m ttl --ttl-gt %d -p tcp --dport %d:%d\n", i, 1000 + i * 7 % 500, i % 50, i * 31 % 500,
			   600 + i * 17 % 900);
	build(&k, b.v, true);
	assert_true(k.t->list[0].n_entries <= 200 * 4 + 64 * 8);
	judge(&k, "in=eth0 tcp 10.0.0.1:1 > 192.0.2.1:550 ct=new");
	for (size_t i = 0; i < 200; i++)
		assert_true(count_of(&k, i) <= 1);
	arena_destroy(k.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(twenty_rules_are_one_count),
		cmocka_unit_test(rows_are_made_where_they_help),
		cmocka_unit_test(rows_are_cut_where_they_would_explode),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
