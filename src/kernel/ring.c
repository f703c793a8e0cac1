/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading the ring by libbpf. Programs do not wake readers up, so following means looking again. See ring.h. */
#include "kernel/ring.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <time.h>

struct reader {
	ring_event *seen;
	void *arg;
	const volatile sig_atomic_t *stop; /* NULL: does not follow, */
	uint64_t until_ns;		   /* but stops at the first event after this time */
};

static const int look_again_ms = 100;

static int on_event(void *ctx, void *data, size_t n)
{
	struct reader *r = ctx;

	const struct dp_log_event *e = data;

	if (n < sizeof *e)
		return 0;
	r->seen(r->arg, e);
	return (r->stop ? *r->stop != 0 : e->time_ns > r->until_ns) ? -EINTR : 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int ring_read(const struct pins *p, const volatile sig_atomic_t *stop, ring_event *seen, void *arg,
	      struct refusal *why)
{
	struct reader r = { seen, arg, stop, now_ns() };
	struct ring_buffer *ring = ring_buffer__new(p->log, on_event, &r, NULL);
	int n;

	if (!ring)
		return refusal_set(why, errno, "cannot open the ring of log events");
	n = ring_buffer__consume(ring);
	while (stop && !*stop && n >= 0 && pins_word(p)) {
		n = ring_buffer__poll(ring, look_again_ms);
		if (n >= 0)
			n = ring_buffer__consume(ring);
	}
	ring_buffer__free(ring);
	return n < 0 && n != -EINTR ? refusal_set(why, -n, "cannot read log events") : 0;
}
