/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Value sets: normal form, edges at 0 and at the largest value, and each operation against counting by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "policy/valset.h"

static const u128 top = ~(u128)0;

static int setup(void **state)
{
	*state = arena_create();
	return 0;
}

static int teardown(void **state)
{
	arena_destroy(*state);
	return 0;
}

static void assert_spans(const struct valset *s, const struct valset_span *v, uint32_t n)
{
	assert_int_equal(s->n, n);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(s->span[i].lo == v[i].lo);
		assert_true(s->span[i].hi == v[i].hi);
	}
}

static void make_gives_normal_form(void **state)
{
	struct valset_span in[] = { { 91, 95 }, { 22, 22 }, { 80, 90 }, { 85, 88 }, { 443, 443 } };
	struct valset_span out[] = { { 22, 22 }, { 80, 95 }, { 443, 443 } };
	struct valset s = valset_make(*state, in, 5);

	assert_spans(&s, out, 3);
	s = valset_make(*state, in, 0);
	assert_int_equal(s.n, 0);
}

static void make_joins_at_both_ends(void **state)
{
	struct valset_span in[] = { { top, top }, { 0, 0 }, { top - 1, top - 1 }, { 1, 1 }, { 0, top } };
	struct valset_span out[] = { { 0, 1 }, { top - 1, top } };
	struct valset_span all[] = { { 0, top } };
	struct valset s = valset_make(*state, in, 4);

	assert_spans(&s, out, 2);
	s = valset_make(*state, in, 5);
	assert_spans(&s, all, 1);
}

static void union_joins_touching_spans(void **state)
{
	struct valset_span x[] = { { 22, 22 }, { 80, 90 } }, y[] = { { 91, 95 }, { 443, 443 } };
	struct valset_span out[] = { { 22, 22 }, { 80, 95 }, { 443, 443 } };
	struct valset s = valset_union(*state, valset_make(*state, x, 2), valset_make(*state, y, 2));

	assert_spans(&s, out, 3);
	s = valset_union(*state, (struct valset){ 0 }, (struct valset){ 0 });
	assert_int_equal(s.n, 0);
	s = valset_union(*state, valset_one(*state, 0, top), valset_one(*state, top, top));
	assert_int_equal(s.n, 1);
}

static void complement_is_within_max(void **state)
{
	struct valset_span x[] = { { 0, 9 }, { 20, 29 }, { 255, 255 } }, out[] = { { 10, 19 }, { 30, 254 } };
	struct valset_span all[] = { { 0, 255 } }, most[] = { { 0, top - 1 } }, tail[] = { { 1, top } };
	struct valset s = valset_complement(*state, valset_make(*state, x, 3), 255);

	assert_spans(&s, out, 2);
	s = valset_complement(*state, (struct valset){ 0 }, 255);
	assert_spans(&s, all, 1);
	s = valset_complement(*state, valset_one(*state, 0, top), top);
	assert_int_equal(s.n, 0);
	s = valset_complement(*state, valset_one(*state, top, top), top);
	assert_spans(&s, most, 1);
	s = valset_complement(*state, valset_one(*state, 0, 0), top);
	assert_spans(&s, tail, 1);
	s = valset_complement(*state, valset_one(*state, 300, 400), 255);
	assert_spans(&s, all, 1);
	s = valset_complement(*state, valset_one(*state, 0, 400), 255);
	assert_int_equal(s.n, 0);
}

static void has_knows_the_edges(void **state)
{
	struct valset_span x[] = { { 0, 0 }, { 10, 20 }, { top, top } };
	struct valset s = valset_make(*state, x, 3), none = { 0 };

	assert_true(valset_has(&s, 0));
	assert_false(valset_has(&s, 1));
	assert_false(valset_has(&s, 9));
	assert_true(valset_has(&s, 10));
	assert_true(valset_has(&s, 20));
	assert_false(valset_has(&s, 21));
	assert_false(valset_has(&s, top - 1));
	assert_true(valset_has(&s, top));
	assert_false(valset_has(&none, 0));
}

static void covers_asks_for_whole_spans(void **state)
{
	struct valset_span x[] = { { 0, 9 }, { 20, 29 } };
	struct valset s = valset_make(*state, x, 2), none = { 0 };
	struct valset in = valset_one(*state, 20, 29), over = valset_one(*state, 9, 20);
	struct valset out = valset_one(*state, 30, 30);

	assert_true(valset_covers(&s, &in));
	assert_false(valset_covers(&s, &over));
	assert_false(valset_covers(&s, &out));
	assert_true(valset_covers(&s, &none));
	assert_true(valset_covers(&none, &none));
	assert_false(valset_covers(&none, &in));
	assert_true(valset_eq(&s, &s));
	assert_false(valset_eq(&s, &in));
}

/* Sets of values 0..63 as bit masks say the same as sets of spans. */
static uint64_t bits_of(const struct valset *s)
{
	uint64_t m = 0;

	for (unsigned i = 0; i < 64; i++)
		m |= (uint64_t)valset_has(s, i) << i;
	return m;
}

static void random_sets_agree_with_bit_masks(void **state)
{
	struct valset_span v[8];
	uint64_t m[2];
	struct valset s[2], u, c;

	srand(1);
	for (unsigned round = 0; round < 5000; round++) {
		for (unsigned k = 0; k < 2; k++) {
			size_t n = (size_t)(rand() % 8);

			m[k] = 0;
			for (size_t i = 0; i < n; i++) {
				unsigned lo = (unsigned)(rand() % 64), hi = lo + (unsigned)(rand() % (int)(64 - lo));

				v[i] = (struct valset_span){ lo, hi };
				for (unsigned b = lo; b <= hi; b++)
					m[k] |= (uint64_t)1 << b;
			}
			s[k] = valset_make(*state, v, n);
			assert_true(bits_of(&s[k]) == m[k]);
		}
		u = valset_union(*state, s[0], s[1]);
		c = valset_complement(*state, s[0], 63);
		assert_true(bits_of(&u) == (m[0] | m[1]));
		assert_true(bits_of(&c) == ~m[0]);
		assert_int_equal(valset_covers(&s[0], &s[1]), (m[1] & ~m[0]) == 0);
		assert_int_equal(valset_eq(&s[0], &s[1]), m[0] == m[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(make_gives_normal_form, setup, teardown),
		cmocka_unit_test_setup_teardown(make_joins_at_both_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(union_joins_touching_spans, setup, teardown),
		cmocka_unit_test_setup_teardown(complement_is_within_max, setup, teardown),
		cmocka_unit_test_setup_teardown(has_knows_the_edges, setup, teardown),
		cmocka_unit_test_setup_teardown(covers_asks_for_whole_spans, setup, teardown),
		cmocka_unit_test_setup_teardown(random_sets_agree_with_bit_masks, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
