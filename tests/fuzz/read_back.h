/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the fuzzers of languages share: any bytes as rules. Besides not crashing: what was read without an error prints to a
 * text that is read without an error, gives the same model, and prints the same again.
 */
#ifndef WEIR_FUZZ_READ_BACK_H
#define WEIR_FUZZ_READ_BACK_H

#include <stdlib.h>

#include "lang/lang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads text; returns its printed form and its model as text, or false if it has errors. */
static bool read_once(struct arena *a, enum lang l, struct str text, struct str *printed, struct str *model)
{
	struct sources sources = { .a = a, .has_no_files = true };
	struct diags d = { .a = a, .sources = &sources };
	struct ruleset *rs = policy_create(a);
	struct lang_file file;

	lang_read(rs, &d, source_add(&sources, "rules", text), l, &file);
	policy_number(rs);
	policy_check(rs, &d);
	diag_sort(&d);
	for (size_t i = 0; i < d.all.n; i++)
		diag_format(a, &d, &d.all.v[i]);
	if (d.n_errors)
		return false;
	*printed = lang_print(a, &file, true);
	*model = policy_dump(a, rs);
	return true;
}

static void read_back(enum lang l, const uint8_t *data, size_t size)
{
	struct arena *a = arena_create();
	struct str printed[2], model[2];

	if (read_once(a, l, arena_str(a, (const char *)data, size), &printed[0], &model[0])) {
		if (!read_once(a, l, printed[0], &printed[1], &model[1]))
			abort();
		if (!str_eq(printed[0], printed[1]) || !str_eq(model[0], model[1]))
			abort();
	}
	arena_destroy(a);
}

#endif
