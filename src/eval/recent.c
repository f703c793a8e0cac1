/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * recent: lists of addresses with the times at which they were seen.
 *
 *     --set            remembers the address and now; always true
 *     --rcheck         true if it is on the list (seen within --seconds, --hitcount times, with the same --rttl)
 *     --update         the same, and if the whole test is true (negation included), remembers now
 *     --remove         true if it is on the list; takes it off
 *
 * Lists are shared by name; the first rule that names one makes it, and its --mask is that of all. An address keeps as many times as the largest --hitcount of the list's rules, rounded up to
 * a power of two, the oldest overwritten; a list has 100 addresses, the one not touched for longest is pushed out.
 * The kernel's clock ticks, this one does not.
 */
#include "eval/state.h"

enum { LIST_MAX = 100, STAMPS_MAX = 65536, NS_PER_S = 1000000000 };

struct member {
	u128 addr;
	uint64_t family;
	uint64_t zero; /* no padding: compared as bytes */
};

struct entry {
	uint8_t ttl;
	uint32_t index, n; /* next to write, after the last; how many are there */
	int64_t stamp[];
};

struct list {
	struct walk *w;
	const struct test *t;
	struct key key, list_key;
	struct member self;
	u128 mask;
	uint32_t max; /* times that an address keeps */
};

/* ---------- the list ---------- */

/* What the list has from all its rules: the mask of the first, and room for the largest hit count. */
static void read_table(struct list *l)
{
	const struct walk *w = l->w;
	uint32_t most = 1;
	bool is_first = true;

	for (size_t i = 0; i < w->e->recents.n; i++) {
		const struct rule *r = w->e->rs->rules.v[w->e->recents.v[i]];

		for (uint32_t k = 0; k < r->n_steps; k++) {
			const struct test *x = &r->step[k].test;

			if (r->step[k].kind != STEP_TEST || x->kind != TEST_STATE || x->state->kind != STATE_RECENT ||
			    !str_eq(x->state->shared_name, l->t->state->shared_name))
				continue;
			if (is_first)
				l->mask = x->state->recent.mask;
			is_first = false;
			if (x->state->recent.hitcount > most)
				most = x->state->recent.hitcount;
		}
	}
	l->max = 1;
	while (l->max < most && l->max < STAMPS_MAX)
		l->max *= 2;
}

static void key_member(struct key *k, const struct list *l, const struct member *m)
{
	key_start(k, 'R');
	key_str(k, l->t->state->shared_name);
	key_add(k, m, sizeof *m);
}

/* The members, oldest touch first. Always a copy that may be changed. */
static struct member *members(const struct list *l, size_t *n)
{
	struct member *v = arena_new(l->w->a, struct member, LIST_MAX + 1);
	struct store_value x;

	*n = 0;
	if (store_get(l->w->e->store, &l->list_key, &x) == STORE_HERE && x.n <= LIST_MAX * sizeof *v) {
		memcpy(v, x.p, x.n);
		*n = x.n / sizeof *v;
	}
	return v;
}

static void members_put(const struct list *l, const struct member *v, size_t n)
{
	store_put(l->w->e->store, &l->list_key, v, n * sizeof *v, INT64_MAX);
}

static size_t members_without(struct member *v, size_t n, const struct member *m)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (memcmp(&v[i], m, sizeof *m) != 0)
			v[k++] = v[i];
	return k;
}

static void take_off(const struct list *l, const struct member *m)
{
	size_t n;
	struct member *v = members(l, &n);
	struct key k;

	members_put(l, v, members_without(v, n, m));
	key_member(&k, l, m);
	store_put(l->w->e->store, &k, NULL, 0, INT64_MAX);
}

/* To the end: it was touched last. The first is pushed out when there are too many. */
static void touch(const struct list *l)
{
	size_t n;
	struct member *v = members(l, &n);

	n = members_without(v, n, &l->self);
	if (n >= LIST_MAX) {
		struct key k;

		key_member(&k, l, &v[0]);
		store_put(l->w->e->store, &k, NULL, 0, INT64_MAX);
		memmove(v, v + 1, --n * sizeof *v);
	}
	v[n++] = l->self;
	members_put(l, v, n);
}

/* ---------- one address ---------- */

static struct entry *entry_get(const struct list *l, const struct key *k, enum store_answer *x)
{
	struct entry *e = arena_alloc(l->w->a, sizeof *e + l->max * sizeof e->stamp[0], _Alignof(struct entry));
	struct store_value v;

	*x = store_get(l->w->e->store, k, &v);
	if (*x == STORE_HERE)
		memcpy(e, v.p, v.n);
	return e;
}

static void entry_stamp(const struct list *l, struct entry *e, uint8_t ttl)
{
	e->ttl = ttl;
	e->index %= l->max;
	e->stamp[e->index++] = l->w->e->now_ns;
	if (e->index > e->n)
		e->n = e->index;
	touch(l);
	store_put(l->w->e->store, &l->key, e, sizeof *e + l->max * sizeof e->stamp[0], INT64_MAX);
}

static bool is_recent(const struct list *l, const struct entry *e)
{
	const struct state_spec *s = l->t->state;
	int64_t since = l->w->e->now_ns - (int64_t)s->recent.seconds * NS_PER_S;
	uint32_t hits = 0;

	for (uint32_t i = 0; i < e->n; i++) {
		if (s->recent.seconds && since > e->stamp[i])
			continue;
		if (!s->recent.hitcount || ++hits >= s->recent.hitcount)
			return true;
	}
	return false;
}

/* Takes off the address that was not touched for longest, if its last time is too old. */
static void reap(const struct list *l, bool is_updated)
{
	int64_t since = l->w->e->now_ns - (int64_t)l->t->state->recent.seconds * NS_PER_S;
	enum store_answer x;
	struct entry *e;
	struct key k;
	size_t n;
	struct member *v = members(l, &n);

	if (n == 0 || (is_updated && memcmp(&v[0], &l->self, sizeof *v) == 0))
		return;
	key_member(&k, l, &v[0]);
	e = entry_get(l, &k, &x);
	if (x == STORE_HERE && e->index && since > e->stamp[e->index - 1])
		take_off(l, &v[0]);
}

/* ---------- the test ---------- */

/* The TTL as it was before forwarding took one off. */
static uint8_t ttl_seen(const struct walk *w)
{
	bool was_forwarded = w->is_forwarded && (w->hook == HOOK_FORWARD || w->hook == HOOK_POSTROUTING);

	if (w->f.has[FIELD_TTL] != EVAL_YES || !w->f.known[FIELD_TTL])
		return 0;
	return (uint8_t)(w->f.v[FIELD_TTL] + was_forwarded);
}

static enum eval_truth nobody_knows(struct list *l, bool self_known)
{
	if (self_known)
		store_doubt(l->w->e->store, &l->key);
	store_doubt(l->w->e->store, &l->list_key);
	if (l->t->state->recent.op == RECENT_SET)
		return state_answer(l->w, l->t, true, "the address is remembered");
	return state_ask(l->w, l->t, "what is on the list is not known");
}

static enum eval_truth not_on_list(struct list *l, struct entry *e, uint8_t ttl)
{
	if (l->t->state->recent.op != RECENT_SET)
		return state_answer(l->w, l->t, false, "the address is not on the list");
	memset(e, 0, sizeof *e);
	entry_stamp(l, e, ttl);
	return state_answer(l->w, l->t, true, "the address is remembered");
}

static enum eval_truth on_list(struct list *l, struct entry *e, uint8_t ttl)
{
	const struct state_spec *s = l->t->state;
	bool raw;

	if (s->recent.op == RECENT_SET) {
		entry_stamp(l, e, ttl);
		return state_answer(l->w, l->t, true, "the address is remembered");
	}
	if (s->recent.op == RECENT_REMOVE) {
		take_off(l, &l->self);
		return state_answer(l->w, l->t, true, "the address was on the list");
	}
	raw = is_recent(l, e);
	if (s->recent.reap)
		reap(l, s->recent.op == RECENT_UPDATE && raw != l->t->negated);
	if (s->recent.op == RECENT_UPDATE && raw != l->t->negated)
		entry_stamp(l, e, ttl);
	return state_answer(l->w, l->t, raw, raw ? "the address was seen often and lately enough" :
						   "the address was not seen often or lately enough");
}

enum eval_truth recent_truth(struct walk *w, const struct test *t)
{
	const struct state_spec *s = t->state;
	enum field f = s->recent.by_dst ? FIELD_DST : FIELD_SRC;
	struct list l = { .w = w, .t = t };
	uint8_t ttl = ttl_seen(w);
	struct store_value v;
	enum store_answer x;
	struct entry *e;

	read_table(&l);
	l.self = (struct member){ .addr = w->f.v[f] & l.mask, .family = w->f.family };
	key_start(&l.list_key, 'r');
	key_str(&l.list_key, s->shared_name);
	key_member(&l.key, &l, &l.self);
	if (w->f.has[f] != EVAL_YES || !w->f.known[f])
		return nobody_knows(&l, false);
	e = entry_get(&l, &l.key, &x);
	if (x == STORE_UNCERTAIN || (x == STORE_NONE && store_get(w->e->store, &l.list_key, &v) == STORE_UNCERTAIN))
		return nobody_knows(&l, true);
	if (x == STORE_HERE && s->recent.rttl && ttl != e->ttl && ttl != 0 && e->ttl != 0)
		x = STORE_NONE;
	return x == STORE_HERE ? on_list(&l, e, ttl) : not_on_list(&l, e, ttl);
}
