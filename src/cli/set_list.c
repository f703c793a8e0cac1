/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `weir set list [NAME]`: all sets in a table, or one as `ipset save` writes it.
 *
 *     set              type            family  elements      bytes
 *     blocked          hash:net        ip         95644    1048576  changed since the rules were loaded
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/report.h"
#include "cli/set.h"
#include "lang/lang.h"

/* ---------- all sets ---------- */

static json_t *info_json(struct cli *c, const struct setmem_info *i)
{
	json_t *j = json_object();

	json_object_set_new(j, "set", report_json_str(c->run, i->name));
	json_object_set_new(j, "type", report_json_str(c->run, i->type));
	if (i->has_addrs)
		json_object_set_new(j, "family", json_string(policy_family_name(i->family)));
	json_object_set_new(j, "options", report_json_str(c->run, i->options));
	json_object_set_new(j, "elements", json_integer((json_int_t)i->n_elems));
	json_object_set_new(j, "max_elements", json_integer((json_int_t)i->max_elems));
	json_object_set_new(j, "bytes", json_integer((json_int_t)i->n_words * 8));
	json_object_set_new(j, "changed", json_boolean(i->is_changed));
	return j;
}

static void print_info(const struct setmem_info *i)
{
	printf("%-16.*s %-18.*s %-6s %10llu %12llu%s\n", STR_ARG(i->name), STR_ARG(i->type),
	       i->has_addrs ? policy_family_name(i->family) : "-", (unsigned long long)i->n_elems,
	       (unsigned long long)i->n_words * 8, i->is_changed ? "  changed since it was loaded" : "");
}

/* Sets of rules that are not active any more, or not yet, are not shown. */
static int list_all(struct cli *c, const struct setmem *m)
{
	json_t *all = json_array();
	struct setmem_info info;
	bool any = false;

	for (uint32_t id = setmem_next(m, SETMEM_NONE); id != SETMEM_NONE; id = setmem_next(m, id)) {
		if (!setmem_info(m, id, &info) || setmem_find(m, info.name) != id)
			continue;
		if (c->opt.given[OPTION_JSON]) {
			json_array_append_new(all, info_json(c, &info));
			continue;
		}
		if (!any)
			printf("%-16s %-18s %-6s %10s %12s\n", "set", "type", "family", "elements", "bytes");
		any = true;
		print_info(&info);
	}
	if (c->opt.given[OPTION_JSON])
		report_json_print(json_pack("{s:o}", "sets", all));
	else
		json_decref(all);
	return CLI_YES;
}

void set_tell_unsaved(struct cli *c, const struct instance *in)
{
	struct refusal ignored = { .a = c->run };
	struct setmap map = { .word = NULL };
	struct setmem_info info;
	struct pins p;
	int err = pins_open(in, &p, &ignored);

	if (!err)
		err = setmap_open(&p, SETMAP_READ, &map, &ignored);
	for (uint32_t id = err ? SETMEM_NONE : setmem_next(&map.m, SETMEM_NONE); id != SETMEM_NONE; id = setmem_next(&map.m, id))
		if (setmem_info(&map.m, id, &info) && info.is_changed && setmem_find(&map.m, info.name) == id)
			fprintf(stderr, "weir: set %.*s has changed since it was loaded, and that is in no file: "
					"`weir set list %.*s` writes what it holds\n", STR_ARG(info.name), STR_ARG(info.name));
	setmap_close(&map);
	pins_close(&p);
}

/* ---------- one set ---------- */

static int compare(const void *x, const void *y)
{
	const struct set_elem *a = x, *b = y;

	for (unsigned i = 0; i < SET_MAX_DIMS; i++) {
		if (a->v[i] != b->v[i])
			return a->v[i] < b->v[i] ? -1 : 1;
		if (a->plen[i] != b->plen[i])
			return a->plen[i] < b->plen[i] ? -1 : 1;
	}
	return 0;
}

static void read_elems(struct cli *c, const struct setmem *m, uint32_t id, struct set *set)
{
	struct set_elem e;
	uint64_t at = 0;

	while (setmem_elem(m, id, &at, &e))
		*vec_add(c->run, &set->elems) = e;
	if (set->elems.n)
		qsort(set->elems.v, set->elems.n, sizeof e, compare);
}

/* One element a line: a set may have a million of them, too many for one object of the JSON library. */
static void print_elems_json(struct arena *line, const struct set *set)
{
	for (size_t i = 0; i < set->elems.n; i++) {
		struct set_elem e = set->elems.v[i];
		struct buf b = { .a = line };
		json_t *j = json_object();

		e.has_timeout = e.nomatch = false;
		lang_elem_print(&b, set, &e);
		json_object_set_new(j, "element", report_json_str(line, buf_str(&b)));
		if (set->elems.v[i].has_timeout)
			json_object_set_new(j, "timeout", json_integer(set->elems.v[i].timeout_s));
		if (set->elems.v[i].nomatch)
			json_object_set_new(j, "nomatch", json_true());
		fputs(i ? ",\n    " : "\n    ", stdout);
		json_dumpf(j, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
		json_decref(j);
		arena_reset(line);
	}
}

static void print_set_json(struct cli *c, const struct setmem_info *info, const struct set *set)
{
	struct arena *line = arena_create();
	json_t *j = info_json(c, info);
	char *head = json_dumps(j, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

	printf("%.*s,\n  \"members\": [", head ? (int)strlen(head) - 2 : 0, head ? head : "");
	print_elems_json(line, set);
	fputs(set->elems.n ? "\n  ]\n}\n" : "]\n}\n", stdout);
	free(head);
	json_decref(j);
	arena_destroy(line);
}

static void print_set(const struct set *set)
{
	struct arena *line = arena_create();
	struct buf b = { .a = line };

	lang_set_print(&b, set);
	fwrite(b.v, 1, b.n, stdout);
	for (size_t i = 0; i < set->elems.n; i++) {
		arena_reset(line);
		b = (struct buf){ .a = line };
		buf_printf(&b, "add %.*s ", STR_ARG(set->name));
		lang_elem_print(&b, set, &set->elems.v[i]);
		buf_printf(&b, "\n");
		fwrite(b.v, 1, b.n, stdout);
	}
	arena_destroy(line);
}

/* Reads all of it before anything is printed: nobody shall wait for a slow reader. */
int set_list(struct cli *c)
{
	struct setmem_info info = { 0 };
	struct set *set = NULL;
	struct set_door s;
	uint32_t id;
	int status = set_open(c, c->n_args < 2 ? SETMAP_FEW : SETMAP_WRITE, &s);

	if (status)
		return status;
	if (c->n_args < 2) {
		status = list_all(c, &s.sets.m);
		set_close(&s);
		return status;
	}
	id = set_find(c, &s, c->arg[1]);
	if (id != SETMEM_NONE) {
		set = setmem_model(c->run, &s.sets.m, id);
		setmem_info(&s.sets.m, id, &info);
		info.name = arena_str(c->run, info.name.p, info.name.n);
		info.type = arena_str(c->run, info.type.p, info.type.n);
		info.options = arena_str(c->run, info.options.p, info.options.n);
		read_elems(c, &s.sets.m, id, set);
	}
	set_close(&s);
	if (!set)
		return CLI_USAGE;
	if (c->opt.given[OPTION_JSON])
		print_set_json(c, &info, set);
	else
		print_set(set);
	return CLI_YES;
}
