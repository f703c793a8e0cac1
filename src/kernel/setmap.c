/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mapped image of the sets. See setmap.h. */
#include "kernel/setmap.h"

#include <errno.h>

#include "kernel/clock.h"
#include "kernel/grace.h"

static int refuse_image(int err, struct refusal *why)
{
	if (err != -EPROTO)
		return refusal_set(why, -err, "cannot read the sets in the kernel");
	refusal_set(why, 0, "the sets in the kernel are those of another weir");
	refusal_help(why, "load the rules again");
	return err;
}

int setmap_open_fd(int fd, uint32_t log2, enum setmap_way way, struct setmap *out, struct refusal *why)
{
	size_t n = (size_t)1 << log2;
	int err = 0;

	*out = (struct setmap){ .bytes = (n + DP_TABLE_PAD) * sizeof *out->word };
	out->word = pins_map(fd, out->bytes, why);
	if (!out->word)
		return -ENOMEM;
	if (way == SETMAP_CREATE)
		setmem_create(&out->m, out->word, log2);
	else
		err = way == SETMAP_READ ? setmem_open_ro(&out->m, out->word, n) : setmem_open(&out->m, out->word, n);
	if (!err) {
		out->m.hz = clock_hz();
		err = clock_jiffies(&out->m.now);
		if (!err)
			return 0;
		setmem_close(&out->m);
	}
	pins_unmap(out->word, out->bytes);
	*out = (struct setmap){ 0 };
	return refuse_image(err, why);
}

int setmap_open(const struct pins *p, enum setmap_way way, struct setmap *out, struct refusal *why)
{
	struct program_maps maps;
	struct info info;
	int err = pins_info(p, p->in->a, &info, why);

	*out = (struct setmap){ 0 };
	if (!err)
		err = pins_slot_get(p, info.slot, &maps, why);
	if (err)
		return err;
	err = setmap_open_fd(maps.sets, info.size.sets_log2, way, out, why);
	out->m.serial = err ? 0 : info.serial;
	maps.log = -1; /* the instance's, not the slot's */
	program_maps_close(&maps);
	return err;
}

void setmap_close(struct setmap *s)
{
	if (!s->word)
		return;
	setmem_close(&s->m);
	pins_unmap(s->word, s->bytes);
	*s = (struct setmap){ 0 };
}

int setmap_settle(struct setmap *s, struct refusal *why)
{
	int err = setmem_needs_grace(&s->m) ? grace_wait(why) : 0;

	if (!err)
		setmem_grace(&s->m);
	return err;
}
