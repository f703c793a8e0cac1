/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts and places in them. See source.h. */
#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_CHUNK = 1 << 16 };
static const size_t source_max_bytes = (size_t)1 << 30;

/* A line end that ends the text begins no line. */
static const char *next_line(const char *p, const char *last)
{
	const char *nl = p < last ? memchr(p, '\n', (size_t)(last - p)) : NULL;

	return nl ? nl + 1 : NULL;
}

static void index_lines(struct arena *a, struct source *s)
{
	const char *last = s->text.p + (s->text.n ? s->text.n - 1 : 0), *p;
	uint32_t n = 1;

	for (p = next_line(s->text.p, last); p; p = next_line(p, last))
		n++;
	s->line_off = arena_new(a, uint32_t, n);
	s->n_lines = 1;
	for (p = next_line(s->text.p, last); p; p = next_line(p, last))
		s->line_off[s->n_lines++] = (uint32_t)(p - s->text.p);
}

/* The text is kept as it lies. */
static uint32_t add_kept(struct sources *s, const char *name, struct str text)
{
	struct source *src = arena_new(s->a, struct source, 1);

	src->name = arena_str(s->a, name, strlen(name));
	src->text = text;
	src->first_line = 1;
	index_lines(s->a, src);
	*vec_add(s->a, &s->all) = src;
	return (uint32_t)s->all.n;
}

uint32_t source_add(struct sources *s, const char *name, struct str text)
{
	return add_kept(s, name, arena_str(s->a, text.p, text.n));
}

/* Bytes to expect: those of a file, one piece of what has no size. */
static size_t size_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return SOURCE_CHUNK;
	return (size_t)st.st_size > source_max_bytes ? source_max_bytes : (size_t)st.st_size;
}

/* Reads to the end, into a buffer that ends with a NUL. 0 or -errno. */
static int read_all(struct arena *a, int fd, struct str *out)
{
	size_t cap = size_of(fd) + 1, n = 0;
	char *text = arena_alloc(a, cap + 1, 1), *more;
	ssize_t got;

	for (;;) {
		got = read(fd, text + n, cap - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
		if (n > source_max_bytes)
			return -EFBIG;
		if (n < cap)
			continue;
		more = arena_alloc(a, 2 * cap + 1, 1);
		memcpy(more, text, n);
		text = more;
		cap *= 2;
	}
	text[n] = '\0';
	*out = (struct str){ text, n };
	return got < 0 ? -errno : 0;
}

int source_open(struct sources *s, const char *path, uint32_t *id)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), err;
	struct str text;

	if (fd < 0)
		return -errno;
	err = read_all(s->a, fd, &text);
	if (!is_stdin)
		close(fd);
	if (!err)
		*id = add_kept(s, path, text);
	return err;
}

const struct source *source_get(const struct sources *s, uint32_t id)
{
	return id && id <= s->all.n ? s->all.v[id - 1] : NULL;
}

bool source_place(const struct sources *s, struct loc at, uint32_t *line, uint32_t *col)
{
	const struct source *src = source_get(s, at.source);
	uint32_t lo = 0, hi;

	if (!src)
		return false;
	if (at.off >= src->text.n && str_ends(src->text, "\n")) { /* where the next line would begin */
		*line = src->n_lines + src->first_line;
		*col = 1;
		return true;
	}
	for (hi = src->n_lines; hi - lo > 1;) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (src->line_off[mid] <= at.off)
			lo = mid;
		else
			hi = mid;
	}
	*line = lo + src->first_line;
	*col = at.off - src->line_off[lo] + 1;
	return true;
}

struct str source_line(const struct source *src, uint32_t line)
{
	uint32_t i = line - src->first_line;
	size_t from, to;

	if (i >= src->n_lines)
		return STR("");
	from = src->line_off[i];
	to = i + 1 < src->n_lines ? src->line_off[i + 1] : src->text.n;
	while (to > from && (src->text.p[to - 1] == '\n' || src->text.p[to - 1] == '\r'))
		to--;
	return str_slice(src->text, from, to);
}

struct str source_name_line(struct arena *a, const struct sources *s, struct loc at)
{
	uint32_t line, col;

	if (!source_place(s, at, &line, &col))
		return STR("-");
	return arena_printf(a, "%.*s:%u", STR_ARG(source_get(s, at.source)->name), line);
}
