/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables, chains and rules of an nft file in the model.
 *
 * A table of ip or ip6 makes chains of that family. One of inet makes each chain twice, one of netdev three times (IPv4, IPv6,
 * and frames that are neither): twins, with the same rules as far as these can be met by packets of the family. Tables of arp
 * and bridge, sleeping tables and flowtables are named as what no program here runs.
 *
 *     table inet f { chain i { ... ip saddr 192.0.2.1 drop; tcp dport 22 accept; } }
 *     chain ip "inet f" i:     [ip.src in {192.0.2.1}] [drop]     [ip.proto in {6}] [dport in {22}] [accept]
 *     chain ip6 "inet f" i:                                       [ip.proto in {6}] [dport in {22}] [accept]
 */
#include "lang/nft/lower.h"

/* The families of the model that a table's packets are of. */
static unsigned families_of(const struct nft_table *t)
{
	switch (t->family) {
	case NFT_IP:
		return 1u << FAMILY_IP4;
	case NFT_IP6:
		return 1u << FAMILY_IP6;
	case NFT_NETDEV:
		return 1u << FAMILY_IP4 | 1u << FAMILY_IP6 | 1u << FAMILY_FRAME;
	default:
		return 1u << FAMILY_IP4 | 1u << FAMILY_IP6;
	}
}

static struct str table_name(struct arena *a, const struct nft_table *t)
{
	if (t->family == NFT_IP || t->family == NFT_IP6)
		return t->name;
	return arena_printf(a, "%s %.*s", nft_family_name(t->family), STR_ARG(t->name));
}

/* ---------- chains ---------- */

static void lower_chain(struct nft_lower *l, const struct nft_chain *from, enum family f)
{
	struct chain *c = policy_chain_add(l->rs, f, l->table_name, from->name, from->at);

	c->hook = from->is_base ? from->hook : HOOK_NONE;
	c->policy = from->is_base ? (from->policy_stated ? from->policy : VERDICT_ACCEPT) : VERDICT_NONE;
	c->policy_stated = from->policy_stated;
	c->priority = from->priority;
	c->is_nat = from->is_base && from->type == NFT_CHAIN_NAT;
	for (size_t i = 0; i < from->devices.n; i++)
		*vec_add(l->a, &c->devices) = from->devices.v[i];
}

/* A chain and its twins; the root is the one of the first family. */
static void lower_chains(struct nft_lower *l)
{
	for (size_t i = 0; i < l->table->chains.n; i++) {
		const struct nft_chain *from = l->table->chains.v[i];
		unsigned families = families_of(l->table);
		struct chain *root = NULL;

		for (enum family f = FAMILY_IP4; f < FAMILY_ALL; f++) {
			struct chain *c;

			if (!(families >> f & 1))
				continue;
			lower_chain(l, from, f);
			c = policy_chain_find(l->rs, f, l->table_name, from->name);
			root = root ? root : c;
			if (families & (families - 1))
				c->root = root;
		}
	}
}

/* ---------- rules ---------- */

/* Does nothing that could be seen happen before the place where this family's twin ends? */
static bool is_only_tests(const struct nft_lower *l)
{
	for (size_t i = 0; i < l->steps.n; i++)
		if (l->steps.v[i].kind != STEP_TEST || l->steps.v[i].test.kind == TEST_STATE)
			return false;
	return true;
}

static bool counts_itself(const struct nft_rule *r)
{
	for (uint32_t i = 0; i < r->n_stmts; i++)
		if (r->stmt[i]->kind == NFT_STMT_COUNTER && !r->stmt[i]->name.n && !r->stmt[i]->name_map)
			return true;
	return false;
}

/* Behind the end of a rule that is over: it says that the rule counts nowhere else. */
static void lower_count(struct nft_lower *l, struct loc at)
{
	for (size_t i = 0; i < l->steps.n; i++)
		if (l->steps.v[i].kind == STEP_EFFECT && l->steps.v[i].effect.kind == EFFECT_COUNT && !l->steps.v[i].effect.counter)
			return;
	nft_lower_effect(l, EFFECT_COUNT, "counter", at);
}

static bool has_extension(const struct nft_expr *e)
{
	if (e->kind == NFT_SELECT && nft_select_table[e->sel].source == NFT_EXTHDR)
		return true;
	for (uint32_t i = 0; i < e->n_parts; i++)
		if (has_extension(e->part[i]))
			return true;
	return false;
}

/* That a packet is IPv6 nft asks at the head of a rule that looks at an extension header, whatever stands before. */
static bool asks_extension(const struct nft_rule *r)
{
	for (uint32_t i = 0; i < r->n_stmts; i++) {
		const struct nft_stmt *s = r->stmt[i];

		if ((s->kind == NFT_STMT_MATCH && has_extension(s->match.left)) ||
		    (s->kind == NFT_STMT_VERDICT && has_extension(s->expr)) ||
		    (s->kind == NFT_STMT_MANGLE && has_extension(s->set.right)))
			return true;
	}
	return false;
}

static void finish_rule(struct nft_lower *l, struct rule *out, const struct nft_rule *r)
{
	out->at = r->at;
	out->text = nft_print_rule(l->a, r);
	out->comment = r->comment;
	out->step = l->steps.v;
	out->n_steps = (uint32_t)l->steps.n;
	for (uint32_t i = 0; i < r->n_stmts && !out->has_counts; i++) {
		const struct nft_stmt *s = r->stmt[i];

		if (s->kind != NFT_STMT_COUNTER || s->name.n || s->name_map || !s->counter.has_values)
			continue;
		out->has_counts = true;
		out->packets = s->counter.packets;
		out->bytes = s->counter.bytes;
	}
}

static void lower_rule(struct nft_lower *l, const struct nft_chain *from, const struct nft_rule *r)
{
	unsigned families = families_of(l->table);
	struct rule *root = NULL;

	l->specs.n = 0;
	l->chain = from;
	for (enum family f = FAMILY_IP4; f < FAMILY_ALL; f++) {
		struct chain *c;
		struct rule *out;

		if (!(families >> f & 1))
			continue;
		l->family = f;
		l->is_over = false;
		l->protos = (struct valset){ 0 };
		l->steps.v = NULL;
		l->steps.n = l->steps.cap = 0;
		if ((families & (families - 1)) && f != FAMILY_IP6 && asks_extension(r))
			continue;
		for (uint32_t i = 0; i < r->n_stmts && !l->is_over; i++) {
			l->is_last = i + 1 == r->n_stmts;
			nft_lower_stmt(l, r->stmt[i]);
		}
		if (l->is_over && is_only_tests(l) && (families & (families - 1)))
			continue;
		if (l->is_over && counts_itself(r))
			lower_count(l, r->at);
		c = policy_chain_find(l->rs, f, l->table_name, from->name);
		out = policy_rule_add(l->rs, c, UINT32_MAX);
		finish_rule(l, out, r);
		root = root ? root : out;
		if (families & (families - 1))
			out->root = root;
	}
}

/* ---------- tables ---------- */

static void beyond(struct nft_lower *l, struct loc at, struct str what, const char *why)
{
	*vec_add(l->a, &l->rs->beyond) = (struct beyond){ at, what, { why, strlen(why) } };
}

static bool is_given(const struct ruleset *rs, struct diags *d, const struct nft_table *t, struct str name)
{
	for (size_t i = 0; i < rs->chains.n; i++) {
		const struct chain *c = rs->chains.v[i];
		struct str where;

		if (!str_eq(c->table, name) || (t->family == NFT_IP && c->family != FAMILY_IP4) ||
		    (t->family == NFT_IP6 && c->family != FAMILY_IP6))
			continue;
		where = source_name_line(d->a, d->sources, c->at);
		diag_error(d, t->at, "table %.*s is also given by another file (%.*s)", STR_ARG(name), STR_ARG(where));
		return true;
	}
	return false;
}

static void lower_table(struct nft_lower *l, const struct nft_table *t)
{
	struct str title = arena_printf(l->a, "table %s %.*s", nft_family_name(t->family), STR_ARG(t->name));

	l->table = t;
	l->table_name = table_name(l->a, t);
	if (t->family == NFT_ARP || t->family == NFT_BRIDGE) {
		beyond(l, t->at, title, "arp and bridge rules are read, but neither judged nor run here");
		return;
	}
	if (t->is_dormant) {
		beyond(l, t->at, title, "the table is dormant: its rules do nothing until it is woken");
		return;
	}
	if (is_given(l->rs, l->d, t, l->table_name))
		return;
	for (size_t i = 0; i < t->flowtables.n; i++)
		beyond(l, t->flowtables.v[i]->at, arena_printf(l->a, "flowtable %.*s", STR_ARG(t->flowtables.v[i]->name)),
		       "packets that a flowtable forwards pass by every rule");
	for (size_t i = 0; i < t->sets.n; i++)
		nft_lower_set(l, t->sets.v[i]);
	lower_chains(l);
	for (size_t i = 0; i < t->chains.n; i++)
		for (size_t j = 0; j < t->chains.v[i]->rules.n; j++)
			lower_rule(l, t->chains.v[i], t->chains.v[i]->rules.v[j]);
}

void nft_lower(struct ruleset *rs, struct diags *d, const struct nft_file *f)
{
	struct nft_lower l = { .a = rs->a, .d = d, .rs = rs, .shared = nft_lower_shared_create(rs->a) };

	rs->has_all_families = true;
	for (size_t i = 0; i < f->tables.n; i++)
		lower_table(&l, f->tables.v[i]);
	policy_number(rs);
}
