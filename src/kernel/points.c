/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attaching and detaching. See points.h.
 *
 * A pin that is removed drops the link some time later, in a work queue of the kernel; so detaching opens the link,
 * removes the pin, and then asks for the detachment, which is done when the call returns. A process that dies in
 * between lets the link go as well.
 */
#include "kernel/points.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct point_name {
	char text[24];
};

static struct point_name name_of(const char *what, unsigned point)
{
	struct point_name n;

	snprintf(n.text, sizeof n.text, "%s-%u", what, point);
	return n;
}

/*
 * Is the link at its hook still? The kernel does not tell of a link that somebody detached. But it refuses a second
 * link at a priority that is taken.
 */
static bool is_attached(int link_fd, struct nflink_place *at)
{
	uint32_t prog_id;
	int prog, again;

	if (nflink_place_of(link_fd, at, &prog_id))
		return false;
	prog = bpf_prog_get_fd_by_id(prog_id);
	if (prog < 0)
		return false;
	again = nflink_attach(prog, *at);
	close(prog);
	if (again >= 0)
		close(again);
	return again < 0;
}

bool points_place(const struct pins *p, unsigned point, struct nflink_place *at)
{
	int link = pins_get(p, name_of("link", point).text);
	bool is = link >= 0 && is_attached(link, at);

	if (link >= 0)
		close(link);
	return is;
}

static int open_programs(const struct pins *p, unsigned point, bool make, struct refusal *why)
{
	struct point_name name = name_of("programs", point);
	int fd = pins_get(p, name.text), err;

	if (fd >= 0 || (fd == -ENOENT && !make))
		return fd;
	if (fd != -ENOENT)
		return refusal_set(why, -fd, "cannot open the pinned %s", name.text);
	fd = dispatch_slots_create();
	if (fd < 0)
		return refusal_set(why, -fd, "cannot make an array of programs");
	err = pins_put(p, name.text, fd, why);
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int attach_new(const struct pins *p, unsigned point, struct nflink_place wanted, struct nflink_place *got,
		      struct refusal *why)
{
	int slots = open_programs(p, point, true, why), prog = -1, link = -1, err = slots;

	if (slots >= 0)
		err = prog = dispatch_load(why, point, p->generation, p->books, slots);
	if (prog >= 0)
		err = link = hooks_attach(p->in->a, prog, wanted, got, why);
	if (link >= 0)
		err = pins_put(p, name_of("link", point).text, link, why);
	if (link >= 0)
		close(link);
	if (prog >= 0)
		close(prog);
	if (slots >= 0)
		close(slots);
	return err < 0 ? err : 0;
}

int points_attach(const struct pins *p, unsigned point, struct nflink_place wanted, struct nflink_place *got,
		  struct refusal *why)
{
	if (points_place(p, point, got))
		return 0;
	return attach_new(p, point, wanted, got, why);
}

int points_reattach(const struct pins *p, unsigned point, struct nflink_place wanted, struct nflink_place *got,
		    struct refusal *why)
{
	return attach_new(p, point, wanted, got, why);
}

int points_try(const struct pins *p, unsigned point, struct nflink_place wanted, struct nflink_place *got,
	       struct refusal *why)
{
	int generation, books, slots, prog = -1, link = -1;

	if (p->word && points_place(p, point, got))
		return 0;
	generation = program_generation_create();
	books = dispatch_books_create();
	slots = dispatch_slots_create();
	if (generation >= 0 && books >= 0 && slots >= 0)
		prog = dispatch_load(why, point, generation, books, slots);
	else
		refusal_set(why, errno, "cannot make BPF maps");
	if (prog >= 0)
		link = hooks_attach(p->in->a, prog, wanted, got, why);
	for (size_t i = 0; i < 5; i++) {
		int fd = (int[]){ link, prog, slots, books, generation }[i];

		if (fd >= 0)
			close(fd);
	}
	return link >= 0 ? 0 : prog >= 0 ? link : prog;
}

void points_detach(const struct pins *p, unsigned point)
{
	struct point_name name = name_of("link", point);
	int link = pins_get(p, name.text);

	pins_remove(p, name.text);
	if (link >= 0) {
		bpf_link_detach(link);
		close(link);
	}
	pins_remove(p, name_of("programs", point).text);
}

bool points_has_program(const struct pins *p, unsigned point, unsigned slot)
{
	int fd = pins_get(p, name_of("programs", point).text);
	uint32_t key = slot, id;
	bool has = fd >= 0 && bpf_map_lookup_elem(fd, &key, &id) == 0;

	if (fd >= 0)
		close(fd);
	return has;
}

int points_set_program(const struct pins *p, unsigned point, unsigned slot, int prog_fd, struct refusal *why)
{
	int fd = open_programs(p, point, prog_fd >= 0, why), err = 0;
	uint32_t key = slot;

	if (fd == -ENOENT && prog_fd < 0)
		return 0;
	if (fd < 0)
		return fd;
	if (prog_fd >= 0)
		err = bpf_map_update_elem(fd, &key, &prog_fd, BPF_ANY);
	else
		bpf_map_delete_elem(fd, &key);
	if (err)
		refusal_set(why, -err, "cannot put a program into slot %u of point %u", slot, point);
	close(fd);
	return err;
}
