/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Points in the kernel: the dispatcher of a point at its hook, and the array with its program for each slot.
 */
#ifndef WEIR_KERNEL_POINTS_H
#define WEIR_KERNEL_POINTS_H

#include "kernel/hooks.h"
#include "kernel/pins.h"

/*
 * Sees to it that a dispatcher hangs at the point's hook, and says where. One that hangs there already stays where
 * it is. Its point is not in use yet, or was before; either way the attaching decides about no packet.
 */
int points_attach(const struct pins *p, unsigned point, struct nflink_place wanted, struct nflink_place *got,
		  struct refusal *why);
/* The same after somebody has detached the dispatcher, or to move it: a new one, and the old is let go. */
int points_reattach(const struct pins *p, unsigned point, struct nflink_place wanted, struct nflink_place *got,
		    struct refusal *why);
/* Says where points_attach() would attach, by doing it for a moment with a program that accepts. Nothing stays. */
int points_try(const struct pins *p, unsigned point, struct nflink_place wanted, struct nflink_place *got,
	       struct refusal *why);
/* Takes the dispatcher of a point that is not in use away; well if there is none. */
void points_detach(const struct pins *p, unsigned point);
/* Puts a program into a slot of the point, or takes it out (fd -1). No packet must need that slot now. */
int points_set_program(const struct pins *p, unsigned point, unsigned slot, int prog_fd, struct refusal *why);
/* Where the point's dispatcher hangs. false if none does, or somebody has detached it. */
bool points_place(const struct pins *p, unsigned point, struct nflink_place *at);
/* Is a program in this slot of the point? */
bool points_has_program(const struct pins *p, unsigned point, unsigned slot);

#endif
