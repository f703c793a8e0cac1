/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is refused of nft rules that can be read, what is warned of, and how sets are merged. */
#include "nft_kit.h"

static const struct {
	const char *family, *rule, *errors;
} written[] = {
	{ "inet", "ip saddr 192.0.2.1 tcp dport 22 accept", "" },
	{ "inet", "ip saddr 192.0.2.1 ip6 daddr ::1 accept",
	  "11:20 conflicting network protocols: ip6 daddr is of ip6, ip saddr is of ip | no packet has both; nft refuses such a rule" },
	{ "inet", "meta nfproto ipv4 ip6 daddr ::1 accept",
	  "11:19 conflicting network protocols: ip6 daddr is of ip6, meta nfproto is of ip | no packet has both; nft refuses such a rule" },
	{ "ip6", "ip saddr 192.0.2.1 accept",
	  "11:1 conflicting network protocols: ip saddr is of ip, the table is of ip6 | no packet has both; nft refuses such a rule" },
	{ "inet", "tcp dport 22 udp sport 1 accept",
	  "11:14 conflicting transport protocols: udp sport after tcp dport | no packet has both; nft refuses such a rule" },
	{ "inet", "meta l4proto udp tcp dport 22 accept",
	  "11:18 conflicting transport protocols: tcp dport after meta l4proto udp | no packet has both; nft refuses such a rule" },
	{ "inet", "meta l4proto { tcp, udp } th dport 22 accept", "" },
	{ "inet", "meta l4proto != tcp udp dport 22 accept", "" },
	{ "inet", "th dport 22 accept",
	  "11:1 warning: th dport without l4proto reads any protocol, also one without ports"
	  " | meta l4proto { tcp, udp } in front of it says which are meant" },
	{ "inet", "ip6 nexthdr icmpv6 accept",
	  "11:1 warning: ip6 nexthdr is the first header only: packets with extension headers do not match"
	  " | meta l4proto is the protocol behind them" },
	{ "inet", "ip6 nexthdr hopopt accept", "" },
	{ "inet", "iifname \"vnet\\*\" drop",
	  "11:9 warning: this matches only an interface named literally vnet*"
	  " | a star without a backslash, at the end, stands for any rest of the name" },
	{ "inet", "iifname \"vnet*\" drop", "" },
	{ "inet", "ip protocol udp reject with tcp reset",
	  "11:17 tcp reset needs tcp, but ip protocol udp | meta l4proto tcp in front of it, or reject with another answer" },
	{ "inet", "tcp dport 22 reject with tcp reset", "" },
	{ "ip6", "reject with icmp type port-unreachable", "11:1 an ICMP message is no answer to IPv6; icmpv6 or icmpx is" },
};

static void rules_are_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
		struct nft_kit k;
		struct str errors;

		nft_kit_rule(&k, written[i].family, written[i].rule);
		assert_int_equal(k.d.n_errors, 0);
		nft_check(k.a, &k.d, k.f);
		errors = nft_kit_errors(&k);
		if (!str_is(errors, written[i].errors))
			print_error("%s: %.*s\n", written[i].rule, STR_ARG(errors));
		assert_true(str_is(errors, written[i].errors));
		arena_destroy(k.a);
	}
}

static void a_port_to_translate_to_needs_a_protocol(void **state)
{
	static const char *const text = "table ip t {\n chain c {\n  type nat hook prerouting priority -100\n"
					"  dnat to 192.0.2.1:80\n  tcp dport 8080 dnat to 192.0.2.1:80\n }\n}\n";
	struct nft_kit k;

	(void)state;
	nft_kit_read(&k, text);
	nft_check(k.a, &k.d, k.f);
	assert_int_equal(k.d.n_errors, 1);
	assert_true(str_is(nft_kit_errors(&k), "4:3 a port to translate to needs a transport protocol, and none was asked for"
					       " | tcp dport ... or meta l4proto { tcp, udp } in front of it"));
	arena_destroy(k.a);
}

static void chains_and_elements_are_checked(void **state)
{
	static const char text[] =
		"table inet f {\n"
		"set s { type ipv4_addr; flags interval; elements = { 192.0.2.0/24, 198.51.100.1, 192.0.2.7 } }\n"
		"chain i { type filter hook input priority 0; policy accept;\n"
		"ip saddr vmap { 192.0.2.0/24 : accept, 192.0.2.7 : drop }\n"
		"ip saddr . tcp dport { 192.0.2.0/24 . 1-10, 192.0.2.7 . 5 } drop\n"
		"ip saddr . tcp dport { 192.0.2.0/24 . 1-10, 192.0.2.7 . 15 } drop\n"
		"ip saddr { 192.0.2.0/24, 192.0.2.7 } drop\n"
		"snat ip to 192.0.2.1\n"
		"}\n"
		"chain n { type nat hook forward priority 0; }\n"
		"chain r { type route hook input priority 0; }\n"
		"chain e { type nat hook output priority -300; }\n"
		"chain p { type nat hook postrouting priority 100; dnat ip to 192.0.2.1\nmasquerade\n}\n"
		"chain q { type filter hook postrouting priority 0; reject; }\n"
		"}\n";
	static const char errors[] =
		"2:82 192.0.2.7 overlaps 192.0.2.0/24 (r:2)\n"
		"4:40 192.0.2.7 overlaps 192.0.2.0/24 (r:4)\n"
		"5:45 192.0.2.7 . 5 overlaps 192.0.2.0/24 . 1-10 (r:5)\n"
		"8:1 snat needs a chain of type nat\n"
		"10:7 a chain of type nat can be at prerouting, input, output and postrouting, not at forward\n"
		"11:7 a chain of type route can only be at output, not at input\n"
		"12:7 a chain of type nat needs a priority above -200, behind connection tracking; this one has -300\n"
		"13:51 dnat can be done at prerouting and output, not at postrouting\n"
		"16:52 reject cannot answer at postrouting: the packet is on its way out";
	struct nft_kit k;
	struct str found;

	(void)state;
	nft_kit_read(&k, text);
	assert_int_equal(k.d.n_errors, 0);
	nft_check(k.a, &k.d, k.f);
	found = nft_kit_errors(&k);
	if (!str_is(found, errors))
		print_error("%.*s\n", STR_ARG(found));
	assert_true(str_is(found, errors));
	arena_destroy(k.a);
}

static void sets_are_merged(void **state)
{
	static const struct {
		const char *type, *elements, *merged;
	} rows[] = {
		{ "ipv4_addr", "192.0.2.0/25, 192.0.2.128/25, 192.0.2.7", "{ 192.0.2.0/24 }" },
		{ "ipv4_addr", "192.0.2.1, 192.0.2.3, 192.0.2.2", "{ 192.0.2.1-192.0.2.3 }" },
		{ "inet_service", "90, 80-85, 84-88", "{ 80-88, 90 }" },
		{ "ipv4_addr", "192.0.2.9, 192.0.2.1", "{ 192.0.2.1, 192.0.2.9 }" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct nft_kit k;
		struct nft_set *s;
		struct buf b;
		char text[512];

		snprintf(text, sizeof text, "table ip t {\n set s { type %s; flags interval; auto-merge; elements = { %s } }\n}\n",
			 rows[i].type, rows[i].elements);
		nft_kit_read(&k, text);
		assert_int_equal(k.d.n_errors, 0);
		nft_merge(k.a, k.f);
		s = nft_set_find(k.f->tables.v[0], STR("s"));
		b = (struct buf){ .a = k.a };
		for (size_t j = 0; j < s->elems.n; j++)
			buf_printf(&b, "%s%.*s", j ? ", " : "{ ", STR_ARG(nft_print_expr(k.a, s->elems.v[j].key)));
		buf_printf(&b, " }");
		if (!str_is(buf_str(&b), rows[i].merged))
			print_error("%s: %.*s\n", rows[i].elements, STR_ARG(buf_str(&b)));
		assert_true(str_is(buf_str(&b), rows[i].merged));
		arena_destroy(k.a);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_checked),
		cmocka_unit_test(a_port_to_translate_to_needs_a_protocol),
		cmocka_unit_test(chains_and_elements_are_checked),
		cmocka_unit_test(sets_are_merged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
