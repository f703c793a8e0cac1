/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An instance: the rules of one name in one network namespace. Its key is the namespace's cookie, a number that the
 * kernel never gives twice, and its name; several instances may live in one namespace.
 *
 *     <bpffs>/weir/<cookie>-<name>/    everything that keeps the rules alive without a process (pins.h)
 *     /run/weir/<cookie>-<name>.lock   held by whoever changes them
 */
#ifndef WEIR_KERNEL_INSTANCE_H
#define WEIR_KERNEL_INSTANCE_H

#include "kernel/refusal.h"

struct instance_options {
	const char *name;  /* NULL: "weir" */
	const char *netns; /* a name of `ip netns`, or a path; NULL: the namespace of this process */
	const char *bpffs; /* NULL: /sys/fs/bpf */
};

struct instance {
	struct arena *a;
	const char *name, *bpffs, *netns; /* netns NULL: the caller's own */
	uint64_t cookie;
	const char *dir, *lock_path;
	int lock_fd; /* -1: not locked */
};

/*
 * Enters the namespace (the whole process does, for good) and finds the folder; nothing is made yet. 0 or -errno:
 * -EINVAL name, -ENOENT namespace, -ENODEV no BPF file system.
 */
int instance_open(struct arena *a, const struct instance_options *o, struct instance *in, struct refusal *why);
/*
 * Takes the lock for writers. Without `wait`, -EWOULDBLOCK if another has it (nothing in why; *holder is its process
 * number, 0 if unknown).
 */
int instance_lock(struct instance *in, bool wait, int *holder, struct refusal *why);
/* When nothing of the instance is left, the lock's file goes too. */
void instance_unlock(struct instance *in);
const char *instance_lock_path(struct arena *a, const char *folder); /* of an instance, by the name of its folder */
/* Makes the folder. */
int instance_create(const struct instance *in, struct refusal *why);
/* Path of a pin: instance_path(in, "slot%u/table", 0). */
char *instance_path(const struct instance *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool instance_is_bpffs(const char *dir);
uint64_t instance_netns_cookie(void); /* of the namespace that the process is in; 0 if the kernel does not tell */

#endif
