/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The list of foreign hooks has up to three origins:
 *
 *   - nfnetlink_hook (CONFIG_NETFILTER_NETLINK_HOOK): the kernel lists every hook function, and that is all of them;
 *   - else nf_tables' own list of base chains, with their hooks and priorities;
 *   - and /proc/net/ip_tables_names, whose tables hang at priorities that never change,
 *
 * with the kernel's own fixed places (defragmentation, conntrack, NAT) named where the list has no better name.
 */
#include "kernel/hooks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libmnl/libmnl.h>
#include <libnftnl/chain.h>
#include <libnftnl/common.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_hook.h>
#include <stdio.h>
#include <unistd.h>

#ifndef NFNL_SUBSYS_HOOK
#define NFNL_SUBSYS_HOOK 12
#endif

struct lister {
	struct arena *a;
	struct hooks *out;
	struct nflink_place at; /* what is being asked about */
};

static void add(struct lister *l, struct nflink_place at, struct str name, bool is_ours)
{
	*vec_add(l->a, &l->out->all) = (struct hooks_holder){ at, name, is_ours };
}

/* Sends a dump request and gives every message to cb. 0 or -errno. */
static int dump(struct nlmsghdr *req, mnl_cb_t cb, struct lister *l)
{
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	char buf[32768];
	ssize_t n = -1;
	int err = -1;

	if (!nl)
		return -errno;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) == 0 && mnl_socket_sendto(nl, req, req->nlmsg_len) >= 0)
		for (err = 1; err > 0;) {
			n = mnl_socket_recvfrom(nl, buf, sizeof buf);
			err = n < 0 ? -1 : mnl_cb_run(buf, (size_t)n, req->nlmsg_seq, mnl_socket_get_portid(nl), cb, l);
		}
	err = err < 0 ? -errno : 0;
	mnl_socket_close(nl);
	return err;
}

/* ---------- nfnetlink_hook ---------- */

static int keep_attr(const struct nlattr *attr, void *data)
{
	const struct nlattr **slot = data;
	unsigned type = mnl_attr_get_type(attr);

	if (type <= NFNLA_HOOK_MAX)
		slot[type] = attr;
	return MNL_CB_OK;
}

static struct str hook_name(struct arena *a, const struct nlattr **attr)
{
	const struct nlattr *info[NFNLA_HOOK_MAX + 1] = { 0 }, *desc[NFNLA_HOOK_MAX + 1] = { 0 };
	const char *function = attr[NFNLA_HOOK_FUNCTION_NAME] ? mnl_attr_get_str(attr[NFNLA_HOOK_FUNCTION_NAME]) : "?";

	if (attr[NFNLA_HOOK_CHAIN_INFO])
		mnl_attr_parse_nested(attr[NFNLA_HOOK_CHAIN_INFO], keep_attr, info);
	if (info[NFNLA_HOOK_INFO_DESC])
		mnl_attr_parse_nested(info[NFNLA_HOOK_INFO_DESC], keep_attr, desc);
	if (desc[NFNLA_CHAIN_TABLE] && desc[NFNLA_CHAIN_NAME])
		return arena_printf(a, "nft chain %s of table %s", mnl_attr_get_str(desc[NFNLA_CHAIN_NAME]),
				    mnl_attr_get_str(desc[NFNLA_CHAIN_TABLE]));
	if (strcmp(function, "ipt_do_table") == 0)
		return STR("iptables-legacy");
	if (strcmp(function, "ip6t_do_table") == 0)
		return STR("ip6tables-legacy");
	return arena_printf(a, "kernel function %s", function);
}

static int on_hook(const struct nlmsghdr *h, void *data)
{
	const struct nlattr *attr[NFNLA_HOOK_MAX + 1] = { 0 };
	struct lister *l = data;
	struct nflink_place at = l->at;
	struct str name;

	if (mnl_attr_parse(h, sizeof(struct nfgenmsg), keep_attr, attr) < 0 || !attr[NFNLA_HOOK_PRIORITY])
		return MNL_CB_OK;
	at.priority = (int)ntohl(mnl_attr_get_u32(attr[NFNLA_HOOK_PRIORITY]));
	name = hook_name(l->a, attr);
	add(l, at, name, strstr(name.p, "nf_hook_run_bpf") != NULL);
	return MNL_CB_OK;
}

static int list_by_hook(struct lister *l)
{
	char buf[256];
	int err = 0;

	for (int i = 0; i < FAMILY_COUNT * HOOK_IP_COUNT && !err; i++) {
		struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
		struct nfgenmsg *g;

		l->at = (struct nflink_place){ (enum family)(i / HOOK_IP_COUNT), (enum hook)(i % HOOK_IP_COUNT), 0 };
		h->nlmsg_type = (NFNL_SUBSYS_HOOK << 8) | NFNL_MSG_HOOK_GET;
		h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
		h->nlmsg_seq = (uint32_t)i + 1;
		g = mnl_nlmsg_put_extra_header(h, sizeof *g);
		g->nfgen_family = l->at.family == FAMILY_IP6 ? NFPROTO_IPV6 : NFPROTO_IPV4;
		g->version = NFNETLINK_V0;
		mnl_attr_put_u32(h, NFNLA_HOOK_HOOKNUM, htonl((uint32_t)l->at.hook));
		err = dump(h, on_hook, l);
		if (err == -ENOENT) /* nobody hangs there */
			err = 0;
	}
	return err;
}

/* ---------- nf_tables ---------- */

static const char *nft_family_name(uint32_t family)
{
	return family == NFPROTO_INET ? "inet" : family == NFPROTO_IPV6 ? "ip6" : "ip";
}

static int on_chain(const struct nlmsghdr *h, void *data)
{
	struct nftnl_chain *c = nftnl_chain_alloc();
	struct lister *l = data;

	if (c && nftnl_chain_nlmsg_parse(h, c) == 0 && nftnl_chain_is_set(c, NFTNL_CHAIN_HOOKNUM)) {
		uint32_t family = nftnl_chain_get_u32(c, NFTNL_CHAIN_FAMILY);
		uint32_t hook = nftnl_chain_get_u32(c, NFTNL_CHAIN_HOOKNUM);
		struct nflink_place at = { FAMILY_IP4, (enum hook)hook, nftnl_chain_get_s32(c, NFTNL_CHAIN_PRIO) };
		struct str name = arena_printf(l->a, "nft chain %s of table %s %s",
					       nftnl_chain_get_str(c, NFTNL_CHAIN_NAME), nft_family_name(family),
					       nftnl_chain_get_str(c, NFTNL_CHAIN_TABLE));

		if (hook < HOOK_IP_COUNT && (family == NFPROTO_IPV4 || family == NFPROTO_INET))
			add(l, at, name, false);
		at.family = FAMILY_IP6;
		if (hook < HOOK_IP_COUNT && (family == NFPROTO_IPV6 || family == NFPROTO_INET))
			add(l, at, name, false);
	}
	if (c)
		nftnl_chain_free(c);
	return MNL_CB_OK;
}

static void list_by_nft(struct lister *l)
{
	char buf[256];
	struct nlmsghdr *h = nftnl_nlmsg_build_hdr(buf, NFT_MSG_GETCHAIN, NFPROTO_UNSPEC, NLM_F_DUMP, 1);

	dump(h, on_chain, l); /* no nf_tables in this kernel: no chains of it */
}

/* ---------- iptables-legacy ---------- */

#define AT(h) (1u << HOOK_##h)
static const struct {
	const char *table;
	unsigned hooks;
	int priority;
} legacy[] = {
	{ "raw", AT(PREROUTING) | AT(OUTPUT), -300 },
	{ "mangle", AT(PREROUTING) | AT(INPUT) | AT(FORWARD) | AT(OUTPUT) | AT(POSTROUTING), -150 },
	{ "nat", AT(PREROUTING) | AT(OUTPUT), -100 },
	{ "filter", AT(INPUT) | AT(FORWARD) | AT(OUTPUT), 0 },
	{ "security", AT(INPUT) | AT(FORWARD) | AT(OUTPUT), 50 },
	{ "nat", AT(POSTROUTING) | AT(INPUT), 100 },
};

static void add_legacy(struct lister *l, enum family family, const char *table)
{
	struct str name = arena_printf(l->a, "%s-legacy table %s", family == FAMILY_IP6 ? "ip6tables" : "iptables", table);

	for (size_t i = 0; i < sizeof legacy / sizeof *legacy; i++)
		for (int h = 0; h < HOOK_IP_COUNT; h++)
			if (strcmp(legacy[i].table, table) == 0 && (legacy[i].hooks >> h & 1))
				add(l, (struct nflink_place){ family, (enum hook)h, legacy[i].priority }, name, false);
}

static void list_by_proc(struct lister *l)
{
	static const char *const path[] = { "/proc/thread-self/net/ip_tables_names",
					    "/proc/thread-self/net/ip6_tables_names" };
	char line[64];

	for (int i = 0; i < FAMILY_COUNT; i++) {
		FILE *f = fopen(path[i], "re");

		while (f && fgets(line, sizeof line, f)) {
			line[strcspn(line, "\n")] = 0;
			add_legacy(l, (enum family)i, line);
		}
		if (f)
			fclose(f);
	}
}

/* ---------- the kernel's own ---------- */

static const struct {
	unsigned hooks;
	int priority;
	const char *name;
} fixed[] = {
	{ AT(PREROUTING) | AT(OUTPUT), -400, "defragmentation" },
	{ AT(INPUT) | AT(FORWARD) | AT(OUTPUT) | AT(POSTROUTING), -225, "SELinux" },
	{ AT(PREROUTING) | AT(OUTPUT), -200, "conntrack" },
	{ AT(PREROUTING) | AT(OUTPUT), -100, "NAT" },
	{ AT(POSTROUTING) | AT(INPUT), 100, "NAT" },
	{ AT(FORWARD) | AT(OUTPUT) | AT(POSTROUTING), 225, "SELinux" },
	{ AT(POSTROUTING) | AT(INPUT), 300, "conntrack helpers" },
	{ AT(POSTROUTING) | AT(INPUT), INT32_MAX, "conntrack" },
};

void hooks_list(struct arena *a, struct hooks *out)
{
	struct lister l = { a, out, { 0 } };

	*out = (struct hooks){ 0 };
	out->is_whole = list_by_hook(&l) == 0;
	if (out->is_whole)
		return;
	out->all.n = 0;
	list_by_nft(&l);
	list_by_proc(&l);
}

static bool same_place(struct nflink_place a, struct nflink_place b)
{
	return a.family == b.family && a.hook == b.hook && a.priority == b.priority;
}

struct str hooks_names_at(struct arena *a, const struct hooks *all, struct nflink_place at)
{
	struct buf b = { .a = a };
	unsigned n = 0;

	for (size_t i = 0; i < all->all.n; i++)
		if (same_place(all->all.v[i].at, at))
			buf_printf(&b, "%s%.*s", n++ ? " and " : "", STR_ARG(all->all.v[i].name));
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed && n == 0; i++)
		if (fixed[i].priority == at.priority && (fixed[i].hooks >> at.hook & 1))
			buf_printf(&b, "%s%s", n++ ? " and " : "", fixed[i].name);
	return n ? buf_str(&b) : STR("another BPF program");
}

bool hooks_between(const struct hooks *all, struct nflink_place lower, int upper)
{
	for (size_t i = 0; i < all->all.n; i++) {
		struct nflink_place at = all->all.v[i].at;

		if (!all->all.v[i].is_ours && at.family == lower.family && at.hook == lower.hook &&
		    at.priority >= lower.priority && at.priority < upper)
			return true;
	}
	return false;
}

/* ---------- attaching ---------- */

static struct str place_text(struct arena *a, struct nflink_place at)
{
	return arena_printf(a, "%s %s, priority %d", policy_family_name(at.family), policy_hook_name(at.hook), at.priority);
}

static int refuse_place(struct arena *a, struct nflink_place wanted, struct refusal *why)
{
	static const int tried[] = { -1, 0, 1 };
	struct buf b = { .a = a };
	struct hooks all;

	hooks_list(a, &all);
	refusal_set(why, 0, "no free place at %.*s", STR_ARG(place_text(a, wanted)));
	for (size_t i = 0; i < 3; i++) {
		struct nflink_place at = wanted;

		at.priority += tried[i];
		buf_printf(&b, "%s%d: %.*s", i ? "; " : "", at.priority, STR_ARG(hooks_names_at(a, &all, at)));
	}
	refusal_help(why, "one of these must move, so that the order of the chains can be kept: %.*s",
		     STR_ARG(buf_str(&b)));
	return -EBUSY;
}

int hooks_attach(struct arena *a, int prog_fd, struct nflink_place wanted, struct nflink_place *got,
		 struct refusal *why)
{
	static const int near[] = { 0, -1, 1 };
	int fd = -EBUSY;

	for (size_t i = 0; i < 3 && fd == -EBUSY; i++) {
		*got = wanted;
		got->priority += near[i];
		fd = nflink_attach(prog_fd, *got);
	}
	if (fd >= 0)
		return fd;
	if (fd == -EBUSY)
		return refuse_place(a, wanted, why);
	return refusal_set(why, -fd, "cannot attach at %.*s", STR_ARG(place_text(a, wanted)));
}
