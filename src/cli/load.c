/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `weir load`: rules from files become what the kernel obeys; in place of all that was loaded before. */
#include "kernel/load.h"

#include <errno.h>
#include <stdio.h>

#include "cli/live.h"
#include "cli/load_json.h"
#include "cli/read.h"
#include "cli/report.h"
#include "cli/saved.h"
#include "classify/tables.h"
#include "kernel/conntrack.h"
#include "kernel/hooks.h"

static void print_kept_active(struct cli *c, struct live *l)
{
	struct active active;
	int err = active_read(&l->in, &active, &(struct refusal){ .a = c->run });

	if (err == 0)
		fprintf(stderr, "weir: nothing was changed: %.*s stay active\n",
			STR_ARG(active_name(c->run, &active.info)));
	else
		fprintf(stderr, "weir: nothing was changed%s\n", err == -ENOENT ? ": no rules are loaded" : "");
}

/* Errors of the rules. l: NULL where there is no BPF file system, so that nobody knows what stays active. */
static int print_errors(struct cli *c, struct live *l)
{
	struct active active;

	if (c->opt.given[OPTION_JSON]) {
		bool is_there = l && active_read(&l->in, &active, &(struct refusal){ .a = c->run }) == 0;

		load_json_refused(c, is_there ? &active.info : NULL);
		return CLI_ERRORS;
	}
	report_print(c, REPORT_ERRORS);
	if (l)
		print_kept_active(c, l);
	return CLI_ERRORS;
}

/* Errors in the rules must be told also where there is no BPF file system. */
static int refuse_rules(struct cli *c)
{
	struct live l = { .why = { .a = c->run } };
	struct instance_options o = { c->opt.text[OPTION_INSTANCE], c->opt.text[OPTION_NETNS],
				      c->opt.text[OPTION_BPFFS] };

	return print_errors(c, instance_open(c->run, &o, &l.in, &l.why) == 0 ? &l : NULL);
}

static void print_point(struct cli *c, const struct load_point *p, const struct hooks *all)
{
	struct buf chains = { .a = c->run };

	for (unsigned i = 0; i < p->rules->n_chains; i++)
		buf_printf(&chains, "%s%.*s/%.*s", i ? ", " : "", STR_ARG(p->rules->chain[i]->table),
			   STR_ARG(p->rules->chain[i]->name));
	printf("  %-3s %-11s %-28s priority %d", policy_family_name(p->got.family), policy_hook_name(p->got.hook),
	       chains.v, p->got.priority);
	if (p->got.priority != p->wanted.priority)
		printf(" (%d is held by %.*s)", p->wanted.priority,
		       STR_ARG(hooks_names_at(c->run, all, p->wanted)));
	printf("%s\n", p->is_new ? "" : " (as before)");
}

static void print_rule(const char *sign, const struct info *info, const struct info_rule *r)
{
	const struct info_chain *ch = &info->chains.v[r->chain];

	printf("  %s %s %.*s/%.*s %.*s:%u  %.*s\n", sign, policy_family_name(ch->family), STR_ARG(ch->table),
	       STR_ARG(ch->name), STR_ARG(info->files.v[r->file].name), r->line, STR_ARG(r->text));
}

/* Rules that would go and rules that would come, each with its place. */
static void print_changes(struct cli *c, const struct load_result *r)
{
	bool *is_kept = load_kept(c->run, r);

	for (size_t i = 0; i < r->before.rules.n; i++)
		if (!is_kept[r->before.rules.v[i].counter])
			print_rule("-", &r->before, &r->before.rules.v[i]);
	for (size_t i = 0; i < r->after.rules.n; i++)
		if (!r->after.rules.v[i].is_kept)
			print_rule("+", &r->after, &r->after.rules.v[i]);
}

static void print_detached(const struct load_result *r)
{
	for (size_t i = 0; i < r->before.points.n; i++) {
		bool stays = false;

		for (size_t k = 0; k < r->points.n; k++)
			stays = stays || r->points.v[k].number == r->before.points.v[i].number;
		for (size_t k = 0; k < r->before.chains.n && !stays; k++) {
			const struct info_chain *ch = &r->before.chains.v[k];

			if (ch->point != r->before.points.v[i].number)
				continue;
			printf("  %-3s %-11s %.*s/%.*s is attached no more\n", policy_family_name(ch->family),
			       policy_hook_name(ch->hook), STR_ARG(ch->table), STR_ARG(ch->name));
			break;
		}
	}
}

/* Sets whose elements came and went at run time: they go on so, or the file wins. */
static void print_sets(const struct load_result *r)
{
	for (size_t i = 0; i < r->sets.sets.n; i++) {
		const struct setload_set *s = &r->sets.sets.v[i];

		if (s->has_changes && s->fate == SETLOAD_KEPT)
			printf("  set %.*s goes on with what came and went since it was loaded\n", STR_ARG(s->set->name));
		else if (s->has_changes && s->fate == SETLOAD_REPLACED)
			printf("  set %.*s is declared in another way than before: what came and went since is gone\n",
			       STR_ARG(s->set->name));
	}
}

static void print_result(struct cli *c, struct live *l, const struct load_result *r, const struct hooks *all)
{
	printf("%s: %u rule%s, %u added, %u removed, %u kept\n", c->opt.given[OPTION_DRY_RUN] ? "would load" : "loaded",
	       r->n_rules, r->n_rules == 1 ? "" : "s", r->numbers.n_added, r->numbers.n_removed, r->numbers.n_kept);
	if (c->opt.given[OPTION_DRY_RUN])
		print_changes(c, r);
	for (size_t i = 0; i < r->points.n; i++)
		print_point(c, &r->points.v[i], all);
	print_detached(r);
	if (!r->points.n)
		puts("  nothing is attached: every chain is empty and accepts");
	print_sets(r);
	for (int f = 0; f < FAMILY_COUNT; f++)
		if (r->tracks[f])
			printf("  connections are tracked for these rules: nft table %s %.*s\n",
			       policy_family_name((enum family)f), STR_ARG(conntrack_table(&l->in)));
	if (c->opt.given[OPTION_DRY_RUN])
		puts("the kernel takes the programs; nothing was changed");
}

static void tell_end(void *arg, enum trial_end end, const struct refusal *why)
{
	struct cli *c = arg;

	if (end == TRIAL_ROLLED_BACK)
		fputs("\nweir: not confirmed in time: the rules before are back\n", stderr);
	if (end == TRIAL_FAILED)
		fprintf(stderr, "\nweir: not confirmed in time; cannot go back: %.*s", STR_ARG(refusal_text(c->run, why)));
}

static int finish(struct cli *c, struct live *l, const struct load_request *q, const struct load_result *r, int err)
{
	struct hooks all;

	if (r->rolled_back)
		fputs("weir: the last load was not confirmed in time and has been undone\n", stderr);
	if (err && c->diags.n_errors)
		return print_errors(c, l);
	if (!c->opt.given[OPTION_JSON])
		report_print(c, REPORT_ERRORS);
	if (err && r->is_active)
		fputs("weir: the new rules are active, but clearing up after them failed\n", stderr);
	if (err) {
		live_refused(c, l);
		if (!r->is_active)
			print_kept_active(c, l);
		return CLI_REFUSED;
	}
	hooks_list(c->run, &all);
	if (c->opt.given[OPTION_JSON]) {
		load_json_print(c, q, r, &all);
		return CLI_YES;
	}
	print_result(c, l, r, &all);
	if (q->confirm_s && !q->dry_run)
		printf("on trial for %u s: `weir confirm` keeps these rules; without it the rules before come back\n",
		       q->confirm_s);
	return CLI_YES;
}

static int load(struct cli *c, const struct load_request *q)
{
	struct load_result r;
	struct live l;
	int status = live_open(c, &l), err;

	if (!status)
		status = live_lock(c, &l);
	if (status)
		return status;
	fflush(stdout); /* the guardian shall not write it again */
	err = load_run(&l.in, q, &c->diags, &r, &l.why);
	instance_unlock(&l.in);
	return finish(c, &l, q, &r, err);
}

int load_verb(struct cli *c)
{
	struct load_request q = { .told = tell_end, .told_arg = c };
	struct rules rules;
	const char *confirm = c->opt.text[OPTION_CONFIRM];
	struct saved_args args;
	int status = saved_expand(c, &args);

	if (status)
		return status;
	if (c->opt.given[OPTION_CONFIRM]) {
		q.confirm_s = live_seconds(confirm);
		if (!q.confirm_s)
			return cli_usage(c, "--confirm %s is no time; write 30s or 5m", confirm);
	}
	q.reject_as_drop = c->opt.given[OPTION_REJECT_AS_DROP];
	q.malformed_accept = option_choice(&c->opt, OPTION_MALFORMED) == 1;
	q.dry_run = c->opt.given[OPTION_DRY_RUN];
	q.options = saved_options(c);
	status = read_rules(c, args.path, args.n, &rules);
	if (status == CLI_ERRORS)
		return refuse_rules(c);
	if (status)
		return status;
	q.rules = rules.set;
	status = load(c, &q);
	for (size_t i = 0; i < rules.lists.all.n && !status && !c->opt.given[OPTION_JSON]; i++)
		printf("  set %.*s: %.*s\n", STR_ARG(rules.lists.all.v[i].set->name),
		       STR_ARG(lists_text(c->run, &rules.lists.all.v[i])));
	return status;
}
