/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps from texts: what was put is found, what was not is not, also after growing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strmap.h"

static void an_empty_map_has_nothing(void **state)
{
	struct strmap m = { 0 };

	(void)state;
	assert_null(strmap_get(&m, STR("a")));
	assert_null(strmap_get(&m, STR("")));
}

static void values_stay_at_their_keys(void **state)
{
	struct arena *a = arena_create();
	struct strmap m = { 0 };

	(void)state;
	for (uintptr_t i = 0; i < 5000; i++) {
		void **slot = strmap_slot(a, &m, arena_printf(a, "key %zu", (size_t)i));

		assert_null(*slot);
		*slot = (void *)(i + 1);
	}
	assert_int_equal(m.n, 5000);
	for (uintptr_t i = 0; i < 5000; i++)
		assert_int_equal((uintptr_t)strmap_get(&m, arena_printf(a, "key %zu", (size_t)i)), i + 1);
	assert_null(strmap_get(&m, STR("key 5000")));
	assert_null(strmap_get(&m, STR("")));
	arena_destroy(a);
}

static void a_key_has_one_place(void **state)
{
	struct arena *a = arena_create();
	struct strmap m = { 0 };
	int x = 0, y = 0;

	(void)state;
	*strmap_slot(a, &m, STR("k")) = &x;
	*strmap_slot(a, &m, STR("k")) = &y;
	*strmap_slot(a, &m, STR("")) = &x;
	assert_ptr_equal(strmap_get(&m, STR("k")), &y);
	assert_ptr_equal(strmap_get(&m, STR("")), &x);
	assert_int_equal(m.n, 2);
	arena_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_has_nothing),
		cmocka_unit_test(values_stay_at_their_keys),
		cmocka_unit_test(a_key_has_one_place),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
