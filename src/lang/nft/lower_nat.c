/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Statements that translate addresses. They end the chain, as accept does; tproxy only writes.
 *
 *     dnat to ip saddr map { 192.0.2.1 : 198.51.100.1 . 80 }     [map ip.src: dnat ...] [accept]
 */
#include "lang/nft/lower.h"

static bool spec_addr(struct nat_spec *n, const struct nft_expr *e)
{
	u128 v;

	if (e->kind == NFT_RANGE || e->kind == NFT_PREFIX) {
		n->addr_lo = e->lo;
		n->addr_hi = e->hi;
	} else if (nft_lower_number(e, &v)) {
		n->addr_lo = n->addr_hi = v;
	} else {
		return false;
	}
	n->has_addr = true;
	return true;
}

static bool spec_port(struct nat_spec *n, const struct nft_expr *e)
{
	u128 v;

	if (e->kind == NFT_RANGE) {
		n->port_lo = (uint16_t)e->lo;
		n->port_hi = (uint16_t)e->hi;
	} else if (nft_lower_number(e, &v)) {
		n->port_lo = n->port_hi = (uint16_t)v;
	} else {
		return false;
	}
	n->has_port = true;
	return true;
}

static enum effect_kind kind_of(const struct nft_stmt *s)
{
	static const enum effect_kind kinds[] = {
		[NFT_SNAT] = EFFECT_SNAT, [NFT_DNAT] = EFFECT_DNAT, [NFT_MASQUERADE] = EFFECT_MASQUERADE,
		[NFT_REDIRECT] = EFFECT_REDIRECT, [NFT_TPROXY] = EFFECT_TPROXY,
	};

	return kinds[s->nat.kind];
}

static const char *name_of(const struct nft_stmt *s)
{
	static const char *const names[] = {
		[NFT_SNAT] = "snat", [NFT_DNAT] = "dnat", [NFT_MASQUERADE] = "masquerade", [NFT_REDIRECT] = "redirect",
		[NFT_TPROXY] = "tproxy",
	};

	return names[s->nat.kind];
}

/* It is translated, and nobody here knows to what. */
static void unknown_nat(struct nft_lower *l, const struct nft_stmt *s, const struct nft_expr *data, struct step *out)
{
	bool is_source = s->nat.kind == NFT_SNAT || s->nat.kind == NFT_MASQUERADE;

	out->kind = STEP_EFFECT;
	out->effect = (struct effect){ .kind = EFFECT_OTHER, .name = name_of(s), .at = s->at, .has_clobbered = true };
	out->effect.clobbered = is_source ? FIELD_SRC : FIELD_DST;
	if (data)
		out->effect.text = nft_lower_text(l, data);
}

/* The effect for an address, a port, or both in a concatenation; `data` is of the address (or of the port, without one). */
static void nat_outcome(struct nft_lower *l, const struct nft_expr *data, const void *arg, struct step *out)
{
	const struct nft_stmt *s = arg;
	struct nat_spec *n = arena_new(l->a, struct nat_spec, 1);
	bool is_known = true;

	out->kind = STEP_EFFECT;
	out->effect.kind = kind_of(s);
	out->effect.name = name_of(s);
	out->effect.at = s->at;
	if (data && data->kind == NFT_CONCAT && data->n_parts == 2)
		is_known = spec_addr(n, data->part[0]) && spec_port(n, data->part[1]);
	else if (data && s->nat.addr)
		is_known = spec_addr(n, data);
	else if (data)
		is_known = spec_port(n, data);
	if (s->nat.addr && s->nat.port && s->nat.port->kind != NFT_MAP)
		is_known &= spec_port(n, s->nat.port);
	if (!is_known) {
		unknown_nat(l, s, data, out);
		return;
	}
	if (s->nat.flags & NFT_NAT_PREFIX && n->has_addr) { /* NETMAP: network and mask */
		out->effect.kind = EFFECT_NETMAP;
		n->addr_hi = ~(n->addr_lo ^ n->addr_hi) & (l->family == FAMILY_IP4 ? UINT32_MAX : ~(u128)0);
	}
	out->effect.nat = n;
}

/* The family whose addresses it gives; FAMILY_COUNT: of either. */
static enum family family_of(const struct nft_stmt *s)
{
	const struct nft_expr *e = s->nat.addr;

	if (s->nat.has_family && s->nat.family != NFT_INET)
		return s->nat.family == NFT_IP6 ? FAMILY_IP6 : FAMILY_IP4;
	if (e && e->type == NFT_TYPE_IPV4_ADDR)
		return FAMILY_IP4;
	return e && e->type == NFT_TYPE_IPV6_ADDR ? FAMILY_IP6 : FAMILY_COUNT;
}

void nft_lower_nat(struct nft_lower *l, const struct nft_stmt *s)
{
	const struct nft_expr *from = s->nat.addr ? s->nat.addr : s->nat.port;
	enum family f = family_of(s);

	if (f != FAMILY_COUNT && f != l->family) {
		nft_lower_never(l, s->at, name_of(s));
		return;
	}
	if (s->nat.kind == NFT_TPROXY) /* where none does the rule ends, and the next one is asked */
		nft_lower_unknown(l, s->at, "tproxy", "a program must be listening there");
	if (s->nat.addr && s->nat.port && s->nat.port->kind == NFT_MAP)
		unknown_nat(l, s, s->nat.port, vec_add(l->a, &l->steps));
	else if (from && from->kind == NFT_MAP)
		nft_lower_map(l, from, nat_outcome, s, s);
	else
		nat_outcome(l, from, s, vec_add(l->a, &l->steps));
	if (!l->is_over && s->nat.kind != NFT_TPROXY)
		nft_lower_end(l, VERDICT_ACCEPT, s->at);
}
