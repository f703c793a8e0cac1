/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading options by their table. See option.h. */
#include "cli/option.h"

const struct option_row option_table[OPTION_COUNT] = {
#define X(id, name, arg, choices, help) [OPTION_##id] = { name, arg, choices, help },
#include "cli/option.def"
#undef X
};

enum { OPTION_MAX_CHOICES = 16 };

struct reader {
	struct arena *a;
	uint64_t known;
	struct option_values *out;
	char **argv;
	size_t at;
};

static const char *unknown_option(struct reader *r, struct str name)
{
	const char *names[OPTION_COUNT + 1], *near;
	size_t n = 0;

	for (int i = 0; i < OPTION_COUNT; i++)
		if (r->known >> i & 1)
			names[n++] = option_table[i].name;
	near = str_nearest(name, names, n);
	if (near)
		return arena_printf(r->a, "unknown option --%.*s; did you mean --%s?", STR_ARG(name), near).p;
	for (int i = 0; i < OPTION_COUNT; i++)
		if (str_is(name, option_table[i].name))
			return arena_printf(r->a, "--%.*s is not an option of this verb", STR_ARG(name)).p;
	return arena_printf(r->a, "unknown option --%.*s", STR_ARG(name)).p;
}

/* The option that is called name, or the only one that starts so; -1 and *why if there is none. */
static int find_option(struct reader *r, struct str name, const char **why)
{
	int found = -1;

	for (int i = 0; i < OPTION_COUNT; i++) {
		const char *full = option_table[i].name;

		if (!(r->known >> i & 1))
			continue;
		if (str_is(name, full))
			return i;
		if (name.n == 0 || strncmp(full, name.p, name.n) != 0)
			continue;
		if (found >= 0) {
			*why = arena_printf(r->a, "--%.*s may be --%s or --%s", STR_ARG(name),
					    option_table[found].name, full).p;
			return -1;
		}
		found = i;
	}
	if (found < 0)
		*why = unknown_option(r, name);
	return found;
}

static const char *take_choice(struct reader *r, int o, const char *text)
{
	const struct option_row *row = &option_table[o];
	struct str rest = str_from(row->choices), word = str_from(text);
	const char *names[OPTION_MAX_CHOICES], *near;
	size_t n = 0;

	for (bool more = true; more && n < OPTION_MAX_CHOICES;) {
		struct str one = str_cut(rest, '|', &rest, &more);

		if (str_eq(one, word)) {
			r->out->choice[o] = (int)n;
			return NULL;
		}
		names[n++] = arena_cstr(r->a, one);
	}
	near = str_nearest(word, names, n);
	if (near)
		return arena_printf(r->a, "--%s knows no '%s'; did you mean '%s'?", row->name, text, near).p;
	return arena_printf(r->a, "--%s knows no '%s', only %s", row->name, text, row->choices).p;
}

static const char *take_long(struct reader *r, struct str word)
{
	bool has_value;
	struct str value, name = str_cut(word, '=', &value, &has_value);
	const char *why = NULL, *text = NULL;
	int o;

	if (str_is(name, "help") || str_is(name, "version")) {
		*(str_is(name, "help") ? &r->out->help : &r->out->version) = true;
		return NULL;
	}
	o = find_option(r, name, &why);
	if (o < 0)
		return why;
	r->out->given[o] = true;
	if (!option_table[o].arg)
		return has_value ? arena_printf(r->a, "--%s takes no argument", option_table[o].name).p : NULL;
	if (has_value)
		text = value.p;
	else if (r->argv[r->at])
		text = r->argv[r->at++];
	else
		return arena_printf(r->a, "--%s needs an argument: %s", option_table[o].name,
				    option_table[o].choices ? option_table[o].choices : option_table[o].arg).p;
	r->out->text[o] = text;
	if (o == OPTION_SET)
		*vec_add(r->a, &r->out->set) = text;
	else if (o == OPTION_INCLUDE)
		*vec_add(r->a, &r->out->include) = text;
	else if (o == OPTION_DEFINE)
		*vec_add(r->a, &r->out->define) = text;
	return option_table[o].choices ? take_choice(r, o, text) : NULL;
}

/* -I DIR, -IDIR */
static const char *take_short(struct reader *r, struct str word)
{
	const char *name = word.p[1] == 'I' ? "include" : "define";

	if (word.n > 2)
		return take_long(r, arena_printf(r->a, "%s=%s", name, word.p + 2));
	return take_long(r, str_from(name));
}

const char *option_parse(struct arena *a, uint64_t known, char **argv, struct option_values *out, char **args,
			 size_t *n_args)
{
	struct reader r = { .a = a, .known = known, .out = out, .argv = argv };
	bool only_args = false;
	const char *why = NULL;

	*n_args = 0;
	while (!why && argv[r.at]) {
		struct str word = str_from(argv[r.at++]);

		if (only_args || word.n < 2 || word.p[0] != '-')
			args[(*n_args)++] = argv[r.at - 1];
		else if (str_is(word, "--"))
			only_args = true;
		else if (word.p[1] == '-')
			why = take_long(&r, str_slice(word, 2, word.n));
		else if (word.p[1] == 'I' || word.p[1] == 'D')
			why = take_short(&r, word);
		else if (str_is(word, "-h"))
			out->help = true;
		else
			why = arena_printf(a, "unknown option %s; options have two dashes", word.p).p;
	}
	return why;
}

int option_choice(const struct option_values *v, enum option o)
{
	return v->given[o] ? v->choice[o] : -1;
}
