/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Matches on what the machine knows about a packet besides its bytes: its connection, the sets that hold it, what its
 * addresses are here, the bridge ports that it passed.
 */
#include "lang/iptables/lower.h"

#include <linux/rtnetlink.h>

/* ---------- connection tracking ---------- */

/* States, and the two that are bits of the connection's status: SNAT and DNAT. */
static void ct_state(struct lower *l, const struct ipt_opt *o)
{
	uint64_t states = o->v.bits & ((1u << CT_STATE_COUNT) - 1), nat = 0;
	struct test *t;

	if (o->v.bits & IPT_CTSTATE_SNAT)
		nat |= CT_STATUS_SRC_NAT;
	if (o->v.bits & IPT_CTSTATE_DNAT)
		nat |= CT_STATUS_DST_NAT;
	if (!nat) {
		lower_bits(l, o, FIELD_CT_STATE, states, false);
		return;
	}
	t = lower_bits(l, o, states ? FIELD_CT_STATE : FIELD_CT_STATUS, states ? states : nat, true);
	t->on_absent = t->negated;
	if (states) {
		struct test_mask *m = arena_new(l->a, struct test_mask, t->n_masks + 2);

		memcpy(m, t->masks, t->n_masks * sizeof *m);
		t->masks = m;
		t->field[t->n_fields++] = FIELD_CT_STATUS;
		for (unsigned b = 0; b < 32; b++)
			if (nat >> b & 1)
				m[t->n_masks++] = (struct test_mask){ (u128)1 << b, (u128)1 << b, 1 };
	}
}

static void ct_option(struct lower *l, const struct ipt_opt *o)
{
	switch (o->id) {
	case IPT_M_CONNTRACK_PROTO:
		lower_in(l, o, FIELD_CT_PROTO, o->v.range.lo, o->v.range.hi);
		break;
	case IPT_M_CONNTRACK_ORIGSRC:
		lower_addr(l, o, FIELD_CT_ORIG_SRC, &o->v.addr);
		break;
	case IPT_M_CONNTRACK_ORIGDST:
		lower_addr(l, o, FIELD_CT_ORIG_DST, &o->v.addr);
		break;
	case IPT_M_CONNTRACK_REPLSRC:
		lower_addr(l, o, FIELD_CT_REPL_SRC, &o->v.addr);
		break;
	case IPT_M_CONNTRACK_REPLDST:
		lower_addr(l, o, FIELD_CT_REPL_DST, &o->v.addr);
		break;
	case IPT_M_CONNTRACK_ORIGSRCPORT:
		lower_in(l, o, FIELD_CT_ORIG_SPORT, o->v.range.lo, o->v.range.hi);
		break;
	case IPT_M_CONNTRACK_ORIGDSTPORT:
		lower_in(l, o, FIELD_CT_ORIG_DPORT, o->v.range.lo, o->v.range.hi);
		break;
	case IPT_M_CONNTRACK_REPLSRCPORT:
		lower_in(l, o, FIELD_CT_REPL_SPORT, o->v.range.lo, o->v.range.hi);
		break;
	case IPT_M_CONNTRACK_REPLDSTPORT:
		lower_in(l, o, FIELD_CT_REPL_DPORT, o->v.range.lo, o->v.range.hi);
		break;
	case IPT_M_CONNTRACK_STATUS:
		lower_bits(l, o, FIELD_CT_STATUS, o->v.bits, true);
		break;
	case IPT_M_CONNTRACK_EXPIRE:
		lower_in(l, o, FIELD_CT_EXPIRE, o->v.range.lo, o->v.range.hi);
		break;
	default:
		lower_in(l, o, FIELD_CT_DIR, o->v.range.lo, o->v.range.lo);
		break;
	}
}

/*
 * Without a connection the kernel looks at the state only: if one was asked (and passed), the match says yes whatever
 * else it asks; if none was asked, no.
 */
static void conntrack(struct lower *l, const struct ipt_use *u)
{
	bool has_state = ipt_opt_find(u, IPT_M_CONNTRACK_STATE) != NULL;

	for (size_t i = 0; i < u->opts.n; i++) {
		const struct ipt_opt *o = &u->opts.v[i];

		if (o->id == IPT_M_CONNTRACK_STATE) {
			ct_state(l, o);
		} else {
			ct_option(l, o);
			l->steps.v[l->steps.n - 1].test.on_absent = has_state;
		}
	}
}

/* ---------- sets, address types, bridges ---------- */

static void set_match(struct lower *l, const struct ipt_use *u)
{
	const struct ipt_opt *o = ipt_opt_find(u, IPT_M_SET_MATCH);
	struct test *t = lower_test(l, o, TEST_SET);

	t->set = lower_set_use(l, o);
	t->on_absent = t->negated;
	for (size_t i = 0; i < u->opts.n; i++) {
		enum ipt_opt_id id = u->opts.v[i].id;

		if (id == IPT_M_SET_RETURN_NOMATCH)
			t->set->return_nomatch = true;
		else if (id >= IPT_M_SET_PACKETS_EQ && id <= IPT_M_SET_BYTES_GT)
			t->set->has_counters = true;
	}
	if (t->set->has_counters)
		t->params = lower_params(l->a, u);
}

static void addrtype4(struct lower *l, const struct ipt_opt *o, enum field f)
{
	lower_bits(l, o, f, o->v.bits, false);
}

enum {
	TYPES6_ADDR = 1 << RTN_UNSPEC | 1 << RTN_UNICAST | 1 << RTN_MULTICAST,
	TYPES6_ROUTE = 1 << RTN_LOCAL | 1 << RTN_ANYCAST | 1 << RTN_UNREACHABLE,
};

/* What an IPv6 address itself must be for every type asked: unspecified, unicast, multicast exclude each other. */
static struct valset addrtype6_set(struct arena *a, uint64_t types)
{
	const u128 multicast = U128(0xff00000000000000, 0), mapped = U128(0, 0xffff00000000);
	const struct valset_span other[] = { { 0, 0 }, { mapped, mapped | UINT32_MAX }, { multicast, ~(u128)0 } };

	switch (types & TYPES6_ADDR) {
	case 1 << RTN_UNSPEC:
		return valset_one(a, 0, 0);
	case 1 << RTN_UNICAST:
		return valset_complement(a, valset_make(a, other, 3), ~(u128)0);
	case 1 << RTN_MULTICAST:
		return valset_one(a, multicast, ~(u128)0);
	default:
		return (struct valset){ 0 };
	}
}

/*
 * In IPv6 several types are not alternatives: the address must be unspecified, unicast and multicast as far as asked, and
 * its route local, anycast or unreachable if one of these is asked.
 */
static void addrtype6(struct lower *l, const struct ipt_opt *o, enum field addr, enum field type)
{
	uint64_t types = o->v.bits;

	if (types & ~(uint64_t)(TYPES6_ADDR | TYPES6_ROUTE)) {
		diag_error(l->d, o->value_at, "the kernel knows only UNSPEC, UNICAST, LOCAL, ANYCAST, MULTICAST and UNREACHABLE "
					      "as types of IPv6 addresses");
		return;
	}
	if (types & 1 << RTN_UNREACHABLE) {
		lower_unknown(l, o, "needs the routing table");
		return;
	}
	if (o->negated && (types & TYPES6_ADDR) && (types & TYPES6_ROUTE)) {
		lower_unknown(l, o, "negates a mixture of address and route types");
		return;
	}
	if (types & TYPES6_ADDR)
		lower_in(l, o, addr, 0, 0)->in = addrtype6_set(l->a, types);
	if (types & TYPES6_ROUTE)
		lower_bits(l, o, type, types & TYPES6_ROUTE, false);
}

static void addrtype(struct lower *l, const struct ipt_use *u)
{
	bool is_limited = ipt_opt_find(u, IPT_M_ADDRTYPE_LIMIT_IN) || ipt_opt_find(u, IPT_M_ADDRTYPE_LIMIT_OUT);

	for (size_t i = 0; i < u->opts.n; i++) {
		const struct ipt_opt *o = &u->opts.v[i];
		bool is_src = o->id == IPT_M_ADDRTYPE_SRC;

		if (o->id != IPT_M_ADDRTYPE_SRC && o->id != IPT_M_ADDRTYPE_DST)
			continue;
		if (is_limited)
			lower_unknown(l, o, "needs the addresses of the very interface");
		else if (l->family == FAMILY_IP4)
			addrtype4(l, o, is_src ? FIELD_SRC_TYPE : FIELD_DST_TYPE);
		else
			addrtype6(l, o, is_src ? FIELD_SRC : FIELD_DST, is_src ? FIELD_SRC_TYPE : FIELD_DST_TYPE);
	}
}

static void physdev_name(struct lower *l, const struct ipt_opt *o, enum field f)
{
	struct str name = o->v.text;
	bool is_prefix = str_ends(name, "+");
	struct test *t;

	if (is_prefix)
		name.n--;
	t = lower_in(l, o, f, field_name_value(name), is_prefix ? field_name_prefix_last(name) : field_name_value(name));
	t->on_absent = t->negated;
}

/*
 * A packet that no bridge carries: yes if every option is negated. One that came in by a bridge and goes out elsewhere
 * has no outgoing port; asked for its name the kernel says no, even negated, which a test on one field cannot say.
 */
static void physdev(struct lower *l, const struct ipt_use *u)
{
	bool knows_out = false;

	for (size_t i = 0; i < u->opts.n; i++) {
		const struct ipt_opt *o = &u->opts.v[i];

		knows_out |= !o->negated && (o->id == IPT_M_PHYSDEV_IS_OUT || o->id == IPT_M_PHYSDEV_IS_BRIDGED);
	}
	for (size_t i = 0; i < u->opts.n; i++) {
		const struct ipt_opt *o = &u->opts.v[i];

		if (o->id == IPT_M_PHYSDEV_IN) {
			physdev_name(l, o, FIELD_PHYSIN);
		} else if (o->id == IPT_M_PHYSDEV_OUT && o->negated && !knows_out) {
			lower_unknown(l, o, "its answer hangs on how the packet came to the bridge");
		} else if (o->id == IPT_M_PHYSDEV_OUT) {
			physdev_name(l, o, FIELD_PHYSOUT);
		} else {
			enum field f = o->id == IPT_M_PHYSDEV_IS_IN ? FIELD_PHYSIN : FIELD_PHYSOUT;
			struct test *t = lower_in(l, o, f, 0, field_max(f));

			t->on_absent = t->negated;
		}
	}
}

/* ---------- all of them ---------- */

static void state(struct lower *l, const struct ipt_use *u)
{
	ct_state(l, ipt_opt_find(u, IPT_M_STATE_STATE));
}

bool lower_meta_match(struct lower *l, const struct ipt_use *u)
{
	static const struct {
		enum ipt_ext_id ext;
		void (*lower)(struct lower *l, const struct ipt_use *u);
	} matches[] = {
		{ IPT_M_STATE, state },	      { IPT_M_CONNTRACK, conntrack }, { IPT_M_SET, set_match },
		{ IPT_M_ADDRTYPE, addrtype }, { IPT_M_PHYSDEV, physdev },
	};

	for (size_t i = 0; i < sizeof matches / sizeof *matches; i++)
		if (matches[i].ext == u->ext) {
			matches[i].lower(l, u);
			return true;
		}
	return false;
}
