/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Left sides: which fact about the packet an expression names, and what must hold for it to be there.
 *
 * Most facts are fields of the model, whole (ip saddr) or some bits of one (icmp type: the high byte of the type and code);
 * the rest of a header is bits of the packet. What nft asks of its own accord is asked here in the open: the transport
 * protocol before its header, the type before what only some ICMP messages have.
 *
 *     inet: icmp id 5     [ip.proto in {1}] [icmp type 0, 8] [@th,32,16 in {5}]       nothing in the twin for IPv6
 */
#include "lang/nft/lower.h"

#include <linux/rtnetlink.h>

struct test *nft_lower_test(struct nft_lower *l, enum test_kind kind, struct loc at, const char *what)
{
	struct step *s = vec_add(l->a, &l->steps);

	s->kind = STEP_TEST;
	s->test.kind = kind;
	s->test.at = at;
	s->test.what = what;
	return &s->test;
}

void nft_lower_field(struct nft_lower *l, enum field f, struct valset in, struct loc at, const char *what)
{
	struct nft_lower_key k = { .key = { .field = f }, .at = at, .what = what };

	nft_lower_in(l, &k, in, false);
}

void nft_lower_never(struct nft_lower *l, struct loc at, const char *what)
{
	nft_lower_field(l, FIELD_PROTO, (struct valset){ 0 }, at, what);
	l->is_over = true;
}

void nft_lower_unknown(struct nft_lower *l, struct loc at, const char *what, const char *why)
{
	nft_lower_test(l, TEST_UNKNOWN, at, what)->why = why;
}

struct str nft_lower_text(struct nft_lower *l, const struct nft_expr *e)
{
	return nft_print_expr(l->a, e);
}

/* ---------- what must hold ---------- */

void nft_lower_needs_proto(struct nft_lower *l, uint8_t proto, struct loc at)
{
	if (l->family == FAMILY_FRAME) {
		nft_lower_never(l, at, "meta l4proto");
		return;
	}
	if (l->protos.n == 1 && l->protos.span[0].lo == proto && l->protos.span[0].hi == proto)
		return;
	l->protos = valset_one(l->a, proto, proto);
	nft_lower_field(l, FIELD_PROTO, l->protos, at, "meta l4proto");
}

static void needs_arp(struct nft_lower *l, struct loc at)
{
	if (l->family != FAMILY_FRAME)
		nft_lower_never(l, at, "arp");
	else
		nft_lower_field(l, FIELD_ETHERTYPE, valset_one(l->a, 0x0806, 0x0806), at, "ether type");
}

/* Some fields are those of certain ICMP messages only (nft adds the test on the type itself). */
static void needs_type(struct nft_lower *l, enum nft_select_id sel, struct loc at)
{
	static const struct {
		enum nft_select_id sel;
		enum field field;
		uint8_t type[3];
		uint8_t n;
	} rows[] = {
		{ NFT_SEL_ICMP_ID, FIELD_ICMP, { 0, 8 }, 2 },
		{ NFT_SEL_ICMP_SEQUENCE, FIELD_ICMP, { 0, 8 }, 2 },
		{ NFT_SEL_ICMP_GATEWAY, FIELD_ICMP, { 5 }, 1 },
		{ NFT_SEL_ICMP_MTU, FIELD_ICMP, { 3 }, 1 },
		{ NFT_SEL_ICMPV6_PARAMETER_PROBLEM, FIELD_ICMP6, { 4 }, 1 },
		{ NFT_SEL_ICMPV6_MTU, FIELD_ICMP6, { 2 }, 1 },
		{ NFT_SEL_ICMPV6_ID, FIELD_ICMP6, { 128, 129 }, 2 },
		{ NFT_SEL_ICMPV6_SEQUENCE, FIELD_ICMP6, { 128, 129 }, 2 },
		{ NFT_SEL_ICMPV6_MAX_DELAY, FIELD_ICMP6, { 130 }, 1 },
		{ NFT_SEL_ICMPV6_TADDR, FIELD_ICMP6, { 135, 136, 137 }, 3 },
		{ NFT_SEL_ICMPV6_DADDR, FIELD_ICMP6, { 137 }, 1 },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct valset_span v[3];

		if (rows[i].sel != sel)
			continue;
		for (unsigned k = 0; k < rows[i].n; k++)
			v[k] = (struct valset_span){ (u128)rows[i].type[k] << 8, (u128)rows[i].type[k] << 8 | 0xff };
		nft_lower_field(l, rows[i].field, valset_make(l->a, v, rows[i].n), at, "icmp type");
	}
}

/* Messages of ICMP under IPv6, or the other way round: in an inet table none, in one of a family just a protocol. */
static bool is_foreign_icmp(const struct nft_lower *l, const struct nft_select_row *row)
{
	return row->needs == NFT_NEEDS_PROTO &&
	       ((row->proto == 1 && l->family != FAMILY_IP4) || (row->proto == 58 && l->family != FAMILY_IP6));
}

/* False: this family's packets never have it. */
static bool needs(struct nft_lower *l, const struct nft_expr *e, const struct nft_select_row *row)
{
	switch (row->needs) {
	case NFT_NEEDS_IP:
		if (l->family != FAMILY_IP4)
			nft_lower_never(l, e->at, "ip");
		break;
	case NFT_NEEDS_IP6:
		if (l->family != FAMILY_IP6)
			nft_lower_never(l, e->at, "ip6");
		break;
	case NFT_NEEDS_ARP:
		needs_arp(l, e->at);
		break;
	case NFT_NEEDS_PROTO:
		if (l->table->family != NFT_IP && l->table->family != NFT_IP6 && is_foreign_icmp(l, row))
			nft_lower_never(l, e->at, row->word);
		else
			nft_lower_needs_proto(l, row->proto, e->at);
		break;
	case NFT_NEEDS_NOTHING:
	case NFT_NEEDS_ETHER:
	case NFT_NEEDS_VLAN:
		break;
	}
	if (!l->is_over && !is_foreign_icmp(l, row))
		needs_type(l, e->sel, e->at);
	return !l->is_over;
}

/* ---------- fields ---------- */

/* Selectors that are a field of the model, or `bits` of its bits from bit `up` on (0: all of it). */
static const struct {
	enum nft_select_id sel;
	enum field field;
	uint8_t up, bits;
	bool is_absent_zero;
} fields[] = {
	{ NFT_SEL_ETHER_DADDR, FIELD_MAC_DST, 0, 0, false },
	{ NFT_SEL_ETHER_SADDR, FIELD_MAC_SRC, 0, 0, false },
	{ NFT_SEL_ETHER_TYPE, FIELD_ETHERTYPE, 0, 0, false },
	{ NFT_SEL_VLAN_ID, FIELD_VLAN, 0, 0, false },
	{ NFT_SEL_IP_DSCP, FIELD_TOS, 2, 6, false },
	{ NFT_SEL_IP_ECN, FIELD_TOS, 0, 2, false },
	{ NFT_SEL_IP_TTL, FIELD_TTL, 0, 0, false },
	{ NFT_SEL_IP_PROTOCOL, FIELD_PROTO, 0, 0, false },
	{ NFT_SEL_IP_SADDR, FIELD_SRC, 0, 32, false },
	{ NFT_SEL_IP_DADDR, FIELD_DST, 0, 32, false },
	{ NFT_SEL_IP6_DSCP, FIELD_TOS, 2, 6, false },
	{ NFT_SEL_IP6_ECN, FIELD_TOS, 0, 2, false },
	{ NFT_SEL_IP6_HOPLIMIT, FIELD_TTL, 0, 0, false },
	{ NFT_SEL_IP6_SADDR, FIELD_SRC, 0, 0, false },
	{ NFT_SEL_IP6_DADDR, FIELD_DST, 0, 0, false },
	{ NFT_SEL_ICMP_TYPE, FIELD_ICMP, 8, 8, false },
	{ NFT_SEL_ICMP_CODE, FIELD_ICMP, 0, 8, false },
	{ NFT_SEL_ICMPV6_TYPE, FIELD_ICMP6, 8, 8, false },
	{ NFT_SEL_ICMPV6_CODE, FIELD_ICMP6, 0, 8, false },
	{ NFT_SEL_TCP_SPORT, FIELD_SPORT, 0, 0, false },
	{ NFT_SEL_TCP_DPORT, FIELD_DPORT, 0, 0, false },
	{ NFT_SEL_TCP_FLAGS, FIELD_TCP_FLAGS, 0, 0, false },
	{ NFT_SEL_UDP_SPORT, FIELD_SPORT, 0, 0, false },
	{ NFT_SEL_UDP_DPORT, FIELD_DPORT, 0, 0, false },
	{ NFT_SEL_UDPLITE_SPORT, FIELD_SPORT, 0, 0, false },
	{ NFT_SEL_UDPLITE_DPORT, FIELD_DPORT, 0, 0, false },
	{ NFT_SEL_SCTP_SPORT, FIELD_SPORT, 0, 0, false },
	{ NFT_SEL_SCTP_DPORT, FIELD_DPORT, 0, 0, false },
	{ NFT_SEL_DCCP_SPORT, FIELD_SPORT, 0, 0, false },
	{ NFT_SEL_DCCP_DPORT, FIELD_DPORT, 0, 0, false },
	{ NFT_SEL_RT_TYPE, FIELD_RT_TYPE, 0, 0, false },
	{ NFT_SEL_RT_SEG_LEFT, FIELD_RT_LEFT, 0, 0, false },
	{ NFT_SEL_FRAG_ID, FIELD_FRAG_ID, 0, 0, false },
	{ NFT_SEL_FRAG_MORE_FRAGMENTS, FIELD_FRAG_MORE, 0, 0, false },
	{ NFT_SEL_TCPOPT_MAXSEG_SIZE, FIELD_TCP_MSS, 0, 0, false },
	{ NFT_SEL_META_LENGTH, FIELD_LENGTH, 0, 0, false },
	{ NFT_SEL_META_L4PROTO, FIELD_PROTO, 0, 0, false },
	{ NFT_SEL_META_MARK, FIELD_MARK, 0, 0, false },
	{ NFT_SEL_META_IIF, FIELD_IIF, 0, 0, true },
	{ NFT_SEL_META_OIF, FIELD_OIF, 0, 0, true },
	{ NFT_SEL_META_IIFNAME, FIELD_IIF, 0, 0, true },
	{ NFT_SEL_META_OIFNAME, FIELD_OIF, 0, 0, true },
	{ NFT_SEL_META_SKUID, FIELD_UID, 0, 0, false },
	{ NFT_SEL_META_SKGID, FIELD_GID, 0, 0, false },
	{ NFT_SEL_META_RTCLASSID, FIELD_REALM, 0, 0, false },
	{ NFT_SEL_META_PKTTYPE, FIELD_PKTTYPE, 0, 0, false },
	{ NFT_SEL_META_CPU, FIELD_CPU, 0, 0, false },
	{ NFT_SEL_META_IIFGROUP, FIELD_IIF_GROUP, 0, 0, false },
	{ NFT_SEL_META_OIFGROUP, FIELD_OIF_GROUP, 0, 0, false },
	{ NFT_SEL_CT_STATE, FIELD_CT_STATE, 0, 0, false },
	{ NFT_SEL_CT_DIRECTION, FIELD_CT_DIR, 0, 0, false },
	{ NFT_SEL_CT_STATUS, FIELD_CT_STATUS, 0, 0, false },
	{ NFT_SEL_CT_MARK, FIELD_CT_MARK, 0, 0, false },
	{ NFT_SEL_CT_PROTOCOL, FIELD_CT_PROTO, 0, 0, false },
	{ NFT_SEL_ROUTE_CLASSID, FIELD_REALM, 0, 0, false },
};

static void key_field(struct nft_lower_key *out, enum field f, unsigned up, unsigned bits)
{
	out->key.field = f;
	out->up = up;
	out->bits = bits ? bits : field_table[f].bits;
	out->key.mask = bits && field_table[f].kind != FIELD_KIND_ADDR ? nft_lower_mask_bits(bits) << up : field_max(f);
}

static bool key_of_field(const struct nft_expr *e, struct nft_lower_key *out)
{
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		if (fields[i].sel != e->sel)
			continue;
		key_field(out, fields[i].field, fields[i].up, fields[i].bits);
		out->is_absent_zero = fields[i].is_absent_zero;
		if (e->sel == NFT_SEL_CT_STATE)
			out->code = NFT_LOWER_CT_STATE;
		return true;
	}
	return false;
}

/* Addresses and ports of a connection, by direction. */
static bool key_of_conn(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_key *out)
{
	static const enum field of[][2] = {
		{ FIELD_CT_ORIG_SRC, FIELD_CT_REPL_SRC },
		{ FIELD_CT_ORIG_DST, FIELD_CT_REPL_DST },
		{ FIELD_CT_ORIG_SPORT, FIELD_CT_REPL_SPORT },
		{ FIELD_CT_ORIG_DPORT, FIELD_CT_REPL_DPORT },
	};
	unsigned row, side = e->dir == 2;
	bool is_six = e->sel == NFT_SEL_CT_IP6_SADDR || e->sel == NFT_SEL_CT_IP6_DADDR;
	bool is_four = e->sel == NFT_SEL_CT_IP_SADDR || e->sel == NFT_SEL_CT_IP_DADDR;

	switch ((int)e->sel) {
	case NFT_SEL_CT_SADDR:
	case NFT_SEL_CT_IP_SADDR:
	case NFT_SEL_CT_IP6_SADDR:
		row = 0;
		break;
	case NFT_SEL_CT_DADDR:
	case NFT_SEL_CT_IP_DADDR:
	case NFT_SEL_CT_IP6_DADDR:
		row = 1;
		break;
	case NFT_SEL_CT_PROTO_SRC:
		row = 2;
		break;
	case NFT_SEL_CT_PROTO_DST:
		row = 3;
		break;
	default:
		return false;
	}
	if ((is_six && l->family != FAMILY_IP6) || (is_four && l->family != FAMILY_IP4)) {
		nft_lower_never(l, e->at, "ct");
		return true;
	}
	key_field(out, of[row][side], 0, row < 2 && l->family == FAMILY_IP4 ? 32 : 0);
	return true;
}

static void key_const(struct nft_lower_key *out, u128 v, unsigned bits)
{
	out->kind = NFT_LOWER_CONST;
	out->constant = v;
	out->bits = bits;
}

static void key_unknown(struct nft_lower_key *out, const char *why)
{
	out->kind = NFT_LOWER_UNKNOWN;
	out->why = why;
}

/* A test that there is a connection, for what is then the same for all of the family. */
static void needs_conn(struct nft_lower *l, struct loc at)
{
	nft_lower_field(l, FIELD_CT_DIR, valset_one(l->a, 0, 1), at, "ct");
}

static void key_of_meta(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_key *out)
{
	static const uint8_t nfproto[FAMILY_ALL] = { 2, 10, 5 };
	static const uint16_t ethertype[FAMILY_COUNT] = { 0x0800, 0x86dd };

	switch ((int)e->sel) {
	case NFT_SEL_META_NFPROTO:
		key_const(out, l->table->family == NFT_NETDEV ? 5 : nfproto[l->family], 8);
		break;
	case NFT_SEL_META_PROTOCOL:
		if (l->family == FAMILY_FRAME)
			key_field(out, FIELD_ETHERTYPE, 0, 0);
		else
			key_const(out, ethertype[l->family], 16);
		break;
	case NFT_SEL_META_TIME:
	case NFT_SEL_META_DAY:
	case NFT_SEL_META_HOUR:
		key_unknown(out, "the time of day is not looked at for nft rules");
		break;
	case NFT_SEL_META_RANDOM:
		key_unknown(out, "it is random");
		break;
	default:
		key_unknown(out, "the packet alone does not tell");
	}
}

static void key_of_fib(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_key *out)
{
	bool is_source = e->fib.flags == NFT_FIB_SADDR;

	if (e->fib.result != NFT_FIB_RESULT_TYPE || (!is_source && e->fib.flags != NFT_FIB_DADDR)) {
		key_unknown(out, "the routing table decides");
		return;
	}
	if (l->family == FAMILY_FRAME) {
		nft_lower_never(l, e->at, "fib");
		return;
	}
	key_field(out, is_source ? FIELD_SRC_TYPE : FIELD_DST_TYPE, 0, 0);
	out->code = NFT_LOWER_ADDR_TYPE;
}

/* `exthdr X exists`, `tcp option X exists`: a value that is 1 or 0. */
static void key_of_presence(const struct nft_expr *e, struct nft_lower_key *out)
{
	static const struct {
		enum nft_select_id sel;
		uint16_t bit;
	} headers[] = {
		{ NFT_SEL_EXTHDR_HBH, HDR_HOPOPTS },
		{ NFT_SEL_EXTHDR_RT, HDR_ROUTE },
		{ NFT_SEL_EXTHDR_FRAG, HDR_FRAG },
		{ NFT_SEL_EXTHDR_DST, HDR_DSTOPTS },
	};

	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		if (headers[i].sel != e->sel)
			continue;
		out->key.field = FIELD_HDRS;
		out->key.mask = headers[i].bit;
		out->up = (unsigned)__builtin_ctz(headers[i].bit);
		out->bits = 1;
		return;
	}
	key_unknown(out, "options and chunks are not looked into for nft rules");
}

static void key_of_payload(struct nft_lower *l, const struct payload_ref *ref, struct nft_lower_key *out)
{
	struct payload_ref *own = arena_new(l->a, struct payload_ref, 1);

	if (ref->n_bits == 0 || ref->n_bits > PAYLOAD_MAX_BITS) {
		key_unknown(out, "more than 128 bits together are not looked at");
		return;
	}
	*own = *ref;
	out->key.payload = own;
	out->bits = ref->n_bits;
	out->key.mask = nft_lower_mask_bits(ref->n_bits);
}

/* Ports of whatever has ports, where the rule has asked for such protocols already. */
static bool has_ports(const struct nft_lower *l)
{
	static const uint8_t protos[] = { 6, 17, 33, 132, 136 };

	for (uint32_t i = 0; i < l->protos.n; i++) {
		for (u128 p = l->protos.span[i].lo; p <= l->protos.span[i].hi; p++)
			if (!memchr(protos, (int)p, sizeof protos))
				return false;
	}
	return l->protos.n > 0;
}

static void key_of_select(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_key *out)
{
	const struct nft_select_row *row = &nft_select_table[e->sel];
	struct payload_ref ref = { row->base, row->at_bit, (uint8_t)row->bits };

	if (e->sel == NFT_SEL_TCPOPT_EXISTS || e->sel == NFT_SEL_IPOPT_EXISTS || e->sel == NFT_SEL_CHUNK_EXISTS ||
	    e->sel == NFT_SEL_DCCPOPT_EXISTS) { /* asked of packets of any protocol: what is not there is missing */
		key_unknown(out, "options and chunks are not looked into for nft rules");
		return;
	}
	if (e->sel == NFT_SEL_META_LENGTH && l->table->family == NFT_NETDEV) {
		key_unknown(out, "the length of frames is not followed");
		return;
	}
	if (!needs(l, e, row))
		return;
	if (is_foreign_icmp(l, row)) {
		key_of_payload(l, &ref, out);
		return;
	}
	if (e->sel == NFT_SEL_META_L4PROTO && l->family == FAMILY_FRAME) {
		nft_lower_never(l, e->at, "meta l4proto");
		return;
	}
	if (key_of_field(e, out) || key_of_conn(l, e, out))
		return;
	if ((e->sel == NFT_SEL_TH_SPORT || e->sel == NFT_SEL_TH_DPORT) && has_ports(l)) {
		key_field(out, e->sel == NFT_SEL_TH_SPORT ? FIELD_SPORT : FIELD_DPORT, 0, 0);
	} else if (e->sel == NFT_SEL_CT_L3PROTO) {
		needs_conn(l, e->at);
		key_const(out, l->family == FAMILY_IP6 ? 10 : 2, 8);
	} else if (row->source == NFT_HEADER && row->needs != NFT_NEEDS_VLAN) {
		if (l->family == FAMILY_FRAME && ref.base == PAYLOAD_TRANSPORT)
			nft_lower_never(l, e->at, "th");
		else
			key_of_payload(l, &ref, out);
	} else if (row->source == NFT_META) {
		key_of_meta(l, e, out);
	} else if (row->source == NFT_FIB) {
		key_of_fib(l, e, out);
	} else if (row->source == NFT_EXTHDR) {
		key_of_presence(e, out);
	} else {
		key_unknown(out, row->source == NFT_CT ? "the connection's entry decides" : "the packet alone does not tell");
	}
}

/* One more operation with a constant on what the key gives so far. False: it has no such form. */
static bool apply(struct nft_lower_key *k, enum nft_binop op, u128 c)
{
	u128 in_field = (c & nft_lower_mask_bits(k->bits)) << k->up;

	switch (op) {
	case NFT_AND:
		k->key.mask &= in_field;
		k->flip &= in_field;
		return true;
	case NFT_OR:
		k->key.mask &= ~in_field;
		k->flip |= in_field;
		return true;
	case NFT_XOR:
		k->flip ^= in_field;
		return true;
	case NFT_RSHIFT:
		if (c >= k->bits)
			return false;
		k->up += (unsigned)c;
		k->key.mask &= ~(u128)0 << k->up;
		k->flip &= ~(u128)0 << k->up;
		return true;
	case NFT_LSHIFT:
		return false;
	}
	return false;
}

static void key_of_binop(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_key *out)
{
	u128 c;

	if (!nft_lower_key(l, e->part[0], out) || out->kind == NFT_LOWER_UNKNOWN)
		return;
	if (out->kind == NFT_LOWER_CONST || out->code != NFT_LOWER_PLAIN || !nft_lower_number(e->part[1], &c) || !apply(out, e->op, c))
		key_unknown(out, "this arithmetic is not followed");
}

bool nft_lower_key(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_key *out)
{
	*out = (struct nft_lower_key){ .what = nft_lower_text(l, e).p, .at = e->at };
	switch (e->kind) {
	case NFT_SELECT:
		key_of_select(l, e, out);
		break;
	case NFT_PAYLOAD:
		if (l->family == FAMILY_FRAME && e->payload.base >= PAYLOAD_TRANSPORT)
			nft_lower_never(l, e->at, "th");
		else
			key_of_payload(l, &e->payload, out);
		break;
	case NFT_BINOP:
		key_of_binop(l, e, out);
		out->what = nft_lower_text(l, e).p;
		out->at = e->at;
		break;
	case NFT_NUMGEN:
		key_unknown(out, e->gen.is_random ? "it is random" : "it counts the packets before");
		break;
	case NFT_HASH:
		key_unknown(out, "hashes are not followed");
		break;
	case NFT_NUMBER:
		key_const(out, e->lo, nft_type_table[e->type].bits ? nft_type_table[e->type].bits : 128);
		break;
	default:
		key_unknown(out, "what this gives is not followed");
	}
	return !l->is_over;
}

unsigned nft_lower_keys(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_key *out)
{
	unsigned n = e->kind == NFT_CONCAT ? e->n_parts : 1;

	if (n > MAP_MAX_DIMS) {
		nft_lower_unknown(l, e->at, nft_lower_text(l, e).p, "more than 8 values together are not looked up");
		l->is_over = true;
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		if (!nft_lower_key(l, e->kind == NFT_CONCAT ? e->part[i] : e, &out[i]))
			return 0;
	return n;
}
