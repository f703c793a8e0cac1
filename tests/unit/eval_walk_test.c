/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The evaluator's way through chains: calls, policies, hooks, absent fields, marks, forks. */
#include "unit/eval_kit.h"

#define SYN22 "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 40000 > 22 flags=S ct=new"
#define SYN80 "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 40000 > 80 flags=S ct=new"
#define FWD22 "in=eth0 out=eth1 ip 198.51.100.7 > 192.0.2.1 tcp 40000 > 22 flags=S ct=new"
#define OUT22 "out=eth1 ip 192.0.2.1 > 198.51.100.7 tcp 40000 > 22 flags=S ct=new"

static struct chain *input(struct kit *k)
{
	return kit_chain(k, FAMILY_IP4, "filter", "INPUT", HOOK_INPUT, 0);
}

static struct chain *user(struct kit *k, const char *name)
{
	return kit_chain(k, FAMILY_IP4, "filter", name, HOOK_NONE, 0);
}

static void the_first_rule_that_matches_decides(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *r1 = kit_rule(k, in), *r2;

	kit_in(k, r1, FIELD_DPORT, 22, 22);
	kit_verdict(r1, VERDICT_DROP);
	r2 = kit_always(k, in, VERDICT_ACCEPT);
	kit_expect(k, SYN22, "drop", r1);
	kit_expect(k, SYN80, "accept", r2);
	assert_int_equal(kit_hits(k, r1), 0);
	assert_int_equal(kit_hits(k, r2), 1);
}

/* A goto leaves nothing to come back to: INPUT jumps to A, A goes to B, B's end is INPUT's next rule. */
static void goto_comes_back_to_the_callers_caller(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k), *a = user(k, "A"), *b = user(k, "B");
	struct rule *jump = kit_rule(k, in), *last = kit_always(k, in, VERDICT_ACCEPT), *go = kit_rule(k, a);
	struct rule *never = kit_always(k, a, VERDICT_DROP), *udp = kit_rule(k, b);

	kit_call(jump, VERDICT_JUMP, a);
	kit_call(go, VERDICT_GOTO, b);
	kit_in(k, udp, FIELD_PROTO, 17, 17);
	kit_verdict(udp, VERDICT_DROP);
	kit_expect(k, SYN22, "accept", last);
	assert_int_equal(kit_hits(k, jump), 1);
	assert_int_equal(kit_hits(k, go), 1);
	assert_int_equal(kit_hits(k, never), 0);
	go->step[0].v.verdict = VERDICT_JUMP;
	kit_expect(k, SYN22, "drop", never);
}

/* From a base chain, a goto ends in its policy. */
static void goto_of_a_base_chain_ends_in_the_policy(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k), *a = user(k, "A");
	struct rule *go = kit_rule(k, in);

	kit_always(k, in, VERDICT_ACCEPT);
	kit_call(go, VERDICT_GOTO, a);
	in->policy = VERDICT_DROP;
	kit_expect(k, SYN22, "drop", NULL);
	assert_ptr_equal(k->r.chain, in);
	assert_null(k->r.via);
}

static void return_in_a_base_chain_is_the_policy(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k), *f2b = user(k, "f2b");
	struct rule *jump = kit_rule(k, in), *ret = kit_rule(k, in), *all = kit_always(k, in, VERDICT_ACCEPT);

	in->policy = VERDICT_DROP;
	kit_in(k, jump, FIELD_DPORT, 22, 22);
	kit_call(jump, VERDICT_JUMP, f2b);
	kit_in(k, ret, FIELD_DPORT, 22, 22);
	kit_verdict(ret, VERDICT_RETURN);
	kit_always(k, f2b, VERDICT_RETURN);
	kit_expect(k, SYN22, "drop", NULL);
	assert_ptr_equal(k->r.via, ret);
	assert_int_equal(k->r.policy_hits.n, 1);
	kit_expect(k, SYN80, "accept", all);
	assert_int_equal(k->r.policy_hits.n, 0);
}

/* 1000 chains, each calling the next: no recursion, and the way back goes through all of them. */
static void calls_may_be_deep(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k), *at = in;
	struct rule *last;
	char name[16];

	for (int i = 0; i < 1000; i++) {
		struct rule *r = kit_rule(k, at);

		snprintf(name, sizeof name, "c%d", i);
		at = user(k, arena_printf(k->a, "%s", name).p);
		kit_call(r, VERDICT_JUMP, at);
	}
	kit_always(k, at, VERDICT_RETURN);
	last = kit_always(k, in, VERDICT_DROP);
	kit_expect(k, SYN22, "drop", last);
	assert_int_equal(k->r.hits.n, 1002);
}

static void loops_end_as_unknown(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k), *a = user(k, "A");
	struct rule *r = kit_rule(k, in), *again = kit_rule(k, a);

	kit_call(r, VERDICT_JUMP, a);
	kit_call(again, VERDICT_JUMP, a);
	kit_expect(k, SYN22, "unknown", NULL);
	assert_true(kit_why_has(k, "loop"));
	again->step[0].v.verdict = VERDICT_GOTO;
	kit_expect(k, SYN22, "unknown", NULL);
	assert_true(kit_why_has(k, "loop"));
}

static void accept_ends_only_its_base_chain(void **state)
{
	struct kit *k = *state;
	struct chain *mangle = kit_chain(k, FAMILY_IP4, "mangle", "PREROUTING", HOOK_PREROUTING, -150), *in = input(k);
	struct rule *early = kit_always(k, mangle, VERDICT_ACCEPT), *r = kit_rule(k, in);

	kit_always(k, mangle, VERDICT_DROP);
	kit_in(k, r, FIELD_DPORT, 22, 22);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, SYN22, "drop", r);
	assert_int_equal(kit_hits(k, early), 1);
	kit_expect(k, SYN80, "accept", NULL); /* the filter chain's policy says more than mangle's rule */
	assert_ptr_equal(k->r.chain, in);
	assert_int_equal(k->r.policy_hits.n, 1);
}

static void interfaces_say_which_hooks(void **state)
{
	static const struct {
		enum hook hook;
		bool in, fwd, out;
	} cases[] = {
		{ HOOK_PREROUTING, true, true, false }, { HOOK_INPUT, true, false, false },
		{ HOOK_FORWARD, false, true, false },	{ HOOK_OUTPUT, false, false, true },
		{ HOOK_POSTROUTING, false, true, true },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		void *fresh;
		struct kit *k;
		struct rule *drop;

		kit_setup(&fresh);
		k = fresh;
		drop = kit_always(k, kit_chain(k, FAMILY_IP4, "mangle", "X", cases[i].hook, -150), VERDICT_DROP);
		kit_expect(k, SYN22, cases[i].in ? "drop" : "accept", cases[i].in ? drop : NULL);
		kit_expect(k, FWD22, cases[i].fwd ? "drop" : "accept", cases[i].fwd ? drop : NULL);
		kit_expect(k, OUT22, cases[i].out ? "drop" : "accept", cases[i].out ? drop : NULL);
		kit_expect(k, "ip 192.0.2.1 > 192.0.2.2 udp 1 > 2", "unknown", NULL);
		kit_teardown(&fresh);
	}
	(void)state;
}

static void without_interfaces_only_what_all_ways_share_is_known(void **state)
{
	struct kit *k = *state;
	struct rule *r[3];

	r[0] = kit_always(k, input(k), VERDICT_DROP);
	r[1] = kit_always(k, kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0), VERDICT_DROP);
	r[2] = kit_always(k, kit_chain(k, FAMILY_IP4, "filter", "OUTPUT", HOOK_OUTPUT, 0), VERDICT_DROP);
	kit_expect(k, "ip 192.0.2.1 > 192.0.2.2 udp 1 > 2", "drop", r[0]);
	assert_true(kit_why_has(k, "another rule may decide"));
	assert_int_equal(k->r.hits.n, 0);
	kit_verdict(kit_rule(k, kit_chain(k, FAMILY_IP6, "filter", "INPUT", HOOK_INPUT, 0)), VERDICT_DROP);
	kit_expect(k, "ip 192.0.2.1 > 192.0.2.2 udp 1 > 2", "drop", r[0]);
}

static void the_hook_option_forces_one_hook(void **state)
{
	struct kit *k = *state;
	struct rule *fwd = kit_always(k, kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0), VERDICT_DROP);

	kit_always(k, input(k), VERDICT_DROP);
	k->opt.hook = HOOK_FORWARD;
	kit_expect(k, "ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 ct=new", "drop", fwd);
	kit_expect(k, SYN22, "drop", fwd);
}

/* An interface of another hook is absent: the answer is the test's own, not negated again. */
static void absent_is_what_the_test_says(void **state)
{
	struct kit *k = *state;
	struct chain *out = kit_chain(k, FAMILY_IP4, "filter", "OUTPUT", HOOK_OUTPUT, 0);
	struct rule *r = kit_rule(k, out);
	struct test *t = kit_iface(k, r, FIELD_IIF, "eth0");

	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, OUT22, "accept", NULL);
	t->negated = true;
	kit_expect(k, OUT22, "accept", NULL);
	t->on_absent = true;
	kit_expect(k, OUT22, "drop", r);
	t->negated = false;
	kit_expect(k, OUT22, "drop", r);
}

static void later_fragments_have_no_ports(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *r = kit_rule(k, in), *rest = kit_rule(k, in);

	kit_in(k, r, FIELD_DPORT, 22, 22)->negated = true;
	kit_verdict(r, VERDICT_DROP);
	kit_in(k, rest, FIELD_PROTO, 6, 6);
	kit_verdict(rest, VERDICT_DROP);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=6 frag=3 mf=0 payload=20B ct=new", "drop", rest);
}

static void a_mark_is_seen_by_later_hooks(void **state)
{
	struct kit *k = *state;
	struct chain *pre = kit_chain(k, FAMILY_IP4, "mangle", "PREROUTING", HOOK_PREROUTING, -150), *in = input(k);
	struct rule *m = kit_rule(k, pre), *r = kit_rule(k, in);
	struct effect *e = kit_effect(m, EFFECT_MARK);

	e->value = 0x0d000000;
	e->mask = 0xff000000;
	kit_mask(k, r, FIELD_MARK, 0x0d000001, 0xffffffff);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "in=eth0 ip 192.0.2.87 > 198.51.100.1 udp 1 > 2 mark=0x1 ct=new", "drop", r);
	assert_true(k->r.mark_known);
	assert_int_equal(k->r.mark, 0x0d000001);
	kit_expect(k, "in=eth0 ip 192.0.2.87 > 198.51.100.1 udp 1 > 2 mark=0x2 ct=new", "accept", NULL);
	assert_int_equal(k->r.mark, 0x0d000002);
}

/* A router takes one off the TTL before its forward hook. */
static void the_ttl_is_one_less_at_forward(void **state)
{
	struct kit *k = *state;
	struct rule *pre = kit_rule(k, kit_chain(k, FAMILY_IP4, "mangle", "PREROUTING", HOOK_PREROUTING, -150));
	struct rule *fwd = kit_rule(k, kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0));

	kit_in(k, pre, FIELD_TTL, 64, 64);
	kit_in(k, fwd, FIELD_TTL, 63, 63);
	kit_verdict(fwd, VERDICT_DROP);
	kit_expect(k, "in=eth0 out=eth1 ip 192.0.2.1 > 192.0.2.2 ttl=64 udp 1 > 2 ct=new", "drop", fwd);
	assert_int_equal(kit_hits(k, pre), 1);
}

static void rejects_say_how(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, input(k));

	kit_step(r, STEP_VERDICT)->v.verdict = VERDICT_REJECT;
	r->step[0].v.reject = REJECT_TCP_RST;
	kit_expect(k, SYN22, "reject(tcp-rst)", r);
}

static void frames_that_are_not_ip_are_nobodys(void **state)
{
	struct kit *k = *state;

	kit_always(k, input(k), VERDICT_DROP);
	kit_expect(k, "eth in=eth0 arp 192.0.2.1 > 192.0.2.2", "accept", NULL);
	assert_null(k->r.chain);
}

static void malformed_packets_are_dropped_where_a_chain_is(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	static const char cut[] = "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=6 payload=8B ct=new";

	kit_always(k, in, VERDICT_ACCEPT);
	kit_expect(k, cut, "drop", NULL);
	assert_true(k->r.is_malformed);
	assert_int_equal(k->r.hits.n, 0);
	k->opt.malformed_accept = true;
	k->e = NULL;
	kit_expect(k, cut, "accept", NULL);
	assert_true(k->r.is_malformed);
	assert_int_equal(k->r.hits.n, 0); /* no rule sees it then either */
	/* Only the family's own chains count. */
	k->opt.malformed_accept = false;
	k->e = NULL;
	in->hook = HOOK_NONE;
	kit_chain(k, FAMILY_IP6, "filter", "INPUT", HOOK_INPUT, 0);
	kit_expect(k, cut, "accept", NULL);
}

/* ---------- questions ---------- */

static void an_unknown_test_is_known_when_both_ways_end_alike(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *r1 = kit_rule(k, in), *r2 = kit_rule(k, in), *r3;

	kit_unknown(r1, "rpfilter");
	kit_verdict(r1, VERDICT_DROP);
	kit_in(k, r2, FIELD_DPORT, 22, 22);
	kit_verdict(r2, VERDICT_DROP);
	r3 = kit_always(k, in, VERDICT_ACCEPT);
	kit_expect(k, SYN22, "drop", r2);
	assert_true(kit_why_has(k, "another rule may decide"));
	assert_int_equal(k->r.hits.n, 0); /* neither is certain to have counted */
	kit_expect(k, SYN80, "unknown", NULL);
	assert_true(kit_why_has(k, "rpfilter"));
	assert_ptr_equal(k->r.rule, r1);
	assert_int_equal(kit_hits(k, r3), 0);
}

static void the_answers_of_one_way_agree(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *est = kit_rule(k, in), *notest = kit_rule(k, in);

	kit_in(k, est, FIELD_CT_STATE, 1 << CT_ESTABLISHED, 1 << CT_ESTABLISHED);
	kit_verdict(est, VERDICT_DROP);
	kit_in(k, notest, FIELD_CT_STATE, 1 << CT_ESTABLISHED, 1 << CT_ESTABLISHED)->negated = true;
	kit_verdict(notest, VERDICT_DROP);
	kit_always(k, in, VERDICT_ACCEPT);
	kit_expect(k, "in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2", "drop", notest);
	kit_expect(k, "in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 ct=established", "drop", est);
}

static void every_state_once_leaves_nothing(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);

	for (int i = 0; i < CT_STATE_COUNT; i++) {
		struct rule *r = kit_rule(k, in);

		kit_in(k, r, FIELD_CT_STATE, (u128)1 << i, (u128)1 << i);
		kit_verdict(r, VERDICT_ACCEPT);
	}
	in->policy = VERDICT_DROP;
	kit_run(k, "in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2");
	assert_int_equal(k->r.verdict, VERDICT_ACCEPT);
}

static void an_unknown_interface_splits_by_name(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *eth = kit_rule(k, in), *rest = kit_rule(k, in);
	struct str name = STR("eth");

	k->opt.hook = HOOK_INPUT;
	kit_in(k, eth, FIELD_IIF, field_name_value(name), field_name_prefix_last(name));
	kit_verdict(eth, VERDICT_DROP);
	kit_in(k, rest, FIELD_IIF, field_name_value(name), field_name_prefix_last(name))->negated = true;
	kit_verdict(rest, VERDICT_DROP);
	kit_run(k, "ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 ct=new");
	assert_int_equal(k->r.verdict, VERDICT_DROP);
	rest->step[0].test.negated = false; /* and not eth+ again, which leaves the way for all others */
	kit_expect(k, "ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 ct=new", "unknown", NULL);
}

static void rules_that_only_count_do_not_fork(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *last;

	for (int i = 0; i < 40; i++) { /* 2^40 ways, if each were asked */
		struct rule *r = kit_rule(k, in);

		kit_unknown(r, "socket");
		kit_effect(r, EFFECT_LOG);
	}
	last = kit_always(k, in, VERDICT_DROP);
	kit_expect(k, SYN22, "drop", last);
	assert_int_equal(k->r.hits.n, 1);
}

static void too_many_questions_are_unknown(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);

	for (uint32_t i = 0; i < 16; i++) {
		struct rule *r = kit_rule(k, in);

		kit_unknown(r, "socket");
		kit_effect(r, EFFECT_MARK)->value = 1u << i;
		r->step[1].effect.mask = 1u << i;
	}
	kit_always(k, in, VERDICT_DROP);
	kit_expect(k, SYN22, "unknown", NULL);
	assert_true(kit_why_has(k, "too many questions"));
	assert_int_equal(k->r.hits.n, 0);
}

static void marks_may_be_known_in_part(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *restore = kit_rule(k, in), *high = kit_rule(k, in), *low = kit_rule(k, in);
	struct effect *e = kit_effect(restore, EFFECT_RESTORE_MARK);

	e->mask = 0xff;
	e->ct_mask = 0xff;
	kit_mask(k, high, FIELD_MARK, 0x1200, 0xff00);
	kit_verdict(high, VERDICT_DROP);
	kit_mask(k, low, FIELD_MARK, 0x34, 0xff);
	kit_verdict(low, VERDICT_DROP);
	kit_expect(k, "in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 ct=established mark=0x1200", "drop", high);
	assert_false(k->r.mark_known);
	kit_expect(k, "in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 ct=established mark=0x1300", "unknown", NULL);
	kit_expect(k, "in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 ct=established mark=0x1300 ctmark=0x34", "drop", low);
	kit_expect(k, "in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 2 ct=new mark=0x1300", "accept", NULL); /* its mark is 0 */
}

static void raw_sees_no_connection(void **state)
{
	struct kit *k = *state;
	struct chain *raw = kit_chain(k, FAMILY_IP4, "raw", "PREROUTING", HOOK_PREROUTING, -300);
	struct chain *mangle = kit_chain(k, FAMILY_IP4, "mangle", "PREROUTING", HOOK_PREROUTING, -150);
	struct rule *seen = kit_rule(k, raw), *notrack = kit_rule(k, raw), *after = kit_rule(k, raw), *m = kit_rule(k, mangle);

	kit_in(k, seen, FIELD_CT_STATE, 1 << CT_INVALID, 1 << CT_INVALID);
	kit_in(k, notrack, FIELD_DPORT, 53, 53);
	kit_effect(notrack, EFFECT_NOTRACK);
	kit_in(k, after, FIELD_CT_STATE, 1 << CT_UNTRACKED, 1 << CT_UNTRACKED);
	kit_in(k, m, FIELD_CT_STATE, 1 << CT_UNTRACKED, 1 << CT_UNTRACKED);
	kit_verdict(m, VERDICT_DROP);
	kit_expect(k, "in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 53 ct=new", "drop", m);
	assert_int_equal(kit_hits(k, seen), 1);
	assert_int_equal(kit_hits(k, after), 1);
	kit_run(k, "in=eth0 ip 192.0.2.1 > 192.0.2.2 udp 1 > 54 ct=new");
	assert_int_equal(k->r.verdict, VERDICT_ACCEPT);
	assert_int_equal(kit_hits(k, seen), 1);
	assert_int_equal(kit_hits(k, after), 0);
}

static void neighbour_discovery_is_never_tracked(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, kit_chain(k, FAMILY_IP6, "filter", "INPUT", HOOK_INPUT, 0));

	kit_in(k, r, FIELD_CT_STATE, 1 << CT_UNTRACKED, 1 << CT_UNTRACKED);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "in=eth0 ip6 2001:db8::1 > 2001:db8::2 icmp6 type=135", "drop", r);
	kit_expect(k, "in=eth0 ip6 2001:db8::1 > 2001:db8::2 icmp6 type=128", "unknown", NULL);
}

static void the_trace_tells_why(void **state)
{
	struct kit *k = *state;
	struct chain *in = input(k);
	struct rule *r = kit_rule(k, in);
	const struct eval_event *ev;

	k->opt.want_trace = true;
	kit_in(k, r, FIELD_DPORT, 80, 90)->what = "tcp dport";
	kit_verdict(r, VERDICT_DROP);
	kit_run(k, SYN22);
	ev = k->r.trace.v;
	assert_int_equal(k->r.trace.n, 4); /* tracking, chain, rule, policy */
	assert_int_equal(ev[0].kind, EVAL_NOTE);
	assert_int_equal(ev[1].kind, EVAL_AT_CHAIN);
	assert_int_equal(ev[2].kind, EVAL_RULE_NO);
	assert_true(str_is(ev[2].text, "tcp dport is 22, not in {80-90}"));
	assert_int_equal(ev[3].kind, EVAL_POLICY);
	assert_int_equal(ev[3].verdict, VERDICT_ACCEPT);
	kit_run(k, "in=eth0 ip 192.0.2.1 > 192.0.2.2 icmp type=8 ct=new");
	assert_true(strstr(k->r.trace.v[2].text.p, "there is no tcp dport") != NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIT_TEST(the_first_rule_that_matches_decides),
		KIT_TEST(goto_comes_back_to_the_callers_caller),
		KIT_TEST(goto_of_a_base_chain_ends_in_the_policy),
		KIT_TEST(return_in_a_base_chain_is_the_policy),
		KIT_TEST(calls_may_be_deep),
		KIT_TEST(loops_end_as_unknown),
		KIT_TEST(accept_ends_only_its_base_chain),
		KIT_TEST(interfaces_say_which_hooks),
		KIT_TEST(without_interfaces_only_what_all_ways_share_is_known),
		KIT_TEST(the_hook_option_forces_one_hook),
		KIT_TEST(absent_is_what_the_test_says),
		KIT_TEST(later_fragments_have_no_ports),
		KIT_TEST(a_mark_is_seen_by_later_hooks),
		KIT_TEST(the_ttl_is_one_less_at_forward),
		KIT_TEST(rejects_say_how),
		KIT_TEST(frames_that_are_not_ip_are_nobodys),
		KIT_TEST(malformed_packets_are_dropped_where_a_chain_is),
		KIT_TEST(an_unknown_test_is_known_when_both_ways_end_alike),
		KIT_TEST(the_answers_of_one_way_agree),
		KIT_TEST(every_state_once_leaves_nothing),
		KIT_TEST(an_unknown_interface_splits_by_name),
		KIT_TEST(rules_that_only_count_do_not_fork),
		KIT_TEST(too_many_questions_are_unknown),
		KIT_TEST(marks_may_be_known_in_part),
		KIT_TEST(raw_sees_no_connection),
		KIT_TEST(neighbour_discovery_is_never_tracked),
		KIT_TEST(the_trace_tells_why),
	};

	return KIT_RUN(tests);
}
