/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The evaluator's memory: what is written on one way, taken back, and kept where all ways agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/store.h"

static struct arena *a;

static int setup(void **state)
{
	a = arena_create();
	*state = store_create(a);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_destroy(a);
	return 0;
}

static struct key key(const char *name)
{
	struct key k;

	key_start(&k, 'x');
	key_str(&k, str_from(name));
	return k;
}

static void put(struct store *s, const char *name, int v)
{
	struct key k = key(name);

	store_put(s, &k, &v, sizeof v, INT64_MAX);
}

/* The value; -1: none; -2: uncertain. */
static int get(struct store *s, const char *name)
{
	struct key k = key(name);
	struct store_value v;
	int n = -1;

	switch (store_get(s, &k, &v)) {
	case STORE_NONE:
		return -1;
	case STORE_UNCERTAIN:
		return -2;
	case STORE_HERE:
		memcpy(&n, v.p, sizeof n);
	}
	return n;
}

static void what_is_written_stays(void **state)
{
	struct store *s = *state;

	store_begin(s, 0);
	put(s, "a", 1);
	put(s, "a", 2);
	assert_int_equal(get(s, "a"), 2);
	store_settle(s, true);
	store_begin(s, 1);
	assert_int_equal(get(s, "a"), 2);
	assert_int_equal(get(s, "b"), -1);
}

static void a_way_is_taken_back(void **state)
{
	struct store *s = *state;

	store_begin(s, 0);
	put(s, "a", 1);
	store_settle(s, true);
	store_begin(s, 1);
	put(s, "a", 2);
	put(s, "b", 3);
	store_take_back(s);
	assert_int_equal(get(s, "a"), 1);
	assert_int_equal(get(s, "b"), -1);
}

static void ways_that_agree_are_kept(void **state)
{
	struct store *s = *state;

	store_begin(s, 0);
	put(s, "a", 1);
	put(s, "both", 1);
	store_settle(s, true);
	store_begin(s, 1);
	put(s, "both", 2); /* one way */
	put(s, "one", 7);
	put(s, "a", 5);
	put(s, "a", 1); /* as it was */
	store_take_back(s);
	put(s, "both", 2); /* the other */
	store_take_back(s);
	store_settle(s, true);
	assert_int_equal(get(s, "both"), 2);
	assert_int_equal(get(s, "a"), 1);
	assert_int_equal(get(s, "one"), -2);
	store_begin(s, 2);
	put(s, "one", 8); /* known again */
	store_settle(s, true);
	assert_int_equal(get(s, "one"), 8);
}

static void removal_is_a_value_too(void **state)
{
	struct store *s = *state;
	struct key k = key("a");

	store_begin(s, 0);
	put(s, "a", 1);
	store_settle(s, true);
	for (int both = 1; both >= 0; both--) {
		store_begin(s, 1);
		store_put(s, &k, NULL, 0, INT64_MAX);
		store_take_back(s);
		if (both)
			store_put(s, &k, NULL, 0, INT64_MAX);
		store_take_back(s);
		store_settle(s, true);
		assert_int_equal(get(s, "a"), both ? -1 : -2);
		store_begin(s, 2);
		put(s, "a", 1);
		store_settle(s, true);
	}
}

static void ways_that_were_not_walked_make_all_uncertain(void **state)
{
	struct store *s = *state;

	store_begin(s, 0);
	put(s, "a", 1);
	store_settle(s, true);
	store_begin(s, 1);
	store_take_back(s);
	store_settle(s, false);
	store_begin(s, 2);
	assert_int_equal(get(s, "a"), -2);
	assert_int_equal(get(s, "never"), -2);
	put(s, "a", 3);
	assert_int_equal(get(s, "a"), 3);
	store_settle(s, true);
	store_begin(s, 3);
	assert_int_equal(get(s, "a"), 3);
}

static void what_expires_makes_room(void **state)
{
	struct store *s = *state;
	size_t used = 0;

	for (int i = 0; i < 200000; i++) {
		struct key k;

		key_start(&k, 't');
		key_add(&k, &i, sizeof i);
		store_begin(s, i);
		store_put(s, &k, &i, sizeof i, i + 100);
		store_settle(s, true);
		if (i == 100000)
			used = arena_used(a);
	}
	assert_int_equal(arena_used(a), used);
}

static void long_keys_differ_by_their_end(void **state)
{
	struct store *s = *state;
	char name[1000];

	memset(name, 'n', sizeof name);
	name[sizeof name - 1] = 0;
	store_begin(s, 0);
	put(s, name, 1);
	name[sizeof name - 2] = 'm';
	assert_int_equal(get(s, name), -1);
	put(s, name, 2);
	name[sizeof name - 2] = 'n';
	assert_int_equal(get(s, name), 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_written_stays),
		TEST(a_way_is_taken_back),
		TEST(ways_that_agree_are_kept),
		TEST(removal_is_a_value_too),
		TEST(ways_that_were_not_walked_make_all_uncertain),
		TEST(what_expires_makes_room),
		TEST(long_keys_differ_by_their_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
