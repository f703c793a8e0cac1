/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests on named sets, as the kernel's ipset answers them; adding and deleting while packets pass.
 *
 *     set {10.0.0.0/8, 10.1.0.0/16 nomatch}     10.2.3.4 is in it, 10.1.2.3 is not: the longest prefix decides
 *
 * Nets are asked from the longest prefix to the shortest, of two nets the second one within the first. In hash:net,iface
 * the search ends at the longest prefix that has any interface, even another one. A dimension that the packet lacks (a
 * later fragment has no port, output has no input interface) means "not in the set", before any negation. An element
 * that a rule added has the longest prefix that the set declared (the kernel does so too), or that of a host. Sets of which
 * the rules name the fields are other: what they add is one value, the test has its own answer where a field is absent, and
 * a rule that cannot add goes no further.
 *
 * Elements of the file that have a timeout expire that long after the start.
 */
#include "eval/sets.h"

enum { NS = 1000000000 };

/* Which sets rules use by field. */
static void note_uses(struct sets *s, const struct ruleset *rs, const struct step *step, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct set_use *use = step[i].kind == STEP_TEST && step[i].test.kind == TEST_SET ? step[i].test.set :
					    step[i].kind == STEP_EFFECT ? step[i].effect.set : NULL;
		const struct set *set = !use ? NULL : use->set ? use->set : policy_set_find(rs, use->name);

		if (set && use->by_field && set->id < s->n && s->index[set->id].set == set)
			index_by_field(&s->index[set->id]);
	}
}

struct sets *sets_create(struct arena *a, const struct ruleset *rs)
{
	struct sets *s = arena_new(a, struct sets, 1);

	s->n = rs->sets.n;
	s->index = arena_new(a, struct set_index, s->n + 1);
	for (size_t i = 0; i < s->n; i++)
		index_make(a, &s->index[i], rs->sets.v[i]);
	for (size_t i = 0; i < rs->rules.n; i++)
		note_uses(s, rs, rs->rules.v[i]->step, rs->rules.v[i]->n_steps);
	for (size_t i = 0; i < rs->maps.n; i++)
		note_uses(s, rs, rs->maps.v[i]->outcome, rs->maps.v[i]->n_outcomes);
	return s;
}

struct set_index *sets_index(const struct eval *e, const struct set *s)
{
	return s->id < e->sets->n && e->sets->index[s->id].set == s ? &e->sets->index[s->id] : NULL;
}

static const struct set *used_set(const struct walk *w, const struct set_use *use)
{
	return use->set ? use->set : policy_set_find(w->e->rs, use->name);
}

/* ---------- elements that came and went while packets passed ---------- */

struct change {
	uint8_t is_there;
	int64_t until_ns;
};

static void key_elem(struct key *k, const struct set_index *ix, const struct set_elem *el)
{
	key_start(k, 'S');
	key_str(k, ix->set->name);
	for (unsigned i = 0; i < ix->set->n_dims; i++) {
		key_add(k, &el->v[i], sizeof el->v[i]);
		if (index_has_prefixes(ix, i))
			key_add(k, &el->plen[i], 1);
	}
}

static void key_set(struct key *k, char kind, const struct set_index *ix)
{
	key_start(k, kind);
	key_str(k, ix->set->name);
}

static bool is_expired(const struct walk *w, const struct set_index *ix, const struct set_elem *el)
{
	uint32_t s = el->has_timeout ? el->timeout_s : ix->set->has_default_timeout ? ix->set->default_timeout_s : 0;

	return s && w->e->now_ns > w->e->start_ns + (int64_t)s * NS;
}

static bool rest_matches(const struct set_index *ix, const struct set_elem *el, const struct set_elem *packet)
{
	for (unsigned i = 0; i < ix->set->n_dims; i++) {
		if (ix->set->dim[i] == SET_DIM_IFACE) {
			u128 hi = el->v[i];

			if (el->wildcard) /* a prefix: all bytes behind it are free */
				for (int k = 0; k < 16 && !(uint8_t)(hi >> (8 * k)); k++)
					hi |= (u128)0xff << (8 * k);
			if (packet->v[i] < el->v[i] || packet->v[i] > hi)
				return false;
		} else if (ix->is_bitmap && ix->set->dim[i] == SET_DIM_MAC && !el->mac_any && packet->v[i] != el->v[i]) {
			return false;
		}
	}
	return true;
}

/* An address of a bitmap that stands for any MAC keeps the first one that it meets. */
static enum eval_truth mac_is_kept(const struct walk *w, const struct set_index *ix, const struct set_elem *packet)
{
	struct store_value v;
	struct key k;
	enum store_answer x;

	key_set(&k, 'U', ix);
	key_add(&k, &packet->v[0], sizeof packet->v[0]);
	x = store_get(w->e->store, &k, &v);
	if (x == STORE_UNCERTAIN)
		return EVAL_UNKNOWN;
	if (x == STORE_HERE)
		return memcmp(v.p, &packet->v[1], sizeof packet->v[1]) == 0 ? EVAL_YES : EVAL_NO;
	store_put(w->e->store, &k, &packet->v[1], sizeof packet->v[1], INT64_MAX);
	return EVAL_YES;
}

enum lookup { LOOKUP_NONE, LOOKUP_MATCH, LOOKUP_NOMATCH, LOOKUP_UNKNOWN, LOOKUP_ABSENT };

/* What was said about this very element since the start. *is_said: something was. */
static enum lookup changed(const struct walk *w, const struct set_index *ix, const struct set_elem *el, bool *is_said)
{
	struct store_value v;
	struct change c;
	struct key k;
	enum store_answer x;

	key_elem(&k, ix, el);
	x = store_get(w->e->store, &k, &v);
	*is_said = x != STORE_NONE;
	if (x == STORE_UNCERTAIN)
		return LOOKUP_UNKNOWN;
	if (x == STORE_NONE)
		return LOOKUP_NONE;
	memcpy(&c, v.p, sizeof c);
	return c.is_there && w->e->now_ns <= c.until_ns ? LOOKUP_MATCH : LOOKUP_NONE;
}

/* One element value at one prefix length. *has_net: the set has that net, be it with another interface. */
static enum lookup look(const struct walk *w, const struct set_index *ix, const struct set_elem *packet, bool *has_net)
{
	bool is_said;
	enum lookup x = changed(w, ix, packet, &is_said);

	if (x != LOOKUP_NONE)
		return x;
	for (uint32_t i = index_find(ix, packet, 0); i != UINT32_MAX; i = index_find(ix, packet, i + 1)) {
		struct set_elem el = ix->set->elems.v[i];
		bool was_changed = false;

		if (is_expired(w, ix, &el))
			continue;
		index_mask(ix, &el);
		*has_net = true;
		if (!rest_matches(ix, &el, packet))
			continue;
		if (el.physdev)
			return w->f.has[FIELD_PHYSIN] == EVAL_NO && w->f.has[FIELD_PHYSOUT] == EVAL_NO ? LOOKUP_NONE :
													 LOOKUP_UNKNOWN;
		x = changed(w, ix, &el, &was_changed);
		if (was_changed && x == LOOKUP_NONE)
			continue;
		if (x == LOOKUP_UNKNOWN)
			return x;
		if (el.mac_any) {
			enum eval_truth kept = mac_is_kept(w, ix, packet);

			return kept == EVAL_YES ? LOOKUP_MATCH : kept == EVAL_NO ? LOOKUP_NONE : LOOKUP_UNKNOWN;
		}
		return el.nomatch ? LOOKUP_NOMATCH : LOOKUP_MATCH;
	}
	return LOOKUP_NONE;
}

static bool plen_is_used(const struct set_index *ix, unsigned dim, unsigned plen)
{
	return ix->plen_used[dim][plen] || plen == ix->plen_max[dim];
}

/* The packet's values at every prefix length of the dimensions from `dim` on, longest first. */
static enum lookup look_nets(const struct walk *w, const struct set_index *ix, struct set_elem *packet, unsigned dim)
{
	u128 whole = dim < ix->set->n_dims ? packet->v[dim] : 0;
	bool ends_at_first = dim == 0 && str_is(ix->set->type, "hash:net,iface"); /* and of no other type */

	while (dim < ix->set->n_dims && !index_has_prefixes(ix, dim))
		whole = ++dim < ix->set->n_dims ? packet->v[dim] : 0;
	if (dim == ix->set->n_dims) {
		bool has_net = false;
		enum lookup x = look(w, ix, packet, &has_net);

		packet->wildcard = has_net; /* tells the caller */
		return x;
	}
	for (unsigned plen = index_bits(ix->set, dim) + 1; plen-- > 0;) {
		struct set_elem at = *packet;
		enum lookup x;

		if (!plen_is_used(ix, dim, plen))
			continue;
		at.v[dim] = whole;
		at.plen[dim] = (uint8_t)plen;
		at.wildcard = false;
		index_mask(ix, &at);
		x = look_nets(w, ix, &at, dim + 1);
		if (x != LOOKUP_NONE)
			return x;
		if (ends_at_first && at.wildcard)
			return LOOKUP_NONE;
	}
	return LOOKUP_NONE;
}

static bool is_doubtful(const struct walk *w, const struct set_index *ix)
{
	struct store_value v;
	struct key k;

	key_set(&k, 'Q', ix);
	return store_get(w->e->store, &k, &v) != STORE_NONE;
}

static bool in_range(const struct set *s, const struct set_elem *el)
{
	return !s->has_range || (el->v[0] >= s->range_lo && el->v[0] <= s->range_hi);
}

/* Has the rule the dimensions of the set, and the packet its family? */
static bool may_fit(const struct walk *w, const struct set_index *ix, const struct set_use *use)
{
	return (use->by_field || use->n_dirs >= ix->set->n_dims) &&
	       (!ix->set->has_addrs || ix->set->family == w->f.family);
}

/* Before --return-nomatch. */
static enum lookup look_up(struct walk *w, const struct set_index *ix, const struct set_use *use, const char **what)
{
	struct set_elem packet;
	enum eval_truth dims;
	enum lookup x;

	if (!may_fit(w, ix, use))
		return LOOKUP_NONE;
	dims = dims_read(w, ix, use, &packet, what);
	if (dims == EVAL_NO)
		return use->by_field ? LOOKUP_ABSENT : LOOKUP_NONE;
	*what = dims == EVAL_UNKNOWN ? *what : "what is in the set";
	if (dims == EVAL_UNKNOWN)
		return LOOKUP_UNKNOWN;
	index_mask(ix, &packet);
	if (ix->is_hash_ip && packet.v[0] == 0 && !use->by_field)
		return LOOKUP_NONE;
	if (!in_range(ix->set, &packet))
		return LOOKUP_NONE;
	x = look_nets(w, ix, &packet, 0);
	/* An added interface may hide what a shorter prefix says. */
	return (x == LOOKUP_NONE || ix->has_iface) && is_doubtful(w, ix) ? LOOKUP_UNKNOWN : x;
}

/* *is_absent: the packet lacks what the rule names. */
static enum eval_truth in_set(struct walk *w, const struct set_index *ix, const struct set_use *use, const char **what,
			      bool *is_absent)
{
	enum lookup x = look_up(w, ix, use, what);

	*is_absent = x == LOOKUP_ABSENT;
	if (x == LOOKUP_UNKNOWN)
		return EVAL_UNKNOWN;
	if (use->return_nomatch && ix->has_nets)
		return x == LOOKUP_NOMATCH ? EVAL_YES : EVAL_NO;
	return x == LOOKUP_MATCH ? EVAL_YES : EVAL_NO;
}

/* A list asks its members in their order; one that is not known may be the one that says yes. */
static enum eval_truth in_list(struct walk *w, const struct set_index *ix, const struct set_use *use, const char **what)
{
	enum eval_truth any = EVAL_NO;
	bool is_absent;

	if (use->n_dirs < 1)
		return EVAL_NO;
	for (size_t i = 0; i < ix->set->elems.n; i++) {
		const struct set_elem *el = &ix->set->elems.v[i];
		const struct set *member = policy_set_find(w->e->rs, el->list);
		const struct set_index *mx = member ? sets_index(w->e, member) : NULL;
		enum eval_truth x;

		if (is_expired(w, ix, el))
			continue;
		if (!mx || mx->is_list) {
			*what = "a member of the list";
			any = EVAL_UNKNOWN;
			continue;
		}
		x = in_set(w, mx, use, what, &is_absent);
		if (x == EVAL_YES)
			return EVAL_YES;
		if (x == EVAL_UNKNOWN)
			any = EVAL_UNKNOWN;
	}
	return any;
}

enum eval_truth sets_truth(struct walk *w, const struct test *t)
{
	const struct set_use *use = t->set;
	const struct set *s = used_set(w, use);
	const char *what = "what is in the set";
	struct set_index *ix = s ? sets_index(w->e, s) : NULL;
	enum eval_truth x = EVAL_UNKNOWN;
	bool is_absent = false;

	if (!ix)
		what = "the set (nobody defines it)";
	else if (use->has_counters)
		what = "the counter of an element";
	else
		x = ix->is_list ? in_list(w, ix, use, &what) : in_set(w, ix, use, &what, &is_absent);
	if (x == EVAL_UNKNOWN) {
		if (w->is_peeking) {
			w->why = arena_printf(w->a, "set %.*s: %s is not known", STR_ARG(use->name), what);
			return EVAL_UNKNOWN;
		}
		return fork_choose(w, "set %.*s: %s is not known", STR_ARG(use->name), what) ? EVAL_YES : EVAL_NO;
	}
	if (is_absent) {
		if (w->has_trace)
			w->why = arena_printf(w->a, "set %.*s: there is no %s", STR_ARG(use->name), what);
		return t->on_absent ? EVAL_YES : EVAL_NO;
	}
	if (w->has_trace)
		w->why = arena_printf(w->a, "the packet is %s set %.*s", x == EVAL_YES ? "in" : "not in", STR_ARG(use->name));
	return (x == EVAL_YES) != t->negated ? EVAL_YES : EVAL_NO;
}

/* ---------- adding and deleting ---------- */

/* How many elements rules have added, less those deleted; expired ones count. */
static int64_t added(const struct walk *w, const struct set_index *ix)
{
	struct store_value v;
	struct key k;
	int64_t n = 0;

	key_set(&k, 'n', ix);
	if (store_get(w->e->store, &k, &v) == STORE_HERE)
		memcpy(&n, v.p, sizeof n);
	return n;
}

static void count(struct walk *w, const struct set_index *ix, int64_t by)
{
	int64_t n = added(w, ix) + by;
	struct key k;

	key_set(&k, 'n', ix);
	store_put(w->e->store, &k, &n, sizeof n, INT64_MAX);
}

static void doubt(struct walk *w, const struct set_index *ix)
{
	struct key k;

	key_set(&k, 'Q', ix);
	store_put(w->e->store, &k, "?", 1, INT64_MAX);
}

/* What a rule names by field and cannot be added ends the rule. */
static void end_rule(struct walk *w, const struct set_index *ix, const char *why, const char *what)
{
	walk_note(w, "set %.*s: %s%s; the rule ends", STR_ARG(ix->set->name), why, what);
	w->rule_ends = true;
}

/* The element that the packet's values make, in the form in which it is stored; false: none. */
static bool make_elem(struct walk *w, const struct set_index *ix, const struct set_use *use, struct set_elem *el)
{
	const char *what;
	enum eval_truth x;

	if (!may_fit(w, ix, use))
		return false;
	x = dims_read(w, ix, use, el, &what);
	if (x == EVAL_UNKNOWN)
		doubt(w, ix);
	if (x == EVAL_NO && use->by_field)
		end_rule(w, ix, "there is no ", what);
	if (x != EVAL_YES)
		return false;
	for (unsigned i = 0; i < ix->set->n_dims; i++)
		if (index_has_prefixes(ix, i))
			el->plen[i] = (uint8_t)ix->plen_max[i];
	index_mask(ix, el);
	if (ix->is_hash_ip && el->v[0] == 0 && !use->by_field)
		return false;
	return in_range(ix->set, el);
}

static void put(struct walk *w, const struct set_index *ix, const struct set_elem *el, bool is_there, int64_t until_ns)
{
	bool was_declared = index_find(ix, el, 0) != UINT32_MAX;
	struct change c;
	struct key k;

	memset(&c, 0, sizeof c);
	c.is_there = is_there;
	c.until_ns = until_ns;
	if (ix->has_iface)
		doubt(w, ix);
	key_elem(&k, ix, el);
	/* What was declared must stay covered even when its time is past. */
	store_put(w->e->store, &k, &c, sizeof c, was_declared || !is_there ? INT64_MAX : until_ns);
}

static int64_t until(const struct walk *w, const struct set_index *ix, const struct set_use *use)
{
	uint32_t s = use->has_timeout ? use->timeout_s : ix->set->default_timeout_s;
	bool has_timeouts = ix->set->has_default_timeout || (use->by_field && use->has_timeout);

	return has_timeouts && s ? w->e->now_ns + (int64_t)s * NS : INT64_MAX;
}

/* Is this very element there? */
static enum lookup holds(const struct walk *w, const struct set_index *ix, const struct set_elem *el)
{
	bool has_net = false;

	return look(w, ix, el, &has_net);
}

static bool may_expire(const struct set_index *ix, const struct set_use *use)
{
	return ix->set->has_default_timeout || (use->by_field && use->has_timeout);
}

/* There is no room for one more, or there may be none. */
static bool is_full(struct walk *w, const struct set_index *ix, const struct set_use *use)
{
	bool has_gone = may_expire(ix, use) || ix->set->forceadd;

	if (!ix->set->max_elems || (int64_t)ix->set->elems.n + added(w, ix) < (int64_t)ix->set->max_elems)
		return false;
	if (has_gone)
		doubt(w, ix); /* something expired or is pushed out: nobody knows what */
	if (use->by_field && (!has_gone || fork_choose(w, "whether set %.*s is full is not known", STR_ARG(ix->set->name))))
		end_rule(w, ix, "it is full", "");
	return true;
}

/* True if the element was added, so that a list does not ask its next member. */
static bool add_to(struct walk *w, const struct set_index *ix, const struct set_use *use)
{
	struct set_elem el;
	enum lookup x;
	struct key k;

	if (!make_elem(w, ix, use, &el))
		return false;
	x = holds(w, ix, &el);
	if (x == LOOKUP_UNKNOWN && !use->exist && may_expire(ix, use)) {
		key_elem(&k, ix, &el);
		store_doubt(w->e->store, &k);
		return true;
	}
	if ((x == LOOKUP_MATCH || x == LOOKUP_NOMATCH) && !use->exist)
		return false;
	if (x == LOOKUP_NONE) {
		if (is_full(w, ix, use))
			return false;
		count(w, ix, 1);
	}
	put(w, ix, &el, true, until(w, ix, use));
	walk_note(w, "added to set %.*s", STR_ARG(ix->set->name));
	return true;
}

static bool del_from(struct walk *w, const struct set_index *ix, const struct set_use *use)
{
	struct set_elem el;
	enum lookup x;

	if (!make_elem(w, ix, use, &el))
		return false;
	x = holds(w, ix, &el);
	if (x == LOOKUP_NONE)
		return false;
	put(w, ix, &el, false, INT64_MAX);
	count(w, ix, -1);
	walk_note(w, "deleted from set %.*s", STR_ARG(ix->set->name));
	return true;
}

static void change_set(struct walk *w, const struct set_use *use, bool is_add)
{
	const struct set *s = used_set(w, use);
	const struct set_index *ix = s ? sets_index(w->e, s) : NULL;

	if (!ix)
		return;
	if (!ix->is_list) {
		if (is_add)
			add_to(w, ix, use);
		else
			del_from(w, ix, use);
		return;
	}
	for (size_t i = 0; i < s->elems.n; i++) {
		const struct set *member = policy_set_find(w->e->rs, s->elems.v[i].list);
		const struct set_index *mx = member ? sets_index(w->e, member) : NULL;

		if (is_expired(w, ix, &s->elems.v[i]) || !mx || mx->is_list)
			continue;
		if (is_add ? add_to(w, mx, use) : del_from(w, mx, use))
			return;
	}
}

void sets_add(struct walk *w, const struct set_use *use)
{
	change_set(w, use, true);
}

void sets_del(struct walk *w, const struct set_use *use)
{
	change_set(w, use, false);
}
