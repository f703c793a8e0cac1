/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What rules ask that the bytes of a packet do not tell, or only some of them: so that a packet of which nobody said it
 * is not judged by a guess.
 *
 *     -A FORWARD -i lan0 -m conntrack --ctstate NEW -j web      web: -m owner --uid-owner 0 -j DROP
 *     asks_of(FORWARD) = ASKS_IIF | ASKS_CT | ASKS_SOCKET
 */
#ifndef WEIR_FLAT_ASKS_H
#define WEIR_FLAT_ASKS_H

#include "policy/policy.h"

enum asks {
	ASKS_IIF = 1 << 0,
	ASKS_OIF = 1 << 1,
	ASKS_CT = 1 << 2,	/* the state of the connection */
	ASKS_CT_MARK = 1 << 3,
	ASKS_CT_MORE = 1 << 4,	/* anything else about it */
	ASKS_SOCKET = 1 << 5,
	ASKS_PKTTYPE = 1 << 6,
	ASKS_CPU = 1 << 7,
	ASKS_REALM = 1 << 8,
	ASKS_ETHER = 1 << 9,	/* Ethernet addresses, VLAN tags */
	ASKS_EXT = 1 << 10,	/* IPv6 extension headers, AH */
	ASKS_HOST = 1 << 11,	/* what only a machine knows: groups of interfaces, kinds of addresses, ports of a bridge */
	ASKS_HEADER = 1 << 12,	/* TTL, TOS, length: whoever gives no bytes may not know them */
	ASKS_BYTES = 1 << 13,	/* anything else in the bytes: options of TCP, u32, strings */
	ASKS_ALL_CT = ASKS_CT | ASKS_CT_MARK | ASKS_CT_MORE,
};

uint32_t asks_of_test(const struct test *t, enum family f);
/* enum asks, of these chains and all that they lead to. */
uint32_t asks_of(const struct ruleset *rs, const struct chain *const *chain, unsigned n);

#endif
