/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chains at a device: before prerouting and behind postrouting, and the only ones that see frames without IP. */
#include "unit/eval_kit.h"

#define IN "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 40000 > 22 flags=S ct=new"
#define FWD "in=eth0 out=eth1 ip 198.51.100.7 > 203.0.113.1 tcp 40000 > 22 flags=S ct=new"
#define OUT "out=eth1 ip 192.0.2.1 > 198.51.100.7 tcp 40000 > 22 flags=S ct=new"
#define ARP "arp 192.0.2.7 > 192.0.2.1"

static struct chain *device(struct kit *k, enum family fam, enum hook hook, const char *dev)
{
	struct chain *c = kit_chain(k, fam, "netdev f", policy_hook_name(hook), hook, 0);

	*vec_add(k->a, &c->devices) = str_from(dev);
	return c;
}

static void ingress_is_before_prerouting(void **state)
{
	struct kit *k = *state;
	struct chain *dev = device(k, FAMILY_IP4, HOOK_INGRESS, "eth0");
	struct chain *pre = kit_chain(k, FAMILY_IP4, "ip f", "pre", HOOK_PREROUTING, -300);
	struct rule *mark = kit_rule(k, dev), *drop = kit_rule(k, dev), *seen = kit_rule(k, pre);
	struct effect *ef = kit_effect(mark, EFFECT_MARK);

	ef->mask = UINT32_MAX;
	ef->value = 5;
	kit_in(k, drop, FIELD_DPORT, 23, 23);
	kit_verdict(drop, VERDICT_DROP);
	kit_in(k, seen, FIELD_MARK, 5, 5);
	kit_verdict(seen, VERDICT_DROP);
	kit_expect(k, IN, "drop", seen);
	assert_int_equal(kit_hits(k, mark), 1);
	kit_expect(k, "in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 23 ct=new", "drop", drop);
	assert_int_equal(kit_hits(k, seen), 0);
	kit_expect(k, "in=eth1 ip 198.51.100.7 > 192.0.2.1 tcp 4 > 23 ct=new", "accept", NULL); /* another device */
	kit_expect(k, OUT, "accept", NULL);
}

static void egress_is_behind_postrouting(void **state)
{
	struct kit *k = *state;
	struct chain *dev = device(k, FAMILY_IP4, HOOK_EGRESS, "eth*");
	struct chain *out = kit_chain(k, FAMILY_IP4, "ip f", "o", HOOK_OUTPUT, -150);
	struct chain *post = kit_chain(k, FAMILY_IP4, "nat", "post", HOOK_POSTROUTING, 100);
	struct rule *mark = kit_rule(k, out), *snat = kit_rule(k, post), *drop = kit_rule(k, dev);
	struct nat_spec to = { .has_addr = true, .addr_lo = 0xcb007105, .addr_hi = 0xcb007105 };
	struct effect *ef = kit_effect(mark, EFFECT_MARK);

	ef->mask = UINT32_MAX;
	ef->value = 0x10;
	kit_effect(snat, EFFECT_SNAT)->nat = &to;
	kit_in(k, drop, FIELD_MARK, 0x10, 0x10);
	kit_in(k, drop, FIELD_SRC, 0xcb007105, 0xcb007105); /* as translated */
	kit_in(k, drop, FIELD_IIF, 0, field_max(FIELD_IIF))->on_absent = true;
	kit_verdict(drop, VERDICT_DROP);
	kit_expect(k, OUT, "drop", drop);
	kit_expect(k, FWD, "accept", NULL); /* no mark */
	kit_expect(k, IN, "accept", NULL);
	kit_expect(k, "out=wlan0 ip 192.0.2.1 > 198.51.100.7 udp 4 > 5 ct=new", "accept", snat);
}

static void frames_without_ip_see_only_their_chains(void **state)
{
	struct kit *k = *state;
	struct chain *in4 = device(k, FAMILY_IP4, HOOK_INGRESS, "eth0"), *in = device(k, FAMILY_FRAME, HOOK_INGRESS, "eth0");
	struct chain *out = device(k, FAMILY_FRAME, HOOK_EGRESS, "eth1");
	struct rule *ip = kit_always(k, in4, VERDICT_DROP), *arp = kit_rule(k, in), *any = kit_always(k, out, VERDICT_STOLEN);
	struct bytes_spec *op;

	kit_always(k, kit_chain(k, FAMILY_IP4, "ip f", "i", HOOK_INPUT, 0), VERDICT_DROP);
	kit_in(k, arp, FIELD_ETHERTYPE, 0x0806, 0x0806);
	op = kit_bytes(k, arp, BYTES_PAYLOAD);
	op->payload = (struct payload_ref){ PAYLOAD_NETWORK, 48, 16 };
	op->payload_mask = 0xffff;
	op->payload_in = valset_one(k->a, 1, 1); /* requests */
	kit_verdict(arp, VERDICT_DROP);
	kit_expect(k, "in=eth0 " ARP, "drop", arp);
	kit_expect(k, "in=eth0 " ARP " op=reply", "accept", NULL);
	assert_ptr_equal(k->r.chain, in);
	kit_expect(k, "in=eth0 vlan=5 " ARP, "drop", arp);
	kit_expect(k, "in=eth2 " ARP, "accept", NULL);
	kit_expect(k, "out=eth1 " ARP, "stolen", any);
	kit_expect(k, "in=eth0 out=eth1 " ARP " op=reply", "stolen", any);
	kit_expect(k, ARP, "unknown", NULL); /* where? */
	kit_expect(k, "in=eth0 eth type=0x8892", "accept", NULL);
	kit_expect(k, IN, "drop", ip);
}

static void a_frame_with_no_rules_for_it_is_accepted(void **state)
{
	struct kit *k = *state;

	kit_always(k, device(k, FAMILY_IP4, HOOK_INGRESS, "eth0"), VERDICT_DROP);
	kit_expect(k, "in=eth0 " ARP, "accept", NULL);
	assert_null(k->r.chain);
}

static void a_device_that_nobody_named_is_a_question(void **state)
{
	struct kit *k = *state;
	struct chain *dev = device(k, FAMILY_IP4, HOOK_INGRESS, "eth0");
	struct rule *r = kit_always(k, dev, VERDICT_DROP);

	*vec_add(k->a, &dev->devices) = STR("wan*");
	k->opt.hook = HOOK_INGRESS;
	kit_expect(k, "ip 198.51.100.7 > 192.0.2.1 udp 4 > 5", "unknown", NULL);
	assert_true(kit_why_has(k, "the device that receives"));
	kit_expect(k, "in=wan7 ip 198.51.100.7 > 192.0.2.1 udp 4 > 5", "drop", r);
	kit_expect(k, "in=lan0 ip 198.51.100.7 > 192.0.2.1 udp 4 > 5", "accept", NULL);
	dev->devices.v[1] = STR("*");
	k->e = NULL;
	kit_expect(k, "ip 198.51.100.7 > 192.0.2.1 udp 4 > 5", "drop", r);
}

/* A forwarded packet goes out with other addresses than it came with; one that is sent has those of the line. */
static void the_ethernet_header_at_egress_is_the_new_one(void **state)
{
	struct kit *k = *state;
	struct rule *r = kit_rule(k, device(k, FAMILY_IP4, HOOK_EGRESS, "eth1"));

	kit_in(k, r, FIELD_MAC_SRC, 7, 7);
	kit_verdict(r, VERDICT_DROP);
	kit_expect(k, "out=eth1 mac=00:00:00:00:00:07 ip 192.0.2.1 > 198.51.100.7 udp 4 > 5 ct=new", "drop", r);
	kit_expect(k, "out=eth1 mac=00:00:00:00:00:08 ip 192.0.2.1 > 198.51.100.7 udp 4 > 5 ct=new", "accept", NULL);
	kit_expect(k, "in=eth0 out=eth1 mac=00:00:00:00:00:08 ip 192.0.2.1 > 198.51.100.7 udp 4 > 5 ct=new", "unknown", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KIT_TEST(ingress_is_before_prerouting),
		KIT_TEST(egress_is_behind_postrouting),
		KIT_TEST(frames_without_ip_see_only_their_chains),
		KIT_TEST(a_frame_with_no_rules_for_it_is_accepted),
		KIT_TEST(a_device_that_nobody_named_is_a_question),
		KIT_TEST(the_ethernet_header_at_egress_is_the_new_one),
	};

	return KIT_RUN(tests);
}
