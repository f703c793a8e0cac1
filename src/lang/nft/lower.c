/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tree as the model: a chain for each family that its table sees, twins of each other, and their rules.
 *
 *     table inet f { chain in { ...; ip saddr 192.0.2.1 drop; tcp dport 22 accept; } }
 *     IPv4: [ip.src in {192.0.2.1}] [drop]      [ip.proto in {6}] [dport in {22}] [accept]
 *     IPv6:                                     [ip.proto in {6}] [dport in {22}] [accept]
 *
 * A rule that cannot match in a family is left out there. What is not lowered becomes a test that nobody can decide.
 */
#include "lang/nft/lower.h"

struct test *nft_lower_test(struct nft_lower *l, enum test_kind kind, struct loc at, const char *what)
{
	struct step *s = vec_add(l->a, &l->steps);

	s->kind = STEP_TEST;
	s->test.kind = kind;
	s->test.at = at;
	s->test.what = what;
	return &s->test;
}

void nft_lower_unknown(struct nft_lower *l, struct loc at, const char *what, const char *why)
{
	struct test *t = nft_lower_test(l, TEST_UNKNOWN, at, what);

	t->why = why;
}

/* Never true here. If nothing before has been done by then, there is no rule in this family. */
void nft_lower_never(struct nft_lower *l, struct loc at)
{
	struct test *t;

	for (size_t i = 0; i < l->steps.n; i++) {
		if (l->steps.v[i].kind == STEP_TEST && l->steps.v[i].test.kind != TEST_STATE)
			continue;
		t = nft_lower_test(l, TEST_IN, at, "family");
		t->field[0] = FIELD_PROTO;
		t->n_fields = 1;
		return;
	}
	l->is_never = true;
}

/* ---------- sets that rules change ---------- */

static bool changes(const struct nft_rule *r, const struct nft_set *s)
{
	for (uint32_t i = 0; i < r->n_stmts; i++)
		if (r->stmt[i]->kind == NFT_STMT_SET && r->stmt[i]->dynset.set == s)
			return true;
	return false;
}

bool nft_lower_is_fixed(const struct nft_lower *l, const struct nft_set *s)
{
	for (size_t i = 0; i < s->elems.n; i++)
		if (s->elems.v[i].has_timeout || s->elems.v[i].n_stmts)
			return false;
	if (s->flags & (NFT_SET_DYNAMIC | NFT_SET_TIMEOUT) || s->n_stmts)
		return false;
	for (size_t c = 0; c < l->table->chains.n; c++)
		for (size_t i = 0; i < l->table->chains.v[c]->rules.n; i++)
			if (changes(l->table->chains.v[c]->rules.v[i], s))
				return false;
	return true;
}

/* ---------- rules ---------- */

static struct rule *lower_rule(struct nft_lower *l, struct chain *c, const struct nft_rule *r)
{
	struct rule *to;

	l->steps.v = NULL;
	l->steps.n = l->steps.cap = 0;
	l->is_never = false;
	memset(l->asked, 0, sizeof l->asked);
	for (uint32_t i = 0; i < r->n_stmts && !l->is_never; i++)
		nft_lower_stmt(l, r->stmt[i]);
	if (l->is_never)
		return NULL;
	to = policy_rule_add(l->rs, c, UINT32_MAX);
	to->at = r->at;
	to->text = nft_print_rule(l->a, r);
	to->comment = r->comment;
	to->step = l->steps.v;
	to->n_steps = (uint32_t)l->steps.n;
	for (uint32_t i = 0; i < r->n_stmts; i++) {
		const struct nft_stmt *s = r->stmt[i];

		if (s->kind == NFT_STMT_COUNTER && !s->name.n && s->counter.has_values) {
			to->packets = s->counter.packets;
			to->bytes = s->counter.bytes;
			to->has_counts = true;
		}
	}
	return to;
}

/* ---------- chains ---------- */

enum { MAX_FAMILIES = 3 };

static unsigned families_of(enum nft_family f, enum family out[MAX_FAMILIES])
{
	out[0] = f == NFT_IP6 ? FAMILY_IP6 : FAMILY_IP4;
	out[1] = FAMILY_IP6;
	out[2] = FAMILY_FRAME;
	return f == NFT_INET ? 2 : f == NFT_NETDEV ? 3 : 1;
}

static struct chain *declare(struct nft_lower *l, const struct nft_chain *c)
{
	struct chain *to = policy_chain_add(l->rs, l->family, l->table_name, c->name, c->at);

	to->hook = c->is_base && !l->table->is_dormant ? c->hook : HOOK_NONE;
	to->priority = c->priority;
	to->is_nat = c->is_base && c->type == NFT_CHAIN_NAT;
	to->policy = !c->is_base ? VERDICT_NONE : c->policy_stated ? c->policy : VERDICT_ACCEPT;
	to->policy_stated = c->policy_stated;
	for (size_t i = 0; i < c->devices.n; i++)
		*vec_add(l->a, &to->devices) = c->devices.v[i];
	return to;
}

static void lower_chain(struct nft_lower *l, const struct nft_chain *c, const enum family *families, unsigned n)
{
	for (size_t i = 0; i < c->rules.n; i++) {
		struct rule *twin[MAX_FAMILIES] = { NULL }, *root = NULL;
		unsigned n_twins = 0;

		for (unsigned f = 0; f < n; f++) {
			l->family = families[f];
			twin[f] = lower_rule(l, policy_chain_find(l->rs, l->family, l->table_name, c->name), c->rules.v[i]);
			root = root ? root : twin[f];
			n_twins += twin[f] != NULL;
		}
		for (unsigned f = 0; f < n && n > 1; f++)
			if (twin[f] && n_twins > 1)
				twin[f]->root = root;
	}
}

static void lower_table(struct nft_lower *l, const struct nft_table *t)
{
	enum family families[MAX_FAMILIES];
	unsigned n = families_of(t->family, families);

	l->table = t;
	l->table_name = t->family == NFT_IP || t->family == NFT_IP6 ?
			t->name : arena_printf(l->a, "%s %.*s", nft_family_name(t->family), STR_ARG(t->name));
	for (size_t c = 0; c < t->chains.n; c++) {
		struct chain *root = NULL;

		for (unsigned f = 0; f < n; f++) {
			struct chain *to;

			l->family = families[f];
			to = declare(l, t->chains.v[c]);
			root = root ? root : to;
			to->root = n > 1 ? root : NULL;
		}
	}
	for (size_t c = 0; c < t->chains.n; c++)
		lower_chain(l, t->chains.v[c], families, n);
}

static void beyond(struct ruleset *rs, struct loc at, struct str what, const char *why)
{
	struct beyond *b = vec_add(rs->a, &rs->beyond);

	*b = (struct beyond){ .at = at, .what = what, .why = str_from(why) };
}

void nft_lower(struct ruleset *rs, struct diags *d, const struct nft_file *f)
{
	struct nft_lower l = { .a = rs->a, .rs = rs };

	(void)d;
	rs->has_all_families = true;
	for (size_t i = 0; i < f->tables.n; i++) {
		const struct nft_table *t = f->tables.v[i];

		for (size_t k = 0; k < t->flowtables.n; k++)
			beyond(rs, t->flowtables.v[k]->at, arena_printf(rs->a, "flowtable %.*s", STR_ARG(t->flowtables.v[k]->name)),
			       "packets that a flowtable forwards pass by every rule");
		if (t->family == NFT_ARP || t->family == NFT_BRIDGE)
			beyond(rs, t->at, arena_printf(rs->a, "table %s %.*s", nft_family_name(t->family), STR_ARG(t->name)),
			       "no packet here is judged by its rules");
		else
			lower_table(&l, t);
	}
}
