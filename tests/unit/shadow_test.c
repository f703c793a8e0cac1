/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules that can never match: which are found, by which they are hidden, and which must not be said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lang/lang.h"
#include "policy/shadow.h"

static struct ruleset *read(struct arena *a, struct diags *d, const char *rules)
{
	struct ruleset *rs = policy_create(a);
	struct lang_file f;

	lang_read(rs, d,
		  source_add(d->sources, "r", arena_printf(a, "*mangle\n:INPUT ACCEPT [0:0]\n:c - [0:0]\n:d - [0:0]\n%sCOMMIT\n", rules)),
		  LANG_IPTABLES, &f);
	policy_number(rs);
	assert_int_equal(d->n_errors, 0);
	return rs;
}

#define R(rule) "-A INPUT " rule "\n"

static void rules_are_found_or_not(void **state)
{
	enum { NOBODY = -1, ITSELF = -2 };
	static const struct {
		const char *what;
		int last_by; /* who hides the last rule: its number */
		const char *rules;
	} rows[] = {
		{ "an address in a network", 0, R("-s 192.0.2.0/24 -j DROP") R("-s 192.0.2.1 -p tcp -j ACCEPT") },
		{ "a network around an address", NOBODY, R("-s 192.0.2.1 -j DROP") R("-s 192.0.2.0/24 -j ACCEPT") },
		{ "another end", NOBODY, R("-d 192.0.2.0/24 -j DROP") R("-s 192.0.2.1 -j ACCEPT") },
		{ "by the destination", 0, R("-d 192.0.2.0/24 -j DROP") R("-s 198.51.100.1 -d 192.0.2.1 -j ACCEPT") },
		{ "a range around", 0, R("-m iprange --src-range 192.0.2.1-192.0.2.9 -j DROP") R("-s 192.0.2.2/31 -j ACCEPT") },
		{ "everything", 0, R("-j DROP") R("-p tcp -j ACCEPT") },
		{ "everything that only counts", NOBODY, R("") R("-p tcp -j ACCEPT") },
		{ "a log", NOBODY, R("-j LOG") R("-p tcp -j ACCEPT") },
		{ "a call", NOBODY, R("-j c") R("-p tcp -j ACCEPT") },
		{ "a goto", 0, R("-g c") R("-p tcp -j ACCEPT") },
		{ "less is asked", NOBODY, R("-p tcp --dport 80 -j DROP") R("-p tcp -j ACCEPT") },
		{ "a port of a range", 0, R("-p tcp --dport 80:90 -j DROP") R("-p tcp --dport 85 -j ACCEPT") },
		{ "the other protocol", NOBODY, R("-p tcp --dport 80:90 -j DROP") R("-p udp --dport 85 -j ACCEPT") },
		{ "a negation around", 0, R("! -s 192.0.2.1 -j DROP") R("-s 198.51.100.0/24 -j ACCEPT") },
		{ "a negation, met", NOBODY, R("! -s 192.0.2.1 -j DROP") R("-s 192.0.2.0/24 -j ACCEPT") },
		{ "a negation in a wider one", 0, R("! -s 192.0.2.1 -j DROP") R("! -s 192.0.2.0/24 -j ACCEPT") },
		{ "a wider negation", NOBODY, R("! -s 192.0.2.0/24 -j DROP") R("! -s 192.0.2.1 -j ACCEPT") },
		{ "one of several states", 0, R("-m conntrack --ctstate NEW,ESTABLISHED -j DROP") R("-m conntrack --ctstate NEW -j ACCEPT") },
		{ "several states of one", NOBODY, R("-m conntrack --ctstate NEW -j DROP") R("-m conntrack --ctstate NEW,ESTABLISHED -j ACCEPT") },
		{ "interfaces by their beginning", 0, R("-i eth+ -j DROP") R("-i eth0 -j ACCEPT") },
		{ "a limit hides nothing", NOBODY, R("-m limit --limit 1/s -j DROP") R("-m limit --limit 1/s -p tcp -j ACCEPT") },
		{ "a limit is hidden", 0, R("-p tcp -j DROP") R("-p tcp -m limit --limit 1/s -j ACCEPT") },
		{ "a mark that nobody writes", 0, R("-m mark --mark 1 -j DROP") R("-m mark --mark 1 -p tcp -j ACCEPT") },
		{ "a mark that is written", NOBODY,
		  R("-m mark --mark 1 -j DROP") R("-j MARK --set-mark 1") R("-m mark --mark 1 -p tcp -j ACCEPT") },
		{ "a mark that is written elsewhere", NOBODY,
		  "-A c -j MARK --set-mark 1\n" R("-m mark --mark 1 -j DROP") R("-j c") R("-m mark --mark 1 -p tcp -j ACCEPT") },
		{ "another chain", NOBODY, "-A c -j DROP\n" R("-p tcp -j ACCEPT") },
		{ "the first of two", 0, R("-s 192.0.2.0/24 -j DROP") R("-p udp -j DROP") R("-s 192.0.2.9 -j ACCEPT") },
		{ "hidden ones hide nothing more", 0, R("-p tcp -j DROP") R("-p tcp -s 192.0.2.0/24 -j DROP") R("-p tcp -s 192.0.2.1 -j DROP") },
		{ "itself", ITSELF, R("-m iprange --src-range 192.0.2.1-192.0.2.9 -s 198.51.100.0/24 -j DROP") },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *a = arena_create();
		struct sources src = { .a = a };
		struct diags d = { .a = a, .sources = &src };
		struct ruleset *rs = read(a, &d, rows[i].rules);
		int by = NOBODY;
		struct shadows s;

		shadow_find(a, rs, SHADOW_COMPARES, &s);
		assert_null(s.stopped_at);
		for (size_t k = 0; k < s.all.n; k++)
			if (s.all.v[k].rule->id + 1 == rs->rules.n)
				by = s.all.v[k].by ? (int)s.all.v[k].by->id : ITSELF;
		if (by != rows[i].last_by)
			fail_msg("%s: by %d", rows[i].what, by);
		arena_destroy(a);
	}
}

/* Prefixes are found by their place, so many rules take few compares; what has no address meets the bound, and that is said. */
static void the_time_is_bounded(void **state)
{
	enum { RULES = 20000 };
	struct arena *a = arena_create();
	struct sources src = { .a = a };
	struct diags d = { .a = a, .sources = &src };
	struct buf net = { .a = a }, port = { .a = a };
	struct ruleset *rs;
	struct shadows s;

	(void)state;
	for (unsigned i = 0; i < RULES; i++) {
		buf_printf(&net, "-A INPUT -s 10.%u.%u.0/24 -j ACCEPT\n", i / 256, i % 256);
		buf_printf(&port, "-A INPUT -p tcp --dport %u -j ACCEPT\n", i);
	}
	buf_printf(&net, "-A INPUT -s 10.1.1.1 -j DROP\n");
	shadow_find(a, read(a, &d, net.v), 10 * RULES, &s);
	assert_null(s.stopped_at);
	assert_int_equal(s.all.n, 1);
	rs = read(a, &d, port.v);
	shadow_find(a, rs, 10 * RULES, &s);
	assert_non_null(s.stopped_at);
	assert_int_equal(s.all.n, 0);
	arena_destroy(a);
}

/* A warning says what hides the rule, and where; of twins once. */
static void warnings_name_both(void **state)
{
	struct arena *a = arena_create();
	struct sources src = { .a = a };
	struct diags d = { .a = a, .sources = &src };
	struct ruleset *rs = read(a, &d, R("-s 192.0.2.0/24 -j DROP") R("-s 192.0.2.1 -j ACCEPT"));

	(void)state;
	shadow_check(rs, &d);
	assert_int_equal(d.n_warnings, 1);
	assert_string_equal(d.all.v[0].id, "hidden-rule");
	assert_true(str_eq(d.all.v[0].hint, str_from("that one is at r:5: -s 192.0.2.0/24 -j DROP")));
	arena_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_found_or_not),
		cmocka_unit_test(the_time_is_bounded),
		cmocka_unit_test(warnings_name_both),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
