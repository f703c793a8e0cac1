/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A map that is mapped where it is touched is the same memory; other faults still end the process; the clock ticks. */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/clock.h"
#include "kernel/pins.h"
#include "kernel/window.h"

enum { BYTES = (8 << 20) + 4096 + 8, WORDS = BYTES / 8, TOUCHED = 400 };
static unsigned n_tests, n_failed;

static void ok(bool holds, const char *what)
{
	printf("%sok %u - %s\n", holds ? "" : "not ", ++n_tests, what);
	n_failed += !holds;
}

static bool touch(int fd, struct refusal *why)
{
	uint64_t *word = window_open(fd, BYTES, why);
	bool holds = word != NULL;

	srand(1);
	for (unsigned i = 0; holds && i < TOUCHED; i++) {
		size_t at = (size_t)rand() % WORDS;

		word[at] = at + 1;
		holds = word[at] == at + 1;
	}
	if (holds)
		word[WORDS - 1] = 7;
	window_close();
	return holds;
}

static bool was_touched(int fd, struct refusal *why)
{
	uint64_t *word = pins_map(fd, BYTES, why);
	bool holds = word && word[WORDS - 1] == 7;

	srand(1);
	for (unsigned i = 0; holds && i < TOUCHED; i++) {
		size_t at = (size_t)rand() % WORDS;

		holds = word[at] == at + 1 || at == WORDS - 1;
	}
	pins_unmap(word, BYTES);
	return holds;
}

/* The signal that ends a process that writes to a wrong address while a window is open, or after it. */
static int end_of(int fd, struct refusal *why, bool is_closed)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct rlimit none = { 0, 0 };
		volatile uint64_t *word = window_open(fd, BYTES, why);

		setrlimit(RLIMIT_CORE, &none);
		if (is_closed)
			window_close();
		*(is_closed ? word : (volatile uint64_t *)16) = 1;
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void look_at_clock(void)
{
	struct timespec pause = { .tv_nsec = 300000000 };
	uint64_t before = 0, after = 0, hz = clock_hz();
	bool reads = clock_jiffies(&before) == 0;

	nanosleep(&pause, NULL);
	reads = reads && clock_jiffies(&after) == 0;
	ok(reads && before > 0, "the clock of programs can be read");
	ok(after - before >= hz * 3 / 10 - 1 && after - before < hz * 3, "and goes as fast as it says");
	printf("# %u ticks in 0.3 s, %u a second\n", (unsigned)(after - before), (unsigned)hz);
}

int main(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct arena *a = arena_create();
	struct refusal why = { .a = a };
	int fd;

	if (getuid() != 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "window", 4, BYTES, 1, &opts);
	ok(fd >= 0, "a map is made");
	ok(touch(fd, &why) && touch(fd, &why), "what is written through a window can be read through it");
	ok(was_touched(fd, &why), "and is in the map");
	ok(end_of(fd, &why, false) == SIGSEGV, "a wrong address elsewhere ends the process");
	ok(end_of(fd, &why, true) == SIGSEGV, "so does the window when it is closed");
	look_at_clock();
	printf("1..%u\n", n_tests);
	arena_destroy(a);
	return n_failed != 0;
}
