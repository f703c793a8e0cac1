/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measuring class tables that are there, from their words alone. Every cell that a walk can come to is visited; the greatest
 * sum for each group bounds its cells of X and P, and those bound its cells of Y. The builder's own account is not asked.
 */
#include <string.h>

#include "classify/classes.h"
#include "tables/classes.h"

/* The greatest of each of four numbers of 16 bits. */
struct greatest {
	uint32_t v[DP_CLASS_GROUPS];
};

struct measure {
	const uint64_t *word;
	size_t n;
	struct class_tables *out;
	struct greatest x, p;
	bool is_whole; /* else: something lies outside */
};

static uint64_t word_at(struct measure *m, uint64_t at)
{
	m->is_whole &= at < m->n;
	return at < m->n ? m->word[at] : 0;
}

static uint32_t cell_at(struct measure *m, uint64_t at)
{
	uint16_t v = 0;

	m->is_whole &= at / 4 < m->n;
	if (at / 4 < m->n)
		memcpy(&v, (const char *)m->word + 2 * at, sizeof v);
	return v;
}

/* ---------- walks ---------- */

static void take(struct greatest *g, uint64_t v)
{
	for (unsigned i = 0; i < DP_CLASS_GROUPS; i++)
		if ((v >> 16 * i & 0xffff) > g->v[i])
			g->v[i] = (uint32_t)(v >> 16 * i & 0xffff);
}

/* What lies behind a word of a walk; cells of 32 bits are told in *most. */
static void visit(struct measure *m, uint64_t base, uint64_t d, unsigned rounds, struct greatest *g, uint64_t *most)
{
	uint64_t n = d >> 38 & DP_CLASS_CHILDREN, cell = d >> 48;

	if (rounds == 0) {
		take(g, d);
		*most = d > *most ? d : *most;
		return;
	}
	m->is_whole &= n <= cell;
	for (uint64_t i = cell - n; i <= cell && m->is_whole; i++)
		visit(m, base, word_at(m, base + i), rounds - 1, g, most);
}

static void measure_walk(struct measure *m, uint64_t walk, unsigned bits, struct greatest *g, uint64_t *most)
{
	unsigned shift = walk >> 32 & 63, rounds = (unsigned)(walk >> 40);

	if (rounds > DP_CLASS_ROUNDS || shift > bits || bits - shift > 16) {
		m->is_whole = false;
		return;
	}
	m->out->loads += 1 + rounds;
	for (uint64_t i = 0; i < 1ull << (bits - shift) && m->is_whole; i++)
		visit(m, (uint32_t)walk, word_at(m, (uint32_t)walk + i), rounds, g, most);
}

static void add_to(struct measure *m, struct greatest *sum, const struct greatest *g)
{
	for (unsigned i = 0; i < DP_CLASS_GROUPS; i++) {
		sum->v[i] += g->v[i];
		m->is_whole &= sum->v[i] < DP_CLASS_CELLS; /* else it would carry into its neighbour */
	}
}

/* ---------- fields ---------- */

static void measure_fields(struct measure *m, uint64_t header)
{
	static const uint8_t bits[] = { [DP_CLASS_SRC] = 32, [DP_CLASS_DST] = 32, [DP_CLASS_SPORT] = 16, [DP_CLASS_DPORT] = 16,
					[DP_CLASS_PROTO] = 8, [DP_CLASS_FLAGS] = 10 };

	for (unsigned i = 0; i < DP_CLASS_FIELDS; i++) {
		uint64_t walk = word_at(m, header + 1 + i), most = 0;
		struct greatest g = { 0 };

		if (!walk)
			continue;
		measure_walk(m, walk, bits[i], &g, &most);
		add_to(m, i <= DP_CLASS_DST ? &m->x : &m->p, &g);
	}
}

/* Sums that index a table are whole words. */
struct open_sum {
	uint64_t most;
	struct greatest g;
};

static void measure_table(struct measure *m, uint64_t table, struct open_sum *s)
{
	struct open_sum next = { 0 };

	m->out->loads++;
	m->is_whole &= s->most < m->n;
	for (uint64_t i = 0; i <= s->most && m->is_whole; i++) {
		uint64_t v = word_at(m, table + i);

		take(&next.g, v);
		next.most = v > next.most ? v : next.most;
	}
	*s = next;
}

static void measure_others(struct measure *m, uint64_t header, unsigned n)
{
	struct open_sum s = { 0 };

	for (unsigned i = 0; i < n && m->is_whole; i++) {
		uint64_t at = header + DP_CLASS_OTHER_AT + 2 * i, how = word_at(m, at + 1), most = 0;
		unsigned left = how >> 8 & 63, right = how & 63, flags = how >> 21 & 7;
		struct greatest g = { 0 };

		m->is_whole &= (how >> 16 & 31) < DP_KEY_WORDS && left <= right && right >= 32;
		measure_walk(m, word_at(m, at), 64 - right, &g, &most);
		m->is_whole &= most <= UINT64_MAX - s.most;
		s.most += most;
		for (unsigned k = 0; k < DP_CLASS_GROUPS; k++)
			s.g.v[k] += g.v[k];
		if (flags & DP_CLASS_TABLE)
			measure_table(m, how >> 32, &s);
		if (flags & (DP_CLASS_TO_X | DP_CLASS_TO_P)) {
			add_to(m, flags & DP_CLASS_TO_X ? &m->x : &m->p, &s.g);
			s = (struct open_sum){ 0 };
			m->is_whole &= (flags & (DP_CLASS_TO_X | DP_CLASS_TO_P)) != (DP_CLASS_TO_X | DP_CLASS_TO_P);
		}
	}
	m->is_whole &= s.most == 0;
}

/* ---------- groups and states ---------- */

static uint32_t greatest_cell(struct measure *m, uint64_t at, uint32_t last)
{
	uint32_t most = 0;

	for (uint64_t i = 0; i <= last && m->is_whole; i++) {
		uint32_t v = cell_at(m, at + i);

		most = v > most ? v : most;
	}
	return most;
}

/* The greatest state. */
static uint32_t measure_group(struct measure *m, uint64_t at, unsigned g)
{
	uint64_t xp = word_at(m, at), y = word_at(m, at + 1);
	uint32_t x = greatest_cell(m, (uint32_t)xp, m->x.v[g]), p = greatest_cell(m, xp >> 32, m->p.v[g]);

	m->out->loads += 3;
	m->is_whole &= (y >> 32) * p + x < 4 * m->n;
	return greatest_cell(m, (uint32_t)y, (uint32_t)((y >> 32) * p + x));
}

/* States come later in the list's order with each step, so every run ends. */
static void measure_states(struct measure *m, uint64_t states, uint32_t last)
{
	for (uint32_t i = 0; i <= last && m->is_whole; i++) {
		unsigned run = 1;

		for (uint32_t s = i; m->is_whole; run++) {
			uint64_t result = word_at(m, states + 2 * (uint64_t)s), next = word_at(m, states + 2 * (uint64_t)s + 1);

			if (next == DP_CLASS_NO_STATE)
				break;
			m->is_whole &= next < DP_CLASS_NO_STATE && word_at(m, states + 2 * next) >> 44 > result >> 44;
			s = (uint32_t)next;
		}
		m->is_whole &= run <= DP_CLASS_RUN;
		if (run > m->out->run)
			m->out->run = run;
	}
}

bool classes_check(const uint64_t *word, size_t n, uint64_t root, struct class_tables *measured)
{
	struct measure m = { .word = word, .n = n, .out = measured, .is_whole = true };
	uint64_t head = word_at(&m, root);
	unsigned n_groups = head >> 8 & 0xff, n_others = head & 0xff;
	uint32_t last = 0;

	*measured = (struct class_tables){ .root = root, .n_groups = n_groups };
	if (n_groups < 1 || n_groups > DP_CLASS_GROUPS || n_others > DP_CLASS_OTHERS)
		return false;
	measure_fields(&m, root);
	measure_others(&m, root, n_others);
	for (unsigned g = 0; g < n_groups && m.is_whole; g++) {
		uint32_t state = measure_group(&m, root + DP_CLASS_GROUP_AT + 2 * g, g);

		last = state > last ? state : last;
	}
	m.is_whole &= last < DP_CLASS_NO_STATE;
	measured->loads++;
	if (m.is_whole)
		measure_states(&m, head >> 32, last);
	return m.is_whole;
}
