/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The packet notation: lines against bytes that another program made, errors at their places, printing and reading back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "packet/notation.h"

struct fixture {
	struct arena *a;
	struct sources sources;
	struct diags d;
	struct packet p;
};

static bool parse(struct fixture *s, const char *line)
{
	uint32_t id;

	s->a = arena_create();
	s->sources = (struct sources){ .a = s->a };
	s->d = (struct diags){ .a = s->a, .sources = &s->sources };
	id = source_add(&s->sources, "t", str_from(line));
	return notation_parse(s->a, &s->d, source_get(&s->sources, id)->text, (struct loc){ id, 0, 0 }, &s->p);
}

static void must_parse(struct fixture *s, const char *line)
{
	if (parse(s, line))
		return;
	for (size_t i = 0; i < s->d.all.n; i++)
		print_error("%s", diag_format(s->a, &s->d, &s->d.all.v[i]).p);
	fail_msg("not read: %s", line);
}

static const char *hex_of(struct arena *a, const struct packet *p)
{
	struct buf b = { .a = a };

	buf_add(&b, "", 0);
	for (uint32_t i = 0; i < p->len; i++)
		buf_printf(&b, "%02x", p->bytes[i]);
	return b.v;
}

static const struct {
	const char *what, *line, *hex;
} bytes_rows[] = {
#include "unit/notation_bytes.h"
};
enum { N_BYTES = sizeof bytes_rows / sizeof *bytes_rows };

static void lines_become_the_right_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_BYTES; i++) {
		struct fixture s;

		must_parse(&s, bytes_rows[i].line);
		if (strcmp(hex_of(s.a, &s.p), bytes_rows[i].hex) != 0)
			fail_msg("%s: %s\n  got  %s\n  want %s", bytes_rows[i].what, bytes_rows[i].line,
				 hex_of(s.a, &s.p), bytes_rows[i].hex);
		arena_destroy(s.a);
	}
}

/* What the other program has no layer for, and what is not in the bytes. */
static void dccp_and_udplite_have_their_headers(void **state)
{
	struct fixture s;

	(void)state;
	must_parse(&s, "ip 198.51.100.7 > 192.0.2.1 dccp 1 > 2 type=reset sum=0");
	assert_string_equal(hex_of(s.a, &s.p) + 40, "00010002040000000f00000000000000");
	arena_destroy(s.a);
	must_parse(&s, "ip 198.51.100.7 > 192.0.2.1 udplite 1 > 2 payload=1B sum=0");
	assert_string_equal(hex_of(s.a, &s.p) + 40, "000100020000000000");
	assert_int_equal(s.p.bytes[9], 136);
	arena_destroy(s.a);
	must_parse(&s, "ip 198.51.100.7 > 192.0.2.1 proto=6 payload=8B dport=22");
	assert_string_equal(hex_of(s.a, &s.p) + 40, "0000001600000000");
	arena_destroy(s.a);
	must_parse(&s, "tcp 198.51.100.7:4 > 192.0.2.1:22 frag=8"); /* bytes that only look like a header */
	assert_string_equal(hex_of(s.a, &s.p) + 40, "0004001600000000000000005000ffffc38e0000");
	arena_destroy(s.a);
}

static void words_about_the_machine_are_kept(void **state)
{
	struct fixture s;

	(void)state;
	must_parse(&s, "p17: t=1.25 in=eth0.10 out=- mark=0x10 ctmark=7 ct=established uid=1000 gid=- cpu=3 realm=9 "
		       "pkttype=multicast physin=veth1 physout=- udp 192.0.2.1 > 192.0.2.2:53 (comment) # 7");
	assert_true(str_is(s.p.id, "p17"));
	assert_int_equal(s.p.time_ns, 1250000000);
	assert_true(s.p.has_time && !s.p.time_is_epoch);
	assert_string_equal(s.p.iif, "eth0.10");
	assert_true(s.p.has_iif && s.p.has_oif && s.p.has_mark && s.p.has_ct_mark && s.p.has_physin && s.p.has_physout);
	assert_string_equal(s.p.oif, "");
	assert_string_equal(s.p.physin, "veth1");
	assert_string_equal(s.p.physout, "");
	assert_int_equal(s.p.mark, 16);
	assert_int_equal(s.p.ct_mark, 7);
	assert_int_equal(s.p.ct, CT_ESTABLISHED);
	assert_int_equal(s.p.uid, 1000);
	assert_int_equal(s.p.gid, -2);
	assert_int_equal(s.p.cpu, 3);
	assert_int_equal(s.p.realm, 9);
	assert_int_equal(s.p.pkttype, 2);
	assert_int_equal(s.p.link, PACKET_LINK_IP);
	arena_destroy(s.a);
	must_parse(&s, "udp 192.0.2.1 > 192.0.2.2:53");
	assert_false(s.p.has_iif || s.p.has_oif || s.p.has_mark || s.p.has_ct_mark || s.p.has_time || s.p.has_physin);
	assert_int_equal(s.p.ct, -1);
	assert_int_equal(s.p.uid, -1);
	assert_int_equal(s.p.pkttype, -1);
	assert_int_equal(s.p.vlan_meta, -1);
	arena_destroy(s.a);
	must_parse(&s, "eth vlan=5(metadata) type=0x8892");
	assert_int_equal(s.p.vlan_meta, 5);
	assert_int_equal(s.p.len, 14);
	arena_destroy(s.a);
}

static void cut_and_truncated_are_different(void **state)
{
	struct fixture s;

	(void)state;
	must_parse(&s, "eth udp 192.0.2.1 > 192.0.2.2:53 payload=100B cut=24");
	assert_int_equal(s.p.len, 14 + 24);
	assert_int_equal(s.p.wire_len, 14 + 128);
	arena_destroy(s.a);
	must_parse(&s, "eth udp 192.0.2.1 > 192.0.2.2:53 payload=100B trunc=24 pad=hex:0102");
	assert_int_equal(s.p.len, 14 + 24 + 2);
	assert_int_equal(s.p.wire_len, 14 + 24 + 2);
	assert_int_equal(s.p.bytes[14 + 3], 128); /* the total length stays */
	arena_destroy(s.a);
	must_parse(&s, "hex 45000014 cut=2");
	assert_int_equal(s.p.len, 2);
	assert_int_equal(s.p.wire_len, 4);
	arena_destroy(s.a);
	must_parse(&s, "p2: -");
	assert_int_equal(s.p.wire_len, 0);
	assert_true(str_is(s.p.id, "p2"));
	arena_destroy(s.a);
}

/* from, len: the place of the first error in the line, from 1. */
static const struct {
	const char *line, *text, *hint;
	unsigned from, len;
} error_rows[] = {
	{ "tcp 10.1.2.3 > 192.0.2.1:70000", "70000 is above 65535", "", 26, 5 },
	{ "tcp 10.1.2.3 > 192.0.2.1", "the destination port is missing", "tcp 10.1.2.3 > 192.0.2.1:22", 25, 0 },
	{ "tcp 10.1.2.3 192.0.2.1:22", "expected '>' between source and destination", "", 14, 12 },
	{ "tcp 10.1.2.3 > 10.1.2:22", "'10.1.2' is not an IPv4 or IPv6 address", "", 16, 6 },
	{ "tcp 10.1.2.3 > [2001:db8::1]:22", "one address is IPv4, the other IPv6", "", 5, 8 },
	{ "ip 2001:db8::1 > 2001:db8::2 udp 1 > 2", "'ip' does not go with IPv6 addresses", "", 1, 2 },
	{ "ip6 10.1.2.3 > 10.1.2.4 udp 1 > 2", "'ip6' does not go with IPv4 addresses", "", 1, 3 },
	{ "tcpp 10.1.2.3 > 192.0.2.1:22", "'tcpp' is no word of the packet notation", "did you mean 'tcp'?", 1, 4 },
	{ "tcp 10.1.2.3 > 192.0.2.1:22 flgs=S", "'flgs=' is no key of the packet notation", "did you mean 'flags'?", 29, 4 },
	{ "tcp 10.1.2.3 > 192.0.2.1:22 flags=SX", "'X' is no TCP flag", "F fin, S syn", 36, 1 },
	{ "tcp 10.1.2.3 > 192.0.2.1:22 ttl=256", "256 is above 255", "", 33, 3 },
	{ "tcp 10.1.2.3 > 192.0.2.1:22 ttl=x", "'x' is not a number", "", 33, 1 },
	{ "tcp 10.1.2.3 > 192.0.2.1:22 ttl=", "a number is missing", "", 33, 0 },
	{ "tcp 10.1.2.3 > 192.0.2.1:22 ct=establish", "'establish' is no connection state", "did you mean 'established'?", 32, 9 },
	{ "tcp 10.1.2.3 > 192.0.2.1:22 ct=full", "'full' is no connection state", "one of new", 32, 4 },
	{ "tcp 10.1.2.3 > 192.0.2.1:22 in=abcdefghijklmnop", "an interface name has at most 15 bytes", "", 32, 16 },
	{ "tcp 10.1.2.3 > 192.0.2.1:22 in=a/b", "no interface can have this name", "", 32, 3 },
	{ "p/1: tcp 10.1.2.3 > 192.0.2.1:22", "'p/1:' is no word of the packet notation", "", 1, 4 },
	{ "icmp 10.1.2.3 > 192.0.2.1 type=ecko-request", "'ecko-request' is no ICMP type", "did you mean 'echo-request'?", 32, 12 },
	{ "icmp 10.1.2.3 > 192.0.2.1:7 type=8", "this protocol has no ports", "", 27, 1 },
	{ "icmp 2001:db8::1 > 2001:db8::2 type=8", "'icmp' does not go with IPv6 addresses", "write icmp6", 1, 4 },
	{ "ip 10.1.2.3 > 192.0.2.1 gre 1 > 2", "this protocol has no ports", "", 29, 1 },
	{ "ip 10.1.2.3 > 192.0.2.1 tcp 4 22", "expected '>' between source port and destination port", "", 31, 2 },
	{ "ip 10.1.2.3 > 192.0.2.1 type=8", "type= belongs behind icmp", "", 30, 1 },
	{ "ip 10.1.2.3 > 192.0.2.1 ihl=4 udp 1 > 2", "an IPv4 header has at least 5 words", "hex", 29, 1 },
	{ "ip 10.1.2.3 > 192.0.2.1 udp 1 > 2 payload=hex:123", "hex bytes need an even number of digits, here are 3", "", 47, 3 },
	{ "ip 10.1.2.3 > 192.0.2.1 udp 1 > 2 payload=hex:12zz", "'zz' is no hex byte", "", 49, 2 },
	{ "ip 10.1.2.3 > 192.0.2.1 udp 1 > 2 payload=\"x", "the quote is not closed", "", 35, 10 },
	{ "ip6 2001:db8::1 > 2001:db8::2 ext=frag(off=3 udp 1 > 2", "the parenthesis is not closed", "", 31, 24 },
	{ "ip6 2001:db8::1 > 2001:db8::2 ext=hph udp 1 > 2", "'hph' is no IPv6 extension header", "hbh, rt", 35, 3 },
	{ "ip6 2001:db8::1 > 2001:db8::2 ext=hbh,frag(of=3) udp 1 > 2", "'of' says nothing about this header", "off, mf", 44, 2 },
	{ "ip6 2001:db8::1 > 2001:db8::2 ext=rt(addr=10.0.0.1) udp 1 > 2", "a routing header holds IPv6 addresses", "", 43, 8 },
	{ "ip6 2001:db8::1 > 2001:db8::2 ext=hbh(len=9) udp 1 > 2", "a header of 9 bytes cannot hold this", "", 35, 10 },
	{ "ip 10.1.2.3 > 192.0.2.1 len=20 udp 1 > 2", "the headers and the payload need more bytes than this length has", "", 29, 2 },
	{ "ip 10.1.2.3 > 192.0.2.1 udp 1 > 2 len=7", "the header and the payload need more bytes than this length has", "", 39, 1 },
	{ "mac=02:00:00:00:00 udp 10.1.2.3 > 192.0.2.1:2", "'02:00:00:00:00' is no MAC address", "", 5, 14 },
	{ "vlan=4096 udp 10.1.2.3 > 192.0.2.1:2", "4096 is above 4095", "", 6, 4 },
	{ "vlan=1(qq) udp 10.1.2.3 > 192.0.2.1:2", "'qq' says nothing about a VLAN tag", "ad", 8, 2 },
	{ "t=1.2.3 udp 10.1.2.3 > 192.0.2.1:2", "'1.2.3' is no time in seconds", "", 3, 5 },
	{ "in=eth0", "this line describes no packet", "tcp 10.1.2.3", 1, 7 },
	{ "udp 10.1.2.3 > 192.0.2.1:2 tcp", "the protocol was named before", "", 28, 3 },
	{ "udp 10.1.2.3 >", "an address is missing", "", 15, 0 },
	{ "dscp=ef2 udp 10.1.2.3 > 192.0.2.1:2", "'ef2' is no DSCP class", "did you mean 'ef'?", 6, 3 },
	{ "hex 123", "hex bytes need an even number of digits, here are 3", "", 5, 3 },
};

static void errors_are_at_their_places(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof error_rows / sizeof *error_rows; i++) {
		struct fixture s;
		const struct diag *g;

		if (parse(&s, error_rows[i].line) || s.d.all.n == 0)
			fail_msg("no error: %s", error_rows[i].line);
		g = &s.d.all.v[0];
		if (!strstr(g->text.p, error_rows[i].text) || g->at.off + 1 != error_rows[i].from ||
		    g->at.len != error_rows[i].len || (error_rows[i].hint[0] && (!g->hint.p || !strstr(g->hint.p, error_rows[i].hint))))
			fail_msg("%s\n  %u+%u: %s [%s], not\n  %u+%u: %s [%s]", error_rows[i].line, g->at.off + 1,
				 g->at.len, g->text.p, g->hint.p ? g->hint.p : "", error_rows[i].from,
				 error_rows[i].len, error_rows[i].text, error_rows[i].hint);
		arena_destroy(s.a);
	}
}

static void one_run_shows_all_errors(void **state)
{
	struct fixture s;
	struct packet p;

	(void)state;
	assert_false(parse(&s, "ttl=300 tcp 10.1.2.3 > 192.0.2.1:22 flags=X ct=nwe"));
	assert_int_equal(s.d.n_errors, 3);
	assert_false(notation_parse(s.a, NULL, STR("ttl=300"), (struct loc){ 0 }, &p)); /* nobody listens */
	assert_false(notation_parse(s.a, &s.d, STR("ttl=300"), (struct loc){ 0 }, &p));
	assert_int_equal(s.d.n_errors, 3);
	arena_destroy(s.a);
}

static void same_packet(const char *line, const struct packet *p, const struct packet *q, struct str printed)
{
	if (p->len != q->len || p->wire_len != q->wire_len || p->link != q->link || (p->len && memcmp(p->bytes, q->bytes, p->len)))
		fail_msg("%s\n  printed as %s", line, printed.p);
}

static void printed_packets_read_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_BYTES; i++) {
		struct fixture s;
		struct packet q;
		struct str line;

		must_parse(&s, bytes_rows[i].line);
		line = notation_print(s.a, &s.p);
		assert_true(notation_parse(s.a, NULL, line, (struct loc){ 0 }, &q));
		same_packet(bytes_rows[i].line, &s.p, &q, line);
		/* words, not a dump: but for bytes that are no packet, and one tag more than a frame has names for */
		if (strstr(line.p, "hex ") && strcmp(bytes_rows[i].what, "bytes") != 0)
			fail_msg("%s\n  printed as %s", bytes_rows[i].line, line.p);
		arena_destroy(s.a);
	}
}

static const struct {
	const char *line, *printed;
} print_rows[] = {
	{ "in=eth0 tcp 10.1.2.3 > 192.0.2.1:22 flags=S ct=new", "in=eth0 ct=new ip 10.1.2.3 > 192.0.2.1 tcp 40000 > 22 flags=S" },
	{ "p3: uid=- mark=1 icmp6 2001:db8::1 > 2001:db8::2 type=echo-request", "p3: mark=0x1 uid=- ip6 2001:db8::1 > 2001:db8::2 icmp6 type=128" },
	{ "tcp 10.1.2.3 > 192.0.2.1 frag=8", "ip 10.1.2.3 > 192.0.2.1 frag=8 mf=0 proto=6" },
	{ "eth vlan=5(metadata) type=0x8892", "vlan=5(metadata,pcp=0) eth type=0x8892" },
	{ "tcp 10.1.2.3 > 192.0.2.1:22 mss=1460 cut=30", "ip 10.1.2.3 > 192.0.2.1 tcp 40000 > 22 flags= win=0 doff=0 payload=4B cut=30" },
	{ "hex 4500", "hex 4500" },
	{ "other hex 4500", "other hex 4500" },
	{ "p9: -", "p9: -" },
	{ "eth hex 00", "eth hex 00" },
	{ "hex 4500001400000000ff0600000a0102030a010204 cut=1", "ip 0.0.0.0" },
};

static void printed_lines_are_short(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof print_rows / sizeof *print_rows; i++) {
		struct fixture s;
		struct packet q;
		struct str line;

		must_parse(&s, print_rows[i].line);
		line = notation_print(s.a, &s.p);
		if (!str_starts(line, print_rows[i].printed) && !strstr(line.p, "hex"))
			fail_msg("%s\n  printed as %s\n  wanted     %s", print_rows[i].line, line.p, print_rows[i].printed);
		assert_true(notation_parse(s.a, NULL, line, (struct loc){ 0 }, &q));
		same_packet(print_rows[i].line, &s.p, &q, line);
		assert_true(q.mark == s.p.mark && q.ct == s.p.ct && q.uid == s.p.uid && q.vlan_meta == s.p.vlan_meta &&
			    str_eq(q.id, s.p.id) && strcmp(q.iif, s.p.iif) == 0);
		arena_destroy(s.a);
	}
}

static uint64_t seed = 20240607;

static uint32_t dice(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Bytes flipped, cut off and added: whatever comes out is printed and reads back. */
static void damaged_packets_read_back(void **state)
{
	(void)state;
	for (size_t round = 0; round < 3000; round++) {
		struct fixture s;
		struct packet p, q;
		uint8_t bytes[2048];
		struct str line;

		must_parse(&s, bytes_rows[dice(N_BYTES)].line);
		p = s.p;
		memcpy(bytes, p.bytes, p.len);
		for (uint32_t k = dice(4); k > 0; k--)
			bytes[dice(p.len)] ^= (uint8_t)(1u << dice(8));
		if (dice(3) == 0)
			p.len = p.wire_len = 1 + dice(p.len);
		if (dice(3) == 0)
			p.len = 1 + dice(p.len);
		p.bytes = bytes;
		line = notation_print(s.a, &p);
		if (!notation_parse(s.a, NULL, line, (struct loc){ 0 }, &q))
			fail_msg("does not read back: %s", line.p);
		same_packet("a damaged packet", &p, &q, line);
		arena_destroy(s.a);
	}
}

/* Lines with bytes changed, doubled and cut: read or refused, nothing else. */
static void damaged_lines_are_refused_or_read(void **state)
{
	static const char spice[] = "=>():,[]\"\\#x/.-0 B";
	size_t read = 0, refused = 0;

	(void)state;
	for (size_t round = 0; round < 6000; round++) {
		const char *line = bytes_rows[dice(N_BYTES)].line;
		char text[512];
		size_t n = strlen(line);
		struct fixture s;

		memcpy(text, line, n + 1);
		for (uint32_t k = 1 + dice(3); k > 0; k--)
			text[dice((uint32_t)n)] = spice[dice(sizeof spice - 1)];
		if (dice(4) == 0)
			text[dice((uint32_t)n)] = '\0';
		if (parse(&s, text)) {
			read++;
			assert_int_equal(s.d.n_errors, 0);
		} else {
			refused++;
			assert_true(s.d.n_errors > 0);
		}
		arena_destroy(s.a);
	}
	assert_true(read > 100 && refused > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_become_the_right_bytes),
		cmocka_unit_test(dccp_and_udplite_have_their_headers),
		cmocka_unit_test(words_about_the_machine_are_kept),
		cmocka_unit_test(cut_and_truncated_are_different),
		cmocka_unit_test(errors_are_at_their_places),
		cmocka_unit_test(one_run_shows_all_errors),
		cmocka_unit_test(printed_packets_read_back),
		cmocka_unit_test(printed_lines_are_short),
		cmocka_unit_test(damaged_packets_read_back),
		cmocka_unit_test(damaged_lines_are_refused_or_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
