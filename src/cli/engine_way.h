/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the two engines that run compiled tables share: the tables, and the way of a packet through their points. */
#ifndef WEIR_CLI_ENGINE_WAY_H
#define WEIR_CLI_ENGINE_WAY_H

#include "classify/tables.h"
#include "cli/engine.h"
#include "tables/format.h"

enum { ENGINE_HZ = 1000, ENGINE_START = 1000000 }; /* jiffies: in a second; at the start */

struct engine_tables {
	const struct ruleset *rs;
	const struct tables *tables;
	struct eval_options opt;
	bool has_started;
	int64_t start_ns, now_ns;
};

/* Compiles for a test run. False: *skip says why not. */
bool engine_tables_build(struct arena *a, const struct ruleset *rs, const struct eval_options *opt,
			 struct engine_tables *out, struct str *skip);
/*
 * The positions (enum dp_position) that a packet passes, in order; as the evaluator sees it, its interfaces tell, or
 * the hook that was said. Returns how many; 0 with nothing said. positions has room for DP_POSITION_COUNT.
 */
unsigned engine_way(const struct engine_tables *e, const struct packet *p, unsigned *positions);
/* The packet as programs at this position meet it: nothing has tracked its connection at raw. */
struct packet engine_packet_at(const struct engine_tables *e, const struct packet *p, unsigned position);
uint64_t engine_now(struct engine_tables *e, const struct packet *p); /* jiffies */
uint32_t engine_counters(const struct engine_tables *e); /* how many there are */
/*
 * The rules of a counter, *n of them, in order; none: *policy is the chain whose policy it counts, or NULL: a special
 * counter.
 */
const struct rule *const *engine_counter(const struct engine_tables *e, uint32_t counter, size_t *n, const struct chain **policy);

#endif
