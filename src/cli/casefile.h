/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Test files: rules, packets and what must come of them, one statement a line.
 *
 *     case    ssh from inside only
 *     rules   -A INPUT -p tcp --dport 22 -s 10.0.0.0/8 -j ACCEPT
 *     rules   -P INPUT DROP
 *     packet  in=eth0 tcp 10.1.2.3 > 192.0.2.1:22            accept  rule 1
 *     packet  in=eth0 tcp 11.1.2.3 > 192.0.2.1:22            drop    policy
 *     packet  tcp 10.1.2.3 > 192.0.2.1:22                    unknown         # no interface, no path
 *     hits    1
 *     error   -A INPUT -p tcp --dport 70000 -j DROP          25-29   port 70000 is above 65535
 *     warn    -A INPUT -s 192.0.2.1/24 -j DROP               14-25   host bits
 *     print   -A INPUT -s 192.0.2.0/255.255.255.0 -j DROP    -s 192.0.2.0/24 -j DROP
 *
 * A blank line ends a case. Two blanks stand between a packet or text and what is expected of it; # with a blank
 * before it begins a comment, except in rules, set and env. The statements:
 *
 *     case NAME, lang NAME, hook NAME, ct STATE, malformed accept, track
 *     rules TEXT      a line of the rules. Without a *table line they are those of table filter. Beside what
 *                     iptables-save writes, -P CHAIN POLICY and -N CHAIN are known.
 *     set TEXT        a line as ipset save writes it
 *     list NAME=FILE  fills a set from a list of addresses; FILE is beside the test file
 *     env TEXT        a line of the environment (policy/env.h)
 *     packet NOTATION  VERDICT [rule N[:EXPANSION] | policy [CHAIN] | malformed | none] [via N] [mark=N]
 *                     N counts the lines of the case that hold a rule, as they stand. Behind `unknown` may stand a
 *                     part of the reason. A bare `reject` is every kind of reject.
 *     hits N...       so often each rule line was hit by the packets above
 *     error TEXT  [LINE:]FROM[-TO] PART    the text alone, with the sets of the case, has exactly this error;
 *     also        [LINE:]FROM[-TO] PART    and this one (or warning); `-` for a place that does not matter
 *     warn TEXT  [LINE:]FROM[-TO] PART     it has no error, and this warning; PART may be the warning's id
 *     print TEXT  TEXT                     it is printed back so, without -A CHAIN; several rules: with " | " between
 *
 * In the TEXT of error, warn and print, \n, \r, \t and \s stand for line end, carriage return, tab and blank.
 */
#ifndef WEIR_CLI_CASEFILE_H
#define WEIR_CLI_CASEFILE_H

#include "cli/cli.h"
#include "lang/lang.h"

enum case_kind { CASE_PACKET, CASE_HITS, CASE_ERROR, CASE_ALSO, CASE_WARN, CASE_PRINT };

struct case_line {
	enum case_kind kind;
	struct loc at;	      /* the statement */
	struct str subject;   /* the packet, or the text of error, warn and print */
	struct loc subject_at;
	struct str expect;    /* what stands behind it, without the comment */
	struct loc expect_at; /* its place, for rewriting */
};

struct case_one {
	struct str name;
	struct loc at;
	enum lang lang;
	uint32_t rules, sets, env;	 /* sources made of these lines, each line at its number in the file; 0 = none */
	VEC(const char *) lists;	 /* NAME=FILE */
	VEC(uint32_t) rule_line;	 /* line in the file of the N-th rule */
	int hook, ct;
	bool malformed_accept, track;
	VEC(struct case_line) lines;
};

struct casefile {
	uint32_t source;
	VEC(struct case_one) cases;
};

/* Errors of the notation itself go to c->diags; returns false if there were some. */
bool casefile_read(struct cli *c, uint32_t source, struct casefile *out);
/* A source with the text of an error, warn or print line as rules; *first_line is the line where the text begins. */
uint32_t casefile_text_source(struct cli *c, const struct case_one *k, const struct case_line *l, uint32_t *first_line);

#endif
