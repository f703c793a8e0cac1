/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NETFILTER links by bpf(2). See nflink.h. */
#include "kernel/nflink.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PF_IP4 = 2, PF_IP6 = 10 };

/* Both as in linux/bpf.h of kernel 6.4 and later. */
struct link_create_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	struct {
		uint32_t pf, hooknum;
		int32_t priority;
		uint32_t flags;
	} netfilter;
};

struct link_info {
	uint32_t type, id, prog_id, pad;
	struct {
		uint32_t pf, hooknum;
		int32_t priority;
		uint32_t flags;
	} netfilter;
	uint32_t room[32]; /* other kinds of links say more */
};

struct info_attr {
	uint32_t fd, len;
	uint64_t info;
};

int nflink_attach(int prog_fd, struct nflink_place at)
{
	struct link_create_attr attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = NFLINK_ATTACH_TYPE,
		.netfilter = { .pf = at.family == FAMILY_IP6 ? PF_IP6 : PF_IP4,
			       .hooknum = (uint32_t)at.hook,
			       .priority = at.priority },
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof attr);

	return fd < 0 ? -errno : (int)fd;
}

int nflink_place_of(int link_fd, struct nflink_place *at, uint32_t *prog_id)
{
	struct link_info info = { 0 };
	struct info_attr attr = { .fd = (uint32_t)link_fd, .len = sizeof info, .info = (uintptr_t)&info };

	if (syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof attr) < 0)
		return -errno;
	if (info.type != NFLINK_LINK_TYPE || info.netfilter.hooknum >= HOOK_IP_COUNT)
		return -EINVAL;
	at->family = info.netfilter.pf == PF_IP6 ? FAMILY_IP6 : FAMILY_IP4;
	at->hook = (enum hook)info.netfilter.hooknum;
	at->priority = info.netfilter.priority;
	if (prog_id)
		*prog_id = info.prog_id;
	return 0;
}
