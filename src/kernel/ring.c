/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading the ring by libbpf. Programs do not wake readers up, so following means looking again. See ring.h. */
#include "kernel/ring.h"

#include <bpf/libbpf.h>
#include <errno.h>

struct reader {
	ring_event *seen;
	void *arg;
};

static const int look_again_ms = 100;

static int on_event(void *ctx, void *data, size_t n)
{
	struct reader *r = ctx;

	if (n >= sizeof(struct dp_log_event))
		r->seen(r->arg, data);
	return 0;
}

int ring_read(const struct pins *p, bool follow, ring_event *seen, void *arg, struct refusal *why)
{
	struct reader r = { seen, arg };
	struct ring_buffer *ring = ring_buffer__new(p->log, on_event, &r, NULL);
	int n;

	if (!ring)
		return refusal_set(why, errno, "cannot open the ring of log events");
	n = ring_buffer__consume(ring);
	while (follow && n >= 0) {
		n = ring_buffer__poll(ring, look_again_ms);
		if (n >= 0)
			n = ring_buffer__consume(ring);
	}
	ring_buffer__free(ring);
	return n < 0 && n != -EINTR ? refusal_set(why, -n, "cannot read log events") : 0;
}
