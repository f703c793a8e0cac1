/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fuzzer: any bytes as a capture file, each of its packets through the evaluator's reading of it. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "eval/eval.h"
#include "packet/capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_create();
	int fd = memfd_create("capture", 0);
	struct capture *c;
	struct packet p;
	struct str why;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	c = capture_open(a, arena_cstr(a, arena_printf(a, "/proc/self/fd/%d", fd)), &why);
	if (c) {
		while (capture_next(c, &p) > 0) {
			struct facts f;

			facts_read(&f, &p);
		}
		capture_close(c);
	}
	close(fd);
	arena_destroy(a);
	return 0;
}
