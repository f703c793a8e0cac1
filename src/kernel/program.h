/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs: the datapath as a kernel object, specialised and loaded.
 *
 * One embedded BPF object per program type. Loading opens it, freezes its constants (point, slot, features, sizes), puts
 * the given maps behind its map names, and loads the one program in it. Nothing is attached and nothing is pinned
 * here. One program serves one point of one slot; all programs of a slot share its maps, all slots share the generation.
 *
 *     struct program_maps m;
 *     int gen = program_generation_create();
 *     struct program_size size = program_size_fit(t->n_words, n_counters, t->n_state);
 *     int r = program_maps_create(&m, &size, gen);
 *     ... mmap m.table, copy t->word to the half that is not in use, t->state to the same half of m.state ...
 *     struct program_spec spec = { .type = PROGRAM_NF, .point = 3, .slot = 0, .features = t->point[3].features,
 *                                  .size = size, .maps = m };
 *     int fd = program_load(a, &spec, &log);
 */
#ifndef WEIR_KERNEL_PROGRAM_H
#define WEIR_KERNEL_PROGRAM_H

#include "base/arena.h"
#include "tables/format.h"

enum program_type { PROGRAM_NF, PROGRAM_TCX, PROGRAM_XDP, PROGRAM_TYPE_COUNT };

/* Sizes that are constants of the programs: a table that needs more needs new maps and programs (the other slot). */
struct program_size {
	uint32_t half_log2;	/* words of one half of the table */
	uint32_t counters_log2; /* counters in one row */
	uint32_t rows_log2;	/* rows: possible CPUs + 1, rounded up */
	uint32_t state_log2;	/* words of one half of the state */
	uint32_t sets_log2;	/* words of the image of the sets */
};

#define PROGRAM_NO_MAPS ((struct program_maps){ -1, -1, -1, -1, -1, -1, -1 })
/* File descriptors, -1 = none. Every map but the log is BPF_F_MMAPABLE and has one element. */
struct program_maps {
	int generation; /* u64 */
	int table;	/* u64[2 << half_log2, + DP_TABLE_PAD] */
	int count;	/* {u64 packets, bytes}[1 << (counters_log2 + rows_log2)] */
	int state;	/* u64[2 << state_log2, + DP_TABLE_PAD]: half h begins at h << state_log2 */
	int log;	/* ring buffer of struct dp_log_event; needed with DP_F_LOG */
	int meta;	/* struct dp_test_meta; needed with test_meta */
	int sets;	/* u64[1 << sets_log2, + DP_TABLE_PAD]: sets/setmem.h */
};

struct program_spec {
	enum program_type type;
	unsigned point; /* NF: 0..31. TCX, XDP: position 0..15; IPv6 packets use point + 16 */
	unsigned slot;
	uint32_t features; /* DP_F_* */
	struct program_size size;
	bool malformed_accept;
	bool egress;	/* TCX */
	bool test_meta; /* metadata and clock come from maps.meta: test runs only */
	struct program_maps maps;
};

/*
 * Room for so many words, counters (DP_COUNTERS_SPECIAL included) and state words, rounded up, with some to spare; and none
 * for sets: the caller may raise sets_log2.
 */
struct program_size program_size_fit(uint32_t n_words, uint32_t n_counters, uint32_t n_state);
bool program_size_holds(const struct program_size *s, uint32_t n_words, uint32_t n_counters, uint32_t n_state);
struct str program_identity(void); /* tells builds of the programs apart: programs of one identity understand each other's tables */
unsigned program_cpus(void); /* possible CPUs; the row of user space has this number */

size_t program_table_bytes(const struct program_size *s); /* value sizes, for mmap (round up to pages) */
size_t program_count_bytes(const struct program_size *s);
size_t program_state_bytes(const struct program_size *s);
size_t program_sets_bytes(const struct program_size *s);

int program_generation_create(void); /* fd or -errno */
/* The maps of a slot (table, count, state, sets) with `generation` put beside them; log and meta are -1. 0 or -errno. */
int program_maps_create(struct program_maps *m, const struct program_size *s, int generation);
int program_sets_create(const struct program_size *s); /* fd or -errno */
int program_log_create(void);  /* fd or -errno */
int program_meta_create(void); /* fd or -errno */
void program_maps_close(struct program_maps *m); /* all but generation */

/*
 * Loads. Returns the program's fd or -errno; then *log says what was tried and the tail of the verifier's log (in a).
 * Time <= 30 ms.
 */
int program_load(struct arena *a, const struct program_spec *spec, struct str *log);

#endif
