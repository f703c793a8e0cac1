/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Run: the tables judge a key.
 *
 * dp_scan() is the look-up: from an instruction on, the first that is not a plain test; so, given the first test of a
 * rule, the body of the first rule from there on whose guard holds. dp_run() does what that body says and goes on:
 *
 *     scan -> body of rule 3: count; its end -> scan from rule 4 -> body of rule 9: call -> scan in the chain ...
 *
 * In lists with tables of their own dp_lookup() leads past the rules that cannot match (lookup.h). Where that is all there is
 * to do, from the head of the first base chain to its verdict, dp_run_short() does it without calls; what is more is for
 * dp_run_long(), from where the former came.
 *
 * The bounds are the builder's promise (tables/code.h). One that is met all the same drops the packet and says so in a
 * counter of its own: a table is judged whole or not at all.
 */
#ifndef WEIR_DATAPATH_RUN_H
#define WEIR_DATAPATH_RUN_H

#define DP_PC_NONE 0xffffffffu
enum { DP_UNROLL = 8, DP_RUN_LONG = 2 };

static __always_inline u32 dp_jump(u64 head, bool is_true)
{
	return (u32)(is_true ? head >> 16 : head >> 40) & (u32)DP_JUMP_MAX;
}

static __always_inline const u64 *dp_insn(const struct dp_key *k, const u64 *t, u32 pc)
{
	return t + ((k->base + 4 * (u64)pc) & dp_c.table_mask);
}

/* The first instruction of a point, whose first word is special. */
static __always_inline const u64 *dp_point(const struct dp_key *k, const u64 *t, u32 point)
{
	return t + ((k->base + DP_POINT_WORDS * (u64)point) & dp_c.table_mask);
}

/* How far a test goes on; 0: the instruction is not a test. */
static __always_inline u32 dp_step(const u64 *t, const struct dp_key *k, u32 pc)
{
	const u64 *i = dp_insn(k, t, pc);
	u64 head = i[0], word;

	if (head & 0xff)
		return 0;
	word = head >> 8 & 31;
	if (word >= DP_KEY_WORDS)
		return 0;
	return dp_jump(head, (k->w[word] & i[1]) - i[2] <= i[3]);
}

/* The first instruction from pc on that is not a test, or DP_PC_NONE: a bound was met. */
DP_GLOBAL u32 dp_scan(const struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table);
	struct dp_iter it;
	u32 d = 1;

	if (!k || !t)
		return DP_PC_NONE;
	dp_iter_start(&it, DP_MAX_SCAN / DP_UNROLL);
	while (d && dp_iter_next(&it))
		for (u32 j = 0; j < DP_UNROLL; j++) {
			d = dp_step(t, k, pc);
			if (!d)
				break;
			pc += d;
		}
	dp_iter_end(&it);
	return d ? DP_PC_NONE : pc;
}

static __always_inline void dp_add(u64 *counter, u64 n)
{
	if (dp_c.count_atomic)
		__sync_fetch_and_add(counter, n);
	else
		*counter += n;
}

static __always_inline void dp_count_add(const struct dp_key *k, u64 counter)
{
	u64 *c = dp_map(&dp_count), at;

	if (!c || counter >= DP_NO_COUNTER)
		return;
	dp_counted(counter);
	at = (((u64)dp_cpu() << dp_c.counters_log2) + counter) & dp_c.counter_mask;
	dp_add(c + 2 * at, 1);
	dp_add(c + 2 * at + 1, k->bytes);
}

DP_GLOBAL int dp_log_event(DP_CTX *ctx, const struct dp_key *k, u32 counter);

#include "datapath/bytes.h"
#include "datapath/lookup.h"
#include "datapath/payload.h"
#include "datapath/sets.h"
#include "datapath/state.h"
#include "datapath/tcpopt.h"

/* Begins the next base chain of the point: its first instruction, or DP_PC_NONE: there is none. */
static __always_inline u32 dp_chain_next(struct dp_key *k, const u64 *t, u64 root)
{
	u64 n = t[root & dp_c.table_mask];

	k->depth = 0;
	if (k->chain >= n)
		return DP_PC_NONE;
	k->chain++;
	return (u32)(t[(root + k->chain) & dp_c.table_mask] >> 32);
}

/* Comes back from a chain; from a base chain to its policy. */
static __always_inline u32 dp_return(struct dp_key *k, const u64 *t, u64 root)
{
	u32 d = k->depth - 1;

	if (d >= DP_MAX_DEPTH)
		return (u32)t[(root + k->chain) & dp_c.table_mask];
	k->depth = d;
	return k->ret[d & (DP_MAX_DEPTH - 1)];
}

static __always_inline u32 dp_call(struct dp_key *k, u32 pc, u64 target)
{
	u32 d = k->depth;

	if (d >= DP_MAX_DEPTH)
		return DP_PC_NONE;
	k->ret[d & (DP_MAX_DEPTH - 1)] = pc + 1;
	k->depth = d + 1;
	return (u32)target;
}

#include "datapath/map.h"

/* How far a test that is no compare goes on; 0: it is to be asked again (sets), or it is none. */
static __always_inline u32 dp_ask(DP_CTX *ctx, struct dp_key *k, u32 pc, u64 head)
{
	u32 op = head & 0xff;

	if (op == DP_OP_SET && (dp_c.features & DP_F_SET))
		return dp_set_step(k, pc);
	if ((op == DP_OP_TCPOPT || op == DP_OP_TCPMSS) && (dp_c.features & DP_F_TCPOPT))
		return dp_jump(head, dp_tcpopt_test(ctx, k, pc));
	if (op == DP_OP_U32 && (dp_c.features & DP_F_BYTES))
		return dp_jump(head, dp_u32_test(ctx, k, pc));
	if (op == DP_OP_STRING && (dp_c.features & DP_F_BYTES))
		return dp_jump(head, dp_string_test(ctx, k, pc));
	if (op == DP_OP_TAKE && (dp_c.features & DP_F_SET))
		return dp_jump(head, dp_set_take(k, pc));
	if (op == DP_OP_PAYLOAD && (dp_c.features & DP_F_PAYLOAD))
		return dp_jump(head, dp_payload(ctx, k, pc));
	if (op >= DP_OP_LIMIT && op <= DP_OP_QUOTA && (dp_c.features & DP_F_STATE))
		return dp_jump(head, dp_state_test(k, pc));
	return 0;
}

/* An effect; the run goes on behind it. */
static __always_inline void dp_effect(DP_CTX *ctx, struct dp_key *k, const u64 *i)
{
	u64 mark = k->w[DP_W_MARK];
	u32 op = i[0] & 0xff;

	if (op == DP_OP_MARK)
		k->w[DP_W_MARK] = (mark & i[1]) ^ i[2];
	else if (op == DP_OP_RESTORE_MARK)
		k->w[DP_W_MARK] = (mark & i[1]) ^ (mark >> 32 & i[2]);
	else if (op == DP_OP_LOG && (dp_c.features & DP_F_LOG))
		dp_log_event(ctx, k, (u32)i[1]);
}

/* Where a base chain's end leads, as dp_verdict(). */
static __always_inline u32 dp_judged(struct dp_key *k, const u64 *t, u64 root, bool accepts, int *verdict)
{
	u32 pc = accepts ? dp_chain_next(k, t, root) : DP_PC_NONE;

	if (pc == DP_PC_NONE)
		*verdict = accepts ? DP_VERDICT_ACCEPT : DP_VERDICT_DROP;
	return pc;
}

/* Where a verdict leads: the next pc, or DP_PC_NONE with *verdict set, or without: a bound was met. */
static __always_inline u32 dp_verdict(struct dp_key *k, const u64 *t, u64 root, u32 pc, int *verdict)
{
	const u64 *i = dp_insn(k, t, pc);
	u32 op = i[0] & 0xff;

	if ((dp_c.features & DP_F_MAP) && op == DP_OP_MAP)
		return dp_map_enter(k, pc, i[2]);
	if ((dp_c.features & DP_F_MAP) && op == DP_OP_END)
		return dp_map_end(k, pc);
	dp_count_add(k, i[1]);
	if (op == DP_OP_RETURN)
		return dp_return(k, t, root);
	if (op == DP_OP_CALL)
		return dp_call(k, pc, i[2]);
	if (op == DP_OP_GOTO)
		return (u32)i[2];
	if (op == DP_OP_COUNT)
		return pc + dp_jump(i[0], true);
	return dp_judged(k, t, root, op == DP_OP_ACCEPT, verdict);
}

/* Where an answer to the LOOKUP i says to go on. */
static __always_inline u32 dp_result_pc(const struct dp_key *k, const u64 *t, const u64 *i, u64 result)
{
	return (u32)t[(k->base + (u32)i[3]) & dp_c.table_mask] + DP_RESULT_VALUE(result);
}

/* What an answer to the LOOKUP i wants, as dp_verdict(). */
static __always_inline u32 dp_result(struct dp_key *k, const u64 *t, u64 root, const u64 *i, u64 result, int *verdict)
{
	u32 kind = DP_RESULT_KIND(result);

	if (kind == DP_RESULT_RUN)
		return dp_result_pc(k, t, i, result);
	if (kind != DP_RESULT_ACCEPT && kind != DP_RESULT_DROP)
		return DP_PC_NONE;
	dp_count_add(k, DP_RESULT_VALUE(result));
	return dp_judged(k, t, root, kind == DP_RESULT_ACCEPT, verdict);
}

/* Where a run goes on behind k->result: NONE, at its head; RUN; ACCEPT, that was the first chain. */
static __always_inline u32 dp_run_from(struct dp_key *k, const u64 *t, u64 root, const u64 *point)
{
	u64 result = k->result;
	u32 pc;

	k->chain = 0;
	k->sets = 0;
	pc = dp_chain_next(k, t, root);
	if (result == DP_RESULT_NONE)
		return pc;
	return DP_RESULT_KIND(result) == DP_RESULT_RUN ? dp_result_pc(k, t, point, result) : dp_chain_next(k, t, root);
}

/* What dp_run_short() left of a run: DP_VERDICT_*. */
DP_GLOBAL int dp_run_long(DP_CTX *ctx, struct dp_key *k, u32 point)
{
	const u64 *t = dp_map(&dp_table), *i;
	struct dp_iter it;
	int verdict = -1;
	u64 root;
	u32 pc;

	if (!k || !t)
		return DP_VERDICT_DROP;
	i = dp_point(k, t, point);
	if (!i[0])
		return DP_VERDICT_ACCEPT;
	root = k->base + DP_POINT_ROOT(i[0]);
	pc = dp_run_from(k, t, root, i);
	dp_iter_start(&it, DP_MAX_STEPS);
	while (pc != DP_PC_NONE && dp_iter_next(&it)) {
		i = dp_insn(k, t, pc);
		if ((i[0] & 0xff) == DP_OP_TEST) {
			pc = dp_scan(k, pc);
			if (pc == DP_PC_NONE)
				break;
			i = dp_insn(k, t, pc);
		}
		if ((i[0] & 0xff) == DP_OP_LOOKUP && (dp_c.features & DP_F_LOOKUP)) {
			pc = dp_lookup_is_blind(k, i) ? pc + 1 : dp_result(k, t, root, i, dp_lookup(k, i, pc), &verdict);
		} else if ((i[0] & 0xff) <= DP_OP_COUNT) {
			pc = dp_verdict(k, t, root, pc, &verdict);
		} else if ((i[0] & 0xff) <= DP_OP_LOG) {
			dp_effect(ctx, k, i);
			pc++;
		} else if ((i[0] & 0xff) == DP_OP_TUPLE && (dp_c.features & DP_F_MAP)) {
			pc = dp_map_enter(k, pc, i[2]);
		} else {
			pc += dp_ask(ctx, k, pc, i[0]);
		}
	}
	dp_iter_end(&it);
	if (verdict >= 0)
		return verdict;
	dp_count_add(k, DP_COUNTER_BOUND);
	return DP_VERDICT_DROP;
}

/* DP_VERDICT_*. No branch: whether a packet is let pass is what cannot be foretold. */
static __always_inline int dp_is_accept(u64 result)
{
	_Static_assert(DP_VERDICT_DROP == 0 && DP_VERDICT_ACCEPT == 1, "a bit");
	_Static_assert(DP_RESULT_ACCEPT == 1 && DP_RESULT_DROP == 2, "whose lower bit it is");
	return DP_RESULT_KIND(result) & 1;
}

/*
 * Judges by the lookup at the head of the point's first base chain, if there is one and nothing else to do: DP_VERDICT_*; else
 * DP_RUN_LONG, and k->result is the answer.
 */
DP_GLOBAL int dp_run_short(struct dp_key *k, u32 point)
{
	const u64 *t = dp_map(&dp_table), *i;
	u64 result;

	if (!k || !t)
		return DP_VERDICT_DROP;
	i = dp_point(k, t, point);
	if (!i[0])
		return DP_VERDICT_ACCEPT;
	k->result = DP_RESULT_NONE;
	if ((i[0] & 0xff) != DP_OP_LOOKUP || dp_lookup_is_blind(k, i))
		return DP_RUN_LONG;
	result = dp_lookup_short(k, t, i, dp_is_ip6(point >= DP_POINTS_PER_FAMILY));
	if (DP_RESULT_KIND(result) - DP_RESULT_ACCEPT <= DP_RESULT_DROP - DP_RESULT_ACCEPT) {
		dp_count_add(k, DP_RESULT_VALUE(result));
		if (DP_POINT_CHAINS(i[0]) == 1)
			return dp_is_accept(result);
		if (DP_RESULT_KIND(result) == DP_RESULT_DROP)
			return DP_VERDICT_DROP;
	}
	k->result = result;
	return DP_RUN_LONG;
}

/* Judges the key at the point of this program (plus the family): DP_VERDICT_*. Without lookups there is no short way to try. */
static __always_inline int dp_run(DP_CTX *ctx, struct dp_key *k, u32 point)
{
	int verdict = DP_RUN_LONG;

	k->result = DP_RESULT_NONE;
	if (dp_c.features & DP_F_LOOKUP)
		verdict = dp_run_short(k, point);
	return verdict == DP_RUN_LONG ? dp_run_long(ctx, k, point) : verdict;
}

#endif
