/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of argument kinds, and what several of them need. */
#include "lang/iptables/arg.h"

static const struct ipt_arg_row arg_rows[ARG_COUNT] = {
#define KIND(arg, words, dash, name) [arg] = { words, dash, ipt_parse_##name, ipt_print_##name }
	KIND(ARG_NUM, 1, false, num),
	KIND(ARG_RANGE, 1, false, range),
	KIND(ARG_COUNT_RANGE, 1, false, count_range),
	KIND(ARG_PORT, 1, false, port),
	KIND(ARG_PORTS, 1, false, ports),
	KIND(ARG_PORT_LIST, 1, false, port_list),
	KIND(ARG_QUEUES, 1, false, queues),
	KIND(ARG_MARK, 1, false, mark),
	KIND(ARG_XMARK, 1, false, xmark),
	KIND(ARG_TOS, 1, false, tos),
	KIND(ARG_NAMED_MASK, 1, false, named_mask),
	KIND(ARG_PROBABILITY, 1, false, probability),
	KIND(ARG_ZONE, 1, false, zone),
	KIND(ARG_CLASSID, 1, false, classid),
	KIND(ARG_PLEN, 1, false, plen),
	KIND(ARG_TEXT, 1, true, text),
	KIND(ARG_NAME, 1, false, name),
	KIND(ARG_QUOTED, 1, true, quoted),
	KIND(ARG_STRING, 1, true, string),
	KIND(ARG_HEX_TEXT, 1, true, hex_text),
	KIND(ARG_IFACE, 1, false, iface),
	KIND(ARG_SET, 2, false, set),
	KIND(ARG_WORD, 1, false, word),
	KIND(ARG_FLAGS, 1, false, flags),
	KIND(ARG_PROTO, 1, false, proto),
	KIND(ARG_ICMP, 1, false, icmp),
	KIND(ARG_TCP_FLAGS, 2, false, tcp_flags),
	KIND(ARG_TCP_OPTIONS, 1, false, tcp_options),
	KIND(ARG_MH_TYPE, 1, false, mh_type),
	KIND(ARG_ID, 1, false, id),
	KIND(ARG_ADDR, 1, false, addr),
	KIND(ARG_ADDR_RANGE, 1, false, addr_range),
	KIND(ARG_ADDR_MASK, 1, false, addr_mask),
	KIND(ARG_HOST, 1, false, host),
	KIND(ARG_NETWORK, 1, false, network),
	KIND(ARG_MAC, 1, false, mac),
	KIND(ARG_NAT, 1, false, nat),
	KIND(ARG_NAT_PORTS, 1, false, nat_ports),
	KIND(ARG_RATE, 1, false, rate),
	KIND(ARG_HASHRATE, 1, false, hashrate),
	KIND(ARG_BURST, 1, false, burst),
	KIND(ARG_CLOCK, 1, false, clock),
	KIND(ARG_DATE, 1, false, date),
	KIND(ARG_MONTHDAYS, 1, false, monthdays),
	KIND(ARG_WEEKDAYS, 1, false, weekdays),
	KIND(ARG_U32, 1, false, u32),
	KIND(ARG_BYTECODE, 1, false, bytecode),
	KIND(ARG_IP6_OPTS, 1, false, ip6_opts),
	KIND(ARG_RT_ADDRS, 1, false, rt_addrs),
	KIND(ARG_CHUNKS, 2, false, chunks),
#undef KIND
};

const struct ipt_arg_row *ipt_arg_row(enum ipt_arg arg)
{
	return &arg_rows[arg];
}

struct ipt_value ipt_arg_default(const struct ipt_opt_row *row, enum family f)
{
	struct ipt_value v = { 0 };

	switch (row->arg) {
	case ARG_NONE:
		break;
	case ARG_XMARK:
		v.kind = IPT_VALUE_MASKED;
		break;
	case ARG_HOST:
		v.kind = IPT_VALUE_ADDR;
		v.addr.mask = f == FAMILY_IP6 ? ~(u128)0 : (u128)UINT32_MAX;
		break;
	default:
		v.kind = IPT_VALUE_RANGE;
		v.range = (struct ipt_range){ row->dflt, row->dflt };
		break;
	}
	return v;
}

struct loc ipt_arg_at(const struct ipt_arg_in *in, struct str slice)
{
	return ipt_word_slice(in->w, slice);
}

const struct ipt_name *ipt_arg_name(const struct ipt_arg_in *in, const struct ipt_name *table, struct str s)
{
	const struct ipt_name *other, *row = ipt_name_find(table, s, &other);
	const char *nearest;
	struct diag *g;

	if (row)
		return row;
	if (s.n == 0) {
		diag_error(in->d, ipt_arg_at(in, s), "a name is missing for --%s", in->row->name);
		return NULL;
	}
	if (other) {
		diag_error(in->d, ipt_arg_at(in, s), "'%.*s' is ambiguous for --%s: it could be '%s' among others",
			   STR_ARG(s), in->row->name, other->name);
		return NULL;
	}
	nearest = ipt_name_nearest(in->a, table, s);
	g = diag_error(in->d, ipt_arg_at(in, s), "'%.*s' is unknown for --%s", STR_ARG(s), in->row->name);
	if (nearest)
		diag_hint(in->d, g, "did you mean '%s'?", nearest);
	return NULL;
}
