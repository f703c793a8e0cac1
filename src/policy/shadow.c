/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules in the shadow of others. See shadow.h. */
#include "policy/shadow.h"

enum { SPANS_MOST = 64, LEVELS = 129, ENDS = 2 };
static const enum field end_field[ENDS] = { FIELD_SRC, FIELD_DST };

/* A rule that casts a shadow: all of its first n_tests steps are tests, then nothing is asked any more. */
struct caster {
	const struct rule *rule;
	uint32_t n_tests;
	uint32_t next; /* of the same key: index + 1 */
};

struct search {
	struct arena *scratch;
	bool written[FIELD_COUNT]; /* by some rule */
	uint64_t left;		   /* compares */
	const struct rule **by;	   /* of each rule, by id; itself: it contradicts itself */
	/* of the chain at hand: */
	VEC(struct caster) caster;
	uint32_t *slot; /* by end, prefix and level: index + 1 of the latest */
	size_t n_slots; /* a power of two */
	uint32_t wide;	/* those without an address: index + 1 of the latest */
	bool has_level[ENDS][LEVELS];
};

/* ---------- fields that are written ---------- */

/* Address translation ends the chain, so no rule behind it in the same chain sees what it writes. */
static void add_written(bool *written, const struct effect *x)
{
	static const enum field_layer layers[] = { FIELD_LAYER_META, FIELD_LAYER_L3, FIELD_LAYER_L4, FIELD_LAYER_L4 };
	bool all_ct = x->kind == EFFECT_NOTRACK || (x->kind == EFFECT_OTHER && !x->has_clobbered);

	for (unsigned f = 0; f < FIELD_COUNT && all_ct; f++)
		written[f] |= field_table[f].layer == FIELD_LAYER_CT;
	written[FIELD_MARK] |= x->kind == EFFECT_MARK || x->kind == EFFECT_RESTORE_MARK || x->kind == EFFECT_TPROXY;
	written[FIELD_CT_MARK] |= x->kind == EFFECT_CT_MARK || x->kind == EFFECT_SAVE_MARK;
	written[FIELD_TOS] |= x->kind == EFFECT_TOS;
	written[FIELD_TTL] |= x->kind == EFFECT_TTL;
	for (unsigned f = 0; f < FIELD_COUNT && x->written; f++)
		written[f] |= field_table[f].layer == layers[x->written->base];
	if (x->has_clobbered)
		written[x->clobbered] = true;
	if (x->has_clobbered && x->clobbered == FIELD_TCP_OPTS)
		written[FIELD_TCP_MSS] = true;
}

static void find_written(const struct ruleset *rs, bool *written)
{
	for (size_t i = 0; i < rs->rules.n; i++) {
		const struct rule *r = rs->rules.v[i];

		for (uint32_t k = 0; k < r->n_steps; k++)
			if (r->step[k].kind == STEP_EFFECT)
				add_written(written, &r->step[k].effect);
	}
	for (size_t i = 0; i < rs->maps.n; i++)
		for (uint32_t k = 0; k < rs->maps.v[i]->n_outcomes; k++)
			if (rs->maps.v[i]->outcome[k].kind == STEP_EFFECT)
				add_written(written, &rs->maps.v[i]->outcome[k].effect);
}

/* ---------- tests ---------- */

static uint32_t leading_tests(const struct rule *r)
{
	uint32_t n = 0;

	while (n < r->n_steps && r->step[n].kind == STEP_TEST)
		n++;
	return n;
}

static bool is_disjoint(const struct valset *x, const struct valset *y)
{
	for (uint32_t i = 0, k = 0; i < x->n && k < y->n;) {
		if (x->span[i].lo <= y->span[k].hi && y->span[k].lo <= x->span[i].hi)
			return false;
		if (x->span[i].hi < y->span[k].hi)
			i++;
		else
			k++;
	}
	return true;
}

/* Of one value, which a packet has or has not. */
static bool is_plain(const struct test *t, enum test_kind kind)
{
	return t->kind == kind && t->n_fields == 1 && t->params.n == 0 &&
	       field_table[t->field[0]].kind != FIELD_KIND_MANY;
}

static bool values_within(const struct test *small, const struct test *big)
{
	if (big->negated)
		return small->negated ? valset_covers(&small->in, &big->in) : is_disjoint(&small->in, &big->in);
	return !small->negated && valset_covers(&big->in, &small->in);
}

/* Every value that some mask of x lets pass, some mask of y does, too. */
static bool masks_within(const struct test *x, const struct test *y)
{
	for (uint32_t i = 0; i < x->n_masks; i++) {
		const struct test_mask *m = &x->masks[i];
		bool found = false;

		for (uint32_t k = 0; k < y->n_masks && !found; k++)
			found =
			    (y->masks[k].mask & ~m->mask) == 0 && (m->value & y->masks[k].mask) == y->masks[k].value;
		if (!found)
			return false;
	}
	return true;
}

/* Whoever passes `small` passes `big`. No, too, where that is not to be told. */
static bool is_within(const struct test *small, const struct test *big)
{
	if (small->kind != big->kind || small->field[0] != big->field[0] || (small->on_absent && !big->on_absent))
		return false;
	if (is_plain(big, TEST_IN))
		return is_plain(small, TEST_IN) && values_within(small, big);
	if (!is_plain(big, TEST_MASK) || !is_plain(small, TEST_MASK) || small->negated != big->negated)
		return false;
	return small->negated ? masks_within(big, small) : masks_within(small, big);
}

static bool hides(const struct caster *c, const struct rule *r)
{
	uint32_t n = leading_tests(r);

	for (uint32_t i = 0; i < c->n_tests; i++) {
		bool found = false;

		for (uint32_t k = 0; k < n && !found; k++)
			found = is_within(&r->step[k].test, &c->rule->step[i].test);
		if (!found)
			return false;
	}
	return true;
}

static bool contradict(const struct test *x, const struct test *y)
{
	if (!is_plain(x, TEST_IN) || !is_plain(y, TEST_IN) || x->field[0] != y->field[0] ||
	    (x->on_absent && y->on_absent))
		return false;
	if (x->negated)
		return !y->negated && valset_covers(&x->in, &y->in);
	return y->negated ? valset_covers(&y->in, &x->in) : is_disjoint(&x->in, &y->in);
}

static bool contradicts_itself(const struct rule *r)
{
	uint32_t n = leading_tests(r);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (contradict(&r->step[i].test, &r->step[k].test))
				return true;
	return false;
}

/* ---------- finding ---------- */

/* How many low bits are free, if the span is a prefix; else -1. */
static int level_of(struct valset_span s)
{
	u128 differ = s.lo ^ s.hi;
	int level = 0;

	for (; differ & 1; differ >>= 1)
		level++;
	return differ || (level < 128 && (s.lo & (((u128)1 << level) - 1))) ? -1 : level;
}

static size_t slot_of(const struct search *s, unsigned end, u128 lo, unsigned level)
{
	u128 top = level < 128 ? lo >> level : 0;
	uint64_t h = ((uint64_t)(top >> 64) ^ (uint64_t)top) * 0x9e3779b97f4a7c15u + (uint64_t)(level * ENDS + end);

	return (h * 0xbf58476d1ce4e5b9u >> 32) & (s->n_slots - 1);
}

static const struct test *address_of(const struct rule *r, unsigned end)
{
	uint32_t n = leading_tests(r);

	for (uint32_t i = 0; i < n; i++)
		if (is_plain(&r->step[i].test, TEST_IN) && r->step[i].test.field[0] == end_field[end] &&
		    !r->step[i].test.negated && r->step[i].test.in.n > 0)
			return &r->step[i].test;
	return NULL;
}

/* Where the rule is found again. Different keys may share a place: whoever looks compares. */
static uint32_t *place_of(struct search *s, const struct rule *r)
{
	for (unsigned end = 0; end < ENDS; end++) {
		const struct test *t = address_of(r, end);
		int level = t && t->in.n == 1 ? level_of(t->in.span[0]) : -1;

		if (level < 0)
			continue;
		s->has_level[end][level] = true;
		return &s->slot[slot_of(s, end, t->in.span[0].lo, (unsigned)level)];
	}
	return &s->wide;
}

static bool casts(const struct search *s, const struct rule *r, uint32_t *n_tests)
{
	const struct step *last = r->n_steps ? &r->step[r->n_steps - 1] : NULL;

	*n_tests = leading_tests(r);
	for (uint32_t i = 0; i < r->n_steps; i++)
		if (i < *n_tests ? s->written[r->step[i].test.field[0]]
				 : r->step[i].kind == STEP_TEST || r->step[i].kind == STEP_MAP)
			return false;
	if (!last || last->kind != STEP_VERDICT)
		return false;
	return last->v.verdict == VERDICT_ACCEPT || last->v.verdict == VERDICT_DROP ||
	       last->v.verdict == VERDICT_REJECT || last->v.verdict == VERDICT_GOTO ||
	       last->v.verdict == VERDICT_RETURN;
}

static const struct rule *look_through(struct search *s, uint32_t from, const struct rule *r)
{
	for (uint32_t i = from; i && s->left; i = s->caster.v[i - 1].next) {
		s->left--;
		if (hides(&s->caster.v[i - 1], r))
			return s->caster.v[i - 1].rule;
	}
	return NULL;
}

static const struct rule *look_for(struct search *s, const struct rule *r)
{
	const struct rule *by = look_through(s, s->wide, r);

	for (unsigned end = 0; end < ENDS && !by; end++) {
		const struct test *t = address_of(r, end);

		for (unsigned level = 0; t && level < LEVELS && !by; level++)
			if (s->has_level[end][level])
				by = look_through(s, s->slot[slot_of(s, end, t->in.span[0].lo, level)], r);
	}
	return by;
}

/* False: the bound is met. */
static bool look_in_chain(struct search *s, const struct chain *c, const struct rule **stopped_at)
{
	s->caster.n = 0;
	s->wide = 0;
	for (s->n_slots = 16; s->n_slots < 2 * c->rules.n; s->n_slots *= 2)
		;
	s->slot = arena_new(s->scratch, uint32_t, s->n_slots);
	for (unsigned i = 0; i < ENDS * LEVELS; i++)
		s->has_level[i / LEVELS][i % LEVELS] = false;
	for (size_t i = 0; i < c->rules.n; i++) {
		const struct rule *r = c->rules.v[i];
		uint32_t n_tests, *place;

		s->by[r->id] = contradicts_itself(r) ? r : look_for(s, r);
		if (!s->left) {
			*stopped_at = r;
			return false;
		}
		if (s->by[r->id] || !casts(s, r, &n_tests))
			continue;
		place = place_of(s, r);
		*vec_add(s->scratch, &s->caster) = (struct caster){ r, n_tests, *place };
		*place = (uint32_t)s->caster.n;
	}
	return true;
}

/* A root is in a shadow if all that it stands for are. */
static void tell(struct search *s, struct arena *a, const struct ruleset *rs, struct shadows *out)
{
	bool *is_met = arena_new(s->scratch, bool, rs->rules.n + 1);

	for (size_t i = 0; i < rs->rules.n; i++)
		is_met[policy_rule_root(rs->rules.v[i])->id] |= !s->by[i];
	for (size_t i = 0; i < rs->rules.n; i++) {
		const struct rule *r = rs->rules.v[i];

		if (policy_rule_root(r) == r && !is_met[i])
			*vec_add(a, &out->all) =
			    (struct shadow){ r, s->by[i] == r ? NULL : policy_rule_root(s->by[i]) };
	}
}

void shadow_find(struct arena *a, const struct ruleset *rs, uint64_t most, struct shadows *out)
{
	struct search s = { .scratch = arena_create(), .left = most };

	*out = (struct shadows){ 0 };
	s.by = arena_new(s.scratch, const struct rule *, rs->rules.n + 1);
	find_written(rs, s.written);
	for (size_t i = 0; i < rs->chains.n; i++)
		if (!look_in_chain(&s, rs->chains.v[i], &out->stopped_at))
			break;
	tell(&s, a, rs, out);
	arena_destroy(s.scratch);
}

static void warn(struct diags *d, const struct shadow *x)
{
	struct str part =
	    x->rule->expansion ? arena_printf(d->a, "part %u of ", x->rule->expansion) : (struct str){ 0 };
	struct diag *g;

	if (!x->by) {
		diag_warn(d, x->rule->at, "never-matches",
			  "%.*sthis rule can match no packet: what it asks contradicts itself", STR_ARG(part));
		return;
	}
	g = diag_warn(d, x->rule->at, "hidden-rule",
		      "%.*sthis rule can never match: an earlier one takes every packet that it wants", STR_ARG(part));
	diag_hint(d, g, "that one is at %.*s: %.*s", STR_ARG(source_name_line(d->a, d->sources, x->by->at)),
		  STR_ARG(x->by->text));
}

void shadow_check(const struct ruleset *rs, struct diags *d)
{
	struct shadows found;

	shadow_find(d->a, rs, SHADOW_COMPARES, &found);
	for (size_t i = 0; i < found.all.n; i++)
		warn(d, &found.all.v[i]);
	if (found.stopped_at)
		diag_note(d, found.stopped_at->at,
			  "from here on, and in the chains behind, rules that can never match were not looked for: "
			  "the bound of %d compares is met",
			  SHADOW_COMPARES);
}
