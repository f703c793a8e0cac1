/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finding things in the tree, and the rules that a line with address lists makes. */
#include "lang/iptables/tree.h"

const struct ipt_opt *ipt_opt_find(const struct ipt_use *u, enum ipt_opt_id id)
{
	for (size_t i = 0; i < u->opts.n; i++) {
		if (u->opts.v[i].id == id)
			return &u->opts.v[i];
	}
	return NULL;
}

struct ipt_chain *ipt_chain_find(const struct ipt_table *t, struct str name)
{
	return strmap_get(&t->by_name, name);
}

uint32_t ipt_rule_expansions(const struct ipt_rule *r)
{
	size_t n_src = r->src.list.n ? r->src.list.n : 1, n_dst = r->dst.list.n ? r->dst.list.n : 1;

	return (uint32_t)(n_src * n_dst);
}

void ipt_rule_expansion(const struct ipt_rule *r, uint32_t k, const struct ipt_addr **src, const struct ipt_addr **dst)
{
	size_t n_dst = r->dst.list.n ? r->dst.list.n : 1, at = k;

	if (r->inserted)
		at = ipt_rule_expansions(r) - 1 - k;
	*src = r->src.list.n ? &r->src.list.v[at / n_dst] : NULL;
	*dst = r->dst.list.n ? &r->dst.list.v[at % n_dst] : NULL;
}
