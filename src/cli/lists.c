/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of addresses, from files to sets. See lists.h. */
#include "cli/lists.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/report.h"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---------- reading ---------- */

struct progress {
	const char *path;
	double shown_at, begun_at;
	bool is_shown;
};

/* What is done in a moment needs no bar. */
static void show_progress(void *arg, size_t done, size_t all)
{
	struct progress *p = arg;
	double now = now_s();

	if (now - p->begun_at < 0.3 || now - p->shown_at < 0.1)
		return;
	p->shown_at = now;
	p->is_shown = true;
	fprintf(stderr, "\r%s: %zu %%", p->path, all ? done * 100 / all : 100);
	fflush(stderr);
}

static void take_span(void *arg, u128 lo, u128 hi, bool nomatch)
{
	struct lists_one *one = arg;

	one->spans.v[one->spans.n++] = (struct setmem_span){ lo, hi, nomatch };
}

/* Room for one span a line. */
static void reserve_spans(struct cli *c, struct lists_one *one, size_t n_lines)
{
	size_t n = one->spans.n + n_lines;
	struct setmem_span *v;

	if (n <= one->spans.cap)
		return;
	v = arena_new(c->run, struct setmem_span, n);
	if (one->spans.n)
		memcpy(v, one->spans.v, one->spans.n * sizeof *v);
	one->spans.v = v;
	one->spans.cap = n;
}

int lists_open(struct cli *c, const char *path, uint32_t *source)
{
	int err = source_open(&c->sources, path, source);

	return err ? cli_fail(CLI_REFUSED, "cannot read %s: %s", path, strerror(-err)) : CLI_YES;
}

void lists_read_source(struct cli *c, struct diags *d, uint32_t source, struct lists_one *one)
{
	const struct source *src = source_get(&c->sources, source);
	double begun = now_s();
	struct progress p = { src->name.p, begun, begun, false };
	struct lang_list_options o = { .is_declared_here = one->is_declared_here,
				       .only_family = c->opt.given[OPTION_ONLY_FAMILY] };

	if (isatty(STDERR_FILENO)) {
		o.progress = show_progress;
		o.progress_arg = &p;
	}
	if (one->is_spans) {
		reserve_spans(c, one, src->n_lines);
		o.take = take_span;
		o.take_arg = one;
	}
	lang_list_read(c->run, d, source, one->set, &o, &one->got);
	if (p.is_shown)
		fputs("\r\033[K", stderr);
	one->seconds += now_s() - begun;
}

void lists_finish(struct cli *c, struct diags *d, struct lists_one *one)
{
	double begun = now_s();

	if (d->n_errors == 0)
		lang_list_merge(d, one->set, c->opt.given[OPTION_STRICT], &one->got);
	if (one->is_declared_here)
		lang_list_size(c->run, one->set);
	one->seconds += now_s() - begun;
}

/* ---------- --set ---------- */

/* The family of the rules that ask this set; FAMILY_COUNT if none does, or rules of both. */
static enum family asking_family(const struct ruleset *rs, struct str name)
{
	enum family f = FAMILY_COUNT;

	for (size_t i = 0; i < rs->rules.n; i++)
		for (uint32_t k = 0; k < rs->rules.v[i]->n_steps; k++) {
			const struct step *s = &rs->rules.v[i]->step[k];
			enum family here = rs->rules.v[i]->chain->family;

			if (s->kind != STEP_TEST || s->test.kind != TEST_SET || !str_eq(s->test.set->name, name))
				continue;
			if (f != FAMILY_COUNT && f != here)
				return FAMILY_COUNT;
			f = here;
		}
	return f;
}

static struct lists_one *find_one(struct lists *l, const struct set *s)
{
	for (size_t i = 0; i < l->all.n; i++)
		if (l->all.v[i].set == s)
			return &l->all.v[i];
	return NULL;
}

static enum family family_of(struct cli *c, const struct ruleset *rs, struct str name, const char *path)
{
	enum family f = asking_family(rs, name);
	uint32_t source;

	if (f != FAMILY_COUNT || source_open(&c->sources, path, &source))
		return f == FAMILY_COUNT ? FAMILY_IP4 : f;
	f = lang_list_family(source_get(&c->sources, source));
	c->sources.all.n--; /* it is read again, as the list of a set */
	return f;
}

/* The set that a list is for, declared if nothing did. NULL: told. */
static struct lists_one *one_for(struct cli *c, struct ruleset *rs, struct lists *l, struct str name, const char *path)
{
	struct set *s = policy_set_find(rs, name);
	struct lists_one *one = s ? find_one(l, s) : NULL;
	bool is_new = !s;

	if (one)
		return one;
	if (s && !lang_list_can_fill(s)) {
		cli_fail(0, "--set: set %.*s is of type %.*s; a list holds addresses and networks", STR_ARG(name),
			 STR_ARG(s->type));
		return NULL;
	}
	if (is_new) {
		s = policy_set_add(rs, name, (struct loc){ 0 });
		lang_list_declare(s, family_of(c, rs, name, path));
	}
	one = vec_add(c->run, &l->all);
	*one = (struct lists_one){ .set = s, .is_declared_here = is_new };
	return one;
}

static const char *path_in(struct arena *a, const char *dir, struct str path)
{
	return dir && path.p[0] != '/' ? arena_printf(a, "%s/%.*s", dir, STR_ARG(path)).p : arena_cstr(a, path);
}

static int read_one(struct cli *c, struct diags *d, struct ruleset *rs, const char *arg, const char *dir, struct lists *out)
{
	bool has_path;
	struct str file, name = str_cut(str_from(arg), '=', &file, &has_path);
	struct lists_one *one;
	const char *path;
	uint32_t source;
	double begun;
	int status;

	if (name.n == 0 || file.n == 0)
		return cli_usage(c, "'%s' is no list: write NAME=FILE", arg);
	if (name.n > 31)
		return cli_usage(c, "a set name has 1 to 31 bytes; '%.*s' has %zu", STR_ARG(name), name.n);
	path = path_in(c->run, dir, file);
	one = one_for(c, rs, out, arena_str(c->run, name.p, name.n), path);
	if (!one)
		return CLI_USAGE;
	begun = now_s();
	status = lists_open(c, path, &source);
	one->seconds += now_s() - begun;
	if (!status)
		lists_read_source(c, d, source, one);
	return status;
}

int lists_read(struct cli *c, struct diags *d, struct ruleset *rs, const struct lists_args *args, struct lists *out)
{
	int status = CLI_YES;

	for (size_t i = 0; i < args->n; i++) {
		int s = read_one(c, d, rs, args->v[i], args->dir, out);

		status = s > status ? s : status;
	}
	for (size_t i = 0; i < out->all.n && !status; i++)
		lists_finish(c, d, &out->all.v[i]);
	return status;
}

/* ---------- what came of it ---------- */

struct str lists_text(struct arena *a, const struct lists_one *one)
{
	const struct lang_list *g = &one->got;
	struct buf b = { .a = a };

	buf_printf(&b, "%llu entr%s, %llu after merge, %llu duplicate%s", (unsigned long long)g->n_entries,
		   g->n_entries == 1 ? "y" : "ies", (unsigned long long)g->n_merged, (unsigned long long)g->n_duplicates,
		   g->n_duplicates == 1 ? "" : "s");
	if (g->n_left_out)
		buf_printf(&b, ", %llu of the other family left out", (unsigned long long)g->n_left_out);
	buf_printf(&b, ", %.2f s, %llu bytes read", one->seconds, (unsigned long long)g->n_bytes);
	return buf_str(&b);
}

json_t *lists_json(struct cli *c, const struct lists_one *one)
{
	const struct lang_list *g = &one->got;
	json_t *j = json_object();

	json_object_set_new(j, "set", report_json_str(c->run, one->set->name));
	json_object_set_new(j, "family", json_string(policy_family_name(one->set->family)));
	json_object_set_new(j, "entries", json_integer((json_int_t)g->n_entries));
	json_object_set_new(j, "after_merge", json_integer((json_int_t)g->n_merged));
	json_object_set_new(j, "duplicates", json_integer((json_int_t)g->n_duplicates));
	if (!one->is_spans)
		json_object_set_new(j, "overlaps", json_integer((json_int_t)g->n_overlaps));
	json_object_set_new(j, "left_out", json_integer((json_int_t)g->n_left_out));
	json_object_set_new(j, "seconds", json_real(one->seconds));
	json_object_set_new(j, "bytes_read", json_integer((json_int_t)g->n_bytes));
	return j;
}
