/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which counter a rule gets. See number.h. */
#include "kernel/number.h"

#include "base/strmap.h"
#include "classify/tables.h"

struct taken {
	bool *is;
	uint32_t n, next; /* next: no free number is below */
};

struct number_book {
	struct strmap by_key;
	struct taken taken;
};

static struct str rule_key(struct arena *a, const struct info_chain *c, struct str text, uint32_t duplicate)
{
	return arena_printf(a, "%d %.*s %.*s %u %.*s", c->family, STR_ARG(c->table), STR_ARG(c->name), duplicate,
			    STR_ARG(text));
}

static struct str chain_key(struct arena *a, const struct info_chain *c)
{
	return arena_printf(a, "%d %.*s %.*s", c->family, STR_ARG(c->table), STR_ARG(c->name));
}

static struct info_chain chain_of(const struct chain *c)
{
	return (struct info_chain){ .table = c->table, .name = c->name, .family = c->family };
}

static void add_to_key(struct buf *key, uint32_t counter)
{
	buf_printf(key, "%s%u", key->n ? " " : "sum ", counter);
}

/* Rules that stay keep their numbers, so these tell the same sum. */
static struct str sum_key(struct arena *a, const struct info *active, const struct info_sum *s)
{
	struct buf key = { .a = a };

	for (size_t i = 0; i < s->rules.n; i++)
		add_to_key(&key, active->rules.v[s->rules.v[i]].counter);
	return buf_str(&key);
}

/* What is active now: counters by key, and which numbers are used. */
static void read_active(struct arena *a, const struct info *active, struct strmap *by_key, struct taken *t)
{
	for (size_t i = 0; active && i < active->chains.n; i++) {
		struct info_chain *c = &active->chains.v[i];

		*strmap_slot(a, by_key, chain_key(a, c)) = &c->counter;
		t->is[c->counter] = true;
	}
	for (size_t i = 0; active && i < active->rules.n; i++) {
		struct info_rule *r = &active->rules.v[i];

		*strmap_slot(a, by_key, rule_key(a, &active->chains.v[r->chain], r->text, r->duplicate)) = &r->counter;
		t->is[r->counter] = true;
	}
	for (size_t i = 0; active && i < active->sums.n; i++) {
		struct info_sum *s = &active->sums.v[i];

		*strmap_slot(a, by_key, sum_key(a, active, s)) = &s->counter;
		t->is[s->counter] = true;
	}
}

static uint32_t take_free(struct taken *t)
{
	while (t->next < t->n && t->is[t->next])
		t->next++;
	return t->next++;
}

static uint32_t number_one(struct strmap *by_key, struct str key, struct taken *t, bool *is_kept)
{
	const uint32_t *known = strmap_get(by_key, key);

	*is_kept = known != NULL;
	return known ? *known : take_free(t);
}

static void number_chains(struct arena *a, const struct ruleset *rs, const bool *in_use, struct strmap *by_key,
			  struct taken *t, struct numbers *out)
{
	for (size_t i = 0; i < rs->chains.n; i++) {
		struct info_chain c = chain_of(rs->chains.v[i]);

		out->chain[i] = TABLES_NO_COUNTER;
		if (!in_use[i] || policy_chain_root(rs->chains.v[i]) != rs->chains.v[i])
			continue;
		out->chain[i] = number_one(by_key, chain_key(a, &c), t, &out->chain_kept[i]);
		out->n = out->chain[i] >= out->n ? out->chain[i] + 1 : out->n;
	}
}

static void number_rules(struct arena *a, const struct ruleset *rs, const bool *in_use, struct strmap *by_key,
			 struct taken *t, struct numbers *out)
{
	for (size_t i = 0; i < rs->rules.n; i++) {
		const struct rule *r = rs->rules.v[i];
		struct info_chain c = chain_of(r->chain);

		out->rule[i] = TABLES_NO_COUNTER;
		if (!in_use[r->chain->id] || policy_rule_root(r) != r)
			continue;
		out->rule[i] = number_one(by_key, rule_key(a, &c, r->text, r->duplicate), t, &out->rule_kept[i]);
		out->n = out->rule[i] >= out->n ? out->rule[i] + 1 : out->n;
		out->rule_kept[i] ? out->n_kept++ : out->n_added++;
	}
}

/* Twins count as their root. */
static void number_twins(const struct ruleset *rs, struct numbers *out)
{
	for (size_t i = 0; i < rs->chains.n; i++) {
		uint32_t root = policy_chain_root(rs->chains.v[i])->id;

		out->chain[i] = out->chain[root];
		out->chain_kept[i] = out->chain_kept[root];
	}
	for (size_t i = 0; i < rs->rules.n; i++) {
		uint32_t root = policy_rule_root(rs->rules.v[i])->id;

		out->rule[i] = out->rule[root];
		out->rule_kept[i] = out->rule_kept[root];
	}
}

void number_assign(struct arena *a, const struct ruleset *rs, const bool *in_use, const struct info *active,
		   struct numbers *out)
{
	struct number_book *b = arena_new(a, struct number_book, 1);

	b->taken.n = active ? active->n_counters : DP_COUNTERS_SPECIAL;
	b->taken.is = arena_new(a, bool, b->taken.n + 1);
	b->taken.next = DP_COUNTERS_SPECIAL;
	read_active(a, active, &b->by_key, &b->taken);
	*out = (struct numbers){ .rule = arena_new(a, uint32_t, rs->rules.n + 1),
				 .chain = arena_new(a, uint32_t, rs->chains.n + 1),
				 .rule_kept = arena_new(a, bool, rs->rules.n + 1),
				 .chain_kept = arena_new(a, bool, rs->chains.n + 1),
				 .n = DP_COUNTERS_SPECIAL,
				 .book = b };
	number_chains(a, rs, in_use, &b->by_key, &b->taken, out);
	number_rules(a, rs, in_use, &b->by_key, &b->taken, out);
	number_twins(rs, out);
	if (active)
		out->n_removed = (uint32_t)active->rules.n - out->n_kept;
}

uint32_t number_of_sum(struct arena *a, struct numbers *n, const struct rule *const *rule, size_t n_rules)
{
	struct buf key = { .a = a };
	bool is_kept = true;
	uint32_t counter;

	for (size_t i = 0; i < n_rules; i++) {
		add_to_key(&key, n->rule[rule[i]->id]);
		is_kept = is_kept && n->rule_kept[rule[i]->id];
	}
	if (is_kept)
		counter = number_one(&n->book->by_key, buf_str(&key), &n->book->taken, &is_kept);
	else
		counter = take_free(&n->book->taken); /* new rules may have numbers that others had */
	*vec_add(a, &n->sum_kept) = is_kept;
	n->n = counter >= n->n ? counter + 1 : n->n;
	return counter;
}
