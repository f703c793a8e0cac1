/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The three judges. See judge.h. */
#include "diff/lib/judge.h"

#include <errno.h>
#include <string.h>

#include "diff/lib/testrun.h"
#include "lang/lang.h"

/* ---------- opening ---------- */

static struct str all_errors(struct arena *a, const struct diags *d)
{
	struct buf b = { .a = a };

	for (size_t i = 0; i < d->all.n; i++)
		if (d->all.v[i].severity == DIAG_ERROR) {
			struct str s = diag_format(a, d, &d->all.v[i]);

			buf_add(&b, s.p, s.n);
		}
	return buf_str(&b);
}

static void read_text(struct bench *b, struct sources *src, struct diags *d, const char *name, const char *text, enum lang l)
{
	struct lang_file f;

	if (text && *text)
		lang_read(b->rs, d, source_add(src, name, str_from(text)), l, &f);
}

bool bench_open(struct bench *b, struct arena *a, const struct case_text *t, struct kernel *k, struct str *why)
{
	struct sources src = { .a = a };
	struct diags d = { .a = a, .sources = &src };
	struct tables_options opt = { .reject_as_drop = true, .test_run = true, .hz = JUDGE_HZ, .sets_expire = true, .engine = t->engine,
				      .may_sum = true };
	struct eval_options eo = { .hook = -1, .ct = -1, .malformed_accept = t->malformed_accept };
	struct native_tables nt;

	*b = (struct bench){ .a = a, .kernel = k, .malformed_accept = t->malformed_accept };
	b->rs = t->rs ? t->rs : policy_create(a);
	read_text(b, &src, &d, "sets", t->sets, LANG_IPSET);
	read_text(b, &src, &d, "rules", t->rules, t->ip6 ? LANG_IP6TABLES : LANG_IPTABLES);
	policy_number(b->rs);
	if (d.n_errors == 0)
		b->tables = tables_build(a, b->rs, &opt, &d);
	if (!b->tables) {
		*why = all_errors(a, &d);
		return false;
	}
	b->n_counters = (uint32_t)(DP_COUNTERS_SPECIAL + b->rs->rules.n + b->rs->chains.n);
	b->eval_count = arena_new(a, uint64_t, b->n_counters);
	b->eval = eval_create(a, b->rs, &eo);
	nt = (struct native_tables){ .word = b->tables->word, .n_words = b->tables->n_words, .state = b->tables->state,
				     .n_state = b->tables->n_state, .n_counters = b->tables->n_counters,
				     .malformed_accept = t->malformed_accept, .sets = b->tables->image.word };
	b->native = native_create(a, &nt);
	return !k || (testrun_put(k, b->tables, b->tables->n_counters, why) && (!t->own_programs || testrun_own(k, a, b->tables, t, why)));
}

/* ---------- judging ---------- */

static struct judged judge_eval(struct bench *b, struct arena *scratch, const struct packet *p)
{
	struct eval_result r = { 0 };

	eval_packet(b->eval, scratch, p, &r);
	for (size_t i = 0; i < r.hits.n; i++)
		b->eval_count[DP_COUNTERS_SPECIAL + r.hits.v[i]->id]++;
	for (size_t i = 0; i < r.policy_hits.n; i++)
		b->eval_count[DP_COUNTERS_SPECIAL + b->rs->rules.n + r.policy_hits.v[i]->id]++;
	if (r.is_malformed)
		b->eval_count[DP_COUNTER_MALFORMED]++;
	if (r.is_unknown || !r.mark_known)
		b->has_unknown = true;
	return (struct judged){ .is_unknown = r.is_unknown || !r.mark_known,
				.drops = r.verdict == VERDICT_DROP || r.verdict == VERDICT_REJECT, .mark = r.mark };
}

/* The hooks of a packet's way. */
static unsigned way_of(const struct packet *p)
{
	unsigned pre = 1u << HOOK_PREROUTING, in = 1u << HOOK_INPUT, fwd = 1u << HOOK_FORWARD, out = 1u << HOOK_OUTPUT;
	unsigned post = 1u << HOOK_POSTROUTING;

	if (!p->has_iif)
		return out | post;
	return p->has_oif ? pre | fwd | post : pre | in;
}

static struct judged judge_native(struct bench *b, unsigned position, const struct packet *p, uint32_t mark)
{
	struct native_result r;

	native_run(b->native, position, p, mark, (uint64_t)p->time_ns / (1000000000 / JUDGE_HZ), &r);
	return (struct judged){ .is_unknown = r.verdict == NATIVE_UNKNOWN, .drops = r.verdict == NATIVE_DROP, .mark = r.mark };
}

/* A forwarded packet has lost one from its TTL when FORWARD sees it (and its checksum knows). False: it had none to lose. */
static bool pass_router(struct arena *a, struct packet *p, bool ip6)
{
	uint32_t at = 14 + (ip6 ? 7u : 8u);
	uint8_t *b = arena_alloc(a, p->len, 1);
	uint32_t sum;

	if (p->len <= at || p->bytes[at] <= 1)
		return false;
	memcpy(b, p->bytes, p->len);
	b[at]--;
	if (!ip6 && p->len > at + 3) {
		sum = (uint32_t)b[at + 2] << 8 | b[at + 3];
		sum += 0x100;
		sum += sum >= 0xffff;
		b[at + 2] = (uint8_t)(sum >> 8);
		b[at + 3] = (uint8_t)sum;
	}
	p->bytes = b;
	return true;
}

struct judged bench_judge(struct bench *b, enum judge j, struct arena *scratch, const struct packet *p, bool ip6)
{
	struct judged x = { .mark = p->has_mark ? p->mark : 0 };
	unsigned way = way_of(p), n = 0;
	bool is_forwarded = p->has_iif && p->has_oif;
	struct packet routed = *p;

	for (unsigned i = 0; i < DP_POSITION_COUNT; i++)
		n += (way >> DP_POSITION_HOOK(i) & 1) && b->tables->point[i + (ip6 ? DP_POINTS_PER_FAMILY : 0u)].is_used;
	if (is_forwarded && !pass_router(b->a, &routed, ip6))
		n = 0;
	if (n == 0) { /* nobody looks at it, not even whether it is well-formed */
		x.is_skipped = true;
		return x;
	}
	if (j == JUDGE_EVAL)
		return judge_eval(b, scratch, p);
	for (unsigned k = 0; k < b->tables->n_order && !x.drops && !x.is_unknown && !x.is_skipped; k++) {
		unsigned i = b->tables->order[k];
		bool is_routed = is_forwarded && DP_POSITION_HOOK(i) >= HOOK_FORWARD;
		unsigned point = i + (ip6 ? DP_POINTS_PER_FAMILY : 0u);

		if (!(way >> DP_POSITION_HOOK(i) & 1) || !b->tables->point[point].is_used)
			continue;
		if (j == JUDGE_NATIVE)
			x = judge_native(b, i, is_routed ? &routed : p, x.mark);
		else
			x = testrun_judge(b->kernel, j, point, is_routed ? &routed : p, x.mark);
	}
	return x;
}

/* ---------- counts ---------- */

static uint64_t count_of(const struct bench *b, enum judge j, uint32_t counter)
{
	if (j == JUDGE_NATIVE)
		return native_counts(b->native)[2 * counter];
	return testrun_count(b->kernel, counter);
}

/* What sums add to the counters of their rules. */
static uint64_t *added_by_sums(const struct bench *b, enum judge j, struct arena *a)
{
	uint64_t *added = arena_new(a, uint64_t, b->n_counters);

	for (size_t i = 0; i < b->tables->n_sums; i++)
		for (uint32_t k = 0; k < b->tables->sum[i].n; k++)
			added[DP_COUNTERS_SPECIAL + b->tables->sum[i].rule[k]->id] += count_of(b, j, b->tables->sum[i].counter);
	return added;
}

static struct str name_of(const struct bench *b, struct arena *a, uint32_t counter)
{
	size_t i = counter - DP_COUNTERS_SPECIAL;

	if (counter < DP_COUNTERS_SPECIAL)
		return arena_printf(a, "special counter %u", counter);
	if (i < b->rs->rules.n)
		return arena_printf(a, "%.*s: -A %.*s %.*s", STR_ARG(b->rs->rules.v[i]->chain->table),
				    STR_ARG(b->rs->rules.v[i]->chain->name), STR_ARG(b->rs->rules.v[i]->text));
	i -= b->rs->rules.n;
	return arena_printf(a, "%.*s: policy of %.*s", STR_ARG(b->rs->chains.v[i]->table), STR_ARG(b->rs->chains.v[i]->name));
}

static bool is_in_tables(const struct bench *b, const struct chain *c)
{
	for (unsigned p = 0; p < DP_POINTS; p++)
		for (unsigned k = 0; k < b->tables->point[p].n_chains; k++)
			if (b->tables->point[p].chain[k] == c)
				return true;
	return false;
}

/* Policies of chains that nothing runs are counted by the evaluator alone; of twins, all must run. */
static bool is_run(const struct bench *b, uint32_t counter)
{
	size_t i = counter - DP_COUNTERS_SPECIAL;

	if (counter < DP_COUNTERS_SPECIAL || i < b->rs->rules.n)
		return true;
	for (size_t k = 0; k < b->rs->chains.n; k++)
		if (policy_chain_root(b->rs->chains.v[k]) == b->rs->chains.v[i - b->rs->rules.n] && !is_in_tables(b, b->rs->chains.v[k]))
			return false;
	return true;
}

bool bench_counts_agree(const struct bench *b, enum judge j, struct arena *a, struct str *text)
{
	uint64_t *added = added_by_sums(b, j, a);
	struct buf out = { .a = a };

	for (uint32_t i = 0; i < b->n_counters; i++) {
		uint64_t n = count_of(b, j, i) + added[i];
		struct str name;

		if (n == b->eval_count[i] || !is_run(b, i) || i == DP_COUNTER_LOG_LOST) /* nobody reads the ring here */
			continue;
		if (i == DP_COUNTER_MALFORMED && b->malformed_accept) /* each program on the way counts it */
			continue;
		name = name_of(b, a, i);
		buf_printf(&out, "%.*s: evaluator %llu, here %llu\n", STR_ARG(name), (unsigned long long)b->eval_count[i],
			   (unsigned long long)n);
	}
	*text = buf_str(&out);
	return out.n == 0;
}
