/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ways to hold a set of IPv4 addresses or networks and to look addresses up in it. Each is opened once for a set, then run
 * in turns with the others.
 */
#ifndef WEIR_BENCH_SETS_WAYS_H
#define WEIR_BENCH_SETS_WAYS_H

#include "base/arena.h"
#include "sets/make.h"

enum { WAYS_ADDED = 1000 }; /* strangers that add() is called with, at most */

struct bench {
	struct arena *a;
	const char *key_object, *peers_object; /* files */
	const struct net *net;
	size_t n;
	bool is_hosts;
};

struct way {
	const char *name;
	/* Makes the set. Returns NULL, or why it cannot be. *ms: how long making it took, without what surrounds it. */
	const char *(*open)(struct way *w, const struct bench *b, double *ms);
	/* Which addresses run() looks up, host order. */
	void (*keys)(struct way *w, const uint32_t key[MAKE_KEYS]);
	/* ns for a lookup, mean over all keys, once; base: the same without a set. 0: it failed. */
	double (*run)(struct way *w, bool base);
	int (*add)(struct way *w, uint32_t addr); /* one host more; 0 or -errno. NULL: it has no set */
	void (*close)(struct way *w); /* what no arena ends; NULL: nothing */
	void *own;
};

extern const struct way way_weir, way_plain, way_library, way_map;

double ways_now_ns(void);
/* One test run of a program over `repeat` packets: ns each, 0: it failed. */
double ways_test_run(int fd, unsigned repeat);

#endif
