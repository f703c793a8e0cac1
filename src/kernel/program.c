/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs: open, specialise, load. See program.h. */
#include "kernel/program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "kernel/symbol.h"
#include "kernel/template.h"

/* What libbpf 1.1 does not know yet (uapi bpf.h of 6.4). */
enum { PROG_TYPE_NETFILTER = 32, ATTACH_NETFILTER = 45 };
enum { LOG_BYTES = 1 << 20, LOG_TAIL = 2000, NO_SETS_LOG2 = 6 };

#define EMBED(name, file)                            \
	__asm__(".section .rodata\n"                 \
		".balign 8\n"                        \
		#name ":\n.incbin \"" BPF_DIR file "\"\n" \
		#name "_end:\n.byte 0\n.previous\n"); \
	extern const unsigned char name[], name##_end[]
EMBED(object_nf, "/datapath/nf.bpf.o");
EMBED(object_tcx, "/datapath/tcx.bpf.o");
EMBED(object_xdp, "/datapath/xdp.bpf.o");

static const struct object {
	const char *what, *section;
	const unsigned char *start, *end;
	int type, attach;
} objects[PROGRAM_TYPE_COUNT] = {
	[PROGRAM_NF] = { "netfilter", "netfilter", object_nf, object_nf_end, PROG_TYPE_NETFILTER, ATTACH_NETFILTER },
	[PROGRAM_TCX] = { "tcx", "tc", object_tcx, object_tcx_end, BPF_PROG_TYPE_SCHED_CLS, 0 },
	[PROGRAM_XDP] = { "XDP", "xdp", object_xdp, object_xdp_end, BPF_PROG_TYPE_XDP, BPF_XDP },
};

/* FNV-1a over the embedded objects. */
struct str program_identity(void)
{
	static char text[17];
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < PROGRAM_TYPE_COUNT; i++)
		for (const unsigned char *p = objects[i].start; p < objects[i].end; p++)
			h = (h ^ *p) * 0x100000001b3u;
	snprintf(text, sizeof text, "%016llx", (unsigned long long)h);
	return (struct str){ text, 16 };
}

/* ---------- sizes and maps ---------- */

static uint32_t log2_up(uint64_t n)
{
	uint32_t k = 0;

	while (((uint64_t)1 << k) < n)
		k++;
	return k;
}

unsigned program_cpus(void)
{
	int n = libbpf_num_possible_cpus();

	return n > 0 ? (unsigned)n : 1;
}

struct program_size program_size_fit(uint32_t n_words, uint32_t n_counters, uint32_t n_state)
{
	return (struct program_size){
		.half_log2 = log2_up((uint64_t)n_words + n_words / 4 + 512),
		.counters_log2 = log2_up((uint64_t)n_counters + n_counters / 4 + 64),
		.rows_log2 = log2_up((uint64_t)program_cpus() + 1),
		.state_log2 = log2_up((uint64_t)n_state + n_state / 4 + 16),
		.sets_log2 = NO_SETS_LOG2,
	};
}

bool program_size_holds(const struct program_size *s, uint32_t n_words, uint32_t n_counters, uint32_t n_state)
{
	return n_words <= (uint64_t)1 << s->half_log2 && n_counters <= (uint64_t)1 << s->counters_log2 &&
	       n_state <= (uint64_t)1 << s->state_log2;
}

size_t program_table_bytes(const struct program_size *s)
{
	return (((size_t)2 << s->half_log2) + DP_TABLE_PAD) * 8;
}

size_t program_count_bytes(const struct program_size *s)
{
	return (size_t)16 << (s->counters_log2 + s->rows_log2);
}

size_t program_state_bytes(const struct program_size *s)
{
	return (((size_t)2 << s->state_log2) + DP_TABLE_PAD) * 8;
}

size_t program_sets_bytes(const struct program_size *s)
{
	return (((size_t)1 << s->sets_log2) + DP_TABLE_PAD) * 8;
}

static int array_create(const char *name, size_t bytes)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd;

	if (bytes > UINT32_MAX / 2)
		return -E2BIG;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, 4, (uint32_t)bytes, 1, &opts);
	return fd < 0 ? -errno : fd;
}

int program_generation_create(void)
{
	return array_create("dp_generation", 8);
}

int program_sets_create(const struct program_size *s)
{
	return array_create("dp_sets", program_sets_bytes(s));
}

int program_log_create(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "dp_log", 0, 0, 1 << 20, NULL);

	return fd < 0 ? -errno : fd;
}

int program_meta_create(void)
{
	return array_create("dp_meta", sizeof(struct dp_test_meta));
}

int program_maps_create(struct program_maps *m, const struct program_size *s, int generation)
{
	int err = 0;

	*m = PROGRAM_NO_MAPS;
	m->generation = generation;
	m->table = array_create("dp_table", program_table_bytes(s));
	m->count = array_create("dp_count", program_count_bytes(s));
	m->state = array_create("dp_state", program_state_bytes(s));
	m->sets = program_sets_create(s);
	for (size_t i = 0; i < 4 && !err; i++) {
		int fd = (int[]){ m->table, m->count, m->state, m->sets }[i];

		err = fd < 0 ? fd : 0;
	}
	if (err)
		program_maps_close(m);
	return err;
}

void program_maps_close(struct program_maps *m)
{
	int *fd[] = { &m->table, &m->count, &m->state, &m->sets, &m->log, &m->meta };

	for (size_t i = 0; i < sizeof fd / sizeof *fd; i++) {
		if (*fd[i] >= 0)
			close(*fd[i]);
		*fd[i] = -1;
	}
}

/* ---------- loading ---------- */

static struct dp_config config_of(const struct program_spec *spec)
{
	const struct program_size *s = &spec->size;
	struct dp_config c = {
		.table_mask = ((uint64_t)2 << s->half_log2) - 1,
		.counter_mask = ((uint64_t)1 << (s->counters_log2 + s->rows_log2)) - 1,
		.state_mask = ((uint64_t)2 << s->state_log2) - 1,
		.sets_mask = ((uint64_t)1 << s->sets_log2) - 1,
		.features = spec->features,
		.point = spec->point,
		.slot = spec->slot,
		.half_log2 = s->half_log2,
		.counters_log2 = s->counters_log2,
		.state_log2 = s->state_log2,
		.malformed_accept = spec->malformed_accept,
		.test_meta = spec->test_meta,
		.egress = spec->egress,
		.count_atomic = DP_POSITION_HOOK(spec->point) >= DP_POSITION_HOOK(DP_POSITION_OUTPUT_RAW),
		.sees_ct = !DP_POSITION_IS_RAW(spec->point),
	};

	/* By these a program knows whether connections are tracked in a network namespace. */
	if (spec->features & DP_F_CT) {
		c.conntrack_hook[0] = symbol_address("ipv4_conntrack_in");
		c.conntrack_hook[1] = symbol_address("ipv6_conntrack_in");
	}
	return c;
}

/* The end of the verifier's log: what it stumbled over. */
static struct str log_tail(struct arena *a, const char *what, int err, const char *log)
{
	size_t n = strlen(log), from = n > LOG_TAIL ? n - LOG_TAIL : 0;

	return arena_printf(a, "loading the %s program: %s%s%s", what, strerror(-err), n ? "\n" : "", log + from);
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

int program_load(struct arena *a, const struct program_spec *spec, struct str *log)
{
	static struct template *kept[PROGRAM_TYPE_COUNT];
	const struct object *o = &objects[spec->type];
	const struct program_maps *m = &spec->maps;
	const struct template_map maps[] = {
		{ "dp_generation", m->generation }, { "dp_table", m->table }, { "dp_count", m->count },
		{ "dp_state", m->state }, { "dp_sets", m->sets }, { "dp_log", m->log }, { "dp_meta", m->meta },
	};
	struct dp_config c = config_of(spec);
	struct template_spec t = {
		.object = o->start, .object_bytes = (size_t)(o->end - o->start), .section = o->section, .type = o->type,
		.attach = o->attach, .config = &c, .config_bytes = sizeof c, .map = maps, .n_maps = sizeof maps / sizeof *maps,
		.log = arena_new(a, char, LOG_BYTES), .log_bytes = LOG_BYTES,
	};
	libbpf_print_fn_t before = libbpf_set_print(quiet);
	int fd = template_load(&kept[spec->type], &t);

	libbpf_set_print(before);
	*log = fd < 0 ? log_tail(a, o->what, fd, t.log) : (struct str){ 0 };
	return fd;
}
