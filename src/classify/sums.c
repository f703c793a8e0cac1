/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Giving counters. See sums.h. */
#include "classify/sums.h"

#include "tables/format.h"

uint32_t sums_of_rule(const struct sums *s, const struct rule *r)
{
	return s->opt->rule_counter ? s->opt->rule_counter[r->id] : DP_COUNTERS_SPECIAL + policy_rule_root(r)->id;
}

uint32_t sums_of_chain(const struct sums *s, const struct chain *c)
{
	return s->opt->chain_counter ? s->opt->chain_counter[c->id] : (uint32_t)(DP_COUNTERS_SPECIAL + s->rs->rules.n + policy_chain_root(c)->id);
}

void sums_init(struct sums *s, struct arena *a, const struct ruleset *rs, const struct tables_options *opt)
{
	*s = (struct sums){ .a = a, .rs = rs, .opt = opt };
	s->n_counters = (uint32_t)(DP_COUNTERS_SPECIAL + rs->rules.n + rs->chains.n);
}

uint32_t sums_of_rules(struct sums *s, const struct rule *const *rule, size_t n)
{
	struct buf key = { .a = s->a };
	const struct rule **of;
	struct tables_sum *sum;
	const uint32_t *known;
	uint32_t *counter;

	if (n == 1)
		return sums_of_rule(s, rule[0]);
	for (size_t i = 0; i < n; i++)
		buf_printf(&key, "%u ", policy_rule_root(rule[i])->id);
	known = strmap_get(&s->by_rules, buf_str(&key));
	if (known)
		return *known;
	sum = vec_add(s->a, &s->all);
	of = arena_new(s->a, const struct rule *, n);
	for (size_t i = 0; i < n; i++)
		of[i] = policy_rule_root(rule[i]);
	*sum = (struct tables_sum){ s->n_counters, (uint32_t)n, of };
	if (s->opt->sum_counter)
		sum->counter = s->opt->sum_counter(s->opt->sum_arg, sum->rule, n);
	else
		s->n_counters++;
	counter = arena_new(s->a, uint32_t, 1);
	*counter = sum->counter;
	*strmap_slot(s->a, &s->by_rules, buf_str(&key)) = counter;
	return *counter;
}
