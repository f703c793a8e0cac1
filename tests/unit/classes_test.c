/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Class tables against a linear search over the same boxes, on keys at the edges of the boxes; tables at and beyond the
 * bounds; walks whose words move while they are built; tables with words that somebody changed.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "classify/classes.h"
#include "classify/walk.h"
#include "datapath/key.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define DP_NOUNROLL
#define DP_SHR(x, n) ((x) >> ((n) & 63))
#define LD16(p) ((const struct load16 *)(p))->v
struct load16 { u16 v; } __attribute__((packed, may_alias));
static const struct { u64 table_mask; } dp_c = { ~0ull };
static __always_inline u64 dp_zero(const u64 *t)
{
	(void)t;
	return 0;
}

struct dp_iter {
	u32 n;
};

static __always_inline void dp_iter_start(struct dp_iter *it, int n)
{
	it->n = (u32)n;
}

static __always_inline bool dp_iter_next(struct dp_iter *it)
{
	return it->n-- > 0;
}

static __always_inline void dp_iter_end(struct dp_iter *it)
{
	(void)it;
}

#include "datapath/classes.h"

enum { MOST_RULES = 200, MOST_WORDS = 1 << 17, POLICY = 7 };
static const uint64_t policy = DP_RESULT(DP_PLACE_POLICY, DP_RESULT_ACCEPT, POLICY);
static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* ---------- rules ---------- */

struct list {
	struct class_box box[MOST_RULES];
	struct class_rule rule[MOST_RULES];
	unsigned n;
};

/* Few different values, so that rules overlap. */
static uint32_t some_value(enum box_dim d)
{
	static const uint32_t values[] = { 0, 1, 22, 80, 443, 0x0a000001, 0x0a0000ff, 0x0a010000, 0xc0a80000, 0xffffffff, 0x80000000 };
	uint32_t v = below(3) ? values[below(sizeof values / sizeof *values)] : below(1u << 30) * 4 + below(4);

	return v & box_dim_max(d);
}

static void narrow(struct box *b, enum box_dim d)
{
	uint32_t lo = some_value(d), hi = lo, max = box_dim_max(d), wild;
	struct box was = *b;

	switch (below(4)) {
	case 0: /* a prefix */
		wild = max >> below(box_places[d].bits);
		lo &= ~wild;
		hi = lo | wild;
		break;
	case 1: /* a range */
		hi = some_value(d);
		if (hi < lo) {
			uint32_t x = lo;

			lo = hi;
			hi = x;
		}
		break;
	default:
		break;
	}
	if (!box_narrow(b, d, lo, hi))
		*b = was;
}

static void narrow_bits(struct class_box *b)
{
	static const uint32_t l4[] = { DP_HAS_PORTS, DP_HAS_PORTS | DP_HAS_TCP, DP_IS_LATER, 0xff000000, 0x00020000, 0x00170000 | DP_HAS_TCP };

	b->box.l4_mask = l4[below(sizeof l4 / sizeof *l4)];
	b->box.l4_value = b->box.l4_mask & (below(2) ? 0x06020003 : 0x11150001);
	if (below(3) == 0) {
		b->ct_mask = 1ull << (32 + below(4));
		b->ct_value = below(2) ? b->ct_mask : 0;
	}
	if (below(3) == 0) {
		b->dev_mask = DP_HAS_IIF;
		b->dev_value = below(2) ? DP_HAS_IIF : 0;
	}
}

static uint64_t result_of(unsigned i)
{
	return DP_RESULT(2 * i + 1, 1 + i % 2, i);
}

/* dims: how many of the dimensions the rules narrow, at most. Some rules have several boxes. */
static void make_list(struct list *l, unsigned n, const uint8_t *dim, unsigned n_dims, bool all_end)
{
	*l = (struct list){ .n = n };
	for (unsigned i = 0; i < n; i++) {
		struct class_box *b = &l->box[i];

		box_full(&b->box);
		for (unsigned k = below(4); k-- > 0;)
			narrow(&b->box, (enum box_dim)dim[below(n_dims)]);
		if (below(2))
			narrow_bits(b);
		l->rule[i] = (struct class_rule){ b, result_of(i), all_end || below(3) ? BOX_FINAL : 0 };
		if (i && below(8) == 0) {
			l->rule[i].result = l->rule[i - 1].result;
			l->rule[i].until = l->rule[i - 1].until;
		}
	}
}

/* ---------- keys ---------- */

static void set_field(u64 *w, enum box_dim d, uint32_t v)
{
	uint64_t mask = (uint64_t)box_dim_max(d) << box_places[d].shift;

	w[box_places[d].word] = (w[box_places[d].word] & ~mask) | (uint64_t)v << box_places[d].shift;
}

/* What has no ports has none of their values, and so on. */
static void keep_promises(u64 *w)
{
	if (w[DP_W_L4] >> 32)
		w[DP_W_L4] |= DP_HAS_PORTS;
	if (w[DP_W_L4] & 0xff0000)
		w[DP_W_L4] |= DP_HAS_PORTS | DP_HAS_TCP;
	if (w[DP_W_IIF0] || w[DP_W_IIF1])
		w[DP_W_DEV] |= DP_HAS_IIF;
	if (w[DP_W_OIF0] || w[DP_W_OIF1])
		w[DP_W_DEV] |= DP_HAS_OIF;
}

static void make_key(const struct list *l, const uint8_t *dim, unsigned n_dims, struct dp_key *k)
{
	const struct class_box *b = &l->box[below(l->n)];

	memset(k, 0, sizeof *k);
	for (unsigned i = 0; i < n_dims; i++) {
		const struct box *from = below(4) ? &b->box : &l->box[below(l->n)].box;
		enum box_dim d = (enum box_dim)dim[i];
		uint32_t v = below(2) ? from->lo[d] : from->hi[d];

		set_field(k->w, d, below(4) ? v : (v + below(3) - 1) & box_dim_max(d));
	}
	if (below(2))
		k->w[DP_W_L4] = (k->w[DP_W_L4] & ~(uint64_t)b->box.l4_mask) | b->box.l4_value;
	else
		k->w[DP_W_L4] |= below(2) ? 0x06020003 : below(2) ? DP_IS_LATER : DP_HAS_PORTS;
	k->w[DP_W_CT] |= below(2) ? b->ct_value : 1ull << (32 + below(4));
	k->w[DP_W_DEV] |= below(2) ? b->dev_value : 0;
	keep_promises(k->w);
}

static bool matches(const struct class_box *b, const uint64_t *w)
{
	for (unsigned d = 0; d < BOX_DIMS; d++) {
		uint32_t v = (uint32_t)(w[box_places[d].word] >> box_places[d].shift) & box_dim_max((enum box_dim)d);

		if (v < b->box.lo[d] || v > b->box.hi[d])
			return false;
	}
	return !(((uint32_t)w[DP_W_L4] ^ b->box.l4_value) & b->box.l4_mask) && !((w[DP_W_CT] ^ b->ct_value) & b->ct_mask) &&
	       !((w[DP_W_DEV] ^ b->dev_value) & b->dev_mask);
}

/* *end: the place of the first rule that ends the list for the key. */
static uint64_t linear(const struct list *l, const struct dp_key *k, uint32_t from, uint32_t *end)
{
	uint64_t best = DP_RESULT_NONE, w[DP_KEY_WORDS];

	memcpy(w, k->w, sizeof w);
	*end = DP_PLACE_POLICY;
	for (unsigned i = 0; i < l->n; i++) {
		uint32_t place = (uint32_t)(l->rule[i].result >> DP_PLACE_SHIFT);

		if (!matches(l->rule[i].box, w))
			continue;
		if (place >= from && best == DP_RESULT_NONE)
			best = l->rule[i].result;
		if (l->rule[i].until == BOX_FINAL) {
			*end = place;
			break;
		}
	}
	return best == DP_RESULT_NONE ? policy : best;
}

/* ---------- tables against the linear search ---------- */

static bool build(const struct list *l, struct words *w, struct class_tables *c)
{
	struct class_task t = { l->rule, l->n, policy, MOST_WORDS, 1ull << 32 };

	return classes_build(&t, w, c);
}

static uint64_t lookup_from(struct dp_key *k, const u64 *t, const struct class_tables *c, uint32_t from)
{
	dp_classes_sum(k, t, 0, c->root);
	return dp_classes_from(k, t, 0, c->root, from);
}

/* A copy without a word too much, so that sanitizers see what lies beyond. */
static u64 *copy_of(const struct words *w, const struct class_tables *c)
{
	u64 *t = malloc((w->n - c->begin) * sizeof *t);

	assert_non_null(t);
	memcpy(t, w->v + c->begin, (w->n - c->begin) * sizeof *t);
	return t;
}

static unsigned compare(const struct list *l, const uint8_t *dim, unsigned n_dims, struct arena *a)
{
	struct words w = { .a = a };
	struct class_tables c;
	u64 *t;

	if (!build(l, &w, &c))
		return 0;
	t = copy_of(&w, &c);
	for (unsigned i = 0; i < 500; i++) {
		struct dp_key k;
		uint32_t end, from;

		make_key(l, dim, n_dims, &k);
		assert_int_equal(dp_classes_first(&k, t, 0, c.root), linear(l, &k, 0, &end));
		from = below(2) ? below(2 * l->n + 2) : end;
		if (from <= end)
			assert_int_equal(lookup_from(&k, t, &c, from), linear(l, &k, from, &end));
	}
	free(t);
	return 1;
}

static const uint8_t dims_ip4[] = { BOX_SRC0, BOX_DST0, BOX_SPORT, BOX_DPORT, BOX_PROTO };
static const uint8_t dims_ip6[] = { BOX_SRC3, BOX_SRC2, BOX_SRC1, BOX_SRC0, BOX_DST3, BOX_DST2, BOX_DST1, BOX_DST0, BOX_DPORT };
static const uint8_t dims_meta[] = { BOX_IIF3, BOX_IIF2, BOX_OIF3, BOX_MARK, BOX_CT_MARK, BOX_ICMP, BOX_TOS, BOX_LENGTH, BOX_DPORT };

static void tables_answer_as_the_list_does(void **state)
{
	static const struct { const uint8_t *dim; unsigned n, most; } kinds[] = {
		{ dims_ip4, sizeof dims_ip4, 90 }, { dims_ip6, sizeof dims_ip6, 40 }, { dims_meta, sizeof dims_meta, 40 },
	};
	struct arena *a = arena_create();
	static struct list l;
	unsigned n_built[3] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 240; i++) {
		unsigned kind = i % 3;

		seed = i;
		arena_reset(a);
		make_list(&l, 1 + below(below(2) ? 8 : kinds[kind].most), kinds[kind].dim, kinds[kind].n, below(2));
		n_built[kind] += compare(&l, kinds[kind].dim, kinds[kind].n, a);
	}
	for (unsigned kind = 0; kind < 3; kind++)
		assert_true(n_built[kind] > 50);
	arena_destroy(a);
}

/* ---------- bounds ---------- */

static void runs_that_are_too_long_are_refused(void **state)
{
	struct arena *a = arena_create();
	static struct list l;

	(void)state;
	for (unsigned n = DP_CLASS_RUN - 3; n < DP_CLASS_RUN + 3; n++) {
		struct words w = { .a = a };
		struct class_tables c;
		bool fits = n + 1 <= DP_CLASS_RUN; /* the policy ends the run */

		l.n = n;
		for (unsigned i = 0; i < n; i++) {
			box_full(&l.box[i].box);
			l.rule[i] = (struct class_rule){ &l.box[i], result_of(i), 0 };
		}
		words_add(&w, 3);
		assert_int_equal(build(&l, &w, &c), fits);
		if (fits)
			assert_int_equal(c.run, n + 1);
		else
			assert_int_equal(w.n, 8); /* where they would have begun */
	}
	arena_destroy(a);
}

static void budgets_are_kept(void **state)
{
	struct arena *a = arena_create();
	static struct list l;
	unsigned n_built = 0, n_refused = 0;

	(void)state;
	seed = 5;
	make_list(&l, 16, dims_ip4, sizeof dims_ip4, true);
	for (size_t words = 16; words < MOST_WORDS; words *= 2) {
		struct words w = { .a = a };
		struct class_tables c;
		struct class_task t = { l.rule, l.n, policy, words, 1ull << 32 };
		bool built = classes_build(&t, &w, &c);

		n_built += built;
		n_refused += !built;
		assert_true(!built || w.n - c.begin <= words + 1);
		t.most_work = 100;
		assert_false(classes_build(&t, &w, &c));
	}
	assert_true(n_built > 0 && n_refused > 0);
	arena_destroy(a);
}

static unsigned wrong_values(const struct walk_field *f, const struct words *w, uint64_t walk)
{
	struct dp_class_at at = { (const u64 *)w->v, 0, ~0ull };
	unsigned n = 0;

	for (size_t i = 0; i < f->n; i++) {
		uint32_t last = i + 1 < f->n ? f->start[i + 1] - 1 : UINT32_MAX;

		n += dp_class_walk(&at, walk, f->start[i]) != f->value[i];
		n += dp_class_walk(&at, walk, last) != f->value[i];
		n += dp_class_walk(&at, walk, f->start[i] + (last - f->start[i]) / 2) != f->value[i];
	}
	return n;
}

/* The words grow, and move, at every place of a walk once: nothing that was written before is lost. */
static void walks_are_whole_wherever_words_move(void **state)
{
	static const uint32_t start[] = { 0, 0x0b1a943c, 0x0b1a9441, 0x0b1a9620, 0x0b1aabde, 0x0b1ad0f3, 0x0b1da7bd, 0x0b26ab6f,
					  0x0b5a0225, 0x7847f66d, 0x7847f66f, 0x7847f691, 0x7847f8c1, 0x78483d24, 0x78a00000 };
	static const uint64_t value[] = { 1, 2, 3, 4, 5, 6, 7, 8, 1, 9, 10, 11, 12, 13, 1 };
	struct walk_field f = { start, value, sizeof start / sizeof *start, 32 };
	size_t words = 1;
	bool has_rounds = false;

	(void)state;
	for (size_t room = 0; room <= words; room++) {
		struct arena *a = arena_create();
		struct words w = { .a = a };
		struct walk walk;

		words_add(&w, 4096);
		words_add(&w, w.cap - w.n - (room < w.cap - w.n ? room : w.cap - w.n));
		words = w.n;
		assert_true(walk_build(a, &f, &w, 0, &walk));
		words = w.n - words;
		has_rounds |= walk.rounds > 1;
		assert_int_equal(wrong_values(&f, &w, walk.word), 0);
		arena_destroy(a);
	}
	assert_true(has_rounds);
}

/* Whatever was changed: what passes the check never leads out of the words. */
static void what_leads_astray_is_refused(void **state)
{
	struct arena *a = arena_create();
	static struct list l;
	struct words w = { .a = a };
	struct class_tables c, measured;
	unsigned n_refused = 0;
	u64 *t;

	(void)state;
	seed = 11;
	make_list(&l, 12, dims_meta, sizeof dims_meta, true);
	assert_true(build(&l, &w, &c));
	t = copy_of(&w, &c);
	for (unsigned i = 0; i < 4000; i++) {
		size_t at = i % 4 ? below((unsigned)(w.n - c.begin)) : c.root + below(DP_CLASS_OTHER_AT);
		u64 was = t[at];

		t[at] ^= 1ull << below(64);
		if (!classes_check((const uint64_t *)t, w.n - c.begin, c.root, &measured)) {
			n_refused++;
		} else {
			struct dp_key k;

			make_key(&l, dims_meta, sizeof dims_meta, &k);
			dp_classes_first(&k, t, 0, c.root);
			lookup_from(&k, t, &c, below(24));
		}
		t[at] = was;
	}
	assert_true(n_refused > 500);
	assert_true(classes_check((const uint64_t *)t, w.n - c.begin, c.root, &measured));
	for (size_t n = 0; n < w.n - c.begin; n += 7)
		assert_false(classes_check((const uint64_t *)t, n, c.root, &measured));
	free(t);
	arena_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_answer_as_the_list_does),
		cmocka_unit_test(runs_that_are_too_long_are_refused),
		cmocka_unit_test(budgets_are_kept),
		cmocka_unit_test(walks_are_whole_wherever_words_move),
		cmocka_unit_test(what_leads_astray_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
