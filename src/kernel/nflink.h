/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETFILTER links: a program at a hook of a network namespace, at a priority of its own. The kernel knows them since
 * 6.4, libbpf only since 1.3; so these are system calls with structs of our own.
 */
#ifndef WEIR_KERNEL_NFLINK_H
#define WEIR_KERNEL_NFLINK_H

#include "policy/policy.h"

enum { NFLINK_PROG_TYPE = 32, NFLINK_ATTACH_TYPE = 45, NFLINK_LINK_TYPE = 10 };

struct nflink_place {
	enum family family;
	enum hook hook;
	int priority;
};

/* The fd of a new link in the network namespace of the caller, or -errno: -EBUSY where the priority is taken. */
int nflink_attach(int prog_fd, struct nflink_place at);
/* Where a link hangs. 0 or -errno; -EINVAL if it is no NETFILTER link. prog_id may be NULL. */
int nflink_place_of(int link_fd, struct nflink_place *at, uint32_t *prog_id);

#endif
