/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User space has no jiffies; they follow CLOCK_MONOTONIC, but from where nobody tells. So a program of type SYSCALL, which
 * hangs nowhere, is asked.
 */
#include "kernel/clock.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <time.h>
#include <unistd.h>

int clock_jiffies(uint64_t *now)
{
	const struct bpf_insn insn[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_1 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_jiffies64 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, load, .prog_flags = BPF_F_SLEEPABLE);
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = now, .ctx_size_in = sizeof *now);
	int fd = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "weir_clock", "Dual BSD/GPL", insn, sizeof insn / sizeof *insn, &load), err;

	*now = 0;
	if (fd < 0)
		return fd;
	err = bpf_prog_test_run_opts(fd, &run);
	close(fd);
	return err;
}

uint32_t clock_hz(void)
{
	struct timespec res;

	/* The coarse clock ticks once a jiffy. */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &res) || res.tv_nsec <= 0)
		return 250;
	return (uint32_t)(1000000000 / res.tv_nsec);
}
