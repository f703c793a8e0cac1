/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits in the units of the kernel's xt_limit: a jiffy gives so many credits (a power of two), a packet costs so many.
 *
 *     --limit 3/second, 250 jiffies a second: 128 credits a jiffy; a packet is 3333 ticks of 1/10000 s, which cost
 *     3333 * 250 * 128 / 10000 = 10665 credits
 */
#include "classify/state.h"

enum { TICKS_PER_S = 10000, DAY_S = 24 * 60 * 60 };

static uint64_t credits_per_jiffy(uint32_t hz)
{
	uint64_t most = UINT32_MAX / ((uint64_t)hz * DAY_S), p = 1;

	while (p * 2 <= most)
		p *= 2;
	return p;
}

/* As user2credits() of xt_limit, in 32 bits. */
static uint32_t credits(uint32_t ticks, uint32_t hz)
{
	uint32_t per_s = hz * (uint32_t)credits_per_jiffy(hz);

	if (ticks > UINT32_MAX / per_s)
		return ticks / TICKS_PER_S * per_s;
	return ticks * per_s / TICKS_PER_S;
}

static uint64_t add_state(struct test_room *r, const struct state_spec *s, const uint64_t *word, size_t n)
{
	uint64_t at = r->state.n;

	for (size_t i = r->kept.n; i-- > 0;)
		if (r->kept.v[i].spec == s)
			return r->kept.v[i].at;
	*vec_add(r->code->a, &r->kept) = (struct test_state){ s, at };

	for (size_t i = 0; i < n; i++)
		*vec_add(r->code->a, &r->state) = word[i];
	return at;
}

static void emit_limit(struct test_room *r, const struct state_spec *s, struct code_insn *i)
{
	/* units in per_ms: ticks of 1/10000 s for one packet */
	uint32_t ticks = (uint32_t)(s->rate.per_ms * TICKS_PER_S / (s->rate.units * 1000));
	uint32_t cost = credits(ticks, r->hz), cap = credits(ticks * (uint32_t)s->rate.burst, r->hz);
	uint64_t word[2] = { 0, cap };

	i->a = add_state(r, s, word, 2);
	i->b = (uint64_t)cap << 32 | cost;
	i->c = credits_per_jiffy(r->hz);
}

static bool counts_in_ns(const struct state_spec *s)
{
	return s->rate.in_ns || s->rate.by_bytes;
}

/* As the kernel's nft_limit: a packet costs its time; so does a byte, of which the bucket holds what comes in per_ms, too. */
static void emit_limit_ns(struct test_room *r, const struct state_spec *s, struct code_insn *i)
{
	uint64_t ns = s->rate.per_ms * 1000000, units = s->rate.units ? s->rate.units : 1;
	uint64_t cap = s->rate.by_bytes ? (uint64_t)((u128)ns * (units + s->rate.burst) / units) : ns / units * s->rate.burst;
	const uint64_t word[2] = { 0, cap };

	i->a = add_state(r, s, word, 2);
	i->b = r->code->data.n;
	*vec_add(r->code->a, &r->code->data) = cap;
	*vec_add(r->code->a, &r->code->data) = s->rate.by_bytes ? ns : ns / units;
	*vec_add(r->code->a, &r->code->data) = s->rate.by_bytes ? units : 0;
	*vec_add(r->code->a, &r->code->data) = 1000000000 / r->hz;
}

/* Is the test true where the limit or quota has no room? */
static bool is_above(const struct state_spec *s)
{
	return (s->kind == STATE_LIMIT && s->rate.above) || (s->kind == STATE_QUOTA && s->quota.above);
}

void state_emit(struct test_room *r, const struct test *t, int yes, int no)
{
	static const uint8_t ops[] = { [STATE_LIMIT] = DP_OP_LIMIT, [STATE_NTH] = DP_OP_NTH, [STATE_RANDOM] = DP_OP_RANDOM,
				       [STATE_QUOTA] = DP_OP_QUOTA };
	const struct state_spec *s = t->state;
	bool in_ns = s->kind == STATE_LIMIT && counts_in_ns(s), is_turned = t->negated != is_above(s);
	struct code_insn *i = code_add(r->code, in_ns ? DP_OP_LIMIT_NS : (enum dp_op)ops[s->kind]);
	uint64_t word;

	r->code->features |= DP_F_STATE;
	i->yes = is_turned ? no : yes;
	i->no = is_turned ? yes : no;
	if (in_ns) {
		emit_limit_ns(r, s, i);
	} else if (s->kind == STATE_LIMIT) {
		emit_limit(r, s, i);
	} else if (s->kind == STATE_RANDOM) {
		i->a = s->random.threshold;
	} else if (s->kind == STATE_NTH) {
		word = s->nth.every - 1 - s->nth.packet;
		i->a = add_state(r, s, &word, 1);
		i->b = s->nth.every - 1;
	} else {
		word = s->quota.bytes > s->quota.used ? s->quota.bytes - s->quota.used : 0;
		i->a = add_state(r, s, &word, 1);
	}
}
