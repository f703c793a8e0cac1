/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The model as a thing that is built: chains, rules and sets come in, are found by name, numbered, and taken out again.
 *
 * A chain's name holds within one family and one table; a set's name holds for all. policy_number() runs when everything
 * is in: it gives the numbers that later passes index arrays by, and ties each use of a set to the set.
 */
#include "policy/policy.h"

#include <stdio.h>

struct ruleset *policy_create(struct arena *a)
{
	struct ruleset *rs = arena_new(a, struct ruleset, 1);

	rs->a = a;
	return rs;
}

static struct str chain_key(struct arena *a, enum family fam, struct str table, struct str name)
{
	return arena_printf(a, "%u %.*s %.*s", fam, STR_ARG(table), STR_ARG(name));
}

struct chain *policy_chain_add(struct ruleset *rs, enum family fam, struct str table, struct str name, struct loc at)
{
	struct chain *c = arena_new(rs->a, struct chain, 1);

	*c = (struct chain){ .table = table, .name = name, .family = fam, .hook = HOOK_NONE, .at = at };
	c->id = (uint32_t)rs->chains.n;
	*vec_add(rs->a, &rs->chains) = c;
	*strmap_slot(rs->a, &rs->chain_by_name, chain_key(rs->a, fam, table, name)) = c;
	return c;
}

struct chain *policy_chain_find(const struct ruleset *rs, enum family fam, struct str table, struct str name)
{
	char key[256];
	int n = snprintf(key, sizeof key, "%u %.*s %.*s", fam, STR_ARG(table), STR_ARG(name));

	if (n < 0 || (size_t)n >= sizeof key)
		return strmap_get(&rs->chain_by_name, chain_key(rs->a, fam, table, name));
	return strmap_get(&rs->chain_by_name, (struct str){ key, (size_t)n });
}

struct rule *policy_rule_add(struct ruleset *rs, struct chain *c, uint32_t pos)
{
	struct rule *r = arena_new(rs->a, struct rule, 1);

	vec_add(rs->a, &c->rules);
	if (pos >= c->rules.n)
		pos = (uint32_t)c->rules.n - 1;
	for (uint32_t i = (uint32_t)c->rules.n - 1; i > pos; i--) {
		c->rules.v[i] = c->rules.v[i - 1];
		c->rules.v[i]->index = i;
	}
	c->rules.v[pos] = r;
	r->chain = c;
	r->index = pos;
	r->id = (uint32_t)rs->rules.n;
	*vec_add(rs->a, &rs->rules) = r;
	return r;
}

struct set *policy_set_add(struct ruleset *rs, struct str name, struct loc at)
{
	struct set *s = arena_new(rs->a, struct set, 1);

	s->name = name;
	s->at = at;
	s->id = (uint32_t)rs->sets.n;
	*vec_add(rs->a, &rs->sets) = s;
	*strmap_slot(rs->a, &rs->set_by_name, name) = s;
	return s;
}

struct set *policy_set_find(const struct ruleset *rs, struct str name)
{
	return strmap_get(&rs->set_by_name, name);
}

struct map *policy_map_add(struct ruleset *rs, struct str name, struct loc at)
{
	struct map *m = arena_new(rs->a, struct map, 1);

	*m = (struct map){ .name = name, .at = at, .id = (uint32_t)rs->maps.n };
	*vec_add(rs->a, &rs->maps) = m;
	return m;
}

struct counter *policy_counter_add(struct ruleset *rs, struct str name, struct loc at)
{
	struct counter *c = arena_new(rs->a, struct counter, 1);

	*c = (struct counter){ .name = name, .at = at, .id = (uint32_t)rs->counters.n };
	*vec_add(rs->a, &rs->counters) = c;
	return c;
}

const struct rule *policy_rule_root(const struct rule *r)
{
	return r->root ? r->root : r;
}

const struct chain *policy_chain_root(const struct chain *c)
{
	return c->root ? c->root : c;
}

static bool is_behind(const struct rule *x, const struct rule *y)
{
	if (x->at.source != y->at.source)
		return x->at.source > y->at.source;
	return x->at.off > y->at.off;
}

const struct rule *const *policy_written_rules(struct arena *a, const struct ruleset *rs, const struct chain *root, size_t *n)
{
	const struct rule **v;
	size_t most = 0, at = 0;

	*n = root->rules.n;
	if (!root->root)
		return (const struct rule *const *)root->rules.v;
	for (size_t i = 0; i < rs->chains.n; i++)
		most += rs->chains.v[i]->root == root ? rs->chains.v[i]->rules.n : 0;
	v = arena_new(a, const struct rule *, most + 1);
	for (; at < root->rules.n; at++)
		v[at] = root->rules.v[at];
	for (size_t i = 0; i < rs->chains.n; i++) {
		const struct chain *c = rs->chains.v[i];

		/* Those of one family only lie far apart: each is moved up from the end to its place. */
		for (size_t k = 0; c != root && c->root == root && k < c->rules.n; k++) {
			size_t to = at;

			if (policy_rule_root(c->rules.v[k]) != c->rules.v[k])
				continue;
			for (; to > 0 && is_behind(v[to - 1], c->rules.v[k]); to--)
				v[to] = v[to - 1];
			v[to] = c->rules.v[k];
			at++;
		}
	}
	*n = at;
	return v;
}

/* Rules of one chain with equal text are told apart by their number among themselves. */
static void number_duplicates(struct arena *scratch, struct chain *c)
{
	struct strmap seen = { 0 };

	for (size_t i = 0; i < c->rules.n; i++) {
		struct rule *r = c->rules.v[i];
		void **slot = strmap_slot(scratch, &seen, r->text);
		uintptr_t n = (uintptr_t)*slot;

		r->duplicate = (uint32_t)n;
		*slot = (void *)(n + 1);
	}
}

static void link_sets(const struct ruleset *rs, struct step *steps, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct step *s = &steps[i];
		struct set_use *use = s->kind == STEP_TEST ? s->test.set : s->kind == STEP_EFFECT ? s->effect.set : NULL;

		if (use)
			use->set = policy_set_find(rs, use->name);
	}
}

void policy_ahead(const struct chain *c, size_t i)
{
	enum { RULES = 24, STEPS = 12, VALUES = 6, LINE = 64 };

	if (i + RULES < c->rules.n) {
		__builtin_prefetch(c->rules.v[i + RULES]);
		__builtin_prefetch((const char *)c->rules.v[i + RULES] + LINE);
	}
	if (i + STEPS < c->rules.n) {
		const struct rule *r = c->rules.v[i + STEPS];

		for (size_t at = 0; at < r->n_steps * sizeof *r->step; at += LINE)
			__builtin_prefetch((const char *)r->step + at);
	}
	if (i + VALUES < c->rules.n) {
		const struct rule *r = c->rules.v[i + VALUES];

		for (uint32_t k = 0; k < r->n_steps; k++)
			if (r->step[k].kind == STEP_TEST && r->step[k].test.kind == TEST_IN)
				__builtin_prefetch(r->step[k].test.in.span);
	}
}

void policy_number(struct ruleset *rs)
{
	struct arena *scratch = arena_create();

	rs->rules.n = 0;
	for (size_t i = 0; i < rs->chains.n; i++) {
		struct chain *c = rs->chains.v[i];

		c->id = (uint32_t)i;
		for (size_t j = 0; j < c->rules.n; j++) {
			struct rule *r = c->rules.v[j];

			r->index = (uint32_t)j;
			r->id = (uint32_t)rs->rules.n;
			*vec_add(rs->a, &rs->rules) = r;
			link_sets(rs, r->step, r->n_steps);
		}
		number_duplicates(scratch, c);
		arena_reset(scratch);
	}
	for (size_t i = 0; i < rs->sets.n; i++)
		rs->sets.v[i]->id = (uint32_t)i;
	for (size_t i = 0; i < rs->maps.n; i++)
		link_sets(rs, rs->maps.v[i]->outcome, rs->maps.v[i]->n_outcomes);
	arena_destroy(scratch);
}

int policy_priority(const struct chain *c)
{
	enum { DST_NAT = -100, SRC_NAT = 100 };

	if (!c->is_nat)
		return c->priority;
	return c->hook == HOOK_PREROUTING || c->hook == HOOK_OUTPUT ? DST_NAT : SRC_NAT;
}

/* Does x, which was registered before y, stand behind it? */
static bool stands_behind(const struct chain *x, const struct chain *y)
{
	if (policy_priority(x) != policy_priority(y))
		return policy_priority(x) > policy_priority(y);
	return !(x->is_nat && y->is_nat) || x->priority >= y->priority;
}

struct chain **policy_base_chains(struct arena *a, const struct ruleset *rs, enum family fam, enum hook hook, size_t *n)
{
	struct chain **v = arena_new(a, struct chain *, rs->chains.n);

	*n = 0;
	for (size_t i = 0; i < rs->chains.n; i++) {
		struct chain *c = rs->chains.v[i];
		size_t k = *n;

		if (c->family != fam || c->hook != hook || hook == HOOK_NONE)
			continue;
		for (; k > 0 && stands_behind(v[k - 1], c); k--)
			v[k] = v[k - 1];
		v[k] = c;
		++*n;
	}
	return v;
}

static const char *const hook_names[HOOK_COUNT][2] = {
	{ "prerouting", "PREROUTING" }, { "input", "INPUT" },		 { "forward", "FORWARD" },
	{ "output", "OUTPUT" },		{ "postrouting", "POSTROUTING" }, { "ingress", "INGRESS" },
	{ "egress", "EGRESS" },
};

const char *policy_hook_name(enum hook h)
{
	return h < HOOK_COUNT ? hook_names[h][0] : "none";
}

const char *policy_hook_chain(enum hook h)
{
	return h < HOOK_COUNT ? hook_names[h][1] : "none";
}

const char *policy_family_name(enum family f)
{
	static const char *const names[FAMILY_ALL] = { "ip", "ip6", "frame" };

	return names[f];
}

const char *policy_verdict_name(enum verdict v)
{
	static const char *const names[] = { "none", "accept", "drop",	"reject", "jump",
					     "goto", "return", "queue", "stolen" };

	return names[v];
}

const char *policy_reject_name(enum reject_kind k)
{
	static const char *const names[REJECT_COUNT] = {
		"icmp-net-unreach",	"icmp-host-unreach", "icmp-proto-unreach", "icmp-port-unreach",
		"icmp-net-prohibited",	"icmp-host-prohibited", "icmp-admin-prohibited", "tcp-rst",
		"icmp6-no-route",	"icmp6-adm-prohibited", "icmp6-addr-unreach", "icmp6-port-unreach",
		"icmp6-policy-fail",	"icmp6-reject-route",
	};

	return names[k];
}
