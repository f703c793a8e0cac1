/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends UDP packets to many IPv4 addresses in turn and prints what one costs the sending thread: nanoseconds of CPU time,
 * of one pass over all addresses after a first one that warms up.
 *
 *     spray FILE N [PASSES]        FILE has addresses of 4 bytes; the first N of them, in PASSES passes (1)
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int pass(int fd, const in_addr_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(9), .sin_addr = { to[i] } };

		if (sendto(fd, "weir", 4, MSG_DONTWAIT, (const struct sockaddr *)&at, sizeof at) < 0 && errno != EPERM &&
		    errno != ENOBUFS && errno != EAGAIN)
			return -errno;
	}
	return 0;
}

int main(int argc, char **argv)
{
	FILE *f = argc > 2 ? fopen(argv[1], "rb") : NULL;
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned passes = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
	in_addr_t *to = n ? malloc(n * sizeof *to) : NULL;
	int fd = socket(AF_INET, SOCK_DGRAM, 0), err;
	double start;

	if (!f || !to || fread(to, sizeof *to, n, f) != n || fd < 0) {
		fprintf(stderr, "usage: spray FILE N [PASSES]; FILE has N addresses of 4 bytes\n");
		return 2;
	}
	err = pass(fd, to, n);
	start = cpu_ns();
	for (unsigned i = 0; i < passes && !err; i++)
		err = pass(fd, to, n);
	if (err) {
		fprintf(stderr, "spray: %s\n", strerror(-err));
		return 1;
	}
	printf("%.1f\n", (cpu_ns() - start) / (double)n / passes);
	return 0;
}
