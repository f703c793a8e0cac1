/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which option a word is: the core options of a rule, and those of the matches and the target met so far. */
#ifndef WEIR_LANG_IPTABLES_OPTION_H
#define WEIR_LANG_IPTABLES_OPTION_H

#include "lang/iptables/scan.h"
#include "lang/iptables/tree.h"

enum ipt_core {
	CORE_SRC, CORE_DST, CORE_IN, CORE_OUT, CORE_PROTO, CORE_JUMP, CORE_GOTO, CORE_MATCH, CORE_FRAG, CORE_COUNTS,
	CORE_VERBOSE,
	/* known, and out of place in a ruleset file: */
	CORE_TABLE, CORE_COMMAND, CORE_LISTING
};

struct ipt_core_row {
	const char *name;
	char letter;
	enum ipt_core core;
	bool can_negate;
	uint8_t n_words;
};

enum { IPT_TARGET_USE = -1 };
struct ipt_found {
	const struct ipt_core_row *core; /* this, ... */
	enum ipt_opt_id opt;		 /* ... or this */
	int use;			 /* ... of r->matches.v[use]; IPT_TARGET_USE */
	enum ipt_ext_id calls;		 /* a match that must be added first: it is then the last */
	const char *name;		 /* NULL: nothing found */
	const char *other;		 /* a second that it could be */
};

/*
 * By the long name, or the beginning of one: among what is there, newest first; then, if may_call, in the match that
 * the rule's protocol calls up.
 */
struct ipt_found ipt_option_long(const struct ipt_rule *r, enum family family, struct str name, bool may_call);
const struct ipt_core_row *ipt_option_short(char letter); /* NULL */
/* Reports an option that is not known here, with what was meant if that can be guessed. */
void ipt_option_unknown(struct diags *d, enum family family, const struct ipt_rule *r, const struct ipt_word *w, struct str name);

#endif
