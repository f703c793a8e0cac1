/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The environment: what a machine knows that a ruleset refers to. Read from a file by --env:
 *
 *     interface eth0 address 192.0.2.1/24 address 2001:db8::1/64 group 7
 *     interface br0
 *     forwarding yes            # in= alone may then be forwarded: the destination decides
 *     # blank lines and comments are free
 */
#ifndef WEIR_POLICY_ENV_H
#define WEIR_POLICY_ENV_H

#include "base/diag.h"
#include "policy/policy.h"

struct env_addr {
	enum family family;
	u128 addr;
	uint8_t plen;
};
struct env_iface {
	struct str name;
	VEC(struct env_addr) addrs;
	uint32_t group;
	bool has_group;
};
struct env {
	VEC(struct env_iface) ifaces;
	bool forwarding; /* packets for others are forwarded */
};

/* False if there were errors. May be called for several texts. */
bool env_read(struct arena *a, struct diags *d, uint32_t source, struct env *out);
/* One RTN_* type (uapi rtnetlink.h) of an address on this machine, or -1 when it cannot be told. env may be NULL: then
 * only what holds everywhere is known (multicast, 255.255.255.255, 127/8, ::1, ::, 0.0.0.0). An IPv4 address is BROADCAST when it
 * is the last of an interface's network; :: is UNSPEC, the first address of an IPv6 network ANYCAST if we forward. */
int env_addr_type(const struct env *env, enum family f, u128 addr);
const struct env_iface *env_iface_find(const struct env *env, const char *name); /* NULL */

#endif
