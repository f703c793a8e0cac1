/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a map, a set or a bucket takes from the packet for one dimension: a field's value, or bits of a header, under a
 * mask. What nobody knows is asked as a test on that field is, so that the answers of one way never contradict each other:
 *
 *     ct.state is not known; the map has {established: accept, related: accept, invalid: drop}
 *     is it established or related?  no     is it invalid?  no      -> there is no entry
 */
#include "eval/bytes.h"

enum { MASKS_MAX = 64 };

static u128 value_max(const struct walk *w, enum field f)
{
	return field_table[f].kind == FIELD_KIND_ADDR && w->f.family == FAMILY_IP4 ? 0xffffffff : field_max(f);
}

static bool is_whole(const struct walk *w, const struct map_key *k)
{
	u128 max = value_max(w, k->field);

	return (k->mask & max) == max;
}

static struct test *field_test(struct walk *w, const struct map_key *k, enum test_kind kind)
{
	struct test *t = arena_new(w->a, struct test, 1);

	t->kind = kind;
	t->field[0] = k->field;
	t->n_fields = 1;
	return t;
}

/* Asks without losing what the caller was about to say. */
static enum eval_truth ask_test(struct walk *w, const struct test *t)
{
	const struct test *was = w->test;
	struct str why = w->why;
	enum eval_truth x = test_truth(w, t);

	w->test = was;
	w->why = why;
	return x;
}

static enum eval_truth is_there(struct walk *w, const struct map_key *k)
{
	struct test *t;

	if (w->f.has[k->field] != EVAL_UNKNOWN)
		return (enum eval_truth)w->f.has[k->field];
	t = field_test(w, k, TEST_IN);
	t->in = valset_one(w->a, 0, field_max(k->field));
	return ask_test(w, t);
}

static struct key_value field_value(struct walk *w, const struct map_key *k)
{
	struct key_value out = { .is_there = EVAL_UNKNOWN, .what = field_table[k->field].name };
	u128 v, known;

	if (!test_ready(w, k->field))
		return out;
	out.is_there = is_there(w, k);
	if (out.is_there != EVAL_YES || field_table[k->field].kind == FIELD_KIND_MANY)
		return out;
	guess_bits(w, k->field, &v, &known);
	out.v = v & known & k->mask;
	out.is_known = (k->mask & value_max(w, k->field) & ~known) == 0;
	return out;
}

struct key_value keys_value(struct walk *w, const struct map_key *k)
{
	struct key_value out = { .is_there = EVAL_NO, .what = "a part of a header" };
	enum bytes_read x;
	u128 v, known;

	if (!k->payload)
		return field_value(w, k);
	x = bytes_bits(w, k->payload, &v, &known);
	if (x == BYTES_BEYOND)
		return out;
	out.is_there = x == BYTES_READ ? EVAL_YES : EVAL_UNKNOWN;
	if (x == BYTES_UNKNOWN && !w->is_peeking)
		out.is_there = fork_choose(w, "whether there is such a part of a header is not known") ? EVAL_YES : EVAL_NO;
	out.v = v & known & k->mask;
	out.is_known = x == BYTES_READ && (k->mask & bytes_ones(k->payload->n_bits) & ~known) == 0;
	return out;
}

/* Values under a mask as comparisons; false: too many, or ranges, which the mask does not keep together. */
static bool make_masks(struct walk *w, const struct map_key *k, const struct valset *in, struct test *t)
{
	if (in->n > MASKS_MAX)
		return false;
	t->masks = arena_new(w->a, struct test_mask, in->n + 1);
	for (uint32_t i = 0; i < in->n; i++) {
		if (in->span[i].lo != in->span[i].hi)
			return false;
		t->masks[t->n_masks++] = (struct test_mask){ in->span[i].lo, k->mask & field_max(k->field), 0 };
	}
	return true;
}

enum eval_truth keys_in(struct walk *w, const struct map_key *k, struct valset in)
{
	struct test *t;

	if (in.n == 0)
		return EVAL_NO;
	if (!k->payload && (is_whole(w, k) || field_table[k->field].kind == FIELD_KIND_MANY)) {
		t = field_test(w, k, TEST_IN);
		t->in = in;
		return ask_test(w, t);
	}
	if (!k->payload) {
		t = field_test(w, k, TEST_MASK);
		if (make_masks(w, k, &in, t))
			return ask_test(w, t);
	}
	if (w->is_peeking)
		return EVAL_UNKNOWN;
	return fork_choose(w, "%s is not known", k->payload ? "a part of a header" : field_table[k->field].name) ? EVAL_YES :
														  EVAL_NO;
}

void keys_print(const struct walk *w, struct buf *b, const struct map_key *k, u128 v)
{
	struct str text;

	if (!k->payload) {
		text = reason_value(w->a, k->field, w->f.family, v);
		buf_printf(b, "%.*s", STR_ARG(text));
	} else if (v >> 64) {
		buf_printf(b, "0x%llx%016llx", (unsigned long long)(v >> 64), (unsigned long long)v);
	} else {
		buf_printf(b, "0x%llx", (unsigned long long)v);
	}
}
