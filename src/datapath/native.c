/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user-space side of the datapath's accessors. bpf.h has the kernel's side.
 *
 * Tables are trusted: they come from the builder of this very program. Bytes are not: dp_at() knows how many there are.
 */
#include "datapath/native.h"

#include "datapath/key.h"

#define DP_NOUNROLL
#define DP_GLOBAL static
#define DP_RELOAD() ((void)0)
#define DP_FORGET(x) ((void)0)
#define DP_SHR(x, n) ((x) >> ((n) & 63))
#define DP_CTX struct native_run

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define BE16(x) __builtin_bswap16(x)
#define BE32(x) __builtin_bswap32(x)
#define BE64(x) __builtin_bswap64(x)
#define LD8(p) (*(const u8 *)(p))
#define LD16(p) ((const struct load16 *)(p))->v
#define LD32(p) ((const struct load32 *)(p))->v
#define LD64(p) ((const struct load64 *)(p))->v
struct load16 { u16 v; } __attribute__((packed, may_alias));
struct load32 { u32 v; } __attribute__((packed, may_alias));
struct load64 { u64 v; } __attribute__((packed, may_alias));

struct dp_lane;
struct native {
	const uint64_t *table, *sets;
	uint64_t *count, *state;
	uint64_t now, random;
	bool in_order, malformed_accept;
	uint32_t last_hit, n_hits, hit[NATIVE_MAX_HITS];
	struct dp_key key[NATIVE_BATCH]; /* of batches */
	void (*lookup)(const u64 *t, const u64 *i, struct dp_lane *lane, u32 n);
};

struct native_run {
	const u8 *data;
	u64 captured, len;
	bool is_cut; /* something beyond what was captured was asked for */
};

struct dp_pkt {
	struct native_run *run;
	u64 len;
};

static _Thread_local struct native *native_now; /* the one that runs */
/* Nothing to mask and everything there: known to the compiler. */
static const struct dp_config dp_c = { .table_mask = ~0ull, .counter_mask = ~0ull, .state_mask = ~0ull, .sets_mask = ~0ull, .features = ~0u };

static const int dp_table, dp_count, dp_state, dp_sets;

static __always_inline u64 *dp_map(const int *map)
{
	if (map == &dp_table)
		return (u64 *)(uintptr_t)native_now->table;
	if (map == &dp_sets)
		return (u64 *)(uintptr_t)native_now->sets;
	return (u64 *)(map == &dp_count ? native_now->count : native_now->state);
}

static __always_inline u64 dp_zero(const u64 *t)
{
	(void)t;
	return 0;
}

static __always_inline u32 dp_cpu(void)
{
	return 0;
}

static __always_inline u64 dp_now(void)
{
	return native_now->now;
}

static __always_inline u64 dp_now_ns(u64 jiffy_ns)
{
	return dp_now() * jiffy_ns;
}

static __always_inline u32 dp_random(void)
{
	native_now->random = native_now->random * 6364136223846793005u + 1442695040888963407u;
	return (u32)(native_now->random >> 33);
}

struct dp_iter {
	u32 round, next, n;
};

static __always_inline void dp_iter_start(struct dp_iter *it, int n)
{
	*it = (struct dp_iter){ .n = (u32)n };
}

static __always_inline bool dp_iter_next(struct dp_iter *it)
{
	it->round = it->next++;
	return it->round < it->n;
}

static __always_inline void dp_iter_end(struct dp_iter *it)
{
	(void)it;
}

static __always_inline const u8 *dp_at(struct dp_pkt *p, u64 off, u32 n)
{
	if (off + n <= p->run->captured)
		return p->run->data + off;
	p->run->is_cut |= off + n <= p->len;
	return NULL;
}

static int dp_copy(struct native_run *run, u32 off, u32 n, void *to)
{
	if ((u64)off + n > run->captured) {
		run->is_cut = true;
		return -1;
	}
	memcpy(to, run->data + off, n);
	return 0;
}

static __always_inline void dp_counted(u64 counter)
{
	native_now->last_hit = (u32)counter;
	if (native_now->n_hits < NATIVE_MAX_HITS)
		native_now->hit[native_now->n_hits] = (u32)counter;
	native_now->n_hits++;
}

#include "datapath/parse.h"
#include "datapath/run.h"

/* The counter says all there is to say here. */
static int dp_log_event(struct native_run *run, const struct dp_key *k, u32 counter)
{
	(void)run;
	(void)k;
	(void)counter;
	return 0;
}

bool native_sees_iif(unsigned position)
{
	return DP_POSITION_HOOK(position) != DP_POSITION_HOOK(DP_POSITION_OUTPUT_RAW);
}

bool native_sees_oif(unsigned position)
{
	return DP_POSITION_HOOK(position) >= DP_POSITION_HOOK(DP_POSITION_FORWARD_MANGLE);
}

static void name_words(const char *name, uint64_t *w)
{
	u128 v = field_name_value(str_from(name));

	w[0] = (u64)(v >> 64);
	w[1] = (u64)v;
}

void native_facts_read(struct native_facts *f, const struct packet *p)
{
	*f = (struct native_facts){ .is_local = !p->has_iif };
	if (p->has_iif && p->iif[0])
		name_words(p->iif, f->iif);
	if (p->has_oif && p->oif[0])
		name_words(p->oif, f->oif);
	if (p->uid >= 0 || p->gid >= 0) {
		f->dev |= DP_HAS_SOCKET | DP_IS_SOCKET;
		f->sock = (u64)(u32)p->uid | (u64)(u32)p->gid << 32;
	}
	if (p->pkttype > 0)
		f->dev |= (u64)p->pkttype << 32;
	if (p->cpu > 0)
		f->dev |= (u64)p->cpu;
	if (p->realm >= 0) {
		f->dev |= DP_HAS_REALM;
		f->off |= (u64)p->realm << 32;
	}
	if (p->vlan_meta >= 0)
		f->dev |= DP_HAS_VLAN | (u64)(p->vlan_meta & 0xfff) << 48;
}

static struct native_frame frame_of(const struct packet *p, const struct native_facts *facts, u32 mark)
{
	return (struct native_frame){ .bytes = p->bytes, .len = p->len, .wire_len = p->wire_len, .link = p->link, .mark = mark,
				      .ct = p->ct, .ct_mark = p->ct_mark, .facts = facts };
}

/* In front of conntrack no packet has a connection. */
static __always_inline void read_ct(struct dp_key *k, const struct native_frame *f, unsigned position)
{
	int ct = f->ct < 0 || DP_POSITION_IS_RAW(position) ? CT_INVALID : f->ct;
	bool has_ct = ct == CT_NEW || ct == CT_ESTABLISHED || ct == CT_RELATED;

	k->w[DP_W_CT] = 1ull << ct << DP_CT_STATE_SHIFT | (has_ct ? DP_HAS_CT : 0);
	k->w[DP_W_MARK] = (u32)k->w[DP_W_MARK] | (has_ct ? (u64)f->ct_mark << 32 : 0);
}

/* What the machine knows, as far as it is the same everywhere. */
static __always_inline void read_facts(struct dp_key *k, const struct native_frame *f)
{
	if (f->facts->is_local)
		k->w[DP_W_DEV] &= ~DP_HAS_ETHER;
	k->w[DP_W_DEV] |= f->facts->dev;
	k->w[DP_W_OFF] |= f->facts->off;
	k->w[DP_W_SOCK] = f->facts->sock;
	k->w[DP_W_MARK] = f->mark;
}

/* ... and what it knows at a position. */
static __always_inline void read_place(struct dp_key *k, const struct native_frame *f, unsigned position)
{
	bool has_iif = f->facts->iif[0] && native_sees_iif(position), has_oif = f->facts->oif[0] && native_sees_oif(position);

	k->w[DP_W_IIF0] = has_iif ? f->facts->iif[0] : 0;
	k->w[DP_W_IIF1] = has_iif ? f->facts->iif[1] : 0;
	k->w[DP_W_OIF0] = has_oif ? f->facts->oif[0] : 0;
	k->w[DP_W_OIF1] = has_oif ? f->facts->oif[1] : 0;
	k->w[DP_W_DEV] = (k->w[DP_W_DEV] & ~(DP_HAS_IIF | DP_HAS_OIF)) | (has_iif ? DP_HAS_IIF : 0) | (has_oif ? DP_HAS_OIF : 0);
	read_ct(k, f, position);
}

static int parse_bytes(struct native_run *run, struct dp_key *k, const struct native_frame *f)
{
	struct dp_pkt pkt = { run, run->len };
	int r = DP_PARSED_OTHER;

	k->bytes = run->len;
	if (f->link == PACKET_LINK_ETHER)
		r = dp_ether(&pkt, k, f->facts->dev & DP_HAS_VLAN);
	else if (f->link == PACKET_LINK_IP)
		r = dp_ip(&pkt, k, 0, run->captured && run->data[0] >> 4 == 6);
	if (r <= DP_PARSED_IP6 && dp_transport(&pkt, k, r == DP_PARSED_IP6))
		r = DP_PARSED_MALFORMED;
	return r;
}

static int parse_key(struct native_run *run, struct dp_key *k, const struct native_frame *f)
{
	memcpy(k->w, f->key, sizeof k->w);
	run->captured = 0;
	k->bytes = run->len;
	return f->is_ip6 ? DP_PARSED_IP6 : DP_PARSED_IP4;
}

/* The key of a frame, and what is to be said of it without any rules. */
static int parse(struct native *n, struct native_run *run, struct dp_key *k, const struct native_frame *f, struct native_answer *out)
{
	int parsed;

	*run = (struct native_run){ f->bytes, f->len, f->wire_len > f->len ? f->wire_len : f->len, false };
	parsed = f->key ? parse_key(run, k, f) : parse_bytes(run, k, f);
	read_facts(k, f);
	*out = (struct native_answer){ .verdict = NATIVE_ACCEPT, .counter = NATIVE_NO_COUNTER, .mark = f->mark, .bytes = (u32)k->bytes };
	if (parsed == DP_PARSED_OTHER) {
		out->verdict = NATIVE_NOT_IP;
	} else if (parsed == DP_PARSED_MALFORMED && run->is_cut) {
		out->verdict = NATIVE_UNKNOWN;
	} else if (parsed == DP_PARSED_MALFORMED) {
		out->is_malformed = true;
		out->verdict = n->malformed_accept ? NATIVE_ACCEPT : NATIVE_DROP;
	}
	return parsed;
}

/* What the rules of one position say. */
static void run_position(struct native_run *run, struct dp_key *k, const struct native_frame *f, int parsed, unsigned position,
			 struct native_answer *out)
{
	int verdict;

	read_place(k, f, position);
	verdict = dp_run(run, k, position + (parsed == DP_PARSED_IP6 ? DP_POINTS_PER_FAMILY : 0));
	out->verdict = run->is_cut ? NATIVE_UNKNOWN : verdict == DP_VERDICT_ACCEPT ? NATIVE_ACCEPT : NATIVE_DROP;
	out->mark = (u32)k->w[DP_W_MARK];
}

void native_run(struct native *n, unsigned position, const struct packet *p, uint32_t mark, uint64_t now,
		struct native_result *out)
{
	struct dp_key k = { .w = { 0 } };
	struct native_facts facts;
	struct native_answer answer;
	struct native_frame f;
	struct native_run run;
	int parsed;

	native_now = n;
	n->now = now;
	n->n_hits = 0;
	native_facts_read(&facts, p);
	f = frame_of(p, &facts, mark);
	parsed = parse(n, &run, &k, &f, &answer);
	if (answer.is_malformed)
		dp_count_add(&k, DP_COUNTER_MALFORMED);
	if (parsed <= DP_PARSED_IP6)
		run_position(&run, &k, &f, parsed, position, &answer);
	*out = (struct native_result){ .verdict = answer.verdict, .is_malformed = answer.is_malformed, .mark = answer.mark,
				       .hit = n->hit, .n_hits = n->n_hits };
}

#include "datapath/native_batch.h"

struct native *native_create(struct arena *a, const struct native_tables *t)
{
	struct native *n = arena_new(a, struct native, 1);

	n->table = t->word;
	n->sets = t->sets;
	n->count = arena_new(a, uint64_t, 2 * (size_t)t->n_counters + 2 * DP_COUNTERS_SPECIAL);
	n->state = arena_new(a, uint64_t, t->n_state + 1);
	if (t->n_state)
		memcpy(n->state, t->state, t->n_state * sizeof *t->state);
	n->in_order = t->in_order;
	n->lookup = lookup_plain;
#ifdef DP_WIDE
	if (dp_is_wide() && !t->plain)
		n->lookup = lookup_wide;
#endif
	n->malformed_accept = t->malformed_accept;
	return n;
}

const uint64_t *native_counts(const struct native *n)
{
	return n->count;
}
