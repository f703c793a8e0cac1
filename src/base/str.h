/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A piece of text: pointer and length in bytes, not owned, not NUL-ended unless its maker says so. */
#ifndef WEIR_BASE_STR_H
#define WEIR_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *p;
	size_t n;
};

#define STR(lit) ((struct str){ (lit), sizeof(lit) - 1 })
#define STR_ARG(s) (int)(s).n, (s).p /* for "%.*s" */

struct str str_from(const char *cstr);
bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *cstr);
bool str_is_nocase(struct str a, const char *cstr);
bool str_starts(struct str a, const char *prefix);
bool str_ends(struct str a, const char *suffix);
struct str str_slice(struct str s, size_t from, size_t to); /* to is clamped */
struct str str_trim(struct str s);			     /* blanks at both ends */
/* Splits at the first c: returns what is before it, *rest what is after ({0} and false in *found if none). */
struct str str_cut(struct str s, char c, struct str *rest, bool *found);
/* Whole text as a number: decimal, 0x hex or 0 octal when base is 0. false if not a number or above max. */
bool str_u64(struct str s, int base, uint64_t max, uint64_t *out);
/* The name nearest to s by edit distance, or NULL if none is near enough to suggest. */
const char *str_nearest(struct str s, const char *const *names, size_t n);

#endif
