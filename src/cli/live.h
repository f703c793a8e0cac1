/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the verbs that talk to the kernel share: --instance, --netns, --bpffs, the lock, and refusals in words. */
#ifndef WEIR_CLI_LIVE_H
#define WEIR_CLI_LIVE_H

#include <jansson.h>

#include "cli/cli.h"
#include "kernel/active.h"

struct live {
	struct instance in;
	struct refusal why;
};

/* CLI_YES, or the status to end with, told already. */
int live_open(struct cli *c, struct live *l);
/* Waits for another writer, and says so on a terminal. */
int live_lock(struct cli *c, struct live *l);
/* Says what was refused. Returns CLI_REFUSED. */
int live_refused(struct cli *c, const struct live *l);
/* Rolls back a load that nobody confirmed in time, if its guardian is dead. Takes and returns the lock. */
int live_roll_back_expired(struct cli *c, struct live *l);
/* Reads "90", "90s", "15m", "1h"; 0 if it is none of these. */
unsigned live_seconds(const char *text);

/* Which rules these are: {loaded_at, serial, files}, as `weir list --json` says it. */
json_t *live_rules_json(struct cli *c, const struct info *info);

#endif
