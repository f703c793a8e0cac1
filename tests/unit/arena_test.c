/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arenas under a guard: memory that runs out is an error of the caller's, and nothing stays behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

/* Takes n bytes in pieces, in two arenas of which one is given back, all under a guard of `most`. */
static bool takes(size_t n, size_t most, struct arena **left)
{
	struct arena_guard g;
	struct arena *keep, *drop;

	if (setjmp(g.out))
		return false;
	arena_guard_open(&g, most);
	keep = arena_create();
	drop = arena_create();
	for (size_t at = 0; at < n; at += 100) {
		*(char *)arena_alloc(keep, 100, 1) = 1;
		*(char *)arena_alloc(drop, 100, 1) = 1;
	}
	arena_destroy(drop);
	arena_guard_close(&g);
	*left = keep;
	return true;
}

static void enough_memory_is_no_matter(void **state)
{
	struct arena *a = NULL;

	(void)state;
	assert_true(takes(1 << 20, 0, &a));
	*(char *)arena_alloc(a, 1 << 20, 1) = 1; /* the guard is closed: an arena like any other */
	arena_destroy(a);
}

static void the_most_is_kept(void **state)
{
	struct arena *a = NULL;

	(void)state;
	assert_true(takes(1 << 20, 16 << 20, &a));
	arena_destroy(a);
	a = NULL;
	assert_false(takes(1 << 20, 1 << 20, &a)); /* what was taken is gone, or the leak checker tells */
	assert_null(a);
	assert_true(takes(1000, 1 << 20, &a));
	arena_destroy(a);
}

static void memory_given_back_counts_no_more(void **state)
{
	struct arena_guard g;

	(void)state;
	if (setjmp(g.out))
		fail_msg("the guard has counted wrong");
	arena_guard_open(&g, 1 << 20);
	for (int i = 0; i < 100; i++) {
		struct arena *a = arena_create(), *b = arena_create();

		arena_alloc(a, 200000, 1);
		arena_reset(a);
		arena_alloc(b, 200000, 1);
		arena_destroy(a);
		arena_destroy(b);
	}
	arena_guard_close(&g);
}

static void more_than_there_is_jumps_too(void **state)
{
	struct arena *volatile kept = NULL;
	struct arena_guard g;

	(void)state;
	if (setjmp(g.out) == 0) {
		arena_guard_open(&g, 0);
		kept = arena_create();
		arena_alloc(kept, SIZE_MAX / 2 + 1, 1);
		fail_msg("so much memory cannot be");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enough_memory_is_no_matter),
		cmocka_unit_test(the_most_is_kept),
		cmocka_unit_test(memory_given_back_counts_no_more),
		cmocka_unit_test(more_than_there_is_jumps_too),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
