/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A verdict and who decided it, as text for the last line and as JSON. */
#ifndef WEIR_CLI_ANSWER_H
#define WEIR_CLI_ANSWER_H

#include <jansson.h>

#include "cli/cli.h"
#include "eval/eval.h"

/* "rules.v4:12", with ":2" behind it for the second of several rules that one line made. */
struct str answer_place(struct cli *c, const struct rule *r);
/* "filter/INPUT" */
struct str answer_chain(struct cli *c, const struct chain *ch);
/*
 * "accept rule=rules.v4:12", "drop policy=filter/INPUT rules.v4:2 via=rules.v4:5", "accept chain=none",
 * "unknown why=..."; mark=0x1 behind it if a rule changed the mark.
 */
struct str answer_text(struct cli *c, const struct packet *p, const struct eval_result *r);
json_t *answer_json(struct cli *c, const struct eval_result *r);
json_t *answer_rule_json(struct cli *c, const struct rule *r); /* file, line, expansion, table, chain, text */
json_t *answer_policy_json(struct cli *c, const struct chain *ch);
int answer_status(const struct eval_result *r);		      /* CLI_YES or CLI_UNKNOWN */

#endif
