/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Not a test: prints a random ruleset and packets for it, for other tests.
 *
 *     gen SEED [PACKETS [ip|ip6] [live]]      sets, then "%%", then rules, then "%%", then one packet a line
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/lib/gen.h"

int main(int argc, char **argv)
{
	unsigned n = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 20, flags = 0;
	char line[4096];
	struct gen g;

	if (argc < 2) {
		fprintf(stderr, "usage: gen SEED [PACKETS [ip|ip6] [live]]\n");
		return 2;
	}
	for (int i = 3; i < argc; i++)
		flags |= strcmp(argv[i], "ip") == 0 ? GEN_IP4 : strcmp(argv[i], "ip6") == 0 ? GEN_IP6 : GEN_LIVE;
	gen_begin(&g, strtoull(argv[1], NULL, 0), flags);
	printf("%s%%%%\n", gen_sets(&g));
	printf("%s%%%%\n", gen_rules(&g));
	for (unsigned i = 0; i < n; i++) {
		gen_packet(&g, line, sizeof line);
		printf("%s\n", line);
	}
	gen_end(&g);
	return 0;
}
