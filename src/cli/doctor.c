/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `weir doctor`: findings as lines. Exit status 3 if something is bad. */
#include "kernel/doctor.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/live.h"
#include "cli/report.h"

static const char *const state_names[] = { "good", "note", "BAD" };

static void print_text(struct cli *c, const struct doctor *d)
{
	static const char *const color[] = { "\033[32m", "\033[33m", "\033[1;31m" };

	for (size_t i = 0; i < d->all.n; i++) {
		const struct doctor_finding *f = &d->all.v[i];

		printf("%s%-4s%s  %.*s: %.*s%s\n", c->color_out ? color[f->state] : "", state_names[f->state],
		       c->color_out ? "\033[0m" : "", STR_ARG(f->what), STR_ARG(f->text),
		       f->is_repaired ? " (repaired)" : "");
		if (f->help.n && !f->is_repaired)
			printf("        %.*s\n", STR_ARG(f->help));
	}
	if (d->n_bad)
		printf("%u of %zu are bad\n", d->n_bad, d->all.n);
	else
		printf("all %zu are well\n", d->all.n);
}

static void print_json(struct cli *c, const struct doctor *d)
{
	json_t *all = json_array();

	for (size_t i = 0; i < d->all.n; i++) {
		const struct doctor_finding *f = &d->all.v[i];
		json_t *j = json_object();

		json_object_set_new(j, "state", json_string(f->state == DOCTOR_BAD ? "bad" : state_names[f->state]));
		json_object_set_new(j, "what", report_json_str(c->run, f->what));
		json_object_set_new(j, "text", report_json_str(c->run, f->text));
		if (f->help.n)
			json_object_set_new(j, "help", report_json_str(c->run, f->help));
		json_object_set_new(j, "repaired", json_boolean(f->is_repaired));
		json_array_append_new(all, j);
	}
	report_json_print(all);
}

int doctor_verb(struct cli *c)
{
	struct instance_options o = { c->opt.text[OPTION_INSTANCE], c->opt.text[OPTION_NETNS],
				      c->opt.text[OPTION_BPFFS] };
	struct live l = { .why = { .a = c->run } };
	struct doctor d = { .a = c->run };
	bool repair = c->opt.given[OPTION_REPAIR], is_open;
	int status = CLI_YES;

	is_open = instance_open(c->run, &o, &l.in, &l.why) == 0;
	if (!is_open && !l.in.dir)
		return live_refused(c, &l);
	doctor_kernel(&d, &l.in);
	if (is_open) {
		if (repair)
			status = live_lock(c, &l);
		if (status)
			return status;
		doctor_instance(&d, &l.in, repair);
		doctor_stale(&d, &l.in, repair);
		instance_unlock(&l.in);
	}
	if (c->opt.given[OPTION_JSON])
		print_json(c, &d);
	else
		print_text(c, &d);
	return d.n_bad ? CLI_REFUSED : CLI_YES;
}
