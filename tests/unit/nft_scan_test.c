/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tokens of nft files: what is one word and what is several. */
#include "nft_kit.h"

#include "lang/nft/scan.h"

/* Tokens as text with blanks between them; a line end is '$'; words of numbers '#', quoted texts in quotes. */
static struct str tokens(struct nft_kit *k, const char *text)
{
	struct nft_tokens t = { 0 };
	struct buf b = { .a = k->a };

	nft_scan(k->a, &k->d, source_add(&k->s, "r", str_from(text)), &t);
	for (size_t i = 0; i + 1 < t.all.n; i++) {
		const struct nft_token *one = &t.all.v[i];

		if (one->kind == NFT_TOK_LINE)
			buf_printf(&b, "%s$", i ? " " : "");
		else
			buf_printf(&b, "%s%s%.*s", i ? " " : "", one->kind == NFT_TOK_NUMBER ? "#" : "", (int)one->len, one->p);
	}
	return b.n ? buf_str(&b) : STR("");
}

static void words_are_cut_as_nft_cuts_them(void **state)
{
	static const struct {
		const char *text, *tokens;
	} rows[] = {
		{ "ip saddr 192.0.2.0/24", "ip saddr 192.0.2.0 / #24" },
		{ "192.0.2.1-192.0.2.9", "192.0.2.1 - 192.0.2.9" },
		{ "22-80,443", "#22 - #80 , #443" },
		{ "2001:db8::1/64", "2001:db8::1 / #64" },
		{ "::/0 ::1", ":: / #0 ::1" },
		{ "22:accept", "#22 : accept" },
		{ "fe80::1:drop", "fe80::1 : drop" },
		{ "192.0.2.1:80", "192.0.2.1 : #80" },
		{ "00:11:22:33:44:55", "00:11:22:33:44:55" },
		{ "aa:bb:cc:dd:ee:ff . eth0", "aa:bb:cc:dd:ee:ff . eth0" },
		{ "eth0.100 a-b c/d _x", "eth0.100 a-b c/d _x" },
		{ "eth* wg\\* *", "eth* wg\\* *" },
		{ "1h30m 5s 100ms 10mbytes", "1h30m 5s 100ms #10 mbytes" },
		{ "0x1F 022 8021q", "#0x1F #022 8021q" },
		{ "10 mbytes/second", "#10 mbytes/second" },
		{ "a!=b a==b a<=1 a>=1 a<<2 a>>2 a<1", "a != b a == b a <= #1 a >= #1 a << #2 a >> #2 a < #1" },
		{ "\"a b\" \"eth\\*\"", "\"a b\" \"eth\\*\"" },
		{ "a # b\nc", "a $ c" },
		{ "a \\\n b", "a b" },
		{ "a;b}", "a ; b }" },
		{ "{$x,@s}", "{ $ x , @ s }" }, /* the '$' of a variable */
		{ "filter-5 filter + 5", "filter-5 filter + #5" },
		{ "[2001:db8::1]:80", "[ 2001:db8::1 ] : #80" },
	};
	struct nft_kit k;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct str got;

		nft_kit_read(&k, "");
		got = tokens(&k, rows[i].text);
		if (!str_is(got, rows[i].tokens))
			print_error("%s\n  want %s\n  got  %.*s\n", rows[i].text, rows[i].tokens, STR_ARG(got));
		assert_true(str_is(got, rows[i].tokens));
		assert_int_equal(k.d.n_errors, 0);
		arena_destroy(k.a);
	}
}

static void handles_are_kept_at_their_lines(void **state)
{
	struct nft_tokens t = { 0 };
	struct nft_kit k;

	(void)state;
	nft_kit_read(&k, "");
	nft_scan(k.a, &k.d, source_add(&k.s, "r", STR("accept # handle 12\ndrop # handles\n")), &t);
	assert_int_equal(t.all.v[1].kind, NFT_TOK_LINE);
	assert_int_equal(t.all.v[1].handle, 12);
	assert_int_equal(t.all.v[3].handle, 0);
	arena_destroy(k.a);
}

static void quotes_and_backslashes_that_are_wrong_are_told(void **state)
{
	static const struct {
		const char *text, *errors;
	} rows[] = {
		{ "table ip a \"x\n", "1:12 the quote is not closed on this line | close it with '\"'; nothing can be escaped inside quotes" },
		{ "table ip \\ \na {\n}\n", "1:10 blanks stand behind the backslash, so it does not join the lines | end the line right behind the backslash" },
		{ "include \"x\"\n", "1:1 no other file can be read here" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct nft_kit k;
		struct str got;

		nft_kit_read(&k, rows[i].text);
		got = nft_kit_errors(&k);
		if (!str_is(got, rows[i].errors))
			print_error("%s  want %s\n  got  %.*s\n", rows[i].text, rows[i].errors, STR_ARG(got));
		assert_true(str_is(got, rows[i].errors));
		assert_true(k.f->lacks_rules);
		arena_destroy(k.a);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_cut_as_nft_cuts_them),
		cmocka_unit_test(handles_are_kept_at_their_lines),
		cmocka_unit_test(quotes_and_backslashes_that_are_wrong_are_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
