/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Elements of nft sets as commands name them: read, and printed again. */
#include "nft_kit.h"

#include "lang/nft/elem_text.h"
#include "lang/nft/lower.h"

static const struct {
	const char *set, *text, *printed; /* printed: one a line; NULL: an error */
} rows[] = {
	{ "type ipv4_addr;", "192.0.2.1 192.0.2.2", "192.0.2.1\n192.0.2.2\n" },
	{ "type ipv4_addr;", "192.0.2.1, 192.0.2.2", "192.0.2.1\n192.0.2.2\n" },
	{ "type ipv4_addr;", "192.0.2.0/24", NULL },
	{ "type ipv4_addr; flags interval;", "192.0.2.0/24 198.51.100.0-198.51.100.2", "192.0.2.0/24\n198.51.100.0/31\n198.51.100.2\n" },
	{ "type ipv6_addr; flags interval;", "2001:db8::/32 2001:db8:1::1", "2001:db8::/32\n2001:db8:1::1\n" },
	{ "type ipv4_addr . inet_service;", "192.0.2.1 . ssh 192.0.2.2 . 80", "192.0.2.1 . 22\n192.0.2.2 . 80\n" },
	{ "type ipv4_addr . inet_service;", "192.0.2.1", NULL },
	{ "type ipv4_addr; flags timeout;", "192.0.2.1 timeout 5m 192.0.2.2", "192.0.2.1 timeout 300s\n192.0.2.2\n" },
	{ "type ipv4_addr;", "192.0.2.1 timeout 5m", NULL },
	{ "type inet_service; flags interval;", "1024-2047 22", "1024-2047\n22\n" },
	{ "type ether_addr;", "02:00:00:00:00:01", "02:00:00:00:00:01\n" },
	{ "type ifname . ipv4_addr;", "eth0 . 192.0.2.1", "eth0 . 192.0.2.1\n" },
	{ "type ifname;", "eth0 \"eth1\"", "eth0\neth1\n" },
	{ "type ipv4_addr;", "nonsense", NULL },
	{ "type ipv4_addr;", "} } table ip x { chain c { drop } } table ip y { set q { type ipv4_addr; elements = { 192.0.2.1", NULL },
	{ "type ipv4_addr;", "192.0.2.1 } } }\ntable ip y { set q { type ipv4_addr; elements = { 192.0.2.1", NULL },
};

static struct set *set_of(struct nft_kit *k, const char *words)
{
	struct nft_lower l;
	char text[256];

	snprintf(text, sizeof text, "table ip t {\n set s { %s }\n}\n", words);
	nft_kit_read(k, text);
	l = (struct nft_lower){ .a = k->a, .d = &k->d, .rs = policy_create(k->a), .shared = nft_lower_shared_create(k->a) };
	assert_int_equal(k->d.n_errors, 0);
	l.table = k->f->tables.v[0];
	nft_lower_set(&l, l.table->sets.v[0]);
	assert_int_equal(l.rs->sets.n, 1);
	return l.rs->sets.v[0];
}

static void elements_are_read_and_printed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct nft_kit k;
		struct set *s = set_of(&k, rows[i].set);
		struct buf b = { .a = k.a };

		assert_true(nft_elems_are(s));
		nft_elems_read(k.a, &k.d, source_add(&k.s, "element", str_from(rows[i].text)), s);
		if ((k.d.n_errors > 0) != (rows[i].printed == NULL))
			print_error("%s: %.*s\n", rows[i].text, STR_ARG(nft_kit_errors(&k)));
		assert_int_equal(k.d.n_errors > 0, rows[i].printed == NULL);
		for (size_t j = 0; j < s->elems.n && rows[i].printed; j++) {
			nft_elem_print(&b, s, &s->elems.v[j]);
			buf_printf(&b, "\n");
		}
		if (rows[i].printed && !str_is(buf_str(&b), rows[i].printed))
			print_error("%s: %.*s\n", rows[i].text, STR_ARG(buf_str(&b)));
		assert_true(!rows[i].printed || str_is(buf_str(&b), rows[i].printed));
		arena_destroy(k.a);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(elements_are_read_and_printed) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
