/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files by their patterns. See include.h. */
#include "lang/nft/include.h"

#include <errno.h>
#include <glob.h>

enum { INCLUDE_DEPTH = 16 };

static bool is_pattern(struct str path)
{
	for (size_t i = 0; i < path.n; i++)
		if (memchr("*?[", path.p[i], 3))
			return true;
	return false;
}

static bool open_file(struct diags *d, struct nft_include *inc, const char *path)
{
	uint32_t source;
	int err = source_open(d->sources, path, &source);

	if (err)
		diag_error(d, inc->at, "cannot read %s: %s", path, strerror(-err));
	else
		*vec_add(d->a, &inc->source) = source;
	return err == 0;
}

/* How many files the pattern has; -1 after an error. */
static int open_all(struct diags *d, struct nft_include *inc, const char *pattern)
{
	glob_t g = { 0 };
	int n = 0, err = glob(pattern, 0, NULL, &g);

	for (size_t i = 0; !err && i < g.gl_pathc && n >= 0; i++)
		n = open_file(d, inc, g.gl_pathv[i]) ? n + 1 : -1;
	globfree(&g);
	if (err && err != GLOB_NOMATCH) {
		diag_error(d, inc->at, "cannot look for %s", pattern);
		return -1;
	}
	return n;
}

static bool report_missing(struct arena *a, struct diags *d, const struct nft_include *inc, struct str path)
{
	const struct sources *s = d->sources;
	struct diag *g = diag_error(d, inc->at, "there is no file '%.*s'", STR_ARG(path));
	struct buf b = { .a = a };

	if (path.p[0] == '/' || str_starts(path, "./") || str_starts(path, "../"))
		return false;
	for (size_t i = 0; i < s->include_dirs.n; i++)
		buf_printf(&b, "%s%.*s", i ? ", " : "", STR_ARG(s->include_dirs.v[i]));
	diag_hint(d, g, "it was looked for in %.*s; say -I DIR, or write a path that begins with / or ./",
		  STR_ARG(s->include_dirs.n ? buf_str(&b) : STR("/etc")));
	return false;
}

bool nft_include_find(struct arena *a, struct diags *d, struct str path, unsigned depth, struct nft_include *out)
{
	const struct sources *s = d->sources;
	bool is_plain = path.n && (path.p[0] == '/' || str_starts(path, "./") || str_starts(path, "../"));
	size_t n = is_plain || !s->include_dirs.n ? 1 : s->include_dirs.n;
	int found = 0;

	if (s->has_no_files || depth >= INCLUDE_DEPTH || path.n == 0 || memchr(path.p, '\0', path.n)) {
		diag_error(d, out->at, s->has_no_files ? "no other file can be read here"
				       : path.n	       ? "files include each other more than %d deep"
						       : "a file's name is missing",
			   INCLUDE_DEPTH);
		return false;
	}
	for (size_t i = 0; i < n && !found; i++) {
		struct str dir = is_plain ? STR("") : s->include_dirs.n ? s->include_dirs.v[i] : STR("/etc");

		found = open_all(d, out, arena_cstr(a, arena_printf(a, "%.*s%s%.*s", STR_ARG(dir), is_plain ? "" : "/", STR_ARG(path))));
	}
	if (found < 0)
		return false;
	return found || is_pattern(path) || report_missing(a, d, out, path);
}
