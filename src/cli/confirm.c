/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `weir confirm`: the rules that are on trial stay; with --no they go at once. */
#include <errno.h>
#include <stdio.h>

#include "cli/live.h"
#include "cli/report.h"

static void print_end(struct cli *c, bool no, const struct info *info, struct str name)
{
	json_t *j;

	if (!c->opt.given[OPTION_JSON]) {
		printf(no ? "went back from %.*s\n" : "confirmed: %.*s stay\n", STR_ARG(name));
		return;
	}
	j = json_object();
	json_object_set_new(j, "confirmed", json_boolean(!no));
	json_object_set_new(j, "rules", live_rules_json(c, info));
	report_json_print(j);
}

static int decide(struct cli *c, struct live *l, struct pins *p)
{
	bool no = c->opt.given[OPTION_NO];
	struct str name;
	struct active active;
	struct trial t;
	int err;

	trial_look(p, &t);
	if (!t.is_there)
		return cli_fail(CLI_REFUSED, "no load waits for its confirmation");
	err = active_read(&l->in, &active, &l->why);
	if (err)
		return live_refused(c, l);
	name = active_name(c->run, &active.info);
	err = no || t.is_expired ? trial_roll_back(p, &l->why) : trial_confirm(p, &l->why);
	if (err)
		return live_refused(c, l);
	if (t.is_expired && !no)
		return cli_fail(CLI_REFUSED, "too late: the time of %.*s was up, the rules before are back", STR_ARG(name));
	print_end(c, no, &active.info, name);
	return CLI_YES;
}

int confirm_verb(struct cli *c)
{
	struct pins p;
	struct live l;
	int status = live_open(c, &l), err;

	if (!status)
		status = live_lock(c, &l);
	if (status)
		return status;
	err = pins_open(&l.in, &p, &l.why);
	if (err == -ENOENT)
		status = cli_fail(CLI_REFUSED, "no load waits for its confirmation");
	else
		status = err ? live_refused(c, &l) : decide(c, &l, &p);
	pins_close(&p);
	instance_unlock(&l.in);
	return status;
}
