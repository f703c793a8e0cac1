/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The door from verbs to instances. See live.h. */
#include "cli/live.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/report.h"

int live_refused(struct cli *c, const struct live *l)
{
	struct str text = refusal_text(c->run, &l->why);

	fflush(stdout);
	fprintf(stderr, "weir: %.*s", STR_ARG(text));
	return CLI_REFUSED;
}

int live_open(struct cli *c, struct live *l)
{
	struct instance_options o = { c->opt.text[OPTION_INSTANCE], c->opt.text[OPTION_NETNS],
				      c->opt.text[OPTION_BPFFS] };

	*l = (struct live){ .why = { .a = c->run } };
	return instance_open(c->run, &o, &l->in, &l->why) ? live_refused(c, l) : CLI_YES;
}

int live_lock(struct cli *c, struct live *l)
{
	int holder = 0, err = instance_lock(&l->in, false, &holder, &l->why);

	if (err == -EWOULDBLOCK) {
		if (isatty(STDERR_FILENO)) {
			fprintf(stderr, "weir: waiting for another weir");
			fprintf(stderr, holder ? " (process %d)\n" : "\n", holder);
		}
		err = instance_lock(&l->in, true, NULL, &l->why);
	}
	return err ? live_refused(c, l) : CLI_YES;
}

static int roll_back(struct cli *c, struct live *l)
{
	struct pins p;
	bool rolled_back = false;
	int err = pins_open(&l->in, &p, &l->why);

	if (!err)
		err = trial_resolve(&p, &rolled_back, &l->why);
	pins_close(&p);
	if (rolled_back)
		fputs("weir: the last load was not confirmed in time: the rules before it are back\n", stderr);
	if (err == -EBUSY || err == -ENOENT) { /* still waiting, or gone: both are well */
		l->why = (struct refusal){ .a = c->run };
		err = 0;
	}
	return err ? live_refused(c, l) : CLI_YES;
}

int live_roll_back_expired(struct cli *c, struct live *l)
{
	struct trial t = { 0 };
	struct pins p;
	int status;

	if (pins_open(&l->in, &p, &l->why) == 0)
		trial_look(&p, &t);
	pins_close(&p);
	if (!t.is_expired)
		return CLI_YES;
	status = live_lock(c, l);
	if (!status)
		status = roll_back(c, l);
	instance_unlock(&l->in);
	return status;
}

json_t *live_rules_json(struct cli *c, const struct info *info)
{
	json_t *j = json_object(), *files = json_array();

	for (size_t i = 0; i < info->files.n; i++)
		json_array_append_new(files, report_json_str(c->run, info->files.v[i].name));
	json_object_set_new(j, "loaded_at", json_integer((json_int_t)info->loaded_at));
	json_object_set_new(j, "serial", json_integer(info->serial));
	json_object_set_new(j, "files", files);
	return j;
}

unsigned live_seconds(const char *text)
{
	struct str s = str_from(text);
	uint64_t n, unit = 1;

	if (s.n && (s.p[s.n - 1] == 's' || s.p[s.n - 1] == 'm' || s.p[s.n - 1] == 'h')) {
		unit = s.p[s.n - 1] == 's' ? 1 : s.p[s.n - 1] == 'm' ? 60 : 3600;
		s = str_slice(s, 0, s.n - 1);
	}
	return str_u64(s, 10, 86400, &n) ? (unsigned)(n * unit) : 0;
}
