/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What nft rules become in the model: the first rule of chain c, or its like in the table of the other family. */
#include "nft_kit.h"

static const struct {
	const char *rules;
	enum family family;
	const char *model;
} rows[] = {
	{ "ip saddr 192.0.2.1 tcp dport 22 accept", FAMILY_IP4, "[ip.src in {0xc0000201}] [ip.proto in {0x6}] [dport in {0x16}] [accept]" },
	{ "ip saddr 192.0.2.1 accept", FAMILY_IP6, "" },
	{ "counter ip saddr 192.0.2.1 accept", FAMILY_IP6, "[count value 0 mask 0 ctmask 0 group 0] [ip.proto in {}]" },
	{ "tcp flags syn,ack accept", FAMILY_IP4,
	  "[ip.proto in {0x6}] [tcp.flags & 0x2 == 0x2 or tcp.flags & 0x10 == 0x10] [accept]" },
	{ "ip dscp cs1 accept", FAMILY_IP4, "[ip.tos in {0x20-0x23}] [accept]" },
	{ "ip ecn ce accept", FAMILY_IP4, "[ip.tos & 0x3 == 0x3] [accept]" },
	{ "icmp code 3-5 accept", FAMILY_IP4,
	  "[ip.proto in {0x1}] [icmp.type-code & 0xff == 0x3 or icmp.type-code & 0xfe == 0x4] [accept]" },
	{ "meta mark >> 16 == 5 accept", FAMILY_IP4, "[mark & 0xffff0000 == 0x50000] [accept]" },
	{ "meta mark | 1 == 5 accept", FAMILY_IP4, "[mark & 0xfffffffe == 0x4] [accept]" },
	{ "meta mark & 0xf0 != 0x10-0x20 accept", FAMILY_IP4, "[! mark & 0xf0 in {0x10-0x20}] [accept]" },
	{ "meta mark | 1 == 5-7 accept", FAMILY_IP4,
	  "[unknown meta mark | 0x00000001: ranges of what was calculated are not followed] [accept]" },
	{ "meta mark | 1 . ip saddr { 5-7 . 192.0.2.1 } accept", FAMILY_IP4,
	  "[unknown meta mark | 0x00000001 . ip saddr: ranges of what was calculated are not followed] [accept]" },
	{ "iifname != \"eth0\" accept", FAMILY_IP4, "[! iif.name in {0x65746830000000000000000000000000} absent:yes] [accept]" },
	{ "icmp type @types accept", FAMILY_IP4, "[ip.proto in {0x1}] [icmp.type-code & 0xff00 in \"inet/t/types\"] [accept]" },
	{ "ip saddr @plain accept", FAMILY_IP4, "[set \"inet/t/plain\" of ip.src] [accept]" },
	/* a set that rules fill, in a form that cannot be changed: nobody knows what is in it */
	{ "ip saddr . tcp dport . meta l4proto . iifname @filled accept", FAMILY_IP4,
	  "[ip.proto in {0x6}] [unknown ip saddr . tcp dport . meta l4proto . iifname: rules fill it while they run, which is not "
	  "followed for such keys] [accept]" },
	/* in a chain that any hook may call the name may be empty, which is `*`, too */
	{ "iifname vmap { \"lo\" : accept, * : drop }", FAMILY_IP4,
	  "[iif.name unknown: without an interface the name is empty, which is not looked up map "
	  "{0x6c6f0000000000000000000000000000 : [accept] * : [drop]}]" },
};

static const char around[] =
	"table inet t {\n"
	"set types { type icmp_type; elements = { echo-request } }\n"
	"set plain { type ipv4_addr; }\n"
	"set filled { type ipv4_addr . inet_service . inet_proto . ifname; flags dynamic; }\n"
	"map verdicts { type inet_service : verdict; elements = { 22 : continue, 23 : accept } }\n"
	"chain f { add @filled { ip saddr . tcp dport . meta l4proto . iifname } }\n"
	"chain c {\n%s\n}\n}\n";

static struct ruleset *lowered(struct nft_kit *k, const char *rules)
{
	struct ruleset *rs;
	char text[2048];

	snprintf(text, sizeof text, around, rules);
	nft_kit_read(k, text);
	if (k->d.n_errors)
		print_error("%s: %.*s\n", rules, STR_ARG(nft_kit_errors(k)));
	assert_int_equal(k->d.n_errors, 0);
	rs = policy_create(k->a);
	nft_lower(rs, &k->d, k->f);
	return rs;
}

static struct str model_of(struct nft_kit *k, const struct ruleset *rs, enum family f, size_t i)
{
	const struct chain *c = policy_chain_find(rs, f, STR("inet t"), STR("c"));

	assert_non_null(c);
	return i < c->rules.n ? policy_dump_rule(k->a, c->rules.v[i]) : STR("");
}

static void rules_become_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct nft_kit k;
		struct str found = model_of(&k, lowered(&k, rows[i].rules), rows[i].family, 0);

		if (!str_is(found, rows[i].model))
			print_error("%s\n  %.*s\n", rows[i].rules, STR_ARG(found));
		assert_true(str_is(found, rows[i].model));
		arena_destroy(k.a);
	}
}

static const struct step *outcome_of_22(const struct rule *r)
{
	for (uint32_t i = 0; i < r->n_steps; i++)
		if (r->step[i].kind == STEP_MAP)
			return &r->step[i].map->map->outcome[r->step[i].map->map->entries.v[0].outcome];
	return NULL;
}

/* `continue` goes on with the next statement, if there is one; one map may stand in rules of both kinds. */
static void continue_goes_on_where_something_follows(void **state)
{
	struct nft_kit k;
	struct ruleset *rs = lowered(&k, "tcp dport vmap @verdicts\ntcp dport vmap @verdicts counter drop");
	const struct chain *c = policy_chain_find(rs, FAMILY_IP4, STR("inet t"), STR("c"));

	(void)state;
	assert_int_equal(c->rules.n, 2);
	assert_int_equal(outcome_of_22(c->rules.v[0])->kind, STEP_VERDICT);
	assert_int_equal(outcome_of_22(c->rules.v[0])->v.verdict, VERDICT_NONE);
	assert_int_equal(outcome_of_22(c->rules.v[1])->kind, STEP_EFFECT);
	arena_destroy(k.a);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_become_steps),
		cmocka_unit_test(continue_goes_on_where_something_follows),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
