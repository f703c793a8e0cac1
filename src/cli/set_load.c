/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `weir set load NAME FILE...`: what the lists hold, in place of what the set holds.
 *
 * The files are read without the lock: one may be a pipe that somebody else feeds. So the set is looked for twice.
 */
#include <errno.h>
#include <stdio.h>

#include "cli/lists.h"
#include "cli/report.h"
#include "cli/set.h"

/* The set without its elements, to read lists for; NULL and *status: told. */
static struct set *look(struct cli *c, int *status)
{
	struct set *set = NULL;
	struct set_door s;
	uint32_t id;

	*status = set_open(c, SETMAP_FEW, &s);
	if (*status)
		return NULL;
	id = set_find(c, &s, c->arg[1]);
	if (id != SETMEM_NONE)
		set = setmem_model(c->run, &s.sets.m, id);
	set_close(&s);
	*status = set ? CLI_YES : CLI_USAGE;
	return set;
}

/* r NULL: the lists have errors. */
static void print_json(struct cli *c, const struct lists_one *one, const struct setmem_report *r)
{
	json_t *j = lists_json(c, one);

	json_object_set_new(j, "loaded", json_boolean(r != NULL));
	if (r) {
		json_object_set_new(j, "elements", json_integer((json_int_t)r->n_after));
		json_object_set_new(j, "bytes", json_integer((json_int_t)r->bytes));
	}
	json_object_set_new(j, "errors", json_integer(c->diags.n_errors));
	json_object_set_new(j, "warnings", json_integer(c->diags.n_warnings));
	json_object_set_new(j, "diagnostics", report_json(c));
	report_json_print(j);
}

/* Elements of several values, as ipset writes them, one or more a line. */
static void read_tuples(struct cli *c, uint32_t source, struct lists_one *one)
{
	lang_elems_read(c->run, &c->diags, source, one->set);
	one->got.n_bytes += source_get(&c->sources, source)->text.n;
	one->got.n_entries = one->got.n_merged = one->set->elems.n;
}

/* Large lists of networks become spans, which setmem.h merges; what only elements can say becomes elements. */
static void read_lists(struct cli *c, const uint32_t *source, size_t n, struct lists_one *one)
{
	one->is_spans = one->set->dim[0] == SET_DIM_NET && !c->opt.given[OPTION_STRICT];
	for (size_t i = 0; i < n && !one->got.needs_elements; i++)
		lists_read_source(c, &c->diags, source[i], one);
	if (one->got.needs_elements) {
		one->got = (struct lang_list){ 0 };
		one->is_spans = false;
		for (size_t i = 0; i < n; i++)
			lists_read_source(c, &c->diags, source[i], one);
	}
	if (!one->is_spans)
		lists_finish(c, &c->diags, one);
}

static int read_files(struct cli *c, struct lists_one *one)
{
	uint32_t *source = arena_new(c->run, uint32_t, c->n_args);
	size_t n = c->n_args - 2;
	int status = CLI_YES;

	for (size_t i = 0; i < n; i++) {
		int s = lists_open(c, c->arg[2 + i], &source[i]);

		status = s > status ? s : status;
	}
	if (status)
		return status;
	if (lang_list_can_fill(one->set))
		read_lists(c, source, n, one);
	else
		for (size_t i = 0; i < n; i++)
			read_tuples(c, source[i], one);
	if (c->opt.given[OPTION_JSON] && c->diags.n_errors) {
		print_json(c, one, NULL);
		return CLI_ERRORS;
	}
	if (!c->opt.given[OPTION_JSON])
		report_print(c, REPORT_ERRORS);
	if (!c->diags.n_errors)
		return CLI_YES;
	fprintf(stderr, "weir: nothing was changed: set %.*s holds what it held\n", STR_ARG(one->set->name));
	return CLI_ERRORS;
}

static int tell(struct cli *c, const struct lists_one *one, const struct setmem_report *r)
{
	if (c->opt.given[OPTION_JSON])
		print_json(c, one, r);
	else
		printf("set %.*s: %.*s, %zu bytes in the kernel\n", STR_ARG(one->set->name), STR_ARG(lists_text(c->run, one)),
		       r->bytes);
	return CLI_YES;
}

static bool is_same_kind(struct cli *c, const struct setmem *m, uint32_t id, const struct set *set)
{
	const struct set *now = setmem_model(c->run, m, id);

	return now && str_eq(now->type, set->type) && now->family == set->family && str_eq(now->options, set->options);
}

struct replacing {
	struct lists_one *one;
	struct setmem_report r;
};

static int replace_once(struct set_try *t, void *arg)
{
	struct replacing *x = arg;
	struct setmem_source spans = { .overlap = SETMEM_MERGE, .span = x->one->spans.v, .n_spans = x->one->spans.n };

	return setmem_replace(&t->door->sets.m, t->id, x->one->set, x->one->is_spans ? &spans : NULL, &x->r);
}

/* What n elements take, judged by those that are there if they are many. */
static uint64_t words_to_expect(const struct setmem *m, uint32_t id, const struct set *set, size_t n)
{
	uint64_t words = setmem_words_for(set, n);
	struct setmem_info info;

	if (setmem_info(m, id, &info) && info.n_elems > 1000 && info.n_words / info.n_elems * n > words)
		words = info.n_words / info.n_elems * n;
	return words;
}

/* In place of what is there, by one store. */
static int replace(struct cli *c, struct set_door *s, struct lists_one *one)
{
	struct set_try t = { s, c->arg[1], set_find(c, s, c->arg[1]), SETMAP_WRITE,
			     one->is_spans ? one->spans.n : one->set->elems.n, 0, replace_once };
	struct replacing x = { .one = one };
	int err, status;

	if (t.id == SETMEM_NONE)
		return CLI_USAGE;
	if (!is_same_kind(c, &s->sets.m, t.id, one->set))
		return cli_fail(CLI_REFUSED, "set %s has become another one meanwhile", c->arg[1]);
	t.words = words_to_expect(&s->sets.m, t.id, one->set, t.n_elems);
	status = set_try(c, &t, &x, &err);
	if (status)
		return status;
	if (err)
		return set_refused(c, s, t.id, err);
	if (one->is_spans) {
		one->got.n_merged = x.r.n_after;
		one->got.n_duplicates = x.r.n_duplicates;
	}
	one->seconds += x.r.seconds;
	return tell(c, one, &x.r);
}

int set_load(struct cli *c)
{
	struct lists_one one = { .is_declared_here = false };
	struct set_door s;
	int status;

	one.set = look(c, &status);
	if (!status)
		status = read_files(c, &one);
	if (!status)
		status = set_open(c, SETMAP_WRITE, &s);
	if (status)
		return status;
	status = replace(c, &s, &one);
	set_close(&s);
	return status;
}
