/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Judges: three ways to run one ruleset over the same packets - the evaluator, the tables in user space, and the tables in
 * the kernel by test run - and what each says: verdict, mark, and how often each rule and policy counted.
 *
 * A packet goes through all points of its way (in, through, out) that the ruleset uses, in order, and takes its mark
 * along, as in the kernel.
 */
#ifndef WEIR_TESTS_DIFF_JUDGE_H
#define WEIR_TESTS_DIFF_JUDGE_H

#include "classify/tables.h"
#include "datapath/native.h"
#include "eval/eval.h"
#include "kernel/program.h"

enum judge { JUDGE_EVAL, JUDGE_NATIVE, JUDGE_NF, JUDGE_TCX, JUDGE_XDP, JUDGE_COUNT };

struct judged {
	bool is_skipped; /* this judge cannot have this packet */
	bool is_unknown;
	bool drops;
	uint32_t mark;
};

/* Programs loaded once; tables are put behind them for each ruleset. */
struct kernel {
	struct program_size size;
	struct program_maps maps;
	uint64_t *generation, *table, *count, *state, *sets;
	struct dp_test_meta *meta;
	int fd[3][DP_POINTS]; /* by program type and point; 0: not loaded */
	int own[3][DP_POINTS]; /* programs that can do no more than the ruleset at hand needs; 0: none */
	uint32_t features;
};

struct case_text {
	const char *sets, *rules;
	bool ip6;
	bool malformed_accept;
	bool own_programs; /* in the kernel: programs made for these rules, not those that can do everything */
	enum tables_engine engine;
	struct ruleset *rs; /* not NULL: instead of both texts */
};

struct bench {
	struct arena *a;
	struct ruleset *rs;
	struct eval *eval;
	struct tables *tables;
	struct native *native;
	struct kernel *kernel; /* NULL: not this time */
	uint32_t n_counters;
	uint64_t *eval_count; /* packets, by counter */
	bool has_unknown;     /* the evaluator's counts are not whole */
	bool malformed_accept;
};

enum { JUDGE_HZ = 10000 };

/* Reads and compiles; false: with the errors as text in *why. With a kernel: puts the tables there. */
bool bench_open(struct bench *b, struct arena *a, const struct case_text *t, struct kernel *k, struct str *why);
/* One packet by one judge. scratch: for the evaluator's result. */
struct judged bench_judge(struct bench *b, enum judge j, struct arena *scratch, const struct packet *p, bool ip6);
/* Counts of all rules and policies are alike; else *text says where not. */
bool bench_counts_agree(const struct bench *b, enum judge j, struct arena *a, struct str *text);
/* 0, or -errno with the reason. */
int kernel_open(struct kernel *k, struct arena *a, uint32_t features, struct str *why);
/* One program of a type at a position, for tables so large. */
int kernel_open_one(struct kernel *k, struct arena *a, enum judge j, unsigned position, uint32_t words, uint32_t counters,
		    struct str *why);
void kernel_close(struct kernel *k);

#endif
