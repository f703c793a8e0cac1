/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests on bytes: u32, string, classic BPF, options and addresses of IPv6 headers, and bytes that rules rewrote. */
#include "unit/eval_kit.h"

#include <linux/filter.h>

static struct chain *input(struct kit *k)
{
	return kit_chain(k, FAMILY_IP4, "filter", "INPUT", HOOK_INPUT, 0);
}

static bool hits(struct kit *k, const struct rule *r, const char *packet)
{
	kit_run(k, packet);
	assert_false(k->r.is_unknown);
	return kit_hits(k, r) != 0;
}

/* "0 >> 22 & 0x3C @ 0 >> 16 = 22": behind the IP header, whatever its length, the first 16 bits. */
static void u32_follows_the_header_length(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct bytes_spec *b = kit_bytes(k, r, BYTES_U32);
	struct u32_test *t = arena_new(k->a, struct u32_test, 1);

	t->loc.op[0].op = U32_RIGHT;
	t->loc.op[0].number = 22;
	t->loc.op[1].op = U32_AND;
	t->loc.op[1].number = 0x3c;
	t->loc.op[2].op = U32_AT;
	t->loc.op[3].op = U32_RIGHT;
	t->loc.op[3].number = 16;
	t->loc.n_ops = 4;
	t->n_values = 1;
	t->value = arena_alloc(k->a, sizeof *t->value, 4);
	t->value[0].lo = t->value[0].hi = 4000;
	b->u32 = t;
	b->n_u32 = 1;
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 4000 > 53"));
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 ihl=7 udp 4000 > 53"));
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 4001 > 53"));
	t->loc.op[2].number = 100; /* beyond the packet: false, so true when negated */
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 4000 > 53"));
	r->step[0].test.negated = true;
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 4000 > 53"));
}

/* The payload stands at 28-31. A 6.18 kernel said the same of these bounds. */
static void a_string_lies_within_its_bounds(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct bytes_spec *b = kit_bytes(k, r, BYTES_STRING);
	static const struct {
		uint32_t from, to;
		bool is_found;
	} cases[] = { { 28, 30, false }, { 28, 31, false }, { 28, 32, true },	{ 28, 33, true },
		      { 27, 100, true }, { 29, 100, false }, { 0, 65535, true } };

	b->pattern = STR("abcd");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		b->from = cases[i].from;
		b->to = cases[i].to;
		assert_int_equal(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=\"abcd\""), cases[i].is_found);
	}
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=\"xABCDx\""));
	b->icase = true;
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=\"xABCDx\""));
}

/* ldb [9]; jeq #17: ld [16]; jeq 192.0.2.2, else 0 */
static void bpf_runs_from_the_ip_header(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct bytes_spec *b = kit_bytes(k, r, BYTES_CBPF);
	static struct bytes_insn prog[] = {
		{ BPF_LD | BPF_B | BPF_ABS, 0, 0, 9 },
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 17 },
		{ BPF_LD | BPF_W | BPF_ABS, 0, 0, 16 },
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0xc0000202 },
		{ BPF_RET | BPF_K, 0, 0, 1 },
		{ BPF_RET | BPF_K, 0, 0, 0 },
	};

	b->insn = prog;
	b->n_insn = 6;
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2"));
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.3 udp 1 > 2"));
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 tcp 1 > 2 flags=S"));
	prog[2].k = 4000; /* a load beyond the packet ends with 0 */
	assert_false(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2"));
	prog[2].k = (uint32_t)(SKF_NET_OFF + 16);
	assert_true(hits(k, r, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2"));
	prog[2].k = (uint32_t)(SKF_AD_OFF + SKF_AD_RXHASH); /* nobody knows that */
	kit_verdict(r, VERDICT_DROP);
	k->e = NULL;
	kit_expect(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2", "unknown", NULL);
}

static struct rule *options(struct kit *k, bool negated)
{
	struct rule *r = kit_rule(k, kit_chain(k, FAMILY_IP6, "filter", "INPUT", HOOK_INPUT, 0));
	struct bytes_spec *b = kit_bytes(k, r, BYTES_IP6_OPTS);

	b->opt = arena_alloc(k->a, 4 * sizeof *b->opt, 4);
	r->step[0].test.negated = negated;
	return r;
}

static void options_come_in_order_from_the_first(void **state)
{
	struct kit *k = *state;
	struct rule *r = options(k, false);
	struct bytes_spec *b = (struct bytes_spec *)r->step[0].test.bytes;
	/* hop-by-hop: router alert (5, 2 bytes), then PadN (1, 0 bytes); behind it UDP */
	static const char packet[] = "in=eth0 ct=new hex 60000000 0010 00 40 20010db8000000000000000000000001"
				     "20010db8000000000000000000000002 1100 05020000 0100 00010002 00080000";
	char flat[256];
	size_t n = 0;

	for (const char *p = strstr(packet, "60"); *p; p++)
		if (*p != ' ')
			flat[n++] = *p;
	flat[n] = 0;
	b->opt[0].type = 5;
	b->n_opts = 1;
	assert_true(hits(k, r, arena_printf(k->a, "in=eth0 ct=new hex %s", flat).p));
	b->opt[0].has_len = true;
	b->opt[0].len = 2;
	b->opt[1].type = 1;
	b->n_opts = 2;
	assert_true(hits(k, r, arena_printf(k->a, "in=eth0 ct=new hex %s", flat).p));
	b->opt[0].len = 4;
	assert_false(hits(k, r, arena_printf(k->a, "in=eth0 ct=new hex %s", flat).p));
	b->opt[0].type = 1;
	assert_false(hits(k, r, arena_printf(k->a, "in=eth0 ct=new hex %s", flat).p));
}

static void without_the_header_the_answer_is_the_tests_own(void **state)
{
	struct kit *k = *state;
	struct rule *r = options(k, true);

	assert_false(hits(k, r, "in=eth0 ct=new ip6 2001:db8::1 > 2001:db8::2 udp 1 > 2"));
	r->step[0].test.on_absent = true;
	assert_true(hits(k, r, "in=eth0 ct=new ip6 2001:db8::1 > 2001:db8::2 udp 1 > 2"));
}

/* A rule that rewrites the TTL changes the bytes, and the checksum with them. */
static void bytes_follow_what_rules_rewrite(void **state)
{
	struct kit *k = *state;
	struct rule *set = kit_rule(k, kit_chain(k, FAMILY_IP4, "mangle", "PREROUTING", HOOK_PREROUTING, -150));
	struct rule *r = kit_rule(k, input(k));
	struct bytes_spec *b = kit_bytes(k, r, BYTES_U32);
	struct u32_test *t = arena_new(k->a, struct u32_test, 1);
	struct packet p;

	kit_effect(set, EFFECT_TTL)->value = 7;
	packet_init(&p); /* the same packet as it would be with a TTL of 7 from the start */
	assert_true(notation_parse(k->a, &k->d, STR("in=eth0 ip 192.0.2.1 > 192.0.2.2 ttl=7 udp 1 > 2"), (struct loc){ 0 }, &p));
	t->loc.start = 8; /* TTL, protocol, checksum */
	t->n_values = 1;
	t->value = arena_alloc(k->a, sizeof *t->value, 4);
	t->value[0].lo = t->value[0].hi = (uint32_t)p.bytes[8] << 24 | (uint32_t)p.bytes[9] << 16 |
					  (uint32_t)p.bytes[10] << 8 | p.bytes[11];
	b->u32 = t;
	b->n_u32 = 1;
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 ttl=9 udp 1 > 2", "drop", r);
}

/* One of two destinations: its bytes and the checksums are unknown, and no other. */
static void unknown_bytes_are_unknown_bit_by_bit(void **state)
{
	struct kit *k = *state;
	struct rule *dnat = kit_rule(k, kit_chain(k, FAMILY_IP4, "nat", "PREROUTING", HOOK_PREROUTING, -100));
	struct rule *r = kit_rule(k, kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0));
	struct bytes_spec *b = kit_bytes(k, r, BYTES_U32);
	struct u32_test *t = arena_new(k->a, struct u32_test, 1);
	struct nat_spec n = { .has_addr = true, .addr_lo = 1, .addr_hi = 2 };
	static const char packet[] = "in=eth0 out=eth1 ct=new ip 192.0.2.1 > 192.0.2.2 ttl=9 udp 1 > 2";

	kit_effect(dnat, EFFECT_DNAT)->nat = &n;
	kit_verdict(dnat, VERDICT_ACCEPT);
	t->n_values = 1;
	t->value = arena_alloc(k->a, sizeof *t->value, 4);
	b->u32 = t;
	b->n_u32 = 1;
	kit_verdict(r, VERDICT_DROP);
	t->loc.start = 8;
	t->value[0].lo = 0x08110000; /* whatever the checksum is, the TTL is 8 */
	t->value[0].hi = 0x0811ffff;
	kit_expect(k, packet, "unknown", NULL); /* spans are not looked into */
	t->loc.op[0].op = U32_RIGHT;
	t->loc.op[0].number = 16;
	t->loc.n_ops = 1;
	t->value[0].lo = t->value[0].hi = 0x0811;
	kit_expect(k, packet, "drop", r);
	t->loc.start = 20;
	t->value[0].lo = t->value[0].hi = 1;
	kit_expect(k, packet, "drop", r);
	t->loc.start = 16;
	kit_expect(k, packet, "unknown", NULL);
}

static void what_was_not_captured_is_unknown(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));
	struct bytes_spec *b = kit_bytes(k, r, BYTES_STRING);
	struct packet p;
	struct eval_result out;

	b->pattern = STR("abcd");
	b->to = 65535;
	kit_verdict(r, VERDICT_DROP);
	packet_init(&p);
	assert_true(notation_parse(k->a, &k->d, STR("in=eth0 ct=new ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 payload=\"..abcd\""),
				   (struct loc){ 0 }, &p));
	policy_number(k->rs);
	k->e = eval_create(k->a, k->rs, &k->opt);
	eval_packet(k->e, k->a, &p, &out);
	assert_int_equal(out.verdict, VERDICT_DROP);
	p.len -= 1;
	eval_packet(k->e, k->a, &p, &out);
	assert_true(out.is_unknown);
	b->to = 32; /* all of this was captured */
	eval_packet(k->e, k->a, &p, &out);
	assert_int_equal(out.verdict, VERDICT_ACCEPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIT_TEST(u32_follows_the_header_length),
		KIT_TEST(a_string_lies_within_its_bounds),
		KIT_TEST(bpf_runs_from_the_ip_header),
		KIT_TEST(options_come_in_order_from_the_first),
		KIT_TEST(without_the_header_the_answer_is_the_tests_own),
		KIT_TEST(bytes_follow_what_rules_rewrite),
		KIT_TEST(unknown_bytes_are_unknown_bit_by_bit),
		KIT_TEST(what_was_not_captured_is_unknown),
	};

	return KIT_RUN(tests);
}
