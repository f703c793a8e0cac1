/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Diagnostics are data: found anywhere, collected, sorted by place and printed once, by cli/.
 *
 *     rules.v4:2:25: error: port 70000 is above 65535
 *     -A INPUT -p tcp --dport 70000 -j DROP
 *                             ^~~~~
 *       help: ...
 *
 * A text says what was found and what was expected: lower case, no full stop, quotes user text.
 */
#ifndef WEIR_BASE_DIAG_H
#define WEIR_BASE_DIAG_H

#include "base/source.h"

enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag {
	enum diag_severity severity;
	struct loc at;
	const char *id;	 /* stable short name: "reversed-range"; NULL for plain errors */
	struct str text;
	struct str hint; /* what to write instead; may be empty */
};

struct diags {
	struct arena *a;
	struct sources *sources;
	VEC(struct diag) all;
	unsigned n_errors, n_warnings;
};

/* The result is good until the next diagnostic is added; it is for diag_hint(). Never NULL. */
struct diag *diag_error(struct diags *d, struct loc at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
struct diag *diag_warn(struct diags *d, struct loc at, const char *id, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
struct diag *diag_note(struct diags *d, struct loc at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void diag_hint(struct diags *d, struct diag *g, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void diag_sort(struct diags *d);		      /* by source and place, stable; notes stay behind their error; what is said twice goes */
struct str diag_format(struct arena *a, const struct diags *d, const struct diag *g); /* lines as above */

#endif
