/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses, networks, ranges. There is no DNS: a name is an error. IPv4 addresses may be written as iptables-restore
 * reads them, each part a number of C, missing parts 0:
 *
 *     10/8 -> 10.0.0.0/8     10.1 -> 10.1.0.0/32 (warned)     010.0.0.1 -> 8.0.0.1 (warned)
 */
#include "lang/iptables/arg.h"
#include "policy/addr.h"

static u128 full_mask(enum family f)
{
	return addr_mask(f, addr_bits(f));
}

/* ---------- one address ---------- */

/* Parts as C numbers; *n_parts of them. false: not of that form. */
static bool address_by_parts(struct str s, uint32_t *out, unsigned *n_parts, bool *has_octal)
{
	bool more = true;
	uint32_t v = 0;
	unsigned n = 0;

	while (more) {
		uint64_t part;
		struct str one = str_cut(s, '.', &s, &more);

		if (n == 4 || !str_u64(one, 0, 255, &part))
			return false;
		*has_octal |= one.n > 1 && one.p[0] == '0' && one.p[1] != 'x' && one.p[1] != 'X';
		v |= (uint32_t)part << (24 - 8 * n++);
	}
	*out = v;
	*n_parts = n;
	return true;
}

static bool address4(const struct ipt_arg_in *in, struct str s, bool has_mask, u128 *out)
{
	struct loc at = ipt_arg_at(in, s);
	struct buf text = { .a = in->a };
	bool has_octal = false;
	unsigned n_parts;
	uint32_t v;

	if (addr_parse(FAMILY_IP4, s, out))
		return true;
	if (!address_by_parts(s, &v, &n_parts, &has_octal))
		return false;
	*out = v;
	addr_print(&text, FAMILY_IP4, v);
	if (has_octal)
		diag_warn(in->d, at, "octal-number", "a part of %.*s begins with 0, so iptables reads it as octal: %s", STR_ARG(s),
			  text.v);
	if (n_parts < 4 && !has_mask)
		diag_warn(in->d, at, "short-address", "'%.*s' is read as the one address %s", STR_ARG(s), text.v);
	return true;
}

/* What stands for no address of this family, and why. */
static void bad_address(const struct ipt_arg_in *in, struct str s)
{
	struct loc at = ipt_arg_at(in, s);
	bool is_digits = true;
	struct diag *g;
	u128 v;

	for (size_t i = 0; i < s.n; i++)
		is_digits &= (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '.';
	if (s.n == 0) {
		diag_error(in->d, at, "an address is missing");
	} else if (in->family == FAMILY_IP6 && addr_parse(FAMILY_IP4, s, &v)) {
		g = diag_error(in->d, at, "%.*s is IPv4 in an IPv6 ruleset", STR_ARG(s));
		diag_hint(in->d, g, "put the rule into the file for iptables, not ip6tables");
	} else if (in->family == FAMILY_IP4 && addr_parse(FAMILY_IP6, s, &v)) {
		g = diag_error(in->d, at, "%.*s is IPv6 in an IPv4 ruleset", STR_ARG(s));
		diag_hint(in->d, g, "put the rule into the file for ip6tables, not iptables");
	} else if (s.p[0] == '[') {
		g = diag_error(in->d, at, "'%.*s' is not an address", STR_ARG(s));
		diag_hint(in->d, g, "write it without brackets");
	} else if (is_digits || memchr(s.p, ':', s.n)) {
		diag_error(in->d, at, "'%.*s' is not an %s address", STR_ARG(s), in->family == FAMILY_IP6 ? "IPv6" : "IPv4");
	} else {
		g = diag_error(in->d, at, "'%.*s' is not an address, and weir does no DNS", STR_ARG(s));
		diag_hint(in->d, g, "write the address itself");
	}
}

static bool address(const struct ipt_arg_in *in, struct str s, bool has_mask, u128 *out)
{
	bool ok = in->family == FAMILY_IP4 ? address4(in, s, has_mask, out) : addr_parse(FAMILY_IP6, s, out);

	if (!ok)
		bad_address(in, s);
	return ok;
}

bool ipt_arg_address(const struct ipt_arg_in *in, struct str s, u128 *out)
{
	return address(in, s, false, out);
}

/* ---------- networks ---------- */

static bool parse_mask(const struct ipt_arg_in *in, struct str s, u128 *mask)
{
	unsigned bits = addr_bits(in->family);
	uint64_t plen;
	struct diag *g;

	if (str_u64(s, 0, bits, &plen)) {
		*mask = addr_mask(in->family, (unsigned)plen);
		return true;
	}
	if (addr_parse(in->family, s, mask))
		return true;
	g = diag_error(in->d, ipt_arg_at(in, s), "invalid mask '%.*s'", STR_ARG(s));
	diag_hint(in->d, g, in->family == FAMILY_IP6 ? "a mask is a length from 0 to 128, or ffff:ffff::"
						       : "a mask is a length from 0 to 32, or 255.255.255.0");
	return false;
}

static void warn_host_bits(const struct ipt_arg_in *in, struct str s, const struct ipt_addr *addr)
{
	struct buf text = { .a = in->a };

	if (addr->mask == 0) {
		diag_warn(in->d, addr->at, "every-address", "%.*s is every address", STR_ARG(s));
		return;
	}
	ipt_arg_print_network(&text, in->family, addr, true);
	diag_warn(in->d, addr->at, "host-bits", "%.*s has bits set outside its mask; it means %s", STR_ARG(s), text.v);
}

bool ipt_arg_network(const struct ipt_arg_in *in, struct str s, struct ipt_addr *addr)
{
	struct str mask;
	bool has_mask;
	struct str host = str_cut(s, '/', &mask, &has_mask);
	u128 full;

	addr->at = ipt_arg_at(in, s);
	addr->mask = full_mask(in->family);
	if (!address(in, host, has_mask, &full) || (has_mask && !parse_mask(in, mask, &addr->mask)))
		return false;
	addr->addr = full & addr->mask;
	if (addr->addr != full)
		warn_host_bits(in, s, addr);
	return true;
}

bool ipt_arg_networks(const struct ipt_arg_in *in, struct ipt_addrs *out)
{
	struct str rest = in->w->text;
	bool more = true, ok = true;

	while (more) {
		struct str one = str_trim(str_cut(rest, ',', &rest, &more));

		ok &= ipt_arg_network(in, one, vec_add(in->a, &out->list));
	}
	return ok;
}

void ipt_arg_print_network(struct buf *b, enum family f, const struct ipt_addr *addr, bool full)
{
	int plen = addr_plen(f, addr->mask);

	addr_print(b, f, addr->addr);
	if (plen < 0) {
		buf_printf(b, "/");
		addr_print(b, f, addr->mask);
	} else if (full || (unsigned)plen != addr_bits(f)) {
		buf_printf(b, "/%d", plen);
	}
}

bool ipt_parse_addr(const struct ipt_arg_in *in, struct ipt_value *v)
{
	v->kind = IPT_VALUE_ADDR;
	if (memchr(in->w->text.p, ',', in->w->text.n)) {
		diag_error(in->d, in->w->at, "--%s takes one address or network, not a list", in->row->name);
		return false;
	}
	return ipt_arg_network(in, in->w->text, &v->addr);
}

void ipt_print_addr(struct buf *b, enum family f, const struct ipt_opt *o)
{
	ipt_arg_print_network(b, f, &o->v.addr, false);
}

bool ipt_parse_network(const struct ipt_arg_in *in, struct ipt_value *v)
{
	if (!ipt_parse_addr(in, v))
		return false;
	if (addr_plen(in->family, v->addr.mask) >= 0)
		return true;
	diag_error(in->d, in->w->at, "the mask of %.*s is not a prefix, which --%s needs", STR_ARG(in->w->text), in->row->name);
	return false;
}

void ipt_print_network(struct buf *b, enum family f, const struct ipt_opt *o)
{
	ipt_arg_print_network(b, f, &o->v.addr, true);
}

bool ipt_parse_host(const struct ipt_arg_in *in, struct ipt_value *v)
{
	v->kind = IPT_VALUE_ADDR;
	v->addr.at = in->w->at;
	v->addr.mask = full_mask(in->family);
	return ipt_arg_address(in, in->w->text, &v->addr.addr);
}

void ipt_print_host(struct buf *b, enum family f, const struct ipt_opt *o)
{
	addr_print(b, f, o->v.addr.addr);
}

/* A mask alone, written like an address. */
bool ipt_parse_addr_mask(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct diag *g;

	v->kind = IPT_VALUE_ADDR;
	v->addr.at = in->w->at;
	if (addr_parse(in->family, in->w->text, &v->addr.mask))
		return true;
	g = diag_error(in->d, in->w->at, "'%.*s' is not a mask written as an address", STR_ARG(in->w->text));
	diag_hint(in->d, g, "write %s", in->family == FAMILY_IP6 ? "ffff:ffff:ffff:ffff::" : "255.255.255.0");
	return false;
}

void ipt_print_addr_mask(struct buf *b, enum family f, const struct ipt_opt *o)
{
	addr_print(b, f, o->v.addr.mask);
}

/* ---------- ranges ---------- */

static bool address_pair(const struct ipt_arg_in *in, struct str s, u128 *lo, u128 *hi)
{
	struct str last;
	bool has_dash;
	struct str first = str_cut(s, '-', &last, &has_dash);

	if (!ipt_arg_address(in, first, lo))
		return false;
	*hi = *lo;
	return !has_dash || ipt_arg_address(in, last, hi);
}

bool ipt_parse_addr_range(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text;
	struct diag *g;

	v->kind = IPT_VALUE_ADDR_RANGE;
	if (memchr(s.p, '/', s.n)) {
		g = diag_error(in->d, in->w->at, "--%s takes first-last, not a network", in->row->name);
		diag_hint(in->d, g, "write the network with -s or -d");
		return false;
	}
	if (!address_pair(in, s, &v->addrs.lo, &v->addrs.hi))
		return false;
	if (v->addrs.lo > v->addrs.hi)
		diag_warn(in->d, in->w->at, "reversed-range", "the range %.*s is reversed and never matches", STR_ARG(s));
	return true;
}

void ipt_print_addr_range(struct buf *b, enum family f, const struct ipt_opt *o)
{
	addr_print(b, f, o->v.addrs.lo);
	buf_printf(b, "-");
	addr_print(b, f, o->v.addrs.hi);
}

bool ipt_parse_mac(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str rest = in->w->text;
	bool more = true;
	unsigned n = 0;
	uint64_t mac = 0;

	while (more) {
		struct str one = str_cut(rest, ':', &rest, &more);
		uint64_t byte;

		if (n++ == 6 || one.n == 0 || one.n > 2 || !str_u64(one, 16, 255, &byte)) {
			n = 0;
			break;
		}
		mac = mac << 8 | byte;
	}
	if (n != 6) {
		diag_error(in->d, in->w->at, "'%.*s' is not a MAC address: six bytes in hex, like 02:00:00:00:00:01",
			   STR_ARG(in->w->text));
		return false;
	}
	v->kind = IPT_VALUE_MAC;
	v->range = (struct ipt_range){ mac, mac };
	return true;
}

void ipt_print_mac(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	for (int i = 5; i >= 0; i--)
		buf_printf(b, "%02x%s", (unsigned)(o->v.range.lo >> (8 * i)) & 0xff, i ? ":" : "");
}

/* ---------- NAT ---------- */

/* port, first-last, or (base allowed) first-last/base. */
static bool nat_ports(const struct ipt_arg_in *in, struct str s, struct nat_spec *n)
{
	struct str base, hi, whole = s;
	bool has_base, has_dash;
	uint64_t lo, last, b = 0;

	n->has_port = true;
	if (ipt_name_service(s, &n->port_lo) || !memchr(s.p ? s.p : "", '-', s.n)) {
		if (!ipt_arg_service(in, s, &n->port_lo))
			return false;
		n->port_hi = n->port_lo;
		return true;
	}
	s = str_cut(s, '/', &base, &has_base);
	s = str_cut(s, '-', &hi, &has_dash);
	if (!ipt_arg_number(in, s, 65535, &lo) || !ipt_arg_number(in, hi, 65535, &last) ||
	    (has_base && !ipt_arg_number(in, base, 65535, &b)))
		return false;
	n->port_lo = (uint16_t)lo;
	n->port_hi = (uint16_t)last;
	n->has_base = has_base;
	n->port_base = (uint16_t)b;
	if (has_base && !str_is(str_from(in->row->name), "to-destination")) {
		diag_error(in->d, ipt_arg_at(in, whole), "only DNAT shifts ports: --%s takes no '/'", in->row->name);
		return false;
	}
	if (lo <= last)
		return true;
	diag_error(in->d, ipt_arg_at(in, whole), "invalid port range %.*s (min > max)", STR_ARG(whole));
	return false;
}

/* "2001:db8::10:443" is an address, but was it meant as one? */
static void warn_bracket(const struct ipt_arg_in *in, struct str s)
{
	const char *colon = memrchr(s.p, ':', s.n);
	struct str host, port;
	uint64_t n;
	u128 v;

	if (!colon)
		return;
	host = (struct str){ s.p, (size_t)(colon - s.p) };
	port = (struct str){ colon + 1, s.n - host.n - 1 };
	if (!addr_parse(FAMILY_IP6, host, &v) || !str_u64(port, 10, 65535, &n))
		return;
	diag_hint(in->d,
		  diag_warn(in->d, ipt_arg_at(in, s), "bracket-port", "%.*s is read as an address without a port", STR_ARG(s)),
		  "for a port write [%.*s]:%.*s", STR_ARG(host), STR_ARG(port));
}

/* Splits into addresses and ports. IPv6 with a port stands in brackets. false: reported. */
static bool nat_split(const struct ipt_arg_in *in, struct str s, struct str *addrs, struct str *ports)
{
	bool has_port;
	struct str rest;

	*ports = (struct str){ 0 };
	if (s.n && s.p[0] == '[') {
		*addrs = str_cut((struct str){ s.p + 1, s.n - 1 }, ']', &rest, &has_port);
		if (!has_port || (rest.n && rest.p[0] != ':')) {
			diag_hint(in->d, diag_error(in->d, ipt_arg_at(in, s), "'%.*s' is not [address]:port", STR_ARG(s)),
				  "a range of addresses stands in one pair of brackets: [first-last]:port");
			return false;
		}
		if (rest.n)
			*ports = (struct str){ rest.p + 1, rest.n - 1 };
		return true;
	}
	if (in->family == FAMILY_IP6 && !(s.n > 1 && s.p[0] == ':' && s.p[1] != ':')) {
		*addrs = s;
		return true;
	}
	*addrs = str_cut(s, ':', ports, &has_port);
	if (has_port && ports->n == 0)
		*ports = (struct str){ s.p + s.n, 0 };
	return true;
}

bool ipt_parse_nat(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct nat_spec *n = arena_new(in->a, struct nat_spec, 1);
	struct str s = in->w->text, addrs, ports;

	v->kind = IPT_VALUE_NAT;
	v->nat = n;
	if (!nat_split(in, s, &addrs, &ports))
		return false;
	if (ports.p && !nat_ports(in, ports, n))
		return false;
	if (addrs.n == 0 && ports.p)
		return true;
	n->has_addr = true;
	if (!address_pair(in, addrs, &n->addr_lo, &n->addr_hi))
		return false;
	if (n->addr_lo > n->addr_hi)
		diag_warn(in->d, ipt_arg_at(in, addrs), "reversed-range", "the range %.*s is reversed", STR_ARG(addrs));
	if (in->family == FAMILY_IP6 && !ports.p && addrs.p == s.p)
		warn_bracket(in, addrs);
	return true;
}

static void print_nat_ports(struct buf *b, const struct nat_spec *n)
{
	buf_printf(b, "%u", n->port_lo);
	if (n->port_hi != n->port_lo)
		buf_printf(b, "-%u", n->port_hi);
	if (n->has_base)
		buf_printf(b, "/%u", n->port_base);
}

void ipt_print_nat(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const struct nat_spec *n = o->v.nat;
	bool in_brackets = f == FAMILY_IP6 && n->has_addr && n->has_port;

	if (in_brackets)
		buf_printf(b, "[");
	if (n->has_addr) {
		addr_print(b, f, n->addr_lo);
		if (n->addr_hi != n->addr_lo) {
			buf_printf(b, "-");
			addr_print(b, f, n->addr_hi);
		}
	}
	if (in_brackets)
		buf_printf(b, "]");
	if (n->has_port) {
		buf_printf(b, ":");
		print_nat_ports(b, n);
	}
}

bool ipt_parse_nat_ports(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct nat_spec *n = arena_new(in->a, struct nat_spec, 1);
	struct str s = in->w->text, hi;
	bool has_colon;

	v->kind = IPT_VALUE_NAT;
	v->nat = n;
	if (!memchr(s.p, ':', s.n))
		return nat_ports(in, s, n);
	s = str_cut(s, ':', &hi, &has_colon);
	diag_error(in->d, in->w->at, "the range of --%s uses '-' (%.*s-%.*s)", in->row->name, STR_ARG(s), STR_ARG(hi));
	return false;
}

void ipt_print_nat_ports(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	print_nat_ports(b, o->v.nat);
}
