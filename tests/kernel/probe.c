/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * not a test: traffic for the tests of this folder.
 *
 *     probe serve PORT...            echoes on these ports, UDP and TCP, IPv4 and IPv6, until killed
 *     probe udp ADDRESS PORT [MS]    pass if an echo comes back within MS (100) of one of three tries, else drop
 *     probe self ADDRESS PORT        pass if a UDP packet to a socket of its own arrives, else drop; takes 10 ms at most
 *     probe tcp ADDRESS PORT [MS]    pass if the connection is made and echoes, else drop
 *     probe icmp ADDRESS [MS]        the same with echo requests
 *     probe flood ADDRESS PORT...    sends UDP packets to these ports in turn until SIGTERM, then says how many
 *     probe open ADDRESS PORT [MS]   opens a TCP connection and says "open"; for each line of input sends it and
 *                                    says "echo" or "silence"
 */
#include <arpa/inet.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TRIES = 3, MAX_SOCKETS = 256, MAX_PORTS = 16 };

struct address {
	struct sockaddr_storage sa;
	socklen_t n;
	int family;
};

static int say(bool is_pass)
{
	puts(is_pass ? "pass" : "drop");
	return 0;
}

static int die(const char *what)
{
	perror(what);
	return 2;
}

static bool read_address(const char *text, uint16_t port, struct address *a)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&a->sa;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a->sa;

	memset(a, 0, sizeof *a);
	a->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	a->n = a->family == AF_INET6 ? sizeof *v6 : sizeof *v4;
	a->sa.ss_family = (sa_family_t)a->family;
	if (a->family == AF_INET6)
		v6->sin6_port = htons(port);
	else
		v4->sin_port = htons(port);
	return inet_pton(a->family, text, a->family == AF_INET6 ? (void *)&v6->sin6_addr : (void *)&v4->sin_addr) == 1;
}

static bool wait_for(int fd, short what, int ms)
{
	struct pollfd p = { fd, what, 0 };

	return poll(&p, 1, ms) == 1 && (p.revents & what);
}

static int probe_udp(const struct address *to, int ms)
{
	char buf[64];
	bool is_pass = false;

	for (int i = 0; i < TRIES && !is_pass; i++) {
		int fd = socket(to->family, SOCK_DGRAM, 0);

		if (fd < 0 || connect(fd, (const struct sockaddr *)&to->sa, to->n))
			return die("udp");
		is_pass = send(fd, "probe", 5, 0) == 5 && wait_for(fd, POLLIN, ms) && recv(fd, buf, sizeof buf, 0) == 5;
		close(fd);
	}
	return say(is_pass);
}

/* On lo a packet has arrived when the system call that sent it is over, or very soon. */
static int probe_self(const struct address *to)
{
	int in = socket(to->family, SOCK_DGRAM, 0), out = socket(to->family, SOCK_DGRAM, 0);
	bool is_pass = false;

	if (in < 0 || out < 0 || bind(in, (const struct sockaddr *)&to->sa, to->n))
		return die("self");
	for (int i = 0; i < TRIES && !is_pass; i++)
		is_pass = sendto(out, "probe", 5, 0, (const struct sockaddr *)&to->sa, to->n) == 5 &&
			  wait_for(in, POLLIN, 3);
	return say(is_pass);
}

static int open_tcp(const struct address *to, int ms)
{
	int fd = socket(to->family, SOCK_STREAM | SOCK_NONBLOCK, 0), err = 0;
	socklen_t n = sizeof err;

	if (fd < 0)
		return -1;
	connect(fd, (const struct sockaddr *)&to->sa, to->n);
	if (wait_for(fd, POLLOUT, ms * TRIES) && getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) == 0 && err == 0)
		return fd;
	close(fd);
	return -1;
}

static bool echoes(int fd, const char *text, size_t len, int ms)
{
	char buf[256];

	return send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len && wait_for(fd, POLLIN, ms) &&
	       recv(fd, buf, sizeof buf, 0) > 0;
}

static int probe_tcp(const struct address *to, int ms)
{
	int fd = open_tcp(to, ms);

	return say(fd >= 0 && echoes(fd, "probe", 5, ms * TRIES));
}

static int keep_open(const struct address *to, int ms)
{
	int fd = open_tcp(to, ms);
	char line[256];

	puts(fd >= 0 ? "open" : "closed");
	fflush(stdout);
	while (fd >= 0 && fgets(line, sizeof line, stdin)) {
		puts(echoes(fd, line, strlen(line), ms) ? "echo" : "silence");
		fflush(stdout);
	}
	return 0;
}

static bool is_reply(int family, const uint8_t *p, ssize_t n, uint16_t id)
{
	const struct icmphdr *four = (const void *)(p + (n > 0 ? (p[0] & 15) * 4 : 0));
	const struct icmp6_hdr *six = (const void *)p;

	if (family == AF_INET6)
		return n >= 8 && six->icmp6_type == ICMP6_ECHO_REPLY && six->icmp6_id == id;
	return n >= 28 && four->type == ICMP_ECHOREPLY && four->un.echo.id == id;
}

static uint16_t checksum(const void *p, size_t n)
{
	const uint16_t *w = p;
	uint32_t sum = 0;

	for (size_t i = 0; i < n / 2; i++)
		sum += w[i];
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t)~((sum >> 16) + sum);
}

static int probe_icmp(const struct address *to, int ms)
{
	bool six = to->family == AF_INET6, is_pass = false;
	int fd = socket(to->family, SOCK_RAW, six ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
	struct icmphdr h = { .type = six ? ICMP6_ECHO_REQUEST : ICMP_ECHO, .un.echo.id = (uint16_t)getpid() };
	uint8_t buf[512];

	if (fd < 0)
		return die("icmp");
	for (uint16_t i = 0; i < TRIES && !is_pass; i++) {
		h.un.echo.sequence = i;
		h.checksum = 0;
		h.checksum = six ? 0 : checksum(&h, sizeof h);
		if (sendto(fd, &h, sizeof h, 0, (const struct sockaddr *)&to->sa, to->n) < 0)
			continue;
		while (!is_pass && wait_for(fd, POLLIN, ms))
			is_pass = is_reply(to->family, buf, recv(fd, buf, sizeof buf, 0), h.un.echo.id);
	}
	return say(is_pass);
}

/* ---------- flood ---------- */

static volatile sig_atomic_t is_over;

static void on_term(int sig)
{
	(void)sig;
	is_over = 1;
}

static int flood(const char *address, char **port, int n)
{
	unsigned long long sent = 0;
	struct address to;
	int fd[MAX_PORTS];
	char data[32] = "";

	signal(SIGTERM, on_term);
	for (int i = 0; i < n && i < MAX_PORTS; i++) {
		if (!read_address(address, (uint16_t)atoi(port[i]), &to))
			return die(address);
		fd[i] = socket(to.family, SOCK_DGRAM, 0);
		if (fd[i] < 0 || connect(fd[i], (struct sockaddr *)&to.sa, to.n))
			return die("flood");
	}
	for (int i = 0; !is_over; i = (i + 1) % n)
		sent += send(fd[i], data, sizeof data, 0) == sizeof data;
	printf("%llu\n", sent);
	return 0;
}

/* ---------- servers ---------- */

struct server {
	struct pollfd fd[MAX_SOCKETS];
	bool is_listener[MAX_SOCKETS], is_udp[MAX_SOCKETS];
	nfds_t n;
};

static void add_socket(struct server *s, int fd, bool is_listener, bool is_udp)
{
	if (fd < 0)
		return;
	if (s->n == MAX_SOCKETS) {
		close(fd);
		return;
	}
	s->fd[s->n] = (struct pollfd){ fd, POLLIN, 0 };
	s->is_listener[s->n] = is_listener;
	s->is_udp[s->n++] = is_udp;
}

static bool listen_at(struct server *s, const char *any, uint16_t port, int type)
{
	struct address at;
	int one = 1, fd;

	if (!read_address(any, port, &at))
		return false;
	fd = socket(at.family, type, 0);
	if (at.family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, (struct sockaddr *)&at.sa, at.n) || (type == SOCK_STREAM && listen(fd, 64)))
		return false;
	add_socket(s, fd, type == SOCK_STREAM, type == SOCK_DGRAM);
	return true;
}

static void echo(struct server *s, nfds_t i)
{
	struct sockaddr_storage from;
	socklen_t n_from = sizeof from;
	char buf[2048];
	ssize_t n;

	if (s->is_listener[i]) {
		add_socket(s, accept(s->fd[i].fd, NULL, NULL), false, false);
		return;
	}
	if (s->is_udp[i]) {
		n = recvfrom(s->fd[i].fd, buf, sizeof buf, 0, (struct sockaddr *)&from, &n_from);
		if (n >= 0)
			sendto(s->fd[i].fd, buf, (size_t)n, 0, (struct sockaddr *)&from, n_from);
		return;
	}
	n = recv(s->fd[i].fd, buf, sizeof buf, 0);
	if (n > 0 && send(s->fd[i].fd, buf, (size_t)n, MSG_NOSIGNAL) == n)
		return;
	close(s->fd[i].fd);
	s->n--;
	s->fd[i] = s->fd[s->n];
	s->is_listener[i] = s->is_listener[s->n];
	s->is_udp[i] = s->is_udp[s->n];
}

static int serve(char **port, int n)
{
	static struct server s;

	for (int i = 0; i < n; i++) {
		uint16_t p = (uint16_t)atoi(port[i]);

		if (!listen_at(&s, "0.0.0.0", p, SOCK_DGRAM) || !listen_at(&s, "::", p, SOCK_DGRAM) ||
		    !listen_at(&s, "0.0.0.0", p, SOCK_STREAM) || !listen_at(&s, "::", p, SOCK_STREAM))
			return die(port[i]);
	}
	for (;;) {
		if (poll(s.fd, s.n, -1) < 0)
			return die("poll");
		for (nfds_t i = s.n; i > 0; i--)
			if (s.fd[i - 1].revents)
				echo(&s, i - 1);
	}
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";
	bool is_icmp = strcmp(verb, "icmp") == 0;
	int ms = argc > (is_icmp ? 3 : 4) ? atoi(argv[is_icmp ? 3 : 4]) : 100;
	struct address to;

	if (strcmp(verb, "serve") == 0)
		return serve(argv + 2, argc - 2);
	if (argc < (is_icmp ? 3 : 4)) {
		fputs("see the head of tests/kernel/probe.c\n", stderr);
		return 2;
	}
	if (strcmp(verb, "flood") == 0)
		return flood(argv[2], argv + 3, argc - 3);
	if (!read_address(argv[2], is_icmp ? 0 : (uint16_t)atoi(argv[3]), &to))
		return die(argv[2]);
	if (is_icmp)
		return probe_icmp(&to, ms);
	if (strcmp(verb, "self") == 0)
		return probe_self(&to);
	if (strcmp(verb, "tcp") == 0)
		return probe_tcp(&to, ms);
	return strcmp(verb, "open") == 0 ? keep_open(&to, ms) : probe_udp(&to, ms);
}
