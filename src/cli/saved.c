/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Folders of rules. See saved.h. */
#include "cli/saved.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const options_name = "weir.options";
static const enum option shaping[] = { OPTION_LANG, OPTION_TABLES, OPTION_MALFORMED, OPTION_REJECT_AS_DROP,
				       OPTION_ONLY_FAMILY };
enum { N_SHAPING = sizeof shaping / sizeof *shaping };

/* What a file that was read is called in a folder. */
static struct str name_in_folder(struct str path)
{
	if (str_is(path, "-"))
		return STR("rules");
	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/')
			return str_slice(path, i, path.n);
	return path;
}

/* --set with the list's name alone: it will lie beside the rules. */
static void add_lists(struct cli *c, struct buf *b)
{
	for (size_t i = 0; i < c->opt.set.n; i++) {
		bool found;
		struct str path, name = str_cut(str_from(c->opt.set.v[i]), '=', &path, &found);

		buf_printf(b, "--set=%.*s=%.*s\n", STR_ARG(name), STR_ARG(name_in_folder(path)));
	}
}

struct str saved_options(struct cli *c)
{
	struct buf b = { .a = c->run };

	for (size_t i = 0; i < N_SHAPING; i++) {
		const struct option_row *row = &option_table[shaping[i]];

		if (!c->opt.given[shaping[i]])
			continue;
		buf_printf(&b, "--%s%s%s\n", row->name, row->arg ? "=" : "",
			   row->arg ? c->opt.text[shaping[i]] : "");
	}
	add_lists(c, &b);
	return buf_str(&b);
}

/* Files that an editor or a package manager leaves are not meant. */
static bool is_rules_name(const char *name)
{
	struct str s = str_from(name);

	return name[0] != '.' && strcmp(name, options_name) != 0 && !str_ends(s, "~") && !str_ends(s, ".bak") &&
	       !strstr(name, ".dpkg-");
}

static int compare(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void take_lists(struct cli *c, const char *dir, const struct option_values *from_file)
{
	for (size_t i = 0; i < from_file->set.n; i++) {
		bool found;
		struct str path, name = str_cut(str_from(from_file->set.v[i]), '=', &path, &found);

		*vec_add(c->run, &c->opt.set) = arena_printf(c->run, "%.*s=%s/%.*s", STR_ARG(name), dir, STR_ARG(path)).p;
		c->opt.given[OPTION_SET] = true;
	}
}

/* Words of weir.options, as if they stood on the command line; what stands there holds. */
static int obey_options(struct cli *c, const char *dir)
{
	char *path = arena_cstr(c->run, arena_printf(c->run, "%s/%s", dir, options_name));
	struct option_values from_file = { 0 };
	VEC(char *) word = { 0 };
	const char *why;
	uint32_t id;
	size_t n;

	if (access(path, F_OK))
		return CLI_YES;
	int err = source_open(&c->sources, path, &id);
	if (err)
		return cli_fail(CLI_REFUSED, "cannot read %s: %s", path, strerror(-err));
	struct str text = c->sources.all.v[--c->sources.all.n]->text;
	for (bool more = true; more;) {
		struct str line = str_trim(str_cut(text, '\n', &text, &more));

		if (line.n && line.p[0] != '#')
			*vec_add(c->run, &word) = arena_cstr(c->run, line);
	}
	*vec_add(c->run, &word) = NULL;
	why = option_parse(c->run, c->verb->options, word.v, &from_file, arena_new(c->run, char *, word.n), &n);
	if (why || n)
		return cli_fail(CLI_USAGE, "%s: %s", path, why ? why : "only options may stand here");
	take_lists(c, dir, &from_file);
	for (size_t i = 0; i < N_SHAPING; i++) {
		enum option o = shaping[i];

		if (c->opt.given[o] || !from_file.given[o])
			continue;
		c->opt.given[o] = true;
		c->opt.text[o] = from_file.text[o];
		c->opt.choice[o] = from_file.choice[o];
	}
	return CLI_YES;
}

struct names {
	VEC(char *) all;
};

/* The lists that --set names lie beside the rules, and are none. */
static bool is_list_of_set(const struct cli *c, const char *file)
{
	for (size_t i = 0; i < c->opt.set.n; i++) {
		const char *path = strchr(c->opt.set.v[i], '=');

		if (path && strcmp(path + 1, file) == 0)
			return true;
	}
	return false;
}

static int list_dir(struct cli *c, const char *path, struct names *out)
{
	int status = obey_options(c, path);
	DIR *d = opendir(path);
	struct dirent *e;
	size_t from = out->all.n;

	if (!d)
		return cli_fail(CLI_REFUSED, "cannot look into %s: %s", path, strerror(errno));
	while ((e = readdir(d))) {
		char *file = arena_cstr(c->run, arena_printf(c->run, "%s/%s", path, e->d_name));

		if (is_rules_name(e->d_name) && !is_dir(file) && !is_list_of_set(c, file))
			*vec_add(c->run, &out->all) = file;
	}
	closedir(d);
	if (out->all.n == from)
		return cli_fail(CLI_REFUSED, "no rules in %s", path);
	qsort(out->all.v + from, out->all.n - from, sizeof *out->all.v, compare);
	return status;
}

int saved_expand(struct cli *c, struct saved_args *out)
{
	struct names names = { { 0 } };
	int status = CLI_YES;

	for (size_t i = 0; i < c->n_args && !status; i++) {
		if (is_dir(c->arg[i]))
			status = list_dir(c, c->arg[i], &names);
		else
			*vec_add(c->run, &names.all) = c->arg[i];
	}
	*out = (struct saved_args){ names.all.v, names.all.n };
	return status;
}

/* ---------- writing ---------- */

static int write_file(struct cli *c, const char *path, struct str text)
{
	char *fresh = arena_cstr(c->run, arena_printf(c->run, "%s.XXXXXX", path));
	int fd = mkostemp(fresh, O_CLOEXEC), err = 0;

	if (fd < 0)
		return cli_fail(CLI_REFUSED, "cannot write %s: %s", path, strerror(errno));
	for (size_t done = 0; done < text.n && !err;) {
		ssize_t n = write(fd, text.p + done, text.n - done);

		if (n < 0 && errno != EINTR)
			err = errno;
		done += n > 0 ? (size_t)n : 0;
	}
	if (!err && (fsync(fd) || rename(fresh, path)))
		err = errno;
	close(fd);
	if (!err)
		return CLI_YES;
	unlink(fresh);
	return cli_fail(CLI_REFUSED, "cannot write %s: %s", path, strerror(err));
}

static char *file_name(struct cli *c, const struct info *info, size_t i)
{
	return arena_cstr(c->run, name_in_folder(info->files.v[i].name));
}

/* What lies in the folder and is not part of the active rules would be loaded with them the next time. */
static int check_strangers(struct cli *c, const struct info *info, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int status = CLI_YES;

	while (d && (e = readdir(d))) {
		bool is_ours = !is_rules_name(e->d_name) ||
			       is_dir(arena_printf(c->run, "%s/%s", dir, e->d_name).p);

		for (size_t i = 0; i < info->files.n; i++)
			is_ours = is_ours || strcmp(file_name(c, info, i), e->d_name) == 0;
		if (!is_ours)
			status = cli_fail(CLI_REFUSED, "%s/%s is not one of the active rules, and would be loaded with "
					  "them; move it away first", dir, e->d_name);
	}
	if (d)
		closedir(d);
	return status;
}

int saved_write(struct cli *c, const struct info *info, const char *dir)
{
	int status = check_strangers(c, info, dir);

	for (size_t i = 0; i < info->files.n; i++)
		for (size_t k = 0; k < i && !status; k++)
			if (strcmp(file_name(c, info, i), file_name(c, info, k)) == 0)
				status = cli_fail(CLI_REFUSED, "two files are called %s; save them by hand",
						  file_name(c, info, i));
	for (size_t i = 0; i < info->files.n && !status; i++)
		status = write_file(c, arena_printf(c->run, "%s/%s", dir, file_name(c, info, i)).p,
				    info->files.v[i].text);
	if (status)
		return status;
	const char *options = arena_printf(c->run, "%s/%s", dir, options_name).p;
	if (info->options.n)
		return write_file(c, options, info->options);
	if (unlink(options) && errno != ENOENT)
		return cli_fail(CLI_REFUSED, "cannot remove %s: %s", options, strerror(errno));
	return CLI_YES;
}
