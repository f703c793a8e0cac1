/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `weir unload`: every rule of the instance stops, and nothing of it stays in the kernel. */
#include <errno.h>
#include <stdio.h>

#include "cli/live.h"
#include "kernel/tidy.h"

int unload_verb(struct cli *c)
{
	struct str name = STR("the left-overs of a load that did not end");
	struct active active;
	struct pins p;
	struct live l;
	int status = live_open(c, &l), err;

	if (!status)
		status = live_lock(c, &l);
	if (status)
		return status;
	err = pins_create(&l.in, &p, &l.why);
	if (!err && active_read(&l.in, &active, &(struct refusal){ .a = c->run }) == 0)
		name = active_name(c->run, &active.info);
	else if (!err && pins_word(&p) == 0)
		name = STR("");
	if (!err)
		trial_drop(&p);
	if (!err)
		err = tidy_unload(&p, &l.why);
	pins_close(&p);
	if (err) {
		instance_unlock(&l.in);
		return live_refused(c, &l);
	}
	instance_unlock(&l.in);
	if (name.n)
		printf("unloaded %.*s\n", STR_ARG(name));
	else
		puts("no rules were loaded");
	return CLI_YES;
}
