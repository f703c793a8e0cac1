/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Running cases. The packets of a case go in order through one engine, so that limits, sets and connections carry
 * over. Every text of error, warn and print is a ruleset of its own. Besides what a case says, its rules must be
 * read back the same from what weir prints of them.
 */
#include "cli/caserun.h"

#include "cli/read.h"
#include "packet/notation.h"

/* A case on its way: its rules, and what stands in the way of running them. */
struct world {
	struct caserun *run;
	struct cli *c;
	const struct case_one *k;
	struct diags d;
	struct ruleset *rs;
	struct lang_file file, set_file;
	struct env env;
	void *state;	  /* of the engine */
	struct str skip;  /* why the engine does not run */
	uint64_t *hits;	  /* by rule.id */
	const struct case_line *judged; /* the last error or warn line, and: */
	struct diags judged_d;
	uint32_t judged_line;
	bool *is_used;	  /* which of its diagnostics are spoken for */
};

static struct diags fresh_diags(struct cli *c)
{
	return (struct diags){ .a = c->run, .sources = &c->sources };
}

static struct str diags_text(struct cli *c, struct diags *d)
{
	struct buf b = { .a = c->run };

	diag_sort(d);
	for (size_t i = 0; i < d->all.n; i++) {
		struct str s = diag_format(c->run, d, &d->all.v[i]);

		if (d->all.v[i].severity == DIAG_ERROR || d->n_errors == 0)
			buf_add(&b, s.p, s.n);
	}
	return buf_str(&b);
}

static void tell(struct world *w, const struct case_line *l, enum case_outcome o, struct str got, struct str why)
{
	struct case_result r = { .one = w->k, .line = l, .outcome = o, .got = got, .why = why };

	w->run->done(w->run, &r);
}

static const char *folder_of(struct cli *c, uint32_t source)
{
	struct str name = source_get(&c->sources, source)->name;

	while (name.n && name.p[name.n - 1] != '/')
		name.n--;
	return name.n ? arena_cstr(c->run, name) : ".";
}

/* Lists of the case, and those that the command line gives to all cases. */
static void read_lists(struct cli *c, struct diags *d, const struct case_one *k, struct ruleset *rs)
{
	const struct lists_args of_case = { k->lists.v, k->lists.n, folder_of(c, k->at.source) };
	const struct lists_args of_all = { c->opt.set.v, c->opt.set.n, NULL };
	struct lists lists = { { 0 } };

	if (lists_read(c, d, rs, &of_case, &lists) || lists_read(c, d, rs, &of_all, &lists))
		diag_error(d, k->at, "a list of this case cannot be read");
}

/* Rules and sets as one ruleset; the result is usable if *d has no errors. */
static struct ruleset *read_ruleset(struct cli *c, struct diags *d, const struct case_one *k, uint32_t rules,
				    struct lang_file *file)
{
	struct ruleset *rs = policy_create(c->run);
	struct lang_file sets;

	if (rules)
		read_source(rs, d, rules, k->lang, file);
	if (k->sets)
		read_source(rs, d, k->sets, LANG_IPSET, &sets);
	if (k->lists.n || c->opt.set.n)
		read_lists(c, d, k, rs);
	policy_number(rs);
	policy_check(rs, d);
	return rs;
}

/* ---- packets ---- */

static void run_packet(struct world *w, const struct case_line *l)
{
	struct diags d = fresh_diags(w->c);
	struct engine_answer got = { 0 };
	struct packet p;
	struct str why;

	packet_init(&p);
	if (!notation_parse(w->c->run, &d, l->subject, l->subject_at, &p)) {
		tell(w, l, CASE_FAILED, STR(""), diags_text(w->c, &d));
		return;
	}
	if (!w->state) {
		tell(w, l, w->d.n_errors ? CASE_FAILED : CASE_SKIPPED, STR(""), w->skip);
		return;
	}
	if (w->run->engine != &engine_eval && str_starts(l->expect, "unknown")) {
		tell(w, l, CASE_SKIPPED, STR(""), STR("only the evaluator says unknown"));
		return;
	}
	w->run->engine->run(w->state, w->c->run, &p, &got);
	if (got.skip.n) {
		tell(w, l, CASE_SKIPPED, STR(""), got.skip);
		return;
	}
	for (size_t i = 0; i < got.hits.n; i++)
		w->hits[got.hits.v[i]->id]++;
	if (expect_packet_holds(w->c, w->k, l->expect, &got, &why))
		tell(w, l, CASE_PASSED, STR(""), STR(""));
	else
		tell(w, l, CASE_FAILED, expect_packet_text(w->c, w->k, l->expect, &got), why);
}

static void run_hits(struct world *w, const struct case_line *l)
{
	struct buf b = { .a = w->c->run };
	struct str rest = l->expect;
	bool holds = true, more = true;

	if (!w->state) {
		tell(w, l, w->d.n_errors ? CASE_FAILED : CASE_SKIPPED, STR(""), w->skip);
		return;
	}
	for (uint32_t n = 1; n <= w->k->rule_line.n; n++) {
		uint64_t sum = 0, want = 0;
		struct str word = str_cut(rest, ' ', &rest, &more);

		for (size_t i = 0; i < w->rs->rules.n; i++)
			if (expect_rule_number(w->c, w->k, w->rs->rules.v[i]) == n)
				sum += w->hits[w->rs->rules.v[i]->id];
		rest = str_trim(rest);
		holds = holds && str_u64(word, 10, UINT64_MAX, &want) && want == sum;
		buf_printf(&b, "%s%llu", n > 1 ? " " : "", (unsigned long long)sum);
	}
	holds = holds && rest.n == 0;
	tell(w, l, holds ? CASE_PASSED : CASE_FAILED, buf_str(&b), STR(""));
}

/* ---- error, warn, also ---- */

/* "3:14-20", "14-20", or "-" when it has no place; lines count from the text's own first one. */
static struct str place_text(struct world *w, const struct diag *g)
{
	struct buf b = { .a = w->c->run };
	uint32_t line, col;

	if (!source_place(&w->c->sources, g->at, &line, &col))
		return STR("-");
	line -= w->judged_line - 1;
	if (line != 1)
		buf_printf(&b, "%d:", (int)line);
	buf_printf(&b, "%u", col);
	if (g->at.len > 1)
		buf_printf(&b, "-%u", col + g->at.len - 1);
	return buf_str(&b);
}

static bool place_holds(struct str want, struct str is)
{
	bool has_end;
	struct str end;

	if (str_is(want, "-") || str_eq(want, is))
		return true;
	if (memchr(want.p, '-', want.n))
		return false;
	return str_eq(want, str_cut(is, '-', &end, &has_end)); /* the end is not said */
}

static bool diag_holds(struct world *w, const struct diag *g, struct str expect)
{
	bool has_part;
	struct str part, place = str_cut(expect, ' ', &part, &has_part);

	part = str_trim(part);
	if (!place_holds(place, place_text(w, g)))
		return false;
	return part.n == 0 || memmem(g->text.p, g->text.n, part.p, part.n) || (g->id && str_is(part, g->id));
}

/* What an error or warn line, or an `also` behind it, got: a diagnostic that nothing else spoke for. */
static void judge_diag(struct world *w, const struct case_line *l, enum diag_severity severity)
{
	struct diags *d = &w->judged_d;
	struct buf got = { .a = w->c->run };

	for (size_t i = 0; i < d->all.n; i++)
		if (d->all.v[i].severity == severity && !w->is_used[i] && diag_holds(w, &d->all.v[i], l->expect)) {
			w->is_used[i] = true;
			tell(w, l, CASE_PASSED, STR(""), STR(""));
			return;
		}
	for (size_t i = 0; i < d->all.n && got.n == 0; i++)
		if (d->all.v[i].severity == severity && !w->is_used[i]) {
			buf_printf(&got, "%.*s  %.*s", STR_ARG(place_text(w, &d->all.v[i])), STR_ARG(d->all.v[i].text));
			w->is_used[i] = true;
		}
	tell(w, l, CASE_FAILED, buf_str(&got), d->all.n ? diags_text(w->c, d) : STR("nothing was found"));
}

/* Errors that no `also` line spoke for are failures of the error line. */
static void end_judging(struct world *w)
{
	struct diags *d = &w->judged_d;

	if (!w->judged)
		return;
	for (size_t i = 0; i < d->all.n; i++)
		if (d->all.v[i].severity == DIAG_ERROR && !w->is_used[i]) {
			tell(w, w->judged, CASE_FAILED, STR(""),
			     arena_printf(w->c->run, "another error that no 'also' line expects:\n%.*s",
					  STR_ARG(diag_format(w->c->run, d, &d->all.v[i]))));
			break;
		}
	w->judged = NULL;
}

static void run_diag(struct world *w, const struct case_line *l)
{
	uint32_t source = casefile_text_source(w->c, w->k, l, &w->judged_line);
	struct lang_file file;

	w->judged = l;
	w->judged_d = fresh_diags(w->c);
	read_ruleset(w->c, &w->judged_d, w->k, source, &file);
	diag_sort(&w->judged_d);
	w->is_used = arena_new(w->c->run, bool, w->judged_d.all.n + 1);
	judge_diag(w, l, l->kind == CASE_ERROR ? DIAG_ERROR : DIAG_WARNING);
}

static void run_also(struct world *w, const struct case_line *l)
{
	if (w->judged)
		judge_diag(w, l, w->judged->kind == CASE_ERROR ? DIAG_ERROR : DIAG_WARNING);
	else
		tell(w, l, CASE_FAILED, STR(""), STR("no error or warn line stands before it"));
}

/* ---- print ---- */

static void run_print(struct world *w, const struct case_line *l)
{
	struct diags d = fresh_diags(w->c);
	struct lang_file file;
	uint32_t line, source = casefile_text_source(w->c, w->k, l, &line);
	struct ruleset *rs = read_ruleset(w->c, &d, w->k, source, &file);
	struct buf b = { .a = w->c->run };

	for (size_t i = 0; i < rs->rules.n; i++)
		buf_printf(&b, "%s%.*s", i ? " | " : "", STR_ARG(rs->rules.v[i]->text));
	if (d.n_errors)
		tell(w, l, CASE_FAILED, STR(""), diags_text(w->c, &d));
	else
		tell(w, l, str_eq(buf_str(&b), l->expect) ? CASE_PASSED : CASE_FAILED, buf_str(&b), STR(""));
}

/* Reading what was printed must give the same model. */
static void check_printing(struct world *w)
{
	struct case_result r = { .one = w->k, .what = STR("reads back what it prints"), .outcome = CASE_PASSED };
	struct diags d = fresh_diags(w->c);
	struct str printed, before, after;
	struct lang_file file;
	struct ruleset *rs;

	if (!w->k->rules || w->d.n_errors)
		return;
	before = policy_dump(w->c->run, w->rs);
	printed = lang_print(w->c->run, &w->file, true);
	rs = read_ruleset(w->c, &d, w->k, source_add(&w->c->sources, "printed", printed), &file);
	after = d.n_errors ? diags_text(w->c, &d) : policy_dump(w->c->run, rs);
	if (d.n_errors || !str_eq(before, after)) {
		r.outcome = CASE_FAILED;
		r.why = arena_printf(w->c->run, "printed:\n%.*sread:\n%.*sread back:\n%.*s", STR_ARG(printed),
				     STR_ARG(before), STR_ARG(after));
	}
	w->run->done(w->run, &r);
}

/* ---- cases ---- */

static void open_world(struct world *w)
{
	struct eval_options opt = { .hook = w->k->hook, .ct = w->k->ct, .track = w->k->track,
				    .malformed_accept = w->k->malformed_accept };

	w->d = fresh_diags(w->c);
	w->rs = read_ruleset(w->c, &w->d, w->k, w->k->rules, &w->file);
	if (w->k->env && env_read(w->c->run, &w->d, w->k->env, &w->env))
		opt.env = &w->env;
	if (w->d.n_errors) {
		w->skip = diags_text(w->c, &w->d);
		return;
	}
	w->hits = arena_new(w->c->run, uint64_t, w->rs->rules.n + 1);
	w->state = w->run->engine->open(w->c->run, w->rs, &opt, &w->skip);
}

static void run_case(struct caserun *run, const struct case_one *k)
{
	struct world w = { .run = run, .c = run->c, .k = k };

	open_world(&w);
	for (size_t i = 0; i < k->lines.n; i++) {
		const struct case_line *l = &k->lines.v[i];

		if (l->kind != CASE_ALSO)
			end_judging(&w);
		switch (l->kind) {
		case CASE_PACKET: run_packet(&w, l); break;
		case CASE_HITS: run_hits(&w, l); break;
		case CASE_ERROR:
		case CASE_WARN: run_diag(&w, l); break;
		case CASE_ALSO: run_also(&w, l); break;
		case CASE_PRINT: run_print(&w, l); break;
		}
	}
	end_judging(&w);
	check_printing(&w);
	if (w.state)
		run->engine->close(w.state);
}

void caserun_all(struct caserun *run, const struct casefile *f)
{
	for (size_t i = 0; i < f->cases.n; i++)
		run_case(run, &f->cases.v[i]);
}
