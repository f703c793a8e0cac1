/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is refused, where and in which words; and what is only warned of. */
#include "iptables_kit.h"

static void place_of(const struct kit *k, const struct diag *g, uint32_t *line, uint32_t *col)
{
	*line = *col = 0;
	if (g)
		source_place(&k->s, g->at, line, col);
}

static void errors_stand_at_the_word_that_is_wrong(void **state)
{
	static const struct {
		int family;
		const char *table, *rule;
		uint32_t col;
		const char *text;
	} rows[] = {
#define E(family, table, rule, col, text) { family, table, rule, col, text },
#include "iptables_error.def"
#undef E
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct diag *g;
		uint32_t line, col;
		struct kit k;

		kit_read_rule(&k, rows[i].family, rows[i].table, rows[i].rule);
		g = kit_find(&k, DIAG_ERROR, NULL);
		place_of(&k, g, &line, &col);
		if (!g || line != 3 || col != rows[i].col || !str_is(g->text, rows[i].text))
			fail_msg("%s\n  want %u: %s\n  got  %s", rows[i].rule, rows[i].col, rows[i].text, kit_show(&k, g));
		kit_close(&k);
	}
}

/* Of iptables, but not of weir: said so, and not mistaken for a chain that is missing. */
static void what_is_not_read_is_said(void **state)
{
	static const struct {
		const char *rule, *text;
	} rows[] = {
		{ "-A INPUT -m osf --genre Linux", "weir does not read the match 'osf'" },
		{ "-A INPUT -m ipvs", "weir does not read the match 'ipvs'" },
		{ "-A INPUT -j LED", "weir does not read the target 'LED'" },
		{ "-A UC -j HMARK --hmark-mod 5", "weir does not read the target 'HMARK'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct diag *g;
		struct kit k;

		kit_read_rule(&k, 4, "filter", rows[i].rule);
		g = kit_find(&k, DIAG_ERROR, NULL);
		if (!g || !str_is(g->text, rows[i].text))
			fail_msg("%s: %s", rows[i].rule, kit_show(&k, g));
		kit_close(&k);
	}
}

static void warnings_have_a_name_and_a_place(void **state)
{
	static const struct {
		int family;
		const char *table, *rule, *id;
		uint32_t col, len;
	} rows[] = {
		{ 4, "filter", "-A INPUT -s ! 192.0.2.0/24 -j ACCEPT", "old-negation", 13, 14 },
		{ 4, "filter", "-A INPUT -p tcp --dport ! 22", "old-negation", 25, 4 },
		{ 4, "filter", "-A INPUT -j ACCEPT # ssh now", "trailing-comment", 20, 9 },
		{ 4, "filter", "-A INPUT -s 192.0.2.123/0", "every-address", 13, 13 },
		{ 4, "filter", "-A INPUT -d 192.0.2.1,192.0.2.9/24", "host-bits", 23, 12 },
		{ 6, "filter", "-A INPUT -d 2001:db8::1/64", "host-bits", 13, 14 },
		{ 4, "filter", "-A INPUT -s 10.1", "short-address", 13, 4 },
		{ 4, "filter", "-A INPUT -s 192.0.2.010", "octal-number", 13, 11 },
		{ 4, "filter", "-A INPUT -p tcp --dport 022", "octal-number", 25, 3 },
		{ 4, "filter", "-A INPUT ! -s 0.0.0.0/0", "never-matches", 15, 9 },
		{ 4, "filter", "-A INPUT -i + -j DROP", "plus-alone", 13, 1 },
		{ 4, "filter", "-A INPUT ! -i + -j DROP", "never-matches", 15, 1 },
		{ 4, "filter", "-A INPUT -i eth0:1 -j DROP", "alias-interface", 13, 6 },
		{ 4, "filter", "-A INPUT -i eth* -j DROP", "star-interface", 13, 4 },
		{ 4, "filter", "-A INPUT -i \"e th\" -j DROP", "odd-interface", 14, 4 },
		{ 4, "filter", "-A INPUT -m iprange --src-range 198.51.100.5-192.0.2.250", "reversed-range", 33, 24 },
		{ 4, "filter", "-A INPUT -m length --length 200:100", "reversed-range", 29, 7 },
		{ 4, "filter", "-A INPUT -p udp --dport 90:80", "reversed-range", 25, 5 },
		{ 4, "filter", "-A INPUT -m mark --mark 0x1f/0xf0", "never-matches", 25, 9 },
		{ 4, "filter", "-A INPUT -p tcp --tcp-flags SYN ACK", "never-matches", 29, 7 },
		{ 4, "filter", "-A INPUT -p tcp ! --dport 0:65535", "never-matches", 27, 7 },
		{ 4, "filter", "-A INPUT -j LOG --log-prefix 123456789012345678901234567890", "cut-text", 59, 1 },
		{ 4, "filter", "-A INPUT -m time --localtz", "old-spelling", 18, 9 },
		{ 4, "filter", "-A INPUT -m time --datestart 2023-02-30", "odd-date", 30, 10 },
		{ 4, "filter", "-A INPUT -j NFLOG --nflog-range 5", "no-effect", 19, 13 },
		{ 4, "filter", "-A INPUT -m policy --dir in --pol none --spi 5", "no-effect", 40, 5 },
		{ 6, "filter", "-A INPUT -p ah", "never-matches", 13, 2 },
		{ 6, "filter", "-A INPUT -p icmp", "wrong-icmp", 13, 4 },
		{ 6, "nat", "-A PREROUTING -p tcp -j DNAT --to-destination 2001:db8::10:443", "bracket-port", 47, 16 },
		{ 4, "nat", "-A PREROUTING -j DNAT --to-destination 127.0.0.1", "loopback-dnat", 40, 9 },
		{ 4, "mangle", "-A FORWARD -p tcp -j TCPMSS --set-mss 1400", "tcpmss-without-syn", 22, 6 },
		{ 4, "raw", "-A PREROUTING -m state --state NEW", "before-conntrack", 18, 5 },
		{ 4, "filter", "-A INPUT -j late", "late-chain", 13, 4 },
		{ 4, "filter", "-A UC -i lo\n-A OUTPUT -j UC", "never-matches", 10, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct diag *g;
		uint32_t line, col;
		struct kit k;
		struct buf text = { .a = arena_create() };

		buf_printf(&text, "%s%s", rows[i].rule, strstr(rows[i].rule, "late") ? "\n:late - [0:0]" : "");
		kit_read_rule(&k, rows[i].family, rows[i].table, text.v);
		if (k.d.n_errors)
			fail_msg("%s", kit_show(&k, kit_find(&k, DIAG_ERROR, NULL)));
		g = kit_find(&k, DIAG_WARNING, rows[i].id);
		place_of(&k, g, &line, &col);
		if (line != 3 || col != rows[i].col || g->at.len != rows[i].len)
			fail_msg("%s\n  want %s at %u, %u bytes\n  got  %s", rows[i].rule, rows[i].id, rows[i].col, rows[i].len,
				 kit_show(&k, g));
		kit_close(&k);
		arena_destroy(text.a);
	}
}

static void hints_say_what_to_write(void **state)
{
	static const struct {
		int family;
		const char *table, *rule, *hint;
	} rows[] = {
		{ 4, "filter", "-A INPUT -j ACEPT", "did you mean 'ACCEPT'?" },
		{ 4, "filter", "-A INPUT -j accept", "did you mean 'ACCEPT'?" },
		{ 4, "filter", "-A INPUT -j UX", "did you mean 'UC'?" },
		{ 4, "filter", "-A INPTU -j ACCEPT", "did you mean 'INPUT'?" },
		{ 4, "filter", "-A INPUT -m conntrak --ctstate NEW", "did you mean 'conntrack'?" },
		{ 4, "filter", "-A INPUT -m conntrack --ctstate NEWW", "did you mean 'NEW'?" },
		{ 4, "filter", "-A INPUT -p tpc", "did you mean 'tcp'?" },
		{ 4, "filter", "-A INPUT -p tcp --dprot 22", "did you mean '--dport'?" },
		{ 4, "filter", "-A INPUT --dport 22", "a port needs a protocol in front: -p tcp --dport or -p udp --dport" },
		{ 4, "filter", "-A INPUT --ctstate NEW", "--ctstate belongs to -m conntrack, which must come before it" },
		{ 4, "filter", "-A INPUT --reject-with tcp-reset -j REJECT", "--reject-with belongs to -j REJECT, which must come before it" },
		{ 4, "filter", "-A INPUT -p tcp --dport 22,80", "for a list write -m multiport --dports 22,80" },
		{ 6, "filter", "-A INPUT -m ttl --ttl-eq 1", "use -m hl" },
		{ 4, "filter", "-A INPUT -s 192.0.2.1 -s 192.0.2.2", "several addresses are written as a comma list" },
		{ 4, "filter", "-t nat -A INPUT", "put the rule below the line '*TABLE'" },
		{ 4, "filter", "iptables -A INPUT", "a ruleset file has no commands of the shell; leave 'iptables' out" },
		{ 4, "filter", "-A INPUT -m comment --comment 'a b'", "only double quotes keep words together in a ruleset file" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct diag *g;
		struct kit k;

		kit_read_rule(&k, rows[i].family, rows[i].table, rows[i].rule);
		g = kit_find(&k, DIAG_ERROR, NULL);
		if (!g || !str_is(g->hint, rows[i].hint))
			fail_msg("%s\n  want %s\n  got  %s", rows[i].rule, rows[i].hint, kit_show(&k, g));
		kit_close(&k);
	}
}

static void one_run_finds_every_error(void **state)
{
	static const char text[] = "*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp --dport 70000 -s 192.0.2.999 -j DROP\n"
				   "-A INPUT -m nosuch\n-A INPUT -j ACCEPT\n-A nowhere -j DROP\n-A nowhere -p udp\n"
				   "-A OUTPUT -i lo\nCOMMIT\n*nta\n-A whatever\nCOMMIT\n";
	static const uint32_t want[][2] = { { 3, 25 }, { 3, 34 }, { 4, 13 }, { 6, 4 }, { 8, 14 }, { 10, 2 } };
	struct kit k;
	size_t n = 0;

	(void)state;
	kit_read(&k, FAMILY_IP4, str_from(text));
	for (size_t i = 0; i < k.d.all.n; i++) {
		uint32_t line, col;

		if (k.d.all.v[i].severity != DIAG_ERROR)
			continue;
		place_of(&k, &k.d.all.v[i], &line, &col);
		assert_in_range(n, 0, sizeof(want) / sizeof(*want) - 1);
		assert_int_equal(line, want[n][0]);
		assert_int_equal(col, want[n++][1]);
	}
	assert_int_equal(n, sizeof(want) / sizeof(*want));
	kit_close(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_stand_at_the_word_that_is_wrong),
		cmocka_unit_test(what_is_not_read_is_said),
		cmocka_unit_test(warnings_have_a_name_and_a_place),
		cmocka_unit_test(hints_say_what_to_write),
		cmocka_unit_test(one_run_finds_every_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("iptables_error", tests, NULL, NULL);
}
