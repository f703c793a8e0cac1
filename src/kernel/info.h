/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known about loaded rules: everything that `weir list` and `weir save` need, kept in the kernel beside the
 * rules as one blob, so that no file and no process has to stay. One blob for each generation; of what it says only sums
 * may be added, by a load on trial.
 */
#ifndef WEIR_KERNEL_INFO_H
#define WEIR_KERNEL_INFO_H

#include "kernel/program.h"
#include "policy/policy.h"

enum { INFO_FORMAT = 2, INFO_NO_POINT = UINT32_MAX };

struct info_rule {
	uint32_t chain;	    /* index in info.chains */
	uint32_t file;	    /* index in info.files */
	uint32_t line, expansion, duplicate;
	uint32_t counter;
	bool is_kept;	    /* its counter goes on from the generation before */
	struct str text, comment;
};

struct info_chain {
	struct str table, name;
	enum family family;
	enum hook hook; /* HOOK_NONE: not a base chain */
	int priority;	/* as the language says; where it really hangs: points */
	enum verdict policy;
	uint32_t point; /* INFO_NO_POINT: nothing is attached for it */
	uint32_t counter;
	bool is_kept;
	uint32_t file, line; /* of its declaration; line 0: none */
};

/*
 * A counter that counts for several rules at once. One that is kept and that no program adds to any more stays as long as
 * rules go on whose counts it holds.
 */
struct info_sum {
	uint32_t counter;
	bool is_kept;
	VEC(uint32_t) rules; /* indexes in info.rules */
};

struct info_file {
	struct str name, text;
};

/* A point in use, and where its dispatcher hangs. */
struct info_point {
	uint32_t number;
	int wanted, priority;
	uint32_t features; /* of the program in the active slot */
};

struct info {
	struct str made_by;    /* version of the programs: other programs need another slot */
	int64_t loaded_at;     /* seconds since 1970 */
	struct str options;    /* what `weir load` was given besides files: "--tables filter" */
	uint32_t serial, slot;
	bool malformed_accept;
	bool ct[FAMILY_COUNT]; /* rules of this family look at connections */
	struct program_size size;
	uint32_t n_counters;   /* one more than the highest number in use */
	uint32_t counts_from;  /* serial of the generation whose counts go on here; 0: none */
	VEC(struct info_file) files;
	VEC(struct info_chain) chains;
	VEC(struct info_rule) rules; /* in the order of their chains */
	VEC(struct info_point) points;
	VEC(struct info_sum) sums;
};

/* The bytes of info, in a. */
struct str info_write(struct arena *a, struct info *info);
/* false: not a blob of this format. Texts point into the blob, which must stay. */
bool info_read(struct arena *a, struct str blob, struct info *out);
/* "rules.v4 and rules.v6", or "4 files" when there are many. */
struct str info_files_text(struct arena *a, const struct info *info);

#endif
