/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The library's promises: reports, identities, what a packet does not say, memory, threads, sizes of structs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/weir.h"

static const char text_rules[] = "*filter\n"
				 ":INPUT DROP [0:0]\n"
				 ":web - [0:0]\n"
				 "-A INPUT -i lo -j ACCEPT\n"
				 "-A INPUT -s 192.0.2.0/24 -p tcp -j web\n"
				 "-A INPUT -p udp -j REJECT\n"
				 "-A INPUT -p icmp -j MARK --set-mark 7\n"
				 "-A web -p tcp -m multiport --dports 80,443 -j ACCEPT\n"
				 "COMMIT\n";

static struct weir_rules *compile(const char *text)
{
	struct weir_source s = { .name = "test.v4", .text = text, .text_len = strlen(text) };
	struct weir_report *report;
	struct weir_rules *r;

	if (weir_compile(&s, 1, NULL, &r, &report))
		print_message("%s", weir_report_text(report));
	weir_report_free(report);
	assert_non_null(r);
	return r;
}

static struct weir_facts facts_of(const char *in)
{
	struct weir_said said = { .size = sizeof said, .in = in, .out = "" };
	struct weir_facts f;

	assert_int_equal(weir_facts_set(&f, &said), WEIR_OK);
	return f;
}

/* An IPv4 packet of 40 bytes from 192.0.2.1 to 198.51.100.2. */
static struct weir_packet packet_of(uint8_t bytes[40], uint8_t proto, uint16_t dport, const struct weir_facts *f)
{
	static const uint8_t head[20] = { 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 0, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2 };

	memset(bytes, 0, 40);
	memcpy(bytes, head, sizeof head);
	bytes[9] = proto;
	bytes[22] = (uint8_t)(dport >> 8);
	bytes[23] = (uint8_t)dport;
	bytes[32] = 0x50;
	return (struct weir_packet){ .data = bytes, .len = 40, .facts = f, .link = WEIR_LINK_IP };
}

static struct weir_result judge_one(struct weir_rules *r, unsigned hooks, const struct weir_packet *p)
{
	struct weir_context *c = weir_context_create(r, NULL);
	struct weir_result out;

	assert_non_null(c);
	assert_int_equal(weir_classify(c, hooks, p, 1, &out), WEIR_OK);
	weir_context_free(c);
	return out;
}

static void results_name_the_rule(void **state)
{
	static const struct {
		const char *what, *in;
		uint8_t proto;
		uint16_t dport;
		enum weir_verdict verdict;
		uint32_t mark, line;
		const char *text;
	} row[] = {
		{ "a rule", "lo", 6, 22, WEIR_ACCEPT, 0, 4, "-i lo -j ACCEPT" },
		{ "a rule of a called chain", "eth0", 6, 443, WEIR_ACCEPT, 0, 8, "-p tcp -m multiport --dports 80,443 -j ACCEPT" },
		{ "a policy behind a call", "eth0", 6, 22, WEIR_DROP, 0, 2, "policy drop" },
		{ "a reject", "eth0", 17, 53, WEIR_REJECT, 0, 6, NULL },
		{ "a policy behind a mark", "eth0", 1, 0, WEIR_DROP, 7, 2, "policy drop" },
	};
	struct weir_rules *r = compile(text_rules);

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct weir_facts f = facts_of(row[i].in);
		uint8_t bytes[40];
		struct weir_packet p = packet_of(bytes, row[i].proto, row[i].dport, &f);
		struct weir_result out = judge_one(r, WEIR_HOOK_INPUT, &p);
		const struct weir_rule *rule = weir_rules_get(r, out.rule);

		print_message("# %s\n", row[i].what);
		assert_int_equal(out.verdict, row[i].verdict);
		assert_int_equal(out.mark, row[i].mark);
		assert_non_null(rule);
		assert_int_equal(rule->line, row[i].line);
		assert_string_equal(rule->file, "test.v4");
		assert_string_equal(rule->table, "filter");
		assert_int_equal(rule->is_policy, strncmp(rule->text, "policy", 6) == 0);
		if (row[i].text)
			assert_string_equal(rule->text, row[i].text);
	}
	weir_rules_free(r);
}

static void errors_are_told_with_their_place(void **state)
{
	static const char bad[] = "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp --dport 70000 -j DROP\n-A INPUT -j DORP\nCOMMIT\n";
	struct weir_source s = { .name = "bad.v4", .text = bad, .text_len = sizeof bad - 1 };
	const struct weir_diagnostic *d;
	struct weir_report *report;
	struct weir_rules *r = (struct weir_rules *)(uintptr_t)1;

	(void)state;
	assert_int_equal(weir_compile(&s, 1, NULL, &r, &report), WEIR_ERROR_RULES);
	assert_null(r);
	assert_int_equal(weir_report_count(report), 2);
	d = weir_report_get(report, 0);
	assert_string_equal(d->file, "bad.v4");
	assert_int_equal(d->line, 3);
	assert_int_equal(d->column, 25);
	assert_int_equal(d->length, 5);
	assert_string_equal(d->text, "port 70000 is above 65535");
	assert_string_equal(d->rendered, "bad.v4:3:25: error: port 70000 is above 65535\n-A INPUT -p tcp --dport 70000 -j DROP\n"
					 "                        ^~~~~\n");
	assert_string_equal(weir_report_get(report, 1)->help, "did you mean 'DROP'?");
	assert_null(weir_report_get(report, 2));
	assert_non_null(strstr(weir_report_text(report), "bad.v4:4:13: error"));
	weir_report_free(report);
	assert_int_equal(weir_compile(&s, 1, NULL, &r, NULL), WEIR_ERROR_RULES); /* nobody wants to know */
}

static void files_that_are_not_there_are_told(void **state)
{
	struct weir_source s = { .name = "/nonexistent/rules" };
	struct weir_report *report;
	struct weir_rules *r;

	(void)state;
	assert_int_equal(weir_compile(&s, 1, NULL, &r, &report), WEIR_ERROR_FILE);
	assert_string_equal(weir_report_text(report), "error: cannot read /nonexistent/rules: No such file or directory\n");
	weir_report_free(report);
}

static void what_a_library_cannot_do_is_an_error(void **state)
{
	static const char *const texts[] = {
		"*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -m devgroup --src-group 3 -j DROP\nCOMMIT\n",
		"*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -m addrtype --dst-type LOCAL -j DROP\nCOMMIT\n",
		"*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -j MASQUERADE\nCOMMIT\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct weir_source s = { .name = "x", .text = texts[i], .text_len = strlen(texts[i]) };
		struct weir_report *report;
		struct weir_rules *r;

		assert_int_equal(weir_compile(&s, 1, NULL, &r, &report), WEIR_ERROR_RULES);
		assert_int_equal(weir_report_get(report, 0)->line, 3);
		weir_report_free(report);
	}
}

static void what_is_not_said_is_unknown(void **state)
{
	static const char text[] = "*filter\n:INPUT ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n-A INPUT -i lo -j ACCEPT\n"
				   "-A INPUT -m conntrack --ctstate NEW -j DROP\n-A OUTPUT -m owner --uid-owner 0 -j DROP\nCOMMIT\n";
	struct weir_facts in = facts_of("eth0"), none = facts_of("");
	struct weir_rules *r = compile(text);
	struct weir_result out;
	uint8_t bytes[40];
	struct weir_packet p = packet_of(bytes, 6, 1, NULL);

	(void)state;
	assert_int_equal(weir_rules_asks(r, WEIR_HOOK_INPUT), WEIR_FACT_IN | WEIR_FACT_CT);
	assert_int_equal(weir_rules_asks(r, WEIR_HOOK_OUTPUT), WEIR_FACT_SOCKET);
	assert_int_equal(weir_rules_asks(r, WEIR_HOOK_FORWARD), 0);
	out = judge_one(r, WEIR_HOOK_INPUT, &p);
	assert_int_equal(out.verdict, WEIR_UNKNOWN);
	assert_int_equal(out.lacks, WEIR_FACT_IN | WEIR_FACT_CT);
	assert_int_equal(out.rule, WEIR_NO_RULE);
	p.facts = &in;
	assert_int_equal(judge_one(r, WEIR_HOOK_INPUT, &p).lacks, WEIR_FACT_CT);
	p.ct = WEIR_CT_NEW;
	assert_int_equal(judge_one(r, WEIR_HOOK_INPUT, &p).verdict, WEIR_DROP);
	p.ct = WEIR_CT_INVALID;
	assert_int_equal(judge_one(r, WEIR_HOOK_INPUT, &p).verdict, WEIR_ACCEPT);
	p.facts = &none; /* no interface is something that is said */
	assert_int_equal(judge_one(r, WEIR_HOOK_INPUT, &p).verdict, WEIR_ACCEPT);
	assert_int_equal(judge_one(r, WEIR_HOOK_OUTPUT, &p).lacks, WEIR_FACT_SOCKET);
	weir_rules_free(r);
}

static void keys_judge_like_bytes(void **state)
{
	struct weir_facts f = facts_of("eth0");
	struct weir_rules *r = compile(text_rules);
	struct weir_context *c = weir_context_create(r, NULL);
	struct weir_key k = { .src = { 192, 0, 2, 1 }, .dst = { 198, 51, 100, 2 }, .proto = 6, .dport = 443, .length = 40, .facts = &f };
	struct weir_result out;
	uint64_t packets, bytes;

	(void)state;
	assert_int_equal(weir_classify_keys(c, WEIR_HOOK_INPUT, &k, 1, &out), WEIR_OK);
	assert_int_equal(out.verdict, WEIR_ACCEPT);
	assert_int_equal(weir_rules_get(r, out.rule)->line, 8);
	weir_context_count(c, out.rule, &packets, &bytes);
	assert_int_equal(packets, 1);
	assert_int_equal(bytes, 40);
	k.flags = WEIR_KEY_LATER; /* no ports */
	weir_classify_keys(c, WEIR_HOOK_INPUT, &k, 1, &out);
	assert_int_equal(out.verdict, WEIR_DROP);
	k.facts = NULL;
	weir_classify_keys(c, WEIR_HOOK_INPUT, &k, 1, &out);
	assert_int_equal(out.verdict, WEIR_UNKNOWN);
	weir_context_free(c);
	weir_rules_free(r);
}

static void keys_do_not_say_what_bytes_say(void **state)
{
	static const char text[] = "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp --tcp-option 8 -j DROP\n-A INPUT -m ttl --ttl-lt 5 -j DROP\n"
				   "COMMIT\n";
	struct weir_rules *r = compile(text);
	struct weir_context *c = weir_context_create(r, NULL);
	struct weir_key k = { .src = { 192, 0, 2, 1 }, .proto = 6, .length = 40 };
	struct weir_result out;

	(void)state;
	weir_classify_keys(c, WEIR_HOOK_INPUT, &k, 1, &out);
	assert_int_equal(out.verdict, WEIR_UNKNOWN);
	assert_int_equal(out.lacks, WEIR_FACT_BYTES | WEIR_FACT_HEADER);
	k.flags = WEIR_KEY_HEADER;
	weir_classify_keys(c, WEIR_HOOK_INPUT, &k, 1, &out);
	assert_int_equal(out.lacks, WEIR_FACT_BYTES);
	weir_context_free(c);
	weir_rules_free(r);
}

static void rules_live_as_long_as_their_contexts(void **state)
{
	struct weir_facts f = facts_of("lo");
	struct weir_rules *r = compile(text_rules);
	struct weir_context *c = weir_context_create(r, NULL);
	struct weir_result out;
	uint8_t bytes[40];
	struct weir_packet p = packet_of(bytes, 6, 1, &f);

	(void)state;
	weir_rules_free(r);
	assert_int_equal(weir_classify(c, WEIR_HOOK_INPUT, &p, 1, &out), WEIR_OK);
	assert_int_equal(out.verdict, WEIR_ACCEPT);
	weir_context_free(c);
	weir_context_free(NULL);
	weir_rules_free(NULL);
}

/* Structs of a later version: the same members first, more behind. */
static void larger_structs_are_stepped_over(void **state)
{
	struct later_packet { struct weir_packet p; uint64_t more[3]; } packet[40];
	struct later_result { struct weir_result r; uint64_t more; } result[40];
	struct weir_context_options o = WEIR_CONTEXT_OPTIONS;
	struct weir_facts f = facts_of("eth0");
	struct weir_rules *r = compile(text_rules);
	struct weir_context *c;
	uint8_t bytes[40][40];

	(void)state;
	memset(result, 0xaa, sizeof result);
	for (unsigned i = 0; i < 40; i++) {
		memset(&packet[i], 0xff, sizeof packet[i]);
		packet[i].p = packet_of(bytes[i], 6, i % 3 ? 443 : 22, &f);
	}
	o.packet_size = sizeof *packet;
	o.result_size = sizeof *result;
	c = weir_context_create(r, &o);
	assert_int_equal(weir_classify(c, WEIR_HOOK_INPUT, &packet->p, 40, &result->r), WEIR_OK);
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(result[i].r.verdict, i % 3 ? WEIR_ACCEPT : WEIR_DROP);
		assert_int_equal(result[i].more, 0xaaaaaaaaaaaaaaaa);
	}
	weir_context_free(c);
	o.result_size = 4;
	assert_null(weir_context_create(r, &o));
	weir_rules_free(r);
}

static void wrong_use_is_refused(void **state)
{
	struct weir_rules *r = compile(text_rules), *none;
	struct weir_context *c = weir_context_create(r, NULL);
	struct weir_options small = { .size = 4 };
	struct weir_source no_lang = { .text = "", .language = "cobol" }, no_name = { .language = "ipset" };
	struct weir_said long_name = { .size = sizeof long_name, .in = "0123456789abcdef" };
	struct weir_facts f = facts_of("eth0");
	struct weir_packet p[2] = { { .len = 5 } };
	struct weir_result out[2];
	uint8_t bytes[40];

	(void)state;
	p[1] = packet_of(bytes, 6, 443, &f);
	assert_int_equal(weir_compile(NULL, 1, NULL, &none, NULL), WEIR_ERROR_USE);
	assert_int_equal(weir_compile(NULL, 0, NULL, NULL, NULL), WEIR_ERROR_USE);
	assert_int_equal(weir_compile(NULL, 0, &small, &none, NULL), WEIR_ERROR_USE);
	assert_int_equal(weir_compile(&no_lang, 1, NULL, &none, NULL), WEIR_ERROR_USE);
	assert_int_equal(weir_compile(&no_name, 1, NULL, &none, NULL), WEIR_ERROR_USE);
	assert_int_equal(weir_facts_set(&f, &long_name), WEIR_ERROR_USE);
	f = facts_of("eth0");
	assert_int_equal(weir_classify(c, 0, p, 1, out), WEIR_ERROR_USE);
	assert_int_equal(weir_classify(c, 32, p, 1, out), WEIR_ERROR_USE);
	assert_int_equal(weir_classify(NULL, 1, p, 1, out), WEIR_ERROR_USE);
	assert_int_equal(weir_classify(c, WEIR_HOOK_INPUT, NULL, 0, NULL), WEIR_OK);
	assert_int_equal(weir_classify(c, WEIR_HOOK_INPUT, p, 2, out), WEIR_ERROR_USE); /* no bytes, five of them */
	assert_int_equal(out[0].verdict, WEIR_UNKNOWN);
	assert_int_equal(out[1].verdict, WEIR_ACCEPT); /* the other is judged all the same */
	weir_context_free(c);
	weir_rules_free(r);
}

static void tables_can_be_left_out(void **state)
{
	static const char text[] = "*nat\n:POSTROUTING ACCEPT [0:0]\n-A POSTROUTING -j MASQUERADE\nCOMMIT\n"
				   "*filter\n:INPUT DROP [0:0]\nCOMMIT\n";
	struct weir_source s = { .name = "x", .text = text, .text_len = sizeof text - 1 };
	struct weir_options o = { .size = sizeof o, .tables = "filter" };
	struct weir_rules *r;

	(void)state;
	assert_int_equal(weir_compile(&s, 1, NULL, &r, NULL), WEIR_ERROR_RULES);
	assert_int_equal(weir_compile(&s, 1, &o, &r, NULL), WEIR_OK);
	weir_rules_free(r);
	o.tables = "filter,fliter";
	assert_int_equal(weir_compile(&s, 1, &o, &r, NULL), WEIR_ERROR_RULES);
}

static void memory_that_runs_out_is_an_error(void **state)
{
	size_t n = sizeof text_rules + 100000 * 40;
	char *text = malloc(n), *at = text;
	struct weir_options o = { .size = sizeof o };
	struct weir_source s = { .name = "big", .text = text };
	struct weir_report *report = (struct weir_report *)(uintptr_t)1;
	struct weir_rules *r;

	(void)state;
	at += snprintf(at, 100, "*filter\n:INPUT DROP [0:0]\n");
	for (unsigned i = 0; i < 20000; i++)
		at += snprintf(at, 60, "-A INPUT -s 10.%u.%u.1 -j ACCEPT\n", i / 256, i % 256);
	snprintf(at, 10, "COMMIT\n");
	s.text_len = strlen(text);
	for (o.most_memory = 1 << 16; o.most_memory <= 8 << 20; o.most_memory *= 2) {
		assert_int_equal(weir_compile(&s, 1, &o, &r, &report), WEIR_ERROR_MEMORY);
		assert_null(r);
		assert_null(report);
	}
	o.most_memory = 1 << 30;
	assert_int_equal(weir_compile(&s, 1, &o, &r, NULL), WEIR_OK);
	weir_rules_free(r);
	free(text);
}

/* ---------- threads ---------- */

struct thread {
	pthread_t id;
	struct weir_rules *rules;
	unsigned accepts, drops;
};

static void *thread_run(void *arg)
{
	struct thread *t = arg;
	struct weir_context *c = weir_context_create(t->rules, NULL);
	struct weir_facts f = facts_of("eth0");
	struct weir_packet p[64];
	struct weir_result out[64];
	uint8_t bytes[64][40];

	for (unsigned i = 0; i < 64; i++)
		p[i] = packet_of(bytes[i], 6, i % 2 ? 443 : 22, &f);
	for (unsigned round = 0; round < 500; round++) {
		weir_classify(c, WEIR_HOOK_INPUT | WEIR_HOOK_PREROUTING, p, 64, out);
		for (unsigned i = 0; i < 64; i++) {
			t->accepts += out[i].verdict == WEIR_ACCEPT;
			t->drops += out[i].verdict == WEIR_DROP;
		}
	}
	weir_context_free(c);
	return NULL;
}

static void threads_share_rules(void **state)
{
	struct weir_rules *r = compile(text_rules);
	struct thread t[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		t[i] = (struct thread){ .rules = r };
		assert_int_equal(pthread_create(&t[i].id, NULL, thread_run, &t[i]), 0);
	}
	weir_rules_free(compile(text_rules)); /* compiling meanwhile is no matter */
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(t[i].id, NULL);
		assert_int_equal(t[i].accepts, 500 * 32);
		assert_int_equal(t[i].drops, 500 * 32);
	}
	weir_rules_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_name_the_rule),
		cmocka_unit_test(errors_are_told_with_their_place),
		cmocka_unit_test(files_that_are_not_there_are_told),
		cmocka_unit_test(what_a_library_cannot_do_is_an_error),
		cmocka_unit_test(what_is_not_said_is_unknown),
		cmocka_unit_test(keys_judge_like_bytes),
		cmocka_unit_test(keys_do_not_say_what_bytes_say),
		cmocka_unit_test(rules_live_as_long_as_their_contexts),
		cmocka_unit_test(larger_structs_are_stepped_over),
		cmocka_unit_test(wrong_use_is_refused),
		cmocka_unit_test(tables_can_be_left_out),
		cmocka_unit_test(memory_that_runs_out_is_an_error),
		cmocka_unit_test(threads_share_rules),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
