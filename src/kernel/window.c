/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mapping on touch. See window.h. */
#include "kernel/window.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 128 << 10 };

/* What the handler needs; it has no argument of its own. */
static struct {
	char *base; /* NULL: not open */
	size_t bytes;
	int fd;
	struct sigaction before;
} window;

/* A second fault at the same place comes to whoever had the signal before. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	size_t at = (size_t)((char *)info->si_addr - window.base), n = PIECE;

	(void)sig;
	(void)context;
	if (info->si_code == SEGV_ACCERR && at < window.bytes) {
		at -= at % PIECE;
		if (n > window.bytes - at)
			n = window.bytes - at;
		if (mmap(window.base + at, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, window.fd, (off_t)at) !=
		    MAP_FAILED)
			return;
	}
	sigaction(SIGSEGV, &window.before, NULL);
}

void *window_open(int fd, size_t bytes, struct refusal *why)
{
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *base;

	bytes = (bytes + page - 1) / page * page;
	base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) {
		refusal_set(why, errno, "cannot map %zu bytes of a BPF map", bytes);
		return NULL;
	}
	window.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	window.bytes = bytes;
	window.base = base;
	sigaction(SIGSEGV, &act, &window.before);
	return base;
}

void window_close(void)
{
	if (!window.base)
		return;
	sigaction(SIGSEGV, &window.before, NULL);
	munmap(window.base, window.bytes);
	close(window.fd);
	window.base = NULL;
}
