/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests that remember: which of them it is, and the small ones. rate.c has limit and hashlimit, recent.c the lists.
 *
 *   nth        counts the packets that reach it; the first one matches with --packet 0, then every n-th
 *   random     unknown, unless the probability is 0 or 1
 *   quota      gives out bytes until a packet does not fit; from then on nothing
 *   time       the packet's time if it is one of the calendar (captures); the kernel's time zone is unknown
 *   connlimit  connections of the address through this rule that the tracker still holds; without it unknown. (The
 *              kernel cleans its list once a tick of its clock; within one tick it counts a connection twice.)
 *
 * A test has a state of its own: each of the rules that one line makes, as in the kernel; twins share one.
 */
#include "eval/state.h"

enum { NS = 1000000000, DAY_S = 86400 };

void state_key(const struct walk *w, const struct test *t, char kind, struct key *k)
{
	const struct state_spec *s = t->state;

	key_start(k, kind);
	if (s->shared_name.n) {
		/* A name of nft's has its table, whatever the family. */
		uint8_t fam = s->rate.n_keys || s->connlimit.n_keys ? FAMILY_ALL : (uint8_t)w->f.family;

		key_add(k, &fam, 1);
		key_str(k, t->state->shared_name);
		return;
	}
	key_add(k, &s, sizeof s);
}

enum eval_truth state_values(struct walk *w, const struct map_key *keys, unsigned n, struct key *k)
{
	enum eval_truth all = EVAL_YES;

	for (unsigned i = 0; i < n; i++) {
		struct key_value x = keys_value(w, &keys[i]);

		if (x.is_there == EVAL_NO)
			return EVAL_NO;
		if (x.is_there == EVAL_UNKNOWN || !x.is_known)
			all = EVAL_UNKNOWN;
		key_add(k, &x.v, sizeof x.v);
	}
	return all;
}

enum eval_truth state_answer(struct walk *w, const struct test *t, bool raw, const char *fmt, ...)
{
	va_list ap;

	if (w->has_trace) {
		va_start(ap, fmt);
		w->why = arena_vprintf(w->a, fmt, ap);
		va_end(ap);
	}
	return raw != t->negated ? EVAL_YES : EVAL_NO;
}

enum eval_truth state_ask(struct walk *w, const struct test *t, const char *why)
{
	const char *name = t->what ? t->what : "a stateful match";

	if (w->is_peeking) {
		w->why = arena_printf(w->a, "%s: %s", name, why);
		return EVAL_UNKNOWN;
	}
	return fork_choose(w, "%s: %s", name, why) ? EVAL_YES : EVAL_NO;
}

enum eval_truth state_absent(struct walk *w, const struct test *t)
{
	if (w->has_trace)
		w->why = arena_printf(w->a, "%s: the packet lacks what it counts by", t->what ? t->what : "a stateful match");
	return t->on_absent ? EVAL_YES : EVAL_NO;
}

/* ---------- nth ---------- */

static enum eval_truth nth(struct walk *w, const struct test *t)
{
	const struct state_spec *s = t->state;
	uint32_t every = s->nth.every ? s->nth.every - 1 : 0, count = every - s->nth.packet;
	struct store_value v;
	enum store_answer x;
	struct key k;

	state_key(w, t, 'N', &k);
	x = store_get(w->e->store, &k, &v);
	if (x == STORE_UNCERTAIN) {
		store_doubt(w->e->store, &k);
		return state_ask(w, t, "how many packets reached it is not known");
	}
	if (x == STORE_HERE)
		memcpy(&count, v.p, sizeof count);
	count = count == every ? 0 : count + 1;
	store_put(w->e->store, &k, &count, sizeof count, INT64_MAX);
	return state_answer(w, t, count == 0, count ? "it is %u of %u packets behind the last that matched" :
						      "it is the packet that counts (%u of %u)",
			    count, every + 1);
}

/* ---------- random ---------- */

static enum eval_truth random_truth(struct walk *w, const struct test *t)
{
	if (t->state->random.threshold == 0)
		return state_answer(w, t, false, "the probability is 0");
	if (t->state->random.threshold > 0x7fffffff)
		return state_answer(w, t, true, "the probability is 1");
	return state_ask(w, t, "it is random");
}

/* ---------- quota ---------- */

static enum eval_truth quota(struct walk *w, const struct test *t)
{
	uint64_t bytes = t->state->quota.bytes, used = t->state->quota.used, left = bytes > used ? bytes - used : 0, len;
	struct store_value v;
	enum store_answer x;
	struct key k;
	bool fits;

	state_key(w, t, 'B', &k);
	x = store_get(w->e->store, &k, &v);
	if (x == STORE_UNCERTAIN || w->f.has[FIELD_LENGTH] != EVAL_YES || !w->f.known[FIELD_LENGTH]) {
		store_doubt(w->e->store, &k);
		return state_ask(w, t, "what is left of the quota is not known");
	}
	if (x == STORE_HERE)
		memcpy(&left, v.p, sizeof left);
	len = (uint64_t)w->f.v[FIELD_LENGTH];
	fits = left >= len;
	left = fits ? left - len : 0;
	store_put(w->e->store, &k, &left, sizeof left, INT64_MAX);
	return state_answer(w, t, fits != t->state->quota.above, fits ? "%llu bytes of the quota are left" : "the quota is used up (%llu bytes left)",
			    (unsigned long long)left);
}

/* ---------- time ---------- */

/* Day of the month of a day since 1970-01-01. */
static unsigned day_of_month(int64_t day)
{
	static const uint8_t lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int64_t year = 1970;

	for (;; year++) {
		bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

		for (unsigned m = 0; m < 12; m++) {
			unsigned n = lengths[m] + (m == 1 && leap ? 1u : 0u);

			if (day < n)
				return (unsigned)day + 1;
			day -= n;
		}
	}
}

static bool time_matches(const struct state_spec *s, int64_t now_s)
{
	int64_t day = now_s / DAY_S;
	uint32_t second = (uint32_t)(now_s % DAY_S), start = s->time.day_start_s, stop = s->time.day_stop_s;

	if (now_s < s->time.start_s || now_s > s->time.stop_s)
		return false;
	if (start < stop && (second < start || second > stop))
		return false;
	if (start >= stop) { /* over midnight */
		if (second < start && second > stop)
			return false;
		if (s->time.contiguous && second <= stop)
			day--;
	}
	if (s->time.weekdays && !(s->time.weekdays >> ((3 + day) % 7 + 1) & 1)) /* day 0 was a Thursday, 4 */
		return false;
	return !s->time.monthdays || (day >= 0 && s->time.monthdays >> day_of_month(day) & 1);
}

static enum eval_truth time_truth(struct walk *w, const struct test *t)
{
	if (!w->p->has_time || !w->p->time_is_epoch)
		return state_ask(w, t, "the time of day is not known");
	if (t->state->time.local_tz)
		return state_ask(w, t, "the kernel's time zone is not known");
	return state_answer(w, t, w->e->now_ns >= 0 && time_matches(t->state, w->e->now_ns / NS), "the time is %lld s",
			    (long long)(w->e->now_ns / NS));
}

/* ---------- connlimit ---------- */

/* NO: a value that the rule asks for is absent. */
static enum eval_truth read_key(struct walk *w, const struct test *t, struct key *k)
{
	const struct state_spec *s = t->state;
	enum field f = s->connlimit.by_dst ? FIELD_DST : FIELD_SRC;
	unsigned bits = w->f.family == FAMILY_IP4 ? 32 : 128, plen = s->connlimit.plen;
	u128 addr = w->f.v[f];

	state_key(w, t, 'L', k);
	if (s->connlimit.n_keys)
		return state_values(w, s->connlimit.key, s->connlimit.n_keys, k);
	if (s->connlimit.of_rule)
		return EVAL_YES;
	if (w->f.has[f] != EVAL_YES || !w->f.known[f])
		return EVAL_UNKNOWN;
	if (plen < bits)
		addr = plen ? addr >> (bits - plen) << (bits - plen) : 0;
	key_add(k, &addr, sizeof addr);
	return EVAL_YES;
}

/* What counts: the packet's connection, or if it has none, the packet itself. */
static bool counts_as(struct walk *w, struct tuple *self)
{
	if (w->tracked) {
		*self = w->tracked->c.orig;
		return true;
	}
	return w->e->opt.track && conn_exists(w) == EVAL_NO && track_tuple(w, self);
}

/*
 * The list of connections that this rule saw of an address, without those that are gone. The kernel stops looking for
 * such at the packet's own, and so does this.
 */
static size_t count_open(struct walk *w, const struct key *k, const struct store_value *v, const struct tuple *self)
{
	VEC(struct tuple) open = { 0 };
	bool is_counted = false;

	for (size_t i = 0; i + sizeof(struct tuple) <= v->n; i += sizeof(struct tuple)) {
		struct tuple one;

		memcpy(&one, (const char *)v->p + i, sizeof one);
		if (!is_counted && memcmp(&one, self, sizeof one) == 0)
			is_counted = true;
		else if (!is_counted && !track_is_open(w, &one))
			continue;
		*vec_add(w->a, &open) = one;
	}
	if (!is_counted)
		*vec_add(w->a, &open) = *self;
	store_put(w->e->store, k, open.v, open.n * sizeof *open.v, INT64_MAX);
	return open.n;
}

/* A later fragment, or IPv6 with nothing behind its headers: the kernel finds no protocol, and drops it. */
static bool has_no_tuple(struct walk *w)
{
	bool is_later = w->f.known[FIELD_FRAG] && w->f.v[FIELD_FRAG];
	bool is_empty = w->f.family == FAMILY_IP6 && w->f.known[FIELD_PROTO] && w->f.v[FIELD_PROTO] == 59;

	return (is_later || is_empty) && conn_exists(w) == EVAL_NO;
}

static enum eval_truth connlimit(struct walk *w, const struct test *t)
{
	const struct state_spec *s = t->state;
	struct store_value v;
	struct tuple self;
	struct key k;
	size_t n;
	enum eval_truth x = read_key(w, t, &k);

	if (x == EVAL_NO)
		return state_absent(w, t);
	if (!w->tracked && has_no_tuple(w)) {
		w->hot_drop = "connlimit finds no protocol to count";
		return EVAL_NO;
	}
	if (x == EVAL_UNKNOWN || !counts_as(w, &self))
		return state_ask(w, t, "how many connections there are is not known");
	if (store_get(w->e->store, &k, &v) == STORE_UNCERTAIN) {
		store_doubt(w->e->store, &k);
		return state_ask(w, t, "how many connections there are is not known");
	}
	n = count_open(w, &k, &v, &self);
	return state_answer(w, t, s->connlimit.above ? n > s->connlimit.limit : n <= s->connlimit.limit,
			    "there are %zu connections", n);
}

enum eval_truth state_truth(struct walk *w, const struct test *t)
{
	switch (t->state->kind) {
	case STATE_LIMIT:
		return rate_limit(w, t);
	case STATE_HASHLIMIT:
		return rate_hashlimit(w, t);
	case STATE_RECENT:
		return recent_truth(w, t);
	case STATE_CONNLIMIT:
		return connlimit(w, t);
	case STATE_NTH:
		return nth(w, t);
	case STATE_RANDOM:
		return random_truth(w, t);
	case STATE_QUOTA:
		return quota(w, t);
	case STATE_TIME:
		break;
	}
	return time_truth(w, t);
}
