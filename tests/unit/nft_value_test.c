/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names, numbers, ranges and prefixes: what stands on the right side of a comparison, in numbers. */
#include "nft_kit.h"

static const char ranges[] = "RANGE", number[] = "NUMBER", prefix[] = "PREFIX", list[] = "LIST";

static const char *kind_name(enum nft_expr_kind k)
{
	return k == NFT_NUMBER ? number : k == NFT_RANGE ? ranges : k == NFT_PREFIX ? prefix : k == NFT_LIST ? list : "other";
}

static const struct {
	const char *rule, *kind;
	uint64_t lo, hi;
	enum nft_op op;
} written[] = {
	{ "tcp dport 22", number, 22, 22, NFT_EQ },
	{ "tcp dport ssh", number, 22, 22, NFT_EQ },
	{ "tcp dport $port", number, 22, 22, NFT_EQ },
	{ "tcp dport 022", number, 18, 18, NFT_EQ },
	{ "tcp dport 0x16", number, 22, 22, NFT_EQ },
	{ "tcp dport 1024-65535", ranges, 1024, 65535, NFT_EQ },
	{ "tcp dport ssh - http", ranges, 22, 80, NFT_EQ },
	{ "tcp dport != 22", number, 22, 22, NFT_NE },
	{ "tcp dport >= 1024", number, 1024, 1024, NFT_GE },
	{ "ip saddr 192.0.2.1", number, 0xc0000201, 0xc0000201, NFT_EQ },
	{ "ip saddr 192.0.2.0/24", prefix, 0xc0000200, 0xc00002ff, NFT_EQ },
	{ "ip saddr 192.0.2.7/24", prefix, 0xc0000200, 0xc00002ff, NFT_EQ },
	{ "ip saddr 192.0.2.1-192.0.2.9", ranges, 0xc0000201, 0xc0000209, NFT_EQ },
	{ "ip protocol icmp", number, 1, 1, NFT_EQ },
	{ "meta l4proto icmpv6", number, 58, 58, NFT_EQ },
	{ "meta nfproto ipv6", number, 10, 10, NFT_EQ },
	{ "meta protocol ip6", number, 0x86dd, 0x86dd, NFT_EQ },
	{ "ether saddr 02:00:00:00:00:01", number, 0x020000000001, 0x020000000001, NFT_EQ },
	{ "ip dscp cs1", number, 8, 8, NFT_EQ },
	{ "icmp type echo-request", number, 8, 8, NFT_EQ },
	{ "icmpv6 type nd-neighbor-solicit", number, 135, 135, NFT_EQ },
	{ "ct state new", number, 8, 8, NFT_ANY_BIT },
	{ "ct state established,related", list, 6, 6, NFT_ANY_BIT },
	{ "ct state != established,related", list, 6, 6, NFT_NE },
	{ "ct state == new", number, 8, 8, NFT_EQ },
	{ "tcp flags syn", number, 2, 2, NFT_ANY_BIT },
	{ "tcp flags syn|ack", number, 0x12, 0x12, NFT_ANY_BIT },
	{ "tcp flags ! syn,rst", list, 6, 6, NFT_NO_BIT },
	{ "tcp flags & (fin|syn) == syn", number, 2, 2, NFT_EQ },
	{ "tcp flags & (fin|syn) syn", number, 2, 2, NFT_EQ },
	{ "tcp flags syn / syn,ack", number, 2, 2, NFT_EQ },
	{ "tcp flags != syn / syn,ack", number, 2, 2, NFT_NE },
	{ "meta mark 1 << 4", number, 16, 16, NFT_EQ },
	{ "meta mark 0xff ^ 0x0f", number, 0xf0, 0xf0, NFT_EQ },
	{ "meta priority 1:10", number, 0x10010, 0x10010, NFT_EQ },
	{ "meta hour \"17:00\"-\"18:30\"", ranges, 61200, 66600, NFT_EQ },
	{ "meta day Saturday", number, 6, 6, NFT_EQ },
	{ "ct expiration 1h30m", number, 5400000, 5400000, NFT_EQ },
	{ "ct label 3", number, 8, 8, NFT_ANY_BIT },
	{ "fib daddr type local", number, 2, 2, NFT_EQ },
	{ "fib saddr . iif oif missing", number, 0, 0, NFT_EQ },
	{ "exthdr frag exists", number, 1, 1, NFT_EQ },
	{ "meta skuid 1000-2000", ranges, 1000, 2000, NFT_EQ },
	{ "@th,16,16 22", number, 22, 22, NFT_EQ },
};

static void values_become_numbers_of_their_type(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
		const struct nft_stmt *s;
		struct nft_kit k;

		nft_kit_rule(&k, "inet", written[i].rule);
		if (k.d.n_errors)
			print_error("%s: %.*s\n", written[i].rule, STR_ARG(nft_kit_errors(&k)));
		assert_int_equal(k.d.n_errors, 0);
		s = nft_kit_first(&k)->stmt[0];
		assert_int_equal(s->kind, NFT_STMT_MATCH);
		if (strcmp(kind_name(s->match.right->kind), written[i].kind) || s->match.right->lo != written[i].lo ||
		    s->match.right->hi != written[i].hi || s->match.op != written[i].op)
			print_error("%s: %s %llu-%llu, operator %d\n", written[i].rule, kind_name(s->match.right->kind),
				    (unsigned long long)s->match.right->lo, (unsigned long long)s->match.right->hi, (int)s->match.op);
		assert_string_equal(kind_name(s->match.right->kind), written[i].kind);
		assert_true(s->match.right->lo == written[i].lo && s->match.right->hi == written[i].hi);
		assert_int_equal(s->match.op, written[i].op);
		arena_destroy(k.a);
	}
}

static void names_of_interfaces_stay_texts(void **state)
{
	static const struct {
		const char *rule, *text;
		bool is_prefix;
	} rows[] = {
		{ "iifname \"eth0\"", "eth0", false },	{ "iifname eth0", "eth0", false },	 { "iifname \"eth*\"", "eth", true },
		{ "iifname eth*", "eth", true },	{ "iifname \"vnet\\*\"", "vnet*", false }, { "iif lo", "lo", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct nft_expr *e;
		struct nft_kit k;

		nft_kit_rule(&k, "inet", rows[i].rule);
		assert_int_equal(k.d.n_errors, 0);
		e = nft_kit_first(&k)->stmt[0]->match.right;
		assert_int_equal(e->kind, NFT_TEXT);
		assert_true(str_is(e->text, rows[i].text));
		assert_int_equal(e->is_prefix, rows[i].is_prefix);
		arena_destroy(k.a);
	}
}

static void fields_are_where_their_headers_have_them(void **state)
{
	static const struct {
		const char *rule;
		enum payload_base base;
		uint16_t at_bit, bits;
		uint8_t proto;
	} rows[] = {
		{ "ip ttl 1", PAYLOAD_NETWORK, 64, 8, 0 },	     { "ip saddr 192.0.2.1", PAYLOAD_NETWORK, 96, 32, 0 },
		{ "ip6 daddr ::1", PAYLOAD_NETWORK, 192, 128, 0 },   { "tcp flags syn", PAYLOAD_TRANSPORT, 104, 8, 6 },
		{ "udp length 8", PAYLOAD_TRANSPORT, 32, 16, 17 },   { "icmp code 1", PAYLOAD_TRANSPORT, 8, 8, 1 },
		{ "th dport 1", PAYLOAD_TRANSPORT, 16, 16, 0 },	     { "ether type ip", PAYLOAD_LINK, 96, 16, 0 },
		{ "vlan id 4", PAYLOAD_LINK, 116, 12, 0 },	     { "ip dscp 1", PAYLOAD_NETWORK, 8, 6, 0 },
		{ "ip6 flowlabel 1", PAYLOAD_NETWORK, 12, 20, 0 },   { "frag more-fragments 1", PAYLOAD_NETWORK, 31, 1, 0 },
		{ "sctp vtag 1", PAYLOAD_TRANSPORT, 32, 32, 132 },   { "tcp option maxseg size 1", PAYLOAD_TRANSPORT, 16, 16, 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct nft_select_row *r;
		struct nft_kit k;

		nft_kit_rule(&k, "inet", rows[i].rule);
		assert_int_equal(k.d.n_errors, 0);
		r = &nft_select_table[nft_kit_first(&k)->stmt[0]->match.left->sel];
		assert_int_equal(r->base, rows[i].base);
		assert_int_equal(r->at_bit, rows[i].at_bit);
		assert_int_equal(r->bits, rows[i].bits);
		assert_int_equal(r->proto, rows[i].proto);
		arena_destroy(k.a);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_become_numbers_of_their_type),
		cmocka_unit_test(names_of_interfaces_stay_texts),
		cmocka_unit_test(fields_are_where_their_headers_have_them),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
