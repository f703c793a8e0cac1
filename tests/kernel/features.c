/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every program type loads with no feature, with each alone and with all of them, at every point; and what is not asked
 * for is not in it. Needs root.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kernel/program.h"

enum { MAX_VERIFIED = 100000 };
static const char *const names[] = { "netfilter", "tcx", "XDP" };

struct loads {
	unsigned n, bad;
	unsigned xlated; /* of the last */
	unsigned most_verified;
	double most_ms;
	struct str first_error;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void load(struct arena *a, const struct program_spec *spec, struct loads *l)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof info;
	double ms = now_ms();
	struct str log;
	int fd = program_load(a, spec, &log);

	ms = now_ms() - ms;
	l->n++;
	if (fd < 0) {
		if (l->bad++ == 0)
			l->first_error = arena_printf(a, "point %u features %#x: %.*s", spec->point, spec->features, STR_ARG(log));
		return;
	}
	if (l->n > 1 && ms > l->most_ms) /* the first reads the kernel's types */
		l->most_ms = ms;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len)) {
		l->xlated = info.xlated_prog_len;
		if (info.verified_insns > l->most_verified)
			l->most_verified = info.verified_insns;
	}
	close(fd);
}

static void try_type(struct arena *a, struct program_spec spec, unsigned *n)
{
	unsigned points = spec.type == PROGRAM_NF ? DP_POINTS : DP_POINTS_PER_FAMILY, none, all;
	struct loads l = { 0 };

	for (unsigned test = 0; test < 2; test++)
		for (unsigned p = 0; p < points; p++) {
			if (p % DP_POINTS_PER_FAMILY >= DP_POSITION_COUNT)
				continue;
			spec.point = p;
			spec.test_meta = test;
			spec.features = ~0u;
			load(a, &spec, &l);
		}
	spec.test_meta = false;
	for (unsigned f = 0; f < 22; f++)
		for (spec.point = 3; spec.point < points; spec.point += DP_POINTS_PER_FAMILY) {
			spec.features = 1u << f;
			load(a, &spec, &l);
		}
	spec.point = 3;
	spec.features = ~0u;
	load(a, &spec, &l);
	all = l.xlated;
	spec.features = 0;
	load(a, &spec, &l);
	none = l.xlated;
	printf("%sok %u - %s: %u programs load\n", l.bad ? "not " : "", ++*n, names[spec.type], l.n);
	if (l.bad)
		printf("# %u do not; the first: %.*s\n", l.bad, STR_ARG(l.first_error));
	printf("# at most %.1f ms and %u instructions verified; %u bytes with all features, %u with none\n", l.most_ms,
	       l.most_verified, all, none);
	printf("%sok %u - %s: the verifier looks at few instructions\n", l.most_verified > MAX_VERIFIED ? "not " : "", ++*n,
	       names[spec.type]);
	printf("%sok %u - %s: what is not asked for is not in it\n", none * 3 > all * 2 ? "not " : "", ++*n, names[spec.type]);
}

int main(void)
{
	struct program_spec spec = { .size = program_size_fit(1000, 100, 10) };
	struct arena *a = arena_create();
	unsigned n = 0;
	int gen;

	if (getuid() != 0) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	gen = program_generation_create();
	if (gen < 0 || program_maps_create(&spec.maps, &spec.size, gen)) {
		printf("1..1\nnot ok 1 - maps are made\n");
		return 1;
	}
	spec.maps.log = program_log_create();
	spec.maps.meta = program_meta_create();
	for (spec.type = PROGRAM_NF; spec.type < PROGRAM_TYPE_COUNT; spec.type++)
		try_type(a, spec, &n);
	printf("1..%u\n", n);
	program_maps_close(&spec.maps);
	close(gen);
	arena_destroy(a);
	return 0;
}
