/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * KEY=VALUE words of the packet notation. Keys that are plain numbers are rows of one table; the others have a
 * function each.
 */
#include <stddef.h>

#include "packet/notation_state.h"

/* A key whose value is a number kept in a member of struct frame, `bytes` wide; signed ones are -1 when not said. */
struct number_key {
	const char *name;
	size_t off;
	unsigned bytes;
	uint64_t max;
	bool is_length; /* the build may refuse it */
};

#define K(name, member, max) { name, offsetof(struct frame, member), sizeof(((struct frame *)0)->member), max, false }
#define L(name, member, max) { name, offsetof(struct frame, member), sizeof(((struct frame *)0)->member), max, true }
static const struct number_key number_keys[] = {
	K("ttl", ttl, 255), K("hlim", ttl, 255), K("hl", ttl, 255), K("tos", tos, 255), K("tclass", tos, 255),
	K("id", ip_id, 65535), K("flow", flow, 0xfffff), K("df", df, 1), K("evil", evil, 1), K("seq", seq, UINT32_MAX),
	K("ack", ack, UINT32_MAX), K("win", window, 65535), K("urp", urgent, 65535), K("doff", doff, 15),
	K("rest", icmp_rest, UINT32_MAX), K("spi", spi, UINT32_MAX), K("badlen", bad_len, 65535),
	K("ipsum", ip_sum, 65535), K("sum", l4_sum, UINT32_MAX), K("trunc", trunc, FRAME_MAX_BYTES),
	K("cut", cut, FRAME_MAX_BYTES), L("iplen", ip_len, FRAME_MAX_BYTES),
	L("l4len", l4_len, FRAME_MAX_BYTES),
};
#undef K
#undef L

/* Stores v into a member of 1, 2, 4 or 8 bytes. */
static void store(void *member, unsigned bytes, uint64_t v)
{
	uint8_t v8 = (uint8_t)v;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	switch (bytes) {
	case 1:
		memcpy(member, &v8, 1);
		break;
	case 2:
		memcpy(member, &v16, 2);
		break;
	case 4:
		memcpy(member, &v32, 4);
		break;
	default:
		memcpy(member, &v, 8);
		break;
	}
}

static bool number_key(struct notation *n, struct str word, struct str key, struct str value)
{
	for (size_t i = 0; i < sizeof number_keys / sizeof *number_keys; i++) {
		const struct number_key *k = &number_keys[i];
		uint64_t v;

		if (!str_is(key, k->name))
			continue;
		if (notation_number(n, value, k->max, &v))
			store((char *)&n->f + k->off, k->bytes, v);
		if (k->is_length)
			n->length_word = word;
		return true;
	}
	return false;
}

/* ---------- what the machine knows ---------- */

static void set_iface(struct notation *n, struct str v, char name[16], bool *has)
{
	*has = true;
	if (str_is(v, "-"))
		return;
	if (v.n == 0 || v.n > 15) {
		notation_error(n, v, v.n ? "an interface name has at most 15 bytes" : "an interface name is missing");
		return;
	}
	for (size_t i = 0; i < v.n; i++)
		if ((unsigned char)v.p[i] <= ' ' || strchr("/\"()>", v.p[i])) {
			notation_error(n, v, "no interface can have this name");
			return;
		}
	memset(name, 0, 16);
	memcpy(name, v.p, v.n);
}

static void key_in(struct notation *n, struct str v)
{
	set_iface(n, v, n->out->iif, &n->out->has_iif);
}

static void key_out(struct notation *n, struct str v)
{
	set_iface(n, v, n->out->oif, &n->out->has_oif);
}

static void key_physin(struct notation *n, struct str v)
{
	set_iface(n, v, n->out->physin, &n->out->has_physin);
}

static void key_physout(struct notation *n, struct str v)
{
	set_iface(n, v, n->out->physout, &n->out->has_physout);
}

static void key_mark(struct notation *n, struct str v)
{
	uint64_t x;

	if (notation_number(n, v, UINT32_MAX, &x)) {
		n->out->mark = (uint32_t)x;
		n->out->has_mark = true;
	}
}

static void key_ctmark(struct notation *n, struct str v)
{
	uint64_t x;

	if (notation_number(n, v, UINT32_MAX, &x)) {
		n->out->ct_mark = (uint32_t)x;
		n->out->has_ct_mark = true;
	}
}

static void key_ct(struct notation *n, struct str v)
{
	const struct names_row *row = names_find(&names_ct, v);
	const char *near = names_nearest(&names_ct, v);
	struct diag *g;

	if (row) {
		n->out->ct = row->value;
		return;
	}
	g = notation_error(n, v, "'%.*s' is no connection state", STR_ARG(v));
	notation_hint(n, g, near ? "did you mean '%s'?" : "one of new, established, related, invalid, untracked%s", near ? near : "");
}

static void set_id(struct notation *n, struct str v, int64_t *id)
{
	uint64_t x;

	if (str_is(v, "-") || str_is(v, "none"))
		*id = -2;
	else if (notation_number(n, v, UINT32_MAX, &x))
		*id = (int64_t)x;
}

static void key_uid(struct notation *n, struct str v)
{
	set_id(n, v, &n->out->uid);
}

static void key_gid(struct notation *n, struct str v)
{
	set_id(n, v, &n->out->gid);
}

static void key_cpu(struct notation *n, struct str v)
{
	uint64_t x;

	if (notation_number(n, v, UINT32_MAX, &x))
		n->out->cpu = (int64_t)x;
}

static void key_realm(struct notation *n, struct str v)
{
	uint64_t x;

	if (notation_number(n, v, UINT32_MAX, &x))
		n->out->realm = (int64_t)x;
}

static void key_pkttype(struct notation *n, struct str v)
{
	uint64_t x;

	if (notation_named(n, &names_pkttype, v, 7, &x))
		n->out->pkttype = (int)x;
}

/* Seconds, with up to nine digits behind the point. */
static void key_time(struct notation *n, struct str v)
{
	struct str frac;
	struct str whole = str_cut(v, '.', &frac, NULL);
	uint64_t s, ns = 0, unit = 1000000000;

	if (!str_u64(whole, 10, INT64_MAX / 1000000000 - 1, &s) || (frac.n && !str_u64(frac, 10, 999999999, &ns)) ||
	    frac.n > 9) {
		notation_error(n, v, "'%.*s' is no time in seconds", STR_ARG(v));
		return;
	}
	for (size_t i = 0; i < frac.n; i++)
		unit /= 10;
	n->out->time_ns = (int64_t)(s * 1000000000 + ns * unit);
	n->out->has_time = true;
}

/* ---------- link layer ---------- */

static bool read_mac(struct notation *n, struct str v, uint8_t mac[6])
{
	for (size_t i = 0; i < 6; i++) {
		uint64_t x;
		bool sep = i == 5 || (v.n > i * 3 + 2 && (v.p[i * 3 + 2] == ':' || v.p[i * 3 + 2] == '-'));

		if (v.n != 17 || !sep || !str_u64(str_slice(v, i * 3, i * 3 + 2), 16, 255, &x)) {
			notation_error(n, v, "'%.*s' is no MAC address, like 02:00:00:00:00:01", STR_ARG(v));
			return false;
		}
		mac[i] = (uint8_t)x;
	}
	n->f.is_ether = true;
	return true;
}

static void key_mac(struct notation *n, struct str v)
{
	n->f.has_src_mac = read_mac(n, v, n->f.src_mac);
}

static void key_dstmac(struct notation *n, struct str v)
{
	n->f.has_dst_mac = read_mac(n, v, n->f.dst_mac);
}

/* What stands in parentheses behind a tag: ad, q, pcp=N, dei, tpid=N, in frame, metadata. */
static void vlan_option(struct notation *n, struct str opt, struct frame_vlan *tag, bool *is_meta)
{
	uint64_t x;

	if (str_is(opt, "ad"))
		tag->tpid = 0x88a8;
	else if (str_is(opt, "metadata"))
		*is_meta = true;
	else if (str_is(opt, "dei"))
		tag->tci |= 0x1000;
	else if (str_starts(opt, "pcp=")) {
		if (notation_number(n, str_slice(opt, 4, opt.n), 7, &x))
			tag->tci |= (uint16_t)(x << 13);
	} else if (str_starts(opt, "tpid=")) {
		if (notation_number(n, str_slice(opt, 5, opt.n), 65535, &x))
			tag->tpid = (uint16_t)x;
	} else if (!str_is(opt, "q") && !str_is(opt, "in frame") && !str_is(opt, "frame")) {
		notation_hint(n, notation_error(n, opt, "'%.*s' says nothing about a VLAN tag", STR_ARG(opt)),
			      "ad, pcp=0..7, dei, tpid=N, frame, metadata");
	}
}

static void key_vlan(struct notation *n, struct str v)
{
	struct frame_vlan tag = { .tpid = 0x8100 };
	struct str opts, opt, id = str_cut(v, '(', &opts, NULL);
	bool is_meta = false;
	uint64_t x;

	if (!notation_number(n, id, 4095, &x))
		return;
	tag.tci = (uint16_t)x;
	if (opts.n && opts.p[opts.n - 1] == ')')
		opts.n--;
	while (notation_item(&opts, &opt))
		vlan_option(n, opt, &tag, &is_meta);
	n->f.is_ether |= !is_meta;
	if (is_meta)
		n->out->vlan_meta = tag.tci;
	else if (n->f.n_vlans == FRAME_MAX_VLANS)
		notation_error(n, v, "more than %d VLAN tags cannot be written", FRAME_MAX_VLANS);
	else
		n->f.vlans[n->f.n_vlans++] = tag;
}

/* ---------- network layer ---------- */

static void key_frag(struct notation *n, struct str v)
{
	uint64_t x;

	n->has_frag = true;
	if (notation_number(n, v, 8191, &x))
		n->f.frag_off = (uint16_t)x;
}

static void key_mf(struct notation *n, struct str v)
{
	uint64_t x;

	n->has_frag = true;
	if (notation_number(n, v, 1, &x))
		n->f.more = x;
}

static void key_ihl(struct notation *n, struct str v)
{
	uint64_t x;

	n->ip_opts_word = v;
	if (!notation_number(n, v, 15, &x))
		return;
	if (x < 5)
		notation_hint(n, notation_error(n, v, "an IPv4 header has at least 5 words"), "for a broken header write the bytes: hex 44...");
	else
		n->ihl = (int)x;
}

static void key_proto(struct notation *n, struct str v)
{
	uint64_t x;

	if (notation_named(n, &names_proto, v, 255, &x))
		n->f.proto = (int)x;
}

static void key_dscp(struct notation *n, struct str v)
{
	uint64_t x;

	if (notation_named(n, &names_dscp, v, 63, &x))
		n->f.tos = (uint8_t)((n->f.tos & 3) | x << 2);
}

static void key_ecn(struct notation *n, struct str v)
{
	uint64_t x;

	if (notation_named(n, &names_ecn, v, 3, &x))
		n->f.tos = (uint8_t)((n->f.tos & 0xfc) | x);
}

static void key_ipopts(struct notation *n, struct str v)
{
	n->ip_opts_word = v;
	notation_options(n, v, &names_ip_opt, &n->f.ip_opts);
}

/* Behind the protocol's name in the long form: of its header and what follows; else of the IP packet. */
static void key_len(struct notation *n, struct str v)
{
	uint64_t x;

	n->length_word = v;
	if (!notation_number(n, v, FRAME_MAX_BYTES, &x))
		return;
	if (n->l4_word >= 0 && !n->is_short)
		n->f.l4_len = (uint32_t)x;
	else
		n->f.ip_len = (uint32_t)x;
}

static void key_op(struct notation *n, struct str v)
{
	uint64_t x;

	if (notation_named(n, &names_arp, v, 65535, &x))
		n->f.arp_op = (uint16_t)x;
}

/* ---------- transport layer ---------- */

static void key_sport(struct notation *n, struct str v)
{
	uint64_t x;

	n->f.has_sport = true;
	if (notation_number(n, v, 65535, &x))
		n->f.sport = (uint16_t)x;
}

static void key_dport(struct notation *n, struct str v)
{
	uint64_t x;

	n->f.has_dport = true;
	if (notation_number(n, v, 65535, &x))
		n->f.dport = (uint16_t)x;
}

static void key_flags(struct notation *n, struct str v)
{
	static const char letters[] = "FSRPAUEC";

	for (size_t i = 0; i < v.n; i++) {
		char c = v.p[i] >= 'a' && v.p[i] <= 'z' ? (char)(v.p[i] - 'a' + 'A') : v.p[i];
		const char *at = c == 'W' ? letters + 7 : strchr(letters, c);

		if (!at || !*at) {
			notation_hint(n, notation_error(n, str_slice(v, i, i + 1), "'%c' is no TCP flag", v.p[i]),
				      "F fin, S syn, R rst, P psh, A ack, U urg, E ece, C cwr");
			return;
		}
		n->f.tcp_flags |= (uint8_t)(1u << (at - letters));
	}
}

static void icmp_type(struct notation *n, struct str v, const struct names_table *t)
{
	struct str code, type = str_cut(v, '/', &code, NULL);
	const struct names_row *row = names_find(t, type);
	uint64_t x;

	if (row) {
		n->f.icmp_type = (uint8_t)(row->value >> 8);
		if (!row->is_type)
			n->f.icmp_code = (uint8_t)row->value;
	} else if (notation_named(n, t, type, 255, &x)) {
		n->f.icmp_type = (uint8_t)x;
	}
	if (code.p && notation_number(n, code, 255, &x))
		n->f.icmp_code = (uint8_t)x;
}

static void key_type(struct notation *n, struct str v)
{
	uint64_t x;

	if (n->l4_word == FRAME_ICMP)
		icmp_type(n, v, &names_icmp);
	else if (n->l4_word == FRAME_ICMP6)
		icmp_type(n, v, &names_icmp6);
	else if (n->l4_word == FRAME_DCCP) {
		if (notation_named(n, &names_dccp, v, 15, &x))
			n->f.dccp_type = (uint8_t)x;
	} else if (n->f.is_ether && n->l4_word < 0) {
		if (notation_number(n, v, 65535, &x))
			n->f.ethertype = (int)x;
	} else
		notation_error(n, v, "type= belongs behind icmp, icmp6, dccp or eth");
}

static void key_code(struct notation *n, struct str v)
{
	uint64_t x;

	if (n->l4_word != FRAME_ICMP && n->l4_word != FRAME_ICMP6)
		notation_error(n, v, "code= belongs behind icmp or icmp6");
	else if (notation_number(n, v, 255, &x))
		n->f.icmp_code = (uint8_t)x;
}

static void key_opts(struct notation *n, struct str v)
{
	notation_options(n, v, &names_tcp_opt, &n->f.tcp_opts);
}

static void add_tcp_opt(struct notation *n, const uint8_t *opt, size_t len)
{
	struct buf b = { .a = n->a };

	buf_add(&b, n->f.tcp_opts.p, n->f.tcp_opts.n);
	buf_add(&b, (const char *)opt, len);
	n->f.tcp_opts = buf_str(&b);
}

static void key_mss(struct notation *n, struct str v)
{
	uint64_t x;

	if (notation_number(n, v, 65535, &x))
		add_tcp_opt(n, (const uint8_t[]){ 2, 4, (uint8_t)(x >> 8), (uint8_t)x }, 4);
}

static void key_wscale(struct notation *n, struct str v)
{
	uint64_t x;

	if (notation_number(n, v, 255, &x))
		add_tcp_opt(n, (const uint8_t[]){ 3, 3, (uint8_t)x }, 3);
}

/* ---------- payload ---------- */

static struct str quoted_text(struct notation *n, struct str v)
{
	struct buf b = { .a = n->a };

	buf_add(&b, "", 0);
	for (size_t i = 1; i + 1 < v.n; i++) {
		uint64_t x;

		if (v.p[i] == '\\' && v.p[i + 1] == 'x' && i + 4 < v.n && str_u64(str_slice(v, i + 2, i + 4), 16, 255, &x)) {
			buf_add(&b, &(char){ (char)x }, 1);
			i += 3;
		} else {
			i += v.p[i] == '\\' && i + 2 < v.n;
			buf_add(&b, v.p + i, 1);
		}
	}
	return buf_str(&b);
}

/* 20B zeros, hex:00ff, "text". */
static void read_bytes(struct notation *n, struct str v, struct str *out)
{
	struct str digits = v;
	uint64_t x;

	if (v.n && v.p[0] == '"') {
		*out = quoted_text(n, v);
		return;
	}
	if (str_starts(v, "hex:")) {
		notation_hex(n, str_slice(v, 4, v.n), out);
		return;
	}
	if (str_ends(v, "B"))
		digits.n--;
	if (notation_number(n, digits, FRAME_MAX_BYTES, &x))
		*out = (struct str){ arena_alloc(n->a, x + 1, 1), x };
}

static void key_payload(struct notation *n, struct str v)
{
	n->f.has_payload = true;
	read_bytes(n, v, &n->f.payload);
}

static void key_pad(struct notation *n, struct str v)
{
	read_bytes(n, v, &n->f.pad);
}

/* ---------- all keys ---------- */

static const struct {
	const char *name;
	void (*read)(struct notation *n, struct str value);
} keys[] = {
	{ "in", key_in },	{ "out", key_out },	  { "physin", key_physin }, { "physout", key_physout },
	{ "mark", key_mark },	{ "ctmark", key_ctmark }, { "ct", key_ct },	    { "uid", key_uid },
	{ "gid", key_gid },	{ "cpu", key_cpu },	  { "realm", key_realm },   { "pkttype", key_pkttype },
	{ "t", key_time },		{ "mac", key_mac },	  { "srcmac", key_mac },    { "dstmac", key_dstmac },
	{ "vlan", key_vlan },	{ "frag", key_frag },	  { "mf", key_mf },	    { "ihl", key_ihl },
	{ "proto", key_proto }, { "nh", key_proto },	  { "dscp", key_dscp },	    { "ecn", key_ecn },
	{ "ipopts", key_ipopts }, { "ext", notation_ext }, { "len", key_len },	    { "op", key_op },
	{ "sport", key_sport }, { "dport", key_dport },	  { "flags", key_flags },   { "type", key_type },
	{ "code", key_code },	{ "opts", key_opts },	  { "mss", key_mss },	    { "wscale", key_wscale },
	{ "chunks", notation_chunks }, { "payload", key_payload }, { "pad", key_pad },
};

enum { N_KEYS = sizeof keys / sizeof *keys, N_NUMBERS = sizeof number_keys / sizeof *number_keys };

const char *notation_nearest(struct str word)
{
	static const char *const words[] = { "ip", "ip6", "arp", "eth", "hex", "sackok" };
	const char *names[N_KEYS + N_NUMBERS + 64];
	size_t k = 0;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		names[k++] = words[i];
	for (size_t i = 0; i < names_proto.n && i < 40; i++)
		names[k++] = names_proto.rows[i].name;
	for (size_t i = 0; i < N_KEYS; i++)
		names[k++] = keys[i].name;
	for (size_t i = 0; i < N_NUMBERS; i++)
		names[k++] = number_keys[i].name;
	return str_nearest(word, names, k);
}

void notation_key(struct notation *n, struct str word, struct str key, struct str value)
{
	const char *near;
	struct diag *g;

	for (size_t i = 0; i < N_KEYS; i++)
		if (str_is(key, keys[i].name)) {
			keys[i].read(n, value);
			return;
		}
	if (number_key(n, word, key, value))
		return;
	g = notation_error(n, key, "'%.*s=' is no key of the packet notation", STR_ARG(key));
	near = notation_nearest(key);
	if (near)
		notation_hint(n, g, "did you mean '%s'?", near);
}

bool notation_flag_word(struct notation *n, struct str word)
{
	if (str_is(word, "df"))
		n->f.df = true;
	else if (str_is(word, "sackok"))
		add_tcp_opt(n, (const uint8_t[]){ 4, 2 }, 2);
	else
		return false;
	return true;
}
