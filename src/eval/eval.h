/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reference evaluator: walks chains rule by rule, slowly and obviously right. It is the oracle, so it shares no
 * code with flat/, classify/ or datapath/, and has a packet parser of its own (eval/facts.c).
 *
 * Answers are three-valued. What neither the packet line, --env, --ct nor earlier packets decide is unknown; an
 * unknown test goes both ways, and only if both ways end alike is the verdict known.
 */
#ifndef WEIR_EVAL_EVAL_H
#define WEIR_EVAL_EVAL_H

#include "packet/packet.h"
#include "policy/env.h"
#include "policy/policy.h"

enum eval_truth { EVAL_NO, EVAL_YES, EVAL_UNKNOWN };

struct eval; /* limits, recent lists, sets as they change, connections */

struct eval_options {
	const struct env *env;	   /* NULL: none */
	int hook;		   /* enum hook, or -1: the packet's interfaces decide the path */
	int ct;			   /* enum ct_state for packets that do not say, or -1: unknown (or tracked) */
	bool track;		   /* track connections in packet order (captures) */
	bool malformed_accept;	   /* default: a malformed packet is dropped */
	bool want_trace;	   /* fill result.trace */
};

struct eval *eval_create(struct arena *a, const struct ruleset *rs, const struct eval_options *opt);

/* What happened on the way, in order; texts are made by the one who prints. */
enum eval_event_kind {
	EVAL_AT_CHAIN,	 /* a base chain begins: chain */
	EVAL_RULE_NO,	 /* rule did not match because of `test` (truth NO) */
	EVAL_RULE_MAYBE, /* could not be decided: `test`, why */
	EVAL_RULE_MATCH, /* all tests passed; the step's verdict or effect follows */
	EVAL_CALL,	 /* rule jumps or goes to chain */
	EVAL_RETURNED,	 /* back in chain (end of a chain, or RETURN: rule) */
	EVAL_POLICY,	 /* chain's policy applied: verdict */
	EVAL_NOTE,	 /* text: "connection tracking: new", "DNAT to ...", "malformed: ..." */
};
struct eval_event {
	enum eval_event_kind kind;
	unsigned depth; /* of calls */
	const struct chain *chain;
	const struct rule *rule;
	const struct test *test; /* NULL: a step that is no test, a map */
	enum verdict verdict;
	struct str text; /* why: "tcp dport is 23" */
};

struct eval_result {
	enum verdict verdict;	  /* ACCEPT, DROP, REJECT, QUEUE, STOLEN; NONE: unknown */
	bool is_unknown;	  /* with `why`; verdict is NONE */
	bool is_malformed;	  /* dropped or accepted for that; why says what */
	enum reject_kind reject;
	const struct rule *rule;   /* the deciding rule (unknown: the one that nobody can decide), or NULL: */
	const struct chain *chain; /* its chain; with rule NULL: the chain whose policy decided, or NULL: no chain at all */
	const struct rule *via;	   /* the RETURN rule of the base chain that led to the policy, or NULL */
	bool mark_known;
	uint32_t mark;		   /* after the last hook */
	struct str why;
	VEC(struct eval_event) trace;
	/*
	 * Every rule whose counter went up, in order (all paths agree), every chain whose policy did, every named counter. Of
	 * twins the root; so are rule, chain and via.
	 */
	VEC(const struct rule *) hits;
	VEC(const struct chain *) policy_hits;
	VEC(const struct counter *) counter_hits;
};
/* The result's memory comes from a. Changes e's state (limits, sets, connections) as the packet would. */
void eval_packet(struct eval *e, struct arena *a, const struct packet *p, struct eval_result *out);
/* The text of the verdict as the tools print it: "accept", "drop", "reject(icmp-port-unreach)", "unknown". */
struct str eval_verdict_text(struct arena *a, const struct eval_result *r);

/* ---- eval/facts.c: the evaluator's own reading of a packet ---- */
enum { FACTS_MANY_MAX = 64 };
struct facts {
	enum family family;    /* FAMILY_FRAME: ARP and the like, which only chains at a device see */
	bool is_ip;
	bool is_malformed;
	const char *malformed; /* what is wrong */
	bool is_unseen;	       /* not even what it is was captured */
	uint8_t has[FIELD_COUNT]; /* enum eval_truth: is the field there; UNKNOWN: cannot be told */
	u128 v[FIELD_COUNT];
	uint8_t known[FIELD_COUNT]; /* value known (has is YES) */
	struct { uint16_t v[FACTS_MANY_MAX]; unsigned n; } tcp_opts, sctp_chunks;
	const uint8_t *l3;     /* first byte of the IP header, or behind the tags; and what was captured from there */
	uint32_t l3_len, l4_off, l4_len; /* l4_off from l3; l4_len bytes captured there */
	uint32_t l3_wire_len; /* bytes of the IP packet on the wire, padding left out; >= l3_len */
};
void facts_read(struct facts *f, const struct packet *p);

#endif
