/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A load as JSON. See load_json.h. */
#include "cli/load_json.h"

#include "classify/tables.h"
#include "cli/live.h"
#include "cli/report.h"

static void put_chain(struct cli *c, json_t *j, const struct info_chain *ch)
{
	json_object_set_new(j, "family", json_string(policy_family_name(ch->family)));
	json_object_set_new(j, "table", report_json_str(c->run, ch->table));
	json_object_set_new(j, "chain", report_json_str(c->run, ch->name));
}

static json_t *point_json(struct cli *c, const struct load_point *p, const struct hooks *all)
{
	json_t *j = json_object(), *chains = json_array();

	for (unsigned i = 0; i < p->rules->n_chains; i++) {
		const struct chain *ch = p->rules->chain[i];
		json_t *one = json_object();

		json_object_set_new(one, "table", report_json_str(c->run, ch->table));
		json_object_set_new(one, "chain", report_json_str(c->run, ch->name));
		json_array_append_new(chains, one);
	}
	json_object_set_new(j, "family", json_string(policy_family_name(p->got.family)));
	json_object_set_new(j, "hook", json_string(policy_hook_name(p->got.hook)));
	json_object_set_new(j, "priority", json_integer(p->got.priority));
	json_object_set_new(j, "priority_wanted", json_integer(p->wanted.priority));
	if (p->got.priority != p->wanted.priority)
		json_object_set_new(j, "held_by", report_json_str(c->run, hooks_names_at(c->run, all, p->wanted)));
	json_object_set_new(j, "new", json_boolean(p->is_new));
	json_object_set_new(j, "chains", chains);
	return j;
}

static bool is_attached(const struct load_result *r, uint32_t number)
{
	for (size_t i = 0; i < r->points.n; i++)
		if (r->points.v[i].number == number)
			return true;
	return false;
}

/* Chains that hung at a hook before, where nothing of this instance is any more. */
static json_t *detached_json(struct cli *c, const struct load_result *r)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->before.chains.n; i++) {
		const struct info_chain *ch = &r->before.chains.v[i];
		json_t *j;

		if (ch->point == INFO_NO_POINT || is_attached(r, ch->point))
			continue;
		j = json_object();
		put_chain(c, j, ch);
		json_object_set_new(j, "hook", json_string(policy_hook_name(ch->hook)));
		json_array_append_new(all, j);
	}
	return all;
}

static void add_change(struct cli *c, json_t *all, const char *what, const struct info *info, const struct info_rule *r)
{
	json_t *j = json_object();

	json_object_set_new(j, "change", json_string(what));
	put_chain(c, j, &info->chains.v[r->chain]);
	json_object_set_new(j, "file", report_json_str(c->run, info->files.v[r->file].name));
	json_object_set_new(j, "line", json_integer(r->line));
	json_object_set_new(j, "rule", report_json_str(c->run, r->text));
	json_array_append_new(all, j);
}

static json_t *changes_json(struct cli *c, const struct load_result *r)
{
	bool *is_kept = load_kept(c->run, r);
	json_t *all = json_array();

	for (size_t i = 0; i < r->before.rules.n; i++)
		if (!is_kept[r->before.rules.v[i].counter])
			add_change(c, all, "removed", &r->before, &r->before.rules.v[i]);
	for (size_t i = 0; i < r->after.rules.n; i++)
		if (!r->after.rules.v[i].is_kept)
			add_change(c, all, "added", &r->after, &r->after.rules.v[i]);
	return all;
}

static json_t *sets_json(struct cli *c, const struct load_result *r)
{
	static const char *const fates[] = { [SETLOAD_NEW] = "new", [SETLOAD_KEPT] = "kept", [SETLOAD_REPLACED] = "replaced" };
	json_t *all = json_array();

	for (size_t i = 0; i < r->sets.sets.n; i++) {
		const struct setload_set *s = &r->sets.sets.v[i];
		json_t *j = json_object();

		json_object_set_new(j, "set", report_json_str(c->run, s->set->name));
		json_object_set_new(j, "fate", json_string(fates[s->fate]));
		json_object_set_new(j, "had_changes", json_boolean(s->has_changes));
		json_object_set_new(j, "declared_elements", json_integer((json_int_t)s->n_elems));
		json_array_append_new(all, j);
	}
	return all;
}

static void put_diagnostics(struct cli *c, json_t *j)
{
	json_object_set_new(j, "errors", json_integer(c->diags.n_errors));
	json_object_set_new(j, "warnings", json_integer(c->diags.n_warnings));
	json_object_set_new(j, "diagnostics", report_json(c));
}

void load_json_print(struct cli *c, const struct load_request *q, const struct load_result *r, const struct hooks *all)
{
	json_t *j = json_object(), *points = json_array(), *tracked = json_array();

	for (size_t i = 0; i < r->points.n; i++)
		json_array_append_new(points, point_json(c, &r->points.v[i], all));
	for (int f = 0; f < FAMILY_COUNT; f++)
		if (r->tracks[f])
			json_array_append_new(tracked, json_string(policy_family_name((enum family)f)));
	json_object_set_new(j, "loaded", json_boolean(!q->dry_run));
	json_object_set_new(j, "rules", json_integer(r->n_rules));
	json_object_set_new(j, "added", json_integer(r->numbers.n_added));
	json_object_set_new(j, "removed", json_integer(r->numbers.n_removed));
	json_object_set_new(j, "kept", json_integer(r->numbers.n_kept));
	if (q->dry_run)
		json_object_set_new(j, "changes", changes_json(c, r));
	else if (q->confirm_s)
		json_object_set_new(j, "trial_seconds_left", json_integer(q->confirm_s));
	json_object_set_new(j, "hooks", points);
	json_object_set_new(j, "detached", detached_json(c, r));
	json_object_set_new(j, "tracked", tracked);
	json_object_set_new(j, "sets", sets_json(c, r));
	put_diagnostics(c, j);
	report_json_print(j);
}

void load_json_refused(struct cli *c, const struct info *active)
{
	json_t *j = json_object();

	json_object_set_new(j, "loaded", json_false());
	if (active)
		json_object_set_new(j, "active", live_rules_json(c, active));
	put_diagnostics(c, j);
	report_json_print(j);
}
