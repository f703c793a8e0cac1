/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Running the cases of a test file: each statement that expects something becomes one result. */
#ifndef WEIR_CLI_CASERUN_H
#define WEIR_CLI_CASERUN_H

#include "cli/casefile.h"
#include "cli/engine.h"

enum case_outcome { CASE_PASSED, CASE_FAILED, CASE_SKIPPED };

struct case_result {
	const struct case_one *one;
	const struct case_line *line; /* NULL: the case as a whole */
	enum case_outcome outcome;
	struct str what; /* when line is NULL: what was tried */
	struct str got;	 /* what came of it, as the expectation would have to say it; empty if nothing can be said */
	struct str why;	 /* more about a failure, or why it was skipped; may have several lines */
};

/* Every result is handed to done, in the order of the file. */
struct caserun {
	struct cli *c;
	const struct engine *engine;
	void (*done)(struct caserun *run, const struct case_result *r);
	void *user;
};
void caserun_all(struct caserun *run, const struct casefile *f);

/* ---- expect.c: what a packet line expects, and what it got, in the same notation ---- */
bool expect_packet_holds(struct cli *c, const struct case_one *k, struct str expect, const struct engine_answer *got,
			 struct str *why);
struct str expect_packet_text(struct cli *c, const struct case_one *k, struct str expect,
			      const struct engine_answer *got);
/* Number of the rule's line among the rule lines of the case, from 1; 0 if it is none of them. */
uint32_t expect_rule_number(struct cli *c, const struct case_one *k, const struct rule *r);

#endif
