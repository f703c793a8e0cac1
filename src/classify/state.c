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

static uint64_t add_state(struct test_room *r, const uint64_t *word, size_t n)
{
	uint64_t at = r->state.n;

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

	i->a = add_state(r, word, 2);
	i->b = (uint64_t)cap << 32 | cost;
	i->c = credits_per_jiffy(r->hz);
}

void state_emit(struct test_room *r, const struct test *t, int yes, int no)
{
	static const uint8_t ops[] = { [STATE_LIMIT] = DP_OP_LIMIT, [STATE_NTH] = DP_OP_NTH, [STATE_RANDOM] = DP_OP_RANDOM,
				       [STATE_QUOTA] = DP_OP_QUOTA };
	const struct state_spec *s = t->state;
	struct code_insn *i = code_add(r->code, (enum dp_op)ops[s->kind]);
	uint64_t word;

	r->code->features |= DP_F_STATE;
	i->yes = t->negated ? no : yes;
	i->no = t->negated ? yes : no;
	if (s->kind == STATE_LIMIT) {
		emit_limit(r, s, i);
	} else if (s->kind == STATE_RANDOM) {
		i->a = s->random.threshold;
	} else if (s->kind == STATE_NTH) {
		word = s->nth.every - 1 - s->nth.packet;
		i->a = add_state(r, &word, 1);
		i->b = s->nth.every - 1;
	} else {
		word = s->quota.bytes;
		i->a = add_state(r, &word, 1);
	}
}
