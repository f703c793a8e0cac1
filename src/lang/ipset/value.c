/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values in elements: addresses, networks, ports, Ethernet addresses, interfaces, marks.
 *
 *     192.0.2.1   192.0.2.0/24   192.0.2.1-192.0.2.9   80   udp:53-60   icmp:8/0   icmp:ping   gre:0   physdev:eth0
 */
#include "lang/ipset/ipset.h"
#include "policy/addr.h"

struct ipset_word ipset_value_piece(struct ipset_word w, size_t from, size_t to)
{
	w.text = str_slice(w.text, from, to);
	w.at.off += (uint32_t)from + w.is_quoted;
	w.at.len = (uint32_t)w.text.n;
	return w;
}

static bool read_addr(struct ipset_reader *r, enum family fam, struct ipset_word w, u128 *out)
{
	struct diag *g;
	u128 other;

	if (addr_parse(fam, w.text, out))
		return true;
	if (addr_parse(fam == FAMILY_IP4 ? FAMILY_IP6 : FAMILY_IP4, w.text, &other)) {
		diag_error(r->d, w.at, "'%.*s' is an IPv%c address in a set of family %s", STR_ARG(w.text),
			   fam == FAMILY_IP4 ? '6' : '4', fam == FAMILY_IP4 ? "inet" : "inet6");
		return false;
	}
	g = diag_error(r->d, w.at, "'%.*s' is not an IPv%c address", STR_ARG(w.text), fam == FAMILY_IP4 ? '4' : '6');
	diag_hint(r->d, g, "host names are never looked up: write the address");
	return false;
}

static size_t find_char(struct str s, char c)
{
	const char *q = s.n ? memchr(s.p, c, s.n) : NULL;

	return q ? (size_t)(q - s.p) : s.n;
}

bool ipset_value_span(struct ipset_reader *r, enum family fam, struct ipset_word w, u128 *lo, u128 *hi, bool *is_net)
{
	size_t slash = find_char(w.text, '/'), dash = find_char(w.text, '-');
	uint64_t plen;

	*is_net = slash < w.text.n;
	if (*is_net) {
		struct ipset_word len = ipset_value_piece(w, slash + 1, w.text.n);

		if (!read_addr(r, fam, ipset_value_piece(w, 0, slash), lo))
			return false;
		if (!str_u64(len.text, 10, addr_bits(fam), &plen)) {
			diag_error(r->d, len.at, "'%.*s' is not a prefix length from 0 to %u", STR_ARG(len.text), addr_bits(fam));
			return false;
		}
		*lo &= addr_mask(fam, (unsigned)plen);
		*hi = *lo | (addr_mask(fam, addr_bits(fam)) & ~addr_mask(fam, (unsigned)plen));
		return true;
	}
	if (dash == w.text.n) {
		bool ok = read_addr(r, fam, w, lo);

		*hi = *lo;
		return ok;
	}
	if (fam == FAMILY_IP6) {
		diag_error(r->d, w.at, "ranges of IPv6 addresses cannot be in a set; write prefixes");
		return false;
	}
	if (!read_addr(r, fam, ipset_value_piece(w, 0, dash), lo) ||
	    !read_addr(r, fam, ipset_value_piece(w, dash + 1, w.text.n), hi))
		return false;
	if (*lo > *hi) { /* as ipset does */
		u128 t = *lo;

		diag_warn(r->d, w.at, "reversed-range", "the range '%.*s' is written backwards", STR_ARG(w.text));
		*lo = *hi;
		*hi = t;
	}
	return true;
}

bool ipset_value_addr(struct ipset_reader *r, const struct ipset_set *s, struct ipset_word w, struct ipset_part *p)
{
	unsigned width = addr_bits(s->model.family);
	u128 mask = addr_mask(s->model.family, s->netmask);
	bool is_net;

	if (!ipset_value_span(r, s->model.family, w, &p->lo, &p->hi, &is_net))
		return false;
	if (is_net && s->model.family == FAMILY_IP6 && p->lo != p->hi) {
		diag_error(r->d, w.at, "a set of type %s takes single IPv6 addresses", s->type->name);
		return false;
	}
	p->lo &= mask;
	p->hi &= mask;
	if (s->model.has_bitmask) {
		p->lo &= s->model.bitmask;
		p->hi &= s->model.bitmask;
		if (p->lo != p->hi) {
			diag_error(r->d, w.at, "a set with a bitmask takes single addresses here");
			return false;
		}
	}
	p->plen = s->netmask;
	p->step = (u128)1 << (width - s->netmask);
	return true;
}

bool ipset_value_net(struct ipset_reader *r, const struct ipset_set *s, struct ipset_word w, struct ipset_part *p)
{
	enum family fam = s->model.family;
	size_t slash = find_char(w.text, '/');
	u128 addr;
	bool is_net;

	if (!ipset_value_span(r, fam, w, &p->lo, &p->hi, &is_net))
		return false;
	if (p->lo == 0 && p->hi == addr_mask(fam, addr_bits(fam)) && !(is_net && s->type->takes_any_net)) {
		struct diag *g = is_net ? diag_error(r->d, w.at, "a set of type %s cannot hold a network of prefix length 0",
						     s->type->name)
					: diag_error(r->d, w.at, "a set cannot hold every address as a range");

		diag_hint(r->d, g, fam == FAMILY_IP4 ? "write two elements: 0.0.0.0/1 and 128.0.0.0/1"
						     : "write two elements: ::/1 and 8000::/1");
		return false;
	}
	if (is_net && addr_parse(fam, str_slice(w.text, 0, slash), &addr) && addr != p->lo)
		diag_warn(r->d, w.at, "host-bits", "'%.*s' has bits set behind its prefix; the set holds the network",
			  STR_ARG(w.text));
	if (s->netmask < addr_bits(fam)) {
		p->lo &= addr_mask(fam, s->netmask);
		p->hi |= addr_mask(fam, addr_bits(fam)) & ~addr_mask(fam, s->netmask);
	}
	p->is_net = true;
	return true;
}

static const struct {
	const char *name;
	uint8_t number;
} protocols[] = {
	{ "tcp", 6 },	  { "udp", 17 },     { "sctp", 132 }, { "udplite", 136 }, { "icmp", 1 }, { "icmpv6", 58 }, { "ipv6-icmp", 58 },
	{ "gre", 47 },	  { "esp", 50 },     { "ah", 51 },    { "igmp", 2 },	  { "ospf", 89 }, { "vrrp", 112 },  { "dccp", 33 },
	{ "ipip", 94 },	  { "ipencap", 4 },  { "ipv6", 41 },  { "pim", 103 },	  { "egp", 8 },	 { "igp", 9 },	   { "rsvp", 46 },
	{ "skip", 57 },	  { "eigrp", 88 },   { "l2tp", 115 }, { "ipcomp", 108 },  { "isis", 124 }, { "fc", 133 },   { "mpls-in-ip", 137 },
	{ "manet", 138 }, { "shim6", 140 },  { "hip", 139 },  { "wesp", 141 },	  { "rohc", 142 }, { "ethernet", 143 },
};

/* Names of ICMP types and codes, as `ipset save` writes them: type << 8 | code. */
static const struct icmp_name {
	const char *name;
	uint16_t value;
} icmp_names[] = {
	{ "echo-reply", 0 },
	{ "pong", 0 },
	{ "network-unreachable", 0x300 },
	{ "host-unreachable", 0x301 },
	{ "protocol-unreachable", 0x302 },
	{ "port-unreachable", 0x303 },
	{ "fragmentation-needed", 0x304 },
	{ "source-route-failed", 0x305 },
	{ "network-unknown", 0x306 },
	{ "host-unknown", 0x307 },
	{ "network-prohibited", 0x309 },
	{ "host-prohibited", 0x30a },
	{ "TOS-network-unreachable", 0x30b },
	{ "TOS-host-unreachable", 0x30c },
	{ "communication-prohibited", 0x30d },
	{ "host-precedence-violation", 0x30e },
	{ "precedence-cutoff", 0x30f },
	{ "source-quench", 0x400 },
	{ "network-redirect", 0x500 },
	{ "host-redirect", 0x501 },
	{ "TOS-network-redirect", 0x502 },
	{ "TOS-host-redirect", 0x503 },
	{ "echo-request", 0x800 },
	{ "ping", 0x800 },
	{ "router-advertisement", 0x900 },
	{ "router-solicitation", 0xa00 },
	{ "ttl-zero-during-transit", 0xb00 },
	{ "ttl-zero-during-reassembly", 0xb01 },
	{ "ip-header-bad", 0xc00 },
	{ "required-option-missing", 0xc01 },
	{ "timestamp-request", 0xd00 },
	{ "timestamp-reply", 0xe00 },
	{ "address-mask-request", 0x1100 },
	{ "address-mask-reply", 0x1200 },
}, icmp6_names[] = {
	{ "no-route", 0x100 },
	{ "communication-prohibited", 0x101 },
	{ "address-unreachable", 0x103 },
	{ "port-unreachable", 0x104 },
	{ "packet-too-big", 0x200 },
	{ "ttl-zero-during-transit", 0x300 },
	{ "ttl-zero-during-reassembly", 0x301 },
	{ "bad-header", 0x400 },
	{ "unknown-header-type", 0x401 },
	{ "unknown-option", 0x402 },
	{ "echo-request", 0x8000 },
	{ "ping", 0x8000 },
	{ "echo-reply", 0x8100 },
	{ "pong", 0x8100 },
	{ "router-solicitation", 0x8500 },
	{ "router-advertisement", 0x8600 },
	{ "neighbour-solicitation", 0x8700 },
	{ "neigbour-solicitation", 0x8700 },
	{ "neighbour-advertisement", 0x8800 },
	{ "neigbour-advertisement", 0x8800 },
	{ "redirect", 0x8900 },
};

const char *ipset_value_protocol(unsigned number)
{
	for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
		if (protocols[i].number == number)
			return protocols[i].name;
	return NULL;
}

static bool read_protocol(struct ipset_reader *r, struct ipset_word w, uint8_t *out)
{
	uint64_t v;

	for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
		if (str_is_nocase(w.text, protocols[i].name)) {
			*out = protocols[i].number;
			return true;
		}
	if (str_u64(w.text, 10, 255, &v) && v > 0) {
		*out = (uint8_t)v;
		return true;
	}
	diag_error(r->d, w.at, "'%.*s' is not a protocol", STR_ARG(w.text));
	return false;
}

static bool read_icmp(struct ipset_reader *r, struct ipset_word w, bool is_v6, u128 *out)
{
	const struct icmp_name *names = is_v6 ? icmp6_names : icmp_names;
	size_t n = is_v6 ? sizeof icmp6_names / sizeof *icmp6_names : sizeof icmp_names / sizeof *icmp_names;
	size_t slash = find_char(w.text, '/');
	uint64_t type, code;

	for (size_t i = 0; i < n; i++)
		if (str_is_nocase(w.text, names[i].name)) {
			*out = names[i].value;
			return true;
		}
	if (slash < w.text.n && str_u64(str_slice(w.text, 0, slash), 10, 255, &type) &&
	    str_u64(str_slice(w.text, slash + 1, w.text.n), 10, 255, &code)) {
		*out = type << 8 | code;
		return true;
	}
	diag_error(r->d, w.at, "'%.*s' is neither TYPE/CODE nor the name of an ICMP type", STR_ARG(w.text));
	return false;
}

static bool read_port(struct ipset_reader *r, struct ipset_word w, u128 *out)
{
	uint64_t v;
	struct diag *g;

	if (str_u64(w.text, 10, 65535, &v)) {
		*out = v;
		return true;
	}
	g = diag_error(r->d, w.at, "'%.*s' is not a port from 0 to 65535", STR_ARG(w.text));
	diag_hint(r->d, g, "names of services are not looked up: write the number");
	return false;
}

static bool read_port_range(struct ipset_reader *r, struct ipset_word w, struct ipset_part *p)
{
	size_t dash = find_char(w.text, '-');

	if (!read_port(r, ipset_value_piece(w, 0, dash), &p->lo))
		return false;
	p->hi = p->lo;
	if (dash < w.text.n && !read_port(r, ipset_value_piece(w, dash + 1, w.text.n), &p->hi))
		return false;
	if (p->lo > p->hi) {
		u128 t = p->lo;

		diag_warn(r->d, w.at, "reversed-range", "the range '%.*s' is written backwards", STR_ARG(w.text));
		p->lo = p->hi;
		p->hi = t;
	}
	return true;
}

/* s NULL, or a bitmap: the protocol is not kept. */
bool ipset_value_port(struct ipset_reader *r, const struct ipset_set *s, struct ipset_word w, struct ipset_part *p)
{
	size_t colon = find_char(w.text, ':');
	struct ipset_word rest = colon < w.text.n ? ipset_value_piece(w, colon + 1, w.text.n) : w;
	uint8_t proto = 6;
	bool ok;

	if (colon < w.text.n && !read_protocol(r, ipset_value_piece(w, 0, colon), &proto))
		return false;
	if (proto == 1 || proto == 58) {
		if (s && (s->model.family == FAMILY_IP6) != (proto == 58)) {
			diag_error(r->d, w.at, "%s cannot be in a set of family %s", proto == 58 ? "ICMPv6" : "ICMP",
				   s->model.family == FAMILY_IP6 ? "inet6" : "inet");
			return false;
		}
		ok = read_icmp(r, rest, proto == 58, &p->lo);
		p->hi = p->lo;
	} else {
		ok = read_port_range(r, rest, p);
	}
	if (ok && proto != 6 && proto != 17 && proto != 132 && proto != 136 && proto != 1 && proto != 58 &&
	    (p->lo || p->hi)) {
		diag_error(r->d, rest.at, "a protocol without ports takes 0 here; found '%.*s'", STR_ARG(rest.text));
		ok = false;
	}
	if (ok && s && !(s->type->options & IPSET_RANGE)) {
		p->lo |= (u128)proto << 16;
		p->hi |= (u128)proto << 16;
	}
	p->step = 1;
	p->plen = 24;
	return ok;
}

bool ipset_value_mac(struct ipset_reader *r, struct ipset_word w, struct ipset_part *p)
{
	u128 v = 0;
	bool ok = w.text.n == 17;
	uint64_t byte;

	for (size_t i = 0; ok && i < 6; i++) {
		ok = str_u64(str_slice(w.text, 3 * i, 3 * i + 2), 16, 255, &byte) && (i == 5 || w.text.p[3 * i + 2] == ':');
		v = v << 8 | byte;
	}
	if (!ok || v == 0) {
		diag_error(r->d, w.at, ok ? "the Ethernet address '%.*s' cannot be in a set"
					  : "'%.*s' is not an Ethernet address such as 02:00:00:00:00:01",
			   STR_ARG(w.text));
		return false;
	}
	p->lo = p->hi = v;
	p->step = 1;
	p->plen = 48;
	return true;
}

bool ipset_value_iface(struct ipset_reader *r, struct ipset_word w, struct ipset_part *p)
{
	if (str_starts(w.text, "physdev:")) {
		p->is_physdev = true;
		w = ipset_value_piece(w, 8, w.text.n);
	}
	if (w.text.n == 0 || w.text.n > 15) {
		diag_error(r->d, w.at, "an interface name of 1 to 15 bytes is expected; found '%.*s'", STR_ARG(w.text));
		return false;
	}
	p->lo = p->hi = field_name_value(w.text);
	p->step = 1;
	p->plen = 128;
	return true;
}

bool ipset_value_mark(struct ipset_reader *r, const struct ipset_set *s, struct ipset_word w, struct ipset_part *p)
{
	uint64_t v;

	if (!str_u64(w.text, 0, UINT32_MAX, &v)) {
		diag_error(r->d, w.at, "'%.*s' is not a mark from 0 to 0xffffffff", STR_ARG(w.text));
		return false;
	}
	p->lo = p->hi = v & s->model.mark_mask;
	p->step = 1;
	p->plen = 32;
	return true;
}
