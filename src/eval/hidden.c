/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the tracker knows that it does not know. Three things hide connections from it:
 *
 *   a translation to one of several addresses or ports: nobody knows what the replies look like
 *       A > B is masqueraded as ? > B: what comes from B may be the reply, so its state is unknown; and once something
 *       came from B, A > B may have been answered, so its state is unknown, too
 *   a packet whose state is unknown: it may have begun a connection, so both its directions are unknown from then on
 *   a packet of which too little was captured: nobody knows which connection it belongs to, so all of its protocol's are
 *
 * Only what the packet's addresses leave possible becomes unknown; all the rest stays as certain as it was.
 */
#include "eval/track.h"

enum { NS = 1000000000, ANY_PROTO = 0 };

static bool end_is_hidden(const struct conn *c, bool is_dst)
{
	return c->nat[is_dst].is_set && !c->nat[is_dst].is_known;
}

bool hidden_is(const struct conn *c)
{
	return end_is_hidden(c, false) || end_is_hidden(c, true);
}

/* Which end of the replies is known: s source, d destination, * none. */
static char known_end(const struct conn *c)
{
	if (!end_is_hidden(c, true))
		return 's';
	return end_is_hidden(c, false) ? '*' : 'd';
}

/* kind X: there are replies like this; Y: one may have come. */
static void key_replies(struct key *k, char kind, char end, const struct tuple *reply)
{
	key_start(k, kind);
	key_add(k, &end, 1);
	key_add(k, &reply->proto, 1);
	key_add(k, &reply->family, 1);
	if (end != '*')
		key_add(k, end == 's' ? reply->src : reply->dst, 16);
}

/* The longest that any state of a connection lasts. */
static int64_t longest_s(unsigned proto)
{
	switch (proto) {
	case 6:
		return 432000;
	case 1:
	case 58:
		return 30;
	default:
		return 600;
	}
}

static bool holds(const struct walk *w, const struct key *k)
{
	struct store_value v;

	return store_get(w->e->store, k, &v) != STORE_NONE;
}

static void remember(struct walk *w, const struct key *k, unsigned proto)
{
	store_put(w->e->store, k, "1", 1, w->e->now_ns + longest_s(proto) * NS);
}

int64_t hidden_put(struct walk *w, const struct conn *c)
{
	struct key k;

	key_replies(&k, 'X', known_end(c), &c->reply);
	remember(w, &k, c->orig.proto);
	return w->e->now_ns + longest_s(c->orig.proto) * NS;
}

bool hidden_is_doubtful(const struct walk *w, const struct conn *c)
{
	struct key k;

	if (!hidden_is(c))
		return false;
	key_replies(&k, 'Y', known_end(c), &c->reply);
	return w->e->now_ns > c->until_ns || holds(w, &k);
}

bool hidden_may_reply(const struct walk *w, const struct tuple *t)
{
	struct key k;

	for (const char *end = "sd*"; *end; end++) {
		key_replies(&k, 'X', *end, t);
		if (holds(w, &k))
			return true;
	}
	return false;
}

bool hidden_meets(struct walk *w, const struct tuple *t)
{
	bool any = false;
	struct key k;

	for (const char *end = "sd*"; *end; end++) {
		key_replies(&k, 'X', *end, t);
		if (!holds(w, &k))
			continue;
		remember(w, &k, t->proto);
		key_replies(&k, 'Y', *end, t);
		remember(w, &k, t->proto);
		any = true;
	}
	return any;
}

void hidden_begins(struct walk *w, const struct tuple *t, const struct tuple *reply)
{
	struct key k;

	track_key(&k, 'T', t);
	store_doubt(w->e->store, &k);
	track_key(&k, 'T', reply);
	store_doubt(w->e->store, &k);
}

void hidden_translation(struct walk *w)
{
	struct tuple reply = { .family = (uint8_t)w->f.family, .proto = (uint8_t)w->f.v[FIELD_PROTO] };
	char end = w->f.known[FIELD_DST] ? 's' : w->tuple_known[0] && !w->is_src_nat ? 'd' : '*';
	struct key k;

	track_put_addr(reply.src, w->f.v[FIELD_DST]);
	track_put_addr(reply.dst, w->tuple[0]);
	key_replies(&k, 'X', end, &reply);
	remember(w, &k, reply.proto);
}

/* ---------- packets of which too little was captured ---------- */

static void key_unseen(struct key *k, const struct walk *w, unsigned proto)
{
	uint8_t what[2] = { (uint8_t)w->f.family, (uint8_t)proto };

	key_start(k, 'Z');
	key_add(k, what, sizeof what);
}

void hidden_packet(struct walk *w)
{
	struct key k;

	if (w->f.has[FIELD_FRAG] == EVAL_YES && w->f.known[FIELD_FRAG] && w->f.v[FIELD_FRAG])
		return; /* a later fragment begins nothing */
	key_unseen(&k, w, w->f.known[FIELD_PROTO] ? (unsigned)w->f.v[FIELD_PROTO] : ANY_PROTO);
	store_put(w->e->store, &k, "1", 1, INT64_MAX);
}

bool hidden_packets(const struct walk *w, unsigned proto)
{
	struct key k, any;

	key_unseen(&k, w, proto);
	key_unseen(&any, w, ANY_PROTO);
	return holds(w, &k) || holds(w, &any);
}
