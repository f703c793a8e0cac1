/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every match and target, read and printed: what comes out is what iptables-save prints for the same rule, and reading
 * that gives the same again, with nothing to complain about.
 */
#include "iptables_kit.h"

static const struct row {
	int family;
	const char *table, *rule, *want;
} rows[] = {
#define R(family, table, rule, want) { family, table, rule, want },
#include "iptables_core.def"
#include "iptables_match.def"
#include "iptables_target.def"
#undef R
};
enum { N_ROWS = sizeof(rows) / sizeof(*rows) };

static void rules_print_as_iptables_save_prints_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct row *r = &rows[i];
		struct kit k;

		kit_read_rule(&k, r->family, r->table, r->rule);
		if (k.d.n_errors)
			fail_msg("%s", kit_show(&k, kit_find(&k, DIAG_ERROR, NULL)));
		if (strcmp(kit_rules(&k), r->want) != 0)
			fail_msg("%s\n  want %s\n  got  %s", r->rule, r->want, kit_rules(&k));
		kit_close(&k);
	}
}

static void what_is_printed_reads_back_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		struct kit k, again;
		struct str text;

		kit_read_rule(&k, rows[i].family, rows[i].table, rows[i].rule);
		text = iptables_print_file(k.a, k.file, true);
		kit_read(&again, k.file->family, text);
		if (again.d.n_errors)
			fail_msg("%s", kit_show(&again, kit_find(&again, DIAG_ERROR, NULL)));
		assert_string_equal(iptables_print_file(again.a, again.file, true).p, text.p);
		kit_close(&again);
		kit_close(&k);
	}
}

/* Canonical text must not be warned of for its spelling. */
static void what_is_printed_is_spelt_well(void **state)
{
	static const char *const spelling[] = { "old-negation", "host-bits", "short-address", "octal-number", "cut-text",
						"old-spelling", "trailing-comment", "leading-space", "table-twice" };

	(void)state;
	for (size_t i = 0; i < N_ROWS; i++) {
		struct kit k, again;

		kit_read_rule(&k, rows[i].family, rows[i].table, rows[i].rule);
		kit_read(&again, k.file->family, iptables_print_file(k.a, k.file, true));
		for (size_t n = 0; n < sizeof(spelling) / sizeof(*spelling); n++) {
			const struct diag *g = kit_find(&again, DIAG_WARNING, spelling[n]);

			if (g)
				fail_msg("%s", kit_show(&again, g));
		}
		kit_close(&again);
		kit_close(&k);
	}
}

/* Where iptables-save itself loses something, so that its text is not the aim. */
static void what_iptables_save_loses_is_kept(void **state)
{
	static const struct {
		const char *table, *rule, *want;
	} lost[] = {
		{ "filter", "-A INPUT ! -i + -j DROP", "-A INPUT ! -i + -j DROP" },
		{ "filter", "-A INPUT -p tcp ! --dport 0:65535 -j DROP", "-A INPUT -p tcp -m tcp ! --dport 0:65535 -j DROP" },
		{ "filter", "-A INPUT -i \"e th\"", "-A INPUT -i \"e th\"" },
		{ "filter", "-A INPUT -m limit --limit 86408/day", "-A INPUT -m limit --limit 86408/day" },
		{ "filter", "-A INPUT -m recent --set --name \"a b\"",
		  "-A INPUT -m recent --set --name \"a b\" --mask 255.255.255.255 --rsource" },
		{ "filter", "-A INPUT -m time ! --weekdays 1,2,3,4,5,6,7",
		  "-A INPUT -m time ! --weekdays Mon,Tue,Wed,Thu,Fri,Sat,Sun --datestop 2038-01-19T03:14:07" },
		{ "filter", "-A INPUT -p udplite --dport 53", "-A INPUT -p udplite -m udplite --dport 53" },
		{ "filter", "-A INPUT -m string --hex-string \"|41|\\\\\" --algo bm",
		  "-A INPUT -m string --hex-string \"|415c|\" --algo bm" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lost) / sizeof(*lost); i++) {
		struct kit k;

		kit_read_rule(&k, 4, lost[i].table, lost[i].rule);
		assert_int_equal(k.d.n_errors, 0);
		assert_string_equal(kit_rules(&k), lost[i].want);
		kit_close(&k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_print_as_iptables_save_prints_them),
		cmocka_unit_test(what_is_printed_reads_back_the_same),
		cmocka_unit_test(what_is_printed_is_spelt_well),
		cmocka_unit_test(what_iptables_save_loses_is_kept),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("iptables_print", tests, NULL, NULL);
}
