/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pinned objects of an instance. See pins.h. */
#include "kernel/pins.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/grace.h"

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

void *pins_map(int fd, size_t bytes, struct refusal *why)
{
	void *p = mmap(NULL, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p != MAP_FAILED)
		return p;
	refusal_set(why, errno, "cannot map %zu bytes of a BPF map", bytes);
	return NULL;
}

void pins_unmap(void *p, size_t bytes)
{
	if (p)
		munmap(p, whole_pages(bytes));
}

/* ---------- single objects ---------- */

static char *path_of(const struct pins *p, const char *name)
{
	return instance_path(p->in, "%s", name);
}

int pins_get(const struct pins *p, const char *name)
{
	return bpf_obj_get(path_of(p, name));
}

int pins_put(const struct pins *p, const char *name, int fd, struct refusal *why)
{
	char *path = path_of(p, name);
	int err;

	unlink(path);
	err = bpf_obj_pin(fd, path);
	return err ? refusal_set(why, -err, "cannot pin %s", path) : 0;
}

/* The same, and whoever looks finds either the old object or the new one. */
static int replace(const struct pins *p, const char *name, int fd, struct refusal *why)
{
	char *path = path_of(p, name), *fresh = arena_cstr(p->in->a, arena_printf(p->in->a, "%s-new", path));
	int err;

	unlink(fresh);
	err = bpf_obj_pin(fd, fresh);
	if (!err && rename(fresh, path))
		err = -errno;
	return err ? refusal_set(why, -err, "cannot pin %s", path) : 0;
}

void pins_remove(const struct pins *p, const char *name)
{
	unlink(path_of(p, name));
}

/* ---------- the word ---------- */

static int map_heads(struct pins *p, struct refusal *why)
{
	p->word = pins_map(p->generation, sizeof *p->word, why);
	p->book = p->word ? pins_map(p->books, sizeof *p->book, why) : NULL;
	return p->book ? 0 : -ENOMEM;
}

/* Somebody has removed a pin of rules that still judge. */
static int refuse_damage(const struct pins *p, const char *name, struct refusal *why)
{
	refusal_set(why, 0, "%s is missing in %s", name, p->in->dir);
	refusal_help(why, "`weir unload` removes what is left; then load the rules again");
	return -ESTALE;
}

static bool has_links(const struct instance *in)
{
	DIR *d = opendir(in->dir);
	struct dirent *e;
	bool has = false;

	while (d && !has && (e = readdir(d)))
		has = strncmp(e->d_name, "link-", 5) == 0;
	if (d)
		closedir(d);
	return has;
}

/* Without links, heads are missing because a first load or the last unload did not come to its end. */
static int open_heads(struct pins *p, struct refusal *why)
{
	const struct {
		const char *name;
		int *fd;
	} head[] = { { "generation", &p->generation }, { "books", &p->books }, { "log", &p->log } };

	for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
		*head[i].fd = pins_get(p, head[i].name);
		if (*head[i].fd == -ENOENT)
			return has_links(p->in) ? refuse_damage(p, head[i].name, why) : -ENOENT;
		if (*head[i].fd < 0)
			return refusal_set(why, -*head[i].fd, "cannot open what is pinned in %s", p->in->dir);
	}
	return map_heads(p, why);
}

int pins_open(const struct instance *in, struct pins *p, struct refusal *why)
{
	struct stat st;

	*p = (struct pins){ .in = in, .generation = -1, .books = -1, .log = -1 };
	if (stat(in->dir, &st) && errno == ENOENT)
		return -ENOENT;
	if (access(in->dir, R_OK | W_OK | X_OK)) {
		refusal_set(why, errno, "cannot look into %s", in->dir);
		refusal_help(why, "this needs root");
		return -EACCES;
	}
	return open_heads(p, why);
}

static int get_or_make(struct pins *p, const char *name, int (*make)(void), int *fd, struct refusal *why)
{
	int err;

	*fd = pins_get(p, name);
	if (*fd >= 0)
		return 0;
	if (*fd != -ENOENT)
		return refusal_set(why, -*fd, "cannot open the pinned %s", name);
	*fd = make();
	if (*fd < 0)
		err = refusal_set(why, -*fd, "cannot make a BPF map for the %s", name);
	else
		err = pins_put(p, name, *fd, why);
	if (err == -EPERM)
		refusal_help(why, "this needs root (CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON)");
	return err;
}

int pins_create(const struct instance *in, struct pins *p, struct refusal *why)
{
	int err = instance_create(in, why);

	*p = (struct pins){ .in = in, .generation = -1, .books = -1, .log = -1 };
	/* The generation comes last: a folder without one was never used. */
	if (!err)
		err = get_or_make(p, "books", dispatch_books_create, &p->books, why);
	if (!err)
		err = get_or_make(p, "log", program_log_create, &p->log, why);
	if (!err)
		err = get_or_make(p, "generation", program_generation_create, &p->generation, why);
	return err ? err : map_heads(p, why);
}

void pins_close(struct pins *p)
{
	pins_unmap(p->word, sizeof *p->word);
	pins_unmap(p->book, sizeof *p->book);
	if (p->generation >= 0)
		close(p->generation);
	if (p->books >= 0)
		close(p->books);
	if (p->log >= 0)
		close(p->log);
	*p = (struct pins){ .in = p->in, .generation = -1, .books = -1, .log = -1 };
}

uint64_t pins_word(const struct pins *p)
{
	return __atomic_load_n(p->word, __ATOMIC_ACQUIRE);
}

uint32_t pins_serial(uint64_t word)
{
	return (uint32_t)(word >> DP_GEN_SERIAL_SHIFT & DP_GEN_SERIAL_MASK);
}

unsigned pins_slot(uint64_t word)
{
	return word & DP_GEN_SLOT ? 1 : 0;
}

unsigned pins_half(uint64_t word, unsigned slot)
{
	return word & DP_GEN_HALF(slot) ? 1 : 0;
}

void pins_flip(struct pins *p, uint64_t word)
{
	__atomic_store_n(&p->book->settled, PINS_UNSETTLED, __ATOMIC_SEQ_CST);
	__atomic_store_n(p->word, word, __ATOMIC_SEQ_CST);
}

int pins_settle(struct pins *p, struct refusal *why)
{
	uint64_t word = pins_word(p);
	int err;

	if (__atomic_load_n(&p->book->settled, __ATOMIC_ACQUIRE) == word)
		return 0;
	err = grace_wait(why);
	if (!err)
		__atomic_store_n(&p->book->settled, word, __ATOMIC_SEQ_CST);
	return err;
}

/* ---------- info ---------- */

static int map_bytes(int fd, size_t *bytes)
{
	struct bpf_map_info info = { 0 };
	uint32_t n = sizeof info;
	int err = bpf_obj_get_info_by_fd(fd, &info, &n);

	*bytes = info.value_size;
	return err;
}

static int read_info(struct arena *a, int fd, struct info *out, struct refusal *why)
{
	size_t bytes;
	struct str blob = { 0 };
	int err = map_bytes(fd, &bytes);
	uint64_t n;
	char *p = err ? NULL : pins_map(fd, bytes, why);

	if (!p)
		return -EIO;
	memcpy(&n, p, sizeof n);
	if (n <= bytes - sizeof n)
		blob = arena_str(a, p + sizeof n, (size_t)n);
	pins_unmap(p, bytes);
	if (info_read(a, blob, out))
		return 0;
	refusal_set(why, 0, "the loaded rules are described in a format that this weir does not know");
	refusal_help(why, "use the weir that loaded them, or `weir unload` and load them again");
	return -EPROTO;
}

int pins_info_of(const struct pins *p, struct arena *a, uint32_t serial, struct info *out, struct refusal *why)
{
	char name[32];
	int fd, err;

	snprintf(name, sizeof name, "info-%u", serial);
	fd = pins_get(p, name);
	if (fd == -ENOENT)
		return refuse_damage(p, name, why);
	if (fd < 0)
		return refusal_set(why, -fd, "cannot open %s", path_of(p, name));
	err = read_info(a, fd, out, why);
	close(fd);
	return err;
}

bool pins_has_info(const struct pins *p, uint32_t serial)
{
	return access(instance_path(p->in, "info-%u", serial), F_OK) == 0;
}

int pins_info(const struct pins *p, struct arena *a, struct info *out, struct refusal *why)
{
	uint32_t serial = pins_serial(pins_word(p));

	return serial ? pins_info_of(p, a, serial, out, why) : -ENOENT;
}

int pins_info_store(const struct pins *p, uint32_t serial, struct str blob, struct refusal *why)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	uint64_t n = blob.n;
	size_t bytes = whole_pages(blob.n + sizeof n);
	char name[32], *to;
	int fd, err = 0;

	if (bytes > INT32_MAX)
		return refusal_set(why, EFBIG, "cannot describe the rules in the kernel");
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "weir_info", sizeof(uint32_t), (uint32_t)bytes, 1, &opts);
	if (fd < 0)
		return refusal_set(why, -fd, "cannot make a BPF map of %zu bytes", bytes);
	to = pins_map(fd, bytes, why);
	if (to) {
		memcpy(to, &n, sizeof n);
		memcpy(to + sizeof n, blob.p, blob.n);
		pins_unmap(to, bytes);
		snprintf(name, sizeof name, "info-%u", serial);
		err = replace(p, name, fd, why);
	}
	close(fd);
	return to ? err : -ENOMEM;
}

/* ---------- slots ---------- */

static const char *const slot_maps[] = { "table", "count", "state", "sets" };
enum { SLOT_MAPS = sizeof slot_maps / sizeof *slot_maps };

static int *slot_fd(struct program_maps *m, unsigned i)
{
	return i == 0 ? &m->table : i == 1 ? &m->count : i == 2 ? &m->state : &m->sets;
}

int pins_slot_get(const struct pins *p, unsigned slot, struct program_maps *m, struct refusal *why)
{
	int err = 0;

	*m = PROGRAM_NO_MAPS;
	m->generation = p->generation;
	m->log = p->log;
	for (unsigned i = 0; i < SLOT_MAPS; i++) {
		const char *name = arena_printf(p->in->a, "slot%u/%s", slot, slot_maps[i]).p;
		int fd = pins_get(p, name);

		*slot_fd(m, i) = fd < 0 ? -1 : fd;
		if (fd < 0 && !err)
			err = fd == -ENOENT ? refuse_damage(p, name, why) : refusal_set(why, -fd, "cannot open %s", name);
	}
	return err;
}

int pins_slot_put(const struct pins *p, unsigned slot, const struct program_maps *m, struct refusal *why)
{
	char *dir = instance_path(p->in, "slot%u", slot);
	struct program_maps copy = *m;
	int err = 0;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return refusal_set(why, errno, "cannot make %s", dir);
	for (unsigned i = 0; i < SLOT_MAPS && !err; i++) {
		char name[32];

		snprintf(name, sizeof name, "slot%u/%s", slot, slot_maps[i]);
		err = pins_put(p, name, *slot_fd(&copy, i), why);
	}
	return err;
}

void pins_slot_remove(const struct pins *p, unsigned slot)
{
	for (unsigned i = 0; i < SLOT_MAPS; i++)
		unlink(instance_path(p->in, "slot%u/%s", slot, slot_maps[i]));
	rmdir(instance_path(p->in, "slot%u", slot));
}
