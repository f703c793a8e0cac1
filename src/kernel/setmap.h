/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The image of the sets in the kernel: the map `sets` of a slot, mapped. sets/setmem.h works on it, while programs read it.
 *
 *     err = setmap_open(&pins, SETMAP_WRITE, &s, why);      of the rules in use; with the lock of the instance
 *     err = setmem_add(&s.m, setmem_find(&s.m, name), &el);
 *     if (err == -EAGAIN && !setmap_settle(&s, why)) ... again
 *     setmap_close(&s);
 */
#ifndef WEIR_KERNEL_SETMAP_H
#define WEIR_KERNEL_SETMAP_H

#include "kernel/pins.h"
#include "sets/setmem.h"

struct setmap {
	struct setmem m; /* with the clock (FEW: if a set has timeouts), and the serial of the rules in use */
	uint64_t *word;
	size_t bytes;
	bool is_window;
};

enum setmap_way {
	SETMAP_READ,   /* nothing is repaired; no lock is needed */
	SETMAP_WRITE,
	SETMAP_FEW,    /* the same; mapped where it is touched (window.h), for a few changes of a large image */
	SETMAP_CREATE, /* the map is empty: an image without sets */
};

/* 0, -ENOENT (nothing in why): no rules are loaded; or -errno; -EPROTO: another weir's sets. */
int setmap_open(const struct pins *p, enum setmap_way way, struct setmap *out, struct refusal *why);
/* The same of a map, which has room for 2^log2 words. */
int setmap_open_fd(int fd, uint32_t log2, enum setmap_way way, struct setmap *out, struct refusal *why);
void setmap_close(struct setmap *s); /* all 0 is allowed */
/* Waits, if anything in the image waits for it, until no packet reads what was let go of. */
int setmap_settle(struct setmap *s, struct refusal *why);

#endif
