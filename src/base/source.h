/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources: the texts that a run reads, and places in them.
 *
 * A place (struct loc) is 12 bytes and survives every transformation, so any later pass can still point
 * at the exact bytes that a person wrote. Line and column are computed only when somebody asks.
 */
#ifndef WEIR_BASE_SOURCE_H
#define WEIR_BASE_SOURCE_H

#include "base/arena.h"

struct loc {
	uint32_t source; /* index into sources + 1; 0 = no place */
	uint32_t off;	 /* first byte */
	uint32_t len;	 /* bytes; 0 = between two bytes */
};

struct source {
	struct str name; /* as the user gave it; "-" for standard input */
	struct str text; /* whole, NUL-ended */
	uint32_t *line_off; /* offset of the first byte of each line */
	uint32_t n_lines;
	uint32_t first_line; /* number of the first line: 1, or more for a piece of a larger file */
};

struct source_define {
	struct str name, value;
};

struct sources {
	struct arena *a;
	VEC(struct source *) all;
	VEC(struct str) include_dirs; /* where files are looked for that a text includes by a relative name */
	VEC(struct source_define) defines; /* names that a text may use, and what they stand for */
	bool has_no_files; /* no text may include another file */
};

/* 0 or -errno: the file cannot be read, or is above 1 GiB (-EFBIG). "-" reads standard input. */
int source_open(struct sources *s, const char *path, uint32_t *id);
uint32_t source_add(struct sources *s, const char *name, struct str text);
const struct source *source_get(const struct sources *s, uint32_t id); /* NULL if 0 */
/* Line (from first_line) and column (from 1, in bytes) of a place; false if there is none. */
bool source_place(const struct sources *s, struct loc at, uint32_t *line, uint32_t *col);
struct str source_line(const struct source *src, uint32_t line); /* without its line end */
/* "rules.v4:12", or "-" without a place. */
struct str source_name_line(struct arena *a, const struct sources *s, struct loc at);

#endif
