/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of sets: every type, what a line stands for, what is refused and where, and printing back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lang/ipset/ipset.h"

struct fixture {
	struct arena *a;
	struct sources s;
	struct diags d;
	struct ruleset *rs;
	struct ipset_file *file;
};

static void open_text(struct fixture *f, const char *text)
{
	*f = (struct fixture){ .a = arena_create() };
	f->s.a = f->d.a = f->a;
	f->d.sources = &f->s;
	f->rs = policy_create(f->a);
	f->file = ipset_read(f->a, &f->d, source_add(&f->s, "sets", str_from(text)));
	ipset_lower(f->rs, &f->d, f->file);
}

/* The elements of a set's dump, without the head line of the set. */
static const char *elems(struct fixture *f, const char *text)
{
	struct str dump;
	const char *nl;

	open_text(f, text);
	for (size_t i = 0; i < f->d.all.n; i++)
		if (f->d.all.v[i].severity == DIAG_ERROR)
			fail_msg("%s: %s", text, f->d.all.v[i].text.p);
	dump = policy_dump(f->a, f->rs);
	nl = strchr(dump.p, '\n');
	return nl ? nl + 1 : "";
}

static void lines_become_elements(void **state)
{
	static const struct {
		const char *what, *text, *want;
	} rows[] = {
		{ "one address", "create s hash:ip\nadd s 192.0.2.1\n", "  0xc0000201/32\n" },
		{ "addresses of a range", "create s hash:ip\nadd s 192.0.2.1-192.0.2.3\n",
		  "  0xc0000201/32\n  0xc0000202/32\n  0xc0000203/32\n" },
		{ "addresses of a prefix", "create s hash:ip\nadd s 192.0.2.6/31\n", "  0xc0000206/32\n  0xc0000207/32\n" },
		{ "netmask", "create s hash:ip netmask 24\nadd s 192.0.2.7\n", "  0xc0000200/24\n" },
		{ "bitmask that is a prefix", "create s hash:ip bitmask 255.255.0.0\nadd s 192.0.2.7\n", "  0xc0000000/16\n" },
		{ "bitmask that is none", "create s hash:ip bitmask 255.0.255.0\nadd s 192.51.2.7\n", "  0xc0000200/32\n" },
		{ "prefixes of a range", "create s hash:net\nadd s 192.0.2.1-192.0.2.6\n",
		  "  0xc0000201/32\n  0xc0000202/31\n  0xc0000204/31\n  0xc0000206/32\n" },
		{ "most addresses as a range", "create s hash:net\nadd s 0.0.0.0-191.255.255.255\n", "  0x0/1\n  0x80000000/2\n" },
		{ "a net", "create s hash:net\nadd s 192.0.2.0/24 nomatch\n", "  0xc0000200/24 nomatch\n" },
		{ "a host", "create s hash:net\nadd s 192.0.2.9\n", "  0xc0000209/32\n" },
		{ "any net by interface", "create s hash:net,iface\nadd s 0.0.0.0/0,eth0\n",
		  "  0x0/0 0x65746830000000000000000000000000\n" },
		{ "interface options", "create s hash:net,iface\nadd s 192.0.2.0/24,physdev:br wildcard\n",
		  "  0xc0000200/24 0x62720000000000000000000000000000 wildcard physdev\n" },
		{ "tcp if nothing is said", "create s hash:ip,port\nadd s 192.0.2.1,80\n", "  0xc0000201/32 0x60050\n" },
		{ "a range of ports", "create s hash:ip,port\nadd s 192.0.2.1,udp:53-54\n",
		  "  0xc0000201/32 0x110035\n  0xc0000201/32 0x110036\n" },
		{ "ICMP by number and name", "create s hash:ip,port\nadd s 192.0.2.1,icmp:8/0\nadd s 192.0.2.2,icmp:echo-request\n",
		  "  0xc0000201/32 0x10800\n  0xc0000202/32 0x10800\n" },
		{ "ICMPv6", "create s hash:ip,port family inet6\nadd s 2001:db8::1,icmpv6:128/0\n",
		  "  0x20010db8000000000000000000000001/128 0x3a8000\n" },
		{ "a protocol without ports", "create s hash:ip,port\nadd s 192.0.2.1,gre:0\nadd s 192.0.2.1,99:0\n",
		  "  0xc0000201/32 0x2f0000\n  0xc0000201/32 0x630000\n" },
		{ "combinations", "create s hash:net,port\nadd s 192.0.2.1-192.0.2.2,80-81\n",
		  "  0xc0000201/32 0x60050\n  0xc0000201/32 0x60051\n  0xc0000202/32 0x60050\n  0xc0000202/32 0x60051\n" },
		{ "three values", "create s hash:ip,port,net\nadd s 192.0.2.1,80,198.51.100.0/24\n",
		  "  0xc0000201/32 0x60050 0xc6336400/24\n" },
		{ "three addresses", "create s hash:ip,port,ip\nadd s 192.0.2.1,80,198.51.100.1\n",
		  "  0xc0000201/32 0x60050 0xc6336401/32\n" },
		{ "two nets", "create s hash:net,net\nadd s 192.0.2.0/24,198.51.100.0/25\n", "  0xc0000200/24 0xc6336400/25\n" },
		{ "net, port, any net", "create s hash:net,port,net\nadd s 192.0.2.0/24,0,0.0.0.0/0\n",
		  "  0xc0000200/24 0x60000 0x0/0\n" },
		{ "a mark", "create s hash:ip,mark markmask 0xff\nadd s 192.0.2.1,0x163\n", "  0xc0000201/32 0x63\n" },
		{ "Ethernet addresses", "create s hash:mac\nadd s 02:00:00:00:00:0A\n", "  0x2000000000a\n" },
		{ "address and Ethernet address", "create s hash:ip,mac\nadd s 192.0.2.1,02:00:00:00:00:01\n",
		  "  0xc0000201/32 0x20000000001\n" },
		{ "Ethernet address to be learnt", "create s bitmap:ip,mac range 192.0.2.0/24\nadd s 192.0.2.1\n",
		  "  0xc0000201/32 0x0 mac-any\n" },
		{ "a bitmap of addresses", "create s bitmap:ip range 192.0.2.0-192.0.2.9\nadd s 192.0.2.8-192.0.2.9\n",
		  "  0xc0000208/32\n  0xc0000209/32\n" },
		{ "a bitmap of nets", "create s bitmap:ip range 192.0.0.0/16 netmask 24\nadd s 192.0.2.77\n", "  0xc0000200/24\n" },
		{ "a bitmap of ports", "create s bitmap:port range 1-1024\nadd s 22-23\nadd s udp:53\n",
		  "  0x16\n  0x17\n  0x35\n" },
		{ "timeouts", "create s hash:ip timeout 600\nadd s 192.0.2.1 timeout 0\nadd s 192.0.2.2\n",
		  "  0xc0000201/32 timeout 0\n  0xc0000202/32 timeout 600\n" },
		{ "flushed", "create s hash:ip\nadd s 192.0.2.1\nflush s\nadd s 192.0.2.2\n", "  0xc0000202/32\n" },
		{ "updated", "create s hash:ip timeout 9\nadd s 192.0.2.1 timeout 1\nadd s 192.0.2.1 timeout 2 -exist\n",
		  "  0xc0000201/32 timeout 2\n" },
		{ "all options", "create s hash:ip timeout 0 counters comment skbinfo\n"
				 "add s 192.0.2.1 timeout 0 packets 1 bytes 2 comment \"a b\" skbmark 0x1/0xf skbprio 1:10 skbqueue 1\n",
		  "  0xc0000201/32 timeout 0\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fixture f;

		if (strcmp(elems(&f, rows[i].text), rows[i].want) != 0)
			fail_msg("%s: got '%s'", rows[i].what, elems(&f, rows[i].text));
		arena_destroy(f.a);
	}
}

static void what_cannot_be_is_refused_where_it_stands(void **state)
{
	static const struct {
		const char *text;
		uint32_t line, col, len;
		const char *want; /* a part of the message */
	} rows[] = {
		{ "creat s hash:ip\n", 1, 1, 5, "not read here" },
		{ "create s\n", 1, 1, 6, "words are missing" },
		{ "create s hash:ips\n", 1, 10, 8, "not a set type" },
		{ "create s hash:ip\ncreate s hash:ip\n", 2, 8, 1, "created twice (sets:1)" },
		{ "create aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa hash:ip\n", 1, 8, 32, "1 to 31 bytes" },
		{ "create s hash:ip markmask 1\n", 1, 18, 8, "has no option" },
		{ "create s hash:ip family ip4\n", 1, 25, 3, "'inet' or 'inet6'" },
		{ "create s hash:ip netmask 33\n", 1, 26, 2, "from 1 to 32" },
		{ "create s hash:ip timeout\n", 1, 18, 7, "needs a value" },
		{ "create s hash:ip maxelem many\n", 1, 26, 4, "must be a number" },
		{ "create s bitmap:port\n", 1, 10, 11, "needs a range" },
		{ "create s bitmap:ip range 10.0.0.0/8\n", 1, 26, 10, "more than 65536" },
		{ "add s 192.0.2.1\n", 1, 5, 1, "no set 's' has been created" },
		{ "create s hash:ip\nadd s 192.0.2.300\n", 2, 7, 11, "is not an IPv4 address" },
		{ "create s hash:ip\nadd s example.org\n", 2, 7, 11, "is not an IPv4 address" },
		{ "create s hash:ip\nadd s 2001:db8::1\n", 2, 7, 11, "IPv6 address in a set of family inet" },
		{ "create s hash:ip family inet6\nadd s 192.0.2.1\n", 2, 7, 9, "IPv4 address in a set of family inet6" },
		{ "create s hash:ip family inet6\nadd s 2001:db8::/64\n", 2, 7, 13, "single IPv6 addresses" },
		{ "create s hash:net family inet6\nadd s 2001:db8::1-2001:db8::2\n", 2, 7, 23, "ranges of IPv6" },
		{ "create s hash:net\nadd s 192.0.2.0/33\n", 2, 17, 2, "prefix length" },
		{ "create s hash:net\nadd s 0.0.0.0/0\n", 2, 7, 9, "prefix length 0" },
		{ "create s hash:net\nadd s 0.0.0.0-255.255.255.255\n", 2, 7, 23, "every address" },
		{ "create s hash:ip\nadd s 0.0.0.0\n", 2, 7, 7, "address zero" },
		{ "create s hash:ip\nadd s 10.0.0.0/8\n", 2, 7, 10, "more than 1000000" },
		{ "create s hash:ip maxelem 2\nadd s 192.0.2.1-192.0.2.3\n", 2, 7, 19, "is full" },
		{ "create s hash:ip,port\nadd s 192.0.2.1\n", 2, 7, 9, "has 2 values" },
		{ "create s hash:ip,port\nadd s 192.0.2.1,80,3\n", 2, 7, 14, "has 2 values" },
		{ "create s hash:ip,port\nadd s 192.0.2.1,tcp:70000\n", 2, 21, 5, "not a port" },
		{ "create s hash:ip,port\nadd s 192.0.2.1,http\n", 2, 17, 4, "not a port" },
		{ "create s hash:ip,port\nadd s 192.0.2.1,xyz:80\n", 2, 17, 3, "not a protocol" },
		{ "create s hash:ip,port\nadd s 192.0.2.1,gre:5\n", 2, 21, 1, "takes 0 here" },
		{ "create s hash:ip,port\nadd s 192.0.2.1,icmpv6:128/0\n", 2, 17, 12, "ICMPv6 cannot be in" },
		{ "create s hash:ip,port\nadd s 192.0.2.1,icmp:pings\n", 2, 22, 5, "TYPE/CODE" },
		{ "create s bitmap:port range 1-9\nadd s 10\n", 2, 7, 2, "outside of the range" },
		{ "create s hash:mac\nadd s 02:00:00:00:00\n", 2, 7, 14, "not an Ethernet address" },
		{ "create s hash:net,iface\nadd s 192.0.2.0/24,abcdefghijklmnop\n", 2, 20, 16, "1 to 15 bytes" },
		{ "create s hash:ip\nadd s 192.0.2.1 timeout 5\n", 2, 17, 7, "created with 'timeout'" },
		{ "create s hash:ip\nadd s 192.0.2.1 comment x\n", 2, 17, 7, "created with 'comment'" },
		{ "create s hash:ip\nadd s 192.0.2.1 packets 1\n", 2, 17, 7, "created with 'counters'" },
		{ "create s hash:ip\nadd s 192.0.2.1 nomatch\n", 2, 17, 7, "has no option" },
		{ "create s hash:ip comment\nadd s 192.0.2.1 comment \"x\n", 2, 25, 2, "closing quotation mark" },
		{ "create s hash:ip\nadd s 192.0.2.1-192.0.2.x\n", 2, 17, 9, "is not an IPv4 address" },
		{ "create l list:set\nadd l a before b\n", 2, 16, 1, "not a member" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fixture f;
		const struct diag *g = NULL;
		uint32_t line = 0, col = 0;

		open_text(&f, rows[i].text);
		for (size_t k = 0; k < f.d.all.n && !g; k++)
			if (f.d.all.v[k].severity == DIAG_ERROR)
				g = &f.d.all.v[k];
		if (!g || !strstr(g->text.p, rows[i].want))
			fail_msg("%s: got '%s'", rows[i].text, g ? g->text.p : "nothing");
		source_place(&f.s, g->at, &line, &col);
		if (line != rows[i].line || col != rows[i].col || g->at.len != rows[i].len)
			fail_msg("%s: placed at %u:%u+%u", rows[i].text, line, col, g->at.len);
		arena_destroy(f.a);
	}
}

static void all_errors_come_in_one_run(void **state)
{
	struct fixture f;

	(void)state;
	open_text(&f, "create s hash:ip\nadd s x\nadd s 192.0.2.1\nadd t y\nadd s z\n");
	assert_int_equal(f.d.n_errors, 3);
	assert_int_equal(f.rs->sets.v[0]->elems.n, 1);
	arena_destroy(f.a);
}

static void doubtful_lines_are_warned_of(void **state)
{
	static const struct {
		const char *text, *id;
	} rows[] = {
		{ "create s hash:ip\nadd s 192.0.2.1\nadd s 192.0.2.1\n", "duplicate-element" },
		{ "create s hash:net\nadd s 192.0.2.5/24\n", "host-bits" },
		{ "create s hash:ip\nadd s 192.0.2.5-192.0.2.1\n", "reversed-range" },
		{ "create s bitmap:port range 1-99\nadd s 80-22\n", "reversed-range" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct fixture f;

		open_text(&f, rows[i].text);
		assert_int_equal(f.d.n_errors, 0);
		assert_int_equal(f.d.n_warnings, 1);
		assert_string_equal(f.d.all.v[0].id, rows[i].id);
		arena_destroy(f.a);
	}
}

static void lists_keep_their_order(void **state)
{
	struct fixture f;
	const struct set *l;

	(void)state;
	open_text(&f, "create a hash:ip\ncreate b hash:net\ncreate c hash:net\ncreate l list:set size 8\n"
		      "add l a\nadd l b before a\nadd l c after b\n");
	assert_int_equal(f.d.all.n, 0);
	l = policy_set_find(f.rs, STR("l"));
	assert_int_equal(l->elems.n, 3);
	assert_string_equal(arena_cstr(f.a, l->elems.v[0].list), "b");
	assert_string_equal(arena_cstr(f.a, l->elems.v[1].list), "c");
	assert_string_equal(arena_cstr(f.a, l->elems.v[2].list), "a");
	arena_destroy(f.a);
}

static void sets_change_names_and_go(void **state)
{
	struct fixture f;

	(void)state;
	open_text(&f, "create old hash:ip\nadd old 192.0.2.1\ncreate tmp hash:ip\nadd tmp 192.0.2.2\n"
		      "swap tmp old\ndestroy tmp\ncreate x hash:net\nrename x y\n");
	assert_int_equal(f.d.all.n, 0);
	assert_int_equal(f.rs->sets.n, 2);
	assert_true(policy_set_find(f.rs, STR("old"))->elems.v[0].v[0] == 0xc0000202);
	assert_non_null(policy_set_find(f.rs, STR("y")));
	arena_destroy(f.a);
}

static void options_that_matter_are_in_the_model(void **state)
{
	struct fixture f;
	const struct set *s;

	(void)state;
	open_text(&f, "create s hash:ip,mark family inet6 hashsize 64 maxelem 9 markmask 0xf timeout 60 counters comment skbinfo "
		      "forceadd bucketsize 12 initval 0x1234\n");
	assert_int_equal(f.d.all.n, 0);
	s = policy_set_find(f.rs, STR("s"));
	assert_int_equal(s->family, FAMILY_IP6);
	assert_int_equal(s->n_dims, 2);
	assert_int_equal(s->dim[1], SET_DIM_MARK);
	assert_true(s->has_addrs && s->has_default_timeout && s->has_counters && s->has_comments && s->has_skbinfo && s->forceadd);
	assert_int_equal(s->default_timeout_s, 60);
	assert_int_equal(s->mark_mask, 0xf);
	assert_string_equal(s->options.p ? arena_cstr(f.a, s->options) : "",
			    "maxelem 9 markmask 0xf timeout 60 counters comment skbinfo forceadd");
	arena_destroy(f.a);
}

static void a_set_of_two_files_is_refused(void **state)
{
	struct fixture f;

	(void)state;
	open_text(&f, "create s hash:ip\n");
	ipset_lower(f.rs, &f.d, ipset_read(f.a, &f.d, source_add(&f.s, "more", STR("create s hash:net\n"))));
	assert_int_equal(f.d.n_errors, 1);
	assert_non_null(strstr(f.d.all.v[0].text.p, "(sets:1)"));
	arena_destroy(f.a);
}

static const char whole[] = "create s hash:net family inet hashsize 1024 maxelem 65536 timeout 0 counters comment bucketsize 12 "
			    "initval 0x1\n"
			    "add s 192.0.2.0/24 timeout 9 packets 3 bytes 180 comment \"two words\"\n"
			    "add s 198.51.100.1-198.51.100.6 timeout 0 packets 0 bytes 0 nomatch\n"
			    "create p bitmap:port range 1-1024\n"
			    "add p 22\n";

static void what_is_printed_is_what_was_read(void **state)
{
	struct fixture f, g;
	struct str once, twice;

	(void)state;
	open_text(&f, whole);
	assert_int_equal(f.d.all.n, 0);
	once = ipset_print(f.a, f.file, true);
	assert_string_equal(once.p, whole);
	once = ipset_print(f.a, f.file, false);
	assert_null(strstr(once.p, "packets"));
	open_text(&g, once.p);
	assert_int_equal(g.d.all.n, 0);
	twice = ipset_print(g.a, g.file, false);
	assert_string_equal(once.p, twice.p);
	assert_string_equal(policy_dump(f.a, f.rs).p, policy_dump(g.a, g.rs).p);
	arena_destroy(f.a);
	arena_destroy(g.a);
}

static void blanks_comments_and_updates_do_not_hurt_printing(void **state)
{
	struct fixture f, g;
	struct str text;

	(void)state;
	open_text(&f, "# a comment\n\n  create   s\thash:ip timeout 5 -exist\r\nadd s 192.0.2.1-192.0.2.2\n"
		      "add s 192.0.2.2 timeout 3 -exist\nCOMMIT\n");
	assert_int_equal(f.d.all.n, 0);
	text = ipset_print(f.a, f.file, true);
	assert_string_equal(text.p, "create s hash:ip timeout 5\nadd s 192.0.2.1-192.0.2.2\nadd s 192.0.2.2 timeout 3 -exist\n");
	open_text(&g, text.p);
	assert_int_equal(g.d.all.n, 0);
	assert_string_equal(policy_dump(f.a, f.rs).p, policy_dump(g.a, g.rs).p);
	arena_destroy(f.a);
	arena_destroy(g.a);
}

/* Every range of a small piece of the address space: its prefixes cover it, and nothing else. */
static void ranges_and_their_prefixes_are_the_same(void **state)
{
	(void)state;
	for (unsigned lo = 0; lo < 40; lo++)
		for (unsigned hi = lo; hi < 40; hi++) {
			struct arena *a = arena_create();
			struct fixture f;
			uint64_t seen = 0;

			open_text(&f, arena_printf(a, "create s hash:net\nadd s 255.255.255.%u-255.255.255.%u\n", 216 + lo, 216 + hi).p);
			assert_int_equal(f.d.all.n, 0);
			for (size_t i = 0; i < f.rs->sets.v[0]->elems.n; i++) {
				const struct set_elem *e = &f.rs->sets.v[0]->elems.v[i];

				for (uint64_t k = 0; k < (uint64_t)1 << (32 - e->plen[0]); k++) {
					uint64_t at = (uint64_t)e->v[0] + k - 0xffffffd8;

					assert_true(at < 40 && !(seen >> at & 1));
					seen |= (uint64_t)1 << at;
				}
			}
			assert_true(seen == (((uint64_t)2 << hi) - ((uint64_t)1 << lo)));
			arena_destroy(f.a);
			arena_destroy(a);
		}
}

static void many_elements_are_read_fast_enough(void **state)
{
	struct arena *a = arena_create();
	struct buf b = { .a = a };
	struct fixture f;

	(void)state;
	buf_printf(&b, "create s hash:ip maxelem 200000\n");
	for (unsigned i = 0; i < 100000; i++)
		buf_printf(&b, "add s 10.%u.%u.%u\n", i >> 16, i >> 8 & 255, (i & 255) + (i == 0));
	open_text(&f, b.v);
	assert_int_equal(f.d.n_errors, 0);
	assert_int_equal(f.rs->sets.v[0]->elems.n, 99999); /* the first two lines are one address */
	arena_destroy(f.a);
	arena_destroy(a);
}

/* Elements of a set that was created elsewhere: what a command says, printed back. */
static void loose_elements_are_read_and_printed(void **state)
{
	static const struct {
		const char *create, *text, *want;
	} rows[] = {
		{ "hash:net", "192.0.2.0/24 198.51.100.7", "192.0.2.0/24|198.51.100.7" },
		{ "hash:net timeout 0", "192.0.2.0/24 timeout 300 nomatch 10.0.0.1 timeout 5", "192.0.2.0/24 timeout 300 nomatch|10.0.0.1 timeout 5" },
		{ "hash:net comment", "192.0.2.1 comment \"a b\" 192.0.2.2 comment nomatch", "192.0.2.1 comment \"a b\"|192.0.2.2 comment \"nomatch\"" },
		{ "hash:net", "192.0.2.1 # 192.0.2.2\n; x\n\n192.0.2.3 ; y", "192.0.2.1|192.0.2.3" },
		{ "hash:net", "192.0.2.0-192.0.2.2", "192.0.2.0/31|192.0.2.2" },
		{ "hash:net family inet6", "2001:db8::/32 2001:db8::1", "2001:db8::/32|2001:db8::1" },
		{ "hash:ip", "192.0.2.0/31", "192.0.2.0|192.0.2.1" },
		{ "hash:ip netmask 24", "192.0.2.7", "192.0.2.0" },
		{ "hash:ip,port", "192.0.2.1,80 192.0.2.1,udp:53-54 192.0.2.1,icmp:8/0 192.0.2.1,99:0",
		  "192.0.2.1,tcp:80|192.0.2.1,udp:53|192.0.2.1,udp:54|192.0.2.1,icmp:8/0|192.0.2.1,99:0" },
		{ "hash:net,port,net", "192.0.2.0/24,80,10.0.0.0/8", "192.0.2.0/24,tcp:80,10.0.0.0/8" },
		{ "hash:net,iface", "192.0.2.0/24,eth0 10.0.0.0/8,wlan wildcard 0.0.0.0/0,physdev:p1",
		  "192.0.2.0/24,eth0|10.0.0.0/8,wlan wildcard|0.0.0.0/0,physdev:p1" },
		{ "hash:mac", "02:00:00:00:00:1a", "02:00:00:00:00:1a" },
		{ "hash:ip,mark", "192.0.2.1,0x10", "192.0.2.1,0x00000010" },
		{ "bitmap:port range 1-1024", "80-81", "80|81" },
		{ "bitmap:ip range 192.0.2.0/24", "192.0.2.9", "192.0.2.9" },
	};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct buf line = { 0 }, got;
		struct set *s;

		open_text(&f, "");
		line.a = f.a;
		buf_printf(&line, "create s %s\n", rows[i].create);
		ipset_lower(f.rs, &f.d, ipset_read(f.a, &f.d, source_add(&f.s, "sets", buf_str(&line))));
		s = policy_set_find(f.rs, STR("s"));
		ipset_loose_read(f.a, &f.d, source_add(&f.s, "element", str_from(rows[i].text)), s);
		got = (struct buf){ .a = f.a };
		for (size_t k = 0; k < s->elems.n; k++) {
			buf_printf(&got, k ? "|" : "");
			ipset_loose_print(&got, s, &s->elems.v[k]);
		}
		if (f.d.n_errors || strcmp(got.v ? got.v : "", rows[i].want) != 0)
			fail_msg("%s %s: %s, %u errors", rows[i].create, rows[i].text, got.v, f.d.n_errors);
		arena_destroy(f.a);
	}
}

static void loose_elements_have_places(void **state)
{
	static const struct {
		const char *text, *part;
		uint32_t col;
	} rows[] = {
		{ "192.0.2.0/33", "prefix length", 11 },
		{ "192.0.2.1 x", "not an IPv4 address", 11 },
		{ "192.0.2.1 timeout", "needs a value", 11 },
		{ "192.0.2.1 timeout 5", "created with 'timeout'", 11 },
		{ "192.0.2.1 comment \"x", "no closing quotation mark", 0 },
		{ "nomatch", "not an IPv4 address", 1 },
		{ "192.0.2.1,80", "1 value", 1 },
	};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		uint32_t line = 0, col = 0;

		open_text(&f, "create s hash:net\n");
		ipset_loose_read(f.a, &f.d, source_add(&f.s, "element", str_from(rows[i].text)), policy_set_find(f.rs, STR("s")));
		if (f.d.n_errors != 1 || !strstr(f.d.all.v[0].text.p, rows[i].part))
			fail_msg("%s: %u errors, %s", rows[i].text, f.d.n_errors, f.d.n_errors ? f.d.all.v[0].text.p : "");
		source_place(&f.s, f.d.all.v[0].at, &line, &col);
		if (rows[i].col && col != rows[i].col)
			fail_msg("%s: column %u", rows[i].text, col);
		arena_destroy(f.a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_elements),
		cmocka_unit_test(what_cannot_be_is_refused_where_it_stands),
		cmocka_unit_test(all_errors_come_in_one_run),
		cmocka_unit_test(doubtful_lines_are_warned_of),
		cmocka_unit_test(lists_keep_their_order),
		cmocka_unit_test(sets_change_names_and_go),
		cmocka_unit_test(options_that_matter_are_in_the_model),
		cmocka_unit_test(a_set_of_two_files_is_refused),
		cmocka_unit_test(loose_elements_are_read_and_printed),
		cmocka_unit_test(loose_elements_have_places),
		cmocka_unit_test(what_is_printed_is_what_was_read),
		cmocka_unit_test(blanks_comments_and_updates_do_not_hurt_printing),
		cmocka_unit_test(ranges_and_their_prefixes_are_the_same),
		cmocka_unit_test(many_elements_are_read_fast_enough),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
