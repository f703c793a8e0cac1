/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loading of dispatchers. The object is part of this program (.incbin), made by clang at build time. */
#include "kernel/dispatch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>

#include "kernel/nflink.h"

__asm__(".section .rodata\n"
	".balign 8\n"
	".global weir_dispatch_object, weir_dispatch_object_end\n"
	"weir_dispatch_object: .incbin \"" BPF_DIR "/kernel/dispatch.bpf.o\"\n"
	"weir_dispatch_object_end:\n"
	".byte 0\n"
	".previous\n");
extern const char weir_dispatch_object[], weir_dispatch_object_end[];

int dispatch_books_create(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "weir_books", sizeof(uint32_t), sizeof(struct dispatch_books), 1, &opts);
}

int dispatch_slots_create(void)
{
	return bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "weir_slots", sizeof(uint32_t), sizeof(uint32_t), DP_SLOTS, NULL);
}

static int reuse(struct bpf_object *o, const char *name, int fd)
{
	struct bpf_map *map = bpf_object__find_map_by_name(o, name);

	return map ? bpf_map__reuse_fd(map, fd) : -ENOENT;
}

static int set_point(struct bpf_object *o, unsigned point)
{
	struct bpf_map *map = bpf_object__find_map_by_name(o, ".rodata");
	uint32_t value = point;

	if (!map || bpf_map__value_size(map) != sizeof value)
		return -ENOENT;
	return bpf_map__set_initial_value(map, &value, sizeof value);
}

static int load(struct bpf_object *o, unsigned point, const int fd[3])
{
	struct bpf_program *prog = bpf_object__find_program_by_name(o, "dispatch");
	int err;

	if (!prog)
		return -ENOENT;
	err = bpf_program__set_type(prog, (enum bpf_prog_type)NFLINK_PROG_TYPE);
	if (!err)
		err = bpf_program__set_expected_attach_type(prog, (enum bpf_attach_type)NFLINK_ATTACH_TYPE);
	if (!err)
		err = set_point(o, point);
	if (!err)
		err = reuse(o, "generation", fd[0]);
	if (!err)
		err = reuse(o, "books", fd[1]);
	if (!err)
		err = reuse(o, "slots", fd[2]);
	if (!err)
		err = bpf_object__load(o);
	return err ? err : fcntl(bpf_program__fd(prog), F_DUPFD_CLOEXEC, 3);
}

/* What libbpf would print is not for people; the error says enough. */
static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

int dispatch_load(struct refusal *why, unsigned point, int generation_fd, int books_fd, int slots_fd)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "weir");
	int fd[3] = { generation_fd, books_fd, slots_fd }, err;
	libbpf_print_fn_t before = libbpf_set_print(quiet);
	struct bpf_object *o;

	o = bpf_object__open_mem(weir_dispatch_object, (size_t)(weir_dispatch_object_end - weir_dispatch_object), &opts);
	err = o ? load(o, point, fd) : -errno;
	bpf_object__close(o);
	libbpf_set_print(before);
	if (err < 0) {
		refusal_set(why, -err, "cannot load the dispatcher of point %u", point);
		if (err == -EINVAL)
			refusal_help(why, "kernel 6.4 or later with CONFIG_NETFILTER_BPF_LINK and BTF is needed; see weir doctor");
		if (err == -EPERM)
			refusal_help(why, "this needs root (CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON)");
	}
	return err;
}
