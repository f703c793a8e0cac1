/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differential test of what no iptables rule says: maps whose entries lead anywhere, several values looked up together, bits
 * of headers, counters that stand where they were written, twins of both families, several base chains at a hook. Rulesets
 * are made of the model itself. The evaluator, the tables in user space and (WEIR_BPF=1, as root) the netfilter programs must
 * say the same: verdict, mark, and the count of every rule and policy.
 *
 *     WEIR_SEED=N       where to begin; else 1
 *     WEIR_CASES=N      how many rulesets
 *
 * A mismatch prints its ruleset and packet. TIMEOUT 600
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/lib/judge.h"
#include "packet/notation.h"

enum { CASES = 500, CASES_IN_KERNEL = 120, PACKETS = 60, CHAINS = 6, MOST_SHOWN = 3, ADDRS = 5, MOST_ENTRIES = 400 };

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static const char *one_of(const char *const *v, unsigned n)
{
	return v[below(n)];
}
#define ONE_OF(...) one_of((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static const char *const addr4[ADDRS] = { "10.0.0.1", "10.0.0.2", "10.0.1.1", "10.1.0.1", "192.0.2.1" };
static const char *const addr6[ADDRS] = { "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "2001:db8:1::1", "2001:db9::1" };
static const uint32_t value4[ADDRS] = { 0x0a000001, 0x0a000002, 0x0a000101, 0x0a010001, 0xc0000201 };
static const uint64_t high6[ADDRS] = { 0x20010db800000000, 0x20010db800000000, 0x20010db800000001, 0x20010db800010000, 0x20010db900000000 };
static const uint64_t low6[ADDRS] = { 1, 2, 1, 1, 1 };

/* ---------- values ---------- */

struct gen {
	struct arena *a;
	struct ruleset *rs;
	struct chain *chain[FAMILY_COUNT][CHAINS];
	unsigned n_base;
	enum family family;
	const struct state_spec *state; /* the last one, */
	enum family state_family;	/* and in whose rule it is */
	bool is_large; /* a map with many entries is being made: of more values */
};

static u128 address(enum family f, unsigned i)
{
	return f == FAMILY_IP4 ? value4[i] : (u128)high6[i] << 64 | low6[i];
}

/* A span that the field's values lie in, near its edges. */
static struct map_span span_of(const struct gen *g, enum field f, unsigned bits)
{
	static const unsigned ports[] = { 79, 80, 81, 443, 1000, 2001 }, protos[] = { 6, 17, 47, 1 };
	u128 ones = bits >= 128 ? ~(u128)0 : ((u128)1 << bits) - 1, v;
	unsigned width = below(3) ? 0 : below(4) ? below(8) : below(bits / 2 + 1);

	switch (f) {
	case FIELD_SRC:
	case FIELD_DST:
		v = address(g->family, below(ADDRS)) + (g->is_large ? below(64) : 0);
		break;
	case FIELD_PROTO:
		v = protos[below(4)];
		break;
	case FIELD_IIF:
		v = field_name_value(str_from(ONE_OF("eth0", "eth1", "lo")));
		width = below(4) ? 0 : 96;
		break;
	case FIELD_CT_STATE:
		v = 1u << below(4);
		break;
	case FIELD_MARK:
		v = below(4);
		break;
	default:
		v = ports[below(6)] + (g->is_large ? below(64) : 0);
	}
	v &= ones;
	if (width >= bits)
		return (struct map_span){ 0, ones };
	if (below(2) || f == FIELD_IIF) /* a prefix */
		return (struct map_span){ v >> width << width, v >> width << width | (((u128)1 << width) - 1) };
	return (struct map_span){ v, v + width > ones || v + width < v ? ones : v + width };
}

static unsigned bits_of(const struct gen *g, enum field f)
{
	return (f == FIELD_SRC || f == FIELD_DST) && g->family == FAMILY_IP4 ? 32 : field_table[f].bits;
}

static const enum field fields[] = { FIELD_SRC, FIELD_DST, FIELD_DPORT, FIELD_SPORT, FIELD_PROTO, FIELD_DPORT, FIELD_SRC,
				     FIELD_MARK, FIELD_IIF, FIELD_CT_STATE, FIELD_TTL, FIELD_LENGTH };

static enum field a_field(void)
{
	return fields[below(below(2) ? 5 : sizeof fields / sizeof *fields)];
}

static const struct payload_ref *a_payload(const struct gen *g, unsigned most)
{
	static const struct payload_ref refs[] = {
		{ PAYLOAD_TRANSPORT, 16, 16 }, { PAYLOAD_TRANSPORT, 0, 16 }, { PAYLOAD_NETWORK, 64, 8 },   { PAYLOAD_NETWORK, 96, 64 },
		{ PAYLOAD_TRANSPORT, 0, 32 },  { PAYLOAD_INNER, 3, 13 },     { PAYLOAD_NETWORK, 61, 128 }, { PAYLOAD_LINK, 48, 48 },
		{ PAYLOAD_LINK, 91, 9 },       { PAYLOAD_TRANSPORT, 103, 1 }, { PAYLOAD_NETWORK, 159, 65 }, { PAYLOAD_INNER, 0, 8 },
	};
	struct payload_ref *r = arena_new(g->a, struct payload_ref, 1);

	do
		*r = refs[below(sizeof refs / sizeof *refs)];
	while (r->n_bits > most);
	if (below(4) == 0 && r->base != PAYLOAD_LINK) {
		r->at_bit = below(400);
		r->n_bits = (uint8_t)(1 + below(most));
	}
	return r;
}

/* ---------- maps ---------- */

static bool overlaps(const struct map *m, const struct map_span *key)
{
	for (size_t i = 0; i < m->entries.n; i++) {
		bool apart = false;

		for (unsigned d = 0; d < m->n_dims; d++)
			apart |= m->entries.v[i].key[d].hi < key[d].lo || m->entries.v[i].key[d].lo > key[d].hi;
		if (!apart)
			return true;
	}
	return false;
}

static void make_outcomes(struct gen *g, struct map *m, unsigned chain)
{
	m->n_outcomes = 1 + below(5);
	m->outcome = arena_new(g->a, struct step, m->n_outcomes);
	for (uint32_t i = 0; i < m->n_outcomes; i++) {
		static const enum verdict verdicts[] = { VERDICT_ACCEPT, VERDICT_DROP, VERDICT_RETURN, VERDICT_NONE, VERDICT_JUMP,
							 VERDICT_JUMP, VERDICT_GOTO };
		struct step *s = &m->outcome[i];

		if (below(8) == 0) {
			s->kind = STEP_EFFECT;
			s->effect = (struct effect){ .kind = below(3) ? EFFECT_MARK : EFFECT_NONE, .value = below(4), .mask = below(2) ? UINT32_MAX : 3 };
			continue;
		}
		s->kind = STEP_VERDICT;
		s->v.verdict = verdicts[below(chain + 1 < CHAINS ? 7 : 4)];
		if (s->v.verdict >= VERDICT_JUMP && s->v.verdict <= VERDICT_GOTO)
			s->v.chain = g->chain[g->family][chain < g->n_base ? g->n_base + below(CHAINS - g->n_base) :
								      chain + 1 + below(CHAINS - chain - 1)];
	}
}

static struct map_use *make_map(struct gen *g, unsigned chain, bool has_outcomes)
{
	static const unsigned sizes[] = { 1, 3, 8, 12, 40, MOST_ENTRIES };
	struct map *m = policy_map_add(g->rs, (struct str){ 0 }, (struct loc){ 0 });
	struct map_use *u = arena_new(g->a, struct map_use, 1);
	struct map_key *key = arena_new(g->a, struct map_key, MAP_MAX_DIMS);
	unsigned wanted = sizes[below(below(3) ? 4 : 6)], bits[MAP_MAX_DIMS], left = 128;

	m->n_dims = (uint8_t)(1 + below(3));
	for (unsigned i = 0; i < m->n_dims; i++) {
		key[i].field = a_field();
		if (below(5) == 0 && left) {
			key[i].payload = a_payload(g, left == 128 && i + 1 == m->n_dims ? 128 : 64);
			left = key[i].payload->n_bits > 64 ? 0 : left - 64;
		}
		bits[i] = key[i].payload ? key[i].payload->n_bits : bits_of(g, key[i].field);
		key[i].mask = bits[i] >= 128 ? ~(u128)0 : ((u128)1 << bits[i]) - 1;
		if (below(5) == 0)
			key[i].mask &= ~(u128)below(16);
	}
	if (has_outcomes)
		make_outcomes(g, m, chain);
	g->is_large = wanted > 12;
	for (unsigned tries = 0; tries < 2 * wanted && m->entries.n < wanted; tries++) {
		struct map_span *span = arena_new(g->a, struct map_span, m->n_dims);

		for (unsigned d = 0; d < m->n_dims; d++)
			span[d] = span_of(g, key[d].payload ? FIELD_DPORT : key[d].field, bits[d]);
		if (!overlaps(m, span))
			*vec_add(g->a, &m->entries) = (struct map_entry){ .key = span, .outcome = has_outcomes ? below(m->n_outcomes) : 0 };
	}
	g->is_large = false;
	m->has_other = below(8) == 0;
	m->other = has_outcomes ? below(m->n_outcomes) : 0;
	*u = (struct map_use){ .map = m, .key = key, .what = "the key" };
	return u;
}

/* ---------- sets ---------- */

/* A dimension, and where its value comes from. */
static void make_dim(struct gen *g, struct set *s, struct map_key *key, unsigned d, unsigned *made)
{
	static const enum field values[] = { FIELD_DPORT, FIELD_SPORT, FIELD_PROTO, FIELD_MARK, FIELD_TTL, FIELD_CT_STATE };

	if (*made == 2 || below(2)) {
		bool is_iface = d < 2 && below(4) == 0; /* three are too wide */

		s->dim[d] = is_iface ? SET_DIM_IFACE : below(3) ? SET_DIM_NET : SET_DIM_ADDR;
		s->has_addrs |= !is_iface;
		key->field = is_iface ? FIELD_IIF : below(2) ? FIELD_SRC : FIELD_DST;
		key->mask = ~(u128)0;
		return;
	}
	s->dim[d] = SET_DIM_VALUE;
	++*made;
	key->field = values[below(6)];
	if (below(4) == 0)
		key->payload = a_payload(g, 64);
	s->value_bits[d] = key->payload ? key->payload->n_bits : (uint8_t)field_table[key->field].bits;
	key->mask = ((u128)1 << s->value_bits[d]) - 1;
	if (!key->payload && below(5) == 0)
		key->mask &= ~(u128)below(8);
}

static void make_elem(struct gen *g, struct set *s, const struct map_key *key)
{
	struct set_elem *e = vec_add(g->a, &s->elems);

	*e = (struct set_elem){ 0 };
	for (unsigned d = 0; d < s->n_dims; d++) {
		unsigned bits = s->dim[d] == SET_DIM_VALUE ? s->value_bits[d] : s->dim[d] == SET_DIM_IFACE ? 128 : g->family == FAMILY_IP4 ? 32 : 128;
		unsigned wild = (s->dim[d] == SET_DIM_NET || s->dim[d] == SET_DIM_VALUE) && below(3) == 0 ? below(bits < 9 ? bits : 9) : 0;

		e->v[d] = span_of(g, key[d].payload ? FIELD_DPORT : key[d].field, bits).lo;
		if (s->dim[d] == SET_DIM_IFACE)
			e->v[d] = field_name_value(str_from(ONE_OF("eth0", "eth1", "lo")));
		e->v[d] = e->v[d] >> wild << wild;
		e->plen[d] = (uint8_t)(bits - wild);
	}
}

static struct set_use *make_set(struct gen *g)
{
	struct set_use *use = arena_new(g->a, struct set_use, 1);
	struct map_key *key = arena_new(g->a, struct map_key, SET_MAX_DIMS);
	struct str name = arena_printf(g->a, "inet/t/a set with a name that ipset would find too long %zu", g->rs->sets.n);
	struct set *s = policy_set_add(g->rs, name, (struct loc){ 0 });
	unsigned made = 0, n = 1 + below(20);

	s->type = STR("nft");
	s->family = g->family;
	s->n_dims = (uint8_t)(1 + below(g->family == FAMILY_IP4 ? 3 : 2)); /* more is too wide */
	s->netmask = g->family == FAMILY_IP4 ? 32 : 128;
	for (unsigned d = 0; d < s->n_dims; d++)
		make_dim(g, s, &key[d], d, &made);
	for (unsigned i = 0; i < n; i++)
		make_elem(g, s, key);
	*use = (struct set_use){ .name = name, .set = s, .by_field = true, .key = key };
	return use;
}

/* ---------- rules ---------- */

static const struct state_spec *make_state(struct gen *g)
{
	struct state_spec *s = arena_new(g->a, struct state_spec, 1);

	if (g->state && g->state_family != g->family && below(2)) /* of the twin */
		return g->state;
	g->state = s;
	g->state_family = g->family;
	if (below(4) == 0) {
		s->kind = STATE_QUOTA;
		s->quota.bytes = below(2000);
		s->quota.used = below(3) ? 0 : below(2000);
		s->quota.above = below(2);
		return s;
	}
	s->kind = STATE_LIMIT;
	s->rate.in_ns = true;
	s->rate.by_bytes = below(2);
	s->rate.above = below(2);
	s->rate.units = s->rate.by_bytes ? 1 + below(4000) : 1 + below(20);
	s->rate.per_ms = below(3) ? 1000 : 60000;
	s->rate.burst = s->rate.by_bytes ? below(500) : 1 + below(5);
	return s;
}

static void make_test(struct gen *g, struct test *t, unsigned chain)
{
	unsigned kind = below(10);

	t->negated = below(4) == 0;
	t->on_absent = below(4) == 0;
	t->what = "it";
	if (kind < 5) {
		struct map_span s;

		t->kind = TEST_IN;
		t->field[0] = a_field();
		t->n_fields = 1;
		s = span_of(g, t->field[0], bits_of(g, t->field[0]));
		t->in = valset_one(g->a, s.lo, s.hi);
	} else if (kind == 5) {
		t->kind = TEST_STATE;
		t->state = make_state(g);
	} else if (kind == 6) {
		t->kind = TEST_SET;
		t->set = make_set(g);
	} else if (kind == 7) {
		t->kind = TEST_TUPLE;
		t->tuple = make_map(g, chain, false);
	} else {
		struct bytes_spec *b = arena_new(g->a, struct bytes_spec, 1);
		struct map_span s;

		t->kind = TEST_BYTES;
		b->kind = BYTES_PAYLOAD;
		b->payload = *a_payload(g, 128);
		s = span_of(g, below(2) ? FIELD_DPORT : FIELD_SRC, b->payload.n_bits);
		b->payload_mask = b->payload.n_bits >= 128 ? ~(u128)0 : ((u128)1 << b->payload.n_bits) - 1;
		if (below(3) == 0)
			b->payload_mask &= ~(u128)below(64);
		b->payload_in = valset_one(g->a, s.lo, s.hi);
		t->bytes = b;
	}
}

static void make_end(struct gen *g, struct step *s, unsigned chain)
{
	static const enum verdict verdicts[] = { VERDICT_ACCEPT, VERDICT_DROP, VERDICT_RETURN, VERDICT_JUMP, VERDICT_JUMP, VERDICT_GOTO };

	s->kind = STEP_VERDICT;
	s->v.verdict = verdicts[below(chain + 1 < CHAINS ? 6 : 3)];
	if (s->v.verdict >= VERDICT_JUMP && s->v.verdict <= VERDICT_GOTO)
		s->v.chain = g->chain[g->family][chain < g->n_base ? g->n_base + below(CHAINS - g->n_base) :
							      chain + 1 + below(CHAINS - chain - 1)];
}

static void make_steps(struct gen *g, struct rule *r, unsigned chain)
{
	unsigned n = below(4), map = below(3), count = below(8);

	r->step = arena_new(g->a, struct step, n + 4);
	for (unsigned i = 0; i < n; i++) {
		struct step *s = &r->step[r->n_steps++];

		if (i == count || below(10) == 0) {
			s->kind = STEP_EFFECT;
			s->effect = (struct effect){ .kind = i == count ? EFFECT_COUNT : EFFECT_MARK, .value = below(4), .mask = 3 };
		} else {
			make_test(g, &s->test, chain);
		}
	}
	if (count >= 5)
		r->step[r->n_steps++] = (struct step){ .kind = STEP_EFFECT, .effect = { .kind = EFFECT_COUNT } };
	if (map == 0)
		r->step[r->n_steps++] = (struct step){ .kind = STEP_MAP, .map = make_map(g, chain, true) };
	if (map || below(3) == 0)
		make_end(g, &r->step[r->n_steps++], chain);
}

/* Twins tell families apart by their values; root is that of IPv4. Some rules are for one family only. */
static void make_rules(struct gen *g, unsigned chain)
{
	unsigned n = below(3) ? below(8) : 8 + below(10);

	for (unsigned i = 0; i < n; i++) {
		struct rule *root = NULL;
		unsigned only = below(8);

		for (enum family f = FAMILY_IP4; f < FAMILY_COUNT; f++) {
			struct rule *r;

			if (only == f)
				continue;
			g->family = f;
			r = policy_rule_add(g->rs, g->chain[f][chain], UINT32_MAX);
			r->text = arena_printf(g->a, "rule %u of %u", i, chain);
			make_steps(g, r, chain);
			root = root ? root : r;
			r->root = root;
		}
	}
}

static struct ruleset *make_ruleset(struct arena *a)
{
	struct gen g = { .a = a, .rs = policy_create(a), .n_base = 1 + below(2) };
	int priority = (int)below(400) - 200;

	for (unsigned i = 0; i < CHAINS; i++)
		for (enum family f = FAMILY_IP4; f < FAMILY_COUNT; f++) {
			struct chain *c = policy_chain_add(g.rs, f, STR("inet t"), arena_printf(a, "c%u", i), (struct loc){ 0 });

			g.chain[f][i] = c;
			c->root = g.chain[FAMILY_IP4][i];
			if (i >= g.n_base)
				continue;
			c->hook = i || below(3) ? HOOK_INPUT : HOOK_PREROUTING;
			if (f)
				c->hook = c->root->hook;
			c->priority = priority + (int)i * 100;
			c->policy = i ? VERDICT_ACCEPT : VERDICT_DROP;
		}
	for (unsigned i = 0; i < CHAINS; i++)
		make_rules(&g, i);
	policy_number(g.rs);
	for (size_t i = 0; i < g.rs->maps.n; i++)
		g.rs->maps.v[i]->id = (uint32_t)i;
	return g.rs;
}

/* ---------- packets ---------- */

static const char *make_packet(struct arena *a, bool ip6)
{
	const char *const *addr = ip6 ? addr6 : addr4, *src = addr[below(ADDRS)], *dst = addr[below(ADDRS)], *open = ip6 ? "[" : "", *close = ip6 ? "]" : "";
	const char *in = arena_printf(a, "%s eth mac=02:00:00:00:00:01 dstmac=02:00:00:00:01:01", ONE_OF("eth0", "eth1", "lo")).p;
	const char *ct = ONE_OF("new", "established", "invalid"), *mark = ONE_OF("0", "1", "2", "3");

	if (below(8) == 0)
		return arena_printf(a, "in=%s %s %s > %s proto=%s ct=%s mark=%s", in, ip6 ? "ip6" : "ip", src, dst, ONE_OF("47", "4"), ct, mark).p;
	return arena_printf(a, "in=%s %s %s%s%s:%s > %s%s%s:%s ct=%s mark=%s", in, ONE_OF("tcp", "udp"), open, src, close,
			    ONE_OF("1000", "2001", "80"), open, dst, close, ONE_OF("80", "79", "443", "81"), ct, mark).p;
}

/* ---------- judging ---------- */

struct totals {
	uint64_t cases, packets, drops, mismatches, refused, unknown;
};

static void show(const struct bench *b, struct arena *a, const char *packet, const char *text)
{
	struct str dump = policy_dump(a, b->rs);

	printf("# %s\n# ", packet);
	for (size_t i = 0; i < dump.n; i++)
		dump.p[i] == '\n' ? (void)fputs("\n# ", stdout) : (void)putchar(dump.p[i]);
	printf("\n# %s\n", text);
}

static bool same(const struct judged *x, const struct judged *y)
{
	return x->is_unknown == y->is_unknown && x->drops == y->drops && x->mark == y->mark;
}

/* One ruleset: each packet by all judges, then the counts. */
static void run_case(struct arena *a, struct arena *scratch, struct kernel *k, struct totals *t)
{
	struct case_text text = { .rs = make_ruleset(a), .engine = (enum tables_engine)(below(2) ? 0 : below(TABLES_ENGINE_COUNT)) };
	int64_t now = 1700000000ll * 1000000000;
	enum judge last = k ? JUDGE_NF : JUDGE_NATIVE;
	struct bench b;
	struct str why;

	t->cases++;
	if (!bench_open(&b, a, &text, k, &why)) {
		if (t->refused++ < MOST_SHOWN)
			printf("# refused: %.*s\n", STR_ARG(why));
		return;
	}
	for (unsigned i = 0; i < PACKETS; i++) {
		bool ip6 = below(2);
		const char *line = make_packet(a, ip6);
		struct judged want, got;
		struct packet p;

		arena_reset(scratch);
		if (!notation_parse(a, NULL, str_from(line), (struct loc){ 0 }, &p))
			abort();
		p.has_time = p.time_is_epoch = true;
		p.time_ns = now = now + 100000 * (int64_t)below(2000); /* whole ticks of the tests' clock */
		want = bench_judge(&b, JUDGE_EVAL, scratch, &p, ip6);
		t->packets += !want.is_skipped;
		t->drops += want.drops;
		t->unknown += want.is_unknown;
		for (enum judge j = JUDGE_NATIVE; j <= last; j++) {
			got = bench_judge(&b, j, scratch, &p, ip6);
			if (got.is_skipped == want.is_skipped && (want.is_skipped || want.is_unknown || same(&want, &got)))
				continue;
			if (t->mismatches++ < MOST_SHOWN)
				show(&b, scratch, line, arena_printf(scratch, "judge %d: %s mark %u, evaluator: %s mark %u", (int)j,
								     got.drops ? "drop" : "accept", got.mark,
								     want.drops ? "drop" : "accept", want.mark).p);
		}
	}
	for (enum judge j = JUDGE_NATIVE; j <= last && !b.has_unknown; j++)
		if (!bench_counts_agree(&b, j, scratch, &why) && t->mismatches++ < MOST_SHOWN)
			show(&b, scratch, "counts", arena_cstr(scratch, why));
}

static uint64_t env_number(const char *name, uint64_t other)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : other;
}

int main(void)
{
	bool in_kernel = env_number("WEIR_BPF", 0);
	uint64_t first = env_number("WEIR_SEED", 1), n = env_number("WEIR_CASES", in_kernel ? CASES_IN_KERNEL : CASES);
	struct arena *a = arena_create(), *scratch = arena_create(), *outer = arena_create();
	struct totals t = { 0 };
	struct kernel k;
	struct str why;
	uint64_t before;

	if (in_kernel && kernel_open(&k, outer, ~0u, &why)) {
		printf("ok 1 - programs in the kernel # SKIP %.*s\n1..1\n", STR_ARG(why));
		return 0;
	}
	for (uint64_t i = 0; i < n && t.mismatches < 20; i++) {
		seed = (first + i) * 2654435761u + 1;
		arena_reset(a);
		before = t.mismatches;
		run_case(a, scratch, in_kernel ? &k : NULL, &t);
		if (t.mismatches > before && before < MOST_SHOWN)
			printf("# WEIR_SEED=%llu WEIR_CASES=1\n", (unsigned long long)(first + i));
	}
	printf("%sok 1 - maps, tuples and bits of headers: %llu mismatches, %llu packets, %llu drops, %llu rulesets\n",
	       t.mismatches || !t.drops ? "not " : "", (unsigned long long)t.mismatches, (unsigned long long)t.packets,
	       (unsigned long long)t.drops, (unsigned long long)t.cases);
	printf("%sok 2 - no ruleset was refused: %llu\n", t.refused ? "not " : "", (unsigned long long)t.refused);
	printf("%sok 3 - the evaluator knows its verdict: %llu of %llu unknown\n", t.unknown * 20 > t.packets ? "not " : "",
	       (unsigned long long)t.unknown, (unsigned long long)t.packets);
	printf("1..3\n");
	if (in_kernel)
		kernel_close(&k);
	arena_destroy(outer);
	arena_destroy(scratch);
	arena_destroy(a);
	return 0;
}
