/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See template.h. libbpf shows what it is about to load to a handler that one may register for a section. */
#include "kernel/template.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"

enum { MAX_MAPS = 8 };

struct template {
	struct arena *a;
	struct bpf_object *obj; /* stays open: its maps and types are in the instructions */
	struct bpf_insn *insn;
	size_t n_insns;
	struct bpf_prog_load_opts opts; /* func_info is a copy */
	int type;
	int fd[MAX_MAPS]; /* as they stand in the instructions, in the order of spec.map */
	int config_fd;
};

/* ---------- the first load ---------- */

static struct template *being_made; /* NULL: libbpf loads something of somebody else */

/* Called by libbpf just before it loads. */
static int keep(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	struct template *t = being_made;

	(void)cookie;
	if (!t)
		return 0;
	t->n_insns = bpf_program__insn_cnt(prog);
	t->insn = arena_new(t->a, struct bpf_insn, t->n_insns);
	memcpy(t->insn, bpf_program__insns(prog), t->n_insns * sizeof *t->insn);
	t->opts = *opts;
	if (opts->func_info) {
		void *copy = arena_alloc(t->a, (size_t)opts->func_info_cnt * opts->func_info_rec_size, 8);

		memcpy(copy, opts->func_info, (size_t)opts->func_info_cnt * opts->func_info_rec_size);
		t->opts.func_info = copy;
	}
	t->opts.line_info = NULL;
	t->opts.line_info_cnt = 0;
	t->opts.log_buf = NULL;
	t->opts.log_size = t->opts.log_level = 0;
	return 0;
}

/* The maps of the spec, where it has them; libbpf makes the others. */
static int put_maps(struct bpf_object *obj, const struct template_spec *spec)
{
	struct bpf_map *map;
	int err;

	for (size_t i = 0; i < spec->n_maps; i++) {
		map = bpf_object__find_map_by_name(obj, spec->map[i].name);
		if (!map || spec->map[i].fd < 0)
			continue;
		err = bpf_map__reuse_fd(map, spec->map[i].fd);
		if (err)
			return err;
	}
	bpf_object__for_each_map(map, obj)
		if (strstr(bpf_map__name(map), ".rodata"))
			return bpf_map__set_initial_value(map, spec->config, spec->config_bytes);
	return -ENOENT;
}

static int map_fd(const struct bpf_object *obj, const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, name);

	return map ? bpf_map__fd(map) : -1;
}

static void learn_maps(struct template *t, const struct template_spec *spec)
{
	struct bpf_map *map;

	for (size_t i = 0; i < spec->n_maps; i++)
		t->fd[i] = map_fd(t->obj, spec->map[i].name);
	bpf_object__for_each_map(map, t->obj)
		if (strstr(bpf_map__name(map), ".rodata"))
			t->config_fd = bpf_map__fd(map);
}

/* Only what a later load can do again is kept. */
static bool can_be_kept(const struct template *t, const struct template_spec *spec)
{
	return t->insn && spec->n_maps <= MAX_MAPS && !t->opts.fd_array;
}

static int first_load(struct template *t, const struct template_spec *spec, int *fd)
{
	struct bpf_program *prog;
	int err = put_maps(t->obj, spec);

	if (!err)
		err = bpf_object__load(t->obj);
	if (err)
		return err;
	prog = bpf_object__next_program(t->obj, NULL);
	*fd = fcntl(bpf_program__fd(prog), F_DUPFD_CLOEXEC, 0);
	return *fd < 0 ? -errno : 0;
}

static int load_by_libbpf(struct template **kept, const struct template_spec *spec)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "weir", .kernel_log_buf = spec->log,
		    .kernel_log_size = spec->log_bytes);
	LIBBPF_OPTS(libbpf_prog_handler_opts, handler, .prog_prepare_load_fn = keep);
	struct arena *a = arena_create();
	struct template *t = arena_new(a, struct template, 1);
	int err, fd = -1;

	t->a = a;
	t->type = spec->type;
	/* Never taken back: libbpf 1.1 frees its list twice then. */
	libbpf_register_prog_handler(spec->section, (enum bpf_prog_type)spec->type, (enum bpf_attach_type)spec->attach, &handler);
	being_made = t;
	t->obj = bpf_object__open_mem(spec->object, spec->object_bytes, &opts);
	err = t->obj ? first_load(t, spec, &fd) : -errno;
	being_made = NULL;
	if (!err && can_be_kept(t, spec)) {
		learn_maps(t, spec);
		*kept = t;
		return fd;
	}
	if (t->obj)
		bpf_object__close(t->obj);
	arena_destroy(a);
	return err ? err : fd;
}

/* ---------- further loads ---------- */

static int config_map(const struct template_spec *spec)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_RDONLY_PROG);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "weir.rodata", 4, (uint32_t)spec->config_bytes, 1, &opts);
	uint32_t zero = 0;

	if (fd < 0)
		return -errno;
	if (bpf_map_update_elem(fd, &zero, spec->config, 0) || bpf_map_freeze(fd)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

/* What stands for the map `fd` in this load. */
static int other_fd(const struct template *t, const struct template_spec *spec, int fd, int config_fd)
{
	if (fd == t->config_fd)
		return config_fd;
	for (size_t i = 0; i < spec->n_maps; i++)
		if (fd == t->fd[i] && spec->map[i].fd >= 0)
			return spec->map[i].fd;
	return fd;
}

static int load_again(struct template *t, const struct template_spec *spec)
{
	struct arena *a = arena_create();
	struct bpf_insn *insn = arena_new(a, struct bpf_insn, t->n_insns);
	struct bpf_prog_load_opts opts = t->opts;
	int config_fd = config_map(spec), fd;

	memcpy(insn, t->insn, t->n_insns * sizeof *insn);
	for (size_t i = 0; i < t->n_insns; i++) {
		bool is_wide = insn[i].code == (BPF_LD | BPF_DW | BPF_IMM);

		if (is_wide && (insn[i].src_reg == BPF_PSEUDO_MAP_FD || insn[i].src_reg == BPF_PSEUDO_MAP_VALUE))
			insn[i].imm = other_fd(t, spec, insn[i].imm, config_fd);
		i += is_wide;
	}
	fd = config_fd < 0 ? config_fd : bpf_prog_load((enum bpf_prog_type)t->type, "weir", "GPL", insn, t->n_insns, &opts);
	if (fd < 0 && config_fd >= 0) { /* once more, for the verifier's words */
		opts.log_buf = spec->log;
		opts.log_size = (uint32_t)spec->log_bytes;
		opts.log_level = 1;
		fd = bpf_prog_load((enum bpf_prog_type)t->type, "weir", "GPL", insn, t->n_insns, &opts);
	}
	if (fd < 0)
		fd = -errno;
	if (config_fd >= 0)
		close(config_fd);
	arena_destroy(a);
	return fd;
}

int template_load(struct template **kept, const struct template_spec *spec)
{
	return *kept ? load_again(*kept, spec) : load_by_libbpf(kept, spec);
}
