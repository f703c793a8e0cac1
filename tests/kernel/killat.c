/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * not a test: ends a command in the middle, as kill -9 does.
 *
 *     killat N COMMAND...     kills it before its N-th system call
 *
 * Counted from the first flock() on: before it the command only reads. Calls that change nothing outside of the process
 * are not counted either: to die before one of them is to die before the next that does.
 *
 * Exit status 0: it was killed; 1: it came to its end with fewer stops; 2: something else went wrong.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_neutral(long nr)
{
	static const long neutral[] = { SYS_read, SYS_pread64, SYS_mmap, SYS_brk, SYS_mprotect, SYS_newfstatat, SYS_fstat,
					SYS_access, SYS_getdents64, SYS_recvmsg, SYS_recvfrom, SYS_poll, SYS_ppoll,
					SYS_pselect6, SYS_lseek, SYS_statfs, SYS_getsockname, SYS_getsockopt, SYS_fcntl,
					SYS_getuid, SYS_geteuid, SYS_getpid, SYS_prctl, SYS_ioctl, SYS_clock_getres,
					SYS_readlink, SYS_sched_getaffinity, SYS_openat, SYS_socket, SYS_bind,
					SYS_setsockopt, SYS_rt_sigaction, SYS_rt_sigprocmask };

	for (size_t i = 0; i < sizeof neutral / sizeof *neutral; i++)
		if (neutral[i] == nr)
			return true;
	return false;
}

/* Is the stop before a system call, and one that counts? */
static bool counts(pid_t pid, bool *has_lock)
{
	struct __ptrace_syscall_info info = { 0 };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof info, &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	*has_lock = *has_lock || (long)info.entry.nr == SYS_flock;
	return *has_lock && !is_neutral((long)info.entry.nr);
}

int main(int argc, char **argv)
{
	long at = argc > 2 ? atol(argv[1]) : 0, stops = 0;
	bool has_lock = false;
	int status;
	pid_t pid;

	if (at <= 0)
		return 2;
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 2;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD);
	for (;;) {
		int sig = WSTOPSIG(status);

		if (sig == (SIGTRAP | 0x80) && counts(pid, &has_lock) && ++stops == at) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return 0;
		}
		if (ptrace(PTRACE_SYSCALL, pid, NULL, sig & 0x80 || sig == SIGTRAP ? 0 : (void *)(long)sig))
			return 2;
		if (waitpid(pid, &status, 0) != pid)
			return 2;
		if (!WIFSTOPPED(status))
			return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 2;
	}
}
