/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The image of the sets: random changes beside a plain list of elements, one by one and in batches. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sets/setmem.h"

static uint64_t seed = 1;

static uint32_t dice(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) * n >> 31);
}

/* ---------- the reference: elements in a row ---------- */

enum { MOST = 4000 };
struct reference {
	struct set_elem el[MOST];
	size_t n;
};

static u128 mask_of(enum family f, unsigned plen)
{
	u128 all = f == FAMILY_IP4 ? UINT32_MAX : ~(u128)0;
	unsigned bits = f == FAMILY_IP4 ? 32 : 128;

	return plen == 0 ? 0 : all & ~((((u128)1 << (bits - plen)) - 1));
}

static bool is_same(const struct set *s, const struct set_elem *x, const struct set_elem *y)
{
	for (unsigned d = 0; d < s->n_dims; d++)
		if (x->v[d] != y->v[d] || (s->dim[d] == SET_DIM_NET && x->plen[d] != y->plen[d]))
			return false;
	return true;
}

static size_t find(const struct set *s, const struct reference *r, const struct set_elem *el)
{
	for (size_t i = 0; i < r->n; i++)
		if (is_same(s, &r->el[i], el))
			return i;
	return SIZE_MAX;
}

/* The longest prefix of the first dimension decides, then that of the second. */
static enum setmem_answer answer(const struct set *s, const struct reference *r, const struct set_elem *p)
{
	const struct set_elem *best = NULL;

	for (size_t i = 0; i < r->n; i++) {
		const struct set_elem *x = &r->el[i];
		bool hit = true;

		for (unsigned d = 0; d < s->n_dims && hit; d++) {
			u128 mask = s->dim[d] == SET_DIM_NET ? mask_of(s->family, x->plen[d]) : ~(u128)0;

			hit = ((x->v[d] ^ p->v[d]) & mask) == 0;
		}
		if (hit && (!best || x->plen[0] > best->plen[0] || (x->plen[0] == best->plen[0] && x->plen[1] > best->plen[1])))
			best = x;
	}
	return !best ? SETMEM_OUT : best->nomatch ? SETMEM_EXCEPTION : SETMEM_IN;
}

/* ---------- kinds of sets ---------- */

struct kind {
	const char *type;
	enum family family;
	enum set_dim dim[SET_MAX_DIMS];
	uint8_t n_dims;
	bool has_timeout;
	unsigned spread; /* values differ in so many places */
};

static const struct kind kinds[] = {
	{ "hash:net", FAMILY_IP4, { SET_DIM_NET }, 1, false, 3 },
	{ "hash:net", FAMILY_IP4, { SET_DIM_NET }, 1, false, 32 },
	{ "hash:net", FAMILY_IP6, { SET_DIM_NET }, 1, false, 3 },
	{ "hash:net", FAMILY_IP6, { SET_DIM_NET }, 1, false, 64 },
	{ "hash:net", FAMILY_IP4, { SET_DIM_NET }, 1, true, 4 },
	{ "hash:ip", FAMILY_IP4, { SET_DIM_ADDR }, 1, false, 4 },
	{ "hash:ip", FAMILY_IP6, { SET_DIM_ADDR }, 1, true, 4 },
	{ "hash:ip,port", FAMILY_IP4, { SET_DIM_ADDR, SET_DIM_PORT }, 2, false, 3 },
	{ "hash:net,net", FAMILY_IP4, { SET_DIM_NET, SET_DIM_NET }, 2, false, 2 },
	{ "hash:net,port", FAMILY_IP6, { SET_DIM_NET, SET_DIM_PORT }, 2, false, 3 },
};

static void make_set(struct set *s, const struct kind *k, const char *name)
{
	*s = (struct set){ .name = str_from(name), .type = str_from(k->type), .family = k->family, .has_addrs = true,
			   .n_dims = k->n_dims, .has_default_timeout = k->has_timeout };
	memcpy(s->dim, k->dim, sizeof s->dim);
}

/* Few values, near each other or spread over the whole width. */
static u128 value(const struct kind *k, unsigned d)
{
	unsigned bits = k->family == FAMILY_IP4 ? 32 : 128;
	u128 v = k->family == FAMILY_IP4 ? 0x0a000000 : U128(0x20010db800000000, 0);

	if (k->dim[d] == SET_DIM_PORT)
		return 6 << 16 | dice(4);
	for (unsigned i = 0; i < k->spread; i++)
		v ^= (u128)dice(2) << (k->spread >= 32 ? dice(bits) : (i * bits / k->spread + dice(2)) % bits);
	return v;
}

static void random_elem(const struct kind *k, struct set_elem *el)
{
	unsigned bits = k->family == FAMILY_IP4 ? 32 : 128;

	memset(el, 0, sizeof *el);
	for (unsigned d = 0; d < k->n_dims; d++) {
		el->plen[d] = (uint8_t)bits;
		if (k->dim[d] == SET_DIM_NET)
			el->plen[d] = (uint8_t)(k->n_dims > 1 ? bits - 4 * dice(3) : dice(3) ? bits - dice(9) : dice(bits + 1));
		el->v[d] = value(k, d);
		if (k->dim[d] == SET_DIM_NET)
			el->v[d] &= mask_of(k->family, el->plen[d]);
	}
	el->nomatch = k->dim[0] == SET_DIM_NET && dice(4) == 0;
}

static void expect_equal(const struct setmem *m, uint32_t id, const struct set *s, const struct kind *k, const struct reference *r)
{
	struct setmem_info info;
	struct set_elem el;
	uint64_t at = 0;
	size_t n = 0;

	assert_true(setmem_info(m, id, &info));
	assert_int_equal(info.n_elems, r->n);
	while (setmem_elem(m, id, &at, &el)) {
		size_t i = find(s, r, &el);

		n++;
		assert_true(i != SIZE_MAX);
		assert_int_equal(r->el[i].nomatch, el.nomatch);
	}
	assert_int_equal(n, r->n);
	for (unsigned i = 0; i < 200; i++) {
		random_elem(k, &el);
		if (r->n && dice(2)) /* near an element */
			el = r->el[dice((uint32_t)r->n)];
		for (unsigned d = 0; d < s->n_dims; d++)
			if (s->dim[d] == SET_DIM_NET && dice(2))
				el.v[d] ^= (u128)1 << dice(k->family == FAMILY_IP4 ? 32 : 128);
		assert_int_equal(setmem_match(m, id, &el), answer(s, r, &el));
	}
}

/* The same change here and there. */
static void change(struct setmem *m, uint32_t id, const struct set *s, const struct kind *k, struct reference *r)
{
	struct set_elem el;
	size_t i;
	int err;

	random_elem(k, &el);
	if (r->n && dice(3) == 0)
		el = r->el[dice((uint32_t)r->n)];
	i = find(s, r, &el);
	if (dice(5) < 3 && r->n < MOST) {
		err = setmem_add(m, id, &el);
		if (i == SIZE_MAX) {
			assert_int_equal(err, 0);
			r->el[r->n++] = el;
		} else {
			assert_int_equal(err, r->el[i].nomatch == el.nomatch && !k->has_timeout ? -EEXIST : 0);
			r->el[i].nomatch = el.nomatch;
		}
		return;
	}
	err = setmem_del(m, id, &el);
	assert_int_equal(err, i == SIZE_MAX ? -ENOENT : 0);
	if (i != SIZE_MAX)
		r->el[i] = r->el[--r->n];
}

static void random_changes(const struct kind *k)
{
	uint64_t *word = calloc((size_t)1 << 20, sizeof *word);
	static struct reference r, saved;
	struct setmem m;
	struct set s;
	uint32_t id;

	r.n = 0;
	setmem_create(&m, word, 20);
	make_set(&s, k, "s");
	assert_int_equal(setmem_build(&m, &s, NULL, &id, NULL), 0);
	for (unsigned round = 0; round < 60; round++) {
		unsigned n = dice(3) ? dice(20) : dice(200), mode = dice(4);

		if (mode == 0 || mode == 1) {
			assert_int_equal(setmem_begin(&m), 0);
			saved = r;
		}
		for (unsigned i = 0; i < n; i++)
			change(&m, id, &s, k, &r);
		expect_equal(&m, id, &s, k, &r);
		if (mode == 0) {
			setmem_abort(&m);
			r = saved;
		} else if (mode == 1) {
			setmem_commit(&m);
			expect_equal(&m, id, &s, k, &r);
			assert_int_equal(setmem_begin(&m), -EAGAIN);
			for (unsigned i = dice(10); i--;)
				change(&m, id, &s, k, &r);
			expect_equal(&m, id, &s, k, &r);
		}
		expect_equal(&m, id, &s, k, &r);
		if (mode == 1 || dice(2))
			setmem_grace(&m);
		expect_equal(&m, id, &s, k, &r);
	}
	setmem_close(&m);
	free(word);
}

static void changes_agree_with_a_list(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
			random_changes(&kinds[i]);
}

static uint64_t used(const struct setmem *m)
{
	struct setmem_space s;

	setmem_space(m, &s);
	assert_int_equal(s.used + s.waiting + s.free, s.words);
	return s.used;
}

/* Whatever becomes of sets, memory comes back when they are gone and a grace period has passed. */
static void nothing_is_lost(void **state)
{
	uint64_t *word = calloc((size_t)1 << 19, sizeof *word), before;
	static struct reference r;
	struct setmem m;
	struct set s;
	uint32_t id[2];

	(void)state;
	setmem_create(&m, word, 19);
	before = used(&m);
	for (unsigned round = 0; round < 60; round++) {
		const struct kind *k = &kinds[round % (sizeof kinds / sizeof *kinds)];

		r.n = 0;
		for (unsigned i = 0; i < 2; i++) {
			make_set(&s, k, i ? "t" : "s");
			assert_int_equal(setmem_build(&m, &s, NULL, &id[i], NULL), 0);
		}
		for (unsigned i = 0; i < 300; i++)
			change(&m, id[0], &s, k, &r);
		setmem_grace(&m);
		assert_int_equal(setmem_begin(&m), 0);
		for (unsigned i = 0; i < 100; i++)
			change(&m, id[0], &s, k, &r);
		if (dice(2))
			setmem_abort(&m);
		else
			setmem_commit(&m);
		setmem_grace(&m);
		assert_int_equal(setmem_swap(&m, id[0], id[1]), 0);
		setmem_grace(&m);
		assert_int_equal(setmem_flush(&m, id[0]), 0);
		setmem_grace(&m);
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(setmem_remove(&m, id[i]), 0);
		assert_true(setmem_needs_grace(&m));
		setmem_grace(&m);
		assert_int_equal(used(&m), before);
	}
	setmem_close(&m);
	free(word);
}

static void a_full_image_changes_nothing(void **state)
{
	uint64_t *word = calloc((size_t)1 << SETMEM_MIN_LOG2, sizeof *word);
	static struct reference r;
	struct set_elem el;
	struct setmem m;
	struct set s;
	uint32_t id;
	int err = 0;

	(void)state;
	for (unsigned round = 0; round < 12; round++) {
		const struct kind *k = &kinds[round % 8];

		r.n = 0;
		setmem_create(&m, word, SETMEM_MIN_LOG2);
		make_set(&s, k, "s");
		assert_int_equal(setmem_build(&m, &s, NULL, &id, NULL), 0);
		for (unsigned i = 0; i < 20000; i++) {
			random_elem(k, &el);
			err = setmem_add(&m, id, &el);
			if (err == -EAGAIN)
				setmem_grace(&m);
			if (err == -ENOSPC || r.n == MOST)
				break;
			if (err == 0 && find(&s, &r, &el) == SIZE_MAX)
				r.el[r.n++] = el;
			else if (err == 0)
				r.el[find(&s, &r, &el)].nomatch = el.nomatch;
			if (i % 64 == 0 || err == -EAGAIN)
				expect_equal(&m, id, &s, k, &r);
		}
		expect_equal(&m, id, &s, k, &r);
		setmem_close(&m);
	}
	free(word);
}

static void reports_count(void **state)
{
	static const struct setmem_span spans[] = { { 10, 20, false }, { 10, 20, false }, { 16, 31, false }, { 12, 12, false },
						    { 13, 13, true }, { 64, 127, false } };
	uint64_t *word = calloc((size_t)1 << 16, sizeof *word);
	struct setmem_source src = { .span = spans, .n_spans = sizeof spans / sizeof *spans };
	struct setmem_report r;
	struct setmem m;
	struct set s;
	uint32_t id;

	(void)state;
	setmem_create(&m, word, 16);
	make_set(&s, &kinds[0], "s");
	src.overlap = SETMEM_STRICT;
	assert_int_equal(setmem_build(&m, &s, &src, &id, &r), -EEXIST);
	src.overlap = SETMEM_MERGE;
	assert_int_equal(setmem_build(&m, &s, &src, &id, &r), 0);
	assert_int_equal(r.n_entries, 6);
	/* 10/31, 12/30, 13 nomatch, 16/28, 64/26 */
	assert_int_equal(r.n_after, 5);
	assert_true(r.bytes > 0 && r.seconds >= 0);
	setmem_close(&m);
	free(word);
}

static void there_is_room_for_so_many_sets(void **state)
{
	uint64_t *word = calloc((size_t)1 << 19, sizeof *word);
	struct setmem m;
	struct set s;
	uint32_t id;
	char name[16];

	(void)state;
	setmem_create(&m, word, 19);
	for (unsigned i = 0; i < DP_MAX_SETS; i++) {
		snprintf(name, sizeof name, "s%u", i);
		make_set(&s, &kinds[i % 2 ? 5 : 0], name);
		assert_int_equal(setmem_build(&m, &s, NULL, &id, NULL), 0);
	}
	make_set(&s, &kinds[0], "more");
	assert_int_equal(setmem_build(&m, &s, NULL, &id, NULL), -EMFILE);
	assert_int_equal(setmem_find(&m, STR("more")), SETMEM_NONE);
	assert_true(setmem_find(&m, STR("s7")) != SETMEM_NONE);
	setmem_close(&m);
	free(word);
}

/* Elements whose time is past are not there, make room in a full set, and can come again. */
static void time_passes(void **state)
{
	enum { MAX = 500 };
	uint64_t *word = calloc((size_t)1 << 16, sizeof *word), at;
	struct setmem m;
	struct set s;
	struct set_elem el = { .plen = { 32 }, .has_timeout = true };
	uint32_t id;

	(void)state;
	setmem_create(&m, word, 16);
	m.hz = 100;
	m.now = 1000;
	make_set(&s, &kinds[4], "s");
	s.max_elems = MAX;
	assert_int_equal(setmem_build(&m, &s, NULL, &id, NULL), 0);
	for (unsigned round = 0; round < 8; round++) {
		struct setmem_info info;
		unsigned n = 0, left = 0;

		for (unsigned i = 0; i < MAX; i++) {
			el.v[0] = 0x0a000000 + 1000 * round + i;
			el.timeout_s = i % 2 ? 1 : 10;
			assert_int_equal(setmem_add(&m, id, &el), 0);
		}
		el.v[0]++;
		assert_int_equal(setmem_add(&m, id, &el), -E2BIG);
		m.now += 100;
		el.v[0] = 0x0a000001 + 1000 * round;
		assert_int_equal(setmem_match(&m, id, &el), SETMEM_IN);
		m.now++;
		assert_int_equal(setmem_match(&m, id, &el), SETMEM_OUT);
		assert_false(setmem_has(&m, id, &el, NULL));
		for (at = 0; setmem_elem(&m, id, &at, &el);) {
			left += el.timeout_s == 9;
			n++;
		}
		assert_int_equal(n, MAX / 2);
		assert_int_equal(left, MAX / 2);
		el = (struct set_elem){ .v = { 0x0a000001 + 1000 * round }, .plen = { 32 }, .has_timeout = true, .timeout_s = 5 };
		assert_int_equal(setmem_add(&m, id, &el), 0);
		assert_int_equal(setmem_match(&m, id, &el), SETMEM_IN);
		assert_true(setmem_info(&m, id, &info));
		assert_in_range(info.n_elems, MAX / 2 + 1, MAX); /* some are past and not yet removed */
		m.now += 10000;
		setmem_grace(&m);
	}
	setmem_close(&m);
	free(word);
}

/* Which of two sets of one name is meant follows from the rules in use alone. */
static void sets_come_and_go_with_rules(void **state)
{
	uint64_t *word = calloc((size_t)1 << 16, sizeof *word);
	struct setmem_source src = { .born = 6 };
	struct setmem m;
	struct set s;
	uint32_t old, new;

	(void)state;
	for (unsigned comes = 0; comes < 2; comes++) {
		setmem_create(&m, word, 16);
		m.serial = 5;
		make_set(&s, &kinds[0], "s");
		assert_int_equal(setmem_build(&m, &s, NULL, &old, NULL), 0);
		assert_int_equal(setmem_build(&m, &s, &src, &new, NULL), 0);
		setmem_die(&m, old, 6);
		assert_int_equal(setmem_find(&m, STR("s")), old);
		m.serial = 6;
		assert_int_equal(setmem_find(&m, STR("s")), new);
		m.serial = 5 + comes;
		setmem_tidy(&m);
		m.serial = 7; /* later rules, which keep it */
		assert_int_equal(setmem_find(&m, STR("s")), comes ? new : old);
		assert_int_equal(setmem_next(&m, setmem_find(&m, STR("s"))), SETMEM_NONE);
		setmem_close(&m);
	}
	free(word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_agree_with_a_list),
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(a_full_image_changes_nothing),
		cmocka_unit_test(reports_count),
		cmocka_unit_test(there_is_room_for_so_many_sets),
		cmocka_unit_test(time_passes),
		cmocka_unit_test(sets_come_and_go_with_rules),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
