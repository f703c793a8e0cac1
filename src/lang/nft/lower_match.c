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

const char nft_lower_why_ranges[] = "ranges of what was calculated are not followed";

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

bool nft_lower_has(const struct nft_lower_values *v, u128 x)
{
	for (size_t i = 0; i < v->v.n; i++)
		if (v->v.v[i].lo <= x && x <= v->v.v[i].hi)
			return true;
	return false;
}

enum { ADDR_TYPES = 12 }; /* RTN_UNSPEC to RTN_XRESOLVE */
/* The kernel's number of each connection state, in the order of enum ct_state. */
static const uint8_t state_bits[CT_STATE_COUNT] = { 1, 8, 2, 4, 64 };

/* A span as written, in the bits of the field; those below the key's lowest bit may be anything. */
static void add_own(struct nft_lower *l, const struct nft_lower_key *k, struct valset_span s, struct nft_lower_values *out)
{
	u128 whole = nft_lower_mask_bits(k->bits);

	if (s.lo <= whole)
		add_span(l, out, s.lo << k->up, (s.hi > whole ? whole : s.hi) << k->up | nft_lower_mask_bits(k->up));
}

bool nft_lower_own(struct nft_lower *l, const struct nft_lower_key *k, const struct nft_lower_values *v, struct nft_lower_values *out)
{
	bool is_state = k->code == NFT_LOWER_CT_STATE;

	*out = (struct nft_lower_values){ 0 };
	for (unsigned i = 0; k->code != NFT_LOWER_PLAIN && i < (is_state ? CT_STATE_COUNT : ADDR_TYPES); i++)
		if (nft_lower_has(v, is_state ? state_bits[i] : i))
			add_span(l, out, (u128)1 << i, (u128)1 << i);
	for (size_t i = 0; k->code == NFT_LOWER_PLAIN && i < v->v.n; i++) {
		struct valset_span s = v->v.v[i];

		if (!k->flip)
			add_own(l, k, s, out);
		else if (s.lo == s.hi)
			add_span(l, out, (s.lo << k->up) ^ k->flip, (s.lo << k->up) ^ k->flip);
		else
			return false;
	}
	return true;
}

/* ---------- tests ---------- */

struct masks {
	VEC(struct test_mask) v;
};

static void add_mask(struct nft_lower *l, struct masks *m, u128 value, u128 mask)
{
	*vec_add(l->a, &m->v) = (struct test_mask){ .value = value, .mask = mask };
}

static void mask_test(struct nft_lower *l, const struct nft_lower_key *k, const struct masks *m, bool negated)
{
	struct test *t = nft_lower_test(l, TEST_MASK, k->at, k->what);

	t->field[0] = k->key.field;
	t->n_fields = 1;
	t->masks = m->v.v;
	t->n_masks = (uint32_t)m->v.n;
	t->negated = negated;
}

unsigned nft_lower_prefix(u128 *lo, u128 hi, unsigned bits, u128 *first)
{
	unsigned n = 0;

	*first = *lo;
	while (n < bits && !(*lo >> n & 1) && *lo + nft_lower_mask_bits(n + 1) <= hi && *lo + nft_lower_mask_bits(n + 1) > *lo)
		n++;
	*lo += nft_lower_mask_bits(n) + 1;
	return bits - n;
}

/* Spans of `bits` bits as prefixes under masks, moved up. */
static void add_prefixes(struct nft_lower *l, struct masks *m, const struct nft_lower_key *k, u128 lo, u128 hi)
{
	u128 whole = nft_lower_mask_bits(k->bits), first;

	do {
		unsigned plen = nft_lower_prefix(&lo, hi, k->bits, &first);

		add_mask(l, m, first << k->up, (whole & ~nft_lower_mask_bits(k->bits - plen)) << k->up);
	} while (lo > first && lo <= hi);
}

void nft_lower_in(struct nft_lower *l, const struct nft_lower_key *k, struct valset in, bool negated)
{
	struct test *t = nft_lower_test(l, k->key.payload ? TEST_BYTES : TEST_IN, k->at, k->what);
	struct bytes_spec *b;

	t->negated = negated;
	if (!k->key.payload) {
		t->field[0] = k->key.field;
		t->n_fields = 1;
		t->in = in;
		return;
	}
	b = arena_new(l->a, struct bytes_spec, 1);
	b->kind = BYTES_PAYLOAD;
	b->payload = *k->key.payload;
	b->payload_mask = k->key.mask;
	b->payload_in = in;
	t->bytes = b;
}

/* Values of some bits, where no simpler test says it. */
static void in_tuple(struct nft_lower *l, const struct nft_lower_key *k, struct valset in, bool negated)
{
	struct map *m = policy_map_add(l->rs, STR(""), k->at);
	struct map_use *u = arena_new(l->a, struct map_use, 1);
	struct map_key *key = arena_new(l->a, struct map_key, 1);
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

static bool is_single(const struct nft_lower_values *v)
{
	for (size_t i = 0; i < v->v.n; i++)
		if (v->v.v[i].lo != v->v.v[i].hi)
			return false;
	return true;
}

/* Some bits of a field, from `up` on or under any mask; own: the values in the field's bits. */
static void in_bits(struct nft_lower *l, const struct nft_lower_key *k, const struct nft_lower_values *v,
		    const struct nft_lower_values *own, bool negated)
{
	u128 whole = nft_lower_mask_bits(k->bits);
	bool is_row = k->key.mask == whole << k->up && !k->flip;
	struct masks m = { 0 };

	if (is_row && k->up + k->bits == field_table[k->key.field].bits) {
		nft_lower_in(l, k, valset_make(l->a, own->v.v, own->v.n), negated);
		return;
	}
	if (!is_row && !is_single(v)) {
		in_tuple(l, k, valset_make(l->a, own->v.v, own->v.n), negated);
		return;
	}
	for (size_t i = 0; i < v->v.n; i++) {
		struct valset_span s = v->v.v[i];
		u128 value = (s.lo << k->up) ^ k->flip;

		if (is_row && s.lo <= whole)
			add_prefixes(l, &m, k, s.lo, s.hi > whole ? whole : s.hi);
		else if (!is_row && !(value & ~k->key.mask)) /* else no packet has it */
			add_mask(l, &m, value, k->key.mask);
	}
	mask_test(l, k, &m, negated);
}

static void match_in(struct nft_lower *l, const struct nft_lower_key *k, const struct nft_lower_values *v, bool negated)
{
	struct nft_lower_values own;
	struct valset in;

	if (k->kind == NFT_LOWER_CONST) {
		if (nft_lower_has(v, k->constant) == negated)
			nft_lower_never(l, k->at, k->what);
		return;
	}
	if (!nft_lower_own(l, k, v, &own)) {
		nft_lower_unknown(l, k->at, k->what, nft_lower_why_ranges);
		return;
	}
	if (!k->key.payload && (k->flip || k->key.mask != field_max(k->key.field))) {
		in_bits(l, k, v, &own, negated);
		return;
	}
	in = valset_make(l->a, own.v.v, own.v.n);
	nft_lower_in(l, k, in, negated);
	if (k->key.payload)
		return;
	l->steps.v[l->steps.n - 1].test.on_absent = k->is_absent_zero && valset_has(&in, 0) != negated;
	if (k->key.field == FIELD_PROTO && !negated)
		l->protos = in;
}

/* Some bit of `bits` is set. */
static void match_bits(struct nft_lower *l, const struct nft_lower_key *k, u128 bits, bool negated)
{
	struct nft_lower_values v = { 0 };
	struct nft_lower_key some = *k;
	struct masks m = { 0 };

	if (k->kind != NFT_LOWER_KEY || k->code != NFT_LOWER_PLAIN) {
		for (unsigned i = 0; i < 8; i++)
			if (bits >> i & 1)
				add_span(l, &v, (u128)1 << i, (u128)1 << i);
		match_in(l, k, &v, negated);
		return;
	}
	if (k->flip) {
		nft_lower_unknown(l, k->at, k->what, "flags of what was calculated are not followed");
		return;
	}
	some.key.mask &= bits << k->up;
	if (k->key.payload) {
		nft_lower_in(l, &some, valset_one(l->a, 1, ~(u128)0), negated);
		return;
	}
	for (unsigned i = 0; i < 128; i++)
		if (some.key.mask >> i & 1)
			add_mask(l, &m, (u128)1 << i, (u128)1 << i);
	mask_test(l, k, &m, negated);
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
