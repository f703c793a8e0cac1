/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the packet has for the dimensions of a named set: by direction, as ipset takes it (`--match-set s src,dst`), or of
 * the fields that the rule names.
 */
#include "eval/sets.h"

static struct set_dim_value field_value(const struct walk *w, enum field f)
{
	return (struct set_dim_value){ .is_there = (enum eval_truth)w->f.has[f], .is_known = w->f.known[f], .v = w->f.v[f],
				       .what = field_table[f].name };
}

static bool proto_has_ports(u128 proto)
{
	return proto == 6 || proto == 17 || proto == 132 || proto == 136;
}

/*
 * proto << 16 | port; type and code of ICMP; 0 for other protocols. An IPv6 packet that ends with "no next header" has
 * no protocol here, and protocol 0 of IPv4 is none.
 */
static struct set_dim_value port_value(const struct walk *w, bool is_src, bool is_bitmap)
{
	struct set_dim_value d = field_value(w, FIELD_PROTO);
	enum field icmp = w->f.family == FAMILY_IP4 ? FIELD_ICMP : FIELD_ICMP6;
	u128 proto = d.v;
	bool is_icmp, is_later;

	if (d.is_there != EVAL_YES || !d.is_known)
		return d;
	is_icmp = proto == (w->f.family == FAMILY_IP4 ? 1 : 58);
	is_later = w->f.known[FIELD_FRAG] && w->f.v[FIELD_FRAG];
	if (proto == 0 || (proto == 59 && w->f.family == FAMILY_IP6) || (is_bitmap && proto != 6 && proto != 17) ||
	    (is_later && (w->f.family == FAMILY_IP6 || is_icmp || proto_has_ports(proto)))) {
		d.is_there = EVAL_NO;
		return d;
	}
	d.v = 0;
	if (is_icmp || proto_has_ports(proto))
		d = field_value(w, is_icmp ? icmp : is_src ? FIELD_SPORT : FIELD_DPORT);
	if (!is_bitmap)
		d.v |= proto << 16;
	return d;
}

static struct set_dim_value dim_value(struct walk *w, const struct set_index *ix, const struct set_use *use, unsigned i)
{
	bool is_src = use->dir[i] == SET_DIR_SRC;
	struct set_dim_value d;

	if (use->by_field) {
		struct key_value x = keys_value(w, &use->key[i]);

		return (struct set_dim_value){ x.is_there, x.is_known, x.v, x.what };
	}
	switch (ix->set->dim[i]) {
	case SET_DIM_PORT:
		return port_value(w, is_src, ix->is_bitmap_port);
	case SET_DIM_IFACE:
		return field_value(w, is_src ? FIELD_IIF : FIELD_OIF);
	case SET_DIM_MAC:
		d = field_value(w, is_src ? FIELD_MAC_SRC : FIELD_MAC_DST);
		if (d.is_there == EVAL_YES && d.is_known && d.v == 0)
			d.is_there = EVAL_NO;
		return d;
	case SET_DIM_MARK:
		return field_value(w, FIELD_MARK);
	default:
		return field_value(w, is_src ? FIELD_SRC : FIELD_DST);
	}
}

enum eval_truth dims_read(struct walk *w, const struct set_index *ix, const struct set_use *use, struct set_elem *el,
			  const char **what)
{
	enum eval_truth all = EVAL_YES;

	memset(el, 0, sizeof *el);
	for (unsigned i = 0; i < ix->set->n_dims; i++) {
		struct set_dim_value d = dim_value(w, ix, use, i);

		if (d.is_there == EVAL_NO) {
			*what = d.what;
			return EVAL_NO;
		}
		if (d.is_there == EVAL_UNKNOWN || !d.is_known) {
			all = EVAL_UNKNOWN;
			*what = d.what;
		}
		el->v[i] = d.v;
		el->plen[i] = 128;
	}
	return all;
}
