/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside the evaluator: one way of one packet through the rules. Only files of eval/ include this.
 *
 *     eval.c    a packet: its ways, one after the other, and what they have in common
 *     path.c    a way: which hooks, what is known at each      walk.c   chains, calls, rules, steps
 *     fork.c    questions that nobody can answer               guess.c  what an unknown field may still be
 *     test.c    tests: sets.c, state.c, bytes.c for the kinds  reason.c  why a test failed, for people
 *     keys.c    values of several fields at once               maps.c    maps and tuples
 *     effect.c  what rules change; nat.c                       conn.c   the connection; track.c  the tracker
 */
#ifndef WEIR_EVAL_WALK_H
#define WEIR_EVAL_WALK_H

#include "eval/eval.h"
#include "eval/store.h"

struct tracked; /* track.c */
struct sets;	/* sets.c */
struct maps;	/* maps.c */

struct eval {
	struct arena *a;
	const struct ruleset *rs;
	struct eval_options opt;
	struct store *store;
	struct sets *sets;
	struct maps *maps;
	struct base {
		struct chain **v;
		size_t n;
	} base[FAMILY_ALL][HOOK_COUNT];
	bool *is_harmless;  /* by rule.id: whether it matched changes nothing that a later rule could see */
	bool *counts_itself; /* by rule.id: it says where it counts */
	VEC(uint32_t) hashlimits, recents; /* rules that have one */
	VEC(uint32_t) translating; /* rules of nat tables that translate */
	bool is_stateful;   /* some rule reads or writes what stays between packets */
	bool has_started;
	int64_t start_ns, now_ns;
};

/* ---------- fork.c ---------- */
struct choice {
	bool yes;
	const struct rule *rule;
	const struct chain *chain;
	size_t n_hits, n_policy_hits, n_counter_hits; /* how many were counted before it */
	struct str why;
};
struct fork {
	VEC(struct choice) v;
	size_t pos;
};

/* What an unknown field may be. */
struct guess {
	bool may_be_absent, may_be_present;
	struct valset vals; /* possible values */
	u128 known_mask, known_bits; /* bits of the value that are certain */
	VEC(struct test_mask) denied; /* (value & mask) == value was decided to be false */
};

/* One way. */
struct walk {
	struct eval *e;
	struct arena *a;
	const struct packet *p;
	struct eval_result *out;
	struct fork *fork;
	bool has_trace;

	const struct facts *read; /* as the packet was read; f: as it is here and now */
	struct facts f;
	struct guess *guess[FIELD_COUNT];

	/* where we are */
	enum hook hook;
	bool is_forwarded, is_local_out; /* which way it goes, as far as decided */
	const struct chain *base;
	const struct chain *chain;
	const struct rule *rule;
	const struct test *test;
	unsigned depth;
	uint64_t steps;
	const char *hot_drop; /* a match dropped the packet on the spot: why */
	bool is_peeking; /* do not choose: answer unknown */
	bool rule_ends;	 /* an effect could not happen, and its rule goes no further */
	struct str why;	 /* of the last answer, made only when has_trace or unknown */

	/* what happened */
	bool has_given_up; /* out->why says why */
	bool ct_done;	   /* past connection tracking at this hook */
	bool is_untracked;
	bool ct_is_template; /* CT target: a template is attached until tracking */
	bool is_dst_nat, is_src_nat; /* it has its binding of that kind */
	uint32_t nat_status, nat_doubt; /* CT_STATUS_*_NAT that these bindings set, and those they may set */
	bool is_translated; /* a rule did so */
	bool is_bound;	    /* whether its connection was translated is decided */
	bool says_forward;  /* the packet may be forwarded: out= or --env says so */
	bool is_redirected; /* the destination is this machine, whatever its address */
	bool dst_changed;
	struct tracked *tracked;
	u128 tuple[4];	   /* source, destination and ports when tracking happened */
	bool tuple_known[4];
	bool ct_mark_set; /* FIELD_CT_MARK is this way's own */
	uint8_t *bytes, *bad; /* copy of the packet once rules rewrote it; bad: this byte is not known */
	const struct rule *returned; /* the RETURN of a base chain */
	unsigned decided; /* how much weight the deciding chain has so far */
};

bool fork_choose(struct walk *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void fork_give_up(struct walk *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---------- guess.c ---------- */
struct guess *guess_of(struct walk *w, enum field f); /* made from the facts if there is none */
bool guess_is_empty(const struct guess *g);
/* Splits g by a test on one field (masks of `of`, or the interval set): passes / present and does not pass. */
void guess_split(struct walk *w, const struct test *t, unsigned of, struct guess *yes, struct guess *no);
void guess_narrow(struct walk *w, enum field f, const struct guess *g); /* from now on it is that */
void guess_values(struct walk *w, enum field f, const struct valset *vals, bool may_be_absent);
void guess_bits(struct walk *w, enum field f, u128 *value, u128 *mask); /* what is known of a field that is there */
void guess_set_bits(struct walk *w, enum field f, u128 value, u128 mask);
void guess_forget(struct walk *w, enum field f); /* there, value unknown */
void guess_put(struct walk *w, enum field f, u128 v);
void guess_absent(struct walk *w, enum field f);

/* ---------- path.c, walk.c ---------- */
void path_run(struct walk *w);
bool path_is_at_device(enum hook h);
enum verdict walk_hook(struct walk *w, enum hook hook);
void walk_note(struct walk *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---------- test.c, reason.c ---------- */
/* May choose (unless w->is_peeking; then UNKNOWN). w->why is the reason if w->has_trace. */
enum eval_truth test_truth(struct walk *w, const struct test *t);
bool test_value(const struct test *t, unsigned of, u128 v); /* not negated; of: which of t->field[] */
bool test_ready(struct walk *w, enum field f); /* fields computed when somebody asks; false: cannot be told while peeking */
int test_addr_type(const struct walk *w, u128 addr); /* RTN_*, or -1 */
struct str reason_field(struct walk *w, const struct test *t);
struct str reason_value(struct arena *a, enum field f, enum family fam, u128 v);

/* ---------- kinds of tests ---------- */
enum eval_truth sets_truth(struct walk *w, const struct test *t);
enum eval_truth state_truth(struct walk *w, const struct test *t);
enum eval_truth rate_limit(struct walk *w, const struct test *t);
enum eval_truth rate_hashlimit(struct walk *w, const struct test *t);
enum eval_truth recent_truth(struct walk *w, const struct test *t);
enum eval_truth bytes_truth(struct walk *w, const struct test *t);
enum eval_truth cbpf_truth(struct walk *w, const struct bytes_spec *b);

/* ---------- keys.c: what a map, a set or a bucket takes from the packet ---------- */
struct key_value {
	enum eval_truth is_there;
	bool is_known;
	u128 v;		  /* under the key's mask; bits that are not known are 0 */
	const char *what; /* for people */
};
/* May choose whether it is there (unless w->is_peeking; then is_there may be UNKNOWN). */
struct key_value keys_value(struct walk *w, const struct map_key *k);
/* A value that is there and not known: is it one of `in` (under the key's mask)? Chooses, as test_truth(). */
enum eval_truth keys_in(struct walk *w, const struct map_key *k, struct valset in);
void keys_print(const struct walk *w, struct buf *b, const struct map_key *k, u128 v);

/* ---------- maps.c ---------- */
struct maps *maps_create(struct arena *a, const struct ruleset *rs);
/* The outcome for this packet; NULL: none, *x says whether there is none (NO) or nobody knows (UNKNOWN). Chooses. */
const struct step *maps_outcome(struct walk *w, const struct map_use *use, enum eval_truth *x);
enum eval_truth maps_tuple(struct walk *w, const struct test *t);

/* ---------- effects ---------- */
/* NONE: go on with the rule. ACCEPT, DROP, STOLEN: the effect itself ended this base chain. */
enum verdict effect_apply(struct walk *w, const struct effect *ef);
enum verdict nat_apply(struct walk *w, const struct effect *ef);
/* binding.c: whether the destination of a packet whose connection nobody knows is translated; chooses */
void binding_guess(struct walk *w);
bool binding_is_made_by(const struct rule *r);
bool nat_is_asked(struct walk *w, const struct chain *base); /* does the packet go through this nat chain? */
void nat_put_addr(struct walk *w, bool is_dst, const u128 *v); /* NULL: unknown; may lead the packet elsewhere */
void nat_write(struct walk *w, bool is_dst, const u128 *addr, const u128 *port); /* NULL: unknown */
bool effect_is_harmless(const struct effect *ef); /* a later rule cannot tell whether it happened */
void effect_patch(struct walk *w, uint32_t off, uint32_t n, const u128 *value); /* NULL: unknown */

struct sets *sets_create(struct arena *a, const struct ruleset *rs);
void sets_add(struct walk *w, const struct set_use *use);
void sets_del(struct walk *w, const struct set_use *use);

/* ---------- conn.c, track.c ---------- */
/* Base chains before CONN_PRIORITY see no connection; those behind DST_NAT_PRIORITY the translated destination. */
enum { CONN_PRIORITY = -200, DST_NAT_PRIORITY = -100 };
void conn_before(struct walk *w); /* at prerouting and output */
void conn_enter(struct walk *w);  /* connection tracking happens */
enum eval_truth conn_exists(struct walk *w); /* may choose, unless peeking */
enum eval_truth conn_state_in(struct walk *w, unsigned states, const char *question); /* states: bits 1 << CT_*; chooses */
bool conn_ready(struct walk *w, enum field f); /* as test_ready() */

int track_enter(struct walk *w); /* enum ct_state, or -1: cannot be told; fills w->tracked */
bool track_starts(const struct walk *w); /* the first packet of its connection */
void track_translate(struct walk *w);	 /* the connection's own translation, at this hook */
bool track_field(const struct walk *w, enum field f, u128 *v);
void track_nat(struct walk *w, bool is_dst, bool is_known); /* the connection gets this translation */
void track_mark(struct walk *w); /* FIELD_CT_MARK was written */
bool track_mark_bits(const struct walk *w, u128 *v, u128 *mask);
bool track_status_bits(const struct walk *w, u128 *v, u128 *mask); /* what is known of the connection's mark */
void track_leave(struct walk *w, enum verdict v); /* the packet's end */

#endif
