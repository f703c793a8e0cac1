/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looking for rules that no packet comes to. See hidden.h. */
#include "classify/hidden.h"

#include <string.h>

/* Compares of boxes in all, about; how many wide rules at least; of rules with the same addresses. */
enum { COMPARES = 200000, WIDE_LEAST = 16, TWINS_MOST = 8, NONE = -1 };

struct search {
	const struct hidden_task *t;
	struct arena *scratch;
	struct box_room room;
	bool writes_marks;
};

/* Who matches it is gone, and the key is still as it was when a later rule looks at it. */
static bool can_hide(const struct search *s, size_t i)
{
	const struct box_rule *r = &s->t->rule[i];
	bool asks_mark = r->box.lo[BOX_MARK] != 0 || r->box.hi[BOX_MARK] != box_dim_max(BOX_MARK);

	return r->until && !r->is_never && !(asks_mark && s->writes_marks);
}

static bool may_write_marks(const struct hidden_task *t)
{
	uint32_t from = t->n ? t->rule[0].first : 0, end = t->n ? t->rule[t->n - 1].end : 0;

	for (uint32_t i = from; i < end; i++) {
		uint8_t op = t->code->insn.v[i].op;

		if (op == DP_OP_MARK || op == DP_OP_RESTORE_MARK || op == DP_OP_CALL || op == DP_OP_MAP)
			return true;
	}
	return false;
}

static void hide(struct search *s, size_t i, size_t by)
{
	struct box_rule *r = &s->t->rule[i];
	const struct tables_entry *e = &s->t->entry[by];
	struct tables_fate *f = &s->t->fate[i];
	struct box asked;

	r->is_never = true;
	*f = (struct tables_fate){ .kind = TABLES_FATE_HIDDEN, .by = e->rule[e->n - 1] };
	if (r->escape == BOX_NO_ESCAPE)
		return;
	box_at(&s->room, s->t->code, r, r->escape, &asked);
	f->is_kept = !box_covers(&s->t->rule[by].box, &asked);
}

/* ---------- wide rules ---------- */

enum { WIDTHS = 32 * (BOX_DIMS + 1) + 1 };

/* How many bits a box leaves open, about, if each dimension had 32. */
static unsigned width(const struct box *b)
{
	unsigned bits = WIDTHS - 1 - (unsigned)__builtin_popcount(b->l4_mask);

	for (uint32_t left = b->dims; left; left &= left - 1) {
		unsigned d = (unsigned)__builtin_ctz(left);

		bits -= box_places[d].bits;
		if (b->hi[d] > b->lo[d])
			bits += 32 - (unsigned)__builtin_clz(b->hi[d] - b->lo[d]);
	}
	return bits;
}

/* The `most` widest rules that can hide others, in order; returns how many. */
static size_t find_wide(const struct search *s, size_t most, uint32_t *out)
{
	size_t count[WIDTHS] = { 0 }, n = 0, sum = 0;
	unsigned least = WIDTHS;

	for (size_t i = 0; i < s->t->n; i++)
		if (can_hide(s, i))
			count[width(&s->t->rule[i].box)]++;
	while (least > 0 && sum + count[least - 1] <= most)
		sum += count[--least];
	for (size_t i = 0; i < s->t->n && n < most; i++)
		if (can_hide(s, i) && width(&s->t->rule[i].box) >= least)
			out[n++] = (uint32_t)i;
	return n;
}

static void hide_by_wide(struct search *s)
{
	size_t most = COMPARES / (s->t->n + 1), n;
	uint32_t *wide;

	if (most < WIDE_LEAST)
		most = WIDE_LEAST;
	if (most > s->t->n)
		most = s->t->n;
	wide = arena_new(s->scratch, uint32_t, most + 1);
	n = find_wide(s, most, wide);
	for (size_t i = 0; i < s->t->n; i++)
		for (size_t k = 0; k < n && wide[k] < i && !s->t->rule[i].is_never; k++)
			if (s->t->rule[wide[k]].until > i && !s->t->rule[wide[k]].is_never && box_covers(&s->t->rule[wide[k]].box, &s->t->rule[i].box))
				hide(s, i, wide[k]);
}

/* ---------- rules with the same addresses ---------- */

static uint64_t address_hash(const struct box *b)
{
	uint64_t h = 0;

	for (unsigned d = BOX_SRC3; d <= BOX_DST0; d++)
		h = (h ^ ((uint64_t)b->lo[d] << 32 | b->hi[d])) * DP_HASH_MUL;
	return h >> 20;
}

static bool same_addresses(const struct box *a, const struct box *b)
{
	return !memcmp(a->lo, b->lo, (BOX_DST0 + 1) * sizeof *a->lo) && !memcmp(a->hi, b->hi, (BOX_DST0 + 1) * sizeof *a->hi);
}

static void hide_by_twins(struct search *s)
{
	size_t size = 1, n = s->t->n;
	int32_t *first, *next = arena_new(s->scratch, int32_t, n + 1);

	while (size < n + 1)
		size *= 2;
	first = arena_new(s->scratch, int32_t, size);
	memset(first, 0xff, size * sizeof *first);
	for (size_t i = 0; i < n; i++) {
		const struct box_rule *r = &s->t->rule[i];
		int32_t *head = &first[address_hash(&r->box) & (size - 1)];

		if (r->is_never)
			continue;
		for (int32_t k = *head, tries = 0; k != NONE && tries < TWINS_MOST && !r->is_never; k = next[k], tries++)
			if (s->t->rule[k].until > i && same_addresses(&s->t->rule[k].box, &r->box) && box_covers(&s->t->rule[k].box, &r->box))
				hide(s, i, (size_t)k);
		if (r->is_never || !can_hide(s, i))
			continue;
		next[i] = *head;
		*head = (int32_t)i;
	}
}

void hidden_find(const struct hidden_task *t)
{
	struct search s = { .t = t, .scratch = arena_create(), .writes_marks = may_write_marks(t) };

	s.room.a = s.scratch;
	for (size_t i = 0; i < t->n; i++)
		if (t->rule[i].is_never)
			t->fate[i] = (struct tables_fate){ .kind = TABLES_FATE_NEVER, .is_kept = t->rule[i].escape != BOX_NO_ESCAPE };
	if (t->n > 1) {
		hide_by_wide(&s);
		hide_by_twins(&s);
	}
	arena_destroy(s.scratch);
}
