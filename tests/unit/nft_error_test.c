/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is wrong in nft files is told where it stands, all of it in one run, with a way out. */
#include "nft_kit.h"

struct row {
	const char *text, *errors;
};

static void check(const char *text, struct nft_kit *k, const char *want)
{
	struct str got = nft_kit_errors(k);

	if (!str_is(got, want))
		print_error("%s\n  want %s\n  got  %.*s\n", text, want, STR_ARG(got));
	assert_true(str_is(got, want));
	arena_destroy(k->a);
}

/* Rules stand in line 11. */
static void errors_of_rules_have_places(void **state)
{
	static const struct row rows[] = {
		{ "tcp dport 22 accept", "" },
		{ "ip dsaddr 192.0.2.1", "11:4 expected a field of ip: version, hdrlength, dscp, ecn, length, id, frag-off, ttl, protocol, checksum, "
					 "saddr, daddr, found 'dsaddr' | did you mean 'saddr'?" },
		{ "ip6 counter", "11:1 'ip6' stands without one of its fields | they are: version, dscp, ecn, flowlabel, length, nexthdr, hoplimit, "
				 "saddr, daddr" },
		{ "tcp dport 200-100", "11:11 this range is reversed: its end is below its beginning | write the smaller one first" },
		{ "tcp dport 65536", "11:11 65536 is above 65535, the most that tcp dport can be" },
		{ "tcp dport { 1, 65536, 70000 }", "11:16 65536 is above 65535, the most that tcp dport can be\n"
						   "11:23 70000 is above 65535, the most that tcp dport can be" },
		{ "tcp dport shh", "11:11 'shh' is not a value for tcp dport (inet_service) | did you mean 'ssh'?" },
		{ "tcp dport 09", "11:11 '09' begins with 0, so it is octal, and this is no octal number | leave out the 0" },
		{ "tcp dport 022", "11:11 warning: '022' begins with 0, so it is octal: 18" },
		{ "ip saddr 192.0.2.7/24", "11:10 warning: this prefix has host bits; it means 192.0.2.0/24 | write 192.0.2.0/24" },
		{ "ip saddr 2001:db8::1", "11:10 '2001:db8::1' is not an IPv4 address | it is an IPv6 address, and ip saddr is of IPv4" },
		{ "ip saddr 192.0.2.0/33", "11:20 a prefix length of ip saddr must be from 0 to 32, not 33" },
		{ "ip saddr \"www.example.org\"",
		  "11:10 'www.example.org' is not an IPv4 address | names of hosts are not looked up: write the address" },
		{ "ct state establishd", "11:10 'establishd' is not a value for ct state (ct_state) | did you mean 'established'?" },
		{ "tcp dport 22,80", "11:13 tcp dport is no set of flags, so it cannot be compared with a list | write the values in braces: { A, B }" },
		{ "tcp dport { 22, 80 accept", "11:20 expected ',' or '}', found 'accept'" },
		{ "ip saddr { }", "11:10 this set is empty" },
		{ "ip saddr @ss", "11:11 there is no set or map 'ss' in this table | did you mean 's'?" },
		{ "tcp dport @s", "11:11 's' has keys of the type ipv4_addr, and tcp dport is of the type inet_service" },
		{ "ip saddr @vm", "11:10 'vm' is a map, and a set is needed here" },
		{ "ip saddr vmap @mm", "11:15 this map has no verdicts" },
		{ "jump y", "11:6 there is no chain 'y' in table 't' | did you mean 'x'?" },
		{ "acept", "11:1 expected a statement, found 'acept' | did you mean 'accept'?" },
		{ "accept counter", "11:8 this stands behind the verdict of its rule, so it never happens" },
		{ "counter name nope", "11:14 there is no counter 'nope' in table t" },
		{ "tcp dport $prt", "11:11 $prt is not defined | did you mean $port?" },
		{ "tcp dport ${port}", "11:11 expected a variable's name behind '$' | write $name; other forms belong to the shell" },
		{ "vxlan ip saddr 192.0.2.1",
		  "11:1 headers inside of vxlan are not supported | match on the outer header, or on bits: @ih,OFFSET,LENGTH" },
		{ "limit rate 5/fortnight", "11:14 expected second, minute, hour, day or week, found 'fortnight'" },
		{ "dnat to 192.0.2.1", "11:9 family inet has addresses of both kinds: which one this is must be said | write 'ip to'" },
		{ "iif \"eth*\"", "11:5 iif stands for one interface, not for all that begin so | use iifname" },
		{ "iifname \"abcdefghijklmnop\"", "11:9 an interface's name has at most 15 characters, this one has 16" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct nft_kit k;

		nft_kit_rule(&k, "inet", rows[i].text);
		check(rows[i].text, &k, rows[i].errors);
	}
}

static void errors_of_files_have_places(void **state)
{
	static const struct row rows[] = {
		{ "table ip a {\n}\n", "" },
		{ "tabel ip a {\n}\n", "1:1 expected a command, found 'tabel' | did you mean 'table'?" },
		{ "table ip a { chain c { drop", "1:28 expected '}' at the end of the chain, found the end of the file" },
		{ "}\n", "1:1 there is no '{' for this '}'" },
		{ "define a = 1\ndefine a = 2\n", "2:8 'a' is defined already, at line 1 | write 'redefine a = ...' to give it another value" },
		{ "redefine a = 1\n", "1:10 'a' is not defined here" },
		{ "define a = @b@\n", "1:12 expected a value, found '@'" },
		{ "define a = eth0 eth1\n", "1:17 expected the end of the line, found 'eth1'" },
		{ "table ip a { chain c { ip saddr $n drop; }\n}\ndefine n = 192.0.2.1\n", "1:33 $n is used before its define at line 3" },
		{ "table ip a { set s { type ipv4_adr; }\n}\n", "1:27 there is no type 'ipv4_adr' | did you mean 'ipv4_addr'?" },
		{ "table ip a { set s { size 3; }\n}\n", "1:18 the type of 's' is missing | write 'type' or 'typeof' in its block" },
		{ "table ip a { set s { type ipv4_addr; elements = { 192.0.2.0/24 }\n}\n}\n",
		  "1:51 set 's' holds single values, and this is a range | add 'flags interval' to the set" },
		{ "table ip a { set s { type ipv4_addr; elements = { 192.0.2.1 timeout 5s }\n}\n}\n",
		  "1:51 set 's' has no timeouts | add 'flags timeout' to the set" },
		{ "table ip a { chain c { type filter hook inptu priority 0; }\n}\n", "1:41 there is no hook 'inptu' | did you mean 'input'?" },
		{ "table ip a { chain c { type filter hook ingress priority 0; }\n}\n", "1:41 family ip has no hook ingress" },
		{ "table ip a { chain c { type filter hook input priority dstnat; }\n}\n",
		  "1:56 the priority 'dstnat' is not for this hook | write the number: -100" },
		{ "table ip a { chain c { policy drop; }\n}\n", "1:20 'c' hangs at no hook, so it has no policy" },
		{ "delete table ip a\n", "1:17 there is no table 'ip a' here | a file is read by itself: add the table in front of this; to delete what "
					 "may not be there, write 'destroy'" },
		{ "destroy table ip a\n", "" },
		{ "add table inet a\nadd chain ip a c\n", "2:14 there is no table 'ip a' here | there is one of family inet: write 'inet a'" },
		{ "add table a\nadd chain a c\nadd rule a d drop\n", "3:12 there is no chain 'd' in table 'a' | did you mean 'c'?" },
		{ "add table a\nadd chain a c\nadd rule a c jump d\nadd chain a d\n",
		  "3:19 chain 'd' is made only later | add the chain in front of the rule" },
		{ "add table a\nadd chain a c\nadd rule a c bogus\nadd rule a c sctp\n",
		  "3:14 expected a statement, found 'bogus'\n4:14 'sctp' stands without one of its fields | they are: sport, dport, vtag, checksum" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct nft_kit k;

		nft_kit_read(&k, rows[i].text);
		assert_int_equal(k.f->lacks_rules, k.d.n_errors > 0);
		check(rows[i].text, &k, rows[i].errors);
	}
}

/* A brace that is not closed hides nothing of what comes behind it. */
static void all_errors_are_told_in_one_run(void **state)
{
	static const char text[] = "table ip a {\n chain c {\n  tcp dport { 22, 80 accept\n  tcp dport 70000 drop\n  ip saddr 192.0.2.300 drop\n"
				   " }\n chain d {\n  ct state nwe accept\n }\n}\nfoo\n";
	struct nft_kit k;

	(void)state;
	nft_kit_read(&k, text);
	check(text, &k,
	      "3:22 expected ',' or '}', found 'accept'\n4:13 70000 is above 65535, the most that tcp dport can be\n"
	      "5:12 '192.0.2.300' is not an IPv4 address\n8:12 'nwe' is not a value for ct state (ct_state) | did you mean 'new'?\n"
	      "11:1 expected a command: table, add, insert, replace, delete, flush, define, include, found 'foo'");
}

/* Wherever blocks begin and end, in lines of their own or not, every rule is read. */
static void no_rule_is_lost(void **state)
{
	static const struct {
		const char *text;
		unsigned n_rules;
	} texts[] = {
		{ "table ip x {\n chain c {\n  drop\n }\n}\n", 1 },
		{ "table ip x {\n counter w { } chain c {\n  drop\n }\n}\n", 1 },
		{ "table ip x {\n counter w {\n } chain c {\n  drop\n }\n}\n", 1 },
		{ "table ip x {\n set s { type ipv4_addr; } chain c {\n  drop\n }\n}\n", 1 },
		{ "table ip x {\n chain b { accept; } set s { type ipv4_addr; } chain c { drop; } chain d { drop\n }\n}\n", 3 },
		{ "table ip x { chain c { drop; } }\ntable ip y { map m { type ipv4_addr : mark; } chain c { drop; accept; } }\n", 3 },
		{ "table ip x {\n comment \"a\" chain c {\n  drop\n }\n}\n", 1 },
		{ "define a = 1\ntable ip x {\n define b = 2\n chain c { ip ttl $b drop; } flags dormant; chain d { drop; }\n}\n", 2 },
		{ "table ip x {\n chain c { ip saddr { 192.0.2.1,\n 192.0.2.2 } drop; } chain d { drop; }\n}\n", 2 },
		{ "table ip x { chain c { }; }\nadd chain ip x c { drop; accept; }; add rule ip x c drop\n", 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct nft_kit k;
		unsigned n = 0;

		nft_kit_read(&k, texts[i].text);
		for (size_t t = 0; t < k.f->tables.n; t++)
			for (size_t c = 0; c < k.f->tables.v[t]->chains.n; c++)
				n += (unsigned)k.f->tables.v[t]->chains.v[c]->rules.n;
		if (n != texts[i].n_rules)
			print_error("%s: %u rules\n", texts[i].text, n);
		assert_int_equal(n, texts[i].n_rules);
		check(texts[i].text, &k, "");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_rule_is_lost),
		cmocka_unit_test(errors_of_rules_have_places),
		cmocka_unit_test(errors_of_files_have_places),
		cmocka_unit_test(all_errors_are_told_in_one_run),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
