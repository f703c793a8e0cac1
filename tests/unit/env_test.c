/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The environment file: what is read, what is refused and where, and the types of addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/rtnetlink.h>

#include "policy/env.h"

struct fixture {
	struct arena *a;
	struct sources s;
	struct diags d;
	struct env env;
};

static bool read_text(struct fixture *f, const char *text)
{
	f->a = arena_create();
	f->s.a = f->d.a = f->a;
	f->d.sources = &f->s;
	return env_read(f->a, &f->d, source_add(&f->s, "env", str_from(text)), &f->env);
}

static void interfaces_addresses_and_groups_are_read(void **state)
{
	struct fixture f = { 0 };
	const struct env_iface *i;

	(void)state;
	assert_true(read_text(&f, "# a router\ninterface eth0 address 192.0.2.1/24 address 2001:db8::1/64 group 7\n"
				  "\n\tinterface br0   # empty\r\nforwarding yes"));
	assert_int_equal(f.env.ifaces.n, 2);
	i = env_iface_find(&f.env, "eth0");
	assert_non_null(i);
	assert_int_equal(i->addrs.n, 2);
	assert_int_equal(i->addrs.v[0].plen, 24);
	assert_true(i->addrs.v[0].addr == 0xc0000201);
	assert_true(i->addrs.v[1].addr == U128(0x20010db800000000, 1));
	assert_int_equal(i->group, 7);
	assert_true(i->has_group);
	assert_non_null(env_iface_find(&f.env, "br0"));
	assert_null(env_iface_find(&f.env, "eth1"));
	assert_null(env_iface_find(NULL, "eth0"));
	assert_true(f.env.forwarding);
	arena_destroy(f.a);
}

static void wrong_words_are_reported_where_they_stand(void **state)
{
	static const struct {
		const char *what, *text;
		uint32_t line, col, len;
	} rows[] = {
		{ "unknown word", "interface a\nroute x\n", 2, 1, 5 },
		{ "bad address", "interface a address 192.0.2.300\n", 1, 21, 11 },
		{ "bad prefix", "interface a address 192.0.2.1/33\n", 1, 21, 12 },
		{ "no name", "interface\n", 1, 10, 0 },
		{ "long name", "interface abcdefghijklmnop\n", 1, 11, 16 },
		{ "twice", "interface a\ninterface a\n", 2, 11, 1 },
		{ "bad group", "interface a group seven\n", 1, 19, 5 },
		{ "not yes", "forwarding maybe\n", 1, 12, 5 },
		{ "more", "forwarding yes sir\n", 1, 16, 3 },
		{ "bad option", "interface a addres 192.0.2.1\n", 1, 13, 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fixture f = { 0 };
		uint32_t line = 0, col = 0;

		assert_false(read_text(&f, rows[i].text));
		assert_int_equal(f.d.n_errors, 1);
		assert_true(source_place(&f.s, f.d.all.v[0].at, &line, &col));
		assert_int_equal(line, rows[i].line);
		assert_int_equal(col, rows[i].col);
		assert_int_equal(f.d.all.v[0].at.len, rows[i].len);
		arena_destroy(f.a);
	}
}

static void address_types_follow_the_local_table(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	assert_true(read_text(&f, "interface a address 192.0.2.1/24 address 198.51.100.4/31 address 2001:db8::5/64\n"
				  "interface lo address 203.0.113.1/28\n"));
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP4, 0xcb007105), RTN_LOCAL); /* a network on lo is ours */
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP4, 0xcb00710f), RTN_BROADCAST);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP4, 0xcb007110), RTN_UNICAST);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP4, 5), RTN_UNICAST);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP4, 0xc0000201), RTN_LOCAL);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP4, 0xc00002ff), RTN_BROADCAST);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP4, 0xc0000200), RTN_UNICAST);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP4, 0xc6336405), RTN_UNICAST);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP4, 0xe0000001), RTN_MULTICAST);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP4, 0xffffffff), RTN_BROADCAST);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP4, 0), RTN_BROADCAST);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP6, U128(0x20010db800000000, 5)), RTN_LOCAL);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP6, U128(0x20010db800000000, 0)), RTN_UNICAST);
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP6, 5), RTN_UNICAST);
	f.env.forwarding = true;
	assert_int_equal(env_addr_type(&f.env, FAMILY_IP6, U128(0x20010db800000000, 0)), RTN_ANYCAST);
	arena_destroy(f.a);
}

static void without_an_environment_only_the_universal_is_known(void **state)
{
	(void)state;
	assert_int_equal(env_addr_type(NULL, FAMILY_IP4, 0xc0000201), -1);
	assert_int_equal(env_addr_type(NULL, FAMILY_IP4, 0x7f000001), RTN_LOCAL);
	assert_int_equal(env_addr_type(NULL, FAMILY_IP4, 0xefffffff), RTN_MULTICAST);
	assert_int_equal(env_addr_type(NULL, FAMILY_IP4, 0xf0000000), -1);
	assert_int_equal(env_addr_type(NULL, FAMILY_IP6, 1), RTN_LOCAL);
	assert_int_equal(env_addr_type(NULL, FAMILY_IP6, 0), RTN_UNSPEC);
	assert_int_equal(env_addr_type(NULL, FAMILY_IP6, U128(0xff02000000000000, 1)), RTN_MULTICAST);
	assert_int_equal(env_addr_type(NULL, FAMILY_IP6, U128(0x20010db800000000, 5)), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interfaces_addresses_and_groups_are_read),
		cmocka_unit_test(wrong_words_are_reported_where_they_stand),
		cmocka_unit_test(address_types_follow_the_local_table),
		cmocka_unit_test(without_an_environment_only_the_universal_is_known),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
