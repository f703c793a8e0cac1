/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Boxes: what is read from guards that go straight on, and from guards that branch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "classify/box.h"

/* One rule: compares that all must hold, then DROP; then the policy. */
static void put_rule(struct code *c, const struct code_atom *atom, size_t n, bool branches)
{
	int next;

	code_list_open(c, 1);
	next = code_label(c);
	for (size_t i = 0; i < n; i++) {
		int other = code_label(c);

		code_test(c, atom[i], CODE_NEXT, branches ? other : next);
		code_put(c, other);
	}
	code_add(c, DP_OP_DROP);
	code_put(c, next);
	code_add(c, DP_OP_ACCEPT);
}

static struct box_rule read_rule(struct arena *a, const struct code_atom *atom, size_t n, bool branches)
{
	struct code c = { .a = a };
	struct box_room room = { .a = a };
	struct box_rule r;
	bool has_escape = false;

	put_rule(&c, atom, n, branches);
	box_read(&room, &c, 0, (uint32_t)c.insn.n - 1, (uint32_t)c.insn.n - 1, &r, &has_escape);
	assert_false(has_escape);
	return r;
}

static struct code_atom value_of(enum box_dim d, uint32_t value)
{
	const struct box_place *p = &box_places[d];

	return (struct code_atom){ p->word, (uint64_t)box_dim_max(d) << p->shift, (uint64_t)value << p->shift, 0 };
}

static void every_dimension_is_read_from_a_value(void **state)
{
	struct arena *a = arena_create();

	(void)state;
	for (unsigned d = 0; d < BOX_DIMS; d++) {
		uint32_t value = box_dim_max((enum box_dim)d) / 3;
		struct code_atom atom = value_of((enum box_dim)d, value);
		struct box_rule r = read_rule(a, &atom, 1, false);

		assert_false(r.is_never);
		assert_int_equal(r.box.dims, 1u << d);
		for (unsigned k = 0; k < BOX_DIMS; k++) {
			assert_int_equal(r.box.lo[k], k == d ? value : 0);
			assert_int_equal(r.box.hi[k], k == d ? value : box_dim_max((enum box_dim)k));
		}
	}
	arena_destroy(a);
}

static void every_dimension_is_read_from_a_span(void **state)
{
	struct arena *a = arena_create();

	(void)state;
	for (unsigned d = 0; d < BOX_DIMS; d++) {
		uint32_t lo = box_dim_max((enum box_dim)d) / 3, more = lo / 2;
		struct code_atom atom = value_of((enum box_dim)d, lo);
		struct box_rule r;

		atom.span = (uint64_t)more << box_places[d].shift;
		r = read_rule(a, &atom, 1, false);
		assert_int_equal(r.box.dims, 1u << d);
		assert_int_equal(r.box.lo[d], lo);
		assert_int_equal(r.box.hi[d], lo + more);
	}
	arena_destroy(a);
}

static void compares_narrow_one_after_the_other(void **state)
{
	struct arena *a = arena_create();
	struct code_atom atom[] = { value_of(BOX_SRC0, 0x0a000000), value_of(BOX_PROTO, 6), value_of(BOX_DPORT, 22) };
	struct box_rule r;

	(void)state;
	atom[2].mask |= DP_HAS_PORTS;
	atom[2].lo |= DP_HAS_PORTS;
	r = read_rule(a, atom, 3, false);
	assert_int_equal(r.box.dims, 1u << BOX_SRC0 | 1u << BOX_PROTO | 1u << BOX_DPORT);
	assert_int_equal(r.box.l4_mask, 0xff000000u | DP_HAS_PORTS);
	assert_int_equal(r.box.l4_value, 6u << 24 | DP_HAS_PORTS);
	assert_int_equal(r.place, 3);
	assert_true(r.is_whole && r.is_final);
	arena_destroy(a);
}

static void contradictions_are_never_met(void **state)
{
	struct arena *a = arena_create();
	struct code_atom atom[] = { value_of(BOX_PROTO, 6), value_of(BOX_PROTO, 17) };

	(void)state;
	assert_true(read_rule(a, atom, 2, false).is_never);
	arena_destroy(a);
}

/* Both ways lead on, so the compare says nothing. */
static void ways_that_meet_are_joined(void **state)
{
	struct arena *a = arena_create();
	struct code_atom atom[] = { value_of(BOX_PROTO, 6), value_of(BOX_SRC0, 1) };
	struct box_rule r = read_rule(a, atom, 2, true);

	(void)state;
	assert_int_equal(r.box.dims, 0);
	assert_int_equal(r.box.hi[BOX_PROTO], 255);
	assert_int_equal(r.box.l4_mask, 0);
	assert_false(r.is_never || r.is_whole);
	arena_destroy(a);
}

/* One of two ports: what holds both. */
static void values_that_lead_to_one_body_are_joined(void **state)
{
	struct arena *a = arena_create();
	struct code c = { .a = a };
	struct box_room room = { .a = a };
	bool has_escape = false;
	struct box_rule r;
	int yes, next;

	(void)state;
	code_list_open(&c, 1);
	yes = code_label(&c);
	next = code_label(&c);
	code_test(&c, value_of(BOX_PROTO, 17), CODE_NEXT, next);
	code_test(&c, value_of(BOX_DPORT, 53), yes, CODE_NEXT);
	code_test(&c, value_of(BOX_DPORT, 500), yes, next);
	code_put(&c, yes);
	code_add(&c, DP_OP_COUNT);
	code_put(&c, next);
	code_add(&c, DP_OP_ACCEPT);
	box_read(&room, &c, 0, 4, 4, &r, &has_escape);
	assert_int_equal(r.box.lo[BOX_DPORT], 53);
	assert_int_equal(r.box.hi[BOX_DPORT], 500);
	assert_int_equal(r.box.lo[BOX_PROTO], 17);
	assert_int_equal(r.box.dims, 1u << BOX_PROTO | 1u << BOX_DPORT);
	assert_int_equal(r.place, 1);
	assert_false(r.is_whole || r.is_final || has_escape);
	arena_destroy(a);
}

/* A way out beyond the policy is told; one to the next rule is not. */
static void ways_out_of_the_list_are_told(void **state)
{
	struct arena *a = arena_create();
	struct code c = { .a = a };
	struct box_room room = { .a = a };
	bool has_escape = false;
	struct box_rule r;
	int out, next;

	(void)state;
	code_list_open(&c, 1);
	out = code_label(&c);
	next = code_label(&c);
	code_test(&c, value_of(BOX_CT_STATE, DP_CT_MISSING), out, CODE_NEXT);
	code_test(&c, value_of(BOX_CT_STATE, 1), CODE_NEXT, next);
	code_add(&c, DP_OP_ACCEPT);
	code_put(&c, next);
	code_add(&c, DP_OP_DROP);
	code_put(&c, out);
	code_add(&c, DP_OP_DROP);
	box_read(&room, &c, 0, 3, 3, &r, &has_escape);
	assert_true(has_escape);
	assert_false(r.is_never);
	assert_int_equal(r.box.lo[BOX_CT_STATE], 1);
	assert_int_equal(r.box.hi[BOX_CT_STATE], 1);
	arena_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_dimension_is_read_from_a_value),
		cmocka_unit_test(every_dimension_is_read_from_a_span),
		cmocka_unit_test(compares_narrow_one_after_the_other),
		cmocka_unit_test(contradictions_are_never_met),
		cmocka_unit_test(ways_that_meet_are_joined),
		cmocka_unit_test(values_that_lead_to_one_body_are_joined),
		cmocka_unit_test(ways_out_of_the_list_are_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
