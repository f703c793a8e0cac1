/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Printing diagnostics: on standard error for people, as JSON for programs. */
#ifndef WEIR_CLI_REPORT_H
#define WEIR_CLI_REPORT_H

#include <jansson.h>

#include "cli/cli.h"

enum report_what { REPORT_ALL, REPORT_ERRORS /* of warnings only how many there are */ };

/* Sorts, then prints c->diags on standard error, and forgets nothing. */
void report_print(struct cli *c, enum report_what what);
/* An array of {severity, file, line, column, length, id, text, help}. */
json_t *report_json(struct cli *c);
/* Prints and frees it, with a line end. */
void report_json_print(json_t *j);
/* User text for a terminal: control bytes other than line end and tab become '?'. */
struct str report_clean(struct arena *a, struct str s);
/* Text as JSON; bytes that are not UTF-8 become U+FFFD. */
json_t *report_json_str(struct arena *a, struct str s);

#endif
