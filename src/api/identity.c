/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which rule is which, and what rules ask of packets at which place: see weir.h. */
#include "api/api.h"

_Static_assert((int)WEIR_FACT_IN == (int)ASKS_IIF && (int)WEIR_FACT_OUT == (int)ASKS_OIF && (int)WEIR_FACT_CT == (int)ASKS_CT &&
		       (int)WEIR_FACT_CT_MARK == (int)ASKS_CT_MARK && (int)WEIR_FACT_CT_MORE == (int)ASKS_CT_MORE &&
		       (int)WEIR_FACT_SOCKET == (int)ASKS_SOCKET && (int)WEIR_FACT_PKTTYPE == (int)ASKS_PKTTYPE &&
		       (int)WEIR_FACT_CPU == (int)ASKS_CPU && (int)WEIR_FACT_REALM == (int)ASKS_REALM &&
		       (int)WEIR_FACT_ETHERNET == (int)ASKS_ETHER && (int)WEIR_FACT_EXTENSIONS == (int)ASKS_EXT &&
		       (int)WEIR_FACT_HEADER == (int)ASKS_HEADER && (int)WEIR_FACT_BYTES == (int)ASKS_BYTES,
	       "what is asked and what is said have the same numbers");

static void set_place(const struct weir_rules *r, const struct sources *s, struct loc at, struct weir_rule *out)
{
	uint32_t column;

	if (source_place(s, at, &out->line, &column))
		out->file = arena_cstr(r->a, source_get(s, at.source)->name);
}

static struct weir_rule chain_as_rule(const struct weir_rules *r, const struct chain *c)
{
	return (struct weir_rule){ .family = policy_family_name(c->family), .table = arena_cstr(r->a, c->table),
				   .chain = arena_cstr(r->a, c->name) };
}

static void add_rules(struct weir_rules *r, const struct ruleset *rs, const struct sources *s, const struct weir_rule *of_chain)
{
	for (size_t i = 0; i < rs->rules.n; i++) {
		const struct rule *x = rs->rules.v[i];
		const struct step *last = x->n_steps ? &x->step[x->n_steps - 1] : NULL;
		struct weir_rule *out = &r->rule[i];

		*out = of_chain[x->chain->id];
		out->expansion = x->expansion;
		out->text = arena_cstr(r->a, x->text);
		set_place(r, s, x->at, out);
		r->rejects[i] = last && last->kind == STEP_VERDICT && last->v.verdict == VERDICT_REJECT;
	}
}

static void add_asks(struct weir_rules *r, const struct ruleset *rs)
{
	for (unsigned p = 0; p < TABLES_MAX_POINTS; p++) {
		const struct tables_point *t = &r->tables->point[p];
		unsigned position = p % DP_POINTS_PER_FAMILY;

		if (!t->is_used)
			continue;
		r->asks[p] = asks_of(rs, t->chain, t->n_chains);
		if (!native_sees_iif(position))
			r->asks[p] &= ~(uint32_t)ASKS_IIF;
		if (!native_sees_oif(position))
			r->asks[p] &= ~(uint32_t)ASKS_OIF;
		if (DP_POSITION_IS_RAW(position))
			r->asks[p] &= ~(uint32_t)ASKS_ALL_CT;
	}
}

void identity_make(struct weir_rules *r, const struct ruleset *rs, const struct sources *s)
{
	r->n = (uint32_t)(rs->rules.n + rs->chains.n);
	r->rule = arena_new(r->a, struct weir_rule, r->n + 1);
	r->rejects = arena_new(r->a, uint8_t, r->n + 1);
	for (size_t i = 0; i < rs->chains.n; i++)
		r->rule[rs->rules.n + i] = chain_as_rule(r, rs->chains.v[i]);
	add_rules(r, rs, s, r->rule + rs->rules.n);
	for (size_t i = 0; i < rs->chains.n; i++) {
		const struct chain *c = rs->chains.v[i];
		struct weir_rule *out = &r->rule[rs->rules.n + i];

		out->is_policy = 1;
		out->text = c->hook == HOOK_NONE ? "end of chain" : c->policy == VERDICT_DROP ? "policy drop" : "policy accept";
		set_place(r, s, c->at, out);
	}
	add_asks(r, rs);
}

void identity_way(const struct weir_rules *r, unsigned hooks, struct native_way *way, uint32_t asks[FAMILY_COUNT])
{
	way->n = 0;
	asks[FAMILY_IP4] = asks[FAMILY_IP6] = 0;
	for (unsigned i = 0; i < r->tables->n_order; i++) {
		unsigned position = r->tables->order[i];
		bool is_on = false;

		for (unsigned f = 0; f < FAMILY_COUNT; f++) {
			unsigned p = position + f * DP_POINTS_PER_FAMILY;

			if (!r->tables->point[p].is_used || !(hooks >> r->tables->point[p].hook & 1))
				continue;
			asks[f] |= r->asks[p];
			is_on = true;
		}
		if (is_on)
			way->position[way->n++] = (uint8_t)position;
	}
}

uint32_t weir_rules_asks(const struct weir_rules *rules, unsigned hooks)
{
	uint32_t asks[FAMILY_COUNT];
	struct native_way way;

	identity_way(rules, hooks, &way, asks);
	return asks[FAMILY_IP4] | asks[FAMILY_IP6];
}

uint32_t weir_rules_count(const struct weir_rules *rules)
{
	return rules->n;
}

const struct weir_rule *weir_rules_get(const struct weir_rules *rules, uint32_t rule)
{
	return rule < rules->n ? &rules->rule[rule] : NULL;
}

size_t weir_rules_bytes(const struct weir_rules *rules)
{
	return ((size_t)rules->tables->n_words + DP_TABLE_PAD) * sizeof *rules->tables->word;
}
