/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * not a test: how many programs that judge packets a command loads into the kernel.
 *
 *     loads COMMAND...      runs it, its output to standard error, and prints the number
 *
 * It is traced, so that what others load at the same time does not count; programs that only ask the kernel something (of
 * libbpf, to learn what there is; to read the clock) do not either.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROG_TYPE_NETFILTER = 32 };

static bool is_judge(long type)
{
	return type == PROG_TYPE_NETFILTER || type == BPF_PROG_TYPE_SCHED_CLS || type == BPF_PROG_TYPE_XDP || type == BPF_PROG_TYPE_EXT;
}

/* Stopped where it enters or leaves a system call: is one loaded? The type is the first word of what it hands over. */
static bool loads_one(pid_t pid)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY ||
	    info.entry.nr != SYS_bpf || info.entry.args[0] != BPF_PROG_LOAD)
		return false;
	errno = 0;
	return is_judge(ptrace(PTRACE_PEEKDATA, pid, (void *)(uintptr_t)info.entry.args[1], NULL) & 0xffffffff) && !errno;
}

static int trace(pid_t pid, unsigned *n)
{
	int status, sig = 0;

	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return 1;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, sig) || waitpid(pid, &status, 0) < 0)
			return 1;
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return 1;
		sig = WSTOPSIG(status) == (SIGTRAP | 0x80) || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			*n += loads_one(pid);
	}
}

int main(int argc, char **argv)
{
	unsigned n = 0;
	pid_t pid;
	int rc;

	if (argc < 2) {
		fprintf(stderr, "usage: loads COMMAND...\n");
		return 2;
	}
	pid = fork();
	if (pid < 0)
		return 3;
	if (pid == 0) {
		dup2(2, 1);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	rc = trace(pid, &n);
	if (rc) {
		fprintf(stderr, "loads: %s ended with %d\n", argv[1], rc);
		return rc;
	}
	printf("%u\n", n);
	return 0;
}
