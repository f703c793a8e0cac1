/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts and places in them. See source.h. */
#include "base/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

uint32_t source_add(struct sources *s, const char *name, struct str text)
{
	struct source *src = arena_new(s->a, struct source, 1);

	src->name = arena_str(s->a, name, strlen(name));
	src->text = arena_str(s->a, text.p, text.n);
	src->first_line = 1;
	index_lines(s->a, src);
	*vec_add(s->a, &s->all) = src;
	return (uint32_t)s->all.n;
}

int source_open(struct sources *s, const char *path, uint32_t *id)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), err = 0;
	char *text = NULL;
	size_t n = 0, cap = 0;
	ssize_t got;

	if (fd < 0)
		return -errno;
	for (;;) {
		if (n + SOURCE_CHUNK > cap) {
			char *more = realloc(text, cap = cap ? cap * 2 : SOURCE_CHUNK * 2);

			if (!more) {
				err = -ENOMEM;
				break;
			}
			text = more;
		}
		got = read(fd, text + n, SOURCE_CHUNK);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			err = got < 0 ? -errno : 0;
			break;
		}
		n += (size_t)got;
		if (n > source_max_bytes) {
			err = -EFBIG;
			break;
		}
	}
	if (!is_stdin)
		close(fd);
	if (!err) {
		arena_guard_hold(text);
		*id = source_add(s, path, (struct str){ text, n });
		arena_guard_hold(NULL);
	}
	free(text);
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
