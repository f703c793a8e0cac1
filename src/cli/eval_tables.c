/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A capture by tables. See eval_tables.h.
 *
 * Every base chain is a point of its own here, so that where a packet was dropped tells which chains it has passed:
 * chains without rules are in no table, and their policies are counted by that.
 */
#include "cli/eval_tables.h"

#include "classify/tables.h"
#include "datapath/native.h"
#include "flat/asks.h"

enum { HZ = 1000 };
enum kind { KIND_ONE_HOOK, KIND_IN, KIND_THROUGH, KIND_OUT, KINDS, KIND_EVAL = KINDS };

static const unsigned hooks_of_kind[KINDS] = {
	[KIND_IN] = 1 << HOOK_PREROUTING | 1 << HOOK_INPUT,
	[KIND_THROUGH] = 1 << HOOK_PREROUTING | 1 << HOOK_FORWARD | 1 << HOOK_POSTROUTING,
	[KIND_OUT] = 1 << HOOK_OUTPUT | 1 << HOOK_POSTROUTING,
};

/* Packets of a kind: their way, and how many of them ended where. */
struct way {
	struct native_way way;
	unsigned hooks;
	uint32_t asks;
	struct hits_count ended[FAMILY_COUNT][DP_POSITION_COUNT + 1]; /* by the positions passed */
};

struct slot {
	struct packet p;
	uint8_t *bytes;
	uint32_t room;
	enum kind kind;
	struct native_answer answer;
};

struct eval_tables {
	struct arena *a, *scratch; /* scratch: of one packet */
	const struct ruleset *rs;
	const struct eval_options *opt;
	struct eval *eval;
	struct hits *hits;
	const struct tables *tables;
	struct native *native;
	struct way way[KINDS];
	struct slot slot[NATIVE_BATCH];
	unsigned n;
	uint64_t evaluated;
};

/* ---------- can they do it ---------- */

static const char *first_error(const struct diags *d)
{
	for (size_t i = 0; i < d->all.n; i++)
		if (d->all.v[i].severity == DIAG_ERROR)
			return d->all.v[i].text.p;
	return "the tables cannot be built";
}

static bool is_base(const struct chain *c)
{
	return c->hook != HOOK_NONE;
}

static bool has_nat(const struct ruleset *rs)
{
	for (size_t i = 0; i < rs->chains.n; i++)
		if (is_base(rs->chains.v[i]) && rs->chains.v[i]->is_nat)
			return true;
	return false;
}

/* Do new packets pass the chains of nat, and others do not? Here they are empty, but count. */
static bool is_nat_told(const struct eval_options *opt)
{
	return opt->ct >= 0 && opt->ct != CT_RELATED; /* of ICMP errors they are not asked */
}

static bool is_nat_asked(const struct eval_options *opt)
{
	return opt->ct == CT_NEW;
}

static uint32_t asks_of_way(const struct eval_tables *t, const struct way *w)
{
	uint32_t asks = 0;

	for (unsigned i = 0; i < TABLES_MAX_POINTS; i++) {
		const struct tables_point *p = &t->tables->point[i];
		unsigned position = i % DP_POINTS_PER_FAMILY;
		uint32_t here;

		if (!p->is_used || !(w->hooks >> p->hook & 1))
			continue;
		here = asks_of(t->rs, p->chain, p->n_chains);
		if (DP_POSITION_IS_RAW(position))
			here &= ~(uint32_t)ASKS_ALL_CT;
		if (!native_sees_iif(position))
			here &= ~(uint32_t)ASKS_IIF;
		if (!native_sees_oif(position))
			here &= ~(uint32_t)ASKS_OIF;
		asks |= here;
	}
	return asks;
}

static void make_way(struct eval_tables *t, struct way *w, unsigned hooks)
{
	w->hooks = hooks;
	for (unsigned i = 0; i < t->tables->n_order; i++)
		for (unsigned f = 0; f < FAMILY_COUNT; f++) {
			const struct tables_point *p = &t->tables->point[t->tables->order[i] + f * DP_POINTS_PER_FAMILY];

			if (p->is_used && (hooks >> p->hook & 1)) {
				w->way.position[w->way.n++] = t->tables->order[i];
				break;
			}
		}
	w->asks = asks_of_way(t, w);
}

static const char *reason_against(const struct eval_tables *t)
{
	uint32_t asks = 0;

	for (unsigned k = 0; k < KINDS; k++)
		asks |= t->way[k].asks;
	if (t->tables->features & DP_F_STATE)
		return "rules keep a state (limits, quotas, chance), which only the evaluator follows to the nanosecond";
	if ((asks & ASKS_ALL_CT) && t->opt->ct < 0)
		return "rules ask about connections, which only the evaluator follows; --ct says their state";
	if (has_nat(t->rs) && !is_nat_told(t->opt))
		return "chains of nat see new connections only, which only the evaluator follows; --ct says the state, --tables leaves nat out";
	if (asks & ASKS_HOST)
		return "rules ask what only a machine knows";
	return NULL;
}

static bool build(struct eval_tables *t, struct str *why)
{
	struct sources none = { .a = t->a };
	struct diags d = { .a = t->a, .sources = &none };
	struct tables_options opt = { .reject_as_drop = true, .log_as_count = true, .test_run = true, .hz = HZ,
				      .apart = true };
	const char *reason;

	t->tables = tables_build(t->a, t->rs, &opt, &d);
	if (!t->tables) {
		*why = arena_printf(t->a, "%s", first_error(&d));
		return false;
	}
	for (unsigned k = 0; k < KINDS; k++)
		make_way(t, &t->way[k], k != KIND_ONE_HOOK ? hooks_of_kind[k] : t->opt->hook >= 0 ? 1u << t->opt->hook : 0);
	reason = reason_against(t);
	if (reason)
		*why = str_from(reason);
	return !reason;
}

struct eval_tables *eval_tables_open(struct arena *a, const struct ruleset *rs, const struct eval_options *opt, struct hits *hits,
				     struct str *why)
{
	struct eval_tables *t = arena_new(a, struct eval_tables, 1);
	struct eval_options alone = *opt;

	*t = (struct eval_tables){ .a = a, .rs = rs, .opt = opt, .hits = hits };
	if (!build(t, why))
		return NULL;
	alone.track = false; /* it does not see all packets */
	t->eval = eval_create(a, rs, &alone);
	t->scratch = arena_create();
	t->native = native_create(a, &(struct native_tables){ .word = t->tables->word, .n_words = t->tables->n_words,
							      .n_counters = t->tables->n_counters, .sets = t->tables->image.word });
	return t;
}

/* ---------- packets ---------- */

static enum kind kind_by_iface(const struct eval_tables *t, const struct packet *p)
{
	bool has_in = p->has_iif && p->iif[0], has_out = p->has_oif && p->oif[0];

	if (t->opt->hook >= 0)
		return KIND_ONE_HOOK;
	if (has_in && has_out) /* the TTL is another on the way */
		return t->way[KIND_THROUGH].asks & (ASKS_HEADER | ASKS_BYTES) ? KIND_EVAL : KIND_THROUGH;
	if (has_in)
		return t->opt->env && t->opt->env->forwarding ? KIND_EVAL : KIND_IN;
	return has_out && !p->has_iif ? KIND_OUT : KIND_EVAL;
}

static uint32_t said_by(const struct eval_tables *t, const struct packet *p)
{
	int ct = p->ct >= 0 ? p->ct : t->opt->ct;
	uint32_t said = ASKS_EXT | ASKS_HEADER | ASKS_BYTES;

	said |= (p->has_iif ? ASKS_IIF : 0u) | (p->has_oif ? ASKS_OIF : 0u) | (p->uid >= 0 && p->gid >= 0 ? ASKS_SOCKET : 0u);
	said |= (p->pkttype >= 0 ? ASKS_PKTTYPE : 0u) | (p->cpu >= 0 ? ASKS_CPU : 0u) | (p->realm >= 0 ? ASKS_REALM : 0u);
	if (p->link == PACKET_LINK_ETHER && p->has_iif)
		said |= ASKS_ETHER;
	if (ct >= 0)
		said |= ASKS_CT;
	if (ct == CT_INVALID || ct == CT_UNTRACKED)
		said |= ASKS_CT_MARK | ASKS_CT_MORE;
	return said;
}

static enum kind kind_of(const struct eval_tables *t, const struct packet *p)
{
	enum kind k = kind_by_iface(t, p);

	return k == KIND_EVAL || (t->way[k].asks & ~said_by(t, p)) ? KIND_EVAL : k;
}

static void run_kind(struct eval_tables *t, enum kind kind)
{
	struct native_answer out[NATIVE_BATCH];
	struct native_frame frame[NATIVE_BATCH];
	struct native_facts facts[NATIVE_BATCH];
	unsigned at[NATIVE_BATCH], n = 0;

	for (unsigned i = 0; i < t->n; i++) {
		const struct packet *p = &t->slot[i].p;

		if (t->slot[i].kind != kind)
			continue;
		native_facts_read(&facts[n], p);
		frame[n] = (struct native_frame){ .bytes = p->bytes, .len = p->len, .wire_len = p->wire_len, .link = p->link,
						  .mark = p->has_mark ? p->mark : 0, .ct = p->ct >= 0 ? p->ct : t->opt->ct,
						  .ct_mark = p->ct_mark, .facts = &facts[n] };
		at[n++] = i;
	}
	if (n == 0)
		return;
	native_batch(t->native, &t->way[kind].way, frame, n, 0, out);
	for (unsigned i = 0; i < n; i++)
		t->slot[at[i]].answer = out[i];
}

static void evaluate(struct eval_tables *t, const struct packet *p)
{
	struct eval_result e = { 0 };
	struct facts f = { 0 };

	facts_read(&f, p);
	eval_packet(t->eval, t->scratch, p, &e);
	hits_add(t->a, t->hits, &e, f.is_ip, f.is_ip ? f.l3_wire_len : p->wire_len);
	arena_reset(t->scratch);
	t->evaluated++;
}

/* Only packets that are IP and well-formed come here. */
static enum family family_of(const struct packet *p)
{
	uint32_t at = 12;

	if (p->link == PACKET_LINK_IP)
		return p->bytes[0] >> 4 == 6 ? FAMILY_IP6 : FAMILY_IP4;
	while ((p->bytes[at] == 0x81 && p->bytes[at + 1] == 0) || (p->bytes[at] == 0x88 && p->bytes[at + 1] == 0xa8))
		at += 4;
	return p->bytes[at] == 0x86 ? FAMILY_IP6 : FAMILY_IP4;
}

static enum verdict verdict_of(const struct eval_tables *t, const struct native_answer *a)
{
	size_t i = a->counter - (size_t)DP_COUNTERS_SPECIAL;
	const struct rule *r = a->verdict == NATIVE_DROP && i < t->rs->rules.n ? t->rs->rules.v[i] : NULL;

	if (r && r->step[r->n_steps - 1].kind == STEP_VERDICT && r->step[r->n_steps - 1].v.verdict == VERDICT_REJECT)
		return VERDICT_REJECT;
	return a->verdict == NATIVE_DROP ? VERDICT_DROP : VERDICT_ACCEPT;
}

static void take(struct eval_tables *t, const struct slot *s)
{
	const struct native_answer *a = &s->answer;
	struct hits_count *ended, *verdict;

	if (s->kind == KIND_EVAL || a->is_malformed || a->verdict == NATIVE_UNKNOWN || a->verdict == NATIVE_NOT_IP) {
		evaluate(t, &s->p);
		return;
	}
	ended = &t->way[s->kind].ended[family_of(&s->p)][a->passed];
	verdict = &t->hits->verdict[verdict_of(t, a)];
	ended->packets++;
	ended->bytes += a->bytes;
	verdict->packets++;
	verdict->bytes += a->bytes;
	t->hits->all.packets++;
	t->hits->all.bytes += a->bytes;
}

static void flush(struct eval_tables *t)
{
	for (unsigned k = 0; k < KINDS; k++)
		run_kind(t, (enum kind)k);
	for (unsigned i = 0; i < t->n; i++)
		take(t, &t->slot[i]);
	t->n = 0;
}

void eval_tables_add(struct eval_tables *t, const struct packet *p)
{
	struct slot *s = &t->slot[t->n++];

	if (s->room < p->len || !s->bytes) {
		s->room = p->len + 2048;
		s->bytes = arena_alloc(t->a, s->room, 16);
	}
	memcpy(s->bytes, p->bytes, p->len);
	s->p = *p;
	s->p.bytes = s->bytes;
	s->kind = kind_of(t, &s->p);
	if (t->n == NATIVE_BATCH)
		flush(t);
}

/* ---------- the counts ---------- */

static void add(struct hits_count *to, uint64_t packets, uint64_t bytes)
{
	to->packets += packets;
	to->bytes += bytes;
}

static bool is_in_tables(const struct eval_tables *t, const struct chain *c)
{
	for (unsigned i = 0; i < TABLES_MAX_POINTS; i++)
		if (t->tables->point[i].is_used && t->tables->point[i].chain[0] == c)
			return true;
	return false;
}

/* Does a packet come to the chain before the position? Hooks are numbered in the order of every way. */
static bool is_before(const struct eval_tables *t, const struct chain *c, unsigned position)
{
	const struct tables_point *p = &t->tables->point[position + c->family * DP_POINTS_PER_FAMILY];

	if (!p->is_used)
		return true; /* a packet of this family does not end here */
	return c->hook != p->hook ? c->hook < p->hook : c->priority < p->priority;
}

/* A base chain that is in no table has no rules and accepts: all that come to it are counted by its policy. */
static void count_passed(struct eval_tables *t, const struct chain *c)
{
	for (unsigned k = 0; k < KINDS; k++) {
		const struct way *w = &t->way[k];

		if (!(w->hooks >> c->hook & 1) || (c->is_nat && !is_nat_asked(t->opt)))
			continue;
		for (unsigned i = 0; i <= w->way.n; i++)
			if (i == w->way.n || is_before(t, c, w->way.position[i]))
				add(&t->hits->chain[policy_chain_root(c)->id], w->ended[c->family][i].packets,
				    w->ended[c->family][i].bytes);
	}
}

uint64_t eval_tables_end(struct eval_tables *t)
{
	const uint64_t *count = native_counts(t->native) + 2 * DP_COUNTERS_SPECIAL;

	flush(t);
	for (size_t i = 0; i < t->rs->rules.n; i++)
		add(&t->hits->rule[i], count[2 * i], count[2 * i + 1]);
	count += 2 * t->rs->rules.n;
	for (size_t i = 0; i < t->rs->chains.n; i++) {
		const struct chain *c = t->rs->chains.v[i];

		if (is_in_tables(t, c))
			add(&t->hits->chain[i], count[2 * i], count[2 * i + 1]);
		else if (is_base(c))
			count_passed(t, c);
	}
	arena_destroy(t->scratch);
	return t->evaluated;
}
