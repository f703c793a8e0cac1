/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Building tables: what is refused and where, which chains share a point, bounds, and the sums of limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "classify/tables.h"
#include "datapath/native.h"
#include "lang/lang.h"
#include "packet/notation.h"
#include "tables/code.h"
#include "tables/format.h"

struct kit {
	struct arena *a;
	struct sources src;
	struct diags d;
	struct ruleset *rs;
	struct tables_options opt;
	struct tables *t;
};

static int setup(void **state)
{
	struct arena *a = arena_create();
	struct kit *k = arena_new(a, struct kit, 1);

	k->a = a;
	*state = k;
	return 0;
}

static int teardown(void **state)
{
	arena_destroy(((struct kit *)*state)->a);
	return 0;
}

/* Reads and builds from scratch. */
static void build(struct kit *k, enum lang l, const char *sets, const char *rules)
{
	struct lang_file f;

	k->src = (struct sources){ .a = k->a };
	k->d = (struct diags){ .a = k->a, .sources = &k->src };
	k->rs = policy_create(k->a);
	if (sets)
		lang_read(k->rs, &k->d, source_add(&k->src, "s.ipset", str_from(sets)), LANG_IPSET, &f);
	lang_read(k->rs, &k->d, source_add(&k->src, "r", str_from(rules)), l, &f);
	policy_number(k->rs);
	assert_int_equal(k->d.n_errors, 0);
	k->t = tables_build(k->a, k->rs, &k->opt, &k->d);
	assert_true(!k->t == (k->d.n_errors > 0));
}

static const struct diag *first_error(const struct kit *k)
{
	for (size_t i = 0; i < k->d.all.n; i++)
		if (k->d.all.v[i].severity == DIAG_ERROR)
			return &k->d.all.v[i];
	return NULL;
}

static void filter(struct kit *k, const char *rules)
{
	build(k, LANG_IPTABLES, NULL, arena_printf(k->a, "*filter\n%s\nCOMMIT\n", rules).p);
}

/* ---------- refusals ---------- */

static void what_a_program_cannot_do_is_refused_at_its_place(void **state)
{
	static const struct {
		const char *rule, *at, *why, *hint; /* hint NULL: whatever it is */
	} rows[] = {
		{ "-A INPUT -j REJECT", "REJECT", "REJECT: a netfilter program cannot answer the sender",
		  "--reject-as-drop drops such packets without an answer" },
		{ "-A INPUT -m time --timestart 10:00 -j DROP", NULL, "time: the time of day is not known here", NULL },
		{ "-A INPUT -p udp -m recent --name r --set", NULL, "recent: lists of recent addresses are not kept here", NULL },
		{ "-A INPUT -m addrtype --src-type LOCAL -j DROP", NULL,
		  "addrtype src-type: which kind of address this is only the routing table knows, and a program cannot ask it", NULL },
		{ "-A INPUT -j MARK --set-mark 1", "MARK", "MARK: a netfilter program cannot write the mark of a packet", NULL },
		{ "-A INPUT -m bpf --bytecode \"1,6 0 0 1\" -j DROP", NULL, "bpf: classic BPF is not run here", NULL },
		{ "-A INPUT -m set --match-set nobody src -j DROP", "nobody", "there is no set 'nobody'",
		  "give the output of `ipset save` as one more file" },
		{ "-A INPUT -p sctp --chunk-types any INIT -j DROP", NULL,
		  "sctp chunk-types: the chunks of an SCTP packet are not looked into", NULL },
	};
	struct kit *k = *state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct diag *g;
		const struct source *s;

		filter(k, rows[i].rule);
		g = first_error(k);
		assert_non_null(g);
		assert_int_equal(k->d.n_errors, 1);
		assert_string_equal(arena_cstr(k->a, g->text), rows[i].why);
		s = source_get(&k->src, g->at.source);
		if (rows[i].at)
			assert_string_equal(arena_cstr(k->a, str_slice(s->text, g->at.off, g->at.off + g->at.len)), rows[i].at);
		if (rows[i].hint)
			assert_string_equal(arena_cstr(k->a, g->hint), rows[i].hint);
		assert_true(g->hint.n > 0);
	}
}

static void all_refusals_come_in_one_run(void **state)
{
	struct kit *k = *state;

	filter(k, "-A INPUT -j MARK --set-mark 1\n-A INPUT -p tcp -j REJECT\n-A FORWARD -j NFQUEUE");
	assert_int_equal(k->d.n_errors, 3);
}

static void the_hint_names_the_other_tables(void **state)
{
	struct kit *k = *state;

	build(k, LANG_IPTABLES, NULL,
	      "*raw\n-A PREROUTING -j DROP\nCOMMIT\n*nat\n-A POSTROUTING -j MASQUERADE\nCOMMIT\n*filter\n-A INPUT -j DROP\nCOMMIT\n");
	assert_int_equal(k->d.n_errors, 1);
	assert_string_equal(arena_cstr(k->a, first_error(k)->hint),
			    "leave table nat to the kernel's own tools and load the rest: --tables raw,filter");
}

static void what_nobody_reaches_is_not_refused(void **state)
{
	struct kit *k = *state;

	filter(k, ":alone - [0:0]\n-A alone -j MARK --set-mark 1\n-A INPUT -j DROP");
	assert_non_null(k->t);
	build(k, LANG_IPTABLES, NULL, "*nat\n:PREROUTING ACCEPT [0:0]\nCOMMIT\n*filter\n-A INPUT -j DROP\nCOMMIT\n");
	assert_non_null(k->t); /* an empty nat table does nothing */
}

static void destination_types_need_a_route(void **state)
{
	struct kit *k = *state;

	filter(k, "-A INPUT -m addrtype --dst-type LOCAL -j DROP");
	assert_non_null(k->t);
	build(k, LANG_IPTABLES, NULL, "*mangle\n-A PREROUTING -m addrtype --dst-type LOCAL -j DROP\nCOMMIT\n");
	assert_null(k->t);
	build(k, LANG_IPTABLES, NULL, "*mangle\n-A PREROUTING -m addrtype --dst-type MULTICAST -j DROP\nCOMMIT\n");
	assert_non_null(k->t);
}

/* ---------- bounds ---------- */

/* A chain of calls, one in the other. */
static const char *nested(struct kit *k, unsigned n, char how)
{
	struct buf b = { .a = k->a };

	for (unsigned i = 0; i < n; i++)
		buf_printf(&b, ":c%u - [0:0]\n", i);
	buf_printf(&b, "-A INPUT -%c c0\n", how);
	for (unsigned i = 0; i + 1 < n; i++)
		buf_printf(&b, "-A c%u -%c c%u\n", i, how, i + 1);
	buf_printf(&b, "-A c%u -j DROP", n - 1);
	return buf_str(&b).p;
}

static void calls_may_be_16_deep(void **state)
{
	struct kit *k = *state;

	filter(k, nested(k, DP_MAX_DEPTH, 'j'));
	assert_non_null(k->t);
	filter(k, nested(k, DP_MAX_DEPTH + 1, 'j'));
	assert_null(k->t);
	assert_int_equal(k->d.n_errors, 1);
	filter(k, nested(k, 40, 'g')); /* goto does not come back */
	assert_non_null(k->t);
}

/* Each chain calls the next one many times: the longest way grows as a power. */
static void ways_that_are_too_long_are_refused(void **state)
{
	struct kit *k = *state;
	struct buf b = { .a = k->a };

	for (unsigned i = 0; i < 8; i++)
		buf_printf(&b, ":c%u - [0:0]\n", i);
	buf_printf(&b, "-A INPUT -j c0\n");
	for (unsigned i = 0; i < 8; i++)
		for (unsigned n = 0; n < 10; n++)
			buf_printf(&b, i < 7 ? "-A c%u -j c%u\n" : "-A c%u\n", i, i + 1);
	filter(k, buf_str(&b).p);
	assert_null(k->t);
	assert_non_null(strstr(arena_cstr(k->a, first_error(k)->text), "may lead through more than"));
}

static void a_list_that_is_too_long_is_refused(void **state)
{
	struct kit *k = *state;
	struct buf b = { .a = k->a };

	for (unsigned i = 0; i < 100000; i++)
		buf_printf(&b, "-A INPUT -p tcp -m multiport --dports %u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u -j DROP\n", i % 9 + 1, 12, 14,
			   16, 18, 20, 22, 24, 26, 28, 30);
	filter(k, buf_str(&b).p);
	assert_null(k->t);
	assert_non_null(strstr(arena_cstr(k->a, first_error(k)->text), "is too long"));
}

/* ---------- points ---------- */

static void chains_share_a_point_where_nothing_lies_between(void **state)
{
	static const char all[] =
		"*raw\n-A PREROUTING -j DROP\nCOMMIT\n*mangle\n-A PREROUTING -j DROP\n-A INPUT -j DROP\n-A OUTPUT -j DROP\nCOMMIT\n"
		"*filter\n-A INPUT -j DROP\n-A OUTPUT -j DROP\nCOMMIT\n*security\n-A INPUT -j DROP\n-A OUTPUT -j DROP\nCOMMIT\n";
	struct kit *k = *state;

	build(k, LANG_IPTABLES, NULL, all);
	assert_true(k->t->point[DP_POSITION_PREROUTING_RAW].is_used && k->t->point[DP_POSITION_PREROUTING_MANGLE].is_used);
	assert_int_equal(k->t->point[DP_POSITION_INPUT_MANGLE].n_chains, 3);
	assert_false(k->t->point[DP_POSITION_INPUT_FILTER].is_used);
	assert_int_equal(k->t->point[DP_POSITION_OUTPUT_MANGLE].n_chains, 1);
	assert_int_equal(k->t->point[DP_POSITION_OUTPUT_FILTER].n_chains, 2);
	assert_false(k->t->point[DP_POINTS_PER_FAMILY + DP_POSITION_INPUT_MANGLE].is_used);
	k->opt.apart = true;
	build(k, LANG_IPTABLES, NULL, all);
	assert_int_equal(k->t->point[DP_POSITION_INPUT_MANGLE].n_chains, 1);
	assert_true(k->t->point[DP_POSITION_INPUT_FILTER].is_used && k->t->point[DP_POSITION_INPUT_SECURITY].is_used);
	build(k, LANG_IP6TABLES, NULL, "*filter\n:INPUT DROP [0:0]\nCOMMIT\n");
	assert_true(k->t->point[DP_POINTS_PER_FAMILY + DP_POSITION_INPUT_FILTER].is_used);
}

static void a_chain_that_does_nothing_has_no_point(void **state)
{
	struct kit *k = *state;

	filter(k, ":INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\n-A OUTPUT -j ACCEPT");
	for (unsigned p = 0; p < DP_POINTS; p++)
		assert_int_equal(k->t->point[p].is_used, p == DP_POSITION_FORWARD_FILTER || p == DP_POSITION_OUTPUT_FILTER);
}

static void features_are_those_of_the_point(void **state)
{
	struct kit *k = *state;

	filter(k, ":c - [0:0]\n-A INPUT -m mac --mac-source 02:00:00:00:00:01 -j DROP\n-A OUTPUT -j c\n-A c -m owner --uid-owner 1 -j DROP");
	assert_int_equal(k->t->point[DP_POSITION_INPUT_FILTER].features, DP_F_MAC);
	assert_int_equal(k->t->point[DP_POSITION_OUTPUT_FILTER].features, DP_F_SOCKET | DP_F_CALL);
}

/* ---------- state ---------- */

/* Cost and cap of the one limit in the rules. */
static void limit_is(struct kit *k, const char *rate, uint32_t cost, uint32_t cap)
{
	const uint64_t *found = NULL;

	filter(k, arena_printf(k->a, "-A INPUT -m limit %s -j ACCEPT", rate).p);
	for (uint32_t i = 0; i + 3 < k->t->n_words; i += 4)
		if ((k->t->word[i] & 0xff) == DP_OP_LIMIT && k->t->word[i] >> 16)
			found = &k->t->word[i];
	assert_non_null(found);
	assert_int_equal((uint32_t)found[2], cost);
	assert_int_equal(found[2] >> 32, cap);
	assert_int_equal(k->t->state[found[1] + 1], cap); /* full at first */
}

/* As xt_limit works them out at 250 jiffies a second: 128 credits each; from 134217 ticks on it divides first. */
static void limits_have_the_kernels_credits(void **state)
{
	struct kit *k = *state;

	k->opt.hz = 250;
	limit_is(k, "--limit 3/second", 3333u * 32000 / 10000, 3333u * 5 * 32000 / 10000);
	limit_is(k, "--limit 1/second --limit-burst 1", 32000, 32000);
	limit_is(k, "--limit 17/minute", 35294u * 32000 / 10000, 17u * 32000);
	limit_is(k, "--limit 1/hour --limit-burst 7", 3600u * 32000, 7u * 3600 * 32000);
}

static void the_first_packet_of_nth_is_the_one_asked(void **state)
{
	struct kit *k = *state;

	filter(k, "-A INPUT -m statistic --mode nth --every 4 --packet 1 -j DROP");
	assert_int_equal(k->t->n_state, 1);
	assert_int_equal(k->t->state[0], 2); /* two more packets until the count of 3 starts again at 0 */
}

/* ---------- sets ---------- */

static void elements_that_expire_are_refused_where_they_stand(void **state)
{
	struct kit *k = *state;

	build(k, LANG_IPTABLES, "create s hash:ip timeout 60\nadd s 192.0.2.1 timeout 0\n",
	      "*filter\n-A INPUT -m set --match-set s src -j DROP\nCOMMIT\n");
	assert_non_null(k->t);
	build(k, LANG_IPTABLES, "create s hash:ip timeout 60\nadd s 192.0.2.1\n",
	      "*filter\n-A INPUT -m set --match-set s src -j DROP\nCOMMIT\n");
	assert_null(k->t);
	assert_string_equal(arena_cstr(k->a, first_error(k)->text), "set s: elements that expire are not kept here");
}

static bool drops(struct kit *k, struct native *n, const char *line)
{
	struct native_result r;
	struct packet p;

	assert_true(notation_parse(k->a, NULL, str_from(line), (struct loc){ 0 }, &p));
	native_run(n, DP_POSITION_INPUT_FILTER, &p, 0, 0, &r);
	return r.verdict == NATIVE_DROP;
}

static void a_large_set_finds_each_of_its_elements(void **state)
{
	enum { N = 100000 };
	struct kit *k = *state;
	struct buf sets = { .a = k->a };
	struct native_tables nt;
	struct native *n;

	buf_printf(&sets, "create s hash:ip maxelem 200000\n");
	for (uint32_t i = 0; i < N; i++)
		buf_printf(&sets, "add s 10.%u.%u.%u\n", i * 7 >> 16 & 255, i * 7 >> 8 & 255, i * 7 & 255);
	build(k, LANG_IPTABLES, buf_str(&sets).p, "*filter\n-A INPUT -m set --match-set s src -j DROP\nCOMMIT\n");
	assert_true(k->t->n_words < 8 * N);
	nt = (struct native_tables){ .word = k->t->word, .n_words = k->t->n_words, .n_counters = 20,
				     .sets = k->t->image.word };
	n = native_create(k->a, &nt);
	for (uint32_t i = 0; i < 7 * N; i++) {
		char line[100];

		if (i > 20000 && i % 97) /* all of the first, then samples */
			continue;
		snprintf(line, sizeof line, "in=eth0 udp 10.%u.%u.%u:1 > 192.0.2.1:2", i >> 16 & 255, i >> 8 & 255, i & 255);
		assert_int_equal(drops(k, n, line), i % 7 == 0);
	}
}

/* The image of the sets lies in pages that cannot be read: who asks a set ends here. */
static bool asks_no_set(struct kit *k, const struct native_tables *nt, const char *line)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct rlimit none = { 0 };

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		drops(k, native_create(k->a, nt), line);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void a_packet_touches_no_set_that_its_branch_does_not_need(void **state)
{
	enum { SETS = 50, IMAGE_BYTES = 1 << 20 };
	static const enum tables_engine engines[] = { TABLES_ENGINE_SCAN, TABLES_ENGINE_GRAPH };
	void *image = mmap(NULL, IMAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kit *k = *state;
	struct buf sets = { .a = k->a }, rules = { .a = k->a };
	struct native_tables nt;

	buf_printf(&rules, "*filter\n:web - [0:0]\n-A INPUT -p tcp --dport 80 -j web\n");
	for (int i = 0; i < SETS; i++) {
		buf_printf(&sets, "create s%d hash:%s\nadd s%d 192.0.2.1\n", i, i % 2 ? "ip" : "net", i);
		buf_printf(&rules, "-A INPUT -m set --match-set s%d src -p tcp --dport %d -j DROP\n", i, 1000 + i);
		buf_printf(&rules, "-A web -m set --match-set s%d src -m comment --comment x%d -j DROP\n", i, i);
	}
	buf_printf(&rules, "COMMIT\n");
	for (size_t i = 0; i < 2; i++) {
		k->opt.engine = engines[i];
		build(k, LANG_IPTABLES, buf_str(&sets).p, buf_str(&rules).p);
		assert_non_null(k->t);
		nt = (struct native_tables){ .word = k->t->word, .n_words = k->t->n_words, .n_counters = 400, .sets = image };
		assert_true(asks_no_set(k, &nt, "in=eth0 udp 192.0.2.1:1 > 192.0.2.2:80"));
		assert_true(asks_no_set(k, &nt, "in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:443 flags=S"));
		assert_false(asks_no_set(k, &nt, "in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:80 flags=S"));
		assert_false(asks_no_set(k, &nt, "in=eth0 tcp 192.0.2.1:1 > 192.0.2.2:1049 flags=S"));
	}
	munmap(image, IMAGE_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_program_cannot_do_is_refused_at_its_place, setup, teardown),
		cmocka_unit_test_setup_teardown(all_refusals_come_in_one_run, setup, teardown),
		cmocka_unit_test_setup_teardown(the_hint_names_the_other_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(what_nobody_reaches_is_not_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(destination_types_need_a_route, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_may_be_16_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(ways_that_are_too_long_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_list_that_is_too_long_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(chains_share_a_point_where_nothing_lies_between, setup, teardown),
		cmocka_unit_test_setup_teardown(a_chain_that_does_nothing_has_no_point, setup, teardown),
		cmocka_unit_test_setup_teardown(features_are_those_of_the_point, setup, teardown),
		cmocka_unit_test_setup_teardown(limits_have_the_kernels_credits, setup, teardown),
		cmocka_unit_test_setup_teardown(the_first_packet_of_nth_is_the_one_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(elements_that_expire_are_refused_where_they_stand, setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_set_finds_each_of_its_elements, setup, teardown),
		cmocka_unit_test_setup_teardown(a_packet_touches_no_set_that_its_branch_does_not_need, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
