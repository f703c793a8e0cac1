/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Templates: a BPF object that libbpf has opened, relocated against this kernel and loaded once, and of which more
 * programs can be made without asking libbpf again.
 *
 * Most of the time of a load is libbpf reading the kernel's types (25 ms); the verifier takes 3 to 10. So the first load
 * of a program goes through libbpf, and the instructions that it hands to the kernel are kept. A further program is
 * these instructions with other constants and other maps in them.
 */
#ifndef WEIR_KERNEL_TEMPLATE_H
#define WEIR_KERNEL_TEMPLATE_H

#include <stddef.h>

struct template_map {
	const char *name;
	int fd; /* -1: only dead code asks for it; any map of its kind will do */
};

struct template_spec {
	const void *object; /* the ELF file, */
	size_t object_bytes;
	const char *section; /* the section of its one program; */
	int type, attach;    /* as in uapi bpf.h */
	const void *config; /* the whole of its .rodata */
	size_t config_bytes;
	const struct template_map *map;
	size_t n_maps;
	char *log; /* on failure: what the verifier said */
	size_t log_bytes;
};

/*
 * Returns the program's fd or -errno. *kept is NULL at first and belongs to this object: it is used again by the next
 * call, and lives as long as the process.
 */
struct template;
int template_load(struct template **kept, const struct template_spec *spec);

#endif
