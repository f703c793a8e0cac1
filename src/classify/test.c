/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fields, spans and masks as compares of words. See test.h. */
#include "classify/test.h"

#include "classify/bytes.h"
#include "classify/map.h"
#include "classify/state.h"
#include "flat/flat.h"

static uint64_t ones(unsigned bits)
{
	return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
}

static uint64_t upper(u128 v)
{
	return (uint64_t)(v >> 64);
}

/* ---------- presence ---------- */

void test_emit_presence(struct code *c, const struct place *p, int there, int absent)
{
	if (p->has_mask)
		code_test(c, (struct code_atom){ p->has_word, p->has_mask, p->has_mask, 0 }, there, absent);
	else
		code_test(c, (struct code_atom){ p->word, 0, 0, 0 }, there, absent);
}

/* Presence can ride on the compare of the value: same word, and absent fields are 0. */
static uint64_t riding(const struct place *p)
{
	return p->has_mask && p->has_word == p->word && p->bits <= 64 ? p->has_mask : 0;
}

/* ---------- values ---------- */

static struct code_atom narrow_span(const struct place *p, u128 mask, u128 lo, u128 hi)
{
	uint64_t has = riding(p);

	return (struct code_atom){ p->word, ((uint64_t)mask & ones(p->bits)) << p->shift | has, (uint64_t)lo << p->shift | has,
				   (uint64_t)(hi - lo) << p->shift };
}

static void emit_never(struct code *c, int no)
{
	code_test(c, (struct code_atom){ DP_W_L4, 0, 1, 0 }, no, no);
}

struct wide { /* a field of two words, under a mask */
	const struct place *p;
	u128 mask;
};

/* The upper half is `up`, and the lower lies in lo..hi. */
static void emit_edge(struct code *c, const struct wide *w, uint64_t up, struct code_atom low, int yes, int no)
{
	int then = code_label(c);

	code_test(c, (struct code_atom){ w->p->high, upper(w->mask), up, 0 }, then, no);
	code_put(c, then);
	code_test(c, low, yes, no);
}

/* lo <= value <= hi of a field of two words: the upper half is between the ends', or it is that of one end. */
static void emit_wide_span(struct code *c, const struct wide *w, struct valset_span s, int yes, int no)
{
	const struct place *p = w->p;
	u128 lo = s.lo, hi = s.hi;
	uint64_t low_mask = (uint64_t)w->mask;
	uint64_t lo_up = upper(lo), hi_up = upper(hi), lo_low = (uint64_t)lo, hi_low = (uint64_t)hi, all = ~(uint64_t)0;
	bool has_lo_edge = lo_low != 0, has_hi_edge = hi_low != all;
	uint64_t from = lo_up + has_lo_edge, n = hi_up - lo_up + 1 - has_lo_edge - has_hi_edge;
	int next;

	if (lo_up == hi_up && (has_lo_edge || has_hi_edge)) {
		emit_edge(c, w, lo_up, (struct code_atom){ p->word, low_mask, lo_low, hi_low - lo_low }, yes, no);
		return;
	}
	if (n != 0 || (lo_up == 0 && hi_up == all && !has_lo_edge && !has_hi_edge)) {
		next = has_lo_edge || has_hi_edge ? code_label(c) : no;
		code_test(c, (struct code_atom){ p->high, upper(w->mask), from, n - 1 }, yes, next);
		if (next != no)
			code_put(c, next);
	}
	if (has_lo_edge) {
		next = has_hi_edge ? code_label(c) : no;
		emit_edge(c, w, lo_up, (struct code_atom){ p->word, low_mask, lo_low, all - lo_low }, yes, next);
		if (next != no)
			code_put(c, next);
	}
	if (has_hi_edge)
		emit_edge(c, w, hi_up, (struct code_atom){ p->word, low_mask, 0, hi_low }, yes, no);
}

static void emit_masked_span(struct code *c, const struct place *p, u128 mask, struct valset_span s, int yes, int no)
{
	u128 max = p->bits >= 128 ? ~(u128)0 : ((u128)1 << p->bits) - 1;

	if (s.lo > max)
		emit_never(c, no);
	else if (p->bits > 64)
		emit_wide_span(c, &(struct wide){ p, mask }, s, yes, no);
	else
		code_test(c, narrow_span(p, mask, s.lo, s.hi > max ? max : s.hi), yes, no);
}

static void emit_span(struct code *c, const struct place *p, struct valset_span s, int yes, int no)
{
	emit_masked_span(c, p, ~(u128)0, s, yes, no);
}

static void emit_mask(struct code *c, const struct place *p, struct test_mask m, int yes, int no)
{
	uint64_t has = riding(p), mask = (uint64_t)m.mask & ones(p->bits), value = (uint64_t)m.value;
	int low;

	if ((m.value & m.mask) != m.value || (p->bits < 64 && m.value >> p->bits)) {
		emit_never(c, no);
		return;
	}
	if (p->bits > 64) {
		low = code_label(c);
		code_test(c, (struct code_atom){ p->high, upper(m.mask), upper(m.value), 0 }, low, no);
		code_put(c, low);
	}
	code_test(c, (struct code_atom){ p->word, mask << p->shift | has, value << p->shift | has, 0 }, yes, no);
}

void test_emit_spans(struct code *c, const struct place *p, u128 mask, const struct valset *in, int yes, int no)
{
	for (uint32_t i = 0; i < in->n; i++) {
		int next = i + 1 < in->n ? code_label(c) : no;

		emit_masked_span(c, p, mask, in->span[i], yes, next);
		if (next != no)
			code_put(c, next);
	}
	if (!in->n)
		emit_never(c, no);
}

/* Does field number `of` of the test have one of the values? Absent: no. */
static void emit_values(struct test_room *r, const struct test *t, unsigned of, int yes, int no)
{
	struct place p = place_of(t->field[of], r->is_ip4);
	struct code *c = r->code;
	uint32_t n = t->kind == TEST_IN ? t->in.n : t->n_masks, last = UINT32_MAX;
	int there = code_label(c), next;

	for (uint32_t i = 0; i < n; i++)
		if (t->kind == TEST_IN || t->masks[i].of == of)
			last = i;
	c->features |= p.feature;
	if (p.has_mask && !riding(&p))
		test_emit_presence(c, &p, there, no);
	code_put(c, there);
	for (uint32_t i = 0; i < n; i++) {
		if (t->kind == TEST_MASK && t->masks[i].of != of)
			continue;
		next = i == last ? no : code_label(c);
		if (t->kind == TEST_IN)
			emit_span(c, &p, t->in.span[i], yes, next);
		else
			emit_mask(c, &p, t->masks[i], yes, next);
		if (i != last)
			code_put(c, next);
	}
	if (last == UINT32_MAX)
		emit_never(c, no);
}

/* ---------- options of TCP ---------- */

static void emit_option(struct code *c, enum dp_op op, uint64_t lo, uint64_t hi, int yes, int no)
{
	struct code_insn *i = code_add(c, op);

	c->features |= DP_F_TCPOPT;
	i->a = lo;
	i->b = hi;
	i->yes = yes;
	i->no = no;
}

static bool is_option(enum field f)
{
	return f == FIELD_TCP_OPTS || f == FIELD_TCP_MSS;
}

static void emit_option_values(struct code *c, const struct test *t, int yes, int no)
{
	enum dp_op op = t->field[0] == FIELD_TCP_OPTS ? DP_OP_TCPOPT : DP_OP_TCPMSS;
	int next;

	for (uint32_t i = 0; i < t->in.n; i++) {
		next = code_label(c);
		emit_option(c, op, (uint64_t)t->in.span[i].lo, (uint64_t)t->in.span[i].hi, yes, next);
		code_put(c, next);
	}
	emit_never(c, no);
}

static void emit_option_presence(struct code *c, const struct test *t, int there, int absent)
{
	if (t->field[0] == FIELD_TCP_OPTS)
		code_test(c, (struct code_atom){ DP_W_L4, DP_HAS_TCP, DP_HAS_TCP, 0 }, there, absent);
	else
		emit_option(c, DP_OP_TCPMSS, 0, UINT16_MAX, there, absent);
}

static void emit_one_option(struct test_room *r, const struct test *t, int yes, int no)
{
	int pass = t->negated ? no : yes, fail = t->negated ? yes : no, there = code_label(r->code);

	emit_option_presence(r->code, t, there, t->on_absent ? yes : no);
	code_put(r->code, there);
	emit_option_values(r->code, t, pass, fail);
}

/* ---------- tests on fields ---------- */

/* Goes to `there` if one of the fields is present. */
static void emit_any_there(struct test_room *r, const struct test *t, int there, int absent)
{
	for (unsigned i = 0; i < t->n_fields; i++) {
		struct place p = place_of(t->field[i], r->is_ip4);
		int next = i + 1 < t->n_fields ? code_label(r->code) : absent;

		test_emit_presence(r->code, &p, there, next);
		if (next != absent)
			code_put(r->code, next);
	}
}

static void emit_fields(struct test_room *r, const struct test *t, int yes, int no)
{
	int pass = t->negated ? no : yes, fail = t->negated ? yes : no;
	struct code *c = r->code;

	if (t->n_fields == 0) {
		code_test(c, (struct code_atom){ DP_W_L4, 0, 0, 0 }, t->on_absent ? yes : no, no);
		return;
	}
	if (t->on_absent != t->negated) { /* absent is not the same as a value that fails */
		int there = code_label(c);

		emit_any_there(r, t, there, t->on_absent ? yes : no);
		code_put(c, there);
	}
	for (unsigned i = 0; i < t->n_fields; i++) {
		int next = i + 1 < t->n_fields ? code_label(c) : fail;

		emit_values(r, t, i, pass, next);
		if (next != fail)
			code_put(c, next);
	}
}

bool test_asks_conntrack(const struct test *t)
{
	for (unsigned i = 0; (t->kind == TEST_IN || t->kind == TEST_MASK) && i < t->n_fields; i++)
		if (field_table[t->field[i]].layer == FIELD_LAYER_CT)
			return true;
	return t->kind == TEST_TUPLE && map_asks_conntrack(t->tuple);
}

/* The type of an address is asked, and the address alone tells. */
static struct test multicast_test(struct arena *a, const struct test *t)
{
	struct test x = *t;

	x.field[0] = t->field[0] == FIELD_SRC_TYPE ? FIELD_SRC : FIELD_DST;
	x.in = valset_one(a, 0xe0000000, 0xefffffff);
	return x;
}

void test_emit(struct test_room *r, const struct test *t, int yes, int no)
{
	struct test multicast;

	if (r->is_ip4 && flat_asks_multicast(t)) {
		multicast = multicast_test(r->code->a, t);
		t = &multicast;
	}
	switch (t->kind) {
	case TEST_IN:
	case TEST_MASK:
		if (t->n_fields && is_option(t->field[0]))
			emit_one_option(r, t, yes, no);
		else
			emit_fields(r, t, yes, no);
		break;
	case TEST_SET:
		sets_emit(r->sets, r->code, t, r->is_ip4, yes, no);
		break;
	case TEST_STATE:
		state_emit(r, t, yes, no);
		break;
	case TEST_BYTES:
		bytes_emit(r, t, yes, no);
		break;
	case TEST_TUPLE:
		map_emit_test(r, t, yes, no);
		break;
	case TEST_UNKNOWN:
		break; /* refused */
	}
}
