/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `weir unload`: every rule of the instance stops, and nothing of it stays in the kernel. */
#include <errno.h>
#include <stdio.h>

#include "cli/live.h"
#include "cli/report.h"
#include "kernel/tidy.h"

/* name: of the rules, or of what was left of a load; empty: there was nothing. info: of the rules, or NULL. */
static void print_end(struct cli *c, struct str name, const struct info *info)
{
	json_t *j;

	if (!c->opt.given[OPTION_JSON]) {
		if (name.n)
			printf("unloaded %.*s\n", STR_ARG(name));
		else
			puts("no rules were loaded");
		return;
	}
	j = json_object();
	json_object_set_new(j, "unloaded", json_boolean(name.n > 0));
	if (info)
		json_object_set_new(j, "rules", live_rules_json(c, info));
	report_json_print(j);
}

int unload_verb(struct cli *c)
{
	struct str name = STR("the left-overs of a load that did not end");
	struct active active;
	const struct info *info = NULL;
	struct pins p;
	struct live l;
	int status = live_open(c, &l), err;

	if (!status)
		status = live_lock(c, &l);
	if (status)
		return status;
	err = pins_create(&l.in, &p, &l.why);
	if (!err && active_read(&l.in, &active, &(struct refusal){ .a = c->run }) == 0) {
		info = &active.info;
		name = active_name(c->run, info);
	} else if (!err && pins_word(&p) == 0) {
		name = STR("");
	}
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
	print_end(c, name, info);
	return CLI_YES;
}
