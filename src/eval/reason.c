/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a test failed, for people: "tcp dport is 23, not in {22, 80-90}", "there is no sport: no ports, or a later
 * fragment". The value that decided comes first.
 */
#include "eval/walk.h"

#include <arpa/inet.h>

enum { SPANS_SHOWN = 4, MASKS_SHOWN = 4 };

struct bit_name {
	unsigned bit;
	const char *name;
};
static const struct bit_name state_names[] = { { 1 << CT_INVALID, "INVALID" }, { 1 << CT_NEW, "NEW" },
	{ 1 << CT_ESTABLISHED, "ESTABLISHED" }, { 1 << CT_RELATED, "RELATED" }, { 1 << CT_UNTRACKED, "UNTRACKED" }, { 0, NULL } };
static const struct bit_name flag_names[] = { { 1, "FIN" }, { 2, "SYN" }, { 4, "RST" }, { 8, "PSH" }, { 16, "ACK" },
	{ 32, "URG" }, { 64, "ECE" }, { 128, "CWR" }, { 0, NULL } };
static const struct bit_name type_names[] = { { 1 << 0, "UNSPEC" }, { 1 << 1, "UNICAST" }, { 1 << 2, "LOCAL" },
	{ 1 << 3, "BROADCAST" }, { 1 << 4, "ANYCAST" }, { 1 << 5, "MULTICAST" }, { 1 << 6, "BLACKHOLE" },
	{ 1 << 7, "UNREACHABLE" }, { 1 << 8, "PROHIBIT" }, { 0, NULL } };
static const struct bit_name status_names[] = { { CT_STATUS_EXPECTED, "EXPECTED" }, { CT_STATUS_SEEN_REPLY, "SEEN_REPLY" },
	{ CT_STATUS_ASSURED, "ASSURED" }, { CT_STATUS_CONFIRMED, "CONFIRMED" }, { CT_STATUS_SRC_NAT, "SNAT" },
	{ CT_STATUS_DST_NAT, "DNAT" }, { 0, NULL } };
static const struct bit_name header_names[] = { { HDR_PROTO, "prot" }, { HDR_ESP, "esp" }, { HDR_NONE, "none" },
	{ HDR_AUTH, "auth" }, { HDR_DSTOPTS, "dst" }, { HDR_FRAG, "frag" }, { HDR_ROUTE, "route" }, { HDR_HOPOPTS, "hop" },
	{ 0, NULL } };
static const char *const packet_types[] = { "host", "broadcast", "multicast", "otherhost" };

static const struct bit_name *names_of(enum field f)
{
	switch (f) {
	case FIELD_CT_STATE:
		return state_names;
	case FIELD_TCP_FLAGS:
		return flag_names;
	case FIELD_SRC_TYPE:
	case FIELD_DST_TYPE:
		return type_names;
	case FIELD_CT_STATUS:
		return status_names;
	case FIELD_HDRS:
		return header_names;
	default:
		return NULL;
	}
}

static void add_bits(struct buf *b, const struct bit_name *names, u128 v)
{
	bool is_first = true;

	for (; names->name; names++)
		if (v & names->bit) {
			buf_printf(b, "%s%s", is_first ? "" : ",", names->name);
			v &= ~(u128)names->bit;
			is_first = false;
		}
	if (v || is_first)
		buf_printf(b, "%s%s%llx", is_first ? "" : ",", is_first && !v ? "NONE " : "0x", (unsigned long long)v);
}

static void add_addr(struct buf *b, enum family fam, u128 v)
{
	uint8_t bytes[16];
	char text[INET6_ADDRSTRLEN];
	int n = fam == FAMILY_IP4 ? 4 : 16;

	for (int i = 0; i < n; i++)
		bytes[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
	inet_ntop(fam == FAMILY_IP4 ? AF_INET : AF_INET6, bytes, text, sizeof text);
	buf_printf(b, "%s", text);
}

static void add_name(struct buf *b, u128 v)
{
	for (int i = 15; i >= 0; i--) {
		char c = (char)(v >> (8 * i));

		if (!c)
			break;
		buf_printf(b, c > ' ' && c < 127 ? "%c" : "?", c);
	}
}

static void add_proto(struct buf *b, u128 v)
{
	static const struct {
		unsigned v;
		const char *name;
	} names[] = { { 1, "icmp" }, { 2, "igmp" }, { 6, "tcp" }, { 17, "udp" }, { 33, "dccp" }, { 47, "gre" }, { 50, "esp" },
		      { 51, "ah" }, { 58, "icmpv6" }, { 132, "sctp" }, { 136, "udplite" } };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].v == v) {
			buf_printf(b, "%s", names[i].name);
			return;
		}
	buf_printf(b, "%u", (unsigned)v);
}

static void add_value(struct buf *b, enum field f, enum family fam, u128 v)
{
	const struct bit_name *names = names_of(f);

	if (names)
		add_bits(b, names, v);
	else if (field_table[f].kind == FIELD_KIND_ADDR)
		add_addr(b, fam, v);
	else if (field_table[f].kind == FIELD_KIND_NAME)
		add_name(b, v);
	else if (f == FIELD_PROTO || f == FIELD_CT_PROTO)
		add_proto(b, v);
	else if (f == FIELD_PKTTYPE && v < 4)
		buf_printf(b, "%s", packet_types[v]);
	else if (f == FIELD_ICMP || f == FIELD_ICMP6)
		buf_printf(b, "%u/%u", (unsigned)(v >> 8), (unsigned)(v & 0xff));
	else if (field_table[f].bits == 48)
		for (int i = 5; i >= 0; i--)
			buf_printf(b, "%02x%s", (unsigned)(v >> (8 * i) & 0xff), i ? ":" : "");
	else if (field_table[f].kind == FIELD_KIND_BITS)
		buf_printf(b, "0x%llx", (unsigned long long)v);
	else
		buf_printf(b, "%llu", (unsigned long long)v);
}

struct str reason_value(struct arena *a, enum field f, enum family fam, u128 v)
{
	struct buf b = { .a = a };

	add_value(&b, f, fam, v);
	return buf_str(&b);
}

/* A span of names is a prefix ("eth+") when it ends in bytes of all ones. */
static bool add_prefix(struct buf *b, const struct valset_span *s)
{
	u128 rest = s->hi ^ s->lo;

	if (rest == 0 || (rest & (rest + 1)) != 0 || (s->lo & rest) != 0)
		return false;
	add_name(b, s->lo);
	buf_printf(b, "+");
	return true;
}

static void add_spans(struct buf *b, enum field f, enum family fam, const struct valset *in)
{
	buf_printf(b, "{");
	for (uint32_t i = 0; i < in->n && i < SPANS_SHOWN; i++) {
		buf_printf(b, "%s", i ? ", " : "");
		if (field_table[f].kind == FIELD_KIND_NAME && add_prefix(b, &in->span[i]))
			continue;
		add_value(b, f, fam, in->span[i].lo);
		if (in->span[i].hi != in->span[i].lo) {
			buf_printf(b, "-");
			add_value(b, f, fam, in->span[i].hi);
		}
	}
	if (in->n > SPANS_SHOWN)
		buf_printf(b, ", and %u more", in->n - SPANS_SHOWN);
	buf_printf(b, "}");
}

static void add_masks(struct buf *b, enum field f, unsigned of, enum family fam, const struct test *t)
{
	bool named = names_of(f) && f != FIELD_TCP_FLAGS;
	unsigned n = 0;

	buf_printf(b, named ? "{" : "");
	for (uint32_t i = 0; i < t->n_masks; i++) {
		if (t->masks[i].of != of)
			continue;
		if (++n > MASKS_SHOWN) {
			buf_printf(b, ", ...");
			break;
		}
		buf_printf(b, n == 1 ? "" : named ? ", " : " or ");
		if (named && t->masks[i].value == t->masks[i].mask) {
			add_value(b, f, fam, t->masks[i].value);
			continue;
		}
		add_value(b, f, fam, t->masks[i].value);
		if (t->masks[i].mask != field_max(f)) {
			buf_printf(b, " of ");
			add_value(b, f, fam, t->masks[i].mask);
		}
	}
	buf_printf(b, named ? "}" : "");
}

static void add_name_of(struct buf *b, const struct test *t, unsigned i)
{
	if (t->what && t->n_fields == 1)
		buf_printf(b, "%s", t->what);
	else
		buf_printf(b, "%s", field_table[t->field[i]].name);
}

static void add_many(struct buf *b, const struct walk *w, const struct test *t, enum field f)
{
	const uint16_t *v = f == FIELD_TCP_OPTS ? w->f.tcp_opts.v : w->f.sctp_chunks.v;
	unsigned n = f == FIELD_TCP_OPTS ? w->f.tcp_opts.n : w->f.sctp_chunks.n;

	add_name_of(b, t, 0);
	buf_printf(b, n ? " are " : ": none");
	for (unsigned i = 0; i < n; i++)
		buf_printf(b, "%s%u", i ? "," : "", f == FIELD_TCP_OPTS ? v[i] : v[i] >> 8);
}

static void add_field(struct buf *b, const struct walk *w, const struct test *t, unsigned i)
{
	enum field f = t->field[i];

	if (w->f.has[f] == EVAL_NO) {
		buf_printf(b, "there is no ");
		add_name_of(b, t, i);
		buf_printf(b, ": %s", field_table[f].absent_when);
		return;
	}
	if (!w->f.known[f]) {
		add_name_of(b, t, i);
		buf_printf(b, " is not known");
		return;
	}
	if (field_table[f].kind == FIELD_KIND_MANY) {
		add_many(b, w, t, f);
		return;
	}
	add_name_of(b, t, i);
	buf_printf(b, " is ");
	add_value(b, f, w->f.family, w->f.v[f]);
	buf_printf(b, t->negated ? ", in " : ", not in ");
	if (t->kind == TEST_IN) {
		add_spans(b, f, w->f.family, &t->in);
	} else {
		b->n -= 3; /* "is 0x1, not 0x2 of 0xff" */
		add_masks(b, f, i, w->f.family, t);
	}
}

struct str reason_field(struct walk *w, const struct test *t)
{
	struct buf b = { .a = w->a };

	for (unsigned i = 0; i < t->n_fields; i++) {
		if (i)
			buf_printf(&b, "; ");
		add_field(&b, w, t, i);
	}
	return buf_str(&b);
}
