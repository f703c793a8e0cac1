/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the commands of `weir set` share: the sets in the kernel, opened under the lock, and one of them by its name. */
#ifndef WEIR_CLI_SET_H
#define WEIR_CLI_SET_H

#include "cli/live.h"
#include "kernel/setmap.h"

struct set_door {
	struct live l;
	struct pins p;
	struct setmap sets;
};

/* CLI_YES, or the status to end with, told already; then nothing is open. */
int set_open(struct cli *c, enum setmap_way way, struct set_door *s);
void set_close(struct set_door *s);
/* SETMEM_NONE: there is none, and that was told with the name that was probably meant. */
uint32_t set_find(struct cli *c, struct set_door *s, const char *name);
/* Tells what an error of setmem means for a set; returns the exit status. */
int set_refused(struct cli *c, struct set_door *s, uint32_t id, int err);
/*
 * One change, tried again after -EAGAIN (having waited) and -ENOSPC (having made the image larger, with room for n_elems
 * more elements). id changes with that. Returns CLI_YES with *err of the last try, or the status to end with, told.
 */
struct set_try {
	struct set_door *door;
	const char *name;
	uint32_t id;
	enum setmap_way way; /* how the image was opened */
	size_t n_elems;
	uint64_t words; /* to expect for them, if so many that finding out that they do not fit would take long; else 0 */
	int (*run)(struct set_try *t, void *arg); /* 0 or -errno of setmem.h */
};
int set_try(struct cli *c, struct set_try *t, void *arg, int *err);

/* For those who save rules: which sets hold other elements than their files say. Needs no lock. */
void set_tell_unsaved(struct cli *c, const struct instance *in);

int set_load(struct cli *c);
int set_list(struct cli *c);

#endif
