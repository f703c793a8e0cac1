/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * u32 becomes a list of steps; a pattern becomes the automaton that finds it (Knuth, Morris, Pratt with all transitions
 * worked out), so that the datapath looks at each byte once.
 *
 *     "aab":  matched  'a' 'b' else
 *                0      1   0   0
 *                1      2   0   0
 *                2      2   3   0
 */
#include "classify/bytes.h"

static void put(struct code *c, uint64_t word)
{
	*vec_add(c->a, &c->data) = word;
}

static void put_step(struct code *c, enum dp_u32_op op, uint32_t number)
{
	put(c, (uint64_t)op << 56 | number);
}

static void put_u32(struct code *c, const struct u32_test *t)
{
	static const uint8_t ops[] = { [U32_AND] = DP_U32_AND, [U32_LEFT] = DP_U32_LEFT, [U32_RIGHT] = DP_U32_RIGHT,
				       [U32_AT] = DP_U32_AT };

	put_step(c, DP_U32_START, t->loc.start);
	for (unsigned i = 0; i < t->loc.n_ops; i++)
		put_step(c, (enum dp_u32_op)ops[t->loc.op[i].op], t->loc.op[i].number);
	put_step(c, DP_U32_SPANS, t->n_values);
	for (unsigned i = 0; i < t->n_values; i++) {
		bool is_empty = t->value[i].lo > t->value[i].hi;

		/* first 1, last 0: in it is nothing. The datapath's compare would wrap around. */
		put(c, is_empty ? 0 : (uint64_t)t->value[i].lo << 32 | t->value[i].hi);
	}
}

/* As the kernel folds case: through Latin-1. */
static uint8_t upper(uint8_t c)
{
	bool is_lower = (c >= 'a' && c <= 'z') || (c >= 0xdf && c != 0xf7);

	return is_lower ? (uint8_t)(c - 32) : c;
}

static uint8_t folded(const struct bytes_spec *b, uint8_t c)
{
	return b->icase ? upper(c) : c;
}

/* next[state][byte] for all states but the last; the state of the longest border is carried along. */
static void put_automaton(struct code *c, const struct bytes_spec *b)
{
	size_t n = b->pattern.n, border = 0;
	uint8_t(*next)[256] = arena_alloc(c->a, n * 256, 1);

	for (size_t state = 0; state < n; state++) {
		uint8_t want = folded(b, (uint8_t)b->pattern.p[state]);

		for (unsigned byte = 0; byte < 256; byte++) {
			bool is_wanted = folded(b, (uint8_t)byte) == want;

			next[state][byte] = is_wanted ? (uint8_t)(state + 1) : state ? next[border][byte] : 0;
		}
		if (state)
			border = next[border][(uint8_t)b->pattern.p[state]];
	}
	for (size_t i = 0; i < n * 256; i += 8) {
		uint64_t word = 0;

		for (unsigned k = 0; k < 8; k++)
			word |= (uint64_t)next[(i + k) / 256][(i + k) % 256] << 8 * k;
		put(c, word);
	}
}

void bytes_emit_payload(struct code *c, const struct payload_ref *p, unsigned word, int there, int absent)
{
	struct code_insn *i = code_add(c, DP_OP_PAYLOAD);

	i->arg = (uint8_t)p->base;
	i->a = (uint64_t)p->at_bit << 32 | p->n_bits;
	i->c = word;
	i->yes = there;
	i->no = absent;
	c->features |= DP_F_PAYLOAD | (p->base == PAYLOAD_LINK ? DP_F_MAC : 0) | (p->base == PAYLOAD_INNER ? DP_F_PORTS : 0);
}

static void emit_payload(struct test_room *r, const struct test *t, int yes, int no)
{
	const struct bytes_spec *b = t->bytes;
	struct place p = { .is_known = true, .word = DP_W_MADE_LO, .high = DP_W_MADE_HI, .bits = b->payload.n_bits };
	int there = code_label(r->code);

	bytes_emit_payload(r->code, &b->payload, p.word, there, t->on_absent ? yes : no);
	code_put(r->code, there);
	test_emit_spans(r->code, &p, b->payload_mask, &b->payload_in, t->negated ? no : yes, t->negated ? yes : no);
}

void bytes_emit(struct test_room *r, const struct test *t, int yes, int no)
{
	const struct bytes_spec *b = t->bytes;
	struct code *c = r->code;
	struct code_insn *i;

	if (b->kind == BYTES_PAYLOAD) {
		emit_payload(r, t, yes, no);
		return;
	}
	i = code_add(c, b->kind == BYTES_U32 ? DP_OP_U32 : DP_OP_STRING);
	c->features |= DP_F_BYTES;
	i->yes = t->negated ? no : yes;
	i->no = t->negated ? yes : no;
	i->a = c->data.n;
	if (b->kind == BYTES_U32) {
		for (uint32_t k = 0; k < b->n_u32; k++)
			put_u32(c, &b->u32[k]);
		i->b = c->data.n - i->a;
		return;
	}
	put(c, (uint64_t)b->from << 32 | b->to);
	put(c, b->pattern.n);
	put_automaton(c, b);
}
