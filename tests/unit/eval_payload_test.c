/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bits of headers: where each base begins, what is absent, what is not known. */
#include "unit/eval_kit.h"

#define TCP "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 40000 > 22 flags=S ct=new"

struct asked {
	struct kit *k;
	struct rule *r;
	struct test *t;
	struct bytes_spec *b;
};

/* One rule that drops what has `want` at these bits. */
static struct asked bits(struct kit *k, enum family fam, enum payload_base base, uint32_t at, uint8_t n, u128 want)
{
	struct chain *in = kit_chain(k, fam, "filter", "INPUT", HOOK_INPUT, 0);
	struct asked q = { .k = k, .r = kit_rule(k, in) };

	q.b = kit_bytes(k, q.r, BYTES_PAYLOAD);
	q.t = &q.r->step[0].test;
	q.b->payload = (struct payload_ref){ base, at, n };
	q.b->payload_mask = ~(u128)0;
	q.b->payload_in = valset_one(k->a, want, want);
	kit_verdict(q.r, VERDICT_DROP);
	return q;
}

static void yes(struct asked *q, const char *line)
{
	kit_expect(q->k, line, "drop", q->r);
}

static void no(struct asked *q, const char *line)
{
	kit_expect(q->k, line, "accept", NULL);
}

static void maybe(struct asked *q, const char *line)
{
	kit_expect(q->k, line, "unknown", NULL);
}

static void the_network_header_is_read_by_bits(void **state)
{
	struct asked q = bits(*state, FAMILY_IP4, PAYLOAD_NETWORK, 4, 4, 6); /* header length in words */

	yes(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 ihl=6 tcp 4 > 22 ct=new");
	no(&q, TCP);
}

static void wide_values_that_begin_inside_a_byte(void **state)
{
	/* From the last nibble of the sixth byte: "ff", hop limit 0x40, 12 bytes of the source, and half a byte. */
	struct asked q = bits(*state, FAMILY_IP6, PAYLOAD_NETWORK, 52, 128, U128(0x64020010db800000, 0x0000000000000000));

	q.b->payload_in = valset_one(q.k->a, U128(0x64020010db800000, 0), U128(0x64020010db8fffff, ~0ull));
	yes(&q, "in=eth0 ip6 2001:db8::1 > 2001:db8::2 tcp 4 > 22 ttl=64 ct=new");
	no(&q, "in=eth0 ip6 2001:db8::1 > 2001:db8::2 tcp 4 > 22 ttl=65 ct=new");
}

static void the_transport_header_moves_and_goes(void **state)
{
	struct asked q = bits(*state, FAMILY_IP4, PAYLOAD_TRANSPORT, 16, 16, 22);

	yes(&q, TCP);
	yes(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 ihl=7 udp 4 > 22 ct=new");
	yes(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=47 payload=hex:00000016 ct=new"); /* any protocol */
	no(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=47 payload=hex:000000 ct=new");    /* it ends before */
	no(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=6 frag=3 payload=hex:0000001600000000 ct=new");
	q.t->on_absent = true;
	yes(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=6 frag=3 payload=hex:0000001600000000 ct=new");
	q.t->negated = true;
	no(&q, TCP);
}

static void ipv6_extension_headers_are_stepped_over(void **state)
{
	struct asked q = bits(*state, FAMILY_IP6, PAYLOAD_TRANSPORT, 16, 16, 22);

	yes(&q, "in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=hbh,dst tcp 4 > 22 ct=new");
	no(&q, "in=eth0 ip6 2001:db8::1 > 2001:db8::2 ext=hbh,frag(off=4,mf=0,id=1) proto=17 payload=hex:0000001600000000");
}

static void the_inner_part_is_behind_the_transport_header(void **state)
{
	struct asked q = bits(*state, FAMILY_IP4, PAYLOAD_INNER, 8, 8, 0x42);

	yes(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 udp 4 > 22 payload=hex:0042 ct=new");
	yes(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 22 mss=1460 payload=hex:0042 ct=new");
	no(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 22 payload=hex:00 ct=new");
	no(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 icmp type=8 payload=hex:00420042 ct=new");
	yes(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=47 payload=hex:2000080000000001ff42 ct=new"); /* with a key */
	no(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=47 payload=hex:2001080000000001ff42 ct=new");	 /* version 1 */
}

static void the_ethernet_header_is_there_if_it_was_received(void **state)
{
	struct asked q = bits(*state, FAMILY_IP4, PAYLOAD_LINK, 48, 48, 0x020000000007);

	yes(&q, "in=eth0 eth mac=02:00:00:00:00:07 ip 198.51.100.7 > 192.0.2.1 udp 4 > 5 ct=new");
	no(&q, "in=eth0 eth mac=02:00:00:00:00:08 ip 198.51.100.7 > 192.0.2.1 udp 4 > 5 ct=new");
	maybe(&q, TCP); /* the line begins with the IP header */
	q.b->payload = (struct payload_ref){ PAYLOAD_LINK, 96, 32 };
	q.b->payload_in = valset_one(q.k->a, 0x81000005, 0x81000005);
	yes(&q, "in=eth0 eth vlan=5 ip 198.51.100.7 > 192.0.2.1 udp 4 > 5 ct=new");
	yes(&q, "in=eth0 eth vlan=5(metadata) ip 198.51.100.7 > 192.0.2.1 udp 4 > 5 ct=new"); /* as it was on the wire */
	no(&q, "in=eth0 eth ip 198.51.100.7 > 192.0.2.1 udp 4 > 5 ct=new");
	q.b->payload = (struct payload_ref){ PAYLOAD_LINK, 8 * (14 + 4 + 12), 32 }; /* the source, behind the tag */
	q.b->payload_in = valset_one(q.k->a, 0xc6336407, 0xc6336407);
	yes(&q, "in=eth0 eth vlan=5(metadata) ip 198.51.100.7 > 192.0.2.1 udp 4 > 5 ct=new");
	yes(&q, "in=eth0 eth vlan=5 ip 198.51.100.7 > 192.0.2.1 udp 4 > 5 ct=new");
}

static void bits_that_were_not_captured_are_not_known(void **state)
{
	struct asked q = bits(*state, FAMILY_IP4, PAYLOAD_TRANSPORT, 56, 16, 0x1234); /* a byte that is held, one that is not */

	maybe(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=253 payload=hex:0000000000000012340000 cut=28 ct=new");
	no(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=253 payload=hex:0000000000000013340000 cut=28 ct=new");
	q.b->payload_mask = 0xff00;
	q.b->payload_in = valset_one(q.k->a, 0x1200, 0x1200);
	yes(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=253 payload=hex:0000000000000012340000 cut=28 ct=new");
	q.b->payload_mask = 0xffff;
	q.b->payload_in = valset_one(q.k->a, 0x1200, 0x1fff);
	yes(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=253 payload=hex:0000000000000012340000 cut=28 ct=new");
	q.b->payload_in = valset_one(q.k->a, 0x1300, 0x1fff);
	no(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=253 payload=hex:0000000000000012340000 cut=28 ct=new");
	q.b->payload = (struct payload_ref){ PAYLOAD_TRANSPORT, 8 * 20, 8 };
	no(&q, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=253 payload=hex:0000000000000012340000 cut=28 ct=new");
}

static void rules_see_what_rules_wrote(void **state)
{
	struct kit *k = *state;
	struct asked q = bits(k, FAMILY_IP4, PAYLOAD_NETWORK, 64, 8, 7);
	struct chain *early = kit_chain(k, FAMILY_IP4, "mangle", "INPUT", HOOK_INPUT, -150);
	struct rule *r = kit_rule(k, early);
	struct effect *ef = kit_effect(r, EFFECT_TTL);

	ef->mask = 0;
	ef->value = 7;
	yes(&q, TCP);
}

static void keys_of_maps_are_bits_too(void **state)
{
	struct kit *k = *state;
	struct chain *in = kit_chain(k, FAMILY_IP4, "filter", "INPUT", HOOK_INPUT, 0);
	struct rule *r = kit_rule(k, in);
	struct map *m = policy_map_add(k->rs, STR(""), (struct loc){ 0 });
	struct payload_ref ref = { PAYLOAD_TRANSPORT, 32, 32 };
	struct map_key key = { .payload = &ref, .mask = 0xffff0000 };
	struct map_span span = { 0xabcd0000, 0xabcd0000 };
	struct map_use use = { .map = m, .key = &key };
	struct step out = { .kind = STEP_VERDICT };

	out.v.verdict = VERDICT_DROP;
	m->n_dims = 1;
	m->n_outcomes = 1;
	m->outcome = &out;
	*vec_add(k->a, &m->entries) = (struct map_entry){ .key = &span };
	kit_step(r, STEP_MAP)->map = &use;
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 22 seq=0xabcd1234 ct=new", "drop", r);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 22 seq=0xabce1234 ct=new", "accept", NULL);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=253 payload=8B cut=25 ct=new", "unknown", NULL);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 proto=253 payload=7B ct=new", "accept", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIT_TEST(the_network_header_is_read_by_bits),
		KIT_TEST(wide_values_that_begin_inside_a_byte),
		KIT_TEST(the_transport_header_moves_and_goes),
		KIT_TEST(ipv6_extension_headers_are_stepped_over),
		KIT_TEST(the_inner_part_is_behind_the_transport_header),
		KIT_TEST(the_ethernet_header_is_there_if_it_was_received),
		KIT_TEST(bits_that_were_not_captured_are_not_known),
		KIT_TEST(rules_see_what_rules_wrote),
		KIT_TEST(keys_of_maps_are_bits_too),
	};

	return KIT_RUN(tests);
}
