/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One line is one packet. See notation.h for the language.
 *
 *     p1: in=eth0 ip 198.51.100.7 > 192.0.2.1 tcp 40000 > 22 flags=S
 *     --- ------- --------------------------- -------------- -------
 *     id  key     line_family()               line_proto()   key
 *
 * Words with '=' are keys and may stand anywhere (notation_keys.c); the others are read here. All words are read
 * before anything is built, so that one run shows all errors of a line.
 */
#include "packet/notation.h"

#include <arpa/inet.h>
#include <stdarg.h>

#include "packet/notation_state.h"

struct diag *notation_error(struct notation *n, struct str word, const char *fmt, ...)
{
	struct loc at = n->at;
	va_list ap;
	struct str text;

	n->ok = false;
	if (!n->d || !n->at.source)
		return NULL;
	if (word.p) {
		at.off += (uint32_t)(word.p - n->text.p);
		at.len = (uint32_t)word.n;
	}
	va_start(ap, fmt);
	text = arena_vprintf(n->a, fmt, ap);
	va_end(ap);
	return diag_error(n->d, at, "%.*s", STR_ARG(text));
}

void notation_hint(struct notation *n, struct diag *g, const char *fmt, ...)
{
	va_list ap;

	if (!g)
		return;
	va_start(ap, fmt);
	g->hint = arena_vprintf(n->d->a, fmt, ap);
	va_end(ap);
}

/* ---------- words ---------- */

/* The next word, or an empty one at the end. '>' is a word of its own; quotes and parentheses hold words together. */
static struct str next_word(struct notation *n)
{
	struct str t = n->text;
	size_t from;
	int depth = 0;
	bool quoted = false;

	while (n->pos < t.n && (t.p[n->pos] == ' ' || t.p[n->pos] == '\t' || t.p[n->pos] == '\r' || t.p[n->pos] == '\n'))
		n->pos++;
	from = n->pos;
	if (from < t.n && t.p[from] == '#')
		n->pos = from = t.n;
	for (; n->pos < t.n; n->pos++) {
		char c = t.p[n->pos];

		if (c == '\\' && quoted && n->pos + 1 < t.n)
			n->pos++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && c == '(')
			depth++;
		else if (!quoted && c == ')')
			depth--;
		else if (!quoted && depth <= 0 && (c == ' ' || c == '\t' || c == '\r' || c == '\n'))
			break;
		else if (!quoted && depth <= 0 && c == '>') {
			n->pos += n->pos == from;
			break;
		}
	}
	if (quoted)
		notation_error(n, str_slice(t, from, n->pos), "the quote is not closed");
	else if (depth > 0)
		notation_error(n, str_slice(t, from, n->pos), "the parenthesis is not closed");
	return str_slice(t, from, n->pos);
}

static struct str peek_word(struct notation *n)
{
	struct notation copy = *n;

	copy.d = NULL;
	return next_word(&copy);
}

/* The place behind the last word, for what is missing there. */
static struct str here(const struct notation *n)
{
	return (struct str){ n->text.p + n->pos, 0 };
}

bool notation_number(struct notation *n, struct str word, uint64_t max, uint64_t *out)
{
	if (str_u64(word, 0, max, out))
		return true;
	if (str_u64(word, 0, UINT64_MAX, out))
		notation_error(n, word, "%.*s is above %llu", STR_ARG(word), (unsigned long long)max);
	else if (word.n == 0)
		notation_error(n, word, "a number is missing");
	else
		notation_error(n, word, "'%.*s' is not a number", STR_ARG(word));
	return false;
}

bool notation_named(struct notation *n, const struct names_table *t, struct str word, uint64_t max, uint64_t *out)
{
	const struct names_row *row = names_find(t, word);
	const char *near;
	struct diag *g;

	if (row) {
		*out = row->value;
		return true;
	}
	if (word.n && word.p[0] >= '0' && word.p[0] <= '9')
		return notation_number(n, word, max, out);
	g = notation_error(n, word, "'%.*s' is no %s", STR_ARG(word), t->what);
	near = names_nearest(t, word);
	if (near)
		notation_hint(n, g, "did you mean '%s'?", near);
	else
		notation_hint(n, g, "a number, or a name like '%s'", t->rows[0].name);
	return false;
}

bool notation_hex(struct notation *n, struct str word, struct str *out)
{
	char *bytes = arena_alloc(n->a, word.n / 2 + 1, 1);

	if (word.n % 2) {
		notation_error(n, word, "hex bytes need an even number of digits, here are %zu", word.n);
		return false;
	}
	for (size_t i = 0; i < word.n; i += 2) {
		uint64_t v;

		if (!str_u64(str_slice(word, i, i + 2), 16, 255, &v)) {
			notation_error(n, str_slice(word, i, i + 2), "'%.*s' is no hex byte", 2, word.p + i);
			return false;
		}
		bytes[i / 2] = (char)v;
	}
	*out = (struct str){ bytes, word.n / 2 };
	return true;
}

bool notation_item(struct str *list, struct str *item)
{
	size_t i = 0;
	int depth = 0;

	if (!list->p)
		return false;
	for (; i < list->n; i++) {
		depth += (list->p[i] == '(') - (list->p[i] == ')');
		if (depth == 0 && list->p[i] == ',')
			break;
	}
	*item = str_slice(*list, 0, i);
	*list = i < list->n ? str_slice(*list, i + 1, list->n) : (struct str){ 0 };
	return true;
}

bool notation_address(struct notation *n, struct str word, enum frame_net *net, u128 *out)
{
	char text[64];
	uint8_t b[16];
	size_t len = 0;

	if (word.n < sizeof text) {
		memcpy(text, word.n ? word.p : "", word.n);
		text[word.n] = '\0';
		if (inet_pton(AF_INET, text, b) == 1)
			*net = FRAME_NET_IP4, len = 4;
		else if (inet_pton(AF_INET6, text, b) == 1)
			*net = FRAME_NET_IP6, len = 16;
	}
	*out = 0;
	for (size_t i = 0; i < len; i++)
		*out = *out << 8 | b[i];
	if (len)
		return true;
	if (word.n == 0 || str_is(word, ">"))
		notation_error(n, word, "an address is missing");
	else
		notation_error(n, word, "'%.*s' is not an IPv4 or IPv6 address", STR_ARG(word));
	return false;
}

/* ---------- addresses and ports ---------- */

/* ADDR, ADDR:PORT or [ADDR]:PORT, for the short form. */
static bool read_endpoint(struct notation *n, enum frame_net *net, u128 *addr, struct str *port)
{
	struct str w = next_word(n), a = w;
	const char *colon = w.n ? memchr(w.p, ':', w.n) : NULL, *close = w.n ? memchr(w.p, ']', w.n) : NULL;

	*port = (struct str){ 0 };
	if (w.n && w.p[0] == '[' && close) {
		a = (struct str){ w.p + 1, (size_t)(close - w.p) - 1 };
		*port = str_slice(w, (size_t)(close - w.p) + 1, w.n);
		if (port->n && port->p[0] != ':') {
			notation_error(n, *port, "expected ':' and a port behind ']', not '%.*s'", STR_ARG(*port));
			return false;
		}
	} else if (colon && !memchr(colon + 1, ':', w.n - (size_t)(colon - w.p) - 1)) {
		a = (struct str){ w.p, (size_t)(colon - w.p) };
		*port = str_slice(w, a.n, w.n);
	}
	if (port->n)
		*port = str_slice(*port, 1, port->n);
	return notation_address(n, a, net, addr);
}

static bool read_arrow(struct notation *n, const char *between)
{
	struct str w = peek_word(n);

	if (!str_is(w, ">")) {
		notation_error(n, w.n ? w : here(n), "expected '>' between %s", between);
		return false;
	}
	next_word(n);
	return true;
}

static void set_port(struct notation *n, struct str word, uint16_t *port, bool *has)
{
	uint64_t v;

	if (notation_number(n, word, 65535, &v)) {
		*port = (uint16_t)v;
		*has = true;
	}
}

static void same_net(struct notation *n, struct str word, enum frame_net src, enum frame_net dst)
{
	if (src != dst)
		notation_error(n, word, "one address is IPv4, the other IPv6");
}

/* SRC > DST behind ip, ip6 or arp. */
static void line_addresses(struct notation *n, struct str family)
{
	enum frame_net src = FRAME_NET_NONE, dst = FRAME_NET_NONE, want = n->f.net;
	struct str w = next_word(n);
	bool six = want == FRAME_NET_IP6;

	if (!notation_address(n, w, &src, &n->f.src))
		return;
	if (!read_arrow(n, "source and destination"))
		return;
	w = next_word(n);
	if (!notation_address(n, w, &dst, &n->f.dst))
		return;
	same_net(n, w, src, dst);
	if (src == dst && six != (src == FRAME_NET_IP6))
		notation_error(n, family, "'%.*s' does not go with %s addresses", STR_ARG(family), six ? "IPv4" : "IPv6");
}

static bool line_family(struct notation *n, struct str w)
{
	if (str_is(w, "ip") || str_is(w, "ip4"))
		n->f.net = FRAME_NET_IP4;
	else if (str_is(w, "ip6"))
		n->f.net = FRAME_NET_IP6;
	else if (str_is(w, "arp"))
		n->f.net = FRAME_NET_ARP;
	else
		return false;
	if (n->f.net == FRAME_NET_ARP)
		n->f.is_ether = true;
	line_addresses(n, w);
	return true;
}

/* SRC[:PORT] > DST[:PORT] behind the protocol's name, when no family was named. */
static void line_short(struct notation *n)
{
	enum frame_net src = FRAME_NET_NONE, dst = FRAME_NET_NONE;
	struct str sport, dport, before = peek_word(n);

	n->is_short = true;
	if (!read_endpoint(n, &src, &n->f.src, &sport) || !read_arrow(n, "source and destination") ||
	    !read_endpoint(n, &dst, &n->f.dst, &dport)) {
		n->f.net = FRAME_NET_IP4; /* so that the rest is still read */
		return;
	}
	same_net(n, before, src, dst);
	n->f.net = src;
	if (sport.p && sport.n)
		set_port(n, sport, &n->f.sport, &n->f.has_sport);
	if (dport.p && dport.n)
		set_port(n, dport, &n->f.dport, &n->f.has_dport);
	if ((sport.n || dport.n) && !frame_has_ports(n->l4_word))
		notation_error(n, sport.n ? sport : dport, "this protocol has no ports");
}

/* SPORT > DPORT behind the protocol's name. */
static void line_ports(struct notation *n)
{
	struct str w = peek_word(n);

	if (!w.n || w.p[0] < '0' || w.p[0] > '9')
		return;
	next_word(n);
	if (!frame_has_ports(n->l4_word)) {
		notation_error(n, w, "this protocol has no ports");
		return;
	}
	set_port(n, w, &n->f.sport, &n->f.has_sport);
	if (read_arrow(n, "source port and destination port"))
		set_port(n, next_word(n), &n->f.dport, &n->f.has_dport);
}

static bool line_proto(struct notation *n, struct str w)
{
	const struct names_row *row = names_find(&names_proto, w);

	if (!row)
		return false;
	if (n->l4_word >= 0)
		notation_error(n, w, "the protocol was named before");
	n->l4_word = row->value;
	if (n->f.net == FRAME_NET_NONE)
		line_short(n);
	else
		line_ports(n);
	if ((row->value == FRAME_ICMP && n->f.net == FRAME_NET_IP6) || (row->value == FRAME_ICMP6 && n->f.net == FRAME_NET_IP4))
		notation_hint(n, notation_error(n, w, "'%.*s' does not go with %s addresses", STR_ARG(w),
						row->value == FRAME_ICMP ? "IPv6" : "IPv4"),
			      row->value == FRAME_ICMP ? "write icmp6, or proto=1 for the number" : "write icmp, or proto=58 for the number");
	return true;
}

/* ---------- the line ---------- */

static bool is_hex_word(struct str w)
{
	for (size_t i = 0; i < w.n; i++)
		if (!w.p[i] || !strchr("0123456789abcdefABCDEF", w.p[i]))
			return false;
	return w.n > 0;
}

static void line_hex(struct notation *n)
{
	struct buf b = { .a = n->a };
	struct str w, bytes;

	n->is_raw = true;
	for (w = peek_word(n); is_hex_word(w); w = peek_word(n)) {
		next_word(n);
		if (notation_hex(n, w, &bytes))
			buf_add(&b, bytes.p, bytes.n);
	}
	n->raw = buf_str(&b);
}

static void line_word(struct notation *n, struct str w)
{
	const char *near;
	struct diag *g;
	struct str value, key;
	bool found;

	if (w.p[0] == '(' || line_family(n, w) || line_proto(n, w) || notation_flag_word(n, w))
		return;
	if (str_is(w, "eth")) {
		n->f.is_ether = true;
		return;
	}
	if (str_is(w, "other")) {
		n->is_other = true;
		return;
	}
	if (str_is(w, "hex")) {
		line_hex(n);
		return;
	}
	key = str_cut(w, '=', &value, &found);
	if (found) {
		if (!value.p)
			value = str_slice(w, w.n, w.n);
		notation_key(n, w, key, value);
		return;
	}
	g = notation_error(n, w, "'%.*s' is no word of the packet notation", STR_ARG(w));
	near = notation_nearest(w);
	if (near)
		notation_hint(n, g, "did you mean '%s'?", near);
}

static void line_id(struct notation *n)
{
	struct str w = peek_word(n);

	if (w.n < 2 || w.p[w.n - 1] != ':')
		return;
	for (size_t i = 0; i + 1 < w.n; i++)
		if (!strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.", w.p[i]) || !w.p[i])
			return;
	next_word(n);
	n->out->id = str_slice(w, 0, w.n - 1);
}

/* frag= and mf= said of an IPv6 packet mean a fragment header behind the others. */
static void add_frag_header(struct notation *n)
{
	struct frame *f = &n->f;
	struct frame_ext *e;

	if (f->net != FRAME_NET_IP6 || !n->has_frag)
		return;
	for (unsigned i = 0; i < f->n_exts; i++)
		if (f->exts[i].type == FRAME_FRAGMENT) {
			f->exts[i].frag_off |= f->frag_off;
			f->exts[i].more |= f->more;
			return;
		}
	if (f->n_exts == FRAME_MAX_EXTS)
		return;
	e = &f->exts[f->n_exts++];
	*e = (struct frame_ext){ .type = FRAME_FRAGMENT, .frag_off = f->frag_off, .more = f->more, .bad_len = -1 };
}

static bool is_later_fragment(const struct frame *f)
{
	for (unsigned i = 0; i < f->n_exts; i++)
		if (f->exts[i].type == FRAME_FRAGMENT && f->exts[i].frag_off)
			return true;
	return f->frag_off != 0;
}

/* Which transport header is written, once all words are known. */
static void settle_l4(struct notation *n)
{
	struct frame *f = &n->f;
	static const int built[] = { FRAME_ICMP, FRAME_TCP, FRAME_UDP, FRAME_DCCP, FRAME_ESP,
				     FRAME_AH,	 FRAME_ICMP6, FRAME_SCTP, FRAME_UDPLITE };

	for (size_t i = 0; i < sizeof built / sizeof *built; i++)
		if (n->l4_word == built[i])
			f->l4 = built[i];
	if (f->proto < 0)
		f->proto = n->l4_word >= 0 ? n->l4_word : 253; /* a number for experiments */
	if (is_later_fragment(f) && !f->has_dport)
		f->l4 = -1;
	if (!frame_has_ports(f->l4))
		return;
	if (!f->has_dport)
		notation_hint(n, notation_error(n, here(n), "the destination port is missing"),
			      n->is_short ? "tcp 10.1.2.3 > 192.0.2.1:22" : "tcp 40000 > 22");
	if (!f->has_sport)
		f->sport = 40000;
	if (f->l4 == FRAME_SCTP && !f->chunks.p)
		f->chunks = (struct str){ "\0\3\0\4", 4 };
}

static void settle_ihl(struct notation *n)
{
	size_t want = n->ihl ? (size_t)(n->ihl - 5) * 4 : 0;
	char *opts;

	if (n->f.ip_opts.n >= want)
		return;
	opts = arena_alloc(n->a, want, 1);
	memset(opts, 1, want); /* no operation */
	memcpy(opts, n->f.ip_opts.n ? n->f.ip_opts.p : "", n->f.ip_opts.n);
	n->f.ip_opts = (struct str){ opts, want };
}

/* What only headers of the other family can hold would be lost silently. */
static void check_family(struct notation *n)
{
	if (n->ext_word.n && n->f.net == FRAME_NET_IP4)
		notation_hint(n, notation_error(n, n->ext_word, "an IPv4 packet has no extension headers"),
			      "AH or ESP behind an IPv4 header: ip 192.0.2.1 > 192.0.2.2 ah spi=5");
	if (n->ip_opts_word.n && n->f.net == FRAME_NET_IP6)
		notation_error(n, n->ip_opts_word, "an IPv6 packet has no IPv4 options");
}

static void finish_raw(struct notation *n)
{
	struct packet *p = n->out;

	p->link = n->is_other ? PACKET_LINK_OTHER : n->f.is_ether ? PACKET_LINK_ETHER : PACKET_LINK_IP;
	p->bytes = (const uint8_t *)n->raw.p;
	p->wire_len = p->len = (uint32_t)n->raw.n;
	if (n->f.cut >= 0 && n->f.cut < p->len)
		p->len = (uint32_t)n->f.cut;
}

static void finish(struct notation *n)
{
	const char *err;

	if (n->is_raw) {
		finish_raw(n);
		return;
	}
	if (n->f.net == FRAME_NET_NONE && !n->f.is_ether) {
		if (!n->ok)
			return;
		notation_hint(n, notation_error(n, n->text, "this line describes no packet"),
			      "tcp 10.1.2.3 > 192.0.2.1:22, or ip 10.1.2.3 > 192.0.2.1 tcp 40000 > 22");
		return;
	}
	if (n->f.net == FRAME_NET_IP4 || n->f.net == FRAME_NET_IP6) {
		check_family(n);
		add_frag_header(n);
		settle_l4(n);
		settle_ihl(n);
	}
	if (!n->ok)
		return;
	err = frame_build(n->a, &n->f, n->out);
	if (err)
		notation_error(n, n->length_word.p ? n->length_word : n->text, "%s", err);
}

bool notation_parse(struct arena *a, struct diags *d, struct str text, struct loc at, struct packet *out)
{
	struct notation n = { .a = a, .d = d, .text = text, .at = at, .ok = true, .out = out, .l4_word = -1 };
	struct str w;

	packet_init(out);
	frame_init(&n.f);
	line_id(&n);
	if (str_is(str_trim(str_slice(text, n.pos, text.n)), "-"))
		return true;
	for (w = next_word(&n); w.n; w = next_word(&n)) {
		if (!n.ok && (str_is(w, ">") || w.p[0] == '"'))
			continue; /* the rest of what was reported */
		line_word(&n, w);
	}
	finish(&n);
	return n.ok;
}
