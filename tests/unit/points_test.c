/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Base chains at any hook and priority: which share a program, in which order, and with which numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "flat/flat.h"
#include "tables/format.h"

struct kit {
	struct arena *a;
	struct sources sources;
	struct diags d;
	struct ruleset *rs;
	struct flat_options opt;
	struct flat flat;
};

static int set_up(void **state)
{
	struct arena *a = arena_create();
	struct kit *k = arena_new(a, struct kit, 1);

	k->a = a;
	k->sources = (struct sources){ .a = a };
	k->d = (struct diags){ .a = a, .sources = &k->sources };
	k->rs = policy_create(a);
	*state = k;
	return 0;
}

static int tear_down(void **state)
{
	arena_destroy(((struct kit *)*state)->a);
	return 0;
}

static struct chain *base(struct kit *k, enum family f, enum hook h, int priority)
{
	struct str name = arena_printf(k->a, "%s-%s%d", policy_family_name(f), policy_hook_name(h), priority);
	struct chain *c = policy_chain_add(k->rs, f, STR("inet t"), name, (struct loc){ 0 });

	c->hook = h;
	c->priority = priority;
	c->policy = VERDICT_DROP;
	return c;
}

static bool make(struct kit *k)
{
	policy_number(k->rs);
	return flat_make(k->a, k->rs, &k->opt, &k->d, &k->flat);
}

/* The position of the chain, and which of its point's chains it is. */
static unsigned position_of(const struct kit *k, const struct chain *c, unsigned *nth)
{
	for (unsigned p = 0; p < FLAT_POINTS; p++)
		for (unsigned i = 0; i < k->flat.point[p].n_chains; i++)
			if (k->flat.point[p].chain[i] == c) {
				*nth = i;
				assert_int_equal(p / 16, c->family);
				assert_int_equal(DP_POSITION_HOOK(p), c->hook);
				return p % 16;
			}
	fail_msg("chain %.*s has no point", STR_ARG(c->name));
	return 0;
}

static void share(const struct kit *k, const struct chain *x, const struct chain *y, bool is_shared)
{
	unsigned nth_x, nth_y, px = position_of(k, x, &nth_x), py = position_of(k, y, &nth_y);

	assert_int_equal(px == py, is_shared);
	assert_true(!is_shared || nth_x < nth_y);
}

/* ---------- sharing ---------- */

static void chains_share_up_to_a_hook_of_the_kernels(void **state)
{
	static const struct {
		enum hook hook;
		int lower, upper;
		bool shared;
	} row[] = {
		{ HOOK_PREROUTING, -450, -400, true }, { HOOK_PREROUTING, -399, -201, true }, { HOOK_PREROUTING, -200, -199, false },
		{ HOOK_PREROUTING, -199, -100, true },	{ HOOK_PREROUTING, -100, -99, false }, { HOOK_PREROUTING, 0, 300, true },
		{ HOOK_INPUT, -1000, 100, true },	{ HOOK_INPUT, 99, 101, false },	       { HOOK_FORWARD, -1000, 1000, true },
		{ HOOK_OUTPUT, -300, -150, false },	{ HOOK_OUTPUT, -150, 0, false },       { HOOK_OUTPUT, 0, 50, true },
		{ HOOK_POSTROUTING, -300, 0, true },	{ HOOK_POSTROUTING, 100, 300, false },
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct chain *x, *y;
		struct kit *k;

		tear_down(state);
		set_up(state);
		k = *state;
		y = base(k, FAMILY_IP6, row[i].hook, row[i].upper);
		x = base(k, FAMILY_IP6, row[i].hook, row[i].lower);
		assert_true(make(k));
		share(k, x, y, row[i].shared);
	}
}

static void of_equal_priorities_the_later_comes_first(void **state)
{
	struct kit *k = *state;
	struct chain *x = base(k, FAMILY_IP4, HOOK_INPUT, 0), *y = base(k, FAMILY_IP4, HOOK_INPUT, 0);

	assert_true(make(k));
	share(k, y, x, true);
	k->opt.apart = true;
	assert_true(make(k));
	share(k, y, x, false);
	assert_int_equal(k->flat.n_order, 2);
	assert_ptr_equal(k->flat.point[k->flat.order[0]].chain[0], y);
	assert_ptr_equal(k->flat.point[k->flat.order[1]].chain[0], x);
}

static void eight_chains_share_and_the_ninth_begins_anew(void **state)
{
	struct kit *k = *state;
	struct chain *c[9];

	for (int i = 0; i < 9; i++)
		c[i] = base(k, FAMILY_IP4, HOOK_FORWARD, 10 * i);
	assert_true(make(k));
	for (int i = 1; i < 8; i++)
		share(k, c[0], c[i], true);
	share(k, c[0], c[8], false);
	assert_int_equal(k->flat.n_order, 2);
}

static bool somebody_at_five(void *arg, enum family f, enum hook h, int lower, int upper)
{
	(void)arg;
	return f == FAMILY_IP4 && h == HOOK_INPUT && lower <= 5 && upper > 5;
}

static void somebody_between_parts_them(void **state)
{
	struct kit *k = *state;
	struct chain *x = base(k, FAMILY_IP6, HOOK_INPUT, 0), *y = base(k, FAMILY_IP6, HOOK_INPUT, 5), *z = base(k, FAMILY_IP6, HOOK_INPUT, 10);

	k->opt.is_between = somebody_at_five;
	assert_true(make(k));
	share(k, x, y, true); /* at 5 ours comes in front of theirs */
	share(k, y, z, false);
}

/* ---------- numbers ---------- */

static void iptables_priorities_have_their_numbers(void **state)
{
	struct kit *k = *state;
	struct chain *raw = base(k, FAMILY_IP4, HOOK_PREROUTING, -300), *mangle = base(k, FAMILY_IP4, HOOK_PREROUTING, -150);
	struct chain *in = base(k, FAMILY_IP6, HOOK_INPUT, 0), *late = base(k, FAMILY_IP4, HOOK_PREROUTING, 10);
	unsigned nth;

	assert_true(make(k));
	assert_int_equal(position_of(k, raw, &nth), DP_POSITION_PREROUTING_RAW);
	assert_int_equal(position_of(k, mangle, &nth), DP_POSITION_PREROUTING_MANGLE);
	assert_int_equal(position_of(k, in, &nth), DP_POSITION_INPUT_FILTER);
	assert_int_equal(k->flat.n_order, 4);
	assert_int_equal(k->flat.order[2], position_of(k, late, &nth));
	assert_int_equal(k->flat.order[3], DP_POSITION_INPUT_FILTER);
}

static void a_number_in_use_keeps_its_place(void **state)
{
	struct flat_places held = { 0 };
	struct kit *k = *state;
	struct chain *in = base(k, FAMILY_IP4, HOOK_INPUT, 0);
	unsigned nth;

	k->opt.held = &held;
	held.at[DP_POSITION_INPUT_FILTER].is_used = true;
	held.at[DP_POSITION_INPUT_FILTER].priority = 7;
	assert_true(make(k));
	assert_int_not_equal(position_of(k, in, &nth), DP_POSITION_INPUT_FILTER);
	held.at[DP_POSITION_INPUT_SECURITY].is_used = true;
	held.at[DP_POSITION_INPUT_SECURITY].priority = 0;
	assert_true(make(k));
	assert_int_equal(position_of(k, in, &nth), DP_POSITION_INPUT_SECURITY);
}

static void too_many_places_are_refused_by_name(void **state)
{
	struct kit *k = *state;

	base(k, FAMILY_IP4, HOOK_PREROUTING, -450);
	base(k, FAMILY_IP4, HOOK_PREROUTING, -300);
	assert_false(make(k));
	assert_int_equal(k->d.n_errors, 1);
	assert_non_null(strstr(arena_cstr(k->a, k->d.all.v[0].text), "no place for one more program is left at prerouting"));
}

static void chains_at_devices_are_refused_by_name(void **state)
{
	struct kit *k = *state;
	struct chain *x = base(k, FAMILY_IP4, HOOK_INGRESS, 0), *y = base(k, FAMILY_IP6, HOOK_INGRESS, 0);

	x->root = y->root = x;
	assert_false(make(k));
	assert_int_equal(k->d.n_errors, 1);
	assert_non_null(strstr(arena_cstr(k->a, k->d.all.v[0].text), "chains at devices"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		T(chains_share_up_to_a_hook_of_the_kernels), T(of_equal_priorities_the_later_comes_first),
		T(eight_chains_share_and_the_ninth_begins_anew), T(somebody_between_parts_them),
		T(iptables_priorities_have_their_numbers), T(a_number_in_use_keeps_its_place),
		T(too_many_places_are_refused_by_name), T(chains_at_devices_are_refused_by_name),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
