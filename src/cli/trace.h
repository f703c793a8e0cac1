/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The way of one packet through the rules, as lines for people and as JSON. */
#ifndef WEIR_CLI_TRACE_H
#define WEIR_CLI_TRACE_H

#include <jansson.h>

#include "cli/cli.h"
#include "eval/eval.h"

void trace_print(struct cli *c, const struct eval_result *r);
json_t *trace_json(struct cli *c, const struct eval_result *r);

#endif
