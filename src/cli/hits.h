/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counting what a capture did to the rules: hits of each rule and policy, verdicts, reasons of unknown ones. */
#ifndef WEIR_CLI_HITS_H
#define WEIR_CLI_HITS_H

#include <jansson.h>

#include "cli/cli.h"
#include "eval/eval.h"

struct hits_count {
	uint64_t packets, bytes;
};
struct hits_why {
	struct str text;
	uint64_t packets;
};
struct hits {
	const struct ruleset *rs;
	struct hits_count *rule;  /* by rule.id */
	struct hits_count *chain; /* policies, by chain.id */
	struct hits_count *counter; /* those with a name, by counter.id */
	struct hits_count verdict[VERDICT_STOLEN + 1]; /* NONE: unknown */
	struct hits_count all;
	uint64_t malformed, not_ip;
	VEC(struct hits_why) why;
};

void hits_init(struct arena *a, struct hits *h, const struct ruleset *rs);
/* bytes: of the IP packet, as the kernel counts. Time O(rules hit). */
void hits_add(struct arena *a, struct hits *h, const struct eval_result *r, bool is_ip, uint64_t bytes);
void hits_print(struct cli *c, const struct hits *h);
json_t *hits_json(struct cli *c, const struct hits *h);

#endif
