/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drawing keys. See sample.h. */
#include "classify/sample.h"

#include <string.h>

#include "classify/place.h"

enum { NEST_MOST = 8 };

static uint64_t draw(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x * 0x2545f4914f6cdd1dull >> 16;
}

static uint64_t below(uint64_t *random, uint64_t n)
{
	return n ? draw(random) % n : 0;
}

static u128 value_of(uint64_t *random, struct valset_span s)
{
	uint64_t kind = below(random, 8);
	u128 more = s.hi - s.lo, r = (u128)draw(random) << 80 ^ (u128)draw(random) << 40 ^ draw(random);

	if (kind < 2)
		return kind ? s.hi : s.lo;
	return s.lo + (more + 1 ? r % (more + 1) : r);
}

static void put_word(uint64_t *w, unsigned shift, unsigned bits, uint64_t value)
{
	uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;

	*w = (*w & ~(mask << shift)) | (value & mask) << shift;
}

static u128 get(const struct place *p, const uint64_t *key)
{
	if (p->bits == 128)
		return (u128)key[p->high] << 64 | key[p->word];
	return key[p->word] >> p->shift & ((1ull << p->bits) - 1);
}

static void put(const struct place *p, uint64_t *key, u128 value)
{
	if (p->bits == 128) {
		key[p->high] = (uint64_t)(value >> 64);
		key[p->word] = (uint64_t)value;
	} else {
		put_word(&key[p->word], p->shift, p->bits, (uint64_t)value);
	}
	if (p->has_mask)
		key[p->has_word] |= p->has_mask;
}

static void obey_test(const struct test *t, bool is_ip4, uint64_t *random, uint64_t *key)
{
	struct place p;

	if ((t->kind != TEST_IN && t->kind != TEST_MASK) || t->negated || t->n_fields == 0)
		return;
	p = place_of(t->field[t->kind == TEST_MASK && t->n_masks ? t->masks[0].of : 0], is_ip4);
	if (!p.is_known)
		return;
	if (t->kind == TEST_IN && t->in.n) {
		put(&p, key, value_of(random, t->in.span[below(random, t->in.n)]));
	} else if (t->kind == TEST_MASK && t->n_masks) {
		const struct test_mask *m = &t->masks[below(random, t->n_masks)];

		p = place_of(t->field[m->of], is_ip4);
		put(&p, key, (get(&p, key) & ~m->mask) | m->value);
	}
}

/* every: out of how many tests one is obeyed. */
static void obey(const struct chain *c, unsigned every, unsigned nest, uint64_t *random, uint64_t *key)
{
	const struct rule *r = c->rules.n ? c->rules.v[below(random, c->rules.n)] : NULL;

	for (uint32_t i = 0; r && i < r->n_steps; i++) {
		const struct step *s = &r->step[i];

		if (s->kind == STEP_TEST && below(random, every) == 0)
			obey_test(&s->test, c->family == FAMILY_IP4, random, key);
		if (s->kind == STEP_VERDICT && s->v.chain && nest < NEST_MOST)
			obey(s->v.chain, every, nest + 1, random, key);
	}
}

/* What is there follows from the protocol. */
static void set_presence(uint64_t *key)
{
	uint64_t proto = key[DP_W_L4] >> 24 & 0xff, has = 0;

	if (proto == 6)
		has = DP_HAS_PORTS | DP_HAS_TCP;
	else if (proto == 17 || proto == 136)
		has = DP_HAS_PORTS;
	else if (proto == 132)
		has = DP_HAS_PORTS | DP_HAS_SCTP;
	else if (proto == 1)
		has = DP_HAS_ICMP;
	else if (proto == 58)
		has = DP_HAS_ICMP6;
	key[DP_W_L4] = (key[DP_W_L4] & ~(uint64_t)(DP_HAS_PORTS | DP_HAS_TCP | DP_HAS_ICMP | DP_HAS_ICMP6 | DP_HAS_SCTP)) | has;
	if (!(has & DP_HAS_PORTS))
		key[DP_W_L4] &= UINT32_MAX;
	if (proto != 6)
		key[DP_W_L4] &= ~(0xffull << 16);
}

void sample_key(const struct chain *c, uint64_t *random, uint64_t *key)
{
	bool is_ip4 = c->family == FAMILY_IP4;

	memset(key, 0, DP_KEY_WORDS * sizeof *key);
	key[DP_W_SRC_LO] = is_ip4 ? draw(random) & UINT32_MAX : draw(random);
	key[DP_W_DST_LO] = is_ip4 ? draw(random) & UINT32_MAX : draw(random);
	key[DP_W_SRC_HI] = is_ip4 ? 0 : 0x20010db800000000ull | (draw(random) & UINT32_MAX);
	key[DP_W_DST_HI] = is_ip4 ? 0 : 0x20010db800000000ull | (draw(random) & UINT32_MAX);
	key[DP_W_L4] = (1024 + below(random, 64512)) << 48 | below(random, 65536) << 32 | 6ull << 24 | 0x10ull << 16;
	key[DP_W_IP] = 1000ull << 32 | 64ull << 24;
	key[DP_W_CT] = (1ull << CT_ESTABLISHED) << DP_CT_STATE_SHIFT | DP_HAS_CT;
	key[DP_W_IIF0] = key[DP_W_OIF0] = 0x6574683000000000ull; /* eth0 */
	key[DP_W_DEV] = DP_HAS_IIF | DP_HAS_OIF;
	obey(c, 1, 0, random, key);
	if (below(random, 4) == 0)
		obey(c, 2, 0, random, key);
	set_presence(key);
}
