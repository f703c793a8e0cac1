/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Questions to the kernel, each answered by doing the thing. See doctor.h. */
#include "kernel/doctor.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kernel/active.h"
#include "kernel/conntrack.h"
#include "kernel/finding.h"
#include "kernel/grace.h"
#include "kernel/hooks.h"
#include "kernel/tidy.h"

static struct str reason(struct doctor *d, int err)
{
	return arena_printf(d->a, "%s", strerror(err < 0 ? -err : err));
}

static void check_bpffs(struct doctor *d, const struct instance *in)
{
	if (instance_is_bpffs(in->bpffs))
		finding_good(d, "BPF file system", "mounted at %s", in->bpffs);
	else
		finding_bad(d, "BPF file system", arena_printf(d->a, "mount -t bpf bpf %s", in->bpffs),
			    "not mounted at %s", in->bpffs);
}

static void check_btf(struct doctor *d)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		finding_good(d, "kernel types (BTF)", "readable");
	else
		finding_bad(d, "kernel types (BTF)", STR("a kernel with CONFIG_DEBUG_INFO_BTF=y is needed"),
			    "no /sys/kernel/btf/vmlinux");
}

static void check_grace(struct doctor *d)
{
	switch (grace_probe()) {
	case GRACE_MEMBARRIER:
		finding_good(d, "grace period", "membarrier");
		return;
	case GRACE_MAP_UPDATE:
		finding_good(d, "grace period", "by a map of maps; membarrier is missing (nohz_full)");
		return;
	case GRACE_NONE:
		finding_bad(d, "grace period", STR("run as root"), "neither membarrier nor a map of maps works");
	}
}

/* fd >= 0 or -errno, of anything that the check has made. */
static void check_fd(struct doctor *d, const char *what, const char *good, int fd)
{
	if (fd >= 0) {
		finding_good(d, what, "%s", good);
		close(fd);
		return;
	}
	finding_bad(d, what,
		    fd == -EPERM ? STR("run as root (CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON)") :
				   STR("a newer kernel is needed: Linux 6.4, better 6.6"),
		    "%.*s", STR_ARG(reason(d, fd)));
}

static void check_program(struct doctor *d)
{
	struct program_size size = program_size_fit(1, DP_COUNTERS_SPECIAL, 1);
	struct program_spec spec = { .type = PROGRAM_NF, .point = 1, .size = size,
				     .features = DP_F_PORTS | DP_F_EXT | DP_F_IFACE | DP_F_CT | DP_F_LOG };
	int generation = program_generation_create(), err;
	struct str log = { 0 };

	err = generation < 0 ? generation : program_maps_create(&spec.maps, &size, generation);
	if (err) {
		check_fd(d, "maps", "", err);
		return;
	}
	spec.maps.log = program_log_create();
	err = program_load(d->a, &spec, &log);
	check_fd(d, "the filter program", "accepted", err);
	program_maps_close(&spec.maps);
	close(generation);
}

static void check_hook(struct doctor *d, int prog, enum family f, enum hook h)
{
	/* Near the end, where nobody hangs; the program accepts. */
	struct nflink_place at = { f, h, 2000000000 };
	const char *what = arena_printf(d->a, "%s %s", policy_family_name(f), policy_hook_name(h)).p;

	check_fd(d, what, "a program attaches", nflink_attach(prog, at));
}

static void check_hooks(struct doctor *d)
{
	struct refusal why = { .a = d->a };
	int generation = program_generation_create(), books = dispatch_books_create(), slots = dispatch_slots_create();
	int prog = dispatch_load(&why, 0, generation, books, slots);

	if (prog < 0) {
		finding_bad(d, "program type netfilter",
			    STR("Linux 6.4 or later with CONFIG_NETFILTER_BPF_LINK=y is needed, and root"), "%.*s",
			    STR_ARG(reason(d, prog)));
	} else {
		finding_good(d, "program type netfilter", "loads");
		for (int f = 0; f < FAMILY_COUNT; f++)
			for (int h = 0; h < HOOK_IP_COUNT; h++)
				check_hook(d, prog, (enum family)f, (enum hook)h);
		close(prog);
	}
	for (int i = 0; i < 3; i++) {
		int fd = i == 0 ? generation : i == 1 ? books : slots;

		if (fd >= 0)
			close(fd);
	}
}

/* Rules at devices are not loaded yet; that the kernel could is good to know, that it cannot is no harm. */
static void check_device(struct doctor *d, const char *what, enum bpf_prog_type type, enum bpf_attach_type at)
{
	/* r0 = -1 (TCX_NEXT: go on), or XDP_PASS; exit */
	struct bpf_insn insns[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = at ? -1 : XDP_PASS },
				    { .code = BPF_JMP | BPF_EXIT } };
	int prog = bpf_prog_load(type, "weir_probe", "GPL", insns, 2, NULL), link = -1;

	if (prog >= 0 && at)
		link = bpf_link_create(prog, (int)if_nametoindex("lo"), at, NULL);
	if (prog >= 0 && (!at || link >= 0))
		finding_good(d, what, at ? "a program attaches" : "a program loads");
	else
		finding_note(d, what, STR("Linux 6.6 or later is needed for rules at devices"), "%.*s",
			     STR_ARG(reason(d, prog < 0 ? prog : link)));
	if (link >= 0)
		close(link);
	if (prog >= 0)
		close(prog);
}

static void check_devices(struct doctor *d)
{
	enum { TCX_INGRESS = 46, TCX_EGRESS = 47 }; /* of the kernel's enum; libbpf may be older */

	check_device(d, "device xdp", BPF_PROG_TYPE_XDP, (enum bpf_attach_type)0);
	check_device(d, "device tcx ingress", BPF_PROG_TYPE_SCHED_CLS, (enum bpf_attach_type)TCX_INGRESS);
	check_device(d, "device tcx egress", BPF_PROG_TYPE_SCHED_CLS, (enum bpf_attach_type)TCX_EGRESS);
}

static void check_foreign(struct doctor *d)
{
	struct hooks all;

	hooks_list(d->a, &all);
	if (all.is_whole)
		finding_good(d, "list of hooks", "the kernel gives it");
	else
		finding_note(d, "list of hooks",
			     STR("CONFIG_NETFILTER_NETLINK_HOOK would give it; only the names in messages depend on it"),
			     "put together from nft's chains and iptables' tables");
}

static void check_conntrack(struct doctor *d, const struct instance *in)
{
	struct str error = { 0 };

	if (conntrack_is_possible(in, &error))
		finding_good(d, "connection tracking", "can be asked for");
	else
		finding_bad(d, "connection tracking",
			    STR("rules that look at connections need nf_tables with CONFIG_NFT_CT"), "%.*s",
			    STR_ARG(error));
}

void doctor_kernel(struct doctor *d, const struct instance *in)
{
	struct utsname u;

	if (uname(&u) == 0)
		finding_good(d, "kernel", "%s %s %s", u.sysname, u.release, u.machine);
	check_bpffs(d, in);
	check_btf(d);
	if (geteuid() != 0) {
		finding_bad(d, "rights", STR("run as root"), "the rest can only be tried as root");
		return;
	}
	check_grace(d);
	check_fd(d, "ring buffer", "works", program_log_create());
	check_program(d);
	check_hooks(d);
	check_devices(d);
	check_foreign(d);
	check_conntrack(d, in);
}

/* ---------- the instance ---------- */

static void check_point(struct doctor *d, struct pins *p, const struct info *info, const struct info_point *point,
			bool repair)
{
	unsigned family = point->number / DP_POINTS_PER_FAMILY;
	struct refusal why = { .a = d->a };
	struct nflink_place at, wanted = { (enum family)family, HOOK_IP_COUNT, point->wanted };
	const char *what;

	for (size_t i = 0; i < info->chains.n; i++)
		if (info->chains.v[i].point == point->number)
			wanted.hook = info->chains.v[i].hook;
	what = arena_printf(d->a, "dispatcher at %s %s, priority %d", policy_family_name((enum family)family),
			    policy_hook_name(wanted.hook), point->priority).p;
	if (!points_has_program(p, point->number, info->slot))
		finding_bad(d, what, STR("load the rules again"), "its program is gone; packets are dropped");
	if (points_place(p, point->number, &at)) {
		finding_good(d, what, "attached");
		return;
	}
	finding_bad(d, what, STR("weir doctor --repair"), "somebody has detached it; its rules do nothing");
	if (repair && points_reattach(p, point->number, wanted, &at, &why) == 0)
		finding_repaired(d);
	else if (repair)
		finding_bad(d, what, why.help, "%.*s", STR_ARG(why.what));
}

/* Chains that one program judges, and somebody who came to hang between them later. */
static void check_order(struct doctor *d, const struct info *info, const struct hooks *all)
{
	for (size_t i = 0; i < info->chains.n; i++) {
		const struct info_chain *c = &info->chains.v[i];
		struct nflink_place lower = { c->family, c->hook, 0 };

		for (size_t k = 0; k < info->points.n; k++)
			if (info->points.v[k].number == c->point)
				lower.priority = info->points.v[k].wanted;
		if (c->point != INFO_NO_POINT && c->priority > lower.priority &&
		    hooks_between(all, lower, c->priority))
			finding_note(d, arena_printf(d->a, "chain %.*s of table %.*s", STR_ARG(c->name), STR_ARG(c->table)).p,
				     STR("load the rules again: then each table gets a place of its own"),
				     "it is judged at priority %d, before somebody who has come since", lower.priority);
	}
}

static void check_tracking(struct doctor *d, const struct instance *in, const struct active *a, bool repair)
{
	struct refusal why = { .a = d->a };

	if (!a->info.ct[FAMILY_IP4] && !a->info.ct[FAMILY_IP6])
		return;
	if (conntrack_is_enabled(in, a->info.ct)) {
		finding_good(d, "connection tracking", "asked for by nft table %.*s", STR_ARG(conntrack_table(in)));
	} else {
		finding_bad(d, "connection tracking", STR("weir doctor --repair"),
			    "somebody has removed the nft table %.*s; if nobody else asks for tracking, rules that "
			    "look at connections drop", STR_ARG(conntrack_table(in)));
		if (repair && conntrack_enable(in, a->info.ct, &why) == 0)
			finding_repaired(d);
	}
}

static void check_specials(struct doctor *d, const struct active *a)
{
	if (a->missing)
		finding_note(d, "counters", STR("see above whether a program is missing now"),
			     "%llu packets were dropped because a program was missing", (unsigned long long)a->missing);
	for (unsigned i = 0; i < DP_COUNTERS_SPECIAL; i++)
		if (i != DP_COUNTER_MALFORMED && active_special_text((enum dp_counter)i) && a->special[i].packets)
			finding_note(d, "counters", (struct str){ 0 }, "%llu %s",
				     (unsigned long long)a->special[i].packets, active_special_text((enum dp_counter)i));
}

void doctor_instance(struct doctor *d, const struct instance *in, bool repair)
{
	struct refusal why = { .a = d->a };
	struct active active;
	struct hooks all;
	struct pins p;
	int err = active_read(in, &active, &why);

	if (err == -ENOENT) {
		finding_good(d, "rules", "none are loaded");
		return;
	}
	if (err || pins_open(in, &p, &why)) {
		finding_bad(d, "rules", why.help, "%.*s", STR_ARG(why.what));
		return;
	}
	if (active.trial.is_expired)
		finding_bad(d, "rules", STR("weir confirm --no, or any other verb that reads the rules"),
			    "the time of a load on trial is up, and nobody has brought the rules before it back");
	else
		finding_good(d, "rules", "%.*s are active%s", STR_ARG(active_name(d->a, &active.info)),
			     active.trial.is_there ? ", on trial" : "");
	for (size_t i = 0; i < active.info.points.n; i++)
		check_point(d, &p, &active.info, &active.info.points.v[i], repair);
	hooks_list(d->a, &all);
	check_order(d, &active.info, &all);
	check_tracking(d, in, &active, repair);
	check_specials(d, &active);
	pins_close(&p);
}
