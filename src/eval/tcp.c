/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TCP as a tracker in the middle sees it: which packets fit the connection's state, and what comes next.
 *
 *     SYN ->  SYN_SENT   <- SYN,ACK  SYN_RECV   ACK ->  ESTABLISHED
 *     FIN     FIN_WAIT   ACK  CLOSE_WAIT   FIN  LAST_ACK   ACK  TIME_WAIT      RST  CLOSE
 *
 * A connection whose beginning was not seen is picked up at an ACK (nf_conntrack_tcp_loose is 1). Sequence numbers,
 * windows and checksums are not looked at: the kernel calls a packet outside the window invalid, this one does not.
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

static enum tcp_state next_syn(enum tcp_state s, bool is_reply)
{
	if (!is_reply)
		return s == TCP_NONE ? TCP_SYN_SENT : s; /* one too many is ignored */
	return s == TCP_SYN_SENT || s == TCP_SYN_SENT2 ? TCP_SYN_SENT2 : TCP_NONE;
}

static enum tcp_state next_synack(enum tcp_state s, bool is_reply)
{
	if (s == TCP_NONE || (s == TCP_SYN_SENT && !is_reply))
		return TCP_NONE;
	return s == TCP_SYN_SENT || s == TCP_SYN_SENT2 ? TCP_SYN_RECV : s;
}

static enum tcp_state next_fin(enum tcp_state s)
{
	switch (s) {
	case TCP_SYN_RECV:
	case TCP_ESTABLISHED:
		return TCP_FIN_WAIT;
	case TCP_FIN_WAIT:
	case TCP_CLOSE_WAIT:
		return TCP_LAST_ACK;
	case TCP_LAST_ACK:
	case TCP_TIME_WAIT:
	case TCP_CLOSE:
		return s;
	default:
		return TCP_NONE;
	}
}

static enum tcp_state next_ack(enum tcp_state s, bool is_reply)
{
	switch (s) {
	case TCP_NONE:
		return is_reply ? TCP_NONE : TCP_ESTABLISHED;
	case TCP_SYN_SENT:
	case TCP_SYN_SENT2:
		return is_reply ? s : TCP_NONE;
	case TCP_SYN_RECV:
		return is_reply ? s : TCP_ESTABLISHED;
	case TCP_FIN_WAIT:
		return TCP_CLOSE_WAIT;
	case TCP_LAST_ACK:
		return TCP_TIME_WAIT;
	default:
		return s;
	}
}

enum tcp_state tcp_next(enum tcp_state s, unsigned flags, bool is_reply)
{
	if (flags & RST)
		return s == TCP_NONE ? TCP_NONE : TCP_CLOSE;
	if (flags & SYN)
		return flags & ACK ? next_synack(s, is_reply) : next_syn(s, is_reply);
	if (flags & FIN)
		return next_fin(s);
	return flags & ACK ? next_ack(s, is_reply) : TCP_NONE;
}

bool tcp_reopens(const struct conn *c, unsigned flags, bool is_reply)
{
	if ((flags & (SYN | ACK | RST | FIN)) != SYN)
		return false;
	if (c->tcp != TCP_TIME_WAIT && (c->tcp != TCP_CLOSE || is_reply))
		return false;
	return c->has_closed || c->last_rst == (is_reply ? 2 : 1);
}

int64_t tcp_timeout_s(enum tcp_state s, bool has_reply)
{
	static const int32_t seconds[TCP_STATE_COUNT] = {
		[TCP_SYN_SENT] = 120, [TCP_SYN_SENT2] = 120, [TCP_SYN_RECV] = 60, [TCP_ESTABLISHED] = 432000,
		[TCP_FIN_WAIT] = 120, [TCP_CLOSE_WAIT] = 60, [TCP_LAST_ACK] = 30, [TCP_TIME_WAIT] = 120, [TCP_CLOSE] = 10,
	};

	return s == TCP_ESTABLISHED && !has_reply ? 300 : seconds[s];
}
