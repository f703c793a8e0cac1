/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The connection tracker: packets in the order of a capture -> NEW, ESTABLISHED, RELATED, INVALID.
 *
 * A connection is known by both its directions: the tuple of its first packet, and the tuple that replies will have
 * (what NAT made of it). It stays NEW until a reply was seen; it is remembered only when its first packet was let
 * through. TCP by tcp.c; UDP by ports, 30 s, 120 s when it lasts longer than two seconds both ways; ICMP queries
 * by id, 30 s; ICMP errors by the packet that they quote: RELATED to its connection, else INVALID; SCTP by ports; other
 * protocols by addresses, 600 s.
 *
 * What the kernel does and this does not: windows and checksums, helpers (an FTP data connection is NEW here), zones, the
 * states of SCTP, defragmentation (a later fragment's state is unknown), early removal when the table is full. Where a
 * translation is not known, a reply to it cannot be told from something new: then the state is unknown too (hidden.c).
 */
#include "eval/track.h"

enum { NS = 1000000000 };

void track_put_addr(uint8_t *out, u128 v)
{
	for (int i = 0; i < 16; i++)
		out[i] = (uint8_t)(v >> (8 * (15 - i)));
}

static u128 get_addr(const uint8_t *p)
{
	u128 v = 0;

	for (int i = 0; i < 16; i++)
		v = v << 8 | p[i];
	return v;
}

void track_key(struct key *k, char kind, const struct tuple *t)
{
	key_start(k, kind);
	key_add(k, t, sizeof *t);
}

/* ---------- tuples ---------- */

static bool known(const struct walk *w, enum field f)
{
	return w->f.has[f] == EVAL_YES && w->f.known[f];
}

static bool is_icmp_proto(unsigned proto)
{
	return proto == 1 || proto == 58;
}

static bool has_ports(unsigned proto)
{
	return proto == 6 || proto == 17 || proto == 132 || proto == 136;
}

/* Type of the answer to a query, or -1. */
static int answer_type(unsigned proto, unsigned type)
{
	static const struct {
		uint8_t proto, type, answer;
	} pairs[] = { { 1, 8, 0 }, { 1, 13, 14 }, { 1, 15, 16 }, { 1, 17, 18 }, { 58, 128, 129 }, { 58, 139, 140 } };

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		if (pairs[i].proto == proto && pairs[i].type == type)
			return pairs[i].answer;
		if (pairs[i].proto == proto && pairs[i].answer == type)
			return pairs[i].type;
	}
	return -1;
}

static bool is_query(unsigned proto, unsigned type)
{
	return proto == 1 ? type == 8 || type == 13 || type == 15 || type == 17 : type == 128 || type == 139;
}

static bool is_error(unsigned proto, unsigned type)
{
	if (proto == 58)
		return type < 128;
	return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

static struct tuple invert(const struct tuple *t)
{
	struct tuple r = *t;

	memcpy(r.src, t->dst, 16);
	memcpy(r.dst, t->src, 16);
	if (is_icmp_proto(t->proto)) {
		int type = answer_type(t->proto, t->dport >> 8);

		if (type >= 0)
			r.dport = (uint16_t)(type << 8 | (t->dport & 255));
	} else {
		r.sport = t->dport;
		r.dport = t->sport;
	}
	return r;
}

/* The packet's own tuple; false: not everything is known. */
bool track_tuple(const struct walk *w, struct tuple *t)
{
	unsigned proto;

	memset(t, 0, sizeof *t);
	if (!known(w, FIELD_SRC) || !known(w, FIELD_DST) || !known(w, FIELD_PROTO) || !known(w, FIELD_FRAG) ||
	    w->f.v[FIELD_FRAG])
		return false;
	proto = (unsigned)w->f.v[FIELD_PROTO];
	track_put_addr(t->src, w->f.v[FIELD_SRC]);
	track_put_addr(t->dst, w->f.v[FIELD_DST]);
	t->proto = (uint8_t)proto;
	t->family = (uint8_t)w->f.family;
	if (is_icmp_proto(proto)) {
		enum field f = w->f.family == FAMILY_IP4 ? FIELD_ICMP : FIELD_ICMP6;

		if (!known(w, f) || w->f.l4_len < 6)
			return false;
		t->dport = (uint16_t)w->f.v[f];
		t->sport = (uint16_t)(w->f.l3[w->f.l4_off + 4] << 8 | w->f.l3[w->f.l4_off + 5]);
	} else if (has_ports(proto)) {
		if (!known(w, FIELD_SPORT) || !known(w, FIELD_DPORT))
			return false;
		t->sport = (uint16_t)w->f.v[FIELD_SPORT];
		t->dport = (uint16_t)w->f.v[FIELD_DPORT];
	}
	return true;
}

enum quoted { QUOTED_READ, QUOTED_BAD, QUOTED_UNSEEN };

/* The ports (or type, code and id) of a quoted packet, `n` bytes of its transport header at p; `room`: with those unseen. */
static enum quoted read_quoted_l4(struct tuple *t, const uint8_t *p, uint32_t n, uint32_t room)
{
	uint32_t need = has_ports(t->proto) ? 4 : is_icmp_proto(t->proto) ? 8 : 0;

	if (room < need)
		return QUOTED_BAD;
	if (n < need)
		return QUOTED_UNSEEN;
	if (has_ports(t->proto)) {
		t->sport = (uint16_t)(p[0] << 8 | p[1]);
		t->dport = (uint16_t)(p[2] << 8 | p[3]);
	} else if (need) {
		t->dport = (uint16_t)(p[0] << 8 | p[1]);
		t->sport = (uint16_t)(p[4] << 8 | p[5]);
	}
	return QUOTED_READ;
}

/* The tuple of the packet that an ICMP error quotes. Extension headers of IPv6 are not looked through. */
static enum quoted read_quoted(const struct walk *w, struct tuple *t)
{
	bool is_ip4 = w->f.family == FAMILY_IP4;
	uint32_t off = w->f.l4_off + 8, head = is_ip4 ? 20 : 40, n, room;
	const uint8_t *p = w->f.l3 + off;

	memset(t, 0, sizeof *t);
	if (off + head > w->f.l3_wire_len)
		return QUOTED_BAD;
	if (off + head > w->f.l3_len)
		return QUOTED_UNSEEN;
	n = w->f.l3_len - off;
	room = w->f.l3_wire_len - off;
	t->family = (uint8_t)w->f.family;
	if (is_ip4) {
		head = (uint32_t)(p[0] & 15) * 4;
		t->proto = p[9];
		memcpy(t->src + 12, p + 12, 4);
		memcpy(t->dst + 12, p + 16, 4);
		if (head < 20 || (p[6] & 0x1f) || p[7])
			return QUOTED_BAD;
	} else {
		t->proto = p[6];
		memcpy(t->src, p + 8, 16);
		memcpy(t->dst, p + 24, 16);
		if (!has_ports(t->proto) && !is_icmp_proto(t->proto))
			return QUOTED_UNSEEN;
	}
	if (room < head)
		return QUOTED_BAD;
	return n < head ? QUOTED_UNSEEN : read_quoted_l4(t, p + head, n - head, room - head);
}

/* ---------- finding ---------- */

enum found { FOUND_NONE, FOUND_IT, FOUND_UNCERTAIN };

struct direction {
	struct tuple orig;
	uint8_t is_reply;
};

static enum found find(const struct walk *w, const struct tuple *t, struct tracked *out)
{
	struct direction d;
	struct store_value v;
	struct key k;
	enum store_answer x;

	track_key(&k, 'T', t);
	x = store_get(w->e->store, &k, &v);
	if (x != STORE_HERE)
		return x == STORE_NONE ? FOUND_NONE : FOUND_UNCERTAIN;
	memcpy(&d, v.p, sizeof d);
	track_key(&k, 'C', &d.orig);
	x = store_get(w->e->store, &k, &v);
	if (x != STORE_HERE)
		return x == STORE_NONE ? FOUND_NONE : FOUND_UNCERTAIN;
	memcpy(&out->c, v.p, sizeof out->c);
	out->is_reply = d.is_reply;
	return hidden_is_doubtful(w, &out->c) ? FOUND_UNCERTAIN : FOUND_IT;
}

bool track_is_open(const struct walk *w, const struct tuple *orig)
{
	struct tracked t = { 0 };

	if (find(w, orig, &t) != FOUND_IT)
		return false;
	return orig->proto != 6 || (t.c.tcp.state != TCP_TIME_WAIT && t.c.tcp.state != TCP_CLOSE);
}

/* ---------- a packet meets the tracker ---------- */

static unsigned flags_of(const struct walk *w)
{
	return (unsigned)w->f.v[FIELD_TCP_FLAGS];
}

/* An SCTP packet that may come first: no data, no acknowledgement; an INIT whole, alone and with a tag of 0. */
static bool starts_sctp(const struct walk *w)
{
	enum { INIT = 1, CHUNKS_AT = 12, INIT_SIZE = 20 };
	static const uint8_t may_start[] = { 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 14 };
	unsigned type;
	bool any = false;

	if (w->f.sctp_chunks.n == 0)
		return false;
	type = w->f.sctp_chunks.v[0] >> 8;
	for (size_t i = 0; i < sizeof may_start; i++)
		any |= may_start[i] == type;
	if (!any || type != INIT)
		return any;
	if (w->f.sctp_chunks.n != 1 || w->f.l4_len < CHUNKS_AT + INIT_SIZE)
		return false;
	for (unsigned i = 4; i < 8; i++)
		if (w->f.l3[w->f.l4_off + i])
			return false;
	return true;
}

/* A first packet: does it make a connection? */
static bool starts(const struct walk *w, const struct tuple *t, struct conn *c)
{
	if (t->proto == 6) {
		struct tcp_segment s = tcp_segment(w, false);

		return tcp_meet(&c->tcp, &s) == TCP_FITS;
	}
	if (is_icmp_proto(t->proto))
		return is_query(t->proto, t->dport >> 8);
	return t->proto != 132 || starts_sctp(w);
}

static void kill_conn(struct walk *w, const struct conn *c)
{
	struct key k;

	track_key(&k, 'T', &c->orig);
	store_put(w->e->store, &k, NULL, 0, INT64_MAX);
	track_key(&k, 'T', &c->reply);
	store_put(w->e->store, &k, NULL, 0, INT64_MAX);
	track_key(&k, 'C', &c->orig);
	store_put(w->e->store, &k, NULL, 0, INT64_MAX);
}

/* Nobody knows the packet's state. It may begin a connection. */
static int enter_unknown(struct walk *w, const struct tuple *t)
{
	struct tuple reply = invert(t);

	hidden_begins(w, t, &reply);
	return -1;
}

static int enter_new(struct walk *w, const struct tuple *t)
{
	struct tracked *tr = arena_new(w->a, struct tracked, 1);

	if (hidden_meets(w, t))
		return enter_unknown(w, t);
	tr->c.orig = *t;
	tr->c.reply = invert(t);
	tr->c.mark_mask = UINT32_MAX;
	tr->c.created_ns = w->e->now_ns;
	tr->is_new = true;
	if (!starts(w, t, &tr->c))
		return CT_INVALID;
	w->tracked = tr;
	return CT_NEW;
}

/* A packet of a TCP connection that is known. */
static enum tcp_answer advance_tcp(struct walk *w, struct tracked *tr)
{
	bool has_reply = tr->c.status & CT_STATUS_SEEN_REPLY;
	struct tcp_segment s = tcp_segment(w, tr->is_reply);
	uint8_t old = tr->c.tcp.state;
	enum tcp_answer answer = tcp_meet(&tr->c.tcp, &s);

	tr->keeps_time = answer == TCP_IGNORED;
	if (answer != TCP_FITS)
		return answer;
	if (!has_reply && s.kind == TCP_RST)
		tr->is_killed = true; /* nobody answered, but with a reset: the kernel forgets it at once */
	if (!has_reply && s.kind == TCP_SYN && old == TCP_SYN_SENT)
		tr->keeps_time = true; /* who only repeats a SYN does not keep it for ever */
	if (has_reply && tr->c.tcp.state == TCP_ESTABLISHED && (old == TCP_SYN_RECV || old == TCP_ESTABLISHED))
		tr->c.status |= CT_STATUS_ASSURED;
	return answer;
}

static int enter_known(struct walk *w, struct tracked *tr)
{
	if (tr->is_reply)
		tr->c.status |= CT_STATUS_SEEN_REPLY;
	if (tr->c.orig.proto == 17 && (tr->c.status & CT_STATUS_SEEN_REPLY) &&
	    w->e->now_ns > tr->c.created_ns + 2 * (int64_t)NS)
		tr->c.status |= CT_STATUS_ASSURED;
	w->tracked = tr;
	return tr->c.status & CT_STATUS_SEEN_REPLY ? CT_ESTABLISHED : CT_NEW;
}

static int enter_error(struct walk *w)
{
	struct tracked *tr = arena_new(w->a, struct tracked, 1);
	struct tuple quoted, back;
	enum quoted q;
	enum found x;

	q = read_quoted(w, &quoted);
	if (q != QUOTED_READ)
		return q == QUOTED_BAD ? CT_INVALID : -1;
	back = invert(&quoted); /* the error goes the other way than what it quotes */
	x = find(w, &back, tr);
	if (x == FOUND_UNCERTAIN || (x == FOUND_NONE && hidden_may_reply(w, &back)))
		return -1;
	if (x == FOUND_NONE || get_addr(quoted.src) != w->f.v[FIELD_DST])
		return CT_INVALID;
	tr->is_error = true;
	w->tracked = tr;
	return CT_RELATED;
}

int track_enter(struct walk *w)
{
	struct tracked *tr;
	struct tuple t;
	enum found x;

	if (!track_tuple(w, &t)) {
		hidden_packet(w);
		return -1;
	}
	if (hidden_packets(w, t.proto))
		return -1;
	if (is_icmp_proto(t.proto) && is_error(t.proto, t.dport >> 8))
		return enter_error(w);
	if (t.proto == 6 && !known(w, FIELD_TCP_FLAGS))
		return enter_unknown(w, &t);
	if (t.proto == 6 && !tcp_flags_valid(flags_of(w)))
		return CT_INVALID;
	tr = arena_new(w->a, struct tracked, 1);
	x = find(w, &t, tr);
	if (x == FOUND_UNCERTAIN)
		return enter_unknown(w, &t);
	if (x == FOUND_IT && t.proto == 6) {
		enum tcp_answer answer = advance_tcp(w, tr);

		if (answer == TCP_INVALID)
			return CT_INVALID;
		if (answer == TCP_REOPENS) {
			kill_conn(w, &tr->c);
			x = FOUND_NONE;
		}
	}
	return x == FOUND_IT ? enter_known(w, tr) : enter_new(w, &t);
}

bool track_starts(const struct walk *w)
{
	return w->tracked->is_new;
}

/* ---------- what rules ask about it ---------- */

static bool tuple_field(const struct conn *c, enum field f, u128 *v)
{
	bool is_reply = f == FIELD_CT_REPL_SRC || f == FIELD_CT_REPL_DST || f == FIELD_CT_REPL_SPORT || f == FIELD_CT_REPL_DPORT;
	const struct tuple *t = is_reply ? &c->reply : &c->orig;
	bool is_src = f == FIELD_CT_ORIG_SRC || f == FIELD_CT_ORIG_SPORT || f == FIELD_CT_REPL_SRC || f == FIELD_CT_REPL_SPORT;
	const struct translation *n = &c->nat[is_src]; /* the reply's source is what the destination became */

	if (is_reply && n->is_set && !n->is_known)
		return false;
	if (f == FIELD_CT_ORIG_SRC || f == FIELD_CT_REPL_SRC)
		*v = get_addr(t->src);
	else if (f == FIELD_CT_ORIG_DST || f == FIELD_CT_REPL_DST)
		*v = get_addr(t->dst);
	else
		*v = is_src ? t->sport : t->dport;
	return true;
}

bool track_field(const struct walk *w, enum field f, u128 *v)
{
	const struct tracked *tr = w->tracked;

	if (!tr)
		return false;
	switch (f) {
	case FIELD_CT_STATUS:
		*v = tr->c.status;
		return tr->c.status_doubt == 0;
	case FIELD_CT_MARK:
		*v = tr->c.mark;
		return tr->c.mark_mask == UINT32_MAX && !w->p->has_ct_mark;
	case FIELD_CT_DIR:
		*v = tr->is_reply;
		return true;
	case FIELD_CT_PROTO:
		*v = tr->c.orig.proto;
		return true;
	case FIELD_CT_EXPIRE:
		return false;
	default:
		return tuple_field(&tr->c, f, v);
	}
}

bool track_mark_bits(const struct walk *w, u128 *v, u128 *mask)
{
	if (!w->tracked)
		return false;
	*v = w->tracked->c.mark;
	*mask = w->tracked->c.mark_mask;
	return true;
}

bool track_status_bits(const struct walk *w, u128 *v, u128 *mask)
{
	if (!w->tracked)
		return false;
	*v = w->tracked->c.status;
	*mask = ~(u128)w->tracked->c.status_doubt;
	return true;
}

void track_mark(struct walk *w)
{
	u128 v, mask;

	if (!w->tracked)
		return;
	guess_bits(w, FIELD_CT_MARK, &v, &mask);
	w->tracked->c.mark = (uint32_t)v;
	w->tracked->c.mark_mask = (uint32_t)mask;
}

/* ---------- translations ---------- */

void track_nat(struct walk *w, bool is_dst, bool is_known)
{
	struct translation *n;
	enum field port = is_dst ? FIELD_DPORT : FIELD_SPORT;

	w->is_translated = true;
	if (!w->tracked)
		return;
	n = &w->tracked->c.nat[is_dst];
	n->is_set = 1;
	n->is_known = is_known;
	w->tracked->c.status |= w->nat_status;
	w->tracked->c.status_doubt |= w->nat_doubt;
	if (!is_known)
		return;
	track_put_addr(n->addr, w->f.v[is_dst ? FIELD_DST : FIELD_SRC]);
	n->port = w->f.has[port] == EVAL_YES ? (uint16_t)w->f.v[port] : 0;
	memcpy(is_dst ? w->tracked->c.reply.src : w->tracked->c.reply.dst, n->addr, 16);
	if (has_ports(w->tracked->c.orig.proto)) {
		if (is_dst)
			w->tracked->c.reply.sport = n->port;
		else
			w->tracked->c.reply.dport = n->port;
	}
}

void track_translate(struct walk *w)
{
	struct tracked *tr = w->tracked;
	bool is_dst = w->hook == HOOK_PREROUTING || w->hook == HOOK_OUTPUT;
	const struct translation *n;
	u128 addr, port;

	if (!tr || tr->is_new || tr->translated[is_dst])
		return;
	tr->translated[is_dst] = true;
	/* A reply's destination is what the source was, and the other way round. */
	n = &tr->c.nat[tr->is_reply ? !is_dst : is_dst];
	if (!n->is_set)
		return;
	if (tr->is_error) /* what it quotes is translated with it */
		effect_patch(w, w->f.l4_off + 2, w->f.l4_len > 2 ? w->f.l4_len - 2 : 0, NULL);
	if (!n->is_known) {
		nat_write(w, is_dst, NULL, NULL);
	} else {
		const struct tuple *o = &tr->c.orig;

		addr = tr->is_reply ? get_addr(is_dst ? o->src : o->dst) : get_addr(n->addr);
		port = tr->is_reply ? (is_dst ? o->sport : o->dport) : n->port;
		nat_write(w, is_dst, &addr, &port);
	}
	walk_note(w, "%s is translated as the connection's first packet was", is_dst ? "the destination" : "the source");
}

/* ---------- the packet's end ---------- */

static int64_t timeout_s(const struct walk *w, const struct tracked *tr)
{
	bool has_reply = tr->c.status & CT_STATUS_SEEN_REPLY;

	switch (tr->c.orig.proto) {
	case 6:
		return tcp_timeout_s((enum tcp_state)tr->c.tcp.state, has_reply);
	case 17:
	case 136:
		return has_reply && w->e->now_ns > tr->c.created_ns + 2 * (int64_t)NS ? 120 : 30;
	case 1:
	case 58:
		return 30;
	case 47:
		return has_reply ? 180 : 30;
	case 132:
		return has_reply ? 210 : 3;
	default:
		return 600;
	}
}

static void put_direction(struct walk *w, const struct tuple *t, const struct conn *c, bool is_reply, int64_t until)
{
	struct direction d;
	struct key k;

	memset(&d, 0, sizeof d);
	d.orig = c->orig;
	d.is_reply = is_reply;
	track_key(&k, 'T', t);
	store_put(w->e->store, &k, &d, sizeof d, until);
}

/* Replies of another connection look alike: the kernel then takes another source port, and nobody knows which. */
static void avoid_clash(const struct walk *w, struct conn *c)
{
	struct tracked other;

	if (find(w, &c->reply, &other) == FOUND_NONE)
		return;
	c->nat[0] = (struct translation){ .is_set = 1 };
	c->status_doubt |= CT_STATUS_SRC_NAT & ~c->status;
}

static void leave_connection(struct walk *w, struct conn *c, int64_t until)
{
	struct key k;

	c->status |= CT_STATUS_CONFIRMED;
	c->until_ns = until;
	if (hidden_is(c))
		until = hidden_put(w, c);
	track_key(&k, 'C', &c->orig);
	store_put(w->e->store, &k, c, sizeof *c, until);
	put_direction(w, &c->orig, c, false, until);
	if (!hidden_is(c))
		put_direction(w, &c->reply, c, true, until);
}

void track_leave(struct walk *w, enum verdict v)
{
	struct tracked *tr = w->tracked;
	bool is_gone = v != VERDICT_ACCEPT && v != VERDICT_STOLEN && v != VERDICT_QUEUE;

	if (!tr && w->is_translated && !is_gone)
		hidden_translation(w);
	if (!tr || tr->is_error)
		return;
	if (tr->is_new && is_gone)
		return; /* dropped before anybody remembered it */
	if (tr->is_killed) {
		kill_conn(w, &tr->c);
		return;
	}
	if (tr->is_new)
		avoid_clash(w, &tr->c);
	leave_connection(w, &tr->c, tr->keeps_time ? tr->c.until_ns : w->e->now_ns + timeout_s(w, tr) * NS);
	if (tr->is_new && v == VERDICT_QUEUE) /* and whether the program lets it through is not known */
		hidden_begins(w, &tr->c.orig, &tr->c.reply);
}
