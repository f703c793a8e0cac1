/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instances that outlived their network namespace. A pinned link keeps the namespace in the kernel, though no name
 * and no process leads there any more; so every namespace that something leads to is visited for its cookie:
 * those of processes, of their open files, and of mounts (`ip netns`, containers).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/finding.h"
#include "kernel/tidy.h"

struct living {
	struct arena *a;
	int home; /* the namespace that we are in */
	VEC(ino_t) seen;
	VEC(uint64_t) cookie;
};

static void visit(struct living *l, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	for (size_t i = 0; fstat(fd, &st) == 0 && i < l->seen.n; i++)
		if (l->seen.v[i] == st.st_ino) {
			close(fd);
			return;
		}
	*vec_add(l->a, &l->seen) = st.st_ino;
	if (setns(fd, CLONE_NEWNET) == 0) {
		*vec_add(l->a, &l->cookie) = instance_netns_cookie();
		if (setns(l->home, CLONE_NEWNET))
			abort(); /* whatever we did next would happen to somebody else */
	}
	close(fd);
}

static bool is_netns_link(const char *path)
{
	char target[16];

	return readlink(path, target, sizeof target) > 5 && memcmp(target, "net:[", 5) == 0;
}

static void visit_open_files(struct living *l, const char *pid)
{
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%.16s/fd", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof path, "/proc/%.16s/fd/%.16s", pid, e->d_name);
		if (is_netns_link(path))
			visit(l, path);
	}
	if (d)
		closedir(d);
}

/* "... - nsfs nsfs rw": the mount point is the fifth word. */
static void visit_mounts(struct living *l, const char *pid)
{
	char path[64], line[4096], *word, *at;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%.16s/mountinfo", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f)) {
		if (!strstr(line, " - nsfs "))
			continue;
		at = NULL;
		word = strtok_r(line, " ", &at);
		for (int i = 0; i < 4 && word; i++)
			word = strtok_r(NULL, " ", &at);
		if (word)
			visit(l, arena_printf(l->a, "/proc/%.16s/root%s", pid, word).p);
	}
	if (f)
		fclose(f);
}

static void visit_all(struct living *l)
{
	DIR *d = opendir("/proc");
	char path[32];
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%.16s/ns/net", e->d_name);
		visit(l, path);
		visit_open_files(l, e->d_name);
		visit_mounts(l, e->d_name);
	}
	if (d)
		closedir(d);
}

static bool is_living(const struct living *l, uint64_t cookie)
{
	for (size_t i = 0; i < l->cookie.n; i++)
		if (l->cookie.v[i] == cookie)
			return true;
	return false;
}

static void judge(struct doctor *d, const struct instance *in, const char *entry, bool repair)
{
	struct instance dead = *in;
	struct refusal why = { .a = d->a };
	const char *name = arena_printf(d->a, "instance %s", entry).p;
	struct pins p;
	int err;

	dead.dir = arena_printf(d->a, "%s/weir/%s", in->bpffs, entry).p;
	dead.lock_path = instance_lock_path(d->a, entry);
	finding_bad(d, name, STR("weir doctor --repair removes it"), "its network namespace is gone");
	if (!repair)
		return;
	err = pins_create(&dead, &p, &why);
	if (!err)
		err = tidy_remove(&p, &why);
	pins_close(&p);
	if (err)
		return;
	unlink(dead.lock_path);
	finding_repaired(d);
}

void doctor_stale(struct doctor *d, const struct instance *in, bool repair)
{
	struct living l = { .a = d->a, .home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC) };
	DIR *dir = opendir(arena_printf(d->a, "%s/weir", in->bpffs).p);
	struct dirent *e;
	bool is_listed = false;

	while (dir && l.home >= 0 && (e = readdir(dir))) {
		uint64_t cookie = strtoull(e->d_name, NULL, 10);

		if (!cookie || cookie == in->cookie)
			continue;
		if (!is_listed)
			visit_all(&l);
		is_listed = true;
		if (!is_living(&l, cookie))
			judge(d, in, e->d_name, repair);
	}
	if (dir)
		closedir(dir);
	if (l.home >= 0)
		close(l.home);
}
