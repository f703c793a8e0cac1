/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Matches: what is compared, and with what. A value that is not there ends the rule, whatever the comparison; but an interface
 * that is not there has an empty name.
 */
#include "lang/nft/lower.h"

enum { MAX_ENUMERATED = 256 };

const struct nft_set *nft_lower_set(const struct nft_expr *e)
{
	return e->kind == NFT_SETREF ? e->set : e->kind == NFT_SETLIT ? e->lit : NULL;
}

static const char *what_of(struct nft_lower *l, const struct nft_expr *e)
{
	return arena_cstr(l->a, nft_print_expr(l->a, e));
}

/* ---------- the values that the right side allows ---------- */

struct allowed {
	VEC(struct valset_span) span;
	bool is_single; /* each span is one number */
};

static bool add_span(struct nft_lower *l, struct allowed *w, const struct nft_source_of *s, const struct nft_expr *e)
{
	struct valset_span v;

	if (!nft_lower_span(s, e, &v))
		return false;
	*vec_add(l->a, &w->span) = v;
	w->is_single &= v.lo == v.hi;
	return true;
}

static bool of_right(struct nft_lower *l, const struct nft_stmt *m, const struct nft_source_of *s, struct allowed *w)
{
	const struct nft_set *set = nft_lower_set(m->match.right);
	u128 most = s->bits >= 128 ? ~(u128)0 : ((u128)1 << s->bits) - 1;
	struct valset_span v;

	*w = (struct allowed){ .is_single = true };
	if (set) {
		for (size_t i = 0; i < set->elems.n; i++)
			if (!add_span(l, w, s, set->elems.v[i].key))
				return false;
		return nft_lower_is_fixed(l, set);
	}
	if (m->match.op == NFT_EQ || m->match.op == NFT_NE)
		return add_span(l, w, s, m->match.right);
	if (s->is_name || s->is_state || !nft_lower_span(s, m->match.right, &v))
		return false;
	v.lo >>= s->shift;
	w->is_single = false;
	if ((m->match.op == NFT_LT && v.lo == 0) || (m->match.op == NFT_GT && v.lo >= most))
		return true; /* no value at all */
	*vec_add(l->a, &w->span) = m->match.op == NFT_LT ? (struct valset_span){ 0, (v.lo - 1) << s->shift } :
				   m->match.op == NFT_LE ? (struct valset_span){ 0, v.lo << s->shift } :
				   m->match.op == NFT_GT ? (struct valset_span){ (v.lo + 1) << s->shift, most << s->shift } :
							   (struct valset_span){ v.lo << s->shift, most << s->shift };
	return true;
}

/* ---------- tests ---------- */

static void ask_bytes(struct nft_lower *l, struct test *t, const struct nft_source_of *s, u128 mask, struct valset in)
{
	struct bytes_spec *b = arena_new(l->a, struct bytes_spec, 1);

	b->kind = BYTES_PAYLOAD;
	b->payload = *s->payload;
	b->payload_mask = mask;
	b->payload_in = in;
	t->kind = TEST_BYTES;
	t->bytes = b;
}

/* All numbers of a small field whose masked bits are allowed. */
static struct valset enumerate(struct nft_lower *l, const struct nft_source_of *s, u128 mask, const struct valset *in)
{
	struct valset_span v[MAX_ENUMERATED];
	size_t n = 0;

	for (unsigned x = 0; x <= (unsigned)field_max(s->field); x++)
		if (valset_has(in, x & mask))
			v[n++] = (struct valset_span){ x, x };
	return valset_make(l->a, v, n);
}

/* (field & mask) is one of the allowed numbers. false: nobody here can ask that. */
static bool ask(struct nft_lower *l, struct test *t, const struct nft_source_of *s, u128 mask, const struct allowed *w)
{
	struct valset in = valset_make(l->a, w->span.v, w->span.n);

	t->on_absent = s->is_name && (valset_has(&in, 0) != t->negated);
	if (s->payload) {
		ask_bytes(l, t, s, mask, in);
		return true;
	}
	t->field[0] = s->field;
	t->n_fields = 1;
	if (mask == field_max(s->field)) {
		t->in = in;
		return true;
	}
	if (field_max(s->field) < MAX_ENUMERATED) {
		t->in = enumerate(l, s, mask, &in);
		return true;
	}
	if (!w->is_single)
		return false;
	t->kind = TEST_MASK;
	t->n_masks = (uint32_t)w->span.n;
	t->masks = arena_new(l->a, struct test_mask, w->span.n + 1);
	for (size_t i = 0; i < w->span.n; i++)
		t->masks[i] = (struct test_mask){ .value = w->span.v[i].lo, .mask = mask };
	return true;
}

/* Some bit of `bits` is set. */
static void ask_bits(struct nft_lower *l, struct test *t, const struct nft_source_of *s, u128 bits)
{
	struct valset_span none = { 0, 0 };

	if (s->payload) {
		ask_bytes(l, t, s, bits, valset_make(l->a, &none, 1));
		t->negated = !t->negated;
		return;
	}
	t->kind = TEST_MASK;
	t->field[0] = s->field;
	t->n_fields = 1;
	t->masks = arena_new(l->a, struct test_mask, 1);
	t->n_masks = 1;
	t->masks[0] = (struct test_mask){ .value = 0, .mask = bits };
	t->negated = !t->negated;
}

static void constant(struct nft_lower *l, const struct nft_stmt *m, const struct nft_source_of *s, const struct allowed *w)
{
	struct valset in = valset_make(l->a, w->span.v, w->span.n);

	if (valset_has(&in, s->constant) == (m->match.op == NFT_NE))
		nft_lower_never(l, m->at);
}

static void compare(struct nft_lower *l, const struct nft_stmt *m, const struct nft_expr *left, u128 mask)
{
	const char *what = what_of(l, m->match.left);
	struct nft_source_of s;
	struct allowed w;
	struct valset_span v;
	struct test *t;
	size_t before;

	if (!nft_lower_source(l, left, &s)) {
		nft_lower_unknown(l, m->at, what, "nobody here can tell what it is");
		return;
	}
	before = l->steps.n;
	if (m->match.op == NFT_ANY_BIT || m->match.op == NFT_NO_BIT) {
		if (s.is_constant || !nft_lower_span(&s, m->match.right, &v)) {
			nft_lower_unknown(l, m->at, what, "nobody here can tell what it is compared with");
			return;
		}
		t = nft_lower_test(l, TEST_MASK, m->at, what);
		t->negated = m->match.op == NFT_NO_BIT;
		ask_bits(l, t, &s, v.lo);
		return;
	}
	if (!of_right(l, m, &s, &w)) {
		nft_lower_unknown(l, m->at, what, "nobody here can tell what it is compared with");
		return;
	}
	if (s.is_constant) {
		constant(l, m, &s, &w);
		return;
	}
	t = nft_lower_test(l, TEST_IN, m->at, what);
	t->negated = m->match.op == NFT_NE;
	if (!ask(l, t, &s, s.mask & (mask << s.shift), &w)) {
		l->steps.n = before;
		nft_lower_unknown(l, m->at, what, "nobody here can compare it under a mask");
	}
}

/* X & CONSTANT, also with flags: the mask; false: something else. */
static bool mask_of(const struct nft_expr *e, const struct nft_expr **left, u128 *mask)
{
	struct nft_source_of plain = { 0 };
	struct valset_span v;

	if (e->kind != NFT_BINOP) {
		*left = e;
		*mask = ~(u128)0;
		return true;
	}
	if (e->op != NFT_AND || !nft_lower_span(&plain, e->part[1], &v) || v.lo != v.hi)
		return false;
	*left = e->part[0];
	*mask = v.lo;
	return (*left)->kind == NFT_SELECT || (*left)->kind == NFT_PAYLOAD;
}

void nft_lower_match(struct nft_lower *l, const struct nft_stmt *s)
{
	const struct nft_set *set = nft_lower_set(s->match.right);
	const struct nft_expr *left;
	u128 mask;

	if (!nft_lower_needs(l, s->match.left))
		return;
	if (s->match.left->kind == NFT_CONCAT && set)
		nft_lower_tuple(l, s, set);
	else if (mask_of(s->match.left, &left, &mask))
		compare(l, s, left, mask);
	else
		nft_lower_unknown(l, s->at, what_of(l, s->match.left), "nobody here can calculate it");
}
