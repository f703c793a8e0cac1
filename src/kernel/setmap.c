/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mapped image of the sets. See setmap.h. */
#include "kernel/setmap.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "kernel/clock.h"
#include "kernel/grace.h"
#include "kernel/window.h"

static int refuse_image(int err, struct refusal *why)
{
	if (err != -EPROTO)
		return refusal_set(why, -err, "cannot read the sets in the kernel");
	refusal_set(why, 0, "the sets in the kernel are those of another weir");
	refusal_help(why, "load the rules again");
	return err;
}

static void unmap(struct setmap *s)
{
	if (s->is_window)
		window_close();
	else
		pins_unmap(s->word, s->bytes);
	*s = (struct setmap){ 0 };
}

static bool has_timeouts(const struct setmem *m)
{
	struct setmem_info info;

	for (uint32_t id = setmem_next(m, SETMEM_NONE); id != SETMEM_NONE; id = setmem_next(m, id))
		if (setmem_info(m, id, &info) && info.has_default_timeout)
			return true;
	return false;
}

static int open_image(struct setmap *s, uint32_t log2, enum setmap_way way)
{
	size_t n = (size_t)1 << log2;
	int err = 0;

	if (way == SETMAP_CREATE)
		setmem_create(&s->m, s->word, log2);
	else
		err = way == SETMAP_READ ? setmem_open_ro(&s->m, s->word, n) : setmem_open(&s->m, s->word, n);
	if (err)
		return err;
	s->m.hz = clock_hz();
	if (way == SETMAP_FEW && !has_timeouts(&s->m))
		return 0;
	err = clock_jiffies(&s->m.now);
	if (err)
		setmem_close(&s->m);
	return err;
}

int setmap_open_fd(int fd, uint32_t log2, enum setmap_way way, struct setmap *out, struct refusal *why)
{
	int err;

	*out = (struct setmap){ .is_window = way == SETMAP_FEW };
	out->bytes = (((size_t)1 << log2) + DP_TABLE_PAD) * sizeof *out->word;
	out->word = out->is_window ? window_open(fd, out->bytes, why) : pins_map(fd, out->bytes, why);
	if (!out->word)
		return -ENOMEM;
	err = open_image(out, log2, way);
	if (!err)
		return 0;
	unmap(out);
	return refuse_image(err, why);
}

/* Words of the image, as a power of two; there is padding behind it. */
static uint32_t image_log2(int fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t n = sizeof info, log2 = 0;

	if (bpf_obj_get_info_by_fd(fd, &info, &n))
		return 0;
	while (((size_t)2 << log2) * sizeof(uint64_t) <= info.value_size)
		log2++;
	return log2;
}

int setmap_open(const struct pins *p, enum setmap_way way, struct setmap *out, struct refusal *why)
{
	uint64_t word = pins_word(p);
	int err, fd;

	*out = (struct setmap){ 0 };
	if (!pins_serial(word))
		return -ENOENT;
	fd = pins_get(p, pins_slot(word) ? "slot1/sets" : "slot0/sets");
	if (fd < 0)
		return refusal_set(why, -fd, "cannot open the pinned sets");
	err = setmap_open_fd(fd, image_log2(fd), way, out, why);
	close(fd);
	if (!err)
		out->m.serial = pins_serial(word);
	return err;
}

void setmap_close(struct setmap *s)
{
	if (!s->word)
		return;
	setmem_close(&s->m);
	unmap(s);
}

int setmap_settle(struct setmap *s, struct refusal *why)
{
	int err = setmem_needs_grace(&s->m) ? grace_wait(why) : 0;

	if (!err)
		setmem_grace(&s->m);
	return err;
}
