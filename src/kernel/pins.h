/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The folder of an instance: what is pinned there keeps the rules alive without a process.
 *
 *     generation              the generation word (tables/format.h); everything obeys this one store
 *     books                   struct dispatch_books
 *     log                     ring of log events, shared by both slots
 *     link-P, programs-P      dispatcher of point P at its hook; its two programs. The array must be pinned: the
 *                             kernel empties it when the last user lets go
 *     slot0/, slot1/          table, count, state, sets: the maps of a slot
 *     info-SERIAL             struct info of a generation
 *     trial                   a load that waits for `weir confirm` (trial.h)
 *
 * Which of it counts follows from the word alone: the active slot, the half in use, the points, the serial. All else
 * is a left-over of a crash, and tidy.h removes it.
 */
#ifndef WEIR_KERNEL_PINS_H
#define WEIR_KERNEL_PINS_H

#include "kernel/dispatch.h"
#include "kernel/info.h"
#include "kernel/instance.h"

enum { PINS_UNSETTLED = 1 << 3 }; /* no generation word: they do not use this bit */

struct pins {
	const struct instance *in;
	int generation, books, log;
	uint64_t *word;
	struct dispatch_books *book;
};

/*
 * 0, -ENOENT (nothing in why) if the instance has no folder yet, or -errno; -ESTALE: rules judge, and somebody has
 * removed pins of them. The same of all that reads pins.
 */
int pins_open(const struct instance *in, struct pins *p, struct refusal *why);
/* The same, and makes what is missing; the word of a new instance is 0: nothing is in use. */
int pins_create(const struct instance *in, struct pins *p, struct refusal *why);
void pins_close(struct pins *p);

uint64_t pins_word(const struct pins *p);
uint32_t pins_serial(uint64_t word);
unsigned pins_slot(uint64_t word);
unsigned pins_half(uint64_t word, unsigned slot);
/* The one store that replaces rules. */
void pins_flip(struct pins *p, uint64_t word);
/* Waits, if nobody did since the last flip, until no packet uses what that flip retired. */
int pins_settle(struct pins *p, struct refusal *why);

/* info of the active generation. -ENOENT (nothing in why): no rules are loaded. */
int pins_info(const struct pins *p, struct arena *a, struct info *out, struct refusal *why);
int pins_info_of(const struct pins *p, struct arena *a, uint32_t serial, struct info *out, struct refusal *why);
bool pins_has_info(const struct pins *p, uint32_t serial);
int pins_info_store(const struct pins *p, uint32_t serial, struct str blob, struct refusal *why);

/* fd of a pinned object, or -errno (-ENOENT: not there; nothing in why otherwise either). */
int pins_get(const struct pins *p, const char *name);
/* Pins a new object in the place of whatever is there. */
int pins_put(const struct pins *p, const char *name, int fd, struct refusal *why);
void pins_remove(const struct pins *p, const char *name);
/* The maps of a slot. */
int pins_slot_get(const struct pins *p, unsigned slot, struct program_maps *m, struct refusal *why);
int pins_slot_put(const struct pins *p, unsigned slot, const struct program_maps *m, struct refusal *why);
void pins_slot_remove(const struct pins *p, unsigned slot);
/* Maps the one element of a map. NULL with why. */
void *pins_map(int fd, size_t bytes, struct refusal *why);
void pins_unmap(void *p, size_t bytes);

#endif
