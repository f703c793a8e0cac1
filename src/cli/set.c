/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `weir set`: the sets of the active rules. Here: finding the set, and its elements; set_load.c has the lists, set_list.c
 * what is printed of a set.
 */
#include "cli/set.h"

#include <errno.h>
#include <stdio.h>

#include "cli/report.h"
#include "kernel/setgrow.h"
#include "lang/lang.h"
#include "policy/addr.h"

enum { TRIES = 8, WORDS_OF_ELEMENT = 8 /* of a trie whose elements are far apart */ };

int set_open(struct cli *c, enum setmap_way way, struct set_door *s)
{
	int status = live_open(c, &s->l), err;

	if (!status)
		status = live_roll_back_expired(c, &s->l);
	if (!status)
		status = live_lock(c, &s->l);
	if (status)
		return status;
	err = pins_open(&s->l.in, &s->p, &s->l.why);
	if (!err)
		err = setmap_open(&s->p, way, &s->sets, &s->l.why);
	if (!err)
		return CLI_YES;
	pins_close(&s->p);
	instance_unlock(&s->l.in);
	if (err == -ENOENT && !s->l.why.what.n)
		return cli_fail(CLI_REFUSED, "no rules are loaded");
	return live_refused(c, &s->l);
}

void set_close(struct set_door *s)
{
	setmap_close(&s->sets);
	pins_close(&s->p);
	instance_unlock(&s->l.in);
}

/* "blocklist" for "inet/filter/blocklist", if no other set is called so. */
static bool is_tail(struct str name, const char *tail)
{
	size_t n = strlen(tail);

	return name.n > n && name.p[name.n - n - 1] == '/' && memcmp(name.p + name.n - n, tail, n) == 0;
}

static uint32_t find_by_tail(const struct setmem *m, const char *tail, unsigned *n_found)
{
	uint32_t found = SETMEM_NONE;
	struct setmem_info info;

	*n_found = 0;
	for (uint32_t id = setmem_next(m, SETMEM_NONE); id != SETMEM_NONE; id = setmem_next(m, id))
		if (setmem_info(m, id, &info) && is_tail(info.name, tail)) {
			found = id;
			++*n_found;
		}
	return *n_found == 1 ? found : SETMEM_NONE;
}

uint32_t set_find(struct cli *c, struct set_door *s, const char *name)
{
	const struct setmem *m = &s->sets.m;
	uint32_t id = setmem_find(m, str_from(name));
	VEC(const char *) names = { 0 };
	struct setmem_info info;
	const char *near;
	unsigned n = 0;

	if (id == SETMEM_NONE)
		id = find_by_tail(m, name, &n);
	if (id != SETMEM_NONE)
		return id;
	if (n > 1) {
		cli_fail(0, "%u sets are called '%s'; say the table, too: inet/filter/%s", n, name, name);
		return SETMEM_NONE;
	}
	for (id = setmem_next(m, SETMEM_NONE); id != SETMEM_NONE; id = setmem_next(m, id))
		if (setmem_info(m, id, &info))
			*vec_add(c->run, &names) = arena_cstr(c->run, info.name);
	near = str_nearest(str_from(name), names.v, names.n);
	cli_fail(0, "no set '%s' is loaded%s%s%s", name, near ? "; did you mean '" : names.n ? "; `weir set list` shows them" : "",
		 near ? near : "", near ? "'?" : "");
	return SETMEM_NONE;
}

/* The image goes while it is made larger. */
static int make_room(struct cli *c, struct set_try *t)
{
	struct set_door *s = t->door;
	struct setmem_space space;
	unsigned n_found;
	uint64_t words;
	int err;

	setmem_space(&s->sets.m, &space);
	words = space.used + space.waiting + WORDS_OF_ELEMENT * t->n_elems;
	setmap_close(&s->sets);
	err = setgrow(&s->p, words, &s->l.why);
	if (!err)
		err = setmap_open(&s->p, t->way, &s->sets, &s->l.why);
	if (err)
		return live_refused(c, &s->l);
	t->id = setmem_find(&s->sets.m, str_from(t->name));
	if (t->id == SETMEM_NONE)
		t->id = find_by_tail(&s->sets.m, t->name, &n_found);
	return t->id == SETMEM_NONE ? cli_fail(CLI_REFUSED, "set %s has gone", t->name) : CLI_YES;
}

static bool is_too_small(const struct set_try *t)
{
	struct setmem_space space;

	setmem_space(&t->door->sets.m, &space);
	return space.unused < t->words;
}

int set_try(struct cli *c, struct set_try *t, void *arg, int *err)
{
	int status = is_too_small(t) ? make_room(c, t) : CLI_YES;

	*err = -EAGAIN;
	for (int i = 0; i < TRIES && !status; i++) {
		if (i && *err == -EAGAIN)
			status = setmap_settle(&t->door->sets, &t->door->l.why) ? live_refused(c, &t->door->l) : CLI_YES;
		else if (i)
			status = make_room(c, t);
		if (!status)
			*err = t->run(t, arg);
		if (*err != -EAGAIN && *err != -ENOSPC)
			break;
	}
	return status;
}

int set_refused(struct cli *c, struct set_door *s, uint32_t id, int err)
{
	struct refusal *why = &s->l.why;
	struct setmem_info info = { 0 };

	setmem_info(&s->sets.m, id, &info);
	switch (err) {
	case -E2BIG:
		refusal_set(why, 0, "set %.*s is full: it holds at most %llu elements, and few different prefix lengths in tuples",
			    STR_ARG(info.name), (unsigned long long)info.max_elems);
		refusal_help(why, "raise it where the set is created, maxelem N, and load the rules again");
		break;
	case -ENOSPC:
		refusal_set(why, 0, "the memory of the loaded sets has no room for this");
		break;
	case -EOPNOTSUPP:
		refusal_set(why, 0, "programs in the kernel cannot decide elements of this kind");
		break;
	default:
		refusal_set(why, -err, "cannot change set %.*s", STR_ARG(info.name));
		break;
	}
	return live_refused(c, &s->l);
}

/* ---------- elements of the command line ---------- */

static bool has_blank(const char *s)
{
	return strpbrk(s, " \t") != NULL;
}

/* One text, so that an error in it has a place. The text behind `comment` was one word of the shell. */
static uint32_t elements_source(struct cli *c)
{
	struct buf b = { .a = c->run };

	for (size_t i = 2; i < c->n_args; i++) {
		bool quote = strcmp(c->arg[i - 1], "comment") == 0 && has_blank(c->arg[i]);

		buf_printf(&b, "%s%s%s%s", i > 2 ? " " : "", quote ? "\"" : "", c->arg[i], quote ? "\"" : "");
	}
	return source_add(&c->sources, "element", buf_str(&b));
}

/* The elements as a set of their own; NULL: told. */
static struct set *read_elements(struct cli *c, struct set_door *s, uint32_t id)
{
	struct set *set = setmem_model(c->run, &s->sets.m, id);

	if (set)
		lang_elems_read(c->run, &c->diags, elements_source(c), set);
	report_print(c, REPORT_ERRORS);
	return c->diags.n_errors ? NULL : set;
}

static const char *elem_text(struct cli *c, const struct set *set, const struct set_elem *e)
{
	struct buf b = { .a = c->run };
	struct set_elem bare = *e;

	bare.has_timeout = bare.nomatch = false;
	bare.comment = (struct str){ 0 };
	lang_elem_print(&b, set, &bare);
	return buf_str(&b).p;
}

/* ---------- add, del ---------- */

struct change {
	struct set_try t;
	const struct set *set;
	bool is_del, may_exist;
	size_t n_done, n_idle; /* idle: nothing was to be done for it */
};

static int change_one(struct change *x, const struct set_elem *e)
{
	struct setmem *m = &x->t.door->sets.m;
	bool is_there = !x->is_del && !x->may_exist && setmem_has(m, x->t.id, e, NULL);
	int err = is_there ? -EEXIST : x->is_del ? setmem_del(m, x->t.id, e) : setmem_add(m, x->t.id, e);

	if (err == 0)
		x->n_done++;
	if (err == (x->is_del ? -ENOENT : -EEXIST)) {
		x->n_idle++;
		return 0;
	}
	return err;
}

/* All of them, seen by one store; or none. */
static int change_all(struct set_try *t, void *arg)
{
	struct change *x = arg;
	struct setmem *m = &x->t.door->sets.m;
	int err = 0;

	(void)t; /* it is x's */
	x->n_done = x->n_idle = 0;
	if (x->set->elems.n == 1)
		return change_one(x, &x->set->elems.v[0]);
	err = setmem_begin(m);
	if (err)
		return err;
	for (size_t i = 0; i < x->set->elems.n && !err; i++)
		err = change_one(x, &x->set->elems.v[i]);
	if (err || (x->n_idle && !x->may_exist))
		setmem_abort(m);
	else
		setmem_commit(m);
	return err;
}

static void tell_missing(struct cli *c, const struct change *x, const struct set_elem *e)
{
	const struct setmem *m = &x->t.door->sets.m;
	const char *text = elem_text(c, x->set, e);
	bool has_nets = false;

	for (unsigned i = 0; i < x->set->n_dims; i++)
		has_nets |= x->set->dim[i] == SET_DIM_NET;
	fprintf(stderr, "weir: %s is not an element of set %.*s\n", text, STR_ARG(x->set->name));
	if (has_nets && setmem_match(m, x->t.id, e) == SETMEM_IN)
		fprintf(stderr, "  help: a larger one holds it; an exception takes it out: weir set add %.*s %s nomatch\n",
			STR_ARG(x->set->name), text);
}

/* Elements that stood in the way: nothing was changed. */
static int tell_idle(struct cli *c, const struct change *x)
{
	const struct setmem *m = &x->t.door->sets.m;
	json_t *all = json_array();

	fflush(stdout);
	for (size_t i = 0; i < x->set->elems.n; i++) {
		const struct set_elem *e = &x->set->elems.v[i];

		if (setmem_has(m, x->t.id, e, NULL) == x->is_del)
			continue;
		if (c->opt.given[OPTION_JSON])
			json_array_append_new(all, report_json_str(c->run, str_from(elem_text(c, x->set, e))));
		else if (x->is_del)
			tell_missing(c, x, e);
		else
			fprintf(stderr, "weir: %s is in set %.*s already\n", elem_text(c, x->set, e), STR_ARG(x->set->name));
	}
	if (c->opt.given[OPTION_JSON])
		report_json_print(json_pack("{s:o,s:i,s:o}", "set", report_json_str(c->run, x->set->name),
					    x->is_del ? "deleted" : "added", 0, x->is_del ? "missing" : "present", all));
	else
		json_decref(all);
	if (x->set->elems.n > 1 && !c->opt.given[OPTION_JSON])
		fputs("weir: nothing was changed; --exist does what can be done\n", stderr);
	return CLI_ERRORS;
}

static int tell_change(struct cli *c, const struct change *x)
{
	const char *did = x->is_del ? "deleted" : "added";
	struct setmem_info info = { 0 };

	setmem_info(&x->t.door->sets.m, x->t.id, &info);
	if (c->opt.given[OPTION_JSON]) {
		json_t *j = json_object();

		json_object_set_new(j, "set", report_json_str(c->run, info.name));
		json_object_set_new(j, did, json_integer((json_int_t)x->n_done));
		json_object_set_new(j, "elements", json_integer((json_int_t)info.n_elems));
		report_json_print(j);
		return CLI_YES;
	}
	printf("set %.*s: %zu %s, %llu element%s\n", STR_ARG(info.name), x->n_done, did, (unsigned long long)info.n_elems,
	       info.n_elems == 1 ? "" : "s");
	return CLI_YES;
}

static int change(struct cli *c, struct set_door *s, bool is_del)
{
	struct change x = { .is_del = is_del, .may_exist = c->opt.given[OPTION_EXIST] };
	int err, status;

	x.t = (struct set_try){ s, c->arg[1], set_find(c, s, c->arg[1]), SETMAP_FEW, 0, 0, change_all };
	x.set = x.t.id == SETMEM_NONE ? NULL : read_elements(c, s, x.t.id);
	if (!x.set)
		return CLI_USAGE;
	x.t.n_elems = x.set->elems.n;
	status = set_try(c, &x.t, &x, &err);
	if (status)
		return status;
	if (err)
		return set_refused(c, s, x.t.id, err);
	return x.n_idle && !x.may_exist ? tell_idle(c, &x) : tell_change(c, &x);
}

static int set_add(struct cli *c, struct set_door *s)
{
	return change(c, s, false);
}

static int set_del(struct cli *c, struct set_door *s)
{
	return change(c, s, true);
}

/* ---------- test ---------- */

/* A network is asked for as an element; what a packet may have is asked as a packet asks. */
static bool is_network(const struct set *set, const struct set_elem *e)
{
	for (unsigned i = 0; i < set->n_dims; i++)
		if (set->dim[i] == SET_DIM_NET && e->plen[i] < addr_bits(set->family))
			return true;
	return false;
}

static enum setmem_answer test_one(const struct setmem *m, uint32_t id, const struct set *set, const struct set_elem *e)
{
	struct set_elem found;

	if (!is_network(set, e))
		return setmem_match(m, id, e);
	if (!setmem_has(m, id, e, &found))
		return SETMEM_OUT;
	return found.nomatch ? SETMEM_EXCEPTION : SETMEM_IN;
}

static json_t *answer_object(struct cli *c, const struct set *set, const struct set_elem *e, enum setmem_answer answer)
{
	json_t *j = json_object();

	json_object_set_new(j, "element", report_json_str(c->run, str_from(elem_text(c, set, e))));
	json_object_set_new(j, "in", json_boolean(answer == SETMEM_IN));
	json_object_set_new(j, "exception", json_boolean(answer == SETMEM_EXCEPTION));
	return j;
}

static int set_test(struct cli *c, struct set_door *s)
{
	uint32_t id = set_find(c, s, c->arg[1]);
	const struct set *set = id == SETMEM_NONE ? NULL : read_elements(c, s, id);
	json_t *all = json_array();
	int status = set ? CLI_YES : CLI_USAGE;

	for (size_t i = 0; set && i < set->elems.n; i++) {
		const struct set_elem *e = &set->elems.v[i];
		enum setmem_answer answer = test_one(&s->sets.m, id, set, e);

		if (answer != SETMEM_IN)
			status = CLI_ERRORS;
		if (c->opt.given[OPTION_JSON])
			json_array_append_new(all, answer_object(c, set, e, answer));
		else
			printf("%s is %s set %.*s%s\n", elem_text(c, set, e), answer == SETMEM_IN ? "in" : "not in",
			       STR_ARG(set->name), answer == SETMEM_EXCEPTION ? ": an exception (nomatch)" : "");
	}
	if (set && c->opt.given[OPTION_JSON])
		report_json_print(json_pack("{s:o,s:o}", "set", report_json_str(c->run, set->name), "answers", all));
	else
		json_decref(all);
	return status;
}

/* ---------- swap ---------- */

static int swap_once(struct set_try *t, void *arg)
{
	return setmem_swap(&t->door->sets.m, t->id, *(uint32_t *)arg);
}

static int set_swap(struct cli *c, struct set_door *s)
{
	uint32_t x = set_find(c, s, c->arg[1]), y = x == SETMEM_NONE ? x : set_find(c, s, c->arg[2]);
	struct set_try t = { s, c->arg[1], x, SETMAP_FEW, 0, 0, swap_once };
	int err, status;

	if (y == SETMEM_NONE)
		return CLI_USAGE;
	status = set_try(c, &t, &y, &err);
	if (status)
		return status;
	if (err == -EINVAL)
		return cli_fail(CLI_ERRORS, "sets %s and %s are of different types", c->arg[1], c->arg[2]);
	if (err)
		return set_refused(c, s, x, err);
	if (c->opt.given[OPTION_JSON])
		report_json_print(json_pack("{s:[s,s]}", "swapped", c->arg[1], c->arg[2]));
	else
		printf("sets %s and %s have changed what they hold\n", c->arg[1], c->arg[2]);
	return CLI_YES;
}

/* ---------- which of them ---------- */

static const struct command {
	const char *name, *args;
	int least, most; /* arguments, the command's name included; most -1: any number */
	int (*run)(struct cli *c, struct set_door *s); /* NULL: opens the sets itself */
	int (*run_alone)(struct cli *c);
} commands[] = {
	{ "load", "NAME FILE...", 3, -1, NULL, set_load },    { "add", "NAME ELEMENT...", 3, -1, set_add, NULL },
	{ "del", "NAME ELEMENT...", 3, -1, set_del, NULL },   { "test", "NAME ELEMENT...", 3, -1, set_test, NULL },
	{ "swap", "A B", 3, 3, set_swap, NULL },	      { "list", "[NAME]", 1, 2, NULL, set_list },
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

const char *set_command(size_t i)
{
	return i < N_COMMANDS ? commands[i].name : NULL;
}

static const struct command *find_command(struct cli *c)
{
	const char *names[N_COMMANDS], *near;

	for (size_t i = 0; i < N_COMMANDS; i++) {
		names[i] = commands[i].name;
		if (strcmp(c->arg[0], names[i]) == 0)
			return &commands[i];
	}
	near = str_nearest(str_from(c->arg[0]), names, N_COMMANDS);
	if (near)
		cli_fail(0, "weir set knows no '%s'; did you mean 'weir set %s'?", c->arg[0], near);
	else
		cli_usage(c, "weir set knows no '%s'", c->arg[0]);
	return NULL;
}

int set_verb(struct cli *c)
{
	const struct command *x = find_command(c);
	struct set_door s;
	int status;

	if (!x)
		return CLI_USAGE;
	if (c->n_args < (size_t)x->least || (x->most >= 0 && c->n_args > (size_t)x->most)) {
		cli_fail(0, "too %s arguments", c->n_args < (size_t)x->least ? "few" : "many");
		fprintf(stderr, "usage: weir set %s %s\n'weir help set' tells more\n", x->name, x->args);
		return CLI_USAGE;
	}
	if (x->run_alone)
		return x->run_alone(c);
	status = set_open(c, SETMAP_FEW, &s);
	if (status)
		return status;
	status = x->run(c, &s);
	set_close(&s);
	return status;
}
