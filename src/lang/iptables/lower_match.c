/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Matches that look at the packet: options become tests on fields.
 *
 * Most options are a row of a table: which field, how its value is compared, and what the kernel answers when the field is
 * absent. The rest have a function. A match without any option still asks that its header is there and is no later
 * fragment (-m tcp), which is a test on the field of `exists`.
 *
 *     -p tcp -m tcp ! --dport 22    a later fragment has no port, and the kernel says no before it negates:
 *                                   ! dport in {22}, on_absent = no
 *     -m owner ! --uid-owner 0      no socket: all options negated is yes: on_absent = yes
 */
#include "lang/iptables/lower.h"

enum shape {
	SHAPE_RANGE,	   /* value in lo-hi */
	SHAPE_LESS,	   /* value < lo */
	SHAPE_MORE,	   /* value > lo */
	SHAPE_MASKED,	   /* (value & mask) == wanted */
	SHAPE_MASKED_BOTH, /* (value & mask) == (wanted & mask) */
	SHAPE_ADDRS,	   /* first to last address */
	SHAPE_DSCP,	   /* six upper bits of tos */
	SHAPE_ECT,	   /* two lower bits of tos */
	SHAPE_ZERO,	   /* the option stands alone: value is 0 */
	SHAPE_ONE,	   /* the option stands alone: value is 1 */
};
enum absent { ABSENT_NO, ABSENT_AS_NEGATED };

static const struct row {
	enum ipt_opt_id id;
	enum field field;
	enum shape shape;
	enum absent absent;
} rows[] = {
	{ IPT_M_TCP_SPORT, FIELD_SPORT, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_TCP_DPORT, FIELD_DPORT, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_TCP_OPTION, FIELD_TCP_OPTS, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_TCP_FLAGS, FIELD_TCP_FLAGS, SHAPE_MASKED, ABSENT_NO },
	{ IPT_M_UDP_SPORT, FIELD_SPORT, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_UDP_DPORT, FIELD_DPORT, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_UDPLITE_SPORT, FIELD_SPORT, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_UDPLITE_DPORT, FIELD_DPORT, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_SCTP_SPORT, FIELD_SPORT, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_SCTP_DPORT, FIELD_DPORT, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_DCCP_SPORT, FIELD_SPORT, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_DCCP_DPORT, FIELD_DPORT, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_ICMP_TYPE, FIELD_ICMP, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_ICMP6_TYPE, FIELD_ICMP6, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_MARK_MARK, FIELD_MARK, SHAPE_MASKED, ABSENT_NO },
	{ IPT_M_CONNMARK_MARK, FIELD_CT_MARK, SHAPE_MASKED, ABSENT_NO },
	{ IPT_M_IPRANGE_SRC, FIELD_SRC, SHAPE_ADDRS, ABSENT_NO },
	{ IPT_M_IPRANGE_DST, FIELD_DST, SHAPE_ADDRS, ABSENT_NO },
	{ IPT_M_MAC_SOURCE, FIELD_MAC_SRC, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_PKTTYPE_TYPE, FIELD_PKTTYPE, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_LENGTH_LENGTH, FIELD_LENGTH, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_TTL_EQ, FIELD_TTL, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_TTL_LT, FIELD_TTL, SHAPE_LESS, ABSENT_NO },
	{ IPT_M_TTL_GT, FIELD_TTL, SHAPE_MORE, ABSENT_NO },
	{ IPT_M_HL_EQ, FIELD_TTL, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_HL_LT, FIELD_TTL, SHAPE_LESS, ABSENT_NO },
	{ IPT_M_HL_GT, FIELD_TTL, SHAPE_MORE, ABSENT_NO },
	{ IPT_M_TOS_TOS, FIELD_TOS, SHAPE_MASKED, ABSENT_NO },
	{ IPT_M_DSCP_DSCP, FIELD_TOS, SHAPE_DSCP, ABSENT_NO },
	{ IPT_M_ECN_ECT, FIELD_TOS, SHAPE_ECT, ABSENT_NO },
	{ IPT_M_RT_TYPE, FIELD_RT_TYPE, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_RT_SEGSLEFT, FIELD_RT_LEFT, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_RT_LEN, FIELD_RT_LEN, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_FRAG_ID, FIELD_FRAG_ID, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_FRAG_RES, FIELD_FRAG_RES, SHAPE_ZERO, ABSENT_NO },
	{ IPT_M_FRAG_FIRST, FIELD_FRAG_FIRST, SHAPE_ONE, ABSENT_NO },
	{ IPT_M_FRAG_MORE, FIELD_FRAG_MORE, SHAPE_ONE, ABSENT_NO },
	{ IPT_M_FRAG_LAST, FIELD_FRAG_MORE, SHAPE_ZERO, ABSENT_NO },
	{ IPT_M_HBH_LEN, FIELD_HBH_LEN, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_DST_LEN, FIELD_DST_LEN, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_AH_SPI, FIELD_AH_SPI, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_AH_RES, FIELD_AH_RES, SHAPE_ZERO, ABSENT_NO },
	{ IPT_M_ESP_SPI, FIELD_ESP_SPI, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_CPU_CPU, FIELD_CPU, SHAPE_RANGE, ABSENT_NO },
	{ IPT_M_DEVGROUP_SRC, FIELD_IIF_GROUP, SHAPE_MASKED_BOTH, ABSENT_NO },
	{ IPT_M_DEVGROUP_DST, FIELD_OIF_GROUP, SHAPE_MASKED_BOTH, ABSENT_NO },
	{ IPT_M_REALM_REALM, FIELD_REALM, SHAPE_MASKED, ABSENT_NO },
	{ IPT_M_OWNER_SOCKET, FIELD_HAS_SOCKET, SHAPE_ONE, ABSENT_NO },
	{ IPT_M_OWNER_UID, FIELD_UID, SHAPE_RANGE, ABSENT_AS_NEGATED },
	{ IPT_M_OWNER_GID, FIELD_GID, SHAPE_RANGE, ABSENT_AS_NEGATED },
};

/* Matches that are about a header: the field that is there exactly if the header is. */
static const struct {
	enum ipt_ext_id ext;
	enum field field;
} exists[] = {
	{ IPT_M_TCP, FIELD_TCP_FLAGS }, { IPT_M_UDP, FIELD_SPORT },   { IPT_M_UDPLITE, FIELD_SPORT },
	{ IPT_M_SCTP, FIELD_SPORT },	{ IPT_M_DCCP, FIELD_SPORT },  { IPT_M_RT, FIELD_RT_TYPE },
	{ IPT_M_FRAG, FIELD_FRAG_ID },	{ IPT_M_HBH, FIELD_HBH_LEN }, { IPT_M_DST, FIELD_DST_LEN },
	{ IPT_M_AH, FIELD_AH_SPI },	{ IPT_M_ESP, FIELD_ESP_SPI },
};

/* Matches that nobody here decides, and why. */
static const struct {
	enum ipt_ext_id ext;
	const char *why;
} undecided[] = {
	{ IPT_M_POLICY, "needs the IPsec policy that the packet came or goes under" },
	{ IPT_M_RPFILTER, "needs the routing table" },
	{ IPT_M_HELPER, "needs the connection's helper" },
	{ IPT_M_SOCKET, "needs the machine's open sockets" },
	{ IPT_M_CGROUP, "needs the cgroup of the sending process" },
	{ IPT_M_CONNBYTES, "needs the connection's byte and packet counts" },
	{ IPT_M_CONNLABEL, "needs the connection's labels" },
	{ IPT_M_CLUSTER, "needs the kernel's hash of the connection" },
	{ IPT_M_NFACCT, "needs an accounting object of the kernel, which may have a quota" },
	{ IPT_M_MH, "looks into a mobility header" },
	{ IPT_M_IPCOMP, "looks into an IPComp header" },
	{ IPT_M_EUI64, "compares the address with the sender's Ethernet address" },
};

static const struct row *row_of(enum ipt_opt_id id)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].id == id)
			return &rows[i];
	return NULL;
}

static void lower_row(struct lower *l, const struct row *row, const struct ipt_opt *o)
{
	struct test *t = NULL;

	switch (row->shape) {
	case SHAPE_RANGE:
		t = lower_in(l, o, row->field, o->v.range.lo, o->v.range.hi);
		break;
	case SHAPE_LESS:
		t = lower_in(l, o, row->field, 0, 0);
		t->in = o->v.range.lo ? valset_one(l->a, 0, o->v.range.lo - 1) : (struct valset){ 0 };
		break;
	case SHAPE_MORE:
		t = lower_in(l, o, row->field, (u128)o->v.range.lo + 1, field_max(row->field));
		break;
	case SHAPE_MASKED:
		t = lower_mask(l, o, row->field, o->v.masked.value, o->v.masked.mask);
		break;
	case SHAPE_MASKED_BOTH:
		t = lower_mask(l, o, row->field, o->v.masked.value & o->v.masked.mask, o->v.masked.mask);
		break;
	case SHAPE_ADDRS:
		t = lower_in(l, o, row->field, o->v.addrs.lo, o->v.addrs.hi);
		break;
	case SHAPE_DSCP:
		t = lower_mask(l, o, row->field, o->v.range.lo << 2, 0xfc);
		break;
	case SHAPE_ECT:
		t = lower_mask(l, o, row->field, o->v.range.lo, 0x03);
		break;
	case SHAPE_ZERO:
		t = lower_in(l, o, row->field, 0, 0);
		break;
	case SHAPE_ONE:
		t = lower_in(l, o, row->field, 1, 1);
		break;
	}
	t->on_absent = row->absent == ABSENT_AS_NEGATED && t->negated;
}

/* ---------- ports, chunks, TCP bits ---------- */

static void multiport(struct lower *l, const struct ipt_opt *o)
{
	struct test *t = lower_test(l, o, TEST_IN);
	struct valset_span *v = arena_new(l->a, struct valset_span, o->v.list.n);

	for (uint32_t i = 0; i < o->v.list.n; i++)
		v[i] = (struct valset_span){ o->v.list.v[i].lo, o->v.list.v[i].hi };
	t->in = valset_make(l->a, v, o->v.list.n);
	t->field[t->n_fields++] = o->id == IPT_M_MULTIPORT_DPORTS ? FIELD_DPORT : FIELD_SPORT;
	if (o->id == IPT_M_MULTIPORT_PORTS)
		t->field[t->n_fields++] = FIELD_DPORT;
}

static bool chunk_is_asked(const struct ipt_chunks *c, unsigned type)
{
	return c->types[type / 64] >> (type % 64) & 1;
}

/* Values (type << 8 | flags) of the chunks of one type that pass; returns how many spans. */
static size_t chunk_spans(const struct ipt_chunks *c, unsigned type, struct valset_span *v)
{
	size_t n = 0;

	for (uint32_t i = 0; i < c->n_flags; i++) {
		if (c->flag[i].type != type)
			continue;
		for (unsigned f = 0; f < 256; f++)
			if ((f & c->flag[i].mask) == c->flag[i].value)
				v[n++] = (struct valset_span){ type << 8 | f, type << 8 | f };
		return n;
	}
	v[0] = (struct valset_span){ type << 8, type << 8 | 0xff };
	return 1;
}

/*
 * any: one chunk of the packet is among the asked ones; only: none is not; all: every asked type is there, which is one
 * test each.
 */
static void sctp_chunks(struct lower *l, const struct ipt_opt *o)
{
	const struct ipt_chunks *c = o->v.chunks;
	struct valset_span *v;
	unsigned types = 0;
	size_t n = 0;

	for (unsigned t = 0; t < 256; t++)
		types += chunk_is_asked(c, t);
	v = arena_new(l->a, struct valset_span, types + 256 * (size_t)c->n_flags);
	if (c->mode == IPT_CHUNK_ALL && o->negated && types > 1) {
		lower_unknown(l, o, "asks whether one of several SCTP chunks is missing");
		return;
	}
	for (unsigned t = 0; t < 256; t++) {
		if (!chunk_is_asked(c, t))
			continue;
		n += chunk_spans(c, t, v + n);
		if (c->mode == IPT_CHUNK_ALL) {
			lower_in(l, o, FIELD_SCTP_CHUNKS, 0, 0)->in = valset_make(l->a, v, n);
			n = 0;
		}
	}
	if (c->mode != IPT_CHUNK_ALL) {
		struct test *t = lower_in(l, o, FIELD_SCTP_CHUNKS, 0, 0);

		t->in = valset_make(l->a, v, n);
		if (c->mode == IPT_CHUNK_ONLY) {
			t->in = valset_complement(l->a, t->in, field_max(FIELD_SCTP_CHUNKS));
			t->negated = !t->negated;
		}
	}
}

static void dccp_types(struct lower *l, const struct ipt_opt *o)
{
	struct test *t = lower_in(l, o, FIELD_DCCP_TYPE, 0, 0);
	struct valset_span v[64];
	size_t n = 0;

	for (unsigned i = 0; i < 64; i++)
		if (o->v.bits >> i & 1)
			v[n++] = (struct valset_span){ i, i };
	t->in = valset_make(l->a, v, n);
}

/* ---------- IPv6 headers, bytes ---------- */

/* --soft: all of the asked headers are there; negated, none of them. Without it: these and no others. */
static void ipv6header(struct lower *l, const struct ipt_use *u)
{
	const struct ipt_opt *o = ipt_opt_find(u, IPT_M_IPV6HEADER_HEADER);
	bool is_soft = ipt_opt_find(u, IPT_M_IPV6HEADER_SOFT) != NULL;
	struct test *t = lower_mask(l, o, FIELD_HDRS, o->v.bits, is_soft ? o->v.bits : field_max(FIELD_HDRS));

	if (is_soft && o->negated) {
		t->masks[0].value = 0;
		t->negated = false;
	}
}

static void bytes_test(struct lower *l, const struct ipt_opt *o, const struct bytes_spec *b)
{
	struct test *t = lower_test(l, o, TEST_BYTES);

	t->bytes = b;
	t->what = ipt_ext_name(l->use->ext);
}

static void string_match(struct lower *l, const struct ipt_use *u)
{
	const struct ipt_opt *o = ipt_opt_find(u, IPT_M_STRING_STRING), *from = ipt_opt_find(u, IPT_M_STRING_FROM);
	const struct ipt_opt *to = ipt_opt_find(u, IPT_M_STRING_TO);
	struct bytes_spec *b = arena_new(l->a, struct bytes_spec, 1);

	b->kind = BYTES_STRING;
	b->pattern = o->v.text;
	b->icase = ipt_opt_find(u, IPT_M_STRING_ICASE) != NULL;
	b->from = from ? (uint32_t)from->v.range.lo : 0;
	b->to = to ? (uint32_t)to->v.range.lo : UINT16_MAX;
	bytes_test(l, o, b);
}

/* ---------- all matches ---------- */

/* Options that are neither a row nor a part of a whole match's own function. */
static void odd_option(struct lower *l, const struct ipt_opt *o)
{
	switch (o->id) {
	case IPT_M_SCTP_CHUNKS:
		sctp_chunks(l, o);
		break;
	case IPT_M_DCCP_TYPES:
		dccp_types(l, o);
		break;
	case IPT_M_DCCP_OPTION:
		lower_unknown(l, o, "looks into the options of a DCCP header");
		break;
	case IPT_M_MULTIPORT_SPORTS:
	case IPT_M_MULTIPORT_DPORTS:
	case IPT_M_MULTIPORT_PORTS:
		multiport(l, o);
		break;
	case IPT_M_TCPMSS_MSS: /* a header without the option is asked for one, a later fragment is not */
		if (o->negated)
			lower_exists(l, FIELD_TCP_FLAGS);
		lower_in(l, o, FIELD_TCP_MSS, o->v.range.lo, o->v.range.hi)->on_absent = o->negated;
		break;
	case IPT_M_ECN_CWR:
		lower_mask(l, o, FIELD_TCP_FLAGS, 0x80, 0x80);
		break;
	case IPT_M_ECN_ECE:
		lower_mask(l, o, FIELD_TCP_FLAGS, 0x40, 0x40);
		break;
	case IPT_M_AH_LEN:
		if (o->v.range.lo) /* the kernel does not look at a length of 0 */
			lower_in(l, o, FIELD_AH_LEN, o->v.range.lo, o->v.range.hi);
		break;
	case IPT_M_FRAG_LEN:
		diag_warn(l->d, o->at, "no-effect", "the kernel does not look at --fraglen: a fragment header has no length");
		break;
	case IPT_M_RT_RES:
		lower_unknown(l, o, "looks at the reserved bytes of a routing header");
		break;
	case IPT_M_RT_ADDRS:
	case IPT_M_HBH_OPTS:
	case IPT_M_DST_OPTS:
	case IPT_M_U32_TEST:
	case IPT_M_BPF_BYTECODE:
		bytes_test(l, o, o->v.bytes);
		break;
	case IPT_M_BPF_PINNED:
		lower_unknown(l, o, "runs a program that is pinned in the kernel");
		break;
	case IPT_M_OWNER_SUPPL:
		lower_unknown(l, ipt_opt_find(l->use, IPT_M_OWNER_GID), "needs the sender's supplementary groups");
		break;
	case IPT_M_COMMENT_TEXT:
	case IPT_M_RT_NOT_STRICT: /* is in the addresses' value */
		break;
	default:
		lower_unknown(l, o, "is not looked into");
		break;
	}
}

static void by_options(struct lower *l, const struct ipt_use *u)
{
	bool has_suppl = ipt_opt_find(u, IPT_M_OWNER_SUPPL) != NULL;

	for (size_t i = 0; i < u->opts.n; i++) {
		const struct ipt_opt *o = &u->opts.v[i];
		const struct row *row = row_of(o->id);

		if (o->id == IPT_M_OWNER_GID && has_suppl)
			continue;
		if (row)
			lower_row(l, row, o);
		else
			odd_option(l, o);
	}
}

void lower_match(struct lower *l, const struct ipt_use *u)
{
	size_t before = l->steps.n;
	unsigned errors = l->d->n_errors;

	for (size_t i = 0; i < sizeof undecided / sizeof *undecided; i++)
		if (undecided[i].ext == u->ext) {
			lower_unknown(l, NULL, undecided[i].why);
			return;
		}
	if (lower_state_match(l, u))
		return;
	if (lower_meta_match(l, u))
		return;
	if (u->ext == IPT_M_IPV6HEADER)
		ipv6header(l, u);
	else if (u->ext == IPT_M_STRING)
		string_match(l, u);
	else
		by_options(l, u);
	for (size_t i = 0; l->steps.n == before && i < sizeof exists / sizeof *exists; i++)
		if (exists[i].ext == u->ext)
			lower_exists(l, exists[i].field);
	if (l->steps.n == before && u->ext != IPT_M_COMMENT && l->d->n_errors == errors)
		lower_unknown(l, NULL, "is not looked into"); /* never a match that matches everything */
}
