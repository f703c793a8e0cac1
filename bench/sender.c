/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends UDP packets and prints what one costs the sending thread: nanoseconds of CPU time, the least of some rounds.
 *
 *     sender ADDRESS PORT PACKETS ROUNDS
 *
 * What is sent goes through OUTPUT and POSTROUTING and into a device that throws it away, so the difference between two
 * rulesets is the difference of what they cost. A packet that rules drop is counted as sent.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static double sender_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int sender_socket(const char *address, const char *port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || inet_pton(AF_INET, address, &to.sin_addr) != 1 ||
	    connect(fd, (const struct sockaddr *)&to, sizeof to) < 0) {
		fprintf(stderr, "sender: cannot send to %s: %s\n", address, strerror(errno));
		exit(2);
	}
	return fd;
}

int main(int argc, char **argv)
{
	double best = 1e18;

	if (argc != 5) {
		fprintf(stderr, "usage: sender ADDRESS PORT PACKETS ROUNDS\n");
		return 2;
	}
	int fd = sender_socket(argv[1], argv[2]);
	long packets = atol(argv[3]), rounds = atol(argv[4]);

	for (long r = 0; r < rounds; r++) {
		double start = sender_cpu_ns(), each;

		for (long i = 0; i < packets; i++)
			if (send(fd, "weir", 4, MSG_DONTWAIT) < 0 && errno != EPERM && errno != ENOBUFS && errno != EAGAIN) {
				fprintf(stderr, "sender: %s\n", strerror(errno));
				return 1;
			}
		each = (sender_cpu_ns() - start) / (double)packets;
		if (each < best)
			best = each;
	}
	printf("%.1f\n", best);
	return 0;
}
