/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Set types, and the options of create. See ipset.h. */
#include "lang/ipset/ipset.h"
#include "policy/addr.h"

#define A SET_DIM_ADDR
#define N SET_DIM_NET
#define P SET_DIM_PORT
enum { HASH = IPSET_FAMILY | IPSET_HASH, MASKS = IPSET_NETMASK | IPSET_BITMASK };

static const struct ipset_type types[] = {
	{ "bitmap:ip", 1, { A }, IPSET_RANGE | IPSET_NETMASK, false },
	{ "bitmap:ip,mac", 2, { A, SET_DIM_MAC }, IPSET_RANGE, false },
	{ "bitmap:port", 1, { P }, IPSET_RANGE, false },
	{ "hash:ip", 1, { A }, HASH | MASKS, false },
	{ "hash:mac", 1, { SET_DIM_MAC }, IPSET_HASH, false },
	{ "hash:ip,mac", 2, { A, SET_DIM_MAC }, HASH, false },
	{ "hash:net", 1, { N }, HASH, false },
	{ "hash:net,net", 2, { N, N }, HASH | MASKS, false },
	{ "hash:ip,port", 2, { A, P }, HASH | MASKS, false },
	{ "hash:net,port", 2, { N, P }, HASH, false },
	{ "hash:ip,port,ip", 3, { A, P, A }, HASH, false },
	{ "hash:ip,port,net", 3, { A, P, N }, HASH, false },
	{ "hash:ip,mark", 2, { A, SET_DIM_MARK }, HASH | IPSET_MARKMASK, false },
	{ "hash:net,port,net", 3, { N, P, N }, HASH, true },
	{ "hash:net,iface", 2, { N, SET_DIM_IFACE }, HASH, true },
	{ "list:set", 1, { SET_DIM_LIST }, IPSET_SIZE, false },
};
#undef A
#undef N
#undef P

const struct ipset_type *ipset_type_find(struct str name)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (str_is(name, types[i].name))
			return &types[i];
	return NULL;
}

const char *ipset_type_nearest(struct str name)
{
	const char *names[sizeof types / sizeof *types];

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		names[i] = types[i].name;
	return str_nearest(name, names, sizeof types / sizeof *types);
}

static bool read_number(struct ipset_reader *r, struct ipset_word w, struct str what, uint64_t max, uint64_t *out)
{
	if (str_u64(w.text, 0, max, out))
		return true;
	diag_error(r->d, w.at, "%.*s must be a number up to %llu; found '%.*s'", STR_ARG(what), (unsigned long long)max,
		   STR_ARG(w.text));
	return false;
}

static bool family(struct ipset_reader *r, struct ipset_set *s, struct ipset_word w)
{
	if (str_is(w.text, "inet") || str_is(w.text, "inet6") || str_is(w.text, "ipv4") || str_is(w.text, "ipv6")) {
		s->model.family = str_ends(w.text, "6") ? FAMILY_IP6 : FAMILY_IP4;
		return true;
	}
	diag_error(r->d, w.at, "'inet' or 'inet6' is expected; found '%.*s'", STR_ARG(w.text));
	return false;
}

static bool netmask(struct ipset_reader *r, struct ipset_set *s, struct ipset_word w)
{
	unsigned width = addr_bits(s->model.family);
	uint64_t plen;

	if (!str_u64(w.text, 10, width, &plen) || plen == 0) {
		diag_error(r->d, w.at, "netmask must be from 1 to %u; found '%.*s'", width, STR_ARG(w.text));
		return false;
	}
	s->netmask = (uint8_t)plen;
	return true;
}

/* Any mask; one that is a prefix is a netmask. */
static bool bitmask(struct ipset_reader *r, struct ipset_set *s, struct ipset_word w)
{
	u128 mask;
	int plen;

	if (!addr_parse(s->model.family, w.text, &mask) || mask == 0) {
		diag_error(r->d, w.at, "bitmask must be an address other than zero; found '%.*s'", STR_ARG(w.text));
		return false;
	}
	plen = addr_plen(s->model.family, mask);
	if (plen > 0) {
		s->netmask = (uint8_t)plen;
	} else if (s->type->dim[0] == SET_DIM_NET) {
		diag_error(r->d, w.at, "a bitmask that is no prefix is not supported for %s", s->type->name);
		return false;
	} else {
		s->model.has_bitmask = true;
		s->model.bitmask = mask;
	}
	return true;
}

static bool range(struct ipset_reader *r, struct ipset_set *s, struct ipset_word w)
{
	bool is_net;

	if (s->type->dim[0] == SET_DIM_PORT) {
		struct ipset_part p = { 0 };

		if (!ipset_value_port(r, NULL, w, &p))
			return false;
		s->lo = p.lo;
		s->hi = p.hi;
		return true;
	}
	if (!ipset_value_span(r, FAMILY_IP4, w, &s->lo, &s->hi, &is_net))
		return false;
	if ((s->hi - s->lo) >> (32 - s->netmask) > 65535) {
		diag_error(r->d, w.at, "the range has more than 65536 elements");
		return false;
	}
	return true;
}

static bool plain_number(struct ipset_reader *r, struct ipset_set *s, struct ipset_word name, struct ipset_word w)
{
	uint64_t v;

	if (!read_number(r, w, name.text, UINT32_MAX, &v))
		return false;
	if (str_is(name.text, "maxelem") || str_is(name.text, "size"))
		s->max_elems = v;
	if (str_is(name.text, "markmask")) {
		s->model.mark_mask = (uint32_t)v;
		if (v == 0)
			diag_error(r->d, w.at, "markmask must not be zero");
		return v != 0;
	}
	return true;
}

static bool default_timeout(struct ipset_reader *r, struct ipset_set *s, struct ipset_word w)
{
	uint64_t v;

	if (!read_number(r, w, STR("timeout"), 2147483, &v))
		return false;
	s->model.has_default_timeout = true;
	s->model.default_timeout_s = (uint32_t)v;
	return true;
}

/* Options that stand alone. */
static bool flag(struct ipset_set *s, struct str name)
{
	if (str_is(name, "counters"))
		s->model.has_counters = true;
	else if (str_is(name, "comment"))
		s->model.has_comments = true;
	else if (str_is(name, "skbinfo"))
		s->model.has_skbinfo = true;
	else if (str_is(name, "forceadd") && (s->type->options & IPSET_HASH))
		s->model.forceadd = s->is_forced = true;
	else
		return false;
	return true;
}

static const struct value_option {
	const char *name;
	unsigned needs; /* IPSET_* of the type; 0: any type */
} value_options[] = {
	{ "family", IPSET_FAMILY },  { "hashsize", IPSET_HASH },     { "maxelem", IPSET_HASH },	 { "bucketsize", IPSET_HASH },
	{ "initval", IPSET_HASH },   { "netmask", IPSET_NETMASK },   { "bitmask", IPSET_BITMASK }, { "markmask", IPSET_MARKMASK },
	{ "range", IPSET_RANGE },    { "size", IPSET_SIZE },	     { "timeout", 0 },		 { "probes", IPSET_HASH },
	{ "resize", IPSET_HASH },    { "gc", 0 },
};

static const struct value_option *value_option_find(const struct ipset_set *s, struct str name)
{
	for (size_t i = 0; i < sizeof value_options / sizeof *value_options; i++)
		if (str_is(name, value_options[i].name) &&
		    (value_options[i].needs == 0 || (s->type->options & value_options[i].needs)))
			return &value_options[i];
	return NULL;
}

static bool option(struct ipset_reader *r, struct ipset_set *s, struct ipset_word name, struct ipset_word w)
{
	if (str_is(name.text, "family"))
		return family(r, s, w);
	if (str_is(name.text, "netmask"))
		return netmask(r, s, w);
	if (str_is(name.text, "bitmask"))
		return bitmask(r, s, w);
	if (str_is(name.text, "range"))
		return range(r, s, w);
	if (str_is(name.text, "timeout"))
		return default_timeout(r, s, w);
	return plain_number(r, s, name, w);
}

/* What of the create line changes what the set does, always in one order. */
static struct str options_text(struct arena *a, const struct ipset_set *s)
{
	const struct set *m = &s->model;
	struct buf b = { .a = a };

	if ((s->type->options & IPSET_RANGE) && s->type->dim[0] == SET_DIM_PORT) {
		buf_printf(&b, " range %u-%u", (unsigned)s->lo, (unsigned)s->hi);
	} else if (s->type->options & IPSET_RANGE) {
		buf_printf(&b, " range ");
		addr_print(&b, FAMILY_IP4, s->lo);
		buf_printf(&b, "-");
		addr_print(&b, FAMILY_IP4, s->hi);
	}
	if (s->max_elems != 65536 && (s->type->options & IPSET_HASH))
		buf_printf(&b, " maxelem %llu", (unsigned long long)s->max_elems);
	if ((s->type->options & IPSET_NETMASK) && s->netmask != addr_bits(m->family))
		buf_printf(&b, " netmask %u", s->netmask);
	if (m->has_bitmask) {
		buf_printf(&b, " bitmask ");
		addr_print(&b, m->family, m->bitmask);
	}
	if (m->mark_mask != UINT32_MAX)
		buf_printf(&b, " markmask 0x%x", m->mark_mask);
	if (m->has_default_timeout)
		buf_printf(&b, " timeout %u", m->default_timeout_s);
	buf_printf(&b, "%s%s%s%s", m->has_counters ? " counters" : "", m->has_comments ? " comment" : "",
		   m->has_skbinfo ? " skbinfo" : "", m->forceadd ? " forceadd" : "");
	return str_trim(buf_str(&b));
}

/* The family decides how other options are read, wherever it stands. */
static bool read_family(struct ipset_reader *r, struct ipset_set *s, const struct ipset_line *l)
{
	for (uint32_t i = 3; i + 1 < l->n; i++)
		if (str_is(l->word[i].text, "family") && (s->type->options & IPSET_FAMILY))
			return family(r, s, l->word[i + 1]);
	return true;
}

static bool complete(struct ipset_reader *r, const struct ipset_set *s, const struct ipset_line *l, bool has_range)
{
	if (!(s->type->options & IPSET_RANGE) || has_range)
		return true;
	diag_error(r->d, l->word[2].at, "%s needs a range: range %s", s->type->name,
		   s->type->dim[0] == SET_DIM_PORT ? "FROMPORT-TOPORT" : "FROMIP-TOIP");
	return false;
}

bool ipset_type_options(struct ipset_reader *r, struct ipset_set *s, const struct ipset_line *l)
{
	bool ok = true, has_range = false;

	s->model.n_dims = s->type->n_dims;
	memcpy(s->model.dim, s->type->dim, sizeof s->model.dim);
	for (uint8_t i = 0; i < s->type->n_dims; i++)
		s->model.has_addrs |= s->type->dim[i] == SET_DIM_ADDR || s->type->dim[i] == SET_DIM_NET;
	s->model.mark_mask = UINT32_MAX;
	s->max_elems = s->type->options & IPSET_SIZE ? 8 : 65536;
	if (!read_family(r, s, l))
		return false;
	s->netmask = (uint8_t)addr_bits(s->model.family);
	for (uint32_t i = 3; i < l->n; i++) {
		struct ipset_word w = l->word[i];

		if (flag(s, w.text) || str_is(w.text, "-exist") || str_is(w.text, "-!"))
			continue;
		if (!value_option_find(s, w.text)) {
			diag_error(r->d, w.at, "a set of type %s has no option '%.*s'", s->type->name, STR_ARG(w.text));
			return false;
		}
		if (++i == l->n) {
			diag_error(r->d, w.at, "'%.*s' needs a value", STR_ARG(w.text));
			return false;
		}
		has_range |= str_is(w.text, "range");
		ok &= option(r, s, w, l->word[i]);
	}
	s->model.options = options_text(r->a, s);
	s->model.netmask = s->netmask;
	s->model.has_range = has_range;
	s->model.range_lo = s->lo;
	s->model.range_hi = s->hi;
	s->model.max_elems = s->max_elems;
	return complete(r, s, l, has_range) && ok;
}
