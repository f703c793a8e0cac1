/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs loaded programs by BPF_PROG_TEST_RUN and prints nanoseconds a run, the least of some.
 *
 *     testrun LINK ADDRESS PORT        a pinned NETFILTER link's program, on a UDP packet to ADDRESS:PORT
 *     testrun -                        an empty program of that type
 *
 * The packet is said to be at INPUT, where a test run takes a whole frame; the programs do not look at that. A test run
 * has no interfaces. Fails if the packet is dropped: such a run measures something else.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROG_TYPE_NETFILTER = 32, ATTACH_NETFILTER = 45, REPEAT = 300000, ROUNDS = 9 };

static int testrun_empty(void)
{
	struct bpf_insn insn[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opt,
		    .expected_attach_type = (enum bpf_attach_type)ATTACH_NETFILTER);

	return bpf_prog_load((enum bpf_prog_type)PROG_TYPE_NETFILTER, "empty", "GPL", insn, 2, &opt);
}

static int testrun_linked(const char *path)
{
	struct bpf_link_info info = { 0 };
	__u32 len = sizeof info;
	int fd = bpf_obj_get(path);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len) < 0)
		return -1;
	close(fd);
	return bpf_prog_get_fd_by_id(info.prog_id);
}

/* An Ethernet frame with an IPv4 UDP packet of 32 bytes. */
static void testrun_frame(unsigned char f[46], const char *address, unsigned port)
{
	static const unsigned char ip[] = { 0x45, 0, 0, 32, 0, 1, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1 };
	unsigned sum = 0;

	memset(f, 0, 46);
	f[12] = 8;
	memcpy(f + 14, ip, sizeof ip);
	inet_pton(AF_INET, address, f + 30);
	for (int i = 14; i < 34; i += 2)
		sum += (unsigned)(f[i] << 8 | f[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16));
	f[24] = (unsigned char)(sum >> 8);
	f[25] = (unsigned char)sum;
	f[34] = 0x9c;
	f[35] = 0x40;
	f[36] = (unsigned char)(port >> 8);
	f[37] = (unsigned char)port;
	f[39] = 12;
}

int main(int argc, char **argv)
{
	unsigned char frame[46], state[48] = { 0 };
	unsigned best = ~0u;

	if (argc != 2 && argc != 4) {
		fprintf(stderr, "usage: testrun LINK ADDRESS PORT | testrun -\n");
		return 2;
	}
	int fd = argc == 2 ? testrun_empty() : testrun_linked(argv[1]);

	testrun_frame(frame, argc == 4 ? argv[2] : "192.0.2.2", argc == 4 ? (unsigned)atoi(argv[3]) : 9);
	state[0] = 1; /* NF_INET_LOCAL_IN */
	state[1] = 2; /* NFPROTO_IPV4 */
	for (int r = 0; r < ROUNDS && fd >= 0; r++) {
		LIBBPF_OPTS(bpf_test_run_opts, opt, .data_in = frame, .data_size_in = sizeof frame, .ctx_in = state,
			    .ctx_size_in = sizeof state, .repeat = REPEAT);

		if (bpf_prog_test_run_opts(fd, &opt) < 0)
			break;
		if (opt.retval != 1) {
			fprintf(stderr, "testrun: the packet is dropped\n");
			return 1;
		}
		if (opt.duration < best)
			best = opt.duration;
	}
	if (best == ~0u) {
		fprintf(stderr, "testrun: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	printf("%u\n", best);
	return 0;
}
