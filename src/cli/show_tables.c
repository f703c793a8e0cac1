/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables as a report, and graphs as graphviz text. See show.h. */
#include "cli/show.h"

#include <inttypes.h>
#include <stdio.h>

#include "classify/inspect.h"
#include "cli/answer.h"
#include "cli/report.h"

static const char *const engine_names[] = { "", "scan", "graph", "classes" };

struct show {
	struct cli *c;
	const struct ruleset *rs;
	const struct tables *t;
	const struct inspect_list *inspect; /* beside t->list */
	uint8_t *reached;	     /* by chain.id: from the point at hand */
	VEC(const struct chain *) way; /* the chains that it reaches, callers first */
};

static const char *why_of(const struct tables_list *l)
{
	return l->why ? l->why : "cheaper than a scan";
}

/* ---------- which chains ---------- */

/* Gotos and calls lead at most through every chain once. */
static void reach(struct show *s, const struct chain *from)
{
	if (s->reached[from->id])
		return;
	s->reached[from->id] = 1;
	*vec_add(s->c->run, &s->way) = from;
	for (size_t next = s->way.n - 1; next < s->way.n; next++) {
		const struct chain *ch = s->way.v[next];

		for (size_t i = 0; i < ch->rules.n; i++) {
			const struct rule *r = ch->rules.v[i];
			const struct step *x = r->n_steps ? &r->step[r->n_steps - 1] : NULL;

			if (!x || x->kind != STEP_VERDICT || !x->v.chain || s->reached[x->v.chain->id])
				continue;
			s->reached[x->v.chain->id] = 1;
			*vec_add(s->c->run, &s->way) = x->v.chain;
		}
	}
}

static void reach_point(struct show *s, const struct tables_point *p)
{
	memset(s->reached, 0, s->rs->chains.n);
	s->way.n = 0;
	for (unsigned i = 0; i < p->n_chains; i++)
		reach(s, p->chain[i]);
}

static const struct inspect_list *inspect_of(const struct show *s, const struct tables_list *l)
{
	return &s->inspect[l - s->t->list];
}

/* ---------- for people ---------- */

/* Rules of the list that no packet comes to. */
static size_t count_unused(const struct tables_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->chain->rules.n; i++)
		n += l->fate[i].kind != TABLES_FATE_USED;
	return n;
}

static void print_list(const struct show *s, const struct tables_list *l, int width)
{
	const struct inspect_list *i = inspect_of(s, l);

	printf("  %-*.*s  %-6s %6zu %6zu %8zu %8zu %7" PRIu64 " %9.1f  %s\n", width, STR_ARG(answer_chain(s->c, l->chain)),
	       engine_names[l->engine], l->chain->rules.n, count_unused(l), i->code_bytes, i->lookup_bytes, i->worst, i->expected,
	       why_of(l));
}

static struct str reason_of_fate(struct cli *c, const struct tables_list *l, size_t i)
{
	const char *kept = l->fate[i].is_kept ? ", but asks about connections first and stays" : "";

	if (l->fate[i].kind == TABLES_FATE_NEVER)
		return arena_printf(c->run, "it contradicts itself%s", kept);
	return arena_printf(c->run, "all that it could match ends at %.*s%s",
			    STR_ARG(answer_place(c, l->fate[i].by)), kept);
}

static void print_unused(const struct show *s)
{
	bool any = false;

	for (size_t k = 0; k < s->t->n_lists; k++) {
		const struct tables_list *l = &s->t->list[k];

		for (size_t i = 0; i < l->chain->rules.n && show_is_asked_for(s->c, l->chain); i++) {
			const struct rule *r = l->chain->rules.v[i];

			if (l->fate[i].kind == TABLES_FATE_USED)
				continue;
			if (!any)
				puts("rules that no packet comes to:");
			any = true;
			printf("  %.*s  %.*s  # %.*s\n", STR_ARG(answer_place(s->c, r)), STR_ARG(report_clean(s->c->run, r->text)),
			       STR_ARG(reason_of_fate(s->c, l, i)));
		}
	}
}

/* Calls that are not there any more, because the chain's rules stand in their place. */
static void print_inlined(const struct show *s)
{
	bool any = false;

	for (size_t k = 0; k < s->t->n_lists; k++) {
		const struct tables_list *l = &s->t->list[k];

		for (size_t i = 0; i < l->n_inlined && show_is_asked_for(s->c, l->chain); i++) {
			const struct rule *r = l->inlined[i];

			if (!any)
				puts("calls that are rules of the chain itself:");
			any = true;
			printf("  %.*s  %.*s\n", STR_ARG(answer_place(s->c, r)), STR_ARG(report_clean(s->c->run, r->text)));
		}
	}
}

static void print_point(struct show *s, const struct tables_point *p)
{
	int width = (int)strlen("chain");
	bool any = false;

	reach_point(s, p);
	for (size_t i = 0; i < s->way.n; i++) {
		int n = (int)answer_chain(s->c, s->way.v[i]).n;

		width = n > width ? n : width;
		any = any || show_is_asked_for(s->c, s->way.v[i]);
	}
	if (!any)
		return;
	printf("%s %s, priority %d\n", policy_family_name(p->family), policy_hook_name(p->hook), p->priority);
	printf("  %-*s  %-6s %6s %6s %8s %8s %7s %9s  %s\n", width, "chain", "engine", "rules", "unused", "code", "lookup", "worst",
	       "expected", "why");
	for (size_t i = 0; i < s->way.n; i++)
		if (show_is_asked_for(s->c, s->way.v[i]))
			print_list(s, inspect_list_of(s->t, s->way.v[i]), width);
}

static void sum_bytes(const struct show *s, size_t *code, size_t *lookup)
{
	*code = *lookup = 0;
	for (size_t i = 0; i < s->t->n_lists; i++) {
		*code += s->inspect[i].code_bytes;
		*lookup += s->inspect[i].lookup_bytes;
	}
}

static void print_tables(struct show *s)
{
	size_t code, lookup;

	sum_bytes(s, &code, &lookup);
	for (unsigned i = 0; i < TABLES_MAX_POINTS; i++)
		if (s->t->point[i].is_used)
			print_point(s, &s->t->point[i]);
	print_inlined(s);
	print_unused(s);
	printf("%zu bytes of tables: %zu code, %zu lookup, %zu sets\n", sizeof(uint64_t) * (s->t->n_words + s->t->image.n_used), code, lookup,
	       sizeof(uint64_t) * s->t->image.n_used);
	puts("worst, expected: steps from a chain's head to its end, calls included; expected of packets made from its rules");
}

/* ---------- for programs ---------- */

static json_t *unused_json(const struct show *s, const struct tables_list *l)
{
	json_t *j = json_array();

	for (size_t i = 0; i < l->chain->rules.n; i++) {
		json_t *r;

		if (l->fate[i].kind == TABLES_FATE_USED)
			continue;
		r = answer_rule_json(s->c, l->chain->rules.v[i]);
		if (l->fate[i].kind == TABLES_FATE_HIDDEN)
			json_object_set_new(r, "hidden_by", answer_rule_json(s->c, l->fate[i].by));
		json_object_set_new(r, "in_tables", json_boolean(l->fate[i].is_kept));
		json_array_append_new(j, r);
	}
	return j;
}

static json_t *inlined_json(const struct show *s, const struct tables_list *l)
{
	json_t *j = json_array();

	for (size_t i = 0; i < l->n_inlined; i++)
		json_array_append_new(j, answer_rule_json(s->c, l->inlined[i]));
	return j;
}

static json_t *list_json(const struct show *s, const struct tables_list *l)
{
	const struct inspect_list *i = inspect_of(s, l);
	json_t *j = json_object();

	json_object_set_new(j, "table", report_json_str(s->c->run, l->chain->table));
	json_object_set_new(j, "chain", report_json_str(s->c->run, l->chain->name));
	json_object_set_new(j, "engine", json_string(engine_names[l->engine]));
	json_object_set_new(j, "why", json_string(why_of(l)));
	json_object_set_new(j, "rules", json_integer((json_int_t)l->chain->rules.n));
	json_object_set_new(j, "code_bytes", json_integer((json_int_t)i->code_bytes));
	json_object_set_new(j, "lookup_bytes", json_integer((json_int_t)i->lookup_bytes));
	json_object_set_new(j, "lookup_worst", json_integer(l->worst));
	json_object_set_new(j, "worst", json_integer((json_int_t)i->worst));
	json_object_set_new(j, "expected", json_real(i->expected));
	json_object_set_new(j, "inlined", inlined_json(s, l));
	json_object_set_new(j, "entries", json_integer((json_int_t)l->n_entries));
	json_object_set_new(j, "unused", unused_json(s, l));
	return j;
}

static json_t *point_json(struct show *s, const struct tables_point *p)
{
	json_t *j = json_object(), *chains = json_array();

	reach_point(s, p);
	for (size_t i = 0; i < s->way.n; i++)
		if (show_is_asked_for(s->c, s->way.v[i]))
			json_array_append_new(chains, list_json(s, inspect_list_of(s->t, s->way.v[i])));
	json_object_set_new(j, "family", json_string(policy_family_name(p->family)));
	json_object_set_new(j, "hook", json_string(policy_hook_name(p->hook)));
	json_object_set_new(j, "priority", json_integer(p->priority));
	json_object_set_new(j, "chains", chains);
	return j;
}

static void print_json(struct show *s)
{
	json_t *j = json_object(), *points = json_array(), *bytes = json_object();
	size_t code, lookup;

	sum_bytes(s, &code, &lookup);
	for (unsigned i = 0; i < TABLES_MAX_POINTS; i++)
		if (s->t->point[i].is_used)
			json_array_append_new(points, point_json(s, &s->t->point[i]));
	json_object_set_new(bytes, "all", json_integer((json_int_t)(sizeof(uint64_t) * (s->t->n_words + s->t->image.n_used))));
	json_object_set_new(bytes, "code", json_integer((json_int_t)code));
	json_object_set_new(bytes, "lookup", json_integer((json_int_t)lookup));
	json_object_set_new(bytes, "sets", json_integer((json_int_t)(sizeof(uint64_t) * s->t->image.n_used)));
	json_object_set_new(j, "bytes", bytes);
	json_object_set_new(j, "hooks", points);
	report_json_print(j);
}

/* ---------- pictures ---------- */

/* "INPUT" or "filter/INPUT". */
static bool is_named(struct cli *c, const struct chain *ch, const char *name)
{
	return str_is(ch->name, name) || str_is(answer_chain(c, ch), name);
}

static int draw(struct show *s, const char *name)
{
	const struct tables_list *scanned = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->t->n_lists; i++) {
		const struct tables_list *l = &s->t->list[i];

		if (!is_named(s->c, l->chain, name))
			continue;
		if (l->engine != TABLES_ENGINE_GRAPH) {
			scanned = l;
			continue;
		}
		struct str text = inspect_draw(s->c->run, s->t, l, &s->c->sources);

		fwrite(text.p, 1, text.n, stdout);
		n++;
	}
	if (n)
		return CLI_YES;
	if (scanned)
		return cli_fail(CLI_USAGE, "chain %s is %s (%s): it has no graph", name,
				scanned->engine == TABLES_ENGINE_SCAN ? "scanned" : "looked up in class tables",
				scanned->why ? scanned->why : "cheaper");
	return cli_fail(CLI_USAGE, "no chain '%s' is reached from a hook", name);
}

int show_tables(struct cli *c, const struct ruleset *rs)
{
	struct tables_options opt = { .reject_as_drop = c->opt.given[OPTION_REJECT_AS_DROP], .may_sum = true,
				      .engine = c->opt.given[OPTION_DOT] ? TABLES_ENGINE_GRAPH : TABLES_ENGINE_ANY };
	struct show s = { .c = c, .rs = rs, .t = tables_build(c->run, rs, &opt, &c->diags) };

	if (!s.t) {
		report_print(c, REPORT_ERRORS);
		return CLI_ERRORS;
	}
	s.reached = arena_new(c->run, uint8_t, rs->chains.n + 1);
	if (c->opt.given[OPTION_DOT])
		return draw(&s, c->opt.text[OPTION_DOT]);
	s.inspect = inspect_lists(c->run, s.t);
	if (c->opt.given[OPTION_JSON])
		print_json(&s);
	else
		print_tables(&s);
	return CLI_YES;
}
