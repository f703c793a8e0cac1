/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The builder: lists of rules become code, points become roots.
 *
 *     half:  points (DP_POINT_WORDS words each) | roots | code, 4 words an instruction | data of instructions |
 *            tables of lookups
 *
 * Every chain that is reached is one list: its rules one behind the other, then its policy or a return. A rule is its
 * tests, then COUNT, effects and verdict; a test that fails goes on at the next rule. A rule that asks conntrack first
 * asks whether anything tracks connections at all: if not, it drops (the code for that stands at the end of the list).
 *
 * While lists are emitted, callees first, the longest way through each is summed up; what the datapath could not walk
 * to the end is refused here.
 */
#include "classify/tables.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "classify/emit.h"
#include "classify/inline.h"
#include "classify/lookup.h"
#include "classify/map.h"
#include "classify/sums.h"
#include "classify/test.h"
#include "flat/flat.h"

struct list {
	uint32_t pc, policy_pc;
	uint32_t features; /* with all callees */
	uint64_t steps;	   /* on the longest way, callees too */
};

struct build {
	struct arena *a;
	const struct ruleset *rs;
	const struct tables_options *opt;
	struct diags *d;
	struct flat flat;
	struct code code;
	struct test_room room;
	struct list *list; /* by chain.id */
	struct words words;
	struct sums sums;
	VEC(struct tables_list) report;
	struct emit emit;
};

/* ---------- one list ---------- */

static uint64_t add_steps(uint64_t x, uint64_t y)
{
	return x > DP_MAX_STEPS || y > DP_MAX_STEPS ? DP_MAX_STEPS + 1 : x + y;
}

/* What the callees need and how far they go is part of what this list does. */
static void sum_callees(struct build *b, const struct chain *c)
{
	struct list *l = &b->list[c->id];

	for (size_t i = 0; i < c->rules.n; i++) {
		struct flat_call call = { .rule = c->rules.v[i] };

		uint64_t most = 0; /* of the outcomes of a map one happens; and nothing is called behind it */

		while (flat_next_call(&call)) {
			const struct list *to = &b->list[call.verdict->v.chain->id];

			l->features |= to->features;
			most = call.is_of_map && most > to->steps ? most : call.is_of_map ? to->steps : add_steps(most, to->steps);
		}
		l->steps = add_steps(l->steps, most);
	}
}

static void emit_end(struct build *b, const struct chain *c)
{
	struct code_insn *i;

	b->list[c->id].policy_pc = (uint32_t)b->code.insn.n;
	if (c->hook == HOOK_NONE) {
		code_add(&b->code, DP_OP_RETURN)->a = DP_NO_COUNTER;
	} else {
		i = code_add(&b->code, c->policy == VERDICT_DROP ? DP_OP_DROP : DP_OP_ACCEPT);
		i->a = sums_of_chain(&b->sums, c);
	}
	if (b->emit.ct_missing < 0)
		return;
	code_put(&b->code, b->emit.ct_missing);
	code_add(&b->code, DP_OP_DROP)->a = DP_COUNTER_CT_MISSING;
}

static void emit_rules(struct build *b, const struct chain *c)
{
	struct arena *scratch = arena_create();
	struct inline_list in = { .a = b->a, .scratch = scratch, .chain = c };
	struct lookup_list look = { .code = &b->code, .chain = c, .is_ip6 = c->family == FAMILY_IP6, .wanted = b->opt->engine,
				    .words = &b->words, .sums = b->opt->may_sum ? &b->sums : NULL };

	code_list_open(&b->code, c->rules.n);
	inline_rules(&b->emit, &in);
	*vec_add(scratch, &in.start) = (uint32_t)b->code.insn.n;
	emit_end(b, c);
	look.start = in.start.v;
	look.entry = in.entry.v;
	look.n = in.entry.n;
	look.fate = arena_new(b->a, struct tables_fate, c->rules.n + 1);
	look.report = vec_add(b->a, &b->report);
	lookup_make(&look);
	look.report->inlined = in.call.v;
	look.report->n_inlined = in.call.n;
	look.report->n_insns = b->code.insn.n - b->code.list;
	b->list[c->id].policy_pc = look.policy_pc;
	arena_destroy(scratch);
}

static void emit_list(struct build *b, const struct chain *c)
{
	struct list *l = &b->list[c->id];

	b->emit.ct_missing = -1;
	b->room.is_ip4 = c->family == FAMILY_IP4;
	l->pc = (uint32_t)b->code.insn.n;
	emit_rules(b, c);
	if (!code_list_close(&b->code))
		diag_hint(b->d, diag_error(b->d, c->at, "chain %.*s is too long: its %zu rules take more than %d compares",
					   STR_ARG(c->name), c->rules.n, DP_MAX_SCAN),
			  "use sets in place of long lists of addresses or ports");
	l->features = b->code.features;
	l->steps = b->code.steps;
	sum_callees(b, c);
	if (c->hook != HOOK_NONE && l->steps >= DP_MAX_STEPS / FLAT_MAX_CHAINS)
		diag_error(b->d, c->at, "chain %.*s may lead through more than %d rules by its calls", STR_ARG(c->name),
			   DP_MAX_STEPS / FLAT_MAX_CHAINS);
}

/* ---------- the whole ---------- */

static void link_calls(struct build *b)
{
	for (size_t i = 0; i < b->code.insn.n; i++) {
		struct code_insn *x = &b->code.insn.v[i];

		if (x->op == DP_OP_CALL || x->op == DP_OP_GOTO)
			x->b = b->list[x->b].pc;
	}
}

static void link_data(struct build *b, uint64_t *word, size_t at)
{
	if (b->code.data.n)
		memcpy(word + at, b->code.data.v, b->code.data.n * sizeof *word);
	for (size_t i = 0; i < b->code.insn.n; i++) {
		struct code_insn *x = &b->code.insn.v[i];

		if (x->op == DP_OP_U32 || x->op == DP_OP_STRING)
			x->a += at;
		if (x->op == DP_OP_LIMIT_NS)
			x->b += at;
	}
}

static uint32_t jiffies_per_second(const struct tables_options *opt)
{
	struct timespec res;

	if (opt->hz)
		return opt->hz;
	/* The coarse clock ticks once a jiffy. */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &res) || res.tv_nsec <= 0)
		return 250;
	return (uint32_t)(1000000000 / res.tv_nsec);
}

/* Points and roots take at most this. Code begins behind, at a whole instruction. */
enum { CODE_PC = (DP_POINTS * (DP_POINT_WORDS + 1 + FLAT_MAX_CHAINS) + 3) / 4 };

static void write_roots(const struct build *b, uint64_t *word)
{
	size_t n = DP_POINTS * DP_POINT_WORDS;

	for (unsigned p = 0; p < DP_POINTS; p++) {
		const struct flat_point *f = &b->flat.point[p];
		const struct code_insn *first;

		if (!f->n_chains)
			continue;
		first = &b->code.insn.v[b->list[f->chain[0]->id].pc - CODE_PC];
		memcpy(word + DP_POINT_WORDS * p, (uint64_t[]){ (uint64_t)n << 32 | (uint64_t)f->n_chains << 16 | (uint64_t)first->arg << 8 | (uint64_t)first->op,
								first->a, first->b, first->c }, DP_POINT_WORDS * sizeof *word);
		word[n++] = f->n_chains;
		for (unsigned k = 0; k < f->n_chains; k++) {
			const struct list *l = &b->list[f->chain[k]->id];

			word[n++] = (uint64_t)l->pc << 32 | l->policy_pc;
		}
	}
}

static void fill_points(const struct build *b, struct tables_point point[TABLES_MAX_POINTS])
{
	for (unsigned p = 0; p < DP_POINTS; p++) {
		const struct flat_point *f = &b->flat.point[p];
		struct tables_point *t = &point[p];

		*t = (struct tables_point){ .is_used = f->n_chains > 0, .family = f->family, .hook = f->hook,
					    .priority = f->priority, .n_chains = f->n_chains };
		for (unsigned k = 0; k < f->n_chains; k++) {
			t->chain[k] = f->chain[k];
			if (b->list)
				t->features |= b->list[f->chain[k]->id].features;
		}
	}
}

static struct tables *write_tables(struct build *b)
{
	struct tables *t = arena_new(b->a, struct tables, 1);
	size_t data_at = 4 * (CODE_PC + b->code.insn.n), words_at = (data_at + b->code.data.n + 3) & ~(size_t)3;
	size_t n = words_at + b->words.n;

	if (n > UINT32_MAX / 16) {
		diag_error(b->d, b->rs->rules.n ? b->rs->rules.v[0]->at : (struct loc){ 0 },
			   "the tables of these rules are too large");
		return NULL;
	}
	t->word = arena_new(b->a, uint64_t, n + DP_TABLE_PAD);
	t->n_words = (uint32_t)n;
	for (size_t i = 0; i < b->rs->chains.n; i++) {
		b->list[i].pc += CODE_PC;
		b->list[i].policy_pc += CODE_PC;
	}
	link_calls(b);
	map_lists_link(b->room.maps, &b->code, CODE_PC);
	lookup_write(&b->code, &b->words, CODE_PC, words_at);
	write_roots(b, t->word);
	link_data(b, t->word, data_at);
	code_write(&b->code, t->word + 4 * CODE_PC);
	if (b->words.n)
		memcpy(t->word + words_at, b->words.v, b->words.n * sizeof *b->words.v);
	t->list = b->report.v;
	t->n_lists = b->report.n;
	t->sum = b->sums.all.v;
	t->n_sums = b->sums.all.n;
	t->n_counters = b->sums.n_counters;
	t->sets = sets_asked(b->room.sets, &b->code, CODE_PC);
	for (size_t i = 0; i < t->n_lists; i++)
		t->list[i].pc = b->list[t->list[i].chain->id].pc;
	t->state = b->room.state.v;
	t->n_state = (uint32_t)b->room.state.n;
	fill_points(b, t->point);
	memcpy(t->order, b->flat.order, sizeof t->order);
	t->n_order = b->flat.n_order;
	for (unsigned p = 0; p < DP_POINTS; p++)
		t->features |= t->point[p].features;
	return t;
}

/* The sets, where nobody else keeps them. */
static struct tables *with_image(struct build *b, struct tables *t)
{
	struct sets_clock clock = { b->opt->now, b->room.hz };
	int err;

	if (!t || b->opt->sets_apart || !t->sets.set.n)
		return t;
	err = sets_image(b->a, &t->sets, clock, t->word, &t->image);
	if (!err)
		return t;
	diag_error(b->d, t->sets.set.v[0]->at, "the sets of these rules cannot be kept: %s", strerror(-err));
	return NULL;
}

struct tables *tables_build(struct arena *a, const struct ruleset *rs, const struct tables_options *opt, struct diags *d)
{
	struct build b = { .a = a, .rs = rs, .opt = opt, .d = d };
	struct flat_options fo = { .reject_as_drop = opt->reject_as_drop, .test_run = opt->test_run,
				   .apart = opt->apart, .is_between = opt->is_between, .arg = opt->between_arg, .held = opt->held };
	unsigned errors = d->n_errors;

	assert(opt->special_counter == 0); /* the datapath knows them by their numbers */
	if (!flat_make(a, rs, &fo, d, &b.flat))
		return NULL;
	b.code.a = b.words.a = a;
	sums_init(&b.sums, a, rs, opt);
	b.list = arena_new(a, struct list, rs->chains.n + 1);
	b.room = (struct test_room){ .code = &b.code, .sets = sets_collect(a, rs, d, opt->sets_expire), .hz = jiffies_per_second(opt),
				       .maps = map_lists_create(a) };
	b.emit = (struct emit){ .code = &b.code, .room = &b.room, .sums = &b.sums, .opt = opt };
	for (size_t i = 0; i < b.flat.lists.n; i++)
		emit_list(&b, b.flat.lists.v[i]);
	map_lists_emit(&b.room, &b.words, opt->engine, d);
	return d->n_errors == errors ? with_image(&b, write_tables(&b)) : NULL;
}

const struct tables_sum *tables_find_sum(const struct tables *t, uint32_t counter)
{
	size_t lo = 0, hi = t->n_sums;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->sum[mid].counter == counter)
			return &t->sum[mid];
		if (t->sum[mid].counter < counter)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}
