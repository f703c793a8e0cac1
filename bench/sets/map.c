/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's own maps: LPM_TRIE for networks, HASH for hosts. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "sets/ways.h"

struct map {
	struct bpf_object *object;
	int none, program, fd;
	uint32_t *key; /* mapped */
	bool is_hosts;
};
struct lpm_key {
	uint32_t plen, addr;
};

static int add(struct way *w, uint32_t addr)
{
	struct map *m = w->own;
	struct lpm_key lpm = { 32, htonl(addr) };
	uint32_t one = 1;

	return bpf_map_update_elem(m->fd, m->is_hosts ? (void *)&lpm.addr : (void *)&lpm, &one, BPF_ANY);
}

/* By batches, as fast as user space can. */
static int fill(const struct map *m, const struct bench *b, double *ms)
{
	struct lpm_key *lpm = arena_new(b->a, struct lpm_key, b->n);
	uint32_t *addr = arena_new(b->a, uint32_t, b->n), *value = arena_new(b->a, uint32_t, b->n), count = (uint32_t)b->n;
	int err;

	for (size_t i = 0; i < b->n; i++) {
		addr[i] = htonl(b->net[i].addr);
		lpm[i] = (struct lpm_key){ b->net[i].plen, addr[i] };
		value[i] = 1;
	}
	*ms = ways_now_ns();
	err = bpf_map_update_batch(m->fd, b->is_hosts ? (void *)addr : (void *)lpm, value, &count, NULL);
	*ms = (ways_now_ns() - *ms) / 1e6;
	return err;
}

static const char *open(struct way *w, const struct bench *b, double *ms)
{
	struct map *m = w->own = arena_new(b->a, struct map, 1);
	struct bpf_object *o = bpf_object__open_file(b->peers_object, NULL);
	const char *name = b->is_hosts ? "peer_hash" : "peer_lpm";
	struct bpf_map *keys;

	m->object = o;
	if (!o)
		return "its object cannot be opened";
	bpf_map__set_max_entries(bpf_object__find_map_by_name(o, name), (uint32_t)b->n + WAYS_ADDED);
	if (bpf_object__load(o))
		return "the kernel does not take the program";
	m->is_hosts = b->is_hosts;
	m->fd = bpf_map__fd(bpf_object__find_map_by_name(o, name));
	m->none = bpf_program__fd(bpf_object__find_program_by_name(o, "peer_none"));
	m->program = bpf_program__fd(bpf_object__find_program_by_name(o, b->is_hosts ? "peer_in_hash" : "peer_in_lpm"));
	keys = bpf_object__find_map_by_name(o, "peer_keys");
	m->key = mmap(NULL, MAKE_KEYS * sizeof *m->key, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(keys), 0);
	if (m->key == MAP_FAILED)
		return "its keys cannot be mapped";
	return fill(m, b, ms) ? "the kernel does not take the elements" : NULL;
}

static void keys(struct way *w, const uint32_t key[MAKE_KEYS])
{
	struct map *m = w->own;

	for (size_t i = 0; i < MAKE_KEYS; i++)
		m->key[i] = htonl(key[i]);
}

static double run(struct way *w, bool base)
{
	struct map *m = w->own;

	return ways_test_run(base ? m->none : m->program, MAKE_KEYS);
}

static void end(struct way *w)
{
	struct map *m = w->own;

	if (m->key && m->key != MAP_FAILED)
		munmap(m->key, MAKE_KEYS * sizeof *m->key);
	bpf_object__close(m->object);
}

const struct way way_map = { "the kernel's LPM_TRIE or HASH", open, keys, run, add, end, NULL };
