/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `weir eval --engine tables`: a capture judged by compiled tables in batches, with the evaluator's answers. What tables
 * cannot say (a packet that is malformed, or does not say what a rule asks) the evaluator is asked, packet by packet.
 *
 *     struct eval_tables *t = eval_tables_open(a, rs, &opt, eval, &hits, &why);     NULL: why the tables cannot do it
 *     while (capture_next(c, &p) > 0) eval_tables_add(t, &p);
 *     eval_tables_end(t);                                                            all is in hits
 */
#ifndef WEIR_CLI_EVAL_TABLES_H
#define WEIR_CLI_EVAL_TABLES_H

#include "cli/hits.h"

struct eval_tables;

struct eval_tables *eval_tables_open(struct arena *a, const struct ruleset *rs, const struct eval_options *opt, struct hits *hits,
				     struct str *why);
void eval_tables_add(struct eval_tables *t, const struct packet *p); /* its bytes are copied */
/* Counts of rules and policies get into the hits here. Returns how many packets the evaluator has judged. */
uint64_t eval_tables_end(struct eval_tables *t);

#endif
