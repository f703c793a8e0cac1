/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Batches against packets one by one: random rulesets x packets at their edges. Verdict, mark, who decided and every
 * counter must be the same, however large the batches are.
 *
 *     WEIR_SEED=N      where to begin; else 1
 *     WEIR_PACKETS=N   how many packets
 *
 * TIMEOUT 600
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/lib/gen.h"
#include "diff/lib/judge.h"
#include "packet/notation.h"

enum { PACKETS = 400, LINE = 4096, WAYS = 3, MOST_SHOWN = 10 };

struct total {
	uint64_t packets, cases, drops, unknown, bad;
};

/* One case: its packets sorted by their way, so that batches have one. */
struct batch_case {
	struct arena *a;
	uint64_t seed;
	struct bench bench;
	struct packet packet[PACKETS];
	unsigned n;
	struct native *alone, *together;
	struct native_answer want[PACKETS], got[PACKETS];
};

static struct native *make_native(struct batch_case *c)
{
	const struct tables *t = c->bench.tables;

	return native_create(c->a, &(struct native_tables){ .word = t->word, .n_words = t->n_words, .state = t->state,
							    .n_state = t->n_state, .n_counters = t->n_counters, .plain = c->seed % 2,
							    .in_order = t->features & DP_F_STATE, .sets = t->image.word });
}

static unsigned way_number(const struct packet *p)
{
	return !p->has_iif ? 0 : p->has_oif ? 1 : 2;
}

static void way_of(const struct batch_case *c, unsigned number, struct native_way *way)
{
	unsigned pre = 1u << HOOK_PREROUTING, in = 1u << HOOK_INPUT, fwd = 1u << HOOK_FORWARD, out = 1u << HOOK_OUTPUT;
	unsigned post = 1u << HOOK_POSTROUTING;
	unsigned bits = number == 0 ? out | post : number == 1 ? pre | fwd | post : pre | in;

	way->n = 0;
	for (unsigned k = 0; k < c->bench.tables->n_order; k++) {
		unsigned i = c->bench.tables->order[k];

		if (bits >> DP_POSITION_HOOK(i) & 1)
			way->position[way->n++] = (uint8_t)i;
	}
}

static void make_packets(struct batch_case *c, struct gen *g)
{
	char line[LINE];
	struct packet p;

	for (unsigned i = 0; i < PACKETS; i++) {
		gen_packet(g, line, sizeof line);
		if (!notation_parse(c->a, NULL, arena_str(c->a, line, strlen(line)), (struct loc){ 0 }, &p))
			continue;
		if (gen_chance(g, 4) && p.len > 14) {
			uint8_t *b = arena_alloc(c->a, p.len, 1);

			memcpy(b, p.bytes, p.len);
			b[gen_below(g, p.len < 60 ? p.len : 60)] = (uint8_t)gen_below(g, 256);
			p.bytes = b;
		}
		if (gen_chance(g, 4) && p.len) /* something was not captured */
			p.len = (uint32_t)gen_below(g, p.len);
		c->packet[c->n++] = p;
	}
}

static int by_way(const void *a, const void *b)
{
	return (int)way_number(a) - (int)way_number(b);
}

static void judge_alone(struct batch_case *c, unsigned i, const struct native_way *way, uint64_t now)
{
	const struct packet *p = &c->packet[i];
	struct native_answer *w = &c->want[i];
	struct native_result r;

	*w = (struct native_answer){ .counter = NATIVE_NO_COUNTER, .mark = p->has_mark ? p->mark : 0 };
	for (unsigned k = 0; k < way->n && w->verdict == NATIVE_ACCEPT; k++) {
		native_run(c->alone, way->position[k], p, w->mark, now, &r);
		w->verdict = r.verdict;
		w->is_malformed = r.is_malformed;
		w->mark = r.mark;
		if (r.n_hits && !r.is_malformed)
			w->counter = r.hit[r.n_hits - 1];
	}
}

static void judge_together(struct batch_case *c, struct gen *g, unsigned from, unsigned to, const struct native_way *way, uint64_t now)
{
	struct native_frame frame[PACKETS];
	struct native_facts facts[PACKETS];

	for (unsigned i = from; i < to; i++) {
		const struct packet *p = &c->packet[i];

		native_facts_read(&facts[i], p);
		frame[i] = (struct native_frame){ .bytes = p->bytes, .link = p->link, .len = p->len, .wire_len = p->wire_len,
						  .mark = p->has_mark ? p->mark : 0, .ct = p->ct, .ct_mark = p->ct_mark, .facts = &facts[i] };
	}
	for (unsigned at = from, n; at < to; at += n) {
		n = 1 + (unsigned)gen_below(g, 3 * NATIVE_BATCH);
		n = n < to - at ? n : to - at;
		native_batch(c->together, way, frame + at, n, now, c->got + at);
	}
}

static bool is_same(const struct native_answer *x, const struct native_answer *y)
{
	return x->verdict == y->verdict && x->is_malformed == y->is_malformed &&
	       (x->verdict == NATIVE_UNKNOWN || (x->mark == y->mark && x->counter == y->counter));
}

static void compare(struct batch_case *c, unsigned n, struct total *t)
{
	bool has_unknown = false;

	for (unsigned i = 0; i < n; i++) {
		t->packets++;
		t->drops += c->want[i].verdict == NATIVE_DROP;
		t->unknown += c->want[i].verdict == NATIVE_UNKNOWN;
		has_unknown = has_unknown || c->want[i].verdict == NATIVE_UNKNOWN;
		if (is_same(&c->want[i], &c->got[i]) || t->bad++ >= MOST_SHOWN)
			continue;
		printf("# WEIR_SEED=%llu: %.*s\n", (unsigned long long)c->seed, STR_ARG(notation_print(c->a, &c->packet[i])));
		printf("# alone: verdict %d mark %u counter %u; together: verdict %d mark %u counter %u\n", c->want[i].verdict,
		       c->want[i].mark, c->want[i].counter, c->got[i].verdict, c->got[i].mark, c->got[i].counter);
	}
	for (uint32_t i = 0; i < 2 * c->bench.tables->n_counters && !has_unknown; i++)
		if (native_counts(c->alone)[i] != native_counts(c->together)[i] && t->bad++ < MOST_SHOWN)
			printf("# WEIR_SEED=%llu: counter %u %s: alone %llu, together %llu\n", (unsigned long long)c->seed, i / 2,
			       i % 2 ? "bytes" : "packets", (unsigned long long)native_counts(c->alone)[i],
			       (unsigned long long)native_counts(c->together)[i]);
}

static void run_case(struct arena *a, uint64_t seed, struct total *t)
{
	struct batch_case *c = arena_new(a, struct batch_case, 1);
	struct native_way way;
	struct gen g;
	struct str why;
	unsigned from = 0, to;

	gen_begin(&g, seed, 0);
	*c = (struct batch_case){ .a = a, .seed = seed };
	struct case_text text = { .sets = arena_cstr(a, str_from(gen_sets(&g))), .rules = arena_cstr(a, str_from(gen_rules(&g))), .ip6 = g.ip6,
				  .engine = (enum tables_engine)(seed / 2 % TABLES_ENGINE_COUNT) };
	if (bench_open(&c->bench, a, &text, NULL, &why)) {
		c->alone = make_native(c);
		c->together = make_native(c);
		make_packets(c, &g);
		qsort(c->packet, c->n, sizeof *c->packet, by_way);
		for (unsigned w = 0; w < WAYS; w++, from = to) {
			for (to = from; to < c->n && way_number(&c->packet[to]) == w; to++)
				;
			way_of(c, w, &way);
			if (way.n == 0) {
				memset(c->want + from, 0, (to - from) * sizeof *c->want);
				memset(c->got + from, 0, (to - from) * sizeof *c->got);
				continue;
			}
			for (unsigned i = from; i < to; i++)
				judge_alone(c, i, &way, 1000 + seed + w);
			judge_together(c, &g, from, to, &way, 1000 + seed + w);
		}
		compare(c, c->n, t);
		t->cases++;
	}
	gen_end(&g);
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

int main(void)
{
	uint64_t seed = env_number("WEIR_SEED", 1), wanted = env_number("WEIR_PACKETS", 200000);
	struct arena *a = arena_create();
	struct total t = { 0 };

	printf("# WEIR_SEED=%llu WEIR_PACKETS=%llu\n", (unsigned long long)seed, (unsigned long long)wanted);
	for (unsigned tries = 0; t.packets < wanted && t.bad < MOST_SHOWN && tries < wanted / 10; tries++) {
		arena_reset(a);
		run_case(a, seed++, &t);
	}
	printf("# %llu cases, %llu packets, %llu drops, %llu unknown\n", (unsigned long long)t.cases, (unsigned long long)t.packets,
	       (unsigned long long)t.drops, (unsigned long long)t.unknown);
	printf("%sok 1 - batches judge as packets one by one: %llu mismatches\n", t.bad ? "not " : "", (unsigned long long)t.bad);
	printf("%sok 2 - there were enough packets, drops, and packets not captured whole\n1..2\n",
	       t.packets >= wanted && t.drops > wanted / 20 && t.unknown > wanted / 200 ? "" : "not ");
	arena_destroy(a);
	return 0;
}
