/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text pieces. See str.h. */
#include "base/str.h"

#include <strings.h>

struct str str_from(const char *cstr)
{
	return (struct str){ cstr, cstr ? strlen(cstr) : 0 };
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_is(struct str a, const char *cstr)
{
	return str_eq(a, str_from(cstr));
}

bool str_is_nocase(struct str a, const char *cstr)
{
	return a.n == strlen(cstr) && (a.n == 0 || strncasecmp(a.p, cstr, a.n) == 0);
}

bool str_starts(struct str a, const char *prefix)
{
	size_t n = strlen(prefix);

	return a.n >= n && memcmp(a.p, prefix, n) == 0;
}

bool str_ends(struct str a, const char *suffix)
{
	size_t n = strlen(suffix);

	return a.n >= n && memcmp(a.p + a.n - n, suffix, n) == 0;
}

struct str str_slice(struct str s, size_t from, size_t to)
{
	if (to > s.n)
		to = s.n;
	if (from > to)
		from = to;
	return (struct str){ s.p + from, to - from };
}

struct str str_trim(struct str s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t' || s.p[0] == '\r' || s.p[0] == '\n'))
		s.p++, s.n--;
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' || s.p[s.n - 1] == '\r' ||
		       s.p[s.n - 1] == '\n'))
		s.n--;
	return s;
}

struct str str_cut(struct str s, char c, struct str *rest, bool *found)
{
	const char *q = s.n ? memchr(s.p, c, s.n) : NULL;

	if (found)
		*found = q != NULL;
	if (!q) {
		*rest = (struct str){ 0 };
		return s;
	}
	*rest = (struct str){ q + 1, s.n - (size_t)(q - s.p) - 1 };
	return (struct str){ s.p, (size_t)(q - s.p) };
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

bool str_u64(struct str s, int base, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;
	size_t i = 0;

	if (base == 0 || base == 16) {
		if (s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X')) {
			base = 16;
			i = 2;
		} else if (base == 0) {
			base = s.n > 1 && s.p[0] == '0' ? 8 : 10;
		}
	}
	if (i >= s.n)
		return false;
	for (; i < s.n; i++) {
		int d = digit_value(s.p[i]);

		if (d >= base || v > (UINT64_MAX - (uint64_t)d) / (uint64_t)base)
			return false;
		v = v * (uint64_t)base + (uint64_t)d;
	}
	if (v > max)
		return false;
	*out = v;
	return true;
}

/* Levenshtein distance, two rows, names up to 63 bytes. */
static unsigned edit_distance(struct str a, const char *b)
{
	unsigned before[64] = { 0 }, row[64], next[64];
	size_t nb = strlen(b);

	if (a.n > 63 || nb > 63)
		return 99;
	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a.n; i++) {
		next[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned best = row[j - 1] + (a.p[i - 1] != b[j - 1]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (next[j - 1] + 1 < best)
				best = next[j - 1] + 1;
			if (i > 1 && j > 1 && a.p[i - 1] == b[j - 2] && a.p[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			next[j] = best;
		}
		memcpy(before, row, sizeof row);
		memcpy(row, next, sizeof row);
	}
	return row[nb];
}

const char *str_nearest(struct str s, const char *const *names, size_t n)
{
	const char *best = NULL;
	unsigned least = s.n <= 3 ? 2 : 3;

	for (size_t i = 0; i < n; i++) {
		unsigned d = edit_distance(s, names[i]);

		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}
