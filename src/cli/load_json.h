/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `weir load` did, as JSON; the fields are told in weir(8). */
#ifndef WEIR_CLI_LOAD_JSON_H
#define WEIR_CLI_LOAD_JSON_H

#include "cli/cli.h"
#include "kernel/hooks.h"
#include "kernel/load.h"

/* The load succeeded, or the dry run did. */
void load_json_print(struct cli *c, const struct load_request *q, const struct load_result *r, const struct hooks *all);
/* The rules have errors, which c->diags holds. active: the rules that stay; NULL: none, or nobody knows. */
void load_json_refused(struct cli *c, const struct info *active);

#endif
