/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of addresses: what a line stands for, what is refused and where, and that merging changes no answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lang/lang.h"
#include "policy/addr.h"

struct fixture {
	struct arena *a;
	struct sources s;
	struct diags d;
	struct set *set;
	struct lang_list got;
};

static void open_set(struct fixture *f, const char *type, enum family family)
{
	*f = (struct fixture){ .a = arena_create() };
	f->s.a = f->d.a = f->a;
	f->d.sources = &f->s;
	f->set = policy_set_add(policy_create(f->a), STR("s"), (struct loc){ 0 });
	lang_list_declare(f->set, family);
	if (strcmp(type, "hash:ip") == 0) {
		f->set->type = STR("hash:ip");
		f->set->dim[0] = SET_DIM_ADDR;
	}
}

static void close_set(struct fixture *f)
{
	arena_destroy(f->a);
}

static void read_text(struct fixture *f, const char *text, const struct lang_list_options *o)
{
	lang_list_read(f->a, &f->d, source_add(&f->s, "list", str_from(text)), f->set, o, &f->got);
}

/* "192.0.2.0/24 198.51.100.1/32!" */
static const char *elems(struct fixture *f)
{
	struct buf b = { .a = f->a };

	for (size_t i = 0; i < f->set->elems.n; i++) {
		const struct set_elem *e = &f->set->elems.v[i];

		buf_printf(&b, i ? " " : "");
		addr_print(&b, f->set->family, e->v[0]);
		buf_printf(&b, "/%u%s", e->plen[0], e->nomatch ? "!" : "");
		if (e->has_timeout)
			buf_printf(&b, " timeout %u", e->timeout_s);
		if (e->comment.n)
			buf_printf(&b, " \"%.*s\"", STR_ARG(e->comment));
	}
	return buf_str(&b).p;
}

static void lines_become_elements(void **state)
{
	static const struct {
		const char *what, *text, *want;
	} rows[] = {
		{ "an address", "192.0.2.1\n", "192.0.2.1/32" },
		{ "no line end at the end", "192.0.2.1", "192.0.2.1/32" },
		{ "a prefix", "192.0.2.0/24\n", "192.0.2.0/24" },
		{ "comments and blank lines", "# DROP list\n\n; more\n  \t\n192.0.2.1 ; SBL1\n192.0.2.2# x\n192.0.2.3\t#\n",
		  "192.0.2.1/32 192.0.2.2/32 192.0.2.3/32" },
		{ "line ends of other systems", "192.0.2.1\r\n\r\n192.0.2.2 \r\n", "192.0.2.1/32 192.0.2.2/32" },
		{ "blanks before", "  192.0.2.1\n\t192.0.2.2\n", "192.0.2.1/32 192.0.2.2/32" },
		{ "a mark at the start of the text", "\xef\xbb\xbf" "192.0.2.1\n", "192.0.2.1/32" },
		{ "a range", "192.0.2.1-192.0.2.6\n", "192.0.2.1/32 192.0.2.2/31 192.0.2.4/31 192.0.2.6/32" },
		{ "a range with blanks", "192.0.2.8 - 192.0.2.15 # x\n", "192.0.2.8/29" },
		{ "a range of one", "192.0.2.8-192.0.2.8\n", "192.0.2.8/32" },
		{ "the ends of the space", "0.0.0.0-127.255.255.255\n255.255.255.255\n", "0.0.0.0/1 255.255.255.255/32" },
		{ "exceptions", "192.0.2.0/24\n192.0.2.7 nomatch\n", "192.0.2.0/24 192.0.2.7/32!" },
		{ "options", "192.0.2.1 timeout 30\n192.0.2.2 comment \"a # b\" timeout 4 # c\n",
		  "192.0.2.1/32 timeout 30 192.0.2.2/32 timeout 4 \"a # b\"" },
		{ "host bits", "192.0.2.77/24\n", "192.0.2.0/24" },
		{ "nothing", "# nothing\n", "" },
	};
	struct lang_list_options o = { .is_declared_here = true };
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		open_set(&f, "hash:net", FAMILY_IP4);
		read_text(&f, rows[i].text, &o);
		if (f.d.n_errors || strcmp(elems(&f), rows[i].want) != 0)
			fail_msg("%s: %s, %u errors", rows[i].what, elems(&f), f.d.n_errors);
		close_set(&f);
	}
}

static void ip6_lines_become_elements(void **state)
{
	struct lang_list_options o = { .is_declared_here = true };
	struct fixture f;

	(void)state;
	open_set(&f, "hash:net", FAMILY_IP6);
	read_text(&f, "2001:db8::1\n2001:db8:1::/48 ; x\n2001:db8::4-2001:db8::7\n::ffff:192.0.2.1\n"
		      "2001:db8::ffff:ffff:ffff:fffe - 2001:db8:0:1::1\n", &o);
	assert_int_equal(f.d.n_errors, 0);
	assert_string_equal(elems(&f), "2001:db8::1/128 2001:db8:1::/48 2001:db8::4/126 ::ffff:192.0.2.1/128 "
				       "2001:db8::ffff:ffff:ffff:fffe/127 2001:db8:0:1::/127");
	close_set(&f);
}

static void sets_of_addresses_get_addresses(void **state)
{
	struct lang_list_options o = { .is_declared_here = false };
	struct fixture f;

	(void)state;
	open_set(&f, "hash:ip", FAMILY_IP4);
	read_text(&f, "192.0.2.0/30\n192.0.2.9-192.0.2.11\n", &o);
	assert_string_equal(elems(&f), "192.0.2.0/32 192.0.2.1/32 192.0.2.2/32 192.0.2.3/32 192.0.2.9/32 192.0.2.10/32 192.0.2.11/32");
	f.set->elems.n = 0;
	f.set->netmask = 24;
	read_text(&f, "192.0.2.77\n198.51.100.0-198.51.101.9\n", &o);
	assert_string_equal(elems(&f), "192.0.2.0/24 198.51.100.0/24 198.51.101.0/24");
	assert_int_equal(f.d.n_errors, 0);
	close_set(&f);
}

static void errors_have_places(void **state)
{
	static const struct {
		const char *text;
		uint32_t line, col, len;
		const char *part, *hint;
	} rows[] = {
		{ "192.0.2.1\nexample.org\n", 2, 1, 11, "not an address", "never looked up" },
		{ "192.0.2.300\n", 1, 1, 11, "not an address", NULL },
		{ "192.0.2\n", 1, 1, 7, "not an address", NULL },
		{ "192.0.2.1.5\n", 1, 1, 11, "not an address", NULL },
		{ "192.0.2.010\n", 1, 1, 11, "not an address", "write 192.0.2.10" },
		{ "192.0.2.1:80\n", 1, 1, 12, "not an address", "without ports" },
		{ "[2001:db8::1]\n", 1, 1, 13, "not an address", "without brackets" },
		{ "add s 192.0.2.1\n", 1, 1, 3, "not an address", "ipset save" },
		{ "/24\n", 1, 1, 1, "not an address", NULL },
		{ "192.0.2.0/33\n", 1, 11, 2, "not a prefix length from 0 to 32", NULL },
		{ "192.0.2.0/\n", 1, 10, 1, "not a prefix length", NULL },
		{ "192.0.2.0/255.255.255.0\n", 1, 11, 13, "not a prefix length", "/24" },
		{ "  192.0.2.9-192.0.2.1\n", 1, 3, 19, "ends before it begins", NULL },
		{ "192.0.2.9-2001:db8::1\n", 1, 1, 21, "from one family to the other", NULL },
		{ "192.0.2.9-\n", 1, 1, 10, "has no end", NULL },
		{ "192.0.2.9 - # x\n", 1, 1, 0, "has no end", NULL },
		{ "192.0.2.9-192.0.2.0/24\n", 1, 11, 12, "end a range", NULL },
		{ "2001:db8::1\n", 1, 1, 11, "IPv6 address", "--only-family" },
		{ "192.0.2.1\t9\n", 1, 11, 1, "only options", "cut -f 1" },
		{ "192.0.2.1 nomtach\n", 1, 11, 7, "only options", "did you mean 'nomatch'" },
		{ "192.0.2.1 timeout\n", 1, 18, 0, "seconds", NULL },
		{ "192.0.2.1 timeout x\n", 1, 19, 1, "seconds", NULL },
		{ "192.0.2.1 comment \"x y\n", 1, 19, 4, "no closing quotation mark", NULL },
		{ "192.0.2.1 comment x\"y\n", 1, 19, 3, "no quotation marks", NULL },
		{ "0.0.0.0/0\n", 1, 1, 9, "every address", "0.0.0.0/1" },
		{ "0.0.0.0-255.255.255.255\n", 1, 1, 23, "every address", "0.0.0.0/1" },
	};
	struct lang_list_options o = { .is_declared_here = true };
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct diag *g;
		uint32_t line = 0, col = 0;

		open_set(&f, "hash:net", FAMILY_IP4);
		read_text(&f, rows[i].text, &o);
		if (f.d.n_errors != 1 || f.set->elems.n > 1)
			fail_msg("%s: %u errors, %s", rows[i].text, f.d.n_errors, elems(&f));
		g = &f.d.all.v[0];
		source_place(&f.s, g->at, &line, &col);
		if (line != rows[i].line || col != rows[i].col || (rows[i].len && g->at.len != rows[i].len) ||
		    !strstr(g->text.p, rows[i].part) || (rows[i].hint && (!g->hint.n || !strstr(g->hint.p, rows[i].hint))))
			fail_msg("%s: %.*s", rows[i].text, STR_ARG(diag_format(f.a, &f.d, g)));
		close_set(&f);
	}
}

static void all_errors_come_in_one_run(void **state)
{
	struct lang_list_options o = { .is_declared_here = true };
	struct fixture f;
	struct buf b;

	(void)state;
	open_set(&f, "hash:net", FAMILY_IP4);
	b = (struct buf){ .a = f.a };
	for (int i = 0; i < 150; i++)
		buf_printf(&b, "192.0.2.%d/x\n192.0.2.%d\n", i, i);
	read_text(&f, b.v, &o);
	assert_int_equal(f.d.n_errors, 100);
	assert_non_null(strstr(f.d.all.v[100].text.p, "50 more errors"));
	assert_int_equal(f.set->elems.n, 150);
	close_set(&f);
}

static void the_other_family_may_be_left_out(void **state)
{
	struct lang_list_options o = { .only_family = true };
	struct fixture f;

	(void)state;
	open_set(&f, "hash:net", FAMILY_IP6);
	read_text(&f, "192.0.2.1\n2001:db8::/32\n198.51.100.0/24\n", &o);
	assert_int_equal(f.d.n_errors, 0);
	assert_string_equal(elems(&f), "2001:db8::/32");
	assert_int_equal(f.got.n_left_out, 2);
	close_set(&f);
}

/* A set that somebody declared has the options that it was declared with. */
static void options_need_their_set(void **state)
{
	struct lang_list_options o = { .is_declared_here = false };
	struct fixture f;

	(void)state;
	open_set(&f, "hash:net", FAMILY_IP4);
	read_text(&f, "192.0.2.1 timeout 5\n192.0.2.2 comment x\n", &o);
	assert_int_equal(f.d.n_errors, 2);
	assert_non_null(strstr(f.d.all.v[0].text.p, "created with 'timeout'"));
	assert_non_null(strstr(f.d.all.v[1].text.p, "created with 'comment'"));
	close_set(&f);
}

static void a_set_has_a_size(void **state)
{
	struct lang_list_options o = { .is_declared_here = true };
	struct fixture f;

	(void)state;
	open_set(&f, "hash:net", FAMILY_IP4);
	f.set->max_elems = 2;
	read_text(&f, "192.0.2.0/25\n192.0.2.128/25\n198.51.100.1\n", &o);
	lang_list_merge(&f.d, f.set, false, &f.got);
	assert_int_equal(f.d.n_errors, 0); /* the first two are one */
	read_text(&f, "203.0.113.1\n", &o);
	lang_list_merge(&f.d, f.set, false, &f.got);
	assert_int_equal(f.d.n_errors, 1);
	assert_non_null(strstr(f.d.all.v[0].text.p, "at most 2 elements"));
	close_set(&f);
}

/* ---------- merging ---------- */

static void what_is_said_twice_goes(void **state)
{
	static const struct {
		const char *what, *text, *want;
		unsigned duplicates, overlaps;
	} rows[] = {
		{ "the same again", "192.0.2.1\n192.0.2.2\n192.0.2.1\n", "192.0.2.2/32 192.0.2.1/32", 1, 0 },
		{ "three times", "192.0.2.1\n192.0.2.1\n192.0.2.1/32\n", "192.0.2.1/32", 2, 0 },
		{ "within another", "192.0.2.1\n192.0.2.0/24\n192.0.2.0/25\n", "192.0.2.0/24", 0, 2 },
		{ "halves", "192.0.2.0/25\n192.0.2.128/25\n", "192.0.2.0/24", 0, 0 },
		{ "halves of halves", "192.0.2.2\n192.0.2.0/31\n192.0.2.3\n192.0.2.4/30\n", "192.0.2.0/29", 0, 0 },
		{ "no halves", "192.0.2.1\n192.0.2.2\n", "192.0.2.1/32 192.0.2.2/32", 0, 0 },
		{ "not every address", "0.0.0.0/1\n128.0.0.0/1\n", "0.0.0.0/1 128.0.0.0/1", 0, 0 },
		{ "twice a half", "192.0.2.0/25\n192.0.2.128/25\n192.0.2.128/25\n", "192.0.2.0/24", 1, 0 },
		{ "an exception", "10.0.0.0/8\n10.1.0.0/16 nomatch\n10.1.1.0/24\n10.2.0.0/16\n",
		  "10.0.0.0/8 10.1.0.0/16! 10.1.1.0/24", 0, 1 },
		{ "an exception as large as two halves", "10.0.0.0/8 nomatch\n10.0.0.0/9\n10.128.0.0/9\n",
		  "10.0.0.0/8! 10.0.0.0/9 10.128.0.0/9", 0, 0 },
		{ "halves with exceptions in them", "10.0.0.0/9\n10.1.0.0/16 nomatch\n10.128.0.0/9\n10.200.0.0/16 nomatch\n10.200.1.0/24\n",
		  "10.0.0.0/8 10.1.0.0/16! 10.200.0.0/16! 10.200.1.0/24", 0, 0 },
		{ "halves that are exceptions", "10.0.0.0/8\n10.1.0.0/17 nomatch\n10.1.128.0/17 nomatch\n", "10.0.0.0/8 10.1.0.0/16!", 0, 0 },
		{ "the last one holds", "10.0.0.0/8\n10.0.0.0/8 nomatch\n", "10.0.0.0/8!", 1, 0 },
		{ "what expires", "10.0.0.0/8 timeout 5\n10.1.0.0/16\n10.2.0.0/16 timeout 9\n",
		  "10.0.0.0/8 timeout 5 10.1.0.0/16 10.2.0.0/16 timeout 9", 0, 0 },
	};
	struct lang_list_options o = { .is_declared_here = true };
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		open_set(&f, "hash:net", FAMILY_IP4);
		read_text(&f, rows[i].text, &o);
		lang_list_merge(&f.d, f.set, false, &f.got);
		if (strcmp(elems(&f), rows[i].want) != 0 || f.got.n_duplicates != rows[i].duplicates ||
		    f.got.n_overlaps != rows[i].overlaps || f.got.n_merged != f.set->elems.n)
			fail_msg("%s: %s, %d, %d", rows[i].what, elems(&f), (int)f.got.n_duplicates, (int)f.got.n_overlaps);
		close_set(&f);
	}
}

static void strict_lists_have_no_overlaps(void **state)
{
	struct lang_list_options o = { .is_declared_here = true };
	struct fixture f;

	(void)state;
	open_set(&f, "hash:net", FAMILY_IP4);
	read_text(&f, "10.0.0.0/8\n192.0.2.1\n10.1.0.0/16 nomatch\n192.0.2.1\n10.2.0.0/16\n10.1.1.0/24\n192.0.2.2/31\n", &o);
	lang_list_merge(&f.d, f.set, true, &f.got);
	diag_sort(&f.d);
	assert_int_equal(f.d.n_errors, 2);
	assert_non_null(strstr(f.d.all.v[0].text.p, "'192.0.2.1' is there already (list:2)"));
	assert_non_null(strstr(f.d.all.v[1].text.p, "'10.2.0.0/16' lies within another entry (list:1)"));
	close_set(&f);
}

/* The most specific element that has x decides; of equal ones the last. */
static bool holds(const struct set_elem *v, size_t n, enum family family, u128 x)
{
	int best = -1;
	bool in = false;

	for (size_t i = 0; i < n; i++)
		if ((x & addr_mask(family, v[i].plen[0])) == v[i].v[0] && v[i].plen[0] >= best) {
			best = v[i].plen[0];
			in = !v[i].nomatch;
		}
	return in;
}

static void merging_changes_no_answer(void **state)
{
	struct lang_list_options o = { .is_declared_here = true };

	(void)state;
	srand(7);
	for (unsigned round = 0; round < 600; round++) {
		enum family family = round & 1 ? FAMILY_IP6 : FAMILY_IP4;
		unsigned free_bits = 4 + (unsigned)rand() % 5, n = 1 + (unsigned)rand() % 60, bits = addr_bits(family);
		unsigned top = family == FAMILY_IP6 && round % 4 == 1 ? 64 - free_bits / 2 : 0; /* across the middle too */
		struct set_elem *before;
		struct fixture f;
		struct buf b;
		size_t n_before;

		open_set(&f, "hash:net", family);
		b = (struct buf){ .a = f.a };
		for (unsigned i = 0; i < n; i++) {
			u128 at = ((u128)1 << (bits - 2)) | (u128)((unsigned)rand() % (1u << free_bits)) << top;
			unsigned plen = bits - top - (unsigned)rand() % (free_bits + 1);

			addr_print(&b, family, at & addr_mask(family, plen));
			buf_printf(&b, "/%u%s\n", plen, rand() % 4 ? "" : " nomatch");
		}
		read_text(&f, b.v, &o);
		assert_int_equal(f.d.n_errors, 0);
		n_before = f.set->elems.n;
		before = arena_new(f.a, struct set_elem, n_before);
		memcpy(before, f.set->elems.v, n_before * sizeof *before);
		lang_list_merge(&f.d, f.set, false, &f.got);
		for (unsigned i = 0; i < 1u << free_bits; i++) {
			u128 x = ((u128)1 << (bits - 2)) | (u128)i << top;

			if (holds(before, n_before, family, x) != holds(f.set->elems.v, f.set->elems.n, family, x))
				fail_msg("round %u:\n%s\nbecame %s", round, b.v, elems(&f));
		}
		close_set(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_elements),
		cmocka_unit_test(ip6_lines_become_elements),
		cmocka_unit_test(sets_of_addresses_get_addresses),
		cmocka_unit_test(errors_have_places),
		cmocka_unit_test(all_errors_come_in_one_run),
		cmocka_unit_test(the_other_family_may_be_left_out),
		cmocka_unit_test(options_need_their_set),
		cmocka_unit_test(a_set_has_a_size),
		cmocka_unit_test(what_is_said_twice_goes),
		cmocka_unit_test(strict_lists_have_no_overlaps),
		cmocka_unit_test(merging_changes_no_answer),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
