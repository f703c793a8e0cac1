/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TCP as a tracker in the middle sees it: which packets fit the connection's state, and what comes next.
 *
 *     SYN ->  SYN_SENT   <- SYN,ACK  SYN_RECV   ACK ->  ESTABLISHED
 *     FIN     FIN_WAIT   ACK  CLOSE_WAIT   FIN  LAST_ACK   ACK  TIME_WAIT      RST  CLOSE
 *
 * A connection whose beginning was not seen is picked up at an ACK (nf_conntrack_tcp_loose is 1). A packet that may be the
 * sign of another connection between the same ports, such as a SYN in the middle, is let through and ignored: neither the
 * state nor the time that the connection has left changes, and what answers it decides.
 *
 * Of sequence numbers only one thing is looked at: whether a SYN,ACK acknowledges a SYN that was ignored. Windows are not:
 * the kernel calls a packet outside of them invalid, and so a RST below what was acknowledged; this one does not.
 */
#include "eval/track.h"

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, URG = 32 };

bool tcp_flags_valid(unsigned flags)
{
	static const unsigned valid[] = { SYN, SYN | URG, SYN | ACK, RST, RST | ACK, FIN | ACK, FIN | ACK | URG, ACK, ACK | URG };
	unsigned f = flags & (FIN | SYN | RST | ACK | URG);

	for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
		if (valid[i] == f)
			return true;
	return false;
}

/* ---------- states ---------- */

/*
 * What a packet makes of a state: a digit is the next one, '.' ignores the packet, '-' calls it invalid. The kernel decides
 * alike (net/netfilter/nf_conntrack_proto_tcp.c; tests/oracle/tracker.py asks it). By direction and kind; columns:
 * NONE SYN_SENT SYN_SENT2 SYN_RECV ESTABLISHED FIN_WAIT CLOSE_WAIT LAST_ACK TIME_WAIT CLOSE
 */
static const char next_state[2][TCP_KIND_COUNT][TCP_STATE_COUNT + 1] = {
	{ [TCP_SYN] = "112.....11",
	  [TCP_SYNACK] = "--33------",
	  [TCP_FIN] = "---5577789",
	  [TCP_ACK] = "4--4466889",
	  [TCP_RST] = "-999999999" },
	{ [TCP_SYN] = "-22-----1-",
	  [TCP_SYNACK] = "-33.......",
	  [TCP_FIN] = "---5577789",
	  [TCP_ACK] = "-..3466889",
	  [TCP_RST] = "-999999999" },
};

static enum tcp_kind kind_of(unsigned flags)
{
	if (flags & RST)
		return TCP_RST;
	if (flags & SYN)
		return flags & ACK ? TCP_SYNACK : TCP_SYN;
	return flags & FIN ? TCP_FIN : TCP_ACK;
}

struct tcp_segment tcp_segment(const struct walk *w, bool is_reply)
{
	const uint8_t *p = w->f.l3 + w->f.l4_off;
	unsigned flags = (unsigned)w->f.v[FIELD_TCP_FLAGS];
	uint32_t seq = (uint32_t)p[4] << 24 | (uint32_t)p[5] << 16 | (uint32_t)p[6] << 8 | p[7];
	uint32_t data = w->f.l3_wire_len - w->f.l4_off - (uint32_t)(p[12] >> 4) * 4;

	return (struct tcp_segment){
		.kind = kind_of(flags),
		.is_reply = is_reply,
		.end = seq + data + !!(flags & SYN) + !!(flags & FIN),
		.ack = (uint32_t)p[8] << 24 | (uint32_t)p[9] << 16 | (uint32_t)p[10] << 8 | p[11],
	};
}

/* A SYN,ACK that acknowledges a SYN which was ignored: both ends have begun anew. */
static bool resyncs(const struct tcp_conn *c, const struct tcp_segment *s)
{
	return s->kind == TCP_SYNACK && c->last == TCP_SYN && c->last_is_reply != s->is_reply && s->ack == c->last_end;
}

/* An ACK that answers a SYN in LAST_ACK (RFC 5961) does not acknowledge the FIN. */
static bool is_challenge(const struct tcp_conn *c, const struct tcp_segment *s)
{
	return c->state == TCP_LAST_ACK && s->kind == TCP_ACK && c->may_challenge && c->last == TCP_SYN &&
	       c->last_is_reply != s->is_reply;
}

static void remember(struct tcp_conn *c, const struct tcp_segment *s)
{
	c->last = (uint8_t)s->kind;
	c->last_is_reply = s->is_reply;
}

static enum tcp_answer ignore(struct tcp_conn *c, const struct tcp_segment *s)
{
	remember(c, s);
	c->last_end = s->end;
	if (s->kind == TCP_SYN && !s->is_reply) {
		c->is_simultaneous = false;
		c->may_challenge = c->state == TCP_LAST_ACK;
	}
	return TCP_IGNORED;
}

enum tcp_answer tcp_meet(struct tcp_conn *c, const struct tcp_segment *s)
{
	char x = next_state[s->is_reply][s->kind][c->state];
	enum tcp_state next = x >= '0' ? (enum tcp_state)(x - '0') : TCP_SYN_RECV;

	if (x == '-')
		return TCP_INVALID;
	if (next == TCP_SYN_SENT && (c->state == TCP_TIME_WAIT || c->state == TCP_CLOSE)) {
		if (c->has_closed || (c->last == TCP_RST && c->last_is_reply == s->is_reply))
			return TCP_REOPENS;
		x = '.';
	}
	if (x == '.' && !resyncs(c, s))
		return ignore(c, s);
	if (is_challenge(c, s)) {
		c->may_challenge = false;
		return TCP_IGNORED;
	}
	if (x == '.')
		c->has_closed = c->may_challenge = false;
	if (next == TCP_SYN_SENT2)
		c->is_simultaneous = true;
	if (next == TCP_SYN_RECV && s->is_reply && s->kind == TCP_ACK && c->is_simultaneous)
		next = TCP_ESTABLISHED;
	c->has_closed |= next == TCP_FIN_WAIT && c->state != TCP_FIN_WAIT;
	c->state = (uint8_t)next;
	remember(c, s);
	return TCP_FITS;
}

int64_t tcp_timeout_s(enum tcp_state s, bool has_reply)
{
	static const int32_t seconds[TCP_STATE_COUNT] = {
		[TCP_SYN_SENT] = 120, [TCP_SYN_SENT2] = 120, [TCP_SYN_RECV] = 60, [TCP_ESTABLISHED] = 432000,
		[TCP_FIN_WAIT] = 120, [TCP_CLOSE_WAIT] = 60, [TCP_LAST_ACK] = 30, [TCP_TIME_WAIT] = 120, [TCP_CLOSE] = 10,
	};

	return s == TCP_ESTABLISHED && !has_reply ? 300 : seconds[s];
}
