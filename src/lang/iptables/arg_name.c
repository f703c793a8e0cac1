/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words that stand for numbers: one of a few, sets of them, protocols, ICMP types, TCP flags and options, users. */
#include <grp.h>
#include <pwd.h>
#include <stdio.h>

#include "lang/iptables/arg.h"

static struct ipt_value range_value(uint64_t lo, uint64_t hi)
{
	struct ipt_value v = { .kind = IPT_VALUE_RANGE, .range = { lo, hi } };

	return v;
}

/* ---------- one of a few ---------- */

static const struct ipt_name *word_table(const struct ipt_opt_row *row, enum family f)
{
	return row->names == ipt_names_reject && f == FAMILY_IP6 ? ipt_names_reject6 : row->names;
}

/* A name; where .max is given, a number too. */
bool ipt_parse_word(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text;
	const struct ipt_name *row;

	if (in->row->max && s.n && s.p[0] >= '0' && s.p[0] <= '9')
		return ipt_parse_num(in, v);
	row = ipt_arg_name(in, word_table(in->row, in->family), s);
	if (row)
		*v = range_value(row->value, row->value);
	return row != NULL;
}

void ipt_print_word(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const struct ipt_opt_row *row = ipt_opt_row(o->id);
	const struct ipt_name *name = row->max ? NULL : ipt_name_of(word_table(row, f), o->v.range.lo);

	if (name)
		buf_printf(b, "%s", name->name);
	else
		buf_printf(b, "%llu", (unsigned long long)o->v.range.lo);
}

/* ---------- sets of flags ---------- */

static bool parse_flag_list(const struct ipt_arg_in *in, const struct ipt_name *table, uint64_t *bits)
{
	struct str rest = in->w->text;
	bool more = true, ok = true;

	while (more) {
		struct str one = str_cut(rest, ',', &rest, &more);
		const struct ipt_name *row = ipt_arg_name(in, table, one);

		if (row)
			*bits |= row->value;
		ok &= row != NULL;
	}
	return ok;
}

bool ipt_parse_flags(const struct ipt_arg_in *in, struct ipt_value *v)
{
	v->kind = IPT_VALUE_BITS;
	v->bits = 0;
	return parse_flag_list(in, in->row->names, &v->bits);
}

static void print_flags(struct buf *b, const struct ipt_name *table, uint64_t bits)
{
	uint64_t left = bits;
	const char *sep = "";

	for (const struct ipt_name *r = table; r->name; r++) {
		if (bits == 0 ? r->value != 0 : !r->value || (left & r->value) != r->value)
			continue;
		buf_printf(b, "%s%s", sep, r->name);
		sep = ",";
		left &= ~r->value;
		if (!left)
			return;
	}
}

void ipt_print_flags(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	print_flags(b, ipt_opt_row(o->id)->names, o->v.bits);
}

/* Two words: which flags are looked at, and which of them are set. */
bool ipt_parse_tcp_flags(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct ipt_arg_in second = *in;
	uint64_t mask = 0, set = 0;

	second.w = &in->w[1];
	if (!parse_flag_list(in, ipt_names_tcpflags, &mask) || !parse_flag_list(&second, ipt_names_tcpflags, &set))
		return false;
	v->kind = IPT_VALUE_MASKED;
	v->masked.value = (uint32_t)set;
	v->masked.mask = (uint32_t)mask;
	return true;
}

static void print_tcp_flags(struct buf *b, uint32_t flags)
{
	const char *sep = "";

	for (const struct ipt_name *r = ipt_names_tcpflags; r->value < 0x3f; r++) {
		if (!(flags & r->value))
			continue;
		buf_printf(b, "%s%s", sep, r->name);
		sep = ",";
	}
	if (!flags)
		buf_printf(b, "NONE");
}

void ipt_print_tcp_flags(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	print_tcp_flags(b, o->v.masked.mask);
	buf_printf(b, " ");
	print_tcp_flags(b, o->v.masked.value);
}

/* A list of TCP option numbers or names, each once, kept in order of number. */
bool ipt_parse_tcp_options(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str rest = in->w->text;
	bool has[256] = { false }, more = true;
	uint32_t n = 0;

	while (more) {
		struct str one = str_cut(rest, ',', &rest, &more);
		const struct ipt_name *other, *row = ipt_name_find(in->row->names, one, &other);
		uint64_t kind = row ? row->value : 0;

		if (!row && !ipt_arg_number(in, one, 255, &kind))
			return false;
		if (kind < 2 || has[kind]) {
			diag_error(in->d, ipt_arg_at(in, one), kind < 2 ? "TCP options 0 and 1 cannot be stripped"
									 : "TCP option %.*s is already in the list",
				   STR_ARG(one));
			return false;
		}
		has[kind] = true;
		n++;
	}
	v->kind = IPT_VALUE_LIST;
	v->list.v = arena_new(in->a, struct ipt_range, n);
	for (unsigned i = 2; i < 256; i++) {
		if (has[i])
			v->list.v[v->list.n++] = (struct ipt_range){ i, i };
	}
	return true;
}

void ipt_print_tcp_options(struct buf *b, enum family f, const struct ipt_opt *o)
{
	ipt_print_port_list(b, f, o);
}

/* ---------- protocols ---------- */

bool ipt_arg_proto(const struct ipt_arg_in *in, struct str s, uint8_t *proto)
{
	const struct ipt_name *row = NULL;
	const char *nearest;
	struct diag *g;
	uint64_t n;

	for (const struct ipt_name *r = ipt_names_proto; r->name && !row; r++) {
		if (str_is_nocase(s, r->name))
			row = r;
	}
	if (row || str_u64(s, 0, 255, &n)) {
		*proto = (uint8_t)(row ? row->value : n);
		return true;
	}
	g = diag_error(in->d, ipt_arg_at(in, s), "unknown protocol '%.*s'", STR_ARG(s));
	nearest = ipt_name_nearest(in->a, ipt_names_proto, s);
	if (nearest)
		diag_hint(in->d, g, "did you mean '%s'?", nearest);
	else
		diag_hint(in->d, g, "a protocol is a name like tcp, or a number up to 255");
	return false;
}

bool ipt_parse_proto(const struct ipt_arg_in *in, struct ipt_value *v)
{
	uint8_t proto;

	if (!ipt_arg_proto(in, in->w->text, &proto))
		return false;
	*v = range_value(proto, proto);
	return true;
}

void ipt_print_proto(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const struct ipt_name *table = ipt_opt_row(o->id)->names;
	const struct ipt_name *row = table ? ipt_name_of(table, o->v.range.lo) : NULL;

	if (row)
		buf_printf(b, "%s", row->name);
	else
		ipt_print_num(b, f, o);
}

/* ---------- ICMP types, mobility headers ---------- */

/* A name, or type[/code]. */
bool ipt_parse_icmp(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text, code;
	const struct ipt_name *row;
	uint64_t t, c = 0;
	bool has_code;

	if (s.n == 0 || s.p[0] < '0' || s.p[0] > '9') {
		row = ipt_arg_name(in, in->row->names, s);
		if (row)
			*v = range_value(row->value, row->more);
		return row != NULL;
	}
	s = str_cut(s, '/', &code, &has_code);
	if (!ipt_arg_number(in, s, 255, &t) || (has_code && !ipt_arg_number(in, code, 255, &c)))
		return false;
	*v = has_code ? range_value(t << 8 | c, t << 8 | c) : range_value(t << 8, t << 8 | 0xff);
	if (t == 255 && in->row->names == ipt_names_icmp) /* the kernel's number for any type */
		*v = range_value(0, 0xffff);
	return true;
}

void ipt_print_icmp(struct buf *b, enum family f, const struct ipt_opt *o)
{
	unsigned lo = (unsigned)o->v.range.lo, hi = (unsigned)o->v.range.hi;

	(void)f;
	if (lo == 0 && hi == 0xffff)
		buf_printf(b, "any");
	else if (lo == hi)
		buf_printf(b, "%u/%u", lo >> 8, lo & 0xff);
	else
		buf_printf(b, "%u", lo >> 8);
}

static bool mh_type(const struct ipt_arg_in *in, struct str s, uint64_t *n)
{
	const struct ipt_name *row;

	if (s.n && s.p[0] >= '0' && s.p[0] <= '9')
		return ipt_arg_number(in, s, 255, n);
	row = ipt_arg_name(in, in->row->names, s);
	if (row)
		*n = row->value;
	return row != NULL;
}

bool ipt_parse_mh_type(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str hi;
	bool has_colon;
	struct str lo = str_cut(in->w->text, ':', &hi, &has_colon);

	*v = range_value(0, 255);
	if ((lo.n || !has_colon) && !mh_type(in, lo, &v->range.lo))
		return false;
	if (!has_colon)
		v->range.hi = v->range.lo;
	else if (hi.n && !mh_type(in, hi, &v->range.hi))
		return false;
	return ipt_arg_order(in, v->range, in->w->text);
}

void ipt_print_mh_type(struct buf *b, enum family f, const struct ipt_opt *o)
{
	ipt_print_range(b, f, o);
}

/* ---------- users and groups ---------- */

/* Looks into /etc/passwd or /etc/group itself: never into a directory service. */
static bool id_by_name(struct str s, bool is_user, uint64_t *id)
{
	FILE *f = fopen(is_user ? "/etc/passwd" : "/etc/group", "re");
	bool found = false;

	if (!f)
		return false;
	while (!found) {
		struct passwd *u = is_user ? fgetpwent(f) : NULL;
		struct group *g = is_user ? NULL : fgetgrent(f);

		if (!u && !g)
			break;
		found = str_is(s, u ? u->pw_name : g->gr_name);
		*id = u ? u->pw_uid : g->gr_gid;
	}
	fclose(f);
	return found;
}

/* number, first-last, or the name of a user or group of this machine. */
bool ipt_parse_id(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct str s = in->w->text, hi;
	bool has_dash;
	struct str lo = str_cut(s, '-', &hi, &has_dash);

	*v = range_value(0, 0);
	if (s.n && s.p[0] >= '0' && s.p[0] <= '9') {
		if (!ipt_arg_number(in, lo, in->row->max, &v->range.lo))
			return false;
		v->range.hi = v->range.lo;
		if (has_dash && !ipt_arg_number(in, hi, in->row->max, &v->range.hi))
			return false;
		if (v->range.lo <= v->range.hi)
			return true;
		diag_error(in->d, in->w->at, "the range %.*s is reversed", STR_ARG(s));
		return false;
	}
	if (s.n && id_by_name(s, str_is(str_from(in->row->name), "uid-owner"), &v->range.lo)) {
		v->range.hi = v->range.lo;
		return true;
	}
	diag_hint(in->d,
		  diag_error(in->d, in->w->at, "'%.*s' is neither a number nor a name in this machine's %s", STR_ARG(s),
			     str_is(str_from(in->row->name), "uid-owner") ? "/etc/passwd" : "/etc/group"),
		  "write the number");
	return false;
}

void ipt_print_id(struct buf *b, enum family f, const struct ipt_opt *o)
{
	(void)f;
	buf_printf(b, "%llu", (unsigned long long)o->v.range.lo);
	if (o->v.range.hi != o->v.range.lo)
		buf_printf(b, "-%llu", (unsigned long long)o->v.range.hi);
}
