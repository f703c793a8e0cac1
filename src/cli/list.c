/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `weir list`: the active rules with their counts, in the manner of iptables -vnL.
 *
 *     Chain INPUT (ip filter, at input priority 0, policy DROP 12 packets 720 bytes)
 *        packets      bytes  where           rule
 *              5        420  rules.v4:7      -i lo -j ACCEPT
 */
#include <errno.h>
#include <stdio.h>

#include "cli/live.h"
#include "cli/report.h"

static const struct info_point *point_of(const struct info *info, const struct info_chain *chain)
{
	for (size_t i = 0; i < info->points.n; i++)
		if (info->points.v[i].number == chain->point)
			return &info->points.v[i];
	return NULL;
}

static bool is_asked_for(const struct cli *c, const struct info_chain *chain)
{
	return !c->opt.given[OPTION_CHAIN] || str_is(chain->name, c->opt.text[OPTION_CHAIN]);
}

static struct str place_text(struct cli *c, const struct info *info, uint32_t file, uint32_t line, uint32_t expansion)
{
	struct str name = info->files.v[file].name;

	if (!line)
		return STR("-");
	for (size_t i = name.n; i > 0; i--)
		if (name.p[i - 1] == '/') {
			name = str_slice(name, i, name.n);
			break;
		}
	if (expansion)
		return arena_printf(c->run, "%.*s:%u:%u", STR_ARG(name), line, expansion);
	return arena_printf(c->run, "%.*s:%u", STR_ARG(name), line);
}

static void print_base_chain(const struct active *a, size_t i)
{
	const struct info_chain *chain = &a->info.chains.v[i];
	const struct info_point *point = point_of(&a->info, chain);

	if (point)
		printf(", at %s priority %d, policy %s %llu packets %llu bytes)\n", policy_hook_name(chain->hook),
		       point->priority, chain->policy == VERDICT_DROP ? "DROP" : "ACCEPT",
		       (unsigned long long)a->chain[i].packets, (unsigned long long)a->chain[i].bytes);
	else
		printf(", not attached, policy %s - packets - bytes)\n",
		       chain->policy == VERDICT_DROP ? "DROP" : "ACCEPT");
}

static void print_rule(struct cli *c, const struct active *a, size_t i)
{
	const struct info_rule *r = &a->info.rules.v[i];
	struct str place = place_text(c, &a->info, r->file, r->line, r->expansion);

	printf("%10llu %12llu  %-16.*s %.*s\n", (unsigned long long)a->rule[i].packets,
	       (unsigned long long)a->rule[i].bytes, STR_ARG(place), STR_ARG(r->text));
}

static bool is_shown(const struct cli *c, const struct active *a, size_t rule)
{
	return !c->opt.given[OPTION_ZERO] || a->rule[rule].packets == 0;
}

/* first: index of the chain's first rule; returns that of the next chain's. */
static size_t print_chain(struct cli *c, const struct active *a, size_t chain, size_t first, bool *any)
{
	const struct info_chain *ch = &a->info.chains.v[chain];
	size_t end = first;
	bool some = false;

	for (; end < a->info.rules.n && a->info.rules.v[end].chain == chain; end++)
		some = some || is_shown(c, a, end);
	if (!is_asked_for(c, ch) || (c->opt.given[OPTION_ZERO] && !some))
		return end;
	printf("%sChain %.*s (%s %.*s", *any ? "\n" : "", STR_ARG(ch->name), policy_family_name(ch->family),
	       STR_ARG(ch->table));
	*any = true;
	if (ch->hook != HOOK_NONE)
		print_base_chain(a, chain);
	else
		puts(")");
	if (some)
		printf("%10s %12s  %-16s %s\n", "packets", "bytes", "where", "rule");
	for (size_t i = first; i < end; i++)
		if (is_shown(c, a, i))
			print_rule(c, a, i);
	return end;
}

static uint64_t special_packets(const struct active *a, unsigned i)
{
	return a->special[i].packets + (i == DP_COUNTER_SLOT_MISSING ? a->missing : 0);
}

static void print_text(struct cli *c, const struct active *a)
{
	size_t first = 0;
	bool any = false;

	for (size_t i = 0; i < a->info.chains.n; i++)
		first = print_chain(c, a, i, first, &any);
	for (unsigned i = 0; i < DP_COUNTERS_SPECIAL; i++)
		if (active_special_text((enum dp_counter)i) && special_packets(a, i))
			printf("%s%llu %s\n", any ? "\n" : "", (unsigned long long)special_packets(a, i),
			       active_special_text((enum dp_counter)i));
	if (a->trial.is_there)
		printf("\non trial: `weir confirm` within %u s keeps these rules\n", a->trial.left_s);
}

/* ---------- JSON ---------- */

static void set_counts(json_t *j, struct counts_cell n)
{
	json_object_set_new(j, "packets", json_integer((json_int_t)n.packets));
	json_object_set_new(j, "bytes", json_integer((json_int_t)n.bytes));
}

static json_t *rule_json(struct cli *c, const struct active *a, size_t i)
{
	const struct info_rule *r = &a->info.rules.v[i];
	json_t *j = json_object();

	json_object_set_new(j, "rule", report_json_str(c->run, r->text));
	if (r->line) {
		json_object_set_new(j, "file", report_json_str(c->run, a->info.files.v[r->file].name));
		json_object_set_new(j, "line", json_integer(r->line));
	}
	if (r->expansion)
		json_object_set_new(j, "expansion", json_integer(r->expansion));
	if (r->comment.n)
		json_object_set_new(j, "comment", report_json_str(c->run, r->comment));
	json_object_set_new(j, "counter", json_integer(r->counter));
	set_counts(j, a->rule[i]);
	return j;
}

/* *first: index of the chain's first rule; becomes that of the next chain's. */
static json_t *chain_json(struct cli *c, const struct active *a, size_t i, size_t *first)
{
	const struct info_chain *ch = &a->info.chains.v[i];
	const struct info_point *point = point_of(&a->info, ch);
	json_t *j = json_object(), *rules = json_array();

	json_object_set_new(j, "family", json_string(policy_family_name(ch->family)));
	json_object_set_new(j, "table", report_json_str(c->run, ch->table));
	json_object_set_new(j, "chain", report_json_str(c->run, ch->name));
	if (ch->hook != HOOK_NONE) {
		json_object_set_new(j, "hook", json_string(policy_hook_name(ch->hook)));
		json_object_set_new(j, "policy", json_string(policy_verdict_name(ch->policy)));
		json_object_set_new(j, "attached", json_boolean(point != NULL));
	}
	if (point) {
		json_object_set_new(j, "priority", json_integer(point->priority));
		json_object_set_new(j, "priority_wanted", json_integer(point->wanted));
		set_counts(j, a->chain[i]);
	}
	for (; *first < a->info.rules.n && a->info.rules.v[*first].chain == i; ++*first)
		if (is_shown(c, a, *first))
			json_array_append_new(rules, rule_json(c, a, *first));
	json_object_set_new(j, "rules", rules);
	return j;
}

static void print_json(struct cli *c, const struct live *l, const struct active *a)
{
	json_t *j = json_object(), *files = json_array(), *chains = json_array(), *special = json_object();
	size_t first = 0;

	for (size_t i = 0; i < a->info.files.n; i++)
		json_array_append_new(files, report_json_str(c->run, a->info.files.v[i].name));
	for (size_t i = 0; i < a->info.chains.n; i++) {
		json_t *chain = chain_json(c, a, i, &first);

		if (is_asked_for(c, &a->info.chains.v[i]))
			json_array_append_new(chains, chain);
		else
			json_decref(chain);
	}
	for (unsigned i = 0; i < DP_COUNTERS_SPECIAL; i++)
		if (active_special_text((enum dp_counter)i))
			json_object_set_new(special, active_special_name((enum dp_counter)i),
					    json_integer((json_int_t)special_packets(a, i)));
	json_object_set_new(j, "instance", json_string(l->in.name));
	json_object_set_new(j, "netns_cookie", json_integer((json_int_t)l->in.cookie));
	json_object_set_new(j, "loaded_at", json_integer((json_int_t)a->info.loaded_at));
	json_object_set_new(j, "serial", json_integer(a->info.serial));
	json_object_set_new(j, "files", files);
	if (a->trial.is_there)
		json_object_set_new(j, "trial_seconds_left", json_integer(a->trial.left_s));
	json_object_set_new(j, "special", special);
	json_object_set_new(j, "chains", chains);
	report_json_print(j);
}

static int check_chain(struct cli *c, const struct info *info)
{
	const char **names = arena_new(c->run, const char *, info->chains.n + 1), *near;

	for (size_t i = 0; i < info->chains.n; i++) {
		if (is_asked_for(c, &info->chains.v[i]))
			return CLI_YES;
		names[i] = arena_cstr(c->run, info->chains.v[i].name);
	}
	near = str_nearest(str_from(c->opt.text[OPTION_CHAIN]), names, info->chains.n);
	return cli_fail(CLI_USAGE, "no chain '%s' is loaded%s%s%s", c->opt.text[OPTION_CHAIN],
			near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int list_verb(struct cli *c)
{
	struct active active;
	struct live l;
	int status = live_open(c, &l), err;

	if (!status)
		status = live_roll_back_expired(c, &l);
	if (status)
		return status;
	err = active_read(&l.in, &active, &l.why);
	if (err == -ENOENT) {
		if (c->opt.given[OPTION_JSON])
			puts("{}");
		else
			puts("no rules are loaded");
		return CLI_YES;
	}
	if (err)
		return live_refused(c, &l);
	if (c->opt.given[OPTION_CHAIN])
		status = check_chain(c, &active.info);
	if (status)
		return status;
	if (c->opt.given[OPTION_JSON])
		print_json(c, &l, &active);
	else
		print_text(c, &active);
	return CLI_YES;
}
