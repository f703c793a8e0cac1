/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which field, or which bits of which header, a selector looks at. See lower.h. */
#include "lang/nft/lower.h"

static const struct {
	enum nft_select_id sel;
	enum field field;
} fields[] = {
	{ NFT_SEL_IP_SADDR, FIELD_SRC },	{ NFT_SEL_IP_DADDR, FIELD_DST },       { NFT_SEL_IP6_SADDR, FIELD_SRC },
	{ NFT_SEL_IP6_DADDR, FIELD_DST },	{ NFT_SEL_IP_PROTOCOL, FIELD_PROTO },  { NFT_SEL_META_L4PROTO, FIELD_PROTO },
	{ NFT_SEL_IP_TTL, FIELD_TTL },		{ NFT_SEL_IP6_HOPLIMIT, FIELD_TTL },   { NFT_SEL_META_MARK, FIELD_MARK },
	{ NFT_SEL_META_IIFNAME, FIELD_IIF },	{ NFT_SEL_META_OIFNAME, FIELD_OIF },   { NFT_SEL_META_IIF, FIELD_IIF },
	{ NFT_SEL_META_OIF, FIELD_OIF },	{ NFT_SEL_META_LENGTH, FIELD_LENGTH }, { NFT_SEL_META_PKTTYPE, FIELD_PKTTYPE },
	{ NFT_SEL_META_CPU, FIELD_CPU },	{ NFT_SEL_META_SKUID, FIELD_UID },     { NFT_SEL_META_SKGID, FIELD_GID },
	{ NFT_SEL_META_IIFGROUP, FIELD_IIF_GROUP }, { NFT_SEL_META_OIFGROUP, FIELD_OIF_GROUP },
	{ NFT_SEL_CT_STATE, FIELD_CT_STATE },	{ NFT_SEL_CT_MARK, FIELD_CT_MARK },    { NFT_SEL_CT_STATUS, FIELD_CT_STATUS },
	{ NFT_SEL_CT_DIRECTION, FIELD_CT_DIR },	{ NFT_SEL_TCP_SPORT, FIELD_SPORT },    { NFT_SEL_TCP_DPORT, FIELD_DPORT },
	{ NFT_SEL_UDP_SPORT, FIELD_SPORT },	{ NFT_SEL_UDP_DPORT, FIELD_DPORT },    { NFT_SEL_UDPLITE_SPORT, FIELD_SPORT },
	{ NFT_SEL_UDPLITE_DPORT, FIELD_DPORT }, { NFT_SEL_SCTP_SPORT, FIELD_SPORT },   { NFT_SEL_SCTP_DPORT, FIELD_DPORT },
	{ NFT_SEL_DCCP_SPORT, FIELD_SPORT },	{ NFT_SEL_DCCP_DPORT, FIELD_DPORT },   { NFT_SEL_TCP_FLAGS, FIELD_TCP_FLAGS },
	{ NFT_SEL_ETHER_SADDR, FIELD_MAC_SRC }, { NFT_SEL_ETHER_DADDR, FIELD_MAC_DST },
};

static u128 ones(unsigned bits)
{
	return bits >= 128 ? ~(u128)0 : ((u128)1 << bits) - 1;
}

static void from_field(struct nft_source_of *s, enum field f, unsigned bits)
{
	*s = (struct nft_source_of){ .field = f, .mask = field_max(f), .bits = bits };
	s->is_name = f == FIELD_IIF || f == FIELD_OIF;
	s->is_state = f == FIELD_CT_STATE;
}

static void from_bits(struct nft_lower *l, struct nft_source_of *s, struct payload_ref ref)
{
	struct payload_ref *p = arena_new(l->a, struct payload_ref, 1);

	*p = ref;
	*s = (struct nft_source_of){ .payload = p, .mask = ones(ref.n_bits), .bits = ref.n_bits };
}

/* Parts of a byte that rules may write, so the field has to be asked. */
static bool from_tos(struct nft_source_of *s, enum nft_select_id sel)
{
	bool is_dscp = sel == NFT_SEL_IP_DSCP || sel == NFT_SEL_IP6_DSCP, is_ecn = sel == NFT_SEL_IP_ECN || sel == NFT_SEL_IP6_ECN;

	if (!is_dscp && !is_ecn)
		return false;
	from_field(s, FIELD_TOS, is_dscp ? 6 : 2);
	s->mask = is_dscp ? 0xfc : 3;
	s->shift = is_dscp ? 2 : 0;
	return true;
}

static bool from_family(struct nft_lower *l, struct nft_source_of *s, enum nft_select_id sel)
{
	bool four = l->family == FAMILY_IP4;

	if (l->family == FAMILY_FRAME || (sel != NFT_SEL_META_NFPROTO && sel != NFT_SEL_META_PROTOCOL))
		return false;
	*s = (struct nft_source_of){ .is_constant = true, .bits = 16 };
	s->constant = sel == NFT_SEL_META_NFPROTO ? (four ? 2 : 10) : four ? 0x0800 : 0x86dd;
	return true;
}

bool nft_lower_source(struct nft_lower *l, const struct nft_expr *e, struct nft_source_of *s)
{
	const struct nft_select_row *row = &nft_select_table[e->sel];

	if (e->kind == NFT_PAYLOAD) {
		from_bits(l, s, e->payload);
		return true;
	}
	if (e->kind != NFT_SELECT || (row->source == NFT_CT && e->dir))
		return false;
	if (from_tos(s, e->sel) || from_family(l, s, e->sel))
		return true;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		if (fields[i].sel == e->sel) {
			from_field(s, fields[i].field, row->bits);
			return true;
		}
	}
	if (row->source != NFT_HEADER || row->bits == 0 || row->bits > PAYLOAD_MAX_BITS || row->base == PAYLOAD_LINK ||
	    row->needs == NFT_NEEDS_ARP)
		return false;
	from_bits(l, s, (struct payload_ref){ row->base, row->at_bit, (uint8_t)row->bits });
	return true;
}

/* icmp is asked of IPv4 only and icmpv6 of IPv6: nft adds the test on the family by itself. */
static bool is_of_family(const struct nft_lower *l, const struct nft_select_row *row)
{
	switch (row->needs) {
	case NFT_NEEDS_IP:
		return l->family == FAMILY_IP4;
	case NFT_NEEDS_IP6:
		return l->family == FAMILY_IP6;
	case NFT_NEEDS_PROTO:
		return l->family != FAMILY_FRAME && (row->proto != 1 || l->family == FAMILY_IP4) && (row->proto != 58 || l->family == FAMILY_IP6);
	default:
		return true;
	}
}

bool nft_lower_needs(struct nft_lower *l, const struct nft_expr *e)
{
	const struct nft_select_row *row = &nft_select_table[e->sel];
	struct test *t;

	for (uint32_t i = 0; i < e->n_parts && e->kind != NFT_LIST; i++)
		if (!nft_lower_needs(l, e->part[i]))
			return false;
	if (e->kind != NFT_SELECT)
		return true;
	if (!is_of_family(l, row)) {
		nft_lower_never(l, e->at);
		return false;
	}
	if (row->needs == NFT_NEEDS_PROTO && !(l->asked[row->proto / 64] >> row->proto % 64 & 1)) {
		l->asked[row->proto / 64] |= (uint64_t)1 << row->proto % 64;
		t = nft_lower_test(l, TEST_IN, e->at, "protocol");
		t->field[0] = FIELD_PROTO;
		t->n_fields = 1;
		t->in = valset_one(l->a, row->proto, row->proto);
	}
	return true;
}

/* The kernel's bits of connection states (invalid 1, established 2, related 4, new 8, untracked 64) are not the model's. */
static u128 state_bits(u128 v)
{
	static const unsigned char at[] = { [0] = CT_INVALID, [1] = CT_ESTABLISHED, [2] = CT_RELATED, [3] = CT_NEW, [6] = CT_UNTRACKED };
	u128 out = 0;

	for (unsigned i = 0; i < 7; i++)
		if (v >> i & 1 && i != 4 && i != 5)
			out |= (u128)1 << at[i];
	return out;
}

bool nft_lower_span(const struct nft_source_of *s, const struct nft_expr *e, struct valset_span *out)
{
	if (e->kind == NFT_TEXT && s->is_name) {
		out->lo = field_name_value(e->text);
		out->hi = e->is_prefix ? field_name_prefix_last(e->text) : out->lo;
		return true;
	}
	if (s->is_name)
		return false;
	if (e->kind == NFT_LIST) { /* flags together */
		out->lo = 0;
		for (uint32_t i = 0; i < e->n_parts; i++) {
			if (e->part[i]->kind != NFT_NUMBER)
				return false;
			out->lo |= e->part[i]->lo;
		}
		out->hi = out->lo;
	} else if (e->kind == NFT_NUMBER || e->kind == NFT_RANGE || e->kind == NFT_PREFIX) {
		*out = (struct valset_span){ e->lo, e->hi };
	} else {
		return false;
	}
	if (s->is_state) {
		if (out->lo != out->hi)
			return false;
		out->lo = out->hi = state_bits(out->lo);
	}
	out->lo = out->lo << s->shift;
	out->hi = out->hi << s->shift;
	return true;
}
