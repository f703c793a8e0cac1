/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Comparisons: a left side, an operator, and values.
 *
 * The values become spans of numbers; then the key's own form decides which test says it best: a field's spans, some of a
 * field's bits under masks, bits of a header, or a tuple of one where nothing simpler does.
 *
 *     tcp dport != { 22, 80-90 }        ! dport in {22, 80-90}
 *     tcp flags syn,ack                 tcp.flags & 2 == 2 or tcp.flags & 16 == 16
 *     ip dscp cs1                       tos in {32-35}
 */
#include "lang/nft/lower.h"

u128 nft_lower_mask_bits(unsigned bits)
{
	return bits >= 128 ? ~(u128)0 : ((u128)1 << bits) - 1;
}

/* ---------- values ---------- */

bool nft_lower_number(const struct nft_expr *e, u128 *v)
{
	u128 x, y;

	switch (e->kind) {
	case NFT_NUMBER:
		*v = e->lo;
		return true;
	case NFT_LIST:
		*v = 0;
		for (uint32_t i = 0; i < e->n_parts; i++) {
			if (!nft_lower_number(e->part[i], &x))
				return false;
			*v |= x;
		}
		return true;
	case NFT_BINOP:
		if (!nft_lower_number(e->part[0], &x) || !nft_lower_number(e->part[1], &y) ||
		    ((e->op == NFT_LSHIFT || e->op == NFT_RSHIFT) && y > 127))
			return false;
		*v = e->op == NFT_AND ? (x & y) : e->op == NFT_OR ? (x | y) : e->op == NFT_XOR ? (x ^ y) :
		     e->op == NFT_LSHIFT ? x << (int)y : x >> (int)y;
		return true;
	default:
		return false;
	}
}

static void add_span(struct nft_lower *l, struct nft_lower_values *out, u128 lo, u128 hi)
{
	*vec_add(l->a, &out->v) = (struct valset_span){ lo, hi };
}

static bool add_name(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_values *out)
{
	u128 first;

	if (e->text.n > 15)
		return false;
	first = field_name_value(e->text);
	add_span(l, out, first, e->is_prefix ? field_name_prefix_last(e->text) : first);
	return true;
}

bool nft_lower_values(struct nft_lower *l, const struct nft_expr *e, struct nft_lower_values *out)
{
	u128 v;

	switch (e->kind) {
	case NFT_RANGE:
	case NFT_PREFIX:
		add_span(l, out, e->lo, e->hi);
		return true;
	case NFT_TEXT:
		return add_name(l, e, out);
	case NFT_ANY:
		add_span(l, out, 0, ~(u128)0);
		return true;
	case NFT_SETLIT:
		for (size_t i = 0; i < e->lit->elems.n; i++)
			if (!nft_lower_values(l, e->lit->elems.v[i].key, out))
				return false;
		return true;
	default:
		if (!nft_lower_number(e, &v) || e->type == NFT_TYPE_IFACE_INDEX)
			return false;
		add_span(l, out, v, v);
		return true;
	}
}

static bool has_value(const struct nft_lower_values *v, u128 x)
{
	for (size_t i = 0; i < v->v.n; i++)
		if (v->v.v[i].lo <= x && x <= v->v.v[i].hi)
			return true;
	return false;
}

/* The kernel's number of each connection state, in the order of enum ct_state. */
static const uint8_t state_bits[CT_STATE_COUNT] = { 1, 8, 2, 4, 64 };

bool nft_lower_span(const struct nft_lower_key *k, struct valset_span s, struct valset_span *out)
{
	u128 whole = nft_lower_mask_bits(k->bits);

	if (s.lo > whole)
		return false;
	if (s.hi > whole)
		s.hi = whole;
	if (k->up < 0 && ((s.lo | s.hi) & nft_lower_mask_bits((unsigned)-k->up)) && s.lo == s.hi)
		return false;
	*out = k->up >= 0 ? (struct valset_span){ s.lo << k->up, s.hi << k->up | nft_lower_mask_bits((unsigned)k->up) }
			  : (struct valset_span){ s.lo >> -k->up, s.hi >> -k->up };
	return true;
}

/* Values as written in the field's own, where they have names of their own. */
static struct nft_lower_values translate(struct nft_lower *l, const struct nft_lower_key *k, const struct nft_lower_values *v)
{
	struct nft_lower_values out = { 0 };
	struct valset_span s;

	if (k->code == NFT_LOWER_CT_STATE) {
		for (unsigned i = 0; i < CT_STATE_COUNT; i++)
			if (has_value(v, state_bits[i]))
				add_span(l, &out, (u128)1 << i, (u128)1 << i);
	} else if (k->code == NFT_LOWER_ADDR_TYPE) {
		for (unsigned i = 0; i < 12; i++)
			if (has_value(v, i))
				add_span(l, &out, (u128)1 << i, (u128)1 << i);
	} else {
		for (size_t i = 0; i < v->v.n; i++)
			if (nft_lower_span(k, v->v.v[i], &s))
				add_span(l, &out, s.lo, s.hi);
	}
	return out;
}

/* ---------- tests ---------- */

static struct test *field_test(struct nft_lower *l, const struct nft_lower_key *k, enum test_kind kind)
{
	struct test *t = nft_lower_test(l, kind, k->at, k->what);

	t->field[0] = k->key.field;
	t->n_fields = 1;
	return t;
}

static void add_mask(struct nft_lower *l, struct test *t, u128 value, u128 mask)
{
	struct test_mask *v = arena_new(l->a, struct test_mask, t->n_masks + 1);

	if (t->n_masks)
		memcpy(v, t->masks, t->n_masks * sizeof *v);
	v[t->n_masks] = (struct test_mask){ .value = value, .mask = mask };
	t->masks = v;
	t->n_masks++;
}

/* Spans of `bits` bits as prefixes under masks, moved up. */
static void add_prefixes(struct nft_lower *l, struct test *t, const struct nft_lower_key *k, u128 lo, u128 hi)
{
	u128 whole = nft_lower_mask_bits(k->bits);

	while (lo <= hi) {
		unsigned n = 0;

		while (n < k->bits && !(lo >> n & 1) && lo + nft_lower_mask_bits(n + 1) <= hi)
			n++;
		add_mask(l, t, lo << k->up, (whole & ~nft_lower_mask_bits(n)) << k->up);
		if (lo + nft_lower_mask_bits(n) >= whole)
			break;
		lo += nft_lower_mask_bits(n) + 1;
	}
}

static void in_payload(struct nft_lower *l, const struct nft_lower_key *k, const struct nft_lower_values *v, bool negated)
{
	struct bytes_spec *b = arena_new(l->a, struct bytes_spec, 1);
	struct test *t = nft_lower_test(l, TEST_BYTES, k->at, k->what);

	b->kind = BYTES_PAYLOAD;
	b->payload = *k->key.payload;
	b->payload_mask = k->key.mask;
	b->payload_in = valset_make(l->a, v->v.v, v->v.n);
	t->bytes = b;
	t->negated = negated;
}

static void in_tuple(struct nft_lower *l, const struct nft_lower_key *k, const struct nft_lower_values *v, bool negated)
{
	struct map *m = policy_map_add(l->rs, STR(""), k->at);
	struct map_use *u = arena_new(l->a, struct map_use, 1);
	struct map_key *key = arena_new(l->a, struct map_key, 1);
	struct valset in = valset_make(l->a, v->v.v, v->v.n);
	struct test *t = nft_lower_test(l, TEST_TUPLE, k->at, k->what);

	m->n_dims = 1;
	for (uint32_t i = 0; i < in.n; i++) {
		struct map_span *s = arena_new(l->a, struct map_span, 1);

		*s = (struct map_span){ in.span[i].lo, in.span[i].hi };
		*vec_add(l->a, &m->entries) = (struct map_entry){ .key = s, .at = k->at };
	}
	*key = k->key;
	*u = (struct map_use){ .map = m, .key = key, .what = k->what, .at = k->at };
	t->tuple = u;
	t->negated = negated;
}

/* Single values of what was changed by a sum before it is compared. */
static void in_flipped(struct nft_lower *l, const struct nft_lower_key *k, const struct nft_lower_values *v, bool negated)
{
	struct nft_lower_values out = { 0 };
	struct test *t;

	for (size_t i = 0; i < v->v.n; i++) {
		u128 x = v->v.v[i].lo;

		if (x != v->v.v[i].hi || k->up < 0) {
			nft_lower_unknown(l, k->at, k->what, "ranges of what was calculated are not followed");
			return;
		}
		x = (x << k->up) ^ k->flip;
		if (!(x & ~k->key.mask))
			add_span(l, &out, x, x);
	}
	if (k->key.payload) {
		in_payload(l, k, &out, negated);
		return;
	}
	t = field_test(l, k, TEST_MASK);
	t->negated = negated;
	for (size_t i = 0; i < out.v.n; i++)
		add_mask(l, t, out.v.v[i].lo, k->key.mask);
}

static bool is_single(const struct nft_lower_values *v)
{
	for (size_t i = 0; i < v->v.n; i++)
		if (v->v.v[i].lo != v->v.v[i].hi)
			return false;
	return true;
}

/* Some bits of a field, from `up` on or under any mask. */
static void in_bits(struct nft_lower *l, const struct nft_lower_key *k, const struct nft_lower_values *v, bool negated)
{
	unsigned width = field_table[k->key.field].bits;
	struct nft_lower_values own = translate(l, k, v);
	struct test *t;

	if (k->up >= 0 && k->key.mask == nft_lower_mask_bits(k->bits) << k->up && k->up + (int)k->bits == (int)width) {
		t = field_test(l, k, TEST_IN);
		t->in = valset_make(l->a, own.v.v, own.v.n);
	} else if (k->up >= 0 && k->key.mask == nft_lower_mask_bits(k->bits) << k->up && v->v.n < 4096) {
		t = field_test(l, k, TEST_MASK);
		for (size_t i = 0; i < v->v.n; i++) {
			u128 hi = v->v.v[i].hi;

			add_prefixes(l, t, k, v->v.v[i].lo, hi > nft_lower_mask_bits(k->bits) ? nft_lower_mask_bits(k->bits) : hi);
		}
	} else if (is_single(v) && k->up >= 0) {
		t = field_test(l, k, TEST_MASK);
		for (size_t i = 0; i < v->v.n; i++)
			if (!((v->v.v[i].lo << k->up) & ~k->key.mask))
				add_mask(l, t, v->v.v[i].lo << k->up, k->key.mask);
	} else {
		in_tuple(l, k, &own, negated);
		return;
	}
	t->negated = negated;
}

static void match_in(struct nft_lower *l, const struct nft_lower_key *k, const struct nft_lower_values *v, bool negated)
{
	struct nft_lower_values own;
	struct test *t;

	if (k->kind == NFT_LOWER_UNKNOWN) {
		nft_lower_unknown(l, k->at, k->what, k->why);
	} else if (k->kind == NFT_LOWER_CONST) {
		if (has_value(v, k->constant) == negated)
			nft_lower_never(l, k->at, k->what);
	} else if (k->flip) {
		in_flipped(l, k, v, negated);
	} else if (k->key.payload) {
		own = translate(l, k, v);
		for (size_t i = 0; i < own.v.n; i++) /* bits that the mask takes away are 0 */
			if (own.v.v[i].lo == own.v.v[i].hi && (own.v.v[i].lo & ~k->key.mask))
				own.v.v[i] = (struct valset_span){ ~(u128)0, ~(u128)0 };
		in_payload(l, k, &own, negated);
	} else if (k->key.mask != field_max(k->key.field)) {
		in_bits(l, k, v, negated);
	} else {
		own = translate(l, k, v);
		t = field_test(l, k, TEST_IN);
		t->in = valset_make(l->a, own.v.v, own.v.n);
		t->negated = negated;
		t->on_absent = k->is_absent_zero && valset_has(&t->in, 0) != negated;
		if (k->key.field == FIELD_PROTO && !negated)
			l->protos = t->in;
	}
}

/* Some bit of `bits` is set. */
static void match_bits(struct nft_lower *l, const struct nft_lower_key *k, u128 bits, bool negated)
{
	struct nft_lower_values v = { 0 };
	struct test *t;

	if (k->kind == NFT_LOWER_KEY && k->code == NFT_LOWER_PLAIN && (k->flip || k->up < 0)) {
		nft_lower_unknown(l, k->at, k->what, "flags of what was calculated are not followed");
		return;
	}
	if (k->kind != NFT_LOWER_KEY || k->code != NFT_LOWER_PLAIN) {
		for (unsigned i = 0; i < 8; i++)
			if (bits >> i & 1)
				add_span(l, &v, (u128)1 << i, (u128)1 << i);
		match_in(l, k, &v, negated);
		return;
	}
	bits = (bits << k->up) & k->key.mask;
	if (k->key.payload) {
		struct nft_lower_key some = *k;

		some.key.mask = bits;
		add_span(l, &v, 1, ~(u128)0);
		in_payload(l, &some, &v, negated);
		return;
	}
	t = field_test(l, k, TEST_MASK);
	for (unsigned i = 0; i < 128; i++)
		if (bits >> i & 1)
			add_mask(l, t, (u128)1 << i, (u128)1 << i);
	t->negated = negated;
}

static bool compare_values(struct nft_lower *l, const struct nft_stmt *s, struct nft_lower_values *v)
{
	u128 x;

	switch (s->match.op) {
	case NFT_EQ:
	case NFT_NE:
	case NFT_ANY_BIT:
	case NFT_NO_BIT:
		return nft_lower_values(l, s->match.right, v);
	default:
		break;
	}
	if (!nft_lower_number(s->match.right, &x))
		return false;
	if (s->match.op == NFT_LE || (s->match.op == NFT_LT && x > 0))
		add_span(l, v, 0, s->match.op == NFT_LE ? x : x - 1);
	else if (s->match.op == NFT_GE || (s->match.op == NFT_GT && x < ~(u128)0))
		add_span(l, v, s->match.op == NFT_GE ? x : x + 1, ~(u128)0);
	return true;
}

/* `tcp option X exists`, which only TCP can meet; "missing" holds for everything else, too. */
static bool asks_option(const struct nft_stmt *s)
{
	u128 v;

	return s->match.left->kind == NFT_SELECT && s->match.left->sel == NFT_SEL_TCPOPT_EXISTS && s->match.op == NFT_EQ &&
	       nft_lower_number(s->match.right, &v) && v == 1;
}

void nft_lower_match(struct nft_lower *l, const struct nft_stmt *s)
{
	const struct nft_expr *right = s->match.right;
	bool negated = s->match.op == NFT_NE || s->match.op == NFT_NO_BIT;
	struct nft_lower_key k[MAP_MAX_DIMS];
	struct nft_lower_values v = { 0 };
	unsigned n;
	u128 bits;

	if (asks_option(s))
		nft_lower_needs_proto(l, 6, s->at);
	if (l->is_over)
		return;
	n = nft_lower_keys(l, s->match.left, k);

	for (unsigned i = 0; i < n; i++)
		k[i].at = s->at;
	if (n == 0)
		return;
	if (right->kind == NFT_SETREF) {
		nft_lower_in_set(l, k, n, right->set, s->at, negated);
	} else if (n > 1 && right->kind == NFT_SETLIT) {
		nft_lower_in_set(l, k, n, right->lit, s->at, negated);
	} else if (n > 1) {
		struct nft_set one = { .at = right->at };

		*vec_add(l->a, &one.elems) = (struct nft_elem){ .key = (struct nft_expr *)right, .at = right->at };
		nft_lower_in_set(l, k, n, &one, s->at, negated);
	} else if (k[0].kind == NFT_LOWER_UNKNOWN) {
		nft_lower_unknown(l, k[0].at, k[0].what, k[0].why);
	} else if ((s->match.op == NFT_ANY_BIT || s->match.op == NFT_NO_BIT) && nft_lower_number(right, &bits) && bits) {
		match_bits(l, &k[0], bits, negated);
	} else if (compare_values(l, s, &v)) {
		match_in(l, &k[0], &v, negated);
	} else {
		nft_lower_unknown(l, s->at, k[0].what, "what it is compared with is no constant here");
	}
}
