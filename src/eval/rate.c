/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Token buckets: limit and hashlimit.
 *
 *     limit 3/minute burst 5     a packet costs 20 s; the bucket holds 100 s, is full at first, and gains 1 s a second
 *
 * The kernel's sums, with its rounding of the rate (limit: 0.1 ms, hashlimit: 1 us, bytes: chunks of 16). The one
 * difference: the kernel's clock ticks (every 4 ms at HZ=250), this one does not, so near the edge a packet may match
 * here up to one tick earlier. Its credits are those of HZ=250 and 1000: a bucket of more than 134217 seconds wraps
 * around there, so that 1/hour with a burst of 40 lets 2 packets through at once; here too. In byte mode the bucket holds one second of the rate; the burst is how often an empty
 * one is filled at once.
 *
 * nft counts in nanoseconds instead, and does not round; of bytes, a bucket holds what comes in the time, and the burst. Its
 * groups are those of the values that the rule names. When it forgets one (so long after it was made, or after its last
 * packet) is not told apart here: in between it is unknown.
 *
 * hashlimit has a bucket for each group of packets. Tables are shared by name, and the first rule that names one makes
 * it: rate and masks of later rules are not looked at. A packet whose ports cannot be read is dropped by the kernel on
 * the spot, and ports are read wherever they would be, also in later fragments.
 */
#include "eval/state.h"

#define LIMIT_CREDITS 32000u	     /* in a second: HZ times the largest power of two below 2^32 / (HZ * 86400) */
#define HASH_CREDITS 137438953472000u /* the same of 2^64 */
#define NS_CREDITS 1000000000u
#define BYTE_CREDITS 4194304000u     /* the same of 2^32 / HZ: one second fills the bucket */
enum { CHUNK_SHIFT = 4, GC_MS = 1000 };

struct bucket {
	int64_t prev_ns;
	uint64_t credit;
	uint64_t refills; /* byte mode: how often it may be filled again */
	int64_t made_ns;
};

/* What fills it: credits a second, up to cap. */
struct filling {
	uint64_t per_s, cap, cost;
};

/* Time since the bucket was looked at last becomes credit; what is not a whole credit stays time. */
static void refill(struct bucket *b, const struct filling *f, int64_t now_ns)
{
	u128 gain = (u128)(uint64_t)(now_ns - b->prev_ns) * f->per_s / 1000000000;

	if (b->credit >= f->cap || gain >= f->cap - b->credit) {
		b->credit = f->cap;
		b->prev_ns = now_ns;
	} else {
		b->credit += (uint64_t)gain;
		b->prev_ns += (int64_t)(gain * 1000000000 / f->per_s);
	}
}

/* Spends if there is enough. */
static bool spend(struct bucket *b, uint64_t cost)
{
	if (b->credit < cost)
		return false;
	b->credit -= cost;
	return true;
}

/* Has an empty bucket had the time to fill up? */
static bool is_full_by(const struct filling *f, int64_t ns)
{
	return (u128)(uint64_t)ns * f->per_s / 1000000000 >= f->cap;
}

/* Ticks that a packet costs; iptables rounds down. */
static uint64_t ticks(const struct state_spec *s, uint64_t per_s)
{
	u128 n = (u128)s->rate.per_ms * per_s / 1000 / (s->rate.units ? s->rate.units : 1);

	return n ? (uint64_t)n : 1;
}

/* Credits of so many ticks of 0.1 ms, as limit computes them: in 32 bits, and in whole seconds when they are many. */
static uint32_t limit_credits(uint32_t n)
{
	if (n > UINT32_MAX / LIMIT_CREDITS)
		return n / 10000 * LIMIT_CREDITS;
	return n * LIMIT_CREDITS / 10000;
}

static struct filling limit_filling(const struct state_spec *s)
{
	uint32_t avg = (uint32_t)ticks(s, 10000);

	return (struct filling){ LIMIT_CREDITS, limit_credits(avg * (uint32_t)s->rate.burst), limit_credits(avg) };
}

/* In 64 bits, of ticks of 1 us. */
static struct filling hash_filling(const struct state_spec *s)
{
	uint64_t avg = ticks(s, 1000000), per_tick = HASH_CREDITS / 1000000;

	if (s->rate.by_bytes)
		return (struct filling){ BYTE_CREDITS, BYTE_CREDITS, 0 };
	return (struct filling){ HASH_CREDITS, avg * s->rate.burst * per_tick, avg * per_tick };
}

/*
 * The kernel forgets a bucket that was idle for its expiry, but looks for such only once a second (the usual
 * --hashlimit-htable-gcinterval): in that second it may be there or not.
 */
static bool may_be_gone(const struct walk *w, const struct state_spec *s, const struct bucket *b)
{
	int64_t since_ns = s->rate.n_keys ? b->made_ns : b->prev_ns;

	return s->rate.expire_ms && w->e->now_ns - since_ns >= (int64_t)s->rate.expire_ms * 1000000;
}

/* Reads the bucket at k; false: nobody knows what is in it. */
static bool bucket_get(struct walk *w, const struct key *k, const struct filling *f, struct bucket *b, bool *is_new)
{
	struct store_value v;
	enum store_answer x = store_get(w->e->store, k, &v);

	*is_new = x == STORE_NONE;
	if (x == STORE_UNCERTAIN && !is_full_by(f, w->e->now_ns - v.uncertain_ns))
		return false;
	if (x != STORE_HERE) { /* or it has had the time to fill up since nobody knew */
		*b = (struct bucket){ w->e->now_ns, f->cap, 0, w->e->now_ns };
		return true;
	}
	memcpy(b, v.p, sizeof *b);
	return true;
}

/* The sums of nft, for a packet of so many bytes. */
static struct filling ns_filling(const struct state_spec *s, uint64_t bytes)
{
	u128 ns = (u128)s->rate.per_ms * 1000000, units = s->rate.units ? s->rate.units : 1;

	if (s->rate.by_bytes)
		return (struct filling){ NS_CREDITS, (uint64_t)(ns * (units + s->rate.burst) / units),
					 (uint64_t)(ns * bytes / units) };
	return (struct filling){ NS_CREDITS, (uint64_t)(ns / units) * s->rate.burst, (uint64_t)(ns / units) };
}

static bool counts_in_ns(const struct state_spec *s)
{
	return s->rate.in_ns || s->rate.n_keys || (s->kind == STATE_LIMIT && s->rate.by_bytes);
}

static bool length_unknown(const struct walk *w, const struct state_spec *s)
{
	return s->rate.by_bytes && (w->f.has[FIELD_LENGTH] != EVAL_YES || !w->f.known[FIELD_LENGTH]);
}

enum eval_truth rate_limit(struct walk *w, const struct test *t)
{
	struct filling f = counts_in_ns(t->state) ? ns_filling(t->state, (uint64_t)w->f.v[FIELD_LENGTH]) :
						    limit_filling(t->state);
	struct bucket b;
	struct key k;
	bool is_new, fits;

	state_key(w, t, 'l', &k);
	if (length_unknown(w, t->state) || !bucket_get(w, &k, &f, &b, &is_new)) {
		store_doubt(w->e->store, &k);
		return state_ask(w, t, "how much of the limit is left is not known");
	}
	refill(&b, &f, w->e->now_ns);
	fits = spend(&b, f.cost);
	store_put(w->e->store, &k, &b, sizeof b, INT64_MAX);
	return state_answer(w, t, fits != t->state->rate.above, "the limit has room for %llu more",
			    (unsigned long long)(f.cost ? b.credit / f.cost : 0));
}

/* ---------- hashlimit ---------- */

static bool same_table(const struct walk *w, const struct rule *r, const struct test *x, const struct test *t)
{
	return x->kind == TEST_STATE && x->state->kind == STATE_HASHLIMIT && r->chain->family == w->f.family &&
	       str_eq(x->state->shared_name, t->state->shared_name);
}

/* The rule that made the table: the first in the ruleset that names it. */
static const struct state_spec *table_spec(const struct walk *w, const struct test *t)
{
	const struct ruleset *rs = w->e->rs;

	if (!t->state->shared_name.n || t->state->rate.n_keys)
		return t->state;
	for (size_t i = 0; i < w->e->hashlimits.n; i++) {
		const struct rule *r = rs->rules.v[w->e->hashlimits.v[i]];

		for (uint32_t k = 0; k < r->n_steps; k++)
			if (r->step[k].kind == STEP_TEST && same_table(w, r, &r->step[k].test, t))
				return r->step[k].test.state;
	}
	return t->state;
}

static u128 masked(const struct walk *w, enum field f, unsigned plen)
{
	unsigned bits = w->f.family == FAMILY_IP4 ? 32 : 128;

	if (plen >= bits)
		return w->f.v[f];
	return plen ? w->f.v[f] >> (bits - plen) << (bits - plen) : 0;
}

enum ports { PORTS_READ, PORTS_UNKNOWN, PORTS_BEYOND, PORTS_ABSENT };

/* The four bytes where this protocol has its ports, as the kernel reads them; 0 for protocols without. */
static enum ports read_ports(const struct walk *w, uint8_t out[4])
{
	const uint8_t *bytes = w->bytes ? w->bytes : w->f.l3;
	unsigned proto = (unsigned)w->f.v[FIELD_PROTO];
	uint32_t off = w->f.l4_off;

	memset(out, 0, 4);
	if (w->f.has[FIELD_PROTO] != EVAL_YES || !w->f.known[FIELD_PROTO])
		return PORTS_UNKNOWN;
	if (proto == 59 && w->f.family == FAMILY_IP6) /* nothing follows: the kernel cannot find it */
		return PORTS_BEYOND;
	if (proto == 51 && w->f.family == FAMILY_IP4)
		off += 4;
	else if (proto != 6 && proto != 17 && proto != 33 && proto != 50 && proto != 132 && proto != 136)
		return PORTS_READ;
	if (off + 4 > w->f.l3_wire_len)
		return PORTS_BEYOND;
	if (off + 4 > w->f.l3_len)
		return PORTS_UNKNOWN;
	for (unsigned i = 0; i < 4; i++) {
		if (w->bad && w->bad[off + i])
			return PORTS_UNKNOWN;
		out[i] = bytes[off + i];
	}
	return PORTS_READ;
}

static bool addr_known(const struct walk *w, enum field f)
{
	return w->f.has[f] == EVAL_YES && w->f.known[f];
}

/* The group that the packet belongs to. */
static enum ports group_key(struct walk *w, const struct state_spec *s, struct key *k)
{
	uint8_t ports[4] = { 0 };
	enum ports x = PORTS_READ;
	u128 v;

	if (s->rate.n_keys) {
		enum eval_truth y = state_values(w, s->rate.key, s->rate.n_keys, k);

		return y == EVAL_YES ? PORTS_READ : y == EVAL_NO ? PORTS_ABSENT : PORTS_UNKNOWN;
	}
	if (s->rate.mode & HASHLIMIT_SRCIP) {
		v = masked(w, FIELD_SRC, s->rate.src_plen);
		key_add(k, &v, sizeof v);
		x = addr_known(w, FIELD_SRC) || s->rate.src_plen == 0 ? x : PORTS_UNKNOWN;
	}
	if (s->rate.mode & HASHLIMIT_DSTIP) {
		v = masked(w, FIELD_DST, s->rate.dst_plen);
		key_add(k, &v, sizeof v);
		x = addr_known(w, FIELD_DST) || s->rate.dst_plen == 0 ? x : PORTS_UNKNOWN;
	}
	if (!(s->rate.mode & (HASHLIMIT_SRCPORT | HASHLIMIT_DSTPORT)))
		return x;
	if (x == PORTS_READ)
		x = read_ports(w, ports);
	if (s->rate.mode & HASHLIMIT_SRCPORT)
		key_add(k, ports, 2);
	if (s->rate.mode & HASHLIMIT_DSTPORT)
		key_add(k, ports + 2, 2);
	return x;
}

/* What a chunk costs, and how often the bucket is filled again, from the rate as iptables writes it. */
static void byte_rate(const struct state_spec *s, uint64_t *chunk_cost, uint64_t *refills)
{
	uint64_t per_s = s->rate.per_ms ? s->rate.units * 1000 / s->rate.per_ms : s->rate.units;
	uint64_t avg = UINT32_MAX / ((per_s >> CHUNK_SHIFT) + 1);
	uint64_t bytes = ((avg ? UINT32_MAX / avg : UINT32_MAX) - 1) << CHUNK_SHIFT;

	*chunk_cost = avg * BYTE_CREDITS >> 32;
	*refills = bytes ? (s->rate.burst + bytes - 1) / bytes : 0;
}

static bool hash_fits(struct walk *w, const struct state_spec *s, const struct filling *f, struct bucket *b, bool is_new)
{
	uint64_t chunk_cost, refills, cost = f->cost;

	refill(b, f, w->e->now_ns);
	if (s->rate.by_bytes && !counts_in_ns(s)) {
		byte_rate(s, &chunk_cost, &refills);
		if (is_new)
			b->refills = refills;
		cost = (((uint64_t)w->f.v[FIELD_LENGTH] >> CHUNK_SHIFT) + 1) * chunk_cost;
		if (cost > BYTE_CREDITS)
			cost = BYTE_CREDITS;
		if (b->credit < cost && b->refills) {
			b->refills--;
			b->credit = BYTE_CREDITS;
		}
	}
	return spend(b, cost);
}

/* A new group in a table that may be full: the kernel then drops the packet. True: it is dropped. */
static bool table_is_full(struct walk *w, const struct test *t, const struct state_spec *s)
{
	struct store_value v;
	struct key k;
	uint64_t n = 0;

	if (!s->rate.max_entries)
		return false;
	state_key(w, t, 'h', &k);
	if (store_get(w->e->store, &k, &v) == STORE_HERE)
		memcpy(&n, v.p, sizeof n);
	if (n >= s->rate.max_entries)
		return fork_choose(w, "hashlimit: the table has had %u groups and may be full", s->rate.max_entries);
	n++;
	store_put(w->e->store, &k, &n, sizeof n, INT64_MAX);
	return false;
}

/* When nobody can have the bucket any more. */
static int64_t forgotten_ns(const struct walk *w, const struct state_spec *s)
{
	return s->rate.expire_ms ? w->e->now_ns + ((int64_t)s->rate.expire_ms + GC_MS) * 1000000 - 1 : INT64_MAX;
}

static enum eval_truth hash_unknown(struct walk *w, const struct test *t, const char *why)
{
	struct key k;

	state_key(w, t, 'D', &k); /* some group of this table was touched: nobody knows which */
	store_doubt(w->e->store, &k);
	return state_ask(w, t, why);
}

enum eval_truth rate_hashlimit(struct walk *w, const struct test *t)
{
	const struct state_spec *s = table_spec(w, t);
	bool by_bytes = s->rate.by_bytes, is_new, fits, is_doubtful;
	struct filling f = counts_in_ns(s) ? ns_filling(s, (uint64_t)w->f.v[FIELD_LENGTH]) : hash_filling(s);
	struct store_value v;
	struct bucket b;
	struct key k, doubt;
	enum ports x;

	state_key(w, t, 'H', &k);
	x = group_key(w, s, &k);
	if (x == PORTS_BEYOND) {
		w->hot_drop = "hashlimit cannot read the ports";
		return EVAL_NO;
	}
	if (x == PORTS_ABSENT)
		return state_absent(w, t);
	if (x == PORTS_UNKNOWN || (by_bytes && !addr_known(w, FIELD_LENGTH)))
		return hash_unknown(w, t, "the group of the packet is not known");
	state_key(w, t, 'D', &doubt);
	if (store_get(w->e->store, &doubt, &v) != STORE_NONE)
		return hash_unknown(w, t, "how much of the limit is left is not known");
	if (!bucket_get(w, &k, &f, &b, &is_new)) {
		store_doubt(w->e->store, &k);
		return state_ask(w, t, "how much of the limit is left is not known");
	}
	if (is_new && table_is_full(w, t, s)) {
		if (s->rate.n_keys)
			return state_answer(w, t, t->negated, "the set is full"); /* the rule ends */
		w->hot_drop = "the table of hashlimit is full";
		return EVAL_NO;
	}
	is_doubtful = may_be_gone(w, s, &b) && (by_bytes || !is_full_by(&f, w->e->now_ns - b.prev_ns));
	fits = hash_fits(w, s, &f, &b, is_new);
	if (is_doubtful)
		store_doubt(w->e->store, &k);
	else
		store_put(w->e->store, &k, &b, sizeof b, forgotten_ns(w, s));
	if (is_doubtful && !fits) /* a new bucket would have had room */
		return state_ask(w, t, "whether the table still had the group is not known");
	return state_answer(w, t, fits != t->state->rate.above, fits ? "the packet is within the rate" :
								       "the packet is above the rate");
}
