/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Batches of native.c, which includes this: what is judged together, and what falls back to packets alone.
 *
 *     parse all -> at each position, for each family: the lookup at the head of the point's first base chain, together
 *               -> ACCEPT, DROP: counted, done
 *               -> RUN (the rest of a guard, a body, a call), another base chain, no lookup at the head: dp_run_long(), alone
 *
 * Packets of one family at one position stand before the same LOOKUP, so a batch shares it. With rules that keep a state
 * the order of packets shows; there each packet goes to its end before the next begins.
 */
#ifndef WEIR_DATAPATH_NATIVE_BATCH_H
#define WEIR_DATAPATH_NATIVE_BATCH_H

_Static_assert(NATIVE_ACCEPT == 0 && NATIVE_DROP == DP_RESULT_DROP - DP_RESULT_ACCEPT, "a kind tells the verdict");

#include "datapath/batch.h"
#include "datapath/batch_wide.h"

static void batch_one(struct native *n, const struct native_way *way, const struct native_frame *f, struct native_answer *out)
{
	struct dp_key k = { .w = { 0 } };
	struct native_run run;
	int parsed = parse(n, &run, &k, f, out);

	if (out->is_malformed)
		dp_count_add(&k, DP_COUNTER_MALFORMED);
	n->last_hit = NATIVE_NO_COUNTER;
	for (unsigned i = 0; i < way->n && parsed <= DP_PARSED_IP6 && out->verdict == NATIVE_ACCEPT; i++) {
		run_position(&run, &k, f, parsed, way->position[i], out);
		out->passed += out->verdict == NATIVE_ACCEPT;
	}
	out->counter = n->last_hit;
}

/* A list of frames, by number. */
struct frames {
	u32 n;
	u32 v[NATIVE_BATCH];
};

/* Packets of a batch on their way through the positions; by family, because a list is of one. */
struct batch {
	struct native *n;
	const struct native_frame *frame;
	struct native_answer *out;
	struct dp_key *key;
	struct native_run run[NATIVE_BATCH];
	struct frames family[2];
};

struct words { u64 w[4]; } __attribute__((may_alias));

/* As memset(), which compilers make a slow string instruction of. */
static __always_inline void clear_words(struct dp_key *k)
{
	for (u32 i = 0; i < DP_KEY_WORDS; i += 4) {
		*(struct words *)&k->w[i] = (struct words){ { 0 } };
		__asm__("" : "+m"(k->w[i]));
	}
}

static void batch_parse(struct batch *b, u32 n)
{
	b->family[0].n = b->family[1].n = 0;
	for (u32 i = 0; i < n; i++) {
		struct dp_key *k = &b->key[i];
		int parsed;

		clear_words(k);
		parsed = parse(b->n, &b->run[i], k, &b->frame[i], &b->out[i]);
		k->shape = 0;
		if (b->out[i].is_malformed)
			dp_count_add(k, DP_COUNTER_MALFORMED);
		b->family[0].v[b->family[0].n] = i;
		b->family[0].n += parsed == DP_PARSED_IP4;
		b->family[1].v[b->family[1].n] = i;
		b->family[1].n += parsed == DP_PARSED_IP6;
	}
}

/* What dp_run_short() would have left of a run: alone, behind `result`. */
static void batch_long(struct batch *b, u32 j, u32 point, u64 result)
{
	struct native_answer *out = &b->out[j];
	int verdict;

	b->n->last_hit = out->counter;
	b->key[j].result = result;
	verdict = dp_run_long(&b->run[j], &b->key[j], point);
	out->verdict = b->run[j].is_cut ? NATIVE_UNKNOWN : verdict == DP_VERDICT_ACCEPT ? NATIVE_ACCEPT : NATIVE_DROP;
	out->counter = b->n->last_hit;
	out->mark = (u32)b->key[j].w[DP_W_MARK];
}

/* Class tables need no turns: few loads of a packet depend on others, and the next packet's on none of them. */
static __always_inline void lookup_classes(const u64 *t, const u64 *i, struct dp_lane *lane, u32 n)
{
	for (u32 j = 0; j < n; j++)
		lane[j].best = dp_classes_first(lane[j].k, t, (u32)i[3], i[1]);
}

static __attribute__((noinline)) void lookup_plain(const u64 *t, const u64 *i, struct dp_lane *lane, u32 n)
{
	if (i[0] >> 8 & DP_LOOKUP_CLASSES)
		lookup_classes(t, i, lane, n);
	else if (i[0] >> 8 & DP_LOOKUP_IP6)
		dp_batch_lookup(t, i, lane, n, DP_ENTRY_IP6, dp_block_ip6);
	else
		dp_batch_lookup(t, i, lane, n, DP_ENTRY_IP4, dp_block_ip4);
}

#ifdef DP_WIDE
static __attribute__((noinline)) DP_WIDE void lookup_wide(const u64 *t, const u64 *i, struct dp_lane *lane, u32 n)
{
	if (i[0] >> 8 & DP_LOOKUP_CLASSES)
		lookup_classes(t, i, lane, n);
	else if (i[0] >> 8 & DP_LOOKUP_IP6)
		dp_batch_lookup(t, i, lane, n, DP_ENTRY_IP6, dp_wide_ip6);
	else
		dp_batch_lookup(t, i, lane, n, DP_ENTRY_IP4, dp_wide_ip4);
}
#endif

/* As dp_run_short() behind its lookup. */
static void batch_result(struct batch *b, u32 j, u32 point, u64 head, u64 result)
{
	u32 kind = DP_RESULT_KIND(result), counter = DP_RESULT_VALUE(result);
	bool is_verdict = kind == DP_RESULT_ACCEPT || kind == DP_RESULT_DROP;
	struct native_answer *out = &b->out[j];

	if (is_verdict && counter < DP_NO_COUNTER) {
		b->n->count[2 * (u64)counter]++;
		b->n->count[2 * (u64)counter + 1] += b->key[j].bytes;
		out->counter = counter;
	}
	if (!is_verdict || (kind == DP_RESULT_ACCEPT && DP_POINT_CHAINS(head) > 1))
		batch_long(b, j, point, result);
	else
		out->verdict = (enum native_verdict)(kind - DP_RESULT_ACCEPT);
}

static bool batch_can_look(const u64 *i)
{
	u64 known = DP_LOOKUP_IP6 | DP_LOOKUP_CT | DP_LOOKUP_CLASSES;

	return (i[0] & 0xff) == DP_OP_LOOKUP && !(i[0] >> 8 & 0xff & ~known) && i[3] >> 32 == 0;
}

static void batch_point(struct batch *b, u32 point, const struct frames *at)
{
	const u64 *i = dp_point(&b->key[0], (const u64 *)b->n->table, point);
	struct dp_lane lane[NATIVE_BATCH];

	if (!i[0])
		return;
	if (!batch_can_look(i)) {
		for (u32 j = 0; j < at->n; j++)
			batch_long(b, at->v[j], point, DP_RESULT_NONE);
		return;
	}
	for (u32 j = 0; j < at->n; j++)
		lane[j].k = &b->key[at->v[j]];
	b->n->lookup((const u64 *)b->n->table, i, lane, at->n);
	for (u32 j = 0; j < at->n; j++)
		batch_result(b, at->v[j], point, i[0], lane[j].best);
}

static void batch_position(struct batch *b, unsigned position, unsigned family)
{
	struct frames *at = &b->family[family];
	u32 n = at->n;

	for (u32 i = 0; i < n; i++)
		read_place(&b->key[at->v[i]], &b->frame[at->v[i]], position);
	batch_point(b, position + family * DP_POINTS_PER_FAMILY, at);
	at->n = 0;
	for (u32 i = 0; i < n; i++) {
		u32 j = at->v[i];

		at->v[at->n] = j;
		at->n += b->out[j].verdict == NATIVE_ACCEPT;
		b->out[j].passed += b->out[j].verdict == NATIVE_ACCEPT;
	}
}

void native_batch(struct native *n, const struct native_way *way, const struct native_frame *frame, unsigned n_frames, uint64_t now,
		  struct native_answer *out)
{
	struct batch b = { .n = n, .key = n->key };

	native_now = n;
	n->now = now;
	n->n_hits = 0;
	for (unsigned i = 0; i < n_frames && n->in_order; i++)
		batch_one(n, way, &frame[i], &out[i]);
	for (unsigned at = 0; at < n_frames && !n->in_order; at += NATIVE_BATCH) {
		b.frame = frame + at;
		b.out = out + at;
		batch_parse(&b, n_frames - at < NATIVE_BATCH ? n_frames - at : NATIVE_BATCH);
		for (unsigned i = 0; i < way->n; i++)
			for (unsigned family = 0; family < 2; family++)
				batch_position(&b, way->position[i], family);
	}
}

#endif
