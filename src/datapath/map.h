/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps: a list of their own that is called from within a rule and ends there (tables/code.h). The place to come back to is
 * the instruction that called, because it says where who is in the map goes on, where who is not, and which counter counts.
 */
#ifndef WEIR_DATAPATH_MAP_H
#define WEIR_DATAPATH_MAP_H

static __always_inline u32 dp_map_enter(struct dp_key *k, u32 pc, u64 target)
{
	u32 d = k->depth;

	if (d >= DP_MAX_DEPTH)
		return DP_PC_NONE;
	k->ret[d & (DP_MAX_DEPTH - 1)] = pc;
	k->depth = d + 1;
	return (u32)target;
}

/* Where the END at pc leads. Not inlined: the stack is short where it is called. */
DP_GLOBAL u32 dp_map_end(struct dp_key *k, u32 pc)
{
	const u64 *t = dp_map(&dp_table), *i;
	u32 d, from, end;

	if (!k || !t)
		return DP_PC_NONE;
	end = dp_insn(k, t, pc)[0] >> 8 & 0xff;
	d = k->depth - 1;
	if (d >= DP_MAX_DEPTH)
		return DP_PC_NONE;
	from = k->ret[d & (DP_MAX_DEPTH - 1)];
	i = dp_insn(k, t, from);
	if (end != DP_END_NO)
		dp_count_add(k, i[1]);
	if (end == DP_END_STAY)
		k->ret[d & (DP_MAX_DEPTH - 1)] = from + dp_jump(i[0], false);
	else
		k->depth = d;
	if (end >= DP_END_LEAVE)
		return pc + 1;
	return from + dp_jump(i[0], end == DP_END_YES);
}

#endif
