/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `weir show --tables` and `--dot`: what load would make of the rules; `--expanded`: the model in flat lines. */
#ifndef WEIR_CLI_SHOW_H
#define WEIR_CLI_SHOW_H

#include "cli/cli.h"
#include "policy/policy.h"

/* Errors of the rules that load would refuse are printed; returns the exit status. */
int show_tables(struct cli *c, const struct ruleset *rs);
int show_expanded(struct cli *c, const struct ruleset *rs);
/* Does --chain, if given, name this chain? */
bool show_is_asked_for(const struct cli *c, const struct chain *ch);

#endif
