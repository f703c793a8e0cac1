/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets in batches: what callers say becomes frames for the datapath, and its answers become results. See weir.h. */
#include "api/api.h"

#include <time.h>

#include "tables/key.h"

struct weir_context {
	struct weir_rules *rules;
	struct arena *a;
	struct native *native;
	size_t packet_size, key_size, result_size;
	uint64_t now_ns;
	bool has_clock;
};

/* ---------- contexts ---------- */

static struct weir_context *create(struct weir_rules *r)
{
	struct arena *a = arena_create();
	struct weir_context *c = arena_new(a, struct weir_context, 1);

	c->a = a;
	c->rules = r;
	c->native = native_create(a, &(struct native_tables){
		.word = r->tables->word, .n_words = r->tables->n_words, .state = r->tables->state, .n_state = r->tables->n_state,
		.n_counters = (uint32_t)DP_COUNTERS_SPECIAL + r->n, .malformed_accept = r->malformed_accept,
		.in_order = r->tables->features & DP_F_STATE, .sets = r->tables->image.word });
	return c;
}

static struct weir_context *create_guarded(struct weir_rules *r)
{
	struct arena_guard guard;
	struct weir_context *c;

	if (setjmp(guard.out))
		return NULL;
	arena_guard_open(&guard, 0);
	c = create(r);
	arena_guard_close(&guard);
	return c;
}

struct weir_context *weir_context_create(struct weir_rules *rules, const struct weir_context_options *options)
{
	static const struct weir_context_options first = WEIR_CONTEXT_OPTIONS;
	const struct weir_context_options *o = options ? options : &first;
	struct weir_context *c;

	if (!rules || o->size < sizeof *o || o->packet_size < first.packet_size || o->key_size < first.key_size ||
	    o->result_size < first.result_size)
		return NULL;
	c = create_guarded(rules);
	if (!c)
		return NULL;
	c->packet_size = o->packet_size;
	c->key_size = o->key_size;
	c->result_size = o->result_size;
	atomic_fetch_add(&rules->users, 1);
	return c;
}

void weir_context_free(struct weir_context *ctx)
{
	struct weir_rules *r;

	if (!ctx)
		return;
	r = ctx->rules;
	arena_destroy(ctx->a);
	rules_drop(r);
}

void weir_context_clock(struct weir_context *ctx, uint64_t now_ns)
{
	ctx->now_ns = now_ns;
	ctx->has_clock = true;
}

static uint64_t jiffies(const struct weir_context *c)
{
	struct timespec t;

	if (c->has_clock)
		return c->now_ns / (1000000000 / API_HZ) + 1000000;
	if (!(c->rules->tables->features & DP_F_STATE)) /* nobody asks */
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec) / (1000000000 / API_HZ) + 1000000;
}

void weir_context_count(const struct weir_context *ctx, uint32_t rule, uint64_t *packets, uint64_t *bytes)
{
	const uint64_t *count = native_counts(ctx->native) + 2 * ((size_t)DP_COUNTERS_SPECIAL + rule);
	bool is_there = rule < ctx->rules->n;

	if (packets)
		*packets = is_there ? count[0] : 0;
	if (bytes)
		*bytes = is_there ? count[1] : 0;
}

/* ---------- what is said ---------- */

static const int8_t ct_states[] = { [WEIR_CT_NOT_SAID] = -1, [WEIR_CT_NEW] = CT_NEW, [WEIR_CT_ESTABLISHED] = CT_ESTABLISHED,
				    [WEIR_CT_RELATED] = CT_RELATED, [WEIR_CT_INVALID] = CT_INVALID,
				    [WEIR_CT_UNTRACKED] = CT_UNTRACKED };

struct batch {
	struct weir_context *ctx;
	struct native_way way;
	uint32_t asks[FAMILY_COUNT];
	uint64_t now;
	uint8_t *result;		 /* where those of this round go */
	unsigned n;			 /* frames of this round */
	uint8_t at[NATIVE_BATCH];	 /* the packet of the round that a frame is */
	struct native_frame frame[NATIVE_BATCH];
	uint64_t key[NATIVE_BATCH][DP_KEY_WORDS];
};

static struct weir_result *result_at(const struct batch *b, unsigned i)
{
	return (struct weir_result *)(void *)(b->result + i * b->ctx->result_size);
}

/* One packet of the round is a frame, or unknown because of what it lacks. */
static void add_frame(struct batch *b, unsigned i, const struct native_frame *f, uint32_t lacks)
{
	if (lacks) {
		*result_at(b, i) = (struct weir_result){ .verdict = WEIR_UNKNOWN, .rule = WEIR_NO_RULE, .mark = f->mark, .lacks = lacks };
		return;
	}
	b->at[b->n] = (uint8_t)i;
	b->frame[b->n++] = *f;
}

static unsigned be16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* Whose rules will be asked: 1 << enum family, or 0: those of none. */
static unsigned family_of(const struct weir_packet *p)
{
	const uint8_t *b = p->data;
	size_t at = 12;

	if (p->link == WEIR_LINK_IP)
		return p->len && b[0] >> 4 == 6 ? 1u << FAMILY_IP6 : 1u << FAMILY_IP4;
	while (at + 2 <= p->len && (be16(b + at) == 0x8100 || be16(b + at) == 0x88a8) && at < 20)
		at += 4;
	if (at + 2 > p->len)
		return 0;
	return be16(b + at) == 0x86dd ? 1u << FAMILY_IP6 : be16(b + at) == 0x0800 ? 1u << FAMILY_IP4 : 0;
}

static uint32_t asks_of_family(const struct batch *b, unsigned families)
{
	return (families & 1u << FAMILY_IP4 ? b->asks[FAMILY_IP4] : 0) | (families & 1u << FAMILY_IP6 ? b->asks[FAMILY_IP6] : 0);
}

static void add_packet(struct batch *b, unsigned i, const struct weir_packet *p)
{
	uint32_t asks = asks_of_family(b, b->asks[FAMILY_IP4] | b->asks[FAMILY_IP6] ? family_of(p) : 0), said;
	struct native_frame f = { .bytes = p->data, .len = p->len, .wire_len = p->wire_len, .mark = p->mark, .ct_mark = p->ct_mark,
				  .ct = ct_states[p->ct], .link = p->link == WEIR_LINK_IP ? PACKET_LINK_IP : PACKET_LINK_ETHER };

	f.facts = said_read(p->facts, &said);
	if (asks & ASKS_ETHER) /* what is sent from here has no such header yet, and only the interface tells */
		asks |= ASKS_IIF;
	if (p->link == WEIR_LINK_ETHERNET || f.facts->is_local)
		said |= WEIR_FACT_ETHERNET;
	said |= WEIR_FACT_EXTENSIONS | WEIR_FACT_HEADER | WEIR_FACT_BYTES | (p->flags & WEIR_PACKET_CT_MARK ? WEIR_FACT_CT_MARK : 0);
	add_frame(b, i, &f, said_lack(asks, said, p->ct));
}

/* ---------- results ---------- */

static void put_result(const struct batch *b, const struct native_answer *a, struct weir_result *out)
{
	static const uint8_t verdicts[] = { [NATIVE_ACCEPT] = WEIR_ACCEPT, [NATIVE_DROP] = WEIR_DROP, [NATIVE_NOT_IP] = WEIR_NOT_IP,
					    [NATIVE_UNKNOWN] = WEIR_UNKNOWN };
	uint32_t rule = a->counter - (uint32_t)DP_COUNTERS_SPECIAL;

	*out = (struct weir_result){ .verdict = verdicts[a->verdict], .malformed = a->is_malformed, .rule = WEIR_NO_RULE,
				     .mark = a->mark };
	if (rule >= b->ctx->rules->n || a->verdict == NATIVE_UNKNOWN)
		return;
	out->rule = rule;
	if (a->verdict == NATIVE_DROP && b->ctx->rules->rejects[rule])
		out->verdict = WEIR_REJECT;
}

static void run_round(struct batch *b)
{
	struct native_answer answer[NATIVE_BATCH];

	native_batch(b->ctx->native, &b->way, b->frame, b->n, b->now, answer);
	for (unsigned i = 0; i < b->n; i++)
		put_result(b, &answer[i], result_at(b, b->at[i]));
	b->n = 0;
}

/* Takes item i of a round into the batch; false: it cannot be. */
typedef bool take_item(struct batch *b, unsigned i, const void *item);

static bool take_packet(struct batch *b, unsigned i, const void *item)
{
	const struct weir_packet *p = item;
	bool is_usable = (p->data || !p->len) && p->link <= WEIR_LINK_IP && p->ct <= WEIR_CT_UNTRACKED;

	if (is_usable)
		add_packet(b, i, p);
	else
		*result_at(b, i) = (struct weir_result){ .verdict = WEIR_UNKNOWN, .rule = WEIR_NO_RULE, .mark = p->mark };
	return is_usable;
}

static bool take_key(struct batch *b, unsigned i, const void *item)
{
	const struct weir_key *k = item;
	unsigned family = k->flags & WEIR_KEY_IP6 ? FAMILY_IP6 : FAMILY_IP4;
	struct native_frame f = { .key = b->key[b->n], .is_ip6 = family == FAMILY_IP6, .wire_len = k->length, .mark = k->mark,
				  .ct_mark = k->ct_mark, .link = PACKET_LINK_IP };
	uint32_t said;

	if (k->ct > WEIR_CT_UNTRACKED) {
		*result_at(b, i) = (struct weir_result){ .verdict = WEIR_UNKNOWN, .rule = WEIR_NO_RULE, .mark = k->mark };
		return false;
	}
	f.ct = ct_states[k->ct];
	f.facts = said_read(k->facts, &said);
	said |= key_read(k, b->key[b->n]);
	add_frame(b, i, &f, said_lack(b->asks[family], said, k->ct));
	return true;
}

/* A wrong packet does not keep the others from being judged: somebody waits for all of them. */
static enum weir_error classify(struct weir_context *ctx, unsigned hooks, const void *items, size_t item_size, size_t n,
				struct weir_result *result, take_item *take)
{
	const uint8_t *p = items;
	struct batch b;
	enum weir_error e;

	if (!ctx || (n && (!items || !result)) || !hooks || hooks >> HOOK_IP_COUNT)
		return WEIR_ERROR_USE;
	e = WEIR_OK;
	b.ctx = ctx;
	b.n = 0;
	b.now = jiffies(ctx);
	identity_way(ctx->rules, hooks, &b.way, b.asks);
	for (size_t at = 0; at < n; at += NATIVE_BATCH) {
		unsigned round = n - at < NATIVE_BATCH ? (unsigned)(n - at) : NATIVE_BATCH;

		b.result = (uint8_t *)result + at * ctx->result_size;
		for (unsigned i = 0; i < round; i++)
			if (!take(&b, i, p + (at + i) * item_size))
				e = WEIR_ERROR_USE;
		run_round(&b);
	}
	return e;
}

enum weir_error weir_classify(struct weir_context *ctx, unsigned hooks, const struct weir_packet *packet, size_t n,
			      struct weir_result *result)
{
	return classify(ctx, hooks, packet, ctx ? ctx->packet_size : 0, n, result, take_packet);
}

enum weir_error weir_classify_keys(struct weir_context *ctx, unsigned hooks, const struct weir_key *key, size_t n,
				   struct weir_result *result)
{
	return classify(ctx, hooks, key, ctx ? ctx->key_size : 0, n, result, take_key);
}
