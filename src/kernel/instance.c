/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which instance, where its pins lie, and the lock between writers. See instance.h. */
#include "kernel/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

enum { INSTANCE_NAME_MAX = 24 };
static const long bpffs_magic = 0xcafe4a11;
static const char *const lock_dir = "/run/weir";

static int check_name(const char *name, struct refusal *why)
{
	size_t n = strlen(name);
	bool good = n > 0 && n <= INSTANCE_NAME_MAX;

	/* The name becomes part of a file name and of the name of an nft table. */
	for (size_t i = 0; i < n && good; i++)
		good = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9' && i > 0) ||
		       (name[i] == '_' && i > 0);
	if (good)
		return 0;
	refusal_set(why, 0, "'%s' cannot be the name of an instance", name);
	refusal_help(why, "a small letter, then small letters, digits and _, at most %d", INSTANCE_NAME_MAX);
	return -EINVAL;
}

static int enter_netns(struct arena *a, const char *netns, struct refusal *why)
{
	const char *path = strchr(netns, '/') ? netns : arena_printf(a, "/run/netns/%s", netns).p;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0) {
		err = refusal_set(why, errno, "cannot open the network namespace %s", path);
		if (err == -ENOENT)
			refusal_help(why, "`ip netns list` shows the names; /proc/PID/ns/net works too");
		return err;
	}
	err = setns(fd, CLONE_NEWNET) ? refusal_set(why, errno, "cannot enter the network namespace %s", path) : 0;
	close(fd);
	return err;
}

uint64_t instance_netns_cookie(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = 0;
	socklen_t n = sizeof cookie;

	if (fd < 0)
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &n))
		cookie = 0;
	close(fd);
	return cookie;
}

bool instance_is_bpffs(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) == 0 && (long)fs.f_type == bpffs_magic;
}

static int find_bpffs(const struct instance *in, struct refusal *why)
{
	if (instance_is_bpffs(in->bpffs))
		return 0;
	refusal_set(why, 0, "no BPF file system is mounted at %s", in->bpffs);
	refusal_help(why, "mount -t bpf bpf %s%s", in->bpffs,
		     in->netns ? "" : "   (`ip netns exec` hides it; outside, use weir --netns NAME)");
	return -ENODEV;
}

const char *instance_lock_path(struct arena *a, const char *folder)
{
	return arena_printf(a, "%s/%s.lock", lock_dir, folder).p;
}

int instance_open(struct arena *a, const struct instance_options *o, struct instance *in, struct refusal *why)
{
	int err;

	*in = (struct instance){ .a = a, .lock_fd = -1, .netns = o->netns };
	in->name = o->name ? o->name : "weir";
	in->bpffs = o->bpffs ? o->bpffs : "/sys/fs/bpf";
	err = check_name(in->name, why);
	if (!err && o->netns)
		err = enter_netns(a, o->netns, why);
	if (err)
		return err;
	in->cookie = instance_netns_cookie();
	if (!in->cookie) {
		refusal_set(why, 0, "this kernel does not number its network namespaces");
		refusal_help(why, "SO_NETNS_COOKIE came with Linux 5.14");
		return -EOPNOTSUPP;
	}
	in->dir = arena_printf(a, "%s/weir/%llu-%s", in->bpffs, (unsigned long long)in->cookie, in->name).p;
	in->lock_path = instance_lock_path(a, arena_printf(a, "%llu-%s", (unsigned long long)in->cookie, in->name).p);
	return find_bpffs(in, why);
}

char *instance_path(const struct instance *in, const char *fmt, ...)
{
	struct buf b = { .a = in->a };
	va_list ap;

	va_start(ap, fmt);
	struct str tail = arena_vprintf(in->a, fmt, ap);
	va_end(ap);
	buf_printf(&b, "%s/%s", in->dir, tail.p);
	return b.v;
}

int instance_create(const struct instance *in, struct refusal *why)
{
	const char *top = arena_printf(in->a, "%s/weir", in->bpffs).p;

	if ((mkdir(top, 0700) && errno != EEXIST) || (mkdir(in->dir, 0700) && errno != EEXIST))
		return refusal_set(why, errno, "cannot make %s", in->dir);
	return 0;
}

static int read_holder(int fd)
{
	char text[16] = "";

	return pread(fd, text, sizeof text - 1, 0) > 0 ? atoi(text) : 0;
}

static void write_holder(int fd)
{
	char text[16];
	int n = snprintf(text, sizeof text, "%-10d\n", (int)getpid());

	if (pwrite(fd, text, (size_t)n, 0) != n)
		return; /* only a courtesy to those who wait */
}

/* The file that was locked may have been removed by the writer before us; then its name leads to another one. */
static bool is_still_there(const char *path, int fd)
{
	struct stat at_path, of_fd;

	return stat(path, &at_path) == 0 && fstat(fd, &of_fd) == 0 && at_path.st_ino == of_fd.st_ino &&
	       at_path.st_dev == of_fd.st_dev;
}

/* The locked fd, or -errno; -EWOULDBLOCK with *holder. */
static int lock_file(const char *path, bool wait, int *holder)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), err = 0;

	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)))
		if (errno != EINTR) {
			err = -errno;
			break;
		}
	if (!err)
		return fd;
	if (holder)
		*holder = read_holder(fd);
	close(fd);
	return err;
}

static int refuse_lock(int err, const char *what, const char *path, struct refusal *why)
{
	refusal_set(why, err, "cannot %s %s", what, path);
	if (err == EACCES)
		refusal_help(why, "this needs root");
	return -err;
}

int instance_lock(struct instance *in, bool wait, int *holder, struct refusal *why)
{
	int fd;

	if (mkdir(lock_dir, 0700) && errno != EEXIST)
		return refuse_lock(errno, "make", lock_dir, why);
	for (;;) {
		fd = lock_file(in->lock_path, wait, holder);
		if (fd == -EWOULDBLOCK && !wait)
			return fd;
		if (fd < 0)
			return refuse_lock(-fd, "lock", in->lock_path, why);
		if (is_still_there(in->lock_path, fd))
			break;
		close(fd);
	}
	write_holder(fd);
	in->lock_fd = fd;
	return 0;
}

void instance_unlock(struct instance *in)
{
	/* Without rules nothing needs the file. Who waits for the lock finds that it is gone, and makes another one. */
	if (in->lock_fd >= 0 && access(in->dir, F_OK))
		unlink(in->lock_path);
	if (in->lock_fd >= 0)
		close(in->lock_fd);
	in->lock_fd = -1;
}
