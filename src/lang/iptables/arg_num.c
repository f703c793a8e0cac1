/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers: alone, as ranges (80:90), with masks (0x1/0xff), as lists. */
#include <stdlib.h>

#include "lang/iptables/arg.h"
#include "policy/addr.h"

enum { MULTIPORT_MAX = 15 };

static struct ipt_value range_value(uint64_t lo, uint64_t hi)
{
	struct ipt_value v = { .kind = IPT_VALUE_RANGE, .range = { lo, hi } };

	return v;
}

static struct ipt_value masked_value(uint64_t value, uint64_t mask)
{
	struct ipt_value v = { .kind = IPT_VALUE_MASKED, .masked = { (uint32_t)value, (uint32_t)mask } };

	return v;
}

bool ipt_arg_number(const struct ipt_arg_in *in, struct str s, uint64_t max, uint64_t *out)
{
	struct loc at = ipt_arg_at(in, s);

	if (s.n == 0) {
		diag_error(in->d, at, "a number is missing for --%s", in->row->name);
		return false;
	}
	if (!str_u64(s, 0, UINT64_MAX, out)) {
		diag_error(in->d, at, "'%.*s' is not a number, which --%s takes", STR_ARG(s), in->row->name);
		return false;
	}
	if (*out > max) {
		diag_error(in->d, at, "%.*s is above %llu, the largest number for --%s", STR_ARG(s),
			   (unsigned long long)max, in->row->name);
		return false;
	}
	if (s.n > 1 && s.p[0] == '0' && s.p[1] >= '0' && s.p[1] <= '9')
		diag_warn(in->d, at, "octal-number", "%.*s begins with 0, so iptables reads it as octal: %llu", STR_ARG(s),
			  (unsigned long long)*out);
	return true;
}

static bool number_in_range(const struct ipt_arg_in *in, struct str s, uint64_t *out)
{
	if (!ipt_arg_number(in, s, in->row->max, out))
		return false;
	if (*out >= in->row->min)
		return true;
	diag_error(in->d, ipt_arg_at(in, s), "%.*s is below %llu, the least number for --%s", STR_ARG(s),
		   (unsigned long long)in->row->min, in->row->name);
	return false;
}

bool ipt_arg_order(const struct ipt_arg_in *in, struct ipt_range r, struct str s)
{
	bool is_port = in->row->arg == ARG_PORTS;

	if (r.lo <= r.hi)
		return true;
	if (in->row->flags & F_ORDERED) {
		diag_error(in->d, ipt_arg_at(in, s), "invalid %srange %.*s (min > max)", is_port ? "port" : "", STR_ARG(s));
		return false;
	}
	diag_warn(in->d, ipt_arg_at(in, s), "reversed-range", "the range %.*s is reversed and never matches", STR_ARG(s));
	return true;
}

/* ---------- one number ---------- */

bool ipt_parse_num(const struct ipt_arg_in *in, struct ipt_value *v)
{
	uint64_t n;

	if (!number_in_range(in, in->w->text, &n))
		return false;
	*v = range_value(n, n);
	return true;
}

void ipt_print_num(struct buf *b, enum family f, const struct ipt_opt *o)
{
	unsigned flags = ipt_opt_row(o->id)->flags;
	unsigned long long n = o->v.range.lo;

	(void)f;
	buf_printf(b, flags & F_HEX ? "0x%llx" : flags & F_HEX2 ? "0x%02llx" : flags & F_HEX8 ? "0x%08llx" : "%llu", n);
}

/* ---------- ranges ---------- */

/* first:last, either may be left out; one number is both. */
bool ipt_parse_range(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text, hi;
	struct ipt_range r = { 0, in->row->max };
	bool has_colon;
	struct str lo = str_cut(s, ':', &hi, &has_colon);

	if ((lo.n || !has_colon) && !ipt_arg_number(in, lo, in->row->max, &r.lo))
		return false;
	if (!has_colon)
		r.hi = r.lo;
	else if (hi.n && !ipt_arg_number(in, hi, in->row->max, &r.hi))
		return false;
	*v = range_value(r.lo, r.hi);
	return ipt_arg_order(in, r, s);
}

void ipt_print_range(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	buf_printf(b, "%llu", (unsigned long long)o->v.range.lo);
	if (o->v.range.hi != o->v.range.lo)
		buf_printf(b, ":%llu", (unsigned long long)o->v.range.hi);
}

/* first[:[last]] of bytes or packets; without a last there is no upper end. */
bool ipt_parse_count_range(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text, hi;
	bool has_colon;
	struct str lo = str_cut(s, ':', &hi, &has_colon);

	*v = range_value(0, UINT64_MAX);
	if ((lo.n || !has_colon) && !ipt_arg_number(in, lo, UINT64_MAX, &v->range.lo))
		return false;
	if (hi.n && !ipt_arg_number(in, hi, UINT64_MAX, &v->range.hi))
		return false;
	if (v->range.lo <= v->range.hi)
		return true;
	diag_error(in->d, ipt_arg_at(in, s), "invalid range %.*s (min > max)", STR_ARG(s));
	return false;
}

void ipt_print_count_range(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	buf_printf(b, "%llu", (unsigned long long)o->v.range.lo);
	if (o->v.range.hi != UINT64_MAX)
		buf_printf(b, ":%llu", (unsigned long long)o->v.range.hi);
}

bool ipt_parse_queues(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text, hi;
	bool has_colon;
	struct str lo = str_cut(s, ':', &hi, &has_colon);

	if (!has_colon) {
		diag_error(in->d, ipt_arg_at(in, s), "--%s takes two queues, first:last", in->row->name);
		return false;
	}
	*v = range_value(0, 0);
	if (!ipt_arg_number(in, lo, in->row->max, &v->range.lo) || !ipt_arg_number(in, hi, in->row->max, &v->range.hi))
		return false;
	if (v->range.lo < v->range.hi)
		return true;
	diag_error(in->d, ipt_arg_at(in, s), "the first queue of %.*s must be below the last", STR_ARG(s));
	return false;
}

void ipt_print_queues(struct buf *b, enum family f, const struct ipt_opt *o)
{
	ipt_print_range(b, f, o);
}

/* ---------- ports ---------- */

static void bad_port(const struct ipt_arg_in *in, struct str s)
{
	struct loc at = ipt_arg_at(in, s);
	const char *dash = s.n ? memchr(s.p, '-', s.n) : NULL;
	uint64_t n;
	struct diag *g;

	if (s.n == 0) {
		diag_error(in->d, at, "a port number is missing for --%s", in->row->name);
	} else if (str_u64(s, 0, UINT64_MAX, &n)) {
		diag_error(in->d, at, "port %.*s is above 65535", STR_ARG(s));
	} else if (dash && dash != s.p) {
		struct str lo = { s.p, (size_t)(dash - s.p) }, hi = { dash + 1, s.n - lo.n - 1 };

		diag_error(in->d, at, "invalid port '%.*s'; iptables ranges use ':' (%.*s:%.*s)", STR_ARG(s), STR_ARG(lo),
			   STR_ARG(hi));
	} else if (memchr(s.p, ',', s.n)) {
		g = diag_error(in->d, at, "invalid port '%.*s': --%s takes one port or range", STR_ARG(s), in->row->name);
		diag_hint(in->d, g, "for a list write -m multiport --%ss %.*s", in->row->name, STR_ARG(s));
	} else {
		g = diag_error(in->d, at, "invalid port '%.*s': neither a number nor a service that weir knows", STR_ARG(s));
		diag_hint(in->d, g, "write the number; weir does not look into /etc/services");
	}
}

bool ipt_arg_service(const struct ipt_arg_in *in, struct str s, uint16_t *port)
{
	uint64_t n;

	if (ipt_name_service(s, port))
		return true;
	if (!str_u64(s, 0, 65535, &n)) {
		bad_port(in, s);
		return false;
	}
	if (!ipt_arg_number(in, s, 65535, &n)) /* for its warning */
		return false;
	*port = (uint16_t)n;
	return true;
}

bool ipt_parse_port(const struct ipt_arg_in *in, struct ipt_value *v)
{
	uint16_t port;

	if (!ipt_arg_service(in, in->w->text, &port))
		return false;
	*v = range_value(port, port);
	return true;
}

void ipt_print_port(struct buf *b, enum family f, const struct ipt_opt *o)
{
	ipt_print_num(b, f, o);
}

bool ipt_parse_ports(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text, hi;
	uint16_t first = 0, last = 65535;
	bool has_colon;
	struct str lo = str_cut(s, ':', &hi, &has_colon);

	if ((lo.n || !has_colon) && !ipt_arg_service(in, lo, &first))
		return false;
	if (!has_colon)
		last = first;
	else if (hi.n && !ipt_arg_service(in, hi, &last))
		return false;
	*v = range_value(first, last);
	return ipt_arg_order(in, v->range, s);
}

void ipt_print_ports(struct buf *b, enum family f, const struct ipt_opt *o)
{
	ipt_print_range(b, f, o);
}

/* One element of a multiport list: a port, or first:last with first below last. */
static bool port_element(const struct ipt_arg_in *in, struct str s, struct ipt_range *r)
{
	struct str hi;
	bool has_colon;
	struct str lo = str_cut(s, ':', &hi, &has_colon);
	uint16_t first, last;

	if (!ipt_arg_service(in, lo, &first))
		return false;
	last = first;
	if (has_colon && !ipt_arg_service(in, hi, &last))
		return false;
	*r = (struct ipt_range){ first, last };
	if (!has_colon || first < last)
		return true;
	diag_error(in->d, ipt_arg_at(in, s), "invalid portrange %.*s (%s)", STR_ARG(s),
		   first == last ? "write the port once" : "min > max");
	return false;
}

bool ipt_parse_port_list(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str rest = in->w->text;
	unsigned slots = 0;
	bool more = true, ok = true;

	v->kind = IPT_VALUE_LIST;
	v->list.v = arena_new(in->a, struct ipt_range, MULTIPORT_MAX);
	while (more) {
		struct str one = str_cut(rest, ',', &rest, &more);
		struct ipt_range r;

		if (!port_element(in, one, &r)) {
			ok = false;
			continue;
		}
		slots += r.lo == r.hi ? 1 : 2;
		if (slots > MULTIPORT_MAX) {
			struct diag *g = diag_error(in->d, ipt_arg_at(in, one),
						    "too many ports: multiport takes %d, and a range counts as two",
						    MULTIPORT_MAX);

			diag_hint(in->d, g, "write the rest in a second rule");
			return false;
		}
		v->list.v[v->list.n++] = r;
	}
	return ok;
}

void ipt_print_port_list(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	for (uint32_t i = 0; i < o->v.list.n; i++) {
		const struct ipt_range *r = &o->v.list.v[i];

		buf_printf(b, "%s%llu", i ? "," : "", (unsigned long long)r->lo);
		if (r->lo != r->hi)
			buf_printf(b, ":%llu", (unsigned long long)r->hi);
	}
}

/* ---------- value and mask ---------- */

static bool parse_masked(const struct ipt_arg_in *in, struct ipt_value *v, uint64_t full)
{
	struct str mask;
	bool has_mask;
	struct str value = str_cut(in->w->text, '/', &mask, &has_mask);
	uint64_t n, m = full;

	if (!ipt_arg_number(in, value, in->row->max, &n) || (has_mask && !ipt_arg_number(in, mask, in->row->max, &m)))
		return false;
	*v = masked_value(n, m);
	return true;
}

bool ipt_parse_mark(const struct ipt_arg_in *in, struct ipt_value *v)
{
	return parse_masked(in, v, UINT32_MAX);
}

void ipt_print_mark(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	buf_printf(b, "0x%x", o->v.masked.value);
	if (o->v.masked.mask != UINT32_MAX)
		buf_printf(b, "/0x%x", o->v.masked.mask);
}

bool ipt_parse_xmark(const struct ipt_arg_in *in, struct ipt_value *v)
{
	return parse_masked(in, v, UINT32_MAX);
}

void ipt_print_xmark(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	buf_printf(b, "0x%x/0x%x", o->v.masked.value, o->v.masked.mask);
}

bool ipt_parse_tos(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text;
	const struct ipt_name *row;

	if (s.n && s.p[0] >= '0' && s.p[0] <= '9')
		return parse_masked(in, v, 0xff);
	row = ipt_arg_name(in, ipt_names_tos, s);
	if (row)
		*v = masked_value(row->value, 0x3f);
	return row != NULL;
}

void ipt_print_tos(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	buf_printf(b, "0x%02x/0x%02x", o->v.masked.value, o->v.masked.mask);
}

bool ipt_parse_named_mask(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text;
	const struct ipt_name *other, *row = ipt_name_find(in->row->names, s, &other);
	struct diag *g;

	if (row) {
		*v = masked_value(row->value, UINT32_MAX);
		return true;
	}
	if (s.n && s.p[0] >= '0' && s.p[0] <= '9')
		return parse_masked(in, v, UINT32_MAX);
	g = diag_error(in->d, ipt_arg_at(in, s), "'%.*s' is neither a number nor a name that weir knows for --%s", STR_ARG(s),
		       in->row->name);
	diag_hint(in->d, g, "write the number; weir does not look into /etc/iproute2");
	return false;
}

void ipt_print_named_mask(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const struct ipt_name *row = ipt_name_of(ipt_opt_row(o->id)->names, o->v.masked.value);

	if (row && o->v.masked.mask == UINT32_MAX)
		buf_printf(b, "%s", row->name);
	else
		ipt_print_mark(b, f, o);
}

/* ---------- odd numbers ---------- */

bool ipt_parse_probability(const struct ipt_arg_in *in, struct ipt_value *v)
{
	const char *text = arena_cstr(in->a, in->w->text);
	char *end;
	double p = strtod(text, &end);

	if (in->w->text.n == 0 || *end || end != text + in->w->text.n || !(p >= 0.0 && p <= 1.0)) {
		diag_error(in->d, in->w->at, "'%s' is not a probability: a number from 0 to 1, like 0.25", text);
		return false;
	}
	*v = range_value((uint64_t)(p * 0x80000000u + 0.5), 0);
	v->range.hi = v->range.lo;
	return true;
}

void ipt_print_probability(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	buf_printf(b, "%.11f", (double)o->v.range.lo / 0x80000000u);
}

bool ipt_parse_zone(const struct ipt_arg_in *in, struct ipt_value *v)
{
	if (!str_is(in->w->text, "mark"))
		return ipt_parse_num(in, v);
	*v = range_value(UINT64_MAX, UINT64_MAX);
	return true;
}

void ipt_print_zone(struct buf *b, enum family f, const struct ipt_opt *o)
{
	if (o->v.range.lo == UINT64_MAX)
		buf_printf(b, "mark");
	else
		ipt_print_num(b, f, o);
}

bool ipt_parse_classid(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str minor;
	bool has_colon;
	struct str major = str_cut(in->w->text, ':', &minor, &has_colon);
	uint64_t hi, lo;

	if (!has_colon || !str_u64(major, 16, 0xffff, &hi) || !str_u64(minor, 16, 0xffff, &lo)) {
		diag_error(in->d, in->w->at, "'%.*s' is not a class: two hexadecimal numbers, major:minor, like 1:10",
			   STR_ARG(in->w->text));
		return false;
	}
	*v = range_value(hi << 16 | lo, hi << 16 | lo);
	return true;
}

void ipt_print_classid(struct buf *b, enum family f, const struct ipt_opt *o)
{
	unsigned n = (unsigned)o->v.range.lo;

	(void)f;
	buf_printf(b, "%04x:%04x", n >> 16, n & 0xffff);
}

/* A prefix length, or a mask that is one. */
bool ipt_parse_plen(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text;
	uint64_t n;
	u128 mask;
	int plen;

	if (addr_parse(in->family, s, &mask)) {
		plen = addr_plen(in->family, mask);
		if (plen < 0) {
			diag_error(in->d, in->w->at, "the mask %.*s is not a prefix, which --%s takes", STR_ARG(s), in->row->name);
			return false;
		}
		n = (uint64_t)plen;
	} else if (!ipt_arg_number(in, s, addr_bits(in->family), &n)) {
		return false;
	}
	*v = range_value(n, n);
	return true;
}

void ipt_print_plen(struct buf *b, enum family f, const struct ipt_opt *o)
{
	ipt_print_num(b, f, o);
}
