/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Captures of every link type, made here through libpcap or by hand; what is not one is refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "eval/eval.h"
#include "packet/capture.h"
#include "packet/notation.h"

struct fixture {
	struct arena *a;
	char path[64];
};

static int setup(void **state)
{
	struct fixture *s = test_calloc(1, sizeof *s);
	int fd;

	s->a = arena_create();
	strcpy(s->path, "/tmp/weir-capture-XXXXXX");
	fd = mkstemp(s->path);
	assert_true(fd >= 0);
	close(fd);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *s = *state;

	unlink(s->path);
	arena_destroy(s->a);
	test_free(s);
	return 0;
}

static uint8_t nibble(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static uint32_t from_hex(const char *hex, uint8_t *out)
{
	uint32_t n = 0;

	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		out[n++] = (uint8_t)(nibble(hex[0]) << 4 | nibble(hex[1]));
		hex++;
	}
	return n;
}

/* A capture of one record: `hex`, of which all was captured, and `more` bytes were not. */
static void write_capture(const struct fixture *s, int link, const char *hex, uint32_t more)
{
	uint8_t bytes[512];
	struct pcap_pkthdr head = { .ts = { 1700000000, 123456789 } };
	pcap_t *dead = pcap_open_dead_with_tstamp_precision(link, 65535, PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *out = pcap_dump_open(dead, s->path);

	assert_non_null(out);
	head.caplen = from_hex(hex, bytes);
	head.len = head.caplen + more;
	pcap_dump((u_char *)out, &head, bytes);
	pcap_dump_close(out);
	pcap_close(dead);
}

#define IP4 "4500001c00000000401100000a0102030a010204 0001000200080000"
#define IP6 "60000000000811400000000000000000000000000000000100000000000000000000000000000002 0001000200080000"
#define ARP "0001080006040001020000000001c0000207000000000000c0000201"

static const struct {
	const char *what;
	int link;
	const char *hex;
	enum packet_link want;
	bool is_ip;
	enum family family;
	int sport; /* -1: not read */
	int pkttype, vlan;
} rows[] = {
	{ "Ethernet", DLT_EN10MB, "020000000002 020000000001 0800" IP4, PACKET_LINK_ETHER, true, FAMILY_IP4, 1, -1, -1 },
	{ "raw IPv4", DLT_RAW, IP4, PACKET_LINK_IP, true, FAMILY_IP4, 1, -1, -1 },
	{ "raw IPv6", DLT_RAW, IP6, PACKET_LINK_IP, true, FAMILY_IP6, 1, -1, -1 },
	{ "IPv4 by name", DLT_IPV4, IP4, PACKET_LINK_IP, true, FAMILY_IP4, 1, -1, -1 },
	{ "IPv6 by name", DLT_IPV6, IP6, PACKET_LINK_IP, true, FAMILY_IP6, 1, -1, -1 },
	{ "SLL, to us", DLT_LINUX_SLL, "0000 0001 0006 0200000000010000 0800" IP4, PACKET_LINK_IP, true, FAMILY_IP4, 1, 0, -1 },
	{ "SLL, broadcast", DLT_LINUX_SLL, "0001 0001 0006 0200000000010000 86dd" IP6, PACKET_LINK_IP, true, FAMILY_IP6, 1, 1, -1 },
	{ "SLL, sent by us", DLT_LINUX_SLL, "0004 0001 0006 0200000000010000 0800" IP4, PACKET_LINK_IP, true, FAMILY_IP4, 1, -1, -1 },
	{ "SLL, ARP", DLT_LINUX_SLL, "0000 0001 0006 0200000000010000 0806" ARP, PACKET_LINK_OTHER, false, FAMILY_FRAME, -1, 0, -1 },
	{ "SLL, a tag", DLT_LINUX_SLL, "0002 0001 0006 0200000000010000 8100 0007 0800" IP4, PACKET_LINK_IP, true, FAMILY_IP4, 1, 2, 7 },
	{ "SLL, two tags", DLT_LINUX_SLL, "0000 0001 0006 0200000000010000 88a8 0007 8100 0008 86dd" IP6, PACKET_LINK_IP, true, FAMILY_IP6, 1, 0, 7 },
	{ "SLL, three tags", DLT_LINUX_SLL, "0000 0001 0006 0200000000010000 8100 0007 8100 0008 8100 0009 0800" IP4, PACKET_LINK_OTHER, false, FAMILY_FRAME, -1, 0, 7 },
	{ "SLL, cut", DLT_LINUX_SLL, "0000 0001 0006 02000000000100", PACKET_LINK_OTHER, false, FAMILY_FRAME, -1, -1, -1 },
	{ "SLL2", DLT_LINUX_SLL2, "0800 0000 00000003 0001 02 06 0200000000010000" IP4, PACKET_LINK_IP, true, FAMILY_IP4, 1, 2, -1 },
	{ "SLL2, cut", DLT_LINUX_SLL2, "0800 0000", PACKET_LINK_OTHER, false, FAMILY_FRAME, -1, -1, -1 },
	{ "PPP", DLT_PPP, "0021" IP4, PACKET_LINK_IP, true, FAMILY_IP4, 1, -1, -1 },
	{ "PPP with address and control", DLT_PPP, "ff03 0057" IP6, PACKET_LINK_IP, true, FAMILY_IP6, 1, -1, -1 },
	{ "PPP, protocol in one byte", DLT_PPP_SERIAL, "21" IP4, PACKET_LINK_IP, true, FAMILY_IP4, 1, -1, -1 },
	{ "PPP, LCP", DLT_PPP, "c021 0101", PACKET_LINK_OTHER, false, FAMILY_FRAME, -1, -1, -1 },
	{ "PPP, direction in front", DLT_PPP_PPPD, "00 ff03 0021" IP4, PACKET_LINK_IP, true, FAMILY_IP4, 1, -1, -1 },
	{ "PPP, one byte", DLT_PPP, "00", PACKET_LINK_OTHER, false, FAMILY_FRAME, -1, -1, -1 },
	{ "null, one byte order", DLT_NULL, "02000000" IP4, PACKET_LINK_IP, true, FAMILY_IP4, 1, -1, -1 },
	{ "null, the other", DLT_NULL, "0000001c" IP6, PACKET_LINK_IP, true, FAMILY_IP6, 1, -1, -1 },
	{ "null, not IP", DLT_NULL, "07000000" IP6, PACKET_LINK_OTHER, false, FAMILY_FRAME, -1, -1, -1 },
	{ "loop", DLT_LOOP, "00000002" IP4, PACKET_LINK_IP, true, FAMILY_IP4, 1, -1, -1 },
};

static void every_link_type_is_read(void **state)
{
	struct fixture *s = *state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct capture *c;
		struct packet p;
		struct facts f;
		struct str why;

		write_capture(s, rows[i].link, rows[i].hex, 0);
		c = capture_open(s->a, s->path, &why);
		if (!c)
			fail_msg("%s: %.*s", rows[i].what, STR_ARG(why));
		assert_int_equal(capture_next(c, &p), 1);
		facts_read(&f, &p);
		if (p.link != rows[i].want || f.is_ip != rows[i].is_ip || f.family != rows[i].family ||
		    p.pkttype != rows[i].pkttype || p.vlan_meta != rows[i].vlan || f.is_malformed ||
		    (rows[i].sport < 0 ? f.has[FIELD_SPORT] != EVAL_NO : f.v[FIELD_SPORT] != (u128)rows[i].sport))
			fail_msg("%s: link %d ip %d kind %d tag %d %s", rows[i].what, p.link, f.is_ip, p.pkttype, p.vlan_meta,
				 f.is_malformed ? f.malformed : "");
		assert_true(p.has_time && p.time_is_epoch);
		assert_true(p.time_ns == 1700000000123456789);
		assert_int_equal(capture_packets(c), 1);
		assert_int_equal(capture_next(c, &p), 0);
		assert_int_equal(capture_bytes_read(c), capture_size(c));
		assert_true(capture_size(c) > 24);
		capture_close(c);
	}
}

static void what_was_not_captured_is_counted(void **state)
{
	struct fixture *s = *state;
	struct capture *c;
	struct packet p;
	struct facts f;
	struct str why;

	write_capture(s, DLT_LINUX_SLL, "0000 0001 0006 0200000000010000 0800 4500041c00000000401100000a0102030a010204 00010002", 1028);
	c = capture_open(s->a, s->path, &why);
	assert_non_null(c);
	assert_int_equal(capture_next(c, &p), 1);
	assert_int_equal(p.len, 24);
	assert_int_equal(p.wire_len, 1052);
	facts_read(&f, &p);
	assert_false(f.is_malformed);
	assert_true(f.v[FIELD_DPORT] == 2 && f.known[FIELD_DPORT]);
	capture_close(c);
}

/* A netlink log record: 4 bytes, then attributes in this machine's byte order. */
static void nflog_gives_what_its_attributes_say(void **state)
{
	struct fixture *s = *state;
	char hex[512];
	struct capture *c;
	struct packet p;
	struct facts f;
	struct str why;
	const char *ip = "4500041c00000000401100000a0102030a01020400010002 04080000";

	snprintf(hex, sizeof hex, "02 00 0000 0800 0200 00000010 0800 0b00 000003e8 0800 0e00 00000064 2000 0900 %s 0500 0a00 41000000", ip);
	write_capture(s, DLT_NFLOG, hex, 0);
	c = capture_open(s->a, s->path, &why);
	assert_non_null(c);
	assert_int_equal(capture_next(c, &p), 1);
	assert_int_equal(p.link, PACKET_LINK_IP);
	assert_true(p.has_mark);
	assert_int_equal(p.mark, 16);
	assert_int_equal(p.uid, 1000);
	assert_int_equal(p.gid, 100);
	assert_int_equal(p.len, 28);
	assert_int_equal(p.wire_len, 0x41c); /* as the IP header says: the log copies only a part */
	facts_read(&f, &p);
	assert_true(!f.is_malformed && f.v[FIELD_DPORT] == 2);
	capture_close(c);

	write_capture(s, DLT_NFLOG, "07 00 0000 0800 0900 00000010", 0); /* a bridge family */
	c = capture_open(s->a, s->path, &why);
	assert_int_equal(capture_next(c, &p), 1);
	assert_int_equal(p.link, PACKET_LINK_OTHER);
	capture_close(c);

	write_capture(s, DLT_NFLOG, "02 00 0000 0000 0900 00000010", 0); /* a length below its own header */
	c = capture_open(s->a, s->path, &why);
	assert_int_equal(capture_next(c, &p), 1);
	assert_int_equal(p.len, 0);
	facts_read(&f, &p);
	assert_true(f.is_malformed);
	capture_close(c);

	write_capture(s, DLT_NFLOG, "02 00 0000 ffff 0900 45000014", 0); /* a length beyond the record */
	c = capture_open(s->a, s->path, &why);
	assert_int_equal(capture_next(c, &p), 1);
	assert_int_equal(p.len, 4);
	capture_close(c);
}

static void write_file(const struct fixture *s, const void *bytes, size_t n)
{
	FILE *f = fopen(s->path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

/* Section header, one Ethernet interface, one packet of 42 bytes. */
static void pcapng_is_read(void **state)
{
	struct fixture *s = *state;
	uint8_t bytes[256];
	struct capture *c;
	struct packet p;
	struct str why;
	uint32_t n = from_hex("0a0d0d0a 1c000000 4d3c2b1a 01000000 ffffffffffffffff 1c000000"
			      "01000000 14000000 01000000 ffff0000 14000000"
			      "06000000 4c000000 00000000 00000500 40420f00 2a000000 2a000000"
			      "020000000002 020000000001 0800" IP4 "0000 4c000000",
			      bytes);

	write_file(s, bytes, n);
	c = capture_open(s->a, s->path, &why);
	if (!c)
		fail_msg("%.*s", STR_ARG(why));
	assert_string_equal(capture_link_name(c), "EN10MB");
	assert_int_equal(capture_next(c, &p), 1);
	assert_int_equal(p.len, 42);
	assert_int_equal(p.link, PACKET_LINK_ETHER);
	assert_int_equal(capture_next(c, &p), 0);
	capture_close(c);
}

static void others_are_refused_by_name(void **state)
{
	struct fixture *s = *state;
	struct str why;

	write_capture(s, DLT_IEEE802_11, "00", 0);
	assert_null(capture_open(s->a, s->path, &why));
	assert_non_null(strstr(why.p, s->path));
	assert_non_null(strstr(why.p, "link type IEEE802_11 (105) is not supported; Ethernet, raw IP"));
	write_capture(s, 147, "00", 0); /* a private one */
	assert_null(capture_open(s->a, s->path, &why));
	assert_non_null(strstr(why.p, "(147) is not supported"));
	write_file(s, "not a capture at all, but text", 30);
	assert_null(capture_open(s->a, s->path, &why));
	assert_non_null(strstr(why.p, "not a capture that can be read"));
	write_file(s, "", 0);
	assert_null(capture_open(s->a, s->path, &why));
	assert_non_null(strstr(why.p, "not a capture that can be read"));
	assert_null(capture_open(s->a, "/nonexistent/file.pcap", &why));
	assert_string_equal(why.p, "/nonexistent/file.pcap: No such file or directory");
	assert_null(capture_open(s->a, "/tmp", &why));
	assert_true(why.n > 0);
}

static void a_file_cut_short_is_an_error_behind_its_packets(void **state)
{
	struct fixture *s = *state;
	uint8_t bytes[512];
	size_t n;
	FILE *f;
	struct capture *c;
	struct packet p;
	struct str why;

	write_capture(s, DLT_RAW, IP4, 0);
	f = fopen(s->path, "rb");
	assert_non_null(f);
	n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	memcpy(bytes + n, bytes + 24, n - 24); /* the record once more, but for its last byte */
	write_file(s, bytes, n + n - 24 - 1);
	c = capture_open(s->a, s->path, &why);
	assert_non_null(c);
	assert_int_equal(capture_next(c, &p), 1);
	assert_int_equal(capture_next(c, &p), -1);
	assert_non_null(strstr(capture_error(c).p, "after packet 1: truncated"));
	capture_close(c);
}

static uint64_t seed = 99;

static uint32_t dice(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Records of every link type with bytes changed and cut, read, judged and printed. */
static void damaged_records_are_safe(void **state)
{
	struct fixture *s = *state;
	unsigned ip = 0;

	for (unsigned round = 0; round < 3000; round++) {
		size_t row = dice(sizeof rows / sizeof *rows);
		char hex[512];
		struct arena *a = arena_create();
		struct capture *c;
		struct packet p, q;
		struct facts f;
		struct str why;

		snprintf(hex, sizeof hex, "%s", rows[row].hex);
		for (uint32_t k = dice(4); k > 0; k--) {
			char *at = &hex[dice((uint32_t)strlen(hex))];

			*at = *at == ' ' ? ' ' : "0123456789abcdef"[dice(16)];
		}
		write_capture(s, dice(8) ? rows[row].link : DLT_NFLOG, hex, dice(3) ? 0 : dice(2000));
		c = capture_open(a, s->path, &why);
		assert_non_null(c);
		assert_int_equal(capture_next(c, &p), 1);
		facts_read(&f, &p);
		ip += f.is_ip;
		assert_true(p.wire_len >= p.len);
		assert_true(notation_parse(a, NULL, notation_print(a, &p), (struct loc){ 0 }, &q));
		assert_true(q.len == p.len && (p.len == 0 || memcmp(p.bytes, q.bytes, p.len) == 0));
		capture_close(c);
		arena_destroy(a);
	}
	assert_true(ip > 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_link_type_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_not_captured_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(nflog_gives_what_its_attributes_say, setup, teardown),
		cmocka_unit_test_setup_teardown(pcapng_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(others_are_refused_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_cut_short_is_an_error_behind_its_packets, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_records_are_safe, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
