/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading class tables that are there: a lookup that counts its steps. */
#include <string.h>

#include "classify/classes.h"
#include "classify/graph_read.h"
#include "tables/classes.h"

struct reader {
	const uint64_t *word; /* where the list's tables begin */
	const uint64_t *key;
	uint64_t *steps;
	uint64_t x, p; /* sums */
};

static uint64_t load(struct reader *r, uint64_t at)
{
	++*r->steps;
	return r->word[at];
}

static uint16_t load_cell(struct reader *r, uint64_t at)
{
	uint16_t v;

	++*r->steps;
	memcpy(&v, (const char *)r->word + 2 * at, sizeof v);
	return v;
}

static uint64_t walk(struct reader *r, uint64_t w, uint64_t field)
{
	uint64_t base = (uint32_t)w, d = load(r, base + (field >> (w >> 32 & 63)));

	for (uint64_t rounds = w >> 40; rounds; rounds--) {
		uint64_t i = (uint32_t)((uint32_t)field - (uint32_t)d) >> (d >> 32 & 63), n = d >> 38 & DP_CLASS_CHILDREN;

		d = load(r, base + (d >> 48) - n + (i < n ? i : n));
	}
	return d;
}

static void read_fields(struct reader *r, const uint64_t *header)
{
	uint64_t l4 = r->key[DP_W_L4];
	const uint64_t field[] = { [DP_CLASS_SRC] = (uint32_t)r->key[DP_W_SRC_LO], [DP_CLASS_DST] = (uint32_t)r->key[DP_W_DST_LO],
				   [DP_CLASS_SPORT] = l4 >> 48, [DP_CLASS_DPORT] = l4 >> 32 & 0xffff,
				   [DP_CLASS_PROTO] = l4 >> 24 & 0xff, [DP_CLASS_FLAGS] = DP_CLASS_FLAGS_OF(l4) };

	for (unsigned i = 0; i < DP_CLASS_FIELDS; i++)
		if (header[1 + i])
			*(i <= DP_CLASS_DST ? &r->x : &r->p) += walk(r, header[1 + i], field[i]);
}

static void read_others(struct reader *r, const uint64_t *header)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < (header[0] & 0xff); i++) {
		const uint64_t *o = header + DP_CLASS_OTHER_AT + 2 * i;
		unsigned flags = o[1] >> 21 & 7;

		sum += walk(r, o[0], r->key[o[1] >> 16 & 31] << (o[1] >> 8 & 63) >> (o[1] & 63));
		if (flags & DP_CLASS_TABLE)
			sum = load(r, (o[1] >> 32) + sum);
		if (flags & (DP_CLASS_TO_X | DP_CLASS_TO_P)) {
			*(flags & DP_CLASS_TO_X ? &r->x : &r->p) += sum;
			sum = 0;
		}
	}
}

/* The first result of group g whose place counts. */
static uint64_t read_group(struct reader *r, const uint64_t *header, unsigned g, uint32_t from)
{
	const uint64_t *o = header + DP_CLASS_GROUP_AT + 2 * g;
	uint64_t x = load_cell(r, (uint32_t)o[0] + (r->x >> 16 * g & 0xffff)), p = load_cell(r, (o[0] >> 32) + (r->p >> 16 * g & 0xffff));
	uint64_t state = load_cell(r, (uint32_t)o[1] + p * (o[1] >> 32) + x);

	while (state != DP_CLASS_NO_STATE) {
		uint64_t at = (header[0] >> 32) + 2 * state, result = load(r, at);

		if (result >> DP_PLACE_SHIFT >= from)
			return result;
		state = r->word[at + 1];
	}
	return DP_RESULT_NONE;
}

uint32_t classes_read_lookup(const uint64_t *half, uint32_t pc, const uint64_t *key, uint64_t *steps)
{
	struct graph_lookup l = graph_read_insn(half, pc);
	const uint64_t *header = l.word + l.root;
	struct reader r = { .word = l.word, .key = key, .steps = steps };
	uint64_t best = l.policy;

	if (l.has_ct && (key[DP_W_CT] >> DP_CT_STATE_SHIFT & DP_CT_MISSING))
		return pc + 1;
	read_fields(&r, header);
	read_others(&r, header);
	for (unsigned g = 0; g < (header[0] >> 8 & 0xff); g++) {
		uint64_t result = read_group(&r, header, g, l.from);

		best = result < best ? result : best;
	}
	return DP_RESULT_KIND(best) == DP_RESULT_RUN ? l.head + DP_RESULT_VALUE(best) : 0;
}
