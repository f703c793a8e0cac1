/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The record of a trial is a map of one element, pinned as "trial". All who open it see the same memory, so its state
 * ends the guardian at once, also when the pin is gone and another trial has begun.
 */
#include "kernel/trial.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/tidy.h"

enum record_state { RECORD_WAITING = 1, RECORD_OVER };

struct record {
	uint64_t state;
	uint64_t before, next; /* generation words */
	uint64_t deadline_ns;  /* CLOCK_BOOTTIME: sleep counts */
};

static const char *const record_pin = "trial";
static const long poll_ns = 100 * 1000 * 1000;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct record *open_record(const struct pins *p)
{
	struct refusal ignored = { .a = p->in->a };
	int fd = pins_get(p, record_pin);
	struct record *r = fd < 0 ? NULL : pins_map(fd, sizeof(struct record), &ignored);

	if (fd >= 0)
		close(fd);
	return r;
}

static bool is_waiting(const struct record *r)
{
	return __atomic_load_n(&r->state, __ATOMIC_ACQUIRE) == RECORD_WAITING;
}

static void end_record(const struct pins *p, struct record *r)
{
	__atomic_store_n(&r->state, RECORD_OVER, __ATOMIC_SEQ_CST);
	pins_remove(p, record_pin);
}

void trial_look(const struct pins *p, struct trial *t)
{
	struct record *r = open_record(p);
	uint64_t now = now_ns();

	*t = (struct trial){ 0 };
	if (!r)
		return;
	t->is_there = is_waiting(r) && pins_word(p) == r->next;
	t->is_expired = t->is_there && now >= r->deadline_ns;
	if (t->is_there && !t->is_expired)
		t->left_s = (unsigned)((r->deadline_ns - now + 999999999u) / 1000000000u);
	t->serial = pins_serial(r->next);
	t->serial_before = pins_serial(r->before);
	pins_unmap(r, sizeof *r);
}

void trial_drop(struct pins *p)
{
	struct record *r = open_record(p);

	if (r)
		end_record(p, r);
	pins_unmap(r, sizeof *r);
}

static int tidy_active(struct pins *p, struct refusal *why)
{
	struct info active;
	int err = pins_info(p, p->in->a, &active, why);

	if (err && err != -ENOENT)
		return err;
	return err ? tidy_unload(p, why) : tidy_run(p, &active, why);
}

int trial_confirm(struct pins *p, struct refusal *why)
{
	trial_drop(p);
	return tidy_active(p, why);
}

/* The store of the old word is all that must not fail; the rest may be done by whoever comes next. */
static void flip_back(struct pins *p, struct record *r)
{
	if (pins_word(p) == r->next)
		pins_flip(p, r->before);
	end_record(p, r);
}

int trial_roll_back(struct pins *p, struct refusal *why)
{
	struct record *r = open_record(p);

	if (!r)
		return refusal_set(why, 0, "no load waits for its confirmation");
	flip_back(p, r);
	pins_unmap(r, sizeof *r);
	return tidy_active(p, why);
}

int trial_resolve(struct pins *p, bool *rolled_back, struct refusal *why)
{
	struct trial t;

	*rolled_back = false;
	trial_look(p, &t);
	if (!t.is_there) {
		trial_drop(p);
		return 0;
	}
	if (t.is_expired) {
		*rolled_back = true;
		return trial_roll_back(p, why);
	}
	refusal_set(why, 0, "the last load still waits for its confirmation, for %u s more", t.left_s);
	refusal_help(why, "`weir confirm` keeps its rules; `weir confirm --no` brings the rules before back at once");
	return -EBUSY;
}

/* ---------- the guardian ---------- */

static volatile sig_atomic_t asked_to_end;

static void on_term(int sig)
{
	(void)sig;
	asked_to_end = 1;
}

static void leave_session(struct pins *p, struct instance *in)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, term = { .sa_handler = on_term };
	int null = open("/dev/null", O_RDWR);

	setsid();
	sigaction(SIGHUP, &ignore, NULL);
	sigaction(SIGINT, &ignore, NULL);
	sigaction(SIGQUIT, &ignore, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGTSTP, &ignore, NULL);
	sigaction(SIGTERM, &term, NULL);
	if (chdir("/"))
		return; /* then some folder stays busy; the rules matter more */
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (!isatty(STDERR_FILENO))
		dup2(null, STDERR_FILENO); /* nobody shall wait for the end of a pipe */
	/* With all the rest goes the parent's lock; not by flock(LOCK_UN), for the parent still works. */
	close_range(STDERR_FILENO + 1, ~0u, 0);
	in->lock_fd = p->generation = p->books = p->log = -1;
}

static enum trial_end watch(struct pins *p, struct instance *in, struct record *r, struct refusal *why)
{
	struct timespec pause = { .tv_nsec = poll_ns };
	enum trial_end end;

	while (is_waiting(r) && !asked_to_end && now_ns() < r->deadline_ns)
		nanosleep(&pause, NULL);
	if (!is_waiting(r))
		return TRIAL_CONFIRMED;
	if (instance_lock(in, true, NULL, why))
		return TRIAL_FAILED;
	if (!is_waiting(r))
		return TRIAL_CONFIRMED;
	end = pins_word(p) == r->next ? TRIAL_ROLLED_BACK : TRIAL_OVERTAKEN;
	flip_back(p, r);
	return tidy_active(p, why) ? TRIAL_FAILED : end;
}

static void guard(struct pins *p, struct record *r, trial_told *told, void *arg)
{
	struct instance in = *p->in;
	struct refusal why = { .a = p->in->a };
	enum trial_end end;

	leave_session(p, &in);
	end = watch(p, &in, r, &why);
	instance_unlock(&in);
	if (told)
		told(arg, end, &why);
	_exit(0);
}

/* Twice, so that the guardian is nobody's child. */
static int start_guardian(struct pins *p, struct record *r, trial_told *told, void *arg, struct refusal *why)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			guard(p, r, told, arg);
		_exit(pid < 0);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return refusal_set(why, EAGAIN, "cannot start the process that would bring the rules back");
}

int trial_begin(struct pins *p, uint64_t before, uint64_t next, unsigned seconds, trial_told *told, void *arg,
		struct refusal *why)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "weir_trial", sizeof(uint32_t), sizeof(struct record), 1, &opts), err;
	struct record *r;

	if (fd < 0)
		return refusal_set(why, -fd, "cannot make a BPF map");
	r = pins_map(fd, sizeof *r, why);
	if (r) {
		*r = (struct record){ RECORD_WAITING, before, next, now_ns() + (uint64_t)seconds * 1000000000u };
		err = pins_put(p, record_pin, fd, why);
		if (!err)
			err = start_guardian(p, r, told, arg, why);
		if (err)
			end_record(p, r);
		pins_unmap(r, sizeof *r);
	} else {
		err = -ENOMEM;
	}
	close(fd);
	return err;
}
