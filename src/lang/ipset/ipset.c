/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lines and commands. A line is words between blanks; a word that begins with a quotation mark ends with the next one.
 * Blank lines, lines that begin with '#', and COMMIT mean nothing.
 */
#include "lang/ipset/ipset.h"

/* ---------- words ---------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool ipset_next_word(struct ipset_scan *s, struct ipset_word *w)
{
	size_t from;

	while (s->pos < s->end && is_blank(s->text.p[s->pos]))
		s->pos++;
	if (s->pos == s->end)
		return false;
	from = s->pos;
	w->is_quoted = s->text.p[from] == '"';
	if (w->is_quoted) {
		size_t q = from + 1;

		while (q < s->end && s->text.p[q] != '"')
			q++;
		s->is_open = q == s->end;
		w->text = (struct str){ s->text.p + from + 1, q - from - 1 };
		s->pos = q + !s->is_open;
	} else {
		while (s->pos < s->end && !is_blank(s->text.p[s->pos]))
			s->pos++;
		w->text = (struct str){ s->text.p + from, s->pos - from };
	}
	w->at = (struct loc){ s->source, (uint32_t)from, (uint32_t)(s->pos - from) };
	return true;
}

struct ipset_scan ipset_scan_line(const struct source *src, uint32_t source, uint32_t i)
{
	struct ipset_scan s = { .text = src->text, .source = source, .pos = src->line_off[i] };

	s.end = i + 1 < src->n_lines ? src->line_off[i + 1] : src->text.n;
	while (s.end > s.pos && (src->text.p[s.end - 1] == '\n' || src->text.p[s.end - 1] == '\r'))
		s.end--;
	return s;
}

/* The words of a line, in an array of just their number. */
static bool read_line(struct ipset_reader *r, struct ipset_scan *s, struct ipset_line *l)
{
	VEC(struct ipset_word) words = { 0 };
	struct ipset_word w;

	while (ipset_next_word(s, &w)) {
		*vec_add(r->line, &words) = w;
		if (s->is_open) {
			diag_error(r->d, w.at, "the text that begins here has no closing quotation mark");
			return false;
		}
	}
	l->n = (uint32_t)words.n;
	l->word = arena_new(r->a, struct ipset_word, words.n);
	if (words.n)
		memcpy(l->word, words.v, words.n * sizeof w);
	return true;
}

/* ---------- commands ---------- */

static size_t set_at(const struct ipset_file *f, struct str name)
{
	for (size_t i = 0; i < f->sets.n; i++)
		if (str_eq(f->sets.v[i]->model.name, name))
			return i;
	return f->sets.n;
}

/* The set that l->word[i] names, or NULL and an error. Sets follow each other in a file, so the last one is tried first. */
static struct ipset_set *set_named(struct ipset_reader *r, const struct ipset_line *l, uint32_t i)
{
	struct ipset_file *f = r->file;
	const char **names, *near;
	struct diag *g;
	size_t k;

	if (f->sets.n && str_eq(f->sets.v[f->sets.n - 1]->model.name, l->word[i].text))
		return f->sets.v[f->sets.n - 1];
	k = set_at(f, l->word[i].text);
	if (k < f->sets.n)
		return f->sets.v[k];
	for (k = 0; k < f->lacking.n; k++)
		if (str_eq(f->lacking.v[k], l->word[i].text))
			return NULL; /* that has been told */
	g = diag_error(r->d, l->word[i].at, "no set '%.*s' has been created before this line", STR_ARG(l->word[i].text));
	names = arena_new(r->line, const char *, f->sets.n);
	for (k = 0; k < f->sets.n; k++)
		names[k] = arena_cstr(r->line, f->sets.v[k]->model.name);
	near = str_nearest(l->word[i].text, names, f->sets.n);
	if (near)
		diag_hint(r->d, g, "did you mean '%s'?", near);
	return NULL;
}

static bool check_name(struct ipset_reader *r, struct ipset_word w)
{
	if (w.text.n >= 1 && w.text.n <= 31)
		return true;
	diag_error(r->d, w.at, "a set name has 1 to 31 bytes; '%.*s' has %zu", STR_ARG(w.text), w.text.n);
	return false;
}

static void do_create(struct ipset_reader *r, const struct ipset_line *l)
{
	struct ipset_file *f = r->file;
	struct ipset_word name = l->word[1];
	struct ipset_set *s;
	const char *near;
	size_t old = set_at(f, name.text);
	unsigned errors;

	if (old < f->sets.n) {
		if (!r->exist) {
			struct str where = source_name_line(r->d->a, r->d->sources, f->sets.v[old]->model.at);

			diag_error(r->d, name.at, "set %.*s is created twice (%.*s)", STR_ARG(name.text), STR_ARG(where));
			f->sets.v[old]->model.is_doubtful = true;
		}
		return;
	}
	if (!check_name(r, name))
		return;
	s = arena_new(r->a, struct ipset_set, 1);
	s->type = ipset_type_find(l->word[2].text);
	if (!s->type) {
		struct diag *g = diag_error(r->d, l->word[2].at, "'%.*s' is not a set type", STR_ARG(l->word[2].text));

		near = ipset_type_nearest(l->word[2].text);
		if (near)
			diag_hint(r->d, g, "did you mean '%s'?", near);
		return;
	}
	s->model.name = name.text;
	s->model.type = l->word[2].text;
	s->model.at = name.at;
	s->create = *l;
	errors = r->d->n_errors;
	ipset_type_options(r, s, l);
	s->model.is_doubtful = r->d->n_errors > errors;
	*vec_add(r->a, &f->sets) = s;
}

static void do_add(struct ipset_reader *r, const struct ipset_line *l)
{
	struct ipset_set *s = set_named(r, l, 1);
	size_t before;
	bool ok;

	if (!s)
		return;
	before = s->model.elems.n;
	ok = s->type->options & IPSET_SIZE ? ipset_elem_list(r, s, l) : ipset_elem_add(r, s, l);
	if (ok && (s->model.elems.n > before || r->has_updated)) {
		*vec_add(r->a, &s->adds) = *l;
		s->adds.v[s->adds.n - 1].has_updated = r->has_updated;
	}
}

static void do_flush(struct ipset_reader *r, const struct ipset_line *l)
{
	for (size_t i = 0; i < r->file->sets.n; i++) {
		struct ipset_set *s = r->file->sets.v[i];

		if (l->n > 1 && !str_eq(s->model.name, l->word[1].text))
			continue;
		s->model.elems.n = s->adds.n = 0;
		s->index = (struct ipset_index){ 0 };
	}
}

/* A file begins with nothing, so destroying what is not there is no error: scripts do that first. */
static void do_destroy(struct ipset_reader *r, const struct ipset_line *l)
{
	struct ipset_file *f = r->file;
	size_t k = 0;

	for (size_t i = 0; i < f->sets.n; i++)
		if (l->n > 1 && !str_eq(f->sets.v[i]->model.name, l->word[1].text))
			f->sets.v[k++] = f->sets.v[i];
	f->sets.n = k;
}

static void do_rename(struct ipset_reader *r, const struct ipset_line *l)
{
	struct ipset_set *s = set_named(r, l, 1);

	if (!s || !check_name(r, l->word[2]))
		return;
	if (set_at(r->file, l->word[2].text) < r->file->sets.n)
		diag_error(r->d, l->word[2].at, "there is a set '%.*s' already", STR_ARG(l->word[2].text));
	else
		s->model.name = l->word[2].text;
}

static void do_swap(struct ipset_reader *r, const struct ipset_line *l)
{
	struct ipset_set *x = set_named(r, l, 1), *y = x ? set_named(r, l, 2) : NULL;
	struct str name;

	if (!y)
		return;
	if (x->type != y->type || x->model.family != y->model.family) {
		diag_error(r->d, l->word[0].at, "sets %.*s and %.*s are of different types", STR_ARG(x->model.name),
			   STR_ARG(y->model.name));
		x->model.is_doubtful = y->model.is_doubtful = true;
		return;
	}
	name = x->model.name;
	x->model.name = y->model.name;
	y->model.name = name;
}

static const struct command {
	const char *name, *other, *third; /* as written; older spellings */
	uint32_t least;			  /* words */
	const char *usage;
	void (*run)(struct ipset_reader *r, const struct ipset_line *l);
} commands[] = {
	{ "create", "-N", "n", 3, "create NAME TYPE [options]", do_create },
	{ "add", "-A", "a", 3, "add NAME ELEMENT [options]", do_add },
	{ "flush", "-F", "flush", 1, "flush [NAME]", do_flush },
	{ "destroy", "-X", "x", 1, "destroy [NAME]", do_destroy },
	{ "rename", "-E", "e", 3, "rename FROM TO", do_rename },
	{ "swap", "-W", "w", 3, "swap ONE OTHER", do_swap },
};

static void run_command(struct ipset_reader *r, const struct ipset_line *l)
{
	const char *names[sizeof commands / sizeof *commands], *near;
	struct str verb = l->word[0].text;
	struct diag *g;

	r->exist = r->has_updated = false;
	for (uint32_t i = 1; i < l->n; i++)
		r->exist |= str_is(l->word[i].text, "-exist") || str_is(l->word[i].text, "-!");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		const struct command *c = &commands[i];

		names[i] = c->name;
		if (!str_is(verb, c->name) && !str_is(verb, c->other) && !str_is(verb, c->third))
			continue;
		if (l->n < c->least)
			diag_error(r->d, l->word[0].at, "words are missing: %s", c->usage);
		else
			c->run(r, l);
		return;
	}
	g = diag_error(r->d, l->word[0].at, "'%.*s' is not read here; a file of sets has create, add and flush lines", STR_ARG(verb));
	near = str_nearest(verb, names, sizeof commands / sizeof *commands);
	if (near)
		diag_hint(r->d, g, "did you mean '%s'?", near);
}

/* An element that cannot be read leaves the set what it is; anything else may be a set that is missing now. */
static void run_line(struct ipset_reader *r, const struct ipset_line *l)
{
	unsigned errors = r->d->n_errors;
	size_t n = r->file->sets.n;

	run_command(r, l);
	if (r->d->n_errors == errors || r->file->sets.n > n || str_is(l->word[0].text, "add") || str_is(l->word[0].text, "-A") ||
	    str_is(l->word[0].text, "a"))
		return;
	r->file->lacks_sets = true;
	if (l->n > 1)
		*vec_add(r->a, &r->file->lacking) = l->word[1].text;
}

struct ipset_file *ipset_read(struct arena *a, struct diags *d, uint32_t source)
{
	const struct source *src = source_get(d->sources, source);
	struct ipset_file *f = arena_new(a, struct ipset_file, 1);
	struct ipset_reader r = { .a = a, .scratch = arena_create(), .line = arena_create(), .d = d, .file = f };

	for (uint32_t i = 0; i < src->n_lines; i++) {
		struct ipset_scan s = ipset_scan_line(src, source, i);
		struct ipset_line l = { 0 };

		if (s.pos < s.end && src->text.p[s.pos] == '#')
			continue;
		if (!read_line(&r, &s, &l)) {
			f->lacks_sets = true;
			continue;
		}
		if (l.n == 0 || str_is(l.word[0].text, "COMMIT"))
			continue;
		run_line(&r, &l);
		arena_reset(r.line);
	}
	for (size_t i = 0; i < f->sets.n; i++)
		f->sets.v[i]->index = (struct ipset_index){ 0 };
	arena_destroy(r.scratch);
	arena_destroy(r.line);
	return f;
}

/* ---------- model and text ---------- */

void ipset_lower(struct ruleset *rs, struct diags *d, const struct ipset_file *f)
{
	rs->lacks_sets |= f->lacks_sets;
	for (size_t i = 0; i < f->sets.n; i++) {
		const struct ipset_set *from = f->sets.v[i];
		struct set *old = policy_set_find(rs, from->model.name), *s;

		if (old) {
			struct str where = source_name_line(d->a, d->sources, old->at);

			diag_error(d, from->model.at, "set %.*s is also given by another file (%.*s)", STR_ARG(from->model.name),
				   STR_ARG(where));
			old->is_doubtful = true;
			continue;
		}
		s = policy_set_add(rs, from->model.name, from->model.at);
		uint32_t id = s->id;
		*s = from->model;
		s->id = id;
	}
	policy_number(rs);
}

static bool is_count(const struct ipset_word *w)
{
	return !w->is_quoted && (str_is(w->text, "packets") || str_is(w->text, "bytes"));
}

/* The words behind the verb and the set's name (which a rename may have changed). */
static void print_line(struct buf *b, const char *verb, const struct ipset_set *s, const struct ipset_line *l, bool with_counts)
{
	buf_printf(b, "%s %.*s", verb, STR_ARG(s->model.name));
	for (uint32_t i = 2; i < l->n; i++) {
		const struct ipset_word *w = &l->word[i];

		if (i > 2 && is_count(w) && !with_counts) {
			i++;
			continue;
		}
		if (!w->is_quoted && (str_is(w->text, "-exist") || str_is(w->text, "-!")))
			continue;
		buf_printf(b, w->is_quoted ? " \"%.*s\"" : " %.*s", STR_ARG(w->text));
	}
	buf_printf(b, l->has_updated ? " -exist\n" : "\n");
}

struct str ipset_print(struct arena *a, const struct ipset_file *f, bool with_counts)
{
	struct buf b = { .a = a };

	for (size_t i = 0; i < f->sets.n; i++) {
		const struct ipset_set *s = f->sets.v[i];

		print_line(&b, "create", s, &s->create, true);
		for (size_t j = 0; j < s->adds.n; j++)
			print_line(&b, "add", s, &s->adds.v[j], with_counts);
	}
	return buf_str(&b);
}
