/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading the environment file, and what the addresses in it mean. See env.h for the syntax.
 *
 * A line is words between blanks; `interface NAME` is followed by any number of `address A[/LEN]` and at most one
 * `group N`. Every wrong word is reported; a file with errors is not used.
 *
 * The type of an address is what the kernel's local routing table would say: the machine's own addresses are LOCAL, the
 * last address of an IPv4 network is BROADCAST (the first one was, too, before Linux 5.14). A whole IPv4 network on the
 * loopback device is LOCAL.
 */
#include "policy/env.h"
#include "policy/addr.h"

#include <linux/rtnetlink.h>

/* Words of one line, with their places. */
struct scan {
	struct diags *d;
	const struct source *src;
	uint32_t source;
	size_t pos, end;
	struct loc at; /* of the last word */
};

static struct str next_word(struct scan *s)
{
	const char *p = s->src->text.p;
	size_t from;

	while (s->pos < s->end && (p[s->pos] == ' ' || p[s->pos] == '\t' || p[s->pos] == '\r'))
		s->pos++;
	from = s->pos;
	if (from < s->end && p[from] == '#')
		s->pos = s->end;
	else
		while (s->pos < s->end && p[s->pos] != ' ' && p[s->pos] != '\t' && p[s->pos] != '\r')
			s->pos++;
	s->at = (struct loc){ s->source, (uint32_t)from, (uint32_t)(s->pos - from) };
	if (from < s->end && p[from] == '#') {
		s->at.len = 0;
		return STR("");
	}
	return (struct str){ p + from, s->pos - from };
}

static bool read_address(struct scan *s, struct env_addr *out)
{
	struct str w = next_word(s), len;
	bool has_len;
	struct str text = str_cut(w, '/', &len, &has_len);
	uint64_t plen;

	for (enum family f = FAMILY_IP4;; f++) {
		if (f == FAMILY_COUNT) {
			diag_error(s->d, s->at, "an address is expected, such as 192.0.2.1/24 or 2001:db8::1/64; found '%.*s'",
				   STR_ARG(w));
			return false;
		}
		if (addr_parse(f, text, &out->addr)) {
			out->family = f;
			out->plen = (uint8_t)addr_bits(f);
			break;
		}
	}
	if (has_len) {
		if (!str_u64(len, 10, out->plen, &plen)) {
			diag_error(s->d, s->at, "'%.*s' is not a prefix length from 0 to %u", STR_ARG(len), out->plen);
			return false;
		}
		out->plen = (uint8_t)plen;
	}
	return true;
}

static bool read_interface(struct scan *s, struct arena *a, struct env *out)
{
	struct str name = next_word(s), w;
	struct env_iface *f;
	uint64_t group;
	struct env_addr addr;
	bool ok = true;

	if (name.n == 0 || name.n > 15) {
		if (name.n == 0)
			diag_error(s->d, s->at, "an interface name is expected");
		else
			diag_error(s->d, s->at, "'%.*s' is longer than the 15 bytes of an interface name", STR_ARG(name));
		return false;
	}
	for (size_t i = 0; i < out->ifaces.n; i++)
		if (str_eq(out->ifaces.v[i].name, name)) {
			diag_error(s->d, s->at, "interface %.*s is described twice", STR_ARG(name));
			return false;
		}
	f = vec_add(a, &out->ifaces);
	f->name = arena_str(a, name.p, name.n);
	while ((w = next_word(s)).n) {
		if (str_is(w, "address")) {
			if (read_address(s, &addr))
				*vec_add(a, &f->addrs) = addr;
			else
				ok = false;
		} else if (str_is(w, "group")) {
			w = next_word(s);
			if (!str_u64(w, 0, UINT32_MAX, &group)) {
				diag_error(s->d, s->at, "a group number is expected; found '%.*s'", STR_ARG(w));
				ok = false;
			} else {
				f->group = (uint32_t)group;
				f->has_group = true;
			}
		} else {
			diag_error(s->d, s->at, "'address' or 'group' is expected; found '%.*s'", STR_ARG(w));
			return false;
		}
	}
	return ok;
}

static bool read_forwarding(struct scan *s, struct env *out)
{
	struct str w = next_word(s);

	if (!str_is(w, "yes") && !str_is(w, "no")) {
		diag_error(s->d, s->at, "'yes' or 'no' is expected; found '%.*s'", STR_ARG(w));
		return false;
	}
	out->forwarding = str_is(w, "yes");
	w = next_word(s);
	if (w.n)
		diag_error(s->d, s->at, "nothing more is expected here; found '%.*s'", STR_ARG(w));
	return w.n == 0;
}

bool env_read(struct arena *a, struct diags *d, uint32_t source, struct env *out)
{
	const struct source *src = source_get(d->sources, source);
	struct scan s = { .d = d, .src = src, .source = source };
	bool ok = true;

	for (uint32_t i = 0; i < src->n_lines; i++) {
		struct str w;

		s.pos = src->line_off[i];
		s.end = i + 1 < src->n_lines ? src->line_off[i + 1] : src->text.n;
		while (s.end > s.pos && (src->text.p[s.end - 1] == '\n' || src->text.p[s.end - 1] == '\r'))
			s.end--;
		w = next_word(&s);
		if (w.n == 0)
			continue;
		if (str_is(w, "interface")) {
			ok &= read_interface(&s, a, out);
		} else if (str_is(w, "forwarding")) {
			ok &= read_forwarding(&s, out);
		} else {
			diag_error(d, s.at, "'interface' or 'forwarding' is expected; found '%.*s'", STR_ARG(w));
			ok = false;
		}
	}
	return ok;
}

const struct env_iface *env_iface_find(const struct env *env, const char *name)
{
	for (size_t i = 0; env && i < env->ifaces.n; i++)
		if (str_is(env->ifaces.v[i].name, name))
			return &env->ifaces.v[i];
	return NULL;
}

/* What holds on every machine, or -1. */
static int type_everywhere(enum family f, u128 addr)
{
	if (f == FAMILY_IP6) {
		if (addr >> 120 == 0xff)
			return RTN_MULTICAST;
		return addr == 1 ? RTN_LOCAL : addr == 0 ? RTN_UNSPEC : -1;
	}
	/* The kernel answers "broadcast" for 0.0.0.0 and 255.255.255.255 before it looks into a table. */
	if (addr == 0 || addr == 0xffffffff)
		return RTN_BROADCAST;
	if (addr >> 28 == 0xe)
		return RTN_MULTICAST;
	if (addr == 0x7fffffff)
		return RTN_BROADCAST;
	return addr >> 24 == 127 ? RTN_LOCAL : -1;
}

static unsigned host_bits(const struct env_addr *e)
{
	return addr_bits(e->family) - e->plen;
}

int env_addr_type(const struct env *env, enum family f, u128 addr)
{
	int type = type_everywhere(f, addr);

	if (type >= 0 || !env)
		return type;
	type = RTN_UNICAST;
	for (size_t i = 0; i < env->ifaces.n; i++) {
		bool is_lo = f == FAMILY_IP4 && str_is(env->ifaces.v[i].name, "lo");

		for (size_t j = 0; j < env->ifaces.v[i].addrs.n; j++) {
			const struct env_addr *e = &env->ifaces.v[i].addrs.v[j];
			u128 host = f == FAMILY_IP4 && e->plen < 31 ? ((u128)1 << (32 - e->plen)) - 1 : 0;

			if (e->family != f)
				continue;
			if (e->addr == addr)
				return RTN_LOCAL;
			if (host && addr == (e->addr | host))
				type = RTN_BROADCAST;
			else if (is_lo && type == RTN_UNICAST && addr >> host_bits(e) == e->addr >> host_bits(e))
				type = RTN_LOCAL;
			if (f == FAMILY_IP6 && env->forwarding && e->plen > 0 && e->plen < 127 &&
			    addr == e->addr >> (128 - e->plen) << (128 - e->plen))
				type = RTN_ANYCAST;
		}
	}
	return type;
}
