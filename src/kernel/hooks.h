/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who else hangs at the hooks of this network namespace, and a free place among them.
 *
 * The kernel refuses a NETFILTER link where any hook already holds that exact priority, and iptables-legacy, nft,
 * Docker or firewalld usually hold 0. The place one before is as good: of chains with equal priority the one that
 * came later runs first. Else the place one behind. Anything further would pass by another chain, so the order
 * that the user asked for would not hold; that is refused, with the names of those who are there.
 */
#ifndef WEIR_KERNEL_HOOKS_H
#define WEIR_KERNEL_HOOKS_H

#include "kernel/nflink.h"
#include "kernel/refusal.h"

struct hooks_holder {
	struct nflink_place at;
	struct str name; /* "nft chain input of table ip filter", "iptables-legacy table filter", "conntrack" */
	bool is_ours;	 /* a BPF program: us, another instance, or somebody else's */
};

struct hooks {
	VEC(struct hooks_holder) all;
	bool is_whole; /* the kernel itself gave the list; else it is put together from what can be asked */
};

/* Everything that can be found out, of both families. Never fails; what cannot be asked is missing. */
void hooks_list(struct arena *a, struct hooks *out);
/* "nft chain input of table ip filter and conntrack"; "somebody" if nobody known is there. */
struct str hooks_names_at(struct arena *a, const struct hooks *all, struct nflink_place at);
/*
 * Attaches at `wanted` or the nearest free place that keeps the order; *got says where. Returns the link's fd, or
 * -errno with why filled in.
 */
int hooks_attach(struct arena *a, int prog_fd, struct nflink_place wanted, struct nflink_place *got,
		 struct refusal *why);
/*
 * Is there a chain or program of somebody else between two priorities of a hook, or at the lower one, so that chains at
 * both cannot be judged together? (Who hangs at the lower one may have to come after ours there, and comes before
 * ours at the upper one.)
 */
bool hooks_between(const struct hooks *all, struct nflink_place lower, int upper);

#endif
