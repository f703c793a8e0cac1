/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where things may stand. Chains that translate hang at four hooks, behind connection tracking; those that route again at
 * output. Each translation is made at certain hooks only, and only in chains of type nat. nft itself leaves this to the kernel,
 * whose answer names no place. Only base chains are looked at: of others the hook is not known here.
 */
#include "lang/nft/check.h"

enum { CONNTRACK = -200 };

static bool is_at(const struct nft_chain *c, unsigned hooks)
{
	return hooks >> c->hook & 1;
}

void nft_check_chain(struct diags *d, const struct nft_table *t, const struct nft_chain *c)
{
	static const unsigned nat = 1u << HOOK_PREROUTING | 1u << HOOK_INPUT | 1u << HOOK_OUTPUT | 1u << HOOK_POSTROUTING;
	bool is_ip = t->family == NFT_IP || t->family == NFT_IP6 || t->family == NFT_INET;

	if (!c->is_base || c->type == NFT_CHAIN_FILTER)
		return;
	if (c->type == NFT_CHAIN_ROUTE) {
		if (!is_ip || c->hook != HOOK_OUTPUT)
			diag_error(d, c->at, "a chain of type route can only be at output, not at %s", policy_hook_name(c->hook));
		return;
	}
	if (!is_ip)
		diag_error(d, c->at, "a table of %s has no chains of type nat", nft_family_name(t->family));
	else if (!is_at(c, nat))
		diag_error(d, c->at, "a chain of type nat can be at prerouting, input, output and postrouting, not at %s",
			   policy_hook_name(c->hook));
	else if (c->priority <= CONNTRACK)
		diag_error(d, c->at, "a chain of type nat needs a priority above %d, behind connection tracking; this one has %d",
			   CONNTRACK, c->priority);
}

void nft_check_place(struct diags *d, const struct nft_chain *c, const struct nft_stmt *s)
{
	static const struct {
		const char *name, *where;
		unsigned hooks;
	} rows[] = {
		[NFT_SNAT] = { "snat", "input and postrouting", 1u << HOOK_INPUT | 1u << HOOK_POSTROUTING },
		[NFT_DNAT] = { "dnat", "prerouting and output", 1u << HOOK_PREROUTING | 1u << HOOK_OUTPUT },
		[NFT_MASQUERADE] = { "masquerade", "postrouting", 1u << HOOK_POSTROUTING },
		[NFT_REDIRECT] = { "redirect", "prerouting and output", 1u << HOOK_PREROUTING | 1u << HOOK_OUTPUT },
		[NFT_TPROXY] = { "tproxy", "prerouting", 1u << HOOK_PREROUTING },
	};

	if (!c->is_base)
		return;
	if (s->kind == NFT_STMT_REJECT && c->hook == HOOK_POSTROUTING) {
		diag_error(d, s->at, "reject cannot answer at postrouting: the packet is on its way out");
		return;
	}
	if (s->kind != NFT_STMT_NAT)
		return;
	if (s->nat.kind != NFT_TPROXY && c->type != NFT_CHAIN_NAT)
		diag_error(d, s->at, "%s needs a chain of type nat", rows[s->nat.kind].name);
	else if (!is_at(c, rows[s->nat.kind].hooks))
		diag_error(d, s->at, "%s can be done at %s, not at %s", rows[s->nat.kind].name, rows[s->nat.kind].where,
			   policy_hook_name(c->hook));
}
