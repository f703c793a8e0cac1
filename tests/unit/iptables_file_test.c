/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whole files: tables, chains, commands, counters, quoting, line ends; and what the tree of them holds. */
#include "iptables_kit.h"

/* Text in, text out as printed with counts; or the first error as "line:column text". */
struct row {
	const char *what, *text, *want;
};

static const char *outcome(struct kit *k, const char *text)
{
	const struct diag *g;
	uint32_t line, col;

	kit_read(k, FAMILY_IP4, str_from(text));
	g = kit_find(k, DIAG_ERROR, NULL);
	if (!g)
		return iptables_print_file(k->a, k->file, true).p;
	source_place(&k->s, g->at, &line, &col);
	return arena_printf(k->a, "%u:%u %.*s", line, col, STR_ARG(g->text)).p;
}

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct kit k;
		const char *got = outcome(&k, rows[i].text);

		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s\nwant %s\ngot  %s", rows[i].what, rows[i].want, got);
		kit_close(&k);
	}
}
#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof(*(rows)))

static void lines_of_a_file(void **state)
{
	static const struct row rows[] = {
		{ "nothing", "", "" },
		{ "comments and empty lines", "# a\n\n  # b\n*raw\n#c\n\nCOMMIT\n# d\n", "*raw\nCOMMIT\n" },
		{ "no line end at the end", "*raw\nCOMMIT", "*raw\nCOMMIT\n" },
		{ "CRLF", "*filter\r\n:INPUT DROP [0:0]\r\n-A INPUT -j ACCEPT\r\nCOMMIT\r\n",
		  "*filter\n:INPUT DROP [0:0]\n[0:0] -A INPUT -j ACCEPT\nCOMMIT\n" },
		{ "byte order mark", "\xef\xbb\xbf*raw\nCOMMIT\n", "*raw\nCOMMIT\n" },
		{ "leading blanks", " *raw\n  :mine -\n\tCOMMIT\n", "*raw\n:mine - [0:0]\nCOMMIT\n" },
		{ "blanks at the end", "*raw  \nCOMMIT \t\n", "*raw\nCOMMIT\n" },
		{ "tables in file order", "*nat\nCOMMIT\n*filter\nCOMMIT\n", "*nat\nCOMMIT\n*filter\nCOMMIT\n" },
		{ "no table", "-A INPUT -j DROP\n", "1:1 this line belongs to no table" },
		{ "chain outside", ":INPUT DROP\n", "1:1 this line belongs to no table" },
		{ "unknown table", "*fitler\n-A INPUT -j DROP\nCOMMIT\n", "1:2 unknown table 'fitler'" },
		{ "COMMIT alone", "COMMIT\n", "1:1 COMMIT without a table: no line '*TABLE' is above it" },
		{ "no COMMIT", "*raw\n:OUTPUT ACCEPT\n", "3:1 COMMIT expected: the file ends inside table raw" },
		{ "no COMMIT, no line end", "*raw", "1:5 COMMIT expected: the file ends inside table raw" },
		{ "COMMIT forgotten between", "*raw\n*nat\nCOMMIT\n",
		  "2:1 COMMIT expected before this line: table raw is still open" },
		{ "small letters", "*raw\ncommit\n", "2:1 COMMIT is written in capitals" },
		{ "an open quote", "*raw\n-A OUTPUT -m comment --comment \"a", "2:32 the quote is not closed on this line" },
	};

	(void)state;
	CHECK_ROWS(rows);
}

static void chains_of_a_table(void **state)
{
	static const struct row rows[] = {
		{ "built-in ones first, user chains by name", "*filter\n:z -\n:a -\n:OUTPUT ACCEPT\n:INPUT DROP [1:2]\nCOMMIT\n",
		  "*filter\n:INPUT DROP [1:2]\n:OUTPUT ACCEPT [0:0]\n:a - [0:0]\n:z - [0:0]\nCOMMIT\n" },
		{ "policy '-' of a built-in chain", "*raw\n:OUTPUT - [0:0]\nCOMMIT\n", "*raw\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n" },
		{ "a policy may come again", "*raw\n:OUTPUT DROP\n:OUTPUT ACCEPT\nCOMMIT\n", "*raw\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n" },
		{ "28 bytes", "*raw\n:abcdefghijabcdefghijabcdefgh -\nCOMMIT\n",
		  "*raw\n:abcdefghijabcdefghijabcdefgh - [0:0]\nCOMMIT\n" },
		{ "policy missing", "*raw\n:OUTPUT\nCOMMIT\n", "2:1 the policy of chain 'OUTPUT' is missing: ACCEPT or DROP" },
		{ "name missing", "*raw\n: - [0:0]\nCOMMIT\n", "2:3 a chain's name cannot begin with '-'" },
		{ "nothing", "*raw\n:\nCOMMIT\n", "2:2 the name of a chain is missing" },
		{ "policy of a user chain", "*raw\n:mine DROP\nCOMMIT\n", "2:7 user chain 'mine' cannot have the policy 'DROP'" },
		{ "chain of another table", "*filter\n:PREROUTING ACCEPT\nCOMMIT\n",
		  "2:13 user chain 'PREROUTING' cannot have the policy 'ACCEPT'" },
		{ "no policy", "*raw\n:OUTPUT REJECT\nCOMMIT\n", "2:9 'REJECT' is not a policy: ACCEPT or DROP" },
		{ "counters", "*raw\n:OUTPUT DROP [1:x]\nCOMMIT\n", "2:14 '[1:x]' is not a pair of counters: [packets:bytes]" },
		{ "more behind", "*raw\n:OUTPUT DROP [1:2] x\nCOMMIT\n", "2:20 nothing is expected behind the counters of a chain" },
		{ "twice", "*raw\n:mine -\n:mine -\nCOMMIT\n", "3:2 chain 'mine' exists already (rules:2)" },
		{ "called like a target", "*raw\n:DROP -\nCOMMIT\n", "2:2 a chain cannot be called 'DROP': that is a target" },
		{ "too long", "*raw\n:abcdefghijabcdefghijabcdefghi -\nCOMMIT\n",
		  "2:2 chain name 'abcdefghijabcdefghijabcdefghi' is too long: 29 bytes, 28 are allowed" },
	};

	(void)state;
	CHECK_ROWS(rows);
}

static void commands_are_carried_out(void **state)
{
	static const struct row rows[] = {
		{ "-I puts in front", "*raw\n-A OUTPUT -p 1\n-I OUTPUT -p 2\nCOMMIT\n",
		  "*raw\n:OUTPUT ACCEPT [0:0]\n[0:0] -A OUTPUT -p igmp\n[0:0] -A OUTPUT -p icmp\nCOMMIT\n" },
		{ "-I with a place", "*raw\n-A OUTPUT -p 1\n-A OUTPUT -p 2\n-I OUTPUT 2 -p 3\nCOMMIT\n",
		  "*raw\n:OUTPUT ACCEPT [0:0]\n[0:0] -A OUTPUT -p icmp\n[0:0] -A OUTPUT -p ggp\n[0:0] -A OUTPUT -p igmp\nCOMMIT\n" },
		{ "-I behind the last", "*raw\n-A OUTPUT -p 1\n-I OUTPUT 2 -p 3\nCOMMIT\n",
		  "*raw\n:OUTPUT ACCEPT [0:0]\n[0:0] -A OUTPUT -p icmp\n[0:0] -A OUTPUT -p ggp\nCOMMIT\n" },
		{ "-I counts the rules of a list", "*raw\n-A OUTPUT -s 192.0.2.1,192.0.2.2\n-I OUTPUT 3 -p 3\nCOMMIT\n",
		  "*raw\n:OUTPUT ACCEPT [0:0]\n[0:0] -A OUTPUT -s 192.0.2.1/32\n[0:0] -A OUTPUT -s 192.0.2.2/32\n"
		  "[0:0] -A OUTPUT -p ggp\nCOMMIT\n" },
		{ "-I into a list", "*raw\n-A OUTPUT -s 192.0.2.1,192.0.2.2\n-I OUTPUT 2 -p 3\nCOMMIT\n",
		  "3:11 position 2 is among the rules that the address list of rules:2 makes" },
		{ "-I too far", "*raw\n-A OUTPUT -p 1\n-I OUTPUT 3 -p 3\nCOMMIT\n",
		  "3:11 chain OUTPUT has 1 rules up to here; a rule cannot be inserted at 3" },
		{ "long names", "*raw\n--append OUTPUT -p 1\n--ins OUTPUT -p 2\n--new x\n--policy OUTPUT DROP\nCOMMIT\n",
		  "*raw\n:OUTPUT DROP [0:0]\n:x - [0:0]\n[0:0] -A OUTPUT -p igmp\n[0:0] -A OUTPUT -p icmp\nCOMMIT\n" },
		{ "in one word", "*raw\n-AOUTPUT -jDROP\nCOMMIT\n", "*raw\n:OUTPUT ACCEPT [0:0]\n[0:0] -A OUTPUT -j DROP\nCOMMIT\n" },
		{ "-N", "*raw\n-N x\n-A x -j DROP\nCOMMIT\n", "*raw\n:x - [0:0]\n[0:0] -A x -j DROP\nCOMMIT\n" },
		{ "-N again", "*raw\n:x -\n-N x\nCOMMIT\n", "3:4 chain 'x' exists already" },
		{ "-N of a built-in chain", "*raw\n-N OUTPUT\nCOMMIT\n", "2:4 chain 'OUTPUT' exists already" },
		{ "-P", "*raw\n-P OUTPUT DROP\nCOMMIT\n", "*raw\n:OUTPUT DROP [0:0]\nCOMMIT\n" },
		{ "-P without a policy", "*raw\n-P OUTPUT\nCOMMIT\n", "2:1 -P needs a built-in chain and a policy" },
		{ "-F of a chain", "*raw\n:x -\n-A x -p 1\n-A OUTPUT -p 1\n-F x\nCOMMIT\n",
		  "*raw\n:OUTPUT ACCEPT [0:0]\n:x - [0:0]\n[0:0] -A OUTPUT -p icmp\nCOMMIT\n" },
		{ "-F", "*raw\n:x -\n-A x -p 1\n-A OUTPUT -p 1\n-F\nCOMMIT\n", "*raw\n:OUTPUT ACCEPT [0:0]\n:x - [0:0]\nCOMMIT\n" },
		{ "-X", "*raw\n:x -\n:y -\n-A y -p 1\n-X\nCOMMIT\n", "*raw\n:y - [0:0]\n[0:0] -A y -p icmp\nCOMMIT\n" },
		{ "-X of a chain", "*raw\n:x -\n:y -\n-X x\nCOMMIT\n", "*raw\n:y - [0:0]\nCOMMIT\n" },
		{ "-X of one with rules", "*raw\n:y -\n-A y -p 1\n-X y\nCOMMIT\n", "4:4 chain 'y' has rules; it cannot be deleted" },
		{ "-Z", "*raw\n:OUTPUT DROP [3:4]\n[1:2] -A OUTPUT -p 1\n-Z\nCOMMIT\n",
		  "*raw\n:OUTPUT DROP [0:0]\n[0:0] -A OUTPUT -p icmp\nCOMMIT\n" },
		{ "-D", "*raw\n-D OUTPUT -p 1\nCOMMIT\n",
		  "2:1 -D (--delete) has no place in a ruleset file: it works on rules that are there already" },
		{ "-E", "*raw\n:x -\n-E x y\nCOMMIT\n",
		  "3:1 -E (--rename-chain) has no place in a ruleset file: it works on rules that are there already" },
		{ "a line of the other family", "*raw\n-6 -A OUTPUT -s 2001:db8::1\n-A OUTPUT -6 -p 1\n-4 -A OUTPUT -p 2\nCOMMIT\n",
		  "*raw\n:OUTPUT ACCEPT [0:0]\n[0:0] -A OUTPUT -p igmp\nCOMMIT\n" },
		{ "two commands", "*raw\n-A OUTPUT -A OUTPUT\nCOMMIT\n", "2:11 a second command on one line" },
		{ "no chain", "*raw\n-A -j DROP\nCOMMIT\n", "2:1 -A needs the name of a chain" },
	};

	(void)state;
	CHECK_ROWS(rows);
}

static void counters_are_kept(void **state)
{
	static const struct row rows[] = {
		{ "in front", "*raw\n[5:60] -A OUTPUT -p 1\nCOMMIT\n", "*raw\n:OUTPUT ACCEPT [0:0]\n[5:60] -A OUTPUT -p icmp\nCOMMIT\n" },
		{ "-c", "*raw\n-A OUTPUT -p 1 -c 5 60\nCOMMIT\n", "*raw\n:OUTPUT ACCEPT [0:0]\n[5:60] -A OUTPUT -p icmp\nCOMMIT\n" },
		{ "--set-counters", "*raw\n-A OUTPUT --set-counters 5 18446744073709551615\nCOMMIT\n",
		  "*raw\n:OUTPUT ACCEPT [0:0]\n[5:18446744073709551615] -A OUTPUT\nCOMMIT\n" },
		{ "odd ones", "*raw\n[5] -A OUTPUT -p 1\nCOMMIT\n", "2:1 '[5]' is not a pair of counters: [packets:bytes]" },
		{ "one only", "*raw\n-A OUTPUT -c 5\nCOMMIT\n", "2:11 -c needs two values" },
	};

	(void)state;
	CHECK_ROWS(rows);
}

/* iptables-restore starts a table that comes again from nothing, but its policies stand. */
static void a_table_named_twice_starts_anew(void **state)
{
	struct kit k;

	(void)state;
	kit_read(&k, FAMILY_IP4,
		 STR("*filter\n:INPUT DROP\n:x -\n-A INPUT -j x\nCOMMIT\n*raw\nCOMMIT\n*filter\n-A INPUT -j ACCEPT\nCOMMIT\n"));
	assert_int_equal(k.d.n_errors, 0);
	assert_non_null(kit_find(&k, DIAG_WARNING, "table-twice"));
	assert_string_equal(iptables_print_file(k.a, k.file, false).p,
			    "*filter\n:INPUT DROP [0:0]\n-A INPUT -j ACCEPT\nCOMMIT\n*raw\nCOMMIT\n");
	kit_close(&k);
}

static void add_addresses(struct buf *b, const char *option, unsigned n)
{
	buf_printf(b, " %s ", option);
	for (unsigned i = 0; i < n; i++)
		buf_printf(b, "%s10.%u.%u.%u", i ? "," : "", i / 65536, i / 256 % 256, i % 256);
}

static void a_line_makes_a_million_rules_at_most(void **state)
{
	struct arena *a = arena_create();

	(void)state;
	for (unsigned n = 1000; n <= 70000; n = n == 1000 ? 1001 : n == 1001 ? 70000 : n + 1) {
		struct buf b = { .a = a };
		struct kit k;

		buf_printf(&b, "*filter\n:INPUT DROP\n-A INPUT");
		add_addresses(&b, "-s", n);
		add_addresses(&b, "-d", n == 70000 ? n : 1000);
		buf_printf(&b, " -j ACCEPT\nCOMMIT\n");
		kit_read(&k, FAMILY_IP4, buf_str(&b));
		assert_int_equal(k.d.n_errors, n > 1000);
		kit_close(&k);
	}
	arena_destroy(a);
}

static void file_warnings_stand_at_their_line(void **state)
{
	static const struct {
		const char *text, *id;
		uint32_t line, col;
	} rows[] = {
		{ "*filter\n-A INPUT -j DROP\nCOMMIT\n", "policy-not-stated", 1, 2 },
		{ "*filter\n:INPUT - [0:0]\n-A INPUT -j DROP\nCOMMIT\n", "policy-not-stated", 1, 2 },
		{ "*filter\n:INPUT DROP\n COMMIT\n", "leading-space", 3, 1 },
		{ "*filter\r\nCOMMIT\r\n", "crlf", 1, 8 },
		{ "*filter\n  # why\nCOMMIT\n", "leading-space", 2, 1 },
		{ "*filter\nCOMMIT \n", "trailing-space", 2, 7 },
		{ "*filter\nCOMMIT", "no-newline", 2, 7 },
		{ "\xef\xbb\xbf*filter\nCOMMIT\n", "byte-order-mark", 1, 1 },
		{ "*raw\nCOMMIT\n*raw\nCOMMIT\n", "table-twice", 3, 2 },
		{ "*filter\n:a -\n-A a -j other-place\nCOMMIT\n", "missing-chain", 3, 9 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint32_t line = 0, col = 0;
		const struct diag *g;
		struct kit k;

		kit_read(&k, FAMILY_IP4, str_from(rows[i].text));
		assert_int_equal(k.d.n_errors, 0);
		g = kit_find(&k, DIAG_WARNING, rows[i].id);
		assert_non_null(g);
		source_place(&k.s, g->at, &line, &col);
		if (line != rows[i].line || col != rows[i].col)
			fail_msg("%s: %s", rows[i].id, kit_show(&k, g));
		kit_close(&k);
	}
}

static void policies_that_are_stated_are_not_warned_of(void **state)
{
	struct kit k;

	(void)state;
	kit_read(&k, FAMILY_IP4, STR("*filter\n:INPUT ACCEPT\n:OUTPUT - [0:0]\n-A INPUT -j DROP\nCOMMIT\n"));
	assert_int_equal(k.d.all.n, 0);
	kit_close(&k);
}

static void places_in_the_tree_point_at_the_text(void **state)
{
	static const char text[] = "*filter\n:INPUT DROP [0:0]\n[1:2]  -A INPUT -s 192.0.2.1 -p tcp ! --dport \"22\" -j LOG  \nCOMMIT\n";
	const struct ipt_rule *r;
	const struct ipt_opt *o;
	struct kit k;

	(void)state;
	kit_read(&k, FAMILY_IP4, str_from(text));
	r = k.file->tables.v[0]->chains.v[0]->rules.v[0];
	assert_memory_equal(text + r->at.off, "-A INPUT", 8);
	assert_memory_equal(text + r->at.off + r->at.len, "  \nCOMMIT", 9);
	assert_memory_equal(text + r->src.list.v[0].at.off, "192.0.2.1 ", 10);
	assert_memory_equal(text + r->target_at.off, "LOG ", 4);
	o = ipt_opt_find(&r->matches.v[0], IPT_M_TCP_DPORT);
	assert_true(r->matches.v[0].is_implicit);
	assert_true(o->negated);
	assert_memory_equal(text + o->at.off, "--dport ", 8);
	assert_memory_equal(text + o->value_at.off, "\"22\" ", 5);
	assert_true(ipt_opt_find(&r->target, IPT_T_LOG_LEVEL)->implied);
	assert_int_equal(r->packets, 1);
	assert_int_equal(r->bytes, 2);
	kit_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_file),
		cmocka_unit_test(chains_of_a_table),
		cmocka_unit_test(commands_are_carried_out),
		cmocka_unit_test(counters_are_kept),
		cmocka_unit_test(a_table_named_twice_starts_anew),
		cmocka_unit_test(file_warnings_stand_at_their_line),
		cmocka_unit_test(a_line_makes_a_million_rules_at_most),
		cmocka_unit_test(policies_that_are_stated_are_not_warned_of),
		cmocka_unit_test(places_in_the_tree_point_at_the_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("iptables_file", tests, NULL, NULL);
}
