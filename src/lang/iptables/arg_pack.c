/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arguments that are small languages of their own: u32 tests, BPF code, options of IPv6 extension headers, addresses of
 * a routing header, SCTP chunks.
 */
#include <ctype.h>

#include "lang/iptables/arg.h"
#include "policy/addr.h"
#include "policy/cbpf.h"

enum { U32_MAX = 10, U32_MAX_OPS = 9, IP6_OPTS_MAX = 16, RT_ADDRS_MAX = 16, BPF_MAX = 64 };

/* ---------- u32: location = value[:value][,...] && ... ---------- */

struct u32_scan {
	const struct ipt_arg_in *in;
	struct str s;
	size_t i;
};

static void u32_skip(struct u32_scan *u)
{
	while (u->i < u->s.n && isspace((unsigned char)u->s.p[u->i]))
		u->i++;
}

static bool u32_token(struct u32_scan *u, const char *token)
{
	size_t n = strlen(token);

	u32_skip(u);
	if (u->s.n - u->i < n || memcmp(u->s.p + u->i, token, n) != 0)
		return false;
	u->i += n;
	return true;
}

static bool u32_error(struct u32_scan *u, const char *what)
{
	struct loc at = ipt_word_part(u->in->w, u->i, u->i < u->s.n ? 1 : 0);

	diag_error(u->in->d, at, "u32: %s%s", what, u->i < u->s.n ? "" : ", but the text ends");
	return false;
}

static bool u32_number(struct u32_scan *u, uint32_t *out)
{
	size_t start;
	uint64_t n;

	u32_skip(u);
	start = u->i;
	while (u->i < u->s.n && isalnum((unsigned char)u->s.p[u->i]))
		u->i++;
	if (u->i == start)
		return u32_error(u, "a number is expected here");
	if (!str_u64(str_slice(u->s, start, u->i), 0, UINT32_MAX, &n)) {
		u->i = start;
		return u32_error(u, "a number of 32 bits is expected here");
	}
	*out = (uint32_t)n;
	return true;
}

/* number [op number]... up to '=' */
static bool u32_location(struct u32_scan *u, struct u32_loc *loc)
{
	if (!u32_number(u, &loc->start))
		return false;
	while (!u32_token(u, "=")) {
		enum u32_op op;

		if (u32_token(u, "&"))
			op = U32_AND;
		else if (u32_token(u, "<<"))
			op = U32_LEFT;
		else if (u32_token(u, ">>"))
			op = U32_RIGHT;
		else if (u32_token(u, "@"))
			op = U32_AT;
		else
			return u32_error(u, "one of & << >> @ = is expected here");
		if (loc->n_ops == U32_MAX_OPS)
			return u32_error(u, "a location has at most 9 operators");
		loc->op[loc->n_ops].op = op;
		if (!u32_number(u, &loc->op[loc->n_ops].number))
			return false;
		loc->n_ops++;
	}
	return true;
}

static bool u32_values(struct u32_scan *u, struct u32_test *t)
{
	t->value = arena_alloc(u->in->a, sizeof(*t->value) * U32_MAX, _Alignof(uint32_t));
	do {
		if (t->n_values == U32_MAX)
			return u32_error(u, "a test has at most 10 values");
		if (!u32_number(u, &t->value[t->n_values].lo))
			return false;
		t->value[t->n_values].hi = t->value[t->n_values].lo;
		if (u32_token(u, ":") && !u32_number(u, &t->value[t->n_values].hi))
			return false;
		t->n_values++;
	} while (u32_token(u, ","));
	return true;
}

bool ipt_parse_u32(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct u32_scan u = { .in = in, .s = in->w->text };
	struct bytes_spec *b = arena_new(in->a, struct bytes_spec, 1);

	b->kind = BYTES_U32;
	b->u32 = arena_new(in->a, struct u32_test, U32_MAX);
	v->kind = IPT_VALUE_BYTES;
	v->bytes = b;
	for (;;) {
		struct u32_test *t;

		if (b->n_u32 == U32_MAX)
			return u32_error(&u, "at most 10 tests are joined with &&");
		t = &b->u32[b->n_u32++];
		if (!u32_location(&u, &t->loc) || !u32_values(&u, t))
			return false;
		u32_skip(&u);
		if (u.i == u.s.n)
			return true;
		if (!u32_token(&u, "&&"))
			return u32_error(&u, "',' or '&&' is expected here");
	}
}

void ipt_print_u32(struct buf *b, enum family f, const struct ipt_opt *o)
{
	static const char *const ops[] = { [U32_AND] = "&", [U32_LEFT] = "<<", [U32_RIGHT] = ">>", [U32_AT] = "@" };
	const struct bytes_spec *s = o->v.bytes;

	(void)f;
	buf_printf(b, "\"");
	for (uint32_t i = 0; i < s->n_u32; i++) {
		const struct u32_test *t = &s->u32[i];

		buf_printf(b, "%s0x%x", i ? "&&" : "", t->loc.start);
		for (uint8_t k = 0; k < t->loc.n_ops; k++)
			buf_printf(b, "%s0x%x", ops[t->loc.op[k].op], t->loc.op[k].number);
		for (uint8_t k = 0; k < t->n_values; k++) {
			buf_printf(b, "%s0x%x", k ? "," : "=", t->value[k].lo);
			if (t->value[k].hi != t->value[k].lo)
				buf_printf(b, ":0x%x", t->value[k].hi);
		}
	}
	buf_printf(b, "\"");
}

/* ---------- bpf: count,code jt jf k,... ---------- */

/* Next number of s, blanks around it; false if there is none, or it is above max. */
static bool bpf_number(struct str *s, uint64_t max, uint64_t *out)
{
	size_t n = 0;

	*s = str_trim(*s);
	while (n < s->n && !isspace((unsigned char)s->p[n]))
		n++;
	if (!str_u64((struct str){ s->p, n }, 10, max, out))
		return false;
	*s = str_slice(*s, n, s->n);
	return true;
}

static bool bpf_insn(struct str s, struct bytes_insn *insn)
{
	uint64_t code, jt, jf, k;

	if (!bpf_number(&s, UINT16_MAX, &code) || !bpf_number(&s, UINT8_MAX, &jt) || !bpf_number(&s, UINT8_MAX, &jf) ||
	    !bpf_number(&s, UINT32_MAX, &k) || str_trim(s).n)
		return false;
	*insn = (struct bytes_insn){ (uint16_t)code, (uint8_t)jt, (uint8_t)jf, (uint32_t)k };
	return true;
}

/* Every instruction that the kernel would refuse, where it stands. */
static bool is_good_bytecode(const struct ipt_arg_in *in, const struct bytes_spec *b)
{
	struct cbpf_faults f = cbpf_check(in->a, b->insn, b->n_insn);

	for (size_t i = 0; i < f.all.n; i++) {
		struct str rest, one = str_cut(in->w->text, ',', &rest, NULL);

		for (uint32_t k = 0; k <= f.all.v[i].insn; k++)
			one = str_cut(rest, ',', &rest, NULL);
		diag_error(in->d, ipt_arg_at(in, one), "%.*s", STR_ARG(f.all.v[i].text));
	}
	return f.all.n == 0;
}

bool ipt_parse_bytecode(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct bytes_spec *b = arena_new(in->a, struct bytes_spec, 1);
	struct str rest;
	bool more;
	struct str count = str_trim(str_cut(in->w->text, ',', &rest, &more));
	uint64_t n;

	v->kind = IPT_VALUE_BYTES;
	v->bytes = b;
	b->kind = BYTES_CBPF;
	if (!str_u64(count, 10, BPF_MAX, &n) || n == 0) {
		diag_error(in->d, in->w->at, "BPF code begins with the number of its instructions, 1 to %d", BPF_MAX);
		return false;
	}
	b->insn = arena_new(in->a, struct bytes_insn, n);
	while (more) {
		struct str one = str_cut(rest, ',', &rest, &more);

		if (!more && str_trim(one).n == 0) /* a comma at the end, as tcpdump -ddd | tr gives it */
			break;
		if (b->n_insn == n || !bpf_insn(one, &b->insn[b->n_insn])) {
			diag_error(in->d, ipt_arg_at(in, one), b->n_insn == n
				   ? "more BPF instructions than the number in front says"
				   : "a BPF instruction is four numbers: code jt jf k");
			return false;
		}
		b->n_insn++;
	}
	if (b->n_insn == n)
		return is_good_bytecode(in, b);
	diag_error(in->d, in->w->at, "%u BPF instructions, but the number in front says %llu", b->n_insn,
		   (unsigned long long)n);
	return false;
}

void ipt_print_bytecode(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const struct bytes_spec *s = o->v.bytes;

	(void)f;
	buf_printf(b, "\"%u", s->n_insn);
	for (uint32_t i = 0; i < s->n_insn; i++)
		buf_printf(b, ",%u %u %u %u", s->insn[i].code, s->insn[i].jt, s->insn[i].jf, s->insn[i].k);
	buf_printf(b, "\"");
}

/* ---------- options of hop-by-hop and destination headers: type[:length],... ---------- */

bool ipt_parse_ip6_opts(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct bytes_spec *b = arena_new(in->a, struct bytes_spec, 1);
	struct str rest = in->w->text;
	bool more = true;

	v->kind = IPT_VALUE_BYTES;
	v->bytes = b;
	b->kind = BYTES_IP6_OPTS;
	b->header = in->row->ext == IPT_M_DST ? 60 : 0;
	b->opt = arena_alloc(in->a, sizeof(*b->opt) * IP6_OPTS_MAX, 1);
	while (more) {
		struct str one = str_cut(rest, ',', &rest, &more), len;
		bool has_len;
		struct str type = str_cut(one, ':', &len, &has_len);
		uint64_t t, l = 0;

		if (b->n_opts == IP6_OPTS_MAX) {
			diag_error(in->d, ipt_arg_at(in, one), "--%s takes at most %d options", in->row->name, IP6_OPTS_MAX);
			return false;
		}
		if (!ipt_arg_number(in, type, 255, &t) || (has_len && !ipt_arg_number(in, len, 255, &l)))
			return false;
		b->opt[b->n_opts].type = (uint8_t)t;
		b->opt[b->n_opts].has_len = has_len;
		b->opt[b->n_opts++].len = (uint8_t)l;
	}
	return true;
}

void ipt_print_ip6_opts(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const struct bytes_spec *s = o->v.bytes;

	(void)f;
	for (uint32_t i = 0; i < s->n_opts; i++) {
		buf_printf(b, "%s%u", i ? "," : "", s->opt[i].type);
		if (s->opt[i].has_len)
			buf_printf(b, ":%u", s->opt[i].len);
	}
}

/* ---------- addresses of a type 0 routing header ---------- */

bool ipt_parse_rt_addrs(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct bytes_spec *b = arena_new(in->a, struct bytes_spec, 1);
	struct str rest = in->w->text;
	bool more = true;

	v->kind = IPT_VALUE_BYTES;
	v->bytes = b;
	b->kind = BYTES_RT_ADDRS;
	b->addr = arena_new(in->a, u128, RT_ADDRS_MAX);
	while (more) {
		struct str one = str_cut(rest, ',', &rest, &more);

		if (b->n_addrs == RT_ADDRS_MAX) {
			diag_error(in->d, ipt_arg_at(in, one), "--%s takes at most %d addresses", in->row->name, RT_ADDRS_MAX);
			return false;
		}
		if (!ipt_arg_address(in, one, &b->addr[b->n_addrs++]))
			return false;
	}
	return true;
}

void ipt_print_rt_addrs(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const struct bytes_spec *s = o->v.bytes;

	for (uint32_t i = 0; i < s->n_addrs; i++) {
		buf_printf(b, i ? "," : "");
		addr_print(b, f, s->addr[i]);
	}
}

/* ---------- sctp: all|any|only, chunk[:flags],... ---------- */

/* Letters of a chunk's flag bits, highest first; '-' has none. A capital asks for 1, a small letter for 0. */
static const char *chunk_letters(unsigned type)
{
	switch (type) {
	case 0:	 /* DATA */
	case 64: /* I_DATA */
		return "----IUBE";
	case 6:	 /* ABORT */
	case 14: /* SHUTDOWN_COMPLETE */
		return "-------T";
	default:
		return "--------";
	}
}

static bool chunk_flags(const struct ipt_arg_in *in, struct str s, struct ipt_chunks *c, unsigned type)
{
	const char *letters = chunk_letters(type);

	for (size_t i = 0; i < s.n; i++) {
		const char *bit = isalpha((unsigned char)s.p[i]) ? strchr(letters, toupper((unsigned char)s.p[i])) : NULL;
		uint8_t mask;

		if (!bit) {
			diag_error(in->d, ipt_arg_at(in, str_slice(s, i, i + 1)), "'%c' is no flag of this chunk", s.p[i]);
			return false;
		}
		mask = (uint8_t)(1u << (7 - (bit - letters)));
		c->flag[c->n_flags].mask |= mask;
		if (isupper((unsigned char)s.p[i]))
			c->flag[c->n_flags].value |= mask;
		else
			c->flag[c->n_flags].value &= (uint8_t)~mask;
	}
	c->flag[c->n_flags++].type = (uint8_t)type;
	return true;
}

static bool one_chunk(const struct ipt_arg_in *in, struct str s, struct ipt_chunks *c)
{
	struct str flags;
	bool has_flags;
	struct str name = str_cut(s, ':', &flags, &has_flags);
	const struct ipt_name *row;

	if (str_is_nocase(s, "ALL")) {
		memset(c->types, 0xff, sizeof(c->types));
		return true;
	}
	if (str_is_nocase(s, "NONE")) {
		memset(c->types, 0, sizeof(c->types));
		return true;
	}
	row = ipt_arg_name(in, ipt_names_chunk, name);
	if (!row)
		return false;
	if (c->types[row->value / 64] >> (row->value % 64) & 1) {
		diag_error(in->d, ipt_arg_at(in, s), "chunk %s is already in the list", row->name);
		return false;
	}
	c->types[row->value / 64] |= (uint64_t)1 << (row->value % 64);
	return !has_flags || chunk_flags(in, flags, c, (unsigned)row->value);
}

bool ipt_parse_chunks(const struct ipt_arg_in *in, struct ipt_value *v)
{
	struct ipt_chunks *c = arena_new(in->a, struct ipt_chunks, 1);
	struct ipt_arg_in list = *in;
	const struct ipt_name *mode = ipt_arg_name(in, ipt_names_chunkmode, in->w[0].text);
	struct str rest = in->w[1].text;
	bool more = true;

	list.w = &in->w[1];
	v->kind = IPT_VALUE_CHUNKS;
	v->chunks = c;
	c->flag = arena_alloc(in->a, sizeof(*c->flag) * 256, 1);
	if (!mode)
		return false;
	c->mode = (enum ipt_chunk_mode)mode->value;
	while (more) {
		if (!one_chunk(&list, str_cut(rest, ',', &rest, &more), c))
			return false;
	}
	return true;
}

static void print_chunk_flags(struct buf *b, const struct ipt_chunks *c, unsigned type)
{
	const char *letters = chunk_letters(type);

	for (uint32_t i = 0; i < c->n_flags; i++) {
		if (c->flag[i].type != type)
			continue;
		buf_printf(b, ":");
		for (unsigned k = 0; k < 8; k++) {
			unsigned bit = 0x80u >> k;

			if (c->flag[i].mask & bit)
				buf_printf(b, "%c", c->flag[i].value & bit ? letters[k] : tolower((unsigned char)letters[k]));
		}
	}
}

void ipt_print_chunks(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const struct ipt_chunks *c = o->v.chunks;
	uint64_t any = c->types[0] | c->types[1] | c->types[2] | c->types[3];
	uint64_t all = c->types[0] & c->types[1] & c->types[2] & c->types[3];
	const char *sep = " ";

	(void)f;
	buf_printf(b, "%s", ipt_names_chunkmode[c->mode].name);
	if (!any || all == UINT64_MAX) {
		buf_printf(b, any ? " ALL" : " NONE");
		return;
	}
	for (unsigned t = 0; t < 256; t++) {
		const struct ipt_name *row = ipt_name_of(ipt_names_chunk, t);

		if (!row || !(c->types[t / 64] >> (t % 64) & 1))
			continue;
		buf_printf(b, "%s%s", sep, row->name);
		print_chunk_flags(b, c, t);
		sep = ",";
	}
}
