/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * not a test: ends a command in the middle, as kill -9 does.
 *
 *     killat N COMMAND...     kills it at its N-th stop; each system call is two: before and after it
 *
 * Exit status 0: it was killed; 1: it came to its end with fewer stops; 2: something else went wrong.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long at = argc > 2 ? atol(argv[1]) : 0, stops = 0;
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

		if (sig == (SIGTRAP | 0x80) && ++stops == at) {
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
