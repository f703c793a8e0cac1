/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Concatenations in sets, and maps: entries are intervals in each dimension. */
#include "lang/nft/lower.h"

struct keys {
	struct nft_source_of *source;
	struct map_key *key;
	unsigned n;
};

static bool keys_of(struct nft_lower *l, const struct nft_expr *e, struct keys *k)
{
	k->n = e->kind == NFT_CONCAT ? e->n_parts : 1;
	if (k->n > MAP_MAX_DIMS)
		return false;
	k->source = arena_new(l->a, struct nft_source_of, k->n);
	k->key = arena_new(l->a, struct map_key, k->n);
	for (unsigned i = 0; i < k->n; i++) {
		struct nft_source_of *s = &k->source[i];

		if (!nft_lower_source(l, e->kind == NFT_CONCAT ? e->part[i] : e, s) || s->is_constant)
			return false;
		k->key[i] = (struct map_key){ .field = s->field, .mask = s->mask, .payload = s->payload };
	}
	return true;
}

/* false: an element that nobody here can tell; skipped: '*'. */
static bool entry(struct nft_lower *l, const struct keys *k, const struct nft_elem *e, struct map *m, uint32_t outcome)
{
	struct map_span *span = arena_new(l->a, struct map_span, k->n);
	struct map_entry *to;

	if (e->key->kind == NFT_ANY) {
		m->has_other = true;
		m->other = outcome;
		return true;
	}
	if ((e->key->kind == NFT_CONCAT ? e->key->n_parts : 1) != k->n)
		return false;
	for (unsigned i = 0; i < k->n; i++) {
		struct valset_span v;

		if (!nft_lower_span(&k->source[i], e->key->kind == NFT_CONCAT ? e->key->part[i] : e->key, &v))
			return false;
		/* an interval of the upper bits of a field (dscp) has its lower bits masked away */
		span[i] = (struct map_span){ v.lo, v.hi };
	}
	to = vec_add(l->a, &m->entries);
	*to = (struct map_entry){ .key = span, .outcome = outcome, .at = e->at };
	return true;
}

static struct map *map_new(struct nft_lower *l, const struct nft_set *s, const struct keys *k, struct loc at)
{
	struct map *m = policy_map_add(l->rs, STR(""), at);

	(void)s;
	m->n_dims = (uint8_t)k->n;
	return m;
}

static struct map_use *use_of(struct nft_lower *l, const struct map *m, const struct keys *k, const struct nft_expr *e)
{
	struct map_use *u = arena_new(l->a, struct map_use, 1);

	*u = (struct map_use){ .map = m, .key = k->key, .what = arena_cstr(l->a, nft_print_expr(l->a, e)), .at = e->at };
	return u;
}

void nft_lower_tuple(struct nft_lower *l, const struct nft_stmt *s, const struct nft_set *set)
{
	const struct nft_expr *left = s->match.left;
	struct keys k;
	struct map *m;
	struct test *t;

	if (!nft_lower_is_fixed(l, set) || !keys_of(l, left, &k)) {
		nft_lower_unknown(l, s->at, "concatenation", "nobody here can tell what is in it");
		return;
	}
	m = map_new(l, set, &k, s->at);
	for (size_t i = 0; i < set->elems.n; i++) {
		if (!entry(l, &k, &set->elems.v[i], m, 0)) {
			nft_lower_unknown(l, s->at, "concatenation", "nobody here can tell what is in it");
			return;
		}
	}
	t = nft_lower_test(l, TEST_TUPLE, s->at, "concatenation");
	t->negated = s->match.op == NFT_NE;
	t->tuple = use_of(l, m, &k, left);
	t->what = t->tuple->what;
}

static bool same_outcome(const struct step *x, const struct step *y)
{
	if (x->kind != y->kind)
		return false;
	if (x->kind == STEP_VERDICT)
		return x->v.verdict == y->v.verdict && x->v.chain == y->v.chain;
	return x->effect.kind == y->effect.kind && x->effect.value == y->effect.value && x->effect.mask == y->effect.mask;
}

static uint32_t outcome_of(struct map *m, const struct step *s)
{
	for (uint32_t i = 0; i < m->n_outcomes; i++)
		if (same_outcome(&m->outcome[i], s))
			return i;
	m->outcome[m->n_outcomes] = *s;
	return m->n_outcomes++;
}

bool nft_lower_map(struct nft_lower *l, const struct nft_expr *e, bool (*outcome)(struct nft_lower *, const struct nft_expr *, struct step *))
{
	const struct nft_set *set = nft_lower_set(e->part[1]);
	struct keys k;
	struct map *m;
	struct step *to;

	if (!set || !nft_lower_is_fixed(l, set) || !keys_of(l, e->part[0], &k))
		return false;
	m = map_new(l, set, &k, e->at);
	m->outcome = arena_new(l->a, struct step, set->elems.n + 1);
	for (size_t i = 0; i < set->elems.n; i++) {
		struct step s = { 0 };

		if (!outcome(l, set->elems.v[i].data, &s) || !entry(l, &k, &set->elems.v[i], m, outcome_of(m, &s)))
			return false;
	}
	to = vec_add(l->a, &l->steps);
	to->kind = STEP_MAP;
	to->map = use_of(l, m, &k, e->part[0]);
	return true;
}
