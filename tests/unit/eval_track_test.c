/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The connection tracker and NAT. The states below are those that a Linux 6.18 kernel gave the same packets, forwarded
 * between two silent hosts.
 */
#include "unit/eval_kit.h"

#define A "192.0.2.1"
#define B "198.51.100.1"

static const char *const state_names[] = { "INVALID", "NEW", "ESTABLISHED", "RELATED", "UNTRACKED" };

struct states {
	struct rule *rule[CT_STATE_COUNT];
	double t;
};

/* One counting rule a state at forward. */
static struct states *watch(struct kit *k)
{
	struct states *s = arena_new(k->a, struct states, 1);
	struct chain *fwd = kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0);

	for (int i = 0; i < CT_STATE_COUNT; i++) {
		s->rule[i] = kit_rule(k, fwd);
		kit_in(k, s->rule[i], FIELD_CT_STATE, (u128)1 << i, (u128)1 << i);
	}
	k->opt.track = true;
	return s;
}

/* Forwards a packet from A ('>') or from B ('<'); the name of its state. */
static const char *state_of(struct kit *k, struct states *s, char from, const char *packet)
{
	s->t += 0.01;
	kit_run(k, arena_printf(k->a, "t=%.2f in=%s out=%s ip %s", s->t, from == '>' ? "ea" : "eb",
				from == '>' ? "eb" : "ea", packet).p);
	if (k->r.is_unknown)
		return "unknown";
	for (int i = 0; i < CT_STATE_COUNT; i++)
		if (kit_hits(k, s->rule[i]))
			return state_names[i];
	return "unknown";
}

static const char *flags_of(struct str word)
{
	return str_is(word, "S") ? "S" : str_is(word, "SA") ? "SA" : str_is(word, "A") ? "A" : str_is(word, "FA") ? "FA" :
	       str_is(word, "R") ? "R" : str_is(word, "RA") ? "RA" : str_is(word, "PA") ? "PA" : str_is(word, "F") ? "F" :
	       str_is(word, "SF") ? "SF" : str_is(word, "P") ? "P" : "";
}

/* Words: from whom and flags; a 1 behind them acknowledges a SYN of number 0. */
static void tcp_script(struct kit *k, struct states *s, int port, const char *script, const char *want)
{
	struct str rest = str_from(script);
	struct buf got = { .a = k->a };
	bool more = true;

	while (more) {
		struct str word = str_cut(rest, ' ', &rest, &more);
		char from = word.p[0];
		bool has_ack = word.p[word.n - 1] == '1';
		const char *flags = flags_of(str_slice(word, 1, word.n - has_ack)), *ack = has_ack ? " ack=1" : "";

		buf_printf(&got, "%s%c", got.n ? " " : "",
			   state_of(k, s, from, from == '>' ?
				    arena_printf(k->a, A " > " B " tcp %d > 9 flags=%s%s", port, flags, ack).p :
				    arena_printf(k->a, B " > " A " tcp 9 > %d flags=%s%s", port, flags, ack).p)[0]);
	}
	if (!str_is(buf_str(&got), want))
		fail_msg("%s: %.*s, not %s", script, STR_ARG(buf_str(&got)), want);
}

static void tcp_goes_through_its_states(void **state)
{
	struct kit *k = *state;
	struct states *s = watch(k);
	static const struct {
		const char *script, *want;
	} cases[] = {
		{ ">S", "N" }, { ">SA", "I" }, { ">FA", "I" }, { ">A", "N" }, { ">R", "I" }, { ">0", "I" }, { ">F", "I" },
		{ ">SF", "I" }, { ">PA", "N" }, { ">P", "I" },
		{ ">S >A", "N I" },
		{ ">S <SA >A <A >FA <A <FA >A >S", "N E E E E E E E N" },
		{ ">S <RA >S", "N E N" },
		{ ">S >R >S", "N N N" },
		{ ">S <SA >A <R >A >S", "N E E E E E" },
		{ ">S <SA >A >R >S", "N E E E N" },
		{ ">A <A >A", "N E E" },
		{ ">S <SA >A >S", "N E E E" },
		{ ">S <S", "N E" },
		{ ">S <A", "N E" },
		{ "<A >A", "N E" },
		{ ">S <SA >SA", "N E E" },
		{ ">S <SA >A <S", "N E E I" },
		{ ">S <SA >A >R >A <A", "N E E E E E" },
		{ ">S >S <SA", "N N E" },
		{ ">S >FA", "N I" },
		{ ">S <FA", "N I" },
		{ ">S <SA >FA <FA >A >S", "N E E E E N" },
		{ ">S <SA >A <FA >A >FA <A <S", "N E E E E E E N" },
		/* what cannot come from this side */
		{ ">S <SA >A >SA", "N E E I" },
		{ ">S <SA >A >FA >SA", "N E E E I" },
		{ ">S <SA >A <R <S", "N E E E I" },
		/* ignored: the state stays */
		{ ">S <A >A", "N E I" },
		{ ">S <SA >A >S >SA", "N E E E I" },
		{ ">S <SA >A <R <SA >SA", "N E E E E I" },
		/* ignored, but then the other end acknowledges it: both have begun anew */
		{ ">S <SA >A <R >S <SA1 >SA", "N E E E E E E" },
		{ ">S <SA >A <R >S <SA >SA", "N E E E E E I" },
		/* an ACK that answers a SYN does not acknowledge the last FIN */
		{ ">S <SA >A >FA <FA >S <A >S", "N E E E E E E E" },
		{ ">S <SA >A >FA <FA <A >S", "N E E E E E N" },
		/* both ends begin */
		{ ">S <S >SA <A >SA", "N E E E I" },
		{ ">S <SA <A >SA", "N E E E" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		tcp_script(k, s, 2000 + (int)i, cases[i].script, cases[i].want);
}

static void other_protocols_are_new_until_answered(void **state)
{
	struct kit *k = *state;
	struct states *s = watch(k);
	static const struct {
		char from;
		const char *packet, *want;
	} cases[] = {
		{ '>', A " > " B " udp 1 > 2", "NEW" },
		{ '>', A " > " B " udp 1 > 2", "NEW" },
		{ '<', B " > " A " udp 2 > 1", "ESTABLISHED" },
		{ '>', A " > " B " udp 1 > 2", "ESTABLISHED" },
		{ '>', A " > " B " icmp type=8 payload=hex:00010001", "NEW" },
		{ '>', A " > " B " icmp type=8 payload=hex:00010001", "NEW" },
		{ '<', B " > " A " icmp type=0 payload=hex:00010001", "ESTABLISHED" },
		{ '>', A " > " B " icmp type=13", "NEW" },
		{ '>', A " > " B " icmp type=10", "INVALID" },
		{ '>', A " > " B " proto=99 payload=8B", "NEW" },
		{ '<', B " > " A " proto=99 payload=8B", "ESTABLISHED" },
		{ '>', A " > " B " proto=99 payload=8B", "ESTABLISHED" },
		{ '>', A " > " B " proto=17 frag=3 payload=8B", "unknown" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *got = state_of(k, s, cases[i].from, cases[i].packet);

		if (strcmp(got, cases[i].want) != 0)
			fail_msg("%zu: %s: %s, not %s", i, cases[i].packet, got, cases[i].want);
	}
}

/* An IPv4 header and the first bytes behind it, as an ICMP error quotes them. */
static const char *quote(struct kit *k, const char *src, const char *dst, unsigned sport, unsigned dport)
{
	return arena_printf(k->a, "4500001c0001000040110000%s%s%04x%04x00080000", src, dst, sport, dport).p;
}

static const char *error(struct kit *k, struct states *s, char from, const char *ends, unsigned type, const char *quoted)
{
	unsigned char head[8] = { (unsigned char)type, 3 };
	struct buf b = { .a = k->a };

	for (int i = 0; i < 8; i++)
		buf_printf(&b, "%02x", head[i]);
	return state_of(k, s, from, arena_printf(k->a, "%s proto=1 payload=hex:%.*s%s", ends, STR_ARG(buf_str(&b)), quoted).p);
}

static void icmp_errors_are_related_to_what_they_quote(void **state)
{
	struct kit *k = *state;
	struct states *s = watch(k);
	static const char a[] = "c0000201", b[] = "c6336401";
	const char *known = quote(k, a, b, 1, 2), *other = quote(k, a, b, 7, 8), *reply = quote(k, b, a, 2, 1);

	state_of(k, s, '>', A " > " B " udp 1 > 2");
	state_of(k, s, '<', B " > " A " udp 2 > 1");
	assert_string_equal(error(k, s, '<', B " > " A, 3, known), "RELATED");
	assert_string_equal(error(k, s, '<', B " > 192.0.2.77", 3, known), "INVALID");
	assert_string_equal(error(k, s, '<', B " > " A, 3, other), "INVALID");
	assert_string_equal(error(k, s, '<', B " > " A, 5, known), "RELATED");
	assert_string_equal(error(k, s, '>', A " > " B, 3, reply), "RELATED");
}

static void what_is_dropped_is_not_remembered(void **state)
{
	struct kit *k = *state;
	struct chain *fwd = kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0);
	struct rule *est = kit_rule(k, fwd), *drop = kit_rule(k, fwd);

	k->opt.track = true;
	kit_in(k, est, FIELD_CT_STATE, 1 << CT_ESTABLISHED, 1 << CT_ESTABLISHED);
	kit_verdict(est, VERDICT_ACCEPT);
	kit_in(k, drop, FIELD_DPORT, 9, 9);
	kit_verdict(drop, VERDICT_DROP);
	kit_expect(k, "t=0 in=ea out=eb ip " A " > " B " udp 7 > 9", "drop", drop);
	kit_expect(k, "t=0 in=eb out=ea ip " B " > " A " udp 9 > 7", "accept", NULL);
	kit_expect(k, "t=0 in=ea out=eb ip " A " > " B " udp 7 > 9", "accept", est); /* B began it */
}

static void connections_time_out(void **state)
{
	struct kit *k = *state;
	struct states *s = watch(k);

	state_of(k, s, '>', A " > " B " udp 1 > 2");
	s->t = 29;
	assert_string_equal(state_of(k, s, '<', B " > " A " udp 2 > 1"), "ESTABLISHED");
	s->t = 140;
	assert_string_equal(state_of(k, s, '>', A " > " B " udp 1 > 2"), "ESTABLISHED"); /* it lasts longer than 2 s */
	s->t = 262;
	assert_string_equal(state_of(k, s, '<', B " > " A " udp 2 > 1"), "NEW");
}

static void what_is_ignored_prolongs_nothing(void **state)
{
	struct kit *k = *state;
	struct states *s = watch(k);

	tcp_script(k, s, 1, ">S", "N");
	s->t = 100;
	tcp_script(k, s, 1, ">S", "N"); /* nor does a SYN that nobody has answered */
	s->t = 121;
	tcp_script(k, s, 1, "<SA", "I"); /* of no connection */
	s->t = 200;
	tcp_script(k, s, 2, ">S <SA >A >FA", "N E E E");
	s->t = 300;
	tcp_script(k, s, 2, ">S", "E");
	s->t = 319;
	tcp_script(k, s, 2, "<SA", "E");
	s->t = 321;
	tcp_script(k, s, 2, "<A", "N");
	s->t = 400;
	tcp_script(k, s, 3, ">S <SA >A >FA", "N E E E");
	s->t = 500;
	tcp_script(k, s, 3, "<A", "E"); /* this one does */
	s->t = 559;
	tcp_script(k, s, 3, ">A", "E");
}

static void the_connections_mark_stays(void **state)
{
	struct kit *k = *state;
	struct chain *fwd = kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0);
	struct rule *save = kit_rule(k, fwd), *r = kit_rule(k, fwd), *dir = kit_rule(k, fwd);
	struct effect *ef;

	k->opt.track = true;
	kit_in(k, save, FIELD_CT_STATE, 1 << CT_NEW, 1 << CT_NEW);
	ef = kit_effect(save, EFFECT_CT_MARK);
	ef->value = 7;
	ef->mask = 0xff;
	kit_mask(k, r, FIELD_CT_MARK, 7, 0xffffffff);
	kit_in(k, dir, FIELD_CT_DIR, 1, 1);
	kit_run(k, "t=0 in=ea out=eb ip " A " > " B " udp 1 > 2");
	assert_int_equal(kit_hits(k, r), 1);
	assert_int_equal(kit_hits(k, dir), 0);
	kit_run(k, "t=0 in=eb out=ea ip " B " > " A " udp 2 > 1");
	assert_int_equal(kit_hits(k, save), 0);
	assert_int_equal(kit_hits(k, r), 1);
	assert_int_equal(kit_hits(k, dir), 1);
}

/* ---------- NAT ---------- */

static struct rule *nat(struct kit *k, struct chain *c, enum effect_kind kind, struct nat_spec n)
{
	struct rule *r = kit_rule(k, c);
	struct nat_spec *own = arena_new(k->a, struct nat_spec, 1);

	*own = n;
	kit_effect(r, kind)->nat = own;
	kit_verdict(r, VERDICT_ACCEPT);
	return r;
}

static struct nat_spec to(u128 addr, uint16_t port)
{
	return (struct nat_spec){ .has_addr = true, .addr_lo = addr, .addr_hi = addr, .has_port = port != 0, .port_lo = port,
				  .port_hi = port };
}

static void a_new_destination_is_what_later_hooks_see(void **state)
{
	struct kit *k = *state;
	struct chain *pre = kit_chain(k, FAMILY_IP4, "nat", "PREROUTING", HOOK_PREROUTING, -100);
	struct chain *raw = kit_chain(k, FAMILY_IP4, "raw", "PREROUTING", HOOK_PREROUTING, -300);
	struct chain *fwd = kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0);
	struct rule *first = nat(k, pre, EFFECT_DNAT, to(0xc6336401, 5353)), *second = nat(k, pre, EFFECT_DNAT, to(1, 1));
	struct rule *before = kit_rule(k, raw), *r = kit_rule(k, fwd), *orig = kit_rule(k, fwd), *status = kit_rule(k, fwd);

	kit_in(k, before, FIELD_DST, 0xc0000202, 0xc0000202);
	kit_in(k, orig, FIELD_CT_ORIG_DPORT, 53, 53);
	kit_mask(k, status, FIELD_CT_STATUS, CT_STATUS_DST_NAT, CT_STATUS_DST_NAT);
	kit_in(k, r, FIELD_DST, 0xc6336401, 0xc6336401);
	kit_in(k, r, FIELD_DPORT, 5353, 5353);
	kit_run(k, "in=ea out=eb ct=new ip " A " > 192.0.2.2 udp 77 > 53");
	assert_int_equal(k->r.verdict, VERDICT_ACCEPT);
	assert_int_equal(kit_hits(k, before), 1);
	assert_int_equal(kit_hits(k, first), 1);
	assert_int_equal(kit_hits(k, second), 0);
	assert_int_equal(kit_hits(k, r), 1);
	assert_int_equal(kit_hits(k, orig), 1);
	assert_int_equal(kit_hits(k, status), 1);
	kit_run(k, "in=ea out=eb ct=established ip " A " > 192.0.2.2 udp 77 > 53");
	assert_int_equal(kit_hits(k, first), 0); /* nat chains see only what starts a connection */
	assert_int_equal(kit_hits(k, r), 0);
}

static void the_tracker_keeps_translations(void **state)
{
	struct kit *k = *state;
	struct chain *pre = kit_chain(k, FAMILY_IP4, "nat", "PREROUTING", HOOK_PREROUTING, -100);
	struct chain *post = kit_chain(k, FAMILY_IP4, "nat", "POSTROUTING", HOOK_POSTROUTING, 100);
	struct chain *fwd = kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0);
	struct rule *dnat = nat(k, pre, EFFECT_DNAT, to(0xc6336401, 5353)), *r = kit_rule(k, fwd), *reply = kit_rule(k, fwd);
	struct rule *late;

	k->opt.track = true;
	nat(k, post, EFFECT_SNAT, to(0xc6336402, 0));
	kit_in(k, r, FIELD_DPORT, 5353, 5353);
	/* The source is still its own at forward and at mangle's postrouting. */
	kit_in(k, r, FIELD_SRC, 0xc0000201, 0xc0000201);
	late = kit_rule(k, kit_chain(k, FAMILY_IP4, "mangle", "POSTROUTING", HOOK_POSTROUTING, -150));
	kit_in(k, late, FIELD_SRC, 0xc0000201, 0xc0000201);
	kit_in(k, reply, FIELD_CT_STATE, 1 << CT_ESTABLISHED, 1 << CT_ESTABLISHED);
	kit_in(k, reply, FIELD_DST, 0xc0000201, 0xc0000201); /* the source that the connection had, at prerouting */
	kit_run(k, "t=0 in=ea out=eb ip " A " > 192.0.2.2 udp 77 > 53");
	assert_int_equal(kit_hits(k, dnat), 1);
	kit_run(k, "t=0 in=ea out=eb ip " A " > 192.0.2.2 udp 77 > 53");
	assert_int_equal(kit_hits(k, dnat), 0);
	assert_int_equal(kit_hits(k, r), 1);
	assert_int_equal(kit_hits(k, late), 1);
	kit_run(k, "t=0 in=eb out=ea ip " B " > 198.51.100.2 udp 5353 > 77");
	assert_int_equal(kit_hits(k, reply), 1);
}

static void an_unknown_translation_hides_replies(void **state)
{
	struct kit *k = *state;
	struct chain *post = kit_chain(k, FAMILY_IP4, "nat", "POSTROUTING", HOOK_POSTROUTING, 100);
	struct states *s = watch(k);

	nat(k, post, EFFECT_MASQUERADE, (struct nat_spec){ 0 });
	assert_string_equal(state_of(k, s, '>', A " > " B " udp 1 > 2"), "NEW");
	assert_string_equal(state_of(k, s, '<', B " > 198.51.100.2 udp 2 > 1"), "unknown"); /* it may be the reply */
	assert_string_equal(state_of(k, s, '<', "198.51.100.9 > 198.51.100.2 udp 2 > 1"), "NEW");
}

static void a_range_makes_the_destination_unknown(void **state)
{
	struct kit *k = *state;
	struct chain *pre = kit_chain(k, FAMILY_IP4, "nat", "PREROUTING", HOOK_PREROUTING, -100);
	struct chain *fwd = kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0);
	struct rule *r = kit_rule(k, fwd);
	struct nat_spec n = { .has_addr = true, .addr_lo = 0x0a000001, .addr_hi = 0x0a000002 };

	nat(k, pre, EFFECT_DNAT, n);
	kit_in(k, r, FIELD_DST, 0x0a000001, 0x0a000001);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "in=ea out=eb ct=new ip " A " > 192.0.2.2 udp 77 > 53", "unknown", NULL);
}

/* A redirected packet comes to this machine, even if out= says otherwise. */
static void redirect_leads_to_input(void **state)
{
	struct kit *k = *state;
	struct chain *pre = kit_chain(k, FAMILY_IP4, "nat", "PREROUTING", HOOK_PREROUTING, -100);
	struct chain *in = kit_chain(k, FAMILY_IP4, "filter", "INPUT", HOOK_INPUT, 0);
	struct rule *r = kit_rule(k, in);
	struct nat_spec n = { .has_port = true, .port_lo = 3128, .port_hi = 3128 };

	nat(k, pre, EFFECT_REDIRECT, n);
	kit_always(k, kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0), VERDICT_REJECT);
	kit_in(k, r, FIELD_DPORT, 3128, 3128);
	kit_in(k, r, FIELD_DST_TYPE, 1 << 2, 1 << 2);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "in=ea out=eb ct=new ip " A " > 192.0.2.2 tcp 77 > 80 flags=S", "drop", r);
}

static void redirect_of_our_own_goes_to_loopback(void **state)
{
	struct kit *k = *state;
	struct chain *nat_out = kit_chain(k, FAMILY_IP4, "nat", "OUTPUT", HOOK_OUTPUT, -100);
	struct chain *out = kit_chain(k, FAMILY_IP4, "filter", "OUTPUT", HOOK_OUTPUT, 0);
	struct chain *post = kit_chain(k, FAMILY_IP4, "mangle", "POSTROUTING", HOOK_POSTROUTING, -150);
	struct rule *er = kit_rule(k, out), *lo = kit_rule(k, post);
	struct nat_spec n = { .has_port = true, .port_lo = 5353, .port_hi = 5353 };

	nat(k, nat_out, EFFECT_REDIRECT, n);
	kit_in(k, er, FIELD_DST, 0x7f000001, 0x7f000001);
	kit_iface(k, er, FIELD_OIF, "er"); /* still the old one at this hook */
	kit_iface(k, lo, FIELD_OIF, "lo");
	kit_run(k, "out=er ct=new ip 192.0.2.2 > 192.0.2.1 udp 77 > 53");
	assert_int_equal(kit_hits(k, er), 1);
	assert_int_equal(kit_hits(k, lo), 1);
}

static void netmap_keeps_the_host(void **state)
{
	struct kit *k = *state;
	struct chain *pre = kit_chain(k, FAMILY_IP4, "nat", "PREROUTING", HOOK_PREROUTING, -100);
	struct chain *fwd = kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0);
	struct rule *r = kit_rule(k, fwd);
	struct nat_spec n = { .has_addr = true, .addr_lo = 0x0a010200, .addr_hi = 0xffffff00 };

	nat(k, pre, EFFECT_NETMAP, n);
	kit_in(k, r, FIELD_DST, 0x0a010237, 0x0a010237);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "in=ea out=eb ct=new ip " A " > 203.0.113.55 udp 77 > 53", "drop", r);
}

static void a_destination_that_was_changed_may_be_forwarded(void **state)
{
	struct kit *k = *state;
	struct chain *pre = kit_chain(k, FAMILY_IP4, "nat", "PREROUTING", HOOK_PREROUTING, -100);
	struct chain *in = kit_chain(k, FAMILY_IP4, "filter", "INPUT", HOOK_INPUT, 0);
	struct chain *fwd = kit_chain(k, FAMILY_IP4, "filter", "FORWARD", HOOK_FORWARD, 0);
	struct rule *r, *f;
	struct env env = { .forwarding = true };
	struct env_iface *i = vec_add(k->a, &env.ifaces);

	nat(k, pre, EFFECT_DNAT, to(0x0a000001, 0));
	r = kit_always(k, in, VERDICT_ACCEPT);
	f = kit_always(k, fwd, VERDICT_DROP);
	kit_expect(k, "in=ea ct=new ip " A " > 192.0.2.2 udp 77 > 53", "unknown", NULL);
	i->name = STR("ea");
	*vec_add(k->a, &i->addrs) = (struct env_addr){ FAMILY_IP4, 0xc0000202, 24 };
	k->opt.env = &env;
	k->e = NULL;
	kit_expect(k, "in=ea ct=new ip " A " > 192.0.2.2 udp 77 > 53", "drop", f);
	/* the connection's first packet may have been sent elsewhere by the same rule */
	kit_expect(k, "in=ea ct=established ip " A " > 192.0.2.2 udp 77 > 53", "unknown", NULL);
	kit_expect(k, "in=ea ct=established ip " A " > 203.0.113.2 udp 77 > 53", "unknown", NULL);
	kit_expect(k, "in=ea ct=untracked ip " A " > 192.0.2.2 udp 77 > 53", "accept", r);
	kit_expect(k, "in=ea ct=untracked ip " A " > 203.0.113.2 udp 77 > 53", "drop", f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIT_TEST(tcp_goes_through_its_states),
		KIT_TEST(other_protocols_are_new_until_answered),
		KIT_TEST(icmp_errors_are_related_to_what_they_quote),
		KIT_TEST(what_is_dropped_is_not_remembered),
		KIT_TEST(connections_time_out),
		KIT_TEST(what_is_ignored_prolongs_nothing),
		KIT_TEST(the_connections_mark_stays),
		KIT_TEST(a_new_destination_is_what_later_hooks_see),
		KIT_TEST(the_tracker_keeps_translations),
		KIT_TEST(an_unknown_translation_hides_replies),
		KIT_TEST(a_range_makes_the_destination_unknown),
		KIT_TEST(redirect_leads_to_input),
		KIT_TEST(redirect_of_our_own_goes_to_loopback),
		KIT_TEST(netmap_keeps_the_host),
		KIT_TEST(a_destination_that_was_changed_may_be_forwarded),
	};

	return KIT_RUN(tests);
}
