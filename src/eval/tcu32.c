/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk of tc's u32 over its hash tables, as policy.h describes it: does it come to the filter that is asked for, and
 * does that one match?
 *
 *     800: match protocol 6, offset from the header's length, link 1:
 *       1: match nexthdr+0 & 0xffff == 22                       <- the walk of a TCP packet to port 22 ends here
 *
 * A key beyond the packet's end stops the walk with no result, not only its filter.
 */
#include "eval/bytes.h"

struct tcu32_walk {
	struct walk *w;
	const struct tcu32_filter *stop;
	enum eval_truth answer;
	bool is_over;
	int64_t off, next; /* from the network header; what nexthdr+ adds */
};

static void over(struct tcu32_walk *u, enum eval_truth answer)
{
	u->is_over = true;
	u->answer = answer;
}

/* n bytes: NO ends the walk, UNKNOWN too when all of them are needed. */
static enum bytes_read read_word(struct tcu32_walk *u, int64_t off, unsigned n, uint32_t *v, uint32_t *known)
{
	enum bytes_read x = wire_net_get(u->w, off, n, v, known);

	if (x == BYTES_BEYOND)
		over(u, EVAL_NO);
	return x;
}

static enum eval_truth has_mark(const struct tcu32_walk *u, const struct tcu32_filter *f)
{
	const struct facts *x = &u->w->f;

	if (f->mark_mask == 0)
		return EVAL_YES;
	if (x->has[FIELD_MARK] != EVAL_YES || !x->known[FIELD_MARK])
		return EVAL_UNKNOWN;
	return ((uint32_t)x->v[FIELD_MARK] & f->mark_mask) == f->mark ? EVAL_YES : EVAL_NO;
}

static enum eval_truth has_keys(struct tcu32_walk *u, const struct tcu32_filter *f)
{
	enum eval_truth all = has_mark(u, f);

	for (uint32_t i = 0; i < f->n_keys && all == EVAL_YES && !u->is_over; i++) {
		const struct tcu32_key *k = &f->key[i];
		uint32_t v, known;
		enum bytes_read x = read_word(u, u->off + k->off + (k->is_next ? u->next : 0), 4, &v, &known);

		if (x == BYTES_BEYOND || ((v ^ k->value) & k->mask & known))
			return EVAL_NO;
		if (k->mask & ~known)
			all = EVAL_UNKNOWN;
	}
	return all;
}

static enum eval_truth is_from(const struct tcu32_walk *u, const struct tcu32_filter *f)
{
	const struct facts *x = &u->w->f;

	if (f->indev.n == 0)
		return EVAL_YES;
	if (x->has[FIELD_IIF] == EVAL_UNKNOWN || (x->has[FIELD_IIF] == EVAL_YES && !x->known[FIELD_IIF]))
		return EVAL_UNKNOWN;
	return x->has[FIELD_IIF] == EVAL_YES && x->v[FIELD_IIF] == field_name_value(f->indev) ? EVAL_YES : EVAL_NO;
}

/* The filter's keys hold, and nothing behind its link has ended the walk. */
static void arrive(struct tcu32_walk *u, const struct tcu32_filter *f)
{
	enum eval_truth x = f->is_terminal ? is_from(u, f) : EVAL_NO;

	if (x == EVAL_UNKNOWN)
		over(u, EVAL_UNKNOWN);
	else if (x == EVAL_YES && f == u->stop)
		over(u, EVAL_YES);
	else if (x == EVAL_YES && !f->goes_on)
		over(u, EVAL_NO);
}

static uint32_t bucket_of(struct tcu32_walk *u, const struct tcu32_filter *f)
{
	uint32_t v = 0, known;

	if (f->link->n_buckets < 2)
		return 0;
	if (read_word(u, u->off + f->hash_at, 4, &v, &known) == BYTES_UNKNOWN && (f->hash_mask & ~known))
		over(u, EVAL_UNKNOWN);
	if (f->hash_mask == 0)
		return 0;
	return ((v & f->hash_mask) >> __builtin_ctz(f->hash_mask)) & (f->link->n_buckets - 1);
}

/* What the link adds to offsets: rounded down to a multiple of 4. */
static void take_offset(struct tcu32_walk *u, const struct tcu32_filter *f)
{
	uint32_t v, known;

	if (f->has_offset) {
		u->next = f->plus + 3;
		if (f->has_offset_at) {
			enum bytes_read x = read_word(u, u->off + f->offset_at, 2, &v, &known);

			if (x == BYTES_UNKNOWN && (f->offset_mask & ~known))
				over(u, EVAL_UNKNOWN);
			u->next += (v & f->offset_mask) >> f->offset_shift;
		}
		u->next &= ~(int64_t)3;
	}
	if (f->eats) {
		u->off += u->next;
		u->next = 0;
	}
}

static void walk_bucket(struct tcu32_walk *u, const struct tcu32_bucket *b, unsigned depth);

/* Goes through the linked table; offsets are then what they were, but nexthdr+, which keeps the last one computed. */
static void follow(struct tcu32_walk *u, const struct tcu32_filter *f, unsigned depth)
{
	int64_t off = u->off;
	uint32_t bucket;

	if (depth >= TCU32_MAX_DEPTH) {
		over(u, EVAL_NO);
		return;
	}
	bucket = bucket_of(u, f);
	if (!u->is_over && (f->has_offset || f->eats))
		take_offset(u, f);
	if (!u->is_over && u->off < (int64_t)wire_length(u->w))
		walk_bucket(u, &f->link->bucket[bucket], depth + 1);
	u->off = off;
}

static void walk_bucket(struct tcu32_walk *u, const struct tcu32_bucket *b, unsigned depth)
{
	for (size_t i = 0; i < b->filters.n && !u->is_over; i++) {
		const struct tcu32_filter *f = b->filters.v[i];
		enum eval_truth x = f->is_skipped ? EVAL_NO : has_keys(u, f);

		if (u->is_over)
			return;
		if (x == EVAL_UNKNOWN)
			over(u, EVAL_UNKNOWN);
		if (x == EVAL_YES && f->link)
			follow(u, f, depth);
		if (x == EVAL_YES && !u->is_over)
			arrive(u, f);
	}
}

enum eval_truth tcu32_truth(struct walk *w, const struct bytes_spec *b)
{
	struct tcu32_walk u = { .w = w, .stop = b->stop, .answer = EVAL_NO };

	walk_bucket(&u, &b->walk->bucket[0], 0);
	return u.answer;
}
