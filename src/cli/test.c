/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `weir test`: runs test files and prints TAP, with one line behind it that adds up. --bless writes what was found
 * into the files instead, for a person to look over. With --json all of it is one object in the end.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/caserun.h"
#include "cli/report.h"

struct edit {
	struct loc at;
	struct str text;
};

struct tally {
	unsigned n, failed, skipped;
	bool bless;
	VEC(struct edit) edits;
	json_t *results, *blessed; /* --json; else NULL */
};

static void print_remark(struct str s)
{
	for (bool more = s.n > 0; more;) {
		struct str line = str_cut(s, '\n', &s, &more);

		if (line.n || more)
			printf("#   %.*s\n", STR_ARG(line));
	}
}

static void print_failure(const struct case_result *r)
{
	if (r->line)
		printf("#   wanted: %.*s\n", STR_ARG(r->line->expect));
	if (r->got.n)
		printf("#   got:    %.*s\n", STR_ARG(r->got));
	print_remark(r->why);
}

static void put_text(struct cli *c, json_t *j, const char *key, struct str s)
{
	if (s.n)
		json_object_set_new(j, key, report_json_str(c->run, s));
}

static json_t *place_json(struct cli *c, struct loc at)
{
	json_t *j = json_object();
	uint32_t line = 0, col;

	source_place(&c->sources, at, &line, &col);
	json_object_set_new(j, "file", report_json_str(c->run, source_get(&c->sources, at.source)->name));
	json_object_set_new(j, "line", json_integer(line));
	return j;
}

static void add_result(struct cli *c, struct tally *t, const struct case_result *r)
{
	static const char *const outcomes[] = { [CASE_PASSED] = "passed", [CASE_FAILED] = "failed", [CASE_SKIPPED] = "skipped" };
	json_t *j = place_json(c, r->line ? r->line->at : r->one->at);

	put_text(c, j, "case", r->one->name);
	put_text(c, j, "what", r->line ? r->line->subject : r->what);
	json_object_set_new(j, "outcome", json_string(outcomes[r->outcome]));
	if (r->outcome == CASE_FAILED && r->line)
		put_text(c, j, "wanted", r->line->expect);
	if (r->outcome == CASE_FAILED)
		put_text(c, j, "got", r->got);
	if (r->outcome != CASE_PASSED)
		put_text(c, j, "why", r->why);
	json_array_append_new(t->results, j);
}

static void bless(struct cli *c, struct tally *t, const struct case_result *r)
{
	struct str place = source_name_line(c->run, &c->sources, r->line->at);
	json_t *j;

	*vec_add(c->run, &t->edits) = (struct edit){ r->line->expect_at, r->got };
	if (!t->blessed) {
		printf("# %.*s: %.*s\n", STR_ARG(place), STR_ARG(r->got));
		return;
	}
	j = place_json(c, r->line->at);
	put_text(c, j, "got", r->got);
	json_array_append_new(t->blessed, j);
}

static void one_done(struct caserun *run, const struct case_result *r)
{
	struct tally *t = run->user;
	struct loc at = r->line ? r->line->at : r->one->at;
	struct str what = r->line ? r->line->subject : r->what;
	struct str place = source_name_line(run->c->run, &run->c->sources, at);

	if (t->bless && r->outcome == CASE_FAILED && r->line && r->got.n) {
		bless(run->c, t, r);
		return;
	}
	t->n++;
	t->failed += r->outcome == CASE_FAILED;
	t->skipped += r->outcome == CASE_SKIPPED;
	if (t->results) {
		add_result(run->c, t, r);
		return;
	}
	printf("%sok %u - %.*s %.*s%s", r->outcome == CASE_FAILED ? "not " : "", t->n, STR_ARG(place),
	       STR_ARG(r->one->name), what.n ? ": " : "");
	for (size_t i = 0; i < what.n; i++)
		putchar(what.p[i] == '#' ? '%' : what.p[i]); /* # begins a directive */
	if (r->outcome == CASE_SKIPPED)
		printf(" # SKIP %.*s", STR_ARG(r->why));
	putchar('\n');
	if (r->outcome == CASE_FAILED)
		print_failure(r);
}

/* Writes the file anew beside itself and renames it, so that no half of one is left. */
static int rewrite(struct cli *c, const struct source *src, const struct tally *t)
{
	struct str tmp = arena_printf(c->run, "%.*s.new", STR_ARG(src->name));
	FILE *f = fopen(tmp.p, "w");
	size_t off = 0;
	bool bad;

	if (!f)
		return cli_fail(CLI_REFUSED, "cannot write %s: %s", tmp.p, strerror(errno));
	for (size_t i = 0; i < t->edits.n; i++) {
		const struct edit *e = &t->edits.v[i];

		fwrite(src->text.p + off, 1, e->at.off - off, f);
		fwrite(e->text.p, 1, e->text.n, f);
		off = e->at.off + e->at.len;
	}
	fwrite(src->text.p + off, 1, src->text.n - off, f);
	bad = ferror(f) != 0;
	bad = fclose(f) != 0 || bad;
	if (!bad && rename(tmp.p, src->name.p) == 0)
		return CLI_YES;
	unlink(tmp.p);
	return cli_fail(CLI_REFUSED, "cannot write %s: %s", src->name.p, strerror(errno));
}

static int run_file(struct caserun *run, const char *path)
{
	struct tally *t = run->user;
	struct casefile f;
	uint32_t source;
	int err = source_open(&run->c->sources, path, &source);

	if (err)
		return cli_fail(CLI_REFUSED, "cannot read %s: %s", path, strerror(-err));
	if (!casefile_read(run->c, source, &f))
		return CLI_ERRORS;
	t->edits.n = 0;
	caserun_all(run, &f);
	return t->edits.n ? rewrite(run->c, source_get(&run->c->sources, source), t) : CLI_YES;
}

static void print_json(struct cli *c, const struct tally *t)
{
	json_t *j = json_object();

	json_object_set_new(j, "passed", json_integer(t->n - t->failed - t->skipped));
	json_object_set_new(j, "failed", json_integer(t->failed));
	json_object_set_new(j, "skipped", json_integer(t->skipped));
	json_object_set_new(j, "results", t->results);
	if (t->bless)
		json_object_set(j, "blessed", t->blessed);
	json_decref(t->blessed);
	json_object_set_new(j, "diagnostics", report_json(c));
	report_json_print(j);
}

int test_verb(struct cli *c)
{
	struct tally t = { .bless = c->opt.given[OPTION_BLESS] };
	struct caserun run = { .c = c, .engine = engine_choose(option_choice(&c->opt, OPTION_ENGINE)),
			       .done = one_done, .user = &t };
	int status = CLI_YES;

	if (c->opt.given[OPTION_JSON]) {
		t.results = json_array();
		t.blessed = json_array();
	}
	for (size_t i = 0; i < c->n_args; i++) {
		int s = run_file(&run, c->arg[i]);

		status = s > status ? s : status;
	}
	if (t.results) {
		print_json(c, &t);
		return status ? status : t.failed ? CLI_ERRORS : CLI_YES;
	}
	printf("1..%u\n", t.n);
	report_print(c, REPORT_ALL);
	printf("%u passed, %u failed, %u skipped\n", t.n - t.failed - t.skipped, t.failed, t.skipped);
	return status ? status : t.failed ? CLI_ERRORS : CLI_YES;
}
