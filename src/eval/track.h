/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The connection tracker's records. See track.c. */
#ifndef WEIR_EVAL_TRACK_H
#define WEIR_EVAL_TRACK_H

#include "eval/walk.h"

/* One direction of a connection. ICMP: sport is the id, dport type << 8 | code. No padding: compared as bytes. */
struct tuple {
	uint8_t src[16], dst[16];
	uint16_t sport, dport;
	uint8_t proto, family;
};

/* The order is that of the table in tcp.c. */
enum tcp_state { TCP_NONE, TCP_SYN_SENT, TCP_SYN_SENT2, TCP_SYN_RECV, TCP_ESTABLISHED, TCP_FIN_WAIT, TCP_CLOSE_WAIT,
		 TCP_LAST_ACK, TCP_TIME_WAIT, TCP_CLOSE, TCP_STATE_COUNT };

struct translation {
	uint8_t is_set, is_known;
	uint16_t port;
	uint8_t addr[16];
};

enum tcp_kind { TCP_OTHER, TCP_SYN, TCP_SYNACK, TCP_FIN, TCP_ACK, TCP_RST, TCP_KIND_COUNT };

struct tcp_conn {
	uint8_t state;		 /* enum tcp_state */
	uint8_t last;		 /* enum tcp_kind of the last packet that was not invalid */
	uint8_t last_is_reply;
	uint8_t has_closed;	 /* a FIN was seen first in some direction */
	uint8_t is_simultaneous; /* both ends have sent a SYN */
	uint8_t may_challenge;	 /* a SYN was ignored in LAST_ACK, and an ACK may answer it */
	uint32_t last_end;	 /* if the last packet was ignored: the sequence number behind it */
};

struct conn {
	struct tuple orig, reply; /* reply: only good if the translations are known */
	uint32_t mark, mark_mask; /* mask: bits that are known */
	uint32_t status, status_doubt; /* CT_STATUS_*, and those that nobody knows */
	struct tcp_conn tcp;
	struct translation nat[2]; /* 0 source, 1 destination */
	int64_t created_ns, until_ns;
};

struct tracked {
	struct conn c;
	bool is_reply;
	bool is_new;	/* nobody knows it yet */
	bool is_error;	/* an ICMP error that speaks of it */
	bool is_killed;
	bool keeps_time; /* the packet does not prolong it */
	bool translated[2];
	int64_t timeout_ns;
};

bool track_tuple(const struct walk *w, struct tuple *t); /* the packet's own; false: not everything is known */
void track_put_addr(uint8_t *out, u128 v);
void track_key(struct key *k, char kind, const struct tuple *t);
bool track_is_open(const struct walk *w, const struct tuple *orig); /* known, and not closing */
/* ---------- hidden.c ---------- */
bool hidden_is(const struct conn *c); /* what its replies look like is not known */
int64_t hidden_put(struct walk *w, const struct conn *c); /* it is there; returns until when it must be kept */
bool hidden_is_doubtful(const struct walk *w, const struct conn *c); /* hidden, and may have been answered or be gone */
bool hidden_may_reply(const struct walk *w, const struct tuple *t); /* the tuple may be a reply of a hidden connection */
bool hidden_meets(struct walk *w, const struct tuple *t); /* the same of a packet; from now on those may be answered */
/* A packet may or may not have begun a connection of these tuples. */
void hidden_begins(struct walk *w, const struct tuple *t, const struct tuple *reply);
void hidden_translation(struct walk *w); /* such a packet was translated, too */
void hidden_packet(struct walk *w);	 /* too little was captured to tell its connection */
bool hidden_packets(const struct walk *w, unsigned proto); /* there was such a packet of this protocol */

/* ---------- tcp.c ---------- */
bool tcp_flags_valid(unsigned flags);
struct tcp_segment {
	enum tcp_kind kind;
	bool is_reply;
	uint32_t ack, end; /* end: the sequence number behind it */
};
struct tcp_segment tcp_segment(const struct walk *w, bool is_reply); /* of a packet whose flags are known and valid */
/* FITS: *c goes on; IGNORED: it is the connection's, and changes nothing; REOPENS: the connection ends, another begins. */
enum tcp_answer { TCP_INVALID, TCP_FITS, TCP_IGNORED, TCP_REOPENS };
enum tcp_answer tcp_meet(struct tcp_conn *c, const struct tcp_segment *s); /* a new connection: all zero */
int64_t tcp_timeout_s(enum tcp_state s, bool has_reply);

#endif
