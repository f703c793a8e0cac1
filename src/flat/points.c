/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Points: base chains of one hook, in the order of packets, cut into groups. A group is one program; it hangs at the priority
 * of its first chain. A new one begins where something of the kernel's own lies between two chains, which has to see the
 * packet in between: defragmentation at -400, connection tracking at -200, translation at -100 (destination) and 100 (source).
 *
 *     prerouting   raw -300 | mangle -150 | -90, 0
 *     input        mangle -150, filter 0, "inet mine" 10
 *
 * Then positions are dealt out, the same ones in both families: the number that the place has now, in the rules that are
 * active; else the number that iptables' chain at this priority has always had; else any free one of that hook. Numbers that
 * are in use now are given to no other place, because a dispatcher hangs there that obeys them.
 */
#include "flat/points.h"

#include "tables/format.h"

enum { DEFRAG = -400, CONNTRACK = -200, DNAT = -100, SNAT = 100 };

/* A group of chains, before it has a number. */
struct group {
	enum family family;
	enum hook hook;
	int priority;
	unsigned nth; /* of groups of this hook and priority */
	const struct chain *chain[FLAT_MAX_CHAINS];
	unsigned n;
};

struct groups {
	struct arena *a;
	const struct ruleset *rs;
	const struct flat_options *opt;
	VEC(struct group) all;
};

static bool is_needed(const struct chain *c)
{
	return !c->is_nat && (c->rules.n > 0 || c->policy == VERDICT_DROP);
}

static bool is_cut(enum hook h, int lower, int upper)
{
	static const int fixed[HOOK_IP_COUNT][4] = {
		[HOOK_PREROUTING] = { DEFRAG, CONNTRACK, DNAT, DNAT },
		[HOOK_INPUT] = { SNAT, SNAT, SNAT, SNAT },
		[HOOK_FORWARD] = { INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX },
		[HOOK_OUTPUT] = { DEFRAG, CONNTRACK, DNAT, DNAT },
		[HOOK_POSTROUTING] = { SNAT, SNAT, SNAT, SNAT },
	};

	for (unsigned i = 0; i < 4; i++)
		if (lower <= fixed[h][i] && upper > fixed[h][i])
			return true;
	return false;
}

/* May `next` be judged by the program of `last`, the chain before it? */
static bool may_join(const struct groups *g, const struct chain *last, const struct chain *next)
{
	const struct flat_options *o = g->opt;

	if (o->apart || is_cut(next->hook, last->priority, next->priority))
		return false;
	if (!o->is_between || last->priority == next->priority)
		return true;
	for (enum family f = FAMILY_IP4; f < FAMILY_COUNT; f++)
		if (o->is_between(o->arg, f, next->hook, last->priority, next->priority))
			return false;
	return true;
}

static void add_group(struct groups *g, const struct chain *c)
{
	const struct group *last = g->all.n ? &g->all.v[g->all.n - 1] : NULL;
	unsigned nth = 0;

	if (last && last->family == c->family && last->hook == c->hook && last->priority == c->priority)
		nth = last->nth + 1;
	*vec_add(g->a, &g->all) = (struct group){ .family = c->family, .hook = c->hook, .priority = c->priority, .nth = nth };
}

static void hook_groups(struct groups *g, enum family f, enum hook h)
{
	size_t n;
	struct chain **c = policy_base_chains(g->a, g->rs, f, h, &n);
	const struct chain *last = NULL;

	for (size_t i = 0; i < n; i++) {
		struct group *open = last ? &g->all.v[g->all.n - 1] : NULL;

		if (!is_needed(c[i]))
			continue;
		if (!open || open->n == FLAT_MAX_CHAINS || !may_join(g, last, c[i])) {
			add_group(g, c[i]);
			open = &g->all.v[g->all.n - 1];
		}
		open->chain[open->n++] = c[i];
		last = c[i];
	}
}

/* ---------- numbers ---------- */

struct place {
	enum hook hook;
	int priority;
	unsigned nth;
};

struct deal {
	struct place place[FLAT_POSITIONS]; /* of each number that is given */
	bool is_given[FLAT_POSITIONS], is_held[FLAT_POSITIONS];
};

static bool is_raw(enum hook h, int priority)
{
	return (h == HOOK_PREROUTING || h == HOOK_OUTPUT) && priority <= CONNTRACK;
}

static bool fits(unsigned number, const struct place *p)
{
	return DP_POSITION_HOOK(number) == p->hook && DP_POSITION_IS_RAW(number) == is_raw(p->hook, p->priority);
}

/* The number of iptables' chain at this priority, or FLAT_POSITIONS. */
static unsigned usual_number(const struct place *p)
{
	static const struct {
		enum hook hook;
		int priority;
	} usual[] = {
		[DP_POSITION_PREROUTING_RAW] = { HOOK_PREROUTING, -300 }, [DP_POSITION_PREROUTING_MANGLE] = { HOOK_PREROUTING, -150 },
		[DP_POSITION_INPUT_MANGLE] = { HOOK_INPUT, -150 },	  [DP_POSITION_INPUT_FILTER] = { HOOK_INPUT, 0 },
		[DP_POSITION_INPUT_SECURITY] = { HOOK_INPUT, 50 },	  [DP_POSITION_FORWARD_MANGLE] = { HOOK_FORWARD, -150 },
		[DP_POSITION_FORWARD_FILTER] = { HOOK_FORWARD, 0 },	  [DP_POSITION_FORWARD_SECURITY] = { HOOK_FORWARD, 50 },
		[DP_POSITION_OUTPUT_RAW] = { HOOK_OUTPUT, -300 },	  [DP_POSITION_OUTPUT_MANGLE] = { HOOK_OUTPUT, -150 },
		[DP_POSITION_OUTPUT_FILTER] = { HOOK_OUTPUT, 0 },	  [DP_POSITION_OUTPUT_SECURITY] = { HOOK_OUTPUT, 50 },
		[DP_POSITION_POSTROUTING_MANGLE] = { HOOK_POSTROUTING, -150 },
	};

	for (unsigned i = 0; i < sizeof usual / sizeof *usual && p->nth == 0; i++)
		if (usual[i].hook == p->hook && usual[i].priority == p->priority)
			return i;
	return FLAT_POSITIONS;
}

static bool is_same(const struct place *x, const struct place *y)
{
	return x->hook == y->hook && x->priority == y->priority && x->nth == y->nth;
}

static unsigned give(struct deal *d, const struct place *p, unsigned number)
{
	d->place[number] = *p;
	d->is_given[number] = true;
	return number;
}

/* A place that has a number: given already, or in use now. FLAT_POSITIONS: it has none. */
static unsigned known_number(struct deal *d, const struct flat_places *held, const struct place *p)
{
	for (unsigned i = 0; i < FLAT_POSITIONS; i++)
		if (d->is_given[i] && is_same(&d->place[i], p))
			return i;
	for (unsigned i = 0; i < FLAT_POSITIONS; i++)
		if (d->is_held[i] && !d->is_given[i] && fits(i, p) && held->at[i].priority == p->priority)
			return give(d, p, i);
	return FLAT_POSITIONS;
}

static unsigned new_number(struct deal *d, const struct place *p)
{
	unsigned usual = usual_number(p);

	if (usual < FLAT_POSITIONS && !d->is_given[usual] && !d->is_held[usual])
		return give(d, p, usual);
	for (unsigned i = FLAT_POSITIONS; i-- > 0;)
		if (fits(i, p) && !d->is_given[i] && !d->is_held[i])
			return give(d, p, i);
	return FLAT_POSITIONS;
}

/* Places in use keep their numbers, then the usual ones are given, then the rest. False: there are too few. */
static bool deal_numbers(struct groups *g, struct deal *d, unsigned *number)
{
	const struct flat_places *held = g->opt->held;
	bool is_enough = true;

	for (unsigned i = 0; held && i < FLAT_POSITIONS; i++)
		d->is_held[i] = held->at[i].is_used;
	for (unsigned pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < g->all.n; i++) {
			const struct group *x = &g->all.v[i];
			struct place p = { x->hook, x->priority, x->nth };

			number[i] = known_number(d, held, &p);
			if (number[i] == FLAT_POSITIONS && pass > 0 && (pass == 2 || usual_number(&p) < FLAT_POSITIONS))
				number[i] = new_number(d, &p);
			is_enough = is_enough && (pass < 2 || number[i] < FLAT_POSITIONS);
		}
	return is_enough;
}

/* ---------- the whole ---------- */

static bool is_earlier(const struct place *x, const struct place *y)
{
	if (x->hook != y->hook)
		return x->hook < y->hook;
	return x->priority != y->priority ? x->priority < y->priority : x->nth < y->nth;
}

static void put_order(const struct deal *d, struct flat *out)
{
	for (unsigned i = 0; i < FLAT_POSITIONS; i++) {
		unsigned k = out->n_order;

		if (!d->is_given[i])
			continue;
		for (; k > 0 && is_earlier(&d->place[i], &d->place[out->order[k - 1]]); k--)
			out->order[k] = out->order[k - 1];
		out->order[k] = (uint8_t)i;
		out->n_order++;
	}
}

static void put_points(const struct groups *g, const unsigned *number, struct flat *out)
{
	for (size_t i = 0; i < g->all.n; i++) {
		const struct group *x = &g->all.v[i];
		struct flat_point *to = &out->point[x->family * (FLAT_POINTS / FAMILY_COUNT) + number[i]];

		*to = (struct flat_point){ .family = x->family, .hook = x->hook, .priority = x->priority, .n_chains = x->n };
		memcpy(to->chain, x->chain, sizeof to->chain);
	}
}

static void refuse_places(const struct groups *g, const unsigned *number, struct diags *d)
{
	for (size_t i = 0; i < g->all.n; i++) {
		const struct group *x = &g->all.v[i];
		struct diag *e;

		if (number[i] < FLAT_POSITIONS)
			continue;
		e = diag_error(d, x->chain[0]->at, "chain %.*s of table %.*s: no place for one more program is left at %s",
			       STR_ARG(x->chain[0]->name), STR_ARG(x->chain[0]->table), policy_hook_name(x->hook));
		diag_hint(d, e, "chains share one if nothing else hangs between their priorities");
	}
}

void points_make(const struct ruleset *rs, const struct flat_options *opt, struct diags *d, struct flat *out)
{
	struct groups g = { .a = arena_create(), .rs = rs, .opt = opt };
	struct flat_options together = *opt;
	struct deal deal = { 0 };
	unsigned *number;

	for (enum family f = FAMILY_IP4; f < FAMILY_COUNT; f++)
		for (enum hook h = HOOK_PREROUTING; h < HOOK_IP_COUNT; h++)
			hook_groups(&g, f, h);
	number = arena_new(g.a, unsigned, g.all.n + 1);
	if (deal_numbers(&g, &deal, number)) {
		put_points(&g, number, out);
		put_order(&deal, out);
	} else if (opt->apart) {
		together.apart = false;
		points_make(rs, &together, d, out);
	} else {
		refuse_places(&g, number, d);
	}
	arena_destroy(g.a);
}
