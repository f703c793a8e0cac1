/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two ways to wait for the kernel's readers.
 *
 * membarrier(MEMBARRIER_CMD_GLOBAL) is synchronize_rcu(), and netfilter runs its hooks inside rcu_read_lock(). The
 * command is missing where CPUs run without a tick (nohz_full). There, writing a slot of a map of maps does the same:
 * the kernel waits with synchronize_rcu() before that system call returns, because programs may still use the inner
 * map that was replaced.
 */
#include "kernel/grace.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool has_membarrier(void)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	return commands >= 0 && (commands & MEMBARRIER_CMD_GLOBAL);
}

static int wait_by_map(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	uint32_t zero = 0;
	int inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "weir_inner", 4, 4, 1, NULL), outer, err = 0;

	if (inner < 0)
		return inner;
	opts.inner_map_fd = (uint32_t)inner;
	outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "weir_outer", 4, 4, 1, &opts);
	if (outer < 0) {
		err = outer;
	} else {
		err = bpf_map_update_elem(outer, &zero, &inner, BPF_ANY);
		close(outer);
	}
	close(inner);
	return err;
}

enum grace_way grace_probe(void)
{
	if (has_membarrier())
		return GRACE_MEMBARRIER;
	return wait_by_map() == 0 ? GRACE_MAP_UPDATE : GRACE_NONE;
}

int grace_wait(struct refusal *why)
{
	int err;

	if (has_membarrier() && syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0)
		return 0;
	err = wait_by_map();
	if (err)
		refusal_set(why, -err, "cannot wait until no packet uses the old rules");
	return err;
}
